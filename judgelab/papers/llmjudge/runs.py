"""From the run of a search system to its score, by trec_eval's rules.

NDCG itself is computed by `ir_measures` (the extra ``ir``), that is by trec_eval, whose
two rules of sorting a run `trec_order` shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from judgelab._checks import array
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.papers.llmjudge.labels import checked_labels

if TYPE_CHECKING:
    import pandas as pd


def trec_order(scores: npt.ArrayLike, documents: npt.ArrayLike) -> list[int]:
    """In which order does trec_eval read a run?

    It ignores the ranks in the file and sorts by two rules: scores count as 32-bit
    floats, so that some differences vanish, and ties go by the name of the document,
    the *last* in the alphabet first.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Higher is better.
    documents : array_like of str, shape (n,)
        Their names.

    Returns
    -------
    list of int
        Positions, best first.

    Raises
    ------
    ValidationError
        If the two differ in length, a score is no finite number, or a document stands
        twice.

    References
    ----------
    usnistgov/trec_eval, form_res_rels.c.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> trec_order([0.9, 0.5, 0.5], ["p1", "p10", "p2"])
    [0, 2, 1]

    The two scores differ, and not in 32 bits:

    >>> trec_order([12.0000004, 12.0000001], ["p1", "p2"])
    [1, 0]
    """
    values = array("scores", scores, "finite numbers")
    names = np.asarray(documents, str)
    if values.dtype.kind not in "iuf":
        raise ValidationError(f"scores has dtype {values.dtype}; give numbers")
    if values.ndim != 1 or values.shape != names.shape:
        raise ValidationError(
            f"scores has shape {values.shape} and documents {names.shape}; give one "
            "name per score"
        )
    if not np.isfinite(values).all():
        raise ValidationError(
            f"scores are not finite at {np.flatnonzero(~np.isfinite(values))[:5]}"
        )
    if len(set(names.tolist())) < names.size:
        raise ValidationError("a document stands twice in the run of one query")
    with np.errstate(over="ignore"):  # beyond 32 bits all scores are infinite, and tie
        short = values.astype(np.float32)
    return sorted(range(names.size), key=lambda i: (short[i], names[i]), reverse=True)


def run_scores(
    run: pd.DataFrame,
    labels: pd.DataFrame,
    *,
    measure: str = "nDCG@10",
    no_relevant: Literal["raise", "zero"] = "raise",
) -> dict[str, float]:
    """How well does a search system do on each query, by these labels?

    Parameters
    ----------
    run : pandas.DataFrame
        ``query``, ``document`` and ``score``: what the system returned.
    labels : pandas.DataFrame
        ``query``, ``document`` and ``label``, by people or a judge. Passages without a
        label count as irrelevant.
    measure : str, default "nDCG@10"
        A measure in the spelling of `ir_measures`.
    no_relevant : {"raise", "zero"}, default "raise"
        A query without any relevant passage has no NDCG (0/0): refuse, or give it the 0
        that trec_eval prints.

    Returns
    -------
    dict of str to float
        Query → score, for the queries of `labels`.

    Raises
    ------
    ModuleNotFoundError
        If ``ir_measures`` is not installed (``pip install judgelab[ir]``).
    UndefinedStatistic
        If a query has no relevant passage and `no_relevant` is "raise".
    ValidationError
        If a column is missing, a label is no whole number, a score no finite number, a
        document stands twice for a query, there are no labels, the run returns nothing
        for a labelled query, or the measure is unknown.

    References
    ----------
    MacAvaney, Macdonald & Ounis (2022), *ECIR* (ir_measures); Järvelin & Kekäläinen
    (2002), *ACM TOIS* 20(4) (NDCG). The gain of a passage is its label.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> import pandas as pd
    >>> run = pd.DataFrame(
    ...     {"query": "q1", "document": ["p1", "p2", "p3"], "score": [3.0, 2.0, 1.0]}
    ... )
    >>> labels = pd.DataFrame(
    ...     {"query": "q1", "document": ["p1", "p2", "p3"], "label": [0, 3, 1]}
    ... )
    >>> round(run_scores(run, labels)["q1"], 4)
    0.659
    """
    import ir_measures

    if no_relevant not in ("raise", "zero"):
        raise ValidationError(
            f"no_relevant is {no_relevant!r}; choose 'raise' or 'zero'"
        )
    try:
        wanted = ir_measures.parse_measure(measure)
    except (NameError, ValueError, SyntaxError) as error:
        raise ValidationError(
            f"ir_measures has no measure {measure!r} ({error}); its name of the usual "
            "one is 'nDCG@10'"
        ) from None
    labels = checked_labels(labels, "labels")
    run = _checked_run(run)
    found = set(run["query"])
    if lacking := [q for q in labels["query"].unique() if q not in found]:
        raise ValidationError(
            f"the run returns nothing for {len(lacking)} labelled queries, such as "
            f"{lacking[0]!r}; trec_eval would leave them out of the mean, which "
            "flatters the system: add them, or take their labels out"
        )
    best = labels.groupby("query")["label"].max()
    if no_relevant == "raise" and (best <= 0).any():
        raise UndefinedStatistic(
            f"no passage of query {best.index[best <= 0][0]!r} is relevant, and its "
            'NDCG is 0/0; leave it out, or pass no_relevant="zero" as trec_eval does'
        )
    calculated = ir_measures.iter_calc(
        [wanted],
        [
            ir_measures.Qrel(q, d, label)
            for q, d, label in labels[["query", "document", "label"]].itertuples(
                index=False
            )
        ],
        [
            ir_measures.ScoredDoc(q, d, float(score))
            for q, d, score in run[["query", "document", "score"]].itertuples(
                index=False
            )
        ],
    )
    return {result.query_id: float(result.value) for result in calculated}


def _checked_run(run: pd.DataFrame) -> pd.DataFrame:
    """Return query, document and finite score, one row per document of a query."""
    wanted = ["query", "document", "score"]
    if missing := [column for column in wanted if column not in run]:
        raise ValidationError(f"run lacks the columns {missing}; give {wanted}")
    scores = array("score", run["score"].to_numpy(), "finite numbers")
    if run[wanted].isna().any().any():
        raise ValidationError("run has missing values; fill or remove them")
    if scores.dtype.kind not in "iuf" or not np.isfinite(scores).all():
        raise ValidationError("run: a score is no finite number; give numbers")
    run = run[wanted].astype({"query": str, "document": str})
    twice = run.duplicated(["query", "document"])
    if twice.any():
        first = run[twice].iloc[0]
        raise ValidationError(
            f"run: {first['query']!r} and {first['document']!r} stand more than once; "
            "keep one score per document"
        )
    return run
