"""Demos: a declaration each, alive in Jupyter and on the static page."""

from __future__ import annotations

from judgelab.explore.demo import Control, Demo, choice, slider

__all__ = ["Control", "Demo", "choice", "slider"]
