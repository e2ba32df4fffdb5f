"""Judges whose faults are known, because we planted them.

A statistic that is to find a fault in a real judge must first find it in a judge that
has it, and stay silent on one that does not. Nothing here stands for a real model:
every number is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import (
    array,
    check_positive,
    check_real,
    floats,
    random_generator,
    whole,
)
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import Rng
from judgelab.position import average_orders
from judgelab.verdict import Verdict, unswap

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

DISTRIBUTIONS = ("uniform", "normal", "laplace", "two-point", "equal")
"""How differences in quality can be spread around 0; "equal" does not spread."""


@dataclass(frozen=True)
class Judge:
    """A judge that follows a known law.

    The judge prefers the answer shown first with probability σ(z), where
    ``z = k·δ + β + v·λ + s·o``: δ is how much better that answer is, λ the logarithm to
    base 2 of how many times longer it is, and o is +1 if the judge wrote it, −1 if the
    judge wrote the other one, 0 otherwise.

    Parameters
    ----------
    k : float, default 4
        Sensitivity to quality, at least 0. At k = 0 the judge is a coin.
    beta : float, default 0
        Lean towards the first slot, in logits; negative towards the second.
    verbosity : float, default 0
        v, in logits per doubling of length.
    self_preference : float, default 0
        s, in logits for an answer of its own.
    tie_width : float, default 0
        Half-width of the band of indifference, in logits, at least 0: the judge says
        tie if neither answer gets ahead by more. Two equal answers tie with probability
        ``1 − 2·σ(−tie_width)``.
    invalid_rate, missing_rate : float, default 0
        Shares of replies that cannot be read, and of requests that fail; in [0, 1] and
        together at most 1.
    name : str, default "simulated judge"
        How records name it, and whose answers are its own.

    Raises
    ------
    ValidationError
        If a parameter is out of range.

    References
    ----------
    Rao & Kupper (1967), *JASA* 62(317), for ties by a threshold; Davidson & Beaver
    (1977), *Biometrics* 33(4), for an effect of order.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    Two equal answers, and a first answer that is clearly worse:

    >>> judge = Judge(k=4, beta=1)
    >>> judge.probabilities([0, -0.5])[:, Verdict.A].round(2)
    array([0.73, 0.27])
    """

    k: float = 4.0
    beta: float = 0.0
    verbosity: float = 0.0
    self_preference: float = 0.0
    tie_width: float = 0.0
    invalid_rate: float = 0.0
    missing_rate: float = 0.0
    name: str = "simulated judge"

    def __post_init__(self) -> None:
        check_real(k=self.k, beta=self.beta, tie_width=self.tie_width)
        check_real(verbosity=self.verbosity, self_preference=self.self_preference)
        check_real(invalid_rate=self.invalid_rate, missing_rate=self.missing_rate)
        for name in ("k", "beta", "verbosity", "self_preference", "tie_width"):
            if not np.isfinite(getattr(self, name)):
                raise ValidationError(
                    f"{name} is {getattr(self, name)!r}; it must be a finite number"
                )
        for name in ("k", "tie_width", "invalid_rate", "missing_rate"):
            if not getattr(self, name) >= 0:
                raise ValidationError(
                    f"{name} is {getattr(self, name)!r}; it must be at least 0"
                )
        if self.invalid_rate + self.missing_rate > 1:
            raise ValidationError(
                f"invalid_rate {self.invalid_rate} and missing_rate "
                f"{self.missing_rate} add up to more than 1"
            )

    def probabilities(
        self,
        delta: npt.ArrayLike,
        *,
        log_length: npt.ArrayLike = 0.0,
        own: npt.ArrayLike = 0.0,
    ) -> Floats:
        """How likely is each verdict on answers shown in this order?

        Parameters
        ----------
        delta : array_like of float, shape (n,)
            Quality of the answer shown first minus that of the other.
        log_length : array_like of float, default 0
            Logarithm to base 2 of the ratio of their lengths, first to second.
        own : array_like of float, default 0
            +1 if the first is the judge's own answer, −1 if the second is.

        Returns
        -------
        ndarray of float, shape (n, 5)
            Probabilities of the five verdicts on slots, in the order of `Verdict`.
        """
        delta = floats("delta", delta)
        log_length, own = floats("log_length", log_length), floats("own", own)
        shapes = [delta.shape, log_length.shape, own.shape]
        if delta.ndim != 1 or not {*shapes} <= {(), delta.shape}:
            raise ValidationError(
                f"delta, log_length and own have shapes {shapes}; give one value of "
                "each per pair"
            )
        if not all(np.isfinite(x).all() for x in (delta, log_length, own)):
            raise ValidationError("delta, log_length and own must be finite numbers")
        z = (
            self.k * delta
            + self.beta
            + self.verbosity * log_length
            + self.self_preference * own
        )
        first = special.expit(z - self.tie_width)
        second = special.expit(-z - self.tie_width)
        answers = 1 - self.invalid_rate - self.missing_rate
        replies = np.stack([first, second, np.maximum(0, 1 - first - second)], axis=-1)
        rest = np.broadcast_to([self.invalid_rate, self.missing_rate], (*z.shape, 2))
        return np.concatenate([answers * replies, rest], axis=-1)


@dataclass(frozen=True)
class Pairs:
    """Pairs of answers whose truth is known.

    Parameters
    ----------
    delta : ndarray of float, shape (n,)
        Quality of answer A minus quality of answer B.
    log_length : ndarray of float, shape (n,)
        Logarithm to base 2 of the ratio of their lengths, A to B.
    own : ndarray of int, shape (n,)
        +1 if the judge under test wrote A, −1 if it wrote B, 0 if neither.

    Raises
    ------
    ValidationError
        If the arrays are not aligned or a value is missing or infinite.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> len(Pairs(np.zeros(3), np.zeros(3), np.zeros(3)))
    3
    """

    delta: Floats
    log_length: Floats
    own: npt.NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("delta", "log_length", "own"):
            values = (array if name == "own" else floats)(name, getattr(self, name))
            object.__setattr__(self, name, values)
            if not np.isfinite(values).all():
                raise ValidationError(
                    f"{name} is missing or infinite at "
                    f"{np.flatnonzero(~np.isfinite(values))[:5].tolist()}"
                )
        shapes = {self.delta.shape, self.log_length.shape, self.own.shape}
        if len(shapes) > 1 or self.delta.ndim != 1:
            raise ValidationError(
                f"delta, log_length and own have shapes {sorted(shapes)}; "
                "give one value of each per pair"
            )

    def __len__(self) -> int:
        return len(self.delta)

    @property
    def gold(self) -> npt.NDArray[np.int8]:
        """The better answer: `Verdict.A`, `Verdict.B`, or a tie if δ is 0."""
        return np.select(
            [self.delta > 0, self.delta < 0], [Verdict.A, Verdict.B], Verdict.TIE
        ).astype(np.int8)


def draw_pairs(
    n: int = 1000,
    *,
    distribution: Literal[
        "uniform", "normal", "laplace", "two-point", "equal"
    ] = "normal",
    spread: float = 0.5,
    length_spread: float = 0.0,
    own_share: float = 0.0,
    rng: Rng,
) -> Pairs:
    """Draw pairs of answers with known differences in quality, length and authorship.

    Parameters
    ----------
    n : int, default 1000
        Number of pairs.
    distribution : {"uniform", "normal", "laplace", "two-point", "equal"}
        Of δ; ``"two-point"`` is ±spread, ``"equal"`` means equally good answers.
        Default "normal".
    spread : float, default 0.5
        Standard deviation of δ.
    length_spread : float, default 0
        Standard deviation of the logarithm to base 2 of the ratio of lengths, which is
        normal and independent of δ.
    own_share : float, default 0
        Share of pairs in which the judge wrote one of the two answers, in [0, 1].
    rng : Generator or int
        Randomness; the same seed gives the same pairs.

    Returns
    -------
    Pairs
        Of length n.

    Raises
    ------
    ValidationError
        If the distribution is unknown or a number is out of range.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> pairs = draw_pairs(4, distribution="two-point", rng=1)
    >>> sorted(set(abs(pairs.delta).tolist()))
    [0.5]
    """
    n = whole("n", n, least=1)
    check_real(spread=spread, length_spread=length_spread, own_share=own_share)
    spreads = 0 <= spread < np.inf and 0 <= length_spread < np.inf
    if not spreads or not 0 <= own_share <= 1:
        raise ValidationError(
            f"n = {n}, spread = {spread}, length_spread = {length_spread}, own_share = "
            f"{own_share}: need a whole n >= 1, spreads >= 0 and a share from 0 to 1"
        )
    generator = _stream(rng, "pairs")
    # One uniform draw per quantity, whatever the distribution: pairs drawn with the
    # same seed and another distribution are the same pairs, stretched.
    u, length, author, slot = generator.random((4, n))
    unit: dict[str, Any] = {
        "uniform": lambda: np.sqrt(3) * (2 * u - 1),
        "normal": lambda: special.ndtri(u),
        "laplace": lambda: -np.sign(u - 0.5) * np.log1p(-2 * abs(u - 0.5)) / np.sqrt(2),
        "two-point": lambda: np.where(u < 0.5, -1.0, 1.0),
        "equal": lambda: np.zeros(n),
    }
    if distribution not in tuple(unit):
        raise ValidationError(
            f"unknown distribution {distribution!r}; choose from {DISTRIBUTIONS}"
        )
    return Pairs(
        spread * unit[distribution](),
        length_spread * special.ndtri(length),
        np.where(author < own_share, np.where(slot < 0.5, 1, -1), 0),
    )


def judge_both_orders(
    judge: Judge, pairs: Pairs, *, trials: int = 1, rng: Rng
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Let the judge see every pair in both orders.

    Parameters
    ----------
    judge : Judge
        Who judges.
    pairs : Pairs
        What is judged.
    trials : int, default 1
        How often each pair is shown in each order.
    rng : Generator or int
        Randomness.

    Returns
    -------
    first, second : ndarray of int8, shape (n, trials)
        `Verdict` codes on *slots*: shown as (A, B), and shown as (B, A). Un-swap the
        second before comparing.

    Raises
    ------
    ValidationError
        If `trials` is below 1.

    Notes
    -----
    With one seed, judges that differ a little give verdicts that differ a little: each
    reply is one uniform draw, held against the judge's probabilities.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> pairs = draw_pairs(1000, rng=0)
    >>> first, second = judge_both_orders(Judge(k=4, beta=50), pairs, rng=0)
    >>> int((first == Verdict.A).sum()), int((second == Verdict.A).sum())
    (1000, 1000)
    """
    trials = whole("trials", trials, least=1)
    generator = _stream(rng, "verdicts")
    shown = (
        judge.probabilities(
            sign * pairs.delta, log_length=sign * pairs.log_length, own=sign * pairs.own
        )
        for sign in (1, -1)
    )
    first, second = (_draw(p, trials, generator) for p in shown)
    return first, second


