"""Figures: words are compulsory, ink is the page's, output is the same every time."""

import re
import xml.etree.ElementTree as ET

import pytest

from judgelab import plots
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate

WORDS = {"alt": "Luck is .50 & agreement .75.", "caption": "Figure 1. The way."}
KINDS = ["bar", "squares", "curves", "forest", "compared", "against", "two orders"]


def pictures():
    estimate = Estimate(0.69, 0.65, 0.72, 10, "delta method")
    return [
        plots.luck_line(0.75, 0.5, **WORDS),
        plots.luck_squares({"ours": (0.5, 0.55), "coins": (0.9, 0.9)}, **WORDS),
        plots.curves(
            [0, 1], {"κ": [1, 0], "raw": [1, 1]}, x_label="x", y_label="y", **WORDS
        ),
        plots.forest({"votes": estimate}, x_label="κ", **WORDS),
        plots.compared(
            {"GPT-4": [estimate, estimate]}, ["people", "GPT-4"], x_label="x", **WORDS
        ),
        plots.against(
            [0.2], [estimate], x_label="x", y_label="y", labels={0: "here"}, **WORDS
        ),
        plots.two_orders([[1] * 5] * 5, **WORDS),
    ]


@pytest.mark.parametrize("missing", ["alt", "caption"])
def test_a_figure_without_words_is_refused(missing):
    with pytest.raises(ValidationError, match=missing):
        plots.luck_line(0.75, 0.5, **(WORDS | {missing: " "}))


@pytest.mark.parametrize("picture", pictures(), ids=KINDS)
def test_the_text_equivalent_travels_with_the_picture(picture):
    root = ET.fromstring(picture.svg)
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == WORDS["alt"]
    assert root.attrib["aria-labelledby"] == title.attrib["id"]
    assert root.attrib["role"] == "img"
    assert WORDS["alt"] in repr(picture)
    assert "Figure 1. The way.</figcaption>" in picture._repr_html_()


@pytest.mark.parametrize("picture", pictures(), ids=KINDS)
def test_ink_and_font_are_the_page_s_and_nothing_leaks(picture):
    assert "currentColor" in picture.svg
    assert "#000000" not in picture.svg
    assert "font:" not in picture.svg
    assert "<style" not in picture.svg
    assert "http" not in picture.svg.replace("http://www.w3.org/", "")


@pytest.mark.parametrize("picture", pictures(), ids=KINDS)
def test_every_reference_inside_the_picture_has_its_target(picture):
    defined = re.findall(r' id="([^"]+)"', picture.svg)
    used = set(re.findall(r"(?:href=\"#|url\(#)([^\")]+)", picture.svg))
    assert used <= set(defined)
    assert len(defined) == len(set(defined))


def test_the_same_drawing_gives_the_same_bytes():
    assert [p.svg for p in pictures()] == [p.svg for p in pictures()]


def test_the_bar_names_kappa():
    assert "κ = 0.25 of 0.50 = 0.50" in plots.luck_line(0.75, 0.5, **WORDS).svg


def test_a_square_says_how_far_luck_gets():
    svg = plots.luck_squares({"ours": (0.5, 0.55), "coins": (0.9, 0.9)}, **WORDS).svg
    for words in ("ours: 0.50", "coins: 0.82", ">0.275<", ">0.225<", ">0.81<"):
        assert words in svg
    assert ">0.01<" not in svg  # no room for it


def test_a_habit_is_a_share():
    with pytest.raises(ValidationError, match="from 0 to 1"):
        plots.luck_squares({"ours": (50, 0.55)}, **WORDS)


def test_reference_lines_are_drawn_where_they_are_asked_for():
    estimates = {"votes": Estimate(0.5, 0.4, 0.6, 100, "Wilson")}
    plain = plots.forest(estimates, x_label="x", **WORDS).svg
    marked = plots.forest(estimates, x_label="x", reference=[0.25, 0.5], **WORDS).svg
    assert marked.count("stroke-dasharray") == plain.count("stroke-dasharray") + 2


def test_too_many_curves_are_refused():
    series = {str(i): [0, 1] for i in range(5)}
    with pytest.raises(ValidationError, match="5 curves"):
        plots.curves([0, 1], series, x_label="x", y_label="y", **WORDS)


def test_every_readable_cell_of_two_orders_says_what_it_means():
    svg = plots.two_orders(
        [[i * 5 + j for j in range(5)] for i in range(5)], **WORDS
    ).svg
    words = ["same", "1st slot", "2nd slot", "1st + tie", "2nd + tie"]
    assert [svg.count(f">{word}<") for word in words] == [3, 1, 1, 2, 2]
    assert all(f">{count}<" in svg for count in range(25))
    with pytest.raises(ValidationError, match="5 × 5"):
        plots.two_orders([[1, 2], [3, 4]], **WORDS)
