"""A study of one judge, from beginning to end; the records do not tell its faults.

All of it is simulated and fitted to nobody. Two versions of an assistant answer the
same 1,200 questions; one judge compares the answers in both orders, and again a month
later; people label a random 300 of the questions.

Whoever works through the chapter should not read on: below stands what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgelab._checks import random_generator
from judgelab.data.registry import published
from judgelab.intervals import Rng
from judgelab.simulate import Judge, Pairs, simulate

if TYPE_CHECKING:
    import pandas as pd

ITEMS, LABELLED = 1200, 300
SEED = 1
COLUMNS = (
    *("judge", "kind", "item", "swapped", "verdict", "model_a", "model_b"),
    *("length_a", "length_b"),
)

MONTH_1 = Judge(
    k=7.0, beta=0.8, verbosity=2.0, tie_width=0.15, invalid_rate=0.01, name="judge"
)
"""The judge under study, as it was when it was measured first."""
MONTH_2 = Judge(
    k=7.0, beta=0.1, verbosity=3.8, tie_width=0.15, invalid_rate=0.01, name="judge"
)
"""The same judge a month later: it leans less to the first slot and more to length."""
PEOPLE = (
    Judge(k=10.0, tie_width=0.3, name="annotator 1"),
    Judge(k=7.0, tie_width=0.3, name="annotator 2"),
)
"""Who labels; the second is less sure."""
ADJUDICATOR = Judge(k=15.0, tie_width=0.2, name="adjudicator")
"""Who decides where the two differ."""
WORSE = -0.08
"""How much better the new version's answers are, on average: they are not."""
LONGER = 1.2
"""How much longer the new version's answers are, on average, in doublings."""


def study_records(month: int = 1) -> pd.DataFrame:
    """Which verdicts did the judge of the example study give, and which the people?

    Parameters
    ----------
    month : {1, 2}, default 1
        The first holds the judge's verdicts on all items, in both orders, and all
        labels. The second holds the judge's alone, on the labelled items.

    Returns
    -------
    pandas.DataFrame
        Tidy pairwise records: ``judge``, ``kind`` ("model", "human", "adjudicator"),
        ``item``, ``swapped``, ``verdict`` (on shown slots), ``model_a``, ``model_b``,
        ``length_a`` and ``length_b`` (words of the answers as shown).

    Raises
    ------
    ValidationError
        If there is no such month.

    Notes
    -----
    Simulated. Answer A is the new version's. Chapter: *Your own judge*.

    Examples
    --------
    >>> records = study_records()
    >>> records.groupby("kind")["item"].nunique().to_dict()
    {'adjudicator': 57, 'human': 300, 'model': 1200}
    """
    return published("yourjudge", f"month{month}").copy()


def study_truth() -> pd.DataFrame:
    """Which label would people have given every item of the example study?

    Returns
    -------
    pandas.DataFrame
        ``item``, ``label``: what two annotators and, where they differ, the adjudicator
        make of it; for the labelled items that is their label.

    Notes
    -----
    Known only because it is simulated. Chapter: *Your own judge*.

    Examples
    --------
    >>> len(study_truth())
    1200
    """
    return published("yourjudge", "truth").copy()


def simulate_study(rng: Rng = SEED) -> dict[str, pd.DataFrame]:
    """Draw the example study anew.

    Parameters
    ----------
    rng : Generator or int
        Randomness; the seed of the records that come with the package by default.

    Returns
    -------
    dict of str to pandas.DataFrame
        The files ``month1``, ``month2`` and ``truth``.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> drawn = simulate_study(1)
    >>> len(drawn["truth"])
    1200
    """
    import pandas as pd

    generator = random_generator(rng)
    pairs = Pairs(
        generator.normal(WORSE, 0.6, ITEMS),
        generator.normal(LONGER, 0.7, ITEMS),
        np.zeros(ITEMS),
    )
    words = np.rint(np.exp(generator.normal(5.0, 0.4, ITEMS)))
    lengths = np.rint([words * 2**pairs.log_length, words]).astype(int)
    chosen = np.sort(generator.permutation(ITEMS)[:LABELLED])

    def ask(judge: Judge, kind: str, *, one_order: bool) -> pd.DataFrame:
        return _records(judge, kind, pairs, lengths, one_order, generator)

    judged = ask(MONTH_1, "model", one_order=False)
    votes = [ask(person, "human", one_order=True) for person in PEOPLE]
    decided = ask(ADJUDICATOR, "adjudicator", one_order=True)
    later = ask(MONTH_2, "model", one_order=False)

    one, two = (_answers(vote) for vote in votes)
    label = one.where(one == two, _answers(decided))
    names = decided["item"]
    labelled = names[chosen]
    disputed = labelled[(one != two)[chosen]]
    month_1 = [judged, *(vote[vote["item"].isin(labelled)] for vote in votes)]
    month_1.append(decided[decided["item"].isin(disputed)])
    return {
        "month1": pd.concat(month_1, ignore_index=True),
        "month2": later[later["item"].isin(labelled)].reset_index(drop=True),
        "truth": pd.DataFrame({"item": names, "label": label}),
    }


def _records(
    judge: Judge,
    kind: str,
    pairs: Pairs,
    lengths: npt.NDArray[np.int_],
    one_order: bool,
    generator: np.random.Generator,
) -> pd.DataFrame:
    """Let a judge see every item, in both orders or in one of them at random."""
    drawn = simulate(judge, pairs, rng=generator)
    if one_order:
        shown = 2 * np.arange(len(pairs)) + generator.integers(0, 2, len(pairs))
        drawn = drawn.iloc[shown].reset_index(drop=True)
    item, swapped = drawn["item"], drawn["swapped"].to_numpy(int)
    return drawn[["judge", "swapped", "verdict"]].assign(
        kind=kind,
        item=[f"q{number + 1:04d}" for number in item],
        model_a=np.array(["new", "old"])[swapped],
        model_b=np.array(["new", "old"])[1 - swapped],
        length_a=lengths[swapped, item],
        length_b=lengths[1 - swapped, item],
    )[list(COLUMNS)]


def _answers(records: pd.DataFrame) -> pd.Series[str]:
    """Say which answer each verdict prefers: "A" is the new version's."""
    other = records["verdict"].replace({"A": "B", "B": "A"})
    return records["verdict"].where(~records["swapped"], other)
