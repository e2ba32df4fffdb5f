"""The demos of the chapter on one's own judge."""

import numpy as np
import pytest

from judgelab.correction import prediction_powered_share, rogan_gladen
from judgelab.explore.your_own_judge import REST, Budget, Corrected, expected_counts


def test_expected_counts_add_up():
    table, rest = expected_counts(
        300, 900, share=0.4, sensitivity=0.9, specificity=0.75
    )
    assert table.tolist() == [[108, 12], [45, 135]]
    assert rest == (round(900 * (0.4 * 0.9 + 0.6 * 0.25)), 900 - 459)


@pytest.mark.parametrize("demo", [Corrected(), Budget()], ids=lambda demo: demo.name)
def test_every_setting_has_a_frame(demo):
    for setting in demo.settings():
        picture, table = demo.frame(**setting)
        assert "nan" not in picture + table


def test_the_truth_is_in_the_corrected_intervals_and_not_in_the_judges():
    numbers = Corrected().compute(n=200, sensitivity=0.9, specificity=0.7, share=0.5)
    ways = numbers.estimates
    assert ways["judge only"].low > 0.5
    for name in ("labels only", "prediction-powered", "Rogan–Gladen"):
        assert ways[name].low < 0.5 < ways[name].high
    assert ways["prediction-powered"].width < ways["labels only"].width
    table, rest = expected_counts(
        200, REST, share=0.5, sensitivity=0.9, specificity=0.7
    )
    assert ways["Rogan–Gladen"] == rogan_gladen(table, rest)
    assert ways["prediction-powered"] == prediction_powered_share(table, rest)


def test_a_judge_that_knows_nothing_says_so():
    numbers = Corrected().compute(n=200, sensitivity=0.5, specificity=0.5, share=0.3)
    assert dict(Corrected().figures(numbers))["Rogan–Gladen"] == "undefined"
    assert numbers.estimates["prediction-powered"].method == "labels only"


def test_a_useless_judge_is_worth_no_money_and_a_cheap_good_one_some():
    useless = Budget().compute(money=400, price=0.01, right=0.5)
    assert np.argmin(useless.widths) == 0
    good = Budget().compute(money=400, price=0.01, right=0.95)
    assert np.argmin(good.widths) > 0
    assert min(good.widths) < 0.7 * good.widths[0]


def test_nobody_spends_more_than_there_is():
    for setting in Budget().settings():
        spent = Budget().compute(**setting)
        cost = np.array(spent.labels) + setting["price"] * np.array(spent.verdicts)
        assert (cost <= setting["money"] + 1.5).all()


def test_what_the_chapter_says_of_the_pictures_holds_for_every_setting():
    for setting in Corrected().settings():
        ways = Corrected().compute(**setting).estimates
        assert ways["prediction-powered"].width <= ways["labels only"].width + 1e-12
    for setting in Budget().settings():
        if setting["right"] == 0.5:
            widths = Budget().compute(**setting).widths
            assert min(widths) == widths[0]
