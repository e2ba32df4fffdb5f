"""Two judges: against published values, peers, the published standard errors, traps."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from judgelab.agreement import (
    brennan_prediger,
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
    scott_pi,
)
from judgelab.agreement.weights import disagreement
from judgelab.counts import contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import clustered_proportion, proportion

ORACLES = {
    vector["id"]: vector
    for vector in json.loads(
        (Path(__file__).parent / "oracles" / "agreement.json").read_text()
    )["vectors"]
}
COEFFICIENTS = (percent_agreement, cohen_kappa, scott_pi, gwet_ac2, brennan_prediger)
Z = special.ndtri(0.975)


def tables(least=2, most=5, total=60):
    """Square tables of counts on which no coefficient is undefined."""

    def regular(table):
        margins = (table.sum(0) > 0) | (table.sum(1) > 0)
        return margins.sum() >= 2

    return (
        st.integers(least, most)
        .flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, total)))
        .filter(regular)
    )


def half_width(estimate):
    """Of a symmetric interval that may have been cut at one end of the range."""
    return max(estimate.value - estimate.low, estimate.high - estimate.value)


def standard_error(coefficient, table, **options):
    """Half width of the symmetric interval over z."""
    estimate = coefficient(table, interval="asymptotic", **options)
    return half_width(estimate) / Z


# Published worked examples


def test_the_worked_example_of_the_source():
    table = [[40, 10], [15, 35]]
    assert percent_agreement(table).value == pytest.approx(0.75, abs=1e-15)
    assert cohen_kappa(table).value == pytest.approx(0.5, abs=1e-15)
    assert cohen_kappa(table).n == 100


@pytest.mark.parametrize(
    ("name", "coefficient", "weights"),
    [
        ("percent_agreement", percent_agreement, None),
        ("cohen_kappa", cohen_kappa, None),
        ("cohen_kappa_linear", cohen_kappa, "linear"),
        ("cohen_kappa_quadratic", cohen_kappa, "quadratic"),
        ("scott_pi", scott_pi, None),
        ("gwet_ac1", gwet_ac2, None),
        ("gwet_ac2_linear", gwet_ac2, "linear"),
        ("gwet_ac2_quadratic", gwet_ac2, "quadratic"),
        ("brennan_prediger", brennan_prediger, None),
    ],
)
def test_handbook_table(name, coefficient, weights):
    vector = ORACLES["gwet_3x3_abstractors"]
    value = coefficient(vector["table"], weights=weights).value
    assert value == pytest.approx(vector["expected"][name], abs=1e-11)


def test_ac1_is_unweighted_ac2():
    vector = ORACLES["gwet_3x3_abstractors"]
    assert gwet_ac1(vector["table"]).value == pytest.approx(
        vector["expected"]["gwet_ac1"], abs=1e-11
    )


@pytest.mark.parametrize("name", ["willia-umbrela1", "RMITIR-llama70B"])
def test_llmjudge_submissions(name):
    vector = ORACLES[f"llmjudge_{name}"]
    table, expected = np.array(vector["table"]), vector["expected"]
    for suffix, weights in (("", None), ("_linear", "linear"), ("_quadratic",) * 2):
        weights = "quadratic" if weights == "_quadratic" else weights
        value = cohen_kappa(table, weights=weights).value
        assert value == pytest.approx(expected["cohen_kappa" + suffix], abs=1e-11)
    for cut, suffix in ((1, "0v123"), (2, "01v23"), (3, "012v3")):
        parts = (slice(None, cut), slice(cut, None))
        binary = [[table[a, b].sum() for b in parts] for a in parts]
        value = cohen_kappa(binary).value
        assert value == pytest.approx(expected[f"cohen_kappa_{suffix}"], abs=1e-11)


def test_standard_error_of_fleiss_cohen_everitt_by_hand():
    """Equation of Fleiss, Cohen & Everitt (1969) written out for weighted kappa."""
    table = np.array([[53, 5, 2], [11, 14, 5], [1, 6, 3]])
    n = table.sum()
    p = table / n
    rows, columns = p.sum(1), p.sum(0)
    for weights in (None, "linear", "quadratic"):
        w = 1 - disagreement(weights, 3)
        observed, expected = (w * p).sum(), rows @ w @ columns
        kappa = (observed - expected) / (1 - expected)
        mean_row, mean_column = w @ columns, rows @ w
        inner = w - np.add.outer(mean_row, mean_column) * (1 - kappa)
        variance = (p * inner**2).sum() - (kappa - expected * (1 - kappa)) ** 2
        error = np.sqrt(variance / n) / (1 - expected)
        assert standard_error(cohen_kappa, table, weights=weights) == pytest.approx(
            error, rel=1e-9
        )


def test_standard_errors_of_gwet_by_hand():
    """Closed forms of Gwet (2014), chapter 5, for AC1 and Scott's pi."""
    table = np.array(ORACLES["gwet_3x3_abstractors"]["table"])
    n, k = table.sum(), len(table)
    p = table / n
    shares = (p.sum(0) + p.sum(1)) / 2
    both = np.add.outer(shares, shares) / 2
    observed = np.trace(p)
    expected = (shares * (1 - shares)).sum() / (k - 1)
    ac1 = (observed - expected) / (1 - expected)
    spread = observed * (1 - observed)
    cross = (np.diag(p) * (1 - shares)).sum() / (k - 1) - observed * expected
    square = (p * (1 - both) ** 2).sum() / (k - 1) ** 2 - expected**2
    variance = spread - 4 * (1 - ac1) * cross + 4 * (1 - ac1) ** 2 * square
    error = np.sqrt(variance / n) / (1 - expected)
    assert standard_error(gwet_ac1, table) == pytest.approx(error, rel=1e-9)

    expected = (shares**2).sum()
    pi = (observed - expected) / (1 - expected)
    cross = (np.diag(p) * shares).sum() - observed * expected
    square = (p * both**2).sum() - expected**2
    variance = spread - 4 * (1 - pi) * cross + 4 * (1 - pi) ** 2 * square
    error = np.sqrt(variance / n) / (1 - expected)
    assert standard_error(scott_pi, table) == pytest.approx(error, rel=1e-9)


