"""Labels become counts on the declared scale, whatever type they have."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from judgelab.agreement import cohen_kappa
from judgelab.counts import (
    category_counts,
    contingency_table,
    encode,
    pairs_as_items,
)
from judgelab.errors import ValidationError

WORDS = ("A", "B", "TIE", "INVALID")
codes = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60
).map(lambda pairs: np.array(pairs).T)


@given(codes)
def test_table_against_scikit_learn(pair):
    peer = confusion_matrix(*pair, labels=range(4))
    assert (contingency_table(*pair, scale=range(4)) == peer).all()


@given(codes, st.sampled_from(["int8", "uint8", "int64", "uint64", "float64"]))
def test_every_type_of_number_gives_the_same_table(pair, dtype):
    expected = contingency_table(*pair, scale=range(4))
    first, second = pair.astype(dtype)
    assert (contingency_table(first, second, scale=range(4)) == expected).all()


@given(codes)
def test_words_in_any_container_give_the_same_table(pair):
    expected = contingency_table(*pair, scale=range(4))
    first, second = np.array(WORDS)[pair]
    for kind in (
        np.asarray,
        list,
        lambda x: x.astype(object),
        pd.Series,
        lambda x: pd.Series(pd.Categorical(x, categories=WORDS)),
        pl.Series,
    ):
        table = contingency_table(kind(first), kind(second), scale=WORDS)
        assert (table == expected).all()


@given(codes, st.permutations(range(4)))
def test_the_order_of_the_scale_is_the_order_of_the_table(pair, order):
    plain = contingency_table(*pair, scale=range(4))
    ordered = contingency_table(*pair, scale=order)
    assert (ordered == plain[np.ix_(order, order)]).all()


@pytest.mark.parametrize("k", [2, 9, 10, 11, 15, 16, 40, 127, 128, 200])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float64", "U4"])
def test_no_size_of_scale_overflows_the_small_codes(k, dtype):
    rng = np.random.default_rng(k)
    first, second = rng.integers(0, k, (2, 3000))
    scale = np.arange(k).astype(dtype)
    table = contingency_table(scale[first], scale[second], scale=scale.tolist())
    expected = np.zeros((k, k), int)
    np.add.at(expected, (first, second), 1)
    assert (table == expected).all()


def test_more_labels_than_a_chunk():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (2, 200_001)).astype(np.int8)
    table = contingency_table(first, second, scale=range(4))
    assert (table == confusion_matrix(first, second, labels=range(4))).all()
    floats = rng.integers(0, 4, (70_000, 3)).astype(float)
    floats[rng.random(floats.shape) < 0.3] = np.nan
    counts = category_counts(floats, scale=range(4))
    expected = np.column_stack([(floats == c).sum(1) for c in range(4)])
    assert (counts == expected).all()
    for layout in (np.asfortranarray(floats), floats[:, ::-1], floats[:, [0, 1, 2]]):
        assert (category_counts(layout, scale=range(4)) == expected).all()


@given(codes, st.data())
def test_one_table_per_cluster_adds_up(pair, data):
    n = pair.shape[1]
    names = data.draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    stack = contingency_table(*pair, scale=range(4), clusters=names)
    for name, table in zip(sorted(set(names)), stack, strict=True):
        inside = np.array(names) == name
        assert (table == contingency_table(*pair[:, inside], scale=range(4))).all()


# Missing labels


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
def test_a_missing_label_is_no_category(gap):
    first, second = ["A", "B", gap, "A"], ["A", gap, "B", "B"]
    with pytest.raises(ValidationError, match=r"2 of 4 pairs .*\[1, 2\]"):
        contingency_table(first, second, scale=["A", "B"])
    table = contingency_table(first, second, scale=["A", "B"], missing="drop")
    assert table.tolist() == [[1, 1], [0, 0]]


def test_missing_numbers():
    first, second = [1.0, np.nan, 2.0], [1.0, 1.0, 2.0]
    table = contingency_table(first, second, scale=[1, 2], missing="drop")
    assert table.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValidationError, match="missing is 'ignore'"):
        contingency_table(first, second, scale=[1, 2], missing="ignore")
    counts = category_counts([[0, -1], [1, 1]], scale=[0, 1], missing_code=-1)
    assert counts.tolist() == [[1, 0], [0, 2]]
    nines = category_counts([[0, 9], [1, 1]], scale=[0, 1], missing_code=9)
    assert nines.tolist() == counts.tolist()


def test_none_cannot_be_declared_as_a_category():
    for gap in (None, np.nan, pd.NA):
        with pytest.raises(ValidationError, match="not a category"):
            contingency_table(["A"], ["A"], scale=["A", "B", gap])


# Bad input


def test_labels_off_the_scale_are_named_with_their_places():
    with pytest.raises(ValidationError, match=r"first: 1 labels .*'C' at \[1\]"):
        contingency_table(["A", "C"], ["A", "B"], scale=["A", "B"])
    with pytest.raises(ValidationError, match=r"second: 2 labels .*7, -1 at \[0, 2\]"):
        contingency_table([0, 1, 0], [7, 1, -1], scale=[0, 1])
    with pytest.raises(ValidationError, match=r"ratings: 1 labels .*5 at \[\(1, 0\)\]"):
        category_counts([[1, 2], [5, 2]], scale=[1, 2])
    # Words are no numbers, and -1 is missing only if it is said to be.
    with pytest.raises(ValidationError, match="not on the scale"):
        contingency_table(["0"], ["1"], scale=[0, 1])
    with pytest.raises(ValidationError, match="not on the scale"):
        category_counts([[0, -1]], scale=[0, 1])


@pytest.mark.parametrize("scale", [[], ["A"], ["A", "A"]])
def test_a_scale_has_at_least_two_different_categories(scale):
    with pytest.raises(ValidationError, match="scale"):
        contingency_table(["A"], ["A"], scale=scale)


def test_shapes():
    with pytest.raises(ValidationError, match="shape"):
        contingency_table([0, 1], [0], scale=[0, 1])
    with pytest.raises(ValidationError, match="shape"):
        contingency_table([[0, 1]], [[0, 1]], scale=[0, 1])
    with pytest.raises(ValidationError, match="clusters has shape"):
        contingency_table([0, 1], [0, 1], scale=[0, 1], clusters=[1])
    with pytest.raises(ValidationError, match="items × raters"):
        category_counts([0, 1], scale=[0, 1])
    with pytest.raises(ValidationError, match="k × k"):
        pairs_as_items([[1, 2]])


def test_nothing_gives_an_empty_table():
    assert contingency_table([], [], scale=["A", "B"]).tolist() == [[0, 0], [0, 0]]
    assert category_counts(np.empty((0, 3)), scale=[0, 1]).shape == (0, 2)


def test_codes_that_are_codes_already_are_not_copied():
    labels = np.array([0, 1, 2], np.int8)
    assert encode(labels, range(3)) is labels


def test_clusters_are_given_and_of_one_type():
    def count(clusters):
        return contingency_table([0, 1, 1], [0, 1, 1], scale=[0, 1], clusters=clusters)

    for gap in ([1, np.nan, 2], ["a", None, "b"], pd.array([1, None, 2], "Int64")):
        with pytest.raises(ValidationError, match=r"lacks 1 values .*\[1\]"):
            count(gap)
    with pytest.raises(ValidationError, match="types int, str"):
        count(["1", 1, "b"])
    assert (count(pd.Categorical(["b", "a", "a"])) == count([1, 0, 0])).all()


def test_a_set_is_no_scale():
    """Its order, hence every weight, would change from run to run."""
    with pytest.raises(ValidationError, match="no order"):
        contingency_table(["a"], ["b"], scale={"a", "b"})


def test_dates_may_be_labels_and_missing():
    days = np.array(["2020-01-01", "2020-01-02", "NaT"], "M8[D]")
    table = contingency_table(days, days[[1, 1, 0]], scale=days[:2], missing="drop")
    assert table.tolist() == [[0, 1], [0, 1]]


def test_a_masked_label_is_missing_and_a_masked_count_is_refused():
    labels = np.ma.array([0, 1, 1], mask=[False, True, False])
    table = contingency_table(labels, [0, 1, 1], scale=[0, 1], missing="drop")
    assert table.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValidationError, match="masked"):
        cohen_kappa(np.ma.array([[4, 1], [1, 3]], mask=[[0, 1], [0, 0]]))


def test_series_in_different_orders_are_refused():
    first = pd.Series(["A", "B", "A"], index=["q1", "q2", "q3"])
    second = first.loc[["q2", "q1", "q3"]]
    with pytest.raises(ValidationError, match="different orders"):
        contingency_table(first, second, scale=["A", "B"])
    aligned = contingency_table(first, second.loc[first.index], scale=["A", "B"])
    assert aligned.tolist() == [[2, 0], [0, 1]]
    # Rows of two judges in one long table have different indexes, in one order.
    other = second.set_axis([7, 8, 9])
    assert contingency_table(first, other, scale=["A", "B"]).sum() == 3
