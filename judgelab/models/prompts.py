"""Prompts for judges: named, versioned templates, each one Jinja file.

The prompts that come with the package, all in our own words:

=================  ======  ========================================================
name               form    what it asks
=================  ======  ========================================================
pairwise           bare    which of two answers is better, A or B
pairwise-tie       bare    the same; C if neither is better
pairwise-json      JSON    the same, with the reasons first, as one JSON object
few-shot           bare    as pairwise, after four solved examples (A, B, B, A)
chain-of-thought   marked  as pairwise-tie, after comparing step by step
solve-first        marked  as pairwise-tie, after answering the question oneself
reference          bare    as pairwise-tie, with a correct answer to compare with
multi-turn         bare    as pairwise-tie, for two whole conversations in one prompt
side-by-side       bare    A, B, C (both good) or D (both bad)
grade              bare    a grade from 1 to 10 for one answer
grade-9            bare    a grade from 1 to 9: one token, for log-probabilities
relevance          bare    how relevant a document is to a query, 0 to 3
rankjudge          JSON    two conversations on one document: the better one, and turn
                           and kind of the failure in the other
=================  ======  ========================================================

The form is how the label comes back, see `judgelab.models.parse`.

A template begins with front matter between two lines of three dashes, in YAML:

``version``
    A number of the author's choice.
``about``
    One line on what it asks.
``form``
    ``bare``, ``marked`` or ``json``.
``labels``
    Each label and what it stands for: A, B, TIE; or A, B, BOTH_GOOD, BOTH_BAD; or
    numbers. ``grades: [1, 10]`` instead stands for the whole numbers 1 to 10.
``conversations``
    Names of the fields that are whole conversations; the others are text.
``properties``
    For the form ``json``: the JSON schema of each field of the reply, ``verdict`` among
    them, in the order in which the model shall write.

Then come the blocks ``system``, ``user`` and, for solved examples before the question,
``user_1``, ``assistant_1`` and so on: one message each, in the order of the file.
Without any block the whole text is the user's message. What stands in double braces is
a field of the item.

What the two candidates of a pair gave are fields named alike but for ``_a`` and ``_b``
at the end; they change places in the other order.

What candidates wrote is inserted as data, after the template was read: braces in it do
nothing. And ``{{ fence }}`` gives a row of dashes longer than any in the fields, so
that no answer can end its own frame.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import yaml
from jinja2 import StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from judgelab.errors import ValidationError
from judgelab.models.parse import (
    Meaning,
    Parsed,
    check_labels,
    parse_json,
    parse_label,
)
from judgelab.models.request import Message, Reply
from judgelab.verdict import SideBySide, Verdict

Form = Literal["bare", "marked", "json"]
"""How the label comes back: alone, at the end in double brackets, in a JSON object."""

_SHIPPED = (
    "pairwise",
    "pairwise-tie",
    "pairwise-json",
    "few-shot",
    "chain-of-thought",
    "solve-first",
    "reference",
    "multi-turn",
    "side-by-side",
    "grade",
    "grade-9",
    "relevance",
    "rankjudge",
)

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?\n)---[ \t]*\r?\n", re.S)
_RENDERING = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)
"""What the expressions of a template can go wrong with."""

_KEYS = ("version", "about", "form", "labels", "grades", "conversations", "properties")
_FENCE = "fence"
_SHORTEST_FENCE = 5
_SHOWN = 200

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)


@dataclass(frozen=True)
class Prompt:
    r"""A question to a judge with places for the item, and how its reply is read.

    Parameters
    ----------
    name : str
        Under which it is known, such as ``"pairwise"``.
    text : str
        The template with its front matter, as described at the top of this module.

    Raises
    ------
    ValidationError
        If the front matter or the template is wrong; the message says where.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> mine = Prompt("mine", '''---
    ... version: 1
    ... labels: {CORRECT: 1, INCORRECT: 0}
    ... ---
    ... Is it true that {{ claim }}? Reply CORRECT or INCORRECT.''')
    >>> mine.messages(claim="7 + 5 = 12")[0].content
    'Is it true that 7 + 5 = 12? Reply CORRECT or INCORRECT.'
    >>> mine.parse(Reply("Incorrect.")).value
    0.0
    """

    name: str
    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValidationError("a prompt needs a name")
        check_labels(self.labels)
        _ = self.schema, self._template
        graded = all(isinstance(x, float) for x in self.labels.values())
        if graded == bool(self.slots):
            raise self._error(
                "labels that are verdicts need two fields to choose between, named "
                "alike but for _a and _b at the end (answer_a and answer_b); grades "
                f"have none; the fields are {', '.join(self.fields) or 'none'}"
            )

    def __reduce__(self) -> tuple[type[Prompt], tuple[str, str]]:
        # A compiled template does not travel to other processes; its text does.
        return Prompt, (self.name, self.text)

    @property
    def version(self) -> str:
        """The stated number and a hash of the text: a change is another prompt."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return f"{self._front['version']}-{digest[:8]}"

    @property
    def about(self) -> str:
        """What it asks, in one line."""
        return str(self._front.get("about", ""))

    @property
    def form(self) -> Form:
        """How the label comes back."""
        form: Form = self._front.get("form", "bare")
        return form

    @cached_property
    def labels(self) -> Mapping[str, Meaning]:
        """Each label of a reply and what it stands for."""
        if ("labels" in self._front) == ("grades" in self._front):
            raise self._error("give either labels or grades")
        if "grades" in self._front:
            match self._front["grades"]:
                case [int(low), int(high)] if low < high:
                    return {str(grade): float(grade) for grade in range(low, high + 1)}
            raise self._error("grades are [lowest, highest], two whole numbers")
        given = self._front["labels"]
        if not isinstance(given, dict) or len(given) < 2:
            raise self._error("labels map two or more labels to what they stand for")
        if any(isinstance(x, bool) for pair in given.items() for x in pair):
            raise self._error("YAML reads yes, no, on and off as true or false; quote")
        return _meanings(given, self._error)

    @cached_property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON schema of the reply; None if the form is not JSON."""
        properties = self._front.get("properties") or {}
        if not isinstance(properties, dict):
            raise self._error("properties map each field of the reply to its schema")
        if self.form != "json":
            if properties:
                raise self._error("properties belong to the form json")
            return None
        for name, wanted in properties.items():
            kind = wanted.get("type") if isinstance(wanted, dict) else None
            if kind not in ("string", "integer"):
                raise self._error(f"property {name!r} needs type string or integer")
        if "verdict" not in properties:
            raise self._error("the form json needs properties, verdict among them")
        if set(properties["verdict"].get("enum", self.labels)) != set(self.labels):
            raise self._error("the enum of verdict is not the list of the labels")
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """What an item must have, in alphabetical order."""
        used = meta.find_undeclared_variables(self._tree) - {_FENCE}
        if unused := sorted(set(self._conversations) - used):
            raise self._error(f"the template does not use the conversations {unused}")
        return tuple(sorted(used))

    @property
    def slots(self) -> tuple[tuple[str, str], ...]:
        """The pairs of fields that change places in the other order; empty for grades.

        Examples
        --------
        >>> find_prompt("pairwise").slots, find_prompt("grade").slots
        ((('answer_a', 'answer_b'),), ())
        """
        stems = [name[:-2] for name in self.fields if name.endswith("_a")]
        return tuple((f"{x}_a", f"{x}_b") for x in stems if f"{x}_b" in self.fields)

    def swapped(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Show the two candidates in exchanged slots.

        Examples
        --------
        >>> find_prompt("pairwise").swapped({"answer_a": "x", "answer_b": "y"})
        {'answer_a': 'y', 'answer_b': 'x'}
        """
        turned = dict(fields)
        for a, b in self.slots:
            turned[a], turned[b] = fields[b], fields[a]
        return turned

    def messages(self, /, **fields: Any) -> tuple[Message, ...]:
        """Fill in one item.

        Parameters
        ----------
        **fields : str or sequence
            One for each of `fields`: a text, or for a conversation its messages
            (`Message`, or mappings with role and content), user and assistant in turn.

        Returns
        -------
        tuple of Message
            Ending with a message of the user.

        Raises
        ------
        ValidationError
            If a field is missing, unknown, or not what the template takes.

        Examples
        --------
        >>> asked = find_prompt("grade").messages(question="2 + 2?", answer="{{ 4 }}")
        >>> [message.role for message in asked], "{{ 4 }}" in asked[-1].content
        (['system', 'user'], True)
        >>> find_prompt("grade").messages(question="2 + 2?")
        Traceback (most recent call last):
          ...
        judgelab.errors.ValidationError: prompt 'grade': missing: answer; it takes
        answer, question
        """
        values = self._checked(fields)
        messages = []
        for name, render in (self._template.blocks or {"user": self._whole}).items():
            try:
                content = "".join(render(self._template.new_context(values)))
            except _RENDERING as error:
                raise self._error(f"{name} cannot be filled in: {error}") from None
            role: Any = name.partition("_")[0]
            messages.append(Message(role, content.strip("\n")))
        return tuple(messages)

    def parse(self, reply: Reply) -> Parsed:
        """Read a reply in the form that this prompt asks for.

        Examples
        --------
        >>> find_prompt("grade").parse(Reply("7/10")).value
        7.0
        >>> find_prompt("grade").parse(Reply("11")).reason
        <Reason.OUTSIDE: 'outside the scale'>
        """
        if self.schema is not None:
            return parse_json(reply, self.schema, self.labels)
        return parse_label(reply, self.labels, marked=self.form == "marked")

    @property
    def _whole(self) -> Any:
        return self._template.root_render_func

    @cached_property
    def _parts(self) -> tuple[dict[str, Any], str]:
        """Front matter and body."""
        match = _FRONT.match(self.text)
        if not match:
            raise self._error(
                "it must begin with front matter between two lines of three dashes, "
                "with version and labels at least"
            )
        try:
            front = yaml.safe_load(match[1])
        except yaml.YAMLError as error:
            raise self._error(f"the front matter is no YAML: {error}") from None
        if not isinstance(front, dict):
            raise self._error("the front matter must be a mapping with version, labels")
        if unknown := [key for key in front if key not in _KEYS]:
            raise self._error(f"front matter has {unknown}; known are {list(_KEYS)}")
        if type(front.get("version")) is not int:
            raise self._error("version must be a whole number")
        if front.get("form", "bare") not in get_args(Form):
            raise self._error(f"form {front['form']!r} is none of {get_args(Form)}")
        return front, self.text[match.end() :]

    @property
    def _front(self) -> dict[str, Any]:
        return self._parts[0]

    @property
    def _conversations(self) -> Sequence[str]:
        names: Sequence[str] = self._front.get("conversations", [])
        return names

    @cached_property
    def _tree(self) -> nodes.Template:
        try:
            tree = _ENVIRONMENT.parse(self._parts[1])
        except TemplateError as error:
            line = getattr(error, "lineno", 0) + self.text.count("\n")
            line -= self._parts[1].count("\n")
            raise self._error(f"line {line}: {error}") from None
        outside = (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)
        if any(tree.find_all(outside)):
            raise self._error("a prompt is one file: no include, import or extends")
        self._check_blocks(tree)
        return tree

    def _check_blocks(self, tree: nodes.Template) -> None:
        blocks = [node for node in tree.body if isinstance(node, nodes.Block)]
        if len(blocks) < len(list(tree.find_all(nodes.Block))):
            raise self._error("a block inside another would not be a message")
        if not blocks:
            return
        between = [node for node in tree.body if not isinstance(node, nodes.Block)]
        if any(_says_something(node) for node in between):
            raise self._error("text outside the blocks would never be sent")
        roles = [block.name.partition("_")[0] for block in blocks]
        turns = roles[1:] if roles[0] == "system" else roles
        if turns != ["user", "assistant"] * (len(turns) // 2) + ["user"]:
            raise self._error(
                f"the blocks are {[block.name for block in blocks]}; expected system "
                "(or not), then user and assistant in turn, user at the end"
            )

    @cached_property
    def _template(self) -> Template:
        template: Template = _ENVIRONMENT.from_string(self._tree)
        return template

    def _error(self, message: str) -> ValidationError:
        return ValidationError(f"prompt {self.name!r}: {message}")

    def _checked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values for the template, or say what is wrong with the fields."""
        takes = f"; it takes {', '.join(self.fields)}"
        if missing := [name for name in self.fields if name not in fields]:
            raise self._error(f"missing: {', '.join(missing)}{takes}")
        if unknown := [name for name in fields if name not in self.fields]:
            raise self._error(f"unknown: {', '.join(unknown)}{takes}")
        values: dict[str, Any] = {}
        for name, value in fields.items():
            if name in self._conversations:
                values[name] = self._turns(name, value)
            elif isinstance(value, str):
                values[name] = value
            else:
                raise self._error(f"{name} is {_short(value)}, not a text")
        return {**values, _FENCE: _fence(values)}

    def _turns(self, name: str, value: Any) -> list[dict[str, str]]:
        messages = [
            (one.role, one.content)
            if isinstance(one, Message)
            else (one["role"], one["content"])
            for one in (value if _is_conversation(value) else [])
        ]
        roles = [role for role, _ in messages]
        if not roles or roles != ["user", "assistant"] * (len(roles) // 2):
            raise self._error(
                f"{name} must be messages with role and content, user and assistant "
                f"in turn, ending with the assistant; got {_short(roles or value)}"
            )
        texts = [content for _, content in messages]
        if wrong := [text for text in texts if not isinstance(text, str)]:
            raise self._error(f"{name} has the content {_short(wrong[0])}, not a text")
        pairs = zip(texts[::2], texts[1::2], strict=True)
        return [{"user": user, "assistant": reply} for user, reply in pairs]


def find_prompt(prompt: Prompt | str | Path) -> Prompt:
    """Return the prompt of that name, the one in that file, or the prompt itself.

    Parameters
    ----------
    prompt : Prompt, str or pathlib.Path
        A name from `prompts`, or the path of a template of your own, which gets the
        name of the file without its ending.

    Raises
    ------
    ValidationError
        If there is neither, or the template is wrong.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> find_prompt("relevance").fields
    ('document', 'query')
    >>> find_prompt("pairwize")
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: no prompt and no file 'pairwize'; did you mean
    'pairwise'? There are: pairwise, pairwise-tie, ...
    """
    if isinstance(prompt, Prompt):
        return prompt
    if str(prompt) in prompts():
        return prompts()[str(prompt)]
    path = Path(prompt)
    if path.is_file():
        return Prompt(path.stem, path.read_text("utf-8"))
    close = difflib.get_close_matches(str(prompt), prompts(), n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise ValidationError(
        f"no prompt and no file {str(prompt)!r}; {meant}There are: "
        f"{', '.join(prompts())}"
    )


@cache
def prompts() -> Mapping[str, Prompt]:
    """Which prompts come with the package?

    Returns
    -------
    mapping of str to Prompt
        By name, in the order of the table at the top of this module.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> prompts()["few-shot"].about
    'Which of two answers is better, A or B, after four solved examples?'
    """
    folder = resources.files("judgelab.models") / "templates"
    texts = {name: folder / f"{name}.jinja" for name in _SHIPPED}
    return MappingProxyType(
        {name: Prompt(name, file.read_text("utf-8")) for name, file in texts.items()}
    )


def _meanings(
    given: Mapping[Any, Any], error: Callable[[str], ValidationError]
) -> dict[str, Meaning]:
    meant = list(given.values())
    if all(isinstance(x, int | float) and math.isfinite(x) for x in meant):
        return {str(label): float(x) for label, x in given.items()}
    four = {SideBySide.BOTH_GOOD.name, SideBySide.BOTH_BAD.name}
    kind = SideBySide if four & set(map(str, meant)) else Verdict
    words = [x.name for x in kind if x.name not in ("INVALID", "MISSING")]
    if unknown := [x for x in meant if x not in words]:
        raise error(f"labels stand for {unknown}; choose from {words}, or numbers")
    return {str(label): kind[str(x)] for label, x in given.items()}


def _says_something(node: nodes.Node) -> bool:
    if not isinstance(node, nodes.Output):
        return True
    return any(
        not isinstance(part, nodes.TemplateData) or bool(part.data.strip())
        for part in node.nodes
    )


def _is_conversation(value: Any) -> bool:
    return isinstance(value, Sequence) and all(
        isinstance(one, Message)
        or (isinstance(one, Mapping) and {"role", "content"} <= one.keys())
        for one in value
    )


def _fence(values: Mapping[str, Any]) -> str:
    """Make a row of dashes longer than any in the fields."""
    longest = _SHORTEST_FENCE - 1
    for value in values.values():
        turns = [{"text": value}] if isinstance(value, str) else value
        for text in (text for turn in turns for text in turn.values()):
            longest = max([longest, *map(len, re.findall("-+", text))])
    return "-" * (longest + 1)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
