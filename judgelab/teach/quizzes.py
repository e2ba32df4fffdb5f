"""Quizzes and take-aways: plain HTML that answers without any script."""

from __future__ import annotations

import html
from typing import Any

from judgelab.teach.content import Shown, chapter, inline, load


def quiz(name: str) -> Shown:
    """Show the quiz of a chapter; opening an option shows what is said to it.

    Parameters
    ----------
    name : str
        The chapter, such as ``"agreement"``.

    Raises
    ------
    ValidationError
        If there is no such chapter.

    Examples
    --------
    >>> quiz("agreement")
    1. ...
    """
    chapter(name)
    questions: list[dict[str, Any]] = load(f"quizzes/{name}")["questions"]
    shown = "".join(_question(name, i, q) for i, q in enumerate(questions, 1))
    text = "\n".join(f"{i}. {q['ask'].strip()}" for i, q in enumerate(questions, 1))
    return Shown(f'<div class="jl-quiz mathjax_process">{shown}</div>', text)


def _question(name: str, number: int, question: dict[str, Any]) -> str:
    options = "".join(
        # One `name` per question: opening an option closes the others.
        f'<details name="quiz-{name}-{number}" data-right="{int(_right(option))}">'
        f"<summary>{inline(option['text'])}</summary>"
        f"<p><strong>{'✓ Right.' if _right(option) else '✗ Not quite.'}</strong> "
        f"{inline(option['say'])}</p></details>"
        for option in question["options"]
    )
    return (
        f'<div class="jl-question" data-question="{name}-{number}" role="group" '
        f'aria-label="Question {number}"><p><strong>{number}.</strong> '
        f"{inline(question['ask'])}</p>{options}</div>"
    )


def _right(option: dict[str, Any]) -> bool:
    return bool(option.get("right", False))


def takeaways(name: str) -> Shown:
    """Show the few lines to take away from a chapter.

    Examples
    --------
    >>> takeaways("agreement")
    - ...
    """
    chapter(name)
    lines: list[str] = load(f"quizzes/{name}")["takeaways"]
    items = "".join(f"<li>{inline(line)}</li>" for line in lines)
    text = "\n".join(f"- {html.unescape(line.strip())}" for line in lines)
    return Shown(f'<ul class="jl-takeaways mathjax_process">{items}</ul>', text)
