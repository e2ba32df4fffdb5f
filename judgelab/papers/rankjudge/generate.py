"""From documents to pairs: sampled conditions, a better and a worse conversation.

The two conversations are written independently, under the same conditions; the better
one meets the pressure under which the worse one fails. Whatever goes wrong on the way
has a name and is counted (`judgelab.papers.rankjudge.verify.survival`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from judgelab._checks import whole
from judgelab.errors import ValidationError
from judgelab.models.request import Message, Reply, Request
from judgelab.papers.rankjudge.asking import Ask, Unreadable, json_object, request
from judgelab.papers.rankjudge.schema import (
    Conversation,
    Document,
    Item,
    Metadata,
    Plan,
    Verification,
    pair_id,
    read,
)
from judgelab.papers.rankjudge.taxonomy import (
    FAILURES,
    ROUNDS,
    USER_BEHAVIORS,
    failure_of,
    weights,
)

SHORTEST = 400
"""Characters below which a document has no material for seven rounds."""
ATTEMPTS = 3
"""How often a conversation is asked for, as in the released code."""


@dataclass(frozen=True)
class Conditions:
    """What a pair is to be like.

    Parameters
    ----------
    user_behavior_type, assistant_behavior_type : str
        Names from the taxonomy.
    n_rounds : int
        3 to 7.
    better_is_a : bool
        Where the better conversation will stand.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    user_behavior_type: str
    assistant_behavior_type: str
    n_rounds: int
    better_is_a: bool


@dataclass(frozen=True)
class Candidate:
    """A document and the conditions for one pair about it.

    Parameters
    ----------
    id : str
        The pair's.
    document : Document
    conditions : Conditions

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    document: Document
    conditions: Conditions

    @property
    def long_enough(self) -> bool:
        """Whether the document has the material; without, nothing is asked."""
        return len(self.document.context) >= SHORTEST


@dataclass(frozen=True)
class Fate:
    """What became of a candidate.

    Parameters
    ----------
    candidate : Candidate
    item : Item, optional
        The pair, once both conversations are there.
    verification : Verification, optional
        What the checks found.
    layer, reason, detail : str, optional
        Where it was lost, under which name, and what exactly was wrong; empty as long
        as it is not lost.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    candidate: Candidate
    item: Item | None = None
    verification: Verification | None = None
    layer: str = ""
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class _Good:
    """What a writer replies for the better conversation."""

    plan: str
    conversation: Conversation


@dataclass(frozen=True)
class _Blueprint:
    """What was to happen, and where it goes wrong."""

    reasoning: str
    bad_round_index: int
    problem_type: Literal["A", "B", "C", "D", "E", "F", "G"]


@dataclass(frozen=True)
class _Worse:
    """What a writer replies for the worse conversation."""

    plan: _Blueprint
    conversation: Conversation


def read_documents(folder: str | Path | None = None) -> list[Document]:
    """Read the texts that pairs are to be about.

    Parameters
    ----------
    folder : str or Path, optional
        Text files (.txt, .md); the subfolder is the domain, "own" for those in none.
        Unless given, nine short texts of ours in the paper's three domains.

    Returns
    -------
    list of Document
        In the order of their names.

    Raises
    ------
    ValidationError
        If there is no such folder or no text in it.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> [document.id for document in read_documents() if document.domain == "med"]
    ['screening', 'sleep', 'washing-hands']
    """
    root = Path(
        str(resources.files("judgelab.papers.rankjudge").joinpath("documents"))
        if folder is None
        else folder
    )
    if not root.is_dir():
        raise ValidationError(f"{root} is no folder; give one with .txt or .md files")
    documents = []
    for path in sorted(root.rglob("*")):
        if path.suffix in (".txt", ".md"):
            parts = path.relative_to(root).with_suffix("").parts
            domain = parts[0] if len(parts) > 1 else "own"
            try:
                text = path.read_text("utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValidationError(
                    f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); "
                    "save it as UTF-8"
                ) from None
            name = "/".join(parts[1:] or parts)
            documents.append(Document(name, domain, text))
    if not documents:
        raise ValidationError(f"{root} has no .txt or .md file")
    return documents


