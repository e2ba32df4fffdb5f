"""Intraclass correlation: published values, formulas on random inputs, coverage."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgelab.agreement import icc
from judgelab.errors import UndefinedStatistic, ValidationError

VECTOR = next(
    vector
    for vector in json.loads(
        (Path(__file__).parent / "oracles" / "agreement.json").read_text()
    )["vectors"]
    if vector["id"] == "icc_shrout_fleiss_6x4"
)
SCORES = np.array(VECTOR["ratings_item_by_rater"])
FORMS = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")
matrices = st.tuples(st.integers(3, 8), st.integers(2, 5)).flatmap(
    lambda shape: arrays(
        float, shape, elements=st.integers(0, 9).map(float), fill=st.nothing()
    )
)


@pytest.mark.parametrize("form", FORMS)
def test_shrout_and_fleiss(form):
    printed = {
        "ICC1": 0.17, "ICC2": 0.29, "ICC3": 0.71,
        "ICC1k": 0.44, "ICC2k": 0.62, "ICC3k": 0.91,
    }  # fmt: skip
    value = icc(SCORES, form=form).value
    assert value == pytest.approx(printed[form], abs=5e-3)
    assert value == pytest.approx(VECTOR["expected"][form], abs=1e-11)


@pytest.mark.parametrize(
    ("form", "low", "high"),
    [
        # As R's psych::ICC prints them for these data.
        ("ICC1", -0.13, 0.72),
        ("ICC2", 0.019, 0.76),
        ("ICC3", 0.34, 0.95),
        ("ICC1k", -0.88, 0.91),
        ("ICC2k", 0.071, 0.93),
        ("ICC3k", 0.68, 0.99),
    ],
)
def test_intervals_of_the_published_example(form, low, high):
    estimate = icc(SCORES, form=form)
    assert estimate.low == pytest.approx(low, abs=6e-3)
    assert estimate.high == pytest.approx(high, abs=6e-3)


@given(matrices, st.floats(-50, 50), st.sampled_from([0.5, 2.0, 10.0]))
def test_shift_and_stretch_are_no_news(matrix, shift, stretch):
    for form in FORMS:
        ours = icc(matrix, form=form, undefined="nan")
        twin = icc(matrix * stretch + round(shift), form=form, undefined="nan")
        assert twin.value == pytest.approx(ours.value, rel=1e-6, abs=1e-6, nan_ok=True)


@given(matrices, st.lists(st.integers(-5, 5), min_size=5, max_size=5))
def test_leniency_is_error_for_agreement_and_not_for_consistency(matrix, leniency):
    lenient = matrix + np.array(leniency)[: matrix.shape[1]]
    for form in ("ICC3", "ICC3k"):
        ours = icc(matrix, form=form, undefined="nan")
        twin = icc(lenient, form=form, undefined="nan")
        assert twin.value == pytest.approx(ours.value, rel=1e-6, abs=1e-6, nan_ok=True)


@given(matrices)
def test_bounds_hold_the_value(matrix):
    for form in FORMS:
        estimate = icc(matrix, form=form, undefined="nan")
        if np.isfinite(estimate.value):
            assert estimate.low <= estimate.value + 1e-9
            assert estimate.value <= estimate.high + 1e-9 <= 1 + 2e-9


def test_constant_ratings_and_single_raters_are_undefined():
    with pytest.raises(UndefinedStatistic, match="all ratings are the same"):
        icc(np.full((4, 3), 2.0))
    with pytest.raises(UndefinedStatistic, match="1 raters"):
        icc(np.arange(4.0)[:, None])
    leniency_only = np.tile([1.0, 2.0, 3.0], (4, 1))
    estimate = icc(leniency_only, form="ICC3", undefined="nan")
    assert "do not differ" in estimate.reason


@pytest.mark.parametrize("form", ["ICC1k", "ICC2k"])
def test_a_mean_without_reliability_is_undefined(form):
    ratings = [[0.0, 5.0, 5.0, 1.0], [4.0, 3.0, 0.0, 6.0], [2.0, 4.0, 2.0, 4.0]]
    with pytest.raises(UndefinedStatistic, match="no reliability"):
        icc(np.array(ratings) - np.mean(ratings, 1, keepdims=True), form=form)


def test_rounding_makes_no_variance():
    leniency_only = np.tile([0.1, 0.2, 0.7], (7, 1)) + 1 / 3
    with pytest.raises(UndefinedStatistic, match="do not differ"):
        icc(leniency_only, form="ICC3")


def test_identical_raters():
    matrix = np.repeat(np.arange(5.0)[:, None], 3, axis=1)
    for form in FORMS:
        assert icc(matrix, form=form).value == 1


def test_bad_input():
    with pytest.raises(ValidationError, match=r"\(1, 0\)"):
        icc([[1.0, 2.0], [np.nan, 3.0]])
    with pytest.raises(ValidationError, match="form is 'ICC4'"):
        icc(SCORES, form="ICC4")
    with pytest.raises(ValidationError, match="dtype"):
        icc([["a", "b"], ["c", "d"]])
    with pytest.raises(ValidationError, match="level is 1"):
        icc(SCORES, level=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("unit", [1e-200, 1e-9, 1e200])
def test_origin_and_unit_do_not_matter(form, unit):
    expected = icc(SCORES, form=form)
    found = icc((np.asarray(SCORES) + 7) * unit, form=form)
    for end in ("value", "low", "high"):
        assert getattr(found, end) == pytest.approx(getattr(expected, end), abs=1e-9)


def test_nullable_numbers():
    frame = pd.DataFrame(SCORES, dtype="Int64")
    assert icc(frame) == icc(SCORES)
    frame.iloc[0, 0] = pd.NA
    with pytest.raises(ValidationError, match="dtype object"):
        icc(frame)


@pytest.mark.parametrize("form", FORMS)
def test_intervals_cover(form):
    """Items of variance 2, raters of variance .5, error of variance 1."""
    rng = np.random.default_rng(1)
    n, k, runs = 15, 4, 1500
    raters = 0.0 if form[3] == "3" else 0.5
    # Form 1: leniency is drawn anew for every rating and is part of the error.
    single = 2 / (2 + raters + 1)
    truth = k * single / (1 + (k - 1) * single) if form.endswith("k") else single
    held = 0
    for _ in range(runs):
        leniency = rng.normal(0, raters**0.5, (n, k) if form[3] == "1" else k)
        items = rng.normal(0, 2**0.5, (n, 1))
        estimate = icc(items + leniency + rng.normal(0, 1, (n, k)), form=form)
        held += estimate.low <= truth <= estimate.high
    # 1500 runs: the standard error of a coverage of .95 is .006; form 2 is approximate.
    assert held / runs == pytest.approx(0.95, abs=0.03 if form[3] == "2" else 0.02)
