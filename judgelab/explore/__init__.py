"""Demos: a declaration each, alive in Jupyter and on the static page."""

from __future__ import annotations

from judgelab.explore.agreement import AgreementCalculator, RealAgreement
from judgelab.explore.demo import Control, Demo, choice, slider

__all__ = [
    "AgreementCalculator",
    "Control",
    "Demo",
    "RealAgreement",
    "choice",
    "slider",
]
