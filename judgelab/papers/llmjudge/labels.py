"""Relevance labels: reading and joining them, and the tables that the package carries.

A pair is a query and a passage; a person and a judge each gave it a label from 0
(irrelevant) to 3 (perfectly relevant). Per query, a 4 × 4 table of human × judge is all
that agreement and its interval need.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.counts import contingency_table, numbers
from judgelab.errors import ValidationError

if TYPE_CHECKING:
    import pandas as pd

Integers = npt.NDArray[np.int64]
Outside = Literal["raise", "clip", "drop"]
Kind = Literal["all", "human", "synthetic"]

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

_KEY = ["query", "document"]
_CELLS = [f"h{human}j{judge}" for human in SCALE for judge in SCALE]


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
        parts = line.split()
        if len(parts) != 4:
            raise ValidationError(
                f"{path.name}, line {number}: {len(parts)} columns; expected query, 0, "
                "document, label (a file without labels has three)"
            )
        # `int` would read 1_0 as ten.
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", parts[3]):
            raise ValidationError(
                f"{path.name}, line {number}: the label is {parts[3]!r}; labels are "
                "whole numbers (round or cut them yourself, and say how)"
            )
        rows.append((parts[0], parts[2], int(parts[3])))
    frame = pd.DataFrame(rows, columns=[*_KEY, "label"])
    return _checked(frame, path.name)


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
    truth, labels = _checked(human, "human"), _checked(judge, "judge")
    _refuse_outside(truth, "human", "correct them")
    both = truth.rename(columns={"label": "human"}).merge(
        labels.rename(columns={"label": "judge"}),
        on=_KEY,
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
    shared = truth[_KEY].merge(both[both["side"] == "both"], on=_KEY)
    pairs = shared[[*_KEY, "human", "judge"]].astype({"human": int, "judge": int})
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


def _checked(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return query, document and whole-number label, one row per pair."""
    wanted = [*_KEY, "label"]
    if missing := [column for column in wanted if column not in frame]:
        raise ValidationError(f"{name} lacks the columns {missing}; give {wanted}")
    if not len(frame):
        raise ValidationError(f"{name} holds no labels")
    labels = frame[wanted].reset_index(drop=True)
    gaps = labels.isna().any(axis=1) | (labels[_KEY] == "").any(axis=1)
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
    labels[_KEY] = labels[_KEY].astype(str)
    twice = labels.duplicated(_KEY, keep=False)
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


@cache
def _shipped(outside: str) -> dict[str, Integers]:
    """Per submission queries × human × judge, read-only."""
    frame = data.counts("llmjudge", "tables")
    names = {query: place for place, query in enumerate(_test_queries()["query"])}
    counted = {}
    for name in SUBMISSIONS:
        rows = frame[frame["submission"] == name]
        table = np.zeros((len(names), 4, 4), np.int64)
        table[rows["query"].map(names)] = rows[_CELLS].to_numpy().reshape(-1, 4, 4)
        counted[name] = table
    if outside == "clip":
        off = data.counts("llmjudge", "outside")
        nearest = off["label"].clip(SCALE[0], SCALE[-1])
        for name, *where, pairs in zip(
            off["submission"],
            off["query"].map(names),
            off["human"],
            nearest,
            off["pairs"],
            strict=True,
        ):
            counted[name][tuple(where)] += pairs
    for table in counted.values():
        table.flags.writeable = False
    return counted


@cache
def _test_queries() -> pd.DataFrame:
    return query_counts().query("split == 'test'").reset_index(drop=True)


