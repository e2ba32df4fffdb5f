"""JudgeBench: published figures, rules, raw outputs against the repository's vote."""

import csv
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar

from judgelab import data
from judgelab.data import blob_id
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers import judgebench
from judgelab.papers.judgebench.published import printed_rows
from judgelab.papers.judgebench.reproduction import ROW_OF
from judgelab.papertable import Match
from judgelab.simulate import Judge, draw_pairs, simulate
from judgelab.verdict import RULES, Verdict

ROOT = Path(os.environ.get("JUDGELAB_DATA", ""), "judgebench")
needs_records = pytest.mark.skipif(
    not os.environ.get("JUDGELAB_DATA") or not ROOT.is_dir(),
    reason="needs the raw records: set JUDGELAB_DATA to a folder with judgebench/",
)
needs_verdicts = pytest.mark.skipif(
    not (ROOT / "verdicts").is_dir() or not os.environ.get("JUDGELAB_DATA"),
    reason="needs the text-free verdicts: JUDGELAB_DATA/judgebench/verdicts",
)


def cells(tables, basis):
    return [cell for table in tables if table.basis == basis for cell in table.cells]


# --- published figures ---


def test_every_cell_that_can_be_recomputed_is_exact():
    tables = judgebench.reproduce()
    by_name = {(t.table, t.basis): t.counts for t in tables}
    assert by_name["Table 3: reward models", "recomputed"][Match.EXACT] == 25
    title = "Table 2: models with the Arena-Hard prompt"
    assert by_name[title, "recomputed"][Match.EXACT] == 5
    assert all(c.match is Match.EXACT for c in cells(tables, "recomputed"))
    assert len(cells(tables, "recomputed")) == 38


def test_without_verdicts_on_a_table_s_pairs_it_is_checked_in_print():
    counts = data.counts("judgebench", "two_orders")
    tables = judgebench.reproduce(counts[counts["responses"] != "GPT-4o"])
    sizes = [cell.match for cell in cells(tables, "recomputed")]
    assert sizes == [Match.NOT_REPRODUCIBLE] * 4 + [Match.EXACT] * 4
    assert len(cells(tables, "from print")) == 249 + 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda counts: counts[:0], "no counts"),
        (lambda counts: counts.drop(columns="gold"), r"counts lack \['gold'\]"),
        (lambda counts: counts.assign(judge=None), r"\['judge'\] have gaps"),
        (lambda counts: counts.assign(category=np.nan), r"\['category'\] have gaps"),
        (lambda counts: counts.assign(pairs=1.5), "whole numbers"),
        (lambda counts: counts.assign(pairs=-1), "whole numbers"),
        (lambda counts: counts.assign(pairs=np.inf), "whole numbers"),
        (lambda counts: counts.assign(pairs="3"), "numbers"),
        (lambda counts: counts.assign(pairs=True), "whole numbers"),
        (lambda counts: counts.assign(gold="TIE"), "gold must be A or B"),
    ],
)
def test_counts_are_checked_before_they_are_used(change, message):
    counts = change(data.counts("judgebench", "two_orders"))
    with pytest.raises(ValidationError, match=message):
        judgebench.evaluate(counts, rule="judgebench")
    with pytest.raises(ValidationError, match=message):
        judgebench.rule_effects(counts)


def test_counts_may_come_as_floats():
    counts = data.counts("judgebench", "two_orders")
    as_floats = judgebench.rule_effects(counts.assign(pairs=1.0 * counts["pairs"]))
    assert as_floats.map(repr).equals(judgebench.rule_effects().map(repr))


@pytest.mark.parametrize(
    ("scores", "alpha"), [({}, 0.05), (None, 0), (None, 1), (None, 5), (None, np.nan)]
)
def test_chance_needs_scores_and_a_probability(scores, alpha):
    with pytest.raises(ValidationError, match="at least one accuracy"):
        judgebench.against_chance(scores, alpha=alpha)


def test_cells_checked_in_print_are_possible_or_known():
    found = cells(judgebench.reproduce(), "from print")
    matches = [cell.match for cell in found]
    assert Match.MISMATCH not in matches
    assert matches.count(Match.NOT_REPRODUCED) == 4
    assert matches.count(Match.EXACT) == 205
    assert matches.count(Match.NOT_REPRODUCIBLE) == 40
    assert all("—" not in cell.row()[3] for cell in found)


