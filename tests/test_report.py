"""A report: its numbers are those of the rooms below, its words follow from them."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

import csv
import io
import json
import math
import os
import re
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser
from scipy import stats
from test_browser import (  # noqa: F401
    DESKTOP,
    PHONE,
    Visit,
    browser,
    overflow,
    violations,
)

import judgelab as jl
from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.counts import crossed_counts, joint_counts, two_order_tables
from judgelab.errors import JudgelabError, UndefinedStatistic, ValidationError
from judgelab.intervals import clustered_difference
from judgelab.position import position_consistency, preference_fairness
from judgelab.probes import excess_credit
from judgelab.reporting import FORMATS, TWO_ORDER_RULES, report, who_judged
from judgelab.reporting.compare import compare_judges
from judgelab.reporting.prepare import together
from judgelab.reporting.render import harmless
from judgelab.significance import mcnemar, paired_difference
from judgelab.simulate import Judge, draw_pairs, simulate

ENGINES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
    "duckdb": duckdb.from_df,
}


def people(pairs, names=("ann", "bob"), *, k=3.0, rng=0):
    """Simulated people: they see every pair once, in the first order."""
    frames = [
        simulate(Judge(k=k, name=name), pairs, rng=rng + place)
        for place, name in enumerate(names)
    ]
    votes = pd.concat(frames, ignore_index=True)
    # Whose own answers are in play is a matter of the model that is measured.
    return votes[~votes["swapped"]].drop(columns=["model_a", "model_b"])


def beside(judge, pairs):
    """Records of a simulated judge and of two people, on the same pairs."""
    model = simulate(judge, pairs, rng=1).drop(columns=["model_a", "model_b"])
    return pd.concat([model, people(pairs)], ignore_index=True)


@pytest.fixture(scope="module")
def pairs():
    return draw_pairs(300, length_spread=1.0, own_share=0.5, rng=7)


@pytest.fixture(scope="module")
def votes(pairs):
    """One simulated model with a lean to the first slot, and two simulated people."""
    model = simulate(
        Judge(k=3, beta=1.0, tie_width=0.3, invalid_rate=0.03, name="model"),
        pairs,
        rng=1,
    )
    records = pd.concat([model, people(pairs)], ignore_index=True)
    records["model_a"] = np.where(records["swapped"], "q", "p")
    records["model_b"] = np.where(records["swapped"], "p", "q")
    return records.assign(category=np.where(records["item"] % 2, "odd", "even"))


@pytest.fixture(scope="module")
def told(votes):
    return report(votes, against=["ann", "bob"])


# --- What stands below ----------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_crossed_votes_in_every_engine(engine):
    frame = pd.DataFrame(
        {
            "judge": ["m", "m", "x", "y", "m", "x", "y"],
            "item": ["1", "1", "1", "1", "2", "2", "3"],
            "swapped": [False, True, False, False, False, True, False],
            "verdict": ["A", "A", "A", "TIE", "B", "A", "B"],
        }
    )
    units, tables = crossed_counts(ENGINES[engine](frame), ["m"], ["x", "y"])
    assert units == ["1", "2"]
    # Item 1: the model said A, then B of the answers; x said A and y a tie.
    assert tables[0, :2, :3].tolist() == [[1, 0, 1], [1, 0, 1]]
    assert tables[1, 1, 1] == tables[1].sum() == 1
    among = crossed_counts(ENGINES[engine](frame), ["x", "y"], ["x", "y"])
    assert among.clusters == ["1"]
    assert among.tables[0, 0, 2] == among.tables[0, 2, 0] == 0.5


@given(st.data())
def test_one_vote_each_is_the_table_of_two_judges(data):
    n = data.draw(st.integers(1, 12))
    labels = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    frame = pd.DataFrame(
        {
            "judge": ["x"] * n + ["y"] * n,
            "item": [*range(n)] * 2,
            "label": data.draw(labels) + data.draw(labels),
        }
    )
    _, tables = crossed_counts(frame, ["x"], ["y"], scale=[0, 1, 2])
    assert (tables.sum(axis=0) == joint_counts(frame, "x", "y", scale=[0, 1, 2])).all()
    within = crossed_counts(frame, ["x", "y"], ["y", "x"], scale=[0, 1, 2]).tables
    both = tables.sum(axis=0)
    assert within.sum(axis=0) == pytest.approx((both + both.T) / 2)


def test_a_judge_never_meets_itself():
    frame = pd.DataFrame(
        {"judge": ["x", "x", "y"], "item": [1, 1, 1], "label": [0, 0, 1]}
    )
    among = crossed_counts(frame, ["x", "y"], ["x", "y"], scale=[0, 1]).tables
    # Two votes of x meet the one of y; they do not meet each other.
    assert among.sum() == 2
    assert among[0, 0, 0] == 0
    with pytest.raises(ValidationError, match="in both groups"):
        crossed_counts(frame, ["x"], ["x", "y"], scale=[0, 1])


def test_an_item_in_two_clusters_is_refused():
    frame = pd.DataFrame(
        {"judge": ["x", "y"], "item": [1, 1], "label": [0, 1], "cluster": ["a", "b"]}
    )
    with pytest.raises(ValidationError, match=r"items \[1\] belong to several"):
        crossed_counts(frame, ["x"], ["y"], scale=[0, 1], cluster="cluster")


def test_the_votes_of_nobody_in_common_are_refused():
    frame = pd.DataFrame({"judge": ["x", "y"], "item": [1, 2], "label": [0, 1]})
    with pytest.raises(ValidationError, match="no two votes meet"):
        crossed_counts(frame, ["x"], ["y"], scale=[0, 1])


def test_difference_of_shares_is_that_of_pairs():
    """One unit of each kind per cluster: Bonett and Price, with Student's quantile."""
    rng = np.random.default_rng(3)
    one, two = (rng.random((2, 400)) < [[0.7], [0.5]]).astype(float)
    ones = np.ones(400)
    found = clustered_difference(one, ones, two, ones)
    table = [
        ((one == a) & (two == b)).sum() for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))
    ]
    pairs = paired_difference(*map(int, table))
    assert found.value == pytest.approx(pairs.value)
    assert (found.low, found.high) == pytest.approx((pairs.low, pairs.high), abs=1e-3)
    credit, test = excess_credit(one, two, null="none")
    assert credit == found
    assert test.p_value == pytest.approx(stats.ttest_rel(one, two).pvalue)


