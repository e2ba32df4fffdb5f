"""LLMJudge: printed figures, joined labels, queries as units, system rankings."""

import itertools
import os
from pathlib import Path

import ir_measures
import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from judgelab import data
from judgelab.agreement import cohen_kappa, krippendorff_alpha
from judgelab.correlation import kendall_tau, pearson_r
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.papers import llmjudge
from judgelab.papers.llmjudge import (
    CUTS,
    MEASURES,
    SUBMISSIONS,
    binarise,
    compare,
    evaluate,
    join_labels,
    over_queries,
    read_labels,
    recode,
    run_scores,
    system_tau,
    tables,
    trec_order,
)
from judgelab.papertable import Match

ROOT = Path(os.environ.get("JUDGELAB_DATA", ""), "llmjudge")
needs_records = pytest.mark.skipif(
    not os.environ.get("JUDGELAB_DATA") or not ROOT.is_dir(),
    reason="needs the raw records: set JUDGELAB_DATA to a folder with llmjudge/",
)


@pytest.fixture(scope="module")
def reproduced():
    return {table.table.split(":")[0]: table for table in llmjudge.reproduce()}


# --- published figures ---


@pytest.mark.parametrize(
    ("table", "exact", "beyond"),
    [
        ("Table 1", 14, 0),
        ("Figure 1", 2, 0),
        ("Table 3", 66, 102),
        ("Table 4", 132, 36),
        ("Table 5", 132, 36),
        ("Table 6", 136, 36),
        ("Authors' figure", 1, 0),
    ],
)
def test_every_public_figure_is_exact(reproduced, table, exact, beyond):
    counts = reproduced[table].counts
    assert counts[Match.EXACT] == exact
    assert counts[Match.NOT_REPRODUCIBLE] == beyond
    assert sum(counts.values()) == exact + beyond


def test_all_33_submissions_agree_to_four_decimals(reproduced):
    for table, columns in (("Table 4", "kappa"), ("Table 5", "alpha")):
        cells = {cell.name: cell for cell in reproduced[table].cells}
        for name, said in itertools.product(SUBMISSIONS, ("", *CUTS)):
            cell = cells[f"{name}, {columns}" + (f", {said}" if said else "")]
            assert round(cell.value, 4) == pytest.approx(cell.paper, abs=1e-9)


def test_every_figure_of_labels_has_an_interval(reproduced):
    for table in ("Table 3", "Table 4", "Table 5"):
        for cell in reproduced[table].cells:
            if cell.ours is not None:
                assert cell.ours.low <= cell.ours.value <= cell.ours.high
                assert cell.ours.width > 0


def test_figure_1_needs_the_31_that_searched_all_passages():
    printed = {"dev": 0.9183, "test": 0.9473}
    for split, tau in printed.items():
        assert round(llmjudge.sampled_tau(split).value, 4) == tau
        assert round(llmjudge.sampled_tau(split, runs="all").value, 4) != tau


def test_the_five_taus_of_syndl():
    taus = [round(tau.value, 4) for tau in llmjudge.syndl_taus().values()]
    assert taus == [0.8571, 0.8527, 0.8964, 0.8710, 0.8958]
    with_people = llmjudge.syndl_taus("GPT-4 and people")
    assert all(
        with_people[year].value > tau.value
        for year, tau in llmjudge.syndl_taus().items()
    )
    assert [tau.n for tau in with_people.values()] == [36, 59, 63, 100, 35]


def test_slips_are_arithmetic():
    slips = llmjudge.slips()
    printed = data.published("llmjudge", "table6").set_index("submission")
    short = printed.index[printed.sum(axis=1) != 4423].tolist()
    assert short == ["RMITIR-llama70B", "h2oloo-zeroshot2", "llmjudge-simple1"]
    assert slips["place"].tolist().count("Table 6") == len(short)
    assert "0.5020" in slips["arithmetic"][0]
    assert "0.4280" in slips["arithmetic"][1]
    assert "4,421" in slips["arithmetic"][2]
    assert "5, 5" in slips["reading"][2]
    assert "not public" in slips["reading"][4]


