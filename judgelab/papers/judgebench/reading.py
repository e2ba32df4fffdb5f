"""One file of outputs, in the format of the JudgeBench repository, as tidy records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judgelab.errors import ValidationError
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

CATEGORIES = ("Knowledge", "Reasoning", "Math", "Coding")
"""The four kinds of question, in the order of the paper's tables."""

_PREFIXES = {
    "mmlu-pro": "Knowledge",
    "livebench-reasoning": "Reasoning",
    "livebench-math": "Math",
    "livecodebench": "Coding",
}

RESPONSES = {
    "gpt-4o-2024-05-13": "GPT-4o",
    "claude-3-5-sonnet-20240620": "Claude-3.5-Sonnet",
}
"""Who wrote the pairs of answers: name in the records, and in our counts."""

NAMES = {
    ("arena_hard", "o1-mini-2024-09-12"): "o1-mini",
    ("arena_hard", "claude-3-haiku-20240307"): "Claude-3-Haiku",
    ("arena_hard", "openrouter_inception_mercury"): "Mercury",
    ("arena_hard", "openrouter_inception_mercury-coder"): "Mercury-Coder",
    ("arena_hard", "openrouter_minimax_minimax-m2"): "MiniMax-M2",
    ("arena_hard", "openrouter_minimax_minimax-m2.1"): "MiniMax-M2.1",
    ("arena_hard", "openrouter_z-ai_glm-4.7"): "GLM-4.7",
    ("reward_model", "Skywork_Skywork-Reward-Gemma-2-27B"): (
        "Skywork-Reward-Gemma-2-27B"
    ),
    ("reward_model", "Skywork_Skywork-Reward-Llama-3.1-8B"): (
        "Skywork-Reward-Llama-3.1-8B"
    ),
    ("reward_model", "internlm_internlm2-20b-reward"): "InternLM2-20B-Reward",
    ("reward_model", "internlm_internlm2-7b-reward"): "InternLM2-7B-Reward",
    ("reward_model", "Ray2333_GRM-Gemma-2B-rewardmodel-ft"): "GRM-Gemma-2B",
}
"""(prompt, model) of the judges whose counts the package carries, and their names."""

LABELS = {"A>B": Verdict.A, "B>A": Verdict.B, "A=B": Verdict.TIE}


def category(source: str) -> str:
    """To which of the four categories does a question's source belong?

    Parameters
    ----------
    source : str
        The ``source`` of a record, such as ``"mmlu-pro-law"``.

    Raises
    ------
    ValidationError
        If the source has none of the known beginnings.

    References
    ----------
    Tan et al. (2024), section 3; ScalerLab/JudgeBench, run_judge.py.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> category("mmlu-pro-computer science"), category("livecodebench")
    ('Knowledge', 'Coding')
    """
    for prefix, name in _PREFIXES.items():
        if source.startswith(prefix):
            return name
    raise ValidationError(
        f"source {source!r} belongs to no category; known beginnings are "
        f"{', '.join(_PREFIXES)}"
    )


