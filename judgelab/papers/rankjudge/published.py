"""RankJudge (arXiv:2605.21748): what its printed ratings say about its printed items.

The answers of the judges are not at hand. But every judge answered every pair, and then
the difficulty of a pair depends on one thing only: how many of the judges failed it. So
21 printed ratings allow 20 difficulties, and a printed one has to be among them.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from judgelab import data
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error
from judgelab.papertable import Cell, PaperTable
from judgelab.ranking import item_difficulty
from judgelab.ranking.result import ELO_PER_LOGIT


def difficulties() -> list[Estimate]:
    """Which difficulties can a pair have, under the printed ratings?

    Returns
    -------
    list of Estimate
        In Elo; entry k is a pair that k + 1 of the 21 judges get right. The interval is
        that of one pair and takes the ratings as known; `n` is the number of judges.

    References
    ----------
    RankJudge, arXiv:2605.21748, leaderboard, and the joint fit of its code.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> print(f"{difficulties()[9]:.0f}")  # 10 of 21 are right
    1525 [1344, 1705]
    """
    elo = data.published("rankjudge", "leaderboard")["elo_all"].to_numpy(float)
    judges = elo.size
    values = ELO_PER_LOGIT * item_difficulty(elo / ELO_PER_LOGIT, np.arange(1, judges))
    chance = special.expit((elo - values[:, None]) / ELO_PER_LOGIT)
    errors = ELO_PER_LOGIT / np.sqrt((chance * (1 - chance)).sum(axis=1))
    return [
        from_standard_error(value, error, judges, "one pair, ratings as printed")
        for value, error in zip(values.tolist(), errors.tolist(), strict=True)
    ]


def reproduce() -> list[PaperTable]:
    """Is every printed median difficulty one that a pair can have?

    Returns
    -------
    list of PaperTable
        Six printed medians, each beside the nearest of the 20 possible difficulties,
        which are 48.6 points apart and more.

    References
    ----------
    RankJudge, arXiv:2605.21748, median difficulty by failure and by user behaviour.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> reproduce()[0].counts["exact"]
    6
    """
    possible = difficulties()
    grid = np.array([estimate.value for estimate in possible])
    printed = data.published("rankjudge", "pair_difficulty")
    cells = []
    names = (printed["axis"] + " " + printed["category"]).str.replace("_", " ")
    for name, median in zip(
        names, printed["median_pair_elo"].astype(float), strict=True
    ):
        k = int(np.abs(grid - median).argmin())
        cells.append(
            Cell(
                name,
                median,
                possible[k],
                why=f"a pair that {k + 1} of {possible[k].n} judges get right",
            )
        )
    table = "median difficulty of pairs"
    return [PaperTable("RankJudge (2605.21748)", table, cells, "from print", "Elo")]
