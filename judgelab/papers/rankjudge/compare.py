"""What RankJudge asks beside the ranking: bias by class, cost, other ways of asking."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab.correlation import kendall_tau, spearman_rho, top_k_overlap
from judgelab.counts import two_order_tables
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error
from judgelab.models.cost import Prices
from judgelab.papers.rankjudge.grade import Criterion, grades
from judgelab.papers.rankjudge.schema import Match
from judgelab.papers.rankjudge.taxonomy import FAILURES
from judgelab.position import position_consistency, slot_share
from judgelab.ranking import Ranking
from judgelab.significance import holm, mcnemar, paired_difference, signed_share
from judgelab.verdict import Verdict, unswap

if TYPE_CHECKING:
    import pandas as pd


def class_bias(
    matches: Iterable[Match], *, unparsed: Literal["left out", "counted"] = "left out"
) -> pd.DataFrame:
    """Which types does a judge name too often, and which too rarely?

    Parameters
    ----------
    matches : iterable of Match
        In one order and wording.
    unparsed : {"left out", "counted"}, default "left out"
        What becomes of replies that name none of the seven types: they do not count, or
        stay in the denominator, where they pull all types down. The paper does not say.

    Returns
    -------
    pandas.DataFrame
        One row per judge and type: ``true`` and ``named`` share in percent, ``bias`` =
        named − true in points with ``low`` and ``high`` (95 %), and ``n``.

    Raises
    ------
    ValidationError
        If a judge stands twice on a pair: its two answers are not independent.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 and appendix A.5.

    Notes
    -----
    Truth and answer of the same pairs are compared, so the interval is that of a paired
    difference. Left out, the biases of a judge sum to 0. Chapter: *RankJudge*.
    """
    import pandas as pd

    if unparsed not in ("left out", "counted"):
        raise ValidationError(
            f"unparsed is {unparsed!r}; choose 'left out' or 'counted'"
        )
    answers: dict[str, list[tuple[str, str | None]]] = {}
    seen = set[tuple[str, str]]()
    for match in matches:
        if (cell := (match.model.name, match.id)) in seen:
            raise ValidationError(
                f"judge {cell[0]!r} stands twice on pair {cell[1]!r}; give matches of "
                "one order and one wording"
            )
        seen.add(cell)
        named = match.judge.behavior_type_pred
        if match.missing or (named not in FAILURES and unparsed == "left out"):
            continue
        truth = match.pair.assistant_behavior_type
        answers.setdefault(match.model.name, []).append((truth, named))
    rows = []
    for judge, pairs in answers.items():
        n = len(pairs)
        for kind in FAILURES:
            more = sum(named == kind != truth for truth, named in pairs)
            less = sum(truth == kind != named for truth, named in pairs)
            bias = signed_share(more, less, n)
            true = sum(truth == kind for truth, _ in pairs)
            rows.append(
                {
                    "judge": judge,
                    "failure": kind,
                    "true": 100 * true / n,
                    "named": 100 * (true + more - less) / n,
                    "bias": 100 * bias.value,
                    "low": 100 * bias.low,
                    "high": 100 * bias.high,
                    "n": n,
                }
            )
    return pd.DataFrame(rows)


def mean_use(
    matches: Iterable[Match],
    what: Literal["total_tokens", "completion_tokens", "cost"] = "total_tokens",
    *,
    prices: Mapping[str, Prices] | None = None,
) -> dict[str, float]:
    """How much does a judge use per match?

    Parameters
    ----------
    matches : iterable of Match
    what : {"total_tokens", "completion_tokens", "cost"}, default "total_tokens"
        Tokens, or US dollars where the matches have them.
    prices : mapping, optional
        Judge → what its endpoint charges: the cost is then that of the tokens.

    Returns
    -------
    dict of str to float
        Mean over the matches whose server counts; judges without any are left out.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    found: dict[str, list[float]] = {}
    for match in matches:
        value, use = getattr(match.usage, what), match.usage
        price = (prices or {}).get(match.model.name)
        if what == "cost" and price is not None:
            read, written = use.prompt_tokens, use.completion_tokens
            value = None
            if read is not None and written is not None:
                value = price.cost(read, written)
        if value is not None and not match.missing:
            found.setdefault(match.model.name, []).append(float(value))
    return {judge: float(np.mean(values)) for judge, values in found.items()}