def _stream(rng: Rng, purpose: str) -> np.random.Generator:
    """Return the generator, or one that depends on the seed *and* on the purpose.

    With one seed for pairs and for verdicts the two would otherwise be made from the
    same numbers, and the judge's luck would know which answer is better.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    random_generator(rng)
    key = tuple(purpose.encode())
    return np.random.default_rng(np.random.SeedSequence(rng, spawn_key=key))


def _draw(
    probabilities: Floats, trials: int, generator: np.random.Generator
) -> npt.NDArray[np.int8]:
    # A failed request and an unreadable reply come first on the line, ties lie between
    # the two answers: then moving the lean moves as few verdicts as possible.
    order = [Verdict.MISSING, Verdict.INVALID, Verdict.A, Verdict.TIE, Verdict.B]
    steps = probabilities[:, order].cumsum(axis=1)[:, :-1]
    u = generator.random((len(probabilities), trials, 1))
    drawn: npt.NDArray[np.int8] = np.array(order, dtype=np.int8)[
        (u >= steps[:, None, :]).sum(axis=2)
    ]
    return drawn


def simulate(judge: Judge, pairs: Pairs, *, trials: int = 1, rng: Rng) -> pd.DataFrame:
    """Produce the records that a real judge would leave behind, with the truth added.

    Parameters
    ----------
    judge, pairs, trials, rng
        As in `judge_both_orders`.

    Returns
    -------
    pandas.DataFrame
        Tidy pairwise records, two per pair and trial: ``judge``, ``item``, ``trial``,
        ``swapped``, ``verdict`` (a word, on shown slots), ``model_a`` and ``model_b``
        (authors of the answers shown first and second), and what is known only in a
        simulation: ``gold`` (the better *answer*), ``delta``, ``log_length`` and
        ``own``, all three of A against B.

    Raises
    ------
    ValidationError
        As `judge_both_orders`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> records = simulate(Judge(), draw_pairs(2, rng=0), rng=0)
    >>> records[["item", "swapped", "verdict", "gold"]]
       item  swapped verdict gold
    0     0    False       A    A
    1     0     True       B    A
    2     1    False       B    B
    3     1     True       B    B
    """
    import pandas as pd

    first, second = judge_both_orders(judge, pairs, trials=trials, rng=rng)
    trials = first.shape[1]
    n = len(pairs)
    verdicts = np.stack([first, second], axis=2).ravel()
    words = np.array(list(Verdict.__members__))
    item, trial, swapped = (index.ravel() for index in np.indices((n, trials, 2)))
    authors = np.where(
        pairs.own[:, None] == [1, -1], judge.name, ["model A", "model B"]
    )
    return pd.DataFrame(
        {
            "judge": judge.name,
            "item": item,
            "trial": trial,
            "swapped": swapped.astype(bool),
            "verdict": words[verdicts],
            "model_a": authors[item, swapped],
            "model_b": authors[item, 1 - swapped],
            "gold": words[pairs.gold][item],
            "delta": pairs.delta[item],
            "log_length": pairs.log_length[item],
            "own": pairs.own[item],
        }
    )


def tables_by_gold(judge: Judge, pairs: Pairs, *, rng: Rng) -> npt.NDArray[np.int64]:
    """Count a simulated judge's verdicts by the better answer.

    Parameters
    ----------
    judge, pairs, rng
        As in `judge_both_orders`.

    Returns
    -------
    ndarray of int64, shape (2, 5, 5)
        Two-order counts, the second verdict un-swapped: pairs in which A is better,
        then those in which B is. A pair of equal answers has no better one and is in
        neither.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> tables_by_gold(Judge(), draw_pairs(1000, rng=0), rng=0).sum()
    np.int64(1000)
    """
    first, second = judge_both_orders(judge, pairs, rng=rng)
    side = len(Verdict)
    gold = pairs.gold
    known = gold < Verdict.TIE
    cells = (
        gold * side**2 + first[:, 0].astype(np.int64) * side + unswap(second[:, 0])
    )[known]
    return np.bincount(cells, minlength=2 * side**2).reshape(2, side, side)


def expected_rates(judge: Judge, *, spread: float = 0.5) -> tuple[float, float]:
    """How often is a simulated judge right and consistent on endlessly many pairs?

    Parameters
    ----------
    judge : Judge
        Whose lean to length and to its own answers is not used: lengths are equal.
    spread : float, default 0.5
        Standard deviation of the differences in quality, normal as in `draw_pairs`.

    Returns
    -------
    right : float
        Share of right verdicts among those that name a winner, over both orders; nan if
        none does.
    consistent : float
        Share of pairs with the same verdict (A, B or tie) in both orders.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> right, consistent = expected_rates(Judge(k=4, beta=1))
    >>> round(right, 2), round(consistent, 2)
    (0.75, 0.61)
    """
    check_positive(spread=spread)
    # The better answer is called A: middles of 2,000 equal slices of its advantage.
    delta = spread * special.ndtri((np.arange(2000) + 0.5) / 4000 + 0.5)
    shown_first, shown_second = (judge.probabilities(sign * delta) for sign in (1, -1))
    a, b, tie = Verdict.A, Verdict.B, Verdict.TIE
    right = shown_first[:, a].mean() + shown_second[:, b].mean()
    wrong = shown_first[:, b].mean() + shown_second[:, a].mean()
    same = (
        shown_first[:, a] * shown_second[:, b]
        + shown_first[:, b] * shown_second[:, a]
        + shown_first[:, tie] * shown_second[:, tie]
    )
    named = right + wrong
    return float(right / named) if named else np.nan, float(same.mean())


def fit_judge(records: Any, *, spread: float = 0.5) -> Judge:
    """Which simulated judge follows the same law as this real one?

    Parameters
    ----------
    records : dataframe
        Of one judge, as `position.average_orders` takes them: both orders, with
        ``log_odds``.
    spread : float, default 0.5
        Standard deviation of the differences in quality, as in `draw_pairs`. Only the
        product of k and this shows in verdicts.

    Returns
    -------
    Judge
        ``beta`` is the mean lean; ``k`` gives the judge's preferences their size.

    Raises
    ------
    UndefinedStatistic
        If no pair has log-odds in both orders.
    ValidationError
        As `position.average_orders`, or if there are several judges.

    Notes
    -----
    A model that draws its label at temperature 1 takes the first slot with probability
    σ(log-odds): the law of `Judge`, with kδ + β for the log-odds. The fit makes two
    things simple that need not be so: the lean is the same on all pairs, and the
    preferences are normal around 0. `expected_rates` then predicts a consistency that
    the real verdicts can miss. Here δ is quality as the judge sees it, right or wrong.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": "q1",
    ...         "swapped": [False, True],
    ...         "verdict": ["A", "A"],
    ...         "log_odds": [2.5, 1.5],
    ...     }
    ... )
    >>> fitted = fit_judge(records)
    >>> fitted.k, fitted.beta
    (1.0, 2.0)
    """
    check_positive(spread=spread)
    both = average_orders(records)
    if both.empty:
        raise UndefinedStatistic(
            "no pair has log-odds in both orders; ask with top_logprobs and read the "
            "first token"
        )
    if both["judge"].nunique() > 1:
        raise ValidationError(
            f"records hold {both['judge'].nunique()} judges; fit them one by one"
        )
    size = float(np.sqrt((both["preference"] ** 2).mean()))
    return Judge(k=size / spread, beta=float(both["lean"].mean()))
