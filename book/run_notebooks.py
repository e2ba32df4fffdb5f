"""Run notebooks and store their outputs, in the form that the repository keeps.

    python book/run_notebooks.py notebooks/agreement.ipynb …

What differs from run to run without meaning anything is left out: times, the version of
Python, and the ids of live widgets (a demo's page form stands beside them).
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LIVE_WIDGET = "application/vnd.jupyter.widget-view+json"


def run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=120,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(LIVE_WIDGET, None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        run(Path(argument))
        print(argument)
