"""From a reply to a verdict: strict first, then tolerant, never guessing.

A prompt asks for its label in one of three forms, and a reply is read in that form:

- *bare*: the reply is the label and nothing else;
- *marked*: the reply may say more and ends with the label in double square brackets;
- *JSON*: the reply is one JSON object whose ``verdict`` is the label.

A reply that keeps to the form is read strictly. A reply that does not is read by the
tolerant rules below, each of which asks for a label that was plainly *stated*; and all
labels that were stated, strictly or not, must be one and the same. Everything else is
invalid for one of the reasons in `Reason`, which `reasons` counts.

The tolerant rules:

1. *Dress does not matter.* Quotes, asterisks, brackets and a full stop around a label,
   upper or lower case, full-width letters; ``Answer A`` or ``Assistant A`` for ``A``;
   ``tie`` where a label means a tie; ``7/10``, ``7 out of 10`` or ``7.0`` for ``7`` on
   a scale that ends at 10.
2. *A line of its own* (bare form). On the first or the last line stands the label alone
   or with "is better" and no more, and an explanation on the others. A first line that
   goes on after the label ("A. The first …") states nothing, and contradicts another
   label.
3. *Double brackets* anywhere, unless the clause around them doubts: it asks, or has a
   word such as "not", "or", "if", "would"; or it says that the label is something else
   than the verdict: "the worse answer is", "I reject", "for example" before it, "loses"
   after it.
4. *Announced.* At the beginning of a sentence stand "Verdict", "Winner", "Decision",
   "Grade", "The better answer" and the like with "is" or a colon, the label follows at
   once, and with it the sentence ends or goes on with "because". "The answer is B" does
   not count: a question with lettered options, or one whose answer is a number, has an
   answer that is no verdict.
5. *Thinking aloud* between ``<think>`` and ``</think>`` at the beginning is skipped.
6. *JSON in a fence* or between other words, which are read as those around double
   brackets are; further keys, a whole number in quotes.

What is taken back is not stated: after the last label there may be no "Correction",
"Wait", "Actually", "I meant" and the like, and nowhere a sentence that does no more
than call another one better.

So "A is better than B in style" states nothing, "INCORRECT" does not contain "CORRECT",
and a reply that was cut at the token limit is invalid even if a label stands in it: the
rest might have taken it back.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from judgelab.errors import ValidationError
from judgelab.models.request import Reply, whole
from judgelab.verdict import SideBySide, Verdict

Meaning = Verdict | SideBySide | float
"""What a label stands for: a verdict on two answers, or a grade."""

LEAST_MASS = 0.1
"""Below this share of the probability, the labels are not what the model will say.

