"""Ratings to move: Elo beside Bradley–Terry, the climb of MM, and real votes."""

from __future__ import annotations

import cmath
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from judgelab.correlation import kendall_tau
from judgelab.counts import win_counts
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider
from judgelab.papers import mt_bench
from judgelab.plots import Picture
from judgelab.ranking import Ranking, bradley_terry, elo, elo_orders
from judgelab.ranking.result import ELO_ORIGIN, ELO_PER_LOGIT

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# When there is a ranking --------------------------------------------------------------

BOARDS: dict[str, list[list[int]]] = {
    "every way is open": [[0, 6, 0], [4, 0, 7], [0, 3, 0]],
    "none leads to A": [[0, 10, 10], [0, 0, 10], [0, 0, 0]],
    "none leads across": [[0, 6, 0, 0], [4, 0, 0, 0], [0, 0, 0, 7], [0, 0, 3, 0]],
}
"""Wins of row over column: one board that can be rated, and two that cannot."""


def when_there_is_a_ranking(*, alt: str, caption: str) -> Picture:
    """Draw three boards with an arrow from every winner to whom it beat.

    Parameters
    ----------
    alt, caption : str
        See `plots.publish`.

    Returns
    -------
    Picture
        Bradley–Terry has a finite maximum if and only if one can walk along the arrows
        from every player to every other.

    References
    ----------
    Ford (1957), *American Mathematical Monthly* 64(8).

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> boards = when_there_is_a_ranking(alt="Three boards.", caption="Figure 2.")
    >>> boards.svg.count("<circle"), boards.svg.count("<path")
    (10, 11)
    """
    parts = []
    for number, (words, wins) in enumerate(BOARDS.items()):
        left = 8 + 118 * number
        corners = [left + 26 + 26j, left + 82 + 26j, left + 26 + 92j, left + 82 + 92j]
        for i, row in enumerate(wins):
            parts += [_arrow(corners[i], corners[j]) for j, n in enumerate(row) if n]
            at = corners[i]
            parts.append(
                f'<circle cx="{at.real:.0f}" cy="{at.imag:.0f}" r="13" fill="none" '
                'stroke="currentColor" stroke-width="1.5"/>'
            )
            parts.append(svg.text(at.real, at.imag + 5, "ABCD"[i], "middle"))
        parts.append(svg.text(left + 54, 130, words, "middle"))
    return Picture(svg.labelled(svg.svg(138, *parts), alt), alt, caption)


def _arrow(winner: complex, loser: complex) -> str:
    """Draw an arrow between two circles, beside the one that goes back."""
    way = (loser - winner) / abs(loser - winner)
    aside = 4j * way
    tail, tip = winner + 16 * way + aside, loser - 16 * way + aside
    barbs = [tip - 8 * way * cmath.rect(1, turn) for turn in (0.5, -0.5)]
    points = [tail, tip, barbs[0], tip, barbs[1]]
    line = "L".join(f"{point.real:.0f} {point.imag:.0f}" for point in points)
    return svg.path(f"M{line}", svg.TONES["main"], 2)


# Elo beside Bradley–Terry -------------------------------------------------------------

_PLAYERS = ("A", "B", "C")
_TRUE = np.array([1600.0, 1500.0, 1400.0])
_GAMES = (30, 60, 120, 300, 600, 1200)
_ORDERS = 200
_SEED = 24
_FLOOR, _CEILING = 1100.0, 1920.0  # no rating leaves them, see the tests
_POINTS = 60


@cache
def _record() -> tuple[Ints, Ints, Ints]:
    """Draw the games of three players: who met whom, and whether the first won."""
    rng = np.random.default_rng(_SEED)
    first = rng.integers(3, size=max(_GAMES))
    second = (first + rng.integers(1, 3, size=first.size)) % 3
    chance = 1 / (1 + 10 ** ((_TRUE[second] - _TRUE[first]) / 400))
    return first, second, (rng.random(first.size) < chance).astype(np.int64)


@cache
def _fit(games: int) -> tuple[Estimate, ...]:
    first, second, won = (part[:games] for part in _record())
    winners, losers = np.where(won, first, second), np.where(won, second, first)
    wins = win_counts(winners, losers, players=3)
    return tuple(bradley_terry(wins).estimates(scale="elo").values())


