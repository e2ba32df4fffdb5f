"""Write the performance tables of README.md from `results/`.

    python benchmarks/summary.py README.md

A test compares, so that no figure in the README is older than the stored results.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
BEGIN, END = "<!-- performance -->", "<!-- end of performance -->"


def rows(name: str) -> list[dict[str, str]]:
    """Read one file of results; lines that begin with # describe the run."""
    lines = (RESULTS / f"{name}.csv").read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def duration(seconds: float) -> str:
    """Write a time with three digits, in the unit that reads best.

    >>> duration(0.0123), duration(2.5)
    ('12.3 ms', '2.50 s')
    """
    value, unit = (seconds, "s") if seconds >= 1 else (1000 * seconds, "ms")
    return f"{value:#.3g}".rstrip(".") + f" {unit}"


def performance() -> str:
    """Write one table per file of results: who needs how long for which work."""
    lines = []
    for name in ("agreement", "ranking", "correlation", "engines"):
        watched = name == "engines"
        columns = ["work", "by", "median", "times ours"]
        columns += ["peak memory"] * watched
        lines += ["", f"`python benchmarks/{name}.py`:", "", line(columns)]
        lines += ["|---|---|" + "---:|" * (len(columns) - 2)]
        task = None
        for row in rows(name):
            shown = "" if row["task"] == task else row["task"]
            task = row["task"]
            cells = [shown, row["contender"], *time_and_ratio(row)]
            if watched:
                cells.append(f"{int(row['peak_mb']) / 1000:.1f} GB")
            lines.append(line(cells))
    return "\n".join(lines[1:])


def line(cells: list[str]) -> str:
    """Write a line of a table."""
    return f"| {' | '.join(cells)} |"


def time_and_ratio(row: dict[str, str]) -> tuple[str, str]:
    """Write how long it took, absolutely and beside ours; or why it did not end."""
    if row.get("note"):
        return row["note"], ""
    seconds = float(row.get("seconds") or float(row["milliseconds"]) / 1000)
    ratio = float(row.get("times_ours") or row["ratio"])
    return duration(seconds), f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def filled(text: str) -> str:
    """Replace what stands between the marks by today's tables."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{performance()}\n{END}{after}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        path = Path(argument)
        path.write_text(filled(path.read_text("utf-8")), "utf-8")
