"""Relevance labels: reading and joining them.

A pair is a query and a passage; a person and a judge each gave it a label from 0
(irrelevant) to 3 (perfectly relevant).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.counts import contingency_table
from judgelab.errors import ValidationError

if TYPE_CHECKING:
    import pandas as pd

Integers = npt.NDArray[np.int64]
Outside = Literal["raise", "clip", "drop"]

SCALE = (0, 1, 2, 3)
"""Irrelevant, related, highly relevant, perfectly relevant."""

CUTS = {"0|123": 1, "01|23": 2, "012|3": 3}
"""The paper's three binarisations, and the least label that counts as relevant."""

SUBMISSIONS = tuple(
    Path(file.name).stem
    for file in data.SOURCES["llmjudge"].files
    if file.name.startswith("submissions/")
)
"""The 33 submissions whose labels are public, by the names of the paper."""

KEY = ["query", "document"]


@dataclass(frozen=True, slots=True)
class JoinedLabels:
    """Pairs that both a person and a judge labelled, and what it took to get them."""

    pairs: pd.DataFrame
    """``query``, ``document``, ``human``, ``judge``; one row per pair."""
    clipped: int
    """Labels of the judge that were moved to the nearest end of the scale."""
    dropped: int
    """Pairs left out because the judge's label is off the scale."""
    unmatched: int
    """Pairs left out because only one side has them."""

    def tables(self) -> Integers:
        """Count human × judge for every query, in the queries' sorted order."""
        labels = self.pairs["human"].to_numpy(), self.pairs["judge"].to_numpy()
        queries = self.pairs["query"].to_numpy()
        return contingency_table(*labels, scale=SCALE, clusters=queries)

    def __repr__(self) -> str:
        queries = self.pairs["query"].nunique()
        return (
            f"{len(self.pairs):,} pairs of {queries} queries; {self.clipped} labels "
            f"clipped, {self.dropped} pairs dropped, {self.unmatched} unmatched"
        )


def read_labels(path: str | Path) -> pd.DataFrame:
    r"""Which labels stand in a file of relevance judgements?

    Parameters
    ----------
    path : str or path
        A text file in the format of TREC: query, a column that nobody reads, document
        and label, with spaces or tabs between them.

    Returns
    -------
    pandas.DataFrame
        ``query``, ``document`` and ``label`` (whole numbers, not yet compared with any
        scale), in the order of the file.

    Raises
    ------
    ValidationError
        If a line has not four columns, a label is no whole number, a pair stands twice,
        there is no line, or the file is no text in UTF-8; the message names file and
        line.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "judge.txt")
    >>> _ = file.write_text("q1 0 p7 3\nq1 0 p8 0\n")
    >>> read_labels(file)
      query document  label
    0    q1       p7      3
    1    q1       p8      0
    """
    import pandas as pd

    path = Path(path)
    rows = []
    try:
        # Some editors begin a file with a mark that would become part of a name.
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValidationError(
            f"{path.name} is no text in UTF-8 (byte {error.start}); convert it"
        ) from None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rows.append(label_of_line(line))
        except ValidationError as error:
            raise ValidationError(f"{path.name}, line {number}: {error}") from None
    frame = pd.DataFrame(rows, columns=[*KEY, "label"])
    return checked_labels(frame, path.name)


def label_of_line(line: str) -> tuple[str, str, int]:
    """Read query, document and label off one line of a file of labels.

    Raises
    ------
    ValidationError
        If the line has not four columns, or the label is no whole number.
    """
    parts = line.split()
    if len(parts) != 4:
        raise ValidationError(
            f"{len(parts)} columns; expected query, 0, document, label (a file without "
            "labels has three)"
        )
    # `int` would read 1_0 as ten.
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", parts[3]):
        raise ValidationError(
            f"the label is {parts[3]!r}; labels are whole numbers (round or cut them "
            "yourself, and say how)"
        )
    return parts[0], parts[2], int(parts[3])


