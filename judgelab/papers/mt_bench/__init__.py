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

from judgelab.papers.mt_bench.counts import derive_counts, write_counts
from judgelab.papers.mt_bench.meetings import (
    JUDGE_PAIRS,
    agreement,
    agreement_by_pair,
    joint_table,
    joint_tables,
)
from judgelab.papers.mt_bench.published import position_counts, widest_interval
from judgelab.papers.mt_bench.reproduction import reproduce
from judgelab.papers.mt_bench.votes import (
    CATEGORIES,
    JUDGES,
    MODELS,
    Setup,
    join_keys,
    load,
    vote_table,
)
from judgelab.papers.mt_bench.wins import win_rates, wins_by_question

__all__ = [
    "CATEGORIES",
    "JUDGES",
    "JUDGE_PAIRS",
    "MODELS",
    "Setup",
    "agreement",
    "agreement_by_pair",
    "derive_counts",
    "join_keys",
    "joint_table",
    "joint_tables",
    "load",
    "position_counts",
    "reproduce",
    "vote_table",
    "widest_interval",
    "win_rates",
    "wins_by_question",
    "write_counts",
]