def test_integrality_finds_the_one_impossible_row():
    table = judgebench.integrality()
    assert len(table) == 42
    bad = table[~table["possible"]]
    assert bad.index.tolist() == [("Table 4", "Llama-3.1-405B-Instruct, Solver")]
    assert bad[["Knowledge", "Coding", "Overall"]].iloc[0].tolist() == [74, 28, 202]
    # Counts that were worked out by hand beside the paper.
    assert table.loc[("Table 2", "o1-preview")].tolist()[:5] == [102, 78, 48, 36, 264]
    assert table.loc[("Table 1", "PandaLM, PandaLM-7B")].tolist()[:5] == [
        *(14, 21, 4, 7, 46)
    ]


@given(st.integers(1, 400), st.integers(0, 3), st.data())
def test_possible_counts_against_trying_all(n, decimals, data):
    k = data.draw(st.integers(0, n))
    printed = round(100 * k / n, decimals)
    found = judgebench.possible_counts(printed, n, decimals)
    assert k in found
    half = 0.5 * 10.0**-decimals
    assert all(abs(100 * j / n - printed) <= half + 1e-6 for j in found)
    outside = set(range(n + 1)) - set(found)
    assert all(abs(100 * j / n - printed) > half - 1e-6 for j in outside)


def test_slips_by_arithmetic():
    slips = judgebench.slips().set_index("place")
    assert "340, not 350" in slips.loc["Appendix A.3", "arithmetic"]
    assert "246 invalid and 215" in slips.loc["Appendix A.2", "arithmetic"]
    assert "145 are 53.70 %, 146 are 54.07 %" in slips.loc["Section 4.4", "arithmetic"]
    assert "= 202, the 57.71 %" in slips.loc["Table 4", "reading"]
    assert "159 verdicts" in slips.loc["Table 6", "arithmetic"]
    assert "at most 79 pairs" in slips.loc["Table 6", "arithmetic"]
    assert "59 of 154" in slips.loc["Table 7", "reading"]


# --- chance ---


def test_chance_levels_of_the_published_rule():
    levels = judgebench.chance_levels("judgebench")
    assert list(levels.values()) == [Fraction(1, 4), Fraction(1, 2), 0, 0]


def test_the_recipe_rewards_ties_where_a_is_right_and_punishes_consistency():
    levels = judgebench.chance_levels("recipe", right_is_a=0.7)
    assert levels["always a tie"] == Fraction(7, 10)
    literal = judgebench.chance_levels("recipe-as-written", right_is_a=0.5)
    assert literal["order-consistent coin"] == 0
    assert literal["always the first slot"] == Fraction(1, 2)


@pytest.mark.parametrize("rule", ["judgebench", "recipe", "mt-bench", "first-order"])
def test_chance_levels_against_simulated_guessers(rule):
    from judgelab.position import score_two_orders
    from judgelab.simulate import tables_by_gold

    pairs = draw_pairs(20_000, rng=0)
    levels = judgebench.chance_levels(rule)
    for name, judge in (
        ("independent coin", Judge(k=0)),
        ("always the first slot", Judge(k=0, beta=60)),
        ("always a tie", Judge(k=0, tie_width=60)),
    ):
        tables = tables_by_gold(judge, pairs, rng=1)
        got = score_two_orders(tables, rule=rule)["right"].value
        assert got == pytest.approx(float(levels[name]), abs=0.015), name


def test_which_judges_can_be_told_from_guessing():
    table = judgebench.against_chance()
    assert len(table) == 33
    coin = table["order-consistent coin"]
    told = coin[coin != "not distinguishable"]
    assert coin["Table 2", "o1-preview"] == "above"
    assert coin["Table 1", "PandaLM, PandaLM-7B"] == "below"
    assert coin["Table 1", "Arena-Hard Judge, GPT-4o"] == "not distinguishable"
    assert table.loc[("Table 1", "JudgeLM-7B, JudgeLM-7B-v1.0")][
        "independent coin"
    ] == ("not distinguishable")
    # Unadjusted, more judges would be called different from a coin.
    naive = [e.low > 0.5 or e.high < 0.5 for e in table["accuracy"]]
    assert len(told) < sum(naive)


def test_against_chance_with_own_scores_and_baselines():
    scores = {"x": proportion(90, 100), "y": proportion(52, 100)}
    table = judgebench.against_chance(scores, baselines={"coin": 0.5})
    assert table["coin"].tolist() == ["above", "not distinguishable"]
    with pytest.raises(UndefinedStatistic, match="another rule"):
        judgebench.against_chance({"x": Estimate.undefined("silent", n=3)})