# Peers on random inputs


@given(tables(), st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_against_scikit_learn(table, weights):
    k = len(table)
    first, second = np.repeat(np.indices((k, k)).reshape(2, -1), table.ravel(), axis=1)
    peer = cohen_kappa_score(first, second, labels=range(k), weights=weights)
    assert cohen_kappa(table, weights=weights).value == pytest.approx(peer, abs=1e-10)


@given(tables(), st.sampled_from([None, "linear", "quadratic"]))
def test_standard_error_against_statsmodels(table, weights):
    ours = cohen_kappa(table, weights=weights, interval="asymptotic")
    # Rounding decides about a variance of 0 in the peer; an interval that is cut at
    # both ends does not tell the standard error.
    assume(ours.value < 1 - 1e-9 and half_width(ours) > 1e-6)
    assume(ours.low > -1 or ours.high < 1)
    peer = cohens_kappa(
        table,
        wt=None if weights is None else {"linear": "ca", "quadratic": "fc"}[weights],
    )
    assert half_width(ours) / Z == pytest.approx(peer.std_kappa, rel=1e-6)


# Properties


@given(tables(), st.sampled_from(COEFFICIENTS), st.randoms(use_true_random=False))
def test_relabelling_changes_no_unweighted_coefficient(table, coefficient, random):
    order = list(range(len(table)))
    random.shuffle(order)
    options = {"weights": None, "interval": "asymptotic"}
    ours = coefficient(table, **options)
    renamed = coefficient(table[np.ix_(order, order)], **options)
    for end in ("value", "low", "high"):
        assert getattr(renamed, end) == pytest.approx(getattr(ours, end), abs=1e-9)


@given(tables(), st.sampled_from(COEFFICIENTS))
def test_reversing_the_scale_and_exchanging_the_judges_change_nothing(
    table, coefficient
):
    ours = coefficient(table, weights="quadratic")
    for other in (table[::-1, ::-1], table.T):
        twin = coefficient(other, weights="quadratic")
        assert twin.value == pytest.approx(ours.value, abs=1e-9)
        assert twin.low == pytest.approx(ours.low, abs=1e-6)
        assert twin.high == pytest.approx(ours.high, abs=1e-6)


@given(tables(total=20), st.sampled_from(COEFFICIENTS), st.integers(2, 50))
def test_more_of_the_same_keeps_the_value_and_narrows_the_interval(
    table, coefficient, times
):
    few, many = coefficient(table), coefficient(table * times)
    assert many.value == pytest.approx(few.value, abs=1e-9)
    assert many.n == few.n * times
    assert many.width <= few.width + 1e-9


@given(tables(), st.sampled_from(COEFFICIENTS), st.sampled_from([None, "linear"]))
def test_bounds_hold_the_value_and_are_never_above_one(table, coefficient, weights):
    estimate = coefficient(table, weights=weights)
    assert -1 - 1e-12 <= estimate.low <= estimate.value <= estimate.high <= 1 + 1e-12


@given(tables())
def test_two_categories_make_all_weights_equal(table):
    binary = table[:2, :2] + 1
    plain = cohen_kappa(binary)
    assert cohen_kappa(binary, weights="quadratic") == plain
    assert cohen_kappa(binary, weights=np.eye(2)) == plain


@given(tables(least=3), st.integers(1, 3))
def test_a_category_that_nobody_used_is_no_news_to_kappa_only(table, extra):
    k = len(table)
    wider = np.zeros((k + extra, k + extra), int)
    wider[:k, :k] = table
    assert cohen_kappa(wider).value == pytest.approx(cohen_kappa(table).value, abs=1e-9)
    disagree = table.sum() > np.trace(table)
    narrow = brennan_prediger(table).value
    assert (brennan_prediger(wider).value > narrow) == disagree


@given(st.integers(0, 40), st.integers(0, 40))
def test_score_interval_of_plain_agreement_is_wilsons(same, different):
    assume(same + different > 0)
    ours = percent_agreement([[same, different], [0, 0]])
    wilson = proportion(same, same + different)
    assert ours.low == pytest.approx(wilson.low, abs=1e-7)
    assert ours.high == pytest.approx(wilson.high, abs=1e-7)


# Arbitrary names


@given(tables(least=2, most=3))
def test_symmetric_kappa_forgets_the_order_of_naming(table):
    k = len(table)
    mirrored = table[np.ix_((1, 0, 2)[:k], (1, 0, 2)[:k])]
    assume(table[:2].any() or table[:, :2].any())
    ours = cohen_kappa(table, symmetric=True)
    twin = cohen_kappa(mirrored, symmetric=True)
    folded = cohen_kappa(table + mirrored)
    assert twin.value == pytest.approx(ours.value, abs=1e-9)
    assert folded.value == pytest.approx(ours.value, abs=1e-9)
    assert twin.low == pytest.approx(ours.low, abs=1e-6)
    # The twin of a vote is no second vote.
    assert ours.n == table.sum()


@given(tables(least=2, most=2))
def test_symmetric_kappa_of_two_names_is_twice_the_agreement_minus_one(table):
    ours, agreement = cohen_kappa(table, symmetric=True), percent_agreement(table)
    for end in ("value", "low", "high"):
        expected = 2 * getattr(agreement, end) - 1
        assert getattr(ours, end) == pytest.approx(expected, abs=1e-6)


def test_symmetric_takes_a_permutation_for_longer_scales():
    table = np.array([[9, 2, 0, 1], [3, 8, 2, 0], [0, 1, 7, 2], [1, 0, 4, 6]])
    ours = cohen_kappa(table, weights="linear", symmetric=(3, 2, 1, 0))
    folded = cohen_kappa(table + table[::-1, ::-1], weights="linear")
    assert ours.value == pytest.approx(folded.value, abs=1e-12)
    with pytest.raises(ValidationError, match="relabelling"):
        cohen_kappa(table, symmetric=True)
    with pytest.raises(ValidationError, match="undoes itself"):
        cohen_kappa(table, symmetric=(1, 2, 3, 0))


def test_mt_bench_kappa_depends_on_the_order_of_naming():
    """1,723 votes of GPT-4 (rows) and experts: names as stored, and sorted."""
    stored, canonical = [[135, 60], [205, 1323]], [[763, 126], [139, 695]]
    for table in (stored, canonical):
        assert np.sum(table) == 1723
        assert percent_agreement(table).value == pytest.approx(0.846, abs=5e-4)
        assert cohen_kappa(table, symmetric=True).value == pytest.approx(0.69, abs=5e-3)
    assert cohen_kappa(stored).value == pytest.approx(0.42, abs=5e-3)
    assert cohen_kappa(canonical).value == pytest.approx(0.69, abs=5e-3)


@pytest.mark.skipif(
    "JUDGELAB_DATA" not in os.environ,
    reason="needs the raw votes: set JUDGELAB_DATA to the folder that holds mtbench/",
)
def test_mt_bench_kappas_from_the_raw_votes():
    """The join written out: experts' votes against GPT-4's, ties dropped."""
    folder = Path(os.environ["JUDGELAB_DATA"]) / "mtbench"
    if not folder.exists():
        pytest.skip("JUDGELAB_DATA holds no folder mtbench/")
    human, gpt4 = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("human.jsonl", "gpt4_pair.jsonl")
    )

    def read(vote):
        """Key in sorted names, and the verdict in sorted and in stored names."""
        names = sorted((vote["model_a"], vote["model_b"]))
        key = (vote["question_id"], vote["turn"], *names)
        said = {"model_a": 0, "model_b": 1}.get(vote["winner"])
        swapped = vote["model_a"] != names[0]
        return key, None if said is None else said ^ swapped, swapped

    machine = {key: (said, swapped) for key, said, swapped in map(read, gpt4)}
    canonical, stored = [], []
    for vote in human:
        key, said, _ = read(vote)
        if not vote["judge"].startswith("expert") or key not in machine:
            continue
        other, swapped = machine[key]
        if said is not None and other is not None:
            canonical.append((other, said))
            stored.append((other ^ swapped, said ^ swapped))
    for votes, kappa in ((canonical, 0.69), (stored, 0.42)):
        first, second = np.array(votes, int).T
        table = contingency_table(first, second, scale=(0, 1))
        assert table.sum() == 1723
        assert cohen_kappa(table).value == pytest.approx(kappa, abs=5e-3)
        assert cohen_kappa(table, symmetric=True).value == pytest.approx(0.69, abs=5e-3)


