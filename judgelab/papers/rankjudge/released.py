"""RankJudge's figures from its released file, where a reader has it.

The file is not fetched, because we know no checksum of it. What comes out is compared
with what was printed, slice by slice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from judgelab import data
from judgelab.data.registry import LOCAL_VARIABLE
from judgelab.errors import JudgelabError, ValidationError
from judgelab.estimate import Estimate
from judgelab.papers.rankjudge.compare import class_bias, rank_agreement
from judgelab.papers.rankjudge.curate import Curation, curate, difficulty_by
from judgelab.papers.rankjudge.grade import Criterion, grades
from judgelab.papers.rankjudge.published import SOURCE, printed_text
from judgelab.papers.rankjudge.schema import Item, Match, load
from judgelab.papertable import Cell, PaperTable
from judgelab.planning import ranking_stability
from judgelab.ranking import Rasch, walk

RELEASED = "https://huggingface.co/datasets/Layer6/RankJudge"
"""Where the released pairs and matches are (CC-BY-4.0): ``pairs/pairs.parquet`` and
``matches/matches.parquet``. No checksum is known to us, so nothing is fetched."""

SLICES = ("all", "ml", "med", "fin")
"""What the paper rates its judges on: all pairs, and each domain by itself."""


def released_matches() -> list[Match] | None:
    """Read the released matches, if they lie in the folder of raw records.

    Returns
    -------
    list of Match or None
        From ``rankjudge/matches.parquet`` or ``rankjudge/matches/matches.parquet`` (or
        .json, .jsonl) below the folder that ``JUDGELAB_DATA`` names; None if there is
        none.

    Notes
    -----
    The file is at `RELEASED`. It is not fetched, because we know no checksum of it.
    Chapter: *RankJudge*.
    """
    path = _released("matches")
    return None if path is None else load(Match, path)


def released_pairs() -> list[Item] | None:
    """Read the released pairs, if they lie in the folder of raw records.

    Returns
    -------
    list of Item or None
        As `released_matches`, from ``rankjudge/pairs.parquet``.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    path = _released("pairs")
    return None if path is None else load(Item, path)


def _released(name: str) -> Path | None:
    root = os.environ.get(LOCAL_VARIABLE)
    if not root:
        return None
    folder = Path(root, "rankjudge")
    # As downloaded, each table has a folder of its own.
    for place in (folder, folder / name):
        for suffix in (".parquet", ".json", ".jsonl"):
            path = place / f"{name}{suffix}"
            if path.is_file():
                return path
    return None


def reproduce_from(
    matches: Sequence[Match], items: Iterable[Item] = (), *, rng: int = 0
) -> list[PaperTable]:
    """Recompute the paper's figures from its matches.

    Parameters
    ----------
    matches : sequence of Match
        The released ones: `released_matches`. They are the published slice already, so
        no further pair is dropped for being hard.
    items : iterable of Item, optional
        The released pairs; with them the medians of difficulty.
    rng : int, default 0
        Draws the subsamples.

    Returns
    -------
    list of PaperTable
        Rating and half width of its interval for every judge, over all pairs and in
        each domain; then criteria, EIP, class bias, subsamples; then the medians. What
        differs is a mismatch: these tables are for looking, and stand in no ledger.

    Raises
    ------
    ValidationError
        If the judges are not those of the paper.

    References
    ----------
    RankJudge, arXiv:2605.21748.

    Notes
    -----
    The released code's rule is used (`grades`, "released"), and its fit ("mm"). Each
    domain is graded and fitted by itself, as there: what is trivial in it is dropped
    anew. A figure that these matches do not give has its reason instead of a value.
    Chapter: *RankJudge*.
    """
    judges = set(data.published("rankjudge", "leaderboard")["judge"])
    if odd := sorted(judges ^ {match.model.name for match in matches}):
        raise ValidationError(f"these are not the paper's judges: {', '.join(odd)}")
    slices = {
        name: [match for match in matches if name in ("all", match.domain)]
        for name in SLICES
    }
    tables = [_board(name, part) for name, part in slices.items()]
    tables.append(_findings(slices, rng))
    if known := list(items):
        tables.append(_medians_from(_fit(matches).ranking, known))
    return tables


def _fit(matches: Sequence[Match], criterion: Criterion = "joint") -> Curation:
    """Fit as the released code does; these pairs are curated already."""
    table = grades(matches, criterion=criterion, rule="released")
    return curate(table, hardest=0.0, method="mm")


def _board(name: str, matches: Sequence[Match]) -> PaperTable:
    """Compare the leaderboard of one slice."""
    board = data.published("rankjudge", "leaderboard")
    printed = board[["judge", f"elo_{name}", f"ci_{name}"]]
    ratings, why = {}, ""
    try:
        ratings = _fit(matches).ranking.estimates(anchor="rankjudge", scale="elo")
    except JudgelabError as reason:
        why = str(reason)
    cells = []
    for judge, elo, half in printed.itertuples(index=False):
        ours = ratings.get(judge)
        width = None if ours is None else ours.width / 2
        cells.append(Cell(judge, float(elo), ours, why=why))
        cells.append(Cell(f"{judge}, half width", float(half), width, why=why))
    return PaperTable(SOURCE, f"judge leaderboard, {name}", cells, unit="Elo")


