"""The rules are tables, and the truth table read from their sources is the test."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.errors import ValidationError
from judgelab.verdict import (
    RULES,
    Outcome,
    Rule,
    SideBySide,
    Verdict,
    as_codes,
    combine,
    find_rule,
    rules_side_by_side,
    unswap,
)

TRUTH = Path(__file__).parent / "oracles" / "judgebench_truth_table.csv"
GOLD = {"A>B": Verdict.A, "B>A": Verdict.B}
LABELS = {
    "A>B": [Verdict.A],
    "B>A": [Verdict.B],
    "A=B": [Verdict.TIE],
    # An empty verdict is a reply that could not be read or no reply at all.
    "NULL": [Verdict.INVALID, Verdict.MISSING],
    "A>A": [Verdict.INVALID],
}
MARKS = {
    Outcome.TIE: "tie",
    Outcome.NEITHER: "wrong",
    Outcome.DROPPED: "dropped",
    Outcome.UNDEFINED: "silent",
}
TESTED = [
    "judgebench",
    "judgebench-paper",
    "recipe",
    "recipe-prose",
    "nemo-skills",
    "contextual-judgebench",
    "reasoning-judgebench",
]


def truth_rows():
    with TRUTH.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def mark(outcome, gold):
    if outcome in (Outcome.A, Outcome.B):
        return "right" if outcome == gold else "wrong"
    return MARKS[outcome]


def test_truth_table_is_complete():
    rows = truth_rows()
    assert len({(r["gold"], r["first"], r["second"]) for r in rows}) == 50


@pytest.mark.parametrize("name", TESTED)
def test_rule_reproduces_every_row_of_the_truth_table(name):
    labels = LABELS
    if name == "nemo-skills":
        # There a label without meaning votes for nobody, as a tie does, and only an
        # empty verdict drops the pair; the rule's note says so.
        labels = LABELS | {"A>A": [Verdict.TIE]}
    for row in truth_rows():
        for first in labels[row["first"]]:
            for second in labels[row["second"]]:
                outcome = Outcome(combine([first], [second], rule=name)[0])
                assert mark(outcome, GOLD[row["gold"]]) == row[name], row


def test_literal_recipe_is_the_code_run_without_unswapping():
    """The recipe's own branches, written out, against the table."""

    def recipe(v1, v2):
        if v1 in ("A", "=") and v2 in ("A", "="):
            return Outcome.A
        if v1 in ("B", "=") and v2 in ("B", "="):
            return Outcome.B
        return Outcome.NEITHER

    signs = "AB=.."
    for first in Verdict:
        for shown in Verdict:
            expected = recipe(signs[first], signs[shown])
            got = combine([first], unswap([shown]), rule="recipe-as-written")
            assert got[0] == expected
            assert combine([first], [shown], rule="recipe")[0] == expected


def test_mt_bench_rule_needs_both_orders_for_a_win():
    table = find_rule("mt-bench").table[:3, :3]
    expected = np.full((3, 3), Outcome.TIE)
    expected[0, 0], expected[1, 1] = Outcome.A, Outcome.B
    assert np.array_equal(table, expected)


def exchanged(table):
    """The same rule after renaming the answers."""
    new = np.array([1, 0, 2, 3, 4])
    renamed = np.where(table < 2, 1 - table, table)
    return renamed[np.ix_(new, new)]


@pytest.mark.parametrize("name", sorted(RULES))
def test_only_the_faulty_rules_care_how_the_answers_are_named(name):
    table = RULES[name].table
    fair = np.array_equal(exchanged(table), table)
    assert fair == (name not in {"recipe", "recipe-as-written", "langprobe"})


@pytest.mark.parametrize("name", sorted(RULES))
def test_only_rules_that_ask_once_care_which_order_came_first(name):
    table = RULES[name].table
    symmetric = np.array_equal(table, table.T)
    asks_once = {"first-order", "second-order", "langprobe"}
    # The literal recipe sees the second verdict in exchanged slots.
    assert symmetric == (name not in asks_once | {"recipe-as-written"})


def test_the_second_order_is_the_first_seen_from_the_other_side():
    assert np.array_equal(RULES["second-order"].table, RULES["first-order"].table.T)