def test_kappa_and_tau_have_little_to_do_with_each_other():
    public = llmjudge.published().query("public")
    assert abs(kendall_tau(public["kappa"], public["tau"]).value) < 0.05
    assert 0.1 < pearson_r(public["kappa"], public["tau"]).value < 0.25


# --- the shipped counts ---


def test_tables_hold_the_pairs_of_the_test_set():
    queries = llmjudge.query_counts().query("split == 'test'")
    for name in SUBMISSIONS:
        counted = tables(name)
        assert counted.shape == (25, 4, 4)
        assert counted.sum() == 4423
        # Every judge labelled the same passages: the human side is the same for all.
        human = counted.sum(axis=2)
        assert (human == queries[["n0", "n1", "n2", "n3"]].to_numpy()).all()


def test_kinds_of_query_make_up_all():
    name = "Olz-exp"
    parts = [tables(name, queries=kind) for kind in ("human", "synthetic")]
    assert [len(part) for part in parts] == [15, 10]
    assert (sum(p.sum(0) for p in parts) == tables(name).sum(0)).all()


def test_restored_zeros_count_twice():
    plain, restored = tables("Olz-exp"), tables("Olz-exp", zeros="restored")
    assert (restored[:, 0] == 2 * plain[:, 0]).all()
    assert (restored[:, 1:] == plain[:, 1:]).all()
    # 2,005 of 4,009 pairs were kept.
    assert restored[:, 0].sum() == 4010


def test_clipping_moves_three_labels_and_dropping_loses_them():
    assert tables("RMITIR-llama70B", outside="drop").sum() == 4421
    assert tables("h2oloo-zeroshot2", outside="drop").sum() == 4422
    for name in SUBMISSIONS:
        lost = tables(name) - tables(name, outside="drop")
        assert lost[:, :, :3].sum() == 0
        assert lost[:, :, 3].sum() == {
            "RMITIR-llama70B": 2,
            "h2oloo-zeroshot2": 1,
        }.get(name, 0)


def test_tables_are_copies():
    tables("Olz-exp")[:] = 0
    assert tables("Olz-exp").sum() == 4423


def test_position_is_another_table():
    for name in ("Olz-halfbin", "Olz-multiprompt", "Olz-somebin"):
        wrong = llmjudge.by_position(name)
        right = tables(name).sum(0)
        assert (wrong.sum(0) == right.sum(0)).all()
        assert (wrong.sum(1) == right.sum(1)).all()
        assert cohen_kappa(wrong).value < 0.5 * cohen_kappa(right).value
    with pytest.raises(ValidationError, match="Olz-halfbin"):
        llmjudge.by_position("Olz-exp")


@needs_records
def test_every_shipped_count_comes_again_from_the_records():
    human, judges = llmjudge.load()
    dev = read_labels(ROOT / "qrels" / "llm4eval_dev_qrel_2024.txt")
    derived = llmjudge.derive_counts(human, judges, dev)
    assert sorted(derived) == ["outside", "position", "queries", "sets", "tables"]
    for name, frame in derived.items():
        shipped = data.counts("llmjudge", name)
        pd.testing.assert_frame_equal(frame, shipped, check_dtype=False)


@needs_records
def test_every_shipped_score_comes_again():
    if not (ROOT / "dl2023_ndcg10_nist_per_query.csv").exists():
        pytest.skip("the tables of scores are not beside the records")
    for name, frame in llmjudge.derive_scores(ROOT).items():
        shipped = data.counts("llmjudge", name)
        pd.testing.assert_frame_equal(
            frame.rename_axis(columns=None), shipped, check_dtype=False
        )


@needs_records
def test_written_counts_are_the_shipped_files(tmp_path):
    llmjudge.write_counts(tmp_path)
    shipped = Path(data.__file__).parent / "llmjudge" / "counts"
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(path.name for path in shipped.iterdir())
    for name in written:
        assert (tmp_path / name).read_text() == (shipped / name).read_text()


