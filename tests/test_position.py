"""Position statistics against published counts, brute force, peers and simulation."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize, stats

from judgelab.counts import contingency_table
from judgelab.errors import ValidationError
from judgelab.position import (
    at_threshold,
    average_orders,
    lean_test,
    mean_lean,
    nudge,
    pair_orders,
    pcon_at_ab,
    position_consistency,
    preference_fairness,
    repetition_stability,
    right_verdicts,
    score_two_orders,
    slot_lean,
    slot_share,
    verdict_rate,
)
from judgelab.simulate import Judge, draw_pairs, simulate, tables_by_gold
from judgelab.verdict import RULES, Outcome, Verdict, combine, unswap

A, B, TIE, INVALID, MISSING = Verdict
TABLES = hnp.arrays(np.int64, (5, 5), elements=st.integers(0, 12))


def pairs_of(table):
    """Expand counts to one (first verdict, second verdict in shown slots) per pair."""
    return [
        (Verdict(i), Verdict(int(unswap(j))))
        for i, j in np.ndindex(5, 5)
        for _ in range(table[i, j])
    ]


def published(consistent, first, second, error):
    """A table with the margins that MT-bench prints: n = 80 pairs."""
    table = np.zeros((5, 5), int)
    table[A, A], table[A, B], table[B, A] = consistent, first, second
    table[INVALID, A] = error
    return table


@pytest.mark.parametrize(
    ("counts", "consistent", "first", "second"),
    [
        # Zheng et al. (2023), Table 2, printed per cent; 80 questions each.
        ((19, 60, 0, 1), 23.8, 75.0, 0.0),
        ((45, 9, 23, 3), 56.2, 11.2, 28.7),
        ((37, 40, 1, 2), 46.2, 50.0, 1.2),
        ((52, 24, 4, 0), 65.0, 30.0, 5.0),
    ],
)
def test_mt_bench_table_2(counts, consistent, first, second):
    table = published(*counts)
    got = [
        position_consistency(table),
        slot_lean(table, "first"),
        slot_lean(table, "second"),
    ]
    for estimate, printed in zip(got, (consistent, first, second), strict=True):
        assert estimate.n == 80
        assert abs(100 * estimate.value - printed) <= 0.051


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([0.8, 0.95]))
def test_nudge_is_the_conditional_maximum_of_the_likelihood(first, second, level):
    table = published(7, first, second, 3)
    estimate = nudge(table, level=level)

    def surprise(beta):
        return np.logaddexp(0, [-2 * beta, 2 * beta]) @ [first, second]

    peer = optimize.minimize_scalar(surprise, bracket=(-1, 1))
    assert estimate.value == pytest.approx(peer.x, abs=1e-6)
    share = stats.binomtest(first, first + second).proportion_ci(level, "wilson")
    ends = np.log(np.divide(share, np.subtract(1, share))) / 2
    assert [estimate.low, estimate.high] == pytest.approx(ends)
    assert estimate.n == first + second
    exchanged = nudge(published(7, second, first, 3), level=level)
    assert [exchanged.value, exchanged.low] == pytest.approx(
        [-estimate.value, -estimate.high]
    )


def test_nudge_at_the_edges():
    assert np.isnan(nudge(published(7, 0, 0, 3)).value)
    one_sided = nudge(published(7, 10, 0, 0))
    assert one_sided.value == one_sided.high == np.inf
    assert 0 < one_sided.low < np.inf


@pytest.mark.parametrize(
    ("judge", "distribution"),
    [
        (Judge(k=4, beta=0.5), "normal"),
        (Judge(k=1, beta=-1, invalid_rate=0.1), "uniform"),
        (Judge(k=8, beta=0), "laplace"),
    ],
)
def test_nudge_covers_what_was_planted(judge, distribution):
    """Whatever the spread of quality: it cancels."""
    covered = 0
    for seed in range(400):
        pairs = draw_pairs(300, distribution=distribution, rng=seed)
        estimate = nudge(tables_by_gold(judge, pairs, rng=seed).sum(axis=0))
        covered += estimate.low <= judge.beta <= estimate.high
    # Two binomial standard errors of 400 runs below and above 95 %, and some more.
    assert 0.92 <= covered / 400 <= 0.98


def test_ties_by_a_threshold_exaggerate_the_nudge():
    pairs = draw_pairs(20_000, rng=1)
    judge = Judge(k=4, beta=0.5, tie_width=1)
    assert nudge(tables_by_gold(judge, pairs, rng=1).sum(axis=0)).low > judge.beta


@given(TABLES)
def test_preference_fairness_is_the_authors_formula(table):
    """Their three steps (counts, fractions, rescaling) against the closed form."""
    primacy = recency = 0
    for first, second in pairs_of(table):
        pair = (first, second)
        # The second verdict is as shown: A again means the first slot again.
        primacy += pair in [(A, A), (A, TIE), (TIE, A)]
        recency += pair in [(B, B), (B, TIE), (TIE, B)]
    n = int(table.sum())
    estimate = preference_fairness(table)
    if n == 0:
        assert np.isnan(estimate.value)
        assert estimate.reason
        return
    leaning = primacy + recency
    raw = (
        recency * (recency / leaning) - primacy * (primacy / leaning) if leaning else 0
    )
    score = (raw + n) / (2 * n) * 2 - 1
    assert estimate.value == pytest.approx(score, abs=1e-12)
    assert -1 <= estimate.low <= estimate.high <= 1


@given(TABLES)
def test_rates_against_a_loop_over_pairs(table):
    pairs = pairs_of(table)
    back = {v: Verdict(int(unswap(v))) for v in Verdict}
    readable = [(f, s) for f, s in pairs if f <= TIE and s <= TIE]
    decided = [(f, s) for f, s in pairs if f <= B and s <= B]
    either = [(f, s) for f, s in pairs if f <= B or s <= B]
    verdicts = [v for pair in pairs for v in pair]

    def check(estimate, hits, units):
        if units == 0:
            assert np.isnan(estimate.value)
            return
        assert estimate.n == units
        assert estimate.value == pytest.approx(hits / units)
        if estimate.method == "one cluster":  # both verdicts are on the same pair
            assert units <= 2
            assert np.isnan(estimate.low)
            return
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1

    same = sum(f == back[s] for f, s in readable)
    check(position_consistency(table), same, len(pairs))
    check(position_consistency(table, denominator="readable"), same, len(readable))
    check(
        position_consistency(table, denominator="decided"),
        sum(f == back[s] for f, s in decided),
        len(decided),
    )
    opposite = sum(f != back[s] for f, s in decided)
    check(
        position_consistency(table, kind="opposite"), len(pairs) - opposite, len(pairs)
    )
    equal = sum(f == back[s] for f, s in pairs)
    check(position_consistency(table, kind="judgebench"), equal, len(pairs))
    same_winner = sum(f == back[s] for f, s in decided)
    check(pcon_at_ab(table), same_winner, len(either))
    check(pcon_at_ab(table, denominator="both"), same_winner, len(decided))
    for slot, code in (("first", A), ("second", B)):
        winners = [v for v in verdicts if v <= B]
        check(slot_share(table, slot), sum(v == code for v in winners), len(winners))
        check(
            slot_share(table, slot, denominator="all"),
            sum(v == code for v in verdicts),
            len(verdicts),
        )
        twice = sum(f == s == code for f, s in pairs)
        check(slot_lean(table, slot), twice, len(pairs))
        check(slot_lean(table, slot, denominator="decided"), twice, len(decided))
        once = sum({f, s} in ({code}, {code, TIE}) for f, s in pairs)
        check(slot_lean(table, slot, kind="lenient"), once, len(pairs))
    for code in (TIE, INVALID, MISSING):
        said = sum(v == code for v in verdicts)
        check(verdict_rate(table, code), said, len(verdicts))
    can_be_read = [v for v in verdicts if v <= TIE]
    check(
        verdict_rate(table, TIE, denominator="readable"),
        sum(v == TIE for v in can_be_read),
        len(can_be_read),
    )
    check(verdict_rate(table, INVALID, denominator="readable"), 0, len(can_be_read))


@given(TABLES)
def test_the_flags_of_the_truth_table(table):
    consistent = position_consistency(table, kind="judgebench")
    not_opposite = position_consistency(table, kind="opposite")
    if table.sum():
        assert consistent.value == pytest.approx(np.trace(table) / table.sum())
        opposite = table[A, B] + table[B, A]
        assert not_opposite.value == pytest.approx(1 - opposite / table.sum())


@given(TABLES)
def test_naming_the_answers_differently_changes_nothing(table):
    renamed = table[np.ix_([1, 0, 2, 3, 4], [1, 0, 2, 3, 4])]
    for statistic in (
        position_consistency,
        pcon_at_ab,
        lambda t: verdict_rate(t, TIE),
    ):
        assert repr(statistic(renamed)) == repr(statistic(table))
    # What is shown first in the first order was the other answer: slots exchange.
    assert repr(slot_lean(renamed, "first")) == repr(slot_lean(table, "second"))
    mirrored = preference_fairness(renamed)
    if table.sum():
        assert mirrored.value == pytest.approx(-preference_fairness(table).value)


@given(TABLES, st.sampled_from(sorted(RULES)))
def test_scores_against_combine(table, rule):
    rng = np.random.default_rng(0)
    tables = np.stack([table, rng.permutation(table)])
    outcomes, gold = [], []
    for g in (0, 1):
        first, second = np.repeat(
            np.indices((5, 5)).reshape(2, -1), tables[g].ravel(), axis=1
        )
        outcomes += combine(first, second, rule=rule).tolist()
        gold += [g] * first.size
    scores = score_two_orders(tables, rule=rule)
    kept = [(o, g) for o, g in zip(outcomes, gold, strict=True) if o != Outcome.DROPPED]
    if not kept or any(o == Outcome.UNDEFINED for o, _ in kept):
        assert all(np.isnan(e.value) and e.reason for e in scores.values())
        return
    n = len(kept)
    assert scores["right"].value == pytest.approx(sum(o == g for o, g in kept) / n)
    assert scores["wrong"].value == pytest.approx(sum(o == 1 - g for o, g in kept) / n)
    assert sum(e.value for e in scores.values()) == pytest.approx(1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_lean_test_is_the_exact_binomial(first, second):
    table = published(7, first, second, 2)
    test = lean_test(table)
    assert test.n == first + second
    if test.n:
        peer = stats.binomtest(first, test.n).pvalue
        assert test.p_value == pytest.approx(peer, rel=1e-6)
    else:
        assert test.p_value == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9)
)
def test_lean_test_with_trials_flips_whole_items(items):
    tables = np.zeros((len(items), 5, 5), int)
    for i, (first, second) in enumerate(items):
        tables[i, A, B], tables[i, B, A], tables[i, A, A] = first, second, 1
    d = tables[:, A, B] - tables[:, B, A]
    sums = [
        abs(sum(s * x for s, x in zip(signs, d, strict=True)))
        for signs in itertools.product([-1, 1], repeat=len(d))
    ]
    expected = np.mean([s >= abs(d.sum()) for s in sums])
    assert lean_test(tables).p_value == pytest.approx(expected)


def test_repeated_trials_do_not_make_evidence():
    """Ten copies of every item: the estimate stays, certainty hardly grows."""
    rng = np.random.default_rng(4)
    first = rng.integers(0, 3, 60)
    second = rng.integers(0, 3, 60)
    items = np.arange(60)
    single = contingency_table(first, second, scale=range(5))
    copies = contingency_table(
        np.repeat(first, 10),
        np.repeat(second, 10),
        scale=range(5),
        clusters=np.repeat(items, 10),
    )
    pooled = copies.sum(axis=0)
    for statistic in (position_consistency, slot_share, preference_fairness):
        clustered, plain = statistic(copies), statistic(single)
        assert clustered.value == pytest.approx(plain.value)
        assert clustered.width == pytest.approx(plain.width, rel=0.06)
        assert statistic(pooled).width < 0.4 * clustered.width
    assert lean_test(copies).p_value == pytest.approx(lean_test(single).p_value)


def test_one_item_has_a_value_and_no_interval():
    table = np.zeros((1, 5, 5), int)
    table[0, A, A], table[0, A, B] = 3, 1
    for estimate in (position_consistency(table), preference_fairness(table)):
        assert not np.isnan(estimate.value)
        assert np.isnan(estimate.low)


@pytest.mark.parametrize("trials", [1, 5])
def test_coverage_of_clustered_rates(trials):
    """Nominal 95 % intervals of consistency and fairness over simulated items."""
    rng = np.random.default_rng(11)
    items, runs, hits = 60, 400, np.zeros(3)
    # Items differ: each has its own probability of a contradiction and of its side.
    truth = np.array([0.7, 0.3 * (2 / 3 - 1 / 3), 0.5 + 0.3 / 2 * (1 / 3 - 2 / 3)])
    for _ in range(runs):
        contradicts = rng.beta(0.9, 2.1, items)
        to_second = rng.beta(2, 1, items)
        p = np.stack(
            [1 - contradicts, contradicts * (1 - to_second), contradicts * to_second]
        ).T
        drawn = rng.multinomial(trials, p)
        tables = np.zeros((items, 5, 5), int)
        tables[:, A, A], tables[:, A, B], tables[:, B, A] = drawn.T
        estimates = [
            position_consistency(tables),
            preference_fairness(tables),
            slot_share(tables, "first"),
        ]
        hits += [e.low <= t <= e.high for e, t in zip(estimates, truth, strict=True)]
    assert (hits / runs > 0.92).all(), hits / runs
    assert (hits[:2] / runs < 0.985).all(), hits / runs


def test_repetition_stability_of_a_coin():
    """Majority stability depends on the number of trials, pairwise doesn't."""
    rng = np.random.default_rng(0)
    for trials, majority in ((2, 0.75), (3, 0.75), (5, 0.6875)):
        heads = rng.binomial(trials, 0.5, 4000)
        counts = np.stack([heads, trials - heads], axis=1)
        got = repetition_stability(counts)
        assert got.low < majority < got.high
        pairwise = repetition_stability(counts, kind="pairwise")
        assert pairwise.low < 0.5 < pairwise.high


