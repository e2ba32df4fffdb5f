"""Labels of an audit: saved at once, taken back, compared; and views of the pairs."""

import csv
import itertools
import json
import re

import pytest

from judgelab.agreement import cohen_kappa
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.explore.rankjudge import AuditView, PairReader
from judgelab.papers import rankjudge as rj

GOOD = dict.fromkeys(rj.CHECKS, True)
AMBIGUOUS = GOOD | {"one_type": False}
NOISE = GOOD | {"better_clean": False}


@pytest.fixture(scope="module")
def bench():
    return rj.run(rj.read_documents(), rj.WRITER, rj.PANEL, per_document=4)


@pytest.fixture(scope="module")
def cases(bench):
    return bench.cases


@pytest.fixture
def audit(tmp_path):
    return rj.Audit(tmp_path / "audit" / "labels.jsonl")


def test_the_label_follows_from_the_checks():
    for answers in itertools.product([True, False], repeat=len(rj.CHECKS)):
        checks = dict(zip(rj.CHECKS, answers, strict=True))
        label = rj.label_of(checks)
        assert (label == "clean") == all(answers)
        assert (label == "ambiguous") == (checks == AMBIGUOUS)
    with pytest.raises(ValidationError, match="one_type"):
        rj.label_of({name: True for name in rj.CHECKS if name != "one_type"})


def test_a_label_is_on_the_disk_before_the_next_one(audit):
    audit.label("p1", "ann", GOOD)
    assert rj.Audit(audit.path).labels("ann") == {"p1": "clean"}
    audit.label("p1", "ann", NOISE, note="the better one invents a number")
    audit.label("p2", "ann", AMBIGUOUS)
    again = rj.Audit(audit.path)
    assert again.labels("ann") == {"p1": "noise", "p2": "ambiguous"}
    assert again.entries("ann")[0].note == "the better one invents a number"


def test_undo_takes_back_the_last_label_of_that_annotator(audit):
    audit.label("p1", "ann", GOOD)
    audit.label("p1", "ann", NOISE)
    audit.label("p1", "bob", AMBIGUOUS)
    assert audit.undo("ann").label == "noise"
    assert audit.labels("ann") == {"p1": "clean"}
    assert audit.undo("ann").label == "clean"
    assert audit.undo("ann") is None
    assert audit.labels("ann") == {}
    assert audit.annotators == ["bob"]
    # Nothing is erased: what was done can be read in the file.
    assert len(audit.path.read_text("utf-8").splitlines()) == 5


def test_a_line_cut_short_loses_itself_alone(audit):
    audit.label("p1", "ann", GOOD)
    with audit.path.open("a", encoding="utf-8") as out:
        out.write('{"do": "label", "pair": "p2", "annot')
    audit.label("p3", "ann", GOOD)
    assert audit.labels("ann") == {"p1": "clean", "p3": "clean"}
    assert audit.damaged == 1


@pytest.mark.parametrize("note", ["two\u2028lines", "next\x85", "half \ud83d", "\x1cé"])
def test_a_note_may_hold_any_character(audit, note):
    audit.label("p1", "ann", GOOD, note=note)
    assert [entry.note for entry in audit.entries("ann")] == [note]
    assert audit.damaged == 0


def test_a_line_cut_inside_a_letter_leaves_the_others(audit):
    audit.label("p1", "ann", GOOD)
    with audit.path.open("ab") as out:
        out.write("{é".encode()[:-1])
    assert audit.labels("ann") == {"p1": "clean"}
    assert audit.damaged == 1


def test_wrong_labels_are_refused_and_leave_nothing(audit):
    with pytest.raises(ValidationError, match="contradicts the checks"):
        audit.label("p1", "ann", GOOD, label="noise")
    with pytest.raises(ValidationError, match="contradicts the checks"):
        audit.label("p1", "ann", NOISE, label="clean")
    with pytest.raises(ValidationError, match="choose from clean"):
        audit.label("p1", "ann", GOOD, label="fine")
    with pytest.raises(ValidationError, match="who labels it"):
        audit.label("p1", " ", GOOD)
    assert not audit.path.exists()
    assert audit.label("p1", "ann", NOISE, label="ambiguous").label == "ambiguous"


def test_two_annotators_are_compared_on_the_pairs_of_both(audit):
    kinds = {"c": GOOD, "a": AMBIGUOUS, "n": NOISE}
    one, two = "ccccccaannnc", "cccccaaannc"
    for annotator, labels in (("ann", one), ("bob", two)):
        for k, letter in enumerate(labels):
            audit.label(f"p{k}", annotator, kinds[letter])
    # The pairs of both are p0 to p10.
    counted = [[0] * 3 for _ in range(3)]
    for x, y in zip(one, two, strict=False):
        counted["can".index(x)]["can".index(y)] += 1
    found = audit.agreement("ann", "bob")
    assert sum(map(sum, counted)) == 11
    assert found["kappa"] == cohen_kappa(counted)
    assert found["percent"].n == 11
    assert found["percent"].low < found["percent"].value < found["percent"].high
    shares = audit.shares("ann")
    assert shares["clean"].value == 7 / 12
    with pytest.raises(UndefinedStatistic, match="no pair in common"):
        audit.agreement("ann", "eve")


