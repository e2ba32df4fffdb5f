"""Demos: a declaration each, alive in Jupyter and on the static page."""

from __future__ import annotations

from judgelab.explore.agreement import (
    AgreementCalculator,
    AlikeVotes,
    RealAgreement,
)
from judgelab.explore.demo import Control, Demo, choice, slider
from judgelab.explore.llmjudge import LabelTable, RecodedLabels, ShuffledLabels
from judgelab.explore.position import PositionBias, RealOrders
from judgelab.explore.ranking import EloConvergence, MMIteration, RealRankings

__all__ = [
    "AgreementCalculator",
    "AlikeVotes",
    "Control",
    "Demo",
    "EloConvergence",
    "LabelTable",
    "MMIteration",
    "PositionBias",
    "RealAgreement",
    "RealOrders",
    "RealRankings",
    "RecodedLabels",
    "ShuffledLabels",
    "choice",
    "slider",
]