def tables(
    submission: str,
    *,
    outside: Literal["clip", "drop"] = "clip",
    queries: Kind = "all",
    zeros: Literal["as tested", "restored"] = "as tested",
) -> Integers:
    """How often did each human label meet each label of a submission, per query?

    Parameters
    ----------
    submission : str
        One of `SUBMISSIONS`.
    outside : {"clip", "drop"}, default "clip"
        What becomes of the three labels above 3: see `join_labels`.
    queries : {"all", "human", "synthetic"}, default "all"
        All 25 queries, the 15 that people asked, or the 10 that a model wrote.
    zeros : {"as tested", "restored"}, default "as tested"
        The test set keeps only half of the pairs that people called irrelevant (2,005
        of 4,009). "restored" lets each stand for two.

    Returns
    -------
    ndarray of int64, shape (queries, 4, 4)
        Rows are human labels, columns the judge's; queries in the order of `queries`.

    Raises
    ------
    ValidationError
        If the submission or an option is unknown.

    References
    ----------
    Rahmani et al. (2025), Tables 1 and 3.

    Notes
    -----
    Counted from the labels by `derive_counts`. Chapter: *Labels and rankings:
    LLMJudge*.

    Examples
    --------
    >>> tables("willia-umbrela1").sum(axis=0)
    array([[1521,  369,   88,   27],
           [ 579,  457,  157,   40],
           [ 189,  280,  270,   69],
           [  46,  125,   93,  113]])
    """
    if submission not in SUBMISSIONS:
        raise ValidationError(
            f"the labels of {submission!r} are not public; there are: "
            + ", ".join(SUBMISSIONS)
        )
    if outside not in ("clip", "drop"):
        raise ValidationError(f"outside is {outside!r}; choose 'clip' or 'drop'")
    if queries not in ("all", "human", "synthetic"):
        raise ValidationError(
            f"queries is {queries!r}; choose 'all', 'human' or 'synthetic'"
        )
    if zeros not in ("as tested", "restored"):
        raise ValidationError(f"zeros is {zeros!r}; choose 'as tested' or 'restored'")
    counted = _shipped(outside)[submission].copy()
    if zeros == "restored":
        counted[:, 0] *= 2
    if queries == "all":
        return counted
    return counted[(_test_queries()["kind"] == queries).to_numpy()]


def query_counts() -> pd.DataFrame:
    """Which queries are there, who asked them, and how were their passages labelled?

    Returns
    -------
    pandas.DataFrame
        50 rows: ``split`` (dev or test), ``query``, ``kind`` ("human", or "synthetic"
        for a query that T5 or GPT-4 wrote), ``pairs`` and ``n0`` to ``n3``, the number
        of passages with each human label.

    References
    ----------
    The kind follows from the number of the query in TREC DL 2023, as in
    rahmanidashti/SynDL.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> query_counts().groupby(["split", "kind"])["pairs"].sum().to_dict()
    {('dev', 'human'): 4570, ('dev', 'synthetic'): 2693, ('test', 'human'): 2842,
    ('test', 'synthetic'): 1581}
    """
    return data.counts("llmjudge", "queries")


def binarise(tables: npt.ArrayLike, cut: int) -> npt.NDArray[Any]:
    """Turn tables of four labels into tables of "relevant or not".

    Parameters
    ----------
    tables : array_like, shape (..., k, k)
        Counts on the scale 0, …, k−1.
    cut : int
        The least label that counts as relevant, from 1 to k − 1; `CUTS` has the three
        of the paper.

    Returns
    -------
    ndarray, shape (..., 2, 2)
        Not relevant first.

    Raises
    ------
    ValidationError
        If the cut leaves nothing on one side, or the tables hold no counts.

    References
    ----------
    Rahmani et al. (2025), Tables 4 and 5.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> binarise(tables("willia-umbrela1"), CUTS["01|23"]).sum(axis=0)
    array([[2926,  312],
           [ 640,  545]])
    """
    counts = _square(tables)
    k = counts.shape[-1]
    if cut not in range(1, k):
        raise ValidationError(f"cut is {cut!r}; give a label from 1 to {k - 1}")
    ends = [0, int(cut)]
    return np.add.reduceat(np.add.reduceat(counts, ends, axis=-1), ends, axis=-2)


