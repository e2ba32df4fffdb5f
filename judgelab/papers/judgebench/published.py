"""What the paper printed: which figures are possible, how sure they are, and slips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab import data
from judgelab._checks import check_real, whole
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers.judgebench.reading import CATEGORIES, writer_of

if TYPE_CHECKING:
    import pandas as pd

_LABEL_COLUMNS = {
    1: ["judge_label_in_paper", "underlying_model"],
    2: ["model"],
    3: ["reward_model"],
    4: ["model", "role"],
}


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
        If `n` is no whole number ≥ 1, `decimals` none ≥ 0, or the percentage is no
        finite number.

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
    check_real(percent=percent)
    if not np.isfinite(percent):
        raise ValidationError(f"percent is {percent!r}; give a finite number")
    n, decimals = whole("n", n, least=1), whole("decimals", decimals)
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

    return pd.DataFrame(pairs_in())


def pairs_in() -> dict[str, dict[str, int]]:
    """Return the number of pairs by who wrote them and category, and overall."""
    printed = data.published("judgebench", "sizes")
    sizes: dict[str, dict[str, int]] = {}
    for model, name, n in printed.itertuples(index=False):
        sizes.setdefault(writer_of(model), {})[name] = int(n)
    return {who: own | {"Overall": sum(own.values())} for who, own in sizes.items()}


def printed_rows(table: int) -> list[tuple[str, str, float]]:
    """List the printed accuracies of Tables 1–4: judge, category, percentage."""
    printed = data.published("judgebench", f"table{table}")
    labels = printed[_LABEL_COLUMNS[table]].agg(", ".join, axis=1)
    return list(zip(labels, printed["category"], printed["accuracy_pct"], strict=True))


def inconsistent_shares() -> list[tuple[str, float]]:
    """List Table 6: judge and percentage of pairs with inconsistent verdicts."""
    printed = data.published("judgebench", "table6")
    return list(zip(printed["judge"], printed["inconsistent_pct"], strict=True))


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
    n_of = pairs_in()["GPT-4o"]
    result = {}
    for table in (1, 2, 3, 4):
        for label, name, percent in printed_rows(table):
            n = n_of[name]
            possible = possible_counts(percent, n)
            result[f"Table {table}", label, name] = (
                proportion(possible[0], n)
                if possible
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

    n, on_claude = pairs_in()["GPT-4o"], pairs_in()["Claude-3.5-Sonnet"]["Overall"]
    verdicts = data.published("judgebench", "table5").set_index("judge")
    bgb, panda = (
        verdicts.loc[[judge]].iloc[0].to_dict()
        for judge in ("Prometheus2-bgb-8x7b", "PandaLM-7B")
    )
    decided = panda["A>B"] + panda["A<B"]
    inconsistent = dict(inconsistent_shares())
    differing = possible_counts(inconsistent["PandaLM-7B"], 350)[0]
    solver = "Llama-3.1-405B-Instruct, Solver"
    printed = {name: p for label, name, p in printed_rows(4) if label == solver}
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
