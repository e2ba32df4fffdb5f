"""What the book teaches with is complete, right, and answers as it promises."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judgelab import teach
from judgelab.agreement import cohen_kappa
from judgelab.errors import ValidationError
from judgelab.teach import content, exercises, gluing, notation, refresh, terms

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = [chapter["name"] for chapter in content.load("chapters")]
NOTEBOOKS = [
    path for name in CHAPTERS if (path := ROOT / f"notebooks/{name}.ipynb").exists()
]
EXERCISES = [e for name in CHAPTERS for e in exercises.exercises(name)]
QUESTIONS = [
    (name, number, question)
    for name in CHAPTERS
    for number, question in enumerate(
        content.load(f"quizzes/{name}").get("questions", ())
    )
]


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    chosen = [e for e in EXERCISES if exercises.kind(e) in kinds]
    return pytest.mark.parametrize("exercise", chosen, ids=[e["id"] for e in chosen])


every_exercise = of_kind("number", "choice", "function", "text")
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def sources(path: Path, kind: str = "markdown") -> Iterator[str]:
    yield from ("".join(cell["source"]) for cell in cells(path, kind))


# --- Exercises -----------------------------------------------------------------------


@every_exercise
def test_an_exercise_has_all_its_parts(exercise: dict[str, Any]) -> None:
    for part in ("title", "statement", "solution"):
        assert exercise[part].strip()
    assert exercise["level"] in ("recall", "apply", "analyse", "open")
    assert exercise["minutes"] > 0
    if exercises.kind(exercise) == "text":
        assert exercise["points"]


@pytest.mark.parametrize("name", CHAPTERS)
def test_exercises_are_numbered_by_chapter(name: str) -> None:
    numbers = [e["id"] for e in exercises.exercises(name)]
    chapter = content.chapter(name)["number"]
    assert numbers == [f"{chapter}.{i}" for i in range(1, len(numbers) + 1)]


def solution(exercise: dict[str, Any]) -> Any:
    """Run all cells of a solution; the last line of the last one is the answer."""
    names = exercises.namespace()
    value = None
    for cell in exercises.solution_cells(exercise):
        value = exercises.run(cell, names)
    return value


@of_kind("number", "function")
def test_a_solution_passes_its_own_check(exercise: dict[str, Any]) -> None:
    answer = solution(exercise)
    assert answer is not None, "the solution's last cell must end in the answer"
    feedback = teach.check(exercise["id"], answer)
    assert feedback.right, feedback


@of_kind("choice")
def test_the_right_choice_is_right_and_every_other_has_a_hint(
    exercise: dict[str, Any],
) -> None:
    assert teach.check(exercise["id"], exercise["answer"]).right
    hinted = [hint["when"] for hint in exercise["hints"]]
    assert sorted([*hinted, exercise["answer"]]) == sorted(exercise["choices"])


@of_kind("number", "choice", "function")
def test_every_known_wrong_answer_gets_its_hint(exercise: dict[str, Any]) -> None:
    for hint in exercise.get("hints", ()):
        wrong = hint["when"]
        if exercises.kind(exercise) == "function":
            wrong = exercises.defined(wrong, exercise["function"])
        feedback = teach.check(exercise["id"], wrong)
        assert feedback.right is False
        assert feedback.text == hint["say"].strip()


@of_kind("number")
def test_another_number_is_wrong(exercise: dict[str, Any]) -> None:
    feedback = teach.check(exercise["id"], exercise["answer"] + 7919)
    assert feedback == exercises.Feedback(False, exercise.get("otherwise", "").strip())


@of_kind("text")
def test_a_text_is_answered_with_the_points(exercise: dict[str, Any]) -> None:
    feedback = teach.check(exercise["id"], "My answer.")
    assert feedback.right is None
    assert all(point in feedback.text for point in exercise["points"])


@of_kind("number", "choice")
def test_the_page_holds_neither_answer_nor_hint_in_clear(
    exercise: dict[str, Any],
) -> None:
    page = exercises.for_page(exercise["id"], "reader")
    form = page[page.index("<form") :]
    for hint in exercise.get("hints", ()):
        assert content.inline(hint["say"]) not in form
    assert content.markdown(exercise["solution"]) not in page
    assert str(exercise["answer"]) not in re.findall(
        r"[\w.]+", "".join(exercises.sealed(exercise))
    )


@of_kind("function")
def test_a_known_wrong_program_keeps_its_lines(exercise: dict[str, Any]) -> None:
    page = exercises.for_page(exercise["id"], "instructor")
    for hint in exercise["hints"]:
        assert f"<pre>{html.escape(hint['when'].strip())}</pre>" in page


@of_kind("number", "choice")
def test_an_answer_unlocks_what_python_says_to_it(exercise: dict[str, Any]) -> None:
    known = dict(exercises.known_answers(exercise))
    entries = exercises.sealed(exercise)
    assert len(entries) == len(known)
    for answer, feedback in known.items():
        key = exercises.key(exercise["id"], answer)
        said = exercises.decipher(entries[key], exercise["id"], answer)
        assert said == content.inline(feedback.sentence)


def test_the_dots_are_no_answer() -> None:
    assert teach.check("1.1", ...).right is None


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda: teach.check("99.1", 1), "99.1"),
        (lambda: teach.check(first("number"), "a lot"), "a lot"),
        (lambda: teach.check(first("number"), float("nan")), "nan"),
        (lambda: teach.check(first("choice"), "z"), "'z'"),
        (lambda: teach.check(first("function"), 0.5), "0.5"),
        (lambda: teach.check(first("text"), 0.5), "0.5"),
        (lambda: teach.term("flibbertigibbet"), "flibbertigibbet"),
        (lambda: teach.symbols("no_chapter"), "no_chapter"),
        (lambda: teach.quiz("no_chapter"), "no_chapter"),
    ],
)
def test_a_wrong_question_is_refused_by_name(
    ask: Callable[[], object], named: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(named)):
        ask()


def first(kind: str) -> str:
    return next(e["id"] for e in EXERCISES if exercises.kind(e) == kind)


def test_a_function_that_fails_is_told_where() -> None:
    def broken(*_: object) -> float:
        raise ZeroDivisionError("division by zero")

    feedback = teach.check(first("function"), broken)
    assert feedback.right is False
    assert "ZeroDivisionError" in feedback.text


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(0.125, 2, "0.13"), (-0.125, 2, "-0.13"), (2.5, 0, "3"), (-0.004, 2, "0.00")],
)
def test_rounding_is_the_browsers(value: float, decimals: int, expected: str) -> None:
    assert exercises.rounded(value, decimals) == expected


def test_a_share_in_percent_is_told_so() -> None:
    one = {"id": "0.1", "answer": 0.5, "decimals": 2, "unit": "share"}
    known = dict(exercises.known_answers(one))
    assert "percent" in known["50.00"].text
    assert known["0.50"].right


def test_answers_within_a_tolerance_are_right() -> None:
    one = {"id": "0.1", "answer": 0.5, "decimals": 2, "within": 0.02}
    right = [a for a, f in exercises.known_answers(one) if f.right]
    assert right == ["0.48", "0.49", "0.50", "0.51", "0.52"]


# --- Quizzes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chapter", "number", "question"),
    QUESTIONS,
    ids=[f"{name}-{number + 1}" for name, number, _ in QUESTIONS],
)
def test_a_question_has_one_right_option_and_words_for_each(
    chapter: str, number: int, question: dict[str, Any]
) -> None:
    options = question["options"]
    assert [bool(o.get("right")) for o in options].count(True) == 1
    assert len(options) >= 2
    for option in options:
        # An unquoted Yes or No is a truth value in YAML, not a word.
        assert isinstance(option["text"], str)
        assert option["say"].strip()


@pytest.mark.parametrize("name", sorted({name for name, _, _ in QUESTIONS}))
def test_a_chapter_has_a_quiz_and_takeaways(name: str) -> None:
    loaded = content.load(f"quizzes/{name}")
    assert 3 <= len(loaded["questions"]) <= 5
    assert 1 <= len(loaded["takeaways"]) <= 5


# --- Terms ---------------------------------------------------------------------------

# Words that nobody knows from everyday life: where one stands, the glossary has it.
TECHNICAL = re.compile(
    r"\b(kappas?|alpha|AC1|AC2|PABAK|ICC|bootstrap\w*|logits?|sigmoid|log-odds|odds|"
    r"variances?|standard (?:errors?|deviations?)|covariances?|correlations?|"
    r"Bradley.Terry|Rasch|Elo|likelihoods?|tau|Spearman|Pearson|NDCG|prevalence|"
    r"asymptotic\w*|quantiles?|p-values?|null hypothes[ie]s|confidence intervals?|"
    r"contingency tables?|binomial|multinomial|priors?|posteriors?|Wilson|MMLU|"
    r"identifiab\w+|regulari[sz]\w+|sandwich|delta method|symmetri[sz]ed?)\b",
    re.IGNORECASE,
)


def prose(path: Path) -> str:
    """The text of a chapter without headings, code, formulas, links and references."""
    text = "\n\n".join(sources(path)).partition("## References")[0]
    for left_out in (
        r"(?s)```.*?```",
        r"`[^`]*`",
        r"(?s)\$\$.*?\$\$",
        r"\$[^$]*\$",
        r"(?m)^#.*$",
        r"\[[^\]]*\]\([^)]*\)",
        r"<[^>]*>",
        r"\*",
    ):
        text = re.sub(left_out, " ", text)
    return text


def unexplained(text: str) -> set[str]:
    covered = [(start, end) for start, end, _ in terms.occurrences(text)]
    return {
        word[0]
        for word in TECHNICAL.finditer(text)
        if not any(
            start <= word.start() and word.end() <= end for start, end in covered
        )
    }


def references(key: str) -> set[str]:
    meaning = terms.glossary()[key]["means"]
    return {other for _, _, other in terms.occurrences(meaning)} - {key}


def test_the_check_for_unexplained_words_can_fail() -> None:
    assert unexplained("Identifiable by kappa.") == {"Identifiable"}


def test_the_glossary_is_large_and_its_spellings_are_unique() -> None:
    glossary = terms.glossary()
    assert len(glossary) >= 40
    spellings = [
        terms.canonical(form)
        for entry in glossary.values()
        for form in terms.forms(entry)
    ]
    assert len(spellings) == len(set(spellings))
    assert len(content.load("glossary")) == len(glossary), "an id stands twice"


@pytest.mark.parametrize("key", terms.glossary())
def test_a_definition_is_plain(key: str) -> None:
    meaning = terms.glossary()[key]["means"]
    assert not unexplained(meaning)
    assert len(meaning.split()) <= 60


def test_no_term_is_explained_in_a_circle() -> None:
    def visit(key: str, above: tuple[str, ...]) -> None:
        assert key not in above, " → ".join([*above, key])
        for other in references(key):
            visit(other, (*above, key))

    for key in terms.glossary():
        visit(key, ())


@every_notebook
def test_every_technical_word_of_a_chapter_is_in_the_glossary(path: Path) -> None:
    assert not unexplained(prose(path))


@pytest.mark.skipif(
    len(NOTEBOOKS) < len(CHAPTERS), reason="some chapters are not written yet"
)
def test_every_definition_is_used() -> None:
    used = {key for path in NOTEBOOKS for _, _, key in terms.occurrences(prose(path))}
    used |= {other for key in used for other in references(key)}
    assert not set(terms.glossary()) - used


# --- Symbols -------------------------------------------------------------------------


def equations(path: Path) -> list[str]:
    return re.findall(r"(?s)\$\$(.*?)\$\$", "\n\n".join(sources(path)))


@every_notebook
def test_the_equations_and_the_table_have_the_same_symbols(path: Path) -> None:
    table = notation.table_of(path.stem)
    marked = [notation.mark(equation, table) for equation in equations(path)]
    assert {m.unknown for m in marked} <= {()}, "symbols that the table lacks"
    used = {place for m in marked for place in m.used}
    idle = [table[i]["tex"] for i in range(len(table)) if i not in used]
    assert not idle, "symbols that no equation has"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_symbol_says_how_it_sounds_and_what_it_means(name: str) -> None:
    for symbol in notation.table_of(name):
        assert re.fullmatch(r"[\w ,'-]+", symbol["say"])
        assert symbol["means"].strip()


@pytest.mark.parametrize(
    ("tex", "unknown"),
    [
        (r"\hat{\kappa} = \frac{p_{o} - p_e}{1 - p_e}", ()),
        (r"\text{share of } p_o \quad \mathrm{SE}(\kappa)", ()),
        (r"\begin{aligned} \kappa &= p_o \\[4pt] &= x \end{aligned}", ("x",)),
        (r"\sigma(\kappa)", (r"\sigma",)),
        (r"p_o^2 + \kappa_w", ("w",)),
    ],
)
def test_symbols_are_found_in_tex(tex: str, unknown: tuple[str, ...]) -> None:
    table = [{"tex": t} for t in (r"\kappa", r"\hat\kappa", "p_o", "p_e")]
    assert notation.mark(tex, table).unknown == unknown


def test_marking_keeps_the_words_of_an_equation() -> None:
    marked = notation.mark(r"x = \text{share of ties}", [{"tex": "x"}], "c{}".format)
    assert marked.tex == r"{\class{c0}{x}}=\text{share of ties}"


# --- Triples and glued numbers -------------------------------------------------------


@every_notebook
def test_every_glued_number_is_the_computed_one(path: Path) -> None:
    recorded = gluing.glued(json.loads(path.read_text(encoding="utf-8")))
    for text in sources(path):
        assert gluing.fill(text, recorded) == text


@every_notebook
def test_a_span_is_never_misspelt(path: Path) -> None:
    text = "\n".join(sources(path))
    assert text.count("data-glue") == len(gluing.SPAN.findall(text))


@every_notebook
def test_teaching_cells_carry_the_tags_that_refresh_sets(path: Path) -> None:
    for cell in cells(path, "code"):
        source = "".join(cell["source"])
        wanted = next(
            (tag for s, tag, _ in refresh.CELLS if refresh.calls(source, s)), None
        )
        if wanted:
            assert wanted in cell["metadata"].get("tags", ()), source


@every_notebook
def test_a_chapter_has_a_triple_exercises_and_a_quiz(path: Path) -> None:
    text, code = "\n".join(sources(path)), "\n".join(sources(path, "code"))
    for words in ("**In words.**", "**With the numbers.**", "**In Python.**"):
        assert text.count(words) == text.count("**In words.**") >= 1
    shown = re.findall(r'^teach\.exercise\("([\d.]+)"\)', code, re.MULTILINE)
    assert shown == [e["id"] for e in exercises.exercises(path.stem)]
    assert f'teach.quiz("{path.stem}")' in code
    assert f'teach.takeaways("{path.stem}")' in code


def test_an_estimate_is_glued_with_its_parts() -> None:
    from judgelab import Estimate

    kappa = Estimate(0.5, 0.331, 0.669, n=100, method="delta method")
    recorded = {"kappa": gluing.recorded(kappa), "share": gluing.recorded(1 / 3)}
    recorded = json.loads(json.dumps(recorded))
    assert gluing.written(recorded, "kappa", ".2f") == "0.50 [0.33, 0.67]"
    assert gluing.written(recorded, "kappa.low", ".2f") == "0.33"
    assert gluing.written(recorded, "kappa.n", None) == "100"
    assert gluing.written(recorded, "share", ".1%") == "33.3\xa0%"
    assert gluing.written(recorded, "kappa", ".0%") == "50\xa0% [33\xa0%, 67\xa0%]"


def test_an_unglued_name_is_refused() -> None:
    with pytest.raises(ValidationError, match="'kapa'"):
        gluing.fill('<span data-glue="kapa:.2f"></span>', {"kappa": 0.5})


def test_refresh_runs_fills_tags_and_does_the_same_again(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    v4 = nbformat.v4
    path = tmp_path / "chapter.ipynb"
    cells = [
        v4.new_markdown_cell('It is <span data-glue="half:.2f"></span>.'),
        v4.new_code_cell("from judgelab import teach"),
        v4.new_code_cell("teach.glue(half=1 / 2)"),
        v4.new_code_cell('teach.exercise("1.1")'),
    ]
    nbformat.write(v4.new_notebook(cells=cells), path)
    refresh.refresh(path)
    once = path.read_bytes()
    assert b">0.50</span>" in once
    assert b"remove-cell" in once
    refresh.refresh(path)
    assert path.read_bytes() == once


# --- The pages around the chapters ---------------------------------------------------


def test_the_guide_shows_an_estimate_as_the_package_prints_it() -> None:
    guide = (ROOT / "book/how-to-read.md").read_text(encoding="utf-8")
    assert f"\n{cohen_kappa([[40, 10], [15, 35]])!r}\n" in guide


def test_every_chapter_says_which_question_it_answers() -> None:
    for chapter in content.load("chapters"):
        assert chapter["question"].endswith("?")


QUOTED = [c["name"] for c in content.load("chapters") if "found" in c]


@pytest.mark.parametrize("name", QUOTED)
def test_what_a_chapter_found_has_its_numbers_from_there(name: str) -> None:
    written = content.chapter(name)["found"]
    assert written.count("data-glue") == len(gluing.SPAN.findall(written)) > 0
    assert not re.search(r"<|nan", gluing.found(name))
