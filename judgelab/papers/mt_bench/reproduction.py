"""The paper's printed figures beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab import data
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers.mt_bench.meetings import agreement
from judgelab.papers.mt_bench.published import (
    POSITION_N,
    plain_name,
    position_counts,
    share_columns,
    widest_interval,
)
from judgelab.papers.mt_bench.votes import CATEGORIES
from judgelab.papers.mt_bench.wins import win_rates
from judgelab.papertable import Cell, PaperTable

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "MT-bench (2306.05685)"

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
    shares = share_columns(printed)
    labels = printed.drop(columns=shares).agg(", ".join, axis=1)
    whole = position_counts(number)
    cells = [
        Cell(
            f"{label}, {plain_name(share).replace('_', ' ')}",
            percent,
            proportion(count, POSITION_N[number]),
            decimals=1,
            scale=100,
        )
        for share in shares
        for label, percent, count in zip(
            labels, printed[share], whole[plain_name(share)], strict=True
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