def frontier(
    ratings: Mapping[Hashable, Estimate | float], cost: Mapping[Hashable, float]
) -> list[Hashable]:
    """Which judges does no other one beat at a lower or equal cost?

    Parameters
    ----------
    ratings : mapping
        Judge → rating, higher is better; undefined ones are left out.
    cost : mapping
        Judge → tokens or money per match.

    Returns
    -------
    list
        The judges on the frontier, cheapest first; of two that are equal in both, one.

    Raises
    ------
    ValidationError
        If a rated judge has no cost.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 (figure).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> frontier({"a": 1900, "b": 1700, "c": 1500}, {"a": 9, "b": 10, "c": 2})
    ['c', 'a']
    """
    values = {judge: float(rating) for judge, rating in ratings.items()}
    values = {judge: value for judge, value in values.items() if np.isfinite(value)}
    if lacking := [j for j in values if not np.isfinite(cost.get(j, np.nan))]:
        raise ValidationError(f"no cost is known for {lacking}")
    on: list[Hashable] = []
    for judge in sorted(values, key=lambda each: (cost[each], -values[each])):
        if not on or values[judge] > values[on[-1]]:
            on.append(judge)
    return on


@dataclass(frozen=True)
class RankAgreement:
    """How well two rankings of the same judges agree.

    Parameters
    ----------
    judges : tuple
        Those that both rank.
    rho, tau : Estimate
        Spearman's and Kendall's (tau-b) correlation, with jackknife intervals over
        judges.
    overlap : Estimate or None
        Share of the first `k` that both have in common; None if there are fewer judges,
        or a tie leaves open who they are.
    k : int
        How many count as the first.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    judges: tuple[Hashable, ...]
    rho: Estimate
    tau: Estimate
    overlap: Estimate | None
    k: int


def rank_agreement(
    first: Mapping[Any, Estimate | float],
    second: Mapping[Any, Estimate | float],
    *,
    without: Iterable[Hashable] = (),
    k: int = 10,
) -> RankAgreement:
    """Do two ways of rating order the judges alike?

    Parameters
    ----------
    first, second : mapping
        Judge → rating: two criteria, two fits, two generators, two protocols.
    without : iterable, optional
        Judges to leave out.
    k : int, default 10
        How many of the best to compare as a set.

    Returns
    -------
    RankAgreement
        Over the judges with a finite rating in both.

    Raises
    ------
    ValidationError
        If fewer than three judges are left.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 and appendices A.3, A.7, A.10.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    away = set(without)
    judges = tuple(
        judge
        for judge, rating in first.items()
        if judge in second
        and judge not in away
        and np.isfinite([float(rating), float(second[judge])]).all()
    )
    if len(judges) < 3:
        raise ValidationError(
            f"only {list(judges)} have a rating in both; three judges are needed"
        )
    # Equal judges must not be told apart by a rounding error.
    x, y = (
        np.array([float(ratings[judge]) for judge in judges]).round(6)
        for ratings in (first, second)
    )
    firsts = [_best(each, judges, k) for each in (x, y)]
    overlap = None
    if all(firsts):
        overlap = top_k_overlap(firsts[0], firsts[1], k=k)
    return RankAgreement(judges, spearman_rho(x, y), kendall_tau(x, y), overlap, k)


def _best(
    scores: npt.NDArray[np.float64], judges: tuple[Hashable, ...], k: int
) -> list[Hashable]:
    """Return the k best; nobody if a tie leaves open who belongs to them."""
    order = np.argsort(-scores, kind="stable")
    if k > order.size or (k < order.size and scores[order[k - 1]] == scores[order[k]]):
        return []
    return [judges[j] for j in order[:k]]


def self_preference(
    own: Ranking,
    other: Ranking,
    generator: Hashable,
    *,
    without: Iterable[Hashable] = (),
) -> Estimate:
    """By how much is a judge better on pairs that it wrote itself?

    Parameters
    ----------
    own, other : Ranking
        The same judges rated on pairs that the judge wrote, and on pairs of another
        writer.
    generator : hashable
        The judge.
    without : iterable, optional
        Judges that are no yardstick: the other writer.

    Returns
    -------
    Estimate
        In Elo: how far the judge is ahead of the mean of the other judges on its own
        pairs, less the same on the other pairs. The two sets of pairs are taken as
        independent, which they are not quite when the documents are the same.

    Raises
    ------
    ValidationError
        If the two rankings have no yardstick in common.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix A.3, which compares ranks.

    Notes
    -----
    A rank tells less: it moves by as many places as there are judges nearby. Chapter:
    *RankJudge*.
    """
    away = {generator, *without}
    yardstick = [judge for judge in own.players if judge in other.players]
    yardstick = [judge for judge in yardstick if judge not in away]
    if not yardstick:
        raise ValidationError("the two rankings have no other judge in common")
    value, variance, n = 0.0, 0.0, 0
    for sign, ranking in ((1, own), (-1, other)):
        anchor = np.array([(p in yardstick) / len(yardstick) for p in ranking.players])
        place = ranking.position(generator)
        lead = ranking.estimates(anchor=anchor, scale="elo", origin=0.0)[generator]
        error = ranking.standard_errors(anchor=anchor, scale="elo")[place]
        value, variance = value + sign * lead.value, variance + float(error) ** 2
        n += lead.n
    return from_standard_error(value, variance**0.5, n, "two independent sets of pairs")


