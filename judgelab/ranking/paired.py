"""Ratings from games between two players: Bradley–Terry, and its ways with ties."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from judgelab._checks import array, check_positive, check_real, random_generator, whole
from judgelab.counts import MOST_DENSE
from judgelab.errors import (
    NotConverged,
    Separated,
    UndefinedStatistic,
    ValidationError,
)
from judgelab.intervals import Rng
from judgelab.ranking.identify import (
    Unidentified,
    check_policy,
    keep_identified,
    refuse_few_clusters,
    ties_are_bounded,
)
from judgelab.ranking.likelihood import (
    BRADLEY_TERRY,
    DAVIDSON,
    RAO_KUPPER,
    Family,
    Floats,
    Games,
    Ints,
    distance_to_top,
    maximise,
    maximise_table,
    parameter_covariance,
)
from judgelab.ranking.named import checked_names, unpacked
from judgelab.ranking.result import Ranking

TiePolicy = Literal["half", "drop", "davidson", "rao-kupper"]
Interval = Literal["model", "sandwich", "cluster", "bootstrap"]

_FAMILIES: dict[str, Family] = {
    "half": BRADLEY_TERRY,
    "drop": BRADLEY_TERRY,
    "davidson": DAVIDSON,
    "rao-kupper": RAO_KUPPER,
}
_BATCH = 4_000_000
"""Cells of the Newton systems that are solved at once: 32 MB."""
_GLANCE = 4
"""Steps from player to player tried on a table before the graph is searched."""
MM_CHANGE = 1e-6
"""Where the RankJudge code stops: no strength moved by more than this in a sweep."""
MM_SLACK = 1e-3
"""How far, in logits, MM may be from the maximum where it stops: a fifth of an Elo."""


def bradley_terry(
    wins: Any,
    *,
    ties: Any = None,
    tie_policy: TiePolicy | None = None,
    players: Sequence[Hashable] | None = None,
    interval: Interval | None = None,
    prior: float | None = None,
    unidentified: Unidentified = "raise",
    method: Literal["newton", "mm"] = "newton",
    small_sample: bool = False,
    resamples: int = 1000,
    resample_by: Literal["multinomial", "poisson"] = "multinomial",
    rng: Rng | None = None,
    tolerance: float = 1e-9,
    max_iterations: int | None = None,
) -> Ranking:
    """Who is better, from games between two players, and how sure are we?

    Each player has a rating θ; i beats j with probability σ(θᵢ − θⱼ).

    Parameters
    ----------
    wins : array, sparse array, dataframe or WinMatrix
        Shape (n, n) or (clusters, n, n): ``wins[i, j]`` is how often i beat j; with a
        leading axis, in every cluster (item, annotator, prompt).
        `judgelab.counts.win_counts` makes it. The names on a dataframe, and the names
        and ties in the `WinMatrix` of `judgelab.counts.win_matrix`, are taken over.
    ties : same kind and shape, optional
        Symmetric: ``ties[i, j] == ties[j, i]`` is how often i and j tied
        (`judgelab.counts.tie_counts`).
    tie_policy : {"half", "drop", "davidson", "rao-kupper"}
        What a tie says; must be named if there are ties. "half": half a win for each,
        as in Chatbot Arena's leaderboard and the RankJudge code; "drop": nothing;
        "davidson": a third outcome, likeliest between equals, P(tie) ∝ ν√(sᵢsⱼ);
        "rao-kupper": two players within a threshold log η of each other tie.
    players : sequence of length n, optional
        Names; 0 … n−1 unless given.
    interval : {"model", "sandwich", "cluster", "bootstrap"}, optional
        "model": inverse information, right if the model is; "sandwich": games
        independent, model only right on average; "cluster": clusters independent, at
        least as many as players; "bootstrap": percentiles over resampled games, or
        clusters if there are any.
        Unless given: "cluster" if there are clusters, "sandwich" if ties count as half
        wins (half a win is no outcome of the model, so the inverse information would be
        too wide), "model" otherwise.
    prior : float, optional
        Standard deviation, in logits, of a normal prior with mean 0 on every rating.
        The ratings are then those of largest posterior density, they always exist, and
        the model-based interval is the normal approximation to the posterior.
    unidentified : {"raise", "largest"}, default "raise"
        What to do if some ratings are infinite or on no common scale: refuse, or rate
        the largest group without that trouble and say of the others why not.
    method : {"newton", "mm"}, default "newton"
        "mm": the minorise–maximise iteration of the RankJudge paper, stopped when no
        strength moves by more than 1e-6, for teaching; its trace is in the result.
    small_sample : bool, default False
        Multiply the cluster-robust covariance by G/(G − 1).
    resamples : int, default 1000
        Bootstrap resamples.
    resample_by : {"multinomial", "poisson"}, default "multinomial"
        How the bootstrap draws counts; Poisson is faster and lets the total vary.
    rng : Generator or int
        Needed by the bootstrap.
    tolerance : float, default 1e-9
        Newton stops when wins and expected wins agree for every player to this share of
        the player's games.
    max_iterations : int, at least 1, optional
        100 Newton steps or 100,000 MM sweeps unless given.

    Returns
    -------
    Ranking

    Raises
    ------
    Disconnected, Separated
        If no finite ratings on one scale exist, naming the players.
    NotConverged
        If the iteration ends before the wins are matched.
    ValidationError
        If the counts are not counts, or there are fewer clusters than players.

    References
    ----------
    Bradley & Terry (1952), *Biometrika* 39; Ford (1957), *American Mathematical
    Monthly* 64 (existence); Rao & Kupper (1967), *JASA* 62; Davidson (1970), *JASA* 65;
    Hunter (2004), *Annals of Statistics* 32 (MM); White (1982), *Econometrica* 50
    (sandwich).

    Notes
    -----
    A resample of the bootstrap in which a player never wins or never loses has no
    finite ratings. It is left out and the interval says how many were; if it is more
    than one in ten, there is no interval (take "model", or state a prior).

    Few clusters make narrow intervals: in simulations with six players, 95 % intervals
    of the ratings covered 88 % with 6 clusters, 92 % with 12 and 94 % with 40;
    `small_sample` gained two points at most.

    Not in the model: a home advantage. If an answer gains by being shown first, show
    every pair in both orders equally often, or the ratings take it for strength.

    Chapter: *Who is better?*

    Examples
    --------
    >>> wins = [[0, 60, 55], [40, 0, 50], [45, 50, 0]]
    >>> ranking = bradley_terry(wins, players=["A", "B", "C"])
    >>> for name, rating in ranking.estimates(scale="elo").items():
    ...     print(name, f"{rating:.0f}")
    A 1535 [1503, 1567]
    B 1477 [1444, 1509]
    C 1488 [1456, 1521]
    """
    if method not in ("newton", "mm"):
        raise ValidationError(f"method is {method!r}; choose 'newton' or 'mm'")
    check_policy(unidentified)
    wins, ties, players = unpacked(wins, ties, players)
    counts = _read(wins, ties)
    names = checked_names("players", players, counts.wins.shape[0], "wins")
    check_positive(tolerance=tolerance)
    check_real(prior=1 if prior is None else prior)
    if prior is not None and not 1e-6 <= prior <= 1e6:
        raise ValidationError(
            f"prior is {prior!r}; give a standard deviation in logits, from 1e-6 to "
            "1e6, or leave it out"
        )
    tie_policy, model = _checked_policy(tie_policy, counts)
    if tie_policy == "drop":
        counts = _without_ties(counts)
    left_out: dict[Hashable, str] = {}
    if prior is None or len(names) < 2:
        kept, left_out = _identified(counts, names, unidentified)
        if left_out:
            counts = _restrict(counts, kept)
            names = tuple(names[k] for k in kept)
    by_cluster = _without_empty_clusters(counts.by_cluster)
    family = BRADLEY_TERRY if counts.ties is None else _FAMILIES[tie_policy]
    if family.has_ties:
        _check_tie_parameter(_games(counts), prior)
    kind = _interval_kind(interval, by_cluster, family, counts)
    met = _met(counts)
    if small_sample and kind != "cluster":
        raise ValidationError(
            f'small_sample corrects interval="cluster", and the interval is {kind!r}'
        )
    resamples = whole("resamples", resamples, least=2)

    trace = None
    precision = 0.0 if prior is None else prior**-2
    if method == "mm":
        if family.has_ties or prior is not None:
            raise ValidationError(
                'method="mm" knows ties as half wins or dropped, and no prior; '
                'use method="newton"'
            )
        sweeps = 100_000 if max_iterations is None else max_iterations
        trace, gradient = _mm(_games(counts), sweeps)
        ratings = np.log(trace[-1]) - np.log(trace[-1]).mean()
        tie, iterations = 0.0, trace.shape[0] - 1
    else:
        limit = 100 if max_iterations is None else max_iterations
        # Where most have met, a table is faster than a list of pairs.
        if not family.has_ties and 4 * _filled(met) > met.shape[0] ** 2:
            top = maximise_table(
                _won(counts),
                met.toarray() if sparse.issparse(met) else met,
                precision=precision,
                tolerance=tolerance,
                max_iterations=limit,
            )
        else:
            top = maximise(
                _games(counts),
                family,
                precision=precision,
                tolerance=tolerance,
                max_iterations=limit,
            )
        if not top.converged[0]:
            raise NotConverged(
                f"after {top.iterations} Newton steps the wins of a player are still "
                f"{top.gradient[0]:.3g} from what the ratings expect, or the last step "
                "was long; raise max_iterations, or state a prior"
            )
        ratings, tie = top.ratings[:, 0], float(top.tie[0])
        iterations, gradient = top.iterations, float(top.gradient[0])

    replicates = None
    if kind == "bootstrap":
        replicates, tie_draws = _bootstrap(
            _games(counts),
            family,
            by_cluster,
            (ratings, tie),
            precision=precision,
            resamples=resamples,
            resample_by=resample_by,
            rng=random_generator(rng),
        )
        make_covariance = partial(_covariance_of_draws, replicates, tie_draws)
    else:
        make_covariance = partial(
            _covariance_of_counts,
            counts,
            family,
            ratings,
            tie,
            precision=precision,
            kind=kind,
            players=names,
            by_cluster=by_cluster,
            small_sample=small_sample,
        )
    return Ranking(
        players=names,
        ratings=ratings,
        games=np.asarray(met.sum(axis=1), np.float64),
        model=model + ("" if prior is None else f", prior sd {prior:g}"),
        interval=_in_words(kind, by_cluster, resamples),
        iterations=iterations,
        gradient=gradient,
        make_covariance=make_covariance,
        tie=tie if family.has_ties else None,
        replicates=replicates,
        left_out=left_out,
        trace=trace,
    )


class _Counts(NamedTuple):
    """Checked input: totals over clusters, and the clusters if there are any."""

    wins: Any
    ties: Any
    by_cluster: tuple[Any, Any] | None


def _read(wins: Any, ties: Any) -> _Counts:
    """Check that wins and ties are counts of the same players and the same clusters."""
    won = _checked("wins", wins)
    tied = None if ties is None else _checked("ties", ties)
    if tied is not None and (
        tied.ndim != won.ndim or tied.shape[-2:] != won.shape[-2:]
    ):
        raise ValidationError(f"ties has shape {tied.shape}, wins has {won.shape}")
    if won.ndim == 2:
        if tied is not None:
            if abs(tied - tied.T).max() > 0:
                raise ValidationError(
                    "ties is not symmetric; ties[i, j] and ties[j, i] both say how "
                    "often i and j tied (judgelab.counts.tie_counts)"
                )
            tied = tied if tied.sum() else None
        if tied is not None and sparse.issparse(won) != sparse.issparse(tied):
            won, tied = sparse.csr_array(won), sparse.csr_array(tied)
        return _Counts(won, tied, None)
    if tied is None:
        tied = sparse.coo_array((0, *won.shape[1:]))
    # The last clusters may be without a win, or without a tie.
    shape = (max(won.shape[0], tied.shape[0]), *won.shape[1:])
    pair = (_stretched(won, shape), _stretched(tied, shape))
    _refuse_one_sided(pair[1])
    totals = [_over_clusters(counts) for counts in pair]
    plain = _read(*totals)
    return _Counts(plain.wins, plain.ties, pair)


def _stretched(counts: Any, shape: tuple[int, ...]) -> Any:
    """Add empty clusters at the end."""
    counts = sparse.coo_array(counts)
    return sparse.coo_array((counts.data, counts.coords), shape=shape)


def _refuse_one_sided(ties: Any) -> None:
    """Refuse ties that are not symmetric in every cluster."""
    group, i, j = ties.coords
    n = ties.shape[1]
    cells = np.concatenate([i * n + j, j * n + i])
    excess = sparse.coo_array(
        (np.concatenate([ties.data, -ties.data]), (np.tile(group, 2), cells)),
        shape=(ties.shape[0], n * n),
    ).tocsr()
    if excess.data.any():
        wrong = np.flatnonzero(abs(excess).sum(axis=1))[:5].tolist()
        raise ValidationError(
            f"ties is not symmetric in clusters {wrong}; in every cluster ties[i, j] "
            "and ties[j, i] both say how often i and j tied "
            "(judgelab.counts.tie_counts)"
        )


def _checked(name: str, counts: Any) -> Any:
    if not sparse.issparse(counts):
        counts = array(
            name, counts, "counts; judgelab.counts.win_matrix counts records of games"
        )
    if counts.dtype.kind not in "biuf":
        raise ValidationError(
            f"{name} holds {counts.dtype}, not counts; records of games are counted by "
            "judgelab.counts.win_matrix"
        )
    # Sums of counts do not fit into small types; sums of bool are no sums at all.
    if counts.dtype.itemsize < 8 or counts.dtype.kind == "u":
        counts = counts.astype(np.float64 if counts.dtype.kind == "f" else np.int64)
    if counts.ndim not in (2, 3) or counts.shape[-1] != counts.shape[-2]:
        raise ValidationError(
            f"{name} has shape {counts.shape}; give players × players, or "
            "clusters × players × players"
        )
    if counts.ndim == 2 and sparse.issparse(counts):
        counts = counts.tocsr()
    values = counts.data if sparse.issparse(counts) else counts
    if values.size and not (values.min() >= 0 and values.max() < np.inf):
        raise ValidationError(
            f"{name} runs from {values.min()} to {values.max()}; "
            "counts are finite and not negative"
        )
    if counts.ndim == 2:
        diagonal = counts.diagonal()
    else:
        _, i, j = counts.coords if sparse.issparse(counts) else counts.nonzero()
        at = values != 0 if sparse.issparse(counts) else np.ones(i.size, bool)
        diagonal = np.bincount(i[(i == j) & at], minlength=counts.shape[-1])
    if diagonal.any():
        raise ValidationError(
            f"{name} has games of players against themselves, in the rows "
            f"{np.flatnonzero(diagonal)[:5].tolist()}; leave the diagonal 0"
        )
    return counts


def _over_clusters(counts: Any) -> Any:
    """Add the clusters up: dense for few players, sparse for many."""
    _, i, j = counts.coords
    n = counts.shape[1]
    total = sparse.coo_array((counts.data, (i, j)), shape=(n, n)).tocsr()
    return total.toarray() if n <= MOST_DENSE else total


def _checked_policy(policy: TiePolicy | None, counts: _Counts) -> tuple[TiePolicy, str]:
    """Return the policy, and the model in words."""
    if policy is not None and policy not in tuple(_FAMILIES):
        raise ValidationError(
            f"tie_policy is {policy!r}; choose one of {list(_FAMILIES)}"
        )
    if counts.ties is None:
        return policy or "half", "Bradley–Terry"
    if policy is None:
        raise ValidationError(
            f"there are {counts.ties.sum() / 2:,.0f} ties and no tie_policy; name "
            f"one of {list(_FAMILIES)}: the ratings depend on it"
        )
    words = {"half": ", ties as half wins", "drop": ", ties dropped"}.get(policy, "")
    return policy, _FAMILIES[policy].title + words


def _without_ties(counts: _Counts) -> _Counts:
    """Drop the ties, in the totals and in every cluster."""
    if counts.by_cluster is None:
        return _Counts(counts.wins, None, None)
    wins, ties = counts.by_cluster
    return _Counts(counts.wins, None, (wins, sparse.coo_array(ties.shape)))


def _met(counts: _Counts) -> Any:
    """Count the games of every pair, symmetric."""
    met = counts.wins.astype(np.float64)
    met += counts.wins.T
    return met if counts.ties is None else met + counts.ties


def _filled(table: Any) -> int:
    """Count the cells that are not 0."""
    return int(table.nnz if sparse.issparse(table) else np.count_nonzero(table))


def _won(counts: _Counts) -> Floats:
    """Count the wins of every player, ties as halves."""
    won = np.asarray(counts.wins.sum(axis=1), np.float64)
    return won if counts.ties is None else won + counts.ties.sum(axis=1) / 2


def _games(counts: _Counts) -> Games:
    """List every pair that met, once."""
    wins, ties, met = counts.wins, counts.ties, _met(counts)
    n = wins.shape[0]
    if sparse.issparse(met):
        upper = sparse.triu(met, 1).tocoo()
        i, j = upper.row.astype(np.int64), upper.col.astype(np.int64)
        take = _sparse_cells
    else:
        upper = np.triu(met, 1) > 0
        i = np.repeat(np.arange(n), np.count_nonzero(upper, axis=1))
        j = np.flatnonzero(upper) - i * n
        take = _dense_cells
    tied = np.zeros(i.size) if ties is None else take(ties, i, j)
    parts = (take(wins, i, j), take(wins, j, i), tied)
    return Games(n, i, j, *(part.astype(np.float64)[:, None] for part in parts))


def _dense_cells(matrix: Any, i: Ints, j: Ints) -> Any:
    return matrix.ravel()[i * matrix.shape[1] + j]


def _sparse_cells(matrix: Any, i: Ints, j: Ints) -> Any:
    return np.asarray(matrix[i, j]).ravel()


def _identified(
    counts: _Counts, players: tuple[Any, ...], unidentified: Unidentified
) -> tuple[Ints, dict[Hashable, str]]:
    """Keep the players with finite ratings on one scale."""
    # An arrow from winner to loser; a tie goes both ways.
    beats = counts.wins > 0
    if counts.ties is not None:
        beats = beats + (counts.ties > 0)
    n = len(players)
    if n > 1 and not sparse.issparse(beats):
        # At a glance: where most have met, few steps lead from anybody to everybody.
        arrows = beats.astype(np.float32)[None]
        ways = (arrows, arrows.transpose(0, 2, 1))
        if all(_reaches_all(way, _GLANCE).all() for way in ways):
            return np.arange(n), {}
    return keep_identified(sparse.csr_array(beats), players, unidentified)


def _restrict(counts: _Counts, kept: Ints) -> _Counts:
    """Keep the games among some of the players."""
    wins, ties = (
        None if x is None else x[kept][:, kept] for x in (counts.wins, counts.ties)
    )
    if ties is not None and not ties.sum():
        ties = None
    return _Counts(wins, ties, _cut(counts.by_cluster, kept))


def _cut(by_cluster: tuple[Any, Any] | None, kept: Ints) -> tuple[Any, Any] | None:
    """Keep the games among some of the players, in every cluster."""
    if by_cluster is None:
        return None
    clusters, n, _ = by_cluster[0].shape
    place = np.full(n, -1)
    place[kept] = np.arange(kept.size)
    result = []
    for counts in by_cluster:
        group, i, j = counts.coords
        inside = (place[i] >= 0) & (place[j] >= 0)
        coords = (group[inside], place[i[inside]], place[j[inside]])
        shape = (clusters, kept.size, kept.size)
        result.append(sparse.coo_array((counts.data[inside], coords), shape=shape))
    return result[0], result[1]


def _without_empty_clusters(by_cluster: tuple[Any, Any] | None) -> Any:
    """Drop clusters without a game: they are no evidence, and no clusters."""
    if by_cluster is None:
        return None
    inhabited = np.zeros(by_cluster[0].shape[0], bool)
    for counts in by_cluster:
        inhabited[counts.coords[0][counts.data > 0]] = True
    if inhabited.all():
        return by_cluster
    place = np.cumsum(inhabited) - 1
    result = []
    for counts in by_cluster:
        group, i, j = (part[counts.data > 0] for part in counts.coords)
        shape = (int(inhabited.sum()), *counts.shape[1:])
        data = counts.data[counts.data > 0]
        result.append(sparse.coo_array((data, (place[group], i, j)), shape=shape))
    return tuple(result)


def _check_tie_parameter(games: Games, prior: float | None) -> None:
    """Refuse counts on which the tie parameter runs away to infinity."""
    down, up = games.first[:, 0] > 0, games.second[:, 0] > 0
    tied = games.tied[:, 0] > 0
    winners = np.concatenate([games.i[down], games.j[up]])
    losers = np.concatenate([games.j[down], games.i[up]])
    if prior is not None and winners.size:
        return
    if not ties_are_bounded(games.n, winners, losers, (games.i[tied], games.j[tied])):
        raise Separated(
            "the tie parameter is infinite: there is no round of games (A beat B, B "
            "beat C, …, back to A) with more wins than ties, so ever larger gaps and "
            'ever more ties fit ever better; take tie_policy="half" or "drop", or '
            "state a prior"
        )


def _interval_kind(
    interval: Interval | None,
    by_cluster: tuple[Any, Any] | None,
    family: Family,
    counts: _Counts,
) -> Interval:
    if by_cluster is not None and interval in (None, "cluster", "bootstrap"):
        refuse_few_clusters(by_cluster[0].shape[0], counts.wins.shape[0])
    if interval is None:
        if by_cluster is not None:
            return "cluster"
        half_wins = not family.has_ties and counts.ties is not None
        return "sandwich" if half_wins else "model"
    if interval not in ("model", "sandwich", "cluster", "bootstrap"):
        raise ValidationError(
            f"interval is {interval!r}; choose 'model', 'sandwich', 'cluster' or "
            "'bootstrap'"
        )
    if interval == "cluster" and by_cluster is None:
        raise ValidationError(
            'interval="cluster" needs wins of shape (clusters, n, n): pass clusters= '
            "to judgelab.counts.win_counts"
        )
    return interval


def _in_words(kind: str, by_cluster: tuple[Any, Any] | None, resamples: int) -> str:
    units = "games" if by_cluster is None else f"{by_cluster[0].shape[0]:,} clusters"
    return {
        "model": "model-based",
        "sandwich": "sandwich",
        "cluster": f"cluster-robust, {units}",
        "bootstrap": f"bootstrap, {resamples} resamples of {units}",
    }[kind]


def _mm(games: Games, max_sweeps: int) -> tuple[Floats, float]:
    """Iterate as the RankJudge paper does; return all strengths, and the last gradient.

    A sweep sets each strength to wins / Σ games/(own + other's strength) and divides
    all by their mean. Every sweep goes uphill, in steps that shrink long before the top
    is near on a chain of players; so Newton has the last word on where the top is.
    """
    max_sweeps = whole("max_iterations", max_sweeps, least=1)
    gather = abs(games.incidence()).T
    total = games.total[:, 0]
    signed = games.incidence().T
    wins = 0.5 * (signed @ (games.first - games.second)[:, 0] + gather @ total)
    strengths = np.ones(games.n)
    trace = [strengths]
    for _ in range(max_sweeps):
        before = strengths
        met = total / (before[games.i] + before[games.j])
        strengths = wins / (gather @ met)
        strengths = strengths / strengths.mean()
        trace.append(strengths)
        if np.abs(strengths - before).max() < MM_CHANGE:
            break
    share = strengths[games.i] / (strengths[games.i] + strengths[games.j])
    expected = signed @ (total * (share - 0.5)) + 0.5 * (gather @ total)
    gradient = float(np.abs(wins - expected).max())
    short = distance_to_top(games, np.log(strengths))
    if short > MM_SLACK:
        raise NotConverged(
            f"MM stopped after {len(trace) - 1:,} sweeps with steps of "
            f"{np.abs(strengths - before).max():.1g}, but a rating is still "
            f'{short:.2g} logits from the maximum; use method="newton"'
        )
    return np.array(trace), gradient


def _bootstrap(
    games: Games,
    family: Family,
    by_cluster: tuple[Any, Any] | None,
    top: tuple[Floats, float],
    *,
    precision: float,
    resamples: int,
    resample_by: str,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Refit on resampled counts; rows without finite ratings are nan."""
    if resample_by not in ("multinomial", "poisson"):
        raise ValidationError(
            f"resample_by is {resample_by!r}; choose 'multinomial' or 'poisson'"
        )
    observed = np.concatenate([games.first, games.second, games.tied])[:, 0]
    table = None if by_cluster is None else _cluster_table(games, by_cluster)
    pairs = games.i.size
    ratings = np.full((resamples, games.n), np.nan)
    ties = np.full(resamples, np.nan)
    batch = max(1, _BATCH // max(games.n**2, 3 * pairs))
    for begin in range(0, resamples, batch):
        size = min(batch, resamples - begin)
        drawn = _draw(observed, table, size, resample_by, rng)
        first, second, tied = (
            drawn[:pairs],
            drawn[pairs : 2 * pairs],
            drawn[2 * pairs :],
        )
        resampled = Games(games.n, games.i, games.j, first, second, tied)
        lost = np.zeros(size, bool)
        if not precision:
            lost = _unidentified(games, resampled, family)
            parts = (part[:, ~lost] for part in (first, second, tied))
            resampled = Games(games.n, games.i, games.j, *parts)
        left = int((~lost).sum())
        fit = maximise(
            resampled,
            family,
            precision=precision,
            # A resample is off by far more than this from the next one.
            tolerance=1e-7,
            max_iterations=100,
            start=(np.repeat(top[0][:, None], left, axis=1), np.full(left, top[1])),
        )
        ratings[begin : begin + size][~lost] = np.where(
            fit.converged, fit.ratings, np.nan
        ).T
        ties[begin : begin + size][~lost] = np.where(fit.converged, fit.tie, np.nan)
    return ratings, ties


def _draw(
    observed: Floats,
    table: Any,
    size: int,
    resample_by: str,
    rng: np.random.Generator,
) -> Floats:
    """Draw resampled counts, shape (3 · pairs, size)."""
    if table is None:
        if resample_by == "poisson":
            return rng.poisson(observed[:, None], (observed.size, size)).astype(float)
        total = observed.sum()
        if total != round(total):
            raise ValidationError(
                "a multinomial bootstrap needs whole games; weighted games can be "
                'resampled with resample_by="poisson" over clusters'
            )
        draws = rng.multinomial(int(total), observed / total, size)
        return np.ascontiguousarray(draws.T, dtype=np.float64)
    clusters = table.shape[1]
    if resample_by == "poisson":
        weights = rng.poisson(1.0, (clusters, size)).astype(float)
    else:
        weights = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size).T
    drawn: Floats = table @ np.ascontiguousarray(weights, dtype=np.float64)
    return drawn


def _cluster_table(games: Games, by_cluster: tuple[Any, Any]) -> Any:
    """Outcome counts (3 · pairs) × clusters, sparse."""
    pairs, n = games.i.size, games.n
    code = games.i * n + games.j
    groups, rows, values = [], [], []
    for outcome, counts in zip((0, 2), by_cluster, strict=True):
        group, a, b = counts.coords
        # A tie stands in both cells of its pair and counts once.
        keep = a < b if outcome == 2 else a != b
        group, a, b, times = group[keep], a[keep], b[keep], counts.data[keep]
        row = np.searchsorted(code, np.minimum(a, b) * n + np.maximum(a, b))
        groups.append(group)
        rows.append(row + pairs * (outcome if outcome == 2 else (a > b)))
        values.append(times.astype(np.float64))
    return sparse.coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(groups))),
        shape=(3 * pairs, by_cluster[0].shape[0]),
    ).tocsr()


