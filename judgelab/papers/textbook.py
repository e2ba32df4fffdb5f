"""Worked examples that the literature on agreement prints, to test a program against.

The tables are the ones that textbooks and software manuals share; each is small enough
to be checked with pencil and paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.agreement import cohen_kappa, fleiss_kappa, icc, krippendorff_alpha
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
        One table: thirteen printed values and ours.

    References
    ----------
    Feinstein & Cicchetti (1990); Krippendorff (2011), section D; Shrout & Fleiss
    (1979), Table 4.

    Notes
    -----
    Chapter: *Do two judges agree?*.

    Examples
    --------
    >>> reproduce()[0].caption
    'Textbooks on agreement, worked examples (recomputed): 13 figures checked, 13 exact'
    """
    alphas = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    forms = {
        "ICC1": 0.17,
        "ICC2": 0.29,
        "ICC3": 0.71,
        "ICC1k": 0.44,
        "ICC2k": 0.62,
        "ICC3k": 0.91,
    }
    cells = [
        Cell("kappa, balanced labels", 0.70, cohen_kappa(BALANCED), 2),
        Cell("kappa, one dominant label", 0.32, cohen_kappa(MOSTLY_YES), 2),
        *(
            Cell(
                f"alpha, {level}",
                printed,
                krippendorff_alpha(JURY, level=level, scale=SCALE),
                3,
            )
            for level, printed in alphas.items()
        ),
        Cell("Fleiss' kappa, 10 × 5", 0.210, fleiss_kappa(BOXES), 3),
        *(
            Cell(form, printed, icc(SCORES, form=form), 2)
            for form, printed in forms.items()
        ),
    ]
    return [PaperTable("Textbooks on agreement", "worked examples", cells)]