@cache
def _spread(games: int, k: float) -> tuple[tuple[float, float], ...]:
    parts = (part[:games] for part in _record())
    final = elo_orders(*parts, players=3, k=k, orders=_ORDERS, rng=_SEED)
    low, high = np.quantile(final, [0.025, 0.975], axis=0).tolist()
    return tuple(zip(low, high, strict=True))


@dataclass(frozen=True)
class EloPath:
    """What Elo did with some games in one order, and what Bradley–Terry says."""

    history: Floats
    """Ratings after every game, shape (games + 1, 3)."""
    fitted: tuple[Estimate, ...]
    other_orders: tuple[tuple[float, float], ...]
    """The middle 95 % of the final ratings over 200 orders of the same games."""


class EloConvergence(Demo):
    """Does Elo come to rest, and where? Move K, the number of games and their order.

    Three invented players, truly at 1600, 1500 and 1400, meet at random. The games are
    the same for all settings: a shuffle changes nothing but their order.

    References
    ----------
    Elo (1978), *The Rating of Chessplayers, Past and Present*.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> demo = EloConvergence()
    >>> calm, shuffled = (demo.compute(k=32, games=300, order=o) for o in (0, 1))
    >>> calm.fitted == shuffled.fitted
    True
    >>> demo.figures(shuffled)[1]
    ('A, Bradley–Terry', '1619 [1582, 1656]')
    """

    name = "elo-convergence"
    title = "Elo wanders; Bradley–Terry stays"
    controls = (
        slider("k", "points at stake K", (4, 8, 16, 32, 64, 128), start=32),
        slider("games", "games", _GAMES, start=300),
        slider("order", "order of the games (0: as played)", range(10), start=0),
    )

    def compute(self, **params: Any) -> EloPath:
        """Play the games in one order; fit them; play them in other orders."""
        games, order, k = int(params["games"]), int(params["order"]), params["k"]
        rng = np.random.default_rng(order)
        turn = rng.permutation(games) if order else np.arange(games)
        first, second, won = (part[:games][turn] for part in _record())
        history = elo(first, second, won, players=3, k=k, history=True)
        return EloPath(history, _fit(games), _spread(games, k))

    def figures(self, numbers: EloPath) -> list[tuple[str, str]]:
        """Name, for every player, the last Elo rating and the fitted one."""
        rows = []
        for player, last, fitted, (low, high) in zip(
            _PLAYERS,
            numbers.history[-1],
            numbers.fitted,
            numbers.other_orders,
            strict=True,
        ):
            orders = f"{last:.0f} (in other orders {low:.0f} to {high:.0f})"
            rows.append((f"{player}, Elo", orders))
            rows.append((f"{player}, Bradley–Terry", f"{fitted:.0f}"))
        return rows

    def view(self, numbers: EloPath) -> str:
        """Draw the paths of the ratings, and a straight line where the fit is."""
        games = len(numbers.history) - 1
        left, right, top, foot = 40, 300, 12, 252
        at = np.unique(np.linspace(0, games, _POINTS).astype(int))

        def y(rating: float) -> int:
            share = (rating - _FLOOR) / (_CEILING - _FLOOR)
            return round(foot - share * (foot - top))

        parts = [
            svg.path(f"M{left} {top}V{foot}H{right}", "currentColor", 1, opacity=0.5),
            *(
                svg.text(left - 4, y(tick) + 4, f"{tick:.0f}", "end")
                for tick in (1100.0, ELO_ORIGIN, 1900.0)
            ),
            svg.text(left, foot + 18, "0"),
            svg.text((left + right) / 2, foot + 18, "games", "middle"),
            svg.text(right, foot + 18, str(games), "end"),
        ]
        styles = zip(svg.TONES.values(), ("none", "7 4", "2 3"), strict=True)
        for player, path, fitted, (colour, dashes) in zip(
            _PLAYERS, numbers.history.T, numbers.fitted, styles, strict=True
        ):
            points = "L".join(
                f"{left + round(game / games * (right - left))} {y(path[game])}"
                for game in at
            )
            parts.append(svg.path(f"M{points}", colour, 2, dashes))
            level = y(fitted.value)
            parts.append(svg.path(f"M{left} {level}H{right}", "currentColor", 1))
            parts.append(svg.text(right + 6, level + 4, f"{player} {fitted.value:.0f}"))
        return svg.svg(foot + 26, *parts)


