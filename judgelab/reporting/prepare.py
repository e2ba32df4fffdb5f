"""Which records a report can use: the columns, their types, one meaning per item."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.reporting.measure import Kind
from judgelab.verdict import Verdict, unswap

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
            + (near[0] if near else "{'...': 'verdict'}")
        )
    return "pairwise" if has == ["verdict"] else "ratings"


def prepared(records: Any, kind: Kind) -> pd.DataFrame:
    """Bring the used columns here as codes: from here on they only tell rows apart.

    Returns
    -------
    pandas.DataFrame
        ``item`` and ``cluster`` are numbered in sorted order. ``judge``, ``category``,
        ``model_a`` and ``model_b`` are categorical, the two models with the same
        categories. ``verdict``, ``answer`` (the verdict un-swapped) and ``gold`` are
        codes of `Verdict`, ``gold`` MISSING where it is not known.
    """
    frame: Any = nw.from_native(records)
    frame = frame.select([name for name in frame.columns if name in USED])
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    result: pd.DataFrame = frame.to_pandas().reset_index(drop=True)
    item, names = result["item"].factorize(sort=True)
    items, result["item"] = np.asarray(names), item
    result["judge"] = _names(result["judge"])[0]
    if {"model_a", "model_b"} <= {*result.columns}:
        both = _names(result["model_a"], result["model_b"])
        result["model_a"], result["model_b"] = both
    if kind == "pairwise":
        result["verdict"] = _codes(result["verdict"])
        turned = np.zeros(len(result), bool)
        if "swapped" in result:
            turned = result["swapped"].to_numpy(bool)
            result["swapped"] = turned
        result["answer"] = unswap(result["verdict"], turned)
        if "gold" in result:
            result["gold"] = _gold(result["gold"], item, items)
        _check_answers(result, turned, items)
    for name in ("length_a", "length_b", "log_length", "own"):
        if name in result:
            result[name] = _as_numbers(result[name])
    if kind == "pairwise":
        _check_lengths(result, turned, items)
    if "category" in result:
        import pandas as pd

        (category,) = _names(result["category"])
        codes = _of_item(category.codes, item, items, "category")
        result["category"] = pd.Categorical.from_codes(codes, category.categories)
    if "cluster" in result:
        result["cluster"] = _clusters(result["cluster"], item, items)
    return result


def together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the records of several files into one table.

    Whose answers an item has stands in one file; the others need not say it again.
    """
    import pandas as pd

    whole = pd.concat(frames, ignore_index=True)
    names = ["model_a", "model_b"]
    if not {*names} <= {*whole.columns} or not whole[names].isna().any(axis=None):
        return whole
    turned = pd.Series(False, whole.index)
    if "swapped" in whole:
        turned = whole["swapped"].eq(True)
    answers = whole[names].where(~turned, whole[names[::-1]].set_axis(names, axis=1))
    known = answers.set_index(whole["item"]).dropna()
    known = known[~known.index.duplicated()]
    given = known.reindex(whole["item"]).set_axis(whole.index)
    given = given.where(~turned, given[names[::-1]].set_axis(names, axis=1))
    whole[names] = whole[names].fillna(given)
    return whole


def _names(*columns: pd.Series[Any]) -> list[pd.Categorical]:
    """Write names as text, and number them in sorted order, in all columns alike."""
    import pandas as pd

    found = [column.factorize() for column in columns]
    texts = [[str(value) for value in values] for _, values in found]
    categories = sorted({text for column in texts for text in column})
    place = {text: code for code, text in enumerate(categories)}
    return [
        pd.Categorical.from_codes(
            # The last stands where no name does: factorize calls that -1.
            np.array([*(place[text] for text in column), -1])[codes],
            pd.Index(categories, dtype=object),
        )
        for (codes, _), column in zip(found, texts, strict=True)
    ]


def _codes(verdicts: pd.Series[Any]) -> npt.NDArray[np.int8]:
    """Read verdicts, words or codes; MISSING where there is nothing."""
    places, values = verdicts.factorize()
    codes = np.array([*map(_code, values.tolist()), Verdict.MISSING], np.int8)
    return np.asarray(codes[places])


def _code(value: Any) -> Verdict:
    if isinstance(value, str):
        return Verdict.parse(value)
    if value in range(len(Verdict)):
        return Verdict(int(value))
    names = ", ".join(Verdict.__members__)
    raise ValidationError(f"unknown verdict {value!r}; expected {names}")


