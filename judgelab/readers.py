"""Reading what other tools leave behind as tidy records, each by its own name.

``records`` is our own format (`judgelab.records`); the others are the files of
JudgeBench, MT-bench and FastChat, AlpacaEval, LLMJudge and RankJudge. Which reader fits
is never guessed: `looks_like` only suggests one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgelab.errors import ValidationError
from judgelab.records import check_pairwise, check_ratings, json_objects

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["pairwise", "ratings"]

_Objects = Iterator[tuple[int, dict[str, Any]]]


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
    read : callable
        From a path to records.
    kind : {"pairwise", "ratings"}
        Which kind of record comes out.

    Notes
    -----
    Chapter: *Your own judge*.
    """

    name: str
    reads: str
    fields: tuple[str, ...]
    read: Callable[[Path], pd.DataFrame]
    kind: Kind


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
    chosen = find_reader(reader)
    try:
        frame = chosen.read(Path(path))
    except (UnicodeError, RecursionError) as error:
        raise ValidationError(f"{Path(path).name}: {error}") from None
    if not len(frame):
        raise ValidationError(f"{Path(path).name} holds no verdict")
    check = check_pairwise if chosen.kind == "pairwise" else check_ratings
    return check(frame), chosen.kind


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


def _mt_bench_votes(path: Path) -> pd.DataFrame:
    """Read votes as published: one winner per question, turn and pair of models."""

    def record(vote: Mapping[str, Any]) -> dict[str, Any]:
        one, two = str(vote["model_a"]), str(vote["model_b"])
        question = str(vote["question_id"])
        turn = f"/{vote['turn']}" if "turn" in vote else ""
        return {
            "judge": str(vote["judge"]),
            "item": f"{question}{turn} {min(one, two)} : {max(one, two)}",
            "cluster": question,
            "model_a": one,
            "model_b": two,
            "swapped": one > two,
            "verdict": _word(vote["winner"], _WINNERS),
        }

    return _frame(path, json_objects(path), record)


def _fastchat_pairs(path: Path) -> pd.DataFrame:
    """Read judgments of pairs, game 1 as named and game 2 with the answers exchanged.

    Both winners are stored as names of models; on shown slots the second is the other.
    """
    shown = {
        1: {"model_1": "A", "model_2": "B", "tie": "TIE", "error": "INVALID"},
        2: {"model_1": "B", "model_2": "A", "tie": "TIE", "error": "INVALID"},
    }

    def records(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
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
                "verdict": _word(row[f"g{game}_winner"], shown[game]),
            }

    return _frame(path, json_objects(path), records)


def _fastchat_scores(path: Path) -> pd.DataFrame:
    """Read scores of answers; −1 stands for a reply without one, and is refused."""

    def record(row: Mapping[str, Any]) -> dict[str, Any]:
        if row["score"] == -1:
            raise ValidationError(
                "score −1 stands for a reply that could not be read; a rating without "
                "label has no record: leave the line out, and report how many there are"
            )
        return {
            "judge": _judge_name(row["judge"]),
            "item": f"{row['question_id']}/{row['turn']} {row['model']}",
            "cluster": str(row["question_id"]),
            "label": row["score"],
        }

    return _frame(path, json_objects(path), record)


def _judge_name(judge: Any) -> str:
    """Name a judge by model and prompt: FastChat stores both in a list."""
    return " ".join(map(str, judge)) if isinstance(judge, list) else str(judge)


# --- AlpacaEval -----------------------------------------------------------------------


def _alpaca_eval(path: Path) -> pd.DataFrame:
    """Read annotations: a preference from 1 (the first output) to 2 (the second).

    The order of showing was random and is not stored, so that the position of an
    answer says nothing. 1.5, and 0 in early versions, is a tie; null a failure. A
    preference between is weighted by probabilities: nearer to which output it is.
    """

    def record(row: Mapping[str, Any]) -> dict[str, Any]:
        value = row["preference"]
        if value is None or value != value:
            verdict = "INVALID"
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise ValidationError(f"preference is {value!r}; expected 1 to 2")
        elif value in (0, 1.5):
            verdict = "TIE"
        elif 1 <= value <= 2:
            verdict = "A" if value < 1.5 else "B"
        else:
            raise ValidationError(f"preference is {value!r}; expected 1 to 2")
        one, two = str(row["generator_1"]), str(row["generator_2"])
        instruction = " ".join(str(row["instruction"]).split())
        return {
            "judge": str(row.get("annotator", "annotator")),
            "item": f"{instruction} {one} : {two}",
            "cluster": instruction,
            "model_a": one,
            "model_b": two,
            "verdict": verdict,
            "length_a": len(str(row["output_1"])),
            "length_b": len(str(row["output_2"])),
        }

    return _frame(path, _objects_of_list(path), record)


