"""What the paper printed, and how sure it can be: counts and widest intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgelab import data
from judgelab._checks import check_real, whole
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error

if TYPE_CHECKING:
    import pandas as pd

POSITION_N = {2: 80, 9: 80, 10: 50, 11: 80, 12: 80, 15: 80}
"""Pairs of answers behind each table of position bias, each judged in both orders."""


def position_counts(table: int) -> pd.DataFrame:
    """How many of the answer pairs are behind each printed share of position bias?

    Parameters
    ----------
    table : {2, 9, 10, 11, 12, 15}
        Number of the table in the paper.

    Returns
    -------
    pandas.DataFrame
        The rows of the table with whole numbers instead of percentages: ``consistent``,
        ``biased_first``, ``biased_second`` and, where printed, ``error``; ``n`` is
        their sum: 80 first-turn questions (50 in Table 10, which its two-point steps
        imply).

    Raises
    ------
    ValidationError
        If the table isn't one of these.

    References
    ----------
    Zheng et al. (2023), sections 3.3 and 3.4, appendices D.1 and F.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> position_counts(2).iloc[4].to_dict()
    {'judge': 'GPT-4', 'prompt': 'default', 'consistent': 52, 'biased_first': 24,
    'biased_second': 4, 'error': 0, 'n': 80}
    """
    if table not in POSITION_N:
        raise ValidationError(
            f"Table {table!r} is no table of position bias; choose from "
            f"{', '.join(map(str, POSITION_N))}"
        )
    frame = data.published("mtbench", f"table{table}")
    shares = share_columns(frame)
    counted = (frame[shares] * POSITION_N[table] / 100).round().astype(int)
    counted.columns = [plain_name(share) for share in shares]
    return frame.drop(columns=shares).join(counted).assign(n=counted.sum(axis=1))


def share_columns(frame: pd.DataFrame) -> list[str]:
    """Name the columns that hold percentages."""
    return [str(name) for name in frame if str(name).endswith("_pct")]


def plain_name(share: str) -> str:
    """Name what a column of percentages counts."""
    return share.removesuffix("_pct").replace("consistency", "consistent")


def widest_interval(
    mean: float, n: int, lowest: float, highest: float, *, level: float = 0.95
) -> Estimate:
    """How unsure can a printed mean be, when nothing is known of the spread behind it?

    Values between two ends spread most when all of them are at the ends; their variance
    is then (mean − lowest) × (highest − mean), and no data with this mean have more.

    Parameters
    ----------
    mean : float
        The printed mean.
    n : int
        How many independent values it averages, at least 2.
    lowest, highest : float
        The ends of the scale.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In the unit of the mean.

    Raises
    ------
    ValidationError
        If the mean lies outside the scale, or n is no whole number of at least 2.

    References
    ----------
    Bhatia & Davis (2000), *American Mathematical Monthly* 107(4).

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> widest_interval(5.95, 160, 1, 10)
    5.950 [5.254, 6.646] (n = 160, widest possible spread)
    """
    check_real(mean=mean, lowest=lowest, highest=highest)
    n = whole("n", n, least=2)
    if not lowest <= mean <= highest:
        raise ValidationError(
            f"mean {mean} on a scale from {lowest} to {highest}: it must lie on the "
            "scale"
        )
    error = np.sqrt((mean - lowest) * (highest - mean) / (n - 1))
    return from_standard_error(
        mean,
        float(error),
        n,
        "widest possible spread",
        level=level,
        bounds=(lowest, highest),
    )
