"""Do the intervals of the chapter on LLMJudge cover, and does its test keep its level?

* alpha: Krippendorff's ordinal alpha of two raters whose agreement differs from query
  to query; the interval over clusters beside that over items;
* correlation: the difference of two judges' tau with one target, jackknife over
  systems; judges with equal and unequal noise, independent and sharing errors;
* comparison: two submissions of LLMJudge that exchange their tables on every query with
  chance ½, on 25 queries drawn from its 25, so that the true difference is 0; the
  jackknife interval of the difference of kappa, and `swap_test` at 5 %.

Run: ``python benchmarks/coverage_llmjudge.py [runs]`` (default 1,000, some minutes).

Result of 1,000 runs: alpha over clusters .943 to .960, over items .572 to .821;
correlation .955 to .998 with 15 systems or more, .786 to .984 with 8 (where no system
changes the difference there is no interval, which counts as not covering); comparison,
interval .927 to .939, rejected by the test in .045 to .057 of the cases.
"""

from __future__ import annotations

import sys

import numpy as np

from judgelab.agreement import agreement_values, krippendorff_alpha
from judgelab.correlation import correlation_difference, kendall_tau
from judgelab.papers.llmjudge import tables
from judgelab.papers.llmjudge.measures import pseudo_values, with_student
from judgelab.significance import swap_test

SHARES = (0.45, 0.28, 0.18, 0.09)


def ratings(rng, clusters, size, spread):
    """Two raters, with an agreement of its own in every cluster."""
    group = np.repeat(np.arange(clusters), size)
    quality = 1 / (1 + np.exp(-rng.normal(0.5, spread, clusters)))
    truth = rng.choice(4, group.size, p=SHARES)
    own = rng.integers(0, 4, group.size)
    second = np.where(rng.random(group.size) < quality[group], truth, own)
    return np.column_stack([truth, second]), group


def alpha(runs):
    """Coverage of alpha's interval, over clusters and over items."""
    options = {"level": "ordinal", "scale": range(4)}
    for clusters, size, spread in (
        (8, 40, 1.5),
        (10, 20, 1.0),
        (25, 40, 1.5),
        (25, 170, 0.7),
        (50, 20, 2.5),
    ):
        rng = np.random.default_rng(clusters * size)
        many, _ = ratings(rng, 20_000, size, spread)
        goal = krippendorff_alpha(many, interval="asymptotic", **options).value
        held = np.zeros(2)
        for _ in range(runs):
            drawn, group = ratings(rng, clusters, size, spread)
            for i, units in enumerate((group, None)):
                found = krippendorff_alpha(drawn, clusters=units, **options)
                held[i] += found.low <= goal <= found.high
        print(f"alpha, {clusters} × {size}: clusters, items", (held / runs).round(3))


def tau(x, y):
    """Kendall's tau without an interval."""
    return kendall_tau(x, y, interval=None)


def judges(rng, n, first, second, shared):
    """A target and two judges, whose errors have a part in common."""
    target, common = rng.normal(size=(2, n))
    own = rng.normal(size=(2, n))
    errors = shared**0.5 * common + (1 - shared) ** 0.5 * own
    return target, target + first * errors[0], target + second * errors[1]


def correlation(runs):
    """Coverage of the interval of a difference of two taus."""
    for n in (8, 15, 31, 63):
        for noise in ((0.2, 0.2, 0), (0.15, 0.5, 0), (0.3, 0.9, 0.5), (0.3, 0.3, 0.8)):
            rng = np.random.default_rng(n)
            target, one, two = judges(rng, 200_000, *noise)
            goal = float(tau(target, one)) - float(tau(target, two))
            held = 0
            for _ in range(runs):
                found = correlation_difference(*judges(rng, n, *noise), tau)
                held += found.low <= goal <= found.high
            print(f"correlation, {n} systems, noise {noise}:", round(held / runs, 3))


def kappas(sums):
    """Cohen's kappa of many tables."""
    return agreement_values(sums, "cohen_kappa")


def comparison(runs):
    """Coverage of the interval of a difference of kappas, and the test's level."""
    for seed, (a, b) in enumerate(
        (
            ("willia-umbrela1", "RMITIR-llama70B"),
            ("willia-umbrela1", "TREMA-rubric0"),
            ("TREMA-direct", "prophet-setting4"),
            ("Olz-exp", "willia-umbrela2"),
        )
    ):
        rng = np.random.default_rng(seed)
        one, two = tables(a), tables(b)
        held = rejected = 0
        for _ in range(runs):
            drawn = rng.integers(0, 25, 25)
            turn = (rng.random(25) < 0.5)[:, None, None]
            sides = (
                np.where(turn, one[drawn], two[drawn]),
                np.where(turn, two[drawn], one[drawn]),
            )
            values = [float(kappas(side.sum(0))) for side in sides]
            first, second = (
                pseudo_values(value, kappas(side.sum(0) - side))
                for value, side in zip(values, sides, strict=True)
            )
            found = with_student(values[0] - values[1], first - second, 1, 0.95)
            held += found.low <= 0 <= found.high
            test = swap_test(*sides, kappas, null="", draws=1000, rng=rng)
            rejected += test.p_value <= 0.05
        print(
            f"comparison, {a} and {b}: interval {held / runs:.3f}, "
            f"rejected {rejected / runs:.3f}"
        )


if __name__ == "__main__":
    how_many = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    alpha(how_many)
    correlation(how_many)
    comparison(how_many)