# The climb of MM ----------------------------------------------------------------------

_SWEEPS = (0, 1, 2, 3, 5, 8, 13, 20, 50, 100, 200, 500, 1000)
_CHAIN = 12


class _Climb(NamedTuple):
    names: tuple[str, ...]
    trace: Floats
    """Ratings after every sweep, in Elo, mean 1500."""
    top: Floats


@cache
def _climb(games: str) -> _Climb:
    if games == "chain":
        wins = np.diag(np.full(_CHAIN - 1, 6), 1) + np.diag(np.full(_CHAIN - 1, 4), -1)
        names = tuple(f"player {k + 1}" for k in range(_CHAIN))
        fits = [bradley_terry(wins, method=m) for m in ("mm", "newton")]
    else:
        votes = mt_bench.wins_by_question("Human")
        names = tuple(votes.models)
        fits = [
            bradley_terry(votes.wins, ties=votes.ties, tie_policy="half", method=m)
            for m in ("mm", "newton")
        ]
    assert fits[0].trace is not None
    logs = np.log(fits[0].trace)
    trace = ELO_ORIGIN + ELO_PER_LOGIT * (logs - logs.mean(axis=1, keepdims=True))
    top = ELO_ORIGIN + ELO_PER_LOGIT * fits[1].ratings
    best_first = np.argsort(-top)
    return _Climb(
        tuple(names[k] for k in best_first), trace[:, best_first], top[best_first]
    )


@dataclass(frozen=True)
class MMState:
    """Where the iteration stands after some sweeps, and where it has to go."""

    names: tuple[str, ...]
    ratings: Floats
    top: Floats
    sweep: int
    step: float
    """The largest move of a rating in the last sweep, in Elo."""

    @property
    def short(self) -> float:
        """How far, in Elo, the worst rating is from the maximum."""
        return float(np.abs(self.ratings - self.top).max())


class MMIteration(Demo):
    """How does the MM iteration climb, and when may it stop?

    A second view of Bradley–Terry: every sweep multiplies each strength by wins over
    expected wins. On the votes of MT-bench, where everybody met everybody, some sweeps
    are enough. On a chain of twelve (invented: 6 to 4 between neighbours) steps are
    small long before the top is near.

    References
    ----------
    Hunter (2004), *Annals of Statistics* 32(1).

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> demo = MMIteration()
    >>> demo.figures(demo.compute(games="chain", sweep=100))[1:]
    [('largest move in this sweep', '0.9 Elo'), ('still to go', '44 Elo')]
    """

    name = "mm-iteration"
    title = "Sweep by sweep to the maximum"
    controls = (
        choice(
            "games",
            "games",
            {
                "MT-bench, votes of experts": "votes",
                "a chain of twelve, 6 : 4": "chain",
            },
            start="chain",
        ),
        slider("sweep", "sweeps", _SWEEPS, start=5),
    )

    def compute(self, **params: Any) -> MMState:
        """Look a sweep of the trace up; the last one stays."""
        names, trace, top = _climb(params["games"])
        sweep = min(int(params["sweep"]), len(trace) - 1)
        before = trace[max(sweep - 1, 0)]
        step = float(np.abs(trace[sweep] - before).max())
        return MMState(names, trace[sweep], top, sweep, step)

    def figures(self, numbers: MMState) -> list[tuple[str, str]]:
        """Say how far the sweeps came."""
        return [
            ("sweeps done", f"{numbers.sweep}"),
            ("largest move in this sweep", _elo(numbers.step)),
            ("still to go", _elo(numbers.short)),
        ]

    def view(self, numbers: MMState) -> str:
        """Draw every rating as a dot on its way to the mark of the maximum."""
        rows = [
            svg.Row(name, [svg.Mark(at, None, "main")], goal)
            for name, at, goal in zip(
                numbers.names, numbers.ratings, numbers.top, strict=True
            )
        ]
        return svg.forest(rows, 1100, 1900, (1100, 1300, 1500, 1700, 1900))