def read_output(
    path: str | Path,
    *,
    judge: str | None = None,
    score_ties: Literal["second-slot", "tie"] = "second-slot",
    nonsense: Literal["invalid", "tie"] = "invalid",
) -> pd.DataFrame:
    """Read one file of verdicts in the format of the JudgeBench repository.

    Parameters
    ----------
    path : str or path
        A JSON Lines file: one pair per line with ``pair_id``, ``source``, ``label``
        (the right answer), ``response_model`` and ``judgments``, the first on (A, B),
        the second on (B, A), each with a ``decision``.
    judge : str, optional
        Name of the judge; otherwise taken from the name of the file.
    score_ties : {"second-slot", "tie"}, default "second-slot"
        A reward model that gives both answers the same score is stored upstream as
        preferring the second slot. Keep that, which reproduces the paper, or read a
        tie.
    nonsense : {"invalid", "tie"}, default "invalid"
        A label without meaning, such as ``A>A``, which the upstream parser lets pass.
        Upstream it votes for nobody, as a tie does; so does NeMo-Skills, which drops
        only empty verdicts: read a tie to get exactly its score.

    Returns
    -------
    pandas.DataFrame
        Tidy pairwise records, one per verdict: ``judge``, ``prompt``, ``responses``,
        ``item``, ``source``, ``category``, ``gold`` (A or B, the right answer),
        ``swapped``, ``verdict`` (on shown slots), ``label`` (as stored), and
        ``score_first``, ``score_second`` for reward models. An empty decision is
        INVALID if there was a reply and MISSING if there was none.

    Raises
    ------
    ValidationError
        If a line lacks a field, a right answer or a source is unknown, or a pair has
        more than two judgments; the message names the line.

    References
    ----------
    ScalerLab/JudgeBench at e2c52c2, run_judge.py and utils/metrics.py.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    if score_ties not in ("second-slot", "tie"):
        raise ValidationError(
            f"score_ties is {score_ties!r}; choose 'second-slot' or 'tie'"
        )
    meaningless = nonsense_as(nonsense)
    path = Path(path)
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                rows += verdicts_of(json.loads(line), score_ties, meaningless)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValidationError(
                    f"{path.name}, line {number}: {type(error).__name__}: {error}; "
                    "expected a pair in the format of JudgeBench's outputs/"
                ) from error
    frame = pd.DataFrame(rows)
    frame.insert(0, "judge", judge or judge_of_file(path))
    return frame


def judge_of_file(path: Path) -> str:
    """Name the judge whose verdicts a file holds, by the name of the file."""
    named = parts_of_name(path.name) if path.name.startswith("dataset=") else {}
    return named.get("judge") or path.stem


def parts_of_name(name: str) -> dict[str, str]:
    """Read judge, prompt, model and author of the pairs off a file's name."""
    stem = Path(name).name.removesuffix(".jsonl")
    parts = dict(part.split("=", 1) for part in stem.split(",") if "=" in part)
    prompt, model = parts.get("judge_name", ""), parts.get("judge_model", "")
    return {
        "judge": NAMES.get((prompt, model), f"{model} ({prompt})"),
        "prompt": prompt,
        "model": model,
        "responses": writer_of(parts.get("response_model", "")),
    }


def writer_of(model: str) -> str:
    """Name the model that wrote the pairs as our counts do."""
    return RESPONSES.get(model, model)


def nonsense_as(nonsense: str) -> Verdict:
    """Return what a label without meaning is read as."""
    readings = {"invalid": Verdict.INVALID, "tie": Verdict.TIE}
    if nonsense not in readings:
        raise ValidationError(f"nonsense is {nonsense!r}; choose 'invalid' or 'tie'")
    return readings[nonsense]


def verdicts_of(
    pair: Mapping[str, Any],
    score_ties: str = "second-slot",
    meaningless: Verdict = Verdict.INVALID,
) -> list[dict[str, Any]]:
    """Read what one line says: a record per order.

    Raises
    ------
    ValueError
        If the right answer is none, or there are more than two judgments.
    """
    judgments = pair["judgments"]
    if len(judgments) > 2:
        raise ValueError(f"{len(judgments)} judgments of one pair")
    gold = LABELS.get(pair["label"])
    if gold not in (Verdict.A, Verdict.B):
        raise ValueError(f"label {pair['label']!r} names no right answer")
    rows = []
    for swapped, judgment in zip((False, True), judgments, strict=False):
        reply = (judgment or {}).get("judgment")
        label = (judgment or {}).get("decision")
        first, second = (reply or {}).get("scores") or (np.nan, np.nan)
        verdict = verdict_of(label, meaningless, has_reply=reply is not None)
        if score_ties == "tie" and first == second:
            verdict = Verdict.TIE
        rows.append(
            {
                "prompt": pair.get("judge_name", ""),
                "responses": writer_of(pair["response_model"]),
                "item": pair["pair_id"],
                "source": pair["source"],
                "category": category(pair["source"]),
                "gold": gold.name,
                "swapped": swapped,
                "verdict": verdict.name,
                "label": label,
                "score_first": first,
                "score_second": second,
            }
        )
    return rows


def verdict_of(label: str | None, meaningless: Verdict, *, has_reply: bool) -> Verdict:
    """Read a stored label; without one, it matters whether there was a reply."""
    if label:
        return LABELS.get(label.replace(">>", ">"), meaningless)
    return Verdict.INVALID if has_reply else Verdict.MISSING
