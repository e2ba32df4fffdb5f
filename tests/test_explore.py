"""Demos: a frame per setting, the same text every time, pictures put into words."""

from __future__ import annotations

import base64
import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from typing import Any

import numpy as np
import pytest

from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.errors import ValidationError
from judgelab.explore import (
    AgreementCalculator,
    Demo,
    RealAgreement,
    choice,
    slider,
    svg,
)
from judgelab.explore.frames import pack
from judgelab.papers import mt_bench


class Twice(Demo):
    """The smallest demo: a slider, a choice, one bar."""

    name = "twice"
    title = "Twice <as> much"
    controls = (
        slider("x", "a number", range(4), start=2),
        choice("sign", "sign", {"plus": 1, "minus": -1}, start=1),
    )

    def compute(self, x: float, sign: int) -> float:
        return 2 * x * sign

    def figures(self, numbers: float) -> list[tuple[str, str]]:
        text = f"{numbers:.0f} [{numbers - 1:.0f}, {numbers + 1:.0f}]"
        return [("twice", text.replace("-", "−"))]

    def view(self, numbers: float) -> str:
        return svg.bars([svg.Bar("twice", numbers, f"{numbers:.0f}")], low=-6, high=6)


def unpack(packed: str) -> list[str]:
    """Do what the page's script does."""
    content = json.loads(zlib.decompress(base64.b64decode(packed)))
    pages = []
    for line in content["frames"].split("\n"):
        template, *figures = line.split(" ")
        text = content["templates"][int(template)]
        pages.append(
            re.sub("\0(\\d+)\0", lambda hole, f=figures: f[int(hole[1])], text)
        )
    return pages


def frames_of(html: str) -> list[str]:
    return unpack(re.search(r'class="jl-frames">([^<]*)<', html).group(1))


@pytest.mark.parametrize(
    "pages",
    [
        ["no figure at all"],
        ["n = 1", "n = 2"],
        ["a 1.50 b 1.50", "a 2.50 b 2.50", "a 3.50 b 4.50"],
        ["−1 of 10", "1 of 10", "undefined"],
        ["same 7", "same 7"],
        ["00.10", "0.1", "1e5", "#1f6fb2", "1 2", ""],
    ],
)
def test_packing_loses_nothing(pages: list[str]) -> None:
    assert unpack(pack(pages)) == pages


def test_every_setting_has_its_frame_in_the_order_of_the_controls() -> None:
    demo = Twice()
    frames = frames_of(demo.to_html())
    settings = [
        {"x": x, "sign": s} for x, s in itertools.product((0.0, 1.0, 2.0, 3.0), (1, -1))
    ]
    assert frames == ["\x1e".join(demo.frame(**setting)) for setting in settings]


@pytest.mark.parametrize("kind", [Twice, RealAgreement])
def test_a_page_is_the_same_text_every_time(kind: type[Demo]) -> None:
    assert kind().to_html() == kind().to_html()


def test_frames_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from judgelab.explore import RealAgreement; "
        "print(hash('a'), RealAgreement().to_html())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout.split(" ", 1)
        for seed in "12"
    ]
    assert runs[0][0] != runs[1][0]
    assert runs[0][1] == runs[1][1]


def test_a_screen_reader_hears_numbers_in_words() -> None:
    picture, table = Twice().frame(x=1, sign=-1)
    words = "twice minus 2, interval minus 3 to minus 1"
    assert picture.startswith(f'<div role="img" aria-label="{words}"><svg ')
    assert table.startswith("<table>")


def test_texts_cannot_end_their_element() -> None:
    html = Twice().to_html()
    assert "Twice &lt;as&gt; much" in html
    assert "<as>" not in html


def test_too_many_combinations_are_refused() -> None:
    class Huge(Twice):
        controls = tuple(slider(name, name, range(30), start=0) for name in "abcd")

    with pytest.raises(ValidationError, match="810,000 combinations"):
        Huge()


def test_a_start_outside_the_values_is_refused() -> None:
    with pytest.raises(ValidationError, match="start is 5"):
        slider("x", "x", range(3), start=5)


def test_widget_computes_as_the_page_shows() -> None:
    demo = Twice()
    box = demo.widget()
    _, number, sign, view = box.children
    number.value, sign.value = 3, -1
    picture, table = demo.frame(x=3, sign=-1)
    assert picture in view.value
    assert table in view.value


def test_a_notebook_gets_both_lives() -> None:
    bundle = Twice()._repr_mimebundle_()
    assert set(bundle) == {
        "text/plain",
        "text/html",
        "application/vnd.jupyter.widget-view+json",
    }


def test_calculator_gives_the_textbook_example() -> None:
    numbers = AgreementCalculator().compute(
        both_a=40, both_b=35, judge_a=10, human_a=15
    )
    assert numbers.raw.value == pytest.approx(0.75)
    assert numbers.chance == pytest.approx(0.50)
    assert numbers.kappa.value == pytest.approx(0.50)


