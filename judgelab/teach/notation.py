r"""Symbols that explain themselves: which stand in an equation, what they mean.

An equation is read as TeX tokens; each symbol that the chapter declares is wrapped in
``\class{…}{…}``, so that it can be found again in the picture that MathJax draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from judgelab.errors import ValidationError
from judgelab.teach.content import Shown, chapter, inline, load

Symbol = dict[str, str]

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\\\(?:\[[^\]]*\])?|\\.|\S", re.DOTALL)
# Commands whose argument is words, lengths or names, not symbols.
_WORDS = {
    *(r"\text", r"\textrm", r"\textit", r"\textbf", r"\mathrm", r"\operatorname"),
    *(r"\operatorname*", r"\begin", r"\end", r"\label", r"\tag", r"\hspace", r"\color"),
}
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa "
    "lambda mu nu xi pi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell"
)
# After these, braces around a single token make no difference.
_TAKES_ONE = {"_", "^", r"\hat", r"\bar", r"\tilde", r"\dot"}
_LETTERS = {rf"\{name}" for name in _GREEK.split()}


def tokens(tex: str) -> list[str]:
    r"""Split TeX into tokens, without the braces that make no difference.

    Examples
    --------
    >>> tokens(r"\kappa = p_{o}")
    ['\\kappa', '=', 'p', '_', 'o']
    """
    found = _TOKEN.findall(tex)
    kept: list[str] = []
    position = 0
    while position < len(found):
        bare = found[position : position + 3]
        if (
            kept
            and kept[-1] in _TAKES_ONE
            and len(bare) == 3
            and bare[::2] == ["{", "}"]
        ):
            kept.append(bare[1])
            position += 3
        else:
            kept.append(found[position])
            position += 1
    return kept


@dataclass(frozen=True)
class Marked:
    """An equation whose symbols are marked.

    Attributes
    ----------
    tex : str
        The equation with every declared symbol in a class of its own.
    used : tuple of int
        Which symbols of the table stand in it, in the table's order.
    unknown : tuple of str
        Letters that no symbol covers.
    """

    tex: str
    used: tuple[int, ...]
    unknown: tuple[str, ...]


def mark(
    tex: str, table: list[Symbol], css_class: Callable[[int], str] = "jl-sym s{}".format
) -> Marked:
    r"""Wrap every declared symbol of an equation; the longest match wins.

    Parameters
    ----------
    tex : str
        An equation.
    table : list of dict
        The chapter's symbols.
    css_class : callable
        Names the class of the symbol at a place of the table.

    Examples
    --------
    >>> table = [{"tex": "p_o"}, {"tex": "p_e"}]
    >>> mark("p_o - p_{e} x", table, "c{}".format)
    Marked(tex='{\\class{c0}{p_o}}-{\\class{c1}{p_e}}x', used=(0, 1), unknown=('x',))
    """
    text = tokens(tex)
    patterns = sorted(
        ((tokens(symbol["tex"]), place) for place, symbol in enumerate(table)),
        key=lambda pattern: -len(pattern[0]),
    )
    out: list[str] = []
    used: set[int] = set()
    unknown: list[str] = []
    position = 0
    while position < len(text):
        hit = next(
            (
                (pattern, place)
                for pattern, place in patterns
                if text[position : position + len(pattern)] == pattern
            ),
            None,
        )
        if hit:
            pattern, place = hit
            out.append(f"{{\\class{{{css_class(place)}}}{{{_join(pattern)}}}}}")
            used.add(place)
            position += len(pattern)
        elif text[position] in _WORDS:
            end = _argument_end(text, position + 1)
            # Words keep their spaces, so they are taken from the source as they stand.
            out.append(_words(tex, text, position, end))
            position = end
        else:
            if text[position].isalpha() or text[position] in _LETTERS:
                unknown.append(text[position])
            out.append(text[position])
            position += 1
    return Marked(_join(out), tuple(sorted(used)), tuple(dict.fromkeys(unknown)))


def _argument_end(text: list[str], start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    raise ValidationError(f"unbalanced braces in {' '.join(text)}")


def _words(tex: str, text: list[str], start: int, end: int) -> str:
    command = text[start]
    which = text[:start].count(command)
    source = list(re.finditer(re.escape(command) + r"\s*\{[^{}]*\}", tex))
    return source[which][0] if which < len(source) else _join(text[start:end])


def _join(parts: list[str]) -> str:
    """Put tokens together again; a command needs a space before a letter."""
    joined = ""
    for part in parts:
        if re.search(r"\\[A-Za-z]+$", joined) and part[0].isalpha():
            joined += " "
        joined += part
    return joined


def table_of(name: str) -> list[Symbol]:
    """Return the symbols that a chapter declares, in its order."""
    chapter(name)
    declared: list[Symbol] = load("symbols").get(name, [])
    return declared


def table_html(symbols: list[Symbol]) -> str:
    """Make the table of symbols that stands under an equation."""
    rows = "".join(
        f'<tr><th scope="row">{symbol_html(symbol)}</th>'
        f"<td>{meaning_html(symbol)}</td></tr>"
        for symbol in symbols
    )
    return (
        '<table class="jl-symbol-table mathjax_process"><thead><tr>'
        '<th scope="col">Symbol</th><th scope="col">Meaning</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def symbol_html(symbol: Symbol) -> str:
    """Return a symbol as a formula for MathJax."""
    return inline(f"${symbol['tex']}$")


def meaning_html(symbol: Symbol) -> str:
    """Return what a symbol means, with its unit or range, as one line of HTML."""
    scale = f" <small>({inline(symbol['range'])})</small>" if "range" in symbol else ""
    return inline(symbol["means"]) + scale


def symbols(name: str) -> Shown:
    r"""Explain the symbols of a chapter.

    Parameters
    ----------
    name : str
        The chapter, such as ``"agreement"``.

    Raises
    ------
    ValidationError
        If there is no such chapter.

    Examples
    --------
    >>> symbols("agreement")
    \kappa: Cohen's kappa, the agreement beyond chance
    ...
    """
    table = table_of(name)
    text = "\n".join(f"{s['tex']}: {s['means'].strip()}" for s in table)
    return Shown(table_html(table), text)
