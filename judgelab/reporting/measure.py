"""What a report computes: from checked records to estimates, and no words yet.

Every number is made by the rooms below (`counts`, `agreement`, `position`, `probes`,
`ranking`, `correlation`, `planning`); what stands here is which of them the records at
hand allow, and who is compared with whom.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
    WinMatrix,
    contingency_table,
    crossed_counts,
    encode,
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
    units: npt.NDArray[np.intp] = field(repr=False, compare=False)
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
        From `prepared`.
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
    kinds = kinds_of(records)
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
    if kind == "ratings":
        answer = encode(records["label"], scale or (), name="label")
        records = records.assign(answer=answer)
    asked = _Asked(
        records, kind, tested, reference, unit, tuple(scale or ()), level, []
    )
    pairs = {judge: _both_orders(asked, judge) for judge in tested}
    order = _each(asked, "order", tested, lambda j: _order(asked, j, pairs[j]))
    met = {judge: _met(asked, [judge], reference) for judge in tested if reference}
    crossed, among, beside = _agreements(asked, against, met)
    by_category, skipped = _by_category(asked, against, met)
    truth = _each(
        asked, "right answers", tested, lambda j: _truth(asked, j, pairs[j], rules)
    )
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


def kinds_of(records: pd.DataFrame) -> dict[str, str]:
    """Say which kind of judge each is, where the records do."""
    if "kind" not in records:
        return {}
    known = records[["judge", "kind"]].drop_duplicates().astype(str)
    return dict(zip(known["judge"], known["kind"], strict=True))


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

    @cached_property
    def by_judge(self) -> dict[str, pd.DataFrame]:
        """The records of each judge."""
        groups = self.records.groupby("judge", sort=False, observed=True)
        return {str(name): frame for name, frame in groups}

    @cached_property
    def people(self) -> pd.DataFrame:
        """The records of the reference."""
        return self.of_judges(self.reference)

    @cached_property
    def unit_of_item(self) -> npt.NDArray[np.intp]:
        """What each item, by its number, belongs to."""
        return self.known_of_item(self.records[self.unit])

    @cached_property
    def credit_of_people(self) -> pd.DataFrame:
        """What the reference gives to answer A of each item, on average."""
        people = self.people
        return _one_per_item(self, people, people=_credit(people))[["item", "people"]]

    @cached_property
    def models_of_item(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Whose answer A and whose answer B are of each item, by its number."""
        frame, turned = self.records, _turned(self.records)
        one, two = (frame[name].cat.codes for name in ("model_a", "model_b"))
        return (
            self.known_of_item(one.where(~turned, two)),
            self.known_of_item(two.where(~turned, one)),
        )

    @cached_property
    def labels(self) -> int:
        """How many labels there are: the verdicts, or those of the scale."""
        return len(Verdict) if self.kind == "pairwise" else len(self.scale)

    def of(self, judge: str) -> pd.DataFrame:
        return self.by_judge[judge]

    def of_judges(self, judges: Sequence[str]) -> pd.DataFrame:
        return self.records[self.records["judge"].isin(judges)]

    def known_of_item(self, codes: pd.Series[int]) -> npt.NDArray[np.intp]:
        """Say of each item, by its number, what its records say."""
        item = self.records["item"].to_numpy()
        of_item = np.full(item.max(initial=-1) + 1, -1, np.intp)
        of_item[item] = codes
        return of_item

    def cannot(self, what: str, error: Exception) -> None:
        self.notes.append(f"{what}: {error}")


