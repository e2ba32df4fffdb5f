"""How good is a judge under a rule, and is it better than another?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgelab import data
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.papers.judgebench.counts import (
    counts_of,
    joint_cells,
    marked_right,
    tables_of,
)
from judgelab.papers.judgebench.reading import CATEGORIES
from judgelab.position import (
    pcon_at_ab,
    position_consistency,
    preference_fairness,
    score_two_orders,
    slot_share,
    verdict_rate,
)
from judgelab.significance import Test, mcnemar, paired_difference
from judgelab.verdict import RULES, Rule, Verdict, find_rule

if TYPE_CHECKING:
    import pandas as pd


def evaluate(
    records: pd.DataFrame | None = None,
    *,
    rule: Rule | str,
    level: float = 0.95,
) -> pd.DataFrame:
    """How good is a judge on JudgeBench, and how sure are we?

    Parameters
    ----------
    records : pandas.DataFrame, optional
        Tidy records of one or several judges (`load`, `read_output`, or your own with
        ``gold`` and ``category``), or counts (`count_orders`). The twelve judges that
        the package carries if not given.
    rule : Rule or str
        How two verdicts become one outcome; ``"judgebench"`` is that of the published
        tables.
    level : float, default 0.95
        Nominal coverage of all intervals.

    Returns
    -------
    pandas.DataFrame
        Indexed by judge, responses and category (the four that occur, and ``Overall``,
        over all pairs). Columns: ``pairs``; ``accuracy``, ``wrong``, ``tie``,
        ``neither`` (outcomes, see `position.score_two_orders`); ``consistency``,
        ``first_slot`` (share of decided verdicts), ``fairness``, ``pcon``, ``ties``,
        ``invalid`` and ``missing`` (shares of verdicts), each an `Estimate`.

    Raises
    ------
    ValidationError
        As `count_orders`.

    References
    ----------
    Tan et al. (2024), section 4; ScalerLab/JudgeBench, utils/metrics.py.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> table = evaluate(rule="judgebench")
    >>> table.loc[("o1-mini", "GPT-4o", "Overall"), "accuracy"]
    0.657 [0.606, 0.705] (n = 350, Wilson)
    """
    import pandas as pd

    counts = counts_of(records)
    rows, index = [], []
    for (judge, responses), mine in counts.groupby(
        ["judge", "responses"], sort=False, observed=True
    ):
        present = [name for name in CATEGORIES if (mine["category"] == name).any()]
        others = sorted(set(mine["category"]) - set(CATEGORIES))
        for name in (*present, *others, "Overall"):
            part = mine if name == "Overall" else mine[mine["category"] == name]
            tables = tables_of(part)
            score = score_two_orders(tables, rule=rule, level=level)
            both = tables.sum(axis=0)
            index.append((judge, responses, name))
            rows.append(
                {
                    "pairs": int(both.sum()),
                    "accuracy": score["right"],
                    "wrong": score["wrong"],
                    "tie": score["tie"],
                    "neither": score["neither"],
                    "consistency": position_consistency(both, level=level),
                    "first_slot": slot_share(both, level=level),
                    "fairness": preference_fairness(both, level=level),
                    "pcon": pcon_at_ab(both, level=level),
                    "ties": verdict_rate(both, Verdict.TIE, level=level),
                    "invalid": verdict_rate(both, Verdict.INVALID, level=level),
                    "missing": verdict_rate(both, Verdict.MISSING, level=level),
                }
            )
    names = ["judge", "responses", "category"]
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=names))


def rule_effects(
    records: pd.DataFrame | None = None,
    *,
    rules: Iterable[Rule | str] = tuple(RULES),
) -> pd.DataFrame:
    """How much of a judge's accuracy is the rule's doing?

    Parameters
    ----------
    records : pandas.DataFrame, optional
        As `evaluate`.
    rules : iterable of Rule or str
        By default all of `verdict.RULES`.

    Returns
    -------
    pandas.DataFrame
        Accuracy over all pairs as an `Estimate`: one row per judge and set of pairs,
        one column per rule. Undefined, with the number of pairs, where the source of a
        rule is silent. The counts of the package read labels without meaning as
        INVALID; see `read_output` for the one rule to which it matters.

    Raises
    ------
    ValidationError
        As `count_orders`, or if a rule is unknown.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> effects = rule_effects(rules=["judgebench", "recipe-prose", "judgebench-paper"])
    >>> for name, accuracy in effects.loc[("GLM-4.7", "Claude-3.5-Sonnet")].items():
    ...     print(name, accuracy)
    judgebench 0.593 [0.533, 0.650]
    recipe-prose 0.437 [0.379, 0.497]
    judgebench-paper undefined
    """
    import pandas as pd

    counts = counts_of(records)
    found = [find_rule(rule) for rule in rules]
    rows, index = [], []
    for key, mine in counts.groupby(["judge", "responses"], sort=False, observed=True):
        tables = tables_of(mine)
        index.append(key)
        rows.append(
            {rule.name: score_two_orders(tables, rule=rule)["right"] for rule in found}
        )
    names = ["judge", "responses"]
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=names))


def compare(
    judge: str,
    other: str,
    *,
    rule: Rule | str = "judgebench",
    records: pd.DataFrame | None = None,
    interval: Literal["bootstrap", "bonett-price"] = "bonett-price",
    rng: np.random.Generator | int = 0,
    level: float = 0.95,
) -> tuple[Estimate, Test]:
    """Is one judge better than another on the pairs that both have judged?

    Two intervals that overlap do not answer this: the judges saw the same pairs, and
    only the pairs on which exactly one of them is right can tell.

    Parameters
    ----------
    judge, other : str
        Names of two judges of the same pairs.
    rule : Rule or str, default "judgebench"
        How two verdicts become one outcome. Without `records` only ``"judgebench"`` is
        at hand.
    records : pandas.DataFrame, optional
        Records that hold both judges; the package's joint counts if not given.
    interval : {"bonett-price", "bootstrap"}, default "bonett-price"
        As `significance.paired_difference`.
    rng : Generator or int, default 0
        Randomness of the bootstrap.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        Accuracy of the first minus that of the second, and McNemar's exact test.

    Raises
    ------
    ValidationError
        If the two are one or have no pair in common, the joint counts under this rule
        are not shipped, or as `count_orders`.

    Notes
    -----
    A pair that the rule drops for either judge is left out; where the source of the
    rule is silent, an error says so. Chapter: *JudgeBench*.

    Examples
    --------
    >>> compare("o1-mini", "GRM-Gemma-2B")[0]
    0.063 [-0.004, 0.129] (n = 350, Bonett–Price)
    """
    if judge == other:
        raise ValidationError(f"judge and other are both {judge!r}; give two")
    if records is None:
        if find_rule(rule).name != "judgebench":
            raise ValidationError(
                f"joint counts under {find_rule(rule).name!r} are not shipped; pass "
                "records=judgebench.load()"
            )
        cells = _shipped_joint(judge, other)
    else:
        judges = sorted({*records["judge"]})
        if lacking := [name for name in (judge, other) if name not in judges]:
            raise ValidationError(
                f"records hold no verdicts of {lacking}; judges: {', '.join(judges)}"
            )
        two = records[records["judge"].isin([judge, other])]
        cells = joint_cells(marked_right(two, rule), judge, other)
    difference = paired_difference(*cells, interval=interval, rng=rng, level=level)
    return difference, mcnemar(cells[1], cells[2])


def _shipped_joint(judge: str, other: str) -> tuple[int, int, int, int]:
    frame = data.counts("judgebench", "joint_right")
    columns = ["both", "only_judge", "only_other", "neither"]
    for one, two, order in ((judge, other, columns), (other, judge, _swapped(columns))):
        rows = frame[(frame["judge"] == one) & (frame["other"] == two)]
        if not rows.empty:
            both, first, second, neither = (int(rows[c].iloc[0]) for c in order)
            return both, first, second, neither
    judges = sorted({*frame["judge"], *frame["other"]})
    raise ValidationError(
        f"{judge!r} and {other!r} have no pairs in common; judges: {', '.join(judges)}"
    )


def _swapped(columns: list[str]) -> list[str]:
    return [columns[0], columns[2], columns[1], columns[3]]
