"""The API pages name every public function, and every function its chapter."""

from __future__ import annotations

import inspect
import pkgutil
import sys
from pathlib import Path

import pytest

import judgelab
from judgelab.teach import content

pytest.importorskip("sphinx")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "book/_ext"))
import apipages

TITLES = {chapter["title"] for chapter in content.load("chapters")}
LISTED = [
    module for modules in apipages.listed_modules().values() for module in modules
]
# What makes the book explains nothing that a chapter teaches.
TOOLS = ("judgelab.errors", "judgelab.explore", "judgelab.plots", "judgelab.teach")


def modules() -> list[str]:
    """Modules for readers: no underscore, and not a part of a listed package."""
    found = pkgutil.walk_packages(judgelab.__path__, "judgelab.")
    return [
        module.name
        for module in found
        if not any(part.startswith("_") for part in module.name.split("."))
        and not any(module.name.startswith(f"{package}.") for package in LISTED)
        and list(apipages.public(module.name))
    ]


def test_every_module_has_its_place_on_one_page() -> None:
    assert len(LISTED) == len(set(LISTED))
    assert not set(modules()) - set(LISTED)


@pytest.mark.parametrize("module", LISTED)
def test_a_module_says_what_it_is_for(module: str) -> None:
    assert sys.modules.get(module) or __import__(module)
    assert (sys.modules[module].__doc__ or "").strip()


@pytest.mark.parametrize("module", [m for m in LISTED if not m.startswith(TOOLS)])
def test_every_function_names_its_chapter(module: str) -> None:
    missing = [
        name
        for name, value in apipages.public(module)
        if inspect.isfunction(value)
        and apipages.is_documented(value)
        and not apipages.titles_in(inspect.getdoc(value) or "")
    ]
    assert not missing


@pytest.mark.parametrize("module", LISTED)
def test_every_named_chapter_exists(module: str) -> None:
    wrong = {
        (name, title)
        for name, value in apipages.public(module)
        for title in apipages.titles_in(inspect.getdoc(value) or "")
        if title not in TITLES
    }
    assert not wrong


def test_functions_named_at_the_top_are_documented() -> None:
    documented = {
        id(value) for module in LISTED for _, value in apipages.public(module)
    }
    top = [getattr(judgelab, name) for name in judgelab._HOME]
    missing = [
        value.__name__
        for value in top
        if (inspect.isfunction(value) or inspect.isclass(value))
        and id(value) not in documented
    ]
    assert not missing


def test_chapter_and_function_link_to_each_other(built_book: Path) -> None:
    chapter = (built_book / "notebooks/agreement.html").read_text("utf-8")
    api = (built_book / "book/api-statistics.html").read_text("utf-8")
    for name, _ in apipages.functions_by_chapter()["Do two judges agree?"]:
        assert name.removeprefix("judgelab.") in chapter
    anchor = "judgelab.agreement.cohen_kappa"
    assert f'href="../book/api-statistics.html#{anchor}"' in chapter
    assert f'id="{anchor}"' in api
    assert 'href="../notebooks/agreement.html"' in api
