"""MT-bench and Chatbot Arena (Zheng et al. 2023): the paper's protocol and rules.

The public votes are 2,400 verdicts of GPT-4 (one per question, turn and pair of models)
and 3,354 of people: *experts*, whom the paper's tables call *Human*, and *authors*. A
*key* is one question, one turn and one unordered pair of models. Votes meet on a key
only after the two model names are sorted and the vote is turned with them; forgetting
that keeps 1,232 of 1,814 keys (`join_keys`).

Every number comes by one of two roads. Offline, from counts that the package carries
(`judgelab.data.counts`): how often each combination of votes occurs. Or from the votes
themselves: ``vote_table(load())``. Functions take either.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.counts import WinMatrix, tie_counts, win_counts
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import (
    clustered_proportion,
    from_standard_error,
    proportion,
    upper_end,
)
from judgelab.papertable import Cell, PaperTable
from judgelab.verdict import Verdict, unswap

if TYPE_CHECKING:
    import pandas as pd

Setup = Literal["S1", "S2"]
"""S1 counts ties (and verdicts that flip with the order) as ties; S2 drops them."""

CATEGORIES = (
    "writing",
    "roleplay",
    "reasoning",
    "math",
    "coding",
    "extraction",
    "stem",
    "humanities",
)
"""Eight kinds of question, ten questions each, numbered from 81 in this order."""

MODELS = {
    "alpaca-13b": "Alpaca-13B",
    "claude-v1": "Claude-v1",
    "gpt-3.5-turbo": "GPT-3.5",
    "gpt-4": "GPT-4",
    "llama-13b": "LLaMA-13B",
    "vicuna-13b-v1.2": "Vicuna-13B",
}
"""The six models: their names in the records, and in the paper."""

JUDGES = {"G4-Pair": "gpt4", "Human": "expert", "Author": "author"}
"""Types of judge with public votes: their names in the paper, and in our counts."""

_WORDS = ("A", "B", "TIE")
_KEY = ["question_id", "turn", "model_1", "model_2"]
_FIRST_QUESTION = 81


def load() -> pd.DataFrame:
    """Which verdict did every judge give on every pair of answers?

    Returns
    -------
    pandas.DataFrame
        5,754 tidy pairwise records: ``judge`` (one person, or ``gpt4_pair``), ``kind``
        (``gpt4``, ``expert``, ``author``), ``item``, ``question_id``, ``category``,
        ``turn``, ``model_a`` and ``model_b`` as stored, ``verdict`` on these (A, B,
        TIE), ``swapped`` (the stored order is not the alphabetical one) and ``flipped``
        (GPT-4 named a different winner when the order was exchanged; its verdict is
        TIE). One author vote is stored twice, in both orders; one copy is dropped.

    Raises
    ------
    DownloadError, ChecksumMismatch
        If the votes can't be had; see `judgelab.data.fetch`.

    References
    ----------
    Zheng et al. (2023), sections 2.2 and 4.1; lmsys/mt_bench_human_judgments,
    CC-BY-4.0.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    import pandas as pd

    folder = data.fetch("mtbench")
    files = [folder / "human.jsonl", folder / "gpt4_pair.jsonl"]
    votes = pd.concat([pd.read_json(file, lines=True) for file in files])
    words = {
        "model_a": "A",
        "model_b": "B",
        "tie": "TIE",
        "tie (inconsistent)": "TIE",
    }
    swapped = votes["model_a"] > votes["model_b"]
    first = votes["model_a"].where(~swapped, votes["model_b"])
    second = votes["model_b"].where(~swapped, votes["model_a"])
    question = votes["question_id"].astype(str) + "/" + votes["turn"].astype(str)
    category = (votes["question_id"] - _FIRST_QUESTION) // 10
    records = pd.DataFrame(
        {
            "judge": votes["judge"],
            "kind": votes["judge"].str.extract(r"^([a-z0-9]+)_", expand=False),
            "item": question + " " + first + " : " + second,
            "question_id": votes["question_id"],
            "category": category.map(dict(enumerate(CATEGORIES))),
            "turn": votes["turn"],
            "model_a": votes["model_a"],
            "model_b": votes["model_b"],
            "verdict": votes["winner"].map(words),
            "swapped": swapped,
            "flipped": votes["winner"] == "tie (inconsistent)",
        }
    )
    # Keep the copy in GPT-4's order (the later one): joins by stored order keep it too.
    return records.drop_duplicates(["judge", "item"], keep="last", ignore_index=True)