At one tenth, nine of ten continuations are something else. Asked for one letter, a base
model gives the letters some .2, a very small chat model .3 to .6, a larger one .99.
"""


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


def parse_label(
    reply: Reply, labels: Mapping[str, Meaning], *, marked: bool = False
) -> Parsed:
    """Which one label does a reply state?

    Parameters
    ----------
    reply : Reply
        As it came.
    labels : mapping of str to Verdict, SideBySide or float
        Every label that the prompt allows, and what it stands for.
    marked : bool, default False
        Whether the prompt asks for the label in double square brackets at the end
        (else for the label alone).

    Returns
    -------
    Parsed

    Raises
    ------
    ValidationError
        If there is no label, or two differ in nothing but case.

    Notes
    -----
    The rules stand at the top of this module. Chapter: *Ask a real model*.

    Examples
    --------
    >>> labels = {"A": Verdict.A, "B": Verdict.B}
    >>> parse_label(Reply("A"), labels).verdict
    A
    >>> parse_label(Reply("**Verdict:** B, I think"), labels).reason
    <Reason.PROSE: 'only prose'>
    >>> parse_label(Reply("First [[A]], then [[B]]"), labels, marked=True).reason
    <Reason.CONFLICTING: 'conflicting labels'>
    """
    scale = _Scale(labels)
    text = _readable(reply)
    if isinstance(text, Reason):
        return scale.invalid(text)
    label = scale.only(text, bare=not marked)
    if isinstance(label, Reason):
        return scale.invalid(label)
    asked = reply.text.strip().splitlines()[-1] if marked else reply.text.strip()
    form = f"[[{label}]]" if marked else label
    return _said(labels[label], strict=asked == form and text == reply.text)


def parse_json(
    reply: Reply, schema: Mapping[str, Any], labels: Mapping[str, Meaning]
) -> Parsed:
    """Which verdict does a JSON reply state, and what else?

    Parameters
    ----------
    reply : Reply
        As it came.
    schema : mapping
        JSON schema of an object: its `properties`, each with `type` ("string" or
        "integer"), and `enum`, `minimum` or `maximum`. All are required.
    labels : mapping of str to Verdict, SideBySide or float
        What the property ``verdict`` can be, and what it stands for.

    Returns
    -------
    Parsed
        The other properties in `details`.

    Notes
    -----
    A key that occurs twice is a conflict, whichever of the two a JSON library would
    have kept. Chapter: *Ask a real model*.

    Examples
    --------
    >>> schema = {"properties": {"verdict": {"type": "string", "enum": ["A", "B"]}}}
    >>> labels = {"A": Verdict.A, "B": Verdict.B}
    >>> parse_json(Reply('{"verdict": "B"}'), schema, labels).verdict
    B
    >>> parse_json(Reply('{"verdict": "B", "verdict": "A"}'), schema, labels).reason
    <Reason.CONFLICTING: 'conflicting labels'>
    """
    scale = _Scale(labels)
    text = _readable(reply)
    if isinstance(text, Reason):
        return scale.invalid(text)
    found, reason = _json_object(text.strip())
    strict, before, after = not reason, "", ""
    if reason is Reason.NOT_JSON:
        begin, end = text.find("{"), text.rfind("}") + 1
        before, after = text[:begin], text[end:]
        found, reason = _json_object(text[begin:end])
        if _REFUSAL.match(_plain(text)):
            reason = Reason.REFUSAL
    if reason:
        return scale.invalid(reason)
    details: dict[str, Any] = {}
    for name, wanted in schema["properties"].items():
        if name not in found:
            return scale.invalid(Reason.SHAPE)
        value = _field(found[name], wanted)
        if isinstance(value, Reason):
            return scale.invalid(value)
        details[name] = value
    label = str(details["verdict"])
    if label not in labels:
        return scale.invalid(Reason.OUTSIDE)
    # Between other words the object is read as a label in double brackets would be.
    if not strict and isinstance(
        why := scale.only(f"{before}[[{label}]]{after}", bare=False), Reason
    ):
        return scale.invalid(why)
    strict = strict and details == found and text == reply.text
    del details["verdict"]
    return _said(labels[label], strict=strict, details=details)


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
    scale = _Scale(labels)
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


_ABOVE_ONE = 1e-3
"""A log-probability may exceed 0 by rounding, not by more; nan is no probability."""

_LEAST_LEFT = 1e-12
"""A probability below all that servers resolve, where the list leaves nothing."""

_LEADING = " \t\n\r\u2581\u0120"
"""Blanks before a token, as text and as tokenisers write them."""

_DRESS = " \t\"'`*_()[]{}<>«»“”‘’「」【】"
_DOUBLE = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]")
_CLAUSE_END = re.compile(r"[.;:!?\n]|, ?(?:so|thus|hence|therefore)\b")
_REASON_FOLLOWS = re.compile(r",|\b(?:because|since|as)\b", re.I)
_DOUBT = re.compile(
    r"n't\b|\b(?:not?|never|neither|nor|cannot|or|if|either|unless|instead|rather|than"
    r"|between|versus|vs|would|could|might|may|should)\b",
    re.I,
)
_NUMBER = re.compile(
    # A comma before three digits parts thousands.
    r"([+-]?\d{1,20}(?:\.\d{1,20}|,(?!\d{3}(?!\d))\d{1,20})?)"
    r"(?:\s?(?:/|out of|of)\s?(\d{1,20}))?"
)
_OUT_OF = re.compile(r"\s?(?:/|out of|of)\s?\d{1,20}")
_LOSING = r"(?:worse|worst|weaker|weakest|inferior|poorer|losing|wrong|incorrect)"
_KIND = r"(?:answer|assistant|response|option|conversation|one)"
_LEADS_ON = r"""[\s:,*_"'(]{0,9}$"""
_UNMEANT_BEFORE = re.compile(
    rf"(?:^|[.;!?\n])\W{{0,9}}(?:the\s+)?(?:{_LOSING}(?:\s+{_KIND})?|loser)"
    rf"(?:\W{{0,3}}\bis)?{_LEADS_ON}"
    r"|\b(?:reject|rule out|such as|for (?:example|instance)|(?:example|format) is)"
    rf"{_LEADS_ON}|\bnot(?: |:\s?)$",
    re.I,
)
_UNMEANT_AFTER = re.compile(
    r"""[ *_"')]{0,5}\n?(?:is what|(?:(?:is|was|has) )?"""
    r"(?:(?:the|clearly|far|much|more) ){0,2}"
    rf"(?:{_LOSING}|loses|fails|beaten|errors|mistakes))\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\bon (?:second thoughts?|reflection)\b|\b(?:scratch that|just kidding|I meant"
    r"|correction|take (?:that|it|this) back)\b"
    r"|(?:^|[.!?;\n])\W{0,9}(?:(?:wait|sorry|no)\b[,:.!]|actually\b)",
    re.I,
)
_NAMED = re.compile(r"(?:answer|assistant|response|option|conversation|model)\s+", re.I)
_REFUSAL = re.compile(
    r"\W*(?:(?:(?:i'm|i am)\s+)?(?:very |so )?sorry\b|i apologi[sz]e|as an ai\b"
    r"|(?:i'm|i am)\s+(?:unable|not able)\b|i\s+(?:can't|cannot|won't|will not|must"
    r" decline))",
    re.I,
)
_ANNOUNCED = (
    r"(?:^|[.!?;]\s+)[*_#\s]*(?:(?:so|thus|hence|therefore|overall|finally)\b,?\s+)?"
    r"(?:(?:my|the)\s+)?"
)
_ANNOUNCED_GRADE = re.compile(
    _ANNOUNCED
    + r"(?:(?:final|overall)\s+)?(?:verdict|grade|score|rating|relevance)[*_]*"
    r"(?:\s+is\s+|\s*[:=]\s*)",
    re.I,
)
_ANNOUNCED_CHOICE = re.compile(
    _ANNOUNCED
    + r"(?:(?:(?:final|overall)\s+)?(?:verdict|winner|decision|judge?ment|preference)"
    r"|(?:better|preferred|winning|stronger)\s+(?:answer|assistant|response|option"
    r"|conversation|one))[*_]*(?:\s+is\s+|\s*[:=]\s*)",
    re.I,
)
_IS_BETTER = re.compile(
    rf"(.{{1,40}}?)\s+is\s+(?:the\s+)?better(?:\s+{_KIND})?[.!]?", re.I
)
_CALLED_BETTER = re.compile(
    r"(?:^|[.!?;\n])\W{0,9}(?:(?:so|thus|overall|actually|however|that said)\b,?\s+)?"
    rf"((?:{_KIND}\s+)?\w+)\s+is\s+(?:the\s+)?better(?:\s+{_KIND})?(?=\s*(?:[.!\n]|$))",
    re.I,
)
_TIES = {"tie", "draw"}
_NOT_ONE_OF_TWO = {*_TIES, "both", "neither", "either", "none", "equal"}


def check_labels(labels: Mapping[str, Meaning]) -> None:
    """Refuse labels that no reply could tell apart.

    Raises
    ------
    ValidationError
        If there is no label, or two differ in nothing but case or width.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> check_labels({"A": Verdict.A, "a": Verdict.B})
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: labels ['A', 'a'] are none, or differ in case
    alone; give each meaning its own label
    """
    if not labels or len({_plain(x).casefold() for x in labels}) < len(labels):
        raise ValidationError(
            f"labels {list(labels)} are none, or differ in case alone; "
            "give each meaning its own label"
        )


class _Scale:
    """The labels of a prompt, and how each can be written."""

    def __init__(self, labels: Mapping[str, Meaning]) -> None:
        check_labels(labels)
        self.graded = all(
            not isinstance(m, Verdict | SideBySide) for m in labels.values()
        )
        sided = any(isinstance(meaning, SideBySide) for meaning in labels.values())
        self.unread = None if self.graded or sided else Verdict.INVALID
        self.by_case = {_plain(label).casefold(): label for label in labels}
        self.numbers = {
            float(label): label for label in labels if _NUMBER.fullmatch(label)
        }
        self.lettered = any(len(x) == 1 and x.isalpha() for x in labels)
        self.tie = next((x for x, m in labels.items() if m is Verdict.TIE), None)

    def invalid(self, reason: Reason) -> Parsed:
        return Parsed(self.unread, reason=reason)

    def label(self, words: str) -> str | None:
        """Which label is this, in any dress? One outside the scale comes back as it is.

        None if it is no label of this kind of scale at all.
        """
        bare = words.strip(_DRESS).removesuffix(".").removesuffix("!").strip(_DRESS)
        bare = bare.casefold()
        if bare in self.by_case:
            return self.by_case[bare]
        if self.numbers and (number := _NUMBER.fullmatch(bare)):
            value, top = number.groups()
            if top is not None and float(top) != max(self.numbers):
                return bare
            return self.numbers.get(float(value.replace(",", ".")), bare)
        if self.tie is not None and bare in _TIES:
            return self.tie
        if not self.graded and bare in _NOT_ONE_OF_TWO:
            return bare
        return self._letter(bare) if self.lettered else None

    def _letter(self, bare: str) -> str | None:
        match = _NAMED.match(bare)
        letter = bare[match.end() :].strip(_DRESS) if match else bare
        if letter in self.by_case:
            return self.by_case[letter]
        return letter if re.fullmatch("[a-z]", letter) else None

    def only(self, text: str, *, bare: bool) -> str | Reason:
        """Which one label does a text state, or why none?"""
        text = _plain(text)
        stated, doubted = self._stated(text, bare=bare)
        labels = {*stated, *doubted} if stated or len(doubted) > 1 else set[str]()
        if stated and _TAKEN_BACK.search(text, max(stated.values())):
            return Reason.CONFLICTING
        if len(labels) > 1:
            return Reason.CONFLICTING
        if not labels:
            return self._why_nothing(text)
        (label,) = labels
        return label if label in self.by_case.values() else Reason.OUTSIDE

    def _stated(self, text: str, *, bare: bool) -> tuple[dict[str, int], set[str]]:
        """Find the labels stated, with their last place, and those that only occur."""
        found: dict[str, int] = {}
        doubted: set[str] = set()
        for match in _DOUBLE.finditer(text):
            label = self._bracketed(text, match)
            if label is None:
                continue
            if _is_doubted(text, match) or self._unmeant(text, *match.span()):
                doubted.add(label)
            else:
                found[label] = match.end()
        begin, alone = 0, list[tuple[str | None, int, int]]()
        for line in text.splitlines(keepends=True):
            end = begin + len(line)
            for label, place in self._announced(line.rstrip()):
                found[label] = begin + place
            if bare and line.strip():
                alone.append((self._alone(line.strip()), begin, end))
            begin = end
        if bare:
            if found or alone[0][0] or alone[-1][0]:
                for label, begin, end in alone:
                    if label is not None and self._unmeant(text, begin, end):
                        doubted.add(label)
                    elif label is not None:
                        found[label] = max(end, found.get(label, 0))
            doubted |= self._begun(text)
        if not self.graded:
            called = map(self.label, _CALLED_BETTER.findall(text))
            doubted |= {label for label in called if label is not None}
        return found, doubted

    def _bracketed(self, text: str, match: re.Match[str]) -> str | None:
        """Which label stands in the brackets, with "/5" behind them if it is there?"""
        top = _OUT_OF.match(text, match.end()) if self.numbers else None
        return self.label(match[1] + (top[0] if top else ""))

    def _unmeant(self, text: str, begin: int, end: int) -> bool:
        """Is the label here called something else than the verdict?"""
        return not self.graded and bool(
            _UNMEANT_BEFORE.search(text[max(0, begin - 50) : begin])
            or _UNMEANT_AFTER.match(text, end)
        )

    def _alone(self, line: str) -> str | None:
        """Which label stands alone on this line, or is called better by it?"""
        better = None if self.graded else _IS_BETTER.fullmatch(line.strip(_DRESS))
        return self.label(better[1] if better else line)

    def _begun(self, text: str) -> set[str]:
        """Find the label with which a text begins, as in "A. The first …"."""
        word = text.split(maxsplit=1)[0]
        label = self.label(word.rstrip(",")) if self.lettered else None
        begun = label in self.by_case.values() and word.endswith((".", ","))
        return {label} if begun and label else set()

    def _announced(self, line: str) -> Iterator[tuple[str, int]]:
        """Find the labels that are announced, and where."""
        opening = _ANNOUNCED_GRADE if self.graded else _ANNOUNCED_CHOICE
        for match in opening.finditer(line):
            rest = line[match.end() : match.end() + 100]
            words = re.split(r"[.;!](?:\s|$)|\s(?:because|since|as)\s", rest)[0]
            if (label := self.label(words)) is not None:
                yield label, match.end()

    def _why_nothing(self, text: str) -> Reason:
        plain = _plain(text)
        if _REFUSAL.match(plain):
            return Reason.REFUSAL
        words = "|".join(re.escape(label) for label in self.by_case.values())
        occurs = re.search(rf"(?<!\w)(?:{words})(?!\w)", plain)
        return Reason.PROSE if occurs else Reason.NO_LABEL


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _readable(reply: Reply) -> str | Reason:
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


def _is_doubted(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 200) : match.start()]
    after = text[match.end() : match.end() + 200]
    if "?" in after[:1]:
        return True
    begin = max((end.end() for end in _CLAUSE_END.finditer(before)), default=0)
    end = _CLAUSE_END.search(after)
    asked = end is not None and end[0] == "?"
    rest = _REASON_FOLLOWS.split(after[: end.start()] if end else after)[0]
    return asked or bool(_DOUBT.search(before[begin:]) or _DOUBT.search(rest))


