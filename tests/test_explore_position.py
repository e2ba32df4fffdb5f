"""The demo of position bias and its twin: the package's numbers, and words for them."""

import numpy as np
import pytest

from judgelab.explore import PositionBias, RealOrders
from judgelab.papers import judgebench
from judgelab.simulate import Judge, draw_pairs, tables_by_gold


def test_bars_move_as_the_source_says():
    demo = PositionBias()
    rates = [demo.compute(k=4, beta=beta) for beta in (0, 1, 2, 3)]
    for name, sign in (("consistent", -1), ("single", 1), ("swap", -1), ("ties", 1)):
        values = [getattr(r, name).value for r in rates]
        assert (sign * np.diff(values) > 0).all(), name


def test_a_coin_contradicts_itself_half_the_time():
    coin = PositionBias().compute(k=0, beta=0)
    for rate, truth in ((coin.consistent, 0.5), (coin.single, 0.5), (coin.swap, 0.25)):
        assert rate.low < truth < rate.high
    assert coin.ties.value == pytest.approx(1 - coin.consistent.value)


def test_leans_mirror():
    demo = PositionBias()
    one, other = demo.compute(k=4, beta=2), demo.compute(k=4, beta=-2)
    for name in ("consistent", "single", "swap", "ties"):
        a, b = getattr(one, name), getattr(other, name)
        assert max(a.low, b.low) < min(a.high, b.high), name


def test_the_demo_shows_the_package_s_numbers():
    tables = tables_by_gold(Judge(4, 1), draw_pairs(1000, rng=1), rng=1)
    first = tables[0].sum() + tables[1].sum()
    wrong = tables[0][1].sum() + tables[1][0].sum()
    numbers = PositionBias().compute(k=4, beta=1)
    assert numbers.single.value == wrong / first
    assert numbers.readable == numbers.pairs == 1000


@pytest.mark.parametrize("judge", sorted(judgebench.NAMES.values()))
def test_the_twin_counts_readable_pairs(judge):
    tables = judgebench.tables_by_gold(judge)
    numbers = RealOrders().compute(judge=judge)
    assert numbers.pairs == tables.sum()
    assert numbers.readable == tables[:, :3, :3].sum()
    agree = np.trace(tables[:, :3, :3].sum(axis=0))
    assert numbers.consistent.value == pytest.approx(agree / numbers.readable)


@pytest.mark.parametrize("demo", [PositionBias(), RealOrders()])
def test_every_frame_has_words_and_no_undefined_number(demo):
    settings = list(demo.settings())
    assert len(settings) == {"position-bias": 425, "position-bias-real": 12}[demo.name]
    for params in settings[:: max(1, len(settings) // 30)]:
        picture, table = demo.frame(**params)
        assert "undefined" not in picture
        assert "nan" not in picture
        assert picture.count("<rect") == 4
        assert table.count("<tr>") == 5
    assert demo.to_html() == demo.to_html()
