"""The demos of ratings: the package's numbers, and pictures that show them."""

import re

import numpy as np
import pytest

from judgelab.errors import Disconnected, Separated
from judgelab.explore import EloConvergence, MMIteration, RealRankings
from judgelab.explore.ranking import (
    _CEILING,
    _FLOOR,
    BOARDS,
    _record,
    when_there_is_a_ranking,
)
from judgelab.papers import mt_bench
from judgelab.ranking import bradley_terry, elo

DEMOS = [EloConvergence(), MMIteration(), RealRankings()]


@pytest.mark.parametrize("games", [30, 300, 1200])
def test_order_moves_elo_and_not_the_fit(games):
    demo = EloConvergence()
    paths = [demo.compute(k=32, games=games, order=order) for order in range(4)]
    assert len({path.fitted for path in paths}) == 1
    last = np.array([path.history[-1] for path in paths])
    assert (np.ptp(last, axis=0) > 1).all()
    # Elo hands points on: the mean stays.
    assert last.mean(axis=1) == pytest.approx(1500)


def test_the_games_as_played_are_elo_s():
    first, second, won = (part[:120] for part in _record())
    path = EloConvergence().compute(k=16, games=120, order=0)
    assert path.history[-1] == pytest.approx(elo(first, second, won, players=3, k=16))


def test_a_larger_k_wanders_further():
    demo = EloConvergence()
    spreads = [
        np.mean(
            [
                high - low
                for low, high in demo.compute(k=k, games=1200, order=0).other_orders
            ]
        )
        for k in (4, 16, 64)
    ]
    assert spreads == sorted(spreads)


def test_other_orders_hold_most_of_the_shuffles():
    demo = EloConvergence()
    inside = [
        low <= last <= high
        for order in range(1, 10)
        for path in [demo.compute(k=32, games=300, order=order)]
        for last, (low, high) in zip(path.history[-1], path.other_orders, strict=True)
    ]
    assert 0.8 < np.mean(inside) <= 1


def test_the_fit_is_near_the_truth():
    fitted = EloConvergence().compute(k=32, games=1200, order=0).fitted
    for estimate, truth in zip(fitted, (1600, 1500, 1400), strict=True):
        assert abs(estimate.value - truth) < 2 * estimate.width / 2


def test_no_rating_leaves_the_picture():
    demo = EloConvergence()
    for setting in demo.settings():
        history = demo.compute(**setting).history
        assert history.min() > _FLOOR
        assert history.max() < _CEILING


@pytest.mark.parametrize("games", ["votes", "chain"])
def test_mm_comes_nearer_with_every_sweep(games):
    demo = MMIteration()
    short = [demo.compute(games=games, sweep=s).short for s in (0, 1, 5, 20, 100, 1000)]
    assert short == sorted(short, reverse=True)
    assert short[-1] < 0.3


def test_small_steps_are_not_the_top():
    state = MMIteration().compute(games="chain", sweep=100)
    assert state.step < 1 < 30 < state.short


@pytest.mark.parametrize("ties", ["half", "drop", "davidson", "rao-kupper"])
def test_real_votes_are_the_package_s(ties):
    votes = mt_bench.wins_by_question("G4-Pair")
    fit = bradley_terry(
        votes.wins, ties=votes.ties, tie_policy=ties, players=votes.models
    )
    shown = RealRankings().compute(ties=ties, units="cluster", ranks=False).shown
    for model, estimate in fit.estimates(scale="elo").items():
        assert shown[model][1] == estimate
    ranks = RealRankings().compute(ties=ties, units="cluster", ranks=True)
    assert {m: pair[1] for m, pair in ranks.shown.items()} == fit.ranks()
    assert ranks.tau == pytest.approx(1)


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_frame_stays_inside_its_picture(demo):
    settings = list(demo.settings())
    for params in settings[:: max(1, len(settings) // 40)]:
        picture, table = demo.frame(**params)
        assert "nan" not in picture + table
        height = int(re.search(r'viewBox="0 0 360 (\d+)"', picture)[1])
        for x, y in re.findall(r'x="(-?\d+)" y="(-?\d+)"', picture):
            assert 0 <= int(x) <= 360
            assert 0 <= int(y) <= height
    assert demo.to_html() == demo.to_html()


def test_only_the_first_of_the_drawn_boards_has_a_ranking():
    rated, separated, apart = BOARDS.values()
    assert np.isfinite(bradley_terry(rated).ratings).all()
    with pytest.raises(Separated, match="never lost"):
        bradley_terry(separated)
    with pytest.raises(Disconnected):
        bradley_terry(apart)


def test_every_board_is_drawn_with_all_its_arrows_and_words():
    picture = when_there_is_a_ranking(alt="Three boards.", caption="Figure 2.").svg
    beaten = sum(np.count_nonzero(wins) for wins in BOARDS.values())
    assert picture.count("<path") == beaten
    assert all(f">{words}</text>" in picture for words in BOARDS)
    assert 'aria-label="Three boards."' in picture
