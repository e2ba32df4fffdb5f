"""Looking for faults in a judge: a probe finds its fault and spares a clean judge.

A probe is a statistic with a test. Asking four questions at once makes false alarms
four times as likely, so `diagnose` corrects for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import array, check_real, floats, whole
from judgelab.counts import cluster_codes, contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import clustered_difference, proportion
from judgelab.position import lean_test, pair_orders, preference_fairness
from judgelab.significance import Test, holm, welch_test
from judgelab.verdict import Verdict


@dataclass(frozen=True)
class Finding:
    """What a probe found.

    Parameters
    ----------
    fault : str
        What was looked for.
    estimate : Estimate
        How large it is.
    test : Test
        How surprising that would be in a judge without the fault.
    adjusted : float
        The p-value after correction for all probes that ran.
    found : bool
        Whether `adjusted` is at most the level of `diagnose`.

    Notes
    -----
    Chapter: *Does the order matter?*
    """

    fault: str
    estimate: Estimate
    test: Test
    adjusted: float
    found: bool

    def __repr__(self) -> str:
        word = "FOUND" if self.found else "not found"
        return f"{self.fault}: {word} ({self.estimate}; adjusted p {self.adjusted:.3g})"


def verbosity_gap(
    right: npt.ArrayLike, better_is_longer: npt.ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, Test]:
    """Is the judge more often right when the better answer is the longer one?

    Parameters
    ----------
    right : array_like of float, shape (n,)
        Per pair: the share of its verdicts that name the better answer, in [0, 1].
    better_is_longer : array_like of bool, shape (n,)
        Whether the better answer is the longer one; leave out pairs of equal length.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        Accuracy where the better answer is longer minus accuracy where it is shorter,
        and Welch's t-test; without any spread no interval, and exact permutations.

    Raises
    ------
    UndefinedStatistic
        If one of the two groups has fewer than two pairs.

    Notes
    -----
    A judge without lean may still show a gap if the longer answer is better by more in
    the one group than the shorter is in the other; the probe takes the groups to be
    equally hard. Chapter: *Does the order matter?*

    Examples
    --------
    >>> verbosity_gap([1, 1, 1, 0, 0, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0])[0].value
    0.5
    """
    return _gap(
        right, better_is_longer, "longer answers are not preferred as such", level
    )


def self_preference_gap(
    right: npt.ArrayLike, better_is_own: npt.ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, Test]:
    """Is the judge more often right when the better answer is its own?

    Parameters
    ----------
    right : array_like of float, shape (n,)
        Per pair: the share of its verdicts that name the better answer, in [0, 1].
    better_is_own : array_like of bool, shape (n,)
        Whether the judge wrote the better answer; leave out pairs in which it wrote
        neither.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        Accuracy where its own answer is better minus accuracy where it is worse, as in
        `verbosity_gap`.

    Raises
    ------
    UndefinedStatistic
        If one of the two groups has fewer than two pairs.

    References
    ----------
    Wataoka, Takahashi & Ri (2024), arXiv:2410.21819, who define self-preference by such
    a difference (equal opportunity).

    Notes
    -----
    Comparing with the truth is what separates self-preference from being good: a judge
    whose answers *are* better may say so. Chapter: *Does the order matter?*

    Examples
    --------
    >>> self_preference_gap([1, 1, 1, 0, 0, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0])[0].value
    0.5
    """
    return _gap(right, better_is_own, "own answers are not preferred as such", level)


def excess_credit(
    credit: npt.ArrayLike,
    reference: npt.ArrayLike,
    *,
    clusters: npt.ArrayLike | None = None,
    null: str,
    level: float = 0.95,
) -> tuple[Estimate, Test]:
    """How much more credit does the judge give these answers than a reference does?

    Without a right answer the reference (people) stands in for it: a judge whose longer
    answers, or own answers, win more often with it than with people leans to them.

    Parameters
    ----------
    credit, reference : array_like of float, shape (n,)
        Per item: how much of the credit the answer in question gets from the judge and
        from the reference, in [0, 1] (1 for a win, a half for a tie; means over several
        votes).
    clusters : array_like, shape (n,), optional
        What each item belongs to, if items are not independent.
    null : str
        The hypothesis of no lean, in words.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        Mean credit from the judge minus mean credit from the reference, and a t-test on
        the clusters (where all differ alike, the exact test of their signs).

    Raises
    ------
    UndefinedStatistic
        If there are fewer than two clusters.
    ValidationError
        If the arrays are not aligned, or a credit is not in [0, 1].

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, section 3.3 and Figure 3, who compare the win
    rates of a judge with those of people.

    Notes
    -----
    The people may lean as well; what is measured is the judge's lean beyond theirs.
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> judge, people = [1, 1, 0.5, 1, 0, 1], [1, 0, 0.5, 0.5, 0, 0]
    >>> excess_credit(judge, people, null="no lean to its own answers")[0]
    0.417 [-0.327, 0.952] (n = 6, Bonett–Price, 6 clusters)
    """
    given, expected = floats("credit", credit), floats("reference", reference)
    if given.ndim != 1 or given.shape != expected.shape:
        raise ValidationError(
            f"shapes are {given.shape} and {expected.shape}; give one of each per item"
        )
    code = np.arange(given.size)
    if clusters is not None:
        code = cluster_codes(clusters, given.shape)[1]
    if code.max(initial=-1) < 1:
        raise UndefinedStatistic(
            f"{given.size} items in {code.max(initial=-1) + 1} clusters; a comparison "
            "needs two clusters or more"
        )
    sums = [np.bincount(code, x) for x in (given, expected)]
    items = np.bincount(code)
    estimate = clustered_difference(sums[0], items, sums[1], items, level=level)
    freedom = estimate.n - 1
    excess = sums[0] - sums[1] - estimate.value * items
    error = np.sqrt(estimate.n / freedom * float(excess @ excess)) / items.sum()
    if error == 0:
        # Without any spread only the signs can speak: all of them the same way.
        p = 1.0 if estimate.value == 0 else 0.5 ** (estimate.n - 1)
    else:
        p = 2 * float(special.stdtr(freedom, -abs(estimate.value) / error))
    return estimate, Test(p, estimate.n, null, "t over clusters")


def unusable_rate(
    unusable: int, n: int, *, tolerance: float = 0.0, level: float = 0.95
) -> tuple[Estimate, Test]:
    """How many verdicts lack a usable reply, and are these more than we tolerate?

    Parameters
    ----------
    unusable, n : int
        Verdicts that are invalid or missing, and all verdicts asked for.
    tolerance : float, default 0
        The share that is acceptable, in [0, 1). With 0 a single one is too many.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        The share with its exact interval; the test is one-sided.

    Raises
    ------
    UndefinedStatistic
        If `n` is 0.
    ValidationError
        If the tolerance is not in [0, 1), or as `intervals.proportion`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> unusable_rate(13, 540, tolerance=0.01)[1].p_value < 0.01
    True
    """
    unusable, n = whole("unusable", unusable), whole("n", n)
    check_real(tolerance=tolerance)
    if not 0 <= tolerance < 1:
        raise ValidationError(f"tolerance is {tolerance!r}; need 0 <= tolerance < 1")
    estimate = proportion(unusable, n, level=level, method="clopper-pearson")
    # The upper tail of the binomial distribution is an incomplete beta function.
    p = (
        float(special.betainc(unusable, n - unusable + 1, tolerance))
        if unusable
        else 1.0
    )
    null = f"at most {tolerance:.0%} of the replies are unusable"
    return estimate, Test(p, n, null, "exact binomial, one-sided")


def diagnose(
    records: Any, *, tolerance: float = 0.0, alpha: float = 0.05
) -> list[Finding]:
    """Which faults does this judge show, allowing for having looked for several?

    Parameters
    ----------
    records : dataframe
        Tidy pairwise records of *one* judge in both orders, as `simulate.simulate`
        returns them and `position.pair_orders` takes them. With ``gold`` (the better
        answer) and ``log_length`` (of A to B, base 2) verbosity is probed; with
        ``gold`` and ``own`` (+1 if the judge wrote A, −1 if B) self-preference.
    tolerance : float, default 0
        The share of unusable replies that is acceptable.
    alpha : float, default 0.05
        How likely a clean judge may be accused of anything at all.

    Returns
    -------
    list of Finding
        One per probe that the columns allow, p-values corrected by Holm's method.

    Raises
    ------
    ValidationError
        If there are several judges, no item was judged in both orders, what is known of
        an item differs between its records, or as `position.pair_orders`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> from judgelab.simulate import Judge, draw_pairs, simulate
    >>> pairs = draw_pairs(400, rng=1)
    >>> for finding in diagnose(simulate(Judge(k=4, beta=1), pairs, rng=2)):
    ...     print(finding.fault, finding.found)
    position True
    unusable replies False
    """
    check_real(alpha=alpha, tolerance=tolerance)
    if not 0 < alpha < 1:
        raise ValidationError(f"alpha is {alpha!r}; give a probability such as 0.05")
    pairs = pair_orders(records)
    known = nw.from_native(records).collect_schema().names()
    for name in ("gold", "log_length", "own"):
        if name in known and name not in pairs:
            raise ValidationError(
                f"{name!r} differs between the records of one item; it must be that of "
                "answer A (against B), whichever was shown first"
            )
    if (judges := pairs["judge"].unique()).size != 1:
        raise ValidationError(
            f"records hold {judges.size} judges ({judges[:5].tolist()}); diagnose them "
            "one by one"
        )
    first, second = pairs["first"].to_numpy(), pairs["second"].to_numpy()
    if ((first == Verdict.MISSING) | (second == Verdict.MISSING)).all():
        raise ValidationError(
            "no item of the records has a verdict in both orders; ask the judge again "
            'with the answers exchanged and mark these records "swapped"'
        )
    items = pairs["item"].to_numpy()
    repeated = np.unique(items).size < items.size
    table = contingency_table(
        first, second, scale=range(5), clusters=items if repeated else None
    )
    unusable = int((first > Verdict.TIE).sum() + (second > Verdict.TIE).sum())
    results = {
        "position": (preference_fairness(table), lean_test(table, kind="lenient")),
        "unusable replies": unusable_rate(
            unusable, 2 * first.size, tolerance=tolerance
        ),
    }
    if "gold" in pairs:
        gold = np.array([Verdict.parse(str(word)) for word in pairs["gold"]])
        side = np.where(gold == Verdict.A, 1, np.where(gold == Verdict.B, -1, 0))
        marks = (_mark(first, gold) + _mark(second, gold)) / 2
        for fault, column, gap in (
            ("verbosity", "log_length", verbosity_gap),
            ("self-preference", "own", self_preference_gap),
        ):
            if column not in pairs:
                continue
            score = pairs[column].to_numpy(float, na_value=np.nan) * side
            # What is not known tells nothing, like answers of equal length.
            tells = (score < 0) | (score > 0)
            right, agrees = _per_item(marks[tells], score[tells] > 0, items[tells])
            if min(agrees.sum(), (~agrees).sum()) >= 2:
                results[fault] = gap(right, agrees)
    adjusted = holm({fault: test.p_value for fault, (_, test) in results.items()})
    return [
        Finding(fault, estimate, test, adjusted[fault], adjusted[fault] <= alpha)
        for fault, (estimate, test) in results.items()
    ]


def _mark(
    verdicts: npt.NDArray[np.int8], gold: npt.NDArray[np.int8]
) -> npt.NDArray[np.float64]:
    """Give 1 for naming the better answer, half for a tie: a tie names it half."""
    return np.where(verdicts == gold, 1.0, np.where(verdicts == Verdict.TIE, 0.5, 0.0))


def _per_item(
    marks: npt.NDArray[np.float64],
    agrees: npt.NDArray[np.bool_],
    items: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Average the trials of each item: trials are not independent of each other."""
    _, start, index = np.unique(items, return_index=True, return_inverse=True)
    size = np.bincount(index, minlength=start.size)
    return np.bincount(index, marks, minlength=start.size) / size, agrees[start]


def _gap(
    right: npt.ArrayLike, group: npt.ArrayLike, null: str, level: float
) -> tuple[Estimate, Test]:
    marks, inside = floats("right", right), array("group", group)
    if marks.shape != inside.shape or not ((marks >= 0) & (marks <= 1)).all():
        raise ValidationError(
            "give one mark between 0 and 1 and one group per pair; shapes are "
            f"{marks.shape} and {inside.shape}"
        )
    if not np.isin(inside, (0, 1)).all():
        raise ValidationError("the group of each pair must be true or false")
    inside = inside.astype(bool)
    if min(inside.sum(), (~inside).sum()) < 2:
        raise UndefinedStatistic(
            f"{inside.sum()} and {(~inside).sum()} pairs in the two groups; each needs "
            "two or more"
        )
    return welch_test(marks[inside], marks[~inside], null=null, level=level)