def test_invalid_becomes_a_tie_only_where_the_source_says_so():
    unread = [Verdict.INVALID, Verdict.MISSING]
    makes_ties = {
        name
        for name, rule in RULES.items()
        if any(rule.table[a, b] == Outcome.TIE for a in unread for b in unread)
    }
    assert makes_ties == {"judgebench"}


@given(st.lists(st.sampled_from(list(Verdict)), min_size=1, max_size=30))
def test_unswapping_twice_changes_nothing(verdicts):
    assert unswap(unswap(verdicts)).tolist() == [int(v) for v in verdicts]


def test_unswap_only_where_swapped():
    codes = unswap([0, 0, 1, 2, 3, 4], [True, False, True, True, True, True])
    assert codes.tolist() == [1, 0, 0, 2, 3, 4]


def test_a_rule_prints_itself():
    for name, rule in RULES.items():
        printed = str(rule).splitlines()
        assert printed[0] == name
        assert len(printed) == 7
        assert [line.split()[1:] for line in printed[2:]] == [
            row.split() for row in rule.cells
        ]
        page = rule._repr_html_()
        assert page.count("<td") == 25
        assert 'scope="row"' in page


def test_side_by_side_shows_25_pairs_for_all_rules():
    rows = rules_side_by_side()
    assert len(rows) == 25
    assert set(rows[0]) == {"first", "second", *RULES}
    assert rules_side_by_side(["recipe-prose", "reasoning-judgebench"]) != []
    assert (
        rules_side_by_side(
            ["recipe-prose", "reasoning-judgebench"], differing_only=True
        )
        == []
    )


def test_errors_name_the_way_out():
    with pytest.raises(ValidationError, match="mt-bench"):
        combine([0], [0], rule="mtbench")
    with pytest.raises(ValidationError, match="shape"):
        combine([0, 1], [0], rule="mt-bench")
    with pytest.raises(ValidationError, match=r"positions \[1\]"):
        combine([0, 7], [0, 0], rule="mt-bench")
    with pytest.raises(ValidationError, match="integer"):
        as_codes(["A"])
    with pytest.raises(ValidationError, match="unknown verdict"):
        Verdict.parse("A>A")
    with pytest.raises(ValidationError, match="5 rows"):
        Rule("mine", "me", "here", ("A B",))
    with pytest.raises(ValidationError, match="signs"):
        Rule("mine", "me", "here", ("A B = - !",) * 5)


def test_a_rule_of_your_own():
    mine = Rule("mine", "me", "here", ("A A A A A",) * 5)
    assert combine([1, 3], [4, 2], rule=mine).tolist() == [Outcome.A, Outcome.A]


@pytest.mark.parametrize("swapped", [["True", "False"], [0.0, np.nan], [2, 0]])
def test_an_order_is_true_or_false(swapped):
    """The word "False" is true for Python and NumPy."""
    with pytest.raises(ValidationError, match="true and false"):
        unswap([0, 1], swapped)
    with pytest.raises(ValidationError, match="one of each per record"):
        unswap([0, 1], [True, False, True])
    assert unswap([0, 1], [1, 0]).tolist() == [1, 1]


def test_the_four_verdicts_are_read_by_word_and_by_the_leaderboards_letter():
    words = ["A", " b ", "both good", "Both_Bad", "c", "D"]
    assert [SideBySide.parse(word) for word in words] == [0, 1, 2, 3, 2, 3]
    for word in ("tie", "both", "", "invalid", None, float("nan"), 2):
        with pytest.raises(ValidationError, match="expected one of A, B, BOTH_GOOD"):
            SideBySide.parse(word)
    assert len(SideBySide) == 4


@given(st.lists(st.sampled_from(list(SideBySide)), min_size=1))
def test_unswapping_four_verdicts_exchanges_the_answers_and_undoes_itself(said):
    turned = unswap(said, scale=SideBySide)
    expected = {"A": "B", "B": "A"}
    assert [SideBySide(code).name for code in turned] == [
        expected.get(verdict.name, verdict.name) for verdict in said
    ]
    assert unswap(turned, scale=SideBySide).tolist() == said


def test_codes_are_checked_on_their_own_scale():
    assert as_codes([4], scale=Verdict).tolist() == [4]
    with pytest.raises(ValidationError, match=r"outside 0\.\.3 at .* \[1\]: \[4\]"):
        as_codes([0, 4], scale=SideBySide)
    with pytest.raises(ValidationError, match=r"SideBySide\.parse"):
        as_codes(["A"], scale=SideBySide)
