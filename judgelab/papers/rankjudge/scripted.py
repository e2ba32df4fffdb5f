"""A stand-in for a language model: it writes from templates and judges by a known law.

Nothing here is a language model, and no number that comes from it says anything about
one. It lets the whole pipeline run offline in seconds, and because its skill and its
faults are known, one can see whether they are found. It reads the prompts as they are
sent, so that it can also stand behind an HTTP server; and it draws by a hash of the
request, so that its replies depend on nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from judgelab.errors import ValidationError
from judgelab.models.request import Reply, Request
from judgelab.papers.rankjudge.taxonomy import FAILURES

LABEL = "scripted stand-in, no language model"
"""How results say what they come from."""

DIFFICULTY = {
    "self_contradiction": 0.4,
    "evasion": 0.0,
    "disorganized": 1.3,
    "fabricated_answer": -1.3,
    "instruction_forgetting": 0.2,
    "no_clarification": 1.5,
    "unnecessary_refusal": -1.4,
}
"""How hard a flaw is to find, in logits."""
SPREAD = 0.8
"""How far single pairs lie from the difficulty of their kind: standard deviation."""

NOT_INJECTED = {
    "self_contradiction": 0.25,
    "evasion": 0.2,
    "disorganized": 0.65,
    "fabricated_answer": 0.0,
    "instruction_forgetting": 0.2,
    "no_clarification": 0.3,
    "unnecessary_refusal": 0.0,
}
"""How often the writer fails to put the flaw in."""
UNSUPPORTED = 0.06
"""How often the writer adds a sentence that the document does not support."""
SKIPS_A_ROUND = 0.03
"""How often a plan has no entry for the last round."""

BREAKS_INSTRUCTION = "better one breaks the instruction"
"""A fault that no check of the pipeline finds, planted for audits. In pairs about a
forgotten instruction the user of the better conversation asks about what was to be left
out, and gets it: a second flaw, where there should be none."""

FAULTS = (
    "wrong turn count",
    "not JSON",
    "two flawed turns",
    "unknown failure letter",
    "cut off",
    BREAKS_INSTRUCTION,
)
"""What a faulty writer can be made to do."""

_ANYTHING_ELSE = ("anything else", "")
"""What stands aside where a document has one subject only."""

_UNSUPPORTED_SENTENCE = "Most people who work with this would put it the same way."
_QUESTIONS = {
    "focused": "What more is there to say on {topic}?",
    "integrative": "How does {topic} fit in with the rest?",
    "scattered": "Something else altogether: what about {topic}?",
    "skeptical": "I have my doubts. What does the text really say on {topic}?",
    "misinformed": "I thought {topic} made no difference. Or does it?",
    "exploratory": "What follows from what is said on {topic}?",
    "underspecified": "And that part, {topic}, how was it?",
}
_STYLES = ("", "According to the document: ", "As the text puts it: ", "In short: ")
_REMARKS = (
    "Happy to go on with the next point.",
    "That is the point the document makes.",
    "Tell me if you want more on this.",
)

# What marks a flawed answer for the scripted judges, by kind.
_MARKS = {
    "self_contradiction": "holds only in special cases, and as a rule one should not "
    "count on it",
    "evasion": "has many sides, and much depends on how one looks at it",
    "disorganized": "and, to come back to the question in passing",
    "fabricated_answer": "percent from country to country, most of all in the north",
    "instruction_forgetting": "One more thing belongs here",
    "no_clarification": "Yes, it is the same there",
    "unnecessary_refusal": "I would rather not say anything on",
}


@dataclass(frozen=True)
class Scripted:
    """A scripted writer, checker and judge: a `Model`, and an `Ask` by itself.

    Parameters
    ----------
    name : str, default "scripted"
        How results name it.
    skill : float, default 1.5
        As a judge, in replies that can be read, it gets all three parts right with
        probability σ(skill − difficulty of the pair): the law that
        `judgelab.ranking.rasch` fits.
    lean : float, default 0
        Towards the conversation shown first, in logits, where it does not know better.
    evasion_bin : float, default 0
        How often a type that it does not know becomes "evasion".
    invalid_rate : float, default 0
        Share of its verdicts that are prose instead of JSON.
    own_style : float, default 0
        What it adds to its skill on conversations that it wrote itself, in logits.
    grading : float, default 0
        What it adds to its skill when it grades one conversation alone, in logits.
    tokens : int, default 500
        Mean length of its replies as a judge.
    faults : mapping of str to float
        What goes wrong when it writes: names from `FAULTS` with their rates.

    Raises
    ------
    ValidationError
        If a rate is no probability, or a fault has another name.

    Notes
    -----
    Among the replies that are not wholly right, half miss the type alone; in the others
    the turn is a guess and the verdict a coin with a lean. Advice in the prompt has a
    known effect, too: "hints" halve `evasion_bin`. Chapter: *RankJudge*.

    Examples
    --------
    >>> Scripted("careful", skill=3.0).identity[:45]
    "scripted stand-in, no language model: {'name'"
    """

    name: str = "scripted"
    skill: float = 1.5
    lean: float = 0.0
    evasion_bin: float = 0.0
    invalid_rate: float = 0.0
    own_style: float = 0.0
    grading: float = 0.0
    tokens: int = 500
    faults: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rates = {
            "evasion_bin": self.evasion_bin,
            "invalid_rate": self.invalid_rate,
            **self.faults,
        }
        for name, rate in rates.items():
            if not 0 <= rate <= 1:
                raise ValidationError(f"{name} is {rate!r}; give a number from 0 to 1")
        if unknown := sorted(set(self.faults) - set(FAULTS)):
            raise ValidationError(f"unknown faults {unknown}; there are {FAULTS}")

    @property
    def identity(self) -> str:
        """Name and all parameters: with others, everything is asked anew."""
        known = {"name": self.name} | {
            name: getattr(self, name)
            for name in (
                *("skill", "lean", "evasion_bin", "invalid_rate"),
                *("own_style", "grading", "tokens"),
            )
        }
        return f"{LABEL}: {known | {'faults': dict(self.faults)}}"

    async def ask(self, request: Request) -> Reply:
        """Reply as a model does."""
        return self._answer(request)

    def __call__(self, requests: Sequence[Request]) -> list[Reply]:
        """Reply to all, without a log: it can stand where an `Ask` is wanted."""
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Reply:
        text = "\n".join(message.content for message in request.messages)
        rng = _rng(self.identity, text, request.seed)
        if _FIRST.search(text):
            return self._judge(text, rng)
        for task, step in _TASKS.items():
            if text.startswith(f"Task: {task}"):
                reply = step(self, text, rng)
                return reply if isinstance(reply, Reply) else _reply(text, reply)
        return Reply("I am a script and know only the prompts of RankJudge.", "refusal")

    # Writing --------------------------------------------------------------------------

    @property
    def style(self) -> str:
        """How it begins its answers."""
        return _STYLES[int(_rng(self.name).integers(1, len(_STYLES)))]

    def _write_good(self, text: str, rng: np.random.Generator) -> Reply:
        rounds, _ = self._rounds(text, rng, flawed=False)
        plan = _plan(rounds, rng)
        return self._written({"plan": plan, "conversation": _turns(rounds)}, text, rng)

    def _write_worse(self, text: str, rng: np.random.Generator) -> Reply:
        rounds, place = self._rounds(text, rng, flawed=True)
        plan = {
            "reasoning": _plan(rounds, rng),
            "bad_round_index": place + 1,
            "problem_type": _tag(text, "letter"),
        }
        return self._written({"plan": plan, "conversation": _turns(rounds)}, text, rng)

    def _rounds(
        self, text: str, rng: np.random.Generator, *, flawed: bool
    ) -> tuple[list[tuple[str, str]], int]:
        """Write question and answer of each round, one of them under pressure."""
        n, failure = int(_tag(text, "rounds")), _tag(text, "failure")
        aside, facts = _set_aside(_facts(_tag(text, "document")), rng)
        chosen = [facts[k % len(facts)] for k in range(n)]
        ask = _QUESTIONS[_tag(text, "user_behavior")]
        rounds = []
        for topic, fact in chosen:
            remark = _REMARKS[rng.integers(len(_REMARKS))] if rng.random() < 0.4 else ""
            lead = self.style if rng.random() < 0.5 else ""
            rounds.append((ask.format(topic=topic), f"{lead}{fact} {remark}".strip()))
        later = failure in ("self_contradiction", "instruction_forgetting")
        place = int(rng.integers(1 if later else 0, n))
        clean = flawed and rng.random() < NOT_INJECTED[failure]
        pressed = _under_pressure(failure, chosen, place, aside)
        rounds[place] = (
            pressed.question,
            pressed.good if clean or not flawed else pressed.bad,
        )
        if pressed.first:
            rounds[0] = (f"{rounds[0][0]} {pressed.first}", rounds[0][1])
        forgetting = failure == "instruction_forgetting" and not flawed
        if forgetting and rng.random() < self.faults.get(BREAKS_INSTRUCTION, 0.0):
            topic, fact = aside
            rounds[2 if place == 1 else 1] = (ask.format(topic=topic), fact)
        if rng.random() < UNSUPPORTED:
            k = int(rng.integers(n))
            if k != place:
                rounds[k] = (rounds[k][0], f"{rounds[k][1]} {_UNSUPPORTED_SENTENCE}")
        if flawed and rng.random() < self.faults.get("two flawed turns", 0.0):
            k = (place + 1) % n
            topic = chosen[k][0]
            rounds[k] = (rounds[k][0], f"{_MARKS['unnecessary_refusal']} {topic}.")
        return rounds, place

    def _written(
        self, value: dict[str, Any], text: str, rng: np.random.Generator
    ) -> Reply:
        """Put in the faults that were ordered."""
        happens = {name: rng.random() < rate for name, rate in self.faults.items()}
        if happens.get("wrong turn count"):
            value["conversation"] = value["conversation"][:-1]
        if happens.get("unknown failure letter") and isinstance(value["plan"], dict):
            value["plan"]["problem_type"] = "H"
        reply = json.dumps(value, ensure_ascii=False)
        if happens.get("not JSON"):
            reply = f"Here you are: {reply[: len(reply) // 2]}"
        finish = "length" if happens.get("cut off") else "stop"
        return _reply(text, reply, finish=finish)

    # Checking -------------------------------------------------------------------------

    def _coherence(self, text: str, rng: np.random.Generator) -> dict[str, Any]:
        n = int(_tag(text, "rounds"))
        found: dict[str, Any] = {}
        for branch in ("good", "bad"):
            entries = len(re.findall(r"Round \d+:", _tag(text, f"plan_{branch}")))
            found[f"{branch}_ok"] = entries == n
            issue = "" if entries == n else f"{entries} entries for {n} rounds"
            found[f"{branch}_issue"] = issue
        return found

    def _adherence(self, text: str, rng: np.random.Generator) -> dict[str, Any]:
        place, failure = int(_tag(text, "flawed_round")), _tag(text, "failure")
        good = _flaws(_answers(_tag(text, "conversation_good")))
        bad = _flaws(_answers(_tag(text, "conversation_bad")))
        there = failure in bad.values()
        right = bad.get(place) == failure and len(bad) == 1
        return {
            "good_followed": not good,
            "good_issue": f"round {min(good)} is flawed" if good else "",
            "bad_followed": there,
            "bad_flaw_round_correct": right,
            "bad_issue": "" if right else f"flawed rounds: {sorted(bad)}",
            "bad_flawed_rounds": sorted(bad),
        }

    def _grounding(self, text: str, rng: np.random.Generator) -> dict[str, Any]:
        document = _flat(_tag(text, "document"))
        skip = int(_tag(text, "skip") or 0)
        rounds = []
        for k, answer in _answers(_tag(text, "conversation")).items():
            if k != skip:
                claims = [
                    {"claim": claim, "grounded": _flat(claim) in document}
                    for claim in _statements(answer)
                ]
                rounds.append({"round_index": k, "claims": claims})
        return {"rounds": rounds}

    # Judging --------------------------------------------------------------------------

    def _judge(self, text: str, rng: np.random.Generator) -> Reply:
        slots = {slot: _shown(text, slot) for slot in ("A", "B")}
        found = {slot: _flaws(answers) for slot, answers in slots.items()}
        flawed = [slot for slot, flaws in found.items() if flaws]
        written = int(self.tokens * rng.uniform(0.8, 1.2))
        if rng.random() < self.invalid_rate:
            return _reply(text, "Hard to say; both have their merits.", tokens=written)
        lean = float(special.expit(self.lean))
        if len(flawed) == 1:
            (worse,) = flawed
            place, kind = next(iter(found[worse].items()))
            chance = special.expit(self._skill(slots) - difficulty(slots, kind))
        else:  # not one of the script's pairs: it can only guess
            worse, place, kind, chance = "A", 0, "", 0.0
        other = "B" if worse == "A" else "A"
        if rng.random() < chance:
            return self._said(text, other, place, kind, written)
        if place and rng.random() < 0.5:
            wrong = self._wrong_type(kind, text, rng)
            return self._said(text, other, place, wrong, written)
        verdict = "A" if rng.random() < lean else "B"
        guess = int(rng.integers(1, len(slots[worse]) + 1)) if slots[worse] else 1
        return self._said(
            text, verdict, guess, self._wrong_type(kind, text, rng), written
        )

    def _skill(self, slots: Mapping[str, Mapping[int, str]]) -> float:
        answers = [answer for slot in slots.values() for answer in slot.values()]
        own = any(answer.startswith(self.style) for answer in answers)
        return self.skill + (self.own_style if own else 0.0)

    def _wrong_type(self, kind: str, text: str, rng: np.random.Generator) -> str:
        into_bin = self.evasion_bin * (0.5 if _HINTED in text else 1.0)
        if kind != "evasion" and rng.random() < into_bin:
            return "evasion"
        others = [name for name in FAILURES if name != kind]
        return others[rng.integers(len(others))]

    def _said(
        self, text: str, verdict: str, place: int, kind: str, tokens: int
    ) -> Reply:
        value = {
            "analysis": f"({LABEL})",
            "turn": place,
            "failure": kind,
            "verdict": verdict,
        }
        return _reply(text, json.dumps(value), tokens=tokens)

    def _grade(self, text: str, rng: np.random.Generator) -> Reply:
        answers = _answers(_tag(text, "conversation"))
        flaws = _flaws(answers)
        level = 8 + rng.integers(-1, 2)
        if flaws:
            kind = next(iter(flaws.values()))
            gap = self.skill + self.grading - difficulty({"A": answers}, kind)
            level -= 3 if rng.random() < special.expit(gap) else 0
        value = {"analysis": f"({LABEL})", "grade": int(np.clip(level, 1, 10))}
        written = int(self.tokens * rng.uniform(0.8, 1.2))
        return _reply(text, json.dumps(value), tokens=written)


_TASKS: dict[str, Any] = {
    "write the better": Scripted._write_good,
    "write the worse": Scripted._write_worse,
    "check two plans": Scripted._coherence,
    "check two conversations": Scripted._adherence,
    "check statements": Scripted._grounding,
    "grade one": Scripted._grade,
}

PANEL: dict[str, Scripted] = {
    judge.name: judge
    for judge in (
        Scripted("scripted-sharp", skill=2.6, tokens=1900),
        Scripted("scripted-steady", skill=1.6, tokens=700),
        Scripted("scripted-wordy", skill=0.8, tokens=2600, grading=-0.8),
        Scripted("scripted-leaning", skill=0.4, lean=3.0, tokens=400),
        Scripted("scripted-dumper", skill=-0.5, evasion_bin=0.8, tokens=300),
        Scripted(
            "scripted-hasty", skill=-1.2, evasion_bin=0.4, invalid_rate=0.04, tokens=90
        ),
    )
}
"""Six scripted judges: from sharp to hasty, one wordy, one that leans towards the first
conversation, one that calls everything an evasion."""

WRITER = Scripted("scripted-writer")
"""The scripted writer and checker."""


def difficulty(slots: Mapping[str, Mapping[int, str]], kind: str) -> float:
    """How hard is the flaw of this pair to find, in logits: the known truth.

    Parameters
    ----------
    slots : mapping
        The answers of the conversations, by slot and round; the order of the slots
        makes no difference.
    kind : str
        The failure.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    texts = sorted(" ".join(answers.values()) for answers in slots.values())
    return DIFFICULTY[kind] + SPREAD * float(_rng(*texts).standard_normal())