# --- rules on real verdicts ---


def accuracy(judge, rule):
    effects = judgebench.rule_effects(rules=[rule])
    return effects.xs(judge, level="judge")[rule].iloc[0]


REWARD_MODELS = [name for key, name in judgebench.NAMES.items() if "reward" in key[0]]


@pytest.mark.parametrize("judge", REWARD_MODELS)
def test_the_literal_recipe_gives_consistent_judges_nothing(judge):
    assert accuracy(judge, "recipe-as-written").value == 0
    assert accuracy(judge, "judgebench").value > 0.59


def test_empty_verdicts_decide_over_fifteen_points():
    assert f"{accuracy('GLM-4.7', 'judgebench'):.3f}".startswith("0.593")
    assert f"{accuracy('GLM-4.7', 'recipe-prose'):.3f}".startswith("0.437")
    silent = accuracy("GLM-4.7", "judgebench-paper")
    assert np.isnan(silent.value)
    # 64 pairs without any verdict, 46 with one, 4 with a label without meaning.
    assert "silent on 114 of 270" in silent.reason


def test_one_order_flatters():
    two = accuracy("o1-mini", "judgebench").value
    assert accuracy("o1-mini", "first-order").value > two
    assert accuracy("o1-mini", "second-order").value > two


def test_evaluate_has_a_row_per_category_and_sums():
    table = judgebench.evaluate(rule="judgebench")
    o1 = table.loc[("o1-mini", "GPT-4o")]
    assert o1["pairs"].tolist() == [154, 98, 56, 42, 350]
    right = [round(e.value * e.n) for e in o1["accuracy"]]
    assert right == [90, 61, 46, 33, 230]
    for _, row in table.iterrows():
        parts = [row[c].value for c in ("accuracy", "wrong", "tie", "neither")]
        assert sum(parts) == pytest.approx(1)


def test_a_simulated_judge_with_a_known_lean_is_diagnosed_by_the_same_code():
    """Leans are found every time; a clean judge is spared as often as 95 % says."""
    spared = 0
    for seed in range(40):
        pairs = draw_pairs(350, rng=seed)
        for beta, side in ((1.2, -1), (-1.2, 1), (0, 0)):
            records = simulate(Judge(4, beta, tie_width=0.2), pairs, rng=seed)
            records = records.assign(responses="simulated", category="Math")
            row = judgebench.evaluate(records, rule="judgebench").iloc[-1]
            assert row["pairs"] == 350
            fairness, slot = row["fairness"], row["first_slot"]
            if side:
                assert np.sign([fairness.low, fairness.high]).tolist() == [side] * 2
                assert (
                    np.sign([slot.low - 0.5, slot.high - 0.5]).tolist() == [-side] * 2
                )
            else:
                spared += fairness.low < 0 < fairness.high
    assert spared >= 34


# --- two judges on the same pairs ---


def test_compare_is_antisymmetric_and_uses_mcnemar():
    one, test = judgebench.compare("o1-mini", "InternLM2-20B-Reward")
    other, again = judgebench.compare("InternLM2-20B-Reward", "o1-mini")
    assert one.value == pytest.approx(-other.value)
    assert one.low == pytest.approx(-other.high)
    assert test.p_value == again.p_value
    row = data.counts("judgebench", "joint_right").query(
        "judge == 'InternLM2-20B-Reward' and other == 'o1-mini'"
    )
    b, c = row[["only_judge", "only_other"]].iloc[0]
    peer = peer_mcnemar([[1, b], [c, 1]], exact=True).pvalue
    assert test.p_value == pytest.approx(peer)


def test_pairing_narrows_the_comparison_and_the_bootstrap_agrees():
    paired, _ = judgebench.compare("InternLM2-20B-Reward", "InternLM2-7B-Reward")
    boot, _ = judgebench.compare(
        "InternLM2-20B-Reward", "InternLM2-7B-Reward", interval="bootstrap", rng=1
    )
    assert boot.low == pytest.approx(paired.low, abs=0.01)
    assert boot.high == pytest.approx(paired.high, abs=0.01)
    p, q = 0.6343, 0.5943
    unpaired = 2 * 1.96 * np.sqrt((p * (1 - p) + q * (1 - q)) / 350)
    assert paired.width < 0.85 * unpaired


