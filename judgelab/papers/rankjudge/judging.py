"""Ask judges: one answer on which conversation is better, which turn is bad, and why.

Also the two other ways of asking: conversations graded one by one, and the question in
other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from judgelab.errors import ValidationError
from judgelab.models.parse import parse_json
from judgelab.models.prompts import Prompt, find_prompt
from judgelab.models.request import Reply, Request
from judgelab.papers.rankjudge.asking import (
    MOST_TOKENS,
    Ask,
    Unreadable,
    as_text,
    json_object,
    request,
)
from judgelab.papers.rankjudge.schema import (
    Answer,
    Item,
    JudgeModel,
    Match,
    Order,
    PairTypes,
    Slot,
    Usage,
)
from judgelab.papers.rankjudge.taxonomy import FAILURES, failure_of
from judgelab.verdict import Verdict, unswap

_LABELS = {"A": Verdict.A, "B": Verdict.B}
_REPLY = "Reply with one JSON object"

ADVICE = {
    "joint": "",
    "hints": (
        "Kinds that are often mixed up: an answer that talks round the question is an "
        "evasion; one that takes one of two readings lacks a question back; one that "
        "says it cannot know, though the document says it, is a refusal; one that has "
        "all the facts in a jumble is disorganized."
    ),
    "compare": (
        "Go through both conversations turn by turn and note the weakest answer of "
        "each before you decide."
    ),
    "rules": (
        "Decide in this order: does an answer contradict an earlier one, does it break "
        "an instruction, does it state what the document does not, does it decline, "
        "does it take one of two readings, is it out of order; and only then: does it "
        "evade?"
    ),
    "think": (
        "Write down step by step what each answer claims and what the document says of "
        "it, and draw the conclusion at the end."
    ),
}
"""Wordings of the question: the plain one, and one for each of the four revisions that
the paper names (hints on the kinds, comparing candidates, rules of decision, thinking
step by step). The words are ours."""

GRADES = range(1, 11)
"""Grades that a conversation can get when it is shown alone."""


@dataclass(frozen=True)
class Grade:
    """How a judge graded the two conversations of a pair, each shown alone.

    Parameters
    ----------
    id, judge : str
        The pair and who graded.
    better, worse : int or None
        1 to 10 for the better and the worse conversation; None if not readable.
    missing : bool, default False
        Whether a request stayed without a reply.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    judge: str
    better: int | None
    worse: int | None
    missing: bool = False


def judge_pairs(
    items: Sequence[Item],
    judges: Mapping[str, Ask],
    *,
    orders: Sequence[Order] = ("AB",),
    prompt: str = "joint",
) -> list[Match]:
    """Let every judge answer on every pair.

    Parameters
    ----------
    items : sequence of Item
    judges : mapping of str to Ask
        The judges by name.
    orders : sequence of {"AB", "BA"}, default ("AB",)
        Which conversation is shown first; RankJudge asks in one order only.
    prompt : str, default "joint"
        A key of `ADVICE`.

    Returns
    -------
    list of Match
        Judge by judge, order by order, in the order of the items. A reply that cannot
        be read is a match without an answer and with its reason; a request without a
        reply is a match that is `missing`.

    Raises
    ------
    ValidationError
        Before anybody is asked: if there is no such prompt or order, or an order or a
        pair is given twice.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3 and appendix B; the wording is ours.

    Notes
    -----
    Every question is asked once. The released code makes up to three attempts for a
    match; here `ask_all` tries again where no reply came, and a reply that came and
    cannot be read is an answer of the judge. Chapter: *RankJudge*.
    """
    if sorted(set(orders)) != sorted(orders) or not set(orders) <= {"AB", "BA"}:
        raise ValidationError(
            f"orders is {list(orders)}; choose from 'AB' and 'BA', each once"
        )
    _refuse_twice(items)
    shown = [(item, order) for order in orders for item in items]
    requests = [_joint(item, order, prompt) for item, order in shown]
    return [
        read_match(reply, item, name, order=order, prompt=prompt)
        for name, ask in judges.items()
        for reply, (item, order) in zip(ask(requests), shown, strict=True)
    ]


def _refuse_twice(items: Sequence[Item]) -> None:
    """Refuse what would end in two answers of one judge on one pair."""
    seen = set[str]()
    for item in items:
        if item.id in seen:
            raise ValidationError(f"pair {item.id!r} is given twice")
        seen.add(item.id)


def _joint(item: Item, order: Order, prompt: str) -> Request:
    asked = wording(prompt)
    fields: dict[str, Any] = {
        "document": item.metadata.context,
        "conversation_a": item.convo_a,
        "conversation_b": item.convo_b,
    }
    if order == "BA":
        fields = asked.swapped(fields)
    return Request(
        asked.messages(**fields),
        max_tokens=MOST_TOKENS,
        schema=asked.schema,
        tags={"item": item.id, "order": order, "prompt": asked.name}
        | {"version": asked.version},
    )