# Clusters


@given(st.integers(0, 2**32 - 1))
def test_clusters_of_one_pair_are_no_clusters(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 3, (2, 200))
    single = contingency_table(first, second, scale=range(3), clusters=np.arange(200))
    together = contingency_table(first, second, scale=range(3))
    ours, plain = cohen_kappa(single), cohen_kappa(together)
    assert ours.value == pytest.approx(plain.value, abs=1e-12)
    assert ours.low == pytest.approx(plain.low, abs=5e-3)
    assert ours.high == pytest.approx(plain.high, abs=5e-3)


def test_copies_of_a_vote_are_no_evidence():
    rng = np.random.default_rng(1)
    votes = np.eye(4, dtype=int)[rng.choice(4, 60, p=[0.4, 0.1, 0.1, 0.4])]
    once = cohen_kappa(votes.reshape(-1, 2, 2))
    tenfold = cohen_kappa(10 * votes.reshape(-1, 2, 2))
    assert tenfold.low == pytest.approx(once.low, abs=1e-9)
    assert tenfold.n == 10 * once.n
    assert cohen_kappa(10 * votes.reshape(-1, 2, 2).sum(0)).width < once.width / 2


def test_agreement_of_clusters_is_the_clustered_share():
    rng = np.random.default_rng(2)
    stack = rng.poisson(rng.gamma(1.0, 3.0, (30, 1, 1)) * [[4, 1], [1, 3]])
    ours = percent_agreement(stack)
    share = clustered_proportion(stack[:, [0, 1], [0, 1]].sum(1), stack.sum((1, 2)))
    assert (ours.low, ours.high) == pytest.approx((share.low, share.high), abs=1e-7)


