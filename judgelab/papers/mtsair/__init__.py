"""MTSAIR's side-by-side leaderboard: judges against experts, in four correlations.

A candidate's answer and a baseline's are judged twice, in both orders: the candidate is
better (A), the baseline is (B), both are good (C), both are bad (D). The leaderboard's
page defines its measures in a few sentences, which leave questions open. Each is a
named option here, its default the reading that stays closest to the text:

=================  ====================================================================
option             default, and why
=================  ====================================================================
``average``        "coefficients": "the scores are averaged after both runs" names the
                   scores, and the coefficients are what is scored
``partial``        "drop": a window "with a size of 10" holds 10 verdicts
``all_bad``        "undefined": the formula divides by 0 in a window of nothing but D
``denominator``    "either": it is the one that the formula spells out
                   (`judgelab.position.pcon_at_ab`)
``sign``           "swapped-first": "with and without swap", in the order of the words
=================  ====================================================================

The page's "median" is no median but a ratio; here it is called the window value.

Verdicts of the leaderboard are not public. What can be checked is whether its rows
agree with themselves (`reproduce`, `implied_runs`), and what the measures do to judges
whose faults are known (`simulate`).
"""

from __future__ import annotations

from judgelab.papers.mtsair.benchmark import Benchmark, Codes, Floats, from_records
from judgelab.papers.mtsair.evaluation import COLUMNS, beside, evaluate, over_items
from judgelab.papers.mtsair.measures import (
    Average,
    apcc,
    avg_correlation,
    class_counts,
    item_correlation,
    mpcc,
    mpcc_consistency,
    mpcc_delta,
)
from judgelab.papers.mtsair.reproduction import implied_runs, reproduce
from judgelab.papers.mtsair.simulated import EXPERT, simulate
from judgelab.papers.mtsair.windows import PUBLISHED, Windows, window_values

__all__ = [
    "COLUMNS",
    "EXPERT",
    "PUBLISHED",
    "Average",
    "Benchmark",
    "Codes",
    "Floats",
    "Windows",
    "apcc",
    "avg_correlation",
    "beside",
    "class_counts",
    "evaluate",
    "from_records",
    "implied_runs",
    "item_correlation",
    "mpcc",
    "mpcc_consistency",
    "mpcc_delta",
    "over_items",
    "reproduce",
    "simulate",
    "window_values",
]