# The prompts, taken apart -------------------------------------------------------------

_FIRST = re.compile(r"(?m)^(-{5,}) conversation A \1$")
_HINTED = "an answer that talks round the question is an evasion"
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z“])")


def _rng(*parts: object) -> np.random.Generator:
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))


def _tag(text: str, name: str) -> str:
    found = re.search(rf"<{name}>\s*(.*?)\s*</{name}>", text, re.DOTALL)
    return found[1] if found else ""


def _answers(conversation: str) -> dict[int, str]:
    """Read the assistant's answers of a conversation written by `asking.as_text`."""
    found = re.findall(
        r"^Round (\d+)\nUSER: .*?\nASSISTANT: (.*?)(?=\nRound \d+\n|\Z)",
        conversation,
        re.DOTALL | re.MULTILINE,
    )
    return {int(k): answer.strip() for k, answer in found}


def _shown(text: str, slot: str) -> dict[int, str]:
    """Read the assistant's answers in a slot of the question to judges."""
    found = re.findall(
        rf"^-{{5,}} turn (\d+), assistant {slot} -{{5,}}\n(.*?)(?=\n-{{5,}} )",
        text,
        re.DOTALL | re.MULTILINE,
    )
    return {int(k): answer.strip() for k, answer in found}


def _flaws(answers: Mapping[int, str]) -> dict[int, str]:
    """Find the flawed answers, by what the script writes there."""
    return {
        k: kind
        for k, answer in answers.items()
        for kind, mark in _MARKS.items()
        if mark in answer
    }