def _unidentified(
    games: Games, resampled: Games, family: Family
) -> npt.NDArray[np.bool_]:
    """Which resamples have no finite maximum?"""
    down, up = (
        resampled.first + resampled.tied > 0,
        resampled.second + resampled.tied > 0,
    )
    lacking = down < (games.first + games.tied > 0)
    lacking |= up < (games.second + games.tied > 0)
    # Where every arrow of the data is left, all is as well as in the data.
    suspects = np.flatnonzero(lacking.any(axis=0))
    arrows = np.zeros((suspects.size, games.n, games.n), np.float32)
    arrows[:, games.i, games.j] = down[:, suspects].T
    arrows[:, games.j, games.i] = up[:, suspects].T
    lost = np.zeros(down.shape[1], bool)
    # On one scale: the first player reaches everybody, and everybody the first player.
    ways = (arrows, arrows.transpose(0, 2, 1))
    lost[suspects] = ~np.logical_and(*(_reaches_all(way, games.n) for way in ways))
    if family.has_ties:
        lacking |= (resampled.first == 0) & (games.first > 0)
        lacking |= (resampled.second == 0) & (games.second > 0)
        lacking |= (resampled.tied == 0) & (games.tied > 0)
        for b in np.flatnonzero(lacking.any(axis=0) & ~lost):
            parts = (
                part[:, b : b + 1]
                for part in (resampled.first, resampled.second, resampled.tied)
            )
            try:
                _check_tie_parameter(Games(games.n, games.i, games.j, *parts), None)
            except Separated:
                lost[b] = True
    return lost