@needs_records
def test_the_raw_labels_against_peers():
    human, judges = llmjudge.load()
    for name in ("willia-umbrela1", "Olz-halfbin", "RMITIR-llama70B"):
        joined = join_labels(human, judges[name], outside="clip")
        first, second = joined.pairs["human"], joined.pairs["judge"]
        for weights, measure in ((None, "kappa"), ("quadratic", "quadratic kappa")):
            peer = cohen_kappa_score(first, second, weights=weights)
            assert evaluate(name, measure).value == pytest.approx(peer, abs=1e-12)
        peer = krippendorff.alpha(
            [first, second], level_of_measurement="ordinal", value_domain=range(4)
        )
        assert evaluate(name, "alpha").value == pytest.approx(peer, abs=1e-12)


@needs_records
def test_three_files_have_another_order_and_two_leave_the_scale():
    human, judges = llmjudge.load()
    keys = human[["query", "document"]].to_numpy()
    other = [
        name
        for name, judge in judges.items()
        if not (judge[["query", "document"]].to_numpy() == keys).all()
    ]
    assert other == ["Olz-halfbin", "Olz-multiprompt", "Olz-somebin"]
    refused = []
    for name, judge in judges.items():
        try:
            join_labels(human, judge)
        except ValidationError:
            refused.append(name)
    assert refused == ["RMITIR-llama70B", "h2oloo-zeroshot2"]
    clipped = join_labels(human, judges["RMITIR-llama70B"], outside="clip")
    dropped = join_labels(human, judges["RMITIR-llama70B"], outside="drop")
    assert (clipped.clipped, clipped.dropped) == (2, 0)
    assert (dropped.clipped, dropped.dropped) == (0, 2)
    assert len(dropped.pairs) == 4421


# --- reading and joining ---

PAIRS = pd.DataFrame(
    {
        "query": ["q1", "q1", "q2", "q2"],
        "document": ["p1", "p2", "p1", "p3"],
        "label": [0, 3, 1, 2],
    }
)


def changed(row=None, **values):
    frame = PAIRS.astype(object)
    for column, value in values.items():
        frame.loc[row, column] = value
    return frame


def test_joined_by_key_whatever_the_order():
    judge = PAIRS.assign(label=[1, 2, 1, 0])
    for order in itertools.permutations(range(4)):
        joined = join_labels(PAIRS, judge.iloc[list(order)])
        assert joined.pairs["judge"].tolist() == [1, 2, 1, 0]
        assert joined.pairs["human"].tolist() == [0, 3, 1, 2]
    found = joined.tables()
    assert found.shape == (2, 4, 4)
    assert found[0][0, 1] == found[0][3, 2] == found[1][1, 1] == found[1][2, 0] == 1


def test_names_are_texts():
    numbered = PAIRS.assign(query=[1, 1, 2, 2], document=[11, 12, 11, 13])
    named = numbered.astype({"query": str, "document": str})
    joined = join_labels(numbered, named)
    assert len(joined.pairs) == 4
    run = numbered.rename(columns={"label": "score"})
    assert run_scores(run, named) == {"1": 1.0, "2": 1.0}


def test_an_index_does_not_matter():
    judge = PAIRS.iloc[::-1].set_index("query", drop=False)
    judge.index.name = None
    assert (join_labels(PAIRS, judge).pairs["judge"] == PAIRS["label"]).all()


@pytest.mark.parametrize(
    ("judge", "named"),
    [
        (changed(1, label=5), "scale"),
        (changed(1, label=-1), "scale"),
        (changed(1, label=2.5), "whole"),
        (changed(1, label="3"), "whole"),
        (changed(1, label=True), "whole"),
        (changed(1, label=10**30), "whole"),
        (changed(1, label=np.inf), "whole"),
        (changed(1, label=1j), "whole"),
        (PAIRS.assign(label=pd.Timestamp("2025-02-19")), "whole"),
        (PAIRS.assign(label=pd.Series([[0], [3], [1], [2]])), "whole"),
        (changed(1, label=None), "missing"),
        (changed(1, query=None), "missing"),
        (changed(1, query=""), "missing"),
        (changed(1, document="p1"), "'q1' and 'p1'"),
        (changed(1, document="p9"), "one side only"),
        (PAIRS.iloc[:3], "human only"),
        (pd.concat([PAIRS, PAIRS.iloc[:1].assign(query="q3")]), "judge only"),
        (PAIRS.drop(columns="label"), "columns"),
        (PAIRS.iloc[:0], "no labels"),
    ],
)
def test_bad_labels_are_named(judge, named):
    with pytest.raises(ValidationError, match=named):
        join_labels(PAIRS, judge)
    if named not in ("one side only", "human only", "judge only"):
        with pytest.raises(ValidationError, match=named):
            join_labels(judge, PAIRS, outside="clip")


