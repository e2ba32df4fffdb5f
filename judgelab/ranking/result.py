"""`Ranking`: ratings with their covariance, and every interval that follows from it."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import check_real, floats
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import (
    from_replicates,
    from_standard_error,
    normal_quantile,
    upper_end,
)

Floats = npt.NDArray[np.float64]
Scale = Literal["logit", "elo"]
Anchor = Hashable | list[float] | npt.NDArray[np.float64]

ELO_PER_LOGIT = 400 / math.log(10)
"""173.7: a gap of 400 Elo means odds of ten to one."""
ELO_ORIGIN = 1500.0
"""Where the anchor of an Elo scale stands unless another origin is asked for."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ratings of players, and how sure they are.

    Only differences of ratings mean anything: the zero of the scale (the *gauge*) is a
    choice, and an interval depends on it. So intervals belong to the quantity that is
    shown: a rating against the mean, against one player, a difference, a rank.

    Parameters
    ----------
    players : tuple
        The rated players, in the order of `ratings`.
    ratings : ndarray, shape (n,)
        In logits, with mean 0: σ(difference) is the chance to win a decisive game.
    games : ndarray, shape (n,)
        How many games (items, for a judge) every rating rests on.
    model, interval : str
        What was fitted, and how the intervals are made, in words.
    iterations : int
        Steps of the iteration.
    gradient : float
        The largest gap, over players, between wins and wins expected under the ratings.
    make_covariance : callable
        Returns the covariance in the gauge of mean 0, the tie parameter (if any) last.
    tie : float, optional
        The tie parameter on its unbounded scale: log ν (Davidson), log η (Rao–Kupper).
    replicates : ndarray, shape (resamples, n), optional
        Bootstrap ratings, each with mean 0; `nan` where a resample has no finite
        ratings.
    left_out : mapping, optional
        Players without a finite rating, with the reason.
    trace : ndarray, shape (sweeps + 1, n), optional
        The strengths after every sweep of the MM iteration.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> from judgelab.ranking import bradley_terry
    >>> ranking = bradley_terry([[0, 60], [40, 0]], players=["new", "old"])
    >>> ranking.difference("new", "old")
    0.405 [0.005, 0.806] (n = 100, Bradley–Terry, model-based)
    >>> round(ranking.probability_better("new", "old"), 3)
    0.977
    """

    players: tuple[Hashable, ...]
    ratings: Floats
    games: Floats
    model: str
    interval: str
    iterations: int
    gradient: float
    make_covariance: Callable[[], Floats] = field(repr=False)
    tie: float | None = None
    replicates: Floats | None = field(default=None, repr=False)
    left_out: Mapping[Hashable, str] = field(default_factory=dict)
    trace: Floats | None = field(default=None, repr=False)

    @cached_property
    def _parameter_covariance(self) -> Floats:
        return self.make_covariance()

    @property
    def covariance(self) -> Floats:
        """Covariance of the ratings in the gauge of mean 0, shape (n, n)."""
        n = len(self.players)
        return self._parameter_covariance[:n, :n]

    @property
    def strengths(self) -> Floats:
        """Strengths e^rating with arithmetic mean 1, shape (n,)."""
        strengths = np.exp(self.ratings - self.ratings.max())
        result: Floats = strengths / strengths.mean()
        return result

    @property
    def order(self) -> tuple[Hashable, ...]:
        """The players, best first."""
        best_first = np.argsort(-self.ratings.round(9), kind="stable")
        return tuple(self.players[k] for k in best_first)

    def position(self, player: Hashable) -> int:
        """Where a player stands in `players`.

        Raises
        ------
        UndefinedStatistic
            If the player was left out, with the reason.
        ValidationError
            If there is no such player.
        """
        if isinstance(player, Hashable) and player in self.left_out:
            raise UndefinedStatistic(
                f"{player!r} has no rating: {self.left_out[player]}"
            )
        try:
            return self.players.index(player)
        except ValueError:
            raise ValidationError(
                f"no player {player!r}; the players are {list(self.players[:10])}"
            ) from None

    def gauge(self, anchor: Anchor = "mean") -> tuple[float, Floats]:
        """Tell where the zero of the scale lies, and how it moves with the ratings.

        Parameters
        ----------
        anchor : player, "mean", "mean strength" or ndarray
            As in `estimates`.

        Returns
        -------
        offset : float
            What is subtracted from the ratings.
        weights : ndarray, shape (n,)
            Derivative of `offset` by the ratings; sums to 1.
        """
        n = len(self.players)
        if isinstance(anchor, list | np.ndarray):
            weights = floats("anchor", anchor)
            if weights.shape != (n,) or not abs(weights.sum() - 1) <= 1e-9:
                raise ValidationError(
                    f"anchor has shape {weights.shape} and sum {weights.sum():.6g}; "
                    f"give {n} weights that sum to 1"
                )
            return float(weights @ self.ratings), weights
        if anchor not in self.players:
            if isinstance(anchor, str) and anchor == "mean":
                return 0.0, np.full(n, 1 / n)
            if isinstance(anchor, str) and anchor == "mean strength":
                offset = float(special.logsumexp(self.ratings) - math.log(n))
                return offset, special.softmax(self.ratings)
        weights = np.zeros(n)
        weights[self.position(anchor)] = 1.0
        return float(weights @ self.ratings), weights

    def estimates(
        self,
        *,
        anchor: Anchor = "mean",
        scale: Scale = "logit",
        origin: float | None = None,
        level: float = 0.95,
    ) -> dict[Hashable, Estimate]:
        """How good is every player, against the anchor?

        Parameters
        ----------
        anchor : player, "mean", "mean strength" or ndarray of shape (n,), default
        "mean"
            What stands at `origin`: a player (whose own interval is then a point), the
            mean rating, the rating of the mean strength, or a weighted mean of ratings.
        scale : {"logit", "elo"}, default "logit"
            Unit of the result; 1 logit = 173.7 Elo.
        origin : float, optional
            The value at the anchor; 0 logits, 1500 Elo unless given.
        level : float, default 0.95
            Nominal coverage of each interval.

        Returns
        -------
        dict of player -> Estimate
            In the order of `players`; those left out come last, undefined, with a
            reason.
        """
        unit, zero = unit_and_origin(scale, origin)
        offset, weights = self.gauge(anchor)
        shown = zero + unit * (self.ratings - offset)
        words = f"{self.model}, {self.interval}"
        result: dict[Hashable, Estimate] = {}
        if self.replicates is not None:
            if isinstance(anchor, str) and anchor == "mean strength":
                moving = special.logsumexp(self.replicates, axis=1) - math.log(
                    len(self.players)
                )
            else:
                moving = self.replicates @ weights
            draws = zero + unit * (self.replicates - moving[:, None])
            for k, player in enumerate(self.players):
                result[player] = from_replicates(
                    shown[k], draws[:, k], int(self.games[k]), words, level=level
                )
        else:
            errors = unit * self._standard_errors(weights)
            for k, player in enumerate(self.players):
                result[player] = from_standard_error(
                    shown[k], errors[k], int(self.games[k]), words, level=level
                )
        for player, reason in self.left_out.items():
            result[player] = Estimate.undefined(reason, 0)
        return result

    def standard_errors(
        self, *, anchor: Anchor = "mean", scale: Scale = "logit"
    ) -> Floats:
        """Give the standard errors of the ratings against the anchor, shape (n,)."""
        unit, _ = unit_and_origin(scale, None)
        result: Floats = unit * self._standard_errors(self.gauge(anchor)[1])
        return result

    def _standard_errors(self, weights: Floats) -> Floats:
        shift = self.covariance @ weights
        variance = np.diag(self.covariance) - 2 * shift + weights @ shift
        # The anchor itself has variance 0; rounding may leave it a hair below.
        result: Floats = np.sqrt(np.maximum(variance, 0.0))
        return result

    def difference(
        self,
        first: Hashable,
        second: Hashable,
        *,
        scale: Scale = "logit",
        level: float = 0.95,
    ) -> Estimate:
        """How much better is one player than another?

        Parameters
        ----------
        first, second : player
            Whose ratings are subtracted: first minus second.
        scale : {"logit", "elo"}, default "logit"
            Unit of the result.
        level : float, default 0.95
            Nominal coverage.

        Returns
        -------
        Estimate
            n is the smaller of the two players' numbers of games.
        """
        i, j = self.position(first), self.position(second)
        unit, _ = unit_and_origin(scale, None)
        value = unit * (self.ratings[i] - self.ratings[j])
        n = int(min(self.games[i], self.games[j]))
        words = f"{self.model}, {self.interval}"
        if self.replicates is not None:
            draws = unit * (self.replicates[:, i] - self.replicates[:, j])
            return from_replicates(value, draws, n, words, level=level)
        error = unit * math.sqrt(max(self._gap_variances()[i, j], 0.0))
        return from_standard_error(value, error, n, words, level=level)

    def _gap_variances(self) -> Floats:
        variances = np.diag(self.covariance)
        result: Floats = variances[:, None] + variances - 2 * self.covariance
        return result

    def probability_better(self, first: Hashable, second: Hashable) -> float:
        """How sure is it that one player's true rating is above another's?

        Returns
        -------
        float
            Φ(difference / its standard error): one minus the one-sided p-value, and the
            posterior probability under a flat prior. From a bootstrap, the share of
            resamples in which the first is ahead. Not the chance to win a game.

        Raises
        ------
        UndefinedStatistic
            If a player was left out, or the data show no spread.
        """
        i, j = self.position(first), self.position(second)
        if i == j:
            return 0.5
        if self.replicates is not None:
            gaps = self.replicates[:, i] - self.replicates[:, j]
            gaps = gaps[np.isfinite(gaps)]
            return float(np.mean(gaps > 0) + np.mean(gaps == 0) / 2)
        gap, variance = self.ratings[i] - self.ratings[j], self._gap_variances()[i, j]
        if not variance > 0:
            raise UndefinedStatistic(
                f"the difference of {first!r} and {second!r} has no spread to judge by"
            )
        return float(special.ndtr(gap / math.sqrt(variance)))

    def ranks(
        self,
        *,
        level: float = 0.95,
        adjust: Literal["player", "all", "none"] = "player",
    ) -> dict[Hashable, Estimate]:
        """Which places may a player truly hold?

        A player is surely below those who are significantly better and surely above
        those who are significantly worse; the interval holds every place in between.

        Parameters
        ----------
        level : float, default 0.95
            Nominal coverage.
        adjust : {"player", "all", "none"}, default "player"
            For how many comparisons the level holds at once (Bonferroni): the n − 1 of
            one player, so that each interval covers by itself; all n(n − 1)/2, so that
            the whole table is right together; or each comparison alone, as leaderboards
            do, which promises less than `level` for a rank.

        Returns
        -------
        dict of player -> Estimate
            Value, low and high are places; 1 is the best, and equal players share the
            better place. Those left out come last, undefined, with a reason.

        Notes
        -----
        Six players within 7 Elo, 60 games a pair, 400 simulations: "player" held a true
        rank in more than 99 % and all six in 97 %, "all" all six in 98 %, "none" one
        in 97 % and all six in 85 %. Players farther apart are held more often.

        References
        ----------
        Al Mohamad, Goeman & van Zwet (2022), "Simultaneous confidence intervals for
        ranks with application to ranking institutions", *Biometrics* 78(1).
        """
        n = len(self.players)
        tests = {"player": max(n - 1, 1), "all": max(n * (n - 1) // 2, 1), "none": 1}
        if adjust not in tuple(tests):
            raise ValidationError(
                f"adjust is {adjust!r}; choose 'player', 'all' or 'none'"
            )
        z = normal_quantile(1 - (1 - upper_end(level)) / tests[adjust])
        # Equal players may differ by a rounding error, which is no place in a ranking.
        rounded = self.ratings.round(9)
        gaps = rounded[:, None] - rounded
        margin = z * np.sqrt(np.maximum(self._gap_variances(), 0.0))
        low = 1 + (gaps < -margin).sum(axis=1)
        high = n - (gaps > margin).sum(axis=1)
        place = 1 + (gaps < 0).sum(axis=1)
        words = f"{self.model}, {self.interval}, pairwise tests"
        result: dict[Hashable, Estimate] = {
            player: Estimate(
                float(place[k]),
                float(low[k]),
                float(high[k]),
                int(self.games[k]),
                words,
                level,
            )
            for k, player in enumerate(self.players)
        }
        for player, reason in self.left_out.items():
            result[player] = Estimate.undefined(reason, 0)
        return result

    @property
    def tie_parameter(self) -> Estimate:
        """ν of Davidson (0: no ties) or η of Rao–Kupper (1: no ties), with interval.

        Raises
        ------
        UndefinedStatistic
            If the model has no such parameter.
        """
        if self.tie is None:
            raise UndefinedStatistic(f"{self.model} has no tie parameter")
        error = math.sqrt(self._parameter_covariance[-1, -1])
        words = f"{self.model}, {self.interval}"
        games = int(self.games.sum() / 2)
        # η cannot be below 1.
        least = -math.inf if self.model.startswith("Davidson") else 0.0
        log = from_standard_error(
            self.tie, error, games, words, bounds=(least, math.inf)
        )
        value, low, high = (math.exp(x) for x in (log.value, log.low, log.high))
        return Estimate(value, low, high, games, words)

    def __repr__(self) -> str:
        best = sorted(
            zip(self.players, self.ratings, strict=True), key=lambda pair: -pair[1]
        )
        shown = ", ".join(f"{player!r} {rating:+.2f}" for player, rating in best[:5])
        more = ", …" if len(best) > 5 else ""
        return f"{type(self).__name__}({self.model}, {self.interval}: {shown}{more})"

    def _repr_html_(self) -> str:
        try:
            ratings, ranks = self.estimates(scale="elo"), self.ranks()
        except UndefinedStatistic as reason:
            why = html.escape(str(reason))
            return f"<p>{html.escape(repr(self))}<br>No intervals: {why}</p>"
        rows = [
            f"<tr><td>{ranks[p].value:.0f}</td>"
            f'<th scope="row">{html.escape(str(p))}</th>'
            f"<td>{ratings[p].value:.0f}</td>"
            f"<td>{ratings[p].low:.0f} to {ratings[p].high:.0f}</td>"
            f"<td>{ranks[p].low:.0f} to {ranks[p].high:.0f}</td>"
            f"<td>{ranks[p].n:,}</td></tr>"
            for p in self.order
        ]
        rows += [
            f'<tr><td>–</td><th scope="row">{html.escape(str(p))}</th><td colspan="4">'
            f"{html.escape(reason)}</td></tr>"
            for p, reason in self.left_out.items()
        ]
        caption = html.escape(
            f"{self.model}, {self.interval}; mean at {ELO_ORIGIN:.0f}"
        )
        head = "".join(
            f'<th scope="col">{title}</th>'
            for title in ("rank", "player", "Elo", "95 %", "ranks, 95 %", "games")
        )
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )


def unit_and_origin(scale: str, origin: float | None) -> tuple[float, float]:
    """Return Elo or logits per logit, and the value at the anchor."""
    check_real(origin=0.0 if origin is None else origin)
    if origin is not None and not math.isfinite(origin):
        raise ValidationError(f"origin is {origin!r}; give a finite number")
    if scale == "elo":
        return ELO_PER_LOGIT, ELO_ORIGIN if origin is None else origin
    if scale == "logit":
        return 1.0, 0.0 if origin is None else origin
    raise ValidationError(f"scale is {scale!r}; choose 'logit' or 'elo'")
