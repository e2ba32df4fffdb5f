"""The paper's printed figures beside ours."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from judgelab import data
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers.judgebench.counts import counts_of
from judgelab.papers.judgebench.published import (
    inconsistent_shares,
    pairs_in,
    possible_counts,
    printed_rows,
)
from judgelab.papers.judgebench.reading import CATEGORIES, NAMES
from judgelab.papers.judgebench.scores import evaluate
from judgelab.papertable import Cell, PaperTable

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "JudgeBench (2410.12784)"

ROW_OF = {
    ("vanilla", "gpt-4o-2024-05-13"): {1: "Vanilla, GPT-4o"},
    ("arena_hard", "gpt-4o-2024-05-13"): {1: "Arena-Hard Judge, GPT-4o", 2: "GPT-4o"},
    ("vertext_ai_gen_ai_evaluation", "None"): {
        1: "VertexAI Evaluation, Gemini-1.5-pro"
    },
    ("panda_lm", "WeOpenML_PandaLM-7B-v1"): {1: "PandaLM, PandaLM-7B"},
    ("prometheus_2", "prometheus-eval_prometheus-7b-v2.0"): {
        1: "Prometheus2-7b, prometheus-7b-v2.0"
    },
    ("prometheus_2", "prometheus-eval_prometheus-8x7b-v2.0"): {
        1: "Prometheus2-8x7b, prometheus-8x7b-v2.0"
    },
    ("prometheus_2", "prometheus-eval_prometheus-bgb-8x7b-v2.0"): {
        1: "Prometheus2-bgb-8x7b, prometheus-bgb-8x7b-v2.0"
    },
    ("judge_lm", "BAAI_JudgeLM-7B-v1.0"): {1: "JudgeLM-7B, JudgeLM-7B-v1.0"},
    ("judge_lm", "BAAI_JudgeLM-13B-v1.0"): {1: "JudgeLM-13B, JudgeLM-13B-v1.0"},
    ("judge_lm", "BAAI_JudgeLM-33B-v1.0"): {1: "JudgeLM-33B, JudgeLM-33B-v1.0"},
    ("auto_j", "GAIR_autoj-13b"): {1: "AutoJ, autoj-13b"},
    ("skywork_critic", "Skywork_Skywork-Critic-Llama-3.1-8B"): {
        1: "Skywork-LLaMA-3.1B-8B, Skywork-Critic-Llama-3.1-8B"
    },
    ("skywork_critic", "Skywork_Skywork-Critic-Llama-3.1-70B"): {
        1: "Skywork-LLaMA-3.1B-70B, Skywork-Critic-Llama-3.1-70B"
    },
    ("chat_eval", "gpt-4o-2024-05-13"): {1: "ChatEval, GPT-4o"},
    ("arena_hard", "gpt-4o-mini-2024-07-18"): {2: "GPT-4o-mini"},
    ("arena_hard", "o1-preview-2024-09-12"): {2: "o1-preview"},
    ("arena_hard", "o1-mini-2024-09-12"): {2: "o1-mini"},
    ("arena_hard", "claude-3-5-sonnet-20240620"): {2: "Claude-3.5-Sonnet"},
    ("arena_hard", "claude-3-haiku-20240307"): {2: "Claude-3-Haiku"},
    ("arena_hard", "meta-llama_Meta-Llama-3.1-405B-Instruct"): {
        2: "Llama-3.1-405B-Instruct"
    },
    ("arena_hard", "meta-llama_Meta-Llama-3.1-70B-Instruct"): {
        2: "Llama-3.1-70B-Instruct"
    },
    ("arena_hard", "meta-llama_Meta-Llama-3.1-8B-Instruct"): {
        2: "Llama-3.1-8B-Instruct"
    },
    ("arena_hard", "gemini-1.5-pro-001"): {2: "Gemini-1.5-pro"},
    ("arena_hard", "gemini-1.5-flash-001"): {2: "Gemini-1.5-flash"},
} | {key: {3: name} for key, name in NAMES.items() if key[0] == "reward_model"}
"""(prompt, model) of a file of outputs → its row in the paper's tables."""

_KNOWN = {
    (4, "Llama-3.1-405B-Instruct, Solver", "Reasoning"): (
        "no whole number of 98 prints so; this figure and that of Math look exchanged "
        "(38 of 56), then the row adds up to its Overall"
    ),
    (4, "Llama-3.1-405B-Instruct, Solver", "Math"): (
        "no whole number of 56 prints so; this figure and that of Reasoning look "
        "exchanged (62 of 98), then the row adds up to its Overall"
    ),
}
"""Cells that differ, and why."""


