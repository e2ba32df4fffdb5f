"""What moves in the MT-bench chapter: its parts answer and its numbers are right."""

import re

import pytest

from judgelab.explore.mt_bench import JudgeKinds, JudgingCost, TiePolicy
from judgelab.papers.mt_bench import agreement


def test_every_part_of_the_diagram_has_a_button_a_label_and_a_note():
    page = JudgeKinds()._repr_html_()
    buttons = re.findall(r'<input type="radio" name="jl-kind" id="([^"]+)"', page)
    assert len(buttons) == len(set(buttons)) == page.count("<tr><td>")
    for button in buttons:
        assert f'aria-describedby="{button}-note"' in page
        assert f'for="{button}"' in page
        assert f'<p id="{button}-note"><strong>' in page
        assert f"has(#{button}:checked) #{button}-note" in page
        assert f"has(label[for={button}]:hover) #{button}-note" in page
    assert page.count(" checked>") == 1
    assert "<script" not in page


def test_the_three_columns_have_equally_many_rows():
    page = JudgeKinds()._repr_html_()
    columns = page.split('<div class="jl-kinds-grid">')[1].split("</div><div>")
    assert len({column.count("<label") for column in columns}) == 1


@pytest.mark.parametrize(
    ("models", "orders", "questions", "pairwise", "single"),
    [(6, 1, 1, 15, 6), (20, 1, 1, 190, 20), (6, 2, 80, 2400, 480), (2, 1, 1, 1, 2)],
)
def test_the_bill(models, orders, questions, pairwise, single):
    demo = JudgingCost()
    cost = demo.compute(models=models, orders=orders, questions=questions)
    assert (cost.pairwise, cost.single) == (pairwise, single)
    squares = re.findall(r'<path d="([^"]*)"[^>]*fill="var', demo.view(cost))
    drawn = sum(path.count("M") for path in squares)
    assert drawn == pairwise // questions + models


# Cells of Table 13 that the votes do not give (the chapter says why).
DIFFERENT = {
    (("Human", "Human"), 2, "S2"),
    (("Human", "Human-M"), 2, "S1"),
}


@pytest.mark.parametrize("setting", list(TiePolicy().settings()), ids=str)
def test_both_policies_are_the_paper_s(setting):
    numbers = TiePolicy().compute(**setting)
    for setup, ours in (("S1", numbers.kept), ("S2", numbers.dropped)):
        printed = numbers.printed[setup]
        same = abs(100 * ours.value - printed) <= 0.5
        assert same != ((setting["judges"], setting["turn"], setup) in DIFFERENT)
    assert numbers.dropped.n < numbers.kept.n


def test_whole_questions_vary_in_the_intervals_of_both_policies():
    numbers = TiePolicy().compute(judges=("G4-P", "Human"), turn=1)
    for setup, ours in (("S1", numbers.kept), ("S2", numbers.dropped)):
        by_pair_of_answers = agreement("G4-Pair", "Human", setup=setup, turn=1)
        assert ours.value == by_pair_of_answers.value
        assert ours.width > by_pair_of_answers.width