def test_compare_says_what_it_cannot_do():
    with pytest.raises(ValidationError, match="no pairs in common"):
        judgebench.compare("o1-mini", "GLM-4.7")
    with pytest.raises(ValidationError, match="not shipped"):
        judgebench.compare("o1-mini", "GRM-Gemma-2B", rule="mt-bench")


# --- the upstream format ---


def line(first, second, **changes):
    def judgment(decision):
        if decision == "failed":
            return {"judgment": None, "decision": None}
        scores = {} if not isinstance(decision, tuple) else {"scores": decision[1]}
        label = decision[0] if isinstance(decision, tuple) else decision
        reply = {"judge_model": "m", "prompt": "p", "response": "r"} | scores
        return {"judgment": reply, "decision": label}

    return {
        "pair_id": "p1",
        "source": "livebench-math",
        "question": "?",
        "response_model": "gpt-4o-2024-05-13",
        "label": "A>B",
        "judge_name": "arena_hard",
        "judgments": [judgment(first), judgment(second)],
    } | changes


def read(tmp_path, *lines, **options):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in lines), "utf-8")
    return judgebench.read_output(path, **options)


@pytest.mark.parametrize(
    ("decision", "verdict"),
    [
        ("A>B", "A"),
        ("B>A", "B"),
        ("A=B", "TIE"),
        ("A>>B", "A"),
        ("B>>A", "B"),
        ("A>A", "INVALID"),
        ("A>>A", "INVALID"),
        ("B=A", "INVALID"),
        (None, "INVALID"),
        ("failed", "MISSING"),
    ],
)
def test_labels_and_empty_verdicts(tmp_path, decision, verdict):
    frame = read(tmp_path, line(decision, "B>A"))
    assert frame["verdict"].tolist() == [verdict, "B"]
    assert frame["swapped"].tolist() == [False, True]
    assert frame["judge"].tolist() == ["mine", "mine"]
    assert frame["category"].tolist() == ["Math", "Math"]
    assert frame["responses"].tolist() == ["GPT-4o", "GPT-4o"]
    assert frame["gold"].tolist() == ["A", "A"]


def test_a_failed_request_without_any_judgment(tmp_path):
    frame = read(tmp_path, line("A>B", "A>B", judgments=[None, {"decision": None}]))
    assert frame["verdict"].tolist() == ["MISSING", "MISSING"]


def test_labels_without_meaning_may_be_read_as_ties(tmp_path):
    frame = read(tmp_path, line("A>A", None), nonsense="tie")
    assert frame["verdict"].tolist() == ["TIE", "INVALID"]
    assert frame["label"].tolist()[0] == "A>A"


def test_equal_scores_keep_the_stored_slot_or_become_ties(tmp_path):
    entry = line(("B>A", [1.5, 1.5]), ("B>A", [1.5, 1.5]))
    stored = read(tmp_path, entry)
    assert stored["verdict"].tolist() == ["B", "B"]
    assert stored["score_first"].tolist() == [1.5, 1.5]
    tied = read(tmp_path, entry, score_ties="tie")
    assert tied["verdict"].tolist() == ["TIE", "TIE"]
    clear = read(tmp_path, line(("A>B", [2, 1]), ("B>A", [1, 2])), score_ties="tie")
    assert clear["verdict"].tolist() == ["A", "B"]


def test_a_single_game_leaves_the_second_order_missing(tmp_path):
    entry = line("A>B", "A>B")
    entry["judgments"] = entry["judgments"][:1]
    counts = judgebench.count_orders(read(tmp_path, entry))
    assert counts[["first", "second"]].iloc[0].tolist() == ["A", "MISSING"]