def _group_name(against: str | Sequence[str] | None) -> str | None:
    if against is None or isinstance(against, str):
        return against
    *most, last = against or [""]
    return f"{', '.join(most)} and {last}" if most else last


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
    if asked.kind == "ratings":
        given = frame["label"].value_counts()
        labels = {str(label): int(n) for label, n in given.items()}
        return Judge(name, len(frame), frame["item"].nunique(), {}, labels, 0, 0)
    verdict = frame["verdict"].to_numpy()
    counts = np.bincount(verdict, minlength=len(Verdict))
    labels = {v.name: int(counts[v]) for v in Verdict if counts[v]}
    rates = {
        v.name: _share(frame, verdict == v, asked.level)
        for v in (Verdict.TIE, Verdict.INVALID, Verdict.MISSING)
    }
    both = one = 0
    if "swapped" in frame:
        complete = _seen(frame)[1].all(axis=1)
        both, one = int(complete.sum()), int((~complete).sum())
    return Judge(name, len(frame), frame["item"].nunique(), rates, labels, both, one)


def _seen(frame: pd.DataFrame) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Give each pair of answers a number; say in which orders the judge saw it.

    A pair is an item, or a trial of an item.
    """
    import pandas as pd

    pair = frame["item"].to_numpy()
    if "trial" in frame:
        trial, trials = frame["trial"].factorize()
        pair = pair * len(trials) + trial
    pair = pd.factorize(pair)[0]
    seen = np.zeros((pair.max(initial=-1) + 1, 2), bool)
    seen[pair, frame["swapped"].to_numpy(int)] = True
    return pair, seen


def _share(frame: pd.DataFrame, hit: npt.NDArray[np.bool_], level: float) -> Estimate:
    """Estimate a share of one judge's records, over items unless clusters are told.

    For one judge the item is right as a cluster: its two orders, or trials.
    """
    units = frame["cluster" if "cluster" in frame else "item"]
    return _mean(hit, units.to_numpy(), level)


def _both_orders(asked: _Asked, judge: str) -> pd.DataFrame | None:
    """Put the two verdicts on each pair side by side, where both orders were judged."""
    frame = asked.of(judge)
    if asked.kind != "pairwise" or "swapped" not in frame:
        return None
    pair, seen = _seen(frame)
    complete = (seen[:, 0] & seen[:, 1])[pair]
    used = ("judge", "item", "trial", "swapped", "verdict", "gold")
    columns = [name for name in used if name in frame]
    return pair_orders(frame.loc[complete, columns]) if complete.any() else None


def _order(asked: _Asked, judge: str, pairs: pd.DataFrame | None) -> Order | None:
    """Measure the order of showing on the pairs that have a record in both orders."""
    if pairs is None:
        return None
    units = asked.unit_of_item[pairs["item"]]
    table = _order_tables(pairs, units)
    level = asked.level
    return Order(
        judge=judge,
        pairs=len(pairs),
        units=len(np.unique(units)),
        consistency=position_consistency(table, level=level),
        first=slot_lean(table, "first", level=level),
        second=slot_lean(table, "second", level=level),
        fairness=preference_fairness(table, level=level),
        nudge=nudge(table, level=level),
        test=lean_test(table, kind="lenient"),
    )


def _order_tables(
    pairs: pd.DataFrame, units: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Count first × second verdict: one table, or one per unit that repeats."""
    first, second = pairs["first"].to_numpy(), pairs["second"].to_numpy()
    repeated = len(np.unique(units)) < len(pairs)
    return contingency_table(
        first, second, scale=range(len(Verdict)), clusters=units if repeated else None
    )


_FAMILY = {
    "Cohen's kappa": cohen_kappa,
    "Scott's pi": scott_pi,
    "Gwet's AC1": gwet_ac1,
    "Brennan–Prediger": brennan_prediger,
}


def _compared(
    asked: _Asked, crossed: _Votes, names: tuple[str, str], ties: Ties
) -> Agreement:
    """Measure how far two sides agree whose votes were crossed, item by item."""
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
        units=units[used],
        same=tables.trace(axis1=1, axis2=2),
        met=tables.sum(axis=(1, 2)),
    )


def _policies(asked: _Asked) -> tuple[Ties, ...]:
    return ("kept", "left out") if asked.kind == "pairwise" else ("kept",)


_Votes = tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]
"""Items, or clusters, and the votes of two sides that meet on each."""

