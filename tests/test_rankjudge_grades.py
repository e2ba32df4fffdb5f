"""When a judge is right, and what becomes of replies that say too little."""

import json
from dataclasses import replace

import numpy as np
import pytest

from judgelab.errors import ValidationError
from judgelab.models.request import Reply
from judgelab.papers import rankjudge as rj
from judgelab.papers.rankjudge.judging import Grade

ITEM = rj.survivors(
    rj.verify(rj.generate(rj.candidates(rj.read_documents()), rj.WRITER), rj.WRITER)
)[0]
PLACE = ITEM.metadata.bad_round_index
KIND = ITEM.metadata.assistant_behavior_type
RIGHT, WRONG = ("A", "B") if ITEM.better_is_a else ("B", "A")


def nobody(requests):
    raise AssertionError(f"{len(requests)} requests were sent")


def said(order="AB", **changes):
    value = {"analysis": "…", "turn": PLACE, "failure": KIND, "verdict": RIGHT}
    if order == "BA":
        value["verdict"] = WRONG
    value |= changes
    value = {name: each for name, each in value.items() if each != "nothing"}
    return rj.read_match(Reply(json.dumps(value)), ITEM, "x", order=order)


def score(match, criterion="joint", rule="strict"):
    table = rj.grades([match], criterion=criterion, rule=rule, order=match.order)
    return table.table.ravel().tolist()


# turn, failure, verdict → joint, verdict+turn, verdict by the strict rule; joint as
# released ([] where the pair is dropped)
CASES = [
    ({}, [1, 1, 1], [1]),
    ({"failure": "other"}, [0, 1, 1], [0]),
    ({"turn": PLACE + 1}, [0, 0, 1], [0]),
    ({"verdict": WRONG}, [0, 0, 0], [0]),
    # Nothing said is wrong, and in the released code it is no hindrance.
    ({"turn": "nothing"}, [0, 0, 1], [1]),
    ({"turn": None}, [0, 0, 1], [1]),
    ({"failure": "nothing"}, [0, 1, 1], [1]),
    ({"failure": ""}, [0, 1, 1], [1]),
    ({"turn": None, "failure": None}, [0, 0, 1], [1]),
    ({"failure": "H"}, [0, 1, 1], [0]),
    ({"verdict": "nothing"}, [0, 0, 0], []),
    ({"verdict": "both"}, [0, 0, 0], []),
]


@pytest.mark.parametrize(("change", "strict", "released"), CASES)
def test_the_criteria_and_both_rules(change, strict, released):
    match = said(**change)
    criteria = ("joint", "verdict+turn", "verdict")
    assert [score(match, c)[0] for c in criteria] == strict
    assert score(match, rule="released") == released


@pytest.mark.parametrize("letters", [True, False])
def test_a_type_may_be_named_by_its_letter(letters):
    letter = rj.FAILURES[KIND].letter
    match = said(failure=letter.lower() if letters else KIND)
    assert match.judge.behavior_type_pred == KIND
    assert match.invalid is None


def test_what_is_lacking_is_said():
    assert said(turn=None).invalid == "no turn"
    assert said(failure="H").invalid == "unknown failure"
    assert said(turn="nothing", failure="nothing").invalid == "no turn, no failure"
    assert said(verdict="both").invalid == "outside the scale"
    prose = rj.read_match(Reply("I prefer the first."), ITEM, "x")
    assert (prose.invalid, prose.judge.answer, prose.missing) == (
        "not JSON",
        None,
        False,
    )
    cut = rj.read_match(Reply(json.dumps({"verdict": RIGHT}), "length"), ITEM, "x")
    assert cut.judge.answer is None
    gone = rj.read_match(None, ITEM, "x")
    assert gone.missing
    assert gone.invalid == "no reply"
    assert np.isnan(score(gone)[0])


def test_the_released_fields_are_filled_as_the_released_code_does():
    assert said(turn=None).judge.correct is True
    assert said(turn=None).judge.correct_bad_round is None
    assert said(failure="H").judge.correct is False
    assert said(verdict="both").judge.correct is None


def test_the_swapped_order_names_the_same_conversation():
    assert said(order="BA").judge.answer == RIGHT
    assert score(said(order="BA")) == [1.0]
    assert score(said(order="BA", verdict=RIGHT)) == [0.0]
    records = rj.to_records([said(), said(order="BA")])
    assert records["verdict"].tolist() == [RIGHT, WRONG]
    assert records["swapped"].tolist() == [False, True]