def test_errors_name_the_line(tmp_path):
    good = line("A>B", "B>A")
    with pytest.raises(ValidationError, match="line 2: KeyError: 'judgments'"):
        read(tmp_path, good, {"pair_id": "x"})
    with pytest.raises(ValidationError, match=r"line 1.*no category"):
        read(tmp_path, line("A>B", "B>A", source="gsm8k"))
    with pytest.raises(ValidationError, match=r"line 1.*'A=B' names no right"):
        read(tmp_path, line("A>B", "B>A", label="A=B"))
    with pytest.raises(ValidationError, match=r"line 1.*3 judgments"):
        read(tmp_path, line("A>B", "B>A", judgments=[None] * 3))
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"pair_id"', "utf-8")
    with pytest.raises(ValidationError, match="line 1: JSONDecodeError"):
        judgebench.read_output(broken)
    with pytest.raises(ValidationError, match="second-slot"):
        read(tmp_path, good, score_ties="random")
    with pytest.raises(ValidationError, match="'invalid' or 'tie'"):
        read(tmp_path, good, nonsense="right")
    with pytest.raises(ValidationError, match="no outputs of"):
        judgebench.load(["GPT-7"])
    with pytest.raises(ValidationError, match="of these judges on pairs of"):
        judgebench.load(["o1-mini"], responses="Claude-3.5-Sonnet")
    with pytest.raises(ValidationError, match="on pairs of anyone"):
        judgebench.load([])
    with pytest.raises(ValidationError, match="judges:"):
        judgebench.tables_by_gold("GPT-7")
    with pytest.raises(ValidationError, match="share"):
        judgebench.chance_levels("judgebench", right_is_a=2)
    with pytest.raises(ValidationError, match="right_is_a is 'half'"):
        judgebench.chance_levels("judgebench", right_is_a="half")
    records = simulate(Judge(), draw_pairs(3, rng=0), rng=0)
    with pytest.raises(ValidationError, match=r"judgebench\.pairs\(\)"):
        judgebench.evaluate(records, rule="judgebench")


def test_a_tie_is_no_truth():
    records = simulate(Judge(), draw_pairs(3, distribution="equal", rng=0), rng=0)
    records = records.assign(responses="simulated", category="Math")
    with pytest.raises(ValidationError, match="gold must be A or B"):
        judgebench.evaluate(records, rule="judgebench")


def test_all_upstream_outputs_have_names_of_their_own():
    frame = judgebench.outputs()
    assert len(frame) == 38
    assert not frame.duplicated(["judge", "responses"]).any()
    assert set(frame["responses"]) == {"GPT-4o", "Claude-3.5-Sonnet"}
    # Every row of Tables 1-3 whose outputs were published has its file.
    rows = {(t, row) for rows in ROW_OF.values() for t, row in rows.items()}
    printed = {(t, label) for t in (1, 2, 3) for label, _, _ in printed_rows(t)}
    assert rows <= printed
    without = {label for _, label in printed - rows}
    assert without == {
        "o3-mini (high)",
        "o3-mini (medium)",
        "o3-mini (low)",
        "Deepseek-R1",
    }
    files = set(zip(frame["prompt"], frame["model"], strict=True))
    assert set(ROW_OF) <= files


# --- from the raw outputs ---


@pytest.fixture(scope="module")
def records():
    return judgebench.load()


def repository_vote(path):
    """The scoring of the repository's metrics, spelt out on its own files."""
    flip = {"A>B": "B>A", "B>A": "A>B"}
    right, wrong = {}, {}
    for text in path.read_text("utf-8").splitlines():
        pair = json.loads(text)
        first = pair["judgments"][0]["decision"]
        second = pair["judgments"][1]["decision"]
        votes = 0
        for decision in (first, flip.get(second, second)):
            votes += (decision == pair["label"]) - (decision == flip[pair["label"]])
        name = judgebench.category(pair["source"])
        for key in (name, "Overall"):
            right[key] = right.get(key, 0) + (votes > 0)
            wrong[key] = wrong.get(key, 0) + (votes < 0)
    return right, wrong


@needs_records
def test_raw_outputs_give_the_repositorys_numbers(records):
    table = judgebench.evaluate(records, rule="judgebench")
    files = judgebench.outputs().query("at_hand")
    assert len(files) == 7
    for _, file in files.iterrows():
        right, wrong = repository_vote(ROOT / file["file"])
        for name, count in right.items():
            row = table.loc[(file["judge"], file["responses"], name)]
            assert round(row["accuracy"].value * row["pairs"]) == count
            assert round(row["wrong"].value * row["pairs"]) == wrong[name]


@needs_records
def test_reproduction_from_raw_outputs_equals_that_from_counts(records):
    raw = judgebench.reproduce(records)
    exact = [c for c in cells(raw, "recomputed") if c.match is Match.EXACT]
    assert len(exact) == 38
    assert [repr(t) for t in raw] == [repr(t) for t in judgebench.reproduce()]