def test_calculator_says_what_the_package_says() -> None:
    """Also where the calculator lets one table stand for its mirror images."""
    demo = AgreementCalculator()
    rng = np.random.default_rng(1)
    for _ in range(40):
        params = {c.name: rng.choice(c.values) for c in demo.controls}
        numbers = demo.compute(**params)
        table = [
            [params["both_a"], params["judge_a"]],
            [params["human_a"], params["both_b"]],
        ]
        kappa = cohen_kappa(table, undefined="nan")
        raw = percent_agreement(table, undefined="nan")
        for ours, theirs in ((numbers.kappa, kappa), (numbers.raw, raw)):
            assert [ours.value, ours.low, ours.high] == pytest.approx(
                [theirs.value, theirs.low, theirs.high], nan_ok=True, abs=1e-9
            )


@pytest.mark.parametrize(
    ("params", "figure"),
    [
        ({"both_a": 0, "both_b": 0, "judge_a": 0, "human_a": 0}, "undefined"),
        ({"both_a": 50, "both_b": 0, "judge_a": 0, "human_a": 0}, "undefined"),
        ({"both_a": 0, "both_b": 0, "judge_a": 30, "human_a": 30}, "−1.00"),
    ],
)
def test_calculator_at_the_edges(params: dict[str, int], figure: str) -> None:
    demo = AgreementCalculator()
    numbers = demo.compute(**params)
    assert dict(demo.figures(numbers))["Cohen’s kappa"].startswith(figure)
    assert "nan" not in "".join(demo.frame(**params))


def test_real_votes_are_those_of_the_chapter() -> None:
    demo = RealAgreement()
    numbers = demo.compute(votes=("G4-Pair", "Human"), setup="S2", symmetric=True)
    chapter = mt_bench.agreement("G4-Pair", "Human", setup="S2")
    assert numbers.raw.value == pytest.approx(chapter.value, abs=1e-12)
    assert numbers.table.sum() == 1723
    stored = demo.compute(votes="stored", setup="S2", symmetric=True)
    assert stored.kappa.value == pytest.approx(numbers.kappa.value, abs=1e-9)


@pytest.mark.parametrize("kind", [AgreementCalculator, RealAgreement])
def test_pictures_are_well_formed_and_stay_inside(kind: type[Demo]) -> None:
    demo = kind()
    for params in list(demo.settings())[:: max(1, len(list(demo.settings())) // 50)]:
        picture, table = demo.frame(**params)
        for drawing in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect"):
            x, width = float(drawing.get("x")), float(drawing.get("width"))
            assert 0 <= x <= x + width <= svg.WIDTH
        ET.fromstring(table)


def bar_widths(picture: str) -> list[tuple[float, float]]:
    rects = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
    return [(float(r.get("x")), float(r.get("width"))) for r in rects]


def test_bars_start_at_zero_and_are_as_long_as_their_value() -> None:
    rows: list[Any] = [svg.Bar("half", 0.5, "½"), svg.Bar("minus half", -0.5, "−½")]
    (x, width), (other_x, other_width) = bar_widths(svg.bars(rows, low=-1))
    assert (x, width) == (180, 85)
    assert (other_x, other_width) == (95, 85)


def test_an_undefined_bar_is_left_out() -> None:
    picture = svg.bars([svg.Bar("kappa", float("nan"), "undefined")])
    assert not bar_widths(picture)
    assert "undefined" in picture


def tips(picture: str) -> list[tuple[float, bool]]:
    """Find where intervals end, and whether an arrowhead says that they go on."""
    drawn = re.findall(r"M(\d+) \d+L(\d+) \d+L\d+ \d+", picture)
    return [(float(tip), barb != tip) for barb, tip in drawn]


def test_an_interval_that_the_picture_cuts_ends_in_an_arrowhead() -> None:
    row = svg.Bar("cut on the left", 0.5, "0.50", (-0.2, 0.9))
    assert tips(svg.bars([row])) == [(10, True), (316, False)]
    assert tips(svg.bars([row], low=-1)) == [(146, False), (333, False)]
    marked = svg.Row("cut on the right", [svg.Mark(0.5, (0, 1.2))])
    assert tips(svg.forest([marked], 0, 1, (0, 1))) == [(104, False), (344, True)]


def test_lines_are_told_apart_without_colour() -> None:
    curves = {name: [(0, 0), (1, 1)] for name in ("one", "two", "three")}
    picture = svg.lines(curves, x_range=(0, 1), y_range=(0, 1))
    assert len(set(re.findall(r'stroke-dasharray="([^"]*)"', picture))) == 3
    ET.fromstring(picture)
