"""The votes: one record per verdict, and one row per question, turn and pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.errors import ValidationError
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

WORDS = ("A", "B", "TIE")
KEY = ["question_id", "turn", "model_1", "model_2"]
FIRST_QUESTION = 81


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
    category = (votes["question_id"] - FIRST_QUESTION) // 10
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
    votes = in_canonical_order(records)
    people = votes[votes["kind"] != "gpt4"]
    counts = people.pivot_table(
        index=KEY, columns=["kind", "verdict"], aggfunc="size", fill_value=0
    )
    counts.columns = ["_".join(pair) for pair in counts.columns]
    gpt4 = votes[votes["kind"] == "gpt4"].rename(columns={"verdict": "gpt4"})
    table = gpt4[[*KEY, "category", "gpt4"]].merge(counts.reset_index(), "left", KEY)
    columns = [f"{kind}_{word}" for kind in ("expert", "author") for word in WORDS]
    table[columns] = table[columns].fillna(0).astype(int)
    return table[[*KEY, "category", "gpt4", *columns]]


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
    canonical = in_canonical_order(records)
    stored = ["question_id", "turn", "model_a", "model_b"]

    def met(columns: list[str]) -> int:
        keys = canonical[[*columns, "kind"]].drop_duplicates()
        gpt4 = keys[keys["kind"] == "gpt4"][columns]
        people = keys[keys["kind"] != "gpt4"][columns].drop_duplicates()
        return len(people.merge(gpt4, on=columns))

    return {"canonical": met(KEY), "stored": met(stored)}


def words_kept(setup: Setup) -> tuple[str, ...]:
    """Name the verdicts that count in a setup: with or without ties."""
    if setup not in ("S1", "S2"):
        raise ValidationError(f"unknown setup {setup!r}; choose 'S1' or 'S2'")
    return WORDS if setup == "S1" else WORDS[:2]


def of_turn(table: pd.DataFrame, turn: int | None) -> pd.DataFrame:
    """Keep one turn of the conversations, or both."""
    if turn is None:
        return table
    if turn not in (1, 2):
        raise ValidationError(f"turn is {turn!r}; choose 1 or 2, or None for both")
    return table[table["turn"] == turn]


def in_canonical_order(records: pd.DataFrame) -> pd.DataFrame:
    """Sort the two names of each record and turn the verdict with them."""
    swapped = records["swapped"].to_numpy(bool)
    first, second = records["model_a"], records["model_b"]
    return records.assign(
        model_1=first.where(~swapped, second),
        model_2=second.where(~swapped, first),
        verdict=turned(records["verdict"], swapped),
    )


def turned(words: pd.Series[str], swapped: npt.NDArray[np.bool_]) -> list[str]:
    """Turn verdicts, as words, where the two names were exchanged."""
    codes = unswap([Verdict[word] for word in words], swapped)
    return [Verdict(code).name for code in codes]
