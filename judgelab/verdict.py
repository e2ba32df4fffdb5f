"""What a judge can say about two answers, and the same thing said in another order."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judgelab._checks import array
from judgelab.errors import ValidationError


class _Spoken(IntEnum):
    """What a judge says: codes that show and read themselves as words."""

    def __repr__(self) -> str:
        return self.name

    @classmethod
    def parse(cls, word: str) -> Self:
        """Read one verdict word, in upper or lower case, with surrounding spaces.

        Raises
        ------
        ValidationError
            If the word is none of the names, or no word: nothing is guessed.
        """
        try:
            return cls[word.strip().upper().replace(" ", "_")]
        except (AttributeError, KeyError):
            names = ", ".join(cls.__members__)
            raise ValidationError(
                f"unknown verdict {word!r}; expected one of {names}"
            ) from None


class Verdict(_Spoken):
    """The five things that can come back when two answers are shown to a judge.

    `A` and `B` name the *slot* in which the preferred answer was shown until the
    verdict is un-swapped; then they name the answer. `TIE`, `INVALID` and `MISSING` are
    different things and no function merges them unless its named policy says so.

    Examples
    --------
    >>> Verdict.A, Verdict.TIE
    (A, TIE)
    >>> Verdict.parse("tie")
    TIE
    """

    A = 0
    """The answer in the first slot is better."""
    B = 1
    """The answer in the second slot is better."""
    TIE = 2
    """The judge said that neither is better."""
    INVALID = 3
    """The judge replied, and the reply could not be parsed into a verdict."""
    MISSING = 4
    """The judge was never asked, or the request failed: there is no reply."""


class SideBySide(_Spoken):
    """The four verdicts of a judge that may also call both answers good, or both bad.

    As with `Verdict`, `A` and `B` name slots until the verdict is un-swapped. Where
    `Verdict` has one tie, this scale has two, and no code for a reply that cannot be
    read: what becomes of one is for the caller to say.

    References
    ----------
    MTSAIR side-by-side leaderboard, which calls them A, B, C and D.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> SideBySide.parse("both good"), SideBySide.parse("d")
    (BOTH_GOOD, BOTH_BAD)
    """

    A = 0
    """The answer in the first slot is better."""
    B = 1
    """The answer in the second slot is better."""
    BOTH_GOOD = 2
    """Neither is better, and both are good."""
    BOTH_BAD = 3
    """Neither is better, and both are bad."""
    C = BOTH_GOOD
    """The leaderboard's letter for `BOTH_GOOD`."""
    D = BOTH_BAD
    """The leaderboard's letter for `BOTH_BAD`."""


Scale = type[Verdict] | type[SideBySide]


def unswap(
    verdicts: npt.ArrayLike, swapped: npt.ArrayLike = True, *, scale: Scale = Verdict
) -> npt.NDArray[Any]:
    """Turn verdicts on *slots* into verdicts on *answers*.

    Parameters
    ----------
    verdicts : array_like of int
        `Verdict` codes as shown (or `SideBySide` codes).
    swapped : array_like of bool, default True
        Whether the answers were shown in exchanged slots; broadcast against `verdicts`.
    scale : {Verdict, SideBySide}, default Verdict
        What the codes mean.

    Returns
    -------
    ndarray of int8
        Codes: A and B exchanged where `swapped`, everything else unchanged.

    Raises
    ------
    ValidationError
        If a code is none of the scale, or `swapped` holds anything but true and false
        (or 1 and 0): the word "False" would count as true.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> unswap([Verdict.A, Verdict.TIE, Verdict.B], swapped=[True, True, False])
    array([1, 2, 1], dtype=int8)
    """
    codes = as_codes(verdicts, scale=scale)
    turned = array("swapped", swapped, "true and false (or 1 and 0)")
    if ((turned != 0) & (turned != 1)).any():
        raise ValidationError(
            f"swapped holds {np.unique(turned.astype(str))[:5].tolist()} of type "
            f"{turned.dtype}; give true and false (or 1 and 0)"
        )
    if turned.ndim and turned.shape != codes.shape:
        raise ValidationError(
            f"verdicts has shape {codes.shape} and swapped {turned.shape}; "
            "give one of each per record"
        )
    exchanged = np.array([scale.B, scale.A, *list(scale)[2:]])
    return np.where(turned, exchanged[codes], codes).astype(np.int8)


