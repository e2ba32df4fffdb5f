"""Exercises: shown from one YAML source, checked on the spot, hints for known mistakes.

The fields of an exercise say what kind it is: `choices` make it a choice, `cases` a
function that the reader writes, a bare `answer` a number, and none of them free text.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from judgelab.errors import ValidationError
from judgelab.teach.content import Shown, chapter, inline, load, markdown

Exercise = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Feedback:
    """What `check` says: right or not (`None`: for you to judge), and why.

    Examples
    --------
    >>> Feedback(False, "That is the raw agreement.")
    ✗ Not yet. That is the raw agreement.
    """

    right: bool | None
    text: str

    @property
    def sentence(self) -> str:
        """The mark, the verdict and the explanation, in Markdown."""
        mark = {True: "✓ Right.", False: "✗ Not yet.", None: "…"}[self.right]
        return f"{mark} {self.text}".strip()

    def __repr__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return markdown(self.sentence)


def exercises(name: str) -> list[Exercise]:
    """List the exercises of a chapter, in order."""
    chapter(name)
    listed: list[Exercise] = load(f"exercises/{name}").get("exercises", [])
    return listed


def find(number: str) -> Exercise:
    """Look an exercise up by its number, such as ``"1.2"``.

    Raises
    ------
    ValidationError
        If there is none; the message lists the numbers that there are.
    """
    every = {e["id"]: e for c in load("chapters") for e in exercises(c["name"])}
    if number not in every:
        raise ValidationError(
            f"there is no exercise {number!r}; there are {', '.join(every) or 'none'}"
        )
    return every[number]


def kind(exercise: Exercise) -> str:
    """Tell a number, a choice, a function and free text apart.

    Examples
    --------
    >>> kind({"answer": 0.5}), kind({"choices": {}, "answer": "b"}), kind({})
    ('number', 'choice', 'text')
    """
    if "choices" in exercise:
        return "choice"
    if "cases" in exercise:
        return "function"
    return "number" if "answer" in exercise else "text"


def check(number: str, answer: Any) -> Feedback:
    """Is this answer right, and if not, which mistake is it?

    Parameters
    ----------
    number : str
        The exercise, such as ``"1.2"``.
    answer : float, Estimate, str or callable
        A number, the letter of a choice, a function, or a text, as the exercise asks.
        With ``...`` still in its place nothing is checked.

    Returns
    -------
    Feedback
        Whether the answer is right, and the hint that fits the mistake.

    Raises
    ------
    ValidationError
        If there is no such exercise, or the answer is not of the kind it asks for.

    Examples
    --------
    >>> check("1.1", ...)
    … Put your answer in place of the dots and run the cell again.
    """
    exercise = find(number)
    if answer is ...:
        return Feedback(
            None, "Put your answer in place of the dots and run the cell again."
        )
    return _CHECKS[kind(exercise)](exercise, answer)


def _check_number(exercise: Exercise, answer: Any) -> Feedback:
    try:
        value = float(answer)
    except (TypeError, ValueError):
        raise ValidationError(
            f"exercise {exercise['id']} asks for a number, got {answer!r}"
        ) from None
    if not np.isfinite(value):
        raise ValidationError(f"exercise {exercise['id']}: {value} is no number")
    return _look_up(exercise, rounded(value, _decimals(exercise)))


def _check_choice(exercise: Exercise, answer: Any) -> Feedback:
    if answer not in exercise["choices"]:
        letters = ", ".join(exercise["choices"])
        raise ValidationError(
            f"exercise {exercise['id']} asks for one of {letters}, got {answer!r}"
        )
    return _look_up(exercise, answer)


def _look_up(exercise: Exercise, answer: str) -> Feedback:
    return dict(known_answers(exercise)).get(answer, _otherwise(exercise))


def _otherwise(exercise: Exercise) -> Feedback:
    return Feedback(False, exercise.get("otherwise", "").strip())


def _check_function(exercise: Exercise, answer: Any) -> Feedback:
    if not callable(answer):
        raise ValidationError(
            f"exercise {exercise['id']} asks for the function itself, got {answer!r}"
        )
    cases, results = exercise["cases"], []
    for case in cases:
        try:
            results.append(answer(*case))
        except Exception as error:  # whatever the reader's code does
            return Feedback(
                False, f"On {case} it raised {type(error).__name__}: {error}"
            )
    if _same(results, exercise["answers"]):
        return Feedback(True, f"It holds on all {len(cases)} hidden cases.")
    for hint in exercise.get("hints", ()):
        mistake = defined(hint["when"], exercise["function"])
        if _same(results, [mistake(*case) for case in cases]):
            return Feedback(False, hint["say"].strip())
    pairs = zip(cases, results, exercise["answers"], strict=True)
    case, got = next((c, r) for c, r, a in pairs if not _same([r], [a]))
    return Feedback(
        False, f"On {case} it returned {got!r}. {exercise.get('otherwise', '')}".strip()
    )


def _check_text(exercise: Exercise, answer: Any) -> Feedback:
    if not isinstance(answer, str):
        raise ValidationError(
            f"exercise {exercise['id']} asks for a text, got {answer!r}"
        )
    points = "\n".join(f"- {point}" for point in exercise["points"])
    return Feedback(None, f"A full answer makes these points. Does yours?\n\n{points}")


_CHECKS: dict[str, Callable[[Exercise, Any], Feedback]] = {
    "number": _check_number,
    "choice": _check_choice,
    "function": _check_function,
    "text": _check_text,
}


def rounded(value: float, decimals: int) -> str:
    """Write a number as the page's script writes it: halves away from zero, no −0.

    Examples
    --------
    >>> rounded(0.125, 2), rounded(-0.001, 2), rounded(15, 0)
    ('0.13', '0.00', '15')
    """
    grid = Decimal(1).scaleb(-decimals)
    # Adding zero turns −0.00 into 0.00.
    return str(Decimal(value).quantize(grid, ROUND_HALF_UP) + Decimal(0) * grid)


def known_answers(exercise: Exercise) -> Iterator[tuple[str, Feedback]]:
    """Yield every answer that has a reply of its own: the wrong ones, then the right.

    A later entry wins, so that no hint can shadow the answer. Only numbers and choices
    have a list of answers.
    """
    decimals = _decimals(exercise)
    answer = exercise["answer"]
    if kind(exercise) == "choice":
        for hint in exercise["hints"]:
            yield hint["when"], Feedback(False, hint["say"].strip())
        yield answer, Feedback(True, exercise.get("praise", ""))
        return
    if exercise.get("unit") == "share":
        yield (
            rounded(100 * answer, decimals),
            Feedback(False, "That is in percent; the answer is wanted as a share."),
        )
    for hint in exercise.get("hints", ()):
        yield rounded(hint["when"], decimals), Feedback(False, hint["say"].strip())
    steps = round(exercise.get("within", 0) * 10**decimals)
    for step in range(-steps, steps + 1):
        near = answer + step / 10**decimals
        yield rounded(near, decimals), Feedback(True, exercise.get("praise", ""))


def _same(results: list[Any], expected: list[Any]) -> bool:
    try:
        return np.allclose(
            np.asarray(results, float),
            np.asarray(expected, float),
            rtol=1e-6,
            equal_nan=True,
        )
    except (TypeError, ValueError):  # words, or shapes that differ
        return results == expected


def run(code: str, names: dict[str, Any] | None = None) -> Any:
    """Run a cell of an exercise and return the value of its last line, if it has one.

    Examples
    --------
    >>> run("x = 2; x + 1")
    3
    """
    names = namespace() if names is None else names
    *body, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        exec(code, names)
        return None
    exec(compile(ast.Module(body, []), "<exercise>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<exercise>", "eval"), names)


def namespace() -> dict[str, Any]:
    """Give the names that an exercise's cells may use without importing them."""
    import pandas as pd

    import judgelab
    from judgelab import teach

    return {"np": np, "pd": pd, "jl": judgelab, "teach": teach}


