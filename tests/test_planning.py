"""Plans are intervals and tests turned round: so turn them back and look."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binom

from judgelab.agreement import cohen_kappa
from judgelab.errors import Disconnected, UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.planning import (
    battles_for_difference,
    items_for_kappa,
    items_for_power,
    items_for_proportion,
    items_for_width,
    ranking_stability,
)
from judgelab.ranking import bradley_terry


@settings(max_examples=40, deadline=None)
@given(width=st.floats(0.03, 0.6), share=st.floats(0, 1))
def test_the_planned_interval_is_as_narrow_as_wanted_and_one_item_fewer_is_not(
    width, share
):
    n = items_for_proportion(width, share=share)
    assert proportion(share * n, n).width <= width
    if n > 1:
        assert proportion(share * (n - 1), n - 1).width > width


def test_a_share_of_one_half_needs_what_the_textbook_says():
    # Wald: (2z·½ / width)² = 384.1; Wilson's interval is narrower by z² = 3.8 items.
    assert items_for_proportion(0.1) == math.ceil(384.15 - 3.84)


@pytest.mark.parametrize(
    ("share", "against", "power", "level"),
    [(0.6, 0.5, 0.8, 0.95), (0.75, 0.5, 0.9, 0.95), (0.3, 0.25, 0.8, 0.9)],
)
def test_power_is_reached_for_good_and_not_before(share, against, power, level):
    n = items_for_power(share, against=against, power=power, level=level)

    def reached(size: int) -> float:
        k = np.arange(size + 1)
        lower = binom.cdf(k, size, against) <= (1 - level) / 2 + 1e-15
        upper = binom.sf(k - 1, size, against) <= (1 - level) / 2 + 1e-15
        return binom.pmf(k, size, share)[lower | upper].sum()

    assert reached(n - 1) < power
    assert all(reached(size) >= power for size in range(n, n + 60))


@pytest.mark.parametrize("kappa", [0.0, 0.6, 0.9])
def test_many_items_for_kappa_are_those_of_its_large_sample_variance(kappa):
    p, width = np.array([0.7, 0.2, 0.1]), 0.01
    n = items_for_kappa(width, kappa=kappa, shares=p)
    table = kappa * np.diag(p) + (1 - kappa) * np.outer(p, p)
    # Fleiss, Cohen & Everitt (1969), equation 13, by hand.
    chance = (p**2).sum()
    agreed = np.trace(table)
    a = (np.diag(table) * (1 - 2 * p * (1 - kappa)) ** 2).sum()
    off = table * (1 - np.eye(3))
    b = (1 - kappa) ** 2 * (off * (p[:, None] + p) ** 2).sum()
    c = (kappa - chance * (1 - kappa)) ** 2
    error = math.sqrt((a + b - c) / (1 - chance) ** 2)
    assert (agreed - chance) / (1 - chance) == pytest.approx(kappa)
    assert n == pytest.approx((2 * 1.959964 * error / width) ** 2, rel=1e-3)


@pytest.mark.parametrize(
    ("kappa", "shares", "width"),
    [(0.6, [0.5, 0.5], 0.3), (0.8, [0.9, 0.1], 0.3), (0.3, [0.4, 0.4, 0.2], 0.2)],
)
def test_planned_items_give_kappa_its_width_on_average(kappa, shares, width):
    n = items_for_kappa(width, kappa=kappa, shares=shares)
    p = np.array(shares)
    cells = kappa * np.diag(p) + (1 - kappa) * np.outer(p, p)
    rng = np.random.default_rng(1)
    tables = rng.multinomial(n, cells.ravel(), 200).reshape(-1, p.size, p.size)
    widths = [cohen_kappa(table).width for table in tables]
    assert np.mean(widths) == pytest.approx(width, rel=0.04)
    assert cohen_kappa(n * cells).width <= width < cohen_kappa((n - 1) * cells).width


def test_a_pilot_is_scaled():
    pilot = cohen_kappa([[40, 10], [12, 38]], interval="asymptotic")
    n = items_for_width(pilot, pilot.width / 2)
    assert n == 400
    grown = cohen_kappa([[160, 40], [48, 152]], interval="asymptotic")
    assert grown.width == pytest.approx(pilot.width / 2)


def test_battles_give_the_planned_interval():
    ratings = np.array([0.4, 0.0, -0.5, 0.3])
    n = battles_for_difference(ratings, 0, 2, width=0.4)
    share = special.expit(ratings[:, None] - ratings)
    wins = n / 6 * share * (1 - np.eye(4))
    gap = bradley_terry(wins).difference(0, 2)
    assert gap.value == pytest.approx(0.9)
    assert gap.width == pytest.approx(0.4, rel=1e-3)
    assert battles_for_difference(
        ratings * 173.7178, 0, 2, width=0.4 * 173.7178, scale="elo"
    ) == pytest.approx(n, abs=1)


def test_battles_give_the_planned_power():
    ratings = np.array([0.25, 0.0, -0.25])
    n = battles_for_difference(ratings, 0, 1, power=0.8)
    rng = np.random.default_rng(1)
    i, j = np.array([0, 0, 1]), np.array([1, 2, 2])
    chance = special.expit(ratings[i] - ratings[j])
    noticed, runs = 0, 400
    for _ in range(runs):
        games = rng.multinomial(n, [1 / 3] * 3)
        first = rng.binomial(games, chance)
        wins = np.zeros((3, 3))
        wins[i, j], wins[j, i] = first, games - first
        noticed += bradley_terry(wins).difference(0, 1).low > 0
    # Three standard errors of a share of .8 in 400.
    assert noticed / runs == pytest.approx(0.8, abs=0.06)


def test_a_design_that_never_joins_the_players_is_refused():
    design = np.zeros((4, 4))
    design[0, 1] = design[1, 0] = design[2, 3] = design[3, 2] = 1
    with pytest.raises(Disconnected, match="player 0 to player 2"):
        battles_for_difference([0, 0, 1, 0], 0, 2, width=0.3, design=design)
    # Two of one group need nobody else, and half of the battles are theirs.
    alone = battles_for_difference([0, 0], 0, 1, width=0.3)
    among_four = battles_for_difference([0, 0, 1, 0], 0, 1, width=0.3, design=design)
    assert among_four in (2 * alone - 1, 2 * alone)


def scores(seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    gap = np.linspace(1.5, -1.5, 10)[:, None] - rng.normal(size=400)
    return (rng.random((10, 400)) < special.expit(gap)).astype(int)


def test_more_data_give_a_more_stable_ranking_and_answers_less_than_items():
    pairs = ranking_stability(scores(), [0.1, 0.5, 1.0], unit="pairs", rng=1)
    assert pairs[0].tau.value < pairs[1].tau.value < pairs[2].tau.value
    assert pairs[2].tau.value == pairs[2].rho.value == pytest.approx(1)
    assert pairs[0].tau.n + pairs[0].lost == 30
    matches = ranking_stability(scores(), [0.1], unit="matches", rng=1, method="joint")
    assert matches[0].tau.value < pairs[0].tau.value


def test_subsamples_without_a_ranking_are_counted_or_refused():
    table = np.zeros((3, 40), int)
    table[0, :12], table[1, 6:18], table[2, [0, 8, 20]] = 1, 1, 1
    part = ranking_stability(table, [0.5], unit="pairs", rng=1, repeats=40)[0]
    assert 0 < part.lost < 40
    assert part.rho.n == 40 - part.lost
    with pytest.raises(UndefinedStatistic, match="keep more"):
        ranking_stability(table, [0.03], unit="pairs", rng=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: items_for_proportion(0),
        lambda: items_for_proportion(0.1, share=1.5),
        lambda: items_for_power(0.5),
        lambda: items_for_power(0.6, power=1),
        lambda: items_for_kappa(0.1, kappa=1, shares=[0.5, 0.5]),
        lambda: items_for_kappa(0.1, kappa=0.5, shares=[0.5, 0.6]),
        lambda: items_for_kappa(0.1, kappa=0.5, shares=[1.0]),
        lambda: items_for_kappa(0.1, kappa=0.5, shares=[1 - 1e-9, 1e-9]),
        lambda: items_for_power(0.6, level=1),
        lambda: battles_for_difference([math.nan, 0], 0, 1, width=1),
        lambda: battles_for_difference([0, 1], 0, 1, width=1, level=1.2),
        lambda: battles_for_difference([0, 1], 0, 1, width=1, design=[[0, 0], [0, 0]]),
        lambda: items_for_width(Estimate(0, -1, 1, 9, "made up"), -1),
        lambda: battles_for_difference([0, 1], 0, 0, width=1),
        lambda: battles_for_difference([0, 1], 0, 1),
        lambda: battles_for_difference([0, 1], 0, 1, width=1, power=0.5),
        lambda: battles_for_difference([0, 0], 0, 1, power=0.5),
        lambda: battles_for_difference([0, 1], 0, 1, power=1.5),
        lambda: battles_for_difference([0, 1], 0, 1, width=1, design=[[0, 1]]),
        lambda: ranking_stability(scores(), [0], unit="pairs", rng=1),
        lambda: ranking_stability(scores(), [0.5], unit="rows", rng=1),
        lambda: ranking_stability(scores(), [0.5], unit="pairs", rng=1, repeats=0),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(ValidationError):
        call()


def test_a_pilot_without_an_interval_is_no_plan():
    with pytest.raises(UndefinedStatistic, match="nothing to plan with"):
        items_for_width(Estimate.undefined("one category", 5), 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: items_for_power(0.50001),
        lambda: items_for_proportion(1e-6),
        lambda: items_for_kappa(1e-9, kappa=0.5, shares=[0.5, 0.5]),
        lambda: items_for_width(Estimate(0.5, 0.3, 0.7, 100, "made up"), 1e-300),
        lambda: battles_for_difference([40, 0], 0, 1, width=1),
        lambda: battles_for_difference([1e-9, 0], 0, 1, power=0.8),
    ],
)
def test_a_wish_is_no_plan(call):
    with pytest.raises(UndefinedStatistic, match="needed"):
        call()


def test_a_plan_is_for_one_item_at_least():
    pilot = Estimate(0.5, 0.3, 0.7, n=100, method="made up")
    assert items_for_width(pilot, 1e6) == 1
    assert battles_for_difference([1, 0], 0, 1, width=1e3) == 1
    # Shares that far apart show in a single item.
    assert items_for_power(0.999, against=0.001) == 1
    with pytest.raises(UndefinedStatistic, match="0 units"):
        items_for_width(Estimate(0.5, 0.3, 0.7, n=0, method="made up"), 0.1)


def test_judges_rated_equal_have_no_ranking_to_be_stable():
    table = np.zeros((2, 200), int)
    table[0, ::2] = table[1, 1::2] = 1
    with pytest.raises(UndefinedStatistic, match="rated equal"):
        ranking_stability(table, [0.5], unit="pairs", rng=1)


def test_single_answers_are_drawn_from_those_that_were_given():
    table = scores().astype(float)
    table[:, 1::2] = np.nan
    holes = ranking_stability(table, [0.5], unit="matches", rng=1, repeats=40)[0]
    full = ranking_stability(table[:, ::2], [0.5], unit="matches", rng=1, repeats=40)[0]
    assert holes.tau.value == pytest.approx(full.tau.value, abs=0.06)
