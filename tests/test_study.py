"""The example study of the chapter: what is shipped is what is simulated."""

import numpy as np
import pandas as pd
import pytest

from judgelab.correction import settled_labels
from judgelab.data import published, study_records, study_truth
from judgelab.data.study import ITEMS, LABELLED, simulate_study
from judgelab.errors import ValidationError
from judgelab.position import pair_orders, position_consistency
from judgelab.records import check_pairwise
from judgelab.verdict import Verdict


def test_what_is_shipped_is_simulated_and_says_so():
    for name, drawn in simulate_study().items():
        shipped = published("yourjudge", name)
        pd.testing.assert_frame_equal(shipped, drawn, check_dtype=False)
        assert "simulated" in shipped.attrs["header"][0]


@pytest.mark.parametrize("month", [1, 2])
def test_records_are_valid(month):
    records = check_pairwise(study_records(month))
    check_pairwise(records[records["kind"] == "model"], partner="order")


def test_the_months_are_the_study_that_the_chapter_tells():
    first, second = study_records(), study_records(2)
    judged = first[first["kind"] == "model"]
    assert judged.groupby("item")["swapped"].nunique().eq(2).all()
    assert judged["item"].nunique() == ITEMS
    people = first[first["kind"] == "human"]
    assert people.groupby("judge")["item"].nunique().tolist() == [LABELLED] * 2
    assert set(second["item"]) == set(people["item"])
    # A and B stand in both slots, and a length goes with its answer.
    lengths = [
        (of["length_a"].where(~of["swapped"], of["length_b"])).groupby(of["item"])
        for of in (first, second)
    ]
    assert all(group.nunique().eq(1).all() for group in lengths)
    with pytest.raises(ValidationError, match="month3"):
        study_records(3)


def test_labels_are_the_truth_of_the_labelled_items():
    first = study_records()
    found = settled_labels(
        first, people=["annotator 1", "annotator 2"], adjudicator="adjudicator"
    )
    assert (found["how"] != "open").all()
    truth = study_truth().set_index("item")["label"]
    labels = [Verdict(code).name for code in found["label"]]
    assert truth[found["item"]].tolist() == labels


def test_the_labelled_items_are_a_random_part():
    chosen = study_records(2)["item"].unique()
    places = np.array([int(item[1:]) for item in chosen])
    assert abs(places.mean() - (ITEMS + 1) / 2) < 3 * ITEMS / np.sqrt(12 * LABELLED)


def test_the_second_month_looks_steadier():
    """What a dashboard of consistency would have praised."""
    consistency = []
    for month in (1, 2):
        frame = study_records(month)
        frame = frame[frame["kind"] == "model"]
        pairs = pair_orders(frame[frame["item"].isin(study_records(2)["item"])])
        cells = 5 * pairs["first"].to_numpy(int) + pairs["second"].to_numpy(int)
        table = np.bincount(cells, minlength=25).reshape(5, 5)
        consistency.append(position_consistency(table).value)
    assert consistency[1] > consistency[0] + 0.05