def _findings(slices: dict[str, list[Match]], rng: int) -> PaperTable:
    """Compare what the paper says beside its leaderboard."""
    alike = {name: _alike(part) for name, part in slices.items()}
    domains = SLICES[1:]
    cells = [
        _found(name, key, pick, [alike[each] for each in where])
        for name, key, pick, where in (
            ("rho without type", ("criterion", "type_vs_no_type_rho"), min, ["all"]),
            ("tau without type", ("criterion", "type_vs_no_type_tau"), min, ["all"]),
            ("rho without type, ML", ("criterion", "ml_rho"), min, ["ml"]),
            ("rho without type, Finance", ("criterion", "fin_rho"), min, ["fin"]),
            (
                "tau without type, lowest of three domains",
                ("criterion", "domain_tau_min"),
                min,
                domains,
            ),
            (
                "tau without type, highest of three domains",
                ("criterion", "domain_tau_max"),
                max,
                domains,
            ),
            ("rho with EIP, lowest of four", ("eip_vs_bt", "rho_min"), min, SLICES),
            ("rho with EIP, highest of four", ("eip_vs_bt", "rho_max"), max, SLICES),
            ("tau with EIP, lowest of four", ("eip_vs_bt", "tau_min"), min, SLICES),
            ("tau with EIP, highest of four", ("eip_vs_bt", "tau_max"), max, SLICES),
        )
    ]
    first = [m for m in slices["all"] if (m.order, m.prompt) == ("AB", "joint")]
    bias = class_bias(first).groupby("failure")["bias"]
    for name, key, value in (
        ("evasion too often", "evasion_max_over", bias.max()["evasion"]),
        (
            "no clarification too rarely",
            "no_clarification_under",
            bias.min()["no_clarification"],
        ),
        (
            "unnecessary refusal too rarely",
            "unnecessary_refusal_under",
            bias.min()["unnecessary_refusal"],
        ),
    ):
        decimals = 1 if "evasion" in key else 0
        cells.append(
            Cell(name, printed_text("class_bias", key), value, decimals=decimals)
        )
    for name, key, slice_, fraction in (
        ("rho at 10 % of the pairs, at least", "rho_at_10pct_gt", "all", 0.1),
        ("tau at 50 % of the pairs, at least", "tau_at_50pct_gt", "all", 0.5),
        ("rho at 10 % of the pairs, Biomedicine", "med_rho_at_10pct", "med", 0.1),
    ):
        cells.append(_subsample(slices[slice_], fraction, name, key, rng=rng))
    return PaperTable(SOURCE, "criteria, EIP, class bias, subsamples", cells)


def _alike(matches: Sequence[Match]) -> dict[str, Estimate] | str:
    """Say how far another mark and another method rank one slice alike, or why not."""
    try:
        joint = _fit(matches)
        elo = joint.ranking.estimates()
        coarse = _fit(matches, "verdict+turn").ranking.estimates()
        mass = walk(joint.kept.table).scores
    except JudgelabError as reason:
        return str(reason)
    by_walk = dict(zip(joint.kept.judges, mass, strict=True))
    found = {"criterion": rank_agreement(elo, coarse)}
    found["eip_vs_bt"] = rank_agreement(elo, by_walk)
    return {
        f"{what} {name}": getattr(each, name)
        for what, each in found.items()
        for name in ("rho", "tau")
    }


def _found(
    name: str,
    key: tuple[str, str],
    pick: Callable[..., Estimate],
    where: list[dict[str, Estimate] | str],
) -> Cell:
    """Pick the lowest or highest of some slices; without one of them there is none."""
    topic, entry = key
    what = f"{topic} {'rho' if 'rho' in entry else 'tau'}"
    lacking = [each for each in where if isinstance(each, str)]
    values = [each[what] for each in where if not isinstance(each, str)]
    ours = None if lacking else pick(values, key=float)
    return Cell(
        name, printed_text(topic, entry), ours, decimals=3, why="; ".join(lacking)
    )


def _subsample(
    matches: Sequence[Match], fraction: float, name: str, key: str, *, rng: int
) -> Cell:
    decimals = 3 if "med" in key else 2
    printed = printed_text("subsample", key)
    try:
        table = _fit(matches).kept.table
        (part,) = ranking_stability(
            table, [fraction], unit="pairs", method="joint", rng=rng
        )
    except JudgelabError as reason:
        return Cell(name, printed, None, decimals=decimals, why=str(reason))
    ours = part.rho if name.startswith("rho") else part.tau
    return Cell(name, printed, ours, decimals=decimals)


def _medians_from(ranking: Rasch, items: list[Item]) -> PaperTable:
    printed = data.published("rankjudge", "pair_difficulty")
    by_failure = difficulty_by(ranking, items, "failure")
    by_user = [
        each.value for each in difficulty_by(ranking, items, "user_behavior").values()
    ]
    extremes = {
        "min over categories": min(by_user),
        "max over categories": max(by_user),
    }
    cells = [
        Cell(
            f"{axis} {category}".replace("_", " "),
            float(median),
            by_failure.get(category) if axis == "failure" else extremes[category],
            why="" if axis != "failure" or category in by_failure else "no such pair",
        )
        for axis, category, median in zip(
            printed["axis"],
            printed["category"],
            printed["median_pair_elo"],
            strict=True,
        )
    ]
    return PaperTable(SOURCE, "median difficulty of pairs", cells, unit="Elo")
