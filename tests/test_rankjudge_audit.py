"""Labels of an audit: saved at once, taken back, compared; and views of the pairs."""

import csv
import itertools
import json
import os
import re
import shutil

import pytest

from judgelab.agreement import cohen_kappa
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.explore.rankjudge import AuditView, PairReader
from judgelab.papers import rankjudge as rj

GOOD = dict.fromkeys(rj.CHECKS, True)
AMBIGUOUS = GOOD | {"one_type": False}
NOISE = GOOD | {"better_clean": False}
UNSURE = GOOD | {"right_type": None}


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
    for answers in itertools.product([True, False, None], repeat=len(rj.CHECKS)):
        checks = dict(zip(rj.CHECKS, answers, strict=True))
        label = rj.label_of(checks)
        assert (label == "clean") == all(answers)
        assert (label == "ambiguous") == (checks == AMBIGUOUS)
        wrong = [name for name, answer in checks.items() if answer is False]
        assert (label == "noise") == (wrong not in ([], ["one_type"]))
        assert (label == "cannot tell") == (None in answers and label != "noise")


def test_nothing_counts_before_somebody_says_so():
    assert rj.label_of({}) is None
    for left_out in rj.CHECKS:
        for answers in (GOOD, NOISE, AMBIGUOUS, dict.fromkeys(rj.CHECKS)):
            some = {n: answer for n, answer in answers.items() if n != left_out}
            assert rj.label_of(some) is None
    with pytest.raises(ValidationError, match="there is no check two_types"):
        rj.label_of(GOOD | {"two_types": True})
    for odd in ("yes", 1, 0.0, []):
        with pytest.raises(ValidationError, match="one_type is"):
            rj.label_of(GOOD | {"one_type": odd})


def test_a_label_is_on_the_disk_before_the_next_one(audit):
    audit.save("p1", "ann", GOOD)
    assert rj.Audit(audit.path).labels("ann") == {"p1": "clean"}
    audit.save("p1", "ann", NOISE, note="the better one invents a number")
    audit.save("p2", "ann", AMBIGUOUS)
    again = rj.Audit(audit.path)
    assert again.labels("ann") == {"p1": "noise", "p2": "ambiguous"}
    assert again.entries("ann")[0].note == "the better one invents a number"


def test_undo_takes_back_the_last_label_of_that_annotator(audit):
    audit.save("p1", "ann", GOOD)
    audit.save("p1", "ann", NOISE)
    audit.save("p1", "bob", AMBIGUOUS)
    assert audit.undo("ann").label == "noise"
    assert audit.labels("ann") == {"p1": "clean"}
    assert audit.undo("ann").label == "clean"
    assert audit.undo("ann") is None
    assert audit.labels("ann") == {}
    assert audit.annotators == ["bob"]
    # Nothing is erased: what was done can be read in the file.
    assert len(audit.path.read_text("utf-8").splitlines()) == 5


def test_a_line_cut_short_loses_itself_alone(audit):
    audit.save("p1", "ann", GOOD)
    with audit.path.open("a", encoding="utf-8") as out:
        out.write('{"do": "label", "pair": "p2", "annot')
    audit.save("p3", "ann", GOOD)
    assert audit.labels("ann") == {"p1": "clean", "p3": "clean"}
    assert audit.damaged == 1


@pytest.mark.parametrize("note", ["two\u2028lines", "next\x85", "half \ud83d", "\x1cé"])
def test_a_note_may_hold_any_character(audit, note):
    audit.save("p1", "ann", GOOD, note=note)
    assert [entry.note for entry in audit.entries("ann")] == [note]
    assert audit.damaged == 0


def test_a_line_cut_inside_a_letter_leaves_the_others(audit):
    audit.save("p1", "ann", GOOD)
    with audit.path.open("ab") as out:
        out.write("{é".encode()[:-1])
    assert audit.labels("ann") == {"p1": "clean"}
    assert audit.damaged == 1


