"""A reply is read strictly, then tolerantly, and never by guessing."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgelab.errors import ValidationError
from judgelab.models.parse import (
    LEAST_MASS,
    Reason,
    RepeatedField,
    from_first_token,
    one_json_object,
    parse_json,
    parse_label,
    reasons,
)
from judgelab.models.request import Reply
from judgelab.verdict import SideBySide, Verdict

TWO = {"A": Verdict.A, "B": Verdict.B}
THREE = {**TWO, "C": Verdict.TIE}
FOUR = {
    "A": SideBySide.A,
    "B": SideBySide.B,
    "C": SideBySide.BOTH_GOOD,
    "D": SideBySide.BOTH_BAD,
}
TEN = {str(n): float(n) for n in range(1, 11)}
RELEVANCE = {str(n): float(n) for n in range(4)}
RIGHT = {"CORRECT": 1.0, "INCORRECT": 0.0}


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("label", THREE)
def test_the_form_that_was_asked_for_is_strict(label, marked):
    text = f"Some reasons.\n[[{label}]]" if marked else f" {label}\n"
    parsed = parse_label(Reply(text), THREE, marked=marked)
    assert (parsed.verdict, parsed.strict, parsed.reason) == (THREE[label], True, "")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a", "A"),
        ("B.", "B"),
        ("**B**", "B"),
        ("**B**.", "B"),
        ('"A"', "A"),
        ("(B)", "B"),
        ("[A]", "A"),
        ("[[A]]", "A"),
        ("Ｂ", "B"),
        ("［［Ｂ］］", "B"),
        ("Answer A", "A"),
        ("Assistant B.", "B"),
        ("**Response A**", "A"),
        ("tie", "C"),
        ("B\n\nIt gives the right number; A does not.", "B"),
        ("It gives the right number.\n\nB", "B"),
        ("A is better.", "A"),
        ("**Answer B** is the better answer!\nIt is right.", "B"),
        ("Verdict: A", "A"),
        ("**Verdict:** A.", "A"),
        ("My verdict is A because it is right.", "A"),
        ("Both try. The better answer is B.", "B"),
        ("So the winner is answer A!", "A"),
        ("Final decision: [[A]]", "A"),
        ("I prefer [[B]] since A is not right.", "B"),
        ("A does not add up, so [[B]].", "B"),
        ("<think>A? No, B. [[B]]</think>A", "A"),
        ("A seems fine. Wait, its sum is wrong. Actually, both are.\n[[B]]", "B"),
        ("B is the wrong answer, so [[A]]", "A"),
        ("The sum in B is wrong: [[A]]", "A"),
        ("A gets the sum right; B does not.\n\n[[A]]", "A"),
        ("A adds up, B does not\n[[A]]", "A"),
        ("B says 5. Wrong. [[A]]", "A"),
        ("B is the worse answer.\n[[A]]", "A"),
        ("[[A]]. Errors in B: the sum.", "A"),
        ("[[A]] - what makes it better is the sum.", "A"),
        ("A\n\nB fails to answer.", "A"),
        ("A wins; B is better in tone. [[A]]", "A"),
        ("<think>\nVerdict: B\n</think>\n\nVerdict: A", "A"),
    ],
)
def test_dress_does_not_matter(text, label):
    parsed = parse_label(Reply(text), THREE)
    assert (parsed.verdict, parsed.strict, parsed.reason) == (THREE[label], False, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.EMPTY),
        (" \n\t", Reason.EMPTY),
        ("A\nB", Reason.CONFLICTING),
        ("[[A]] or [[B]]", Reason.CONFLICTING),
        ("Not [[A]]: [[B]]", Reason.CONFLICTING),
        ("[[A]]\nVerdict: B", Reason.CONFLICTING),
        ("Verdict: A.\nVerdict: B.", Reason.CONFLICTING),
        ("[[A]] ... [[D]]", Reason.CONFLICTING),
        ("A. The first one is right.", Reason.PROSE),
        ("A. The first one is right.\nB", Reason.CONFLICTING),
        ("D", Reason.OUTSIDE),
        ("[[D]]", Reason.OUTSIDE),
        ("Verdict: E", Reason.OUTSIDE),
        ("both", Reason.OUTSIDE),
        ("Neither.", Reason.OUTSIDE),
        ("Answer A is better than B in tone, but B is right.", Reason.PROSE),
        ("A is better than B.", Reason.PROSE),
        ("A is better in tone.", Reason.PROSE),
        ("Neither is better.", Reason.OUTSIDE),
        ("A is better.\nB", Reason.CONFLICTING),
        ("I, for one, doubt it.", Reason.NO_LABEL),
        ("A and B are much alike.", Reason.PROSE),
        ("A or B", Reason.PROSE),
        ("A/B", Reason.PROSE),
        ("A, B", Reason.PROSE),
        ("A good question!", Reason.PROSE),
        ("not A", Reason.PROSE),
        ("Verdict: A or B", Reason.PROSE),
        ("Verdict: not A", Reason.PROSE),
        ("Verdict: A is wrong", Reason.PROSE),
        ("Verdict: A?", Reason.PROSE),
        ("I don't think the verdict is A.", Reason.PROSE),
        # Something else than the verdict.
        ("Worse answer: [[A]]", Reason.PROSE),
        ("The loser is [[B]]", Reason.PROSE),
        ("I reject [[A]].", Reason.PROSE),
        ("I end with a verdict such as [[A]].", Reason.PROSE),
        ("[[A]] is the worse answer.", Reason.PROSE),
        ("[[A]] loses.", Reason.PROSE),
        ("The worse answer:\nA", Reason.PROSE),
        ("Definitely not:\nA", Reason.PROSE),
        ("A\nis worse than B", Reason.PROSE),
        # Taken back.
        ("A\n\nWait, B is better in every way.", Reason.CONFLICTING),
        ("A\nNo, on second thought B.", Reason.CONFLICTING),
        ("A\n\nThat said, B is the better answer.", Reason.CONFLICTING),
        ("Verdict: A. Actually, no: B.", Reason.CONFLICTING),
        ("The winner is A. Sorry, I meant B.", Reason.CONFLICTING),
        ("[[A]]\nCorrection: B", Reason.CONFLICTING),
        ("B is better. So [[A]]", Reason.CONFLICTING),
        ("I would not say [[A]].", Reason.PROSE),
        ("Is it [[A]]?", Reason.PROSE),
        ("If only style counted, [[A]]", Reason.PROSE),
        # A question with lettered options has an answer of its own.
        ("The correct answer is B.", Reason.PROSE),
        ("Answer: B", Reason.PROSE),
        ("The first one.", Reason.NO_LABEL),
        ("12", Reason.NO_LABEL),
        ("Cyrillic: А", Reason.NO_LABEL),
        ("I'm sorry, but I can't help with that.", Reason.REFUSAL),
        ("I’m sorry, I cannot choose A or B.", Reason.REFUSAL),
        ("As an AI, I have no opinion on A.", Reason.REFUSAL),
        ("<think>It is A. [[A]]", Reason.TRUNCATED),
        ("<think>A</think>\n", Reason.EMPTY),
    ],
)
def test_nothing_is_guessed(text, reason):
    parsed = parse_label(Reply(text), THREE)
    assert parsed.reason == reason
    assert parsed.verdict is Verdict.INVALID


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("10", 10),
        ("7.", 7),
        ("7/10", 7),
        ("7 / 10", 7),
        ("7 out of 10", 7),
        ("7.0", 7),
        ("**7**", 7),
        ("Grade: 7", 7),
        ("Score: 7/10.", 7),
        ("The rating is 7 because it is short.", 7),
        ("[[7]]", 7),
        ("The correct answer is 5. Grade: 7", 7),
    ],
)
def test_grades(text, value):
    parsed = parse_label(Reply(text), TEN)
    assert (parsed.value, parsed.verdict, parsed.reason) == (value, None, "")


@pytest.mark.parametrize(
    ("text", "labels", "reason"),
    [
        ("11", TEN, Reason.OUTSIDE),
        ("0", TEN, Reason.OUTSIDE),
        ("-3", TEN, Reason.OUTSIDE),
        ("7.5", TEN, Reason.OUTSIDE),
        ("7,5", TEN, Reason.OUTSIDE),
        ("Grade: 7.5", TEN, Reason.OUTSIDE),
        ("11/10", TEN, Reason.OUTSIDE),
        ("3/5", TEN, Reason.OUTSIDE),
        ("5", RELEVANCE, Reason.OUTSIDE),
        ("[[5]]", RELEVANCE, Reason.OUTSIDE),
        ("Relevance: 5", RELEVANCE, Reason.OUTSIDE),
        ("7-8", TEN, Reason.PROSE),
        ("7 or 8", TEN, Reason.PROSE),
        ("Grade: 7 to 8", TEN, Reason.PROSE),
        ("7\n8", TEN, Reason.CONFLICTING),
        ("Grade: 7. Final grade: 8.", TEN, Reason.CONFLICTING),
        ("The answer is 7.", TEN, Reason.PROSE),
        ("7 + 5 = 12", TEN, Reason.PROSE),
        ("1" * 5000, TEN, Reason.NO_LABEL),
        ("Good.", TEN, Reason.NO_LABEL),
    ],
)
def test_grades_outside_the_scale_or_in_prose(text, labels, reason):
    parsed = parse_label(Reply(text), labels)
    assert (parsed.reason, parsed.value, parsed.verdict) == (reason, None, None)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("CORRECT", 1, ""),
        ("INCORRECT", 0, ""),
        ("incorrect.", 0, ""),
        ("[[INCORRECT]]", 0, ""),
        ("Verdict: incorrect", 0, ""),
        ("NOT CORRECT", None, Reason.PROSE),
        ("PARTIALLY CORRECT", None, Reason.PROSE),
        ("INCORRECTLY", None, Reason.NO_LABEL),
        ("CORRECT\nINCORRECT", None, Reason.CONFLICTING),
        ("It is not INCORRECT", None, Reason.PROSE),
    ],
)
def test_a_label_inside_another_is_not_there(text, value, reason):
    parsed = parse_label(Reply(text), RIGHT)
    assert (parsed.value, parsed.reason) == (value, reason)


@pytest.mark.parametrize("text", ["1,000", "[[1,000]]", "[[4]]/5", "[[5]] out of 5"])
def test_thousands_and_other_scales_are_no_grades(text):
    assert parse_label(Reply(text), TEN).value is None


def test_grades_can_be_letters_and_words_are_no_numbers():
    letters = {"A": 4.0, "B": 3.0}
    assert parse_label(Reply("Grade: b."), letters).value == 3
    assert parse_label(Reply("E"), letters).reason is Reason.OUTSIDE
    assert parse_label(Reply("1"), RIGHT).reason is Reason.NO_LABEL


def test_side_by_side_has_two_ties_and_no_code_for_the_unreadable():
    assert parse_label(Reply("D"), FOUR).verdict is SideBySide.BOTH_BAD
    assert parse_label(Reply("tie"), FOUR).reason is Reason.OUTSIDE
    assert parse_label(Reply("E"), FOUR).verdict is None


@pytest.mark.parametrize("text", ["A", "[[A]]", "", "Verdict: A"])
@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", Reason.TRUNCATED), ("refusal", Reason.REFUSAL)],
)
def test_a_cut_or_refused_reply_is_invalid_whatever_it_says(text, finish, reason):
    reply = Reply(text, finish=finish)
    assert parse_label(reply, TWO).reason == reason
    assert parse_json(reply, SCHEMA, TWO).reason == reason


@pytest.mark.parametrize("labels", [{}, {"a": 1.0, "A": 2.0}])
def test_labels_must_differ_in_more_than_case(labels):
    with pytest.raises(ValidationError, match="its own label"):
        parse_label(Reply("A"), labels)


FORMS = ["{}", "[[{}]]", "Verdict: {}", "**{}**", "The better answer is {}.", "({})"]
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="[]［］"), max_size=40
)


@given(
    st.lists(st.tuples(st.sampled_from(list("ABCDE")), st.sampled_from(FORMS))),
    st.booleans(),
)
def test_one_distinct_label_or_none(stated, marked):
    """Lines that state labels: a verdict if and only if they all state the same."""
    text = "\n".join(form.format(label) for label, form in stated)
    parsed = parse_label(Reply(text), THREE, marked=marked)
    distinct = {label for label, _ in stated}
    if parsed.verdict is not Verdict.INVALID:
        seen = {
            x for x, form in stated if not marked or form in FORMS[1:3] + FORMS[4:5]
        }
        assert {parsed.verdict} == {THREE[label] for label in seen}
    if distinct == {"A"} and not marked:
        assert parsed.verdict is Verdict.A


@given(WORDS, WORDS, st.sampled_from("ABCD"), st.sampled_from("ABCD"))
def test_a_second_marked_label_always_contradicts(before, between, one, other):
    text = f"{before}[[{one}]]{between}\n[[{other}]]"
    parsed = parse_label(Reply(text), THREE, marked=True)
    if one != other:
        assert parsed.verdict is Verdict.INVALID
    elif parsed.verdict is not Verdict.INVALID:
        assert parsed.verdict is THREE[one]


@given(st.text(max_size=300), st.sampled_from([TWO, FOUR, TEN, RIGHT]), st.booleans())
@example("[[[[A]]]]", TWO, True)
@example("\u2028A\u2028B", TWO, False)
@example("[[" * 50, TWO, True)
@example("1e5", TEN, False)
@example("²", TEN, False)
@example("٧", TEN, False)
def test_any_text_gives_a_label_of_the_scale_or_a_reason(text, labels, marked):
    parsed = parse_label(Reply(text), labels, marked=marked)
    said = parsed.value if parsed.value is not None else parsed.verdict
    if parsed.reason:
        assert parsed.value is None
        assert parsed.verdict in (Verdict.INVALID, None)
    else:
        assert said in labels.values()
    json_reply = parse_json(Reply(text), SCHEMA, TWO)
    assert json_reply.reason or json_reply.verdict in TWO.values()


@given(st.text(st.characters(categories=["Ll", "Zs"]), max_size=200))
def test_small_letters_in_prose_state_nothing(text):
    prose = f"x {text} x"
    assert parse_label(Reply(prose), TWO).verdict is Verdict.INVALID
    assert parse_label(Reply(prose), TWO, marked=True).verdict is Verdict.INVALID


@pytest.mark.parametrize(
    "piece", ["[[A ", "A\n", "Verdict: ", "( ", "{", '{"a":', "**", ". ", "[[A]] not "]
)
def test_huge_replies_are_read_in_reasonable_time(piece):
    reply = Reply(piece * (300_000 // len(piece)))
    parsed = parse_label(reply, TWO)
    assert parsed.verdict in (Verdict.INVALID, Verdict.A)
    assert parse_json(reply, SCHEMA, TWO).reason is Reason.NOT_JSON


SCHEMA = {
    "properties": {
        "reasons": {"type": "string"},
        "turn": {"type": "integer", "minimum": 1, "maximum": 7},
        "verdict": {"type": "string", "enum": ["A", "B"]},
    }
}
GOOD = {"reasons": "x", "turn": 3, "verdict": "A"}


def test_json_strict():
    parsed = parse_json(Reply(json.dumps(GOOD)), SCHEMA, TWO)
    assert (parsed.verdict, parsed.strict) == (Verdict.A, True)
    assert parsed.details == {"reasons": "x", "turn": 3}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('I would not say {"verdict": "A"}', Reason.PROSE),
        ('Verdict: B\n{"verdict": "A"}', Reason.CONFLICTING),
        ('{"verdict": "A"}\n\n[[B]]', Reason.CONFLICTING),
        ('{"verdict": "A"}\nCorrection: it is B.', Reason.CONFLICTING),
        ('I can\'t judge this. {"verdict": "A"}', Reason.REFUSAL),
    ],
)
def test_words_around_json_can_contradict_it(text, reason):
    schema = {"properties": {"verdict": SCHEMA["properties"]["verdict"]}}
    assert parse_json(Reply(text), schema, TWO).reason is reason


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(GOOD)}\n```",
        f"Here it is: {json.dumps(GOOD)} Done.",
        f"<think>{{}}</think>{json.dumps(GOOD)}",
        json.dumps({**GOOD, "turn": "3"}),
        json.dumps({**GOOD, "verdict": " a"}),
        json.dumps({**GOOD, "more": 1}),
    ],
)
def test_json_tolerant(text):
    parsed = parse_json(Reply(text), SCHEMA, TWO)
    assert (parsed.verdict, parsed.strict, parsed.reason) == (Verdict.A, False, "")
    assert parsed.details == {"reasons": "x", "turn": 3}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A", Reason.NOT_JSON),
        ("[1]", Reason.NOT_JSON),
        ('{"verdict": "A"', Reason.NOT_JSON),
        (f"{json.dumps(GOOD)} {json.dumps(GOOD)}", Reason.NOT_JSON),
        ("I cannot do that.", Reason.REFUSAL),
        ('{"verdict": "A"}', Reason.SHAPE),
        (json.dumps({**GOOD, "turn": 3.5}), Reason.SHAPE),
        (json.dumps({**GOOD, "turn": True}), Reason.SHAPE),
        (json.dumps({**GOOD, "turn": None}), Reason.SHAPE),
        (json.dumps({**GOOD, "turn": 8}), Reason.OUTSIDE),
        (json.dumps({**GOOD, "turn": 0}), Reason.OUTSIDE),
        (json.dumps({**GOOD, "verdict": "C"}), Reason.OUTSIDE),
        (json.dumps({**GOOD, "verdict": "A or B"}), Reason.OUTSIDE),
        (json.dumps({**GOOD, "verdict": ["A"]}), Reason.SHAPE),
        ('{"verdict": "A", "turn": 1, "reasons": "", "verdict": "B"}', "conflicting"),
        ("```\n" + '{"turn": 1, "turn": 1}' + "\n```", "conflicting"),
    ],
)
def test_json_that_says_nothing(text, reason):
    parsed = parse_json(Reply(text), SCHEMA, TWO)
    assert parsed.verdict is Verdict.INVALID
    assert parsed.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"a": 1, "b": 2, "a": 1}', RepeatedField, "a given twice"),
        ('{"a": {"b": 1, "b": 1}}', RepeatedField, "b given twice"),
        ("[{}]", ValueError, "a list and no object"),
        ("null", ValueError, "a NoneType and no object"),
        ("{} {}", ValueError, "Extra data"),
        ('```json\n{"a": 1}\n```', ValueError, "Expecting value"),
        ("", ValueError, "Expecting value"),
        ('{"a": ' * 100_000, ValueError, "nested too deeply"),
        (f'{{"a": {"1" * 5000}}}', ValueError, "4300 digits"),
    ],
)
def test_one_json_object_and_nothing_else(text, kind, said):
    assert one_json_object(json.dumps(GOOD)) == GOOD
    with pytest.raises(ValueError, match=said) as problem:
        one_json_object(text)
    assert isinstance(problem.value, kind)


def test_a_json_label_that_has_no_meaning_is_outside():
    schema = {"properties": {"verdict": {"type": "string"}}}
    assert parse_json(Reply('{"verdict": "Z"}'), schema, TWO).reason is Reason.OUTSIDE


def logs(**probabilities):
    return {token: math.log(p) for token, p in probabilities.items()}


def test_tokens_that_differ_in_leading_blanks_are_added():
    first = {**logs(A=0.2, B=0.3), " A": math.log(0.2), "ĠB": math.log(0.1)}
    first["▁B"] = math.log(0.05)
    read = from_first_token(Reply("A", first_token=first), TWO)
    assert read.probabilities == pytest.approx({"A": 0.4, "B": 0.45})
    assert read.mass == pytest.approx(0.85)
    assert read.log_odds == pytest.approx(math.log(0.4 / 0.45))
    assert (read.verdict, read.bounded) == (Verdict.B, False)


def test_small_letters_and_longer_tokens_are_not_labels():
    first = logs(A=0.3, B=0.2, a=0.4, Answer=0.05)
    read = from_first_token(Reply("a", first_token=first), TWO)
    assert read.mass == pytest.approx(0.5)


@pytest.mark.parametrize("mass", [0.0999, 0.1001])
def test_labels_without_mass_give_no_verdict(mass):
    first = logs(A=mass * 0.6, B=mass * 0.4, The=0.8)
    read = from_first_token(Reply("The", first_token=first), TWO)
    assert read.mass == pytest.approx(mass)
    expected = (
        (Verdict.INVALID, Reason.NO_MASS) if mass < LEAST_MASS else (Verdict.A, "")
    )
    assert (read.verdict, read.reason) == expected
    assert read.probabilities["A"] == pytest.approx(mass * 0.6)


def test_an_unlisted_label_gets_the_most_the_list_leaves_it():
    read = from_first_token(Reply("A", first_token=logs(A=0.9, The=0.04)), TWO)
    assert (read.verdict, read.bounded) == (Verdict.A, True)
    assert read.log_odds == pytest.approx(math.log(0.9 / 0.04))
    read = from_first_token(Reply("B", first_token=logs(B=0.9, The=0.08)), TWO)
    assert read.log_odds == pytest.approx(math.log(0.02 / 0.9))


@pytest.mark.parametrize("first", [{}, {"A": math.nan}, {"A": 0.7}])
def test_what_is_no_log_probability_is_none(first):
    read = from_first_token(Reply("A", first_token=first), TWO)
    assert (read.verdict, read.reason) == (Verdict.INVALID, Reason.NO_LOGPROBS)


def test_exactly_equal_probabilities():
    equal = logs(A=0.4, B=0.4)
    read = from_first_token(Reply("A", first_token=equal), TWO)
    assert (read.verdict, read.log_odds) == (Verdict.TIE, 0)
    read = from_first_token(Reply("A", first_token=equal), FOUR)
    assert (read.verdict, read.reason) == (None, Reason.CONFLICTING)
    read = from_first_token(Reply("A", first_token=logs(A=0.4, C=0.4)), THREE)
    assert (read.verdict, read.reason) == (Verdict.INVALID, Reason.CONFLICTING)


def test_a_tie_is_a_label_like_the_others():
    read = from_first_token(Reply("C", first_token=logs(A=0.2, B=0.1, C=0.6)), THREE)
    assert read.verdict is Verdict.TIE
    assert read.log_odds == pytest.approx(math.log(2))


def test_the_expected_grade_is_taken_among_the_grades():
    first = {"3": math.log(0.4), "2": math.log(0.1), "x": math.log(0.5)}
    read = from_first_token(Reply("3", first_token=first), RELEVANCE)
    assert read.value == pytest.approx((3 * 0.4 + 2 * 0.1) / 0.5)
    assert read.verdict is None
    assert math.isnan(read.log_odds)


def test_the_first_token_cannot_tell_1_from_10():
    with pytest.raises(ValidationError, match="'1' begins label '10'"):
        from_first_token(Reply("1", first_token=logs(x=1)), TEN)


@given(
    st.dictionaries(
        st.sampled_from(["A", " A", "B", " B", "The", "a", ""]), st.floats(-40, 0)
    )
)
def test_log_odds_change_sign_when_the_labels_do(first):
    read = from_first_token(Reply("", first_token=first), TWO)
    names = {"A": "B", " A": " B", "B": "A", " B": " A"}
    turned = {names.get(token, token): log for token, log in first.items()}
    other = from_first_token(Reply("", first_token=turned), TWO)
    assert other.reason == read.reason
    if not read.reason:
        assert other.log_odds == -read.log_odds
        if read.log_odds:
            assert read.verdict == Verdict(int(read.log_odds < 0))
        else:  # an unlisted label may have the same probability, and not more
            assert read.bounded == (read.verdict is not Verdict.TIE)


def test_reasons_add_up():
    texts = ["A", "B", "b.", "", "A\nB", "prose about A", "D", "D"]
    counted = reasons(parse_label(Reply(text), TWO) for text in texts)
    assert sum(counted.values()) == len(texts)
    assert counted == {
        "strict": 2,
        "tolerant": 1,
        "empty": 1,
        "conflicting labels": 1,
        "outside the scale": 2,
        "only prose": 1,
    }
    assert reasons([]) == {"strict": 0, "tolerant": 0}
