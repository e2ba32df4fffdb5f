"""Labels: how each can be written, and which one a text states."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from judgelab.errors import ValidationError
from judgelab.models.parse.outcome import Meaning, Parsed, Reason, readable, said
from judgelab.models.request import Reply
from judgelab.verdict import SideBySide, Verdict

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
REFUSAL = re.compile(
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
    The rules stand at the top of `judgelab.models.parse`. Chapter: *Ask a real model*.

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
    scale = Scale(labels)
    text = readable(reply)
    if isinstance(text, Reason):
        return scale.invalid(text)
    label = scale.only(text, bare=not marked)
    if isinstance(label, Reason):
        return scale.invalid(label)
    asked = reply.text.strip().splitlines()[-1] if marked else reply.text.strip()
    form = f"[[{label}]]" if marked else label
    return said(labels[label], strict=asked == form and text == reply.text)


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
    if not labels or len({plain(x).casefold() for x in labels}) < len(labels):
        raise ValidationError(
            f"labels {list(labels)} are none, or differ in case alone; "
            "give each meaning its own label"
        )


class Scale:
    """The labels of a prompt, and how each can be written."""

    def __init__(self, labels: Mapping[str, Meaning]) -> None:
        check_labels(labels)
        self.graded = all(
            not isinstance(m, Verdict | SideBySide) for m in labels.values()
        )
        sided = any(isinstance(meaning, SideBySide) for meaning in labels.values())
        self.unread = None if self.graded or sided else Verdict.INVALID
        self.by_case = {plain(label).casefold(): label for label in labels}
        self.numbers = {
            float(label): label for label in labels if _NUMBER.fullmatch(label)
        }
        self.lettered = any(len(x) == 1 and x.isalpha() for x in labels)
        self.tie = next((x for x, m in labels.items() if m is Verdict.TIE), None)

    def invalid(self, reason: Reason) -> Parsed:
        """Return what an unreadable reply is on this scale."""
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
        text = plain(text)
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
        if REFUSAL.match(text):
            return Reason.REFUSAL
        words = "|".join(re.escape(label) for label in self.by_case.values())
        occurs = re.search(rf"(?<!\w)(?:{words})(?!\w)", text)
        return Reason.PROSE if occurs else Reason.NO_LABEL


def plain(text: str) -> str:
    """Write a text with plain letters and quotes, whatever their width or style."""
    return unicodedata.normalize("NFKC", text).replace("’", "'")


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
