"""What a report computes: from checked records to estimates, and no words yet.

Every number is made by the rooms below (`counts`, `agreement`, `position`, `probes`,
`ranking`, `correlation`, `planning`); what stands here is which of them the records at
hand allow, and who is compared with whom.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab.agreement import (
    brennan_prediger,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
)
from judgelab.agreement.many_raters import Measurement
from judgelab.correction import prediction_powered_mean
from judgelab.correlation import kendall_tau
from judgelab.counts import (
    Crossed,
    WinMatrix,
    crossed_counts,
    tie_counts,
    win_counts,
)
from judgelab.errors import (
    Disconnected,
    JudgelabError,
    Separated,
    UndefinedStatistic,
    ValidationError,
)
from judgelab.estimate import Estimate
from judgelab.intervals import clustered_difference, clustered_proportion
from judgelab.planning import items_for_width
from judgelab.position import (
    lean_test,
    nudge,
    pair_orders,
    position_consistency,
    preference_fairness,
    score_two_orders,
    slot_lean,
)
from judgelab.probes import excess_credit, self_preference_gap, verbosity_gap
from judgelab.ranking import bradley_terry
from judgelab.ranking.result import Ranking
from judgelab.significance import Test, holm
from judgelab.verdict import Rule, Verdict

if TYPE_CHECKING:
    import pandas as pd

Ties = Literal["kept", "left out"]
Kind = Literal["pairwise", "ratings"]
TiePolicy = Literal["half", "drop", "davidson", "rao-kupper"]

MOST_CATEGORIES = 40
"""Categories that get a row each; the rest are counted and named as left out."""

FEWEST_TO_CORRECT = 10
"""Pairs with, and without, votes of people that a corrected win rate rests on."""

MOST_PAIRS = 45
"""Pairs of judges that get a row each when there is nothing to measure them against."""


@dataclass(frozen=True)
class Judge:
    """What one judge said, and how often it said nothing of use."""

    name: str
    verdicts: int
    items: int
    rates: Mapping[str, Estimate]
    """Shares of TIE, INVALID and MISSING among the verdicts; empty for ratings."""
    labels: Mapping[str, int]
    both_orders: int
    one_order: int
    """Pairs of answers with a record in both orders, and in one only."""


@dataclass(frozen=True)
class Order:
    """What the order of showing does to one judge, over pairs judged in both orders."""

    judge: str
    pairs: int
    units: int
    """Independent ones: items, or clusters of them."""
    consistency: Estimate
    first: Estimate
    second: Estimate
    fairness: Estimate
    nudge: Estimate
    test: Test


@dataclass(frozen=True)
class Agreement:
    """How often the votes of two sides are the same, and how much of that is luck."""

    one: str
    two: str
    ties: Ties
    share: Estimate
    by_luck: float
    coefficients: Mapping[str, Estimate]
    left_out: int
    """Pairs of votes with a vote that could not be used under this policy."""
    units: Sequence[Any] = field(repr=False)
    """The clusters; with how many agreeing and how many pairs of votes in each."""
    same: npt.NDArray[np.float64] = field(repr=False, compare=False)
    met: npt.NDArray[np.float64] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Truth:
    """How often a judge names the better answer, where that is known."""

    judge: str
    units: int
    """Independent ones: items, or clusters of them."""
    shares: Mapping[str, Estimate]
    """Right, wrong, tie and unusable, per verdict; they add up to 1."""
    by_rule: Mapping[str, Mapping[str, Estimate]]
    """The same once a rule has folded both orders; empty without both orders."""
    by_category: Mapping[str, Estimate]
    """The share of right verdicts in each category."""


@dataclass(frozen=True)
class Lean:
    """Whether something other than quality draws the judge's votes."""

    judge: str
    fault: Literal["length", "own answers"]
    measured: Literal["against right answers", "against the reference"]
    estimate: Estimate
    test: Test


@dataclass(frozen=True)
class Systems:
    """Whose answers are better in the eyes of one side."""

    by: str
    ranking: Ranking
    games: int
    left_out: int
    clusters: int


@dataclass(frozen=True)
class Corrected:
    """How often a system wins, if people had judged all of its pairs."""

    judge: str
    system: str
    judged: Estimate
    """Mean credit from the judge, on all pairs."""
    labelled: Estimate
    """Mean credit from the reference, on the pairs that it judged."""
    corrected: Estimate
    """Mean credit from the reference on all pairs, estimated with the judge's help."""


