"""What a report says in words: from findings to sections, tables and statements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from judgelab.estimate import Estimate
from judgelab.papers.judgebench import chance_levels
from judgelab.reporting.measure import Agreement, Findings, Judge, Lean, Systems
from judgelab.significance import Test

Chapter = Literal[
    "agreement", "mt_bench", "order", "judgebench", "ranking", "your_own_judge"
]
Answer = Literal["yes", "no", "open"]

FEW_CLUSTERS = 30
"""Below so many independent units, intervals over clusters are rough."""

CLEAR = 0.05
"""A fault counts as found if its p-value, corrected for all tests, is at most this."""


@dataclass(frozen=True)
class Share:
    """An estimate to be drawn on a scale, with the level that chance would give."""

    estimate: Estimate
    low: float = 0.0
    high: float = 1.0
    chance: float | None = None
    percent: bool = True
    signed: bool = False

    def __str__(self) -> str:
        if math.isnan(self.estimate.value):
            return f"undefined: {self.estimate.reason}"
        sign = "+" if self.signed else ""
        return format(self.estimate, sign + (".1%" if self.percent else ".2f"))


Value = Share | Test | int | str


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first column names the rows."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]


@dataclass(frozen=True)
class Statement:
    """Something one would like to say, and whether these data allow it."""

    claim: str
    answer: Answer
    why: str


@dataclass(frozen=True)
class Section:
    """One part of the page, and the chapter that explains it."""

    key: str
    title: str
    chapter: Chapter
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    statements: Sequence[Statement] = ()
    items: Sequence[tuple[bool, str]] = ()
    """A checklist: whether this report holds it, and what it is."""


def sections(found: Findings) -> list[Section]:
    """Put the findings into words, in the order in which a reader needs them.

    Notes
    -----
    Chapter: *Your own judge*.
    """
    parts = [
        _short(found),
        _who(found),
        _agreement(found),
        _categories(found),
        _truth(found),
        _order(found),
        _leans(found),
        _systems(found),
        _plans(found),
        _checklist(found),
        _method(found),
    ]
    return [part for part in parts if part is not None]


# --- In short -------------------------------------------------------------------------


def _short(found: Findings) -> Section:
    return Section(
        "short",
        "In short",
        "your_own_judge",
        [
            f"{counted(found.records, 'record')} of "
            f"{counted(len(found.judges), 'judge')} on {counted(found.items, 'item')}. "
            "What one would like to say, and whether these data allow it"
            + (" (p is corrected for all tests here):" if found.adjusted else ":")
        ],
        statements=[*_claims(found), *_gaps(found)],
    )


def _claims(found: Findings) -> Iterator[Statement]:
    yield from _on_people(found)
    for judge in found.tested:
        yield from _on_replies(found, judge)
        yield from _on_agreement(found, judge)
        yield from _on_truth(found, judge)
        yield from _on_order(found, judge)
        yield from _on_leans(found, judge)
    yield from _on_systems(found)


def _on_people(found: Findings) -> Iterator[Statement]:
    for cell in found.among:
        if cell.ties == "kept":
            claim = f"{found.against} agree among themselves beyond luck"
            said = _beyond_luck(claim, cell)
            weak = "; until they do, agreement with them says little"
            yield said if said.answer == "yes" else replace(said, why=said.why + weak)


def _on_replies(found: Findings, judge: str) -> Iterator[Statement]:
    rates = next(j.rates for j in found.judges if j.name == judge)
    lost = {w: e for w, e in rates.items() if w != "TIE" and e.value > 0}
    if lost:
        # A few in a thousand are some, and would be none in whole percent.
        shown = " and ".join(f"{e:.1%} {w.lower()}" for w, e in lost.items())
        yield Statement(
            f"Every reply of {judge} is a verdict",
            "no",
            f"{shown}; they are left out of agreement and rankings, and count in "
            "consistency and accuracy as neither the same nor right",
        )


def _on_agreement(found: Findings, judge: str) -> Iterator[Statement]:
    if not found.reference:
        return
    claim = f"{judge} agrees with {found.against} beyond luck"
    kept = [c for c in found.agreement if c.one == judge and c.ties == "kept"]
    if not kept:
        yield Statement(claim, "open", "there is no item with a usable verdict of both")
    for cell in kept:
        yield _beyond_luck(claim, cell)
    for (name, ties), gap in found.beside.items():
        if name != judge or ties == "left out":
            continue
        claim = f"{judge} agrees with {found.against} as often as they agree among "
        within = f"difference {_points(gap)}"
        if math.isnan(gap.low):
            yield Statement(claim + "themselves", "open", f"{within}: {gap.method}")
        elif gap.high < 0:
            yield Statement(claim + "themselves", "no", f"less often: {within}")
        elif gap.low > 0:
            yield Statement(claim + "themselves", "yes", f"more often: {within}")
        else:
            yield Statement(
                claim + "themselves",
                "open",
                f"neither more nor less often, as far as can be seen: {within}",
            )


def _beyond_luck(claim: str, cell: Agreement) -> Statement:
    kappa = cell.coefficients["Cohen's kappa"]
    if math.isnan(kappa.value):
        return Statement(claim, "open", kappa.reason)
    return Statement(
        claim,
        "yes" if kappa.low > 0 else "no" if kappa.high < 0 else "open",
        f"the same vote on {_percent(cell.share)} of the pairs of votes, where "
        f"luck alone would give {cell.by_luck:.0%}: kappa {kappa:.2f}",
    )


def _on_truth(found: Findings, judge: str) -> Iterator[Statement]:
    for truth in found.truth:
        if truth.judge == judge:
            right, wrong = truth.shares["right"], truth.shares["wrong"]
            yield Statement(
                f"{judge} names the better answer more often than the worse one",
                "yes"
                if right.low > wrong.high
                else "no"
                if right.high < wrong.low
                else "open",
                f"right {_percent(right)}, wrong {_percent(wrong)} of its verdicts",
            )


def _on_order(found: Findings, judge: str) -> Iterator[Statement]:
    for part in found.order:
        if part.judge != judge:
            continue
        p = found.adjusted[f"{judge}: order"]
        gains = "second" if part.fairness.value > 0 else "first"
        clear = p <= CLEAR
        yield Statement(
            f"{judge} is fair to both slots",
            "no" if clear else "open",
            (
                f"the {gains} slot gains: net lean {_points(part.fairness)}"
                if clear
                else f"no lean was found; net lean {_points(part.fairness)}"
            )
            + f" ({_p(p)}); {_percent(part.consistency)} of "
            f"{counted(part.pairs, 'pair')} are judged alike in both orders",
        )


def _on_leans(found: Findings, judge: str) -> Iterator[Statement]:
    for lean in found.leans:
        if lean.judge != judge:
            continue
        p = found.adjusted[f"{judge}: {lean.fault} {lean.measured}"]
        what = "longer" if lean.fault == "length" else "its own"
        claim = (
            f"{judge} is as often right where the better answer is {what} as elsewhere"
            if lean.measured == "against right answers"
            else f"{judge} gives {what} answers the same credit as {found.against}"
        )
        clear = p <= CLEAR
        yield Statement(
            claim,
            "no" if clear else "open",
            f"{_lean_words(lean)}: {_points(lean.estimate)} ({_p(p)})"
            + (
                "; nothing was found"
                if not clear
                else ". Part of it may be that the judge is steadier than the reference"
                if lean.measured == "against the reference"
                else ""
            ),
        )


def _lean_words(lean: Lean) -> str:
    what = "longer" if lean.fault == "length" else "its own"
    if lean.measured == "against right answers":
        return f"accuracy where the better answer is {what} minus accuracy elsewhere"
    return f"credit that {what} answers get from it minus what the reference gives them"


def _on_systems(found: Findings) -> Iterator[Statement]:
    for side in found.systems:
        order = side.ranking.order
        if len(order) < 2:
            continue
        gap = side.ranking.difference(
            order[0], order[1], scale="elo", level=found.level
        )
        yield Statement(
            f"{order[0]} is the best system in the eyes of {side.by}",
            "yes" if gap.low > 0 else "open",
            f"{gap:.0f} Elo above {order[1]}"
            + ("" if gap.low > 0 else ": the two cannot be told apart"),
        )


def _gaps(found: Findings) -> Iterator[Statement]:
    """Say what the data cannot tell, and what would be needed."""
    if not found.reference:
        yield Statement(
            "The judge decides as people do",
            "open",
            "no reference was named: add human verdicts on the same items, and name "
            "them (against=…, --against …)",
        )
    elif not found.among:
        yield Statement(
            "People agree with each other more, or less, than with the judge",
            "open",
            "no item has verdicts of two people: have a second person label some items",
        )
    if found.kind == "ratings":
        return
    measured = {part.judge for part in found.order}
    if once := [judge for judge in found.tested if judge not in measured]:
        yield Statement(
            f"The order of showing makes no difference to {_names(once)}",
            "open",
            "no pair of answers was judged in both orders: ask again with the answers "
            "exchanged, and mark these records in a column 'swapped'",
        )
    if not found.truth:
        yield Statement(
            "The judge is right",
            "open",
            "no right answers are known (a column 'gold'); agreement is not accuracy",
        )
    faults = {lean.fault for lean in found.leans}
    if "length" not in faults:
        yield Statement(
            "Length does not draw the judge's votes",
            "open",
            "needs the columns 'length_a' and 'length_b', and a reference or right "
            "answers to compare with",
        )
    if "own answers" not in faults:
        yield Statement(
            "The judge does not favour its own answers",
            "open",
            "needs 'model_a' and 'model_b', which of them is the judge's own "
            "(own=…, --own JUDGE=MODEL), and a reference or right answers",
        )


# --- The parts ------------------------------------------------------------------------


def _who(found: Findings) -> Section:
    if found.kind == "ratings":
        table = Table(
            "Labels given by each judge",
            ["judge", "items", *map(str, found.scale)],
            [
                [j.name, j.items, *(j.labels.get(str(x), 0) for x in found.scale)]
                for j in found.judges
            ],
        )
        return Section("who", "Who judged what", "your_own_judge", tables=[table])
    rows: list[list[Value]] = [
        [
            j.name,
            j.verdicts,
            j.items,
            j.both_orders,
            *(Share(j.rates[word]) for word in ("TIE", "INVALID", "MISSING")),
        ]
        for j in _most_verdicts(found)
    ]
    hidden = len(found.judges) - len(rows)
    text = [
        "A tie is a verdict; an invalid reply could not be read; a missing one was "
        "never given. They are counted apart, and none is turned into another.",
    ]
    if hidden:
        text.append(
            f"{hidden} further judges of the reference are not listed; all their "
            "verdicts count below."
        )
    table = Table(
        "Verdicts of each judge, with the shares of ties, invalid and missing ones",
        [
            "judge",
            "verdicts",
            "items",
            "pairs in both orders",
            "ties",
            "invalid",
            "missing",
        ],
        rows,
    )
    return Section("who", "Who judged what", "your_own_judge", text, [table])


_MOST_JUDGES = 8


def _most_verdicts(found: Findings) -> list[Judge]:
    """List those measured first, then as many of the reference as a page can hold."""
    measured = [j for j in found.judges if j.name in found.tested]
    people = [j for j in found.judges if j.name in found.reference]
    people.sort(key=lambda judge: -judge.verdicts)
    return measured + people[:_MOST_JUDGES]


def _agreement(found: Findings) -> Section | None:
    cells = [*found.agreement, *found.among]
    if not cells:
        return None
    pairwise = found.kind == "pairwise"
    tables = []
    policies = ("kept", "left out") if pairwise else ("kept",)
    for ties in policies:
        chosen = [cell for cell in cells if cell.ties == ties]
        if not chosen:
            continue
        what = f", ties {ties}" if pairwise else ""
        names = list(chosen[0].coefficients)
        tables.append(
            Table(
                f"Agreement{what}: share of pairs of votes that are the same, what "
                "luck would give, and coefficients that take it off",
                ["judges", "same", "by luck", *names, "pairs of votes", "left out"],
                [
                    [
                        _pair_name(cell),
                        Share(cell.share, chance=cell.by_luck),
                        f"{cell.by_luck:.1%}",
                        *(_coefficient(cell.coefficients[name]) for name in names),
                        cell.share.n,
                        cell.left_out,
                    ]
                    for cell in chosen
                ],
            )
        )
    if found.beside:
        tables.append(
            Table(
                f"Agreement with {found.against} minus agreement among {found.against}",
                ["judge", "ties", "difference"],
                [
                    [judge, ties, Share(gap, -0.5, 0.5, chance=0.0, signed=True)]
                    for (judge, ties), gap in found.beside.items()
                ],
            )
        )
    if found.alpha:
        tables.append(
            Table(
                "Krippendorff's alpha: how reliable the labels are, whoever gives them",
                ["who", "alpha", "items"],
                [[who, _coefficient(a), a.n] for who, a in found.alpha.items()],
            )
        )
    text = [
        "Every vote of the one side meets every vote of the other on the same item, so "
        "that items with many votes weigh more. "
        + (
            "Beside it stands how far those who are the reference agree with each "
            "other. That is a level to compare with, and no ceiling: a judge that errs "
            "less than one of them agrees with them more than they do."
            if found.among
            else ""
        ),
    ]
    if pairwise:
        text.append(
            "A and B only name the order of showing, so that every coefficient is made "
            "the same whichever answer is called A; alpha takes one verdict of a judge "
            "per item. Both readings "
            "of ties are shown: they answer different questions. Pairs of votes with "
            "an invalid or missing one are left out, and counted."
        )
    return Section("agreement", "Does the judge agree?", "agreement", text, tables)


def _pair_name(cell: Agreement) -> str:
    if cell.one == cell.two:
        return f"{cell.one} among themselves"
    return f"{cell.one} – {cell.two}"


def _coefficient(estimate: Estimate) -> Share:
    return Share(estimate, -0.2, 1.0, chance=0.0, percent=False)


def _categories(found: Findings) -> Section | None:
    marked = [truth for truth in found.truth if truth.by_category]
    if not found.categories and not marked:
        return None
    tables = [
        Table(
            f"{truth.judge}: verdicts that name the better answer, by category",
            ["category", "right", "verdicts"],
            [
                [category, Share(right, chance=0.5), right.n]
                for category, right in truth.by_category.items()
            ],
        )
        for truth in marked
    ]
    tables += [
        Table(
            f"{judge} and {found.against} by category"
            + (", ties left out" if found.kind == "pairwise" else ""),
            ["category", "same", "by luck", "Cohen's kappa", "pairs of votes"],
            [
                [
                    category,
                    Share(cell.share, chance=cell.by_luck),
                    f"{cell.by_luck:.1%}",
                    _coefficient(cell.coefficients["Cohen's kappa"]),
                    cell.share.n,
                ]
                for category, cell in rows
            ],
        )
        for judge, rows in found.categories.items()
    ]
    text = [
        "Categories were not corrected for being many: the best and the worst of them "
        "look more extreme than they are."
    ]
    if found.categories_left_out:
        text.append(f"{found.categories_left_out} smaller categories are not shown.")
    return Section("categories", "By category", "mt_bench", text, tables)


def _truth(found: Findings) -> Section | None:
    if not found.truth:
        return None
    names = ("right", "wrong", "tie", "unusable")
    tables = [
        Table(
            "Verdicts against the better answers",
            ["judge", *names],
            [
                [
                    truth.judge,
                    *(
                        Share(truth.shares[k], chance=0.5 if k == "right" else None)
                        for k in names
                    ),
                ]
                for truth in found.truth
            ],
        )
    ]
    for truth in found.truth:
        if truth.by_rule:
            coins = {rule: _coins(rule) for rule in truth.by_rule}
            tables.append(
                Table(
                    f"{truth.judge}: both orders folded into one outcome, rule by rule",
                    ["rule", "right", "wrong", "tie", "neither", "a coin is right"],
                    [
                        [
                            rule,
                            Share(score["right"], chance=float(coins[rule][0])),
                            *(Share(score[k]) for k in ("wrong", "tie", "neither")),
                            " or ".join(f"{c:.0%}" for c in map(float, coins[rule])),
                        ]
                        for rule, score in truth.by_rule.items()
                    ],
                )
            )
    text = [
        "The rule that folds two orders into one outcome changes the score: a score "
        "without its rule cannot be compared with another. Two levels of luck stand "
        "beside each rule: of a coin tossed for every verdict, and of one tossed once "
        "per pair, that stays with its answer."
    ]
    return Section("truth", "Is the judge right?", "judgebench", text, tables)


def _coins(rule: str) -> tuple[Fraction, Fraction]:
    """Give the accuracy of a coin per verdict, and of a coin per pair."""
    levels = chance_levels(rule)
    return levels["independent coin"], levels["order-consistent coin"]


def _order(found: Findings) -> Section | None:
    if not found.order:
        return None
    table = Table(
        "Pairs judged in both orders",
        [
            "judge",
            "pairs",
            "same in both orders",
            "first slot won twice",
            "second slot won twice",
            "net lean",
            "p",
            "p, corrected",
        ],
        [
            [
                part.judge,
                part.pairs,
                Share(part.consistency),
                Share(part.first),
                Share(part.second),
                Share(part.fairness, -1.0, 1.0, chance=0.0, signed=True),
                part.test,
                _number(found.adjusted[f"{part.judge}: order"]),
            ]
            for part in found.order
        ],
    )
    text = [
        "The net lean runs from −100 % (the first slot wins every pair) to +100 % (the "
        "second does). A judge can be free of lean and inconsistent all the same. p is "
        "the exact probability of a lean this strong if either slot were as likely to "
        "gain; corrected for all tests of this report by Holm's method."
    ]
    return Section("order", "Does the order matter?", "order", text, [table])


def _leans(found: Findings) -> Section | None:
    if not found.leans:
        return None
    table = Table(
        "Lean to longer answers and to the judge's own",
        ["judge", "lean to", "measured", "difference", "p", "p, corrected"],
        [
            [
                lean.judge,
                lean.fault,
                lean.measured,
                Share(lean.estimate, -0.5, 0.5, chance=0.0, signed=True),
                lean.test,
                _number(found.adjusted[f"{lean.judge}: {lean.fault} {lean.measured}"]),
            ]
            for lean in found.leans
        ],
    )
    text = [
        "Against right answers: accuracy where the better answer is the longer one (or "
        "the judge's own), minus accuracy where it is not. Against the reference: how "
        "much more credit such answers get from the judge than from the reference, on "
        "the same items; the reference may lean as well, and only the excess shows. "
        "That is no proof of a fault: people whose votes scatter more give good "
        "answers less credit than a steadier judge does."
    ]
    return Section("leans", "Length and own answers", "mt_bench", text, [table])


_TIES = {
    "half": "as half a win for each",
    "drop": "not at all",
    "davidson": "as a third outcome (Davidson)",
    "rao-kupper": "as a third outcome (Rao–Kupper)",
}


def _systems(found: Findings) -> Section | None:
    if not found.systems:
        return None
    tables = [_ranking_table(side, found.level) for side in found.systems]
    if found.rank_agreement:
        tables.append(
            Table(
                f"Agreement of rankings with that of {found.against}",
                ["by", "Kendall's tau-b", "systems"],
                [
                    [by, Share(tau, -1.0, 1.0, chance=0.0, percent=False), tau.n]
                    for by, tau in found.rank_agreement.items()
                ],
            )
        )
    for judge in dict.fromkeys(row.judge for row in found.corrected):
        tables.append(
            Table(
                f"Win rates (a tie is half a win): by {judge} on all pairs, by "
                f"{found.against} on some of them, and corrected with both",
                [
                    "system",
                    f"by {judge}",
                    f"by {found.against}",
                    "corrected",
                    "pairs with votes of both",
                ],
                [
                    [
                        row.system,
                        *(
                            Share(share, chance=0.5)
                            for share in (row.judged, row.labelled, row.corrected)
                        ),
                        row.corrected.n,
                    ]
                    for row in found.corrected
                    if row.judge == judge
                ],
            )
        )
    text = [
        f"Bradley–Terry ratings on the Elo scale, mean 1500; ties count "
        f"{_TIES[found.tie_policy]}. The interval is that of a rating against the mean "
        "of all: two systems whose intervals overlap may still be told apart."
    ]
    if found.corrected:
        text.append(
            "A corrected win rate is what people would say on all pairs, estimated by "
            "prediction-powered inference: the judge's verdicts where people gave "
            "none, shifted by what the judge gets wrong where they did. It is right if "
            "the pairs that people judged are a random part of all; if they were "
            "chosen, it is not."
        )
    return Section("systems", "Who is better?", "ranking", text, tables)


def _ranking_table(side: Systems, level: float) -> Table:
    estimates = side.ranking.estimates(scale="elo", level=level)
    places = side.ranking.ranks(level=level)
    shown = [estimates[name] for name in side.ranking.order]
    ends = [x for e in shown for x in (e.value, e.low, e.high) if math.isfinite(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    rows: list[list[Value]] = []
    for name in side.ranking.order:
        rating, place = estimates[name], places[name]
        held = (
            f"{place.low:.0f}–{place.high:.0f}"
            if place.high > place.low
            else f"{place.low:.0f}"
        )
        rows.append([str(name), Rating(rating, low, high), held, rating.n])
    rows += [
        [str(name), f"no rating: {reason}", "", ""]
        for name, reason in side.ranking.left_out.items()
    ]
    return Table(
        f"Systems in the eyes of {side.by}: {counted(side.games, 'usable verdict')}"
        + (f", {side.left_out} left out" if side.left_out else ""),
        ["system", "rating", "possible places", "verdicts"],
        rows,
    )


@dataclass(frozen=True)
class Rating(Share):
    """A rating in Elo, drawn between the lowest and the highest end."""

    def __str__(self) -> str:
        return format(self.estimate, ".0f")


def _plans(found: Findings) -> Section | None:
    if not found.plans:
        return None
    table = Table(
        f"{found.unit.capitalize()}s until the interval is {found.width:g} wide",
        [
            "of what",
            "now",
            "width now",
            f"{found.unit}s now",
            f"{found.unit}s needed",
            "more",
        ],
        [
            [
                plan.what,
                format(plan.estimate, ".2f"),
                f"{plan.estimate.width:.3f}",
                plan.items,
                plan.items_needed,
                max(0, plan.items_needed - plan.items),
            ]
            for plan in found.plans
        ],
    )
    text = [
        "Each further item comes from the same source and gets as many votes, by the "
        "same judges, as those that are there; the plan is as uncertain as the "
        "estimate it starts from. More votes on the items that are there help less "
        "than more items."
    ]
    return Section("plans", "How many more labels?", "your_own_judge", text, [table])


def _checklist(found: Findings) -> Section:
    pairwise = found.kind == "pairwise"
    wanted = [
        (
            True,
            "Numbers of judges, items and verdicts, with dates and versions of the "
            "models (versions are not in these records: add them)",
        ),
        (
            bool(found.agreement),
            "Agreement with its interval, with the level of luck "
            "and at least one coefficient that takes luck off",
        ),
        (bool(found.among), "Agreement of people with each other on the same items"),
        (True, "What became of ties, invalid and missing replies, with their numbers"),
    ]
    if pairwise:
        wanted += [
            (
                bool(found.order),
                "Both orders of showing: consistency, lean and its test, "
                "and the rule that folds two verdicts into one",
            ),
            (
                bool(found.systems) and pairwise,
                "The ranking with intervals, and how ties count in it",
            ),
            (any(x.fault == "length" for x in found.leans), "A check for length"),
            (
                any(x.fault == "own answers" for x in found.leans),
                "A check for answers of the judge's own family",
            ),
        ]
    wanted += [
        (
            found.unit == "cluster",
            "What is independent (questions, conversations, "
            "annotators), if items share something: a column 'cluster'",
        ),
        (False, "The prompt of the judge, its settings, and how replies were read"),
        (False, "How the items were chosen, and who the people were"),
        (False, "The records themselves"),
    ]
    return Section(
        "checklist",
        "What to publish",
        "your_own_judge",
        ["Ticked: this report holds it. The rest is for you to add."],
        items=wanted,
    )


def _method(found: Findings) -> Section:
    text = [
        f"Intervals are {found.level:.0%} intervals. Independent units are "
        + (
            f"the {found.clusters:,} values of 'cluster'."
            if found.unit == "cluster"
            else f"the {found.clusters:,} items; if several items share a question or "
            "a conversation, say so in a column 'cluster', or intervals are too narrow."
        ),
    ]
    if found.clusters < FEW_CLUSTERS:
        text.append(
            f"With fewer than {FEW_CLUSTERS} independent units intervals over clusters "
            "are rough: take them as a hint."
        )
    if found.kind == "pairwise":
        text.append(
            "In agreement and accuracy every verdict is a vote, in whichever order it "
            "was given; two verdicts of one judge on one item belong to one cluster."
        )
    if found.notes:
        text.append("What could not be computed:")
    rows = [[*note.split(": ", 1)] for note in found.notes]
    tables = [Table("Not computed, and why", ["what", "why"], rows)] if rows else []
    return Section("method", "How it was computed", "your_own_judge", text, tables)


# --- Words ----------------------------------------------------------------------------


def _names(judges: Sequence[str]) -> str:
    shown = ", ".join(judges[:_MOST_JUDGES])
    return shown + (", …" if len(judges) > _MOST_JUDGES else "")


def counted(n: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _percent(estimate: Estimate) -> str:
    return f"{estimate:.0%}"


def _points(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return f"undefined ({estimate.reason})"
    return f"{estimate:+.1%}"


def _p(p: float) -> str:
    return f"p = {_number(p)}" if p >= 1e-4 else f"p {_number(p)}"


def _number(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"