def test_clip_and_drop_say_how_many():
    judge = PAIRS.assign(label=[7, 3, -2, 2])
    clipped = join_labels(PAIRS, judge, outside="clip")
    assert clipped.pairs["judge"].tolist() == [3, 3, 0, 2]
    assert clipped.clipped == 2
    assert "2 labels clipped" in repr(clipped)
    dropped = join_labels(PAIRS, judge, outside="drop")
    assert dropped.pairs["judge"].tolist() == [3, 2]
    assert dropped.dropped == 2


def test_pairs_of_one_side_can_be_left_out_and_are_counted():
    joined = join_labels(PAIRS, changed(1, document="p9"), unmatched="drop")
    assert joined.unmatched == 2
    assert len(joined.pairs) == 3


def test_an_empty_query_is_refused():
    judge = PAIRS.assign(label=[0, 3, 9, 9])
    with pytest.raises(ValidationError, match=r"no pair is left of 1 queries.*'q2'"):
        join_labels(PAIRS, judge, outside="drop")
    with pytest.raises(ValidationError, match="'q2'"):
        join_labels(PAIRS, PAIRS.iloc[:2], unmatched="drop")


@pytest.mark.parametrize(
    "call",
    [
        lambda: join_labels(PAIRS, PAIRS, outside="wrap"),
        lambda: join_labels(PAIRS, PAIRS, unmatched="keep"),
        lambda: tables("llmjudge-cot1"),
        lambda: tables("Olz-exp", outside="raise"),
        lambda: tables("Olz-exp", queries="both"),
        lambda: tables("Olz-exp", zeros="half"),
        lambda: binarise(tables("Olz-exp"), 0),
        lambda: binarise(tables("Olz-exp"), 4),
        lambda: binarise(tables("Olz-exp"), np.nan),
        lambda: binarise(tables("Olz-exp"), None),
        lambda: binarise(tables("Olz-exp"), "2"),
        lambda: binarise(np.ones((2, 4)), 1),
        lambda: binarise([1, 2, 3], 1),
        lambda: binarise([["a", "b"], ["c", "d"]], 1),
        lambda: recode(np.ones((2, 4)), [0, 1, 2, 3]),
        lambda: recode(tables("Olz-exp"), [0, 1, 2, 2.5]),
        lambda: over_queries(-tables("Olz-exp"), np.trace),
        lambda: llmjudge.label_shift(np.full((3, 2, 2), np.nan)),
        lambda: llmjudge.mean_label(tables("Olz-exp")),
        lambda: llmjudge.mean_label([[1, -2], [1, 1]]),
        lambda: llmjudge.random_samples(2.5, rng=1),
        lambda: run_scores(RUN, LABELS, measure="nGCD@10"),
        lambda: system_tau({"a": RUN, "b": RUN}, LABELS, LABELS, queries="all"),
        lambda: recode(tables("Olz-exp"), [0, 1, 2]),
        lambda: recode(tables("Olz-exp"), [0, 1, 2, 4]),
        lambda: evaluate("Olz-exp", "kapa"),
        lambda: over_queries(tables("Olz-exp")[0], np.trace),
        lambda: over_queries(tables("Olz-exp")[:1], np.trace),
        lambda: llmjudge.mean_label(tables("Olz-exp").sum(0), "people"),
        lambda: llmjudge.dl2023("rerank"),
        lambda: llmjudge.sampled_tau("train"),
        lambda: llmjudge.sampled_tau("dev", against="some"),
        lambda: llmjudge.random_samples(0, rng=1),
        lambda: llmjudge.random_samples(83, rng=1),
        lambda: llmjudge.syndl_taus("GPT-5"),
        lambda: run_scores(RUN, LABELS, no_relevant="one"),
    ],
)
def test_unknown_options_are_refused(call):
    with pytest.raises(ValidationError):
        call()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("q1 0 p1\n", "line 1: 3 columns"),
        ("q1 0 p1 2\nq1 0 p2 high\n", "line 2.*'high'"),
        ("q1 0 p1 2.0\n", "'2.0'"),
        ("q1 0 p1 2\nq1 0 p1 1\n", "more than once"),
        ("", "no labels"),
        ("q1 0 p1 2\n\n", "line 2: 0 columns"),
        ("q1 0 p1 1_0\n", "'1_0'"),
        ("q1 0 p1 ٣\n", "'٣'"),
        ("q1 0 p1 2\nq1 0 p2 99999999999999999999\n", "line 2"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path, text, named):
    path = tmp_path / "judge.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(ValidationError, match=named):
        read_labels(path)