@dataclass(frozen=True)
class Plan:
    """How many units an interval of the wanted width would need."""

    what: str
    estimate: Estimate
    needed: int
    items: int
    """The independent units that are there: items, or clusters of them."""
    items_needed: int
    """As many of these, with as many votes on each as now."""


@dataclass(frozen=True)
class Findings:
    """Everything that was computed, and from which choices."""

    kind: Kind
    records: int
    items: int
    unit: str
    """What is independent: ``"item"``, or what ``"cluster"`` says."""
    clusters: int
    judges: Sequence[Judge]
    tested: Sequence[str]
    reference: Sequence[str]
    against: str | None
    scale: Sequence[Any]
    level: float
    width: float
    tie_policy: TiePolicy
    order: Sequence[Order] = ()
    agreement: Sequence[Agreement] = ()
    among: Sequence[Agreement] = ()
    """Agreement within the reference: people with people."""
    beside: Mapping[tuple[str, Ties], Estimate] = field(default_factory=dict)
    """Agreement with the reference minus agreement within it, same clusters."""
    alpha: Mapping[str, Estimate] = field(default_factory=dict)
    categories: Mapping[str, Sequence[tuple[str, Agreement]]] = field(
        default_factory=dict
    )
    categories_left_out: int = 0
    truth: Sequence[Truth] = ()
    leans: Sequence[Lean] = ()
    systems: Sequence[Systems] = ()
    rank_agreement: Mapping[str, Estimate] = field(default_factory=dict)
    corrected: Sequence[Corrected] = ()
    adjusted: Mapping[str, float] = field(default_factory=dict)
    """Holm's p-values of all tests for a fault, over all judges."""
    plans: Sequence[Plan] = ()
    notes: Sequence[str] = ()
    """What could not be computed although the columns are there, and why."""


def find_judges(
    names: Sequence[str], kinds: Mapping[str, str], wanted: str | Sequence[str]
) -> list[str]:
    """Which judges are meant by a name, a pattern or a kind?

    Parameters
    ----------
    names : sequence of str
        All judges of the records.
    kinds : mapping of str to str
        Judge → kind, where the records have such a column.
    wanted : str or sequence of str
        Names of judges, patterns such as ``"expert_*"``, or kinds of judge.

    Raises
    ------
    ValidationError
        If something fits nobody; the message lists who there is.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> find_judges(["ann", "bob", "gpt"], {}, ["ann", "b*"])
    ['ann', 'bob']
    """
    found: list[str] = []
    for word in [wanted] if isinstance(wanted, str) else wanted:
        fits = [name for name in names if name == word]
        fits = fits or [name for name in names if kinds.get(name) == word]
        if not fits and "*" in word:
            fits = [name for name in names if fnmatch.fnmatchcase(name, word)]
        if not fits:
            have = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            more = sorted(set(kinds.values()))
            raise ValidationError(
                f"no judge is called {word!r}; there are: {have}"
                + (f"; kinds of judge: {', '.join(more)}" if more else "")
                + ". A pattern such as 'expert_*' names several"
            )
        found += fits
    return list(dict.fromkeys(found))


def measure(
    records: pd.DataFrame,
    *,
    kind: Kind,
    against: str | Sequence[str] | None,
    judges: str | Sequence[str] | None,
    own: Mapping[str, str] | None,
    rules: Sequence[Rule | str],
    scale: Sequence[Any] | None,
    tie_policy: TiePolicy,
    width: float,
    level: float,
) -> Findings:
    """Compute everything that these records allow.

    Parameters
    ----------
    records : pandas.DataFrame
        Checked records; names of judges are strings.
    kind : {"pairwise", "ratings"}
        Which of the two.
    against, judges, own, rules, scale, tie_policy, width, level
        As in `judgelab.report`.

    Returns
    -------
    Findings

    Notes
    -----
    Chapter: *Your own judge*.
    """
    names = sorted(records["judge"].unique())
    kinds = (
        dict(zip(records["judge"], records["kind"].astype(str), strict=True))
        if "kind" in records
        else {}
    )
    reference = find_judges(names, kinds, against) if against is not None else []
    tested = [name for name in names if name not in reference]
    if judges is not None:
        tested = find_judges(names, kinds, judges)
        if both := [name for name in tested if name in reference]:
            raise ValidationError(
                f"{both[:5]} are to be measured and to be the reference; choose"
            )
        records = records[records["judge"].isin([*tested, *reference])]
        names = sorted(records["judge"].unique())
    if against is not None and not tested:
        raise ValidationError(
            f"{against!r} names every judge; nobody is left to be measured"
        )
    if own is not None and (strange := sorted(set(own) - set(names))):
        raise ValidationError(
            f"own names {strange[:5]}, who are no judges; there are: "
            f"{', '.join(names[:10])}"
        )
    unit = "cluster" if "cluster" in records else "item"
    asked = _Asked(
        records, kind, tested, reference, unit, tuple(scale or ()), level, []
    )
    order = _each(asked, "order", tested, lambda j: _order(asked, j))
    crossed, among, beside = _agreements(asked, against)
    by_category, skipped = _by_category(asked, against)
    truth = _each(asked, "right answers", tested, lambda j: _truth(asked, j, rules))
    leans = _leans(asked, own or {})
    systems = _systems(asked, against, tie_policy)
    findings = Findings(
        kind=kind,
        records=len(records),
        items=records["item"].nunique(),
        unit=unit,
        clusters=records[unit].nunique(),
        judges=[_judge(asked, name) for name in names],
        tested=tested,
        reference=reference,
        against=_group_name(against),
        scale=asked.scale,
        level=level,
        width=width,
        tie_policy=tie_policy,
        order=order,
        agreement=crossed,
        among=among,
        beside=beside,
        alpha=_alphas(asked),
        categories=by_category,
        categories_left_out=skipped,
        truth=truth,
        leans=leans,
        systems=systems,
        rank_agreement=_rank_agreement(systems, _group_name(against)),
        corrected=[row for judge in tested for row in _corrected(asked, judge)],
        adjusted=_adjusted(order, leans),
        plans=_plans(crossed, order, truth, width),
        notes=asked.notes,
    )
    return findings