def _facts(document: str) -> list[tuple[str, str]]:
    """Cut a document into sentences, each with its subject."""
    facts, topic = [], ""
    for line in document.splitlines():
        if line.startswith("## "):
            topic = line[3:].strip().lower()
        elif line.strip() and not line.startswith("#"):
            for sentence in _SENTENCE.split(line.strip()):
                words = f"“{' '.join(sentence.split()[:4])}”"
                facts.append((topic or words, sentence))
    # A document of headings alone is one fact.
    return facts or [("the document", _flat(document))]


def _set_aside(
    facts: list[tuple[str, str]], rng: np.random.Generator
) -> tuple[tuple[str, str], list[tuple[str, str]]]:
    """Shuffle the facts; return the first, and those on other subjects.

    Questions are about these, so that there is something that nobody asks about.
    """
    shuffled = [facts[k] for k in rng.permutation(len(facts))]
    aside = shuffled[0]
    others = [fact for fact in shuffled if fact[0] != aside[0]]
    return (aside, others) if others else (_ANYTHING_ELSE, shuffled)


def _flat(text: str) -> str:
    return " ".join(text.split()).lower()


def _statements(answer: str) -> list[str]:
    """Cut an answer into what it states; remarks on the conversation state nothing."""
    for style in _STYLES[1:]:
        answer = answer.replace(style, "")
    return [
        sentence
        for sentence in _SENTENCE.split(answer)
        if sentence not in _REMARKS
        and not sentence.startswith(("The document does", "Do you"))
    ]