def reproduce(records: pd.DataFrame | None = None) -> list[PaperTable]:
    """Compare every figure of the paper that can be checked with our own.

    Parameters
    ----------
    records : pandas.DataFrame, optional
        Records of more judges, such as ``load("all")``; their rows are then recomputed
        too. The counts that the package carries if not given.

    Returns
    -------
    list of PaperTable
        Rows of Tables 1–3 whose judges are at hand are recomputed from verdicts, by the
        rule of the repository. All other figures are checked in print: whether a whole
        number of pairs can print so, with Wilson's interval.

    Raises
    ------
    ValidationError
        As `count_orders`.

    References
    ----------
    Tan et al. (2024), Tables 1–8, sections 3 and 4.4.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> tables = reproduce()
    >>> print(next(t.caption for t in tables if "Table 3" in t.caption))
    JudgeBench (2410.12784), Table 3: reward models (recomputed): 25 figures checked,
    25 exact
    """
    counts = counts_of(records)
    accuracies = evaluate(counts, rule="judgebench")["accuracy"].to_dict()
    inconsistent = [
        (judge, percent, 350, "") for judge, percent in inconsistent_shares()
    ]
    return [
        _sizes_table(counts),
        *_accuracy_tables(1, "judges", accuracies),
        *_accuracy_tables(2, "models with the Arena-Hard prompt", accuracies),
        *_accuracy_tables(3, "reward models", accuracies),
        *_accuracy_tables(4, "solving and judging", accuracies),
        _verdicts_table(),
        _shares_table(6, "pairs with inconsistent verdicts", inconsistent),
        _shares_table(7, "Prometheus 2 and its base model", _base_model_rows()),
        _shares_table(8, "augmented knowledge pairs", _augmented_rows()),
        _text_table(),
    ]


def _sizes_table(counts: pd.DataFrame) -> PaperTable:
    seen = counts.groupby(["judge", "responses", "category"])["pairs"].sum()
    largest = seen.groupby(["responses", "category"]).max()
    cells = []
    for who, own in pairs_in().items():
        for name in CATEGORIES:
            n = largest.get((who, name))
            ours = None if n is None else float(n)
            why = "no verdicts on these pairs are at hand" if n is None else ""
            cells.append(Cell(f"pairs of {who}, {name}", own[name], ours, why=why))
    return PaperTable(_SOURCE, "Section 3: number of pairs", cells, unit="pairs")


def _accuracy_tables(
    number: int, subject: str, accuracies: Mapping[Hashable, Estimate]
) -> list[PaperTable]:
    judge_of = {
        rows[number]: NAMES.get(key, f"{key[1]} ({key[0]})")
        for key, rows in ROW_OF.items()
        if number in rows
    }
    n_of = pairs_in()["GPT-4o"]
    recomputed, printed = [], []
    for label, name, percent in printed_rows(number):
        cell_name = f"{label}, {name}"
        accuracy = accuracies.get((judge_of.get(label, ""), "GPT-4o", name))
        if accuracy is not None:
            recomputed.append(Cell(cell_name, percent, accuracy, 2, scale=100))
        else:
            known = _KNOWN.get((number, label, name), "")
            printed.append(_share_cell(cell_name, percent, n_of[name], known=known))
    title = f"Table {number}: {subject}"
    tables = []
    if recomputed:
        tables.append(PaperTable(_SOURCE, title, recomputed, unit="% of pairs"))
    if printed:
        tables.append(PaperTable(_SOURCE, title, printed, "from print", "% of pairs"))
    return tables


def _share_cell(
    name: str, percent: float, n: int, *, decimals: int = 2, known: str = ""
) -> Cell:
    """Check that a whole number of n units prints so, and give it an interval."""
    whole = possible_counts(percent, n, decimals) or [round(percent * n / 100)]
    return Cell(
        name,
        percent,
        proportion(whole[0], n),
        decimals,
        scale=100,
        known=bool(known),
        why=known,
    )


def _verdicts_table() -> PaperTable:
    printed = data.published("judgebench", "table5").set_index("judge")
    cells = [
        Cell(
            f"{judge}, {kind}",
            int(count),
            None,
            scale=int(row.sum()),
            why="these outputs are large; load() fetches them. Interval as if all 700 "
            "verdicts were independent",
            interval=proportion(int(count), int(row.sum())),
        )
        for judge, row in printed.iterrows()
        for kind, count in row.items()
    ]
    return PaperTable(
        _SOURCE, "Table 5: verdicts", cells, "from print", "of 700 verdicts"
    )


def _shares_table(
    number: int, subject: str, rows: list[tuple[str, float, int, str]]
) -> PaperTable:
    cells = [_share_cell(name, p, n, known=known) for name, p, n, known in rows]
    return PaperTable(
        _SOURCE, f"Table {number}: {subject}", cells, "from print", "% of pairs"
    )


def _base_model_rows() -> list[tuple[str, float, int, str]]:
    known = {
        "Prometheus2-7b": "no whole number of 350 prints so; it is the judge's "
        "Knowledge cell of Table 1 (59 of 154)"
    }
    printed = data.published("judgebench", "table7")
    return [
        (judge, p, 350, known.get(judge, ""))
        for judge, p in zip(printed["judge"], printed["score_pct"], strict=True)
    ]


def _augmented_rows() -> list[tuple[str, float, int, str]]:
    printed = data.published("judgebench", "table8")
    return [
        (f"{model}, {kind}", p, n, "")
        for kind, n in (("original", 154), ("augmented", 770))
        for model, p in zip(printed["model"], printed[f"{kind}_pct"], strict=True)
    ]


def _text_table() -> PaperTable:
    known = {
        ("GPT-4o", "Claude-3.5-Sonnet"): "no whole number of 270 prints so; 145 of 269 "
        "and 83 of 154 would"
    }
    printed = data.published("judgebench", "figure4_text")
    cells = [
        _share_cell(
            f"{model} on pairs of {who}",
            percent,
            pairs_in()[who]["Overall"],
            decimals=1,
            known=known.get((model, who), ""),
        )
        for model, who, percent in printed.itertuples(index=False)
    ]
    return PaperTable(
        _SOURCE, "Section 4.4: text on Figure 4", cells, "from print", "% of pairs"
    )
