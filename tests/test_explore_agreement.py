"""What votes are worth: the simulated studies do what theory says of them."""

import math

import numpy as np
import pytest

from judgelab.explore import AlikeVotes


def repeated(**setting):
    return AlikeVotes().compute(**setting)


@pytest.mark.parametrize("questions", [20, 80, 320])
def test_unrelated_votes_need_no_clusters(questions):
    studies = repeated(questions=questions, votes=5, alike=0)
    assert studies.worth == studies.votes == 5 * questions
    for share in (studies.by_votes, studies.by_questions):
        # 200 studies: three standard errors around 95 %.
        assert share == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 200))


@pytest.mark.parametrize("alike", [0, 0.05, 0.1, 0.2, 0.5, 1])
def test_one_vote_for_each_question_is_a_cluster_of_its_own(alike):
    studies = repeated(questions=80, votes=1, alike=alike)
    assert studies.by_votes == studies.by_questions
    assert studies.worth == 80


@pytest.mark.parametrize("alike", [0.05, 0.1, 0.2])
def test_counting_votes_is_wrong_as_often_as_theory_says(alike):
    studies = repeated(questions=320, votes=20, alike=alike)
    # The true spread is larger by the root of the design effect, votes over worth.
    reach = 1.96 * np.sqrt(studies.worth / studies.votes)
    held = math.erf(reach / math.sqrt(2))
    assert studies.by_votes == pytest.approx(held, abs=0.09)
    assert studies.by_questions > 0.9


def test_votes_that_are_all_alike_are_worth_one_for_each_question():
    studies = repeated(questions=20, votes=20, alike=1)
    assert studies.worth == pytest.approx(20)


def test_every_frame_says_what_it_draws():
    demo = AlikeVotes()
    for setting in demo.settings():
        numbers = demo.compute(**setting)
        picture, table = demo.frame(**setting)
        assert picture.count("<rect") == table.count("<tr>") == 3
        for _, figure in demo.figures(numbers):
            assert f">{figure}<" in picture
            assert f">{figure}<" in table