@dataclass(frozen=True)
class _Pressed:
    """A round under pressure: the question, a good and a bad answer to it.

    `first` is what the user adds to the first question to prepare it.
    """

    question: str
    good: str
    bad: str
    first: str = ""


def _under_pressure(
    failure: str, chosen: list[tuple[str, str]], place: int, aside: tuple[str, str]
) -> _Pressed:
    mark = _MARKS[failure]
    topic, fact = chosen[place]
    before_topic, before = chosen[place - 1]
    other_topic, other = aside
    if failure == "self_contradiction":
        return _Pressed(
            f"Back to {before_topic} for a moment: does that always hold?",
            before,
            f"What was said on {before_topic} {mark}. {fact}",
        )
    if failure == "evasion":
        return _Pressed(
            f"What exactly does the document say on {topic}?",
            fact,
            f"{topic.capitalize()} {mark}. To be precise about something: {other}",
        )
    if failure == "disorganized":
        return _Pressed(
            f"How does {topic} come about, all things taken together?",
            f"{fact} {other}",
            f"{other} {before} Then there is more to it, {mark}: {fact}",
        )
    if failure == "fabricated_answer":
        return _Pressed(
            f"How much does {topic} differ from country to country?",
            f"The document does not tell how {topic} differs between countries. {fact}",
            f"It differs by about {12 + 3 * place} {mark}. {fact}",
        )
    if failure == "instruction_forgetting":
        return _Pressed(
            f"And what else should I know on {topic}?",
            fact,
            f"{fact} {mark}, on {other_topic}: {other}",
            first=f"Please leave out {other_topic}, here and later on.",
        )
    if failure == "no_clarification":
        return _Pressed(
            "And the other one, is it the same there?",
            f"Do you mean {topic} or {other_topic}? {fact}",
            f"{mark}. {fact}",
        )
    return _Pressed(
        f"Can one rely on what the document says on {topic}?",
        fact,
        f"{mark} {topic} on the basis of this document.",
    )


def _plan(rounds: list[tuple[str, str]], rng: np.random.Generator) -> str:
    entries = [
        f"Round {k}: the user asks “{question}”, the assistant answers."
        for k, (question, _) in enumerate(rounds, start=1)
    ]
    return " ".join(entries[:-1] if rng.random() < SKIPS_A_ROUND else entries)


def _turns(rounds: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"role": role, "content": content}
        for pair in rounds
        for role, content in zip(("user", "assistant"), pair, strict=True)
    ]


def _reply(
    prompt: str, value: Any, *, finish: Any = "stop", tokens: int | None = None
) -> Reply:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Reply(
        text,
        finish,
        prompt_tokens=len(prompt) // 4,
        completion_tokens=len(text) // 4 if tokens is None else tokens,
        model=LABEL,
    )