def judges_of(records: pd.DataFrame, kind: Kind, level: float = 0.95) -> list[Judge]:
    """Say of every judge what it said, and how often.

    Notes
    -----
    Chapter: *Your own judge*.
    """
    names = sorted(records["judge"].unique())
    asked = _Asked(records, kind, names, [], "item", (), level, [])
    return [_judge(asked, name) for name in names]


@dataclass(frozen=True)
class _Asked:
    """The records and what was asked of them, handed from part to part."""

    records: pd.DataFrame
    kind: Kind
    tested: Sequence[str]
    reference: Sequence[str]
    unit: str
    scale: tuple[Any, ...]
    level: float
    notes: list[str]

    @property
    def labels(self) -> Sequence[Any] | None:
        """The scale of ratings; verdicts have theirs."""
        return None if self.kind == "pairwise" else self.scale

    def of(self, judge: str) -> pd.DataFrame:
        return self.records[self.records["judge"] == judge]

    def cannot(self, what: str, error: Exception) -> None:
        self.notes.append(f"{what}: {error}")


def _group_name(against: str | Sequence[str] | None) -> str | None:
    if against is None or isinstance(against, str):
        return against
    return ", ".join(against)


def _each(asked: _Asked, what: str, judges: Sequence[str], part: Any) -> list[Any]:
    """Compute a part for every judge that has it; say for whom it does not exist."""
    found = []
    for judge in judges:
        try:
            result = part(judge)
        except UndefinedStatistic as error:
            asked.cannot(f"{judge}, {what}", error)
            continue
        if result is not None:
            found.append(result)
    return found


def _judge(asked: _Asked, name: str) -> Judge:
    frame = asked.of(name)
    value = "verdict" if asked.kind == "pairwise" else "label"
    labels = {str(k): int(v) for k, v in frame[value].value_counts().items()}
    rates = {}
    if asked.kind == "pairwise":
        rates = {
            word: clustered_proportion(
                *_per_cluster(frame, frame["verdict"] == word), level=asked.level
            )
            for word in ("TIE", "INVALID", "MISSING")
        }
    both = one = 0
    if "swapped" in frame:
        sizes = frame.groupby(_pair(frame))["swapped"].nunique()
        both, one = int((sizes == 2).sum()), int((sizes < 2).sum())
    return Judge(name, len(frame), frame["item"].nunique(), rates, labels, both, one)


def _pair(frame: pd.DataFrame) -> list[str]:
    return ["item", *(["trial"] if "trial" in frame else [])]