def test_wrong_answers_are_refused_and_leave_nothing(audit):
    with pytest.raises(ValidationError, match="there is no check"):
        audit.save("p1", "ann", {"fine": True})
    with pytest.raises(ValidationError, match="give True, False, or None"):
        audit.save("p1", "ann", GOOD | {"one_type": "holds"})
    with pytest.raises(ValidationError, match="who labels it"):
        audit.save("p1", " ", GOOD)
    assert not audit.path.exists()


def test_answers_are_kept_before_there_is_a_label(audit):
    first = dict(list(GOOD.items())[:3])
    assert audit.save("p1", "ann", first).label is None
    (entry,) = rj.Audit(audit.path).entries("ann")
    assert entry.checks == first
    assert audit.labels("ann") == {}
    with pytest.raises(UndefinedStatistic):
        audit.shares("ann")
    audit.save("p1", "ann", GOOD)
    assert audit.labels("ann") == {"p1": "clean"}
    audit.undo("ann")
    assert audit.entries("ann") == [entry]


@pytest.mark.parametrize(
    "line",
    [
        '{"do": "save", "pair": "p2", "annotator": "ann", "checks": {"x": 1}}',
        '{"do": "save", "pair": "p2", "annotator": "ann", "checks": 7, "note": ""}',
        '{"do": "save", "pair": 2, "annotator": "ann", "checks": {}, "note": ""}',
        '{"do": "erase", "annotator": "ann"}',
        '{"do": "undo", "annotator": ["ann"]}',
        "[1, 2]",
    ],
)
def test_a_line_that_says_nothing_of_use_changes_nothing(audit, line):
    audit.save("p1", "ann", GOOD)
    with audit.path.open("a", encoding="utf-8") as out:
        out.write(line + "\n")
    assert audit.labels("ann") == {"p1": "clean"}
    assert audit.damaged == 1


def test_two_annotators_are_compared_on_the_pairs_of_both(audit):
    kinds = {"c": GOOD, "a": AMBIGUOUS, "n": NOISE}
    one, two = "ccccccaannnc", "cccccaaannc"
    for annotator, labels in (("ann", one), ("bob", two)):
        for k, letter in enumerate(labels):
            audit.save(f"p{k}", annotator, kinds[letter])
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
    with pytest.raises(UndefinedStatistic, match="no labelled pair in common"):
        audit.agreement("ann", "eve")


def test_who_cannot_tell_is_left_out_of_the_agreement_or_counted(audit):
    kinds = {"c": GOOD, "a": AMBIGUOUS, "n": NOISE, "?": UNSURE}
    for annotator, labels in (("ann", "cca?n?"), ("bob", "caa??n")):
        for k, letter in enumerate(labels):
            audit.save(f"p{k}", annotator, kinds[letter])
    audit.save("p6", "ann", GOOD)
    audit.save("p6", "bob", {"flaw_present": True})
    decided = audit.agreement("ann", "bob")["percent"]
    assert (decided.value, decided.n) == (pytest.approx(2 / 3), 3)
    everything = audit.agreement("ann", "bob", cannot_tell="counted")["percent"]
    assert (everything.value, everything.n) == (3 / 6, 6)
    assert audit.shares("ann")["cannot tell"].value == 2 / 7
    with pytest.raises(ValidationError, match="choose 'left out' or 'counted'"):
        audit.agreement("ann", "bob", cannot_tell="as noise")


def test_kappa_says_when_it_has_no_value(audit):
    for annotator in ("ann", "bob"):
        audit.save("p1", annotator, GOOD)
        audit.save("p2", annotator, GOOD)
    found = audit.agreement("ann", "bob")
    assert found["percent"].value == 1
    assert found["kappa"].reason


