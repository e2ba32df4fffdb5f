"""Records: one verdict of one judge on one item per row, checked before it is counted.

A pairwise record has the columns ``judge``, ``item`` and ``verdict`` (A, B, TIE,
INVALID or MISSING, on the slots as shown; or the codes 0 to 4). It may have ``swapped``
(true where the answers were shown in exchanged slots), ``trial``, ``model_a`` and
``model_b`` (whose answer was shown first and second) and ``cluster``. A rating record
has ``judge``, ``item`` and ``label``. Other columns are kept.

Nothing is guessed: a column or a word is translated only by a mapping that the caller
gives, and what is wrong is reported with its rows.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import json
import tempfile
import uuid
import warnings
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import narwhals as nw
import numpy as np

from judgelab.errors import MissingExtra, ValidationError
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

Frame = TypeVar("Frame")
"""A frame of any engine that narwhals knows: pandas, Polars, PyArrow, DuckDB, …"""

Partner = Literal["order", "judge"]
"""What every verdict needs beside it: the other order, or another judge."""

Format = Literal["csv", "jsonl", "parquet"]

_OPTIONAL = ("swapped", "trial", "model_a", "model_b", "cluster")
_REQUIRED = {
    "pairwise": ("judge", "item", "verdict"),
    "ratings": ("judge", "item", "label"),
}
_NAMES = ("judge", "item", "model_a", "model_b", "cluster")
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_SHOWN_ROWS = 5

_MOST_COLUMNS = 10_000
"""A wider table is no table of records; reading one takes minutes."""

_MOST_PROBLEMS = 20
"""So many kinds of trouble are told at once."""

_Where = Callable[[Sequence[int]], str]
_Wanted = Callable[[str], bool]


class InvalidRecords(ValidationError):
    """Some records are not valid; `rows` are their positions, if they have any."""

    def __init__(self, message: str, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = rows


@dataclass(frozen=True)
class Examined:
    """What a file holds once everything wrong in it has been told; see `examine`."""

    records: pd.DataFrame | None
    """The records that are valid; None if the file cannot be read as records at all."""
    rows: int
    """How many records there are, valid or not."""
    columns: tuple[str, ...]
    """The columns of the file, read or not."""
    problems: tuple[str, ...]
    """What is wrong, with the lines."""


def read(
    path: str | Path,
    *,
    kind: Literal["pairwise", "ratings"] = "pairwise",
    format: Format | None = None,
    rename: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    scale: Sequence[Any] | None = None,
    partner: Partner | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    add: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
) -> pd.DataFrame:
    r"""Read records from a file and check them.

    Parameters
    ----------
    path : str or pathlib.Path
        A CSV file with a header, JSON Lines, or Parquet (needs PyArrow).
    kind : {"pairwise", "ratings"}, default "pairwise"
        Which of the two kinds of record the file holds.
    format : {"csv", "jsonl", "parquet"}, optional
        When the ending of the name does not say it.
    rename : mapping of str to str, optional
        Names of columns: from those of the file to those of a record.
    words : mapping of str to str, optional
        Verdict words: from those of the file to those of `Verdict`, as
        ``{"model_a": "A", "model_b": "B", "tie": "TIE"}``.
    orders : mapping of str to bool, optional
        Words of the column ``swapped``, as ``{"AB": False, "BA": True}``.
    scale : sequence, optional
        For ratings: every label that could be given.
    partner : {"order", "judge"}, optional
        What each verdict must have beside it; see `check_pairwise`.
    encoding : str, default "utf-8"
        How the text of a CSV or JSON Lines file is encoded. A file that begins with the
        mark of UTF-8 or UTF-16 says so itself.
    separator : str, optional
        What stands between the fields of a CSV file, as ``";"``; a comma if not given,
        and a tab in a file whose name ends in .tsv.
    add : mapping of str to str, optional
        Columns that the file lacks, each with what it holds in all records:
        ``{"judge": "gpt-4"}``.
    only : collection of str, optional
        Read these columns (and those of `rename`) and leave the others in the file. The
        file is streamed, so that memory is needed for what is read, not for all of it.

    Returns
    -------
    pandas.DataFrame
        Checked records; the names of judges, items and models are strings as they stand
        in the file (``"007"`` stays ``"007"``), and only an empty cell is missing.

    Raises
    ------
    ValidationError
        If the file is empty, not in that encoding or malformed, two columns or fields
        have one name, or the records are not valid; the message names the file and its
        lines (rows of a Parquet file).
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "votes.csv"
    ...     _ = path.write_text("judge,item,winner\nann,1,A\nbob,1,tie\n")
    ...     read(path, rename={"winner": "verdict"})
      judge item verdict
    0   ann    1       A
    1   bob    1     TIE
    """
    frame, where, _ = _load(path, format, rename, encoding, separator, add, only)
    return _check(frame, kind, rename, partner, where, words, orders, scale)


def scan(path: str | Path, *, memory: str | None = None) -> duckdb.DuckDBPyRelation:
    """Open Parquet files of any size where they lie: counting reads them, not this.

    Parameters
    ----------
    path : str or pathlib.Path
        A Parquet file, or a folder with some, in folders of its own too.
    memory : str, optional
        The most memory that counting may use, as ``"4GB"``; what does not fit goes to a
        temporary file. DuckDB's default is most of the machine's.

    Returns
    -------
    duckdb.DuckDBPyRelation
        For every function that takes records; ``filter``, ``project`` and SQL choose
        among them. Names and verdicts are as they stand in the files: check them with
        `check_pairwise` or `check_ratings`.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or no Parquet file in the folder.
    ValidationError
        If a file cannot be read as Parquet, or the files have different columns.
    MissingExtra
        If DuckDB is not installed.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from judgelab.counts import joint_counts
    >>> votes = pd.DataFrame({"judge": ["x", "y"], "item": 1, "verdict": ["A", "B"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     votes.to_parquet(f"{folder}/votes.parquet")
    ...     print(joint_counts(scan(folder), "x", "y", scale=["A", "B"]))
    [[0 1]
     [0 0]]
    """
    try:
        import duckdb
    except ImportError:
        raise MissingExtra(
            "counting where the files lie needs DuckDB: pip install duckdb"
        ) from None
    path = Path(path)
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise FileNotFoundError(f"there is no Parquet file {path}")
    # By default it would be a folder beside the reader's own work.
    spill = Path(tempfile.gettempdir()) / f"judgelab-{uuid.uuid4().hex}"
    try:
        database = duckdb.connect(
            config={
                "temp_directory": str(spill),
                **({"memory_limit": memory} if memory else {}),
            }
        )
        records = database.read_parquet([str(file) for file in files])
        # Files of other columns would be found out in the middle of a count.
        names = sorted(records.columns)
        for file in files:
            if (others := sorted(database.read_parquet(str(file)).columns)) != names:
                raise ValidationError(
                    f"{file.name} has the columns {', '.join(others)}, and "
                    f"{files[0].name} {', '.join(names)}; one folder holds one kind "
                    "of record"
                )
    except duckdb.Error as error:
        raise ValidationError(f"{path.name} cannot be opened: {error}") from None
    return records


def examine(
    path: str | Path,
    *,
    kind: Literal["pairwise", "ratings"] = "pairwise",
    format: Format | None = None,
    rename: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    scale: Sequence[Any] | None = None,
    partner: Partner | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
    add: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
) -> Examined:
    r"""Find everything that is wrong in a file, and what is left without it.

    Parameters
    ----------
    path, kind, format, rename, words, orders, scale, partner
        As in `read`.
    encoding, separator, add, only
        As in `read`.

    Returns
    -------
    Examined
        The valid records, and one problem for every kind of trouble: `read` stops at
        the first. Nothing is repaired.

    Raises
    ------
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "votes.csv"
    ...     _ = path.write_text("judge,item,verdict\nann,1,A\nann,2,C\n,3,B\n")
    ...     found = examine(path)
    >>> len(found.records), found.rows
    (1, 3)
    >>> for problem in found.problems:
    ...     print(problem)
    votes.csv, line 4: 'judge' is empty; fill it in, or leave the record out (item 3)
    votes.csv, line 3: unknown verdict; write one of A, B, TIE, INVALID, MISSING, or
    translate it: words={'...': 'A'} (verdict C)
    """
    wrong = Problems(Path(path).name)
    try:
        frame, where, columns = _load(
            path, format, rename, encoding, separator, add, only, wrong
        )
    except ValidationError as error:
        return Examined(None, 0, (), (*wrong.told(), str(error)))
    return sift(
        frame, kind, columns, where, wrong, rename, partner, words, orders, scale
    )


class Problems:
    """What is wrong in the lines of a file: each kind of trouble once, with its lines.

    Parameters
    ----------
    name : str
        Of the file.
    noun : str, default "line"
        What its parts are called.
    """

    def __init__(self, name: str, noun: str = "line") -> None:
        self.name, self.noun = name, noun
        self.lines = 0
        """How many have something wrong."""
        self._found: dict[str, tuple[array[int], dict[str, None]]] = {}

    def add(self, number: int, message: str, value: str = "") -> None:
        """Note what is wrong in a line, and the value that is."""
        self.lines += 1
        lines, values = self._found.setdefault(message, (array("q"), {}))
        lines.append(number)
        if value and len(values) < _SHOWN_ROWS:
            values[value] = None

    def told(self) -> list[str]:
        """Say what was noted, the first kinds of trouble if there are many."""
        told = [
            f"{self.name}, {places(self.noun, lines)}{message}"
            + (f" ({'; '.join(values)})" if values else "")
            for message, (lines, values) in islice(self._found.items(), _MOST_PROBLEMS)
        ]
        more = len(self._found) > _MOST_PROBLEMS
        return [*told, "and more: correct these first"] if more else told


def sift(
    frame: pd.DataFrame,
    kind: str,
    columns: tuple[str, ...],
    where: Callable[[Sequence[int]], str],
    wrong: Problems,
    rename: Mapping[str, str] | None = None,
    partner: Partner | None = None,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    scale: Sequence[Any] | None = None,
) -> Examined:
    """Take out of a table of records what is not valid, and tell everything."""
    rows, problems = len(frame) + wrong.lines, wrong.told()
    origin = np.arange(len(frame))

    def original(found: Sequence[int]) -> str:
        return where(origin[list(found)].tolist())

    while len(problems) < _MOST_PROBLEMS:
        try:
            checked = _check(
                frame, kind, rename, partner, original, words, orders, scale
            )
            return Examined(checked, rows, columns, tuple(problems))
        except ValidationError as error:
            bad = error.rows if isinstance(error, InvalidRecords) else ()
            problems.append(str(error))
            if not len(bad):
                return Examined(None, rows, columns, tuple(problems))
            good = np.ones(len(frame), bool)
            good[list(bad)] = False
            # Without the gaps, true and false may be a column of their own kind.
            frame = frame[good].reset_index(drop=True).infer_objects()
            origin = origin[good]
            if not len(frame):
                return Examined(None, rows, columns, tuple(problems))
    if not problems[-1].startswith("and more"):
        problems.append("and more: correct these first")
    return Examined(None, rows, columns, tuple(problems))


def column_names(
    path: str | Path,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> tuple[str, ...]:
    """Which columns has a file? Of JSON Lines, those of the first object.

    Parameters
    ----------
    path, format, encoding, separator
        As in `read`.

    Raises
    ------
    ValidationError
        If the file is empty, or its first line cannot be read or is no header.

    Notes
    -----
    Chapter: *Do two judges agree?*
    """
    path = Path(path)
    form = _format_of(path, format)
    if form == "parquet":
        return tuple(_parquet_names(path))
    if form == "jsonl":
        return tuple(next(json_objects(path, encoding))[1])
    codec, mark = _codec(path, encoding), _separator(path, separator)
    try:
        with path.open(encoding=codec, newline="") as file, _long_fields():
            header = next(filter(None, csv.reader(file, delimiter=mark)), [])
    except UnicodeError:
        raise _undecodable(path, codec) from None
    except csv.Error as error:
        raise _not_a_table(path, str(error)) from None
    _check_header(path, header)
    return tuple(header)


def _format_of(path: Path, format: Format | None) -> Format:
    form = format or _SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise ValidationError(
            f"{path.name}: the ending {path.suffix!r} says no format; pass "
            "format='csv', 'jsonl' or 'parquet'"
        )
    return form


def _load(
    path: str | Path,
    format: Format | None,
    rename: Mapping[str, str] | None,
    encoding: str,
    separator: str | None,
    add: Mapping[str, str] | None,
    only: Collection[str] | None,
    wrong: Problems | None = None,
) -> tuple[pd.DataFrame, _Where, tuple[str, ...]]:
    """Read a file as it stands; tell where a row of it is, and which columns it has.

    What is wrong in one line alone is noted in `wrong`, if that is given.
    """
    path = Path(path)
    form = _format_of(path, format)
    names = {old for old, new in (rename or {}).items() if new in _NAMES} | {*_NAMES}
    named = None if only is None else {*only, *(rename or {})}

    def wanted(name: str) -> bool:
        # A misspelt name must not be left in the file: it is refused later.
        known = (*_REQUIRED["pairwise"], "label", *_OPTIONAL)
        return named is None or name in named or _near(name, known) is not None

    if form == "parquet":
        frame, where, columns = _read_parquet(path, names, wanted)
    elif form == "csv":
        codec, mark = _codec(path, encoding), _separator(path, separator)
        frame, where, columns = _read_csv(path, codec, mark, names, wanted)
    else:
        codec = _codec(path, encoding)
        frame, where, columns = _read_jsonl(path, codec, names, wanted, wrong)
    have = {(rename or {}).get(name, name) for name in columns}
    if twice := [name for name in add or () if name in have]:
        raise ValidationError(
            f"add gives {twice[0]!r}, which is a column of {path.name} already"
        )
    return frame.assign(**add) if add else frame, where, columns


def check_pairwise(
    frame: Frame,
    *,
    rename: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    partner: Partner | None = None,
) -> Frame:
    """Are these valid pairwise records?

    Parameters
    ----------
    frame : dataframe
        Of any engine that narwhals knows, eager or lazy.
    rename : mapping of str to str, optional
        Names of columns: from those of the frame to those of a record.
    words : mapping of str to str, optional
        Verdict words: from those of the frame to those of `Verdict`. In a column of
        numbers ``"1"`` is the number 1, and numbers without translation are refused.
    orders : mapping of str to bool, optional
        In the same way, words of the column ``swapped``: ``{"AB": False, "BA": True}``.
    partner : {"order", "judge"}, optional
        ``"order"``: every verdict needs one on the same item (and trial) by the same
        judge in the other order; needs the column ``swapped``. ``"judge"``: every item
        needs verdicts of at least two judges, one of each. By default a judge may have
        one verdict per item, order and trial, and none needs a partner.

    Returns
    -------
    dataframe
        The same records in a frame of the same engine, with verdict words in capitals.

    Raises
    ------
    ValidationError
        Naming the rows (the first record is row 1) and what to do: a column is lacking
        or misspelt, there are no records, a key or verdict is empty, a name has spaces
        around it or is not of one type, a verdict is unknown, a judge stands twice on
        one item, a model meets itself, or a partner is lacking. A lazy frame has no row
        numbers; then the records themselves are shown.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> import pandas as pd
    >>> twice = {"judge": ["x", "x"], "item": [1, 1], "verdict": ["A", "B"]}
    >>> check_pairwise(pd.DataFrame(twice))
    Traceback (most recent call last):
      ...
    judgelab.records.InvalidRecords: rows 1, 2: the same judge has several verdicts on
    one item (judge x, item 1); keep one of them, or tell them apart in a column
    'swapped' (order) or 'trial'
    """
    return _check(frame, "pairwise", rename, partner, _row_numbers, words, orders)


def check_ratings(
    frame: Frame,
    *,
    rename: Mapping[str, str] | None = None,
    scale: Sequence[Any] | None = None,
    partner: Literal["judge"] | None = None,
) -> Frame:
    """Are these valid ratings?

    Parameters
    ----------
    frame : dataframe
        Of any engine that narwhals knows, eager or lazy.
    rename : mapping of str to str, optional
        Names of columns: from those of the frame to those of a record.
    scale : sequence, optional
        Every label that could be given; others are then refused.
    partner : {"judge"}, optional
        Every item needs labels of at least two judges.

    Returns
    -------
    dataframe
        The same records in a frame of the same engine.

    Raises
    ------
    ValidationError
        As `check_pairwise`, and if a label is not on the scale. A judge who gave no
        label has no row: an empty label is refused.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import pandas as pd
    >>> labels = pd.DataFrame({"judge": ["x", "y"], "item": [1, 1], "lable": [2, 3]})
    >>> check_ratings(labels)
    Traceback (most recent call last):
      ...
    judgelab.errors.ValidationError: no column 'label'; the nearest is 'lable': pass
    rename={'lable': 'label'} if that is it
    """
    return _check(frame, "ratings", rename, partner, _row_numbers, scale=scale)


def _check(
    native: Frame,
    kind: str,
    rename: Mapping[str, str] | None,
    partner: Partner | None,
    where: _Where,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    scale: Sequence[Any] | None = None,
) -> Frame:
    if partner not in (None, "order", "judge"):
        raise ValidationError(f"partner is {partner!r}; choose 'order' or 'judge'")
    try:
        frame: Any = nw.from_native(native)
        frame.collect_schema()
    except nw.exceptions.DuplicateError as error:
        raise ValidationError(
            f"several columns have one name; rename or drop one ({error})"
        ) from None
    frame = _renamed(frame, rename or {})
    columns = frame.collect_schema().names()
    _check_columns(columns, kind, partner)
    _check_types(frame)
    if _collect(frame.select(nw.len())).item() == 0:
        raise ValidationError(where([]) + "there are no records")
    value = _REQUIRED[kind][-1]
    keys = [c for c in ("judge", "item", "trial", "model_a", "model_b") if c in columns]
    for column in [*keys, value]:
        cure = "write MISSING" if column == "verdict" else "fill it in"
        _refuse(
            frame,
            _absent(frame, column),
            [name for name in ("judge", "item") if name != column],
            where,
            f"{column!r} is empty; {cure}, or leave the record out",
        )
    _check_spaces(frame, where)
    if kind == "pairwise":
        frame = _known_verdicts(frame, words or {}, where)
        if "swapped" in columns:
            frame = _known_orders(frame, orders or {}, where)
        if {"model_a", "model_b"} <= {*columns}:
            _refuse(
                frame,
                nw.col("model_a") == nw.col("model_b"),
                ["model_a"],
                where,
                "a model is compared with itself; correct 'model_a' or 'model_b'",
            )
    elif scale is not None:
        # Compared here: engines differ on labels and scales of different types.
        given = _collect(frame.select("label").unique())["label"].to_list()
        strange = [label for label in given if label not in list(scale)]
        if strange:
            _refuse(
                frame,
                nw.col("label").is_in(strange),
                ["label"],
                where,
                f"the label is not on the scale {list(scale)}; correct or declare it",
            )
    apart = [c for c in ("swapped", "trial") if c in columns and partner != "judge"]
    _check_repeats(frame, apart, kind, where)
    if partner:
        _check_partners(frame, partner, columns, where)
    checked: Frame = frame.to_native()
    return checked


def _renamed(frame: Any, rename: Mapping[str, str]) -> Any:
    columns = frame.collect_schema().names()
    if odd := [name for name in columns if not isinstance(name, str)]:
        raise ValidationError(f"column {odd[0]!r} has no name of its own; give it one")
    unknown = [old for old in rename if old not in columns]
    if unknown:
        raise ValidationError(
            f"rename names {unknown[0]!r}, which is no column; there are: "
            f"{', '.join(columns)}"
        )
    news = [*rename.values()]
    if twice := [new for new in news if news.count(new) > 1]:
        raise ValidationError(
            f"rename gives the name {twice[0]!r} to several columns; choose one"
        )
    clash = [new for old, new in rename.items() if new in columns and new not in rename]
    if clash:
        raise ValidationError(
            f"rename gives the name {clash[0]!r}, which is a column already; "
            "rename or drop that one first"
        )
    return frame.rename(dict(rename)) if rename else frame


def _check_columns(columns: list[str], kind: str, partner: Partner | None) -> None:
    required: tuple[str, ...] = _REQUIRED[kind]
    if partner == "order":
        required = (*required, "swapped")
    free = [c for c in columns if c not in (*required, *_OPTIONAL)]
    for name in required:
        if name not in columns:
            near = _near(name, free)
            hint = (
                f"the nearest is {near!r}: pass rename={{{near!r}: {name!r}}} if that "
                "is it"
                if near
                else f"there are: {', '.join(columns)}; pass rename={{...: {name!r}}}, "
                "or add the column if all records have the same"
            )
            raise ValidationError(f"no column {name!r}; {hint}")
    optional = [c for c in _OPTIONAL if c not in columns] if kind == "pairwise" else []
    for name in free:
        near = _near(name, optional)
        if near:
            raise ValidationError(
                f"column {name!r} is unknown and looks like {near!r}, which would be "
                f"used; pass rename={{{name!r}: {near!r}}}, or give it another name"
            )


def _check_types(frame: Any) -> None:
    schema = frame.collect_schema()
    for column in (*_NAMES, "trial"):
        if schema.get(column) == nw.Object:
            raise ValidationError(
                f"{column!r} holds Python objects, among which 1 and '1' would differ; "
                "convert it to one type (text or whole numbers)"
            )


def _check_spaces(frame: Any, where: _Where) -> None:
    schema = frame.collect_schema()
    words = nw.String | nw.Categorical | nw.Enum
    for column in (name for name in _NAMES if isinstance(schema.get(name), words)):
        name = nw.col(column).cast(nw.String)
        spaced = ~name.is_null() & (name.str.strip_chars() != name)
        if isinstance(frame, nw.DataFrame):
            # In memory it is quicker to look at every name once than at every row.
            once = frame.select(column).unique()
            if not len(once.filter(spaced)):
                continue
        message = f"{column!r} has spaces around it, and would be another; remove them"
        _refuse(frame, spaced, [column], where, message)


def _near(name: str, others: Sequence[str]) -> str | None:
    lowered = {other.lower(): other for other in others}
    found = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.75)
    return lowered[found[0]] if found else None


def _refuse(
    frame: Any, wrong: nw.Expr, columns: list[str], where: _Where, message: str
) -> None:
    """Raise an error that names the rows on which a condition holds, if any."""
    rows, values = _found(frame, wrong, columns)
    if values:
        raise InvalidRecords(f"{where(rows)}{message} ({'; '.join(values)})", rows)


def _found(
    frame: Any, wrong: nw.Expr, columns: list[str]
) -> tuple[list[int], list[str]]:
    """Find where a condition holds, and which different values stand there first."""
    rows: list[int] = []
    if isinstance(frame, nw.DataFrame):
        hits: Any = frame.with_row_index("_row").filter(wrong)
        rows = hits["_row"].to_list()
    else:
        # A lazy frame has no order, hence no row numbers: the values must do.
        hits = frame.filter(wrong)
    values = [
        ", ".join(
            f"{name} {_shown(value)}" for name, value in zip(columns, row, strict=True)
        )
        for row in _collect(hits.select(columns).head(_SHOWN_ROWS)).iter_rows()
    ]
    return rows, list(dict.fromkeys(values))


def _shown(value: Any) -> Any:
    # nan is what differs from itself; pandas' NA does not say whether it does.
    empty = value is None or str(value) == "<NA>" or value != value
    return "(empty)" if empty else value


def _absent(frame: Any, column: str) -> nw.Expr:
    missing = nw.col(column).is_null()
    if frame.collect_schema()[column].is_float():
        missing = missing | nw.col(column).is_nan()
    return missing


def _known_verdicts(frame: Any, words: Mapping[str, str], where: _Where) -> Any:
    """Check verdicts; translate mapped words; write all of them in capitals."""
    names = [*Verdict.__members__]
    kind = frame.collect_schema()["verdict"]
    verdict = nw.col("verdict")
    if kind.is_numeric() and not words:
        codes = ", ".join(f"{v.value} {v.name}" for v in Verdict)
        wrong = (verdict < 0) | (verdict > int(max(Verdict)))
        if not kind.is_integer():
            wrong = wrong | (verdict % 1 != 0)
        message = (
            f"unknown verdict code; the codes are {codes}; other numbers are "
            "translated: words={'...': 'A'}"
        )
        _refuse(frame, wrong, ["verdict"], where, message)
        # Whole numbers in a column that had gaps.
        return frame if kind.is_integer() else frame.with_columns(verdict.cast(nw.Int8))
    known = _is_text(kind) or (words and (kind.is_numeric() or kind == nw.Boolean))
    if not known:
        raise ValidationError(
            f"'verdict' holds {kind}; give words ({', '.join(names)}) or codes 0 to 4, "
            "or translate what is there: words={'...': 'A'}"
        )
    strange = [new for new in words.values() if new not in names]
    if strange:
        raise ValidationError(
            f"words gives {strange[0]!r}; choose from {', '.join(names)}"
        )
    message = (
        f"unknown verdict; write one of {', '.join(names)}, or translate it: "
        "words={'...': 'A'}"
    )
    return _in_our_words(frame, "verdict", words, names, where, message)


def _known_orders(frame: Any, orders: Mapping[str, bool], where: _Where) -> Any:
    """Check which order each record had; translate mapped words into true and false."""
    kind = frame.collect_schema()["swapped"]
    swapped = nw.col("swapped")
    message = "'swapped' is empty; say true or false for every record"
    _refuse(frame, _absent(frame, "swapped"), ["judge", "item"], where, message)
    if strange := [new for new in orders.values() if new not in (True, False)]:
        raise ValidationError(f"orders gives {strange[0]!r}; choose True or False")
    if kind == nw.Boolean and not orders:
        return frame
    if not (_is_text(kind) or kind.is_numeric() or kind == nw.Boolean):
        raise ValidationError(
            f"'swapped' holds {kind}; give true and false (or 1 and 0)"
        )
    codes = {"1": True, "0": False} if kind.is_numeric() and not orders else orders
    words = {old: str(bool(new)).upper() for old, new in codes.items()}
    message = (
        "'swapped' must be true or false: give true and false (or 1 and 0), or "
        "translate what is there: orders={'...': True}"
    )
    names = ("TRUE", "FALSE")
    frame = _in_our_words(frame, "swapped", words, names, where, message)
    return frame.with_columns((swapped == nw.lit("TRUE")).alias("swapped"))


def _is_text(kind: Any) -> bool:
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum)


def _in_our_words(
    frame: Any,
    column: str,
    words: Mapping[str, str],
    names: Collection[str],
    where: _Where,
    message: str,
) -> Any:
    """Write in a column what its values mean: by a mapping, or as they stand.

    What means nothing is refused with a message.
    """
    kind, said = frame.collect_schema()[column], nw.col(column)
    given: Mapping[Any, str] = words
    if kind == nw.Boolean:
        given = {word.lower() == "true": new for word, new in words.items()}
    elif kind.is_numeric():
        given = {float(word): new for word, new in words.items() if _is_number(word)}
    meaning, strange = dict[Any, str](), list[Any]()
    for value in _collect(frame.select(column).unique())[column].to_list():
        plain = value.strip().upper() if isinstance(value, str) else ""
        if value in given:
            meaning[value] = given[value]
        elif plain in names:
            meaning[value] = plain
        else:
            strange.append(value)
    if strange:
        _refuse(frame, said.is_in(strange), [column], where, message)
    if all(value == new for value, new in meaning.items()):
        return frame.with_columns(said.cast(nw.String))
    meant: Any = nw.lit(None, nw.String)
    for value, new in meaning.items():
        meant = nw.when(said == nw.lit(value)).then(nw.lit(new)).otherwise(meant)
    return frame.with_columns(meant.alias(column))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _check_repeats(frame: Any, apart: list[str], kind: str, where: _Where) -> None:
    keys = ["judge", "item", *apart]
    repeated = _collect(
        frame.group_by(keys).agg(nw.len().alias("_n")).filter(nw.col("_n") > 1)
    )
    if len(repeated) == 0:
        return
    what = "verdicts" if kind == "pairwise" else "labels"
    tell = (
        "tell them apart in a column 'swapped' (order) or 'trial'"
        if kind == "pairwise"
        else "give the repetitions different judges"
    )
    _refuse_keys(
        frame,
        repeated,
        keys,
        where,
        f"the same judge has several {what} on one item ",
        f"; keep one of them, or {tell}",
    )


def _check_partners(
    frame: Any, partner: Partner, columns: list[str], where: _Where
) -> None:
    if partner == "order":
        keys = ["judge", "item", *(["trial"] if "trial" in columns else [])]
        lack = "this verdict has none in the other order "
        cure = "; ask for it (MISSING if there is no reply), or leave this one out"
    else:
        keys = ["item"]
        lack = "no second judge on this item "
        cure = "; leave the item out, or add the other judge's record"
    single = _collect(
        frame.group_by(keys).agg(nw.len().alias("_n")).filter(nw.col("_n") < 2)
    )
    if len(single):
        _refuse_keys(frame, single, keys, where, lack, cure)


def _refuse_keys(
    frame: Any, groups: Any, keys: list[str], where: _Where, message: str, cure: str
) -> NoReturn:
    """Refuse the rows of the offending groups; the first groups are named."""
    total = len(groups)
    examples = [
        ", ".join(f"{k} {v}" for k, v in zip(keys, row, strict=True))
        for row in groups.sort(keys).head(_SHOWN_ROWS).select(keys).iter_rows()
    ]
    more = f"; and {total - len(examples)} more" if total > len(examples) else ""
    rows: list[int] = []
    if isinstance(frame, nw.DataFrame):
        mine = frame.with_row_index("_row").join(groups.select(keys), keys, how="semi")
        rows = sorted(mine["_row"].to_list())
    raise InvalidRecords(
        f"{where(rows)}{message}({'; '.join(examples)}{more}){cure}", rows
    )


def _collect(frame: Any) -> Any:
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _row_numbers(rows: Sequence[int]) -> str:
    return places("row", [row + 1 for row in rows])


def _rows_of(path: Path) -> _Where:
    return lambda rows: f"{path.name}, {_row_numbers(rows)}"


def places(noun: str, numbers: Sequence[int], total: int | None = None) -> str:
    """Name the first places of all those in question."""
    if not numbers:
        return ""
    total = total or len(numbers)
    shown = ", ".join(map(str, numbers[:_SHOWN_ROWS]))
    more = f" and {total - _SHOWN_ROWS} more" if total > _SHOWN_ROWS else ""
    return f"{noun}{'s' if total > 1 else ''} {shown}{more}: "


def _codec(path: Path, encoding: str) -> str:
    """Check that a file has text; tell how Python calls its encoding."""
    with path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        if not any(chunk.strip() for chunk in iter(lambda: file.read(1 << 20), b"")):
            raise ValidationError(f"{path.name} is empty; give a file with records")
    # A mark at the start is no part of the first column's name; the mark of UTF-16,
    # which spreadsheets write, stands in no text in UTF-8.
    codec = encoding
    if encoding.lower().replace("-", "") == "utf8":
        marked = start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        codec = "utf-16" if marked else "utf-8-sig"
    try:
        codecs.lookup(codec)
    except LookupError:
        raise ValidationError(
            f"encoding is {encoding!r}, which Python does not know; try 'utf-8', "
            "'utf-16' or 'cp1252'"
        ) from None
    return codec


def _separator(path: Path, separator: str | None) -> str:
    """Tell what stands between the fields of a CSV file."""
    mark = separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    if len(mark) > 1 or mark in '"\r\n ':
        raise ValidationError(
            f"separator is {separator!r}; give one character, such as ';' or a tab"
        )
    return mark


def _undecodable(path: Path, codec: str) -> ValidationError:
    """Find the byte that is not of this encoding: only in an error is that wanted."""
    decoder = codecs.getincrementaldecoder(codec)()
    before = line = 0
    name = codec.removesuffix("-sig")
    try:
        with path.open("rb") as file:
            for content in iter(lambda: file.read(1 << 20), b""):
                kept = len(decoder.getstate()[0])
                before = line
                line += content.count(b"\n")
                decoder.decode(content)
            content, kept = b"", len(decoder.getstate()[0])
            before = line
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        start = max(0, error.start - kept)
        bad = error.object[error.start]
        number = before + content.count(b"\n", 0, start) + 1
        return ValidationError(
            f"{path.name}, line {number}: byte 0x{bad:02x} is not {name}; save the "
            "file as UTF-8, or pass its encoding='...'"
        )
    except UnicodeError as error:
        return ValidationError(f"{path.name} is not {name}: {error}")
    return ValidationError(f"{path.name} is not {name}")


def _holds_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b'"' in chunk for chunk in iter(lambda: file.read(1 << 20), b""))


def _read_csv(
    path: Path, codec: str, mark: str, names: set[str], wanted: _Wanted
) -> tuple[pd.DataFrame, _Where, tuple[str, ...]]:
    import pandas as pd

    def lines() -> Iterator[tuple[int, list[str]]]:
        """Give every record's first line and fields: a quoted field may span lines."""
        with path.open(encoding=codec, newline="") as file, _long_fields():
            start, reader = 1, csv.reader(file, delimiter=mark, strict=True)
            try:
                for fields in reader:
                    if fields:
                        yield start, fields
                    start = reader.line_num + 1
            except csv.Error as error:
                reason = f"line {start}: {error} (is a quote left open?)"
                raise _not_a_table(path, reason) from None

    def where(rows: Sequence[int]) -> str:
        # Line numbers are wanted only in an error, and only a few of them.
        asked = {row + 1 for row in rows[:_SHOWN_ROWS]}
        last = max(asked, default=-1)
        starts = {
            k: line
            for k, (line, _) in zip(range(last + 1), lines(), strict=False)
            if k in asked
        }
        shown = [starts[row + 1] for row in rows[:_SHOWN_ROWS]]
        return f"{path.name}, " + places("line", shown, len(rows))

    try:
        header, *first = [fields for _, fields in islice(lines(), 2)] or [[]]
        _check_header(path, header)
        chosen = [name for name in header if wanted(name)]
        fewer = len(chosen) < len(header)
        # A parser that leaves columns out no longer minds lines that are too long, and
        # any parser takes the first of them for the width of the table.
        odd_start = any(len(fields) != len(header) for fields in first)
        # After a stray quote it takes the lines up to the next one for one field.
        exact = fewer or odd_start or _holds_quotes(path)
        if exact and (odd := _odd_widths(lines, len(header))):
            raise _not_a_table(path, odd)
        with (
            path.open(encoding=codec, newline="") as file,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                file,
                sep=mark,
                dtype=dict.fromkeys(names, str),
                index_col=False,
                keep_default_na=False,
                na_values=[""],
                usecols=chosen if fewer else None,
            )
    except ValidationError:
        raise
    except UnicodeError:
        raise _undecodable(path, codec) from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = _odd_widths(lines, len(header)) or str(error).strip()
        raise _not_a_table(path, reason) from None
    except (OverflowError, ValueError) as error:
        raise ValidationError(f"{path.name} is not a table: {error}") from None
    return frame, where, tuple(header)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let Python's CSV reader take the reply of a model, however long it is."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


_MARKS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


def _check_header(path: Path, header: list[str]) -> None:
    if len(header) > _MOST_COLUMNS:
        raise ValidationError(
            f"{path.name} has {len(header):,} columns in its first line; a record has "
            "one line, and a few columns"
        )
    if len({*header}) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ValidationError(
            f"{path.name} has several columns {twice!r}; rename or drop all but one"
        )
    if header[:1] and header[0].lower().startswith("sep="):
        raise ValidationError(
            f"{path.name} begins with {header[0]!r}, a line for spreadsheets alone; "
            "delete that line"
        )
    if len(header) == 1 and (others := [c for c in ";\t|," if c in header[0]]):
        raise ValidationError(
            f"{path.name} has all of its first line in one column; if its fields stand "
            f"between {_MARKS[others[0]]}, pass separator={others[0]!r}"
        )


def _odd_widths(
    lines: Callable[[], Iterator[tuple[int, list[str]]]], width: int
) -> str:
    """Say which lines have more or fewer fields than the header, if any."""
    first, total = list[tuple[int, int]](), 0
    for line, fields in lines():
        if len(fields) != width:
            total += 1
            if total <= _SHOWN_ROWS:
                first.append((line, len(fields)))
    if not first:
        return ""
    shown = places("line", [line for line, _ in first], total)
    return f"{shown}{first[0][1]:,} fields where the header has {width:,}"


def _not_a_table(path: Path, reason: str) -> ValidationError:
    return ValidationError(
        f"{path.name} is not a table: {reason}; every line needs as many fields as the "
        "header, with quotes around a field that holds a comma"
    )


def _read_parquet(
    path: Path, names: set[str], wanted: _Wanted
) -> tuple[pd.DataFrame, _Where, tuple[str, ...]]:
    import pandas as pd

    have = _parquet_names(path)
    try:
        frame = pd.read_parquet(path, columns=[name for name in have if wanted(name)])
    except (OSError, ValueError) as error:
        raise ValidationError(
            f"{path.name} is not a Parquet file that can be read: {error}"
        ) from None
    for name in names & {*frame.columns}:
        numbers = frame[name]
        if numbers.dtype.kind == "f" and (numbers.dropna() % 1 == 0).all():
            # Whole numbers with gaps.
            numbers = numbers.astype("Int64")
        if pd.api.types.is_numeric_dtype(numbers):
            frame[name] = numbers.astype("string").astype("str")
    return frame, _rows_of(path), tuple(have)


def _parquet_names(path: Path) -> list[str]:
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise ValidationError(
            f"{path.name}: reading Parquet needs PyArrow: pip install pyarrow"
        ) from None
    with path.open("rb") as file:
        try:
            return list(pyarrow.parquet.read_schema(file).names)
        except (OSError, ValueError) as error:
            raise ValidationError(
                f"{path.name} is not a Parquet file that can be read: {error}"
            ) from None


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object, unless it has two fields of one name."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValidationError(f"several fields {twice!r}; leave all but one out")
    return fields


def json_objects(
    path: Path, encoding: str = "utf-8", wrong: Problems | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the objects of a JSON Lines file one by one, with their lines.

    Lines that hold no object are noted in `wrong`, if that is given, and left out.

    Raises
    ------
    ValidationError
        If a line is no JSON object, an object has two fields of one name or too many,
        or the text is not in that encoding; the message names the line.
    """
    for number, line in text_lines(path, encoding):
        try:
            fields = _object(line)
        except ValidationError as error:
            if wrong is None:
                raise ValidationError(f"{path.name}, line {number}: {error}") from None
            wrong.add(number, str(error))
            continue
        yield number, fields


def text_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Give the lines of a text file that are not blank, with their numbers.

    Raises
    ------
    ValidationError
        If the file is empty, or not in that encoding; the message names the line.
    """
    codec = _codec(path, encoding)
    try:
        with path.open(encoding=codec, newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except UnicodeError:
        raise _undecodable(path, codec) from None


def _object(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_fields)
    except json.JSONDecodeError as error:
        raise ValidationError(
            f"not JSON ({error.msg}); every line must hold one whole object"
        ) from None
    except (ValueError, RecursionError) as error:
        # Two fields of one name, a number of thousands of digits, nested too deeply.
        raise ValidationError(str(error)) from None
    if not isinstance(record, dict):
        raise ValidationError(
            'not an object; every line must be {"judge": ..., "item": ..., ...}'
        )
    if len(record) > _MOST_COLUMNS:
        raise ValidationError(
            f"{len(record):,} fields; a record has a few, and its own line"
        )
    return record


def _read_jsonl(
    path: Path, codec: str, names: set[str], wanted: _Wanted, wrong: Problems | None
) -> tuple[pd.DataFrame, _Where, tuple[str, ...]]:
    import pandas as pd

    records, lines, seen = [], array("q"), dict[str, bool]()
    for number, record in json_objects(path, codec, wrong):
        for name in record:
            if name not in seen:
                seen[name] = wanted(name)
        record = {name: value for name, value in record.items() if seen[name]}
        try:
            # Before pandas sees them: a gap among whole numbers would make 7 into 7.0.
            for name in names & record.keys():
                record[name] = _as_name(name, record[name])
            _check_text(record)
        except ValidationError as error:
            if wrong is None:
                raise ValidationError(f"{path.name}, line {number}: {error}") from None
            wrong.add(number, str(error))
            continue
        records.append(record)
        lines.append(number)
    if not records:
        raise ValidationError(f"{path.name} holds no record that can be read")
    try:
        frame = pd.DataFrame.from_records(records)
    except (OverflowError, ValueError) as error:
        raise ValidationError(f"{path.name} is not a table: {error}") from None

    def where(rows: Sequence[int]) -> str:
        return f"{path.name}, " + places("line", [lines[row] for row in rows])

    return frame, where, tuple(seen)


def _as_name(name: str, value: Any) -> Any:
    """Write a name as text; what is missing stays missing."""
    if isinstance(value, dict | list):
        raise ValidationError(f"{name!r} is {value!r}; write a text or a number")
    # nan is what differs from itself.
    return value if value is None or value != value else str(value)


def _check_text(record: Mapping[str, Any]) -> None:
    """Refuse half a character: JSON can write one, and no file can hold it."""
    for name, value in record.items():
        for text in (name, value):
            if isinstance(text, str) and not text.isascii():
                try:
                    text.encode()
                except UnicodeEncodeError:
                    raise ValidationError(
                        f"{name!a} holds half a character (a lone surrogate); write "
                        "the text anew"
                    ) from None