def _elo(points: float) -> str:
    if points < 0.05:
        return "less than 0.1 Elo"
    return f"{points:.1f} Elo" if points < 10 else f"{points:.0f} Elo"


# Real votes ---------------------------------------------------------------------------

_JUDGES = {"experts": "Human", "GPT-4": "G4-Pair"}


@cache
def _ranking(judge: str, ties: str, interval: str) -> Ranking:
    votes = mt_bench.wins_by_question(judge)
    options: dict[str, Any] = {"tie_policy": ties, "interval": interval}
    return bradley_terry(votes.wins, ties=votes.ties, players=votes.models, **options)


@dataclass(frozen=True)
class TwoRankings:
    """Six models in the eyes of two kinds of judge."""

    shown: dict[str, tuple[Estimate, Estimate]]
    """Rating or rank of each model by the experts and by GPT-4; best first."""
    ranks: bool
    tau: float
    apart: tuple[int, int]
    """Pairs of models, of 15, that each side tells apart at 95 %."""


class RealRankings(Demo):
    """Do GPT-4 and people rank the six models of MT-bench alike?

    The twin of the invented games, on the published votes of both turns.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685; the votes are public.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> demo = RealRankings()
    >>> numbers = demo.compute(ties="half", units="cluster", ranks=True)
    >>> demo.figures(numbers)[1]
    ('Claude-v1', 'experts 2 [2, 3], GPT-4 2 [2, 2]')
    """

    name = "ranking-real"
    title = "Six models, two kinds of judge"
    controls = (
        choice(
            "ties",
            "a tie",
            {
                "is half a win for each": "half",
                "is dropped": "drop",
                "is an outcome (Davidson)": "davidson",
                "is a close game (Rao–Kupper)": "rao-kupper",
            },
            start="half",
        ),
        choice(
            "units",
            "what would be new next time",
            {"questions": "cluster", "single votes": "sandwich"},
            start="cluster",
        ),
        choice("ranks", "show", {"ratings": False, "ranks": True}, start=False),
    )

    def compute(self, **params: Any) -> TwoRankings:
        """Fit both sides' votes and compare the two orders."""
        fits = [
            _ranking(judge, params["ties"], params["units"])
            for judge in _JUDGES.values()
        ]
        ranks = bool(params["ranks"])
        both = [fit.ranks() if ranks else fit.estimates(scale="elo") for fit in fits]
        shown = {
            str(model): (both[0][model], both[1][model]) for model in fits[0].order
        }
        tau = kendall_tau(fits[0].ratings, fits[1].ratings, interval=None)
        apart = (_told_apart(fits[0]), _told_apart(fits[1]))
        return TwoRankings(shown, ranks, float(tau), apart)

    def figures(self, numbers: TwoRankings) -> list[tuple[str, str]]:
        """Name both ratings or ranks of every model, and how far the orders agree."""
        rows = [
            (model, f"experts {people:.0f}, GPT-4 {machine:.0f}")
            for model, (people, machine) in numbers.shown.items()
        ]
        people_apart, machine_apart = numbers.apart
        return [
            *rows,
            ("Kendall’s tau of the two orders", f"{numbers.tau:.2f}"),
            ("pairs told apart by experts", f"{people_apart} of 15"),
            ("pairs told apart by GPT-4", f"{machine_apart} of 15"),
        ]

    def view(self, numbers: TwoRankings) -> str:
        """Draw both intervals of every model."""
        tones: tuple[svg.Tone, ...] = ("main", "other")
        rows = [
            svg.Row(
                model,
                [
                    svg.Mark(e.value, (e.low, e.high), tone)
                    for e, tone in zip(pair, tones, strict=True)
                ],
            )
            for model, pair in numbers.shown.items()
        ]
        if numbers.ranks:
            return svg.forest(rows, 1, 6, (1, 2, 3, 4, 5, 6), key=tuple(_JUDGES))
        ticks = (750, 1250, 1750, 2250)
        return svg.forest(rows, 740, 2260, ticks, key=tuple(_JUDGES))


def _told_apart(ranking: Ranking) -> int:
    """Count the pairs whose difference has an interval without 0."""
    order = ranking.order
    return sum(
        ranking.difference(order[i], order[j]).low > 0
        for i in range(len(order))
        for j in range(i + 1, len(order))
    )