def test_empty_clusters_do_not_count():
    stack = np.random.default_rng(3).integers(0, 5, (12, 2, 2))
    padded = np.concatenate([stack, np.zeros((5, 2, 2), int)])
    assert cohen_kappa(padded) == cohen_kappa(stack)


# Bootstrap


def test_bootstrap_agrees_with_the_delta_method_where_both_hold():
    table = np.array([[400, 100], [150, 350]])
    drawn = cohen_kappa(table, interval="bootstrap", resamples=20_000, rng=1)
    delta = cohen_kappa(table, interval="asymptotic")
    assert (drawn.low, drawn.high) == pytest.approx((delta.low, delta.high), abs=3e-3)
    again = cohen_kappa(table, interval="bootstrap", resamples=20_000, rng=1)
    assert again == drawn


def test_cluster_bootstrap_agrees_with_the_clustered_delta_method():
    rng = np.random.default_rng(4)
    shares = rng.dirichlet([2.0, 0.5, 0.5, 2.0], 200)
    stack = np.array([rng.multinomial(20, p) for p in shares]).reshape(-1, 2, 2)
    drawn = cohen_kappa(stack, interval="bootstrap", resamples=20_000, rng=1)
    delta = cohen_kappa(stack, interval="asymptotic")
    assert (drawn.low, drawn.high) == pytest.approx((delta.low, delta.high), abs=1e-2)
    naive = cohen_kappa(stack.sum(0), interval="bootstrap", rng=1)
    assert naive.width < 0.6 * drawn.width