def _said(
    meaning: Meaning, *, strict: bool, details: Mapping[str, Any] | None = None
) -> Parsed:
    if isinstance(meaning, Verdict | SideBySide):
        return Parsed(meaning, strict=strict, details=details or {})
    return Parsed(value=float(meaning), strict=strict, details=details or {})


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


class _Twice(ValueError):
    """A key occurs twice in a JSON object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise _Twice
    return dict(pairs)


def _json_object(text: str) -> tuple[dict[str, Any], Reason | None]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except _Twice:
        return {}, Reason.CONFLICTING
    except (ValueError, RecursionError):
        return {}, Reason.NOT_JSON
    return (found, None) if isinstance(found, dict) else ({}, Reason.NOT_JSON)


def _field(value: Any, wanted: Mapping[str, Any]) -> Any:
    """Return the value as the schema has it, or the reason why it does not fit."""
    if wanted["type"] == "integer":
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value.strip()):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return Reason.SHAPE
        low, high = wanted.get("minimum", value), wanted.get("maximum", value)
        return value if low <= value <= high else Reason.OUTSIDE
    if not isinstance(value, str):
        return Reason.SHAPE
    if "enum" not in wanted:
        return whole(value)
    known = {_plain(word).casefold(): word for word in wanted["enum"]}
    return known.get(_plain(value).strip().casefold(), Reason.OUTSIDE)