@needs_records
@needs_verdicts
def test_written_counts_are_the_shipped_files(tmp_path):
    judgebench.write_counts(tmp_path)
    shipped = Path(data.__file__).parent / "judgebench" / "counts"
    written = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_text("utf-8") for path in shipped.iterdir()}


@needs_verdicts
def test_raw_outputs_and_text_free_verdicts_agree(records):
    """Two independent readers of the same files."""
    codes = {"A>B": "A", "B>A": "B", "A=B": "TIE", "": "INVALID"}
    for path in (ROOT / "verdicts").glob("ScalerLab*.csv"):
        with path.open() as file:
            rows = list(csv.DictReader(file))
        key = (rows[0]["judge_name"], rows[0]["judge_model"])
        mine = records[records["judge"] == judgebench.NAMES[key]]
        mine = mine.pivot(index="item", columns="swapped", values="verdict")
        for row in rows:
            expected = [codes[row["verdict_1"]], codes[row["verdict_2_raw"]]]
            assert mine.loc[row["pair_id"]].tolist() == expected


@needs_records
def test_files_are_the_pinned_ones_by_git_id():
    for file in data.SOURCES["judgebench"].files:
        assert blob_id((ROOT / file.name).read_bytes()) == file.blob


@needs_records
def test_the_pairs_themselves():
    pairs = judgebench.pairs()
    sizes = pairs.groupby(["responses", "category"]).size()
    assert sizes["GPT-4o"].reindex(judgebench.CATEGORIES).tolist() == [154, 98, 56, 42]
    claude = sizes["Claude-3.5-Sonnet"].reindex(judgebench.CATEGORIES).tolist()
    assert claude == [154, 51, 34, 31]
    questions = pairs[pairs["responses"] == "Claude-3.5-Sonnet"]["question"]
    # One question has two pairs, so the pairs are not quite independent.
    assert questions.nunique() == 269
    gold = pairs.groupby("responses")["gold"].value_counts()
    assert gold["GPT-4o", "A"] == 193
    assert not pairs["item"].duplicated().any()


@needs_records
def test_equal_scores_always_went_to_the_second_slot(records):
    ties = records[records["score_first"] == records["score_second"]]
    assert len(ties) == 2 * (3 + 1)
    assert set(ties["verdict"]) == {"B"}
    read_as_ties = judgebench.load(score_ties="tie")
    effects = judgebench.rule_effects(read_as_ties, rules=["judgebench"])
    # A tie in both orders is not right either: Table 3 doesn't change.
    pd.testing.assert_frame_equal(
        effects.map(str),
        judgebench.rule_effects(records, rules=["judgebench"]).map(str),
    )


@needs_records
def test_joint_counts_from_records_and_other_rules(records):
    for rule in ("judgebench", "mt-bench", "first-order"):
        difference, _ = judgebench.compare(
            "o1-mini", "GRM-Gemma-2B", rule=rule, records=records
        )
        effects = judgebench.rule_effects(records, rules=[rule])[rule]
        gap = (
            effects["o1-mini", "GPT-4o"].value - effects["GRM-Gemma-2B", "GPT-4o"].value
        )
        assert difference.value == pytest.approx(gap)
    shipped = judgebench.compare("o1-mini", "GRM-Gemma-2B")
    raw = judgebench.compare("o1-mini", "GRM-Gemma-2B", records=records)
    assert repr(shipped) == repr(raw)
    with pytest.raises(ValidationError, match="no pairs in common"):
        judgebench.compare("o1-mini", "Claude-3-Haiku", records=records)
    with pytest.raises(ValidationError, match="hold no verdicts"):
        judgebench.compare("o1-mini", "GLM-4.7", records=records)
    with pytest.raises(ValidationError, match="silent on 13 pairs"):
        judgebench.compare(
            "Claude-3-Haiku", "o1-mini", rule="mt-bench", records=records
        )


@needs_records
def test_one_named_judge_can_be_loaded():
    frame = judgebench.load(["Claude-3-Haiku"], responses="Claude-3.5-Sonnet")
    assert set(frame["judge"]) == {"Claude-3-Haiku"}
    assert len(frame) == 540
    assert (frame["verdict"] == "INVALID").sum() == 13


