"""Reading a reader's files for every command that takes some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console

from judgelab.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from judgelab.records import Examined

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)

Files = Annotated[
    list[Path],
    typer.Argument(
        help="CSV, JSON Lines or Parquet; several are read as one.", show_default=False
    ),
]
As = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Whose format: records (ours), judgebench, mt-bench, fastchat, "
        "fastchat-single, alpacaeval, llmjudge, rankjudge.",
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        "--rename",
        metavar="OLD=NEW",
        help="A column of the file and what it is here: winner=verdict. May be "
        "repeated.",
    ),
]
Add = Annotated[
    list[str] | None,
    typer.Option(
        "--add",
        metavar="COLUMN=VALUE",
        help="A column that a file lacks, and what it holds in all its records: "
        "judge=gpt-4. May be repeated; files that have the column keep theirs.",
    ),
]
Word = Annotated[
    list[str] | None,
    typer.Option(
        "--word",
        metavar="OLD=NEW",
        help="A verdict of the file and what it means (A, B, TIE, INVALID, MISSING): "
        "model_a=A. May be repeated.",
    ),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        metavar="OLD=NEW",
        help="A word of the column swapped and what it means: BA=true (shown in "
        "exchanged slots), AB=false. May be repeated.",
    ),
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="A,B,…",
        help="For ratings: every label that could be given, in order: 0,1,2,3.",
    ),
]
Encoding = Annotated[str, typer.Option(help="How the text of the file is encoded.")]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="What stands between the fields of a CSV file, if no comma: semicolon, "
        "tab, bar, or any one character.",
    ),
]

_MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}

_OURS = (".csv", ".tsv", ".jsonl", ".ndjson")

_ENDINGS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV UTF-8"),
    ".json": "write one object per line (.jsonl), or say with --as whose file it is",
}

OPTIONS = {
    "rename=": "rename={'x': 'y'} is --rename x=y",
    "add the column": "a column is added by --add COLUMN=VALUE",
    "words=": "words={'x': 'y'} is --word x=y",
    "orders=": "orders={'x': True} is --order x=true",
    "separator=": "separator=';' is --separator semicolon, and a tab --separator tab",
    "scale=": "scale=[1, 2, 3] is --scale 1,2,3",
    "encoding=": "encoding='x' is --encoding x",
}
"""What messages of the package speak of, and how it is called on the command line."""


def in_options(messages: Iterable[str]) -> str:
    """Say which options the arguments are that these messages speak of, if any."""
    text = " ".join(messages)
    found = [option for name, option in OPTIONS.items() if name in text]
    return f"Here {', and '.join(found)}." if found else ""


class Loaded(NamedTuple):
    """Records from the files of a command."""

    records: pd.DataFrame | None
    """The valid ones; None if there are none."""
    kind: str
    rows: int
    columns: tuple[str, ...]
    scale: list[Any] | None
    problems: tuple[str, ...]


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show on a terminal that work goes on; nothing is printed into a pipe."""
    if ERR.is_terminal:
        with ERR.status(what):
            yield
    else:
        yield


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read OLD=NEW from an option that may be repeated."""
    result = {}
    for text in given or ():
        # A name may hold a sign of equality; a role of ours holds none.
        old, sign, new = text.rpartition("=")
        if not (old and sign and new):
            raise ValidationError(f"{option} {text!r}: write OLD=NEW")
        if old in result:
            raise ValidationError(f"{option} names {old!r} twice")
        result[old] = new
    return result


def load(
    files: Sequence[Path],
    reader: str,
    *,
    rename: Sequence[str] | None,
    words: Sequence[str] | None,
    orders: Sequence[str] | None,
    add: Sequence[str] | None,
    scale: str | None,
    encoding: str,
    separator: str | None,
) -> Loaded:
    """Read all files; collect what is wrong instead of stopping there."""
    for path in files:
        if not path.is_file():
            raise ValidationError(f"there is no file {str(path)!r}")
        ending = path.suffix.lower()
        if reader == "records" and ending not in (*_OURS, ".parquet"):
            cure = _ENDINGS.get(ending, "rename it to say what it is")
            raise ValidationError(
                f"{path.name}: {', '.join(_OURS)} and .parquet are read, "
                f"{ending or 'a name without ending'} is not; {cure}"
            )
    with busy("reading …"):
        if reader == "records":
            return _own(files, rename, words, orders, add, scale, encoding, separator)
        if rename or words or orders or add or separator:
            raise ValidationError(
                f"--as {reader} knows its columns and words; --rename, --word, "
                "--order, --add and --separator are for our own format"
            )
        return _others(files, reader, scale)


def _own(
    files: Sequence[Path],
    rename: Sequence[str] | None,
    words: Sequence[str] | None,
    orders: Sequence[str] | None,
    add: Sequence[str] | None,
    scale: str | None,
    encoding: str,
    separator: str | None,
) -> Loaded:
    from judgelab.records import column_names, examine
    from judgelab.reporting import USED, kind_of

    names, more = pairs(rename, "--rename"), pairs(add, "--add")
    mark = _MARKS.get(separator or "", separator)
    have = [column_names(path, encoding=encoding, separator=mark) for path in files]
    columns = dict.fromkeys(name for part in have for name in part)
    if unknown := [old for old in names if old not in columns]:
        raise ValidationError(
            f"--rename names {unknown[0]!r}, which is no column; there are: "
            f"{', '.join(columns)}"
        )
    known = {names.get(name, name) for name in columns} | {*more}
    if not known & {"verdict", "label"}:
        _suggest(files[0])
    kind = kind_of(known)
    labels = _labels(scale)
    found = [
        examine(
            path,
            kind=kind,
            # Each file is told what is said of its own columns.
            rename={old: new for old, new in names.items() if old in part},
            add={
                name: value
                for name, value in more.items()
                if name not in {names.get(old, old) for old in part}
            },
            words=pairs(words, "--word"),
            orders=_truths(orders),
            scale=labels,
            encoding=encoding,
            separator=mark,
            only=USED,
        )
        for path, part in zip(files, have, strict=True)
    ]
    return _together(found, kind, columns, labels)


def _others(files: Sequence[Path], reader: str, scale: str | None) -> Loaded:
    from judgelab.readers import examine_as, find_reader

    kind, labels = find_reader(reader).kind, _labels(scale)
    found = [examine_as(path, reader, scale=labels) for path in files]
    columns = dict.fromkeys(name for part in found for name in part.columns)
    return _together(found, kind, columns, labels)


def _together(
    found: Sequence[Examined],
    kind: str,
    columns: Iterable[str],
    scale: list[Any] | None,
) -> Loaded:
    """Put what several files hold into one table, and check it as one."""
    from judgelab.records import check_pairwise, check_ratings
    from judgelab.reporting.prepare import together

    frames = [part.records for part in found if part.records is not None]
    problems = [problem for part in found for problem in part.problems]
    records = together(frames) if frames else None
    if len(frames) > 1:
        try:
            (check_pairwise if kind == "pairwise" else check_ratings)(records)
        except ValidationError as error:
            problems.append(f"all files as one, {error}")
    rows = sum(part.rows for part in found)
    return Loaded(records, kind, rows, tuple(columns), scale, tuple(problems))


def _truths(orders: Sequence[str] | None) -> dict[str, bool]:
    """Read OLD=true and OLD=false."""
    words = {"true": True, "false": False}
    result = {}
    for old, new in pairs(orders, "--order").items():
        if new.lower() not in words:
            raise ValidationError(
                f"--order {old}={new}: write {old}=true if it says that the answers "
                f"were shown in exchanged slots, {old}=false if not"
            )
        result[old] = words[new.lower()]
    return result


def _suggest(path: Path) -> None:
    from judgelab.readers import READERS, looks_like

    if name := looks_like(path):
        raise ValidationError(
            f"{path.name} has neither 'verdict' nor 'label', and looks like a file of "
            f"{READERS[name].reads}: say so with --as {name}"
        )


def _labels(scale: str | None) -> list[Any] | None:
    """Read the labels of a scale: numbers if all of them are."""
    if scale is None:
        return None
    words = [word.strip() for word in scale.split(",")]
    if len(set(words)) < max(2, len(words)) or "" in words:
        raise ValidationError(
            f"--scale {scale!r}: write every label once, lowest first, with commas "
            "between them: 1,2,3"
        )
    for number in (int, float):
        try:
            return [number(word) for word in words]
        except ValueError:
            continue
    return list(words)


def valid(loaded: Loaded) -> pd.DataFrame:
    """Return the records if all is well with them; otherwise say what is wrong."""
    if loaded.problems or loaded.records is None:
        first = loaded.problems[0] if loaded.problems else "there are no records"
        more = len(loaded.problems) - 1
        also = f" (and {more} more kinds of trouble)" if more > 0 else ""
        raise ValidationError(
            f"{first}{also}. `judgelab check` lists everything; nothing was computed"
        )
    return loaded.records
