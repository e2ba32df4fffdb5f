"""What turns a plain notebook into a page that teaches.

When a page has been read, this extension finds the terms of the glossary, marks the
symbols of its equations, frames the triples, and puts a box that checks under every
exercise. Everything that is shown is made by `judgelab.teach`: nothing is done twice.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

from judgelab.teach import content, exercises, gluing, notation, terms
from judgelab.teach.reproduction import ledger

EDITIONS = ("reader", "student", "instructor")
WORDS_PER_MINUTE = 200
MINUTES_PER_CELL = 0.3
MINUTES_PER_EQUATION = 0.5
MINUTES_PER_DEMO = 4.0
MINUTES_PER_QUESTION = 0.5
GLOSSARY = "book/glossary"
_PAGES_WITHOUT_TERMS = (
    *("book/api", "book/references", "book/handout"),
    # There a cluster has machines, a key opens an account, and a run is a program's.
    *("book/outgrow-a-laptop", "book/ten-million-verdicts"),
)


class Term(nodes.Inline, nodes.TextElement):
    """A word of the text that explains itself."""


def visit_term(translator: Any, node: Term) -> None:
    """Link to the glossary, described by the tip at the end of the page."""
    builder = translator.builder
    uri = builder.get_relative_uri(builder.current_docname, GLOSSARY)
    # On a single page every address is an anchor already.
    page = uri.partition("#")[0]
    translator.body.append(
        f'<a class="jl-term" href="{page}#term-{node["key"]}" '
        f'aria-describedby="{node["tip"]}" data-note="{node["note"]}">'
    )


def depart_term(translator: Any, node: Term) -> None:
    """Close the link."""
    translator.body.append("</a>")


def raw(markup: str) -> nodes.raw:
    """Wrap HTML as a node."""
    return nodes.raw("", markup, format="html")


def chapter_of(page: str) -> str | None:
    """Tell which chapter a page is, if it is one."""
    name = page.removeprefix("notebooks/")
    known = [c["name"] for c in content.load("chapters")]
    return name if page.startswith("notebooks/") and name in known else None


# --- Triples -------------------------------------------------------------------------

IN_WORDS, WITH_NUMBERS, IN_PYTHON = "In words.", "With the numbers.", "In Python."


def _begins(node: nodes.Node, words: str) -> bool:
    if not isinstance(node, nodes.paragraph):
        return False
    # The parser may leave an empty text in front.
    first = next((child for child in node.children if child.astext()), None)
    return isinstance(first, nodes.strong) and first.astext() == words


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def frame_triples(doctree: nodes.document) -> None:
    """Put words, numbers and Python of one idea into one frame.

    Raises
    ------
    ValueError
        If a triple lacks its numbers, its Python or its code cell.
    """
    for first in [n for n in doctree.findall(nodes.paragraph) if _begins(n, IN_WORDS)]:
        siblings = first.parent.children[first.parent.index(first) :]
        last = next((i for i, n in enumerate(siblings) if _is_cell(n)), None)
        whole = siblings[: last + 1] if last is not None else []
        found = [
            w for w in (WITH_NUMBERS, IN_PYTHON) if any(_begins(n, w) for n in whole)
        ]
        if found != [WITH_NUMBERS, IN_PYTHON]:
            raise ValueError(
                f"{first.source}:{first.line}: a paragraph “{IN_WORDS}” needs "
                f"“{WITH_NUMBERS}” and “{IN_PYTHON}” after it, then a code cell: "
                f"{first.astext()[:60]}…"
            )
        frame = nodes.container(classes=["jl-triple"])
        first.replace_self(frame)
        for node in whole[1:]:
            node.parent.remove(node)
        frame.extend(whole)


# --- Symbols -------------------------------------------------------------------------


def explain_equations(doctree: nodes.document, chapter: str) -> None:
    """Mark the symbols of every displayed equation and put their table under it."""
    table = notation.table_of(chapter)
    on_page: set[int] = set()
    for equation in list(doctree.findall(nodes.math_block)):
        marked = notation.mark(
            equation.astext(), table, f"jl-symbol jl-symbol-{chapter}-{{}}".format
        )
        equation.clear()
        equation += nodes.Text(marked.tex)
        if marked.used:
            on_page |= set(marked.used)
            parent = equation.parent
            below = raw(
                '<details class="jl-symbols">'
                "<summary>Symbols in this equation</summary>"
                f"{notation.table_html([table[i] for i in marked.used])}</details>"
            )
            parent.insert(parent.index(equation) + 1, below)
    say = [symbol["say"] for symbol in table]
    tips = "".join(
        f'<div class="jl-tip mathjax_process" role="tooltip" popover="manual" '
        f'id="tip-{chapter}-symbol-{i}" data-say="{html.escape(say[i])}">'
        f"<p>{notation.symbol_html(table[i])} "
        f"{notation.meaning_html(table[i])}</p></div>"
        for i in sorted(on_page)
    )
    doctree += raw(f'<div class="jl-symbol-tips">{tips}</div>')


# --- Terms ---------------------------------------------------------------------------

_NO_TERMS = (
    *(nodes.title, nodes.literal, nodes.literal_block, nodes.reference, nodes.math),
    *(nodes.math_block, nodes.raw, nodes.term, nodes.footnote_reference, Term),
    addnodes.pending_xref,  # a link inside a link would cut it in two
    pending_xref,  # a link to another page that Sphinx has still to find
)


def _stands_in(node: nodes.Node) -> Iterator[nodes.Element]:
    while node.parent is not None:
        node = node.parent
        yield node


def _bars(node: nodes.Element) -> bool:
    # The title of a card is a title, though it is no node of that kind.
    return not {"jl-no-terms", "sd-card-title"}.isdisjoint(node.get("classes", ()))


def explain_terms(doctree: nodes.document, page: str) -> None:
    """Make the first occurrence of every term in every section explain itself."""
    seen: set[tuple[int, str]] = set()
    notes: dict[str, int] = {}
    for text in list(doctree.findall(nodes.Text)):
        around = list(_stands_in(text))
        if any(isinstance(n, _NO_TERMS) or _is_cell(n) or _bars(n) for n in around):
            continue
        # In the glossary each entry counts as a section, and does not explain itself.
        scopes = (nodes.section, nodes.definition_list_item, nodes.document)
        scope = next(n for n in around if isinstance(n, scopes))
        own = scope.get("key")
        pieces: list[nodes.Node] = []
        done = 0
        for start, end, key in terms.occurrences(text.astext()):
            if key == own or (id(scope), key) in seen:
                continue
            seen.add((id(scope), key))
            note = notes.setdefault(key, len(notes) + 1)
            word = text.astext()[start:end]
            tip = f"tip-{page.replace('/', '-')}-{key}"
            pieces.append(nodes.Text(text.astext()[done:start]))
            pieces.append(Term("", word, key=key, tip=tip, note=note))
            done = end
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text.astext()[done:])])
    if notes:
        doctree += raw(_notes(page, notes))


def _notes(page: str, notes: dict[str, int]) -> str:
    """Make the tips of a page, which are its footnotes when it is printed."""
    tips = "".join(
        f'<div class="jl-tip mathjax_process" role="tooltip" popover="manual" '
        f'id="tip-{page.replace("/", "-")}-{key}"><p data-note="{note}">'
        f"<strong>{html.escape(terms.glossary()[key]['term'])}</strong> "
        f"{terms.definition_html(key)}</p></div>"
        for key, note in notes.items()
    )
    return (
        f'<div class="jl-notes" data-page="{page}">'
        f'<p class="jl-notes-title">Terms on this page</p>{tips}</div>'
    )


# --- Tables --------------------------------------------------------------------------


def name_rows(doctree: nodes.document) -> None:
    """Make the first column of a table its row headers, where it names the rows.

    Markdown can't say so; a column under an empty head or all in bold does.
    """
    for group in doctree.findall(nodes.tgroup):
        head, body = (next(group.findall(part)) for part in (nodes.thead, nodes.tbody))
        first = [row[0] for row in body]
        bold = [
            len(entry.astext())
            == sum(len(s.astext()) for s in entry.findall(nodes.strong))
            for entry in first
        ]
        if not head[0][0].astext() or all(bold):
            next(group.findall(nodes.colspec))["stub"] = 1


# --- Exercises, times, progress ------------------------------------------------------

_EXERCISE = re.compile(r'data-exercise="([^"]+)"')
_QUESTION = re.compile(r'data-question="([^"]+)"')


def settle_exercises(doctree: nodes.document, edition: str) -> list[str]:
    """Give every exercise what its edition has; return the numbers on the page."""
    numbers = []
    for output in list(doctree.findall(nodes.raw)):
        found = _EXERCISE.search(output.astext())
        if found:
            numbers.append(found[1])
            output.replace_self(raw(exercises.for_page(found[1], edition)))
    return numbers


def _shows_code(cell: nodes.Node) -> bool:
    """Tell a cell to read from one that holds an exercise, a quiz or the like."""
    code = next(cell.findall(nodes.literal_block), None)
    return code is not None and not code.astext().startswith("teach.")


def minutes(doctree: nodes.document, numbers: list[str]) -> tuple[int, int]:
    """Estimate the minutes to read a page and to do what it asks."""
    cells = [n for n in doctree.findall(nodes.container) if _is_cell(n)]
    looked_up = [n for n in doctree.findall(nodes.section) if _bars(n)]
    unread = {id(t) for part in cells + looked_up for t in part.findall(nodes.Text)}
    words = sum(
        len(text.astext().split())
        for text in doctree.findall(nodes.Text)
        if id(text) not in unread
    )
    outputs = " ".join(node.astext() for node in doctree.findall(nodes.raw))
    reading = (
        words / WORDS_PER_MINUTE
        + sum(map(_shows_code, cells)) * MINUTES_PER_CELL
        + len(list(doctree.findall(nodes.math_block))) * MINUTES_PER_EQUATION
    )
    doing = (
        sum(exercises.find(number)["minutes"] for number in numbers)
        + outputs.count('class="jl-demo"') * MINUTES_PER_DEMO
        + len(_QUESTION.findall(outputs)) * MINUTES_PER_QUESTION
    )
    return ceil(reading), ceil(doing)


def insert_below_promise(doctree: nodes.document, markup: str) -> None:
    """Put HTML under the title and the sentence that follows it."""
    title = next(iter(doctree.findall(nodes.title)))
    below = title.parent.index(title) + 1
    if isinstance(title.parent[below], nodes.paragraph):
        below += 1
    title.parent.insert(below, raw(markup))


def show_times(doctree: nodes.document, chapter: str, numbers: list[str]) -> None:
    """Say under the title how long a chapter takes, and how far the reader has come."""
    reading, doing = minutes(doctree, numbers)
    below_title = (
        f'<p class="jl-times">Chapter {content.chapter(chapter)["number"]}. '
        f"About {reading} minutes to read, {doing} to do.</p>"
        f'<p class="jl-progress" hidden data-chapter="{chapter}">'
        '<span aria-live="polite"></span> <button type="button">Reset</button></p>'
    )
    insert_below_promise(doctree, below_title)


def show_notes(doctree: nodes.document, chapter: str) -> None:
    """Put the teaching notes of a chapter under its title (instructor's edition)."""
    notes = content.load(f"exercises/{chapter}").get("notes")
    if notes:
        box = (
            '<div class="jl-solution"><p><strong>For instructors</strong></p>'
            f"{content.markdown(notes)}</div>"
        )
        insert_below_promise(doctree, box)


def link_templates(doctree: nodes.document) -> None:
    """Let a link to a notebook that is no page lead to the file itself."""
    folder = "book/_static/"
    for link in list(doctree.findall(pending_xref)):
        if str(link.get("reftarget", "")).startswith(folder):
            name = Path(link["reftarget"]).with_suffix(".ipynb").name
            file = nodes.reference("", "", refuri=f"../_static/{name}")
            file += link.children
            link.replace_self(file)


def teach(app: Any, doctree: nodes.document) -> None:
    """Do all of it for one page."""
    page = app.env.docname
    app.env.note_dependency(__file__)
    for name in ("glossary", "symbols", "chapters"):
        app.env.note_dependency(str(content.path(name)))
    name_rows(doctree)
    chapter = chapter_of(page)
    if chapter:
        for name in (f"exercises/{chapter}", f"quizzes/{chapter}"):
            if content.path(name):
                app.env.note_dependency(str(content.path(name)))
        frame_triples(doctree)
        link_templates(doctree)
        numbers = settle_exercises(doctree, app.config.judgelab_edition)
        if app.config.judgelab_edition == "instructor":
            show_notes(doctree, chapter)
        show_times(doctree, chapter, numbers)
        explain_equations(doctree, chapter)
    if not page.startswith(_PAGES_WITHOUT_TERMS):
        explain_terms(doctree, page)


# --- Pages made from YAML ------------------------------------------------------------


class Judgelab(SphinxDirective):
    """A part of a page that is made from its source: ``{judgelab} glossary``."""

    required_arguments = 1
    optional_arguments = 10  # chapters, where the part is about some of them

    def run(self) -> list[nodes.Node]:
        """Dispatch on the argument."""
        return _PARTS[self.arguments[0]](self)

    def parse(self, markdown: str) -> list[nodes.Node]:
        """Parse text as the page's own."""
        holder = nodes.Element()
        lines = StringList(markdown.splitlines(), source=self.env.docname)
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def glossary_part(directive: Judgelab) -> list[nodes.Node]:
    """Make the list of all terms, each with an anchor."""
    entries = nodes.definition_list(classes=["jl-glossary"])
    for key, entry in terms.glossary().items():
        title = nodes.term("", entry["term"], ids=[f"term-{key}"])
        body = nodes.definition("", *directive.parse(entry["means"]))
        entries += nodes.definition_list_item("", title, body, key=key)
    return [entries]


def symbols_part(directive: Judgelab) -> list[nodes.Node]:
    """Make the list of symbols of every chapter that has one."""
    made: list[nodes.Node] = []
    for chapter in content.load("chapters"):
        table = notation.table_of(chapter["name"])
        if not table:
            continue
        entries = nodes.definition_list(classes=["jl-glossary"])
        for symbol in table:
            letter = nodes.term("", "", nodes.math("", symbol["tex"]))
            scale = f" ({symbol['range']})" if "range" in symbol else ""
            body = nodes.definition("", *directive.parse(symbol["means"] + scale))
            entries += nodes.definition_list_item("", letter, body)
        section = nodes.section("", nodes.title("", chapter["title"]), entries)
        section["ids"] = [f"symbols-{chapter['name']}"]
        made.append(section)
    return made


def _link(chapter: dict[str, Any]) -> str:
    return f"[{chapter['title']}](../notebooks/{chapter['name']}.ipynb)"


def _in_the_book(directive: Judgelab) -> list[dict[str, Any]]:
    found = directive.env.found_docs
    return [c for c in content.load("chapters") if f"notebooks/{c['name']}" in found]


def chapters_part(directive: Judgelab) -> list[nodes.Node]:
    """List the chapters, each with the question that it answers."""
    lines = "\n".join(
        f"- **{c['number']} · {_link(c)}** {c['question']}"
        for c in _in_the_book(directive)
    )
    return [nodes.container("", *directive.parse(lines), classes=["jl-chapters"])]


def found_part(directive: Judgelab) -> list[nodes.Node]:
    """Quote what the named chapters found, each with a link to where it is shown."""
    lines = []
    for name in directive.arguments[1:]:
        directive.env.note_dependency(str(gluing.NOTEBOOKS / f"{name}.ipynb"))
        chapter = content.chapter(name)
        lines.append(
            f"- {gluing.found(name)} Chapter {chapter['number']}: {_link(chapter)}."
        )
    listed = directive.parse("\n".join(lines))
    return [nodes.container("", *listed, classes=["jl-found"])]


def outcomes_part(directive: Judgelab) -> list[nodes.Node]:
    """Say for every chapter what it takes, what it teaches and what checks it."""
    rows = "\n".join(
        f"| **{c['number']} · {_link(c)}** | {c['outcome']} | {_checks(c['name'])} |"
        for c in _in_the_book(directive)
    )
    head = "| Chapter | Afterwards, students can … | Checked by |\n|---|---|---|\n"
    return directive.parse(head + rows)


def _checks(chapter: str) -> str:
    listed = exercises.exercises(chapter)
    by_level = [
        f"{level}: {', '.join(e['id'] for e in listed if e['level'] == level)}"
        for level in ("recall", "apply", "analyse", "open")
        if any(e["level"] == level for e in listed)
    ]
    total = sum(e["minutes"] for e in listed)
    return f"{'; '.join(by_level)} ({total} min)" if listed else "—"


def ledger_part(directive: Judgelab) -> list[nodes.Node]:
    """Count what was checked, then put every paper's table beside ours."""
    found = ledger()
    counts = "".join(f"<li>{html.escape(line)}</li>" for line in found.lines())
    made: list[nodes.Node] = [raw(f'<ul class="jl-counts">{counts}</ul>')]
    for source in dict.fromkeys(table.source for table in found.tables):
        section = nodes.section("", nodes.title("", source))
        section["ids"] = [nodes.make_id(f"ledger-{source}")]
        said = f"{source}, "  # the heading has named it
        section += raw(
            "".join(
                '<details class="jl-table">'
                f"<summary>{html.escape(table.caption.removeprefix(said))}</summary>"
                f'<div class="jl-wide" tabindex="0" role="region" '
                f'aria-label="{html.escape(table.table)}">{table._repr_html_()}</div>'
                "</details>"
                for table in found.tables
                if table.source == source
            )
        )
        made.append(section)
    return made


def exam_part(directive: Judgelab) -> list[nodes.Node]:
    """List the exam questions; instructors see the marking guides."""
    made = nodes.enumerated_list(enumtype="arabic")
    directive.env.note_dependency(str(content.path("exam")))
    for question in content.load("exam"):
        asked = directive.parse(f"{question['ask']} *({question['points']} points)*")
        item = nodes.list_item("", *asked)
        if directive.config.judgelab_edition == "instructor":
            guide = directive.parse(question["guide"])
            item += nodes.container("", *guide, classes=["jl-solution"])
        made += item
    return [made]


_PARTS = {
    "chapters": chapters_part,
    "exam": exam_part,
    "found": found_part,
    "glossary": glossary_part,
    "ledger": ledger_part,
    "outcomes": outcomes_part,
    "symbols": symbols_part,
}


# --- Editions and launch -------------------------------------------------------------


def settle_downloads(app: Any, error: Exception | None) -> None:
    """Give the notebooks to download what the edition has: no outputs, or solutions."""
    edition = app.config.judgelab_edition
    if error is not None or app.builder.format != "html" or edition == "reader":
        return
    for file in Path(app.outdir, "_sources").rglob("*.ipynb"):
        notebook = nbformat.read(file, as_version=4)
        if edition == "student":
            empty(notebook)
        else:
            add_solutions(notebook)
        nbformat.write(notebook, file)


def empty(notebook: Any) -> None:
    """Strip every output."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def add_solutions(notebook: Any) -> None:
    """Put the solution after every exercise."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        found = re.match(r'teach\.exercise\("([\d.]+)"\)', cell.source)
        if found:
            solution = exercises.find(found[1])["solution"]
            new = nbformat.v4.new_markdown_cell(f"**Solution**\n\n{solution}")
            new.id = f"solution-{found[1].replace('.', '-')}"
            cells.append(new)
    notebook.cells = cells


def settle_single_page(app: Any, error: Exception | None) -> None:
    """Put the single page, which is printed, where its own links expect it."""
    if error is None and app.builder.name == "singlehtml":
        written = Path(app.outdir, f"{app.config.root_doc}.html")
        written.replace(Path(app.outdir, "index.html"))


def settle_launch(app: Any, config: Any) -> None:
    """Offer Binder and Colab if ``LAUNCH`` names the repository; a download always is.

    ``LAUNCH=https://github.com/<owner>/<repository> make book`` is the one switch, off
    by default: such buttons break silently when the services change.
    """
    if config.judgelab_edition not in EDITIONS:
        raise ValueError(
            f"EDITION is {config.judgelab_edition!r}; "
            f"choose one of {', '.join(EDITIONS)}"
        )
    if os.environ.get("LAUNCH"):
        config.html_theme_options["repository_url"] = os.environ["LAUNCH"]
        config.html_theme_options["repository_branch"] = "main"
        config.html_theme_options.setdefault("launch_buttons", {}).update(
            binderhub_url="https://mybinder.org",
            colab_url="https://colab.research.google.com",
            notebook_interface="jupyterlab",
        )


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    edition = os.environ.get("JUDGELAB_EDITION") or "reader"
    app.add_config_value("judgelab_edition", edition, "env", [str])
    app.add_node(Term, html=(visit_term, depart_term))
    app.add_directive("judgelab", Judgelab)
    app.connect("config-inited", settle_launch)
    app.connect("doctree-read", teach)
    app.connect("build-finished", settle_downloads)
    # Before the table of contents' extension writes a redirect to the old place.
    app.connect("build-finished", settle_single_page, priority=100)
    app.add_css_file("judgelab-teach.css")
    app.add_js_file("judgelab-teach.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
