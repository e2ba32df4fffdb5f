"""The tables that the package carries: human × judge, per query.

They are all that agreement and its interval need.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab._checks import array
from judgelab.counts import contingency_table
from judgelab.errors import ValidationError
from judgelab.papers.llmjudge.labels import (
    KEY,
    SCALE,
    SUBMISSIONS,
    Integers,
    join_labels,
)

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["all", "human", "synthetic"]

_CELLS = [f"h{human}j{judge}" for human in SCALE for judge in SCALE]
_FIRST_SYNTHETIC = 3_000_000
"""TREC DL 2023 numbers the queries that a model wrote from here on."""


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
    >>> from judgelab.papers.llmjudge import CUTS
    >>> binarise(tables("willia-umbrela1"), CUTS["01|23"]).sum(axis=0)
    array([[2926,  312],
           [ 640,  545]])
    """
    counts = square_tables(tables)
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
    counts = square_tables(tables)
    k = counts.shape[-1]
    new = list(labels)
    if len(new) != k or not all(label in range(k) for label in new):
        raise ValidationError(
            f"labels is {new}; give a label from 0 to {k - 1} for each of the {k}"
        )
    kept = np.eye(k, dtype=counts.dtype)[[int(label) for label in new]]
    return np.asarray(counts @ kept)


def square_tables(tables: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return tables of human × judge as an array, if they are some."""
    counts = array("tables", tables)
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
            human.rename(columns={"label": "human"}), on=KEY
        )
        for key, group in beyond.groupby(["query", "human", "label"]):
            off.append([name, *key, len(group)])
        if not (human[KEY].to_numpy() == judge[KEY].to_numpy()).all():
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


def _query_numbers() -> dict[str, int]:
    path = data.fetch("llmjudge") / "qrels" / "qid_to_qidx.txt"
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return {name: int(number) for number, name in lines}
