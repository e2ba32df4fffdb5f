"""How often does each model win, and against which?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.counts import WinMatrix, tie_counts, win_counts
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error
from judgelab.papers.mt_bench.meetings import votes_of
from judgelab.papers.mt_bench.votes import (
    CATEGORIES,
    FIRST_QUESTION,
    JUDGES,
    MODELS,
    Setup,
    of_turn,
    words_kept,
)

if TYPE_CHECKING:
    import pandas as pd


def win_rates(
    judge: str,
    *,
    setup: Setup = "S1",
    turn: int | None = None,
    category: str | None = None,
    votes: pd.DataFrame | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """How often does each model win, averaged over its five opponents?

    Parameters
    ----------
    judge : {"G4-Pair", "Human", "Author"}
        Whose votes count.
    setup : {"S1", "S2"}, default "S1"
        Wins among all votes (a tie is no win), or among the votes that are no ties.
    turn : {1, 2}, optional
        One turn; both when left out.
    category : str, optional
        One of `CATEGORIES`; all when left out.
    votes : pandas.DataFrame, optional
        From `vote_table`: then questions are the independent units (delete-one-question
        jackknife, t quantile). When left out, the shipped counts, with votes as units:
        an interval for these questions only, too narrow for new ones.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    dict of str to Estimate
        For each model of the paper the plain mean of its five win rates, in [0, 1];
        ``n`` counts its votes.

    Raises
    ------
    ValidationError
        If the judge has no public votes, or the turn, category or setup is unknown.
    UndefinedStatistic
        If two models never met.

    References
    ----------
    Zheng et al. (2023), Table 7 (``judge="Human"``, by category) and Figure 3 (by
    turn).

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> f"{win_rates('Human', category='math')['GPT-4']:.1%}"
    '66.1% [57.5%, 74.7%]'
    """
    kind = _kind(judge)
    if category is not None and category not in CATEGORIES:
        raise ValidationError(
            f"unknown category {category!r}; choose from {', '.join(CATEGORIES)}"
        )
    words = words_kept(setup)
    table = data.counts("mtbench", "wins") if votes is None else votes
    if votes is None:
        table = table[table["kind"] == kind]
    table = of_turn(table, turn)
    if category is not None:
        table = table[table["category"] == category]
    if votes is None:
        cast = table[[*words]].to_numpy(float)
    else:
        cast = votes_of(table, judge, setup)
    names = [*MODELS]
    first = table["model_1"].map(names.index).to_numpy(int)
    second = table["model_2"].map(names.index).to_numpy(int)

    def mean_rates(weights: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        won, met = _won_and_met(first, second, cast * weights[:, None])
        return _over_opponents(_share(won, met))

    all_rows = np.ones(len(table))
    won, met = _won_and_met(first, second, cast)
    values, n = mean_rates(all_rows), met.sum(axis=1)
    if votes is None:
        # Variance by binomials, with half a win and half a loss added: a model that
        # never won against an opponent is not thereby sure never to win.
        smooth = _share(won + 0.5, met + 1)
        variance = _share(smooth * (1 - smooth), met)
        errors = np.sqrt(_over_opponents(variance) / (len(MODELS) - 1))
        freedom, method = math.inf, "delta method, votes as units"
    else:
        questions = np.unique(table["question_id"])
        asked = table["question_id"].to_numpy()
        without = np.array([mean_rates(1.0 * (asked != q)) for q in questions])
        k = len(questions)
        errors = np.sqrt((k - 1) / k * ((without - without.mean(axis=0)) ** 2).sum(0))
        freedom, method = k - 1, f"jackknife over {k} questions"
    return {
        MODELS[name]: from_standard_error(
            value,
            error,
            int(size),
            method,
            level=level,
            bounds=(0, 1),
            freedom=freedom,
        )
        for name, value, error, size in zip(names, values, errors, n, strict=True)
    }


def wins_by_question(judge: str) -> WinMatrix:
    """Which model beat which on every question, in the eyes of one type of judge?

    Parameters
    ----------
    judge : {"G4-Pair", "Human", "Author"}
        Whose votes count, both turns.

    Returns
    -------
    WinMatrix
        ``wins`` and ``ties`` have one layer per question, sparse, shape (80, 6, 6): as
        `judgelab.ranking.bradley_terry` takes games that are independent from question
        to question only. A verdict of GPT-4 that flips with the order is a tie.

    Raises
    ------
    ValidationError
        If the judge has no public votes.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> votes = wins_by_question("Human")
    >>> votes.wins.shape, int(votes.wins.sum()), int(votes.ties.sum() / 2)
    ((80, 6, 6), 2094, 574)
    """
    kind = _kind(judge)
    shipped = data.counts("mtbench", "question_wins")
    cast = shipped[shipped["kind"] == kind]
    question = cast["question_id"].to_numpy() - FIRST_QUESTION
    first, second = cast["model_1"], cast["model_2"]
    models = [*MODELS]
    wins = win_counts(
        np.concatenate([first, second]),
        np.concatenate([second, first]),
        players=models,
        weights=np.concatenate([cast["A"], cast["B"]]),
        clusters=np.concatenate([question, question]),
    )
    ties = tie_counts(
        first, second, players=models, weights=cast["TIE"], clusters=question
    )
    return WinMatrix([*MODELS.values()], wins, ties, 0)


def _kind(judge: str) -> str:
    """Name a type of judge with public votes as our counts do."""
    if judge not in JUDGES:
        raise ValidationError(
            f"no public votes of {judge!r}; choose from {', '.join(JUDGES)}"
        )
    return JUDGES[judge]


def _won_and_met(
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    cast: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Wins of row over column, and votes between them, as 6 × 6 matrices."""
    won = np.zeros((len(MODELS), len(MODELS)))
    met = np.zeros_like(won)
    np.add.at(won, (first, second), cast[:, 0])
    np.add.at(won, (second, first), cast[:, 1])
    np.add.at(met, (first, second), cast.sum(axis=1))
    return won, met + met.T


def _share(
    part: npt.NDArray[np.float64], whole: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Ratio off the diagonal, where a model meets itself."""
    others = ~np.eye(len(MODELS), dtype=bool)
    if not whole[others].all():
        raise UndefinedStatistic(
            "two models never met in these votes; pool more of them"
        )
    return np.divide(part, whole, out=np.zeros_like(part), where=others)


def _over_opponents(rates: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    mean: npt.NDArray[np.float64] = rates.sum(axis=1) / (len(MODELS) - 1)
    return mean
