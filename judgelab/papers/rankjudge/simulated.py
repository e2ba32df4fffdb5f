"""A panel at the published spread whose answers are drawn: a simulation, no data.

The answers of RankJudge's judges are not needed to ask what its method can tell: take
the printed ratings for true, draw answers by the model that the paper fits, and see
what comes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab import data
from judgelab._checks import random_generator
from judgelab.intervals import Rng
from judgelab.papers.rankjudge.curate import Curation, curate
from judgelab.papers.rankjudge.grade import Criterion, Grades
from judgelab.ranking.result import ELO_PER_LOGIT

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

STRETCH = 1.09
"""How far the joint fit stretches ratings as far apart as the printed ones: what is
divided by it comes out as printed."""
PAIRS = 782
"""Pairs before trivial ones are dropped: about 680 are left then, in the paper 686. The
number itself is not printed."""
PAIR_MEAN, PAIR_SPREAD = 1100.0, 400.0
"""Difficulty of the pairs in Elo. Chosen, not known; with them the printed medians of
difficulty are ordinary ones."""
TYPE_ONLY = 0.5
"""Share of wrong answers in which the type alone is wrong. Chosen, not known."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Judges with known ratings, and what they answered.

    Parameters
    ----------
    judges : tuple of str
        The 21 names; nothing here was said by these models.
    elo : ndarray, shape (21,)
        Their true ratings.
    difficulty : ndarray, shape (pairs,)
        The true difficulty of the pairs, on the same scale.
    tables : dict
        Criterion → who was right on what, shape (21, pairs).

    Notes
    -----
    Chapter: *RankJudge*.
    """

    judges: tuple[str, ...]
    elo: Floats
    difficulty: Floats
    tables: dict[str, Floats]

    def grades(self, criterion: Criterion = "joint") -> Grades:
        """Give the answers as `curate` takes them."""
        table = self.tables[criterion]
        names = tuple(f"simulated {k + 1}" for k in range(table.shape[1]))
        nothing = np.zeros(table.shape, bool)
        return Grades(self.judges, names, table, nothing, (), criterion, "simulated")


def simulate_panel(*, rng: Rng, pairs: int = PAIRS, stretch: float = STRETCH) -> Panel:
    """Draw the answers of 21 judges that lie as far apart as the published ones.

    Parameters
    ----------
    rng : Generator or int
        Draws pairs and answers.
    pairs : int, default 782
        How many pairs.
    stretch : float, default 1.09
        What the printed ratings are divided by, around their mean, to be true ones.

    Returns
    -------
    Panel
        A judge is right by the joint criterion with the chance of the model; where it
        is not, half of the time it misses the type alone, and else its verdict is a
        coin and its turn wrong.

    References
    ----------
    RankJudge, arXiv:2605.21748, leaderboard (the ratings).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> panel = simulate_panel(rng=1)
    >>> panel.tables["joint"].shape, panel.judges[0]
    ((21, 782), 'gemini-3.1-pro')
    """
    board = data.published("rankjudge", "leaderboard")
    printed = board["elo_all"].to_numpy(float)
    elo = printed.mean() + (printed - printed.mean()) / stretch
    generator = random_generator(rng)
    difficulty = generator.normal(PAIR_MEAN, PAIR_SPREAD, pairs)
    chance = special.expit((elo[:, None] - difficulty) / ELO_PER_LOGIT)
    joint = generator.random(chance.shape) < chance
    type_only = ~joint & (generator.random(chance.shape) < TYPE_ONLY)
    coin = generator.random(chance.shape) < 0.5
    tables = {
        "joint": joint.astype(float),
        "verdict+turn": (joint | type_only).astype(float),
        "verdict": (joint | type_only | coin).astype(float),
    }
    return Panel(tuple(board["judge"].astype(str)), elo, difficulty, tables)


@dataclass(frozen=True, eq=False)
class Recovery:
    """What the paper's method makes of answers whose truth is known.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per judge, in the printed order: ``judge``, ``printed``, ``printed ±``,
        ``true``; ``elo``, ``±`` and ``rank`` as fitted to the simulated answers (Elo
        with the printed mean); ``in printed interval``: whether the fitted rating lies
        in the printed interval; ``covered``: whether the fitted interval holds the true
        rating.
    curation : Curation
        The fit behind it.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    table: pd.DataFrame
    curation: Curation


def recover(
    panel: Panel,
    *,
    method: Literal["conditional", "joint", "mm"] = "mm",
    hardest: float = 0.05,
) -> Recovery:
    """Which leaderboard comes out of simulated answers, beside the printed one?

    Parameters
    ----------
    panel : Panel
        From `simulate_panel`.
    method, hardest
        As for `curate`; by default as in the paper.

    Returns
    -------
    Recovery
        Both rankings are shifted to the printed mean, for the zero of each fit is its
        own; intervals are those of a rating against the mean judge.

    References
    ----------
    RankJudge, arXiv:2605.21748, leaderboard.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> recover(simulate_panel(rng=1)).table["rank"].head(8).tolist()
    [1, 2, 5, 4, 6, 3, 7, 8]
    """
    import pandas as pd

    curation = curate(panel.grades(), hardest=hardest, method=method)
    board = data.published("rankjudge", "leaderboard")
    printed = board["elo_all"].to_numpy(float)
    ranking = curation.ranking
    fitted = ranking.estimates(scale="elo", origin=float(printed.mean()))
    ranks = ranking.ranks()
    rows = []
    for k, judge in enumerate(panel.judges):
        estimate, half = fitted[judge], fitted[judge].width / 2
        interval = float(board["ci_all"][k])
        rows.append(
            {
                "judge": judge,
                "printed": printed[k],
                "printed ±": interval,
                "true": panel.elo[k],
                "elo": estimate.value,
                "±": half,
                "rank": int(ranks[judge].value),
                "in printed interval": abs(estimate.value - printed[k]) <= interval,
                "covered": estimate.low <= panel.elo[k] <= estimate.high,
            }
        )
    return Recovery(pd.DataFrame(rows), curation)
