"""MT-bench: the paper's cells by two roads, and by counting vote pairs one by one."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab import data
from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.counts import joint_counts, win_matrix
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.papers import mt_bench
from judgelab.papers.mt_bench.counts import computable
from judgelab.papers.mt_bench.published import POSITION_N
from judgelab.papertable import Match
from judgelab.records import check_pairwise


@pytest.fixture(scope="module")
def records():
    import os

    if not os.environ.get("JUDGELAB_DATA"):
        pytest.skip("needs the raw votes: set JUDGELAB_DATA to a folder with mtbench/")
    return mt_bench.load()


@pytest.fixture(scope="module")
def votes(records):
    return mt_bench.vote_table(records)


@pytest.fixture(scope="module")
def by_key(records):
    """Votes on each key, as plain lists, turned to the alphabetical order by hand."""
    keys = {}
    turned = {"A": "B", "B": "A", "TIE": "TIE"}
    for row in records.itertuples():
        pair = tuple(sorted((row.model_a, row.model_b)))
        verdict = row.verdict if pair[0] == row.model_a else turned[row.verdict]
        key = keys.setdefault((row.question_id, row.turn, pair), {})
        key.setdefault(row.kind, []).append(verdict)
    return keys


def one_by_one(by_key, judge_1, judge_2, setup, turn):
    """Agreement by the paper's words: enumerate every pair of votes."""
    agreeing = pairs = 0.0
    for (_, when, _), kinds in by_key.items():
        if when != turn:
            continue
        sides = [side(kinds, judge, setup) for judge in (judge_1, judge_2)]
        if judge_1 == judge_2:
            meetings = [(a, [b]) for a, b in combinations(sides[0], 2)]
        elif judge_2 == "Human-M":
            modes = sides[1]
            few = judge_1 == "Human" and len(sides[0]) < 2
            meetings = [] if few or not modes else [(a, modes) for a in sides[0]]
        else:
            meetings = [(a, [b]) for a in sides[0] for b in sides[1]]
        pairs += len(meetings)
        agreeing += sum((a in b) / len(b) for a, b in meetings)
    return agreeing / pairs, pairs


def side(kinds, judge, setup):
    said = kinds.get({"Human-M": "expert"}.get(judge, mt_bench.JUDGES.get(judge)), [])
    if judge == "Human-M":
        most = max(map(said.count, said), default=0)
        said = sorted({v for v in said if said.count(v) == most})
    return [v for v in said if setup == "S1" or v != "TIE"]


@cache
def shipped_tables():
    return mt_bench.reproduce()


def cells(number, votes=None):
    tables = shipped_tables() if votes is None else mt_bench.reproduce(votes)
    return {t.table.split(":")[0]: t for t in tables}[f"Table {number}"]


def test_the_votes_are_the_public_ones(records):
    assert records["kind"].value_counts().to_dict() == {
        "expert": 2668,
        "gpt4": 2400,
        "author": 686,
    }
    people = records[records["kind"] != "gpt4"].groupby("kind")["judge"].nunique()
    assert people.to_dict() == {"author": 7, "expert": 58}
    assert records["flipped"].sum() == 380
    assert set(records[records["flipped"]]["verdict"]) == {"TIE"}
    assert records.groupby("category")["question_id"].nunique().eq(10).all()
    check_pairwise(records)


def test_the_vote_that_is_stored_twice_is_found_by_the_check(records):
    raw = pd.read_json(data.fetch("mtbench") / "human.jsonl", lines=True)
    pair = [
        f"{min(p)} : {max(p)}" for p in zip(raw["model_a"], raw["model_b"], strict=True)
    ]
    keys = raw["question_id"].astype(str) + "/" + raw["turn"].astype(str) + " " + pair
    raw = raw.assign(item=keys)
    words = {"model_a": "A", "model_b": "B", "tie": "TIE"}
    with pytest.raises(ValidationError, match=r"judge author_0, item 128/1 claude-v1"):
        check_pairwise(raw, rename={"winner": "verdict"}, words=words)


def test_written_counts_are_the_shipped_files(records, tmp_path):
    mt_bench.write_counts(tmp_path)
    shipped = Path(data.__file__).parent / "mtbench" / "counts"
    written = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_text("utf-8") for path in shipped.iterdir()}


def test_every_computable_cell_by_counting_one_by_one(by_key, votes):
    for turn, setup, one, two in computable():
        wanted, pairs = one_by_one(by_key, one, two, setup, turn)
        options = {"setup": setup, "turn": turn}
        shipped = mt_bench.agreement(one, two, **options)
        from_votes = mt_bench.agreement(one, two, votes=votes, **options)
        assert shipped.value == pytest.approx(wanted, abs=1e-12)
        assert shipped.n == pairs
        assert from_votes.n == shipped.n
        for end in ("value", "low", "high"):
            assert getattr(from_votes, end) == pytest.approx(getattr(shipped, end))