def test_repetition_stability_by_hand():
    counts = np.array([[3, 0, 0], [2, 1, 0]])
    assert repetition_stability(counts).value == pytest.approx((1 + 2 / 3) / 2)
    pairwise = repetition_stability(counts, kind="pairwise").value
    assert pairwise == pytest.approx((1 + 1 / 3) / 2)
    with pytest.raises(ValidationError, match="fewer than two trials"):
        repetition_stability([[1, 0], [2, 0]])


@pytest.mark.parametrize("kind", ["majority", "pairwise"])
@pytest.mark.parametrize("steady", [0.5, 0.95])
def test_the_interval_of_stability_covers(kind, steady):
    """Also where hardly an item of ten ever changes."""
    rng = np.random.default_rng(3)

    def draw(items):
        heads = rng.binomial(3, rng.beta(8 * steady, 8 * (1 - steady), items))
        return np.stack([heads, 3 - heads], axis=1)

    truth = repetition_stability(draw(200_000), kind=kind).value
    held = 0
    for _ in range(200):
        found = repetition_stability(draw(10), kind=kind)
        held += found.low <= truth <= found.high
    # 200 runs: the standard error of a coverage of .95 is .015.
    assert held / 200 > 0.9


def test_items_that_never_changed_may_yet():
    found = repetition_stability([[3, 0], [3, 0], [0, 3]])
    assert found.low < 0.5 < found.value == found.high == 1


