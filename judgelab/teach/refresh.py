"""Run a chapter from the top and leave it as it is committed.

``python -m judgelab.teach.refresh notebooks/agreement.ipynb`` executes the notebook in
place, strips what differs from run to run, fills the glued numbers and tags the cells
whose input the book hides.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from judgelab.teach.gluing import fill, glued

# What a cell calls, how the book shows it, and whether JupyterLab folds its input.
CELLS = (
    ("teach.glue(", "remove-cell", True),
    ("teach.exercise(", "remove-input", True),
    ("teach.quiz(", "remove-input", True),
    ("teach.takeaways(", "remove-input", True),
    # On the page the exercise checks itself; in JupyterLab the reader types here.
    ("teach.check(", "remove-cell", False),
)
# A widget's model has a random id; its text/html is what the file keeps.
_VOLATILE = ("application/vnd.jupyter.widget-view+json",)


def refresh(path: Path) -> None:
    """Execute one notebook in place."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        tag(cell)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    tidy(notebook)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def tag(cell: Any) -> None:
    """Set the tags of a teaching cell by what it calls."""
    for call, name, folded in CELLS:
        if cell.cell_type == "code" and calls(cell.source, call):
            others = [t for t in cell.metadata.get("tags", ()) if t != name]
            cell.metadata["tags"] = sorted([*others, name])
            if folded:
                cell.metadata["jupyter"] = {"source_hidden": True}


def calls(source: str, call: str) -> bool:
    r"""Tell whether a cell makes this call at the start of one of its lines.

    Examples
    --------
    >>> calls("half = 1 / 2\nteach.glue(half=half)", "teach.glue(")
    True
    """
    return any(line.startswith(call) for line in source.splitlines())


def tidy(notebook: Any) -> None:
    """Strip what differs from run to run or machine to machine, and fill the prose."""
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    recorded = glued(notebook)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:03d}"
        if cell.cell_type == "markdown":
            cell.source = fill(cell.source, recorded)
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            for output in cell.outputs:
                for mime in _VOLATILE:
                    output.get("data", {}).pop(mime, None)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))
