"""The records of RankJudge, with the field names of the released data.

Each is a plain dataclass. `read` and `as_json` go from and to the JSON of the released
files; a field that is missing or of the wrong kind is reported with its place.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from judgelab.errors import ValidationError
from judgelab.models.request import Message, whole
from judgelab.papers.rankjudge.taxonomy import FAILURES, USER_BEHAVIORS
from judgelab.records import json_objects

Record = TypeVar("Record")
Slot = Literal["A", "B"]
Order = Literal["AB", "BA"]
Conversation = tuple[Message, ...]


def pair_id(domain: str, raw_id: str) -> str:
    """Name a pair as the released data do: 12 hexadecimal digits.

    Parameters
    ----------
    domain, raw_id : str
        The domain and the name of the document within it.

    References
    ----------
    RankJudge, arXiv:2605.21748, released code.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> pair_id("ml", "early stopping")
    '02f116a7342a'
    """
    return hashlib.sha256(f"{domain}:{raw_id}".encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Document:
    """A text that a pair of conversations is about.

    Parameters
    ----------
    id : str
        Its name, unique within the domain.
    domain : str
        "ml", "med" or "fin" in the paper; any word here.
    context : str
        The text.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    domain: str
    context: str

    def __post_init__(self) -> None:
        _named("document", id=self.id, domain=self.domain)


@dataclass(frozen=True)
class Plan:
    """What was to happen in the better and in the worse conversation, in words."""

    good: str
    bad: str


@dataclass(frozen=True)
class Metadata:
    """What a pair was made from; `bad_round_index` counts from 1."""

    user_behavior_type: str
    assistant_behavior_type: str
    n_rounds: int
    bad_round_index: int
    context: str

    def __post_init__(self) -> None:
        if self.user_behavior_type not in USER_BEHAVIORS:
            raise ValidationError(
                f"unknown user behaviour {self.user_behavior_type!r}; "
                f"there are {', '.join(USER_BEHAVIORS)}"
            )
        if self.assistant_behavior_type not in FAILURES:
            raise ValidationError(
                f"unknown failure {self.assistant_behavior_type!r}; "
                f"there are {', '.join(FAILURES)}"
            )
        if not 1 <= self.bad_round_index <= self.n_rounds:
            raise ValidationError(
                f"bad_round_index is {self.bad_round_index}; the rounds are 1 to "
                f"{self.n_rounds}"
            )


@dataclass(frozen=True)
class Item:
    """A pair of conversations, one of them with exactly one flawed answer.

    Parameters
    ----------
    id, domain : str
        The pair, and what it is about.
    convo_a, convo_b : tuple of Message
        The conversations: user first, then turn by turn, two messages a round.
    better_is_a : bool
        Which one is without the flaw.
    plan : Plan
        What the writer set out to do.
    metadata : Metadata
        The conditions, and the document.

    Raises
    ------
    ValidationError
        If a conversation has another number of turns than the metadata say.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    domain: str
    convo_a: Conversation
    convo_b: Conversation
    better_is_a: bool
    plan: Plan
    metadata: Metadata

    def __post_init__(self) -> None:
        _named("item", id=self.id, domain=self.domain)
        for name in ("convo_a", "convo_b"):
            turns, rounds = len(getattr(self, name)), self.metadata.n_rounds
            if turns != 2 * rounds:
                raise ValidationError(
                    f"{self.id} {name} has {turns} turns; {rounds} rounds have "
                    f"{2 * rounds}"
                )

    @property
    def better(self) -> Conversation:
        """The conversation without a flaw."""
        return self.convo_a if self.better_is_a else self.convo_b

    @property
    def worse(self) -> Conversation:
        """The conversation with the flawed answer."""
        return self.convo_b if self.better_is_a else self.convo_a

    @property
    def better_slot(self) -> Slot:
        """The right verdict."""
        return "A" if self.better_is_a else "B"


@dataclass(frozen=True)
class Claim:
    """One statement of an answer, and whether the document supports it."""

    claim: str
    grounded: bool


@dataclass(frozen=True)
class Round:
    """The statements of one answer; rounds count from 1."""

    round_index: int
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Coherence:
    """Do the plans make sense for this document?"""

    good_ok: bool
    good_issue: str
    bad_ok: bool
    bad_issue: str

    @property
    def passed(self) -> bool:
        """Whether both plans do."""
        return self.good_ok and self.bad_ok


@dataclass(frozen=True)
class Adherence:
    """Do the conversations do what was planned?

    `bad_flawed_rounds` is ours: every round in which the checker sees a flaw.
    """

    good_followed: bool
    good_issue: str
    bad_followed: bool
    bad_flaw_round_correct: bool
    bad_issue: str
    bad_flawed_rounds: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether both do, with the flaw in its round and nowhere else."""
        return (
            self.good_followed
            and self.bad_followed
            and self.bad_flaw_round_correct
            and len(self.bad_flawed_rounds) <= 1
        )


