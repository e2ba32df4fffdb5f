"""Which records a report can use: the columns, their types, one meaning per item."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import narwhals as nw

from judgelab.errors import ValidationError
from judgelab.reporting.measure import Kind
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

USED = (
    *("judge", "item", "verdict", "label", "swapped", "trial", "model_a", "model_b"),
    *("cluster", "kind", "category", "gold", "length_a", "length_b", "log_length"),
    "own",
)
"""The columns that a report looks at; others are left alone."""


def kind_of(columns: Collection[str]) -> Kind:
    """Tell which kind of record has these columns.

    Raises
    ------
    ValidationError
        If they are those of both kinds, or of neither.
    """
    has = [name for name in ("verdict", "label") if name in columns]
    if len(has) != 1:
        plain = {name.strip().lower(): name for name in columns}
        near = [
            f"{{{plain[found]!r}: {name!r}}} if that is it"
            for name in ("verdict", "label")
            if not has
            for found in difflib.get_close_matches(name, plain, n=1, cutoff=0.75)
        ]
        raise ValidationError(
            f"a record has either 'verdict' or 'label'; here are "
            f"{' and '.join(has) or 'neither'} (columns: "
            f"{', '.join(map(repr, sorted(columns)[:20]))}); use rename="
            + "".join(near[:1])
        )
    return "pairwise" if has == ["verdict"] else "ratings"


def prepared(records: Any, kind: Kind) -> pd.DataFrame:
    """Bring the used columns here, in the types that the report works with."""
    frame: Any = nw.from_native(records)
    frame = frame.select([name for name in frame.columns if name in USED])
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    result: pd.DataFrame = frame.to_pandas().reset_index(drop=True)
    for name in ("judge", "model_a", "model_b"):
        if name in result:
            result[name] = result[name].astype(str)
    if kind == "pairwise":
        result["verdict"] = _as_words(result["verdict"])
        if "gold" in result:
            result["gold"] = _of_item(result, "gold")
            known = result["gold"].astype(object)
            try:
                result["gold"] = _as_words(known.where(known.notna(), "MISSING"))
            except ValidationError as error:
                raise ValidationError(
                    f"'gold' names the better answer, A or B, or nothing: {error}"
                ) from None
        if "swapped" in result:
            result["swapped"] = result["swapped"].astype(bool)
        _check_answers(result)
    for name in ("length_a", "length_b", "log_length", "own"):
        if name in result:
            result[name] = _as_numbers(result[name])
    if kind == "pairwise":
        _check_lengths(result)
    if "category" in result:
        result["category"] = _of_item(result, "category")
    if "cluster" in result:
        _check_clusters(result)
    # From here on names of items only tell items apart, which numbers do faster.
    result["item"] = result["item"].factorize(sort=True)[0]
    return result


def _of_item(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    """Give what is known of an item to all its records: one of them may say it."""
    known = frame.loc[frame[name].notna(), ["item", name]].drop_duplicates()
    if (twice := known["item"].duplicated()).any():
        odd = known["item"][twice].drop_duplicates()
        raise ValidationError(
            f"{len(odd)} items ({', '.join(map(str, odd[:5]))}) have several values of "
            f"{name!r}; give one each"
        )
    return frame["item"].map(known.set_index("item")[name])


def _as_words(verdicts: pd.Series[Any]) -> pd.Series[str]:
    """Write verdicts, words or codes, as words."""
    meaning = {value: _word(value) for value in verdicts.unique().tolist()}
    return verdicts.astype(object).map(meaning)


def _word(value: Any) -> str:
    if isinstance(value, str):
        return Verdict.parse(value).name
    names = list(Verdict.__members__)
    if value in range(len(names)):
        return names[int(value)]
    raise ValidationError(f"unknown verdict {value!r}; expected {', '.join(names)}")


def _as_numbers(values: pd.Series[Any]) -> pd.Series[float]:
    """Read numbers; what is not known stays nan, and what is no number is refused."""
    import pandas as pd

    read = pd.to_numeric(values, errors="coerce").astype(float)
    wrong = (read.isna() & values.notna()) | read.abs().eq(float("inf"))
    if wrong.any():
        raise ValidationError(
            f"{values.name!r} holds {values[wrong].iloc[0]!r}; give finite numbers, "
            "with a point for decimals and no other mark, or nothing where it is not "
            "known"
        )
    return read


def _check_answers(frame: pd.DataFrame) -> None:
    """Refuse items on which answer A is not the same answer for everybody."""
    if not {"model_a", "model_b"} <= {*frame.columns}:
        return
    turned = frame["swapped"] if "swapped" in frame else frame["item"].isna()
    first = frame["model_a"].where(~turned, frame["model_b"])
    second = frame["model_b"].where(~turned, frame["model_a"])
    pairs = (first + "\0" + second).groupby(frame["item"]).nunique()
    if not len(odd := pairs.index[pairs > 1]):
        return
    shown = ", ".join(map(str, odd[:5]))
    rows = frame["item"] == odd[0]
    seen = sorted(set(zip(first[rows], second[rows], strict=True)))[:2]
    reverse = len(seen) == 2 and seen[0] == seen[1][::-1]
    if not reverse:
        cure = (
            "an item is one pair of answers: make its name of the question and both "
            "models"
        )
    elif "swapped" not in frame:
        cure = "a column 'swapped' must say which records show them in exchanged slots"
    elif frame.loc[rows, "model_a"].nunique() == 1:
        cure = _EXCHANGE
    else:
        cure = "'swapped' says which records show them in exchanged slots, and is wrong"
    raise ValidationError(
        f"{len(odd)} items ({shown}) stand for different answers: on {odd[0]} A and B "
        f"are {' and '.join(seen[0])} in one record, {' and '.join(seen[1])} in "
        f"another; {cure}"
    )


_EXCHANGE = (
    "columns that end in _a and _b are of the answers as shown: where 'swapped' is "
    "true, exchange 'model_a' with 'model_b', and 'length_a' with 'length_b'"
)


def _check_lengths(frame: pd.DataFrame) -> None:
    """Refuse items on which the longer answer is now the one, now the other."""
    if not {"length_a", "length_b", "swapped"} <= {*frame.columns}:
        return
    more = frame["length_a"] - frame["length_b"]
    more = more.where(~frame["swapped"], -more)
    low, high = (getattr(more.groupby(frame["item"]), end)() for end in ("min", "max"))
    if len(odd := low.index[(low < 0) & (high > 0)]):
        raise ValidationError(
            f"{len(odd)} items ({', '.join(map(str, odd[:5]))}) have now a longer "
            f"answer A and now a longer answer B; {_EXCHANGE}"
        )


def _check_clusters(frame: pd.DataFrame) -> None:
    if frame["cluster"].isna().any():
        raise ValidationError(
            f"{int(frame['cluster'].isna().sum())} records have no 'cluster'; fill it "
            "in for all, or leave the column out"
        )
    several = frame.groupby("item")["cluster"].nunique()
    if len(odd := several.index[several > 1]):
        raise ValidationError(
            f"items {', '.join(map(str, odd[:5]))} have several values of 'cluster'; "
            "give one each"
        )
