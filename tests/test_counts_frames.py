"""Counts from frames: the same numbers in every engine, and by counting one by one."""

from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.counts import (
    joint_counts,
    two_order_tables,
    vote_patterns,
    win_matrix,
)
from judgelab.errors import ValidationError
from judgelab.verdict import Verdict

ENGINES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}
WORDS = [v.name for v in Verdict]


@pytest.fixture(params=ENGINES)
def frame(request):
    return ENGINES[request.param]


def columns(rows, names):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@st.composite
def pairwise(draw):
    """Records of three judges on a few items, in one or both orders."""
    keys = [(j, i, s) for j in "xyz" for i in range(5) for s in (False, True)]
    kept = draw(st.lists(st.sampled_from(keys), min_size=1, unique=True))
    words = draw(
        st.lists(st.sampled_from(WORDS), min_size=len(kept), max_size=len(kept))
    )
    rows = [(*key, word) for key, word in zip(kept, words, strict=True)]
    return columns(rows, ["judge", "item", "swapped", "verdict"])


def answer(word, swapped):
    return {"A": "B", "B": "A"}.get(word, word) if swapped else word


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=25)
@given(records=pairwise())
def test_two_orders_by_counting_one_by_one(engine, records):
    said = {}
    for judge, item, swapped, word in zip(*records.values(), strict=True):
        said.setdefault((judge, item), {})[swapped] = answer(word, swapped)
    wanted = Counter(
        (judge, both.get(False, "MISSING"), both.get(True, "MISSING"))
        for (judge, _), both in said.items()
    )
    found = two_order_tables(ENGINES[engine](records))
    assert found.groups == sorted(set(records["judge"]))
    cells = np.zeros_like(found.tables)
    for (judge, one, two), n in wanted.items():
        cells[found.groups.index(judge), Verdict[one], Verdict[two]] = n
    np.testing.assert_array_equal(found.tables, cells)
    # One table per item adds up to the judge's.
    single = two_order_tables(ENGINES[engine](records), by="item")
    assert single.groups == sorted(said)
    for place, judge in enumerate(found.groups):
        mine = [g[0] == judge for g in single.groups]
        np.testing.assert_array_equal(single.tables[mine].sum(0), found.tables[place])


def test_trials_are_matched_with_their_own_other_order(frame):
    records = {
        "judge": ["x"] * 4,
        "item": [1] * 4,
        "trial": [1, 1, 2, 2],
        "swapped": [0, 1, 0, 1],
        "verdict": ["A", "B", "B", "B"],
    }
    table = two_order_tables(frame(records)).tables[0]
    assert table[Verdict.A, Verdict.A] == 1
    assert table[Verdict.B, Verdict.A] == 1
    assert table.sum() == 2


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=25)
@given(records=pairwise())
def test_two_judges_by_counting_one_by_one(engine, records):
    # One verdict per judge and item, whichever order it was shown in.
    first = {}
    for judge, item, swapped, word in zip(*records.values(), strict=True):
        first.setdefault((judge, item), (swapped, word))
    rows = [(j, i, s, w) for (j, i), (s, w) in first.items()]
    native = ENGINES[engine](columns(rows, [*records]))
    shared = [i for i in range(5) if ("x", i) in first and ("y", i) in first]
    if not shared:
        with pytest.raises(ValidationError, match="share no item"):
            joint_counts(native, "x", "y")
        return
    wanted = np.zeros((5, 5), int)
    for item in shared:
        cell = [Verdict[answer(w, s)] for s, w in (first["x", item], first["y", item])]
        wanted[tuple(cell)] += 1
    np.testing.assert_array_equal(joint_counts(native, "x", "y"), wanted)
    np.testing.assert_array_equal(joint_counts(native, "y", "x"), wanted.T)


def test_patterns_by_counting_one_by_one(frame):
    rng = np.random.default_rng(7)
    rows = [
        (f"judge {j}", i, int(rng.integers(3)))
        for i in range(40)
        for j in range(4)
        if rng.random() < 0.8
    ]
    patterns = vote_patterns(
        frame(columns(rows, ["judge", "item", "label"])), scale=[0, 1, 2]
    )
    by_item = {}
    for _, item, label in rows:
        by_item.setdefault(item, [0, 0, 0])[label] += 1
    wanted = Counter(map(tuple, by_item.values()))
    found = dict(zip(map(tuple, patterns.counts.tolist()), patterns.items, strict=True))
    assert found == wanted
    assert [*found] == sorted(found)