def _gold(
    given: pd.Series[Any], item: npt.NDArray[np.intp], items: npt.NDArray[Any]
) -> npt.NDArray[np.int8]:
    try:
        codes = _codes(given)
    except ValidationError as error:
        raise ValidationError(
            f"'gold' names the better answer, A or B, or nothing: {error}"
        ) from None
    codes[codes == Verdict.MISSING] = -1
    known = _of_item(codes, item, items, "gold")
    return np.where(known < 0, int(Verdict.MISSING), known).astype(np.int8)


def _of_item(
    codes: npt.NDArray[Any],
    item: npt.NDArray[np.intp],
    items: npt.NDArray[Any],
    name: str,
) -> npt.NDArray[np.intp]:
    """Give what is known of an item to all its records: one of them may say it."""
    known = np.flatnonzero(codes >= 0)
    of_item = np.full(len(items), -1, np.intp)
    of_item[item[known]] = codes[known]
    odd = np.unique(item[known[codes[known] != of_item[item[known]]]])
    if odd.size:
        raise ValidationError(
            f"{odd.size} items ({_first(items[odd])}) have several values of "
            f"{name!r}; give one each"
        )
    return of_item[item]


def _first(names: Iterable[Any]) -> str:
    return ", ".join(map(str, islice(names, 5)))


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


def _check_answers(
    frame: pd.DataFrame, turned: npt.NDArray[np.bool_], items: npt.NDArray[Any]
) -> None:
    """Refuse items on which answer A is not the same answer for everybody."""
    if not {"model_a", "model_b"} <= {*frame.columns}:
        return
    item = frame["item"].to_numpy()
    models = frame["model_a"].cat.categories
    shown = [frame[name].cat.codes.to_numpy(int) for name in ("model_a", "model_b")]
    first = np.where(turned, shown[1], shown[0])
    second = np.where(turned, shown[0], shown[1])
    pair = first * len(models) + second
    of_item = np.zeros(len(items), int)
    of_item[item] = pair
    odd = np.unique(item[pair != of_item[item]])
    if not odd.size:
        return
    rows = item == odd[0]
    seen = sorted(
        {(models[a], models[b]) for a, b in zip(first[rows], second[rows], strict=True)}
    )[:2]
    reverse = len(seen) == 2 and seen[0] == seen[1][::-1]
    if not reverse:
        cure = (
            "an item is one pair of answers: make its name of the question and both "
            "models"
        )
    elif "swapped" not in frame:
        cure = "a column 'swapped' must say which records show them in exchanged slots"
    elif len({*shown[0][rows]}) == 1:
        cure = _EXCHANGE
    else:
        cure = "'swapped' says which records show them in exchanged slots, and is wrong"
    raise ValidationError(
        f"{odd.size} items ({_first(items[odd])}) stand for different answers: on "
        f"{items[odd[0]]} A and B are {' and '.join(seen[0])} in one record, "
        f"{' and '.join(seen[1])} in another; {cure}"
    )


_EXCHANGE = (
    "columns that end in _a and _b are of the answers as shown: where 'swapped' is "
    "true, exchange 'model_a' with 'model_b', and 'length_a' with 'length_b'"
)


def _check_lengths(
    frame: pd.DataFrame, turned: npt.NDArray[np.bool_], items: npt.NDArray[Any]
) -> None:
    """Refuse items on which the longer answer is now the one, now the other."""
    if not {"length_a", "length_b", "swapped"} <= {*frame.columns}:
        return
    more = (frame["length_a"] - frame["length_b"]).to_numpy()
    more = np.where(turned, -more, more)
    item = frame["item"].to_numpy()
    odd = np.intersect1d(item[more > 0], item[more < 0])
    if odd.size:
        raise ValidationError(
            f"{odd.size} items ({_first(items[odd])}) have now a longer "
            f"answer A and now a longer answer B; {_EXCHANGE}"
        )


def _clusters(
    given: pd.Series[Any], item: npt.NDArray[np.intp], items: npt.NDArray[Any]
) -> npt.NDArray[np.intp]:
    codes = _of_item(given.factorize(sort=True)[0], item, items, "cluster")
    if lacking := int((codes < 0).sum()):
        raise ValidationError(
            f"{lacking} records have no 'cluster', nor has another of their item; fill "
            "it in for all, or leave the "
            "column out"
        )
    return codes
