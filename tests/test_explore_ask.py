"""The demo of "Ask a real model" shows what the package computes from the replies."""

import numpy as np
import pytest

from judgelab.counts import two_order_tables
from judgelab.explore.ask import _JUDGES, MovedThreshold, recorded_verdicts
from judgelab.position import (
    at_threshold,
    average_orders,
    position_consistency,
    right_verdicts,
)
from judgelab.simulate import Judge, draw_pairs, simulate

DEMO = MovedThreshold()
JUDGES = list(_JUDGES.values())


@pytest.mark.parametrize("judge", JUDGES, ids=" ".join)
@pytest.mark.parametrize("threshold", [-0.4, 0.0, 0.3, 2.2])
def test_the_bars_are_those_of_the_moved_records(judge, threshold):
    moved = at_threshold(recorded_verdicts(*judge), threshold)
    numbers = DEMO.compute(judge=judge, threshold=threshold)
    right = right_verdicts(moved)
    (table,) = two_order_tables(moved).tables
    assert numbers.right.value == pytest.approx(right.sum() / 2 / len(right))
    assert numbers.consistent == position_consistency(table)


@pytest.mark.parametrize("judge", JUDGES, ids=" ".join)
def test_averaging_is_not_moved_by_the_threshold(judge):
    both = average_orders(recorded_verdicts(*judge))
    prefers = np.where(both["preference"] > 0, "A", "B")
    right = (prefers == both["gold"]).mean()
    for threshold in (-1, 0, 3):
        numbers = DEMO.compute(judge=judge, threshold=threshold)
        assert numbers.averaged.value == pytest.approx(right)


def test_no_threshold_makes_a_judge_of_the_null_judge():
    for setting in DEMO.settings():
        if setting["judge"] == ("smollm2", "pairwise"):
            assert DEMO.compute(**setting).right.low < 0.5


def test_the_simulated_judge_is_fitted_to_the_log_odds(monkeypatch):
    pairs = draw_pairs(5000, rng=4)
    planted = Judge(k=3, beta=0.7)
    odds = np.stack([s * 3 * pairs.delta + 0.7 for s in (1, -1)], axis=1).ravel()
    records = simulate(planted, pairs, rng=4).assign(log_odds=odds, kind="drawn")
    monkeypatch.setattr(
        "judgelab.explore.ask.recorded_verdicts", lambda *_: records, raising=True
    )
    for threshold in (0.0, 0.7):
        numbers = DEMO.compute(judge=("planted", str(threshold)), threshold=threshold)
        assert numbers.beta.value == pytest.approx(0.7 - threshold)
        assert numbers.simulated == pytest.approx(numbers.sampled, abs=0.01)
    assert numbers.consistent.value == 1


@pytest.mark.parametrize("judge", JUDGES, ids=" ".join)
def test_every_pair_lies_inside_the_picture(judge):
    read = DEMO.compute(judge=judge, threshold=0).read
    low, high = read.edges
    odds = np.concatenate([read.first, read.second])
    assert low <= odds.min() < odds.max() <= high


def test_every_frame_has_words_and_no_undefined_number():
    settings = list(DEMO.settings())
    assert len(settings) == 41 * len(JUDGES)
    for params in settings[::7]:
        picture, table = DEMO.frame(**params)
        assert "nan" not in picture + table
        assert picture.count("<rect") == 6
        pairs = recorded_verdicts(*params["judge"])["item"].nunique()
        assert picture.count("<circle") == pairs
        assert table.count("<tr>") == 6