def test_the_encoding_of_a_file_is_no_part_of_its_names(tmp_path):
    path = tmp_path / "judge.txt"
    path.write_text("q1 0 p1 2\n", "utf-8-sig")
    assert read_labels(path)["query"].tolist() == ["q1"]
    path.write_bytes("q1 0 pä 2\n".encode("latin-1"))
    with pytest.raises(ValidationError, match="UTF-8"):
        read_labels(path)


def test_tabs_and_spaces_read_alike(tmp_path):
    path = tmp_path / "judge.txt"
    path.write_text("q1\t0\tp1\t2\nq1 Q0  p2   -1\n")
    assert read_labels(path)["label"].tolist() == [2, -1]


# --- measures ---


def test_cuts_add_up():
    counted = tables("Olz-gpt4o")
    for cut in CUTS.values():
        two = binarise(counted, cut)
        assert two.shape == (25, 2, 2)
        assert two.sum() == counted.sum()
        assert (two[:, 1, 1] == counted[:, cut:, cut:].sum((1, 2))).all()
        assert (two[:, 0, 1] == counted[:, :cut, cut:].sum((1, 2))).all()


def test_recoding_moves_columns():
    counted = tables("Olz-gpt4o")
    assert (recode(counted, range(4)) == counted).all()
    kinder = recode(counted, [1, 2, 3, 3])
    assert (kinder.sum(2) == counted.sum(2)).all()
    assert (kinder[..., 3] == counted[..., 2] + counted[..., 3]).all()
    assert (kinder[..., 0] == 0).all()


