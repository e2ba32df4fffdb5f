"""The counts that the package carries, derived from the votes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgelab.data.registry import write_tables
from judgelab.papers.mt_bench.meetings import agreement, question_tables
from judgelab.papers.mt_bench.votes import (
    CATEGORIES,
    KEY,
    WORDS,
    Setup,
    in_canonical_order,
    join_keys,
    load,
    turned,
    vote_table,
)
from judgelab.papers.mt_bench.wins import win_rates

if TYPE_CHECKING:
    import pandas as pd


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
    experts = [f"expert_{word}" for word in WORDS]
    authors = [f"author_{word}" for word in WORDS]

    def patterns(*columns: str) -> pd.DataFrame:
        sizes = table.groupby([*columns]).size()
        return sizes.rename("keys").reset_index()

    canonical = in_canonical_order(records)

    def wins(*columns: str) -> pd.DataFrame:
        counted = canonical.pivot_table(
            index=["kind", *columns, "model_1", "model_2"],
            columns="verdict",
            aggfunc="size",
            fill_value=0,
        )
        return counted.reset_index().rename_axis(columns=None)

    cells = []
    for turn, setup, one, two in computable():
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
        "question_tables": question_tables(table),
        "join": pd.DataFrame([join_keys(records)]),
        "agreement_by_question": pd.DataFrame(
            cells, columns=["turn", "setup", "judge_1", "judge_2", "low", "high"]
        ),
        "win_rates_by_question": pd.DataFrame(
            rates, columns=["model", "category", "low", "high"]
        ),
    }


def _orders(records: pd.DataFrame) -> pd.DataFrame:
    """Count GPT-4 × expert votes: A first in the alphabet, or as stored."""
    import pandas as pd

    canonical = in_canonical_order(records)
    gpt4 = canonical[canonical["kind"] == "gpt4"]
    experts = canonical[canonical["kind"] == "expert"]
    pairs = experts.merge(gpt4, on=KEY, suffixes=("_expert", "_gpt4"))
    stored = pairs["swapped_gpt4"].to_numpy(bool)
    cells = []
    for order, swapped in (("canonical", np.zeros_like(stored)), ("stored", stored)):
        one = turned(pairs["verdict_gpt4"], swapped)
        two = turned(pairs["verdict_expert"], swapped)
        counted = pd.Series(zip(one, two, strict=True)).value_counts()
        cells += [
            {
                "order": order,
                "gpt4": g,
                "expert": e,
                "votes": int(counted.get((g, e), 0)),
            }
            for g in WORDS
            for e in WORDS
        ]
    return pd.DataFrame(cells)


def computable() -> list[tuple[int, Setup, str, str]]:
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
    write_tables(folder, header, derive_counts(load()))