def recode(tables: npt.ArrayLike, labels: Iterable[int]) -> npt.NDArray[Any]:
    """Replace the judge's labels by others: what if it had been kinder?

    Parameters
    ----------
    tables : array_like, shape (..., k, k)
        Human × judge.
    labels : iterable of int, length k
        The new label for each of the judge's labels 0, …, k−1.

    Returns
    -------
    ndarray, shape (..., k, k)
        The same pairs with the judge's labels replaced.

    Raises
    ------
    ValidationError
        If there is not one new label on the scale for each old one, or the tables hold
        no counts.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> recode([[5, 2], [1, 4]], [1, 1])
    array([[0, 7],
           [0, 5]])
    """
    counts = _square(tables)
    k = counts.shape[-1]
    new = list(labels)
    if len(new) != k or not all(label in range(k) for label in new):
        raise ValidationError(
            f"labels is {new}; give a label from 0 to {k - 1} for each of the {k}"
        )
    kept = np.eye(k, dtype=counts.dtype)[[int(label) for label in new]]
    return np.asarray(counts @ kept)


def _square(tables: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return tables of human × judge as an array, if they are some."""
    counts = numbers(tables)
    k = counts.shape[-1] if counts.ndim > 1 else 0
    if counts.dtype.kind not in "iuf" or k < 2 or counts.shape[-2] != k:
        raise ValidationError(
            f"tables has dtype {counts.dtype} and shape {counts.shape}; give counts, "
            "human × judge, of the same labels on both sides"
        )
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValidationError("tables holds what is no count; counts are numbers >= 0")
    return counts


def derive_counts(
    human: pd.DataFrame, judges: dict[str, pd.DataFrame], dev: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Turn the labels into the counts from which the book recomputes the paper.

    Parameters
    ----------
    human, judges
        From `load`.
    dev : pandas.DataFrame
        The human labels of the development set, from `read_labels`.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``tables`` (human × judge per submission and query, labels on the scale),
        ``outside`` (the others), ``position`` (tables that come out when rows are
        matched by their number, for files in another order), ``queries`` and ``sets``.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.
    """
    import pandas as pd

    order = sorted(human["query"].unique())
    rows, off, position = [], [], []
    for name, judge in judges.items():
        counted = join_labels(human, judge, outside="drop").tables()
        rows += [
            [name, query, *table.ravel()]
            for query, table in zip(order, counted, strict=True)
        ]
        beyond = judge[~judge["label"].isin(SCALE)].merge(
            human.rename(columns={"label": "human"}), on=_KEY
        )
        for key, group in beyond.groupby(["query", "human", "label"]):
            off.append([name, *key, len(group)])
        if not (human[_KEY].to_numpy() == judge[_KEY].to_numpy()).all():
            cells = contingency_table(
                human["label"].to_numpy(), judge["label"].to_numpy(), scale=SCALE
            )
            position.append([name, *cells.ravel()])
    splits = {"dev": dev, "test": human}
    labels = [f"n{label}" for label in SCALE]
    numbered = {
        split: [int((frame["label"] == label).sum()) for label in SCALE]
        for split, frame in splits.items()
    }
    return {
        "tables": pd.DataFrame(rows, columns=["submission", "query", *_CELLS]),
        "outside": pd.DataFrame(
            off, columns=["submission", "query", "human", "label", "pairs"]
        ),
        "position": pd.DataFrame(position, columns=["submission", *_CELLS]),
        "queries": pd.concat(
            [_by_query(frame).assign(split=split) for split, frame in splits.items()],
            ignore_index=True,
        )[["split", "query", "kind", "pairs", *labels]],
        "sets": pd.DataFrame(
            [
                [
                    split,
                    frame["query"].nunique(),
                    frame["document"].nunique(),
                    len(frame),
                    *numbered[split],
                ]
                for split, frame in splits.items()
            ],
            columns=["split", "queries", "passages", "pairs", *labels],
        ),
    }


def _by_query(frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    counted = pd.crosstab(frame["query"], frame["label"])
    counted.columns = [f"n{label}" for label in counted.columns]
    names = _query_numbers()
    kinds = [
        "human" if names[q] < _FIRST_SYNTHETIC else "synthetic" for q in counted.index
    ]
    return counted.assign(kind=kinds, pairs=counted.sum(axis=1)).reset_index()


_FIRST_SYNTHETIC = 3_000_000
"""TREC DL 2023 numbers the queries that a model wrote from here on."""


def _query_numbers() -> dict[str, int]:
    path = data.fetch("llmjudge") / "qrels" / "qid_to_qidx.txt"
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return {name: int(number) for number, name in lines}
