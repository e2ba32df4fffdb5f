"""MTSAIR's measures by hand, every open reading, bad input, and known judges."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgelab import data
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.papers import mtsair
from judgelab.papers.mtsair import (
    Benchmark,
    Windows,
    apcc,
    avg_correlation,
    from_records,
    mpcc,
    mpcc_consistency,
    mpcc_delta,
    over_items,
    simulate,
    window_values,
)
from judgelab.papertable import Match
from judgelab.position import pcon_at_ab
from judgelab.simulate import Judge
from judgelab.verdict import SideBySide, unswap

A, B, C, D = SideBySide
GOOD = Judge(k=4, tie_width=1)

codes = st.integers(0, 3)


def benchmarks(least=30, most=80):
    return st.integers(least, most).flatmap(
        lambda n: st.builds(
            Benchmark, *(st.lists(codes, min_size=n, max_size=n) for _ in range(3))
        )
    )


def by_hand(verdicts, size=10, stride=5):
    """Window values as the page writes the formula, window by window."""
    values = []
    for start in range(0, len(verdicts) - size + 1, stride):
        window = list(verdicts[start : start + size])
        a, b, c = (window.count(v) for v in (A, B, C))
        values.append((a + c) / (a + b + 2 * c) if a + b + c else math.nan)
    return np.array(values)


# --- Windows -------------------------------------------------------------------------


def test_a_window_by_hand():
    # 3 A, 2 B, 1 C, 4 D: (3 + 1) / (3 + 2 + 2).
    assert window_values([A, A, A, B, B, C, D, D, D, D]) == pytest.approx([4 / 7])


@given(st.lists(codes, min_size=10, max_size=60), st.data())
def test_windows_against_a_loop(verdicts, draw):
    size = draw.draw(st.integers(1, 10))
    stride = draw.draw(st.integers(1, size))
    ours = window_values(verdicts, Windows(size, stride))
    assert ours == pytest.approx(by_hand(verdicts, size, stride), nan_ok=True)


@pytest.mark.parametrize(
    ("n", "partial_", "starts"),
    [
        (20, "drop", [0, 5, 10]),
        (20, "cover", [0, 5, 10]),
        (20, "every-start", [0, 5, 10, 15]),
        (23, "drop", [0, 5, 10]),
        (23, "cover", [0, 5, 10, 15]),
        (23, "every-start", [0, 5, 10, 15, 20]),
        (7, "drop", []),
        (7, "cover", [0]),
        (7, "every-start", [0, 5]),
    ],
)
def test_what_becomes_of_the_last_verdicts(n, partial_, starts):
    windows = Windows(partial=partial_)
    assert windows.starts(n).tolist() == starts
    values = window_values([A] * n, windows)
    assert values.tolist() == [1.0] * len(starts)


@given(st.integers(1, 60), st.integers(1, 12), st.data())
def test_covering_windows_leave_no_verdict_out(n, size, draw):
    stride = draw.draw(st.integers(1, size))
    starts = Windows(size, stride, partial="cover").starts(n)
    seen = {i for start in starts for i in range(start, min(start + size, n))}
    assert seen == set(range(n))
    # And none of them is needless.
    if starts.size > 1:
        assert starts[-2] + size < n


def test_a_window_of_both_bad_has_no_value_unless_one_says_which():
    verdicts = [D] * 10 + [A] * 10
    assert np.isnan(window_values(verdicts)[0])
    assert window_values(verdicts, Windows(all_bad="half"))[0] == 0.5
    rng = np.random.default_rng(0)
    expert = np.concatenate([[D] * 10, rng.integers(0, 4, 50)])
    judged = Benchmark(expert, rng.integers(0, 4, 60), rng.integers(0, 4, 60))
    with pytest.raises(UndefinedStatistic, match=r"windows \[0\] .* all_bad='drop'"):
        mpcc(judged)
    kept = mpcc(judged, windows=Windows(all_bad="drop"))
    x, y, z = (by_hand(v)[1:] for v in (judged.expert, judged.first, judged.second))
    peer = (np.corrcoef(x, y)[0, 1] + np.corrcoef(x, z)[0, 1]) / 2
    assert kept == pytest.approx(peer)
    half = mpcc(judged, windows=Windows(all_bad="half"))
    assert half != pytest.approx(kept)
    # Runs that are never all bad have a consistency all the same.
    assert -1 <= mpcc_consistency(judged) <= 1


@given(st.lists(codes, min_size=10, max_size=40))
def test_exchanging_the_answers_turns_every_window_round(verdicts):
    turned = unswap(verdicts, scale=SideBySide)
    assert window_values(turned) == pytest.approx(
        1 - window_values(verdicts), nan_ok=True
    )


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"size": 0}, "size 0"),
        ({"size": 4}, "stride 5"),
        ({"stride": 2.5}, "2.5"),
        ({"size": 10.0}, "10.0"),
        ({"size": "10"}, "'10'"),
        ({"size": math.nan}, "nan"),
        ({"partial": "keep"}, "'keep'"),
        ({"all_bad": "zero"}, "'zero'"),
    ],
)
def test_windows_that_cannot_be_are_refused(options, named):
    with pytest.raises(ValidationError, match=named):
        Windows(**options)


# --- The measures against their definitions ------------------------------------------


@given(benchmarks())
def test_apcc_against_numpy(judged):
    counts = [
        np.bincount(v, minlength=4)
        for v in (judged.expert, judged.first, judged.second)
    ]
    assume(all(np.ptp(c) for c in counts) and np.ptp(counts[1] + counts[2]))
    expert, first, second = counts
    r = [np.corrcoef(expert, run)[0, 1] for run in (first, second, first + second)]
    assert apcc(judged) == pytest.approx((r[0] + r[1]) / 2, abs=1e-9)
    assert apcc(judged, average="counts") == pytest.approx(r[2], abs=1e-9)


@given(benchmarks(40))
def test_mpcc_and_its_relatives_against_numpy(judged):
    m = [by_hand(v) for v in (judged.expert, judged.first, judged.second)]
    pooled = []
    for start in range(0, len(judged) - 9, 5):
        both = [*judged.first[start : start + 10], *judged.second[start : start + 10]]
        pooled.append(by_hand(both, 20, 20)[0])
    assume(not np.isnan(m).any())
    assume(min(np.ptp(x) for x in [*m, (m[1] + m[2]) / 2, pooled]) > 1e-6)
    r = partial(lambda x, y: np.corrcoef(x, y)[0, 1])
    each = r(m[0], m[1]), r(m[0], m[2])
    assert mpcc(judged) == pytest.approx(np.mean(each), abs=1e-9)
    assert mpcc(judged, average="values") == pytest.approx(
        r(m[0], m[1] + m[2]), abs=1e-9
    )
    assert mpcc(judged, average="counts") == pytest.approx(r(m[0], pooled), abs=1e-9)
    assert mpcc_consistency(judged) == pytest.approx(r(m[1], m[2]), abs=1e-9)
    assert mpcc_delta(judged) == pytest.approx(each[1] - each[0], abs=1e-9)
    assert mpcc_delta(judged, sign="first-swapped") == -mpcc_delta(judged)


def test_the_average_is_of_the_two_correlations():
    judged = simulate(GOOD, n=300, rng=4)
    for average in ("coefficients", "counts"):
        mean = (apcc(judged, average=average) + mpcc(judged, average=average)) / 2
        assert avg_correlation(judged, average=average) == mean


@pytest.mark.parametrize("measure", [apcc, mpcc, mpcc_consistency])
def test_a_judge_that_is_the_expert_has_one(measure):
    expert = simulate(GOOD, n=200, rng=2).expert
    assert measure(Benchmark(expert, expert, expert)) == 1
    assert mpcc_delta(Benchmark(expert, expert, expert)) == 0


def test_pcon_counts_both_ties_as_no_winner():
    judged = Benchmark([A] * 6, [A, A, B, C, D, A], [A, B, B, C, C, D])
    shares = {
        of: pcon_at_ab(judged.two_orders(), denominator=of).value
        for of in ("either", "both", "first")
    }
    assert shares == {"either": 2 / 4, "both": 2 / 3, "first": 2 / 4}


# --- Where there is no value ---------------------------------------------------------


def test_a_judge_that_never_varies_has_no_coefficient_and_a_reason():
    expert = simulate(GOOD, n=100, rng=0).expert
    always = Benchmark(expert, [A] * 100, [A] * 100)
    for measure in (mpcc, mpcc_consistency, mpcc_delta):
        with pytest.raises(UndefinedStatistic, match="equal"):
            measure(always)
    even = Benchmark(expert, [A, B, C, D] * 25, expert)
    with pytest.raises(UndefinedStatistic, match="equal"):
        apcc(even)
    columns = mtsair.evaluate(always, resamples=20, rng=0)
    assert math.isnan(columns["MPCC"].value)
    assert "equal" in columns["MPCC"].reason
    assert columns["PCon@AB"].value == 1
    assert columns["APCC"].value == apcc(always)


@given(st.lists(codes, min_size=40, max_size=80))
def test_a_judge_of_slots_alone_is_no_correlation_of_rounding_errors(shown):
    """Its mean window values are all ½ but for the last digit."""
    judged = Benchmark(shown, shown, unswap(shown, scale=SideBySide))
    for average in ("values", "counts"):
        with pytest.raises(UndefinedStatistic):
            mpcc(judged, windows=Windows(all_bad="drop"), average=average)


def test_one_item_and_copies_of_one_item():
    one = Benchmark([A], [A], [B])
    assert window_values(one.expert).size == 0
    assert apcc(one) == pytest.approx((1 - 1 / 3) / 2)
    for measure in (mpcc, mpcc_consistency, mpcc_delta):
        with pytest.raises(UndefinedStatistic, match="0 windows"):
            measure(one)
        with pytest.raises(UndefinedStatistic, match="equal"):
            measure(one.take([0] * 40))
    nothing_but_bad = Benchmark(*[[D] * 40] * 3)
    for options, reason in (
        ({}, "nothing but"),
        ({"all_bad": "drop"}, "0 windows"),
        ({"all_bad": "half"}, "equal"),
    ):
        with pytest.raises(UndefinedStatistic, match=reason):
            mpcc(nothing_but_bad, windows=Windows(**options))
    assert math.isnan(pcon_at_ab(nothing_but_bad.two_orders()).value)


@pytest.mark.parametrize("n", [3, 10, 15])
def test_two_windows_always_lie_on_a_line(n):
    judged = Benchmark([A, B, C] * (n // 3 + 1), *[[A, B, B] * (n // 3 + 1)] * 2)
    with pytest.raises(UndefinedStatistic, match="three are the fewest"):
        mpcc(judged.take(range(n)))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda b: mpcc(b, average="runs"), "'runs'"),
        (lambda b: apcc(b, average="values"), "'values'"),
        (lambda b: mpcc_delta(b, sign="absolute"), "'absolute'"),
        (lambda b: pcon_at_ab(b.two_orders(), denominator="run 0"), "'run 0'"),
        (lambda b: over_items(b, mpcc, block=60, rng=0), "blocks of 60"),
        (lambda b: over_items(b, mpcc, block=25.0, rng=0), r"25\.0"),
        (lambda b: over_items(b, mpcc, resamples=0, rng=0), "0 resamples"),
        (lambda b: over_items(b, mpcc, resamples=2.5, rng=0), r"2\.5 resamples"),
        (lambda b: over_items(b.take([0]), apcc, rng=0), "blocks of 1 of 1 items"),
        (lambda b: Benchmark(b.expert, b.first, b.second[1:]), r"\(99,\)"),
        (lambda b: Benchmark([0, 4], [0, 1], [0, 1]), r"0\.\.3"),
        (lambda b: Benchmark([0.0, 1.0], [0, 1], [0, 1]), "float"),
        (lambda b: Benchmark([], [], []), "codes|shapes"),
        (lambda b: window_values([[b.first]]), r"\(1, 1, 100\)"),
        (lambda b: simulate(Judge(invalid_rate=0.1), rng=0), "unreadable"),
        (lambda b: simulate(GOOD, topic_size=0, rng=0), "topic_size = 0"),
        (lambda b: simulate(GOOD, topic_size=2.5, rng=0), "topic_size = 2.5"),
        (lambda b: simulate(GOOD, topic_spread=-1, rng=0), "topic_spread = -1"),
        (lambda b: simulate(GOOD, topic_spread=math.nan, rng=0), "topic_spread = nan"),
        (lambda b: simulate(GOOD, leniency=math.nan, rng=0), "leniency = nan"),
    ],
)
def test_a_wrong_request_is_refused_by_name(call, named):
    with pytest.raises(ValidationError, match=named):
        call(simulate(GOOD, n=100, rng=0))


# --- Records -------------------------------------------------------------------------


def records_of(judged):
    """Write a benchmark as the records of its two runs, verdicts on shown slots."""
    words = [verdict.name.lower().replace("_", " ") for verdict in SideBySide]
    shown = [judged.first, unswap(judged.second, scale=SideBySide)]
    return pd.DataFrame(
        [
            {"item": f"q{i}", "swapped": bool(run), "verdict": words[code]}
            for run, verdicts in enumerate(shown)
            for i, code in enumerate(verdicts)
        ]
    )


def experts_of(judged):
    return {f"q{i}": SideBySide(code).name for i, code in enumerate(judged.expert)}


@given(st.integers(0, 50))
def test_records_come_back_whatever_their_order(seed):
    judged = simulate(GOOD, n=30, rng=seed)
    frame = records_of(judged).sample(frac=1, random_state=seed)
    back = from_records(frame, experts_of(judged))
    for name in ("expert", "first", "second"):
        assert getattr(back, name).tolist() == getattr(judged, name).tolist()


def test_bad_records_are_refused_and_named():
    judged = simulate(GOOD, n=30, rng=1)
    frame, experts = records_of(judged), experts_of(judged)
    twice = pd.concat([frame, frame.iloc[[3]]])
    with pytest.raises(ValidationError, match=r"two verdicts in one run.*q3"):
        from_records(twice, experts)
    with pytest.raises(ValidationError, match=r"1 items lack .*q4"):
        from_records(frame.drop(index=4), experts)
    with pytest.raises(ValidationError, match=r"1 items lack .*q7"):
        from_records(frame[frame["item"] != "q7"], experts)
    without = {item: word for item, word in experts.items() if item != "q9"}
    with pytest.raises(ValidationError, match=r"1 items lack .*q9"):
        from_records(frame, without)
    with pytest.raises(ValidationError, match="'tie'"):
        from_records(frame.assign(verdict="tie"), experts)
    for nothing in (None, math.nan):
        holed = frame.assign(verdict=[nothing, *frame["verdict"][1:]])
        with pytest.raises(ValidationError, match="unknown verdict"):
            from_records(holed, experts)
    # One judge saw the first order, another one the second: no two runs of one judge.
    two = frame.assign(judge=np.where(frame["swapped"], "x", "y"))
    with pytest.raises(ValidationError, match=r"2 judges: \['y', 'x'\]"):
        from_records(two, experts)
    assert len(from_records(frame.assign(judge="x"), experts)) == 30
    with pytest.raises(ValidationError, match="swapped"):
        from_records(frame.drop(columns="swapped"), experts)
    with pytest.raises(ValidationError, match="true and false"):
        from_records(frame.assign(swapped=frame["swapped"].astype(str)), experts)
    with pytest.raises(ValidationError, match="more than once"):
        from_records(frame, pd.Series(["A", "B"], index=["q0", "q0"]))
    with pytest.raises(ValidationError, match="30 items lack"):
        from_records(frame[frame["swapped"]], experts)


# --- What the measures can and can't see ---------------------------------------------


def test_apcc_does_not_see_which_item_got_which_verdict():
    judged = simulate(GOOD, n=400, rng=0)
    rng = np.random.default_rng(0)
    mixed = Benchmark(
        judged.expert, rng.permutation(judged.first), rng.permutation(judged.second)
    )
    assert apcc(mixed) == apcc(judged) > 0.95
    assert abs(mtsair.beside(mixed)["kappa"].value) < 0.1
    assert mtsair.beside(judged)["kappa"].low > 0.3


def test_the_reading_of_the_average_decides_over_a_judge_that_takes_the_first_slot():
    judged = simulate(Judge(k=0, beta=9), n=500, rng=3)
    assert apcc(judged, average="counts") > 0.99
    assert apcc(judged) < 0.7


def test_order_moves_mpcc_and_nothing_else():
    judged = simulate(GOOD, n=500, rng=3)
    rng = np.random.default_rng(1)
    other = judged.take(rng.permutation(500))
    assert apcc(other) == apcc(judged)
    assert (other.two_orders() == judged.two_orders()).all()
    values = [mpcc(judged.take(rng.permutation(500))) for _ in range(200)]
    assert np.std(values) > 0.04
    assert np.ptp(values) > 0.2
    # Over all orders it comes to a correlation of items, with no windows at all.
    score = np.array([1.0, -1.0, 0.0, 0.0])
    plain = np.mean(
        [np.corrcoef(score[judged.expert], score[run])[0, 1] for run in judged.runs]
    )
    assert np.mean(values) == pytest.approx(plain, abs=0.03)


def test_mpcc_delta_needs_the_experts_and_averages_out_a_lean():
    judged = simulate(Judge(k=4, beta=2, tie_width=1), n=500, rng=5)
    other = simulate(Judge(k=4, beta=2, tie_width=1), n=500, rng=6).expert
    changed = Benchmark(other, judged.first, judged.second)
    assert mpcc_delta(changed) != pytest.approx(mpcc_delta(judged), abs=0.01)
    assert mpcc_consistency(changed) == mpcc_consistency(judged)
    assert (changed.two_orders() == judged.two_orders()).all()
    deltas = [
        mpcc_delta(simulate(Judge(k=4, beta=2, tie_width=1), n=500, rng=i))
        for i in range(100)
    ]
    assert abs(np.mean(deltas)) < 3 * np.std(deltas) / 10
    leans = mtsair.beside(judged)
    assert leans["first slot"].low > 0.7
    assert leans["lean"].p_value < 1e-6


def test_pcon_rewards_a_judge_of_length_that_knows_nothing():
    measured = {
        name: simulate(judge, n=1000, rng=3)
        for name, judge in {
            "length": Judge(k=0, verbosity=4),
            "good": GOOD,
            "cautious": Judge(k=4, tie_width=2),
        }.items()
    }
    pcon = {
        name: pcon_at_ab(judged.two_orders()).value for name, judged in measured.items()
    }
    assert pcon["length"] > pcon["good"] > pcon["cautious"]
    assert abs(mpcc(measured["length"])) < 0.2 < mpcc(measured["good"])


def test_the_simulation_gives_every_judge_the_same_items_and_experts():
    one, two = (simulate(Judge(k=k), n=50, rng=8) for k in (0, 4))
    assert (one.expert == two.expert).all()
    assert (one.first != two.first).any()
    lenient = simulate(Judge(k=0, tie_width=2), n=400, leniency=3, rng=8)
    assert (lenient.first == C).sum() > 3 * (lenient.first == D).sum()
    ahead = simulate(GOOD, n=400, edge=0.5, rng=8)
    assert (ahead.expert == A).sum() > 2 * (ahead.expert == B).sum()


# --- Intervals -----------------------------------------------------------------------


def test_an_interval_lies_around_its_value():
    judged = simulate(GOOD, n=500, rng=1)
    found = over_items(judged, mpcc, resamples=200, rng=0)
    assert found.value == mpcc(judged) == pytest.approx((found.low + found.high) / 2)
    wider = over_items(judged, mpcc, level=0.99, resamples=200, rng=0)
    assert wider.width > found.width


def test_blocks_of_one_topic_are_needed_where_topics_differ():
    judged = simulate(GOOD, n=500, topic_spread=0.7, rng=1)
    items, blocks = (
        over_items(judged, mpcc, block=b, resamples=200, rng=0) for b in (1, 25)
    )
    assert blocks.width < items.width
    assert "blocks of 25 items" in blocks.method


def test_no_spread_is_no_certainty():
    expert = simulate(GOOD, n=200, rng=2).expert
    same = over_items(Benchmark(expert, expert, expert), mpcc, resamples=20, rng=0)
    assert same.value == 1
    assert math.isnan(same.low)
    assert "all the same" in same.method


def test_too_many_undefined_resamples_leave_no_interval():
    # One B in a hundred: a third of the resamples of items have none.
    first = [A] * 99 + [B]
    judged = Benchmark(simulate(GOOD, n=100, rng=0).expert, first, first)
    found = over_items(judged, mpcc, resamples=100, rng=0)
    assert math.isfinite(found.value)
    assert math.isnan(found.low)
    assert "undefined" in found.method


@pytest.mark.parametrize(
    ("measure", "topics", "block"),
    [(apcc, 0.0, 1), (mpcc, 0.0, 1), (mpcc_delta, 0.0, 1), (mpcc, 0.7, 25)],
)
def test_the_interval_covers(measure, topics, block):
    """Short version of benchmarks/coverage_mtsair.py, smaller benchmarks."""
    kind = partial(simulate, Judge(k=2, tie_width=1), n=300, topic_spread=topics)
    truth = np.mean([measure(kind(rng=10**6 + i)) for i in range(400)])
    bounds = (-2, 2) if measure is mpcc_delta else (-1, 1)
    found = [
        over_items(
            kind(rng=i), measure, block=block, bounds=bounds, resamples=60, rng=i
        )
        for i in range(100)
    ]
    covered = np.mean([e.low <= truth <= e.high for e in found])
    assert covered >= 0.88


def test_resampling_items_where_topics_differ_misses_by_percentiles():
    rng = np.random.default_rng(0)
    truth = np.mean(
        [mpcc(simulate(GOOD, topic_spread=0.7, rng=10**6 + i)) for i in range(200)]
    )
    for seed in range(5):
        judged = simulate(GOOD, topic_spread=0.7, rng=seed)
        drawn = [mpcc(judged.take(rng.integers(0, 500, 500))) for _ in range(100)]
        assert np.quantile(drawn, 0.975) < truth


# --- The leaderboard -----------------------------------------------------------------


def test_the_average_column_is_the_mean_in_every_row():
    average, others = mtsair.reproduce()
    assert average.counts[Match.EXACT] == len(average.cells) == 5
    assert others.counts[Match.NOT_REPRODUCIBLE] == len(others.cells) == 25


def test_a_wrong_average_would_be_found(monkeypatch):
    frame = data.published("mtsair", "leaderboard")
    frame.loc[2, "avg_correlation"] += 0.02
    monkeypatch.setattr(data, "published", lambda *_: frame)
    assert mtsair.reproduce()[0].counts[Match.MISMATCH] == 1


def test_the_printed_rows_are_possible():
    runs = mtsair.implied_runs()
    assert (runs["residual"].abs() < 1).all()
    printed = data.published("mtsair", "leaderboard").set_index("model") / 100
    assert (runs["first"] + runs["swapped"]).to_numpy() / 2 == pytest.approx(
        printed["mpcc"].to_numpy()
    )
    assert (runs["swapped"] - runs["first"]).to_numpy() == pytest.approx(
        printed["mpcc_swap_delta"].to_numpy()
    )
    for name, row in runs.iterrows():
        three = [
            [1, row["first"], row["swapped"]],
            [row["first"], 1, row["consistency"]],
            [row["swapped"], row["consistency"], 1],
        ]
        assert np.linalg.eigvalsh(three).min() > 0, name
        inverse = np.linalg.inv(three)
        partial_r = -inverse[1, 2] / math.sqrt(inverse[1, 1] * inverse[2, 2])
        assert row["residual"] == pytest.approx(partial_r)


@pytest.mark.parametrize("rng", [None, -1, 0.5, "seed"])
def test_what_is_drawn_can_be_repeated(rng):
    with pytest.raises(ValidationError, match="rng is"):
        simulate(GOOD, rng=rng)
    drawn = simulate(GOOD, n=60, rng=0)
    with pytest.raises(ValidationError, match="rng is"):
        over_items(drawn, mpcc, rng=rng)
    with pytest.raises(ValidationError, match="rng is"):
        mtsair.evaluate(drawn, rng=rng)
