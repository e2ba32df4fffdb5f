"""What the chapter *Who is better?* says beyond its own cells."""

import numpy as np
import pytest

from judgelab.errors import Separated
from judgelab.explore.ranking import BOARDS
from judgelab.papers import mt_bench
from judgelab.ranking import bradley_terry
from judgelab.ranking.result import ELO_PER_LOGIT


@pytest.mark.parametrize("interval", ["cluster", "bootstrap"])
def test_dropped_ties_are_gone_from_the_clusters_too(interval):
    votes = mt_bench.wins_by_question("G4-Pair")
    options = {"interval": interval, "rng": 1, "resamples": 200}
    dropped = bradley_terry(votes.wins, ties=votes.ties, tie_policy="drop", **options)
    never = bradley_terry(votes.wins, **options)
    assert dropped.ratings == pytest.approx(never.ratings)
    assert dropped.covariance == pytest.approx(never.covariance)


def chain(n):
    return np.diag(np.full(n - 1, 6), 1) + np.diag(np.full(n - 1, 4), -1)


def games(wins):
    winners, losers = np.nonzero(wins)
    times = np.asarray(wins)[winners, losers]
    return np.repeat(winners, times), np.repeat(losers, times)


APART = np.triu(np.full((3, 3), 10), 1)
TWO_GROUPS = np.array([[0, 6, 0, 0], [4, 0, 0, 0], [0, 0, 0, 7], [0, 0, 3, 0]])


def evalica_scores(wins):
    evalica = pytest.importorskip("evalica", reason="evalica is not installed")
    winners, losers = games(wins)
    result = evalica.bradley_terry(
        winners.astype(str), losers.astype(str), [evalica.Winner.X] * winners.size
    )
    scores = result.scores
    return np.log([scores[str(k)] for k in range(len(wins))])


def test_evalica_as_the_chapter_quotes_it():
    assert np.ptp(evalica_scores(chain(60))) == pytest.approx(9.198, abs=1e-3)
    assert np.ptp(evalica_scores(APART)) == 0
    assert np.ptp(evalica_scores(TWO_GROUPS)) == pytest.approx(0.847, abs=1e-3)


def test_logistic_regression_as_the_chapter_quotes_it():
    linear = pytest.importorskip("sklearn.linear_model")
    elo = []
    for wins in (APART, TWO_GROUPS, chain(60)):
        winners, losers = games(wins)
        rows = np.arange(winners.size)
        design = np.zeros((winners.size, len(wins)))
        design[rows, winners], design[rows, losers] = np.log(10), -np.log(10)
        fit = linear.LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6)
        fit.fit(np.vstack([design, -design]), np.repeat([1, 0], winners.size))
        elo.append(1000 + 400 * fit.coef_[0])
    # Where it stops depends on version and tolerance; it never says that it must not.
    assert 2000 < elo[0][0] < 6000
    assert elo[0][1] == pytest.approx(1000, abs=1)
    assert elo[1].round() == pytest.approx([1035, 965, 1074, 926], abs=1)
    assert np.ptp(elo[2]) / ELO_PER_LOGIT == pytest.approx(23.92, abs=0.01)


@pytest.mark.parametrize("judge", ["Human", "G4-Pair"])
def test_both_sides_draw_the_same_questions(judge):
    votes = mt_bench.wins_by_question(judge)
    options = {"tie_policy": "half", "interval": "model"}
    draws = bradley_terry(
        votes.wins, ties=votes.ties, tie_policy="half", interval="bootstrap", rng=1
    ).replicates
    weights = np.random.default_rng(1).multinomial(80, np.full(80, 1 / 80), 1000)
    wins, ties = votes.wins.todense(), votes.ties.todense()
    for draw in (0, 500, 999):
        weighted = [np.tensordot(weights[draw], table, 1) for table in (wins, ties)]
        again = bradley_terry(weighted[0], ties=weighted[1], **options)
        assert draws[draw] == pytest.approx(again.ratings, abs=1e-6)


def with_games(board, *games):
    wins = np.array(BOARDS[board])
    for winner, loser in games:
        wins[winner, loser] += 1
    return wins


def test_only_c_over_a_repairs_the_board_that_nobody_won_against_a():
    board = "none leads to A"
    assert np.isfinite(bradley_terry(with_games(board, (2, 0))).ratings).all()
    for game in ((1, 0), (2, 1)):
        with pytest.raises(Separated):
            bradley_terry(with_games(board, game))


def test_two_leagues_need_a_win_each_way():
    board = "none leads across"
    both_ways = bradley_terry(with_games(board, (0, 2), (3, 1)))
    assert np.isfinite(both_ways.ratings).all()
    with pytest.raises(Separated):
        bradley_terry(with_games(board, (0, 2)))
