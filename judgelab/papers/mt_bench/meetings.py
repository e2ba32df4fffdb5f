"""Do two types of judges agree? Votes meet on a question, turn and pair of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import clustered_proportion
from judgelab.papers.mt_bench.votes import (
    JUDGES,
    MODELS,
    WORDS,
    Setup,
    of_turn,
    words_kept,
)

if TYPE_CHECKING:
    import pandas as pd

JUDGE_PAIRS = (
    ("G4-Pair", "Human"),
    ("G4-Pair", "Author"),
    ("Author", "Human"),
    ("Human", "Human"),
    ("Author", "Author"),
)
"""The types of judges whose votes meet, majorities left aside."""

_CELLS = [f"{one}_{two}" for one in WORDS for two in WORDS]


def agreement(
    judge_1: str,
    judge_2: str,
    *,
    setup: Setup,
    turn: int | None = None,
    votes: pd.DataFrame | None = None,
    units: Literal["key", "question"] = "key",
    level: float = 0.95,
) -> Estimate:
    """How often do a judge of one type and a judge of another give the same verdict?

    Between two types, every vote of the one meets every vote of the other on the same
    key. Within one type, every unordered pair of different judges counts. Votes are
    pooled over keys, so that keys with many votes weigh more.

    Parameters
    ----------
    judge_1, judge_2 : {"G4-Pair", "Human", "Author", "Human-M"}
        Types of judge. "Human" are the experts; "Human-M" is their majority: the modes
        of the experts' votes on a key, with the credit split evenly among several
        modes. On "Human" against "Human-M" a voter's own vote is part of the majority,
        and the key needs two votes.
    setup : {"S1", "S2"}
        S1 keeps ties as a third verdict (guessing agrees in 1 of 3). S2 drops a pair of
        votes when either is a tie (guessing agrees in 1 of 2), and ties from the modes.
    turn : {1, 2}, optional
        One turn of the conversations; both when left out.
    votes : pandas.DataFrame, optional
        From `vote_table`; the shipped patterns when left out.
    units : {"key", "question"}, default "key"
        What is independent in the interval: keys, or whole questions, whose pairs of
        models share answers (then `votes` must be given).
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Share of agreeing pairs of votes, in [0, 1]; ``n`` counts the pairs of votes.

    Raises
    ------
    ValidationError
        If a judge has no public votes, there is no such turn, or questions are asked
        for without `votes`.
    UndefinedStatistic
        If no two votes meet.

    References
    ----------
    Zheng et al. (2023), section 4.2, Tables 5 and 13.

    Notes
    -----
    The paper states no intervals and doesn't say how it treats several votes on a key;
    these are the rules that give its percentages *and* its counts. Chapter: *MT-bench
    and Chatbot Arena*.

    Examples
    --------
    >>> f"{agreement('G4-Pair', 'Human', setup='S2', turn=1):.1%}"
    '84.6% [81.7%, 87.2%]'
    >>> f"{agreement('Human', 'Human', setup='S2', turn=1):.1%}"
    '81.0% [75.9%, 85.2%]'
    """
    if units not in ("key", "question"):
        raise ValidationError(f"units is {units!r}; choose 'key' or 'question'")
    table = data.counts("mtbench", "vote_patterns") if votes is None else votes
    table = of_turn(table, turn)
    agreeing, pairs = _meetings(table, judge_1, judge_2, setup)
    weights = table["keys"].to_numpy() if "keys" in table else np.ones(len(table), int)
    if not (pairs @ weights):
        raise UndefinedStatistic(
            f"no vote of {judge_1} meets one of {judge_2} (setup {setup}, turn {turn})"
        )
    if units == "question":
        if "question_id" not in table:
            raise ValidationError(
                "units='question' needs the votes: pass votes=vote_table(load())"
            )
        _, group = np.unique(table["question_id"].to_numpy(), return_inverse=True)
        agreeing = np.bincount(group, agreeing).astype(float)
        pairs = np.bincount(group, pairs).astype(float)
        weights = np.ones(len(pairs), int)
    return clustered_proportion(agreeing, pairs, weights=weights, level=level)


def _meetings(
    table: pd.DataFrame, judge_1: str, judge_2: str, setup: Setup
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Per row, the pairs of votes that agree and all pairs of votes."""
    if {judge_1, judge_2} == {"Human", "Human-M"}:
        own, majority = (
            votes_of(table, "Human", setup),
            votes_of(table, "Human-M", setup),
        )
        total = own.sum(axis=1)
        total *= (total >= 2) & majority.any(axis=1)
        return (own * majority).sum(axis=1) * (total > 0), total
    one = votes_of(table, judge_1, setup)
    total = one.sum(axis=1)
    if judge_1 == judge_2:
        return (one * (one - 1)).sum(axis=1) / 2, total * (total - 1) / 2
    two = votes_of(table, judge_2, setup)
    return (one * two).sum(axis=1), total * two.sum(axis=1)