def test_difference_of_shares_is_never_certain():
    found = clustered_difference([1, 1], [1, 1], [0, 0], [1, 1])
    assert found.value == found.high == 1
    assert found.low < 0
    alone = clustered_difference([1], [1], [0], [1])
    assert math.isnan(alone.low)
    # Two items that lean the same way may do so by luck: one time in two.
    assert excess_credit([1, 1], [0, 0], null="none")[1].p_value == 0.5
    assert excess_credit([1, 1], [1, 1], null="none")[1].p_value == 1
    with pytest.raises(UndefinedStatistic):
        clustered_difference([0], [0], [1], [1])
    with pytest.raises(ValidationError, match="0 <= successes"):
        clustered_difference([2], [1], [1], [1])


@given(st.data())
def test_difference_of_shares_and_its_mirror(data):
    counts = st.tuples(
        st.integers(1, 5), st.integers(0, 5), st.integers(1, 5), st.integers(0, 5)
    )
    rows = data.draw(st.lists(counts, min_size=1, max_size=9))
    t, s, v, u = (np.array(x) for x in zip(*rows, strict=True))
    s, u = np.minimum(s, t), np.minimum(u, v)
    found, mirror = clustered_difference(s, t, u, v), clustered_difference(u, v, s, t)
    assert mirror.value == pytest.approx(-found.value)
    if len(rows) > 1:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert (mirror.low, mirror.high) == pytest.approx((-found.high, -found.low))