def _per_cluster(
    frame: pd.DataFrame, hit: pd.Series[bool]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Count hits and rows per cluster: the unit is the item unless clusters are told.

    For a share of one judge the item is right as well: its two orders, or trials.
    """
    unit = "cluster" if "cluster" in frame else "item"
    groups = hit.astype(float).groupby(frame[unit].to_numpy(), sort=False)
    return np.asarray(groups.sum(), float), np.asarray(groups.size(), float)


def _order(asked: _Asked, judge: str) -> Order | None:
    """Measure the order of showing on the pairs that have a record in both orders."""
    frame = asked.of(judge)
    if asked.kind != "pairwise" or "swapped" not in frame:
        return None
    complete = frame.groupby(_pair(frame))["swapped"].transform("nunique") == 2
    if not complete.any():
        return None
    pairs = pair_orders(frame[complete])
    units = (
        pairs["item"] if asked.unit == "item" else pairs["item"].map(_clusters(frame))
    )
    table = _order_tables(pairs, units.to_numpy())
    level = asked.level
    return Order(
        judge=judge,
        pairs=len(pairs),
        units=units.nunique(),
        consistency=position_consistency(table, level=level),
        first=slot_lean(table, "first", level=level),
        second=slot_lean(table, "second", level=level),
        fairness=preference_fairness(table, level=level),
        nudge=nudge(table, level=level),
        test=lean_test(table, kind="lenient"),
    )


def _clusters(frame: pd.DataFrame) -> dict[Any, Any]:
    return dict(zip(frame["item"], frame["cluster"], strict=True))


def _order_tables(
    pairs: pd.DataFrame, units: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Count first × second verdict: one table, or one per unit that repeats."""
    _, unit = np.unique(units, return_inverse=True)
    count = int(unit.max()) + 1
    if count == len(pairs):
        unit, count = np.zeros(len(pairs), int), 1
    tables = np.zeros((count, len(Verdict), len(Verdict)), np.int64)
    np.add.at(tables, (unit, pairs["first"].to_numpy(), pairs["second"].to_numpy()), 1)
    return tables[0] if count == 1 else tables


_FAMILY = {
    "Cohen's kappa": cohen_kappa,
    "Scott's pi": scott_pi,
    "Gwet's AC1": gwet_ac1,
    "Brennan–Prediger": brennan_prediger,
}


def _compared(
    asked: _Asked, crossed: Crossed, names: tuple[str, str], ties: Ties
) -> Agreement:
    """Measure how far two sides agree whose votes were crossed."""
    pairwise = asked.kind == "pairwise"
    units, tables = crossed
    every = float(tables.sum())
    if pairwise:
        kept = 3 if ties == "kept" else 2
        tables = tables[:, :kept, :kept]
    used = np.asarray(tables.any(axis=(1, 2)))
    tables = tables[used]
    if not used.any():
        raise UndefinedStatistic(
            f"no two usable votes of {names[0]} and {names[1]} meet (ties {ties})"
        )
    options: dict[str, Any] = {"level": asked.level, "undefined": "nan"}
    total = tables.sum(axis=0)
    if pairwise:
        # "A" and "B" only name the slots: no coefficient may depend on who is which.
        options["symmetric"] = True
        turn = [1, 0, 2][: len(total)]
        total = (total + total[np.ix_(turn, turn)]) / 2
    margins = total.sum(axis=1) @ total.sum(axis=0)
    # One cluster per pair of votes: a plain table, whose interval is Wilson's.
    single = bool((tables.sum(axis=(1, 2)) == 1).all())
    stack = tables.sum(axis=0) if single else tables
    coefficients = {name: f(stack, **options) for name, f in _FAMILY.items()}
    if not pairwise and len(asked.scale) > 2:
        coefficients["Cohen's kappa, quadratic weights"] = cohen_kappa(
            stack, weights="quadratic", **options
        )
    return Agreement(
        one=names[0],
        two=names[1],
        ties=ties,
        share=percent_agreement(stack, **options),
        by_luck=float(margins / total.sum() ** 2),
        coefficients=coefficients,
        left_out=round(every - float(tables.sum())),
        units=[unit for unit, kept in zip(units, used, strict=True) if kept],
        same=tables.trace(axis1=1, axis2=2),
        met=tables.sum(axis=(1, 2)),
    )


def _policies(asked: _Asked) -> tuple[Ties, ...]:
    return ("kept", "left out") if asked.kind == "pairwise" else ("kept",)


def _agreements(
    asked: _Asked, against: str | Sequence[str] | None
) -> tuple[list[Agreement], list[Agreement], dict[tuple[str, Ties], Estimate]]:
    """Every judge with the reference, the reference with itself, and the gap."""
    crossed: list[Agreement] = []
    beside: dict[tuple[str, Ties], Estimate] = {}
    group = _group_name(against) or ""
    if not asked.reference:
        judges = list(asked.tested)
        pairs = [(a, b) for k, a in enumerate(judges) for b in judges[k + 1 :]]
        for a, b in pairs[:MOST_PAIRS]:
            crossed += _crossed(asked, [a], [b], (a, b))
        if len(pairs) > MOST_PAIRS:
            asked.notes.append(
                f"{len(pairs) - MOST_PAIRS} of {len(pairs)} pairs of judges are not "
                "shown; name those in question with `against`"
            )
        return crossed, [], beside
    people = list(asked.reference)
    among = _crossed(asked, people, people, (group, group)) if people[1:] else []
    for judge in asked.tested:
        mine = _crossed(asked, [judge], people, (judge, group))
        for one in mine:
            for other in among:
                if one.ties == other.ties:
                    beside[judge, one.ties] = _gap(one, other, asked.level)
        crossed += mine
    return crossed, among, beside


def _crossed(
    asked: _Asked, one: Sequence[str], two: Sequence[str], names: tuple[str, str]
) -> list[Agreement]:
    """Cross two sides once, and measure their agreement under every policy on ties."""
    found = []
    try:
        crossed = crossed_counts(
            asked.records, one, two, scale=asked.labels, cluster=asked.unit
        )
        for ties in _policies(asked):
            found.append(_compared(asked, crossed, names, ties))
    except (UndefinedStatistic, ValidationError) as error:
        asked.cannot(f"agreement of {names[0]} with {names[1]}", error)
    return found


def _gap(one: Agreement, other: Agreement, level: float) -> Estimate:
    """Subtract two agreements that rest on the same clusters."""
    units = list(dict.fromkeys([*one.units, *other.units]))
    place = {unit: k for k, unit in enumerate(units)}
    counts = []
    for side in (one, other):
        rows = [place[unit] for unit in side.units]
        for values in (side.same, side.met):
            full = np.zeros(len(units))
            full[rows] = values
            counts.append(full)
    return clustered_difference(*counts, level=level)


def _alphas(asked: _Asked) -> dict[str, Estimate]:
    """Krippendorff's alpha: of the reference, and of everyone together."""
    groups = {"all judges": [*asked.tested, *asked.reference]}
    if len(asked.reference) > 1:
        groups = {"the reference alone": list(asked.reference), **groups}
    if asked.kind == "pairwise":
        scale: Sequence[Any] = [v.name for v in list(Verdict)[:3]]
        levels: list[Measurement] = ["nominal"]
    else:
        scale = asked.scale
        levels = ["nominal", "ordinal"] if len(scale) > 2 else ["nominal"]
    result = {}
    for who, judges in groups.items():
        counts, units = _votes_per_item(asked, judges, scale)
        for measurement in levels:
            result[f"{who}, {measurement}"] = krippendorff_alpha(
                counts,
                level=measurement,
                scale=scale,
                counted=True,
                clusters=None if asked.unit == "item" else units,
                coverage=asked.level,
                undefined="nan",
            )
    return result


def _votes_per_item(
    asked: _Asked, judges: Sequence[str], scale: Sequence[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Count labels per item, and name its cluster; a judge counts once per item."""
    frame = asked.records[asked.records["judge"].isin(judges)]
    frame = frame.drop_duplicates(["judge", "item"])
    labels = _answers(frame) if asked.kind == "pairwise" else frame["label"]
    item, items = frame["item"].factorize()
    table = np.zeros((len(items), len(scale)), np.int64)
    for column, label in enumerate(scale):
        np.add.at(table[:, column], item[(labels == label).to_numpy()], 1)
    units = np.zeros(len(items), np.intp)
    units[item] = frame[asked.unit].factorize()[0]
    return table, units


def _answers(frame: pd.DataFrame) -> pd.Series[Any]:
    """Verdicts on answers: turned back where the slots were exchanged."""
    verdict = frame["verdict"]
    if "swapped" not in frame:
        return verdict
    other = verdict.map({"A": "B", "B": "A"}).fillna(verdict)
    return verdict.where(~frame["swapped"].astype(bool), other)


def _by_category(
    asked: _Asked, against: str | Sequence[str] | None
) -> tuple[dict[str, list[tuple[str, Agreement]]], int]:
    """Agreement with the reference per category, ties left out where there are any."""
    records = asked.records
    if "category" not in records:
        return {}, 0
    category_of = records["category"].astype(str)
    shown = _largest(category_of)
    group, found = _group_name(against) or "", {}
    for judge in asked.tested if asked.reference else ():
        rows = []
        for category in shown:
            frame = records[category_of == category]
            try:
                crossed = crossed_counts(
                    frame,
                    [judge],
                    asked.reference,
                    scale=asked.labels,
                    cluster=asked.unit,
                )
                ties = _policies(asked)[-1]
                cell = _compared(asked, crossed, (judge, group), ties)
            except (UndefinedStatistic, ValidationError) as error:
                asked.cannot(f"{judge} in category {category}", error)
                continue
            rows.append((category, cell))
        if rows:
            found[judge] = rows
    return found, category_of.nunique() - len(shown)


def _truth(asked: _Asked, judge: str, rules: Sequence[Rule | str]) -> Truth | None:
    """Mark the verdicts against the better answers, one by one and folded by rules."""
    frame = asked.of(judge)
    if asked.kind != "pairwise" or "gold" not in frame:
        return None
    frame = frame[frame["gold"].isin(["A", "B"])]
    if frame.empty:
        raise UndefinedStatistic("'gold' names neither A nor B on any of its items")
    said = _answers(frame)
    decided = said.isin(["A", "B"])
    hits = {
        "right": said == frame["gold"],
        "wrong": decided & (said != frame["gold"]),
        "tie": said == "TIE",
        "unusable": said.isin(["INVALID", "MISSING"]),
    }
    shares = {
        name: clustered_proportion(*_per_cluster(frame, hit), level=asked.level)
        for name, hit in hits.items()
    }
    by_rule = {}
    if "swapped" in frame:
        complete = frame.groupby(_pair(frame))["swapped"].transform("nunique") == 2
        pairs = pair_orders(frame[complete])
        # The rules speak of two verdicts; trials of one item are not independent.
        if len(pairs) and pairs["item"].is_unique:
            tables = np.zeros((2, len(Verdict), len(Verdict)), np.int64)
            gold = (pairs["gold"] == "B").to_numpy(int)
            np.add.at(tables, (gold, pairs["first"], pairs["second"]), 1)
            by_rule = {
                rule if isinstance(rule, str) else rule.name: score_two_orders(
                    tables, rule=rule, level=asked.level
                )
                for rule in rules
            }
    by_category = {}
    if "category" in frame:
        category_of = frame["category"].astype(str)
        for category in _largest(category_of):
            rows = frame[category_of == category]
            by_category[category] = clustered_proportion(
                *_per_cluster(rows, hits["right"][rows.index]), level=asked.level
            )
    return Truth(judge, frame[asked.unit].nunique(), shares, by_rule, by_category)


def _largest(categories: pd.Series[str]) -> list[str]:
    """Name the largest categories, in alphabetical order."""
    return sorted(categories.value_counts().index[:MOST_CATEGORIES])


def _leans(asked: _Asked, own: Mapping[str, str]) -> list[Lean]:
    """Look for a lean to longer answers and to the judge's own."""
    if asked.kind != "pairwise":
        return []
    found = []
    for judge in asked.tested:
        for fault, side in (
            ("length", _longer(asked.of(judge))),
            ("own answers", _own(asked.of(judge), own.get(judge))),
        ):
            if side is None:
                continue
            for measure_it in (_lean_by_truth, _lean_by_reference):
                try:
                    lean = measure_it(asked, judge, fault, side)
                except UndefinedStatistic as error:
                    asked.cannot(f"{judge}, lean to {fault}", error)
                    continue
                if lean is not None:
                    found.append(lean)
    return found


def _longer(frame: pd.DataFrame) -> pd.Series[Any] | None:
    """+1 where answer A is the longer one, −1 where B is; per record."""
    if "log_length" in frame:
        return _sign(frame["log_length"].astype(float))
    if not {"length_a", "length_b"} <= {*frame.columns}:
        return None
    shown = _sign(frame["length_a"].astype(float) - frame["length_b"].astype(float))
    return shown.where(~_turned(frame), -shown)


def _own(frame: pd.DataFrame, model: str | None) -> pd.Series[Any] | None:
    """+1 where the judge wrote answer A, −1 where it wrote B; per record."""
    if model is None and "own" in frame:
        return _sign(frame["own"].astype(float))
    if model is None or not {"model_a", "model_b"} <= {*frame.columns}:
        return None
    shown = (frame["model_a"] == model).astype(float) - (
        frame["model_b"] == model
    ).astype(float)
    return shown.where(~_turned(frame), -shown)


def _sign(values: pd.Series[float]) -> pd.Series[float]:
    return values.gt(0).astype(float) - values.lt(0).astype(float)


def _turned(frame: pd.DataFrame) -> pd.Series[bool]:
    import pandas as pd

    if "swapped" in frame:
        return frame["swapped"].astype(bool)
    return pd.Series(False, index=frame.index)


def _credit(frame: pd.DataFrame) -> pd.Series[float]:
    """Credit of answer A: 1 for a win, a half for a tie; unusable verdicts are nan."""
    return _answers(frame).map({"A": 1.0, "TIE": 0.5, "B": 0.0})


def _one_per_item(frame: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """Average what is known of each item over its records."""
    keys = ["item", *(["cluster"] if "cluster" in frame else [])]
    wide = frame[keys].assign(**columns)
    return wide.groupby(keys, as_index=False, sort=False).mean().dropna()


def _lean_by_truth(
    asked: _Asked, judge: str, fault: Any, side: pd.Series[Any]
) -> Lean | None:
    frame = asked.of(judge)
    if "gold" not in frame:
        return None
    better = frame["gold"].map({"A": 1.0, "B": -1.0})
    credit = _credit(frame)
    right = credit.where(better > 0, 1 - credit)
    items = _one_per_item(frame, right=right, agrees=better * side)
    items = items[items["agrees"] != 0]
    probe = verbosity_gap if fault == "length" else self_preference_gap
    estimate, test = probe(items["right"], items["agrees"] > 0, level=asked.level)
    return Lean(judge, fault, "against right answers", estimate, test)


def _lean_by_reference(
    asked: _Asked, judge: str, fault: Any, side: pd.Series[Any]
) -> Lean | None:
    if not asked.reference:
        return None
    frame = asked.of(judge)
    people = asked.records[asked.records["judge"].isin(asked.reference)]
    theirs = _one_per_item(people, reference=_credit(people))
    items = _one_per_item(frame, credit=_credit(frame), side=side)
    items = items[items["side"] != 0].merge(theirs[["item", "reference"]], on="item")
    if items.empty:
        raise UndefinedStatistic("no such item has a vote of the reference")
    forward = items["side"] > 0
    estimate, test = excess_credit(
        items["credit"].where(forward, 1 - items["credit"]),
        items["reference"].where(forward, 1 - items["reference"]),
        clusters=items[asked.unit],
        null=f"no more lean to {fault} than the reference has",
        level=asked.level,
    )
    return Lean(judge, fault, "against the reference", estimate, test)


def _corrected(asked: _Asked, judge: str) -> list[Corrected]:
    """Correct the win rates by one judge with the votes of people on some pairs."""
    needed = {"model_a", "model_b"}
    columns = {*asked.records.columns}
    if asked.kind != "pairwise" or not asked.reference or not needed <= columns:
        return []
    frame = asked.of(judge)
    turned = _turned(frame)
    pair = frame.assign(
        a=frame["model_a"].where(~turned, frame["model_b"]),
        b=frame["model_b"].where(~turned, frame["model_a"]),
    ).drop_duplicates("item")[["item", "a", "b"]]
    people = asked.records[asked.records["judge"].isin(asked.reference)]
    theirs = _one_per_item(people, people=_credit(people))[["item", "people"]]
    items = _one_per_item(frame, credit=_credit(frame)).merge(pair, on="item")
    items = items.merge(theirs, on="item", how="left")
    found = []
    for system in sorted({*items["a"], *items["b"]}):
        own = items[(items["a"] == system) | (items["b"] == system)]
        known = own["people"].notna()
        if min(known.sum(), (~known).sum()) < FEWEST_TO_CORRECT:
            continue
        first = own["a"] == system
        judged = own["credit"].where(first, 1 - own["credit"])
        labels = own["people"].where(first, 1 - own["people"])
        units = own[asked.unit]
        try:
            corrected = prediction_powered_mean(
                labels[known],
                judged[known],
                judged[~known],
                clusters=(units[known], units[~known]),
                level=asked.level,
            )
        except UndefinedStatistic as error:
            asked.cannot(f"win rate of {system} by {judge}, corrected", error)
            continue
        by_judge, by_people = (
            clustered_proportion(
                np.asarray(credit.groupby(units[credit.index]).sum(), float),
                np.asarray(credit.groupby(units[credit.index]).size(), float),
                level=asked.level,
            )
            for credit in (judged, labels[known])
        )
        found.append(Corrected(judge, system, by_judge, by_people, corrected))
    return found


def _systems(
    asked: _Asked, against: str | Sequence[str] | None, tie_policy: TiePolicy
) -> list[Systems]:
    """Rank the systems by the votes of every judge, and of the reference."""
    needed = {"model_a", "model_b"}
    if asked.kind != "pairwise" or not needed <= {*asked.records.columns}:
        return []
    sides: list[tuple[str, Sequence[str]]] = [(j, [j]) for j in asked.tested]
    if asked.reference:
        sides.append((_group_name(against) or "", asked.reference))
    found = []
    for name, judges in sides:
        frame = asked.records[asked.records["judge"].isin(judges)]
        try:
            found.append(_ranked(asked, name, frame, tie_policy))
        except (Separated, Disconnected):
            asked.cannot(f"ranking by {name}", _NO_SCALE)
        except JudgelabError as error:
            asked.cannot(f"ranking by {name}", error)
    return found


_NO_SCALE = UndefinedStatistic(
    "some systems won or lost every comparison with the others, or never met them; no "
    "finite gap explains that: it takes more comparisons between them"
)


def _ranked(
    asked: _Asked, name: str, frame: pd.DataFrame, tie_policy: TiePolicy
) -> Systems:
    unit, units = frame[asked.unit].factorize()
    players: list[Hashable] = sorted({*frame["model_a"], *frame["model_b"]})
    verdict = frame["verdict"]
    won, lost = (verdict == "A").to_numpy(), (verdict == "B").to_numpy()
    tied = (verdict == "TIE").to_numpy()
    first, second = frame["model_a"].to_numpy(), frame["model_b"].to_numpy()
    enough = len(units) >= max(len(players), 2)
    clusters = unit if enough else None

    def of(rows: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        return None if clusters is None else clusters[rows]

    rows = np.concatenate([np.flatnonzero(won), np.flatnonzero(lost)])
    winners = np.concatenate([first[won], second[lost]])
    losers = np.concatenate([second[won], first[lost]])
    if not len(rows) + tied.sum():
        raise UndefinedStatistic("none of the verdicts can be used")
    wins = win_counts(winners, losers, players=players, clusters=of(rows))
    ties = tie_counts(first[tied], second[tied], players=players, clusters=of(tied))
    if clusters is not None:
        # The last cluster may hold no win, or no tie: both need one shape.
        wins, ties = (_of_shape(x, len(units), len(players)) for x in (wins, ties))
    ranking = bradley_terry(
        WinMatrix(players, wins, ties, 0), tie_policy=tie_policy, unidentified="largest"
    )
    # Without a spread there is no interval: that shows only when it is asked for.
    assert ranking.covariance.size
    usable = int(won.sum() + lost.sum() + tied.sum())
    return Systems(name, ranking, usable, len(frame) - usable, len(units))


def _of_shape(counts: Any, clusters: int, n: int) -> Any:
    from scipy import sparse

    return sparse.coo_array((counts.data, counts.coords), shape=(clusters, n, n))


def _rank_agreement(
    systems: Sequence[Systems], reference: str | None
) -> dict[str, Estimate]:
    """Kendall's tau of every judge's ranking with that of the reference (the last)."""
    result: dict[str, Estimate] = {}
    if len(systems) < 2 or systems[-1].by != reference:
        return result
    last = systems[-1].ranking
    for side in systems[:-1]:
        shared = [p for p in side.ranking.players if p in last.players]
        if len(shared) < 3:
            continue
        ratings = [
            [r.ratings[r.players.index(p)] for p in shared]
            for r in (side.ranking, last)
        ]
        result[side.by] = kendall_tau(*ratings)
    return result


def _adjusted(order: Sequence[Order], leans: Sequence[Lean]) -> dict[str, float]:
    tests = {f"{part.judge}: order": part.test for part in order}
    tests |= {f"{x.judge}: {x.fault} {x.measured}": x.test for x in leans}
    return holm({name: test.p_value for name, test in tests.items()})


def _plans(
    agreement: Sequence[Agreement],
    order: Sequence[Order],
    truth: Sequence[Truth],
    width: float,
) -> list[Plan]:
    """For the quantities people decide by: how many units until the wanted width?"""
    wanted: list[tuple[str, Estimate, int]] = []
    for a in agreement:
        what = f"agreement of {a.one} with {a.two}, ties {a.ties}"
        wanted += [
            (what, a.share, len(a.units)),
            (
                f"kappa of {a.one} with {a.two}, ties {a.ties}",
                a.coefficients["Cohen's kappa"],
                len(a.units),
            ),
        ]
    wanted += [(f"consistency of {o.judge}", o.consistency, o.units) for o in order]
    wanted += [(f"accuracy of {t.judge}", t.shares["right"], t.units) for t in truth]
    plans = []
    for what, estimate, items in wanted:
        try:
            needed = items_for_width(estimate, width)
        except UndefinedStatistic:
            continue
        in_items = -(-items * needed // estimate.n)
        plans.append(Plan(what, estimate, needed, items, in_items))
    return plans
