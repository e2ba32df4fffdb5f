"""What there is to read: the judges' outputs, the pairs, and five newer judges."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgelab import data
from judgelab.errors import ValidationError
from judgelab.papers.judgebench.reading import (
    LABELS,
    NAMES,
    category,
    nonsense_as,
    parts_of_name,
    read_output,
    verdict_of,
    writer_of,
)

if TYPE_CHECKING:
    import pandas as pd

_AT_HAND = data.SOURCES["judgebench"]
_FILES = (*_AT_HAND.files, *data.MORE_JUDGEBENCH)


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

    rows = [
        parts_of_name(file.name)
        | {"file": file.name, "blob": file.blob, "at_hand": file in _AT_HAND.files}
        for file in _FILES
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
            f"no outputs of these judges on pairs of {responses or 'anyone'}; "
            "outputs() lists what there is"
        )
    paths = set(wanted["file"])
    files = tuple(file for file in _FILES if file.name in paths)
    folder = data.fetch(replace(_AT_HAND, files=files))
    return pd.concat(
        [
            read_output(folder / name, score_ties=score_ties, nonsense=nonsense)
            for name in wanted["file"]
        ],
        ignore_index=True,
    )


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
            for file in _AT_HAND.files
            if file.name.startswith("data/")
        ],
        ignore_index=True,
    )
    return pd.DataFrame(
        {
            "item": raw["pair_id"],
            "responses": raw["response_model"].map(writer_of),
            "source": raw["source"],
            "category": raw["source"].map(category),
            "gold": [LABELS[label].name for label in raw["label"]],
            "question": raw["question"],
        }
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
            verdict_of(text, nonsense_as(nonsense), has_reply=reply).name
            for text, reply in zip(labels, replied, strict=True)
        ]
        orders.append(
            pd.DataFrame(
                {
                    "judge": [NAMES[key] for key in prompts],
                    "prompt": raw["judge_name"],
                    "responses": raw["response_model"].map(writer_of),
                    "item": raw["pair_id"],
                    "source": raw["source"],
                    "category": raw["source"].map(category),
                    "gold": [LABELS[gold].name for gold in raw["gold"]],
                    "swapped": swapped,
                    "verdict": verdicts,
                    "label": raw[label],
                }
            )
        )
    return pd.concat(orders, ignore_index=True)
