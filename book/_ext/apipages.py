"""The API pages: from the docstrings, with links to chapters and back.

A page names its modules in its front matter (``api: [judgelab.verdict, …]``); this
extension writes the rest. A docstring names the chapter that explains its function
(``Chapter: *Do two judges agree?*.``), and every chapter lists its functions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx import addnodes

from judgelab.teach import content

PAGES = Path(__file__).resolve().parents[1]
CHAPTER = re.compile(r"Chapters?:\s+((?:,?\s*(?:and\s+)?\*[^*]+\*)+)")


def listed_modules() -> dict[str, list[str]]:
    """Return the modules of every API page, by page name."""
    found = {}
    for path in sorted(PAGES.glob("api*.md")):
        front = yaml.safe_load(path.read_text(encoding="utf-8").split("---")[1])
        found[f"book/{path.stem}"] = front["api"]
    return found


def public(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module, in its own order."""
    module = import_module(name)
    exported = getattr(module, "__all__", None)
    for key, value in vars(module).items():
        home = str(getattr(value, "__module__", ""))
        if exported is None:
            wanted = home == name and not key.startswith("_")
        else:  # what a package takes from elsewhere is documented there
            wanted = key in exported and home.startswith(name)
        if wanted and (inspect.isfunction(value) or inspect.isclass(value)):
            yield f"{name}.{key}", value


def is_documented(value: Any) -> bool:
    """Tell what is meant for readers from a helper: it says what it takes."""
    docstring = inspect.getdoc(value) or ""
    says = "Parameters\n---" in docstring or bool(titles_in(docstring))
    return inspect.isclass(value) or says


def titles_in(docstring: str) -> list[str]:
    """Return the titles of the chapters that a docstring names.

    >>> titles_in("Chapters: *JudgeBench*, *Who is better?*.")
    ['JudgeBench', 'Who is better?']
    """
    named = CHAPTER.search(docstring)
    found = re.findall(r"\*([^*]+)\*", named[1]) if named else []
    return [re.sub(r"\s+", " ", title) for title in found]


def write_pages(app: Any, page: str, source: list[str]) -> None:
    """Append the documentation of its modules to an API page."""
    for module in listed_modules().get(page, ()):
        app.env.note_dependency(str(import_module(module).__file__))
        lines = [f".. automodule:: {module}", "   :no-members:", ""]
        for name, value in public(module):
            if is_documented(value):
                kind = "class" if inspect.isclass(value) else "function"
                lines += [
                    f".. auto{kind}:: {name}",
                    *["   :members:"][: kind == "class"],
                ]
                lines.append("")
        block = "\n".join(lines)
        source[0] += f"\n## `{module}`\n\n```{{eval-rst}}\n{block}\n```\n"


def link_chapters(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Make the chapter that a docstring names a link, if the book has it."""
    pages = {c["title"]: f"notebooks/{c['name']}" for c in content.load("chapters")}

    def linked(title: re.Match[str]) -> str:
        words = re.sub(r"\s+", " ", title[1])
        page = pages.get(words)
        return f":doc:`{words} </{page}>`" if page in app.env.found_docs else title[0]

    text = CHAPTER.sub(
        lambda found: re.sub(r"\*([^*]+)\*", linked, found[0]), "\n".join(lines)
    )
    lines[:] = text.split("\n")


@cache
def functions_by_chapter() -> dict[str, list[tuple[str, str]]]:
    """Return name and first sentence of the functions of every chapter, by title."""
    found: dict[str, list[tuple[str, str]]] = {}
    for modules in listed_modules().values():
        for module in modules:
            for name, value in public(module):
                docstring = inspect.getdoc(value) or ""
                for title in titles_in(docstring):
                    summary = " ".join(docstring.split("\n\n")[0].split())
                    found.setdefault(title, []).append((name, summary))
    return found


def list_functions(app: Any, doctree: nodes.document) -> None:
    """End a chapter with the functions that it explains."""
    page = app.env.docname.removeprefix("notebooks/")
    title = next(
        (c["title"] for c in content.load("chapters") if c["name"] == page), None
    )
    functions = functions_by_chapter().get(title, ()) if title else ()
    if not functions:
        return
    entries = nodes.bullet_list()
    for name, summary in functions:
        short = name.removeprefix("judgelab.")
        link = addnodes.pending_xref(
            "",
            nodes.literal("", short),
            refdomain="py",
            reftype="obj",
            reftarget=name,
            refexplicit=True,
            refdoc=app.env.docname,
        )
        plain = re.sub(r"[`*]", "", summary)
        entries += nodes.list_item(
            "", nodes.paragraph("", "", link, nodes.Text(f": {plain}"))
        )
    section = nodes.section("", nodes.title("", "Functions of this chapter"), entries)
    section["ids"] = ["functions-of-this-chapter"]
    section["classes"] = ["jl-no-terms", "jl-functions"]
    last = [child for child in doctree.children if isinstance(child, nodes.section)][-1]
    last += section


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.config.autodoc_typehints = "none"  # the docstrings say it in words
    app.config.default_role = "py:obj"
    app.connect("source-read", write_pages)
    app.connect("autodoc-process-docstring", link_chapters)
    # Before the collectors, so that the table of contents knows the new section.
    app.connect("doctree-read", list_functions, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
