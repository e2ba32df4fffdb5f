"""Many tables at once give what the functions give one by one."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgelab import agreement
from judgelab.agreement import agreement_values, krippendorff_alpha
from judgelab.counts import pairs_as_items
from judgelab.errors import ValidationError

PLAIN = ("percent_agreement", "cohen_kappa", "scott_pi", "brennan_prediger", "gwet_ac1")


@st.composite
def tables(draw):
    k = draw(st.integers(2, 4))
    return draw(arrays(np.int64, (5, k, k), elements=st.integers(0, 30)))


def one_by_one(function, stack, **options):
    return [
        function(table, interval="asymptotic", undefined="nan", **options).value
        for table in stack
    ]


@given(tables(), st.sampled_from(PLAIN))
def test_values_are_those_of_the_functions(stack, name):
    expected = one_by_one(getattr(agreement, name), stack)
    assert agreement_values(stack, name) == pytest.approx(expected, nan_ok=True)


@given(tables(), st.sampled_from(["linear", "quadratic"]))
def test_weights_are_passed_on(stack, weights):
    for name in ("cohen_kappa", "gwet_ac2", "scott_pi"):
        function = getattr(agreement, name)
        expected = one_by_one(function, stack, weights=weights)
        found = agreement_values(stack, name, weights=weights)
        assert found == pytest.approx(expected, nan_ok=True)


@given(tables(), st.sampled_from(["nominal", "ordinal"]))
def test_alpha_is_alpha_of_two_raters(stack, level):
    assume((stack.sum((1, 2)) > 1).all())
    assume(all(np.count_nonzero(t.sum(0) + t.sum(1)) > 1 for t in stack))
    expected = []
    for table in stack:
        counts, repeats = pairs_as_items(table)
        options = {"counted": True, "repeats": repeats, "interval": "asymptotic"}
        scale = range(stack.shape[-1])
        alpha = krippendorff_alpha(counts, level=level, scale=scale, **options)
        expected.append(alpha.value)
    found = agreement_values(stack, "krippendorff_alpha", level=level)
    assert found == pytest.approx(expected, abs=1e-9)


def test_one_table_and_stacks_of_stacks():
    table = np.array([[40, 10], [15, 35]])
    assert agreement_values(table, "cohen_kappa") == pytest.approx(0.5)
    assert agreement_values(table[None, None], "cohen_kappa").shape == (1, 1)
    assert np.isnan(agreement_values(0 * table, "percent_agreement"))
    assert np.isnan(agreement_values(0 * table, "krippendorff_alpha"))


@pytest.mark.parametrize(
    ("table", "name", "options"),
    [
        ([[1, 2], [3, 4]], "kappa", {}),
        ([[1, 2], [3, -4]], "cohen_kappa", {}),
        ([[1, 2], [3, np.nan]], "cohen_kappa", {}),
        ([[1, 2, 3], [3, 4, 5]], "cohen_kappa", {}),
        ([[1]], "cohen_kappa", {}),
        ([["a", "b"], ["c", "d"]], "cohen_kappa", {}),
        ([[1, 2], [3, 4]], "gwet_ac1", {"weights": "linear"}),
        ([[1, 2], [3, 4]], "krippendorff_alpha", {"weights": "linear"}),
        ([[1, 2], [3, 4]], "krippendorff_alpha", {"level": "interval"}),
        ([[1, 2], [3, 4]], "cohen_kappa", {"level": "ordinal"}),
        ([[1, 2], [3, 4]], "cohen_kappa", {"level": "interval"}),
    ],
)
def test_what_does_not_fit_is_refused(table, name, options):
    with pytest.raises(ValidationError):
        agreement_values(table, name, **options)
