"""What the book teaches with: YAML, one file per kind of content; Markdown as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from judgelab.errors import ValidationError

# The glossary and the symbols stand with the book's pages; the wheel carries copies.
_PACKAGE = Path(__file__).parent
FOLDERS = (_PACKAGE, _PACKAGE.parents[1] / "book")


def path(name: str) -> Path | None:
    """Find the YAML file of one kind of content, such as ``"exercises/agreement"``."""
    candidates = (folder / f"{name}.yml" for folder in FOLDERS)
    return next((file for file in candidates if file.exists()), None)


@cache
def load(name: str) -> Any:
    """Read one YAML file; a chapter that has no such file has no such content.

    Examples
    --------
    >>> [chapter["number"] for chapter in load("chapters")]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> load("exercises/no_such_chapter")
    {}
    """
    file = path(name)
    if file is None:
        return {}
    # A stream, not a text: then a slip in the YAML is reported with the file's name.
    with file.open(encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def chapter(name: str) -> dict[str, Any]:
    """Return number and title of a chapter.

    Raises
    ------
    ValidationError
        If there is no such chapter; the message lists the names.

    Examples
    --------
    >>> chapter("agreement")["title"]
    'Do two judges agree?'
    """
    chapters: dict[str, dict[str, Any]] = {c["name"]: c for c in load("chapters")}
    if name not in chapters:
        raise ValidationError(
            f"no chapter is called {name!r}; there are {', '.join(chapters)}"
        )
    return chapters[name]


@dataclass(frozen=True, slots=True)
class Shown:
    """Something to read: HTML in a notebook, plain text in a terminal."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def _tex(formula: str, options: dict[str, Any]) -> str:
    # MathJax reads these delimiters in JupyterLab and on the book's pages alike.
    left, right = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return left + html.escape(formula) + right


_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MARKDOWN.use(dollarmath_plugin, renderer=_tex)


def markdown(text: str) -> str:
    r"""Render blocks of Markdown, with ``$math$``, as HTML.

    Examples
    --------
    >>> markdown(r"Compute *now* $\kappa_w$.")
    '<p>Compute <em>now</em> <span class="math inline">\\(\\kappa_w\\)</span>.</p>\n'
    """
    return str(_MARKDOWN.render(text))


def inline(text: str) -> str:
    """Render one line of Markdown as HTML, without a paragraph around it.

    Examples
    --------
    >>> inline("Use `kappa`.")
    'Use <code>kappa</code>.'
    """
    return str(_MARKDOWN.renderInline(text.strip()))
