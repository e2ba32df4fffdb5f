"""The demos of the RankJudge chapter: what moves, and what must stay."""

from __future__ import annotations

import re

import numpy as np
import pytest

from judgelab.data import published
from judgelab.explore.rankjudge_demos import (
    DumpBin,
    PairDifficulty,
    PipelineWalk,
    SameAgain,
)
from judgelab.papers import rankjudge as rj

DEMOS = (PipelineWalk, PairDifficulty, DumpBin, SameAgain)
FATES = ("", "adherence", "grounding")


@pytest.mark.parametrize("demo", DEMOS)
def test_every_setting_has_figures(demo):
    for setting in list(demo().settings())[::7]:
        picture, table = demo().frame(**setting)
        assert "<svg" in picture
        assert "nan" not in picture + table


@pytest.mark.parametrize("fate", FATES)
def test_a_pair_is_lost_where_it_says_and_not_before(fate):
    walk = PipelineWalk()
    steps = [walk.compute(step=k, pair=fate) for k in range(1, 10)]
    lost = [k for k, step in enumerate(steps) if "lost here" in step.out[-1]]
    names = ("coherence", "adherence", "grounding")
    assert lost == ([4 + names.index(fate)] if fate else [])
    judged = any("scripted-sharp" in line for line in steps[7].out)
    assert judged == (not fate)


def test_the_walk_shows_the_conversations_of_its_pair():
    walk = PipelineWalk()
    worse = walk.compute(step=4, pair="").out
    flawed = [line for line in worse if "planned to be flawed" in line]
    assert len(flawed) == 1
    truth = walk.compute(step=9, pair="").out[0]
    assert flawed[0].split()[1] in truth.split("turn ")[1]
    assert "<li>" in walk.frame(step=4, pair="")[0]


def test_the_mark_gets_no_easier_with_more_to_name():
    lines = PipelineWalk().compute(step=9, pair="").out[1:]
    right = [int(line.split(": ")[1].split()[0]) for line in lines]
    assert right == sorted(right, reverse=True)


def test_the_printed_medians_are_places_on_the_scale():
    demo = PairDifficulty()
    places = {
        round(demo.compute(failing=k, copies=1).difficulty.value) for k in range(1, 21)
    }
    printed = published("rankjudge", "pair_difficulty")["median_pair_elo"].astype(int)
    assert len(places) == 20
    assert set(printed) <= places


@pytest.mark.parametrize("failing", [1, 11, 20])
def test_more_judges_sharpen_a_pair_and_leave_it_in_place(failing):
    demo = PairDifficulty()
    one, four = (demo.compute(failing=failing, copies=c) for c in (1, 4))
    assert four.difficulty.value == one.difficulty.value
    assert four.difficulty.width == pytest.approx(one.difficulty.width / 2, rel=1e-3)
    assert np.abs(four.possible - one.difficulty.value).min() < 1e-6


def test_the_bin_moves_the_bias_and_not_the_rating():
    demo = DumpBin()
    settings = [
        {"skill": -0.5, "evasion_bin": share, "criterion": "joint"} for share in (0, 1)
    ]
    empty, full = (demo.compute(**setting) for setting in settings)
    assert full.bias["evasion"].low > empty.bias["evasion"].high
    assert abs(full.elo.value - empty.elo.value) < full.elo.width
    for numbers in (empty, full):
        assert sum(b.value for b in numbers.bias.values()) == pytest.approx(0)


def test_skill_moves_the_rating_and_shrinks_the_bias():
    demo = DumpBin()
    weak, strong = (
        demo.compute(skill=skill, evasion_bin=1, criterion="joint")
        for skill in (-1.5, 2.5)
    )
    assert weak.elo.high < strong.elo.low
    assert strong.bias["evasion"].high < weak.bias["evasion"].low


def test_less_to_name_is_more_often_right():
    demo = DumpBin()
    shares = [
        demo.compute(skill=0.5, evasion_bin=0, criterion=criterion).accuracy.value
        for criterion in ("joint", "verdict+turn", "verdict")
    ]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_more_pairs_leave_fewer_judges_out_of_place():
    demo = SameAgain()
    moved = [
        np.mean(
            [
                np.abs(
                    demo.compute(draw=draw, pairs=pairs, method="mm").table["rank"]
                    - np.arange(1, 22)
                ).mean()
                for draw in range(1, 9)
            ]
        )
        for pairs in (300, 3000)
    ]
    assert moved[1] < moved[0]


def test_the_conditional_fit_holds_the_truth_more_often():
    demo = SameAgain()
    covered = {
        method: np.mean(
            [
                demo.compute(draw=draw, pairs=3000, method=method).table["covered"]
                for draw in range(1, 9)
            ]
        )
        for method in ("mm", "conditional")
    }
    assert covered["mm"] < 0.8 < 0.9 < covered["conditional"]


def test_every_judge_fits_on_the_scale():
    """Whiskers end in caps: an arrowhead would say that the picture ends first."""
    demo = SameAgain()
    for setting in demo.settings():
        picture = demo.view(demo.compute(**setting))
        ends = re.findall(r"M(\d+) \d+L(\d+) \d+L\d+ \d+", picture)
        assert len(ends) == 2 * 21
        assert all(barb == tip for barb, tip in ends)


def test_the_stand_in_is_named_where_its_output_is_shown():
    for demo in (PipelineWalk, DumpBin):
        assert "scripted stand-in" in demo.title
    assert "simulated" in SameAgain.title
    assert "no language model" in rj.LABEL


def test_no_bias_has_no_sign():
    demo = DumpBin()
    texts = [
        text
        for skill in (-1.5, 2.5)
        for part in demo.frame(skill=skill, evasion_bin=0.0, criterion="joint")
        for text in re.findall(r"[+−-]?\b0\b(?=[ \],<])", part)
    ]
    assert texts
    assert set(texts) == {"0"}
