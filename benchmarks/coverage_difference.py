"""Does the interval of a difference of two shares of the same clusters cover?

Clusters have a difficulty of their own (a beta distribution with mean .7 or .95); the
first share has 1 to k units in each, the second 0 to k, and succeeds less often by the
factor 1 − gap. One line per number of clusters; coverage for k = 1 and 5, gap 0 and .3,
mean .7 and .95, in this order.

Run: ``python benchmarks/coverage_difference.py [runs]`` (default 3,000; 20 seconds).

Result of 3,000 runs, nominal 95 %:

  5 clusters: 1.00 1.00 1.00 1.00 .994 1.00 .990 .996
 10 clusters: .979 .999 .936 .882 .973 1.00 .963 .962
 20 clusters: .959 1.00 .957 .940 .952 .993 .948 .956
 50 clusters: .954 .988 .953 .938 .961 .979 .950 .946
200 clusters: .957 .952 .946 .959 .954 .949 .947 .958
"""

import itertools
import sys

import numpy as np

from judgelab.intervals import clustered_difference


def coverage(clusters, units, gap, mean, runs, rng):
    hits = total = 0
    for _ in range(runs):
        hard = rng.beta(6 * mean, 6 * (1 - mean), clusters)
        t, v = (
            rng.integers(1, units + 1, clusters),
            rng.integers(0, units + 1, clusters),
        )
        if not v.sum():
            continue
        s, u = rng.binomial(t, hard), rng.binomial(v, hard * (1 - gap))
        found = clustered_difference(s, t, u, v)
        hits += found.low <= mean * gap <= found.high
        total += 1
    return hits / total


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    rng = np.random.default_rng(1)
    for clusters in (5, 10, 20, 50, 200):
        cases = itertools.product((1, 5), (0, 0.3), (0.7, 0.95))
        found = [coverage(clusters, *case, runs, rng) for case in cases]
        print(f"{clusters:3} clusters:", *(f"{share:.3f}" for share in found))


if __name__ == "__main__":
    main()