_Met = _Votes | ValidationError
"""The same of items, or why there are none."""


def _met(asked: _Asked, one: Sequence[str], two: Sequence[str]) -> _Met:
    frame = asked.of_judges([*one, *two])[["judge", "item", "answer"]]
    votes = frame.rename(columns={"answer": "label"})
    try:
        items, tables = crossed_counts(votes, one, two, scale=range(asked.labels))
    except ValidationError as error:
        return error
    return np.array(items, np.intp), tables


def _by_unit(asked: _Asked, met: _Met, chosen: Any = ...) -> _Votes:
    """Add up what meets on the (chosen) items of each cluster."""
    if isinstance(met, ValidationError):
        raise met
    items, tables = met[0][chosen], met[1][chosen]
    if asked.unit == "item":
        return items, tables
    unit = asked.unit_of_item[items]
    order = np.argsort(unit, kind="stable")
    units, start = np.unique(unit[order], return_index=True)
    return units, np.add.reduceat(tables[order], start) if len(units) else tables


def _agreements(
    asked: _Asked, against: str | Sequence[str] | None, met: Mapping[str, _Met]
) -> tuple[list[Agreement], list[Agreement], dict[tuple[str, Ties], Estimate]]:
    """Every judge with the reference, the reference with itself, and the gap."""
    crossed: list[Agreement] = []
    beside: dict[tuple[str, Ties], Estimate] = {}
    group = _group_name(against) or ""
    if not asked.reference:
        judges = list(asked.tested)
        pairs = [(a, b) for k, a in enumerate(judges) for b in judges[k + 1 :]]
        for a, b in pairs[:MOST_PAIRS]:
            crossed += _crossed(asked, _met(asked, [a], [b]), (a, b))
        if len(pairs) > MOST_PAIRS:
            asked.notes.append(
                f"{len(pairs) - MOST_PAIRS} of {len(pairs)} pairs of judges are not "
                "shown; name those in question with `against`"
            )
        return crossed, [], beside
    people = list(asked.reference)
    among = []
    if len(people) > 1:
        among = _crossed(asked, _met(asked, people, people), (group, group))
    for judge in asked.tested:
        mine = _crossed(asked, met[judge], (judge, group))
        for one in mine:
            for other in among:
                if one.ties == other.ties:
                    beside[judge, one.ties] = _gap(one, other, asked.level)
        crossed += mine
    return crossed, among, beside


def _crossed(asked: _Asked, met: _Met, names: tuple[str, str]) -> list[Agreement]:
    """Measure the agreement of two sides under every policy on ties."""
    found = []
    try:
        crossed = _by_unit(asked, met)
        for ties in _policies(asked):
            found.append(_compared(asked, crossed, names, ties))
    except (UndefinedStatistic, ValidationError) as error:
        asked.cannot(f"agreement of {names[0]} with {names[1]}", error)
    return found


def _gap(one: Agreement, other: Agreement, level: float) -> Estimate:
    """Subtract two agreements that rest on the same clusters."""
    units = np.union1d(one.units, other.units)
    counts = []
    for side in (one, other):
        rows = np.searchsorted(units, side.units)
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
                symmetric=asked.kind == "pairwise",
                clusters=None if asked.unit == "item" else units,
                coverage=asked.level,
                undefined="nan",
            )
    return result