def test_alpha_takes_one_table_or_one_per_query():
    counted = tables("Olz-gpt4o")
    whole, by_query = llmjudge.alpha(counted.sum(0)), llmjudge.alpha(counted)
    assert whole.value == pytest.approx(by_query.value, abs=1e-12)
    assert by_query.width > 2 * whole.width
    labels = np.repeat(
        [[h, j] for h in range(4) for j in range(4)], counted.sum(0).ravel(), axis=0
    )
    plain = krippendorff_alpha(labels, level="ordinal", scale=range(4))
    assert whole.value == pytest.approx(plain.value, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_measures_have_intervals_over_queries(measure):
    found = evaluate("h2oloo-fewself", measure)
    assert found.low < found.value < found.high
    assert "25 clusters" in found.method
    pairs = MEASURES[measure](tables("h2oloo-fewself").sum(0))
    assert found.value == pytest.approx(pairs.value)
    assert found.width > 2 * pairs.width


def test_the_jackknife_over_queries_agrees_with_the_clustered_interval():
    name = "RMITIR-llama70B"
    found = over_queries(tables(name), cohen_kappa)
    clustered = evaluate(name)
    assert (found.low, found.high) == pytest.approx(
        (clustered.low, clustered.high), abs=0.01
    )


def test_nobody_has_a_mean_label_in_an_empty_table():
    with pytest.raises(UndefinedStatistic, match="empty"):
        llmjudge.mean_label(np.zeros((4, 4)))
    with pytest.raises(UndefinedStatistic, match="empty"):
        llmjudge.label_shift(np.zeros((3, 4, 4)))


def test_a_statistic_without_value_is_refused():
    with pytest.raises(UndefinedStatistic):
        over_queries(
            np.ones((3, 2, 2)), lambda table: np.nan if table.sum() < 12 else 1
        )


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_a_comparison_turns_with_its_sides(seed):
    one, other = np.random.default_rng(seed).choice(SUBMISSIONS, 2, replace=False)
    first, second = compare(one, other), compare(other, one)
    assert first.difference.value == pytest.approx(-second.difference.value)
    assert first.difference.low == pytest.approx(-second.difference.high)
    assert first.test.p_value == pytest.approx(second.test.p_value, abs=0.1)
    value = evaluate(one).value - evaluate(other).value
    assert first.difference.value == pytest.approx(value, abs=1e-12)


def test_a_submission_is_not_better_than_itself():
    same = compare("Olz-exp", "Olz-exp")
    assert same.difference.value == 0
    assert same.test.p_value == 1


def test_few_submissions_can_be_told_apart():
    pairs = llmjudge.distinguishable(draws=500)
    assert len(pairs) == 33 * 32 // 2
    assert (pairs["difference"] >= 0).all()
    assert (pairs["p_holm"] >= pairs["p"]).all()
    first = pairs.iloc[100]
    again = compare(first["one"], first["other"])
    assert first["difference"] == pytest.approx(again.difference.value)
    assert first["p"] == pytest.approx(again.test.p_value, abs=0.03)
    # A p-value of 1/501 is no p-value below .05/528.
    assert (pairs["p_holm"] > 0.05).all()
    assert 100 < (pairs["p"] <= 0.05).sum() < 160


def test_label_shift_is_a_difference_of_means():
    for name in ("TREMA-rubric0", "TREMA-4prompts"):
        counted = tables(name).sum(0)
        means = [counted.sum(axis) @ np.arange(4) / 4423 for axis in (0, 1)]
        shift = llmjudge.label_shift(tables(name))
        assert shift.value == pytest.approx(means[0] - means[1])
        assert shift.low < shift.value < shift.high


def test_recalls_are_the_shares_of_the_diagonal():
    counted = tables("willia-umbrela1")
    whole = counted.sum(0)
    for label, share in enumerate(llmjudge.recalls(counted)):
        assert share.value == pytest.approx(whole[label, label] / whole[label].sum())
        assert "clusters" in share.method


def test_kinds_of_queries_are_two_independent_groups():
    found = llmjudge.by_kind("prophet-setting1")
    assert found["difference"].value == pytest.approx(
        found["synthetic"].value - found["human"].value
    )
    shorter = min(found["human"].width, found["synthetic"].width)
    assert found["difference"].width > shorter


def test_overview_has_a_row_per_submission():
    overview = llmjudge.overview()
    assert overview.index.tolist() == list(SUBMISSIONS)
    assert overview.loc["Olz-exp", "kappa"] == evaluate("Olz-exp").value
    assert overview["kappa, at least 2"].idxmax() == "h2oloo-fewself"


# --- system rankings ---

RUN = pd.DataFrame(
    {
        "query": ["q1", "q1", "q1", "q2", "q2"],
        "document": ["p1", "p2", "p3", "p1", "p4"],
        "score": [3.0, 2.0, 1.0, 0.4, 0.5],
    }
)
LABELS = pd.DataFrame(
    {
        "query": ["q1", "q1", "q1", "q2", "q2"],
        "document": ["p1", "p2", "p3", "p1", "p4"],
        "label": [0, 3, 1, 1, 0],
    }
)


def ndcg(gains, labels, k=10):
    """NDCG from labels in ranked order: a definition beside trec_eval's."""
    discount = 1 / np.log2(np.arange(2, k + 2))
    top = np.asarray(gains, float)[:k]
    best = np.sort(np.asarray(labels, float))[::-1][:k]
    return float(top @ discount[: top.size] / (best @ discount[: best.size]))


@given(st.data())
def test_scores_are_ndcg_after_sorting_as_trec_eval(data):
    size = data.draw(st.integers(2, 15))
    names = data.draw(st.permutations([f"p{i}" for i in range(size)]))
    # Ties, and scores whose difference does not survive 32 bits.
    scores = data.draw(
        st.lists(
            st.sampled_from([0.5, 0.5 + 1e-9, 1.0, 1e7, 1e7 + 0.25, 2.0]),
            min_size=size,
            max_size=size,
        )
    )
    labels = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    labels[0] = max(labels[0], 1)
    run = pd.DataFrame({"query": "q", "document": names, "score": scores})
    judged = pd.DataFrame({"query": "q", "document": names, "label": labels})
    gains = [labels[i] for i in trec_order(scores, names)]
    assert run_scores(run, judged)["q"] == pytest.approx(ndcg(gains, labels))


def test_the_two_rules_of_trec_eval_bite():
    labels = pd.DataFrame({"query": "q", "document": ["a", "b"], "label": [3, 0]})
    scores = {}
    for name, pair in {
        "clear": (2.0, 1.0),
        "tied": (1.0, 1.0),
        "tied in 32 bits": (1 + 1e-9, 1.0),
    }.items():
        run = pd.DataFrame({"query": "q", "document": ["a", "b"], "score": pair})
        scores[name] = run_scores(run, labels)["q"]
    assert scores["clear"] == 1
    assert (
        scores["tied"] == scores["tied in 32 bits"] == pytest.approx(0.6309, abs=1e-4)
    )
    # Under another name for the same passage the tie goes the other way.
    renamed = {"a": "z", "b": "b"}
    run = run.assign(document=run["document"].map(renamed))
    labels = labels.assign(document=labels["document"].map(renamed))
    assert run_scores(run, labels)["q"] == 1


@pytest.mark.parametrize(
    ("scores", "names"),
    [
        ([1.0, 2.0], ["a"]),
        ([1.0, np.nan], ["a", "b"]),
        ([1.0, 2.0], ["a", "a"]),
        ([[1.0]], [["a"]]),
        (["high", "low"], ["a", "b"]),
    ],
)
def test_a_run_that_can_not_be_sorted_is_refused(scores, names):
    with pytest.raises(ValidationError):
        trec_order(scores, names)


def test_other_measures_come_from_ir_measures():
    found = run_scores(RUN, LABELS, measure="P(rel=1)@2")
    assert found == {"q1": 0.5, "q2": 0.5}
    peer = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10],
        LABELS.rename(
            columns={"query": "query_id", "document": "doc_id", "label": "relevance"}
        ),
        RUN.rename(columns={"query": "query_id", "document": "doc_id"}),
    )
    mean = np.mean(list(run_scores(RUN, LABELS).values()))
    assert peer[ir_measures.nDCG @ 10] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("run", "labels", "named"),
    [
        (RUN.query("query == 'q1'"), LABELS, "'q2'"),
        (RUN.drop(columns="score"), LABELS, "columns"),
        (pd.concat([RUN, RUN.iloc[:1]]), LABELS, "more than once"),
        (RUN, pd.concat([LABELS, LABELS.iloc[:1]]), "more than once"),
        (RUN.assign(score=np.nan), LABELS, "missing"),
        (RUN.assign(score=np.inf), LABELS, "finite"),
        (RUN.assign(score="high"), LABELS, "finite"),
        (RUN, LABELS.assign(label=[0, 2.7, 1, 1, 0]), "whole"),
        (RUN, LABELS.assign(label="3"), "whole"),
        (RUN, LABELS.iloc[:0], "no labels"),
    ],
)
def test_a_bad_run_is_refused(run, labels, named):
    with pytest.raises(ValidationError, match=named):
        run_scores(run, labels)


