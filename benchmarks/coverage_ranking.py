"""Do the intervals of judge ratings cover? Simulated benchmarks with a known truth.

21 judges as far apart as on RankJudge's published table (762 to 1959 Elo), 782 items
with difficulties from N(1100, 400²) Elo on the same scale; every judge answers every
item, right with the chance that the Rasch model gives. Items on which all judges or
none are right drop out by themselves. Four ways to make a 95 % interval for a judge:

* published: joint fit, zero at the mean strength of judges and items, standard error of
  another zero (what the RankJudge code prints);
* joint: joint fit, judge-centred, cluster-robust;
* conditional, model: conditional fit, judge-centred, inverse information;
* conditional: conditional fit, judge-centred, cluster-robust.

The published way is compared with the truth in its own gauge: the mean strength over
judges and over the items of that run.

Run: ``python benchmarks/coverage_ranking.py [runs]`` (default 1,000, some ten seconds).
It writes ``judgelab/data/rankjudge/counts/coverage.csv``, which the book draws: one row
per way and judge.

Result of 1,000 runs (mean coverage over judges; worst judge; slope of estimated on true
ratings): published .611, .021; joint .814, .096, slope 1.095; conditional with model
errors .951, .943; conditional with clusters .950, .941, slope 1.003. The joint fit
stretches the scale, so that its interval misses most at the two ends of the table; its
other fault is the zero, which moves with the items and is not in the interval.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

import numpy as np

from judgelab.data import published
from judgelab.ranking import rasch
from judgelab.ranking.result import ELO_PER_LOGIT

ITEMS, MEAN, SPREAD = 782, 1100.0, 400.0
SEED = 20260521
RESULTS = (
    Path(__file__)
    .parents[1]
    .joinpath("judgelab", "data", "rankjudge", "counts", "coverage.csv")
)
Z = 1.959964
WAYS = ("published", "joint", "conditional, model", "conditional")


def truth() -> np.ndarray:
    """Ratings of the published table, in Elo."""
    return published("rankjudge", "leaderboard")["elo_all"].to_numpy(float)


def one_run(
    judges: np.ndarray, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, float], dict[str, np.ndarray]]:
    """Simulate one benchmark: which intervals cover, how stretched, how wide."""
    items = rng.normal(MEAN, SPREAD, ITEMS)
    chance = 1 / (1 + 10 ** ((items - judges[:, None]) / 400))
    scores = (rng.random(chance.shape) < chance).astype(np.int8)
    joint = rasch(scores, method="joint")
    conditional = rasch(scores)
    model = rasch(scores, interval="model")
    centred = judges - judges.mean()
    kept = items[joint.item_row >= 0]
    strengths = 10 ** (np.concatenate([judges, kept]) / 400)
    own_gauge = judges - 400 * math.log10(strengths.mean())

    covers, widths = {}, {}
    offset, _ = joint.gauge("rankjudge")
    shown = ELO_PER_LOGIT * (joint.ratings - offset)
    error = joint.standard_errors(anchor="rankjudge", scale="elo")
    covers["published"] = np.abs(shown - own_gauge) <= Z * error
    widths["published"] = 2 * Z * error
    for way, fit in zip(WAYS[1:], (joint, model, conditional), strict=True):
        error = fit.standard_errors(scale="elo")
        off = np.abs(ELO_PER_LOGIT * fit.ratings - centred)
        covers[way], widths[way] = off <= Z * error, 2 * Z * error
    stretch = {
        "joint": np.polyfit(centred, ELO_PER_LOGIT * joint.ratings, 1)[0],
        "conditional": np.polyfit(centred, ELO_PER_LOGIT * conditional.ratings, 1)[0],
    }
    return covers, stretch, widths


def study(runs: int, seed: int = SEED) -> list[dict[str, object]]:
    """Repeat the simulation; one row per way and judge."""
    judges = truth()
    rng = np.random.default_rng(seed)
    hits = {way: np.zeros(judges.size) for way in WAYS}
    width = {way: np.zeros(judges.size) for way in WAYS}
    slopes: dict[str, list[float]] = {"joint": [], "conditional": []}
    for _ in range(runs):
        covers, stretch, widths = one_run(judges, rng)
        for way in WAYS:
            hits[way] += covers[way]
            width[way] += widths[way]
        for way, slope in stretch.items():
            slopes[way].append(slope)
    rows: list[dict[str, object]] = []
    for way in WAYS:
        method = "conditional" if way.startswith("conditional") else "joint"
        for place, elo in enumerate(judges, start=1):
            rows.append(
                {
                    "way": way,
                    "judge": place,
                    "true_elo": int(elo),
                    "runs": runs,
                    "coverage": round(hits[way][place - 1] / runs, 4),
                    "mean_width_elo": round(width[way][place - 1] / runs, 1),
                    "stretch": round(float(np.mean(slopes[method])), 4),
                }
            )
    return rows


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rows = study(runs)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        file.write(
            f"# source: simulated: 21 judges at RankJudge's published ratings, {ITEMS} "
            f"items from N({MEAN:.0f}, {SPREAD:.0f}^2) Elo, seed {SEED}; "
            "benchmarks/coverage_ranking.py\n"
            "# licence: as the package\n"
        )
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        coverage = np.array([row["coverage"] for row in mine], float)
        print(
            f"{way:20s} mean {coverage.mean():.3f}, worst judge {coverage.min():.3f}, "
            f"stretch {mine[0]['stretch']}"
        )


if __name__ == "__main__":
    main()