@settings(max_examples=30)
@given(TABLES)
def test_splitting_a_table_into_single_pairs_changes_hardly_anything(table):
    """One table per pair is the same data; only the small-sample factors differ."""
    if table.sum() < 30:
        return
    cells = np.repeat(np.arange(25), table.ravel())
    split = np.zeros((cells.size, 25), int)
    split[np.arange(cells.size), cells] = 1
    split = split.reshape(-1, 5, 5)
    whole = position_consistency(table)
    assert position_consistency(split) == whole
    fairness = preference_fairness(split)
    assert fairness.value == pytest.approx(preference_fairness(table).value)
    # Student's quantile, and n − 1: a width falls at most as fast as the size grows.
    n = table.sum()
    smaller = n / (n - 1) * (stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)) ** 2
    assert 0.999 < fairness.width / preference_fairness(table).width < 1.001 * smaller


def test_errors_name_the_way_out():
    table = np.zeros((5, 5), int)
    with pytest.raises(ValidationError, match=r"shape \(3, 3\)"):
        position_consistency(np.zeros((3, 3), int))
    with pytest.raises(ValidationError, match="whole numbers"):
        position_consistency(np.full((5, 5), 0.5))
    with pytest.raises(ValidationError, match="whole numbers"):
        position_consistency(table - 1)
    with pytest.raises(ValidationError, match="'all', 'readable', 'decided'"):
        position_consistency(table, denominator="parsed")
    with pytest.raises(ValidationError, match="'strict', 'lenient'"):
        lean_test(table, kind="loose")
    with pytest.raises(ValidationError, match="'first', 'second'"):
        slot_share(table, "third")
    with pytest.raises(ValidationError, match="tables per item"):
        lean_test(np.zeros((2, 5, 5), int), method="chi2")
    with pytest.raises(ValidationError, match="two tables"):
        score_two_orders(np.zeros((3, 5, 5), int), rule="judgebench")
    assert position_consistency(table).reason == "the table holds no pairs"
    assert preference_fairness(table).reason == "the table holds no pairs"
    with pytest.raises(ValidationError, match=r"codes outside 0..4 .*\[7\]"):
        verdict_rate(table, 7)


