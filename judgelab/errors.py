"""The named errors of judgelab: each message says what is wrong, where, and what to do.

Every error derives from `JudgelabError`, so that a caller can catch all of them at
once, and from the built-in error that it specialises, so that ordinary code keeps
working.
"""

from __future__ import annotations


class JudgelabError(Exception):
    """Base of every error that judgelab raises on purpose."""


class ValidationError(JudgelabError, ValueError):
    """The input is not what the function takes; the message names the rows."""


class UndefinedStatistic(JudgelabError, ValueError):
    """The statistic has no value on these data (one category, nothing pairable)."""


class NotConverged(JudgelabError, RuntimeError):
    """An iteration stopped before its tolerance was reached; no number is returned."""


class Separated(JudgelabError, ValueError):
    """The maximum-likelihood estimate is infinite: someone never lost, or never won."""


class Disconnected(JudgelabError, ValueError):
    """The comparisons fall into groups that never met: no common scale exists."""


class ChecksumMismatch(JudgelabError, OSError):
    """A file is not, byte for byte, the one that was pinned."""


class DownloadError(JudgelabError, OSError):
    """A file could not be fetched; nothing half-written was left behind."""


class MissingExtra(JudgelabError, ImportError):
    """An optional part is not installed; the message says which command brings it."""


class MissingModel(JudgelabError, FileNotFoundError):
    """There is no file of weights; the message says which command brings it."""