def test_table_13_and_5():
    assert cells(5).counts[Match.EXACT] == 8
    counts = cells(13).counts
    assert counts[Match.EXACT] == 26
    assert counts[Match.NOT_REPRODUCED] == 6
    assert counts[Match.NOT_REPRODUCIBLE] == 26
    known = [cell for cell in cells(13).cells if cell.known]
    assert sum(cell.n == cell.paper_n for cell in known) == 2


def test_both_roads_give_the_same_tables(votes):
    for number in (5, 7, 13):
        pairs = zip(cells(number).cells, cells(number, votes).cells, strict=True)
        for shipped, raw in pairs:
            assert shipped.match is raw.match
            if shipped.ours is not None:
                assert shipped.value == pytest.approx(raw.value, abs=1e-9)
                assert shipped.n == raw.n
                assert shipped.ours.low == pytest.approx(raw.ours.low, abs=1e-6)
                assert shipped.ours.high == pytest.approx(raw.ours.high, abs=1e-6)


def test_table_7_is_32_of_32(votes, by_key):
    assert cells(7).counts[Match.EXACT] == 32
    # One cell by hand: GPT-4 in mathematics, questions 111 to 120.
    wins, met = {}, {}
    for (question, _, pair), kinds in by_key.items():
        if 111 <= question <= 120 and "gpt-4" in pair:
            rival = pair[0] if pair[1] == "gpt-4" else pair[1]
            own = "A" if pair[0] == "gpt-4" else "B"
            said = kinds.get("expert", [])
            wins[rival] = wins.get(rival, 0) + said.count(own)
            met[rival] = met.get(rival, 0) + len(said)
    rate = np.mean([wins[rival] / met[rival] for rival in met])
    ours = mt_bench.win_rates("Human", category="math")["GPT-4"]
    assert ours.value == pytest.approx(rate)
    assert ours.n == sum(met.values())


def test_win_rates_agree_with_the_win_matrix(records):
    for judge, kind in (("Human", "expert"), ("G4-Pair", "gpt4"), ("Author", "author")):
        matrix = win_matrix(records[records["kind"] == kind])
        met = matrix.wins + matrix.wins.T + matrix.ties
        np.fill_diagonal(met, 1)
        rates = (matrix.wins / met).sum(axis=1) / 5
        ours = mt_bench.win_rates(judge)
        for model, rate in zip(matrix.models, rates, strict=True):
            assert ours[mt_bench.MODELS[model]].value == pytest.approx(rate)


def test_without_ties_win_rates_add_up():
    """Every decided vote is won by one side: rates of all models average one half."""
    for turn in (1, 2):
        for judge in ("G4-Pair", "Human"):
            rates = mt_bench.win_rates(judge, setup="S2", turn=turn)
            mean = np.mean([rate.value for rate in rates.values()])
            assert mean == pytest.approx(0.5)


def test_questions_as_units_widen_the_intervals(votes):
    wider = 0
    for turn, setup, one, two in computable():
        options = {"setup": setup, "turn": turn, "votes": votes}
        keys = mt_bench.agreement(one, two, **options)
        questions = mt_bench.agreement(one, two, units="question", **options)
        assert questions.value == pytest.approx(keys.value)
        wider += questions.width > keys.width
    assert wider > 16
    table = mt_bench.win_rates("Human", category="math", votes=votes)
    shipped = mt_bench.win_rates("Human", category="math")
    assert table["GPT-4"].width > 1.5 * shipped["GPT-4"].width


def test_kappa_depends_on_who_is_called_a():
    canonical = mt_bench.joint_table(setup="S2")
    stored = mt_bench.joint_table(order="stored", setup="S2")
    assert canonical.sum() == stored.sum() == 1723
    assert percent_agreement(canonical).value == percent_agreement(stored).value
    assert percent_agreement(stored).value == pytest.approx(0.846, abs=5e-4)
    assert cohen_kappa(canonical).value == pytest.approx(0.69, abs=5e-3)
    assert cohen_kappa(stored).value == pytest.approx(0.42, abs=5e-3)


def test_the_joint_table_has_the_votes_of_table_5():
    table = mt_bench.joint_table(setup="S1")
    assert table.sum() == 1343 + 1325
    agreement = mt_bench.agreement("G4-Pair", "Human", setup="S1")
    assert np.trace(table) / table.sum() == pytest.approx(agreement.value)


