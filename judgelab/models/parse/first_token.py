"""Which label is likeliest to begin a reply: the probabilities of its first token."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from judgelab.errors import ValidationError
from judgelab.models.parse.labels import Scale
from judgelab.models.parse.outcome import Meaning, Parsed, Reason
from judgelab.models.request import Reply
from judgelab.verdict import Verdict

LEAST_MASS = 0.1
"""Below this share of the probability, the labels are not what the model will say.

At one tenth, nine of ten continuations are something else. Asked for one letter, a base
model gives the letters some .2, a very small chat model .3 to .6, a larger one .99.
"""

_ABOVE_ONE = 1e-3
"""A log-probability may exceed 0 by rounding, not by more; nan is no probability."""

_LEAST_LEFT = 1e-12
"""A probability below all that servers resolve, where the list leaves nothing."""

_LEADING = " \t\n\r\u2581\u0120"
"""Blanks before a token, as text and as tokenisers write them."""


@dataclass(frozen=True)
class FirstToken(Parsed):
    """What the probabilities of the first token say.

    Parameters
    ----------
    verdict, value, reason, strict, details
        As in `Parsed`; `value` is the expected grade.
    mass : float
        Probability that the first token is one of the labels, in [0, 1].
    probabilities : mapping of str to float
        Probability of each label, as listed by the server; 0 for one not listed.
    log_odds : float
        Log of P(A) / P(B), natural; nan for grades and without log-probabilities.
    bounded : bool
        Whether one of A and B was not listed. Then the least listed probability stands
        in its place, and the log-odds are further from 0 than said.
    """

    mass: float = math.nan
    probabilities: Mapping[str, float] = field(default_factory=dict)
    log_odds: float = math.nan
    bounded: bool = False


def from_first_token(
    reply: Reply, labels: Mapping[str, Meaning], *, least_mass: float = LEAST_MASS
) -> FirstToken:
    """Which label is likeliest to begin the reply, and by how much?

    A model that has to answer in one label gives every label a probability before it
    writes one. Tokens that differ in leading blanks alone are the same label, and their
    probabilities are added; case is kept, because "a" begins other sentences.

    Parameters
    ----------
    reply : Reply
        Asked with `top_logprobs`.
    labels : mapping of str to Verdict, SideBySide or float
        Labels of one token each, and what they stand for.
    least_mass : float, default LEAST_MASS
        Share of the probability that the labels must hold together, in [0, 1].

    Returns
    -------
    FirstToken
        The likeliest label, the mass, and the log-odds of A against B or the expected
        grade, both taken among the labels alone. Below the least mass there is a
        reason, and mass and probabilities are still there to see.

    Raises
    ------
    ValidationError
        If one label begins another ("1" and "10"): the first token cannot tell them
        apart.

    Notes
    -----
    Two labels with exactly equal, highest probability are a tie where they are
    `Verdict.A` and `Verdict.B`, and conflicting elsewhere. The mass guards against a
    model that is about to write a sentence, unless that sentence begins with the label
    itself ("A better answer …"): compare with the free text of some replies.
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> labels = {"A": Verdict.A, "B": Verdict.B}
    >>> reply = Reply("A", first_token={"A": -0.7, " A": -2.0, "B": -1.5, "The": -3.0})
    >>> read = from_first_token(reply, labels)
    >>> read.verdict, round(read.mass, 2), round(read.log_odds, 2)
    (A, 0.86, 1.04)
    >>> from_first_token(Reply("The", first_token={"The": -0.01}), labels).reason
    <Reason.NO_MASS: 'no mass'>
    """
    scale = Scale(labels)
    for label in labels:
        longer = [x for x in labels if x != label and x.startswith(label)]
        if longer:
            raise ValidationError(
                f"label {label!r} begins label {longer[0]!r}: the first token cannot "
                "tell them apart; take a scale of one-token labels, such as 1 to 9"
            )
    logs = reply.first_token
    if not logs or not all(log <= _ABOVE_ONE for log in logs.values()):
        return FirstToken(scale.unread, reason=Reason.NO_LOGPROBS)
    probabilities = dict.fromkeys(labels, 0.0)
    for token, log in logs.items():
        if (label := token.lstrip(_LEADING)) in probabilities:
            probabilities[label] += math.exp(log)
    mass = min(1.0, math.fsum(probabilities.values()))
    if mass < least_mass or mass == 0:
        return FirstToken(
            scale.unread,
            reason=Reason.NO_MASS,
            mass=mass,
            probabilities=probabilities,
        )
    read = FirstToken(mass=mass, probabilities=probabilities)
    if scale.graded:
        total = math.fsum(float(labels[key]) * p for key, p in probabilities.items())
        return replace(read, value=total / math.fsum(probabilities.values()))
    log_odds, bounded = _log_odds(logs, probabilities, labels)
    read = replace(read, log_odds=log_odds, bounded=bounded)
    highest = max(probabilities.values())
    likeliest = [labels[key] for key, p in probabilities.items() if p == highest]
    if len(likeliest) == 1:
        return replace(read, verdict=likeliest[0])  # type: ignore[arg-type]
    if log_odds == 0 and len(likeliest) == 2 and scale.unread is Verdict.INVALID:
        return replace(read, verdict=Verdict.TIE)
    return replace(read, verdict=scale.unread, reason=Reason.CONFLICTING)


def _log_odds(
    logs: Mapping[str, float],
    probabilities: Mapping[str, float],
    labels: Mapping[str, Meaning],
) -> tuple[float, bool]:
    """Compare A with B; an unlisted one gets the most that the list leaves it."""
    of = {meaning: probabilities[label] for label, meaning in labels.items()}
    a, b = of.get(Verdict.A, math.nan), of.get(Verdict.B, math.nan)
    if a == b == 0 or math.isnan(a + b):
        return math.nan, False
    if a and b:
        return math.log(a) - math.log(b), False
    left = max(1 - math.fsum(map(math.exp, logs.values())), _LEAST_LEFT)
    rest = min(left, math.exp(min(logs.values())))
    if not rest:
        rest = _LEAST_LEFT
    return math.log(a or rest) - math.log(b or rest), True