def test_export_holds_every_label_that_counts(audit, tmp_path):
    audit.save("p1", "ann", GOOD)
    audit.save("p2", "ann", NOISE, note='says "no", twice')
    audit.save("p1", "bob", AMBIGUOUS)
    audit.save("p2", "bob", {"flaw_present": None})
    audit.export(tmp_path / "labels.csv")
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["pair"], r["annotator"], r["label"]) for r in rows] == [
        ("p1", "ann", "clean"),
        ("p2", "ann", "noise"),
        ("p1", "bob", "ambiguous"),
        ("p2", "bob", ""),
    ]
    assert rows[1]["note"] == 'says "no", twice'
    assert rows[1]["better_clean"] == "does not hold"
    assert rows[3]["flaw_present"] == "cannot tell"
    assert rows[3]["better_clean"] == ""


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
    for case, part in zip(cases, page.split("<details>")[1::3], strict=True):
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


def answers(view):
    """What is ticked for every check."""
    ticked = [
        [word for word, box in boxes.items() if box.value]
        for boxes in view._boxes.values()
    ]
    assert all(len(words) <= 1 for words in ticked)
    return [words[0] if words else "not looked at" for words in ticked]


def say(view, name, word):
    view._boxes[name][word].value = True


def test_the_view_starts_without_an_answer_and_labels_when_all_are_given(cases, audit):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    first = view.case.item.id
    assert "the flawed turn" in view.widget().children[-1].value
    assert set(answers(view)) == {"not looked at"}
    assert "5 of 5 checks are open" in view._said.value
    assert not audit.path.exists()
    *others, last = rj.CHECKS
    for name in others:
        say(view, name, "holds")
    assert audit.labels("ann") == {}
    assert "saved; no label yet: 1 of 5" in view._said.value
    say(view, last, "does not hold")
    assert audit.labels("ann") == {first: "noise"}
    assert "saved; so it is: <strong>noise" in view._said.value
    assert "1 labelled by ann" in view._title.value


def test_the_view_saves_every_answer_and_takes_it_back(cases, audit):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    view.widget()
    first = view.case.item.id
    say(view, "one_type", "cannot tell")
    view._note.value = "two readings"
    (entry,) = audit.entries("ann")
    assert (entry.pair, entry.checks, entry.note) == (
        first,
        {"one_type": None},
        "two readings",
    )
    press(view, "next →")
    assert view.case.item.id != first
    assert set(answers(view)) == {"not looked at"}
    say(view, "flaw_present", "holds")
    press(view, "← back")
    assert answers(view)[3] == "cannot tell"
    press(view, "undo my last answer")
    assert view.case.item.id != first
    press(view, "undo my last answer")
    press(view, "undo my last answer")
    assert view.case.item.id == first
    assert set(answers(view)) == {"not looked at"}
    assert "taken back" in view._said.value
    press(view, "undo my last answer")
    assert "nothing to undo" in view._said.value
    # Going back and forth saved nothing of its own.
    assert len(audit.path.read_text("utf-8").splitlines()) == 6


def test_another_answer_replaces_the_first_and_an_answer_can_be_withdrawn(cases, audit):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    view.widget()
    say(view, "one_type", "holds")
    say(view, "one_type", "does not hold")
    assert audit.entries("ann")[0].checks == {"one_type": False}
    assert answers(view)[3] == "does not hold"
    view._boxes["one_type"]["does not hold"].value = False
    assert audit.entries("ann")[0].checks == {}
    assert set(answers(view)) == {"not looked at"}
    assert len(audit.path.read_text("utf-8").splitlines()) == 3


def test_the_view_goes_on_where_it_was(cases, audit):
    pytest.importorskip("ipywidgets")
    audit.save(cases[0].item.id, "ann", NOISE, note="see turn 2")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    view.widget()
    assert answers(view) == ["holds"] * 4 + ["does not hold"]
    assert view._note.value == "see turn 2"
    assert len(audit.path.read_text("utf-8").splitlines()) == 1