def test_difference_of_shares_covers():
    """40 clusters of unequal size; both shares depend on the cluster."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        hard = rng.beta(4, 2, 40)
        t, v = rng.integers(1, 6, 40), rng.integers(0, 4, 40)
        s, u = rng.binomial(t, hard), rng.binomial(v, 0.9 * hard)
        found = clustered_difference(s, t, u, v)
        inside += found.low <= 0.1 * 4 / 6 <= found.high
    assert inside / 400 > 0.92


# --- The numbers ----------------------------------------------------------------------


def test_numbers_are_those_of_the_rooms_below(votes, told):
    found = told.findings
    model = votes[votes["judge"] == "model"]
    table = two_order_tables(model).tables[0]
    assert found.order[0].consistency == position_consistency(table)
    assert found.order[0].fairness == preference_fairness(table)
    tables = crossed_counts(votes, ["model"], ["ann", "bob"]).tables
    kept = tables[:, :3, :3]
    kept = kept[kept.any(axis=(1, 2))]
    first = found.agreement[0]
    assert (first.one, first.two, first.ties) == ("model", "ann and bob", "kept")
    assert first.share == percent_agreement(kept, symmetric=True)
    kappa = first.coefficients["Cohen's kappa"]
    assert kappa == cohen_kappa(kept, symmetric=True)
    # What luck gives is what kappa takes off.
    assert kappa.value == pytest.approx(
        (first.share.value - first.by_luck) / (1 - first.by_luck)
    )
    assert first.share.n + first.left_out == tables.sum()


def test_people_stand_beside_the_judge(votes, told):
    among = told.findings.among[0]
    table = joint_counts(votes[~votes["swapped"]], "ann", "bob")[:3, :3]
    assert among.share.value == pytest.approx(table.trace() / table.sum())
    gap = told.findings.beside["model", "kept"]
    one = told.findings.agreement[0]
    assert gap.value == pytest.approx(one.share.value - among.share.value)


def test_the_lean_is_found_and_said(told):
    found = told.findings.order[0]
    assert found.fairness.high < 0
    said = [s for s in told.sections[0].statements if "both slots" in s.claim]
    assert [s.answer for s in said] == ["no"]
    assert "the first slot gains" in said[0].why


def test_a_judge_without_faults_is_accused_of_none(pairs):
    told = report(beside(Judge(k=3, name="fair"), pairs), against=["ann", "bob"])
    faults = [
        s
        for s in told.sections[0].statements
        if re.search("fair to both slots|as often right|same credit", s.claim)
    ]
    assert faults
    assert [s.answer for s in faults if s.answer == "no"] == []


@pytest.mark.parametrize(
    ("judge", "fault"),
    [
        (Judge(k=3, verbosity=2, name="model"), "length"),
        (Judge(k=3, self_preference=3, name="model"), "own answers"),
    ],
    ids=["verbose", "vain"],
)
def test_planted_leans_are_found_both_ways(pairs, judge, fault):
    found = report(beside(judge, pairs), against=["ann", "bob"]).findings
    hits = {x.measured: x.estimate for x in found.leans if x.fault == fault}
    assert set(hits) == {"against right answers", "against the reference"}
    assert all(e.low > 0 for e in hits.values())
    others = [x for x in found.leans if x.fault != fault]
    assert others
    assert all(found.adjusted[f"model: {x.fault} {x.measured}"] > 0.01 for x in others)


def test_lengths_and_authors_as_a_file_has_them(pairs):
    """`length_a` is that of the answer as shown; own answers go by a model's name."""
    judge = Judge(k=3, verbosity=2, self_preference=2, name="model")
    votes = beside(judge, pairs)
    by_side = report(votes, against=["ann", "bob"]).findings.leans
    turned = votes["swapped"].to_numpy()
    longer = np.where(turned, -votes["log_length"], votes["log_length"])
    plain = votes.drop(columns=["log_length", "own"]).assign(
        length_a=100 * 2.0 ** (longer / 2), length_b=100 * 2.0 ** (-longer / 2)
    )
    author_a = np.where(votes["own"] == 1, "me", "p")
    author_b = np.where(votes["own"] == -1, "me", "q")
    plain["model_a"] = np.where(turned, author_b, author_a)
    plain["model_b"] = np.where(turned, author_a, author_b)
    by_file = report(plain, against=["ann", "bob"], own={"model": "me"}).findings.leans
    for one, two in zip(by_side, by_file, strict=True):
        assert (one.fault, one.measured) == (two.fault, two.measured)
        assert one.estimate.value == pytest.approx(two.estimate.value)


def test_accuracy_adds_up_and_rules_stand_side_by_side(told):
    truth = told.findings.truth[0]
    assert sum(e.value for e in truth.shares.values()) == pytest.approx(1)
    assert [*truth.by_rule] == [*TWO_ORDER_RULES]
    parts = truth.by_category.values()
    assert [*truth.by_category] == ["even", "odd"]
    right = sum(part.value * part.n for part in parts) / sum(part.n for part in parts)
    assert right == pytest.approx(truth.shares["right"].value)