def vote_table(records: pd.DataFrame) -> pd.DataFrame:
    """How did each type of judge vote on each key?

    Parameters
    ----------
    records : pandas.DataFrame
        From `load`.

    Returns
    -------
    pandas.DataFrame
        One row per key (2,400): ``question_id``, ``category``, ``turn``, ``model_1`` <
        ``model_2``, the verdict ``gpt4`` on them (A: model_1 is better), and the
        numbers of votes ``expert_A``, ``expert_B``, ``expert_TIE`` and ``author_*``.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    votes = _canonical(records)
    people = votes[votes["kind"] != "gpt4"]
    counts = people.pivot_table(
        index=_KEY, columns=["kind", "verdict"], aggfunc="size", fill_value=0
    )
    counts.columns = ["_".join(pair) for pair in counts.columns]
    gpt4 = votes[votes["kind"] == "gpt4"].rename(columns={"verdict": "gpt4"})
    table = gpt4[[*_KEY, "category", "gpt4"]].merge(counts.reset_index(), "left", _KEY)
    columns = [f"{kind}_{word}" for kind in ("expert", "author") for word in _WORDS]
    table[columns] = table[columns].fillna(0).astype(int)
    return table[[*_KEY, "category", "gpt4", *columns]]


def derive_counts(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Derive the counts that the package ships from the votes.

    Parameters
    ----------
    records : pandas.DataFrame
        From `load`.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``vote_patterns`` (how often each combination of votes occurs on a key, by
        turn), ``pair_patterns`` (GPT-4 and experts, by pair of models), ``wins`` (by
        type of judge, turn, category and pair), ``question_wins`` (the same by question
        and pair, for `wins_by_question`), ``orders`` (GPT-4 × expert votes in two
        orders of naming), ``question_tables`` (`joint_tables` by question),
        ``join`` (`join_keys`), and the intervals of Table 13 and
        Table 7 when whole questions are the independent units:
        ``agreement_by_question``, ``win_rates_by_question``.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    import pandas as pd

    table = vote_table(records)
    experts = [f"expert_{word}" for word in _WORDS]
    authors = [f"author_{word}" for word in _WORDS]

    def patterns(*columns: str) -> pd.DataFrame:
        sizes = table.groupby([*columns]).size()
        return sizes.rename("keys").reset_index()

    canonical = _canonical(records)

    def wins(*columns: str) -> pd.DataFrame:
        counted = canonical.pivot_table(
            index=["kind", *columns, "model_1", "model_2"],
            columns="verdict",
            aggfunc="size",
            fill_value=0,
        )
        return counted.reset_index().rename_axis(columns=None)

    cells = []
    for turn, setup, one, two in _computable():
        cell = agreement(
            one, two, setup=setup, turn=turn, votes=table, units="question"
        )
        ends = round(cell.low, 6), round(cell.high, 6)
        cells.append((turn, setup, one, two, *ends))
    rates = [
        (model, category, round(rate.low, 6), round(rate.high, 6))
        for category in CATEGORIES
        for model, rate in win_rates("Human", category=category, votes=table).items()
    ]
    return {
        "vote_patterns": patterns("turn", "gpt4", *experts, *authors),
        "pair_patterns": patterns("model_1", "model_2", "gpt4", *experts),
        "wins": wins("turn", "category"),
        "question_wins": wins("question_id"),
        "orders": _orders(records),
        "question_tables": _question_tables(table),
        "join": pd.DataFrame([join_keys(records)]),
        "agreement_by_question": pd.DataFrame(
            cells, columns=["turn", "setup", "judge_1", "judge_2", "low", "high"]
        ),
        "win_rates_by_question": pd.DataFrame(
            rates, columns=["model", "category", "low", "high"]
        ),
    }


def join_keys(records: pd.DataFrame) -> dict[str, int]:
    """How many keys are lost when votes are joined in their stored order?

    Parameters
    ----------
    records : pandas.DataFrame
        From `load`.

    Returns
    -------
    dict of str to int
        ``canonical``: keys with a human vote that meet GPT-4's verdict when model names
        are sorted first; ``stored``: when they are compared as stored. Nothing warns of
        the difference.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    canonical = _canonical(records)
    stored = ["question_id", "turn", "model_a", "model_b"]

    def met(columns: list[str]) -> int:
        keys = canonical[[*columns, "kind"]].drop_duplicates()
        gpt4 = keys[keys["kind"] == "gpt4"][columns]
        people = keys[keys["kind"] != "gpt4"][columns].drop_duplicates()
        return len(people.merge(gpt4, on=columns))

    return {"canonical": met(_KEY), "stored": met(stored)}


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
        If a judge has no public votes, or questions are asked for without `votes`.
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
    if turn is not None:
        table = table[table["turn"] == turn]
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
    if setup not in ("S1", "S2"):
        raise ValidationError(f"unknown setup {setup!r}; choose 'S1' or 'S2'")
    if {judge_1, judge_2} == {"Human", "Human-M"}:
        own, majority = _side(table, "Human", setup), _side(table, "Human-M", setup)
        total = own.sum(axis=1)
        total *= (total >= 2) & majority.any(axis=1)
        return (own * majority).sum(axis=1) * (total > 0), total
    one = _side(table, judge_1, setup)
    total = one.sum(axis=1)
    if judge_1 == judge_2:
        return (one * (one - 1)).sum(axis=1) / 2, total * (total - 1) / 2
    two = _side(table, judge_2, setup)
    return (one * two).sum(axis=1), total * two.sum(axis=1)