def test_bootstrap_wants_a_source_of_randomness_and_whole_counts():
    with pytest.raises(ValidationError, match="rng"):
        cohen_kappa([[3, 1], [1, 3]], interval="bootstrap")
    with pytest.raises(ValidationError, match="whole numbers"):
        cohen_kappa([[3, 0.5], [1, 3]], interval="bootstrap", rng=0)


def test_a_bootstrap_that_is_mostly_undefined_says_so():
    table = [[40, 1], [0, 0]]
    with pytest.raises(UndefinedStatistic, match="replicates are undefined"):
        cohen_kappa(table, interval="bootstrap", rng=0)
    estimate = cohen_kappa(table, interval="bootstrap", rng=0, undefined="nan")
    assert estimate.value == 0
    assert np.isnan(estimate.low)
    assert "replicates are undefined" in estimate.reason


# Traps that other packages fall into


def test_the_scale_is_declared_and_not_what_was_seen():
    """Labels 1, 2 and 5 of a scale from 1 to 5: .6078; on the labels seen: .6667."""
    first = np.array([1, 1, 1, 2, 2, 5, 5, 5])
    second = np.array([1, 1, 2, 1, 5, 2, 5, 5])
    declared = contingency_table(first, second, scale=[1, 2, 3, 4, 5])
    seen = contingency_table(first, second, scale=[1, 2, 5])
    assert cohen_kappa(declared, weights="quadratic").value == pytest.approx(31 / 51)
    assert cohen_kappa(seen, weights="quadratic").value == pytest.approx(2 / 3)