def as_codes(
    verdicts: npt.ArrayLike, *, scale: Scale = Verdict
) -> npt.NDArray[np.int8]:
    """Check that every entry is a code of the scale; return them as small integers.

    Parameters
    ----------
    verdicts : array_like of int
        Codes.
    scale : {Verdict, SideBySide}, default Verdict
        What the codes mean.

    Raises
    ------
    ValidationError
        Naming the first offending positions.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> as_codes([Verdict.A, Verdict.MISSING])
    array([0, 4], dtype=int8)
    """
    way_out = f"integer {scale.__name__} codes; {scale.__name__}.parse reads words"
    codes = array("verdicts", verdicts, way_out)
    if codes.dtype.kind not in "iu":
        raise ValidationError(f"verdicts has dtype {codes.dtype}; give {way_out}")
    wrong = np.flatnonzero((codes < 0) | (codes > max(scale)))
    if wrong.size:
        raise ValidationError(
            f"codes outside 0..{int(max(scale))} at positions {wrong[:5].tolist()}: "
            f"{codes.ravel()[wrong[:5]].tolist()}"
        )
    return codes.astype(np.int8)


class Outcome(IntEnum):
    """What a rule makes of the two verdicts on one pair of answers.

    The first three have the codes of `Verdict`, so an outcome can stand where a verdict
    on answers is expected. The other three differ in what they do to a score: `NEITHER`
    stays in the denominator and is never right, `DROPPED` leaves the denominator,
    `UNDEFINED` has no score because the source of the rule does not speak of the case.

    Examples
    --------
    >>> Outcome.A == Verdict.A, Outcome.NEITHER
    (True, NEITHER)
    """

    A = 0
    """The first answer wins."""
    B = 1
    """The second answer wins."""
    TIE = 2
    """A tie is declared."""
    NEITHER = 3
    """No answer wins and no tie is declared: an error whatever the truth."""
    DROPPED = 4
    """The pair is left out of the numerator and of the denominator."""
    UNDEFINED = 5
    """The source of the rule does not say."""

    def __repr__(self) -> str:
        return self.name


_SIGNS = {
    "A": Outcome.A,
    "B": Outcome.B,
    "=": Outcome.TIE,
    "-": Outcome.NEITHER,
    "x": Outcome.DROPPED,
    "?": Outcome.UNDEFINED,
}


