"""Which pairs can be trusted: three checks, and a table of what was lost where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from judgelab.errors import ValidationError
from judgelab.intervals import proportion
from judgelab.models.request import Reply, Request
from judgelab.papers.rankjudge.asking import Ask, Unreadable, as_text, record, request
from judgelab.papers.rankjudge.generate import Fate
from judgelab.papers.rankjudge.schema import (
    Adherence,
    Coherence,
    Grounding,
    Item,
    Round,
    Verification,
)
from judgelab.papers.rankjudge.taxonomy import FAILURES, USER_BEHAVIORS

if TYPE_CHECKING:
    import pandas as pd

LAYERS = ("document", "generation", "coherence", "adherence", "grounding")
"""Where a pair can be lost, in the order in which a loss is put down."""

By = Literal["all", "failure", "user_behavior", "domain"]


@dataclass(frozen=True)
class _Rounds:
    """The reply to a question about support."""

    rounds: tuple[Round, ...]


def verify(made: Sequence[Fate], checker: Ask) -> list[Fate]:
    """Check every pair: do the plans make sense, are they followed, is all supported?

    Parameters
    ----------
    made : sequence of Fate
        From `generate`; what is lost already stays lost.
    checker : Ask
        The model that checks. In the paper the one that wrote: it marks its own work.

    Returns
    -------
    list of Fate
        The same candidates with their verification. All checks are asked for, as in the
        released code; a loss is put down to the first check that fails.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3, appendix A.4 and the released code (verify).

    Notes
    -----
    Chapter: *RankJudge*.
    """
    items = [fate.item for fate in made if fate.item is not None]
    requests = [question for item in items for question in _questions(item)]
    replies = iter(checker(requests))
    return [
        fate if fate.item is None else _checked(fate, [next(replies) for _ in range(4)])
        for fate in made
    ]


def _questions(item: Item) -> list[Request]:
    meta = item.metadata
    fields = {
        "n_rounds": meta.n_rounds,
        "user_behavior_type": meta.user_behavior_type,
        "user_behavior": USER_BEHAVIORS[meta.user_behavior_type],
        "failure": FAILURES[meta.assistant_behavior_type],
        "bad_round_index": meta.bad_round_index,
        "context": meta.context,
        "plan": item.plan,
        "good": as_text(item.better),
        "bad": as_text(item.worse),
    }
    grounding = (
        {"conversation": fields["good"], "skip": 0, "context": meta.context},
        {
            "conversation": fields["bad"],
            "skip": meta.bad_round_index,
            "context": meta.context,
        },
    )
    return [
        _check("coherence", item, fields, Coherence),
        _check("adherence", item, fields, Adherence),
        *(_check("grounding", item, each, _Rounds) for each in grounding),
    ]


def _check(layer: str, item: Item, fields: dict[str, Any], kind: Any) -> Request:
    return request(layer, item.id, fields, temperature=0.0, schema=kind)


def _checked(fate: Fate, replies: list[Reply | None]) -> Fate:
    assert fate.item is not None
    problems: dict[str, Unreadable] = {}

    def take(kind: Any, layer: str, reply: Reply | None) -> Any:
        try:
            return record(kind, reply)
        except Unreadable as problem:
            problems.setdefault(layer, problem)
            return None

    coherence = take(Coherence, "coherence", replies[0])
    adherence = take(Adherence, "adherence", replies[1])
    good = take(_Rounds, "grounding", replies[2])
    bad = take(_Rounds, "grounding", replies[3])
    flawed = fate.item.metadata.bad_round_index
    grounding = None
    if good is not None and bad is not None:
        kept = tuple(each for each in bad.rounds if each.round_index != flawed)
        grounding = Grounding(good.rounds, kept)
    verification = Verification(fate.item.id, coherence, adherence, grounding)
    layer, reason, detail = _loss(verification, problems)
    return replace(
        fate, verification=verification, layer=layer, reason=reason, detail=detail
    )


def _loss(
    verification: Verification, problems: dict[str, Unreadable]
) -> tuple[str, str, str]:
    """Name the first check that fails: layer, reason, detail."""
    for layer in ("coherence", "adherence", "grounding"):
        if layer in problems:
            problem = problems[layer]
            return layer, problem.reason, problem.detail
        found = getattr(verification, layer)
        if found.passed:
            continue
        if isinstance(found, Coherence):
            return layer, "plan makes no sense", found.good_issue or found.bad_issue
        if isinstance(found, Adherence):
            return layer, *_not_followed(found)
        good, bad = found.shares
        return layer, "not supported", f"supported: {good:.0%} and {bad:.0%}"
    return "", "", ""


def _not_followed(found: Adherence) -> tuple[str, str]:
    issue = found.good_issue or found.bad_issue
    if len(found.bad_flawed_rounds) > 1:
        return "two flawed turns", f"rounds {list(found.bad_flawed_rounds)}"
    if not found.bad_followed:
        return "flaw not there", issue
    if not found.bad_flaw_round_correct:
        return "flaw in another round", issue
    return "plan not followed", issue


def survivors(fates: Iterable[Fate]) -> list[Item]:
    """Return the pairs that passed all checks.

    Parameters
    ----------
    fates : iterable of Fate
        From `verify`.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    return [
        fate.item
        for fate in fates
        if fate.item is not None and fate.verification is not None and not fate.layer
    ]