def votes_of(table: pd.DataFrame, judge: str, setup: Setup) -> npt.NDArray[np.float64]:
    """Votes of one type of judge on each row: columns A, B and, in S1, TIE."""
    words = words_kept(setup)
    if judge == "Human-M":
        votes = votes_of(table, "Human", "S1")
        modes = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
        modes = modes[:, : len(words)].astype(float)
        shares: npt.NDArray[np.float64] = modes / np.maximum(
            modes.sum(axis=1, keepdims=True), 1.0
        )
        return shares
    if judge not in JUDGES:
        raise ValidationError(
            f"no public votes of {judge!r}; choose from {', '.join(JUDGES)}, Human-M"
        )
    if judge == "G4-Pair":
        gpt4 = table["gpt4"].to_numpy(dtype=str)[:, None]
        said: npt.NDArray[np.float64] = (gpt4 == np.array(words)).astype(float)
        return said
    columns = [f"{JUDGES[judge]}_{word}" for word in words]
    return table[columns].to_numpy(float)


def joint_table(
    *, order: Literal["canonical", "stored"] = "canonical", setup: Setup = "S1"
) -> npt.NDArray[np.int64]:
    """How do GPT-4's verdicts and the experts' votes go together?

    Parameters
    ----------
    order : {"canonical", "stored"}, default "canonical"
        Which model is called A: the first in the alphabet, or the one that GPT-4's file
        names first (where A loses eight times out of nine). The order is arbitrary, and
        kappa is not indifferent to it.
    setup : {"S1", "S2"}
        With ties (3 × 3) or without (2 × 2).

    Returns
    -------
    ndarray of int64
        Pairs of votes, both turns; rows GPT-4, columns experts; A, B and, in S1, TIE.

    Raises
    ------
    ValidationError
        If the order or setup is unknown.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> joint_table(setup="S2")
    array([[763, 126],
           [139, 695]])
    >>> joint_table(order="stored", setup="S2")
    array([[ 135,   60],
           [ 205, 1323]])
    """
    kept = len(words_kept(setup))
    if order not in ("canonical", "stored"):
        raise ValidationError(f"order is {order!r}; choose 'canonical' or 'stored'")
    cells = data.counts("mtbench", "orders")
    votes = cells[cells["order"] == order]["votes"].to_numpy(np.int64).reshape(3, 3)
    return votes[:kept, :kept].copy()


def joint_tables(
    units: Literal["question", "pair"],
    *,
    judges: tuple[str, str] = ("G4-Pair", "Human"),
    setup: Setup = "S1",
) -> npt.NDArray[np.float64]:
    """How do the votes of two types of judges go together, unit by unit?

    Parameters
    ----------
    units : {"question", "pair"}
        One table per question (80), or per pair of models (15; not for authors).
    judges : (str, str), default ("G4-Pair", "Human")
        Types of judges, one of `JUDGE_PAIRS`.
    setup : {"S1", "S2"}
        With ties (3 × 3) or without (2 × 2).

    Returns
    -------
    ndarray of float, shape (units, 3, 3) or (units, 2, 2)
        Pairs of votes, both turns, names in canonical order; rows the first type.
        Within one type each unordered pair of judges counts half either way round.
        Given to a coefficient of `judgelab.agreement`, the stack says that only the
        units are independent.

    Raises
    ------
    ValidationError
        If the units, judges or setup are unknown.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> joint_tables("pair", setup="S2").shape
    (15, 2, 2)
    >>> joint_tables("question", setup="S2").sum(axis=0)
    array([[763., 126.],
           [139., 695.]])
    """
    kept = len(words_kept(setup))
    if units not in ("question", "pair"):
        raise ValidationError(f"units is {units!r}; choose 'question' or 'pair'")
    if judges not in JUDGE_PAIRS or (units == "pair" and "Author" in judges):
        raise ValidationError(
            f"no tables of {judges!r} by {units}; choose from {JUDGE_PAIRS} "
            "(by pair of models: without authors)"
        )
    if units == "pair":
        patterns = data.counts("mtbench", "pair_patterns")
        tables = _met(patterns, *judges, ["model_1", "model_2"])
    else:
        shipped = data.counts("mtbench", "question_tables")
        one, two = judges
        rows = shipped[(shipped["judge_1"] == one) & (shipped["judge_2"] == two)]
        tables = rows[_CELLS].to_numpy(float).reshape(-1, 3, 3)
    return tables[:, :kept, :kept].copy()


