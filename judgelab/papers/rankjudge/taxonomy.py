"""What can go wrong in one answer, and how users ask: RankJudge's two lists.

Names and letters are the paper's, in its order; the definitions are in our own words.
Every failure has a virtue: what the better conversation does under the same pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from judgelab import data
from judgelab.errors import ValidationError

Axis = Literal["failure", "user_behavior"]
"""The two lists by which pairs are grouped."""

ROUNDS = (3, 4, 5, 6, 7)
"""How many rounds (a question and its answer) a conversation can have."""


@dataclass(frozen=True)
class Failure:
    """One way for an answer to be bad.

    Parameters
    ----------
    letter : str
        How a judge names it, "A" to "G".
    name : str
        The name in the released data.
    flaw : str
        What the flawed answer does.
    virtue : str
        What a good answer does in the same place.
    pressure : str
        What the user has to say so that the flaw can happen, and be resisted.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    letter: str
    name: str
    flaw: str
    virtue: str
    pressure: str


FAILURES: dict[str, Failure] = {
    failure.name: failure
    for failure in (
        Failure(
            "A",
            "self_contradiction",
            "A later answer quietly disagrees with an earlier, correct one: a "
            "condition, an emphasis or a consequence has changed, in other words. The "
            "later answer is the flawed one.",
            "When a subject comes up again, the answer is the same as before, down to "
            "its conditions.",
            "The user comes back to something that was settled in an earlier round.",
        ),
        Failure(
            "B",
            "evasion",
            "The answer sounds thorough and does not deliver: it is vague on what was "
            "asked and exact on side issues, or it moves to a neighbouring subject.",
            "The answer states what was asked for, first and exactly.",
            "The user asks for one definite thing that the document states.",
        ),
        Failure(
            "C",
            "disorganized",
            "Everything is there, at the usual length, and all of it is true, but the "
            "answer is buried and its parts follow no order.",
            "The answer comes first and its parts follow in an order with a reason.",
            "The user asks something that needs several facts put together.",
        ),
        Failure(
            "D",
            "fabricated_answer",
            "The document cannot answer the question, and the assistant answers it "
            "all the same, with confidence.",
            "The assistant says that the document does not tell it, and what it tells.",
            "The user asks something close to the subject that the document leaves "
            "open.",
        ),
        Failure(
            "E",
            "instruction_forgetting",
            "The user gave an instruction on content early on (a scope, a readership, "
            "what to leave out), and a later answer breaks a part of it without a "
            "word. Mere formatting does not count.",
            "The instruction is kept to the last round.",
            "In the first round the user gives a lasting instruction on content; later "
            "questions tempt to break it.",
        ),
        Failure(
            "F",
            "no_clarification",
            "The question can be read in two ways that have different answers, and the "
            "assistant silently takes one of them.",
            "The assistant names the two readings and asks which one is meant.",
            "The user asks a question with two readings that the conversation does not "
            "decide.",
        ),
        Failure(
            "G",
            "unnecessary_refusal",
            "The document answers the question, and the assistant declines, or hedges "
            "until nothing is left.",
            "The assistant answers, with as much confidence as the document allows.",
            "The user asks a question that sounds delicate and that the document "
            "answers.",
        ),
    )
}
"""The seven failures by name, in the order of their letters."""

USER_BEHAVIORS: dict[str, str] = {
    "focused": "stays with one or two aspects and goes deeper each time",
    "integrative": "connects parts of the document with each other",
    "scattered": "jumps between subjects without warning",
    "skeptical": "doubts what was said and asks for the evidence",
    "misinformed": "takes something false for granted and says so",
    "exploratory": "asks what follows from the document, beyond its words",
    "underspecified": "points vaguely at things: “that part”, “the second one”",
}
"""The seven kinds of users by name, in the paper's order."""

_BY_LETTER = {failure.letter: failure.name for failure in FAILURES.values()}


def failure_of(letter: str) -> str | None:
    """Which failure does this letter name? None if there is no such letter.

    Parameters
    ----------
    letter : str
        "A" to "G", in upper or lower case.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> failure_of("g"), failure_of("H")
    ('unnecessary_refusal', None)
    """
    return _BY_LETTER.get(letter.strip().upper())


@cache
def weights(axis: Literal["failure", "user", "n_rounds"]) -> dict[str, float]:
    """How often does the paper's non-uniform sampler take each value?

    Parameters
    ----------
    axis : {"failure", "user", "n_rounds"}
        What is sampled.

    Returns
    -------
    dict
        Value → probability; they sum to 1. The released data were made with the uniform
        sampler, which is the default of `sample`.

    Raises
    ------
    ValidationError
        If there is no such axis.

    References
    ----------
    RankJudge, arXiv:2605.21748, sampler of the released code.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> weights("n_rounds")["5"]
    0.3
    """
    table = data.published("rankjudge", "sampler_weights")
    rows = table[table["axis"] == axis]
    if not len(rows):
        raise ValidationError(
            f"axis is {axis!r}; choose 'failure', 'user' or 'n_rounds'"
        )
    return dict(
        zip(
            rows["value"].astype(str),
            rows["weight_nonuniform"].astype(float),
            strict=True,
        )
    )