def sample(pair: str, *, seed: int = 0, uniform: bool = True) -> Conditions:
    """Draw the conditions of a pair: they depend on its name and the seed alone.

    Parameters
    ----------
    pair : str
        The id of the pair.
    seed : int, default 0
        Another seed, other conditions.
    uniform : bool, default True
        All values alike, as for the released data, or by the paper's `weights`.

    Returns
    -------
    Conditions

    Raises
    ------
    ValidationError
        If the seed is no whole number, or negative.

    References
    ----------
    RankJudge, arXiv:2605.21748, sampler of the released code. There the draws depend on
    the order in which threads come along, so that a rerun draws others.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> sample("02f116a7342a") == sample("02f116a7342a")
    True
    """
    seed = whole("seed", seed)
    digits = int.from_bytes(pair.encode())
    rng = np.random.default_rng([seed, digits])

    def draw(values: Iterable[Any], chances: dict[str, float]) -> Any:
        values = list(values)
        p = None if uniform else [chances[str(value)] for value in values]
        return values[rng.choice(len(values), p=p)]

    return Conditions(
        draw(USER_BEHAVIORS, weights("user")),
        draw(FAILURES, weights("failure")),
        draw(ROUNDS, weights("n_rounds")),
        bool(rng.random() < 0.5),
    )


def candidates(
    documents: Iterable[Document],
    *,
    per_document: int = 1,
    seed: int = 0,
    uniform: bool = True,
) -> list[Candidate]:
    """Say which pairs are to be made.

    Parameters
    ----------
    documents : iterable of Document
    per_document : int, default 1
        Pairs per document; the paper makes one.
    seed, uniform
        As for `sample`.

    Raises
    ------
    ValidationError
        If two documents of a domain have the same name, or no pair is wanted.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> len(candidates(read_documents(), per_document=3))
    27
    """
    per_document = whole("per_document", per_document, least=1)
    found: dict[str, Candidate] = {}
    for document in documents:
        for k in range(per_document):
            raw = f"{document.id}#{k + 1}" if k else document.id
            name = pair_id(document.domain, raw)
            if name in found:
                raise ValidationError(
                    f"two documents are called {document.id!r} in {document.domain!r}"
                )
            conditions = sample(name, seed=seed, uniform=uniform)
            found[name] = Candidate(name, document, conditions)
    return list(found.values())


def generate(
    wanted: Sequence[Candidate], writer: Ask, *, attempts: int = ATTEMPTS
) -> list[Fate]:
    """Have both conversations of every pair written.

    Parameters
    ----------
    wanted : sequence of Candidate
    writer : Ask
        The model that writes.
    attempts : int, default 3
        How often a conversation is asked for as long as it cannot be used. A request
        without any reply is left for the next run.

    Returns
    -------
    list of Fate
        One per candidate, in order: with its item, or lost under a name.

    Raises
    ------
    ValidationError
        If there is to be no attempt.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3 and the released code (pairs).

    Notes
    -----
    Chapter: *RankJudge*.
    """
    attempts = whole("attempts", attempts, least=1)
    long_enough = [candidate for candidate in wanted if candidate.long_enough]
    branches: dict[tuple[str, str], Any] = {
        (candidate.id, branch): Unreadable("no reply")
        for candidate in long_enough
        for branch in ("good", "worse")
    }
    by_id = {candidate.id: candidate for candidate in long_enough}
    pending = list(branches)
    for attempt in range(attempts):
        requests = [_written(by_id[pair], branch, attempt) for pair, branch in pending]
        for key, reply in zip(pending, writer(requests), strict=True):
            branches[key] = _branch(by_id[key[0]], key[1], reply)
        pending = [
            key
            for key in pending
            if isinstance(branches[key], Unreadable)
            and branches[key].reason != "no reply"
        ]
        if not pending:
            break
    return [_fate(candidate, branches) for candidate in wanted]


