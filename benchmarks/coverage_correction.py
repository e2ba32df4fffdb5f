"""Do the intervals of a corrected win rate cover the true one, and when do they not?

Some items have labels from people, 2,000 more only a judge's verdict. In each run both
are drawn anew from a known share of wins, sensitivity and specificity, and eight ways
make a 95 % interval for the true share of wins among the items without labels:

* judge only: Wilson's interval for the judge's share of wins;
* labels only: Wilson's interval for the labelled share of wins;
* powered, λ = 1, and tuned: `prediction_powered_share`;
* powered, paper: `prediction_powered_mean` with tuned λ;
* Rogan–Gladen, with each of its three intervals.

Cases: "same" (labelled items are a random part), with three judges, four shares and
four numbers of labels; "more wins" (70 % wins among the labelled, 50 % in the rest, the
judge the same: only Rogan–Gladen is made for this); "harder" (on the rest the judge
sees more wins where there are none: nothing is made for this).

An interval that a method refuses to give is counted in ``without`` and left out of its
coverage.

Run: ``python benchmarks/coverage_correction.py [runs]`` (default 2,000, some minutes).
It writes ``judgelab/data/yourjudge/counts/coverage.csv``, which the book draws.

Result of 2,000 runs, lowest and highest coverage over the cases: "same", judge only
.000 to .964, labels only .930 to .975, powered .942 to .991 (λ = 1) and .940 to .982
(tuned), by the paper's interval .872 to .957, Rogan–Gladen .943 to .995 (Fieller), .944
to .990 (Lang–Reiczigel) and .918 to .996 (delta). "more wins": powered and tuned .000
to .518, Rogan–Gladen with Fieller's interval .942 to .996. "harder": powered and tuned
.001 to .709, Rogan–Gladen .000 to .504; labels only, drawn from items with the right
share of wins, .933 to .962. Scores in clusters: with 40 labelled clusters .939, with 15
.919 to .926; taken as independent items .799 to .868. Wins in clusters (600 runs):
powered .922 to 1.000, Rogan–Gladen .920 to 1.000; taken as independent items .733 to
.985 and .755 to 1.000.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from judgelab.correction import (
    prediction_powered_mean,
    prediction_powered_share,
    rogan_gladen,
)
from judgelab.errors import JudgelabError, UndefinedStatistic
from judgelab.estimate import Estimate
from judgelab.intervals import proportion

REST = 2000
SEED = 20231102
RESULTS = (
    Path(__file__)
    .parents[1]
    .joinpath("judgelab", "data", "yourjudge", "counts", "coverage.csv")
)
JUDGES = {"good": (0.95, 0.95), "lenient": (0.9, 0.7), "weak": (0.7, 0.6)}
SHARES = (0.1, 0.3, 0.5, 0.7)
LABELS = (50, 100, 200, 400)


def cases() -> Iterator[dict[str, object]]:
    """Yield what is true in each case."""
    for judge, rates in JUDGES.items():
        for share in SHARES:
            for n in LABELS:
                yield _case("same", judge, n, share, share, rates, rates)
        if judge != "weak":
            for n in LABELS:
                yield _case("more wins", judge, n, 0.7, 0.5, rates, rates)
                worse = (rates[0], rates[1] - 0.2)
                yield _case("harder", judge, n, 0.5, 0.5, rates, worse)


def _case(name, judge, labels, labelled_share, share, rates, rest_rates):  # type: ignore[no-untyped-def]
    return {
        "case": name,
        "judge": judge,
        "labels": labels,
        "labelled_share": labelled_share,
        "share": share,
        "rates": rates,
        "rest_rates": rest_rates,
    }


def draw(case: dict, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the table of the labelled items, and the judge's verdicts on the rest."""
    (se, sp), p = case["rates"], case["labelled_share"]
    cells = [p * se, p * (1 - se), (1 - p) * (1 - sp), (1 - p) * sp]
    table = rng.multinomial(case["labels"], cells).reshape(2, 2)
    (se, sp), p = case["rest_rates"], case["share"]
    wins = rng.binomial(REST, p * se + (1 - p) * (1 - sp))
    return table, np.array([wins, REST - wins])


def intervals(table: np.ndarray, rest: np.ndarray) -> dict[str, Estimate | None]:
    """Make every interval; None where there is none."""
    n = int(table.sum())
    result: dict[str, Estimate | None] = {
        "judge only": proportion(int(rest[0]), REST),
        "labels only": proportion(int(table[0].sum()), n),
        "powered, λ = 1": prediction_powered_share(table, rest, weight=1),
        "powered, tuned": prediction_powered_share(table, rest),
        "powered, paper": prediction_powered_mean(
            np.repeat([1, 1, 0, 0], table.ravel()),
            np.repeat([1, 0, 1, 0], table.ravel()),
            np.repeat([1, 0], rest),
        ),
    }
    for kind in ("fieller", "lang-reiczigel", "delta"):
        try:
            result[f"Rogan–Gladen, {kind}"] = rogan_gladen(table, rest, interval=kind)
        except UndefinedStatistic:
            result[f"Rogan–Gladen, {kind}"] = None
    return result