def test_joining_in_stored_order_loses_a_third_of_the_keys(records):
    assert mt_bench.join_keys(records) == {"canonical": 1814, "stored": 1232}
    shipped = data.counts("mtbench", "join").iloc[0].to_dict()
    assert shipped == {"canonical": 1814, "stored": 1232}


def test_joint_counts_of_one_expert_and_gpt4(records):
    """The general count on items finds what the canonical join finds."""
    table = joint_counts(records, "gpt4_pair", "expert_0", scale=["A", "B", "TIE"])
    mine = records[records["judge"] == "expert_0"]
    assert table.sum() == len(mine)


def test_agreement_rises_with_the_difference():
    for judge in ("Human", "G4-Pair"):
        pairs = mt_bench.agreement_by_pair(judge)
        assert len(pairs) == 15
        assert pairs["difference"].is_monotonic_increasing
        values = [cell.value for cell in pairs["agreement"]]
        assert np.corrcoef(pairs["difference"], values)[0, 1] > 0.75
        assert min(values) == pytest.approx(0.64, abs=0.05)
        assert max(values) == pytest.approx(0.97, abs=0.02)


@pytest.mark.parametrize("number", [2, 9, 10, 11, 12, 15])
def test_shares_of_position_bias_are_whole_counts(number):
    counted = mt_bench.position_counts(number)
    assert (counted["n"] == POSITION_N[number]).all()
    assert set(cells(number).counts) - {Match.EXACT} == {
        match for match, n in cells(number).counts.items() if not n
    }


def test_the_widest_interval_covers_whatever_the_scores_were():
    rng = np.random.default_rng(3)
    widest = mt_bench.widest_interval(2.74, 160, 1, 10)
    for scores in (rng.choice([1, 10], 160, p=[0.8, 0.2]), rng.integers(1, 6, 160)):
        spread = scores.std(ddof=1) / np.sqrt(160)
        mean = mt_bench.widest_interval(scores.mean(), 160, 1, 10)
        assert mean.width >= 2 * 1.95 * spread
    assert widest.high < mt_bench.widest_interval(5.95, 160, 1, 10).low
    with pytest.raises(ValidationError, match="must lie on the scale"):
        mt_bench.widest_interval(11, 160, 1, 10)
    for n in (1, 2.5, "160"):
        with pytest.raises(ValidationError, match=r"n is .*give a whole number"):
            mt_bench.widest_interval(5, n, 1, 10)


def test_unknown_choices_are_refused(votes):
    agreement = mt_bench.agreement
    with pytest.raises(ValidationError, match="no public votes of 'G4-Single'"):
        agreement("G4-Single", "Human", setup="S1")
    with pytest.raises(ValidationError, match="unknown setup 'S3'"):
        agreement("G4-Pair", "Human", setup="S3")
    with pytest.raises(ValidationError, match="needs the votes"):
        agreement("G4-Pair", "Human", setup="S1", units="question")
    with pytest.raises(ValidationError, match="'key' or 'question'"):
        agreement("G4-Pair", "Human", setup="S1", units="vote")
    with pytest.raises(ValidationError, match="turn is 3"):
        agreement("G4-Pair", "Human", setup="S1", turn=3)
    with pytest.raises(ValidationError, match="turn is 0"):
        mt_bench.win_rates("Human", turn=0)
    unseen = votes[votes.filter(like="expert").sum(axis=1) == 0]
    with pytest.raises(UndefinedStatistic, match="no vote of G4-Pair meets"):
        agreement("G4-Pair", "Human", setup="S1", votes=unseen)
    with pytest.raises(UndefinedStatistic, match="two models never met"):
        mt_bench.win_rates("Human", votes=votes.iloc[:5])
    with pytest.raises(ValidationError, match="unknown category 'maths'"):
        mt_bench.win_rates("Human", category="maths")
    with pytest.raises(ValidationError, match="no public votes of 'Human-M'"):
        mt_bench.win_rates("Human-M")
    with pytest.raises(ValidationError, match="order is 'random'"):
        mt_bench.joint_table(order="random")
    with pytest.raises(ValidationError, match="Table 5 is no table of position bias"):
        mt_bench.position_counts(5)


@pytest.mark.parametrize("units", ["question", "pair"])
@pytest.mark.parametrize("setup", ["S1", "S2"])
def test_tables_by_unit_add_up_to_the_joint_table(units, setup):
    tables = mt_bench.joint_tables(units, setup=setup)
    assert len(tables) == {"question": 80, "pair": 15}[units]
    np.testing.assert_array_equal(tables.sum(0), mt_bench.joint_table(setup=setup))


