"""Bytes that no reader may choke on: an error of ours is fine, anything else a find."""

import contextlib
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["judgelab", "json", "csv"]):
    from judgelab.errors import JudgelabError
    from judgelab.readers import READERS, examine_as
    from judgelab.records import examine
    from judgelab.reporting import kind_of, who_judged

FOLDER = Path(tempfile.mkdtemp())
STARTS = {
    "x.csv": [b"", b"judge,item,verdict\n", b"judge,item,verdict,swapped,model_a\n"],
    "x.jsonl": [b"", b'{"judge": "x", "item": 1, "verdict": "A"}\n'],
    "y.jsonl": [b"", b'{"judge": "x", "item": 1, "label": 2}\n'],
}


def records(data: bytes) -> None:
    """Read as our own format, and describe what could be read."""
    name = [*STARTS][data[0] % len(STARTS)]
    start = STARTS[name][data[1] % len(STARTS[name])]
    path = FOLDER / name
    path.write_bytes(start + data[2:])
    kind = "ratings" if name == "y.jsonl" else "pairwise"
    found = examine(path, kind=kind)
    if found.records is not None:
        kind_of([*found.records.columns])
        who_judged(found.records)


def others(data: bytes) -> None:
    """Read as the format of another tool."""
    path = FOLDER / "other.jsonl"
    path.write_bytes(data[1:])
    examine_as(path, [*READERS][data[0] % len(READERS)])


def one_input(data: bytes) -> None:
    if len(data) < 3:
        return
    with contextlib.suppress(JudgelabError):
        (records if data[0] < 160 else others)(data)


if __name__ == "__main__":
    warnings.simplefilter("error")
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
