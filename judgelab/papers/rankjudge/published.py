"""What RankJudge printed, and what comes out again.

The answers of the judges are not at hand. But every judge answered every pair, and then
the difficulty of a pair depends on one thing only: how many of the judges failed it. So
21 printed ratings allow 20 difficulties, and a printed one has to be among them. With
the released file, `judgelab.papers.rankjudge.reproduce_from` computes the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from judgelab import data
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error, proportion
from judgelab.papers.rankjudge.curate import HARDEST, cut_size
from judgelab.papertable import Cell, PaperTable
from judgelab.ranking import item_difficulty
from judgelab.ranking.result import ELO_PER_LOGIT

if TYPE_CHECKING:
    import pandas as pd

SOURCE = "RankJudge (2605.21748)"

_NEEDS_ANSWERS = "needs the answers of the judges, which the paper's tables do not hold"


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


def before_cut(kept: int, share: float = HARDEST) -> list[int]:
    """From how many pairs can so many be left when the hardest share is dropped?

    Parameters
    ----------
    kept : int
        Pairs that are left.
    share : float, default 0.05
        What is dropped: round(share · n), and at least one.

    Returns
    -------
    list of int
        Every n that fits; empty if none does.

    References
    ----------
    RankJudge, arXiv:2605.21748, the released code's cut.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> before_cut(652)
    [686]
    """
    most = int(kept / (1 - share)) + 2
    return [n for n in range(kept + 1, most + 1) if n - cut_size(n, share) == kept]


def domains_centred() -> pd.DataFrame:
    """How do the judges stand in each domain, once every domain has the same zero?

    Returns
    -------
    pandas.DataFrame
        One row per judge: ``ml``, ``med``, ``fin``: printed Elo minus the mean of the
        21 judges in that domain; ``lowest`` and ``lowest as printed``: the domain with
        the lowest value, centred and as printed.

    References
    ----------
    RankJudge, arXiv:2605.21748, detailed table of ratings.

    Notes
    -----
    Every domain is fitted by itself and has a zero of its own, where the mean strength
    of its judges and pairs lies. A domain in which all judges rate lower may have
    harder pairs, or easier ones left out; the difference says nothing about a judge.
    Chapter: *RankJudge*.

    Examples
    --------
    >>> table = domains_centred()
    >>> (table["lowest as printed"] == "fin").sum(), (table["lowest"] == "fin").sum()
    (np.int64(15), np.int64(9))
    """
    board = data.published("rankjudge", "leaderboard").set_index("judge")
    domains = ["ml", "med", "fin"]
    printed = board[[f"elo_{name}" for name in domains]].astype(float)
    printed.columns = domains
    table = printed - printed.mean()
    table["lowest"] = table[domains].idxmin(axis=1)
    table["lowest as printed"] = printed.idxmin(axis=1)
    return table


def reproduce() -> list[PaperTable]:
    """Which printed figures follow from other printed ones?

    Returns
    -------
    list of PaperTable
        The printed median difficulties, each beside the nearest of the 20 possible
        ones, which are 48.6 points apart and more; the counts and shares; and, marked
        as such, the figures that need the answers of the judges.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 and appendices A.1, A.3, A.4, A.7, A.10.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> reproduce()[0].counts["exact"]
    6
    """
    return [_medians(), _counts(), _hidden()]


def _medians() -> PaperTable:
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
    return PaperTable(SOURCE, "median difficulty of pairs", cells, "from print", "Elo")


def printed_text(topic: str, key: str) -> float:
    """Look up a figure that stands in the text of the paper."""
    table = data.published("rankjudge", "text").set_index(["topic", "key"])
    return float(str(table.loc[(topic, key), "value"]))


def _survival(row: tuple[str, str], column: str) -> float:
    table = data.published("rankjudge", "survival").set_index(["axis", "category"])
    return float(str(table.loc[row, column]))


def _counts() -> PaperTable:
    board = data.published("rankjudge", "leaderboard")
    elo = board["elo_all"].to_numpy(float)
    rank = dict(zip(board["judge"], board["rank"].astype(float), strict=True))
    pairs, made = (
        printed_text("scale", "pairs_published"),
        printed_text("scale", "pairs_generated"),
    )
    kind = ("failure", "disorganized")
    cells = [
        Cell(
            "spread of the judges, Elo", printed_text("elo", "spread"), elo[0] - elo[-1]
        ),
        Cell(
            "first before second, Elo",
            printed_text("elo", "gap_rank1_rank2"),
            elo[0] - elo[1],
        ),
        Cell("judges", printed_text("scale", "judges"), float(len(board))),
        Cell("matches", printed_text("scale", "matches_published"), pairs * len(board)),
        _share(
            "pairs that survive, %",
            printed_text("scale", "overall_retention"),
            pairs,
            made,
        ),
        _share(
            "disorganized pairs that survive, %",
            _survival(kind, "survival_pct"),
            _survival(kind, "published"),
            _survival(kind, "generated"),
        ),
    ]
    for name in ("min", "max"):
        printed = _survival(("domain", name), "survival_pct")
        per_domain = made / 3
        whole = round(printed / 100 * per_domain)
        cell = _share(f"survival by domain, {name}, %", printed, whole, per_domain)
        cells.append(cell)
    for judge, key in (
        ("gpt-5.5", "gpt-5.5_rank_own"),
        ("opus-4.7", "opus-4.7_rank_other"),
        ("gemini-3.1-pro", "gemini-3.1-pro_rank_both"),
    ):
        printed = printed_text("generator_swap", key)
        cells.append(Cell(f"rank of {judge}, pairs by gpt-5.5", printed, rank[judge]))
    by_domain = board[["elo_ml", "elo_med", "elo_fin"]].astype(float)
    best = (by_domain.idxmax(axis=1) == "elo_fin").sum()
    why = "by the printed table mistral-small-4-119b as well: 911 against 887 and 873"
    cells.append(
        Cell("judges that are best in Finance", 1, float(best), known=True, why=why)
    )
    return PaperTable(SOURCE, "counts, shares and ranks", cells, "from print")


def _share(name: str, printed: float, part: float, whole: float) -> Cell:
    why = f"{part:.0f} of {whole:.0f}"
    ours = proportion(part, int(whole))
    return Cell(name, printed, ours, decimals=1, scale=100, why=why)


def _hidden() -> PaperTable:
    """Figures that need the answers; with them, `reproduce_from` gives them."""
    wanted = (
        ("rho of joint and without type", "criterion", "type_vs_no_type_rho", 3),
        ("tau of joint and without type", "criterion", "type_vs_no_type_tau", 3),
        ("rho of Bradley–Terry and EIP, lowest", "eip_vs_bt", "rho_min", 3),
        ("rho of Bradley–Terry and EIP, highest", "eip_vs_bt", "rho_max", 3),
        ("rho of pointwise and pairwise", "pointwise_vs_pairwise", "rho", 3),
        ("tau of pointwise and pairwise", "pointwise_vs_pairwise", "tau", 3),
        ("evasion named too often, points", "class_bias", "evasion_max_over", 1),
        (
            "no clarification named too rarely",
            "class_bias",
            "no_clarification_under",
            0,
        ),
        ("rho of two generators, 21 judges", "generator_swap", "rho_all21", 3),
        ("rho of two generators, 19 judges", "generator_swap", "rho_19", 3),
        ("tau of two generators, 21 judges", "generator_swap", "tau_all21", 3),
        ("tau of two generators, 19 judges", "generator_swap", "tau_19", 3),
        ("rho at 10 % of the results, Biomedicine", "subsample", "med_rho_at_10pct", 3),
    )
    cells = [
        Cell(
            name, printed_text(topic, key), None, decimals=decimals, why=_NEEDS_ANSWERS
        )
        for name, topic, key, decimals in wanted
    ]
    for name in ("min", "max"):
        printed = _survival(("user_behavior", name), "survival_pct")
        what = f"survival by user behaviour, {name}, %"
        why = "how many pairs there were of each user behaviour is not printed"
        cells.append(Cell(what, printed, None, decimals=1, why=why))
    return PaperTable(SOURCE, "figures behind the answers", cells, "from print")
