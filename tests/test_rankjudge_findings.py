"""Curation, class bias, cost, other ways of asking: on a panel whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgelab.data import published
from judgelab.errors import Separated, ValidationError
from judgelab.models.cost import Prices
from judgelab.models.request import Reply
from judgelab.papers import rankjudge as rj
from judgelab.papers.rankjudge.grade import Grades
from judgelab.papers.rankjudge.scripted import NOT_INJECTED, difficulty
from judgelab.papertable import Match as CellMatch
from judgelab.planning import ranking_stability
from judgelab.ranking import rasch, walk


def table_of(scores, judges=None):
    scores = np.asarray(scores, float)
    names = judges or tuple(f"j{k}" for k in range(len(scores)))
    items = tuple(f"p{k:03d}" for k in range(scores.shape[1]))
    return Grades(
        names, items, scores, np.zeros(scores.shape, bool), (), "joint", "own"
    )


def drawn(judges=6, pairs=200, seed=0):
    rng = np.random.default_rng(seed)
    gap = np.linspace(1.5, -1.5, judges)[:, None] - rng.normal(size=pairs)
    return (rng.random((judges, pairs)) < 1 / (1 + np.exp(-gap))).astype(float)


# Curation -----------------------------------------------------------------------------


def test_the_steps_are_the_papers():
    scores = drawn()
    scores[2, 5] = np.nan
    scores[:, 7] = 1
    result = rj.curate(table_of(scores))
    assert result.incomplete == ("p005",)
    assert "p007" in result.trivial
    right = np.nansum(scores, axis=0)
    trivial = ((right == 0) | (right == 6)) & ~np.isnan(scores).any(axis=0)
    assert len(result.trivial) == trivial.sum()
    n = 200 - 1 - trivial.sum()
    assert len(result.hardest) == max(1, round(0.05 * n))
    assert len(result.kept.items) == n - len(result.hardest)
    # The refit is a fit of what is left.
    fit = rasch(result.kept.table, judges=result.kept.judges)
    assert result.ranking.ratings == pytest.approx(fit.ratings)


def test_the_dropped_pairs_are_the_hardest_and_ties_go_by_name():
    scores = drawn()
    result = rj.curate(table_of(scores))
    right = dict(
        zip((f"p{k:03d}" for k in range(200)), scores.sum(axis=0), strict=True)
    )
    most = max(right[p] for p in result.hardest)
    assert all(right[p] >= most for p in result.kept.items)
    tied = sorted(p for p in right if right[p] == most)
    dropped = [p for p in tied if p in result.hardest]
    assert dropped == tied[: len(dropped)]
    assert result.tied_at_cut == len(tied) - len(dropped)


def test_at_least_one_pair_goes_and_none_if_none_is_to_go():
    scores = drawn(3, 12, 4)
    assert len(rj.curate(table_of(scores), interval="model").hardest) == 1
    kept = rj.curate(table_of(scores), hardest=0, interval="model")
    assert kept.hardest == ()
    assert kept.ranking is kept.before
    with pytest.raises(ValidationError, match="hardest is 1"):
        rj.curate(table_of(scores), hardest=1)


def test_a_judge_that_is_always_right_is_refused_or_left_out_by_name():
    scores = drawn()
    scores[0] = 1
    with pytest.raises(Separated, match="j0"):
        rj.curate(table_of(scores))
    result = rj.curate(table_of(scores), unidentified="largest")
    assert list(result.ranking.left_out) == ["j0"]
    board = rj.leaderboard(result.ranking)
    assert [row["judge"] for row in board][-1] == "j0"
    assert np.isnan(board[-1]["elo"].value)


def test_pairs_of_one_document_can_be_one_cluster():
    table = table_of(drawn())
    documents = {item: item[-1] for item in table.items}
    assert "10 clusters" in rj.curate(table, clusters=documents).ranking.interval


# The scripted panel -------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench():
    return rj.run(
        rj.read_documents(), rj.WRITER, rj.PANEL, per_document=60, orders=("AB", "BA")
    )


@pytest.fixture(scope="module")
def first(bench):
    return [match for match in bench.matches if match.order == "AB"]


def test_the_ranking_is_the_known_one(bench):
    curation = rj.curate(bench.grades, hardest=0)
    truth = [judge.skill for judge in rj.PANEL.values()]
    ranking = curation.ranking
    assert ranking.order == tuple(rj.PANEL)
    errors = ranking.standard_errors()
    centred = np.subtract(truth, np.mean(truth))
    # Unreadable replies of the last one are wrong, and its skill knows nothing of them.
    assert np.all(np.abs(ranking.ratings - centred)[:5] < 3.5 * errors[:5])


def test_survival_by_failure_is_shaped_by_the_writers_known_lapses(bench):
    table = rj.survival(bench.fates, by="failure")
    lost = table["adherence"] / table["candidates"]
    for kind, rate in NOT_INJECTED.items():
        assert lost[kind] == pytest.approx(rate, abs=0.16)
    assert lost["fabricated_answer"] == lost["unnecessary_refusal"] == 0


def test_the_difficulty_of_a_kind_follows_the_known_one(bench):
    medians = rj.difficulty_by(rj.curate(bench.grades).before, bench.items, "failure")
    hard, easy = (
        ("disorganized", "no_clarification"),
        (
            "fabricated_answer",
            "unnecessary_refusal",
        ),
    )
    assert min(medians[k].value for k in hard) > max(medians[k].value for k in easy)
    assert list(medians.values()) == sorted(medians.values(), key=lambda e: -e.value)
    assert set(rj.difficulty_by(bench.curation.ranking, bench.items, "user_behavior"))
    with pytest.raises(ValidationError, match="axis"):
        rj.difficulty_by(bench.curation.ranking, bench.items, "domain")


def expected_evasion(judge, items):
    """How often a scripted judge names evasion, by its law."""
    total = 0.0
    for item in items:
        kind = item.metadata.assistant_behavior_type
        slots = {
            slot: {k: t.content for k, t in enumerate(convo[1::2], start=1)}
            for slot, convo in (("A", item.convo_a), ("B", item.convo_b))
        }
        right = 1 / (1 + np.exp(difficulty(slots, kind) - judge.skill))
        miss = judge.evasion_bin + (1 - judge.evasion_bin) / 6
        total += right if kind == "evasion" else (1 - right) * miss
    return 100 * total / len(items)


def test_a_dump_bin_is_found_with_its_known_size(bench, first):
    bias = rj.class_bias(first).set_index(["judge", "failure"])
    dumper, sharp = "scripted-dumper", "scripted-sharp"
    row = bias.loc[(dumper, "evasion")]
    expected = expected_evasion(rj.PANEL[dumper], bench.items) - row["true"]
    # Three standard errors, of a 95 % interval's two.
    assert abs(row["bias"] - expected) < 0.75 * (row["high"] - row["low"])
    assert expected > 20
    assert bias.loc[dumper, "bias"].sum() == pytest.approx(0, abs=1e-9)
    others = bias.loc[dumper].drop(index="evasion")
    assert (others["bias"] < 5).all()
    assert bias.loc[sharp, "bias"].abs().max() < 6


def test_the_bias_of_two_orders_is_not_that_of_twice_as_many_pairs(bench):
    with pytest.raises(ValidationError, match="stands twice on pair"):
        rj.class_bias(bench.matches)


def test_tokens_that_nobody_counted_are_not_free(bench):
    """A server that counts nothing must not look like the cheapest judge."""
    match = rj.read_match(Reply('{"verdict": "A"}'), bench.items[0], "silent")
    assert rj.mean_use([match]) == {}
    prices = {"silent": Prices(1.0, 2.0)}
    assert rj.mean_use([match], "cost", prices=prices) == {}
    counted = Reply('{"verdict": "A"}', prompt_tokens=10**6, completion_tokens=10**6)
    match = rj.read_match(counted, bench.items[0], "silent")
    assert rj.mean_use([match], "cost", prices=prices) == {"silent": 3.0}


def test_replies_without_a_type_are_left_out_or_counted(first):
    hasty = [match for match in first if match.model.name == "scripted-hasty"]
    unread = sum(match.judge.answer is None for match in hasty)
    assert unread > 0
    counted = rj.class_bias(hasty, unparsed="counted")
    assert counted["bias"].sum() == pytest.approx(-100 * unread / len(hasty))
    assert (rj.class_bias(hasty)["n"] == len(hasty) - unread).all()
    with pytest.raises(ValidationError, match="unparsed"):
        rj.class_bias(hasty, unparsed="as evasion")


def test_the_frontier_leaves_out_who_is_beaten_on_both(bench, first):
    cost = rj.mean_use(first, "completion_tokens")
    ratings = bench.curation.ranking.estimates(scale="elo")
    on = rj.frontier(ratings, cost)
    assert "scripted-wordy" not in on
    assert on[0] == "scripted-hasty"
    assert on[-1] == "scripted-sharp"
    assert rj.mean_use(first, "cost") == {}
    with pytest.raises(ValidationError, match="no cost"):
        rj.frontier(ratings, {})
    with pytest.raises(ValidationError, match="no cost is known for"):
        rj.frontier({"a": 1, "b": 2}, {"a": float("nan"), "b": 1})


@given(
    st.dictionaries(
        st.integers(0, 20), st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1
    )
)
def test_the_frontier_is_what_nobody_dominates(judges):
    on = rj.frontier(
        {k: rating for k, (rating, _) in judges.items()},
        {k: cost for k, (_, cost) in judges.items()},
    )
    for k, (rating, cost) in judges.items():
        beaten = any(
            r >= rating and c <= cost and (r, c) != (rating, cost)
            for r, c in judges.values()
        )
        if k in on:
            assert not beaten
        else:
            # Beaten, or the equal of one that stands there already.
            assert beaten or any(judges[other] == (rating, cost) for other in on)


def test_the_swapped_order_shows_who_leans(bench):
    table = rj.orders_compared(bench.matches)
    lean = table["first slot"]
    assert lean["scripted-leaning"].low > 0.5
    assert lean["scripted-sharp"].low < 0.5 < lean["scripted-sharp"].high
    assert table["consistent"]["scripted-sharp"].value > 0.9
    assert table["consistent"]["scripted-hasty"].value < 0.85


def test_hints_help_the_dumper_with_types_and_wordings_are_corrected_for(bench, first):
    name = "scripted-dumper"
    asked = {name: rj.PANEL[name]}
    tried = [
        match
        for prompt in ("hints", "compare", "rules", "think")
        for match in rj.judge_pairs(bench.items, asked, prompt=prompt)
    ]
    table = rj.prompts_compared([*first, *tried], name)
    assert list(table.index) == ["hints", "compare", "rules", "think"]
    assert (table["p_holm"] >= table["p"]).all()
    assert (table["low"] <= table["difference"]).all()
    gap = table["after"] - table["before"]
    assert gap.to_numpy() == pytest.approx(table["difference"].to_numpy())
    # The law of "all three right" knows no advice.
    assert (table["p_holm"] > 0.01).all()
    bias = {
        prompt: rj.class_bias([m for m in tried if m.prompt == prompt])
        .set_index("failure")
        .loc["evasion", "bias"]
        for prompt in ("hints", "think")
    }
    assert bias["hints"] < bias["think"] - 5
    with pytest.raises(ValidationError, match="no match with prompt 'plain'"):
        rj.prompts_compared(first, name, baseline="plain")


def test_grading_alone_ranks_the_wordy_judge_lower(bench):
    alone = rj.grades_alone(rj.grade_alone(bench.items, rj.PANEL))
    shares = alone.accuracy()
    assert shares["scripted-wordy"].value < shares["scripted-leaning"].value + 0.05
    pairwise = bench.curation.ranking.estimates()
    found = rj.rank_agreement(pairwise, shares, k=3)
    assert -1 <= found.tau.value < 1
    assert len(found.judges) == 6


def test_self_preference_is_found_in_the_judge_that_has_it():
    own = rj.Scripted("writer-one", skill=0.5, own_style=1.5)
    other = rj.Scripted("writer-two", skill=0.5)
    assert own.style != other.style
    judges = {own.name: own, other.name: other, **rj.PANEL}
    documents = rj.read_documents()
    rankings = {
        writer.name: rj.curate(
            rj.run(documents, writer, judges, per_document=40).grades, hardest=0
        ).ranking
        for writer in (own, other)
    }
    one, two = rankings[own.name], rankings[other.name]
    found = rj.self_preference(one, two, own.name, without=[other.name])
    assert found.low > 0
    # 1.5 logits on the conversations where the style shows.
    assert abs(found.value - 1.5 * 173.7) < 0.75 * found.width
    nothing = rj.self_preference(two, one, other.name, without=[own.name])
    assert abs(nothing.value) < 0.75 * nothing.width
    everybody = rj.rank_agreement(one.estimates(), two.estimates())
    rest = rj.rank_agreement(
        one.estimates(), two.estimates(), without=[own.name, other.name]
    )
    assert rest.tau.value >= everybody.tau.value
    with pytest.raises(ValidationError, match="no other judge"):
        rj.self_preference(one, two, own.name, without=[*judges])


def test_rank_agreement_says_nothing_of_a_top_that_a_tie_leaves_open():
    one = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    assert rj.rank_agreement(one, one, k=2).overlap.value == 1
    assert rj.rank_agreement(one, one | {"c": 3.0}, k=2).overlap is None
    assert rj.rank_agreement(one, one, k=10).overlap is None
    with pytest.raises(ValidationError, match="three judges are needed"):
        rj.rank_agreement(one, {"a": 1.0, "b": 2.0})


# The published spread -----------------------------------------------------------------


def test_printed_counts_fit_each_other():
    assert rj.before_cut(652) == [686]
    assert rj.before_cut(9) == [10]
    medians, counts, hidden = rj.reproduce()
    assert set(cell.match for cell in medians.cells) == {CellMatch.EXACT}
    assert counts.counts[CellMatch.MISMATCH] == 0
    assert counts.counts[CellMatch.NOT_REPRODUCED] == 1
    assert counts.counts[CellMatch.EXACT] == 11
    assert hidden.counts[CellMatch.NOT_REPRODUCIBLE] == len(hidden.cells)


def test_finance_is_lowest_for_fewer_judges_once_domains_share_a_zero():
    table = rj.domains_centred()
    assert table[["ml", "med", "fin"]].sum().abs().max() < 1e-9
    assert (table["lowest as printed"] == "fin").sum() == 15
    assert (table["lowest"] == "fin").sum() == 9


def test_the_leaderboard_comes_out_of_simulated_answers():
    shifts, inside, covered, spread = [], [], [], []
    for seed in range(10):
        panel = rj.simulate_panel(rng=seed)
        table = rj.recover(panel).table
        shifts.append(np.abs(table["rank"] - np.arange(1, 22)).to_numpy())
        inside.append(table["in printed interval"].mean())
        covered.append(rj.recover(panel, method="conditional").table["covered"].mean())
        spread.append(np.ptp(table["elo"]))
    assert np.mean(shifts) < 0.7
    assert np.max(shifts) <= 4
    assert np.mean(inside) > 0.85
    assert np.mean(covered) > 0.9
    printed = published("rankjudge", "leaderboard")["elo_all"]
    assert np.mean(spread) == pytest.approx(np.ptp(printed), rel=0.04)


def test_the_joint_fit_covers_the_truth_too_rarely():
    joint, conditional = [], []
    for seed in range(20):
        panel = rj.simulate_panel(rng=100 + seed)
        joint.append(rj.recover(panel).table["covered"].mean())
        fit = rj.recover(panel, method="conditional")
        conditional.append(fit.table["covered"].mean())
    assert np.mean(joint) < 0.88
    assert np.mean(conditional) > 0.92


def test_criteria_and_walk_order_the_simulated_panel_alike():
    panel = rj.simulate_panel(rng=1)
    curation = rj.curate(panel.grades())
    full = curation.ranking.estimates()
    coarse = rj.curate(panel.grades("verdict+turn")).ranking.estimates()
    assert rj.rank_agreement(full, coarse).rho.value > 0.96
    mass = walk(curation.kept.table).scores
    by_walk = dict(zip(curation.kept.judges, mass, strict=True))
    assert rj.rank_agreement(full, by_walk).rho.value > 0.96
    tenth, half = ranking_stability(
        curation.kept.table, [0.1, 0.5], unit="pairs", repeats=10, rng=1
    )
    assert tenth.rho.value == pytest.approx(0.95, abs=0.03)
    assert half.tau.value == pytest.approx(0.95, abs=0.03)


def test_figures_are_recomputed_from_a_file_of_the_released_schema(
    tmp_path, monkeypatch
):
    """A simulated file stands in for the released one: same fields, same judges."""
    (tmp_path / "rankjudge").mkdir()
    monkeypatch.setenv("JUDGELAB_DATA", str(tmp_path))
    assert rj.released_matches() is None
    bench = rj.run(rj.read_documents(), rj.WRITER, rj.PANEL, per_document=12)
    names = published("rankjudge", "leaderboard")["judge"].tolist()
    matches = []
    for k, name in enumerate(names):
        judge = rj.Scripted(name, skill=2 - 0.2 * k, evasion_bin=0.04 * k)
        matches += rj.judge_pairs(bench.items, {name: judge})
    folder = tmp_path / "rankjudge"
    rj.save(matches, folder / "matches" / "matches.json")
    rj.save(bench.items, folder / "pairs.json")
    found = rj.released_matches()
    assert found == matches
    *boards, findings, medians = rj.reproduce_from(found, rj.released_pairs())
    assert [len(board.cells) for board in boards] == [42] * 4
    assert len(findings.cells) == 16
    assert len(medians.cells) == 6
    assert all(cell.ours is not None for cell in boards[0].cells)
    # Every slice is fitted by itself, or says why it cannot be.
    for board, domain in zip(boards[1:], ("ml", "med", "fin"), strict=True):
        part = [match for match in found if match.domain == domain]
        reasons = {cell.why for cell in board.cells}
        if reasons == {""}:
            table = rj.grades(part, rule="released")
            fit = rj.curate(table, hardest=0, method="mm").ranking
            elo = fit.estimates(anchor="rankjudge", scale="elo")
            assert [cell.ours for cell in board.cells[::2]] == [elo[j] for j in names]
        else:
            assert len(reasons) == 1
            assert {cell.ours for cell in board.cells} == {None}
    lowest, highest = (
        next(cell for cell in findings.cells if cell.name == f"rho with EIP, {end}")
        for end in ("lowest of four", "highest of four")
    )
    assert (lowest.ours is None) == bool(lowest.why)
    assert lowest.ours is None or float(lowest.ours) <= float(highest.ours)
    kept = [match for match in found if match.model.name != names[0]]
    with pytest.raises(ValidationError, match=names[0]):
        rj.reproduce_from(kept)
    odd = [replace(m, model=replace(m.model, name="other")) for m in found[:3]]
    with pytest.raises(ValidationError, match="other"):
        rj.reproduce_from([*kept, *odd])