@dataclass(frozen=True)
class Rule:
    """A named way to fold the verdicts in two orders into one outcome.

    Parameters
    ----------
    name : str
        The name under which `combine` finds the rule.
    used_by : str
        Who scores this way.
    source : str
        Where it was read: a file at a commit, or a section of a paper.
    cells : tuple of str
        Five rows of five signs. Row: the verdict in the first order; column: the
        verdict in the second order, *un-swapped*, so that both name answers; both in
        the order of `Verdict`. Signs: ``A``, ``B`` (that answer wins), ``=`` (a tie is
        declared), ``-`` (neither: wrong whatever the truth), ``x`` (dropped from
        numerator and denominator), ``?`` (the source does not say).
    note : str, default ""
        What the table alone does not tell.

    Raises
    ------
    ValidationError
        If the table is not 5 × 5 or holds another sign.

    Notes
    -----
    The table is the rule: there is no other code behind it. Chapter: *Does the order
    matter?*

    Examples
    --------
    >>> print(RULES["mt-bench"])
    mt-bench
             A  B  TIE  INVALID  MISSING
    A        A  =   =      ?        ?
    B        =  B   =      ?        ?
    TIE      =  =   =      ?        ?
    INVALID  ?  ?   ?      ?        ?
    MISSING  ?  ?   ?      ?        ?
    """

    name: str
    used_by: str
    source: str
    cells: tuple[str, ...]
    note: str = ""

    def __post_init__(self) -> None:
        rows = [row.split() for row in self.cells]
        if [len(row) for row in rows] != [len(Verdict)] * len(Verdict):
            raise ValidationError(
                f"rule {self.name!r} needs 5 rows of 5 signs, got {list(self.cells)}"
            )
        unknown = sorted({sign for row in rows for sign in row} - _SIGNS.keys())
        if unknown:
            raise ValidationError(
                f"rule {self.name!r} holds the signs {unknown}; "
                f"choose from {list(_SIGNS)}"
            )

    @property
    def table(self) -> npt.NDArray[np.int8]:
        """`Outcome` codes, shape (5, 5): first verdict × second verdict, un-swapped."""
        rows = [[_SIGNS[sign] for sign in row.split()] for row in self.cells]
        return np.array(rows, dtype=np.int8)

    def __str__(self) -> str:
        names = list(Verdict.__members__)
        lines = [self.name, " " * 9 + "  ".join(names)]
        for name, row in zip(names, self.cells, strict=True):
            signs = (
                sign.center(len(column))
                for sign, column in zip(row.split(), names, strict=True)
            )
            lines.append((name.ljust(9) + "  ".join(signs)).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = list(Verdict.__members__)
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        body = "".join(
            f'<tr><th scope="row">{name}</th>'
            + "".join(
                f'<td title="{_SIGNS[sign].name}">{sign}</td>' for sign in row.split()
            )
            + "</tr>"
            for name, row in zip(names, self.cells, strict=True)
        )
        caption = html.escape(f"Rule “{self.name}”: {self.used_by} ({self.source})")
        return (
            f"<table><caption>{caption}</caption><thead><tr>"
            f'<th scope="col">first \\ second</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )


_FIRST_ONLY = ("A A A A A", "B B B B B", "= = = = =", "- - - - -", "- - - - -")
_AGREE_OR_TIE_YIELDS = (
    "A - A - -",
    "- B B - -",
    "A B - - -",
    "- - - - -",
    "- - - - -",
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            "judgebench",
            "the JudgeBench repository and its ports",
            "ScalerLab/JudgeBench utils/metrics.py at e2c52c2",
            ("A = A A A", "= B B B B", "A B = = =", "A B = = =", "A B = = ="),
            "Each verdict votes for its answer, anything else votes for nobody; so a "
            "right verdict next to a reply that could not be read is right.",
        ),
        Rule(
            "judgebench-paper",
            "the text of the JudgeBench paper",
            "Tan et al. 2024, arXiv 2410.12784, section 4",
            ("A - A ? ?", "- B B ? ?", "A B - ? ?", "? ? ? ? ?", "? ? ? ? ?"),
            "Silent on replies that could not be read and on missing ones.",
        ),
        Rule(
            "recipe-as-written",
            "a short recipe that circulates for JudgeBench, run literally",
            "scoring recipe; the second verdict is never un-swapped",
            ("- A A - -", "B - B - -", "B A A - -", "- - - - -", "- - - - -"),
            "A judge that prefers the same answer in both orders is always wrong.",
        ),
        Rule(
            "recipe",
            "the same short recipe after un-swapping the second verdict",
            "scoring recipe",
            ("A - A - -", "- B B - -", "A B A - -", "- - - - -", "- - - - -"),
            "Its first branch takes a tie in both orders for a win of A.",
        ),
        Rule(
            "recipe-prose",
            "the prose of the same short recipe",
            "scoring recipe, description of the metric",
            _AGREE_OR_TIE_YIELDS,
        ),
        Rule(
            "mt-bench",
            "the text of the MT-bench paper (the conservative rule)",
            "Zheng et al. 2023, arXiv 2306.05685, section 3.4",
            ("A = = ? ?", "= B = ? ?", "= = = ? ?", "? ? ? ? ?", "? ? ? ? ?"),
            "A win needs both orders; everything else is a tie. Silent on errors.",
        ),
        Rule(
            "fastchat",
            "the code that goes with MT-bench",
            "lm-sys/FastChat fastchat/llm_judge/show_result.py at 02d4581",
            ("A = = x x", "= B = x x", "= = = x x", "x x x x x", "x x x x x"),
            "The conservative rule; a pair with an error in either order is left out.",
        ),
        Rule(
            "nemo-skills",
            "NVIDIA NeMo-Skills, two passes",
            "nemo_skills/evaluation/metrics, JudgeBench",
            ("A = A x x", "= B B x x", "A B = x x", "x x x x x", "x x x x x"),
            "The vote of the repository, but a pair with an empty verdict leaves the "
            "denominator. A label without meaning (A>A) is no empty verdict there and "
            "votes for nobody: to the letter, read it as TIE.",
        ),
        Rule(
            "contextual-judgebench",
            "Salesforce ContextualJudgeBench (consistent accuracy)",
            "SalesforceAIResearch/ContextualJudgeBench utils/utils.py at 4d480a9",
            ("A - - - -", "- B - - -", "- - - - -", "- - - - -", "- - - - -"),
            "Both orders must give the same winner; a tie never helps.",
        ),
        Rule(
            "reasoning-judgebench",
            "Salesforce ReasoningJudgeBench",
            "SalesforceAIResearch/ReasoningJudgeBench utils/utils.py at 191ca39",
            _AGREE_OR_TIE_YIELDS,
        ),
        Rule(
            "first-order",
            "everyone who asks once (OpenCompass, RM-Gallery's default, single_game)",
            "the verdict in the first order alone",
            _FIRST_ONLY,
            "Position bias goes straight into the score.",
        ),
        Rule(
            "second-order",
            "the same with the answers exchanged",
            "the verdict in the second order alone",
            ("A B = - -",) * 5,
            "The gap to the first order is what asking once hides.",
        ),
        Rule(
            "langprobe",
            "LangProBe's JudgeBench task",
            "Shangyint/langProBe langProBe/judgebench at 351b371",
            (*_FIRST_ONLY[:3], "A A A A A", "? ? ? ? ?"),
            "Asks once; a reply that could not be read becomes a verdict for A.",
        ),
    )
}
"""The rules in use, by name; each is its own table."""