def test_clusters_widen_intervals(votes):
    told = report(votes, against=["ann", "bob"])
    clustered = report(
        votes.assign(cluster=votes["item"] // 10), against=["ann", "bob"]
    )
    one, two = (r.findings for r in (told, clustered))
    assert two.unit == "cluster"
    assert two.clusters == 30
    assert two.agreement[0].share.value == one.agreement[0].share.value
    assert "30 clusters" in two.agreement[0].share.method
    assert "30 clusters" in two.alpha["all judges, nominal"].method
    assert two.alpha["all judges, nominal"].value == pytest.approx(
        one.alpha["all judges, nominal"].value
    )


def test_agreement_does_not_depend_on_which_answer_is_numbered_first(votes):
    other = votes.drop(columns=["gold"], errors="ignore")
    again = other.assign(swapped=other["swapped"] ^ (other["item"] % 3 == 0))
    one, two = (report(r, against=["ann", "bob"]).findings for r in (other, again))
    assert {*one.alpha} == {*two.alpha}
    for who in one.alpha:
        assert one.alpha[who].value == pytest.approx(two.alpha[who].value)
        assert one.alpha[who].low == pytest.approx(two.alpha[who].low)
    for mine, renamed in zip(one.agreement, two.agreement, strict=True):
        for name, estimate in mine.coefficients.items():
            same = renamed.coefficients[name].value
            assert same == pytest.approx(estimate.value), name


def test_ratings_need_their_scale():
    labels = pd.DataFrame(
        {
            "judge": ["model", "ann", "bob"] * 30,
            "item": np.repeat(range(30), 3),
            "label": np.random.default_rng(1).integers(0, 4, 90),
        }
    )
    with pytest.raises(ValidationError, match="ratings need scale"):
        report(labels)
    told = report(labels, scale=[0, 1, 2, 3], against=["ann", "bob"])
    cell = told.findings.agreement[0]
    assert "Cohen's kappa, quadratic weights" in cell.coefficients
    assert {*told.findings.alpha} == {
        f"{who}, {level}"
        for who in ("the reference alone", "all judges")
        for level in ("nominal", "ordinal")
    }
    assert told.findings.systems == []
    assert "Does the order matter?" not in told.to_markdown()


def test_more_labels(told):
    for plan in told.findings.plans:
        wider = plan.estimate.width > told.findings.width
        assert (plan.needed > plan.estimate.n) == wider


def test_votes_of_one_order_say_nothing_about_order(votes):
    once = votes[~votes["swapped"]]
    for records in (once, once.drop(columns="swapped")):
        told = report(records, against=["ann", "bob"])
        assert told.findings.order == []
        claims = [s for s in told.sections[0].statements if "order" in s.claim]
        assert [s.answer for s in claims] == ["open"]


def test_pairs_without_their_partner_are_left_out_and_counted(votes):
    model = votes[votes["judge"] == "model"]
    some = model[~(model["swapped"] & (model["item"] < 100))]
    found = report(some).findings
    assert (found.judges[0].both_orders, found.judges[0].one_order) == (200, 100)
    assert found.order[0].pairs == 200
    whole = report(model[model["item"] >= 100]).findings
    assert found.order[0].consistency == whole.order[0].consistency


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_report(votes, told, engine):
    again = report(ENGINES[engine](votes), against=["ann", "bob"])
    assert again.to_json() == told.to_json()


def test_codes_are_words(votes, told):
    codes = votes["verdict"].map({n: k for k, n in enumerate(jl.Verdict.__members__)})
    again = report(votes.assign(verdict=codes), against=["ann", "bob"])
    assert again.to_json() == told.to_json()


def test_row_order_is_nothing(votes, told):
    again = report(votes.sample(frac=1, random_state=4), against=["ann", "bob"])
    one, two = json.loads(told.to_json()), json.loads(again.to_json())
    assert one["agreement"] == two["agreement"]
    assert one["order"] == two["order"]
    assert one["systems"] == two["systems"]


# --- What is refused ------------------------------------------------------------------


def test_answers_in_another_order_without_saying_so(votes):
    """The silent mistake that turns agreement into disagreement."""
    model = votes["judge"] == "model"
    one_order = votes[~votes["swapped"] & (votes["item"] > 0)].drop(columns="swapped")
    turned = one_order.assign(
        model_a=one_order["model_a"].where(~model, "q"),
        model_b=one_order["model_b"].where(~model, "p"),
    )
    with pytest.raises(
        ValidationError, match=r"stand for different answers.*'swapped'"
    ):
        report(turned)
    with pytest.raises(ValidationError, match="stand for different answers"):
        who_judged(turned)


def test_columns_that_do_not_follow_the_order_of_showing(votes):
    """A log that names the models of an item, whatever the order: told how to cure."""
    fixed = votes.assign(model_a="p", model_b="q")
    with pytest.raises(ValidationError, match="'swapped' is true, exchange 'model_a'"):
        report(fixed)
    lengths = votes.drop(columns=["model_a", "model_b", "log_length"])
    with pytest.raises(ValidationError, match=r"now a longer answer A.*exchange"):
        report(lengths.assign(length_a=3, length_b=5))
    right = lengths.assign(
        length_a=np.where(votes["swapped"], 5, 3),
        length_b=np.where(votes["swapped"], 3, 5),
    )
    report(right)


def test_a_wrong_word_in_gold_is_named(votes):
    with pytest.raises(ValidationError, match=r"'gold' names the better .*model_a"):
        report(votes.assign(gold="model_a"))


def said(found, start):
    """The statements of the part "In short" that begin so."""
    return [s for s in found.sections[0].statements if s.claim.startswith(start)]


def test_replies_that_are_no_verdicts_are_said_first(votes):
    lost = votes.assign(
        verdict=votes["verdict"].where(votes["judge"] != "model", "INVALID")
    )
    found = report(lost, against=["ann", "bob"])
    [replies] = said(found, "Every reply of model")
    assert replies.answer == "no"
    assert replies.why.startswith("100.0% [")
    assert "missing" not in replies.why
    [agrees] = said(found, "model agrees with ann and bob beyond luck")
    assert (agrees.answer, agrees.why) == (
        "open",
        "there is no item with a usable verdict of both",
    )
    assert any("none of the verdicts can be used" in n for n in found.findings.notes)


def test_a_reference_that_does_not_agree_with_itself():
    votes = pd.concat(
        simulate(Judge(k=0, name=name), draw_pairs(200, rng=1), rng=k)
        for k, name in enumerate(["model", "ann", "bob"])
    )
    [people_] = said(report(votes, against=["ann", "bob"]), "ann and bob agree among")
    assert people_.answer == "open"
    assert "until they do" in people_.why
    assert not said(report(votes, against="ann"), "ann agree among")


def test_a_lean_away_from_long_answers_is_a_lean(pairs):
    shy = simulate(Judge(k=3, verbosity=-1.5, name="model"), pairs, rng=1)
    shy = shy.drop(columns=["model_a", "model_b"])
    found = report(shy)
    [lean] = said(found, "model is as often right where the better answer is longer")
    assert lean.answer == "no"
    assert found.findings.leans[0].estimate.value < 0


def test_nobody_is_passed_over_who_saw_one_order_only(votes):
    """One judge in both orders does not speak for another."""
    other = votes[(votes["judge"] == "model") & ~votes["swapped"]]
    both = pd.concat([votes, other.assign(judge="hasty")])
    found = report(both, judges=["model", "hasty"])
    assert said(found, "The order of showing makes no difference to hasty")


def test_more_items_are_counted_in_items(votes):
    """Pairs of votes are no currency: twice the people are not twice the items."""
    found = report(votes, against=["ann", "bob"], width=0.05)
    for plan in found.findings.plans:
        assert plan.items <= votes["item"].nunique()
        ratio = plan.needed / plan.estimate.n
        assert plan.items_needed == math.ceil(round(plan.items * ratio, 6))


def test_an_item_that_is_several_pairs(votes):
    third = votes.assign(
        model_b=votes["model_b"].where(votes["judge"] != "ann", "a third model")
    )
    with pytest.raises(ValidationError, match="make its name of the question and both"):
        report(third)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"against": "nobody"}, "no judge is called 'nobody'; there are: ann, bob"),
        ({"against": "*"}, "names every judge"),
        ({"against": "ann", "judges": "ann"}, "to be measured and to be the reference"),
        ({"own": {"nobody": "p"}}, "who are no judges"),
        ({"level": 1.5}, "level is 1.5"),
        ({"tie_policy": "guess"}, "guess"),
    ],
)
def test_wishes_that_cannot_be_met(votes, options, match):
    with pytest.raises(ValidationError, match=match):
        report(votes, **options)