@needs_verdicts
def test_nemo_skills_to_the_letter():
    """Its own steps on labels: only empty verdicts drop a pair."""
    flip = {"A>B": "B>A", "B>A": "A>B"}
    judged = judgebench.load_others(nonsense="tie")
    ours = judgebench.rule_effects(judged, rules=["nemo-skills"])["nemo-skills"]
    for (judge, _), estimate in ours.items():
        mine = judged[judged["judge"] == judge]
        labels = mine.pivot(index=["item", "gold"], columns="swapped", values="label")
        right = n = 0
        for (_, gold), (first, second) in zip(
            labels.index, labels.to_numpy(), strict=True
        ):
            if pd.isna(first) or pd.isna(second):
                continue
            truth = "A>B" if gold == "A" else "B>A"
            votes = [first, flip.get(second, second)]
            score = votes.count(truth) - votes.count(flip[truth])
            right, n = right + (score > 0), n + 1
        assert (estimate.n, round(estimate.value * n)) == (n, right)


def test_all_rules_can_be_shown_for_all_judges():
    effects = judgebench.rule_effects()
    assert effects.shape == (12, len(RULES))
    undefined = effects.map(lambda e: bool(np.isnan(e.value)))
    # Only rules whose source is silent are undefined, and only with empty verdicts.
    assert set(undefined.columns[undefined.any()]) == {"judgebench-paper", "mt-bench"}
    tables = judgebench.tables_by_gold("GLM-4.7", responses="Claude-3.5-Sonnet")
    assert (
        tables[:, Verdict.INVALID :].sum() + tables[:, : Verdict.INVALID, 3:].sum() > 0
    )


def own_records(n=6, **changes):
    """Records of a reader's own judge: right in both orders on every pair."""
    frame = pd.DataFrame(
        {
            "judge": "me",
            "responses": "GPT-4o",
            "category": "Math",
            "gold": "A",
            "item": np.repeat([f"q{i}" for i in range(n)], 2),
            "swapped": [False, True] * n,
            "verdict": ["A", "B"] * n,
        }
    )
    return frame.assign(**changes)


@pytest.mark.parametrize("column", ["responses", "category", "gold"])
def test_pairs_are_not_dropped_for_a_gap_in_what_is_known(column):
    """Grouping by a column with a gap leaves its rows out without a word."""
    records = own_records()
    records.loc[records["item"] == "q0", column] = None
    with pytest.raises(ValidationError, match=rf"'{column}' is empty for 1 items .*q0"):
        judgebench.evaluate(records, rule="judgebench")


def test_trials_of_a_pair_are_not_pairs():
    both = pd.concat([own_records(), own_records(judge="you")])
    twice = pd.concat([both.assign(trial=1), both.assign(trial=2)])
    with pytest.raises(ValidationError, match="12 pairs have several trials"):
        judgebench.evaluate(twice, rule="judgebench")
    with pytest.raises(ValidationError, match="12 pairs have several trials"):
        judgebench.compare("me", "you", records=twice)
    first = judgebench.evaluate(twice[twice["trial"] == 1], rule="judgebench")
    assert first.loc[("me", "GPT-4o", "Overall"), "pairs"] == 6


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"gold": ["A", "B"] * 6}, "differ between the records of one pair"),
        ({"gold": "a"}, r"gold must be A or B, not \['a'\]"),
        ({"gold": 0}, r"gold must be A or B, not \['0'\]"),
    ],
)
def test_a_truth_that_is_none(changes, match):
    with pytest.raises(ValidationError, match=match):
        judgebench.evaluate(own_records(**changes), rule="judgebench")


def test_comparisons_of_a_judge_with_itself_or_with_nobody():
    both = pd.concat([own_records(), own_records(judge="you")])
    for records in (both, None):
        with pytest.raises(ValidationError, match="give two"):
            judgebench.compare("o1-mini", "o1-mini", records=records)
    with pytest.raises(ValidationError, match=r"\['yu'\]; judges: me, you"):
        judgebench.compare("me", "yu", records=both)
    with pytest.raises(ValidationError, match="no records"):
        judgebench.evaluate(both[:0], rule="judgebench")


@pytest.mark.parametrize(
    ("percent", "n", "decimals", "message"),
    [
        (float("nan"), 10, 2, "finite"),
        ("50", 10, 2, "percent is '50'"),
        (50, 10.5, 2, "n is 10.5"),
        (50, 0, 2, "n is 0"),
        (50, "10", 2, "n is '10'"),
        (50, 10, -1, "decimals is -1"),
    ],
)
def test_a_percentage_is_of_whole_units(percent, n, decimals, message):
    with pytest.raises(ValidationError, match=message):
        judgebench.possible_counts(percent, n, decimals)
