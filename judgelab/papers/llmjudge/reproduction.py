"""The paper's printed figures beside ours, and its slips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab.data.registry import write_tables
from judgelab.errors import ValidationError
from judgelab.papers.llmjudge.counts import derive_counts, tables
from judgelab.papers.llmjudge.labels import (
    CUTS,
    SCALE,
    SUBMISSIONS,
    load,
    read_labels,
)
from judgelab.papers.llmjudge.measures import evaluate
from judgelab.papers.llmjudge.systems import derive_scores, sampled_tau, syndl_taus
from judgelab.papertable import Cell, PaperTable

if TYPE_CHECKING:
    import pandas as pd

_SOURCE = "LLMJudge (2502.13908)"
_SYNDL = "SynDL (2408.16312)"
_NO_LABELS = "an organisers' baseline, whose labels are not public"
_NO_RUNS = (
    "needs the passages that 31 systems returned, and the files of these runs are not "
    "public here"
)


def published() -> pd.DataFrame:
    """Which figures does the paper print for each of the 42 submissions?

    Returns
    -------
    pandas.DataFrame
        By submission: ``kappa``, ``alpha``, ``tau`` and ``rho`` (Table 3), ``team``,
        and ``public``: whether the labels are.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> frame = published()
    >>> len(frame), int(frame["public"].sum()), frame["team"].nunique()
    (42, 33, 8)
    """
    frame = data.published("llmjudge", "table3").set_index("submission")
    frame.columns = ["kappa", "alpha", "tau", "rho"]
    return frame.assign(
        team=frame.index.str.split("-").str[0], public=frame.index.isin(SUBMISSIONS)
    )


def by_position(submission: str) -> npt.NDArray[np.int64]:
    """Which table comes out when labels are matched by the number of their row?

    Parameters
    ----------
    submission : str
        One of the three whose file has another order: ``"Olz-halfbin"``,
        ``"Olz-multiprompt"`` or ``"Olz-somebin"``.

    Returns
    -------
    ndarray of int64, shape (4, 4)
        Human × judge, most of it about different pairs.

    Raises
    ------
    ValidationError
        If the submission's file has the order of the human labels.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> right = tables("Olz-somebin").sum(axis=0)
    >>> int(by_position("Olz-somebin").trace()), int(right.trace())
    (1506, 2009)
    """
    frame = data.counts("llmjudge", "position").set_index("submission")
    if submission not in frame.index:
        raise ValidationError(
            f"the order of {submission!r} is that of the human labels; others have "
            + ", ".join(frame.index)
        )
    return frame.loc[submission].to_numpy(np.int64).reshape(4, 4)


def reproduce() -> list[PaperTable]:
    """Which of the paper's printed figures do we get?

    Returns
    -------
    list of PaperTable
        Table 1, Figure 1 and Tables 3 to 6 (Table 2 describes the submissions), and the
        one tau of SynDL that was at hand in print.

    References
    ----------
    Rahmani et al. (2025), Tables 1 to 6 and Figure 1.

    Notes
    -----
    Labels above 3 are clipped for Tables 3 to 5, and left out of Table 6. Chapter:
    *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> for table in reproduce()[:3]:
    ...     print(table.caption)
    LLMJudge (2502.13908), Table 1: the two sets of labels (recomputed): 14 figures
    checked, 14 exact
    LLMJudge (2502.13908), Figure 1: tau of system rankings, people's labels
    (recomputed): 2 figures checked, 2 exact
    LLMJudge (2502.13908), Table 3: labels and system rankings (recomputed): 66 figures
    checked, 66 exact; 102 not reproducible here
    """
    return [
        _sets(),
        _samples(),
        _agreement(),
        _binarised(4, "kappa", "Cohen's kappa"),
        _binarised(5, "alpha", "Krippendorff's alpha"),
        _label_counts(),
        _syndl(),
    ]


def _sets() -> PaperTable:
    ours = data.counts("llmjudge", "sets").set_index("split")
    names = dict(
        zip(
            data.published("llmjudge", "table1")["statistic"],
            ["queries", "passages", "pairs", "n0", "n1", "n2", "n3"],
            strict=True,
        )
    )
    cells = [
        Cell(
            f"{statistic.replace('_', ' ')}, {split}",
            printed,
            float(ours[names[statistic]].to_numpy()[place]),
        )
        for statistic, *both in data.published("llmjudge", "table1").itertuples(
            index=False
        )
        for place, (split, printed) in enumerate(zip(ours.index, both, strict=True))
    ]
    return PaperTable(_SOURCE, "Table 1: the two sets of labels", cells)


def _samples() -> PaperTable:
    printed = data.published("llmjudge", "figure1").itertuples(index=False)
    cells = [
        Cell(f"25 {split} queries against all 82", tau, sampled_tau(split), 4)
        for split, tau in printed
    ]
    return PaperTable(
        _SOURCE, "Figure 1: tau of system rankings, people's labels", cells
    )


def _syndl() -> PaperTable:
    taus = syndl_taus()
    cells = [
        Cell(f"DL {year}", printed, taus[year], 4)
        for year, printed in data.published("llmjudge", "syndl").itertuples(index=False)
    ]
    return PaperTable(_SYNDL, "Authors' figure: tau of system rankings", cells)


def _agreement() -> PaperTable:
    cells = []
    for name, row in published().iterrows():
        for measure in ("kappa", "alpha"):
            cells.append(_label_cell(str(name), measure, row[measure], None, ""))
        for figure in ("tau", "rho"):
            cells.append(Cell(f"{name}, {figure}", row[figure], None, 4, why=_NO_RUNS))
    return PaperTable(_SOURCE, "Table 3: labels and system rankings", cells)


def _binarised(number: int, measure: str, subject: str) -> PaperTable:
    printed = data.published("llmjudge", f"table{number}")
    cuts = {"": None, **{f", {name}": cut for name, cut in CUTS.items()}}
    cells = [
        _label_cell(name, measure, figure, cut, said)
        for name, *figures in printed.itertuples(index=False)
        for figure, (said, cut) in zip(figures, cuts.items(), strict=True)
    ]
    return PaperTable(_SOURCE, f"Table {number}: {subject}, four labels and two", cells)


def _label_cell(
    name: str, measure: str, printed: float, cut: int | None, said: str
) -> Cell:
    label = f"{name}, {measure}{said}"
    if name not in SUBMISSIONS:
        return Cell(label, printed, None, 4, why=_NO_LABELS)
    return Cell(label, printed, evaluate(name, measure, cut), 4)


def _label_counts() -> PaperTable:
    cells = []
    for name, *printed in data.published("llmjudge", "table6").itertuples(index=False):
        public = name in SUBMISSIONS or name == "human"
        ours = _counted(name) if public else None
        for label, figure in zip(SCALE, printed, strict=True):
            said = f"{name}, label {label}"
            if ours is None:
                cells.append(Cell(said, figure, None, why=_NO_LABELS))
            else:
                cells.append(Cell(said, figure, float(ours[label])))
    return PaperTable(_SOURCE, "Table 6: how often each label was given", cells)


def _counted(name: str) -> npt.NDArray[np.int64]:
    if name == "human":
        return np.asarray(tables(SUBMISSIONS[0]).sum(axis=(0, 2)))
    return np.asarray(tables(name, outside="drop").sum(axis=(0, 1)))


def slips() -> pd.DataFrame:
    """Where does the paper's print contradict its own figures?

    Returns
    -------
    pandas.DataFrame
        ``place``, what is ``printed``, the ``arithmetic`` that it meets, and a likely
        ``reading``. All numbers are computed from published tables and public labels.

    References
    ----------
    Rahmani et al. (2025), abstract, Tables 3, 4 and 6.

    Notes
    -----
    None of them touches the paper's conclusions. Chapter: *Labels and rankings:
    LLMJudge*.

    Examples
    --------
    >>> slips()["place"].tolist()
    ['Table 3, alpha', 'Table 4, 01|23', 'Table 6', 'Table 6', 'Table 6', 'Abstract']
    """
    import pandas as pd

    rows = []
    for place, table, column, bold in (
        ("Table 3, alpha", "table3", "krippendorff_alpha", "h2oloo-fewself"),
        ("Table 4, 01|23", "table4", "kappa_01v23", "willia-umbrela1"),
    ):
        figures = data.published("llmjudge", table).set_index("submission")[column]
        best = str(figures.idxmax())
        rows.append(
            (
                place,
                f"{bold} in bold, {figures[bold]:.4f}",
                f"{best} has {figures[best]:.4f}, and its labels give the same",
                "bold marks the second best",
            )
        )
    counted = data.published("llmjudge", "table6").set_index("submission")
    total = counted.loc["human"].sum()
    off = data.counts("llmjudge", "outside")
    for name in counted.index[counted.sum(axis=1) != total]:
        found = off[off["submission"] == name]
        if len(found):
            off_scale = np.repeat(found["label"], found["pairs"]).tolist()
            reading = (
                f"public labels {', '.join(map(str, off_scale))}: left out here, "
                "clipped to 3 in Tables 3 to 5"
            )
        else:
            reading = "a label off the scale, or none; the labels are not public"
        row = counted.loc[name]
        rows.append(
            (
                "Table 6",
                f"{name}: {', '.join(map(str, row))}",
                f"adds up to {row.sum():,}, not {total:,}",
                reading,
            )
        )
    rows.append(
        (
            "Abstract",
            "42 submissions are released (and 39 by the project's page)",
            f"{len(SUBMISSIONS)} files of labels are public: "
            f"{len(published())} − {len(published()) - len(SUBMISSIONS)}",
            "the organisers' nine baselines are missing",
        )
    )
    return pd.DataFrame(rows, columns=["place", "printed", "arithmetic", "reading"])


_LABELS_FROM = (
    "# source: counted by judgelab.papers.llmjudge.derive_counts from "
    "llm4eval/LLMJudge-benchmark at 968a1f9c962fddfc6508faa2d45e3e7edd1c3829 and "
    "llm4eval/LLMJudge at 81159c68260d383f8da1dad8a14f6d914a9054a9\n"
    "# licence: MIT (submissions); the repository of the human labels has no licence "
    "file; Rahmani et al. (2025), arXiv:2502.13908\n"
)
_SCORES_FROM = (
    "# source: NDCG@10 by trec_eval as published in rahmanidashti/SynDL, one table; "
    "Rahmani et al. (2024), arXiv:2408.16312; runs: TREC Deep Learning tracks, NIST\n"
    "# licence: MIT (rahmanidashti/SynDL)\n"
)


def write_counts(folder: Path) -> None:
    """Write the shipped counts anew, as CSV files with their source and licence.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files go.

    Notes
    -----
    Needs the raw records with the tables of scores beside them. Maintainers: ``python
    -m judgelab.papers.llmjudge judgelab/data/llmjudge/counts``. Chapter: *Labels and
    rankings: LLMJudge*.
    """
    source = data.fetch("llmjudge")
    dev = read_labels(source / "qrels" / "llm4eval_dev_qrel_2024.txt")
    write_tables(folder, _LABELS_FROM, derive_counts(*load(), dev))
    write_tables(folder, _SCORES_FROM, derive_scores(source))
