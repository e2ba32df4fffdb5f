"""RankJudge (arXiv:2605.21748): make a benchmark for judges, run it, rank, audit."""

from __future__ import annotations

from judgelab.papers.rankjudge.published import difficulties, reproduce

__all__ = ["difficulties", "reproduce"]
