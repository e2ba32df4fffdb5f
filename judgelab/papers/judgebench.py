"""JudgeBench (Tan et al. 2024): pairs of answers of which one is wrong, judged twice.

350 pairs written by GPT-4o and 270 by Claude 3.5 Sonnet, each shown to a judge in both
orders. A rule folds the two verdicts into one outcome; the accuracy is the share of
pairs whose outcome is the right answer. The paper's text and its code state different
rules, and others use still others: see `judgelab.verdict.RULES`.

Every number comes by one of two roads. Offline, from counts that the package carries
(`judgelab.data.counts`): how often each pair of verdicts occurs, per judge, category
and right answer. Or from the judges' outputs: `load`. Functions take either.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papertable import Cell, PaperTable
from judgelab.position import (
    pair_orders,
    pcon_at_ab,
    position_consistency,
    preference_fairness,
    score_two_orders,
    slot_share,
    verdict_rate,
)
from judgelab.significance import (
    Test,
    binomial_test,
    holm,
    mcnemar,
    paired_difference,
)
from judgelab.verdict import RULES, Outcome, Rule, Verdict, combine, find_rule

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

_LABELS = {"A>B": Verdict.A, "B>A": Verdict.B, "A=B": Verdict.TIE}
_SOURCE = "JudgeBench (2410.12784)"


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


def outputs() -> pd.DataFrame:
    """Which judges' outputs does the upstream repository hold?

    Returns
    -------
    pandas.DataFrame
        One row per file: ``judge`` (the name that `load` takes and gives), ``prompt``,
        ``model``, ``responses`` (who wrote the pairs), ``file``, ``blob`` (git's id of
        the content) and ``at_hand`` (part of the source that is fetched by default).

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> frame = outputs()
    >>> len(frame), int(frame["at_hand"].sum())
    (38, 7)
    """
    import pandas as pd

    default = data.SOURCES["judgebench"].files
    rows = [
        _of_name(file.name)
        | {"file": file.name, "blob": file.blob, "at_hand": file in default}
        for file in (*default, *data.MORE_JUDGEBENCH)
        if file.name.startswith("outputs/")
    ]
    return pd.DataFrame(rows)


def load(
    judges: Iterable[str] | Literal["all"] | None = None,
    *,
    responses: str | None = None,
    score_ties: Literal["second-slot", "tie"] = "second-slot",
    nonsense: Literal["invalid", "tie"] = "invalid",
) -> pd.DataFrame:
    """Which verdicts did the judges of JudgeBench give?

    Parameters
    ----------
    judges : iterable of str or "all", optional
        Names from ``outputs()["judge"]``; the seven at hand if not given. The others
        are large (2–10 MB each) and come from their public home.
    responses : {"GPT-4o", "Claude-3.5-Sonnet"}, optional
        Only verdicts on pairs that this model wrote.
    score_ties, nonsense : str
        As `read_output`.

    Returns
    -------
    pandas.DataFrame
        Tidy pairwise records as `read_output` returns them. Every file was compared
        with the id that git gives to its content.

    Raises
    ------
    ValidationError
        If a judge is unknown, or has no outputs on these responses.
    DownloadError, ChecksumMismatch
        If the outputs can't be had; see `judgelab.data.fetch`.

    References
    ----------
    ScalerLab/JudgeBench at e2c52c2, ``outputs/``.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    known = outputs()
    if judges is None:
        wanted = known[known["at_hand"]]
    elif judges == "all":
        wanted = known
    else:
        names = [judges] if isinstance(judges, str) else list(judges)
        if unknown := sorted(set(names) - set(known["judge"])):
            raise ValidationError(
                f"no outputs of {unknown[:5]}; there are: {', '.join(known['judge'])}"
            )
        wanted = known[known["judge"].isin(names)]
    if responses is not None:
        wanted = wanted[wanted["responses"] == responses]
    if wanted.empty:
        raise ValidationError(
            f"no outputs on pairs of {responses!r}; outputs() lists what there is"
        )
    default = data.SOURCES["judgebench"]
    every = (*default.files, *data.MORE_JUDGEBENCH)
    files = tuple(file for file in every if file.name in set(wanted["file"]))
    folder = data.fetch(
        data.Source(
            default.name, default.title, default.citation, default.licence, files
        )
    )
    return pd.concat(
        [
            read_output(folder / name, score_ties=score_ties, nonsense=nonsense)
            for name in wanted["file"]
        ],
        ignore_index=True,
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
    meaningless = _meaningless(nonsense)
    path = Path(path)
    named = _of_name(path.name) if path.name.startswith("dataset=") else {}
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                rows += _verdicts_of(json.loads(line), score_ties, meaningless)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValidationError(
                    f"{path.name}, line {number}: {type(error).__name__}: {error}; "
                    "expected a pair in the format of JudgeBench's outputs/"
                ) from error
    frame = pd.DataFrame(rows)
    name = judge or named.get("judge") or path.stem
    frame.insert(0, "judge", name)
    return frame


def _of_name(name: str) -> dict[str, str]:
    stem = Path(name).name.removesuffix(".jsonl")
    parts = dict(part.split("=", 1) for part in stem.split(",") if "=" in part)
    prompt, model = parts.get("judge_name", ""), parts.get("judge_model", "")
    return {
        "judge": NAMES.get((prompt, model), f"{model} ({prompt})"),
        "prompt": prompt,
        "model": model,
        "responses": _responses(parts.get("response_model", "")),
    }


def _responses(model: str) -> str:
    return RESPONSES.get(model, model)


def _meaningless(nonsense: str) -> Verdict:
    readings = {"invalid": Verdict.INVALID, "tie": Verdict.TIE}
    if nonsense not in readings:
        raise ValidationError(f"nonsense is {nonsense!r}; choose 'invalid' or 'tie'")
    return readings[nonsense]


def _verdicts_of(
    pair: Mapping[str, Any], score_ties: str, meaningless: Verdict
) -> list[dict[str, Any]]:
    judgments = pair["judgments"]
    if len(judgments) > 2:
        raise ValueError(f"{len(judgments)} judgments of one pair")
    gold = _LABELS.get(pair["label"])
    if gold not in (Verdict.A, Verdict.B):
        raise ValueError(f"label {pair['label']!r} names no right answer")
    rows = []
    for swapped, judgment in zip((False, True), judgments, strict=False):
        reply = (judgment or {}).get("judgment")
        label = (judgment or {}).get("decision")
        first, second = (reply or {}).get("scores") or (np.nan, np.nan)
        verdict = _verdict(label, meaningless, has_reply=reply is not None)
        if score_ties == "tie" and first == second:
            verdict = Verdict.TIE
        rows.append(
            {
                "prompt": pair.get("judge_name", ""),
                "responses": _responses(pair["response_model"]),
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


def _verdict(label: str | None, meaningless: Verdict, *, has_reply: bool) -> Verdict:
    if label:
        return _LABELS.get(label.replace(">>", ">"), meaningless)
    return Verdict.INVALID if has_reply else Verdict.MISSING


def pairs() -> pd.DataFrame:
    """Which pairs does the benchmark hold, and which answer is right?

    Returns
    -------
    pandas.DataFrame
        620 rows: ``item``, ``responses``, ``source``, ``category``, ``gold`` and
        ``question`` (the text). Merge it into records of a judge of your own.

    Raises
    ------
    DownloadError, ChecksumMismatch
        If the pairs can't be had; see `judgelab.data.fetch`.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    folder = data.fetch("judgebench")
    raw = pd.concat(
        [
            pd.read_json(folder / file.name, lines=True)
            for file in data.SOURCES["judgebench"].files
            if file.name.startswith("data/")
        ],
        ignore_index=True,
    )
    return pd.DataFrame(
        {
            "item": raw["pair_id"],
            "responses": raw["response_model"].map(_responses),
            "source": raw["source"],
            "category": raw["source"].map(category),
            "gold": [_LABELS[label].name for label in raw["label"]],
            "question": raw["question"],
        }
    )


def count_orders(records: pd.DataFrame) -> pd.DataFrame:
    """Turn records into the counts from which everything else is computed.

    Parameters
    ----------
    records : pandas.DataFrame
        Tidy pairwise records with ``judge``, ``responses``, ``category``, ``gold``,
        ``item``, ``swapped`` and ``verdict``, as `load` returns them.

    Returns
    -------
    pandas.DataFrame
        One row per combination that occurs: ``judge``, ``responses``, ``category``,
        ``gold``, ``first`` and ``second`` (verdicts, the second un-swapped), and
        ``pairs``, their number.

    Raises
    ------
    ValidationError
        If a column is missing or has gaps, the right answer is not A or B, what is
        known of a pair differs between its records, or a judge has several trials of a
        pair, which are not independent. The right answer and the category of
        JudgeBench's own pairs come from `pairs`.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me", "responses": "GPT-4o", "category": "Math", "gold": "A",
    ...         "item": ["q", "q"], "swapped": [False, True], "verdict": ["A", "B"],
    ...     }
    ... )
    >>> count_orders(records).iloc[0].to_dict()
    {'judge': 'me', 'responses': 'GPT-4o', 'category': 'Math', 'gold': 'A',
    'first': 'A', 'second': 'A', 'pairs': 1}
    """
    key = ["judge", "responses", "category", "gold"]
    paired = _paired(records, key)
    for column in ("first", "second"):
        paired[column] = [Verdict(code).name for code in paired[column]]
    cells = paired.groupby([*key, "first", "second"], sort=True, observed=True)
    return cells.size().rename("pairs").reset_index()


def _paired(records: pd.DataFrame, known: list[str]) -> pd.DataFrame:
    """Put both orders side by side, once what is known of the pairs has been checked.

    A table with a gap, or with two trials of a pair, would be counted without a word.
    """
    if lacking := [name for name in known if name not in records]:
        raise ValidationError(
            f"records lack {lacking}; merge them with judgebench.pairs() on 'item'"
        )
    if records.empty:
        raise ValidationError("there are no records")
    for name in known:
        gaps = records.loc[records[name].isna(), "item"].unique()
        if gaps.size:
            raise ValidationError(
                f"{name!r} is empty for {gaps.size} items ({gaps[:3].tolist()}); fill "
                "it in, or leave them out"
            )
    paired = pair_orders(records)
    if varying := [name for name in known if name not in paired]:
        raise ValidationError(
            f"{varying} differ between the records of one pair; give those of the pair "
            "as it is, whichever answer was shown first"
        )
    again = paired.duplicated(["judge", "responses", "item"])
    if again.any():
        raise ValidationError(
            f"{int(again.sum())} pairs have several trials by one judge "
            f"({paired.loc[again, 'item'].unique()[:3].tolist()}), which are not "
            "independent; keep one: records[records['trial'] == 1]"
        )
    strange = sorted({str(g) for g in paired["gold"]} - {"A", "B"})
    if strange:
        raise ValidationError(
            f"gold must be A or B, not {strange[:5]}: JudgeBench has no ties in truth"
        )
    return paired


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

    counts = _counts(records)
    rows, index = [], []
    for (judge, responses), mine in counts.groupby(
        ["judge", "responses"], sort=False, observed=True
    ):
        present = [name for name in CATEGORIES if (mine["category"] == name).any()]
        others = sorted(set(mine["category"]) - set(CATEGORIES))
        for name in (*present, *others, "Overall"):
            part = mine if name == "Overall" else mine[mine["category"] == name]
            tables = _tables(part)
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


def tables_by_gold(
    judge: str, *, responses: str | None = None, records: pd.DataFrame | None = None
) -> npt.NDArray[np.int64]:
    """Count one judge's verdicts by the right answer.

    Parameters
    ----------
    judge : str
        Name of the judge.
    responses : str, optional
        Whose pairs; all that the judge has seen if not given.
    records : pandas.DataFrame, optional
        As `evaluate`.

    Returns
    -------
    ndarray of int64, shape (2, 5, 5)
        What `position.score_two_orders` takes; its sum over the first axis is what the
        other functions of `position` take.

    Raises
    ------
    ValidationError
        If there is no such judge.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> int(tables_by_gold("o1-mini").sum())
    350
    """
    counts = _counts(records)
    mine = counts[counts["judge"] == judge]
    if responses is not None:
        mine = mine[mine["responses"] == responses]
    if mine.empty:
        have = ", ".join(sorted(set(counts["judge"])))
        raise ValidationError(
            f"no verdicts of {judge!r} on pairs of {responses or 'anyone'}; judges: "
            f"{have}"
        )
    return _tables(mine)


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

    counts = _counts(records)
    found = [find_rule(rule) for rule in rules]
    rows, index = [], []
    for key, mine in counts.groupby(["judge", "responses"], sort=False, observed=True):
        tables = _tables(mine)
        index.append(key)
        rows.append(
            {rule.name: score_two_orders(tables, rule=rule)["right"] for rule in found}
        )
    names = ["judge", "responses"]
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=names))


_COIN = Fraction(1, 2)
_GUESSERS: dict[str, dict[tuple[Verdict, Verdict], Fraction]] = {
    "independent coin": {
        (one, two): _COIN * _COIN
        for one in (Verdict.A, Verdict.B)
        for two in (Verdict.A, Verdict.B)
    },
    "order-consistent coin": {
        (Verdict.A, Verdict.A): _COIN,
        (Verdict.B, Verdict.B): _COIN,
    },
    # Un-swapped, "the first slot again" is the other answer.
    "always the first slot": {(Verdict.A, Verdict.B): Fraction(1)},
    "always a tie": {(Verdict.TIE, Verdict.TIE): Fraction(1)},
}


def chance_levels(rule: Rule | str, *, right_is_a: float = 0.5) -> dict[str, Fraction]:
    """How much does a judge score that knows nothing?

    Parameters
    ----------
    rule : Rule or str
        How two verdicts become one outcome.
    right_is_a : float, default 0.5
        Share of the pairs in which A is right, in [0, 1].

    Returns
    -------
    dict of Fraction
        The exact expected accuracy of a judge that tosses a coin for every verdict, of
        one that tosses it once per pair and stays with its answer, of one that always
        takes the first slot, and of one that always says tie.

    Raises
    ------
    ValidationError
        If the rule is unknown or the share out of range.

    Notes
    -----
    "50 % is random" holds only for the second of them. Chapter: *JudgeBench*.

    Examples
    --------
    >>> for judge, level in chance_levels("judgebench").items():
    ...     print(f"{judge}: {level}")
    independent coin: 1/4
    order-consistent coin: 1/2
    always the first slot: 0
    always a tie: 0
    """
    if not 0 <= right_is_a <= 1:
        raise ValidationError(f"right_is_a is {right_is_a!r}; give a share in [0, 1]")
    share = Fraction(right_is_a).limit_denominator(10**6)
    wins = {Outcome.A: share, Outcome.B: 1 - share}
    table = find_rule(rule).table
    return {
        name: sum(
            (
                p * wins.get(Outcome(table[cell]), Fraction(0))
                for cell, p in law.items()
            ),
            Fraction(0),
        )
        for name, law in _GUESSERS.items()
    }


def against_chance(
    scores: Mapping[Any, Estimate] | None = None,
    *,
    baselines: Mapping[str, float] | None = None,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Which judges can be told from which kind of guessing?

    Parameters
    ----------
    scores : mapping of Estimate, optional
        Judge → accuracy on independent pairs. All judges of Tables 1–3 if not given.
    baselines : mapping of float, optional
        Name → accuracy of the guesser; by default the independent and the
        order-consistent coin under JudgeBench's rule, 1/4 and 1/2.
    alpha : float, default 0.05
        How likely at least one judge may be told from a baseline by mistake.

    Returns
    -------
    pandas.DataFrame
        One row per judge: ``accuracy``, and per baseline the adjusted p-value and
        whether the judge is ``above``, ``below`` or ``not distinguishable``. Holm's
        correction is over all judges and baselines.

    Raises
    ------
    UndefinedStatistic
        If an accuracy is undefined.

    Notes
    -----
    A judge that always takes one slot scores exactly 0, so a single right answer tells
    a judge from it and needs no test. Chapter: *JudgeBench*.

    Examples
    --------
    >>> table = against_chance()
    >>> table.loc[("Table 1", "Vanilla, GPT-4o"), "order-consistent coin"]
    'not distinguishable'
    """
    import pandas as pd

    if scores is None:
        # GPT-4o with the Arena-Hard prompt stands in Table 1 and again in Table 2.
        scores = {
            (table, label): estimate
            for (table, label, name), estimate in published_accuracies().items()
            if name == "Overall"
            and table != "Table 4"
            and (table, label) != ("Table 2", "GPT-4o")
        }
    if baselines is None:
        levels = chance_levels("judgebench")
        coins = ("independent coin", "order-consistent coin")
        baselines = {name: float(levels[name]) for name in coins}
    if undefined := [key for key, e in scores.items() if np.isnan(e.value)]:
        raise UndefinedStatistic(
            f"accuracies of {undefined[:3]} are undefined; score with another rule"
        )
    p_values = {
        (key, name): binomial_test(round(e.value * e.n), e.n, level).p_value
        for key, e in scores.items()
        for name, level in baselines.items()
    }
    adjusted = holm(p_values)
    rows = []
    for key, estimate in scores.items():
        row: dict[str, Any] = {"accuracy": estimate}
        for name, level in baselines.items():
            p = adjusted[key, name]
            side = "above" if estimate.value > level else "below"
            row[f"p, {name}"] = p
            row[name] = side if p <= alpha else "not distinguishable"
        rows.append(row)
    keys = list(scores)
    index = (
        pd.MultiIndex.from_tuples(keys)
        if isinstance(keys[0], tuple)
        else pd.Index(keys)
    )
    return pd.DataFrame(rows, index=index)


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
        cells = _joint(_right(two, rule), judge, other)
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


def _right(records: pd.DataFrame, rule: Rule | str) -> pd.DataFrame:
    """Mark each judge's pairs right (1) or wrong (0), one column per judge."""
    paired = _paired(records, ["judge", "responses", "gold"])
    outcome = combine(paired["first"], paired["second"], rule=rule)
    if silent := int((outcome == Outcome.UNDEFINED).sum()):
        raise ValidationError(
            f"the rule {find_rule(rule).name!r} is silent on {silent} pairs; choose "
            "another rule"
        )
    gold = np.array([Verdict[word] for word in paired["gold"]])
    marked = paired.assign(right=(outcome == gold).astype(int))
    kept = marked[outcome != Outcome.DROPPED]
    wide: pd.DataFrame = kept.pivot(
        index=["responses", "item"], columns="judge", values="right"
    )
    return wide


def _joint(right: pd.DataFrame, judge: str, other: str) -> tuple[int, int, int, int]:
    if lacking := [name for name in (judge, other) if name not in right]:
        raise ValidationError(
            f"records hold no verdicts of {lacking}; judges: {', '.join(right.columns)}"
        )
    both = right[[judge, other]].dropna()
    if both.empty:
        raise ValidationError(f"{judge!r} and {other!r} have no pairs in common")
    one, two = both[judge] == 1, both[other] == 1
    return (
        int((one & two).sum()),
        int((one & ~two).sum()),
        int((~one & two).sum()),
        int((~one & ~two).sum()),
    )


def _counts(records: pd.DataFrame | None) -> pd.DataFrame:
    if records is None:
        return data.counts("judgebench", "two_orders")
    counted = {"pairs", "first", "second"} <= {*records.columns}
    return records if counted else count_orders(records)


def _tables(counts: pd.DataFrame) -> npt.NDArray[np.int64]:
    tables = np.zeros((2, len(Verdict), len(Verdict)), np.int64)
    words = [
        [Verdict.parse(word) for word in counts[column]]
        for column in ("gold", "first", "second")
    ]
    if any(word > Verdict.B for word in words[0]):
        raise ValidationError("gold must be A or B: JudgeBench has no ties in truth")
    np.add.at(tables, tuple(words), counts["pairs"].to_numpy())
    return tables


def possible_counts(percent: float, n: int, decimals: int = 2) -> list[int]:
    """Which whole numbers out of `n` print as this percentage?

    Parameters
    ----------
    percent : float
        As printed.
    n : int
        How many units the share is of, at least 1.
    decimals : int, default 2
        How many decimals are printed.

    Returns
    -------
    list of int
        Empty if the print is impossible; a value half-way between two printed ones may
        have been rounded to either.

    Raises
    ------
    ValidationError
        If `n` is no whole number ≥ 1 or the percentage is not a number.

    References
    ----------
    Brown & Heathers (2017), *Social Psychological and Personality Science* 8(4): the
    GRIM test.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> possible_counts(67.86, 56), possible_counts(67.86, 98)
    ([38], [])
    """
    if n < 1 or n % 1 or not np.isfinite(percent):
        raise ValidationError(
            f"{percent} % of {n}: a share is of at least one unit, and of whole ones"
        )
    half = 0.5 * 10.0**-decimals + 1e-9
    near = range(
        max(0, int(np.floor((percent - half) * n / 100))),
        min(n, int(np.ceil((percent + half) * n / 100))) + 1,
    )
    return [k for k in near if abs(100 * k / n - percent) <= half]


def sizes() -> pd.DataFrame:
    """How many pairs does the paper say there are?

    Returns
    -------
    pandas.DataFrame
        Pairs by category (rows, with ``Overall``) and by who wrote them (columns).

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> sizes()["GPT-4o"].to_dict()
    {'Knowledge': 154, 'Reasoning': 98, 'Math': 56, 'Coding': 42, 'Overall': 350}
    """
    import pandas as pd

    return pd.DataFrame(_pairs_in())


def _pairs_in() -> dict[str, dict[str, int]]:
    printed = data.published("judgebench", "sizes")
    sizes: dict[str, dict[str, int]] = {}
    for model, name, n in printed.itertuples(index=False):
        sizes.setdefault(_responses(model), {})[name] = int(n)
    return {who: own | {"Overall": sum(own.values())} for who, own in sizes.items()}


def published_accuracies() -> dict[tuple[str, str, str], Estimate]:
    """Which accuracies did the paper print, and how sure are they?

    Returns
    -------
    dict of Estimate
        (table, judge, category) → accuracy with Wilson's interval, for Tables 1–4, on
        the pairs of GPT-4o. Undefined, with the reason, if the printed percentage is
        impossible for the number of pairs.

    References
    ----------
    Tan et al. (2024), Tables 1–4.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> published_accuracies()["Table 2", "o1-preview", "Overall"]
    0.754 [0.707, 0.796] (n = 350, Wilson)
    """
    pairs_in = _pairs_in()["GPT-4o"]
    result = {}
    for table in (1, 2, 3, 4):
        for label, name, percent in _rows(table):
            n = pairs_in[name]
            whole = possible_counts(percent, n)
            result[f"Table {table}", label, name] = (
                proportion(whole[0], n)
                if whole
                else Estimate.undefined(f"{percent} % of {n} is no whole number", n=n)
            )
    return result


def integrality() -> pd.DataFrame:
    """Are the printed percentages possible, and do the categories add up?

    Returns
    -------
    pandas.DataFrame
        One row per judge of Tables 1–4: the number of right pairs that each percentage
        implies (missing if none does), their ``sum`` and whether all is ``possible``.

    References
    ----------
    As `possible_counts`.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> table = integrality()
    >>> len(table), table[~table["possible"]].index.tolist()
    (42, [('Table 4', 'Llama-3.1-405B-Instruct, Solver')])
    """
    import pandas as pd

    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (table, label, name), estimate in published_accuracies().items():
        known = not np.isnan(estimate.value)
        rows.setdefault((table, label), {})[name] = (
            round(estimate.value * estimate.n) if known else pd.NA
        )
    frame = pd.DataFrame(
        list(rows.values()),
        index=pd.MultiIndex.from_tuples(rows),
        columns=[*CATEGORIES, "Overall"],
        dtype="Int64",
    )
    frame["sum"] = frame[list(CATEGORIES)].sum(axis=1, skipna=False)
    frame["possible"] = (frame["sum"] == frame["Overall"]).fillna(False).astype(bool)
    return frame


def slips() -> pd.DataFrame:
    """Where does the paper's print contradict its own arithmetic?

    Returns
    -------
    pandas.DataFrame
        ``place``, what is ``printed``, the ``arithmetic`` that it meets, and a likely
        ``reading``. All numbers are computed from the published tables.

    References
    ----------
    Tan et al. (2024), section 4.4, Tables 4–7, appendices A.2 and A.3.

    Notes
    -----
    None of them touches the paper's conclusions. Chapter: *JudgeBench*.

    Examples
    --------
    >>> slips()["place"].tolist()
    ['Appendix A.2', 'Appendix A.3', 'Section 4.4', 'Table 4', 'Table 6', 'Table 7']
    """
    import pandas as pd

    n, on_claude = _pairs_in()["GPT-4o"], _pairs_in()["Claude-3.5-Sonnet"]["Overall"]
    verdicts = data.published("judgebench", "table5").set_index("judge")
    bgb, panda = (
        verdicts.loc[[judge]].iloc[0].to_dict()
        for judge in ("Prometheus2-bgb-8x7b", "PandaLM-7B")
    )
    decided = panda["A>B"] + panda["A<B"]
    inconsistent = dict(_inconsistent())
    differing = possible_counts(inconsistent["PandaLM-7B"], 350)[0]
    solver = "Llama-3.1-405B-Instruct, Solver"
    printed = {name: p for label, name, p in _rows(4) if label == solver}
    exchanged = printed | {"Reasoning": printed["Math"], "Math": printed["Reasoning"]}
    right = [possible_counts(exchanged[name], n[name])[0] for name in CATEGORIES]
    without_maths = n["Overall"] - n["Math"]
    rows = [
        (
            "Appendix A.2",
            "215 of 700 invalid verdicts of Prometheus2-bgb-8x7b",
            f"Table 5 has {bgb['invalid']} invalid and {bgb['A<B']} for the second "
            f"answer; the row adds up to {sum(bgb.values())}",
            "the number of the neighbouring column",
        ),
        (
            "Appendix A.3",
            "46 pairs in mathematics",
            f"{n['Knowledge']} + {n['Reasoning']} + 46 + {n['Coding']} = "
            f"{without_maths + 46}, not {n['Overall']}",
            f"{n['Math']}, as in section 3 and in the data",
        ),
        (
            "Section 4.4",
            f"53.9 % of {on_claude} pairs",
            f"145 are {14500 / on_claude:.2f} %, 146 are {14600 / on_claude:.2f} %",
            "145 of 269 or 83 of 154 pairs would print so",
        ),
        (
            "Table 4",
            f"{solver}: Reasoning {printed['Reasoning']} %, Math {printed['Math']} %",
            f"no whole number of {n['Reasoning']}, or of {n['Math']}, prints so",
            "exchanged: then the categories add up to "
            f"{' + '.join(map(str, right))} = {sum(right)}, the "
            f"{100 * sum(right) / n['Overall']:.2f} % printed as Overall",
        ),
        (
            "Table 6",
            f"PandaLM-7B contradicts itself on {differing} of 350 pairs",
            f"Table 5 leaves {decided} verdicts for an answer, so at most "
            f"{decided // 2} pairs with two winners",
            "it counts all pairs with different verdicts, also a tie beside a winner",
        ),
        (
            "Table 7",
            "Prometheus2-7b 38.31 % beside two rows over 350 pairs",
            f"134 of 350 are {13400 / 350:.2f} %, 135 are {13500 / 350:.2f} %",
            f"its Knowledge cell: {possible_counts(38.31, n['Knowledge'])[0]} of "
            f"{n['Knowledge']}; Overall is 34.86 %",
        ),
    ]
    return pd.DataFrame(rows, columns=["place", "printed", "arithmetic", "reading"])


_ROW_OF = {
    ("vanilla", "gpt-4o-2024-05-13"): {1: "Vanilla, GPT-4o"},
    ("arena_hard", "gpt-4o-2024-05-13"): {1: "Arena-Hard Judge, GPT-4o", 2: "GPT-4o"},
    ("vertext_ai_gen_ai_evaluation", "None"): {
        1: "VertexAI Evaluation, Gemini-1.5-pro"
    },
    ("panda_lm", "WeOpenML_PandaLM-7B-v1"): {1: "PandaLM, PandaLM-7B"},
    ("prometheus_2", "prometheus-eval_prometheus-7b-v2.0"): {
        1: "Prometheus2-7b, prometheus-7b-v2.0"
    },
    ("prometheus_2", "prometheus-eval_prometheus-8x7b-v2.0"): {
        1: "Prometheus2-8x7b, prometheus-8x7b-v2.0"
    },
    ("prometheus_2", "prometheus-eval_prometheus-bgb-8x7b-v2.0"): {
        1: "Prometheus2-bgb-8x7b, prometheus-bgb-8x7b-v2.0"
    },
    ("judge_lm", "BAAI_JudgeLM-7B-v1.0"): {1: "JudgeLM-7B, JudgeLM-7B-v1.0"},
    ("judge_lm", "BAAI_JudgeLM-13B-v1.0"): {1: "JudgeLM-13B, JudgeLM-13B-v1.0"},
    ("judge_lm", "BAAI_JudgeLM-33B-v1.0"): {1: "JudgeLM-33B, JudgeLM-33B-v1.0"},
    ("auto_j", "GAIR_autoj-13b"): {1: "AutoJ, autoj-13b"},
    ("skywork_critic", "Skywork_Skywork-Critic-Llama-3.1-8B"): {
        1: "Skywork-LLaMA-3.1B-8B, Skywork-Critic-Llama-3.1-8B"
    },
    ("skywork_critic", "Skywork_Skywork-Critic-Llama-3.1-70B"): {
        1: "Skywork-LLaMA-3.1B-70B, Skywork-Critic-Llama-3.1-70B"
    },
    ("chat_eval", "gpt-4o-2024-05-13"): {1: "ChatEval, GPT-4o"},
    ("arena_hard", "gpt-4o-mini-2024-07-18"): {2: "GPT-4o-mini"},
    ("arena_hard", "o1-preview-2024-09-12"): {2: "o1-preview"},
    ("arena_hard", "o1-mini-2024-09-12"): {2: "o1-mini"},
    ("arena_hard", "claude-3-5-sonnet-20240620"): {2: "Claude-3.5-Sonnet"},
    ("arena_hard", "claude-3-haiku-20240307"): {2: "Claude-3-Haiku"},
    ("arena_hard", "meta-llama_Meta-Llama-3.1-405B-Instruct"): {
        2: "Llama-3.1-405B-Instruct"
    },
    ("arena_hard", "meta-llama_Meta-Llama-3.1-70B-Instruct"): {
        2: "Llama-3.1-70B-Instruct"
    },
    ("arena_hard", "meta-llama_Meta-Llama-3.1-8B-Instruct"): {
        2: "Llama-3.1-8B-Instruct"
    },
    ("arena_hard", "gemini-1.5-pro-001"): {2: "Gemini-1.5-pro"},
    ("arena_hard", "gemini-1.5-flash-001"): {2: "Gemini-1.5-flash"},
} | {key: {3: name} for key, name in NAMES.items() if key[0] == "reward_model"}
"""(prompt, model) of a file of outputs → its row in the paper's tables."""

_KNOWN = {
    (4, "Llama-3.1-405B-Instruct, Solver", "Reasoning"): (
        "no whole number of 98 prints so; this figure and that of Math look exchanged "
        "(38 of 56), then the row adds up to its Overall"
    ),
    (4, "Llama-3.1-405B-Instruct, Solver", "Math"): (
        "no whole number of 56 prints so; this figure and that of Reasoning look "
        "exchanged (62 of 98), then the row adds up to its Overall"
    ),
}
"""Cells that differ, and why."""

_LABEL_COLUMNS = {
    1: ["judge_label_in_paper", "underlying_model"],
    2: ["model"],
    3: ["reward_model"],
    4: ["model", "role"],
}


def _rows(table: int) -> list[tuple[str, str, float]]:
    """List the printed accuracies of Tables 1–4: judge, category, percentage."""
    printed = data.published("judgebench", f"table{table}")
    labels = printed[_LABEL_COLUMNS[table]].agg(", ".join, axis=1)
    return list(zip(labels, printed["category"], printed["accuracy_pct"], strict=True))


def reproduce(records: pd.DataFrame | None = None) -> list[PaperTable]:
    """Compare every figure of the paper that can be checked with our own.

    Parameters
    ----------
    records : pandas.DataFrame, optional
        Records of more judges, such as ``load("all")``; their rows are then recomputed
        too. The counts that the package carries if not given.

    Returns
    -------
    list of PaperTable
        Rows of Tables 1–3 whose judges are at hand are recomputed from verdicts, by the
        rule of the repository. All other figures are checked in print: whether a whole
        number of pairs can print so, with Wilson's interval.

    Raises
    ------
    ValidationError
        As `count_orders`.

    References
    ----------
    Tan et al. (2024), Tables 1–8, sections 3 and 4.4.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> tables = reproduce()
    >>> print(next(t.caption for t in tables if "Table 3" in t.caption))
    JudgeBench (2410.12784), Table 3: reward models (recomputed): 25 figures checked,
    25 exact
    """
    counts = _counts(records)
    inconsistent = [(judge, percent, 350, "") for judge, percent in _inconsistent()]
    return [
        _sizes_table(counts),
        *_accuracy_tables(1, "judges", counts),
        *_accuracy_tables(2, "models with the Arena-Hard prompt", counts),
        *_accuracy_tables(3, "reward models", counts),
        *_accuracy_tables(4, "solving and judging", counts),
        _verdicts_table(),
        _shares_table(6, "pairs with inconsistent verdicts", inconsistent),
        _shares_table(7, "Prometheus 2 and its base model", _base_model_rows()),
        _shares_table(8, "augmented knowledge pairs", _augmented_rows()),
        _text_table(),
    ]


def _sizes_table(counts: pd.DataFrame) -> PaperTable:
    seen = counts.groupby(["judge", "responses", "category"])["pairs"].sum()
    largest = seen.groupby(["responses", "category"]).max()
    cells = [
        Cell(
            f"pairs of {who}, {name}",
            own[name],
            float(largest.get((who, name), np.nan)),
        )
        for who, own in _pairs_in().items()
        for name in CATEGORIES
    ]
    return PaperTable(_SOURCE, "Section 3: number of pairs", cells, unit="pairs")


def _accuracy_tables(
    number: int, subject: str, counts: pd.DataFrame
) -> list[PaperTable]:
    judge_of = {
        rows[number]: NAMES.get(key, f"{key[1]} ({key[0]})")
        for key, rows in _ROW_OF.items()
        if number in rows
    }
    on_gpt4o = counts[counts["responses"] == "GPT-4o"]
    at_hand = set(on_gpt4o["judge"])
    ours = evaluate(on_gpt4o, rule="judgebench")["accuracy"].to_dict()
    pairs_in = _pairs_in()["GPT-4o"]
    recomputed, printed = [], []
    for label, name, percent in _rows(number):
        cell_name = f"{label}, {name}"
        judge = judge_of.get(label)
        if judge is not None and judge in at_hand:
            accuracy = ours[judge, "GPT-4o", name]
            recomputed.append(Cell(cell_name, percent, accuracy, 2, scale=100))
        else:
            known = _KNOWN.get((number, label, name), "")
            printed.append(_share_cell(cell_name, percent, pairs_in[name], known=known))
    title = f"Table {number}: {subject}"
    tables = []
    if recomputed:
        tables.append(PaperTable(_SOURCE, title, recomputed, unit="% of pairs"))
    if printed:
        tables.append(PaperTable(_SOURCE, title, printed, "from print", "% of pairs"))
    return tables


def _share_cell(
    name: str, percent: float, n: int, *, decimals: int = 2, known: str = ""
) -> Cell:
    """Check that a whole number of n units prints so, and give it an interval."""
    whole = possible_counts(percent, n, decimals) or [round(percent * n / 100)]
    return Cell(
        name,
        percent,
        proportion(whole[0], n),
        decimals,
        scale=100,
        known=bool(known),
        why=known,
    )


def _verdicts_table() -> PaperTable:
    printed = data.published("judgebench", "table5").set_index("judge")
    cells = [
        Cell(
            f"{judge}, {kind}",
            int(count),
            None,
            scale=int(row.sum()),
            why="these outputs are large; load() fetches them. Interval as if all 700 "
            "verdicts were independent",
            interval=proportion(int(count), int(row.sum())),
        )
        for judge, row in printed.iterrows()
        for kind, count in row.items()
    ]
    return PaperTable(
        _SOURCE, "Table 5: verdicts", cells, "from print", "of 700 verdicts"
    )


def _shares_table(
    number: int, subject: str, rows: list[tuple[str, float, int, str]]
) -> PaperTable:
    cells = [_share_cell(name, p, n, known=known) for name, p, n, known in rows]
    return PaperTable(
        _SOURCE, f"Table {number}: {subject}", cells, "from print", "% of pairs"
    )


def _inconsistent() -> list[tuple[str, float]]:
    printed = data.published("judgebench", "table6")
    return list(zip(printed["judge"], printed["inconsistent_pct"], strict=True))


def _base_model_rows() -> list[tuple[str, float, int, str]]:
    known = {
        "Prometheus2-7b": "no whole number of 350 prints so; it is the judge's "
        "Knowledge cell of Table 1 (59 of 154)"
    }
    printed = data.published("judgebench", "table7")
    return [
        (judge, p, 350, known.get(judge, ""))
        for judge, p in zip(printed["judge"], printed["score_pct"], strict=True)
    ]


def _augmented_rows() -> list[tuple[str, float, int, str]]:
    printed = data.published("judgebench", "table8")
    return [
        (f"{model}, {kind}", p, n, "")
        for kind, n in (("original", 154), ("augmented", 770))
        for model, p in zip(printed["model"], printed[f"{kind}_pct"], strict=True)
    ]


def _text_table() -> PaperTable:
    known = {
        ("GPT-4o", "Claude-3.5-Sonnet"): "no whole number of 270 prints so; 145 of 269 "
        "and 83 of 154 would"
    }
    printed = data.published("judgebench", "figure4_text")
    cells = [
        _share_cell(
            f"{model} on pairs of {who}",
            percent,
            _pairs_in()[who]["Overall"],
            decimals=1,
            known=known.get((model, who), ""),
        )
        for model, who, percent in printed.itertuples(index=False)
    ]
    return PaperTable(
        _SOURCE, "Section 4.4: text on Figure 4", cells, "from print", "% of pairs"
    )


def load_others(*, nonsense: Literal["invalid", "tie"] = "invalid") -> pd.DataFrame:
    """Read the verdicts of five newer judges that are not in the paper.

    They were made with the repository's code by devcomfort-research/JudgeBench and are
    read from a text-free copy in ``<JUDGELAB_DATA>/judgebench/verdicts``.

    Parameters
    ----------
    nonsense : {"invalid", "tie"}, default "invalid"
        As `read_output`.

    Returns
    -------
    pandas.DataFrame
        Records as `read_output` returns them, on the pairs of Claude 3.5 Sonnet.

    Raises
    ------
    ValidationError
        If there is no such folder.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    folder = Path(os.environ.get("JUDGELAB_DATA", ""), "judgebench", "verdicts")
    files = sorted(folder.glob("devcomfort-research_JudgeBench__*.csv"))
    if not files:
        raise ValidationError(
            f"no verdicts in {folder}; set JUDGELAB_DATA to a folder that holds them, "
            "or use the counts that the package carries"
        )
    raw = pd.concat([pd.read_csv(file, dtype=str) for file in files])
    orders = []
    for swapped, label, why in (
        (False, "verdict_1", "null_kind_1"),
        (True, "verdict_2_raw", "null_kind_2"),
    ):
        labels = raw[label].fillna("")
        replied = raw[why].eq("unparsed")
        prompts = zip(raw["judge_name"], raw["judge_model"], strict=True)
        verdicts = [
            _verdict(text, _meaningless(nonsense), has_reply=reply).name
            for text, reply in zip(labels, replied, strict=True)
        ]
        orders.append(
            pd.DataFrame(
                {
                    "judge": [NAMES[key] for key in prompts],
                    "prompt": raw["judge_name"],
                    "responses": raw["response_model"].map(_responses),
                    "item": raw["pair_id"],
                    "source": raw["source"],
                    "category": raw["source"].map(category),
                    "gold": [_LABELS[gold].name for gold in raw["gold"]],
                    "swapped": swapped,
                    "verdict": verdicts,
                    "label": raw[label],
                }
            )
        )
    return pd.concat(orders, ignore_index=True)


def derive_counts(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Turn records into all counts that the package carries.

    Parameters
    ----------
    records : pandas.DataFrame
        `load` and `load_others`, together.

    Returns
    -------
    dict of pandas.DataFrame
        ``two_orders`` as `count_orders`; ``joint_right``: for every two judges of the
        same pairs, how many both, only one, or neither gets right by the repository's
        rule.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    right = _right(records, "judgebench")
    rows = []
    for _, part in right.groupby(level="responses"):
        judges = sorted(part.columns[part.notna().any()])
        rows += [
            (one, two, *_joint(part, one, two))
            for i, one in enumerate(judges)
            for two in judges[i + 1 :]
        ]
    columns = ["judge", "other", "both", "only_judge", "only_other", "neither"]
    return {
        "two_orders": count_orders(records),
        "joint_right": pd.DataFrame(rows, columns=columns),
    }


def write_counts(folder: Path) -> None:
    """Write the shipped counts anew, as CSV files with their source and licence.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files go.

    Notes
    -----
    Maintainers: ``python -m judgelab.papers.judgebench <folder>`` with JUDGELAB_DATA
    set. Chapter: *JudgeBench*.
    """
    import pandas as pd

    header = (
        "# source: counted by judgelab.papers.judgebench.derive_counts from the "
        "outputs in ScalerLab/JudgeBench at e2c52c284e735e139b3daa61c206ee208f36c461 "
        "(seven judges) and in devcomfort-research/JudgeBench (Mercury, Mercury-Coder, "
        "MiniMax-M2, MiniMax-M2.1, GLM-4.7); Tan et al. (2024), arXiv:2410.12784\n"
        "# licence: neither repository states one; counts only, no verdict on a pair "
        "can be recovered\n"
    )
    records = pd.concat([load(), load_others()], ignore_index=True)
    for name, frame in derive_counts(records).items():
        text = frame.to_csv(index=False, lineterminator="\n")
        Path(folder, f"{name}.csv").write_text(header + text, "utf-8")


if __name__ == "__main__":
    write_counts(Path(sys.argv[1]))