def test_kappa_says_when_it_has_no_value(audit):
    for annotator in ("ann", "bob"):
        audit.label("p1", annotator, GOOD)
        audit.label("p2", annotator, GOOD)
    found = audit.agreement("ann", "bob")
    assert found["percent"].value == 1
    assert found["kappa"].reason


def test_export_holds_every_label_that_counts(audit, tmp_path):
    audit.label("p1", "ann", GOOD)
    audit.label("p2", "ann", NOISE, note='says "no", twice')
    audit.label("p1", "bob", AMBIGUOUS)
    audit.export(tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["pair"], r["annotator"], r["label"]) for r in rows] == [
        ("p1", "ann", "clean"),
        ("p2", "ann", "noise"),
        ("p1", "bob", "ambiguous"),
    ]
    assert rows[1]["note"] == 'says "no", twice'
    assert rows[1]["better_clean"] == "False"


def test_pairs_are_in_the_order_to_look_at_them(cases, bench):
    assert {case.item.id for case in cases} == {item.id for item in bench.items}
    missed = [case.right <= 0.25 for case in cases]
    assert missed == sorted(missed, reverse=True)
    rest = [case.disagreement for case in cases if case.right > 0.25]
    assert rest == sorted(rest, reverse=True)
    assert all(len(case.matches) == len(rj.PANEL) for case in cases)
    assert all(case.verification.passed for case in cases)
    split = [c for c in cases if {"A", "B"} <= {m.judge.answer for m in c.matches}]
    assert all(case.suspicious for case in split)
    calm = [case for case in cases if case.right == 1]
    assert all(not case.suspicious for case in calm)


def test_a_finished_run_can_be_audited_from_its_folder(bench, cases, tmp_path):
    with pytest.raises(ValidationError, match=r"has no pairs\.json"):
        rj.load_cases(tmp_path)
    bench.save(tmp_path)
    assert rj.load_cases(tmp_path) == cases
    (tmp_path / "verification.json").unlink()
    assert rj.load_cases(tmp_path)[0].verification is None


def test_the_reader_tells_nothing_before_it_is_asked(cases):
    reader = PairReader(cases, source=rj.LABEL)
    page = reader.to_html()
    assert page.count("<details>") == page.count("</details>") == 3 * len(cases)
    assert rj.LABEL in page
    assert "<script" not in page
    assert "<mark>" not in page
    for case, part in zip(cases, page.split("<details><summary>")[1::3], strict=True):
        assert case.item.id in part
    first = page.split("Where is the flaw")[0]
    assert "flaw" not in re.sub("<[^>]+>", "", first).replace("flawless", "")
    with pytest.raises(ValidationError, match="no pair"):
        PairReader([], source="nowhere")


def test_what_judges_and_documents_say_cannot_become_markup(cases):
    case = cases[0]
    row = rj.as_json(case.item)
    row["convo_a"][1]["content"] = "<script>alert(1)</script>"
    row["metadata"]["context"] = "<b>bold</b>"
    odd = rj.Case(rj.read(rj.Item, row), case.matches, None, 0.5, 1.0, True)
    page = PairReader([odd], source="<i>").to_html()
    assert "<script" not in page
    assert "<b>" not in page
    assert "<i>" not in page


def press(view, words):
    buttons = view.widget().children[1].children
    next(button for button in buttons if button.description == words).click()


def test_the_view_saves_moves_on_and_takes_back(cases, audit):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    first = view.case.item.id
    assert "the flawed turn" in view.widget().children[-1].value
    view._boxes["one_type"].value = False
    assert "ambiguous" in view._follows.value
    press(view, "save and next")
    assert audit.labels("ann") == {first: "ambiguous"}
    assert view.case.item.id != first
    press(view, "← back")
    assert view._boxes["one_type"].value is False
    press(view, "next →")
    press(view, "undo my last label")
    assert audit.labels("ann") == {}
    assert view.case.item.id == first
    assert "taken back" in view._said.value
    press(view, "undo my last label")
    assert "nothing to undo" in view._said.value


def test_a_disk_that_is_full_is_reported_and_not_passed_over(cases, audit, monkeypatch):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    view.widget()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(audit, "_append", full)
    before = view.case
    press(view, "save and next")
    assert "not saved: no space left" in view._said.value
    assert view.case is before


def test_on_the_page_the_view_is_the_reader(cases, audit):
    pytest.importorskip("ipywidgets")
    bundle = AuditView(cases, audit, "ann", source="x")._repr_mimebundle_()
    assert bundle["text/html"] == PairReader(cases, source="x").to_html()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert json.dumps(bundle)