@pytest.mark.parametrize("judges", mt_bench.JUDGE_PAIRS)
@pytest.mark.parametrize("setup", ["S1", "S2"])
def test_tables_by_question_hold_the_agreement_of_each_pair_of_judges(judges, setup):
    tables = mt_bench.joint_tables("question", judges=judges, setup=setup)
    both_turns = mt_bench.agreement(*judges, setup=setup)
    ours = percent_agreement(tables)
    assert ours.value == pytest.approx(both_turns.value)
    assert ours.n == both_turns.n


@pytest.mark.parametrize("judges", [("Human", "Human"), ("Author", "Human")])
def test_tables_by_question_count_vote_pairs_one_by_one(records, judges):
    names = {"Human": "expert", "Author": "author"}
    turned = records["verdict"].map({"A": "B", "B": "A", "TIE": "TIE"})
    said = records["verdict"].where(~records["swapped"], turned)
    records = records.assign(code=said.map({"A": 0, "B": 1, "TIE": 2}))
    expected = np.zeros((80, 3, 3))
    for item, votes in records.groupby("item"):
        question = int(item.split("/")[0]) - 81
        one, two = (votes[votes["kind"] == names[judge]] for judge in judges)
        for a in one.itertuples():
            for b in two.itertuples():
                if a.judge != b.judge:
                    expected[question, a.code, b.code] += 1
    if judges[0] == judges[1]:
        expected /= 2
    np.testing.assert_array_equal(
        mt_bench.joint_tables("question", judges=judges), expected
    )


def test_the_naming_of_the_answers_moves_kappa_and_symmetrising_stills_it():
    tables = mt_bench.joint_tables("question", setup="S2")
    stored = mt_bench.joint_table(order="stored", setup="S2")
    assert float(cohen_kappa(stored)) == pytest.approx(0.42, abs=0.005)
    assert float(cohen_kappa(tables)) == pytest.approx(0.69, abs=0.005)
    symmetric = [float(cohen_kappa(t, symmetric=True)) for t in (stored, tables)]
    assert symmetric[0] == pytest.approx(symmetric[1], rel=1e-12)


def test_questions_make_the_interval_wider_than_votes():
    votes = cohen_kappa(mt_bench.joint_table(setup="S2"), symmetric=True)
    questions = cohen_kappa(
        mt_bench.joint_tables("question", setup="S2"), symmetric=True
    )
    assert questions.width > 1.5 * votes.width


@pytest.mark.parametrize(
    "wrong",
    [
        {"units": "turn"},
        {"units": "question", "setup": "S3"},
        {"units": "question", "judges": ("Human", "GPT-3.5")},
        {"units": "pair", "judges": ("Author", "Human")},
    ],
)
def test_unknown_tables_are_refused(wrong):
    with pytest.raises(ValidationError, match="choose"):
        mt_bench.joint_tables(**wrong)


def simulated_votes(rng, spread, questions):
    """Votes on 15 pairs of models whose strengths differ from question to question."""
    pairs = [*combinations(mt_bench.MODELS, 2)]
    index = [
        (q, turn, *pair) for q in range(questions) for turn in (1, 2) for pair in pairs
    ]
    table = pd.DataFrame(index, columns=["question_id", "turn", "model_1", "model_2"])
    strength = np.arange(6) / 2 + spread * rng.normal(size=(questions, 6))
    place = {model: position for position, model in enumerate(mt_bench.MODELS)}
    one, two = (table[side].map(place) for side in ("model_1", "model_2"))
    gap = strength[table["question_id"], one] - strength[table["question_id"], two]
    cast = 1 + rng.integers(2, size=len(table))
    won = rng.binomial(cast, 1 / (1 + np.exp(-gap)))
    return table.assign(expert_A=won, expert_B=cast - won, expert_TIE=0)


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_intervals_of_win_rates_cover(spread, monkeypatch):
    """By question they cover always, by vote only where questions are alike."""
    rng = np.random.default_rng(11)

    def by_vote(table):
        named = table.rename(columns=lambda name: name.removeprefix("expert_"))
        monkeypatch.setattr(data, "counts", lambda *_: named.assign(kind="expert"))
        return mt_bench.win_rates("Human")

    truth = by_vote(simulated_votes(rng, spread, 4_000))
    hits = {"questions": [], "votes": []}
    for _ in range(80):
        table = simulated_votes(rng, spread, 10)
        rates = {
            "questions": mt_bench.win_rates("Human", votes=table),
            "votes": by_vote(table),
        }
        for units, found in rates.items():
            hits[units] += [
                found[m].low <= truth[m].value <= found[m].high for m in truth
            ]
    assert 0.92 < np.mean(hits["questions"]) < 0.98
    assert (0.93 < np.mean(hits["votes"]) < 0.98) == (spread == 0)
    assert np.mean(hits["votes"]) > 0.65
