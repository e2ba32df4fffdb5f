"""Reading what other tools leave behind as tidy records, each by its own name.

``records`` is our own format (`judgelab.records`); the others are the files of
JudgeBench, MT-bench and FastChat, AlpacaEval, LLMJudge and RankJudge. Which reader fits
is never guessed: `looks_like` only suggests one.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgelab._checks import is_real
from judgelab.errors import ValidationError
from judgelab.records import (
    Examined,
    Problems,
    json_objects,
    places,
    sift,
    text_lines,
)

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["pairwise", "ratings"]

_Record = dict[str, Any]


@dataclass(frozen=True)
class Reader:
    """How the files of one tool become records.

    Parameters
    ----------
    name : str
        What it is called, also on the command line.
    reads : str
        Which files, in words.
    fields : tuple of str
        What the first object of such a file holds; empty if it is not JSON.
    records : callable
        From one entry, and the path of its file, to the records that it holds.
    kind : {"pairwise", "ratings"}
        Which kind of record comes out.
    entries : callable
        From a path to its entries with their numbers; what is no entry is noted.
    noun : str, default "line"
        What its entries are called.

    Notes
    -----
    Chapter: *Your own judge*.
    """

    name: str
    reads: str
    fields: tuple[str, ...]
    records: Callable[[Any, Path], Iterable[_Record]]
    kind: Kind
    entries: Callable[[Path, Problems], Iterator[tuple[int, Any]]]
    noun: str = "line"


def read_as(path: str | Path, reader: str) -> tuple[pd.DataFrame, Kind]:
    """Read a file of another tool as checked records.

    Parameters
    ----------
    path : str or path
        The file.
    reader : str
        A name in `READERS`.

    Returns
    -------
    pandas.DataFrame
        Tidy records, checked as `judgelab.records` checks them.
    {"pairwise", "ratings"}
        Which kind they are.

    Raises
    ------
    ValidationError
        If there is no such reader or the file is not of its format; the message names
        the line.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> vote = (
    ...     '{"judge": "expert_1", "question_id": 81, "turn": 1, "model_a": "p", '
    ...     '"model_b": "q", "winner": "model_b"}'
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "votes.jsonl"
    ...     _ = file.write_text(vote)
    ...     records, kind = read_as(file, "mt-bench")
    >>> records[["judge", "item", "verdict"]]
          judge            item verdict
    0  expert_1  81/1 p : q       B
    """
    found = examine_as(path, reader)
    if found.records is None or found.problems:
        more = len(found.problems) - 1
        raise ValidationError(
            found.problems[0] + (f" (and {more} more kinds of trouble)" if more else "")
        )
    return found.records, find_reader(reader).kind


def examine_as(
    path: str | Path, reader: str, *, scale: Sequence[Any] | None = None
) -> Examined:
    r"""Find everything that is wrong in a file of another tool, and what is left.

    Parameters
    ----------
    path : str or path
        The file.
    reader : str
        A name in `READERS`.
    scale : sequence, optional
        For ratings: every label that could be given.

    Returns
    -------
    Examined
        As from `judgelab.records.examine`: the valid records, and one problem for every
        kind of trouble, with its lines. Nothing is repaired.

    Raises
    ------
    ValidationError
        If there is no such reader.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> labels = "q1 0 p1 3\nq1 0 p2\nq1 0 p3 high\nq1 0 p4\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "labels.txt"
    ...     _ = file.write_text(labels)
    ...     found = examine_as(file, "llmjudge")
    >>> len(found.records), found.rows
    (1, 4)
    >>> for problem in found.problems:
    ...     print(problem)
    labels.txt, lines 2, 4: 3 columns; expected query, 0, document, label (a file
    without labels has three)
    labels.txt, line 3: the label is 'high'; labels are whole numbers (round or cut them
    yourself, and say how)
    """
    import pandas as pd

    chosen, path = find_reader(reader), Path(path)
    wrong = Problems(path.name, chosen.noun)
    rows, numbers = list[_Record](), array("q")
    try:
        for number, entry in chosen.entries(path, wrong):
            try:
                made = [*chosen.records(entry, path)]
            except _MALFORMED as error:
                wrong.add(number, *_said(error))
                continue
            rows += made
            numbers.extend([number] * len(made))
        frame = pd.DataFrame(rows)
    except (ValidationError, UnicodeError, RecursionError, OverflowError) as error:
        return Examined(None, 0, (), (*wrong.told(), str(error)))
    if not rows:
        nothing = f"{path.name} holds no verdict"
        return Examined(None, wrong.lines, (), tuple(wrong.told() or [nothing]))

    def where(found: Sequence[int]) -> str:
        return f"{path.name}, " + places(chosen.noun, [numbers[row] for row in found])

    return sift(
        frame, chosen.kind, tuple(map(str, frame.columns)), where, wrong, scale=scale
    )


_MALFORMED = (KeyError, TypeError, AttributeError, ValueError)
"""What an entry causes that is not made as its format says."""


class _Odd(ValidationError):
    """Something is wrong with a value; whatever it is, the trouble is one."""

    def __init__(self, message: str, value: Any) -> None:
        super().__init__(message)
        self.value = value


def _said(error: Exception) -> tuple[str, str]:
    """Say what is wrong with an entry, and with which value of it."""
    if isinstance(error, _Odd):
        return str(error), repr(error.value)
    if isinstance(error, KeyError):
        return f"lacks {error}", ""
    if isinstance(error, ValueError):
        return str(error), ""
    return f"is not made as this format is ({error})", ""


def find_reader(name: str) -> Reader:
    """Return the reader of that name.

    Raises
    ------
    ValidationError
        If there is none; the message lists those that exist.

    Notes
    -----
    Chapter: *Your own judge*.
    """
    if name not in READERS:
        raise ValidationError(
            f"no reader {name!r}; there are: {', '.join(READERS)} (and 'records', our "
            "own format)"
        )
    return READERS[name]


def looks_like(path: str | Path) -> str | None:
    """Suggest a reader for a file by what its first object holds; None if none fits.

    Notes
    -----
    Chapter: *Your own judge*.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(1 << 16)
    except OSError:
        return None
    found = [
        reader.name
        for reader in READERS.values()
        if reader.fields
        and all(f'"{field}"'.encode() in start for field in reader.fields)
    ]
    return found[0] if found else None


# --- MT-bench and FastChat ------------------------------------------------------------

_WINNERS = {
    "model_a": "A",
    "model_b": "B",
    "tie": "TIE",
    "tie (inconsistent)": "TIE",
    "tie (bothbad)": "TIE",
}


def _mt_bench_votes(vote: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read a vote as published: one winner per question, turn and pair of models."""
    one, two = str(vote["model_a"]), str(vote["model_b"])
    question = str(vote["question_id"])
    turn = f"/{vote['turn']}" if "turn" in vote else ""
    yield {
        "judge": str(vote["judge"]),
        "item": f"{question}{turn} {min(one, two)} : {max(one, two)}",
        "cluster": question,
        "model_a": one,
        "model_b": two,
        "swapped": one > two,
        "verdict": _word(vote["winner"], _WINNERS),
    }


_GAMES = {
    1: {"model_1": "A", "model_2": "B", "tie": "TIE", "error": "INVALID"},
    2: {"model_1": "B", "model_2": "A", "tie": "TIE", "error": "INVALID"},
}


def _fastchat_pairs(row: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read judgments of a pair, game 1 as named and game 2 with the answers exchanged.

    Both winners are stored as names of models; on shown slots the second is the other.
    """
    one, two = str(row["model_1"]), str(row["model_2"])
    turned = one > two
    for game in (1, 2):
        if row.get(f"g{game}_winner") is None:
            continue
        first, second = (one, two) if game == 1 else (two, one)
        yield {
            "judge": _judge_name(row["judge"]),
            "item": f"{row['question_id']}/{row['turn']} "
            f"{min(one, two)} : {max(one, two)}",
            "cluster": str(row["question_id"]),
            "model_a": first,
            "model_b": second,
            "swapped": turned != (game == 2),
            "verdict": _word(row[f"g{game}_winner"], _GAMES[game]),
        }


def _fastchat_scores(row: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read a score; −1 stands for a reply that could not be read, and is refused."""
    score = row["score"]
    if not is_real(score):
        raise _Odd("the score is no number", score)
    if score == -1:
        raise ValidationError(
            "score −1 stands for a reply that could not be read; a rating without "
            "label has no record: leave the line out, and report how many there are"
        )
    yield {
        "judge": _judge_name(row["judge"]),
        "item": f"{row['question_id']}/{row['turn']} {row['model']}",
        "cluster": str(row["question_id"]),
        "label": score,
    }


def _judge_name(judge: Any) -> str:
    """Name a judge by model and prompt: FastChat stores both in a list."""
    return " ".join(map(str, judge)) if isinstance(judge, list) else str(judge)


# --- AlpacaEval -----------------------------------------------------------------------


def _alpaca_eval(row: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read an annotation: a preference from 1 (the first output) to 2 (the second).

    The order of showing was random and is not stored, so that the position of an
    answer says nothing. 1.5, and 0 in early versions, is a tie; null a failure. A
    preference between is weighted by probabilities: nearer to which output it is.
    """
    value = row["preference"]
    if value is None or value != value:
        verdict = "INVALID"
    elif not is_real(value) or not (value == 0 or 1 <= value <= 2):
        raise _Odd("the preference is no number from 1 to 2", value)
    elif value in (0, 1.5):
        verdict = "TIE"
    else:
        verdict = "A" if value < 1.5 else "B"
    one, two = str(row["generator_1"]), str(row["generator_2"])
    instruction = " ".join(str(row["instruction"]).split())
    yield {
        "judge": str(row.get("annotator", "annotator")),
        "item": f"{instruction} {one} : {two}",
        "cluster": instruction,
        "model_a": one,
        "model_b": two,
        "verdict": verdict,
        "length_a": len(str(row["output_1"])),
        "length_b": len(str(row["output_2"])),
    }


def _objects_of_list(path: Path, wrong: Problems) -> Iterator[tuple[int, _Record]]:
    """Give the objects of a JSON file that is one list, with their positions."""
    try:
        rows = json.loads(path.read_text("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"{path.name}: not JSON ({error})") from None
    if not isinstance(rows, list):
        raise ValidationError(f"{path.name}: not a list of annotations")
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            wrong.add(number, "not an object")


# --- LLMJudge and RankJudge -----------------------------------------------------------


def _llmjudge(line: str, path: Path) -> Iterator[_Record]:
    """Read a relevance label as TREC writes it: query, a zero, document, label."""
    from judgelab.papers.llmjudge.labels import label_of_line

    query, document, label = label_of_line(line)
    yield {
        "judge": path.stem,
        "item": f"{query} {document}",
        "cluster": query,
        "label": label,
    }


def _rankjudge(row: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read a match: which of two conversations a judge calls better.

    The answer names a conversation, whatever the order in which they were shown; the
    released code shows one order only and stores none.
    """
    reply = row["judge"]
    answer, raw = reply["answer"], reply.get("raw")
    turned = row.get("order", "AB") == "BA"
    if (better := row["better_is_a"]) not in (True, False, None):
        raise _Odd("better_is_a is neither true nor false nor null", better)
    if answer in ("A", "B"):
        verdict = {"A": "B", "B": "A"}[answer] if turned else answer
    else:
        lost = raw is None or str(raw).startswith("ERROR:")
        verdict = "MISSING" if lost else "INVALID"
    yield {
        "judge": str(row["model"]["name"]),
        "item": str(row["id"]),
        "category": str(row["domain"]),
        "gold": None if better is None else "A" if better else "B",
        "verdict": verdict,
    } | ({"swapped": turned} if "order" in row else {})


def _judgebench(pair: Mapping[str, Any], path: Path) -> Iterator[_Record]:
    """Read a pair of JudgeBench's outputs, judged in two orders."""
    from judgelab.papers.judgebench.reading import judge_of_file, verdicts_of

    judge = judge_of_file(path)
    for record in verdicts_of(pair):
        # The label as stored is the verdict in other words.
        del record["label"]
        yield {"judge": judge, **record}


# --- What they share ------------------------------------------------------------------


def _word(given: Any, words: Mapping[str, str]) -> str:
    if not isinstance(given, str) or given not in words:
        raise _Odd(f"unknown winner; known are {', '.join(words)}", given)
    return words[given]


def _objects(path: Path, wrong: Problems) -> Iterator[tuple[int, _Record]]:
    return json_objects(path, wrong=wrong)


def _lines(path: Path, wrong: Problems) -> Iterator[tuple[int, str]]:
    return text_lines(path)


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader(
            "judgebench",
            "JudgeBench, outputs/*.jsonl",
            ("pair_id", "judgments"),
            _judgebench,
            "pairwise",
            _objects,
        ),
        Reader(
            "mt-bench",
            "MT-bench votes with a winner (human.jsonl, gpt4_pair.jsonl)",
            ("model_a", "model_b", "winner", "question_id"),
            _mt_bench_votes,
            "pairwise",
            _objects,
        ),
        Reader(
            "fastchat",
            "FastChat, model_judgment/*_pair.jsonl (two games per pair)",
            ("g1_winner", "g2_winner"),
            _fastchat_pairs,
            "pairwise",
            _objects,
        ),
        Reader(
            "fastchat-single",
            "FastChat, model_judgment/*_single.jsonl (scores)",
            ("question_id", "model", "score"),
            _fastchat_scores,
            "ratings",
            _objects,
        ),
        Reader(
            "alpacaeval",
            "AlpacaEval, annotations.json",
            ("generator_1", "generator_2", "preference"),
            _alpaca_eval,
            "pairwise",
            _objects_of_list,
            noun="annotation",
        ),
        Reader(
            "llmjudge",
            "LLMJudge and other TREC labels: query 0 document label",
            (),
            _llmjudge,
            "ratings",
            _lines,
        ),
        Reader(
            "rankjudge",
            "RankJudge, matches (JSON Lines)",
            ("better_is_a", "judge", "model"),
            _rankjudge,
            "pairwise",
            _objects,
        ),
    )
}
"""The readers by name."""
