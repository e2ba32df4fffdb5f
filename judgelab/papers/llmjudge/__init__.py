"""LLMJudge (Rahmani et al. 2025): relevance labels by 42 judges against people's.

25 queries of TREC DL 2023, 4,423 passages with a label from 0 to 3 by people and by 42
submissions, 33 of them public. Two questions: do the labels agree, and do they rank
search systems alike? The answers have little to do with each other.

Every number comes by one of two roads. Offline, from counts that the package carries:
human × judge per query. Or from the labels themselves: `load`, `join_labels`.
"""

from __future__ import annotations

from judgelab.papers.llmjudge.comparing import (
    Comparison,
    by_kind,
    compare,
    distinguishable,
)
from judgelab.papers.llmjudge.counts import (
    binarise,
    derive_counts,
    query_counts,
    recode,
    tables,
)
from judgelab.papers.llmjudge.habits import (
    label_shift,
    mean_label,
    overview,
    recalls,
)
from judgelab.papers.llmjudge.labels import (
    CUTS,
    SCALE,
    SUBMISSIONS,
    JoinedLabels,
    join_labels,
    load,
    read_labels,
)
from judgelab.papers.llmjudge.measures import MEASURES, alpha, evaluate, over_queries
from judgelab.papers.llmjudge.reproduction import (
    by_position,
    published,
    reproduce,
    slips,
    write_counts,
)
from judgelab.papers.llmjudge.runs import run_scores, trec_order
from judgelab.papers.llmjudge.systems import (
    derive_scores,
    dl2021,
    dl2023,
    random_samples,
    sampled_tau,
    syndl_taus,
    system_tau,
)

__all__ = [
    "CUTS",
    "MEASURES",
    "SCALE",
    "SUBMISSIONS",
    "Comparison",
    "JoinedLabels",
    "alpha",
    "binarise",
    "by_kind",
    "by_position",
    "compare",
    "derive_counts",
    "derive_scores",
    "distinguishable",
    "dl2021",
    "dl2023",
    "evaluate",
    "join_labels",
    "label_shift",
    "load",
    "mean_label",
    "over_queries",
    "overview",
    "published",
    "query_counts",
    "random_samples",
    "read_labels",
    "recalls",
    "recode",
    "reproduce",
    "run_scores",
    "sampled_tau",
    "slips",
    "syndl_taus",
    "system_tau",
    "tables",
    "trec_order",
    "write_counts",
]