def test_clusters_with_gaps_or_two_values(votes):
    gaps = votes.assign(cluster=np.where(votes["item"] == 3, None, "a"))
    with pytest.raises(ValidationError, match="have no 'cluster'"):
        report(gaps)
    two = votes.assign(cluster=votes["judge"])
    with pytest.raises(ValidationError, match="several values of 'cluster'"):
        report(two)


def test_both_kinds_of_record_at_once(votes):
    with pytest.raises(ValidationError, match="verdict and label"):
        report(votes.assign(label=1))


def test_names_patterns_and_kinds(votes):
    with_kind = votes.assign(
        kind=np.where(votes["judge"] == "model", "llm", "human").astype(object)
    )
    for against in ("human", ["ann", "bob"], ["a*", "b*"]):
        found = report(with_kind, against=against).findings
        assert [*found.reference] == ["ann", "bob"]
    assert [*report(votes, against="ann", judges="mod*").findings.tested] == ["model"]


# --- Two judges -----------------------------------------------------------------------


def test_two_judges_on_right_answers(votes):
    once = votes[~votes["swapped"]]
    found = compare_judges(once, "ann", "bob", against="gold")
    right = {
        name: (rows.set_index("item")["verdict"] == rows.set_index("item")["gold"])
        for name, rows in once.groupby("judge")
    }
    ann, bob = right["ann"], right["bob"]
    counts = [
        int((ann & bob).sum()),
        int((ann & ~bob).sum()),
        int((~ann & bob).sum()),
        int((~ann & ~bob).sum()),
    ]
    assert found.difference == paired_difference(*counts)
    assert found.test == mcnemar(counts[1], counts[2])
    assert found.items == 300


def test_two_judges_on_votes_of_people(votes):
    found = compare_judges(votes, "model", "ann", against="bob")
    assert found.first.n == 600
    assert found.second.n == 300
    with pytest.raises(ValidationError, match="compared with itself"):
        compare_judges(votes, "ann", "ann", against="gold")
    with pytest.raises(ValidationError, match="no column 'gold'"):
        compare_judges(votes.drop(columns="gold"), "ann", "bob", against="gold")


