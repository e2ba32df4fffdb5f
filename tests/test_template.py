"""The template notebook runs as it is, and on a reader's file with one line changed."""

import json
from pathlib import Path

import pandas as pd
import pytest

from judgelab.correction import correction_counts, prediction_powered_share
from judgelab.data import study_records

TEMPLATE = (
    Path(__file__)
    .parents[1]
    .joinpath("book", "_static", "your_own_judge_template.ipynb")
)
CELLS = [
    "".join(cell["source"])
    for cell in json.loads(TEMPLATE.read_text("utf-8"))["cells"]
    if cell["cell_type"] == "code"
]
SHIPPED = 'records = study_records()  # the one line: records = jl.read("verdicts.csv")'


def run(cells):
    names = {}
    for cell in cells:
        exec(compile(cell, "template", "exec"), names)
    return names


def test_one_line_reads_the_records():
    assert [cell for cell in CELLS if "study_records()" in cell] == [SHIPPED]


def test_it_runs_on_the_study():
    names = run(CELLS)
    assert names["table"].sum() == 300
    assert sum(names["rest"]) == 900


@pytest.fixture
def run_on(tmp_path, monkeypatch):
    """Run the template on records in a file, with the one line changed."""
    monkeypatch.chdir(tmp_path)
    mine = SHIPPED.partition("the one line: ")[2]

    def run_file(records):
        records.to_csv(tmp_path / "verdicts.csv", index=False)
        return run([mine if cell == SHIPPED else cell for cell in CELLS])

    return run_file


def without_adjudicator():
    records = study_records()
    return records[records["kind"] != "adjudicator"]


def test_it_runs_on_a_file(run_on):
    """Fewer items, other names, no adjudicator: differences stay without a label."""
    records = without_adjudicator().replace(
        {"judge": "my judge", "annotator 1": "ann", "annotator 2": "bob"}
    )
    names = run_on(records[records["item"] < "q0900"])
    assert names["people"] == ["ann", "bob"]
    settled = names["settled"]
    assert 0 < settled.size < names["labels"].shape[0]
    table, rest = correction_counts(names["wins"], settled == 0)
    found = prediction_powered_share(table, rest)
    assert found.n == settled.size
    assert found.value == pytest.approx(
        prediction_powered_share(names["table"], names["rest"]).value
    )


def test_what_open_items_could_change_holds_what_the_adjudicator_said(run_on):
    """The 57 items on which people differ, decided by nobody, and by the third."""
    decided, names = run(CELLS), run_on(without_adjudicator())
    assert not decided["undecided"].any()
    n_open = int(names["undecided"].sum())
    assert n_open == (decided["labels"]["how"] == "adjudicated").sum() == 57
    assert names["same"] < decided["same"] < names["same"] + n_open
    # Dropped, they flatter the judge.
    assert names["same"] / names["settled"].size > decided["same"] / 300

    none, every = (
        prediction_powered_share(*names[counts]).value
        for counts in ("none_won", "all_won")
    )
    truth = prediction_powered_share(decided["table"], decided["rest"]).value
    assert none < truth < every
    assert names["none_won"][0].sum() == names["all_won"][0].sum() == 300


def test_of_several_models_one_is_looked_at(run_on):
    records = without_adjudicator()
    other = records[records["kind"] == "model"].assign(judge="other", verdict="A")
    both = run_on(pd.concat([records, other]))
    alone = run_on(records)
    assert both["judge"] == "judge"
    assert (both["table"] == alone["table"]).all()
    assert both["same"] == alone["same"]


def test_a_label_without_a_verdict_of_the_judge_is_counted(run_on):
    records = without_adjudicator()
    labelled = records.loc[records["kind"] == "human", "item"].unique()[:2]
    gone = (records["kind"] == "model") & records["item"].isin(labelled)
    names = run_on(records[~gone])
    assert names["unasked"].sum() == 2
    assert names["label"].size == 298