def test_scores_too_large_for_32_bits_tie():
    huge = RUN.assign(score=[1e300, 1e301, 1e302, 1.0, 2.0])
    assert trec_order(huge["score"][:3], huge["document"][:3]) == [2, 1, 0]
    found = run_scores(huge, LABELS)["q1"]
    assert found == pytest.approx(ndcg([1, 3, 0], [0, 3, 1]))


def test_two_rankings_rest_on_the_same_queries_unless_said():
    runs = {"a": RUN, "b": RUN.assign(score=-RUN["score"])}
    judge = LABELS.query("query == 'q1'")
    with pytest.raises(ValidationError, match=r"1 queries.*'q2'"):
        system_tau(runs, LABELS, judge)
    means = [
        [np.mean(list(run_scores(run, labels).values())) for run in runs.values()]
        for labels in (LABELS, judge)
    ]
    found = system_tau(runs, LABELS, judge, queries="any")
    assert found.value == kendall_tau(*means).value


def test_a_query_without_relevant_passages_has_no_ndcg():
    nothing = LABELS.assign(label=[0, 3, 1, 0, 0])
    with pytest.raises(UndefinedStatistic, match="'q2'"):
        run_scores(RUN, nothing)
    assert run_scores(RUN, nothing, no_relevant="zero")["q2"] == 0