# --- How it looks ---------------------------------------------------------------------

HOSTILE = [
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "</style></table><svg onload=window.hacked=1>",
    "{{ 7*7 }}{% raw %}",
    "=HYPERLINK(1)|' `x` *y* <!--",
    "&lt;b&gt; & javascript:window.hacked=1",
]


@pytest.fixture(scope="module")
def hostile(votes):
    """The same votes, with names that try to be markup."""
    judges = {"model": HOSTILE[0], "ann": HOSTILE[1], "bob": HOSTILE[2]}
    systems = {"p": HOSTILE[3], "q": HOSTILE[4]}
    records = votes.assign(
        judge=votes["judge"].map(judges),
        model_a=votes["model_a"].map(systems),
        model_b=votes["model_b"].map(systems),
        item=votes["item"].astype(str) + HOSTILE[0],
        category=np.where(votes["item"] % 2, HOSTILE[1], HOSTILE[5]),
    )
    return report(
        records,
        against=[HOSTILE[1], HOSTILE[2]],
        own={HOSTILE[0]: HOSTILE[3]},
        title=HOSTILE[0],
        book='https://example.org/"><script>window.hacked=1</script>',
    )


def test_names_stay_text_on_the_page(browser: Browser, hostile, tmp_path):
    path = hostile.save(tmp_path / "report.html")
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.hacked") is None
    made = "script, img, iframe, object, embed, link, svg:not(.bar)"
    assert page.evaluate(f"document.querySelectorAll('{made}').length") == 0
    assert page.title() == HOSTILE[0]
    text = page.inner_text("body")
    assert all(name in text for name in HOSTILE[:5])
    assert "49" not in page.inner_text("h1")
    handlers = "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
    names = page.evaluate(f"{handlers}.map(a => a.name)")
    assert not [name for name in names if name.startswith("on")]
    links = page.evaluate("[...document.links].map(a => a.protocol)")
    assert {*links} <= {"https:", "file:"}
    context.close()


def test_the_page_in_a_notebook_is_as_careful(hostile):
    inside = hostile._repr_html_()
    assert "<script" not in inside
    assert "<img" not in inside
    # A part of that page: neither its title nor its main part.
    assert not re.search(r"<(h1|h2|main)\b", inside)
    # Its style touches nothing but itself.
    style = re.search(r"<style>(.*?)</style>", inside, re.S)[1]
    rules = re.sub(r"@(media|page)[^{]*", "", style)
    selectors = [s.strip() for s in re.findall(r"([^{}]+){", rules)]
    assert all(
        s.startswith((".jl-report", "html:has(.jl-report.page)")) or not s
        for s in selectors
    )


def test_markdown_keeps_its_tables(hostile):
    lines = hostile.to_markdown().splitlines()
    assert "<script>" not in hostile.to_markdown()
    width = None
    for line in lines:
        cells = len(re.findall(r"(?<!\\)\|", line))
        if line.startswith("|"):
            assert width in (None, cells)
            width = cells
        else:
            width = None


def test_spreadsheets_find_no_formula(hostile):
    rows = list(csv.reader(io.StringIO(hostile.to_csv())))
    assert len({len(row) for row in rows}) == 1
    texts = [cell for row in rows[1:] for cell in row]
    formulas = [t for t in texts if t[:1] in "=+-@\t\r" and t]
    assert [t for t in formulas if not re.fullmatch(r"-?[\d.e-]+", t)] == []
    assert harmless("=1+1") == "'=1+1"
    assert harmless("A") == "A"


def test_json_is_json(told):
    data = json.loads(told.to_json())
    share = data["agreement"][0]["share"]
    assert share["value"] == told.findings.agreement[0].share.value
    assert {"low", "high", "n", "method", "level"} <= share.keys()


@pytest.mark.parametrize("form", FORMATS)
def test_saved_by_its_ending(told, tmp_path, form):
    path = told.save(tmp_path / f"report.{form}")
    assert path.read_text("utf-8") == told.to(form)
    with pytest.raises(ValidationError, match="choose from html, md"):
        told.save(tmp_path / "report.docx")


def test_the_page_needs_nothing_else(told):
    page = told.to_html()
    assert not re.search(r"(?i)\b(src|href)\s*=\s*[\"'](?!#)", page)
    assert "<script" not in page
    assert "url(" not in page
    linked = report_with_book(told).to_html()
    links = re.findall(r'href="(https:[^"]*)"', linked)
    assert "https://example.org/notebooks/order.html" in links