def _objects_of_list(path: Path) -> _Objects:
    """Give the objects of a JSON file that is one list, with their positions."""
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"{path.name}: not JSON ({error})") from None
    if not isinstance(rows, list):
        raise ValidationError(f"{path.name}: not a list of annotations")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise ValidationError(f"{path.name}, entry {number}: not an object")
        yield number, row


# --- LLMJudge and RankJudge -----------------------------------------------------------


def _llmjudge(path: Path) -> pd.DataFrame:
    """Read relevance labels as TREC writes them: query, a zero, document, label."""
    from judgelab.papers.llmjudge import read_labels

    labels = read_labels(path)
    return labels.assign(
        judge=path.stem,
        item=labels["query"] + " " + labels["document"],
        cluster=labels["query"],
    )[["judge", "item", "cluster", "label"]]


def _rankjudge(path: Path) -> pd.DataFrame:
    """Read matches: which of two conversations a judge calls better.

    The answer names a conversation, whatever the order in which they were shown; the
    released code shows one order only and stores none.
    """

    def record(row: Mapping[str, Any]) -> dict[str, Any]:
        reply = row["judge"]
        answer, raw = reply["answer"], reply.get("raw")
        turned = row.get("order", "AB") == "BA"
        if answer in ("A", "B"):
            verdict = {"A": "B", "B": "A"}[answer] if turned else answer
        else:
            lost = raw is None or str(raw).startswith("ERROR:")
            verdict = "MISSING" if lost else "INVALID"
        return {
            "judge": str(row["model"]["name"]),
            "item": str(row["id"]),
            "category": str(row["domain"]),
            "gold": {True: "A", False: "B", None: None}[row["better_is_a"]],
            "verdict": verdict,
        } | ({"swapped": turned} if "order" in row else {})

    return _frame(path, json_objects(path), record)


def _judgebench(path: Path) -> pd.DataFrame:
    from judgelab.papers.judgebench import read_output

    # The label as stored is the verdict in other words.
    return read_output(path).drop(columns="label", errors="ignore")


# --- What they share ------------------------------------------------------------------


def _word(given: Any, words: Mapping[str, str]) -> str:
    if not isinstance(given, str) or given not in words:
        raise ValidationError(f"unknown winner {given!r}; known are {', '.join(words)}")
    return words[given]


def _frame(
    path: Path,
    objects: _Objects,
    record: Callable[[Mapping[str, Any]], Any],
) -> pd.DataFrame:
    """Collect the records of all objects; an error says in which one it arose."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for number, fields in objects:
        try:
            made = record(fields)
            rows += [made] if isinstance(made, dict) else list(made)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise ValidationError(f"{path.name}, line {number}: {what}") from None
    return pd.DataFrame(rows)


READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader(
            "judgebench",
            "JudgeBench, outputs/*.jsonl",
            ("pair_id", "judgments"),
            _judgebench,
            "pairwise",
        ),
        Reader(
            "mt-bench",
            "MT-bench votes with a winner (human.jsonl, gpt4_pair.jsonl)",
            ("model_a", "model_b", "winner", "question_id"),
            _mt_bench_votes,
            "pairwise",
        ),
        Reader(
            "fastchat",
            "FastChat, model_judgment/*_pair.jsonl (two games per pair)",
            ("g1_winner", "g2_winner"),
            _fastchat_pairs,
            "pairwise",
        ),
        Reader(
            "fastchat-single",
            "FastChat, model_judgment/*_single.jsonl (scores)",
            ("question_id", "model", "score"),
            _fastchat_scores,
            "ratings",
        ),
        Reader(
            "alpacaeval",
            "AlpacaEval, annotations.json",
            ("generator_1", "generator_2", "preference"),
            _alpaca_eval,
            "pairwise",
        ),
        Reader(
            "llmjudge",
            "LLMJudge and other TREC labels: query 0 document label",
            (),
            _llmjudge,
            "ratings",
        ),
        Reader(
            "rankjudge",
            "RankJudge, matches (JSON Lines)",
            ("better_is_a", "judge", "model"),
            _rankjudge,
            "pairwise",
        ),
    )
}
"""The readers by name."""