def test_one_unreadable_reply_costs_all_judges_the_pair_in_the_released_way():
    good, bad = said(), rj.read_match(Reply("prose"), ITEM, "y")
    assert rj.grades([good, bad]).table.tolist() == [[1.0], [0.0]]
    assert rj.grades([good, bad]).invalid.tolist() == [[False], [True]]
    released = rj.grades([good, bad], rule="released")
    assert released.items == ()
    assert released.dropped == (ITEM.id,)
    table = rj.rules_compared([good, bad])
    assert table.loc["y", "invalid"] == 1
    assert table.loc["x", "strict"] == 1
    assert np.isnan(table.loc["x", "released"])
    silent = rj.rules_compared([said(turn=None)])
    assert silent.loc["x", "without turn or type"] == 1
    assert silent.loc["x", ["strict", "released"]].tolist() == [0, 1]


def test_a_match_without_the_truth_is_refused_where_it_is_needed():
    match = said()
    blind = replace(match, judge=replace(match.judge, bad_round_gt=None))
    assert score(blind, "verdict") == [1.0]
    with pytest.raises(ValidationError, match=r"'x' on pair .* lacks the truth"):
        score(blind)
    with pytest.raises(ValidationError, match="lacks the truth"):
        score(replace(match, better_is_a=None), "verdict")


def test_wrong_questions_are_refused():
    with pytest.raises(ValidationError, match="stands twice"):
        rj.grades([said(), said()])
    with pytest.raises(ValidationError, match="criterion is 'all'"):
        rj.grades([said()], criterion="all")
    with pytest.raises(ValidationError, match="choose 'strict' or 'released'"):
        rj.grades([said()], rule="kind")
    with pytest.raises(ValidationError, match="no match in order 'BA'"):
        rj.grades([said()], order="BA")
    with pytest.raises(ValidationError, match="choose from joint, hints"):
        rj.judge_pairs([ITEM], {"x": rj.WRITER}, prompt="please")
    for orders in (["A"], ["AB", "AB"]):
        with pytest.raises(ValidationError, match="choose from 'AB' and 'BA'"):
            rj.judge_pairs([ITEM], {"x": nobody}, orders=orders)
    for ask in (rj.judge_pairs, rj.grade_alone):
        with pytest.raises(ValidationError, match=f"pair '{ITEM.id}' is given twice"):
            ask([ITEM, ITEM], {"x": nobody})


def test_the_other_wordings_say_the_same_and_a_little_more():
    plain = rj.wording("joint")
    for name in rj.ADVICE:
        asked = rj.wording(name)
        assert asked.schema == plain.schema
        advice = f"{rj.ADVICE[name]}\n" if rj.ADVICE[name] else ""
        assert asked.text.replace(advice, "", 1) == plain.text
        assert advice in asked.text
    assert len({rj.wording(name).version for name in rj.ADVICE}) == 5


def test_grades_of_single_conversations():
    found = [
        Grade("p", "x", 9, 6),
        Grade("q", "x", 8, 8),
        Grade("r", "x", None, 8),
        Grade("s", "x", 3, 8),
        Grade("t", "x", None, 8, missing=True),
    ]
    table = rj.grades_alone(found)
    assert table.table[0].tolist()[:4] == [1, 0, 0, 0]
    assert np.isnan(table.table[0, 4])
    assert table.invalid[0].tolist() == [False, False, True, False, False]
    assert rj.grades_alone(found, ties="half").table[0, 1] == 0.5
    with pytest.raises(ValidationError, match="'x' stands twice on pair 'p'"):
        rj.grades_alone([*found, Grade("p", "x", 1, 6)])
    with pytest.raises(ValidationError, match="ties"):
        rj.grades_alone(found, ties="right")


@pytest.mark.parametrize(
    ("text", "grade"),
    [("7", 7), ("11", None), ("0", None), ("7.5", None), ('"7"', None), ("true", None)],
)
def test_a_grade_off_the_scale_is_none(text, grade):
    def ask(requests):
        return [Reply(f'{{"analysis": "", "grade": {text}}}')] * len(requests)

    (found,) = rj.grade_alone([ITEM], {"x": ask})
    assert (found.better, found.worse, found.missing) == (grade, grade, False)
    (found,) = rj.grade_alone([ITEM], {"x": lambda requests: [None] * len(requests)})
    assert found.missing