def prompts_compared(
    matches: Sequence[Match],
    judge: str,
    *,
    baseline: str = "joint",
    criterion: Criterion = "joint",
) -> pd.DataFrame:
    """Which wording makes a judge better, on the same pairs?

    Parameters
    ----------
    matches : sequence of Match
        Of several prompts.
    judge : str
        Whose.
    baseline : str, default "joint"
        The wording to compare with.
    criterion
        As for `grades`.

    Returns
    -------
    pandas.DataFrame
        One row per other wording: share of right pairs with the baseline (``before``)
        and with it (``after``), ``difference`` with ``low`` and ``high`` (Bonett–Price,
        95 %), ``p`` (exact McNemar), ``p_holm`` corrected for all wordings tried, mean
        ``tokens`` written, ``pairs``.

    Raises
    ------
    ValidationError
        If the judge has no match with the baseline.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 (error analysis and mitigation).

    Notes
    -----
    The best of several wordings looks better than it is; that is why all are shown and
    the p-values corrected. Chapter: *RankJudge*.
    """
    import pandas as pd

    own = [match for match in matches if match.model.name == judge]
    tables: dict[str, dict[str, float]] = {}
    for prompt in dict.fromkeys(match.prompt for match in own):
        table = grades(own, criterion=criterion, prompt=prompt)
        answers = dict(zip(table.items, table.table[0].tolist(), strict=True))
        tables[prompt] = {i: right for i, right in answers.items() if right == right}
    if baseline not in tables:
        raise ValidationError(f"judge {judge!r} has no match with prompt {baseline!r}")
    rows: dict[str, dict[str, Any]] = {}
    before = tables.pop(baseline)
    for prompt, after in tables.items():
        both = [(after[i], before[i]) for i in before if i in after]
        cells = [both.count(pair) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))]
        gap = paired_difference(*cells)
        rows[prompt] = {
            "before": (cells[0] + cells[2]) / gap.n,
            "after": (cells[0] + cells[1]) / gap.n,
            "difference": gap.value,
            "low": gap.low,
            "high": gap.high,
            "p": mcnemar(cells[1], cells[2]).p_value,
            "tokens": mean_use(
                (m for m in own if m.prompt == prompt), "completion_tokens"
            )[judge],
            "pairs": gap.n,
        }
    corrected = holm({prompt: row["p"] for prompt, row in rows.items()})
    for prompt, row in rows.items():
        row["p_holm"] = corrected[prompt]
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("prompt")


def to_records(matches: Iterable[Match]) -> pd.DataFrame:
    """Turn matches into the records that the rest of the package takes.

    Parameters
    ----------
    matches : iterable of Match

    Returns
    -------
    pandas.DataFrame
        ``judge``, ``item``, ``verdict`` (on the slots as shown; INVALID and MISSING are
        kept), ``swapped``.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    import pandas as pd

    rows = []
    for match in matches:
        said = match.judge.answer
        verdict = Verdict.MISSING if match.missing else Verdict.INVALID
        if said is not None:
            verdict = Verdict.parse(said)
        swapped = match.order == "BA"
        shown = Verdict(int(unswap([verdict], swapped)[0]))
        rows.append((match.model.name, match.id, shown.name, swapped))
    return pd.DataFrame(rows, columns=["judge", "item", "verdict", "swapped"])


def orders_compared(
    matches: Sequence[Match], *, criterion: Criterion = "joint"
) -> pd.DataFrame:
    """How much does the order of showing matter, which RankJudge does not ask?

    Parameters
    ----------
    matches : sequence of Match
        Of both orders, in one wording.
    criterion
        As for `grades`.

    Returns
    -------
    pandas.DataFrame
        One row per judge: share of right pairs in order ``AB`` and ``BA``;
        ``consistent``: the same verdict in both; ``first slot``: share of verdicts for
        the conversation shown first (½ without a lean); each as an `Estimate`.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    import pandas as pd

    by_order = {
        order: grades(matches, criterion=criterion, order=order).accuracy()
        for order in ("AB", "BA")
    }
    tables = two_order_tables(to_records(matches))
    rows = {
        judge: {
            "AB": by_order["AB"][judge],
            "BA": by_order["BA"][judge],
            "consistent": position_consistency(table),
            "first slot": slot_share(table),
        }
        for judge, table in zip(tables.groups, tables.tables, strict=True)
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("judge")
