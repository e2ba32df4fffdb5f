"""Worked examples that the literature on agreement prints, to test a program against.

The tables are the ones that textbooks and software manuals share; each is small enough
to be checked with pencil and paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.agreement import cohen_kappa, fleiss_kappa, icc, krippendorff_alpha
from judgelab.agreement.intraclass import Form
from judgelab.agreement.many_raters import Measurement
from judgelab.estimate import Estimate
from judgelab.papertable import Cell, PaperTable

BALANCED = np.array([[40, 9], [6, 45]])
"""Two raters, both labels used about equally: Feinstein & Cicchetti (1990)."""

MOSTLY_YES = np.array([[80, 10], [5, 5]])
"""The same observed agreement with one dominant label: Feinstein & Cicchetti (1990)."""

_ = np.nan
JURY = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, _],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T
"""Twelve items (rows), four observers, gaps, scale 1 to 5: Krippendorff (2011)."""

BOXES = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)
"""Ten subjects (rows) sorted into five categories by 14 raters: the example that most
software manuals print for Fleiss' kappa."""

SCORES = np.array(
    [
        [9, 2, 5, 8],
        [6, 1, 3, 2],
        [8, 4, 6, 8],
        [7, 1, 2, 6],
        [10, 5, 6, 9],
        [6, 2, 4, 7],
    ]
)
"""Six targets (rows) scored by four judges: Shrout & Fleiss (1979), Table 2."""

SCALE = (1, 2, 3, 4, 5)
"""The scale of `JURY`."""


def reproduce() -> Sequence[PaperTable]:
    """Do the statistics give what their textbooks print?

    Returns
    -------
    sequence of PaperTable
        Thirteen printed values and ours, one table per source.

    References
    ----------
    Feinstein & Cicchetti (1990); Krippendorff (2011), section D; Shrout & Fleiss
    (1979), Table 4.

    Notes
    -----
    Chapter: *Do two judges agree?*.

    Examples
    --------
    >>> print(reproduce()[1].caption)
    Krippendorff (2011), 4 observers × 12 units (recomputed): 4 figures checked, 4 exact
    """
    alphas = [
        Cell(f"alpha, {level}", printed, _alpha(level), 3)
        for level, printed in _PRINTED_ALPHA.items()
    ]
    correlations = [
        Cell(form, printed, icc(SCORES, form=form), 2)
        for form, printed in _PRINTED_ICC.items()
    ]
    paradox = [
        Cell("kappa, both labels in use", 0.70, cohen_kappa(BALANCED), 2),
        Cell("kappa, one dominant label", 0.32, cohen_kappa(MOSTLY_YES), 2),
    ]
    sorting = [Cell("Fleiss' kappa", 0.210, fleiss_kappa(BOXES), 3)]
    return [
        PaperTable("Feinstein & Cicchetti (1990)", "first paradox", paradox),
        PaperTable("Krippendorff (2011)", "4 observers × 12 units", alphas),
        PaperTable("Software manuals", "10 subjects × 5 categories", sorting),
        PaperTable("Shrout & Fleiss (1979)", "Table 4", correlations),
    ]


_PRINTED_ALPHA: dict[Measurement, float] = {
    "nominal": 0.743,
    "ordinal": 0.815,
    "interval": 0.849,
    "ratio": 0.797,
}
_PRINTED_ICC: dict[Form, float] = {
    "ICC1": 0.17,
    "ICC2": 0.29,
    "ICC3": 0.71,
    "ICC1k": 0.44,
    "ICC2k": 0.62,
    "ICC3k": 0.91,
}


def _alpha(level: Measurement) -> Estimate:
    return krippendorff_alpha(JURY, level=level, scale=SCALE)
