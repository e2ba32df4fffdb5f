"""The template notebook runs as it is, and on a reader's file with one line changed."""

import json
from pathlib import Path

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


def test_it_runs_on_a_file(tmp_path, monkeypatch):
    """Fewer items, other names, no adjudicator: differences stay without a label."""
    records = study_records()
    records = records[records["kind"] != "adjudicator"].replace(
        {"judge": "my judge", "annotator 1": "ann", "annotator 2": "bob"}
    )
    records = records[records["item"] < "q0900"]
    records.to_csv(tmp_path / "verdicts.csv", index=False)
    monkeypatch.chdir(tmp_path)
    mine = SHIPPED.partition("the one line: ")[2]
    names = run([mine if cell == SHIPPED else cell for cell in CELLS])
    assert names["people"] == ["ann", "bob"]
    settled = names["settled"]
    assert 0 < settled.size < names["labels"].shape[0]
    table, rest = correction_counts(names["wins"], settled == 0)
    found = prediction_powered_share(table, rest)
    assert found.n == settled.size
    assert found.value == pytest.approx(
        prediction_powered_share(names["table"], names["rest"]).value
    )
