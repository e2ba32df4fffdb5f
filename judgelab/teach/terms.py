"""Words that explain themselves: the glossary, and where its terms stand in a text."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

from judgelab.errors import ValidationError
from judgelab.teach.content import Shown, inline, load


@cache
def glossary() -> dict[str, dict[str, Any]]:
    """Return the entries of the glossary by id, in alphabetical order."""
    entries = sorted(load("glossary"), key=lambda entry: entry["term"].lower())
    return {entry["id"]: entry for entry in entries}


def forms(entry: dict[str, Any]) -> list[str]:
    """List the spellings under which a term stands in a text."""
    return [entry["term"], *entry.get("also", ())]


@cache
def pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    """Build one expression that finds every term, and say which term a spelling means.

    The longest spelling wins; the case of the first letter, line breaks and the shape
    of apostrophes don't matter.
    """
    owner = {
        canonical(form): key
        for key, entry in glossary().items()
        for form in forms(entry)
    }
    longest_first = sorted(owner, key=len, reverse=True)
    alternatives = "|".join(_tolerant(form) for form in longest_first)
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?!\w)"), owner


def canonical(words: str) -> str:
    """Bring a spelling found in a text to the form in which it is looked up.

    Examples
    --------
    >>> canonical("Cohen’s  kappa")
    "cohen's kappa"
    """
    words = re.sub(r"\s+", " ", words.replace("’", "'"))
    return words[:1].lower() + words[1:]


def _tolerant(form: str) -> str:
    first, rest = form[0], re.escape(form[1:])
    rest = rest.replace(r"\ ", r"\s+").replace("'", "['’]")
    either = re.escape(first) if first.upper() == first else f"[{first}{first.upper()}]"
    return either + rest


def occurrences(text: str) -> list[tuple[int, int, str]]:
    """Find the terms in a text: start, end and the term's id.

    Examples
    --------
    >>> occurrences("Kappa is low.")
    [(0, 5, 'kappa')]
    """
    expression, owner = pattern()
    return [
        (m.start(), m.end(), owner[canonical(m[0])]) for m in expression.finditer(text)
    ]


def definition_html(key: str) -> str:
    """Return a definition as one line of HTML."""
    return inline(glossary()[key]["means"])


def term(name: str) -> Shown:
    """Explain a word.

    Parameters
    ----------
    name : str
        A term of the glossary, or one of its other spellings.

    Raises
    ------
    ValidationError
        If the glossary has no such term; near misses are named.

    Examples
    --------
    >>> term("kappa")
    Cohen's kappa: ...
    """
    owner = pattern()[1]
    if canonical(name) not in owner:
        near = sorted(form for form in owner if name.lower()[:4] in form.lower())
        raise ValidationError(
            f"the glossary has no {name!r}"
            + (f"; it has {', '.join(near)}" if near else "")
        )
    key = owner[canonical(name)]
    entry = glossary()[key]
    title = html.escape(entry["term"])
    return Shown(
        f"<p><strong>{title}</strong>: {definition_html(key)}</p>",
        f"{entry['term']}: {entry['means'].strip()}",
    )