def test_small_and_large_counts_do_not_overflow():
    """120 · 119 does not fit into int8, nor 2⁴⁰ · 2⁴⁰ into int64."""
    small = np.array([[100, 20], [100, 1]], np.int8)
    stable = repetition_stability(small, kind="pairwise")
    by_hand = ((100 * 99 + 20 * 19) / (120 * 119) + 100 * 99 / (101 * 100)) / 2
    assert stable.value == pytest.approx(by_hand, abs=1e-12)
    large = repetition_stability([[2**40, 2**40], [2**40, 0]], kind="pairwise")
    assert large.value == pytest.approx(0.75, abs=1e-9)


def test_a_table_of_nullable_integers_and_a_verdict_as_a_word():
    table = np.arange(25).reshape(5, 5)
    nullable = pd.DataFrame(table, dtype="Int64")
    assert position_consistency(nullable) == position_consistency(table)
    assert verdict_rate(table, "tie") == verdict_rate(table, Verdict.TIE)


def with_odds(log_odds, swapped=None):
    n = len(log_odds)
    return pd.DataFrame(
        {
            "judge": "me",
            "item": np.arange(n) // 2,
            "swapped": np.arange(n) % 2 == 1 if swapped is None else swapped,
            "verdict": np.where(np.isnan(log_odds), "INVALID", "A"),
            "log_odds": log_odds,
        }
    )


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20), st.floats(-5, 5))
def test_a_threshold_splits_the_log_odds(log_odds, threshold):
    odds = np.array(log_odds)
    words = at_threshold(with_odds(odds), threshold)["verdict"].to_numpy()
    assert ((words == "A") == (odds > threshold)).all()
    assert ((words == "B") == (odds < threshold)).all()
    assert ((words == "TIE") == (odds == threshold)).all()