def report_with_book(told):
    return type(told)(told.title, told.findings, "https://example.org/")


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", DESKTOP), ("dark", PHONE), ("dark", DESKTOP)],
    ids=["light-desktop", "dark-phone", "dark-desktop"],
)
def test_the_page_can_be_read_by_everyone(
    browser: Browser, told, tmp_path, scheme, size
):
    path = told.save(tmp_path / "report.html")
    with Visit(browser, scheme, size) as visit:
        page = visit.context.new_page()
        page.goto(path.as_uri())
        assert [*visit.problems, *overflow(page), *violations(page)] == []
        targets = page.evaluate(
            "[...document.querySelectorAll('a[href^=\"#\"]')]"
            ".filter(a => !document.querySelector(a.getAttribute('href'))).length"
        )
        assert targets == 0


def test_the_page_on_paper(browser: Browser, told, tmp_path):
    from pypdf import PdfReader

    path = told.save(tmp_path / "report.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    page.close()
    sheets = PdfReader(tmp_path / "report.pdf").pages
    text = " ".join(sheet.extract_text() for sheet in sheets)
    assert 2 <= len(sheets) <= 12
    for section in told.sections:
        assert section.title in text


def test_without_a_network_or_scripts(browser: Browser, told, tmp_path):
    path = told.save(tmp_path / "report.html")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert told.title in page.content()
    context.close()


# --- Real votes -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def mt_bench():
    if not os.environ.get("JUDGELAB_DATA"):
        pytest.skip("needs the raw votes: set JUDGELAB_DATA to a folder with mtbench/")
    from judgelab.papers import mt_bench

    records = mt_bench.load().rename(columns={"question_id": "cluster"})
    return report(
        records, against="expert", judges="gpt4_pair", own={"gpt4_pair": "gpt-4"}
    )


def test_gpt4_and_the_experts(mt_bench):
    """Zheng et al. (2023), Table 5 over both turns, by the book's own function."""
    from judgelab.papers.mt_bench import agreement

    found = mt_bench.findings
    for cell in [*found.agreement, *found.among]:
        setup = "S1" if cell.ties == "kept" else "S2"
        one = "G4-Pair" if cell.one == "gpt4_pair" else "Human"
        printed = agreement(one, "Human", setup=setup)
        assert cell.share.value == pytest.approx(printed.value)
        assert cell.share.n == printed.n
    kappa = found.agreement[1].coefficients["Cohen's kappa"]
    assert round(kappa.value, 2) == 0.69


def test_gpt4_likes_its_own_answers_more_than_people_do(mt_bench):
    [lean] = mt_bench.findings.leans
    assert (lean.fault, lean.measured) == ("own answers", "against the reference")
    assert lean.estimate.low > 0.05


def test_both_rank_the_systems_alike(mt_bench):
    assert mt_bench.findings.rank_agreement["gpt4_pair"].value == 1


def test_judgebench_scores_by_rule():
    if not os.environ.get("JUDGELAB_DATA"):
        pytest.skip("needs the raw records: set JUDGELAB_DATA")
    from judgelab.papers import judgebench

    records = judgebench.load(["o1-mini"]).drop(columns="label")
    [truth] = report(records).findings.truth
    # Tan et al. (2024), Table 2: 65.71 of 350 pairs.
    assert round(100 * truth.by_rule["judgebench"]["right"].value, 2) == 65.71


def test_whose_answers_an_item_has_stands_in_one_file():
    model = pd.DataFrame(
        {
            "judge": "m",
            "item": ["1", "1", "2"],
            "swapped": [False, True, True],
            "verdict": ["A", "B", "A"],
            "model_a": ["p", "q", "q"],
            "model_b": ["q", "p", "p"],
        }
    )
    people = pd.DataFrame(
        {
            "judge": "ann",
            "item": ["1", "2", "3"],
            "swapped": [True, False, False],
            "verdict": "A",
        }
    )
    whole = together([model, people])
    assert whole["model_a"].tolist()[:-1] == ["p", "q", "q", "q", "p"]
    assert whole["model_b"].tolist()[:-1] == ["q", "p", "p", "p", "q"]
    assert whole[["model_a", "model_b"]].iloc[-1].isna().all()
    pd.testing.assert_frame_equal(together([people]), people)


def calls_of_a_report(items):
    """How many functions does Python call, of its own and of others?"""
    pairs = draw_pairs(items, rng=1)
    judges = [simulate(Judge(k=2, name=n), pairs, rng=k) for k, n in enumerate("mab")]
    records = pd.concat(judges, ignore_index=True)
    records["category"] = "kind " + (records["item"].astype(int) % 7).astype(str)
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        report(records, against=["a", "b"])
    finally:
        sys.setprofile(None)
    return calls, len(records)


def test_more_records_are_no_more_work_for_python():
    """Counted, and not timed: what a machine does meanwhile plays no part."""
    calls_of_a_report(100)  # what is imported, or cached, on the way
    few, some = calls_of_a_report(1_000)
    many, more = calls_of_a_report(10_000)
    # One call per record, anywhere, would be as many.
    assert many - few < (more - some) / 2


def test_what_is_needed_once_is_imported_there():
    """Such as scipy.stats, which takes longer than the rest of a short command."""
    code = (
        "import sys, judgelab.cli, judgelab.reporting, judgelab.records; "
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_what_one_record_says_of_an_item_holds_for_it(votes, told):
    """People's records may lack category and right answer: the item has them."""
    model = votes["judge"] == "model"
    sparse = votes.assign(
        category=votes["category"].where(model), gold=votes["gold"].where(model)
    )
    again = report(sparse, against=["ann", "bob"])
    assert again.to_json() == told.to_json()
    two = votes.assign(category=np.where(model, "x", "y"))
    with pytest.raises(ValidationError, match="several values of 'category'"):
        report(two)


# --- Any records ----------------------------------------------------------------------

WORDS = ["A", "B", "TIE", "INVALID", "MISSING"]


@st.composite
def any_records(draw):
    """A few records of a few judges, with some of the columns that a report knows."""
    pairwise = draw(st.booleans())
    n = draw(st.integers(1, 14))
    keys = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["m", "n", "x", "y"]),
                st.integers(0, 4),
                st.booleans() if pairwise else st.just(False),
            ),
            min_size=1,
            max_size=n,
            unique=True,
        )
    )
    n = len(keys)
    some = {"judge": [k[0] for k in keys], "item": [k[1] for k in keys]}

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    if pairwise:
        some["verdict"] = column(st.sampled_from(WORDS))
        if draw(st.booleans()) or len({*keys}) > len({k[:2] for k in keys}):
            some["swapped"] = [k[2] for k in keys]
        if draw(st.booleans()):
            turned = some.get("swapped", [False] * n)
            names = [("p", f"q{item % 3}") for item in some["item"]]
            some["model_a"] = [p[t] for p, t in zip(names, turned, strict=True)]
            some["model_b"] = [p[1 - t] for p, t in zip(names, turned, strict=True)]
        if draw(st.booleans()):
            truths = draw(
                st.sampled_from([["A", "B", None], [0, 1, 9], ["b", "", "A"]])
            )
            some["gold"] = [truths[item % 3] for item in some["item"]]
        if draw(st.booleans()):
            odd = st.sampled_from(["long", math.inf])
            lengths = (
                st.integers(0, 3) | st.none() | odd
                if draw(st.booleans())
                else (st.integers(0, 3) | st.none())
            )
            some |= {"length_a": column(lengths), "length_b": column(lengths)}
    else:
        some["label"] = column(st.integers(0, 2))
    if draw(st.booleans()):
        some["category"] = [["c", "d", None][item % 3] for item in some["item"]]
    if draw(st.booleans()):
        some["cluster"] = [item // 2 for item in some["item"]]
    return pd.DataFrame(some)


@given(any_records(), st.sampled_from([None, "x", ["x", "y"], "*"]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_records_give_a_report_or_a_named_error(records, against):
    scale = [0, 1, 2] if "label" in records else None
    own = {"m": "p"} if "model_a" in records and "m" in {*records["judge"]} else None
    try:
        told = report(records, against=against, scale=scale, own=own)
    except JudgelabError:
        return
    for form in FORMATS:
        assert told.to(form)
    assert told._repr_html_()
    json.loads(told.to_json())
    for said in told.sections[0].statements:
        assert "nan" not in said.why.split()


def test_a_generous_judge_is_corrected_by_a_few_people():
    """The judge calls q better far too often; people judged every fifth pair."""
    rng = np.random.default_rng(8)
    n, truth = 2000, 0.4
    wins = rng.random(n) < truth
    says = np.where(wins, rng.random(n) < 0.95, rng.random(n) < 0.4)

    def rows(name, of, verdicts):
        words = np.where(verdicts, "A", "B")
        return pd.DataFrame(
            {
                "judge": name,
                "item": of,
                "model_a": "q",
                "model_b": "p",
                "verdict": words,
            }
        )

    some = np.arange(0, n, 5)
    votes = pd.concat(
        [rows("model", np.arange(n), says), rows("ann", some, wins[some])]
    )
    told = report(votes, against="ann")
    by_system = {row.system: row for row in told.findings.corrected}
    q = by_system["q"]
    assert q.judged.low > truth + 0.1
    assert q.corrected.low < truth < q.corrected.high
    assert q.corrected.width < q.labelled.width
    assert by_system["p"].corrected.value == pytest.approx(1 - q.corrected.value)
    assert "a random part of all" in told.to_markdown()
    # With people on every pair there is nothing to correct.
    whole = pd.concat(
        [rows("model", np.arange(n), says), rows("ann", np.arange(n), wins)]
    )
    assert report(whole, against="ann").findings.corrected == []