@dataclass(frozen=True)
class Grounding:
    """Is every statement supported? The flawed answer is not asked about."""

    good: tuple[Round, ...]
    bad: tuple[Round, ...]

    @property
    def shares(self) -> tuple[float, float]:
        """Supported share of the statements; 0 for a branch that states nothing."""
        good, bad = (
            [claim.grounded for each in rounds for claim in each.claims]
            for rounds in (self.good, self.bad)
        )
        return (
            sum(good) / len(good) if good else 0.0,
            sum(bad) / len(bad) if bad else 0.0,
        )

    @property
    def passed(self) -> bool:
        """Whether all statements of both conversations are."""
        return self.shares == (1.0, 1.0)


@dataclass(frozen=True)
class Verification:
    """What the three checks found in one pair; None where a reply could not be read.

    Parameters
    ----------
    id : str
        The pair.
    coherence, adherence, grounding
        One result each. All three are asked for every pair.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    coherence: Coherence | None
    adherence: Adherence | None
    grounding: Grounding | None

    @property
    def passed(self) -> bool:
        """Whether the pair survives."""
        return all(
            layer is not None and layer.passed
            for layer in (self.coherence, self.adherence, self.grounding)
        )


@dataclass(frozen=True)
class PairTypes:
    """What kind of pair a match was about."""

    assistant_behavior_type: str
    user_behavior_type: str


@dataclass(frozen=True)
class JudgeModel:
    """Who judged, under which name, and how."""

    name: str
    openrouter_name: str = ""
    add_context: bool = True
    support_thinking: bool = False
    use_thinking: bool = False


@dataclass(frozen=True)
class Answer:
    """What a judge said, and whether it was right by the released code's rule.

    `answer` names the conversation of the item, whatever order they were shown in; None
    if the reply could not be read or never came. The four ``correct`` fields are as
    released; `grades` decides anew.
    """

    raw: str | None
    answer: Slot | None
    bad_round_gt: int | None = None
    bad_round_pred: int | None = None
    behavior_type_gt: str | None = None
    behavior_type_pred: str | None = None
    correct_verdict: bool | None = None
    correct_bad_round: bool | None = None
    correct_behavior_type: bool | None = None
    correct: bool | None = None


@dataclass(frozen=True)
class Usage:
    """What a match cost: tokens, and US dollars where the server says so."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Match:
    """One judge against one pair.

    Parameters
    ----------
    id, domain : str
        The pair.
    better_is_a : bool or None
        The truth; None in the released code's rows for failed requests.
    pair, model, judge, usage
        What it was about, who judged, what was said, what it cost.
    order : {"AB", "BA"}, default "AB"
        Which conversation was shown first. Ours: RankJudge shows one order only.
    prompt : str, default "joint"
        The wording of the question. Ours.
    invalid : str, optional
        Why the reply could not be read, or not wholly. Ours.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    id: str
    domain: str
    better_is_a: bool | None
    pair: PairTypes
    model: JudgeModel
    judge: Answer
    usage: Usage = field(default_factory=Usage)
    order: Order = "AB"
    prompt: str = "joint"
    invalid: str | None = None

    @property
    def missing(self) -> bool:
        """Whether there was no reply at all, so that it can be asked again."""
        raw = self.judge.raw
        return self.judge.answer is None and (raw is None or raw.startswith("ERROR:"))


def as_json(record: Any) -> dict[str, Any]:
    """Write a record as plain dictionaries and lists.

    Parameters
    ----------
    record
        Any record of this module.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> as_json(Plan("Round 1: …", "Round 1: …"))
    {'good': 'Round 1: …', 'bad': 'Round 1: …'}
    """
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(record)))
    return plain


def read(kind: type[Record], value: Any, where: str = "") -> Record:
    """Make a record from JSON; fields that it does not know are passed over.

    Parameters
    ----------
    kind : type
        The record: `Item`, `Match`, `Verification`, …
    value : mapping
        The parsed JSON.
    where : str, optional
        What the message calls the place.

    Raises
    ------
    ValidationError
        Naming the field that is missing or of the wrong kind.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> read(Claim, {"claim": "Water is wet.", "grounded": "yes"})
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: Claim.grounded is 'yes'; expected true or false
    """
    record: Record = _read(kind, value, where or kind.__name__)
    return record


def _read(hint: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return _read_record(hint, value, where)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        (inner,) = (part for part in parts if part is not type(None))
        return _read(inner, value, where)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ValidationError(f"{where} is {_short(value)}; expected a list")
        return tuple(
            _read(parts[0], part, f"{where}[{k}]") for k, part in enumerate(value)
        )
    if origin is Literal:
        if value not in parts:
            raise ValidationError(
                f"{where} is {_short(value)}; expected one of {', '.join(parts)}"
            )
        return value
    whole = isinstance(value, int) and not isinstance(value, bool)
    if hint is float and (whole or isinstance(value, float)):
        return float(value)
    # Columns with gaps come back from some files as 3.0 for 3.
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if (hint is int and whole) or (hint is not int and isinstance(value, hint)):
        return value
    words = {str: "text", bool: "true or false", int: "a whole number"}
    raise ValidationError(
        f"{where} is {_short(value)}; expected {words.get(hint, 'a number')}"
    )


def _read_record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise ValidationError(f"{where} is {_short(value)}; expected an object")
    hints = get_type_hints(kind)
    found = {}
    for each in dataclasses.fields(kind):
        if each.name in value:
            found[each.name] = _read(
                hints[each.name], value[each.name], f"{where}.{each.name}"
            )
        elif (
            each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING
        ):
            raise ValidationError(f"{where}.{each.name} is missing")
    return kind(**found)


def json_schema(kind: Any) -> dict[str, Any]:
    """Describe a record as a JSON schema, for servers that hold a reply to one.

    Parameters
    ----------
    kind : type
        A record of this package.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> json_schema(Claim)["properties"]
    {'claim': {'type': 'string'}, 'grounded': {'type': 'boolean'}}
    """
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        names = [each.name for each in dataclasses.fields(kind)]
        return {
            "type": "object",
            "properties": {name: json_schema(hints[name]) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    if get_origin(kind) is tuple:
        return {"type": "array", "items": json_schema(get_args(kind)[0])}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": [*get_args(kind)]}
    return {"type": {str: "string", bool: "boolean", int: "integer"}[kind]}


def load(kind: type[Record], path: str | Path) -> list[Record]:
    """Read a file of records: a JSON list, JSON Lines, or Parquet as released.

    Parameters
    ----------
    kind : type
        `Item` for pairs, `Match` for matches, `Verification`.
    path : str or Path
        Ends in .json, .jsonl or .parquet (which needs pyarrow).

    Raises
    ------
    ValidationError
        Naming the record (the first is 1) and the field that is not as it should be; or
        if the file is not JSON.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    path = Path(path)
    if path.suffix == ".json":
        try:
            rows = json.loads(path.read_text("utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValidationError(f"{path.name} is no JSON file: {error}") from None
    elif path.suffix == ".jsonl":
        rows = [row for _, row in json_objects(path)]
    elif path.suffix == ".parquet":
        rows = import_module("pyarrow.parquet").read_table(path).to_pylist()
    else:
        raise ValidationError(f"{path}: give a .json, .jsonl or .parquet file")
    return [read(kind, row, f"record {k}") for k, row in enumerate(rows, start=1)]


def save(records: Iterable[Any], path: str | Path) -> None:
    """Write records as one JSON list, as the released code does.

    Parameters
    ----------
    records : iterable
        Records of this module.
    path : str or Path
        The file; it replaces what was there only when it is complete.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([as_json(each) for each in records], indent=1, ensure_ascii=False)
    unfinished = path.with_suffix(path.suffix + ".part")
    unfinished.write_text(whole(text) + "\n", encoding="utf-8")
    unfinished.replace(path)


def _named(what: str, **names: str) -> None:
    for name, value in names.items():
        if not value.strip():
            raise ValidationError(f"the {name} of the {what} is empty")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