@pytest.mark.parametrize("coefficient", [cohen_kappa, scott_pi])
def test_one_category_only_is_undefined(coefficient):
    table = contingency_table([0, 0], [0, 0], scale=[0, 1])
    with pytest.raises(UndefinedStatistic, match="one and the same category"):
        coefficient(table)
    estimate = coefficient(table, undefined="nan")
    assert np.isnan(estimate.value)
    assert "one and the same category" in estimate.reason
    assert estimate.n == 2


def test_one_constant_judge_is_defined_and_zero():
    assert cohen_kappa([[3, 1], [0, 0]]).value == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_an_empty_table_is_undefined(coefficient):
    with pytest.raises(UndefinedStatistic, match="empty"):
        coefficient(np.zeros((3, 3), int))
    assert coefficient(np.zeros((3, 3), int), undefined="nan").n == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_full_agreement_has_an_interval(coefficient):
    """The delta method would say 'exactly 1, no doubt' of ten votes."""
    estimate = coefficient([[5, 0], [0, 5]])
    assert estimate.value == estimate.high == 1
    assert estimate.low < 0.75
    table = np.array([[5, 0], [0, 5]])
    assert coefficient(table, interval="asymptotic").width == 0


def test_uniform_guessing_is_near_zero():
    first, second = np.random.default_rng(5).integers(0, 4, (2, 200_000))
    table = contingency_table(first, second, scale=range(4))
    for coefficient in (cohen_kappa, scott_pi, gwet_ac1, brennan_prediger):
        assert coefficient(table).value == pytest.approx(0, abs=0.01)


# Bad input


@pytest.mark.parametrize(
    ("table", "match"),
    [
        ([[1, 2, 3], [4, 5, 6]], "shape"),
        ([1, 2], "shape"),
        ([[5]], "shape"),
        ([[1, -1], [0, 2]], r"negative or non-finite counts at \[\(0, 1\)\]"),
        ([[1, np.nan], [0, 2]], "non-finite"),
        # Shares would pass for a table with n = 1.
        ([[0.4, 0.1], [0.15, 0.35]], "shares that add up to 1, "),
        ([["a", "b"], ["c", "d"]], "dtype"),
        ([[[1, 2], [3, 4]]], "one cluster"),
    ],
)
@pytest.mark.parametrize("interval", ["score", "asymptotic", "bootstrap"])
def test_bad_tables(table, match, interval):
    with pytest.raises(ValidationError, match=match):
        cohen_kappa(table, interval=interval, rng=0)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"weights": "cubic"}, "weights"),
        ({"weights": np.eye(3)}, "2 categories"),
        ({"weights": [[1, 2], [2, 1]]}, "at most 1"),
        # A negative weight would make plain agreement negative.
        ({"weights": [[1, -5], [-5, 1]]}, "at least 0"),
        ({"weights": [[1, np.nan], [0, 1]]}, "at least 0"),
        ({"symmetric": None}, "True, False"),
        ({"symmetric": (1.0, 0.0)}, "True, False"),
        ({"undefined": "zero"}, "undefined"),
        ({"weights": [[0.5, 0], [0, 1]]}, "diagonal"),
        ({"weights": np.ones((2, 2))}, "less than 1"),
        ({"interval": "exact"}, "interval"),
        ({"level": 95}, "level"),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(ValidationError, match=match):
        cohen_kappa([[3, 1], [1, 3]], **options)


@pytest.mark.parametrize(
    "options", [{"undefined": "zero"}, {"interval": "exact"}, {"level": 95}]
)
def test_options_are_checked_also_where_nothing_is_defined(options):
    with pytest.raises(ValidationError, match=next(iter(options))):
        cohen_kappa([[5, 0], [0, 0]], **{"undefined": "nan", **options})


