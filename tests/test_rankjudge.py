"""RankJudge in print: the printed difficulties are ones that a pair can have."""

import numpy as np
import pytest

from judgelab.data import published
from judgelab.papers import rankjudge
from judgelab.papertable import Match
from judgelab.ranking.result import ELO_PER_LOGIT


def test_a_difficulty_makes_the_chances_add_up_to_the_right_answers():
    elo = published("rankjudge", "leaderboard")["elo_all"].to_numpy(float)
    for k, estimate in enumerate(rankjudge.difficulties(), start=1):
        chance = 1 / (1 + 10 ** ((estimate.value - elo) / 400))
        assert chance.sum() == pytest.approx(k, abs=1e-8)
        error = ELO_PER_LOGIT / np.sqrt((chance * (1 - chance)).sum())
        assert estimate.high - estimate.value == pytest.approx(1.959964 * error)


def test_every_printed_median_is_on_the_grid():
    table, *_ = rankjudge.reproduce()
    assert {cell.match for cell in table.cells} == {Match.EXACT}
    assert len(table.cells) == 6


def test_a_median_off_the_grid_would_be_noticed():
    grid = [estimate.value for estimate in rankjudge.difficulties()]
    # The grid is coarse: of all whole numbers in its range, few would have matched.
    assert np.abs(np.diff(grid)).min() > 48
    numbers = np.arange(round(min(grid)), round(max(grid)) + 1)
    near = np.abs(numbers[:, None] - grid).min(axis=1) <= 0.5
    assert near.mean() < 0.02
