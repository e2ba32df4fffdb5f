"""What in README.md comes from the package: a finding, chapters, reproduced figures.

``python -m judgelab.teach.readme README.md`` writes them between their marks; a test
compares.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from judgelab.errors import ValidationError
from judgelab.teach.content import load
from judgelab.teach.gluing import found
from judgelab.teach.reproduction import ledger


def chapters_table() -> str:
    """List the chapters, and what a reader can do after each."""
    row = "| {number} | [{title}](notebooks/{name}.ipynb) | {outcome} |"
    rows = [row.format(**chapter) for chapter in load("chapters")]
    return "\n".join(["| | chapter | after it you can |", "|---|---|---|", *rows])


def reproduced_table() -> str:
    """Count, for each source, the printed figures that were checked."""
    found = ledger()
    shown = [match for match, count in found.counts().items() if count]
    head = ["source", "table", "our figures", *shown]
    rows = [
        [table.source, table.table, table.basis]
        + [str(table.counts[match] or "") for match in shown]
        for table in found.tables
    ]
    lines = [head, ["---"] * 3 + ["---:"] * len(shown), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def filled(text: str) -> str:
    """Replace what stands between the marks by what holds today.

    Raises
    ------
    ValidationError
        If a pair of marks is missing.
    """
    for name, today in {
        "chapters": chapters_table(),
        "found": textwrap.fill(found("ask_a_model"), 100),
        "reproduced": reproduced_table(),
    }.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        block = re.compile(f"{begin}.*?{end}", re.DOTALL)
        if not block.search(text):
            raise ValidationError(f"the text needs the marks {begin} … {end}")
        # The backslash would begin an escape in a replacement.
        today = today.replace("\\", r"\\")
        text = block.sub(f"{begin}\n{today}\n{end}", text)
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(filled(Path(name).read_text("utf-8")), "utf-8")