def _met(
    table: pd.DataFrame, judge_1: str, judge_2: str, units: list[str]
) -> npt.NDArray[np.float64]:
    """Cross the votes of two types of judges on each key; add up by unit."""
    one, two = votes_of(table, judge_1, "S1"), votes_of(table, judge_2, "S1")
    votes = one[:, :, None] * two[:, None, :]
    if judge_1 == judge_2:
        # Nobody meets their own vote; each unordered pair counts once in all.
        votes = (votes - one[:, :, None] * np.eye(3)) / 2
    if "keys" in table:
        votes *= table["keys"].to_numpy()[:, None, None]
    unit = table.groupby(units).ngroup().to_numpy()
    tables = np.zeros((unit.max() + 1, 3, 3))
    np.add.at(tables, unit, votes)
    return tables


def question_tables(table: pd.DataFrame) -> pd.DataFrame:
    """Lay `joint_tables` by question out as rows."""
    import pandas as pd

    questions = np.unique(table["question_id"])
    frames = []
    for one, two in JUDGE_PAIRS:
        cells = _met(table, one, two, ["question_id"]).reshape(-1, 9)
        frame = pd.DataFrame(cells, columns=_CELLS)
        frame.insert(0, "question_id", questions)
        frame.insert(1, "judge_1", one)
        frame.insert(2, "judge_2", two)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def agreement_by_pair(judge: Literal["Human", "G4-Pair"] = "Human") -> pd.DataFrame:
    """Is agreement higher when the two models differ more?

    Parameters
    ----------
    judge : {"Human", "G4-Pair"}, default "Human"
        Whose votes say how much the two models differ.

    Returns
    -------
    pandas.DataFrame
        One row per pair of models, both turns, votes without ties: ``model_1``,
        ``model_2``, ``difference`` (of their win rates, in [0, 1]) and ``agreement`` of
        GPT-4 with the experts (`Estimate`), sorted by difference.

    Raises
    ------
    ValidationError
        If the judge is neither of the two.

    References
    ----------
    Zheng et al. (2023), Figure 2. The figure prints no numbers.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> closest = agreement_by_pair().iloc[0]
    >>> closest["model_1"], closest["model_2"], f"{closest['agreement']:.0%}"
    ('Claude-v1', 'GPT-3.5', '68% [55%, 79%]')
    """
    import pandas as pd

    if judge not in ("Human", "G4-Pair"):
        raise ValidationError(f"judge is {judge!r}; choose 'Human' or 'G4-Pair'")
    rows = []
    patterns = data.counts("mtbench", "pair_patterns")
    for pair, table in patterns.groupby(["model_1", "model_2"]):
        one, two = map(str, pair)
        keys = table["keys"].to_numpy()
        agreeing, pairs = _meetings(table, "G4-Pair", "Human", "S2")
        a, b = keys @ votes_of(table, judge, "S2")
        rows.append(
            {
                "model_1": MODELS[one],
                "model_2": MODELS[two],
                "difference": abs(a - b) / (a + b),
                "agreement": clustered_proportion(agreeing, pairs, weights=keys),
            }
        )
    return pd.DataFrame(rows).sort_values("difference", ignore_index=True)
