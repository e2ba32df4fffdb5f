"""The book's frame: MathJax from the book itself, light pages, valid roles."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from typing import Any

# The package is imported by no one: its name is no identifier, and as an extension it
# would copy 24 MB and choose an output whose fonts a browser refuses from file://.
_MATHJAX_PACKAGE = "sphinx-mathjax-offline"
_MATHJAX_ENTRY = "mathjax/tex-svg.js"
# What that entry can still ask for when a reader opens MathJax's menu or a formula
# uses a macro outside the core (\class, \cancel, …).
_MATHJAX_ON_DEMAND = (
    "a11y",
    "input/tex/extensions",
    "sre/mathmaps",
)
_ENGLISH_SPEECH = ignore_patterns(
    *("ca.json", "da.json", "de.json", "es.json", "fr.json", "hi.json", "it.json"),
    *("nb.json", "nn.json", "sv.json"),
)


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Copy the parts of MathJax that a page can ask for beside the built pages."""
    if error is not None or app.builder.format != "html":
        return
    spec = find_spec(_MATHJAX_PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{_MATHJAX_PACKAGE} is not installed; run `make book`")
    source = Path(spec.origin).parent / "static" / "mathjax"
    target = Path(app.outdir, "_static", "mathjax")
    target.mkdir(parents=True, exist_ok=True)
    entry = source / "tex-svg.js"
    (target / entry.name).write_bytes(entry.read_bytes())
    for folder in _MATHJAX_ON_DEMAND:
        copytree(
            source / folder, target / folder, ignore=_ENGLISH_SPEECH, dirs_exist_ok=True
        )


def drop_doubles(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Keep one copy of each script that the page needs.

    Jupyter Book always loads sphinx-thebe, which declares a constant twice and names a
    foreign host, for live cells that need a server. Sphinx gives MathJax (2 MB) to a
    page without formulas too, if one that it lists has some.
    """
    unwanted = ["thebe"]
    if 'class="math' not in context.get("body", ""):
        unwanted.append("mathjax")
    kept = {}
    for script in context.get("script_files", []):
        attributes = tuple(sorted(script.attributes.items()))
        says = f"{script.filename} {script.attributes.get('body', '')}".lower()
        if not any(word in says for word in unwanted):
            kept.setdefault((script.filename, attributes), script)
    context["script_files"] = list(kept.values())


_ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)></\1>')
_ICON_STYLES = {"fas", "far", "fab", "fa-solid", "fa-regular", "fa-brands"}
_ICON_SCRIPT = re.compile(r"\s*<script[^>]*fontawesome\.js[^>]*></script>")


@cache
def _shape(icon: str) -> tuple[str, str]:
    """Look up a shape of the theme's: its view box and its path."""
    theme = Path(str(find_spec("pydata_sphinx_theme").origin)).parent
    script = theme / "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
    entry = rf'[,{{]"?{icon}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]'
    # The solid shapes come last, and are the ones in use.
    width, height, path = re.findall(entry, script.read_text(encoding="utf-8"))[-1]
    return f"0 0 {width} {height}", path


def _drawn(found: re.Match[str]) -> str:
    _, classes, attributes = found.groups()
    names = [name for name in classes.split() if name not in _ICON_STYLES]
    icon = next(n for n in names if n.startswith("fa-") and n != "fa-lg")
    names[names.index(icon)] = "jl-icon"
    box, path = _shape(icon.removeprefix("fa-"))
    attributes = re.sub(r'\s+title="[^"]*"', "", attributes)  # the button says it
    return (
        f'<svg class="{" ".join(names)}"{attributes} '
        f'viewBox="{box}" aria-hidden="true">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )


def draw_icons(app: Any, error: Exception | None) -> None:
    """Draw the theme's dozen icons into the pages, in place of the script that does.

    It is 1.5 MB, and a page shows nothing before it has run.
    """
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_ICON_SCRIPT.sub("", _ICON.sub(_drawn, text)), "utf-8")
    static = Path(app.outdir, "_static")
    rmtree(static / "vendor" / "fontawesome", ignore_errors=True)
    for unused in {*static.rglob("fontawesome.js*"), *static.rglob("*.map")}:
        unused.unlink()


_SPOKEN = {
    # An entry of the bibliography: the role that docutils writes was withdrawn.
    'role="doc-biblioentry"': 'role="listitem"',
    # Code and what it gives, told apart from the text around them.
    '<div class="cell_input ': (
        '<div role="group" aria-label="Python" class="cell_input '
    ),
    '<div class="output text_plain ': (
        '<div role="group" aria-label="Result" class="output text_plain '
    ),
    # What can be read on the line itself says more.
    '<summary aria-label="Toggle hidden content">': "<summary>",
}


def name_for_listeners(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give parts of a page the roles and names that a screen reader announces."""
    for written, spoken in _SPOKEN.items():
        context["body"] = context.get("body", "").replace(written, spoken)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.config.mathjax_path = _MATHJAX_ENTRY
    # A formula in the text is read, not operated: it is no stop of the Tab key.
    menu = {"settings": {"inTabOrder": False}}
    app.config.mathjax3_config = {"options": {"menuOptions": menu}}
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", draw_icons)
    app.connect("html-page-context", drop_doubles, priority=900)
    app.connect("html-page-context", name_for_listeners)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
