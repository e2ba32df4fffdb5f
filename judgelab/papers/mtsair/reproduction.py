"""Do the leaderboard's rows agree with themselves?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgelab import data
from judgelab.papers.mtsair.evaluation import COLUMNS
from judgelab.papertable import Cell, PaperTable

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "MTSAIR side-by-side leaderboard"


def implied_runs() -> pd.DataFrame:
    """How do a judge's two runs hang together, by three printed correlations?

    Returns
    -------
    pandas.DataFrame
        One row per judge, under the default readings: ``first`` and ``swapped``, the
        MPCC of each run; ``consistency`` as printed; ``if independent``, the
        consistency of two runs that have nothing in common but what each shares with
        the experts; and ``residual``, the correlation of the runs given the experts'
        values (a partial correlation), which is 0 in that case.

    References
    ----------
    MTSAIR side-by-side leaderboard: MPCC, MPCC-Consistency, MPCC-∆.

    Notes
    -----
    A partial correlation outside −1 to 1 would mean that no verdicts at all can give
    the printed row. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> for name, r in implied_runs().loc["deepseek-ai/DeepSeek-V3"].items():
    ...     print(f"{name}: {r:.2f}")
    first: 0.53
    swapped: 0.61
    consistency: 0.16
    if independent: 0.32
    residual: -0.24
    """
    import pandas as pd

    printed = data.published("mtsair", "leaderboard").set_index("model") / 100
    half = printed["mpcc_swap_delta"] / 2
    first, swapped = printed["mpcc"] - half, printed["mpcc"] + half
    shared = first * swapped
    consistency = printed["mpcc_consistency"]
    return pd.DataFrame(
        {
            "first": first,
            "swapped": swapped,
            "consistency": consistency,
            "if independent": shared,
            "residual": (consistency - shared)
            / np.sqrt((1 - first**2) * (1 - swapped**2)),
        }
    )


def reproduce() -> list[PaperTable]:
    """Do the leaderboard's rows agree with themselves?

    Returns
    -------
    list of PaperTable
        ``Avg`` beside the mean of the printed APCC and MPCC, for the five known rows;
        and the other columns, which need verdicts that are not public.

    References
    ----------
    MTSAIR side-by-side leaderboard, first five rows.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> reproduce()[0].counts["exact"]
    5
    """
    rows = data.published("mtsair", "leaderboard").to_dict("records")
    averages = [
        Cell(
            row["model"],
            row["avg_correlation"],
            (row["apcc"] + row["mpcc"]) / 2,
            decimals=2,
            # Half a unit of print in both terms, halved.
            tolerance=0.005,
        )
        for row in rows
    ]
    others = [
        Cell(
            f"{row['model']}, {name}",
            row[column],
            None,
            decimals=2,
            why="neither the judges' verdicts nor the experts' are public",
        )
        for row in rows
        for name, column in COLUMNS.items()
        if name != "Avg"
    ]
    return [
        PaperTable(_SOURCE, "Avg = mean of APCC and MPCC", averages, "from print", "%"),
        PaperTable(_SOURCE, "the other columns", others, unit="%"),
    ]