def test_the_usual_interval_stays_in_the_range_of_the_coefficient():
    few, none = [[1, 0], [9, 0]], [[1, 9], [9, 1]]
    assert percent_agreement(few, interval="asymptotic").low == 0
    assert cohen_kappa(none, interval="asymptotic").low == -1


def test_a_bootstrap_of_one_pair_or_of_too_many_is_refused():
    """One pair is always drawn alike; 2⁶² of each kind would crash NumPy."""
    for table in ([[0, 1], [0, 0]], np.full((2, 2), 2**62)):
        with pytest.raises(ValidationError, match="units is not possible"):
            percent_agreement(table, interval="bootstrap", rng=0)


def test_nullable_and_huge_counts():
    table = pd.DataFrame([[40, 10], [15, 35]], dtype="Int64")
    assert cohen_kappa(table) == cohen_kappa(table.to_numpy(int))
    many = np.array([[40, 10], [15, 35]], np.uint64) << np.uint64(57)
    assert cohen_kappa(many).value == pytest.approx(0.5, abs=1e-12)
    assert cohen_kappa(many).width < 1e-6
    assert cohen_kappa(table, symmetric=np.True_) == cohen_kappa(table, symmetric=True)


# Coverage


def covers(table, n, coefficient, interval, runs=300, **options):
    """Share of simulated tables whose 95 % interval holds the true value."""
    shares = np.array(table) / np.sum(table)
    truth = coefficient(np.array(table), **options).value
    drawn = np.random.default_rng(6).multinomial(n, shares.ravel(), size=runs)
    estimates = [
        coefficient(t, interval=interval, undefined="nan", **options)
        for t in drawn.reshape(-1, *shares.shape)
    ]
    held = [e.low <= truth <= e.high for e in estimates if not np.isnan(e.value)]
    return np.mean(held)


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ([[475, 25], [25, 475]], {}),
        ([[891, 9], [9, 91]], {}),
        ([[135, 60], [205, 1323]], {}),
        ([[135, 60], [205, 1323]], {"symmetric": True}),
        ([[30, 6, 4], [8, 25, 7], [5, 5, 10]], {"symmetric": True}),
        (
            [
                [1521, 369, 88, 27],
                [579, 457, 157, 40],
                [189, 280, 270, 69],
                [46, 125, 93, 113],
            ],
            {"weights": "quadratic"},
        ),
    ],
)
@pytest.mark.parametrize("n", [20, 100])
def test_score_interval_covers(table, options, n):
    # 300 runs: the standard error of a coverage of .95 is .013.
    assert 0.91 <= covers(table, n, cohen_kappa, "score", **options) <= 1


@pytest.mark.parametrize("coefficient", [scott_pi, gwet_ac1, brennan_prediger])
def test_score_interval_of_the_other_coefficients_covers(coefficient):
    assert 0.91 <= covers([[80, 10], [2, 8]], 30, coefficient, "score") <= 1


def test_the_usual_interval_does_not_cover_near_one():
    """Why it is not the default; the docstring says so."""
    assert covers([[891, 9], [9, 91]], 20, cohen_kappa, "asymptotic") < 0.6


def test_clustered_interval_covers():
    rng = np.random.default_rng(7)
    base = np.array([0.4, 0.1, 0.12, 0.38])
    truth = cohen_kappa(1e6 * base.reshape(2, 2)).value
    held = {"stack": 0, "sum": 0}
    for _ in range(200):
        shares = rng.dirichlet(4 * base, 20)
        stack = np.array([rng.multinomial(10, p) for p in shares]).reshape(-1, 2, 2)
        for name, table in (("stack", stack), ("sum", stack.sum(0))):
            estimate = cohen_kappa(table)
            held[name] += estimate.low <= truth <= estimate.high
    assert held["stack"] / 200 >= 0.9
    assert held["sum"] / 200 < 0.85
