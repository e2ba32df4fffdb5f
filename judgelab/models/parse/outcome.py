"""What a reply was read as: a verdict or a grade, or the reason why neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from judgelab.models.request import Reply
from judgelab.verdict import SideBySide, Verdict

Meaning = Verdict | SideBySide | float
"""What a label stands for: a verdict on two answers, or a grade."""


class Reason(StrEnum):
    """Why a reply gives no verdict."""

    EMPTY = "empty"
    """Nothing came back, or blanks."""
    REFUSAL = "refusal"
    """The model or its server declined, and no label was stated."""
    TRUNCATED = "truncated"
    """The reply was cut at the token limit, or its thinking never ended."""
    CONFLICTING = "conflicting labels"
    """More than one label was stated, one of them perhaps outside the scale."""
    OUTSIDE = "outside the scale"
    """A label was stated that the prompt does not have: 11 of 10, D of A to C."""
    PROSE = "only prose"
    """Labels occur, and none is stated."""
    NO_LABEL = "no label"
    """No label occurs."""
    NOT_JSON = "not JSON"
    """The form is JSON, and there is no JSON object."""
    SHAPE = "JSON of another shape"
    """There is a JSON object, and a field is missing or of another type."""
    NO_LOGPROBS = "no log-probabilities"
    """The server gave no log-probability of any first token."""
    NO_MASS = "no mass"
    """The labels hold less than the least share of the probability."""


@dataclass(frozen=True)
class Parsed:
    """What a reply says, or why it says nothing.

    Parameters
    ----------
    verdict : Verdict, SideBySide or None
        On the answers as shown. A reply to a question for a `Verdict` that cannot be
        read is `Verdict.INVALID`; a grade has None, and so has an unreadable reply on
        a scale without such a code.
    value : float, optional
        The grade, where the prompt asks for one and the reply gives one.
    reason : str, default ""
        One of `Reason` if the reply cannot be read, else empty.
    strict : bool, default False
        Whether the reply kept to the form that the prompt asks for, to the letter.
    details : mapping
        What else a JSON reply says, by its field.
    """

    verdict: Verdict | SideBySide | None = None
    value: float | None = None
    reason: str = ""
    strict: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


def said(
    meaning: Meaning, *, strict: bool, details: Mapping[str, Any] | None = None
) -> Parsed:
    """Return what a label says, a verdict or a grade."""
    if isinstance(meaning, Verdict | SideBySide):
        return Parsed(meaning, strict=strict, details=details or {})
    return Parsed(value=float(meaning), strict=strict, details=details or {})


def readable(reply: Reply) -> str | Reason:
    """Return what follows the thinking, or why there is nothing to read."""
    if reply.finish == "refusal":
        return Reason.REFUSAL
    if reply.finish == "length":
        return Reason.TRUNCATED
    text = reply.text
    if text.lstrip().startswith("<think>"):
        _, ended, text = text.partition("</think>")
        if not ended:
            return Reason.TRUNCATED
    return text if text.strip() else Reason.EMPTY


def reasons(parsed: Iterable[Parsed]) -> dict[str, int]:
    r"""How many replies were read strictly, how many tolerantly, and why not the rest?

    Parameters
    ----------
    parsed : iterable of Parsed
        What the replies were read as.

    Returns
    -------
    dict of str to int
        ``"strict"`` and ``"tolerant"``, always; then each reason that occurred, in the
        order of `Reason`. The counts add up to the number of replies.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> from judgelab.models.parse import parse_label
    >>> labels = {"A": Verdict.A, "B": Verdict.B}
    >>> replies = ["A", "(b)", "Both!", "", "A\nB"]
    >>> reasons(parse_label(Reply(text), labels) for text in replies)
    {'strict': 1, 'tolerant': 1, 'empty': 1, 'conflicting labels': 1,
     'outside the scale': 1}
    """
    counted = Counter(
        one.reason or ("strict" if one.strict else "tolerant") for one in parsed
    )
    return {name: counted[name] for name in ("strict", "tolerant")} | {
        str(reason): counted[reason] for reason in Reason if counted[reason]
    }