def _votes_per_item(
    asked: _Asked, judges: Sequence[str], scale: Sequence[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Count labels per item, and name its cluster; a judge counts once per item."""
    frame = asked.of_judges(judges).drop_duplicates(["judge", "item"])
    k = len(scale)
    item, items = frame["item"].factorize(sort=True)
    answer = frame["answer"].to_numpy()
    usable = answer < k
    table = np.bincount(item[usable] * k + answer[usable], minlength=len(items) * k)
    return table.reshape(-1, k), asked.unit_of_item[items]


def _by_category(
    asked: _Asked, against: str | Sequence[str] | None, met: Mapping[str, _Met]
) -> tuple[dict[str, list[tuple[str, Agreement]]], int]:
    """Agreement with the reference per category, ties left out where there are any."""
    if "category" not in asked.records:
        return {}, 0
    categories = asked.records["category"]
    shown = _largest(categories)
    code_of = {name: code for code, name in enumerate(categories.cat.categories)}
    of_item = asked.known_of_item(categories.cat.codes)
    group, found = _group_name(against) or "", {}
    for judge, crossed in met.items():
        if isinstance(crossed, ValidationError):
            continue
        rows = []
        for category in shown:
            inside = of_item[crossed[0]] == code_of[category]
            try:
                ties = _policies(asked)[-1]
                cell = _compared(
                    asked, _by_unit(asked, crossed, inside), (judge, group), ties
                )
            except UndefinedStatistic as error:
                asked.cannot(f"{judge} in category {category}", error)
                continue
            rows.append((category, cell))
        if rows:
            found[judge] = rows
    return found, categories.nunique() - len(shown)


def _truth(
    asked: _Asked,
    judge: str,
    pairs: pd.DataFrame | None,
    rules: Sequence[Rule | str],
) -> Truth | None:
    """Mark the verdicts against the better answers, one by one and folded by rules."""
    frame = asked.of(judge)
    if asked.kind != "pairwise" or "gold" not in frame:
        return None
    frame = frame[frame["gold"] < Verdict.TIE]
    if frame.empty:
        raise UndefinedStatistic("'gold' names neither A nor B on any of its items")
    said, gold = frame["answer"].to_numpy(), frame["gold"].to_numpy()
    right = said == gold
    hits = {
        "right": right,
        "wrong": (said < Verdict.TIE) & ~right,
        "tie": said == Verdict.TIE,
        "unusable": said > Verdict.TIE,
    }
    shares = {name: _share(frame, hit, asked.level) for name, hit in hits.items()}
    by_rule = {}
    if pairs is not None:
        pairs = pairs[pairs["gold"] < Verdict.TIE]
        # The rules speak of two verdicts; trials of one item are not independent.
        if len(pairs) and pairs["item"].is_unique:
            tables = np.zeros((2, len(Verdict), len(Verdict)), np.int64)
            np.add.at(tables, (pairs["gold"], pairs["first"], pairs["second"]), 1)
            by_rule = {
                rule if isinstance(rule, str) else rule.name: score_two_orders(
                    tables, rule=rule, level=asked.level
                )
                for rule in rules
            }
    by_category = {}
    if "category" in frame:
        for category in _largest(frame["category"]):
            inside = (frame["category"] == category).to_numpy()
            by_category[category] = _share(frame[inside], right[inside], asked.level)
    return Truth(judge, frame[asked.unit].nunique(), shares, by_rule, by_category)


def _largest(categories: pd.Series[Any]) -> list[str]:
    """Name the largest categories, in alphabetical order."""
    counts = categories.value_counts()
    return sorted(counts[counts > 0].index[:MOST_CATEGORIES])


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


_CREDIT = np.array([1.0, 0.0, 0.5, np.nan, np.nan])
"""What each answer, as a code of `Verdict`, is worth to A."""


def _credit(frame: pd.DataFrame) -> pd.Series[float]:
    """Credit of answer A: 1 for a win, a half for a tie; unusable verdicts are nan."""
    import pandas as pd

    return pd.Series(_CREDIT[frame["answer"].to_numpy()], frame.index)


def _one_per_item(
    asked: _Asked, frame: pd.DataFrame, **columns: pd.Series[float]
) -> pd.DataFrame:
    """Average what is known of each item over its records."""
    import pandas as pd

    item, items = frame["item"].factorize()
    means = {"item": items, "unit": asked.unit_of_item[items]}
    for name, values in columns.items():
        known = values.notna().to_numpy()
        total = np.bincount(item[known], values[known], minlength=len(items))
        times = np.bincount(item[known], minlength=len(items))
        means[name] = np.where(times > 0, total / np.maximum(times, 1), np.nan)
    return pd.DataFrame(means).dropna()


def _lean_by_truth(
    asked: _Asked, judge: str, fault: Any, side: pd.Series[Any]
) -> Lean | None:
    frame = asked.of(judge)
    if "gold" not in frame:
        return None
    better = frame["gold"].map({Verdict.A: 1.0, Verdict.B: -1.0})
    credit = _credit(frame)
    right = credit.where(better > 0, 1 - credit)
    items = _one_per_item(asked, frame, right=right, agrees=better * side)
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
    items = _one_per_item(asked, frame, credit=_credit(frame), side=side)
    items = items[items["side"] != 0].merge(asked.credit_of_people, on="item")
    if items.empty:
        raise UndefinedStatistic("no such item has a vote of the reference")
    forward = items["side"] > 0
    estimate, test = excess_credit(
        items["credit"].where(forward, 1 - items["credit"]),
        items["people"].where(forward, 1 - items["people"]),
        clusters=items["unit"],
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
    items = _one_per_item(asked, frame, credit=_credit(frame))
    items = items.merge(asked.credit_of_people, on="item", how="left")
    people, credit = items["people"].to_numpy(), items["credit"].to_numpy()
    models = frame["model_a"].cat.categories
    one, two = (codes[items["item"]] for codes in asked.models_of_item)
    found = []
    for code in np.union1d(one, two):
        own = np.flatnonzero((one == code) | (two == code))
        known = ~np.isnan(people[own])
        if min(known.sum(), (~known).sum()) < FEWEST_TO_CORRECT:
            continue
        first = one[own] == code
        judged = np.where(first, credit[own], 1 - credit[own])
        labels = np.where(first, people[own], 1 - people[own])[known]
        units = items["unit"].to_numpy()[own]
        try:
            corrected = prediction_powered_mean(
                labels,
                judged[known],
                judged[~known],
                clusters=(units[known], units[~known]),
                level=asked.level,
            )
        except UndefinedStatistic as error:
            asked.cannot(f"win rate of {models[code]} by {judge}, corrected", error)
            continue
        by_judge, by_people = (
            _mean(wins, of, asked.level)
            for wins, of in ((judged, units), (labels, units[known]))
        )
        found.append(
            Corrected(judge, str(models[code]), by_judge, by_people, corrected)
        )
    return found


def _mean(
    values: npt.NDArray[Any], units: npt.NDArray[np.intp], level: float
) -> Estimate:
    """Estimate a mean of shares over the units that they belong to."""
    import pandas as pd

    unit = pd.factorize(units)[0]
    return clustered_proportion(
        np.bincount(unit, values), np.bincount(unit), level=level
    )


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
        frame = asked.of_judges(judges)
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
    verdict = frame["verdict"].to_numpy()
    won, lost, tied = (verdict == v for v in (Verdict.A, Verdict.B, Verdict.TIE))
    both = np.stack([frame[name].cat.codes for name in ("model_a", "model_b")])
    codes, (first, second) = np.unique(both, return_inverse=True)
    players: list[Hashable] = [*frame["model_a"].cat.categories[codes]]
    n = len(players)
    enough = len(units) >= max(n, 2)
    clusters = unit if enough else None

    def of(rows: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
        return None if clusters is None else clusters[rows]

    rows = np.concatenate([np.flatnonzero(won), np.flatnonzero(lost)])
    winners = np.concatenate([first[won], second[lost]])
    losers = np.concatenate([second[won], first[lost]])
    if not len(rows) + tied.sum():
        raise UndefinedStatistic("none of the verdicts can be used")
    wins = win_counts(winners, losers, players=n, clusters=of(rows))
    ties = tie_counts(first[tied], second[tied], players=n, clusters=of(tied))
    if clusters is not None:
        # The last cluster may hold no win, or no tie: both need one shape.
        wins, ties = (_of_shape(x, len(units), n) for x in (wins, ties))
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