def join_labels(
    human: pd.DataFrame,
    judge: pd.DataFrame,
    *,
    outside: Outside = "raise",
    unmatched: Literal["raise", "drop"] = "raise",
) -> JoinedLabels:
    """Which labels did a person and a judge give to the same pair?

    Rows are matched by query and document: two files seldom have one order, and labels
    matched by position are those of different pairs.

    Parameters
    ----------
    human, judge : pandas.DataFrame
        ``query``, ``document`` and ``label``, as `read_labels` returns them. Names are
        compared as texts.
    outside : {"raise", "clip", "drop"}, default "raise"
        What becomes of a judge's label off the scale 0 to 3: refuse; move it to the
        nearest end, as the paper does; or leave the pair out. A human label off the
        scale is always refused.
    unmatched : {"raise", "drop"}, default "raise"
        What becomes of a pair that only one side has: refuse, or leave it out.

    Returns
    -------
    JoinedLabels
        The pairs in the order of `human`, and how many labels were clipped, dropped or
        had no partner.

    Raises
    ------
    ValidationError
        If a column or a value is missing, a label is no whole number or off the scale,
        a pair stands twice or on one side only, or a query has no pair left; the
        message names the first of them.

    References
    ----------
    Rahmani et al. (2025); that labels are clipped follows from the published figures.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> import pandas as pd
    >>> pairs = {"query": ["q1", "q1"], "document": ["p7", "p8"]}
    >>> human = pd.DataFrame({**pairs, "label": [3, 0]})
    >>> judge = pd.DataFrame({**pairs, "label": [10, 1]}).iloc[::-1]
    >>> joined = join_labels(human, judge, outside="clip")
    >>> joined
    2 pairs of 1 queries; 1 labels clipped, 0 pairs dropped, 0 unmatched
    >>> joined.pairs["judge"].tolist()
    [3, 1]
    """
    if outside not in ("raise", "clip", "drop"):
        raise ValidationError(
            f"outside is {outside!r}; choose 'raise', 'clip' or 'drop'"
        )
    if unmatched not in ("raise", "drop"):
        raise ValidationError(f"unmatched is {unmatched!r}; choose 'raise' or 'drop'")
    truth, labels = checked_labels(human, "human"), checked_labels(judge, "judge")
    _refuse_outside(truth, "human", "correct them")
    both = truth.rename(columns={"label": "human"}).merge(
        labels.rename(columns={"label": "judge"}),
        on=KEY,
        how="outer",
        sort=False,
        indicator="side",
    )
    alone = both[both["side"] != "both"]
    if len(alone) and unmatched == "raise":
        first = alone.iloc[0]
        side = "human" if first["side"] == "left_only" else "judge"
        raise ValidationError(
            f"{len(alone)} pairs are on one side only, such as {first['query']!r} and "
            f"{first['document']!r} ({side} only); complete the labels, or pass "
            'unmatched="drop"'
        )
    # An outer merge sorts by key: take the order of the human labels again.
    shared = truth[KEY].merge(both[both["side"] == "both"], on=KEY)
    pairs = shared[[*KEY, "human", "judge"]].astype({"human": int, "judge": int})
    off = ~pairs["judge"].isin(SCALE)
    if outside == "raise":
        _refuse_outside(
            pairs.rename(columns={"judge": "label"}),
            "judge",
            'pass outside="clip" or outside="drop"',
        )
    if outside == "clip":
        pairs = pairs.assign(judge=pairs["judge"].clip(SCALE[0], SCALE[-1]))
    elif outside == "drop":
        pairs = pairs[~off].reset_index(drop=True)
    queries = set(truth["query"]) | set(labels["query"])
    if empty := sorted(queries - set(pairs["query"])):
        raise ValidationError(
            f"no pair is left of {len(empty)} queries, such as {empty[0]!r}; a query "
            "without pairs says nothing: take it out of both sides"
        )
    many = int(off.sum())
    return JoinedLabels(
        pairs,
        many if outside == "clip" else 0,
        many if outside == "drop" else 0,
        len(alone),
    )


def checked_labels(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return query, document and whole-number label, one row per pair."""
    wanted = [*KEY, "label"]
    if missing := [column for column in wanted if column not in frame]:
        raise ValidationError(f"{name} lacks the columns {missing}; give {wanted}")
    if not len(frame):
        raise ValidationError(f"{name} holds no labels")
    labels = frame[wanted].reset_index(drop=True)
    gaps = labels.isna().any(axis=1) | (labels[KEY] == "").any(axis=1)
    if gaps.any():
        raise ValidationError(
            f"{name}: query, document or label is missing in {int(gaps.sum())} rows, "
            f"such as {_places(gaps)}; an unlabelled pair is no label 0"
        )
    values = np.asarray(labels["label"]).tolist()
    broken = [row for row, value in enumerate(values) if not _is_whole(value)]
    if broken:
        raise ValidationError(
            f"{name}: {len(broken)} labels are no whole numbers, such as "
            f"{values[broken[0]]!r} in row {broken[0]}"
        )
    # The number 2001459 in one file is the text "2001459" in another.
    labels[KEY] = labels[KEY].astype(str)
    twice = labels.duplicated(KEY, keep=False)
    if twice.any():
        first = labels[twice].iloc[0]
        raise ValidationError(
            f"{name}: {first['query']!r} and {first['document']!r} stand more than "
            f"once, in rows {_places(twice)}; keep one label per pair"
        )
    return labels.astype({"label": int})


def _is_whole(value: Any) -> bool:
    number = np.asarray(value)
    # Beyond 2⁵³ a float is no longer told from its neighbours.
    return bool(
        number.ndim == 0
        and number.dtype.kind in "iuf"
        and abs(number) < 2**53
        and number % 1 == 0
    )


def _places(where: Any) -> list[int]:
    places: list[int] = np.flatnonzero(np.asarray(where))[:5].tolist()
    return places


def _refuse_outside(labels: pd.DataFrame, name: str, remedy: str) -> None:
    off = labels[~labels["label"].isin(SCALE)]
    if len(off):
        first = off.iloc[0]
        raise ValidationError(
            f"{name}: {len(off)} labels are not on the scale 0 to 3, such as "
            f"{first['label']} for {first['query']!r} and {first['document']!r}; "
            + remedy
        )


def load() -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Which labels did people and the 33 public submissions give to the test pairs?

    Returns
    -------
    human : pandas.DataFrame
        4,423 rows with ``query``, ``document`` and ``label``.
    judges : dict of str to pandas.DataFrame
        The same for every submission, in the order of its own file, with three labels
        off the scale.

    Raises
    ------
    DownloadError, ChecksumMismatch
        If the files can't be had; see `judgelab.data.fetch`.

    References
    ----------
    llm4eval/LLMJudge-benchmark at 968a1f9 and llm4eval/LLMJudge at 81159c6.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.
    """
    folder = data.fetch("llmjudge")
    files = sorted((folder / "submissions").glob("*.txt"))
    return (
        read_labels(folder / "qrels" / "llmjudge_test_qrel_idx.txt"),
        {file.stem: read_labels(file) for file in files},
    )