def _side(table: pd.DataFrame, judge: str, setup: Setup) -> npt.NDArray[np.float64]:
    """Votes of one type of judge on each row: columns A, B and, in S1, TIE."""
    kept = 3 if setup == "S1" else 2
    if judge == "Human-M":
        votes = _side(table, "Human", "S1")
        modes = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
        modes = modes[:, :kept].astype(float)
        shares: npt.NDArray[np.float64] = modes / np.maximum(
            modes.sum(axis=1, keepdims=True), 1.0
        )
        return shares
    if judge not in JUDGES:
        raise ValidationError(
            f"no public votes of {judge!r}; choose from {', '.join(JUDGES)}, Human-M"
        )
    if judge == "G4-Pair":
        words = table["gpt4"].to_numpy(dtype=str)[:, None]
        said: npt.NDArray[np.float64] = (words == np.array(_WORDS[:kept])).astype(float)
        return said
    columns = [f"{JUDGES[judge]}_{word}" for word in _WORDS[:kept]]
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
    if order not in ("canonical", "stored") or setup not in ("S1", "S2"):
        raise ValidationError(
            f"order {order!r}, setup {setup!r}: choose order 'canonical' or 'stored' "
            "and setup 'S1' or 'S2'"
        )
    cells = data.counts("mtbench", "orders")
    votes = cells[cells["order"] == order]["votes"].to_numpy(np.int64).reshape(3, 3)
    return votes if setup == "S1" else votes[:2, :2].copy()


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
    if units not in ("question", "pair") or setup not in ("S1", "S2"):
        raise ValidationError(
            f"units {units!r}, setup {setup!r}: choose units 'question' or 'pair' "
            "and setup 'S1' or 'S2'"
        )
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
    kept = 3 if setup == "S1" else 2
    return tables[:, :kept, :kept].copy()


JUDGE_PAIRS = (
    ("G4-Pair", "Human"),
    ("G4-Pair", "Author"),
    ("Author", "Human"),
    ("Human", "Human"),
    ("Author", "Author"),
)
"""The types of judges whose votes meet, majorities left aside."""

_CELLS = [f"{one}_{two}" for one in _WORDS for two in _WORDS]


def _met(
    table: pd.DataFrame, judge_1: str, judge_2: str, units: list[str]
) -> npt.NDArray[np.float64]:
    """Cross the votes of two types of judges on each key; add up by unit."""
    one, two = _side(table, judge_1, "S1"), _side(table, judge_2, "S1")
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