def test_without_log_odds_a_threshold_changes_nothing():
    records = with_odds(np.array([np.nan, 1.0]))
    assert at_threshold(records, 2)["verdict"].tolist() == ["INVALID", "B"]
    for frame in (records, pl.from_pandas(records, nan_to_null=True)):
        again = at_threshold(frame, 0)
        assert again["verdict"].tolist() == ["INVALID", "A"]


def test_the_mean_lean_as_threshold_undoes_a_lean_that_is_the_same_for_all():
    preference, lean = np.array([0.4, -1.0, 2.0]), 1.5
    odds = np.stack([lean + preference, lean - preference], axis=1).ravel()
    records = with_odds(odds)
    both = average_orders(records)
    moved = pair_orders(at_threshold(records, both["lean"].mean()))
    assert moved["first"].tolist() == moved["second"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("threshold", [np.nan, np.inf])
def test_a_threshold_that_is_no_number_is_refused(threshold):
    with pytest.raises(ValidationError, match="threshold"):
        at_threshold(with_odds(np.array([1.0, 2.0])), threshold)


def test_a_threshold_needs_log_odds():
    with pytest.raises(ValidationError, match="log_odds"):
        at_threshold(with_odds(np.array([1.0])).drop(columns="log_odds"))


def test_the_mean_lean_is_a_mean_with_students_interval():
    lean = np.array([0.3, 1.2, -0.4, 2.0])
    odds = np.stack([lean + 1, lean - 1], axis=1).ravel()
    estimate = mean_lean(with_odds(odds))
    peer = stats.ttest_1samp(lean, 0).confidence_interval()
    assert estimate.value == pytest.approx(lean.mean())
    assert (estimate.low, estimate.high) == pytest.approx((peer.low, peer.high))
    assert estimate.n == 4


def test_a_mean_lean_says_when_there_is_none():
    nothing = mean_lean(with_odds(np.array([np.nan, 1.0])))
    assert np.isnan(nothing.value)
    assert np.isnan(mean_lean(with_odds(np.array([2.0, 1.0]))).low)
    one = with_odds(np.array([2.0, 1.0]))
    with pytest.raises(ValidationError, match="more than once"):
        mean_lean(pd.concat([one.assign(trial=t) for t in (0, 1)]))


def test_the_interval_of_the_mean_lean_holds_its_level():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        lean = 0.8 + rng.standard_t(5, size=40)
        estimate = mean_lean(with_odds(np.stack([lean, lean], axis=1).ravel()))
        held += estimate.low < 0.8 < estimate.high
    assert held / 300 == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("trials", [1, 3])
def test_right_verdicts_add_up_to_what_the_orders_score(trials):
    judge = Judge(k=3, beta=1, tie_width=0.3, invalid_rate=0.1, missing_rate=0.1)
    pairs = draw_pairs(200, rng=1)
    records = simulate(judge, pairs, trials=trials, rng=1)
    right = right_verdicts(records)
    assert right.index.tolist() == list(range(200))
    assert right.max() <= 2 * trials
    shown = np.where(records["gold"] == "A", records["swapped"], ~records["swapped"])
    assert right.sum() == (records["verdict"] == np.where(shown, "B", "A")).sum()


def test_right_verdicts_need_a_better_answer_and_one_judge():
    records = simulate(Judge(), draw_pairs(2, rng=0), rng=0)
    with pytest.raises(ValidationError, match="gold"):
        right_verdicts(records.drop(columns="gold"))
    with pytest.raises(ValidationError, match="gold"):
        right_verdicts(records.assign(gold="TIE"))
    with pytest.raises(ValidationError, match="2 judges"):
        right_verdicts(pd.concat([records, records.assign(judge="another")]))
