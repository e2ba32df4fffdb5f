"""JudgeBench (Tan et al. 2024): pairs of answers of which one is wrong, judged twice.

350 pairs written by GPT-4o and 270 by Claude 3.5 Sonnet, each shown to a judge in both
orders. A rule folds the two verdicts into one outcome; the accuracy is the share of
pairs whose outcome is the right answer. The paper's text and its code state different
rules, and others use still others: see `judgelab.verdict.RULES`.

Every number comes by one of two roads. Offline, from counts that the package carries
(`judgelab.data.counts`): how often each pair of verdicts occurs, per judge, category
and right answer. Or from the judges' outputs: `load`. Functions take either.
"""

from __future__ import annotations

from judgelab.papers.judgebench.chance import against_chance, chance_levels
from judgelab.papers.judgebench.counts import (
    count_orders,
    derive_counts,
    tables_by_gold,
    write_counts,
)
from judgelab.papers.judgebench.loading import load, load_others, outputs, pairs
from judgelab.papers.judgebench.published import (
    integrality,
    possible_counts,
    published_accuracies,
    sizes,
    slips,
)
from judgelab.papers.judgebench.reading import (
    CATEGORIES,
    NAMES,
    RESPONSES,
    category,
    read_output,
)
from judgelab.papers.judgebench.reproduction import reproduce
from judgelab.papers.judgebench.scores import compare, evaluate, rule_effects

__all__ = [
    "CATEGORIES",
    "NAMES",
    "RESPONSES",
    "against_chance",
    "category",
    "chance_levels",
    "compare",
    "count_orders",
    "derive_counts",
    "evaluate",
    "integrality",
    "load",
    "load_others",
    "outputs",
    "pairs",
    "possible_counts",
    "published_accuracies",
    "read_output",
    "reproduce",
    "rule_effects",
    "sizes",
    "slips",
    "tables_by_gold",
    "write_counts",
]