def survival(fates: Sequence[Fate], *, by: By = "all") -> pd.DataFrame:
    """How many pairs were lost, where, and how many are left?

    Parameters
    ----------
    fates : sequence of Fate
        From `verify`.
    by : {"all", "failure", "user_behavior", "domain"}, default "all"
        What the rows are.

    Returns
    -------
    pandas.DataFrame
        One row per group: ``candidates``, one column of losses per layer, ``survived``,
        and ``share`` of the candidates with ``low`` and ``high`` (Wilson, 95 %).

    Raises
    ------
    ValidationError
        If there are no candidates, or no such grouping.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix A.4.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    import pandas as pd

    if not fates:
        raise ValidationError("there are no candidates")
    rows: dict[str, dict[str, Any]] = {}
    for fate in fates:
        row = rows.setdefault(
            _group(fate, by),
            {"candidates": 0} | dict.fromkeys(LAYERS, 0) | {"survived": 0},
        )
        row["candidates"] += 1
        row[fate.layer or "survived"] += 1
    for row in rows.values():
        share = proportion(row["survived"], row["candidates"])
        row |= {"share": share.value, "low": share.low, "high": share.high}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def losses(fates: Sequence[Fate]) -> pd.DataFrame:
    """Under which names were pairs lost, and how often?

    Parameters
    ----------
    fates : sequence of Fate
        From `verify`.

    Returns
    -------
    pandas.DataFrame
        ``layer``, ``reason``, ``pairs``: in the order of the layers, the most frequent
        first.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    import pandas as pd

    counts: dict[tuple[str, str], int] = {}
    for fate in fates:
        if fate.layer:
            key = (fate.layer, fate.reason)
            counts[key] = counts.get(key, 0) + 1
    ordered = sorted(
        counts.items(), key=lambda each: (LAYERS.index(each[0][0]), -each[1], each[0])
    )
    rows = [(layer, reason, pairs) for (layer, reason), pairs in ordered]
    return pd.DataFrame(rows, columns=["layer", "reason", "pairs"])


def _group(fate: Fate, by: str) -> str:
    conditions = fate.candidate.conditions
    groups = {
        "all": "all",
        "failure": conditions.assistant_behavior_type,
        "user_behavior": conditions.user_behavior_type,
        "domain": fate.candidate.document.domain,
    }
    if by not in groups:
        raise ValidationError(f"by is {by!r}; choose from {', '.join(groups)}")
    return groups[by]