def _reaches_all(arrows: npt.NDArray[np.float32], steps: int) -> npt.NDArray[np.bool_]:
    """In which of many graphs can player 0 go to everybody in so many steps?"""
    reached = np.zeros(arrows.shape[:2], np.float32)
    reached[:, 0] = 1
    size = 0
    for _ in range(steps):
        if np.count_nonzero(reached) == size:
            break
        size = int(np.count_nonzero(reached))
        further = np.matmul(reached[:, None], arrows)[:, 0]
        reached = np.maximum(reached, further > 0)
    return np.asarray(reached.all(axis=1), np.bool_)


def _covariance_of_counts(counts: _Counts, *fit: Any, **how: Any) -> Floats:
    """List the pairs when a covariance is asked for, and not before."""
    return parameter_covariance(_games(counts), *fit, **how)


def _covariance_of_draws(ratings: Floats, ties: Floats) -> Floats:
    """Covariance over the resamples with finite ratings, the tie parameter last."""
    finite = np.isfinite(ratings).all(axis=1)
    if (~finite).sum() > 0.1 * finite.size:
        raise UndefinedStatistic(
            f"{(~finite).sum()} of {finite.size} resamples have no finite ratings; "
            'take interval="model", or state a prior'
        )
    draws = np.column_stack([ratings, ties])[finite]
    return np.asarray(np.cov(draws, rowvar=False), np.float64)
