"""The demos of labels: the package's numbers, and pictures that show them."""

import re

import numpy as np
import pandas as pd
import pytest

from judgelab.agreement import cohen_kappa
from judgelab.explore import LabelTable, RecodedLabels, ShuffledLabels, svg
from judgelab.explore.llmjudge import invented, misjudged, ndcg_of_systems
from judgelab.papers import llmjudge

DEMOS = [LabelTable(), ShuffledLabels(), RecodedLabels()]


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_the_table_is_the_paper_s(cut):
    demo = LabelTable()
    found = demo.compute(submission="Olz-gpt4o", cut=cut, weights=None).estimates
    for name, measure in (("kappa", "kappa"), ("alpha (ordinal)", "alpha")):
        expected = llmjudge.evaluate("Olz-gpt4o", measure, cut or None)
        assert found[name] == expected


def test_a_mean_of_two_labels_is_a_share():
    demo = LabelTable()
    for cut, what in ((0, "mean label"), (2, "share relevant")):
        numbers = demo.compute(submission="Olz-gpt4o", cut=cut, weights=None)
        assert demo.figures(numbers)[-1][0] == what


def test_weights_move_all_but_alpha():
    demo = LabelTable()
    numbers = [
        demo.compute(submission="Olz-gpt4o", cut=0, weights=w).estimates
        for w in (None, "linear", "quadratic")
    ]
    kappas = [n["kappa"].value for n in numbers]
    assert kappas == sorted(kappas)
    assert len({n["alpha (ordinal)"].value for n in numbers}) == 1
    assert "AC1" in numbers[0]
    assert "AC2" in numbers[1]


def test_without_errors_all_is_one():
    numbers = ShuffledLabels().compute(shuffled=0, bias=0)
    assert [estimate.value for estimate in numbers.estimates.values()] == [1, 1, 1]


def test_a_bias_spoils_kappa_and_hardly_tau():
    numbers = ShuffledLabels().compute(shuffled=0, bias=1)
    tau, kappa, _ = (estimate.value for estimate in numbers.estimates.values())
    assert kappa < 0 < 0.9 < tau


def test_shuffling_spoils_both_and_keeps_the_mean():
    demo = ShuffledLabels()
    people = invented().people
    for shuffled in (0.3, 0.6, 1.0):
        judge = misjudged(shuffled, 0)
        assert (np.sort(judge, axis=1) == np.sort(people, axis=1)).all()
    last = demo.compute(shuffled=1, bias=0)
    tau, kappa, alpha = (estimate.value for estimate in last.estimates.values())
    assert abs(tau) < 0.3
    assert abs(kappa) < 0.05
    assert abs(alpha) < 0.05


def test_sliders_nest():
    for smaller, larger in ((0.2, 0.6), (0.5, 1.0)):
        moved = misjudged(0, smaller) != invented().people
        more = misjudged(0, larger) != invented().people
        assert (more | ~moved).all()


def test_the_bias_moves_as_many_labels_as_it_says():
    people = invented().people
    for bias in (-0.5, 0.3, 1):
        movable = people < 3 if bias > 0 else people > 0
        moved = misjudged(0, bias) - people
        assert set(np.unique(moved)) <= {0, round(np.sign(bias))}
        assert moved[movable].mean() == pytest.approx(bias, abs=0.05)


def test_systems_are_scored_as_trec_eval_does():
    world, judge = invented(), misjudged(0.3, 0.5)
    queries, passages = judge.shape
    labels = pd.DataFrame(
        [
            (f"q{q:02}", f"p{p:02}", judge[q, p])
            for q in range(queries)
            for p in range(passages)
        ],
        columns=["query", "document", "label"],
    )
    found = ndcg_of_systems(judge)
    for system in (0, 7, 19):
        run = pd.DataFrame(
            [
                (f"q{q:02}", f"p{p:02}", 10 - place)
                for q in range(queries)
                for place, p in enumerate(world.returned[system, q])
            ],
            columns=["query", "document", "score"],
        )
        scores = llmjudge.run_scores(run, labels).values()
        assert found[system] == pytest.approx(np.mean(list(scores)))


def test_recoding_in_order_keeps_tau_and_moves_kappa():
    demo = RecodedLabels()
    name = "willia-umbrela1"
    given = demo.compute(submission=name, labels=(0, 1, 2, 3)).estimates
    up = demo.compute(submission=name, labels=(1, 2, 3, 3)).estimates
    turned = demo.compute(submission=name, labels=(3, 2, 1, 0)).estimates
    assert given["kappa"].value == llmjudge.evaluate(name).value
    tau = "tau of the labels"
    assert abs(given[tau].value - up[tau].value) < 0.02
    assert given["kappa"].value - up["kappa"].value > 0.2
    assert turned[tau].value == pytest.approx(-given[tau].value)
    assert (
        cohen_kappa(llmjudge.recode(llmjudge.tables(name), (1, 2, 3, 3)))
        == (up["kappa"])
    )


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_a_frame_says_what_it_shows(demo):
    picture, table = demo.frame(**demo.start())
    for what, figure in demo.figures(demo.compute(**demo.start())):
        assert what.replace("&", "&amp;") in table
        assert figure in table
    words = re.sub(r"<[^>]+>", " ", picture)
    assert "kappa" in words
    assert "nan" not in picture


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_every_tenth_setting_is_drawn(demo):
    for params in list(demo.settings())[::10]:
        picture, _ = demo.frame(**params)
        assert picture.count("<svg") == 2
        assert "nan" not in picture


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.name)
def test_words_stay_within_the_picture(demo):
    picture = demo.view(
        demo.compute(**{c.name: c.values[c.start] for c in demo.controls})
    )
    words = re.findall(
        r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', picture
    )
    assert words
    for x, anchor, said in words:
        width = 7 * len(said)  # a letter takes about 7 units
        left = float(x) - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        assert left >= 0, said
        assert left + width <= svg.WIDTH, said