def test_system_tau_is_tau_of_mean_scores():
    rng = np.random.default_rng(0)
    documents = [f"p{i:02}" for i in range(30)]
    queries = ["q1", "q2", "q3", "q4"]
    human = pd.DataFrame(
        [(q, d, rng.integers(0, 4)) for q in queries for d in documents],
        columns=["query", "document", "label"],
    )
    judge = human.assign(
        label=(human["label"] + rng.integers(-1, 2, len(human))).clip(0, 3)
    )
    runs = {
        f"system {i}": human[["query", "document"]].assign(
            score=human["label"] + (1 + i / 2) * rng.normal(size=len(human))
        )
        for i in range(6)
    }
    means = [
        [np.mean(list(run_scores(run, labels).values())) for run in runs.values()]
        for labels in (human, judge)
    ]
    found = system_tau(runs, human, judge)
    assert found.value == pytest.approx(kendall_tau(*means).value)
    assert found.n == 6
    with pytest.raises(ValidationError, match="at least two"):
        system_tau(dict(list(runs.items())[:1]), human, judge)


def test_systems_with_the_same_scores_on_other_queries_tie():
    places = [1, 2, 3, 5, 7, 8]
    queries = [f"q{i}" for i in range(len(places))]
    names = [f"p{i}" for i in range(10)]
    labels = pd.DataFrame(
        [(q, d, int(d == "p0")) for q in queries for d in names],
        columns=["query", "document", "label"],
    )

    def system(places):
        rows = [
            (q, d, -(place - 0.5 if d == "p0" else i))
            for q, place in zip(queries, places, strict=True)
            for i, d in enumerate(names)
        ]
        return pd.DataFrame(rows, columns=["query", "document", "score"])

    runs = {str(i): system(np.roll(places, i)) for i in range(6)}
    sums = [sum(run_scores(run, labels).values()) for run in runs.values()]
    assert len(set(sums)) > 1  # added up one by one they differ
    with pytest.raises(UndefinedStatistic, match="equal"):
        system_tau(runs, labels, labels)


def test_a_part_resembles_its_whole():
    for split in ("dev", "test"):
        whole = llmjudge.sampled_tau(split).value
        assert llmjudge.sampled_tau(split, against="rest").value < whole


def test_random_samples_grow_towards_the_whole():
    few, many = (llmjudge.random_samples(n, resamples=300, rng=1) for n in (10, 60))
    assert few.value < many.value
    assert llmjudge.random_samples(82, resamples=5, rng=1).value == 1
    # The paper's test set is an unusually good one.
    usual = llmjudge.random_samples(resamples=1000, rng=1)
    assert usual.low < llmjudge.sampled_tau("dev").value < usual.high
    assert llmjudge.sampled_tau("test").value > usual.high