@cache
def wording(prompt: str) -> Prompt:
    """Return the question to the judges in one of its wordings.

    Parameters
    ----------
    prompt : str
        A key of `ADVICE`; the advice stands before the description of the reply.

    Raises
    ------
    ValidationError
        If there is no such wording.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    if prompt not in ADVICE:
        raise ValidationError(f"prompt is {prompt!r}; choose from {', '.join(ADVICE)}")
    plain = find_prompt("rankjudge")
    if prompt == "joint":
        return plain
    before, reply = plain.text.split(_REPLY)
    return Prompt(f"rankjudge-{prompt}", f"{before}{ADVICE[prompt]}\n{_REPLY}{reply}")


def read_match(
    reply: Reply | None,
    item: Item,
    judge: str,
    *,
    order: Order = "AB",
    prompt: str = "joint",
) -> Match:
    """Make a match of what a judge replied on a pair.

    Parameters
    ----------
    reply : Reply or None
        None if there was none.
    item : Item
        The pair.
    judge : str
        Who replied.
    order, prompt
        How it was asked.

    Returns
    -------
    Match
        A turn that is no whole number is no turn; a letter that is none of the seven is
        kept as it is, and is wrong.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    verdict: Slot | None = None
    turn: int | None = None
    kind: str | None = None
    invalid = None
    if reply is None:
        invalid = "no reply"
    else:
        said = parse_json(reply, _only(), _LABELS)
        if said.reason:
            invalid = str(said.reason)
        else:
            shown = unswap([cast(Verdict, said.verdict)], order == "BA")[0]
            verdict = "A" if shown == Verdict.A else "B"
            turn, kind, invalid = _turn_and_kind(reply)
    meta = item.metadata
    answer = Answer(
        None if reply is None else reply.text,
        verdict,
        meta.bad_round_index,
        turn,
        meta.assistant_behavior_type,
        kind,
        **_released_way(verdict, turn, kind, item),
    )
    return Match(
        item.id,
        item.domain,
        item.better_is_a,
        PairTypes(meta.assistant_behavior_type, meta.user_behavior_type),
        JudgeModel(judge, judge if reply is None else reply.model or judge),
        answer,
        Usage()
        if reply is None or not (reply.prompt_tokens or reply.completion_tokens)
        else Usage(
            reply.prompt_tokens,
            reply.completion_tokens,
            reply.prompt_tokens + reply.completion_tokens,
        ),
        order,
        prompt,
        invalid,
    )


def _only(**properties: str) -> dict[str, Any]:
    """Give the schema of a reply of which only the verdict and these fields matter."""
    fields = {name: {"type": kind} for name, kind in properties.items()}
    return {"properties": fields | {"verdict": {"type": "string", "enum": ["A", "B"]}}}


def _turn_and_kind(reply: Reply) -> tuple[int | None, str | None, str | None]:
    """Read what a reply with a verdict says beside it, and name what is lacking."""
    turn = parse_json(reply, _only(turn="integer"), _LABELS).details.get("turn")
    kind = parse_json(reply, _only(failure="string"), _LABELS).details.get("failure")
    problems = [] if turn else ["no turn"]
    if not kind or not kind.strip():
        kind = None
        problems.append("no failure")
    else:
        kind = failure_of(kind) or kind.strip()
        if kind not in FAILURES:
            problems.append("unknown failure")
    return turn, kind, ", ".join(problems) or None


def _released_way(
    verdict: Slot | None, turn: int | None, kind: str | None, item: Item
) -> dict[str, bool | None]:
    """Fill the fields on correctness as the released code does.

    There a turn or type that is missing is passed over, and without a verdict nothing
    is right or wrong.
    """
    if verdict is None:
        return {}
    right = verdict == item.better_slot
    meta = item.metadata
    right_turn = None if turn is None else turn == meta.bad_round_index
    right_kind = None if kind is None else kind == meta.assistant_behavior_type
    return {
        "correct_verdict": right,
        "correct_bad_round": right_turn,
        "correct_behavior_type": right_kind,
        "correct": right and right_turn is not False and right_kind is not False,
    }


def grade_alone(items: Sequence[Item], judges: Mapping[str, Ask]) -> list[Grade]:
    """Let every judge grade every conversation by itself, from 1 to 10.

    Parameters
    ----------
    items, judges
        As for `judge_pairs`.

    Returns
    -------
    list of Grade
        Judge by judge; a grade that cannot be read, or is off the scale, is None.

    Raises
    ------
    ValidationError
        Before anybody is asked: if a pair is given twice.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix A.10, where the protocol is named and not
    given; scale and wording are ours.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    _refuse_twice(items)
    requests = [
        request(
            "pointwise",
            item.id,
            {"context": item.metadata.context, "conversation": as_text(conversation)},
            temperature=0.0,
            branch=branch,
        )
        for item in items
        for branch, conversation in (("better", item.better), ("worse", item.worse))
    ]
    found = []
    for name, ask in judges.items():
        replies = iter(ask(requests))
        for item in items:
            pair = next(replies), next(replies)
            better, worse = map(_grade, pair)
            found.append(Grade(item.id, name, better, worse, None in pair))
    return found


def _grade(reply: Reply | None) -> int | None:
    try:
        value = json_object(reply).get("grade")
    except Unreadable:
        return None
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and value in GRADES else None