def defined(code: str, function: str) -> Callable[..., Any]:
    """Run a program and return the function that it defines."""
    names = namespace()
    run(code, names)
    found: Callable[..., Any] = names[function]
    return found


def solution_cells(exercise: Exercise) -> list[str]:
    """Return the Python cells of a solution, in order."""
    return re.findall(r"```python\n(.*?)```", exercise["solution"], re.DOTALL)


def exercise(number: str) -> Shown:
    """Show the statement of an exercise.

    Examples
    --------
    >>> exercise("1.1")
    Exercise 1.1...
    """
    found = find(number)
    how = inline(f'Check: `teach.check("{number}", your_answer)`')
    text = f"{_heading(found)}\n\n{found['statement'].strip()}"
    return Shown(_framed(found, f'<p class="jl-how">{how}</p>'), text)


def for_page(number: str, edition: str) -> str:
    """Make an exercise for the book: checking, blank, or with its solution.

    Parameters
    ----------
    number : str
        The exercise.
    edition : {"reader", "student", "instructor"}
        The reader's page checks numbers and choices by itself; the student's leaves
        room for an answer; the instructor's adds solution and known wrong answers.
    """
    found = find(number)
    if edition == "student":
        return _framed(found, '<p class="jl-blank">Your answer:</p>')
    form = (
        _form(found) if kind(found) in ("number", "choice") else _notebook_only(found)
    )
    return _framed(found, form + (_key(found) if edition == "instructor" else ""))


