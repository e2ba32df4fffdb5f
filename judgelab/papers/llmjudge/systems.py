"""Do a judge's labels rank search systems as people's labels do?

A system's score is its mean NDCG@10 over queries; Kendall's tau compares two rankings
of the same systems.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab._checks import random_generator
from judgelab.correlation import kendall_tau
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import Rng, from_replicates
from judgelab.papers.llmjudge.labels import checked_labels
from judgelab.papers.llmjudge.runs import run_scores

if TYPE_CHECKING:
    import pandas as pd


def system_tau(
    runs: Mapping[str, pd.DataFrame],
    human: pd.DataFrame,
    judge: pd.DataFrame,
    *,
    measure: str = "nDCG@10",
    no_relevant: Literal["raise", "zero"] = "raise",
    queries: Literal["same", "any"] = "same",
) -> Estimate:
    """Do a judge's labels order search systems as people's labels do?

    This is the figure that the paper prints per submission and that can't be recomputed
    here, because the runs of TREC are not public: with runs of your own it can.

    Parameters
    ----------
    runs : mapping of str to pandas.DataFrame
        System → its run, as in `run_scores`; at least two.
    human, judge : pandas.DataFrame
        Two sets of labels, as in `run_scores`.
    measure, no_relevant
        As in `run_scores`.
    queries : {"same", "any"}, default "same"
        Whether both must have labelled the same queries. With "any" each ranking rests
        on its own, as SynDL's do: then tau also holds the difference between the
        queries.

    Returns
    -------
    Estimate
        Kendall's tau-b of the two orders of mean scores; n counts systems.

    Raises
    ------
    UndefinedStatistic
        If all systems have one score, or as in `run_scores`.
    ValidationError
        If there are fewer than two systems, the two sets of labels are of other queries
        and `queries` is "same", or as in `run_scores`.

    References
    ----------
    Rahmani et al. (2025), Table 3.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.
    """
    if len(runs) < 2:
        raise ValidationError(
            f"{len(runs)} systems have no ranking; give the runs of at least two"
        )
    if queries not in ("same", "any"):
        raise ValidationError(f"queries is {queries!r}; choose 'same' or 'any'")
    asked = [
        set(checked_labels(f, n)["query"])
        for f, n in ((human, "human"), (judge, "judge"))
    ]
    if queries == "same" and (alone := sorted(asked[0] ^ asked[1])):
        raise ValidationError(
            f"{len(alone)} queries are labelled by one side only, such as "
            f'{alone[0]!r}; label the same ones, or pass queries="any"'
        )
    means = [
        [
            _mean(run_scores(run, labels, measure=measure, no_relevant=no_relevant))
            for run in runs.values()
        ]
        for labels in (human, judge)
    ]
    return kendall_tau(*means)


def _mean(scores: dict[str, float]) -> float:
    # Exact sums: systems with the same scores on other queries tie.
    return math.fsum(scores.values()) / len(scores)


def dl2023(runs: Literal["fullrank", "all"] = "fullrank") -> pd.DataFrame:
    """How well did the systems of TREC DL 2023 do on each query, by people's labels?

    Parameters
    ----------
    runs : {"fullrank", "all"}, default "fullrank"
        The 31 that searched all passages, as in the paper, or also the 4 that only
        re-ranked a given list.

    Returns
    -------
    pandas.DataFrame
        NDCG@10, one row per system and one column per query (82).

    Raises
    ------
    ValidationError
        If `runs` is neither.

    References
    ----------
    rahmanidashti/SynDL; TREC Deep Learning track 2023.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> dl2023().shape, dl2023("all").shape
    ((31, 82), (35, 82))
    """
    if runs not in ("fullrank", "all"):
        raise ValidationError(f"runs is {runs!r}; choose 'fullrank' or 'all'")
    frame = data.counts("llmjudge", "ndcg_dl2023").set_index("run")
    if runs == "fullrank":
        frame = frame[frame["subtask"] == "fullrank"]
    return frame.drop(columns="subtask")


def sampled_tau(
    split: Literal["dev", "test"],
    *,
    against: Literal["all", "rest"] = "all",
    runs: Literal["fullrank", "all"] = "fullrank",
) -> Estimate:
    """Do 25 of the 82 queries rank the systems as all of them do?

    Parameters
    ----------
    split : {"dev", "test"}
        Which 25 queries.
    against : {"all", "rest"}, default "all"
        All 82 queries, as in the paper, or the 57 others: the 25 are part of the 82,
        and a part resembles its whole.
    runs : {"fullrank", "all"}, default "fullrank"
        As in `dl2023`.

    Returns
    -------
    Estimate
        Kendall's tau-b of mean NDCG@10 under people's labels; n counts systems.

    Raises
    ------
    ValidationError
        If an option is unknown.

    References
    ----------
    Rahmani et al. (2025), Figure 1.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> sampled_tau("dev"), sampled_tau("test")
    (0.918 [0.824, 0.963] (n = 31, jackknife over systems),
     0.947 [0.906, 0.971] (n = 31, jackknife over systems))
    """
    if split not in ("dev", "test"):
        raise ValidationError(f"split is {split!r}; choose 'dev' or 'test'")
    if against not in ("all", "rest"):
        raise ValidationError(f"against is {against!r}; choose 'all' or 'rest'")
    scores = dl2023(runs)
    part = scores.columns.str.startswith(f"{split}:")
    other = scores if against == "all" else scores.loc[:, ~part]
    return kendall_tau(_means(scores.loc[:, part]), _means(other))


def _means(scores: pd.DataFrame | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # Sums of printed decimals tie where the means do; floats may not.
    return np.asarray((scores.sum(axis=1) / scores.shape[1]).round(8), float)


def random_samples(
    size: int = 25, *, resamples: int = 2000, level: float = 0.95, rng: Rng
) -> Estimate:
    """Which tau would other random samples of queries have had?

    Parameters
    ----------
    size : int, default 25
        Queries drawn from the 82, none twice.
    resamples : int, default 2000
        How many samples.
    level : float, default 0.95
        Share of the samples between low and high.
    rng : numpy.random.Generator or int
        The source of randomness.

    Returns
    -------
    Estimate
        Median tau with all 82 queries, and the middle of the samples; n counts systems.

    Raises
    ------
    ValidationError
        If the size is not between 1 and 82, or nothing is drawn.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> random_samples(resamples=500, rng=1)
    0.884 [0.781, 0.931] (n = 31, 500 random samples of 25 queries)
    """
    scores = dl2023().to_numpy()
    if size not in range(1, scores.shape[1] + 1):
        raise ValidationError(f"size is {size!r}; draw 1 to {scores.shape[1]} queries")
    generator = random_generator(rng)
    whole = _means(scores)
    taus = np.array(
        [
            kendall_tau(
                _means(scores[:, generator.permutation(scores.shape[1])[:size]]),
                whole,
                interval=None,
            ).value
            for _ in range(resamples)
        ]
    )
    return from_replicates(
        float(np.median(taus)) if taus.size else np.nan,
        taus,
        len(scores),
        f"{resamples} random samples of {size} queries",
        level=level,
    )


def syndl_taus(
    labels: Literal["GPT-4", "GPT-4 and people"] = "GPT-4",
) -> dict[int, Estimate]:
    """How well do SynDL's GPT-4 labels rank five years of TREC systems?

    Parameters
    ----------
    labels : {"GPT-4", "GPT-4 and people"}, default "GPT-4"
        GPT-4's labels alone, or together with people's on the queries that people
        labelled, which then stand on both sides.

    Returns
    -------
    dict of int to Estimate
        Year → Kendall's tau-b with the ranking by people's labels; n counts systems.

    Raises
    ------
    ValidationError
        If `labels` is neither.

    References
    ----------
    Rahmani et al. (2024), *SynDL*, arXiv:2408.16312; rahmanidashti/SynDL.

    Notes
    -----
    GPT-4 labelled 192 to 618 queries per year. From 2021 on they are other queries than
    people's 53 to 82; of the 200 queries of 2019 and of 2020 it labelled 192 and 194,
    and so at least 35 of people's 43 and 48 of their 54.

    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> {year: round(tau.value, 4) for year, tau in syndl_taus().items()}
    {2019: 0.8571, 2020: 0.8527, 2021: 0.8964, 2022: 0.871, 2023: 0.8958}
    """
    columns = {"GPT-4": "gpt4", "GPT-4 and people": "gpt4_and_nist"}
    if labels not in columns:
        raise ValidationError(f"labels is {labels!r}; choose from {list(columns)}")
    scores = data.counts("llmjudge", "ndcg_syndl")
    return {
        year: kendall_tau(rows["nist"].to_numpy(), rows[columns[labels]].to_numpy())
        for year in sorted(scores["year"].unique().tolist())
        for rows in [scores[scores["year"] == year]]
    }


def dl2021() -> pd.DataFrame:
    """How do six ways of labelling by a model score the systems of TREC DL 2021?

    Returns
    -------
    pandas.DataFrame
        Mean NDCG@10 of 63 systems (rows) by ``human`` labels and by six others.

    References
    ----------
    rahmanidashti/SynDL; TREC Deep Learning track 2021.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> dl2021().mean().round(2)[["human", "umbrela_gpt4", "binary_llama3.2"]].to_dict()
    {'human': 0.57, 'umbrela_gpt4': 0.71, 'binary_llama3.2': 0.87}
    """
    return data.counts("llmjudge", "ndcg_dl21").set_index("run")


def derive_scores(folder: Any) -> dict[str, pd.DataFrame]:
    """Bring published NDCG scores into the shape in which the package carries them.

    Parameters
    ----------
    folder : path
        With the three tables of scores that were collected from TREC's and SynDL's
        evaluation files.

    Returns
    -------
    dict of str to pandas.DataFrame
        ``ndcg_dl2023``, ``ndcg_syndl`` and ``ndcg_dl21``.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.
    """
    import pandas as pd

    by_query = pd.read_csv(folder / "dl2023_ndcg10_nist_per_query.csv")
    split = by_query["llmjudge_split"].fillna("rest")
    by_query["column"] = split + ":" + by_query["qid"].astype(str)
    wide = by_query.pivot(index=["run", "subtask"], columns="column", values="ndcg10")
    years = pd.read_csv(folder / "syndl_dl19_23_system_ndcg10.csv")
    short = {"syndl_gpt4": "gpt4", "syndl_gpt4_plus_nist": "gpt4_and_nist"}
    years["labels"] = years["labels"].replace(short)
    by_labels = years.pivot(
        index=["year", "run"], columns="labels", values="ndcg10_mean"
    )
    columns = ["nist", *short.values()]
    return {
        "ndcg_dl2023": wide.reset_index(),
        "ndcg_syndl": by_labels[columns].reset_index(),
        "ndcg_dl21": pd.read_csv(folder / "dl21_ndcg10_by_labels.csv"),
    }