def _question_tables(table: pd.DataFrame) -> pd.DataFrame:
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
        If the judge has no public votes, or the category or setup is unknown.
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
    if judge not in JUDGES:
        raise ValidationError(
            f"no public votes of {judge!r}; choose from {', '.join(JUDGES)}"
        )
    if category is not None and category not in CATEGORIES:
        raise ValidationError(
            f"unknown category {category!r}; choose from {', '.join(CATEGORIES)}"
        )
    if setup not in ("S1", "S2"):
        raise ValidationError(f"unknown setup {setup!r}; choose 'S1' or 'S2'")
    table = data.counts("mtbench", "wins") if votes is None else votes
    if votes is None:
        table = table[table["kind"] == JUDGES[judge]]
        cast = table[[*_WORDS]].to_numpy(float)
    else:
        cast = _side(table, judge, "S1")
    kept = np.ones(len(table), bool)
    for column, wanted in (("turn", turn), ("category", category)):
        if wanted is not None:
            kept &= (table[column] == wanted).to_numpy()
    table, cast = table[kept], cast[kept]
    if setup == "S2":
        cast[:, 2] = 0
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
        quantile, method = None, "delta method, votes as units"
    else:
        questions = np.unique(table["question_id"])
        asked = table["question_id"].to_numpy()
        without = np.array([mean_rates(1.0 * (asked != q)) for q in questions])
        k = len(questions)
        errors = np.sqrt((k - 1) / k * ((without - without.mean(axis=0)) ** 2).sum(0))
        quantile, method = k - 1, f"jackknife over {k} questions"
    return {
        MODELS[name]: _normal_or_t(value, error, int(size), method, quantile, level)
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
    if judge not in JUDGES:
        raise ValidationError(
            f"no public votes of {judge!r}; choose from {', '.join(JUDGES)}"
        )
    shipped = data.counts("mtbench", "question_wins")
    cast = shipped[shipped["kind"] == JUDGES[judge]]
    question = cast["question_id"].to_numpy() - _FIRST_QUESTION
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


def _normal_or_t(
    value: float,
    error: float,
    n: int,
    method: str,
    freedom: int | None,
    level: float,
) -> Estimate:
    if freedom is not None:
        from scipy import special

        # `from_standard_error` multiplies by z; stretch the error so that it is t.
        upper = upper_end(level)
        error *= float(special.stdtrit(freedom, upper) / special.ndtri(upper))
    return from_standard_error(value, error, n, method, level=level, bounds=(0, 1))


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
        a, b = keys @ _side(table, judge, "S2")
        rows.append(
            {
                "model_1": MODELS[one],
                "model_2": MODELS[two],
                "difference": abs(a - b) / (a + b),
                "agreement": clustered_proportion(agreeing, pairs, weights=keys),
            }
        )
    return pd.DataFrame(rows).sort_values("difference", ignore_index=True)


def reproduce(votes: pd.DataFrame | None = None) -> list[PaperTable]:
    """Which of the paper's printed figures do we get?

    Parameters
    ----------
    votes : pandas.DataFrame, optional
        From `vote_table`, to take the road from the raw votes; the shipped counts when
        left out. Both roads give the same figures and the same intervals, which take
        whole questions as units.

    Returns
    -------
    list of PaperTable
        Tables 2 to 15, in the paper's order.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> for table in reproduce()[3:6]:
    ...     print(table.caption)
    MT-bench (2306.05685), Table 5: agreement on MT-bench (recomputed): 8 figures
    checked, 8 exact; 8 not reproducible here
    MT-bench (2306.05685), Table 6: agreement on Chatbot Arena (from print): 0 figures
    checked; 20 not reproducible here
    MT-bench (2306.05685), Table 7: win rate by category (recomputed): 32 figures
    checked, 32 exact
    """
    return [
        _position_table(2, "position bias of three judges"),
        _verbosity_table(),
        _maths_table(),
        _agreement_table(5, "agreement on MT-bench", votes),
        _arena_table(),
        _win_rate_table(votes),
        _variants_table(),
        _position_table(9, "position bias, four prompts"),
        _position_table(10, "position bias by category"),
        _position_table(11, "position bias by pair of models"),
        _position_table(12, "position bias with examples"),
        _agreement_table(13, "agreement between all types of judge", votes),
        _training_table(),
        _position_table(15, "position bias of Vicuna"),
    ]


def position_counts(table: int) -> pd.DataFrame:
    """How many of the answer pairs are behind each printed share of position bias?

    Parameters
    ----------
    table : {2, 9, 10, 11, 12, 15}
        Number of the table in the paper.

    Returns
    -------
    pandas.DataFrame
        The rows of the table with whole numbers instead of percentages: ``consistent``,
        ``biased_first``, ``biased_second`` and, where printed, ``error``; ``n`` is
        their sum: 80 first-turn questions (50 in Table 10, which its two-point steps
        imply).

    Raises
    ------
    ValidationError
        If the table isn't one of these.

    References
    ----------
    Zheng et al. (2023), sections 3.3 and 3.4, appendices D.1 and F.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> position_counts(2).iloc[4].to_dict()
    {'judge': 'GPT-4', 'prompt': 'default', 'consistent': 52, 'biased_first': 24,
    'biased_second': 4, 'error': 0, 'n': 80}
    """
    if table not in _POSITION_N:
        raise ValidationError(
            f"Table {table!r} is no table of position bias; choose from "
            f"{', '.join(map(str, _POSITION_N))}"
        )
    frame = data.published("mtbench", f"table{table}")
    shares = _share_columns(frame)
    whole = (frame[shares] * _POSITION_N[table] / 100).round().astype(int)
    whole.columns = [_plain(share) for share in shares]
    return frame.drop(columns=shares).join(whole).assign(n=whole.sum(axis=1))


def _share_columns(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame if str(name).endswith("_pct")]


def _plain(share: str) -> str:
    return share.removesuffix("_pct").replace("consistency", "consistent")


_SOURCE = "MT-bench (2306.05685)"

_POSITION_N = {2: 80, 9: 80, 10: 50, 11: 80, 12: 80, 15: 80}
"""Pairs of answers behind each table of position bias, each judged in both orders."""

_PAPER_JUDGES = {
    "G4-P": "G4-Pair",
    "G4-Pair": "G4-Pair",
    "Author": "Author",
    "Human": "Human",
    "Human-M": "Human-M",
}
"""Judges with public votes, by the two spellings of the paper's tables."""

_KNOWN = {
    (13, 2, "S2", "Human", "Human"): (
        "the count fits; this percentage and that of Human and Human-M, S1, turn 2, "
        "look exchanged in print, and Table 5 prints 82 here, as we get"
    ),
    (13, 2, "S1", "Human", "Human-M"): (
        "the count fits; this percentage and that of Human and Human, S2, turn 2, look "
        "exchanged in print"
    ),
} | {
    (13, turn, setup, "Author", "Human-M"): (
        "no rule that we tried gives these counts: the majority of the experts meets "
        "more of the authors' votes than the paper counts"
    )
    for turn in (1, 2)
    for setup in ("S1", "S2")
}
"""Cells that differ, and why."""


def _agreement_table(
    number: int, subject: str, votes: pd.DataFrame | None
) -> PaperTable:
    cells = []
    printed = data.published("mtbench", f"table{number}")
    for turn, setup, one, two, percent, n in printed.itertuples(index=False):
        name = f"{one} and {two}, {setup}, turn {turn}"
        if not {one, two} <= _PAPER_JUDGES.keys():
            cells.append(_published(name, percent, n, "these votes are not public"))
            continue
        judges = _PAPER_JUDGES[one], _PAPER_JUDGES[two]
        if votes is None:
            ours = _shipped_by_question(
                agreement(*judges, setup=setup, turn=turn),
                "agreement_by_question",
                {
                    "turn": turn,
                    "setup": setup,
                    "judge_1": judges[0],
                    "judge_2": judges[1],
                },
                "Wilson, by question",
            )
        else:
            options: dict[str, Any] = {"setup": setup, "turn": turn, "votes": votes}
            ours = agreement(*judges, units="question", **options)
        why = _KNOWN.get((number, turn, setup, one, two), "")
        cells.append(
            Cell(name, percent, ours, 0, 100, paper_n=n, known=bool(why), why=why)
        )
    return PaperTable(_SOURCE, f"Table {number}: {subject}", cells, unit="%")


def _shipped_by_question(
    estimate: Estimate, name: str, cell: dict[str, Any], method: str
) -> Estimate:
    """Give an estimate from shipped counts the interval that rests on whole questions.

    Counts by pattern don't say which votes share a question, and intervals that ignore
    it are too narrow; the right ones were computed from the votes and are shipped.
    """
    ends = data.counts("mtbench", name)
    for column, value in cell.items():
        ends = ends[ends[column] == value]
    low, high = ends[["low", "high"]].to_numpy()[0]
    return replace(estimate, low=float(low), high=float(high), method=method)


def _published(name: str, percent: float, n: int, why: str) -> Cell:
    """Show a printed percentage of n votes: not ours, but with an interval."""
    interval = proportion(percent / 100 * n, n)
    return Cell(name, percent, None, scale=100, paper_n=n, why=why, interval=interval)


def _arena_table() -> PaperTable:
    cells = [
        _published(
            f"{one} and {two}, {setup}",
            percent,
            n,
            "these votes are not public; interval as if every vote were independent",
        )
        for setup, one, two, percent, n in data.published(
            "mtbench", "table6"
        ).itertuples(index=False)
    ]
    return PaperTable(
        _SOURCE, "Table 6: agreement on Chatbot Arena", cells, "from print", "%"
    )


def _win_rate_table(votes: pd.DataFrame | None) -> PaperTable:
    rates = {c: win_rates("Human", category=c, votes=votes) for c in CATEGORIES}
    cells = []
    rows = data.published("mtbench", "table7").itertuples(index=False)
    for model, category, percent in rows:
        ours = rates[category][model]
        if votes is None:
            cell = {"model": model, "category": category}
            name, method = "win_rates_by_question", "jackknife over 10 questions"
            ours = _shipped_by_question(ours, name, cell, method)
        cells.append(Cell(f"{model}, {category}", percent, ours, 1, 100))
    return PaperTable(_SOURCE, "Table 7: win rate by category", cells, unit="%")


def _position_table(number: int, subject: str) -> PaperTable:
    printed = data.published("mtbench", f"table{number}")
    shares = _share_columns(printed)
    labels = printed.drop(columns=shares).agg(", ".join, axis=1)
    whole = position_counts(number)
    cells = [
        Cell(
            f"{label}, {_plain(share).replace('_', ' ')}",
            percent,
            proportion(count, _POSITION_N[number]),
            decimals=1,
            scale=100,
        )
        for share in shares
        for label, percent, count in zip(
            labels, printed[share], whole[_plain(share)], strict=True
        )
    ]
    return PaperTable(_SOURCE, f"Table {number}: {subject}", cells, "from print", "%")


def _verbosity_table() -> PaperTable:
    cells = [
        Cell(judge, rate, proportion(round(rate * n / 100), n), 1, scale=100)
        for judge, rate, n in data.published("mtbench", "table3").itertuples(
            index=False
        )
    ]
    return PaperTable(
        _SOURCE, "Table 3: failures under the repetitive list", cells, "from print", "%"
    )


def _maths_table() -> PaperTable:
    cells = [
        Cell(prompt, rate, proportion(failures, n), 1, scale=100)
        for prompt, failures, n, rate in data.published("mtbench", "table4").itertuples(
            index=False
        )
    ]
    return PaperTable(
        _SOURCE, "Table 4: failures in grading mathematics", cells, "from print", "%"
    )


def _variants_table() -> PaperTable:
    no_runs = "the runs are not public, and the paper prints no sample size"
    no_scores = (
        "the scores are not public; the interval is the widest that 160 scores from 1 "
        "to 10 with this mean can have"
    )
    cells = []
    rows = data.published("mtbench", "table8").itertuples(index=False)
    for model, _, mmlu, truthful, score in rows:
        cells.append(Cell(f"{model}, MMLU", mmlu, None, 1, why=no_runs))
        if not np.isnan(truthful):
            cells.append(Cell(f"{model}, TruthfulQA", truthful, None, 2, why=no_runs))
        widest = widest_interval(score, 160, 1, 10)
        name = f"{model}, MT-bench score"
        cells.append(Cell(name, score, None, 2, why=no_scores, interval=widest))
    return PaperTable(_SOURCE, "Table 8: two kinds of benchmark", cells, "from print")


def widest_interval(
    mean: float, n: int, lowest: float, highest: float, *, level: float = 0.95
) -> Estimate:
    """How unsure can a printed mean be, when nothing is known of the spread behind it?

    Values between two ends spread most when all of them are at the ends; their variance
    is then (mean − lowest) × (highest − mean), and no data with this mean have more.

    Parameters
    ----------
    mean : float
        The printed mean.
    n : int
        How many independent values it averages, at least 2.
    lowest, highest : float
        The ends of the scale.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In the unit of the mean.

    Raises
    ------
    ValidationError
        If the mean lies outside the scale, or n is below 2.

    References
    ----------
    Bhatia & Davis (2000), *American Mathematical Monthly* 107(4).

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> widest_interval(5.95, 160, 1, 10)
    5.950 [5.254, 6.646] (n = 160, widest possible spread)
    """
    if not lowest <= mean <= highest or n < 2:
        raise ValidationError(
            f"mean {mean} of {n} values from {lowest} to {highest}: the mean must "
            "lie on the scale, and n must be at least 2"
        )
    error = np.sqrt((mean - lowest) * (highest - mean) / (n - 1))
    return from_standard_error(
        mean,
        float(error),
        n,
        "widest possible spread",
        level=level,
        bounds=(lowest, highest),
    )


def _training_table() -> PaperTable:
    why = "the training conversations are not public"
    cells = []
    rows = data.published("mtbench", "table14").itertuples(index=False)
    for name, tokens, sequences, turns, length in rows:
        for figure, printed, decimals in (
            ("million tokens", float(tokens.removesuffix("M")), 1),
            ("thousand sequences", float(sequences.removesuffix("K")), 0),
            ("turns on average", turns, 1),
            ("tokens per response", length, 0),
        ):
            cells.append(Cell(f"{name}, {figure}", printed, None, decimals, why=why))
    return PaperTable(_SOURCE, "Table 14: the training sets", cells, "from print")


def _canonical(records: pd.DataFrame) -> pd.DataFrame:
    """Sort the two names of each record and turn the verdict with them."""
    swapped = records["swapped"].to_numpy(bool)
    first, second = records["model_a"], records["model_b"]
    return records.assign(
        model_1=first.where(~swapped, second),
        model_2=second.where(~swapped, first),
        verdict=_turned(records["verdict"], swapped),
    )


def _turned(words: pd.Series[str], swapped: npt.NDArray[np.bool_]) -> list[str]:
    codes = unswap([Verdict[word] for word in words], swapped)
    return [Verdict(code).name for code in codes]


def _orders(records: pd.DataFrame) -> pd.DataFrame:
    """Count GPT-4 × expert votes: A first in the alphabet, or as stored."""
    import pandas as pd

    canonical = _canonical(records)
    gpt4 = canonical[canonical["kind"] == "gpt4"]
    experts = canonical[canonical["kind"] == "expert"]
    pairs = experts.merge(gpt4, on=_KEY, suffixes=("_expert", "_gpt4"))
    stored = pairs["swapped_gpt4"].to_numpy(bool)
    cells = []
    for order, swapped in (("canonical", np.zeros_like(stored)), ("stored", stored)):
        one = _turned(pairs["verdict_gpt4"], swapped)
        two = _turned(pairs["verdict_expert"], swapped)
        counted = pd.Series(zip(one, two, strict=True)).value_counts()
        cells += [
            {
                "order": order,
                "gpt4": g,
                "expert": e,
                "votes": int(counted.get((g, e), 0)),
            }
            for g in _WORDS
            for e in _WORDS
        ]
    return pd.DataFrame(cells)


def _computable() -> list[tuple[int, Setup, str, str]]:
    """List the cells of Table 13 whose two types of judge have public votes."""
    pairs = [
        ("G4-Pair", "Author"),
        ("G4-Pair", "Human"),
        ("G4-Pair", "Human-M"),
        ("Author", "Author"),
        ("Author", "Human"),
        ("Author", "Human-M"),
        ("Human", "Human"),
        ("Human", "Human-M"),
    ]
    setups: tuple[Setup, Setup] = ("S1", "S2")
    return [(t, s, one, two) for t in (1, 2) for s in setups for one, two in pairs]


def write_counts(folder: Path) -> None:
    """Write the shipped counts anew, as CSV files with their source and licence.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files go.

    Notes
    -----
    Maintainers: ``python -m judgelab.papers.mt_bench judgelab/data/mtbench/counts``.
    Chapter: *MT-bench and Chatbot Arena*.
    """
    header = (
        "# source: counted by judgelab.papers.mt_bench.derive_counts from "
        "lmsys/mt_bench_human_judgments, revision "
        "f7d2896d2cc5d80f8b55c2bbc722613555233c25\n"
        "# licence: CC-BY-4.0, LMSYS Org; Zheng et al. (2023), arXiv:2306.05685\n"
    )
    for name, frame in derive_counts(load()).items():
        text = frame.to_csv(index=False, lineterminator="\n")
        Path(folder, f"{name}.csv").write_text(header + text, "utf-8")


if __name__ == "__main__":
    write_counts(Path(sys.argv[1]))
