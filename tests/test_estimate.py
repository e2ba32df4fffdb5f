"""An estimate prints itself, stands for its value, and refuses nonsense."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab import Estimate
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import give_up

KAPPA = Estimate(0.5, 0.331, 0.669, n=1200, method="delta method")


def test_it_prints_with_its_interval_its_n_and_its_method():
    assert repr(KAPPA) == "0.500 [0.331, 0.669] (n = 1,200, delta method)"
    assert str(KAPPA) == "0.500 [0.331, 0.669]"
    assert f"{KAPPA:.1%}" == "50.0% [33.1%, 66.9%]"
    ninety = Estimate(0.5, 0.4, 0.6, n=9, method="Wilson", level=0.9)
    assert repr(ninety).endswith("(n = 9, Wilson, 90% interval)")


def test_it_stands_for_its_value():
    assert float(KAPPA) == 0.5
    assert KAPPA.width == pytest.approx(0.338)
    assert np.mean([float(KAPPA), 1.0]) == 0.75


def test_a_value_without_an_interval():
    alone = Estimate(0.5, math.nan, math.nan, n=1, method="no interval from one item")
    assert str(alone) == "0.500"


def test_undefined_says_why():
    nothing = Estimate.undefined("both judges <always> say A", n=12)
    assert math.isnan(float(nothing))
    assert repr(nothing) == "undefined (n = 12): both judges <always> say A"
    assert f"{nothing:.2f}" == "undefined"
    assert "&lt;always&gt;" in nothing._repr_html_()


def test_html_escapes_the_method():
    html = Estimate(0.5, 0.4, 0.6, n=3, method="<b>")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        KAPPA.value = 1.0


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0.5, 0.6, 0.4, 10, "x"), "low must not exceed high"),
        ((0.5, 0.4, 0.6, 10, "x", 1.0), "level"),
        ((0.5, 0.4, 0.6, 10, "x", 95), "level"),
        ((math.nan, 0.4, 0.6, 10, "x"), "reason"),
        ((0.5, math.nan, 0.6, 10, "x"), "both"),
        ((0.5, 0.4, 0.6, -1, "x"), "n is -1"),
    ],
)
def test_nonsense_is_refused(arguments, match):
    with pytest.raises(ValidationError, match=match):
        Estimate(*arguments)


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_equal_estimates_are_equal(value, below, above):
    one, two = (Estimate(value, value - below, value + above, 5, "x") for _ in "ab")
    assert one == two
    assert hash(one) == hash(two)


def test_giving_up_is_an_error_or_a_reason():
    with pytest.raises(UndefinedStatistic, match=r'no pairs.*undefined="nan"'):
        give_up("no pairs", 0, "raise")
    assert give_up("no pairs", 0, "nan").reason == "no pairs"
    with pytest.raises(ValidationError, match="undefined is None"):
        give_up("no pairs", 0, None)


def test_a_level_is_shown_as_it_is():
    assert "99.9% interval" in repr(Estimate(0.5, 0.4, 0.6, 10, "x", 0.999))


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (".2f", "0.00 [-0.10, 0.00]"),
        ("+.2f", "+0.00 [-0.10, +0.00]"),
        (".0%", "0% [-10%, 0%]"),
    ],
)
def test_what_rounds_to_zero_has_no_sign(spec, shown):
    assert format(Estimate(-0.001, -0.1, -0.0002, 9, "made up"), spec) == shown