def test_a_disk_that_is_full_is_reported_and_not_passed_over(cases, audit, monkeypatch):
    pytest.importorskip("ipywidgets")
    view = AuditView(cases, audit, "ann", source=rj.LABEL)
    view.widget()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(audit, "_append", full)
    say(view, "one_type", "holds")
    assert "not saved: no space left" in view._said.value
    # Nothing looks saved that is not.
    assert set(answers(view)) == {"not looked at"}


def test_on_the_page_the_view_carries_its_checks(cases, audit):
    pytest.importorskip("ipywidgets")
    bundle = AuditView(cases, audit, "ann", source="x")._repr_mimebundle_()
    assert bundle["text/html"].count("<form ") == len(cases)
    assert bundle["text/html"].count(" hidden>") == len(cases) + 1
    assert "selected" not in bundle["text/html"].split("<script")[0]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert json.dumps(bundle)


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright")
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), ""
    )
    if not found:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


def test_an_audit_on_the_page_is_one_that_python_reads(cases, audit, tmp_path, browser):
    html = AuditView(cases[:2], audit, "ann", source=rj.LABEL).to_html()
    place = tmp_path / "page.html"
    place.write_text(f"<!doctype html><meta charset='utf-8'>{html}", "utf-8")
    page = browser.new_context(accept_downloads=True).new_page()
    page.goto(place.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    one, two = page.locator("form").all()
    words = list(rj.CHECKS.values())
    assert {each.input_value() for each in one.get_by_role("combobox").all()} == {
        "not looked at"
    }
    # By keyboard: the first letter of the answer.
    one.get_by_label(words[0]).focus()
    page.keyboard.press("h")
    page.keyboard.press("Tab")
    page.keyboard.press("d")
    assert "3 of 5 checks are open" in one.locator("output").inner_text()
    for check in words[2:]:
        one.get_by_label(check).select_option("holds")
    assert one.locator("output").inner_text() == "Saved. So it is: noise."
    two.get_by_label(words[3]).select_option("cannot tell")
    two.get_by_label("Note").fill("two readings")
    two.get_by_label("Note").press("Tab")
    page.reload()
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert two.get_by_label(words[3]).input_value() == "cannot tell"
    assert one.locator("output").inner_text() == "So it is: noise."
    two.get_by_label(words[4]).select_option("holds")
    page.get_by_role("button", name="Undo").click()
    assert "Taken back" in page.locator(".jl-said").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(audit.path)
    ids = [case.item.id for case in cases[:2]]
    assert audit.labels("ann") == {ids[0]: "noise"}
    assert audit.damaged == 0
    assert audit.entries("ann")[1] == rj.Entry(
        ids[1], "ann", {"one_type": None}, "two readings"
    )


def test_the_page_looks_up_the_label_that_python_gives(cases, audit, browser, tmp_path):
    html = AuditView(cases[:1], audit, "ann", source=rj.LABEL).to_html()
    place = tmp_path / "page.html"
    place.write_text(f"<!doctype html><meta charset='utf-8'>{html}", "utf-8")
    page = browser.new_context().new_page()
    page.goto(place.as_uri())
    shown = page.evaluate(
        """() => {
          const form = document.querySelector('form'), found = [];
          const fields = [...form.querySelectorAll('select')];
          for (let k = 0; k < 3 ** fields.length; k++) {
            fields.forEach((field, j) => {
              field.selectedIndex = 1 + Math.floor(k / 3 ** j) % 3;
            });
            form.dispatchEvent(new Event('change'));
            const said = fields.map(field => field.value);
            found.push([said, form.querySelector('output').textContent]);
          }
          return found;
        }"""
    )
    assert len(shown) == 3 ** len(rj.CHECKS)
    for said, text in shown:
        checks = {n: rj.ANSWERS[word] for n, word in zip(rj.CHECKS, said, strict=True)}
        assert text == f"Saved. So it is: {rj.label_of(checks)}."