def _written(candidate: Candidate, branch: str, attempt: int) -> Request:
    conditions = candidate.conditions
    fields = {
        "n_rounds": conditions.n_rounds,
        "user_behavior_type": conditions.user_behavior_type,
        "user_behavior": USER_BEHAVIORS[conditions.user_behavior_type],
        "failure": FAILURES[conditions.assistant_behavior_type],
        "context": candidate.document.context,
    }
    # At temperature 0 a second attempt, or a second pair under the same conditions,
    # would be the first one again; a seed of its own keeps them apart.
    return request(
        branch,
        candidate.id,
        fields,
        temperature=1.0,
        schema=_Good if branch == "good" else _Worse,
        seed=int(candidate.id[:7], 16) + attempt,
        trial=attempt,
    )


def _branch(candidate: Candidate, branch: str, reply: Reply | None) -> Any:
    """Return a plan and a conversation (and the flawed round), or what is wrong."""
    try:
        return _read_branch(candidate.conditions, branch, json_object(reply))
    except Unreadable as problem:
        return problem


def _read_branch(
    conditions: Conditions, branch: str, value: dict[str, Any]
) -> tuple[str, Conversation, int]:
    plan, flawed = value.get("plan"), 0
    if branch == "worse":
        if not isinstance(plan, dict):
            raise Unreadable("wrong fields", "the plan is no object")
        flawed = _flawed_round(plan.get("bad_round_index"), conditions.n_rounds)
        letter = plan.get("problem_type")
        named = failure_of(letter) if isinstance(letter, str) else None
        if named is None:
            raise Unreadable("unknown failure letter", repr(letter))
        if named != conditions.assistant_behavior_type:
            raise Unreadable("another failure", named)
        plan = plan.get("reasoning")
    try:
        turns = tuple(read(Message, turn) for turn in _list(value.get("conversation")))
        words = read(Plan, {"good": plan, "bad": ""}).good
    except ValidationError as error:
        raise Unreadable("wrong fields", str(error)) from None
    if len(turns) != 2 * conditions.n_rounds:
        raise Unreadable(
            "wrong turn count", f"{len(turns)} for {conditions.n_rounds} rounds"
        )
    for k, turn in enumerate(turns):
        if turn.role != ("assistant" if k % 2 else "user") or not turn.content.strip():
            raise Unreadable(
                "turns out of order", f"turn {k + 1}: {turn.role}: {turn.content[:40]}"
            )
    return words, turns, flawed


def _flawed_round(value: Any, n_rounds: int) -> int:
    if isinstance(value, list) and len(value) > 1:
        raise Unreadable("two flawed turns", str(value))
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unreadable("wrong fields", f"bad_round_index is {value!r}")
    if not 1 <= value <= n_rounds:
        raise Unreadable("no such round", f"{value} of {n_rounds}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValidationError("conversation is no list")
    return value


def _fate(candidate: Candidate, branches: dict[tuple[str, str], Any]) -> Fate:
    if (candidate.id, "good") not in branches:
        size = len(candidate.document.context)
        return Fate(
            candidate,
            layer="document",
            reason="document too short",
            detail=f"{size} characters, {SHORTEST} are needed",
        )
    good, worse = (branches[candidate.id, branch] for branch in ("good", "worse"))
    for branch in (good, worse):
        if isinstance(branch, Unreadable):
            return Fate(
                candidate,
                layer="generation",
                reason=branch.reason,
                detail=branch.detail,
            )
    conditions = candidate.conditions
    a, b = (good[1], worse[1]) if conditions.better_is_a else (worse[1], good[1])
    item = Item(
        candidate.id,
        candidate.document.domain,
        a,
        b,
        conditions.better_is_a,
        Plan(good[0], worse[0]),
        Metadata(
            conditions.user_behavior_type,
            conditions.assistant_behavior_type,
            conditions.n_rounds,
            worse[2],
            candidate.document.context,
        ),
    )
    return Fate(candidate, item)
