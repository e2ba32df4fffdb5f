"""The demos of the side-by-side chapter: the package's numbers, and words for them."""

import numpy as np
import pytest

from judgelab.explore.mtsair import FourCounts, WindowsOfVerdicts
from judgelab.papers.mtsair import (
    Windows,
    apcc,
    class_counts,
    item_correlation,
    mpcc,
    simulate,
)
from judgelab.simulate import Judge

GOOD = simulate(Judge(k=4, tie_width=1), n=500, rng=3)


def windows(**changed):
    setting = {"items": 0.0, "size": 10, "overlap": 0.5, "order": 0}
    return WindowsOfVerdicts().compute(**(setting | changed))


def test_the_first_frame_is_the_leaderboards_mpcc():
    numbers = windows()
    assert numbers.mpcc == mpcc(GOOD)
    assert numbers.items == item_correlation(GOOD)
    assert len(numbers.expert) == 99


@pytest.mark.parametrize("size", [5, 10, 20, 50])
@pytest.mark.parametrize(("overlap", "stride"), [(0.0, 1), (0.5, None), (1.0, None)])
def test_size_and_stride_are_what_the_reader_chose(size, overlap, stride):
    stride = stride or int(overlap * size)
    cut = Windows(size, stride, all_bad="drop")
    numbers = windows(size=size, overlap=overlap)
    assert numbers.mpcc == mpcc(GOOD, windows=cut)
    assert len(numbers.judge) == (500 - size) // stride + 1


def test_order_moves_mpcc_alone_and_within_what_the_second_bar_shows():
    moved = [windows(order=order) for order in range(13)]
    assert len({m.mpcc for m in moved}) == 13
    assert len({(m.items, m.kappa, m.over_orders) for m in moved}) == 1
    mean, low, high = moved[0].over_orders
    assert low < mean < high
    assert np.mean([low <= m.mpcc <= high for m in moved]) > 0.7


def test_topics_in_order_lift_mpcc_and_a_shuffle_undoes_it():
    as_drawn, *shuffled = (windows(items=0.6, order=order) for order in range(6))
    assert as_drawn.mpcc > as_drawn.over_orders[2]
    assert max(m.mpcc for m in shuffled) < as_drawn.mpcc


def test_a_whisker_below_zero_is_shown_to_its_end():
    demo = WindowsOfVerdicts()
    below = [s for s in demo.settings() if demo.compute(**s).over_orders[1] < 0]
    assert below
    for setting in below:
        numbers = demo.compute(**setting)
        assert min(numbers.mpcc, numbers.over_orders[1]) > -0.1, "the scale's end"


def planted(**changed):
    setting = {"k": 4, "ties": 1, "beta": 0, "length": 0, "average": "coefficients"}
    return FourCounts().compute(**(setting | changed))


def test_the_first_judge_is_the_good_one():
    numbers = planted()
    assert numbers.apcc == apcc(GOOD)
    assert numbers.mpcc == mpcc(GOOD)
    assert numbers.judge == pytest.approx(class_counts(*GOOD.runs) / 1000)
    for shares in (numbers.expert, numbers.judge):
        assert shares.sum() == pytest.approx(1)


def test_what_the_chapter_tells_the_reader_to_try():
    length = planted(k=0, ties=0, length=4)
    assert length.apcc > 0.95
    assert length.pcon.low > 0.75
    assert abs(length.mpcc) < 0.2
    assert length.kappa.low < 0 < length.kappa.high
    cautious = planted(ties=2)
    assert cautious.apcc < 0
    assert cautious.kappa.low > 0.2
    slot = {a: planted(k=0, beta=4, average=a) for a in ("coefficients", "counts")}
    assert slot["counts"].apcc - slot["coefficients"].apcc > 0.3


@pytest.mark.parametrize(
    ("demo", "frames"), [(WindowsOfVerdicts(), 312), (FourCounts(), 800)], ids=str
)
def test_every_frame_has_words_and_no_raw_nan(demo, frames):
    settings = list(demo.settings())
    assert len(settings) == frames
    for params in settings[:: frames // 40]:
        picture, table = demo.frame(**params)
        assert "nan" not in picture + table
        assert table.count("<tr>") == len(demo.figures(demo.compute(**params)))