def test_wins_are_on_the_answers_as_shown(frame):
    records = {
        "judge": list("xxxyyy"),
        "item": [1, 2, 3, 1, 2, 3],
        "model_a": ["p", "q", "p", "r", "q", "p"],
        "model_b": ["q", "p", "r", "p", "r", "q"],
        "swapped": [False, True, False, True, False, False],
        "verdict": ["A", "A", "TIE", "TIE", "B", "INVALID"],
    }
    found = win_matrix(frame(records))
    assert found.models == ["p", "q", "r"]
    np.testing.assert_array_equal(found.wins, [[0, 1, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(found.ties, [[0, 0, 2], [0, 0, 0], [2, 0, 0]])
    assert found.left_out == 1


def test_codes_and_words_count_alike(frame):
    words = {"judge": ["x", "y"], "item": [1, 1], "verdict": ["A", "TIE"]}
    codes = words | {"verdict": [0, 2]}
    one, two = (joint_counts(frame(c), "x", "y") for c in (words, codes))
    np.testing.assert_array_equal(one, two)
    narrow = joint_counts(frame(words), "x", "y", scale=["A", "B", "TIE"])
    np.testing.assert_array_equal(narrow, one[:3, :3])


def test_labels_may_be_words_on_a_declared_scale(frame):
    records = {"judge": ["x", "y"], "item": [1, 1], "label": ["good", "bad"]}
    table = joint_counts(frame(records), "x", "y", scale=["bad", "fair", "good"])
    assert table[2, 0] == 1
    assert table.sum() == 1
    with pytest.raises(ValidationError, match="not on the scale"):
        joint_counts(frame(records), "x", "y", scale=["bad", "fair"])
    with pytest.raises(ValidationError, match="not on the scale"):
        vote_patterns(frame(records), scale=["bad", "fair"])
    with pytest.raises(ValidationError, match="ratings need scale"):
        vote_patterns(frame(records))


@pytest.mark.parametrize("function", [two_order_tables, vote_patterns, win_matrix])
def test_unknown_verdicts_are_refused(frame, function):
    records = {
        "judge": ["x", "x"],
        "item": [1, 2],
        "model_a": ["p", "q"],
        "model_b": ["q", "p"],
        "swapped": [True, False],
        "verdict": ["A", "first"],
    }
    with pytest.raises(ValidationError, match=r"unknown verdicts .*first"):
        function(frame(records))
    with pytest.raises(ValidationError, match=r"unknown verdicts \[9\]"):
        function(frame(records | {"verdict": [0, 9]}))


@pytest.mark.parametrize("function", [two_order_tables, vote_patterns])
def test_repeated_records_are_refused(frame, function):
    records = {
        "judge": ["x", "x"],
        "item": [1, 1],
        "swapped": [True, True],
        "verdict": ["A", "B"],
    }
    with pytest.raises(
        ValidationError, match=r"several records of one judge, item.*judge x"
    ):
        function(frame(records))


@pytest.mark.parametrize("hole", ["judge", "item", "verdict"])
def test_empty_keys_are_refused(frame, hole):
    records = {
        "judge": ["x", "y", "z"],
        "item": ["1", "1", "1"],
        "verdict": ["A", "B", "A"],
    }
    records[hole] = [records[hole][0], None, records[hole][2]]
    with pytest.raises(ValidationError, match=f"1 records have no '{hole}'"):
        joint_counts(frame(records), "x", "z")


def test_a_missing_rating_is_no_label(frame):
    records = {"judge": ["x", "y"], "item": [1, 1], "label": [1.0, float("nan")]}
    with pytest.raises(ValidationError, match="1 records have no 'label'"):
        joint_counts(frame(records), "x", "y", scale=[0, 1])


def test_lacking_columns_are_named(frame):
    records = {"judge": ["x"], "item": [1], "winner": ["A"]}
    with pytest.raises(ValidationError, match=r"labels could be in no column"):
        joint_counts(frame(records), "x", "y")
    with pytest.raises(ValidationError, match=r"no column 'swapped'; there are: judge"):
        two_order_tables(frame(records))
    with pytest.raises(ValidationError, match=r"no column 'model_a'"):
        win_matrix(frame(records))


PAIR = {
    "judge": ["x", "x", "y", "y"],
    "item": [1, 1, 1, 1],
    "swapped": [False, True, False, True],
    "verdict": ["A", "B", "A", "A"],
}


@pytest.mark.parametrize("function", [two_order_tables, vote_patterns])
@pytest.mark.parametrize(
    "swapped", [["False", "True"] * 2, [0, 2, 0, 1], [0.0, 0.5, 0.0, 1.0]]
)
def test_an_order_is_true_or_false(frame, function, swapped):
    """The word "False" counts as true when it is cast."""
    with pytest.raises(ValidationError, match="'swapped' holds"):
        function(frame(PAIR | {"swapped": swapped}))


def test_orders_as_numbers_are_orders(frame):
    expected = two_order_tables(frame(PAIR)).tables
    for swapped in ([0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0]):
        found = two_order_tables(frame(PAIR | {"swapped": swapped})).tables
        assert (found == expected).all()


def test_a_judge_is_not_compared_with_itself(frame):
    records = {"judge": ["x", "y"], "item": [1, 1], "verdict": ["A", "B"]}
    with pytest.raises(ValidationError, match="both 'x'"):
        joint_counts(frame(records), "x", "x")


def test_a_model_does_not_meet_itself(frame):
    records = {"model_a": ["p", "p"], "model_b": ["p", "q"], "verdict": ["A", "A"]}
    with pytest.raises(ValidationError, match=r"\['p'\] are compared with themselves"):
        win_matrix(frame(records))


def test_a_scale_may_hold_categories_of_several_types(frame):
    records = {"judge": ["x", "y"], "item": [1, 1], "label": ["good", "bad"]}
    found = vote_patterns(frame(records), scale=["bad", "good", 3])
    assert found.counts.tolist() == [[1, 1, 0]]


@pytest.mark.parametrize("function", [two_order_tables, vote_patterns])
def test_items_of_several_types_are_refused(function):
    """1 and '1' would be two items, and a pair without a partner."""
    mixed = pd.DataFrame(PAIR | {"item": [1, "1", 1, 1]})
    with pytest.raises(ValidationError, match="'item' holds Python objects"):
        function(mixed)