def _heading(exercise: Exercise) -> str:
    return f"Exercise {exercise['id']} · {exercise['title']}"


def _framed(exercise: Exercise, below: str) -> str:
    number, level = exercise["id"], exercise["level"]
    choices = "".join(
        f"<li><strong>{letter}</strong> {inline(text)}</li>"
        for letter, text in exercise.get("choices", {}).items()
    )
    return (
        f'<div class="jl-exercise mathjax_process" data-exercise="{number}">'
        f'<p class="jl-exercise-title">'
        f"<strong>{html.escape(_heading(exercise))}</strong> "
        f"<small>({level}, {exercise['minutes']} min)</small></p>"
        f"{markdown(exercise['statement'])}"
        f"{f'<ul class=jl-choices>{choices}</ul>' if choices else ''}{below}</div>"
    )


def _form(exercise: Exercise) -> str:
    number = exercise["id"]
    if kind(exercise) == "choice":
        asked = '<span class="jl-options" role="radiogroup" '
        asked += f'aria-label="Your answer to exercise {number}">'
        asked += "".join(
            f'<label><input type="radio" name="x{number}" value="{c}"> {c}</label>'
            for c in exercise["choices"]
        )
        asked += "</span>"
    else:
        unit: str = exercise.get("unit", "")
        if unit == "share":
            unit = "as a share, between 0 and 1"
        asked = (
            f'<label><span>Your answer<span class="jl-unseen"> to exercise {number}'
            f'</span></span> <input type="text" inputmode="decimal" '
            f'size="8" autocomplete="off" data-decimals="{_decimals(exercise)}">'
            "</label> "
            f'<span class="jl-unit">{html.escape(unit)}</span>'
        )
    otherwise = inline(_otherwise(exercise).sentence)
    return (
        f'<form class="jl-check" hidden data-number="{number}" '
        f"data-known='{json.dumps(sealed(exercise), sort_keys=True)}'>{asked}"
        f'<button type="submit">Check<span class="jl-unseen"> exercise {number}</span>'
        f'</button> <output aria-live="polite"></output>'
        f"<template>{otherwise}</template></form>"
    )


def _notebook_only(exercise: Exercise) -> str:
    how = f'Do this one in the notebook: `teach.check("{exercise["id"]}", …)`'
    return f'<p class="jl-how">{inline(how)}</p>'


def _key(exercise: Exercise) -> str:
    points = "".join(
        f"<li>{inline(point)}</li>" for point in exercise.get("points", ())
    )
    hints = "".join(
        f"<li>{_wrong_answer(hint['when'])}{inline(hint['say'])}</li>"
        for hint in exercise.get("hints", ())
    )
    return (
        '<div class="jl-solution"><p><strong>Solution</strong></p>'
        f"{markdown(exercise['solution'])}"
        f"{f'<p>A full answer</p><ul>{points}</ul>' if points else ''}"
        f"{f'<p>Known wrong answers</p><ul>{hints}</ul>' if hints else ''}</div>"
    )


def _wrong_answer(given: object) -> str:
    """Show a number within the line, and a program with its lines as they are."""
    text = html.escape(str(given).strip())
    return f"<pre>{text}</pre>" if "\n" in text else f"<code>{text}</code>: "


def _decimals(exercise: Exercise) -> int:
    return int(exercise.get("decimals", 2))


def sealed(exercise: Exercise) -> dict[str, str]:
    """Lock every known reply with the answer that it belongs to.

    The key of an entry is a salted hash of the answer, and its text is enciphered with
    that answer, so the page holds neither answers nor hints in clear: only somebody who
    types an answer can read what is said to it. (Whoever tries all numbers gets there:
    this keeps the eye from slipping, not a thief out.)
    """
    return {
        key(exercise["id"], answer): base64.b64encode(
            _mixed(inline(reply.sentence).encode(), exercise["id"], answer)
        ).decode()
        for answer, reply in known_answers(exercise)
    }


def key(number: str, answer: str) -> str:
    """Name the entry of an answer without saying the answer."""
    return _digest(number, answer).hex()[:16]


def decipher(entry: str, number: str, answer: str) -> str:
    """Read an entry with the answer that it belongs to, as the page's script does."""
    return _mixed(base64.b64decode(entry), number, answer).decode()


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("|".join(("judgelab", *parts)).encode()).digest()


def _mixed(text: bytes, number: str, answer: str) -> bytes:
    blocks = range(0, len(text), hashlib.sha256().digest_size)
    stream = b"".join(_digest(number, answer, str(start)) for start in blocks)
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))