def find_rule(rule: Rule | str) -> Rule:
    """Return the rule of that name, or the rule itself.

    Raises
    ------
    ValidationError
        If no rule has that name; the message lists those that exist.

    Examples
    --------
    >>> find_rule("judgebench").used_by
    'the JudgeBench repository and its ports'
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str) or rule not in RULES:
        raise ValidationError(f"unknown rule {rule!r}; choose from {list(RULES)}")
    return RULES[rule]


def combine(
    first: npt.ArrayLike, second: npt.ArrayLike, *, rule: Rule | str
) -> npt.NDArray[np.int8]:
    """Fold the verdicts in two orders into one outcome per pair of answers.

    Parameters
    ----------
    first : array_like of int
        `Verdict` codes in the first order.
    second : array_like of int, same shape
        `Verdict` codes in the exchanged order, already turned back by `unswap`, so that
        `A` is the same answer in both.
    rule : Rule or str
        One of `RULES`, or a table of your own. There is no default: the rule changes
        the score, so it belongs in the report.

    Returns
    -------
    ndarray of int8
        `Outcome` codes.

    Raises
    ------
    ValidationError
        If a code is not one of the five verdicts, the shapes differ or the rule is
        unknown.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    A judge that says "the first one" in both orders contradicts itself:

    >>> second = unswap([Verdict.A])
    >>> combine([Verdict.A], second, rule="mt-bench").tolist() == [Outcome.TIE]
    True
    """
    one, two = as_codes(first), as_codes(second)
    if one.shape != two.shape:
        raise ValidationError(
            f"first has shape {one.shape} and second {two.shape}; "
            "give the two verdicts of the same pairs in the same order"
        )
    return find_rule(rule).table[one, two]


def rules_side_by_side(
    rules: Iterable[Rule | str] = tuple(RULES), *, differing_only: bool = False
) -> list[dict[str, str]]:
    """List what each rule makes of each of the 25 pairs of verdicts.

    Parameters
    ----------
    rules : iterable of Rule or str
        By default all of `RULES`.
    differing_only : bool, default False
        Keep only the pairs of verdicts on which the rules differ.

    Returns
    -------
    list of dict
        One row per pair of verdicts: ``first``, ``second`` (un-swapped), then one
        outcome name per rule. Made for `pandas.DataFrame`.

    Notes
    -----
    Chapter: *Does the order matter?*.

    Examples
    --------
    >>> for row in rules_side_by_side(["recipe", "recipe-prose"], differing_only=True):
    ...     print(row)
    {'first': 'TIE', 'second': 'TIE', 'recipe': 'A', 'recipe-prose': 'NEITHER'}
    """
    found = [find_rule(rule) for rule in rules]
    tables = {rule.name: rule.table for rule in found}
    rows = []
    for first in Verdict:
        for second in Verdict:
            outcomes = {
                name: Outcome(table[first, second]).name
                for name, table in tables.items()
            }
            if not differing_only or len(set(outcomes.values())) > 1:
                rows.append({"first": first.name, "second": second.name} | outcomes)
    return rows
