"""What a judge scores that knows nothing, and which judges can be told from it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab._checks import check_real
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.papers.judgebench.published import published_accuracies
from judgelab.significance import binomial_test, holm
from judgelab.verdict import Outcome, Rule, Verdict, find_rule

if TYPE_CHECKING:
    import pandas as pd

_COIN = Fraction(1, 2)
_GUESSERS: dict[str, dict[tuple[Verdict, Verdict], Fraction]] = {
    "independent coin": {
        (one, two): _COIN * _COIN
        for one in (Verdict.A, Verdict.B)
        for two in (Verdict.A, Verdict.B)
    },
    "order-consistent coin": {
        (Verdict.A, Verdict.A): _COIN,
        (Verdict.B, Verdict.B): _COIN,
    },
    # Un-swapped, "the first slot again" is the other answer.
    "always the first slot": {(Verdict.A, Verdict.B): Fraction(1)},
    "always a tie": {(Verdict.TIE, Verdict.TIE): Fraction(1)},
}


def chance_levels(rule: Rule | str, *, right_is_a: float = 0.5) -> dict[str, Fraction]:
    """How much does a judge score that knows nothing?

    Parameters
    ----------
    rule : Rule or str
        How two verdicts become one outcome.
    right_is_a : float, default 0.5
        Share of the pairs in which A is right, in [0, 1].

    Returns
    -------
    dict of Fraction
        The exact expected accuracy of a judge that tosses a coin for every verdict, of
        one that tosses it once per pair and stays with its answer, of one that always
        takes the first slot, and of one that always says tie.

    Raises
    ------
    ValidationError
        If the rule is unknown or the share out of range.

    Notes
    -----
    "50 % is random" holds only for the second of them. Chapter: *JudgeBench*.

    Examples
    --------
    >>> for judge, level in chance_levels("judgebench").items():
    ...     print(f"{judge}: {level}")
    independent coin: 1/4
    order-consistent coin: 1/2
    always the first slot: 0
    always a tie: 0
    """
    check_real(right_is_a=right_is_a)
    if not 0 <= right_is_a <= 1:
        raise ValidationError(f"right_is_a is {right_is_a!r}; give a share in [0, 1]")
    share = Fraction(right_is_a).limit_denominator(10**6)
    wins = {Outcome.A: share, Outcome.B: 1 - share}
    table = find_rule(rule).table
    return {
        name: sum(
            (
                p * wins.get(Outcome(table[cell]), Fraction(0))
                for cell, p in law.items()
            ),
            Fraction(0),
        )
        for name, law in _GUESSERS.items()
    }


def against_chance(
    scores: Mapping[Any, Estimate] | None = None,
    *,
    baselines: Mapping[str, float] | None = None,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Which judges can be told from which kind of guessing?

    Parameters
    ----------
    scores : mapping of Estimate, optional
        Judge → accuracy on independent pairs. All judges of Tables 1–3 if not given.
    baselines : mapping of float, optional
        Name → accuracy of the guesser; by default the independent and the
        order-consistent coin under JudgeBench's rule, 1/4 and 1/2.
    alpha : float, default 0.05
        How likely at least one judge may be told from a baseline by mistake.

    Returns
    -------
    pandas.DataFrame
        One row per judge: ``accuracy``, and per baseline the adjusted p-value and
        whether the judge is ``above``, ``below`` or ``not distinguishable``. Holm's
        correction is over all judges and baselines.

    Raises
    ------
    ValidationError
        If there are no scores, or alpha is no probability between 0 and 1.
    UndefinedStatistic
        If an accuracy is undefined.

    Notes
    -----
    A judge that always takes one slot scores exactly 0, so a single right answer tells
    a judge from it and needs no test. Chapter: *JudgeBench*.

    Examples
    --------
    >>> table = against_chance()
    >>> table.loc[("Table 1", "Vanilla, GPT-4o"), "order-consistent coin"]
    'not distinguishable'
    """
    import pandas as pd

    if scores is None:
        # GPT-4o with the Arena-Hard prompt stands in Table 1 and again in Table 2.
        scores = {
            (table, label): estimate
            for (table, label, name), estimate in published_accuracies().items()
            if name == "Overall"
            and table != "Table 4"
            and (table, label) != ("Table 2", "GPT-4o")
        }
    if baselines is None:
        levels = chance_levels("judgebench")
        coins = ("independent coin", "order-consistent coin")
        baselines = {name: float(levels[name]) for name in coins}
    check_real(alpha=alpha)
    if not scores or not 0 < alpha < 1:
        raise ValidationError(
            f"{len(scores)} scores and alpha {alpha!r}: give at least one accuracy and "
            "a probability between 0 and 1"
        )
    if undefined := [key for key, e in scores.items() if np.isnan(e.value)]:
        raise UndefinedStatistic(
            f"accuracies of {undefined[:3]} are undefined; score with another rule"
        )
    p_values = {
        (key, name): binomial_test(round(e.value * e.n), e.n, level).p_value
        for key, e in scores.items()
        for name, level in baselines.items()
    }
    adjusted = holm(p_values)
    rows = []
    for key, estimate in scores.items():
        row: dict[str, Any] = {"accuracy": estimate}
        for name, level in baselines.items():
            p = adjusted[key, name]
            side = "above" if estimate.value > level else "below"
            row[f"p, {name}"] = p
            row[name] = side if p <= alpha else "not distinguishable"
        rows.append(row)
    keys = list(scores)
    index = (
        pd.MultiIndex.from_tuples(keys)
        if isinstance(keys[0], tuple)
        else pd.Index(keys)
    )
    return pd.DataFrame(rows, index=index)