def study(runs: int, chosen: list[dict], seed: int = SEED) -> list[dict[str, object]]:
    """Repeat the simulation; one row per case and way."""
    rows: list[dict[str, object]] = []
    for case in chosen:
        rng = np.random.default_rng(seed)
        covers: dict[str, list[bool]] = {}
        widths: dict[str, list[float]] = {}
        for _ in range(runs):
            for way, found in intervals(*draw(case, rng)).items():
                covers.setdefault(way, [])
                widths.setdefault(way, [])
                if found is not None:
                    covers[way].append(found.low <= case["share"] <= found.high)
                    widths[way].append(found.width)
        for way, hits in covers.items():
            rows.append(
                {
                    "case": case["case"],
                    "judge": case["judge"],
                    "labels": case["labels"],
                    "share": case["share"],
                    "way": way,
                    "runs": runs,
                    "without": runs - len(hits),
                    "coverage": round(float(np.mean(hits)), 4),
                    "mean_width": round(float(np.mean(widths[way])), 4),
                }
            )
    return rows


def clustered(runs: int, seed: int = SEED) -> list[dict[str, float]]:
    """Repeat a study of scores 0, ½, 1 in clusters: coverage with and without them.

    Labelled and other items are in clusters of their own, or in the same ones.
    """
    rows = []
    for shared in (False, True):
        for labelled in (15, 40):
            rng = np.random.default_rng(seed)
            hits = np.zeros(2)
            for _ in range(runs):
                clusters = labelled if shared else labelled + 200
                sizes = rng.integers(1, 9, clusters)
                of = np.repeat(np.arange(clusters), sizes)
                level = rng.normal(0, 1, clusters)[of]
                people = _score(level + rng.normal(0, 1, of.size))
                judge = _score(level + 0.8 + rng.normal(0, 1, of.size))
                has = rng.random(of.size) < 0.3 if shared else of < labelled
                parts = people[has], judge[has], judge[~has]
                for column, groups in enumerate(((of[has], of[~has]), None)):
                    found = prediction_powered_mean(*parts, clusters=groups)
                    hits[column] += found.low <= 0.5 <= found.high
            share = (hits / runs).round(4)
            rows.append(
                {
                    "shared": shared,
                    "labelled": labelled,
                    "clusters": float(share[0]),
                    "items": float(share[1]),
                }
            )
    return rows


def shares_in_clusters(runs: int, seed: int = SEED) -> list[dict[str, object]]:
    """Repeat a study of wins in clusters: coverage of tables per cluster, and of sums.

    Every cluster has a share of wins and error rates of its own. Labelled items are in
    clusters of their own, beside 200 others, or a third of every cluster has labels.
    """
    rows = []
    for judge, share, labelled, shared, largest in itertools.product(
        JUDGES, (0.2, 0.5), (8, 15, 40), (False, True), (5, 20)
    ):
        rng = np.random.default_rng(seed)
        hits: dict[str, list[bool]] = {}
        for _ in range(runs):
            clusters = labelled if shared else labelled + 200
            items = rng.integers(1, largest + 1, clusters)
            has = rng.binomial(items, 0.3) if shared else items.copy()
            if not shared:
                has[labelled:] = 0
            rates = [_beta(mean, clusters, rng) for mean in (share, *JUDGES[judge])]
            tables = _verdicts(has, rates, rng)
            verdicts = _verdicts(items - has, rates, rng).sum(axis=1)
            for name, counts in (
                ("clusters", (tables, verdicts)),
                ("items", (tables.sum(axis=0), verdicts.sum(axis=0))),
            ):
                for method in (prediction_powered_share, rogan_gladen):
                    try:
                        found = method(*counts)
                    except JudgelabError:
                        continue
                    way = f"{method.__name__}, {name}"
                    hits.setdefault(way, []).append(found.low <= share <= found.high)
        case = {"judge": judge, "share": share, "labelled": labelled}
        case |= {"shared": shared, "largest": largest}
        rows.append(
            case | {way: round(float(np.mean(x)), 3) for way, x in hits.items()}
        )
    return rows


def _beta(mean: float, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a probability for each cluster."""
    return rng.beta(5 * mean, 5 * (1 - mean), clusters)


def _verdicts(
    items: np.ndarray, rates: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Draw the 2 × 2 table of every cluster."""
    share, sensitivity, specificity = rates
    wins = rng.binomial(items, share)
    seen = rng.binomial(wins, sensitivity)
    spared = rng.binomial(items - wins, specificity)
    cells = [seen, wins - seen, items - wins - spared, spared]
    return np.stack(cells, axis=1).reshape(-1, 2, 2)


def _score(quality: np.ndarray) -> np.ndarray:
    """Make a loss, a tie or a win of a quality; symmetric, so that the mean is ½."""
    return np.select([quality < -0.5, quality > 0.5], [0.0, 1.0], 0.5)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rows = study(runs, list(cases()))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        file.write(
            f"# source: simulated: labels and {REST} further verdicts of a judge with "
            f"known error rates, seed {SEED}; benchmarks/coverage_correction.py\n"
            "# licence: as the package\n"
        )
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for name in ("same", "more wins", "harder"):
        for way in dict.fromkeys(row["way"] for row in rows):
            mine = [r for r in rows if r["case"] == name and r["way"] == way]
            coverage = np.array([row["coverage"] for row in mine], float)
            print(
                f"{name:10s} {way:30s} {coverage.min():.3f} to {coverage.max():.3f}, "
                f"mean {coverage.mean():.3f}"
            )

    for row in clustered(runs):
        print(row)
    found = shares_in_clusters(runs)
    for way in [key for key in found[0] if "," in key]:
        coverage = np.array([row[way] for row in found], float)
        print(f"{way}: {coverage.min():.3f} to {coverage.max():.3f}")


if __name__ == "__main__":
    main()
