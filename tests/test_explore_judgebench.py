"""The demos of the JudgeBench chapter: the package's numbers, and words for them."""

import json
import re

import numpy as np
import pytest

from judgelab.errors import ValidationError
from judgelab.explore.judgebench import (
    OwnJudge,
    RuleScore,
    how_a_pair_is_made,
    score,
    what_a_mark_hides,
    with_unreadable,
)
from judgelab.papers import judgebench
from judgelab.position import nudge, score_two_orders
from judgelab.simulate import Judge, draw_pairs, simulate
from judgelab.verdict import RULES, Verdict

WORDS = {"alt": "Seven steps.", "caption": "Figure 1."}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("policy", "sign"), [("dropped", "x"), ("wrong", "-")])
def test_only_pairs_with_an_unreadable_verdict_are_treated(rule, policy, sign):
    before = [row.split() for row in RULES[rule].cells]
    after = [row.split() for row in with_unreadable(rule, policy).cells]
    for first in Verdict:
        for second in Verdict:
            readable = max(first, second) <= Verdict.TIE
            expected = before[first][second] if readable else sign
            assert after[first][second] == expected


def test_without_a_policy_the_rule_is_the_rule():
    assert with_unreadable("judgebench", "rule") is RULES["judgebench"]
    with pytest.raises(ValidationError, match="'ignore'"):
        with_unreadable("judgebench", "ignore")


@pytest.mark.parametrize("judge", sorted(judgebench.NAMES.values()))
def test_dropping_unreadable_pairs_is_nemo_skills_rule(judge):
    ours = RuleScore().compute(judge=judge, rule="judgebench", unreadable="dropped")
    theirs = score_two_orders(judgebench.tables_by_gold(judge), rule="nemo-skills")
    assert ours.right.value == theirs["right"].value
    assert ours.right.n == theirs["right"].n


def test_empty_replies_decide_over_thirty_points():
    scores = {
        policy: RuleScore().compute(
            judge="GLM-4.7", rule="judgebench", unreadable=policy
        )
        for policy in ("rule", "dropped", "wrong")
    }
    right = {policy: 100 * s.right.value for policy, s in scores.items()}
    assert right == pytest.approx(
        {"rule": 59.26, "dropped": 75.64, "wrong": 43.70}, abs=0.005
    )
    assert scores["dropped"].right.n == 156


@pytest.mark.parametrize("setting", list(RuleScore().settings())[::5], ids=str)
def test_right_wrong_and_undecided_are_all(setting):
    numbers = RuleScore().compute(**setting)
    shares = numbers.right, numbers.wrong, numbers.undecided
    assert sum(share.value for share in shares) == pytest.approx(1)
    assert len({share.n for share in shares}) == 1


def test_guessers_score_what_the_last_bars_say():
    demo = OwnJudge()
    for rule in ("judgebench", "contextual-judgebench", "first-order"):
        blind = demo.compute(k=0, beta=0, unreadable=0, rule=rule)
        assert blind.right.low < blind.coin < blind.right.high, rule


def test_a_lean_moves_a_judge_as_it_must():
    demo = OwnJudge()
    vote, once = (
        [demo.compute(k=4, beta=b, unreadable=0, rule=rule) for b in (0, 1, 2, 3)]
        for rule in ("judgebench", "first-order")
    )
    assert (np.diff([s.right.value for s in vote]) < 0).all()
    assert (np.diff([s.wrong.value for s in once]) > 0).all()
    assert all(s.undecided.value == 0 for s in once)


def test_unreadable_replies_cost_a_strict_rule_more_than_the_vote():
    demo = OwnJudge()
    lost = {
        rule: demo.compute(k=4, beta=0, unreadable=0, rule=rule).right.value
        - demo.compute(k=4, beta=0, unreadable=0.5, rule=rule).right.value
        for rule in ("judgebench", "recipe-prose")
    }
    assert lost["recipe-prose"] > lost["judgebench"] + 0.1


def test_the_recipe_as_written_gives_a_sharp_judge_nothing():
    sharp = OwnJudge().compute(k=8, beta=0, unreadable=0, rule="recipe-as-written")
    honest = OwnJudge().compute(k=8, beta=0, unreadable=0, rule="judgebench")
    assert sharp.right.high < 0.2 < 0.7 < honest.right.low
    assert sharp.consistent_coin == 0


@pytest.mark.parametrize("demo", [RuleScore(), OwnJudge()], ids=lambda d: d.name)
def test_every_frame_has_words_and_no_undefined_number(demo):
    settings = list(demo.settings())
    assert len(settings) == {"judgebench-rules": 252, "judgebench-own": 3510}[demo.name]
    for params in settings[:: len(settings) // 40]:
        picture, table = demo.frame(**params)
        assert "undefined" not in picture
        assert "nan" not in picture
        assert picture.count("<rect") == 5
        assert table.count("<tr>") == 6


def test_score_has_no_home_of_its_own():
    tables = judgebench.tables_by_gold("o1-mini")
    assert (
        score(tables, "judgebench").right
        == score_two_orders(tables, rule="judgebench")["right"]
    )


def test_the_diagram_has_words_and_no_sentence_twice():
    picture = how_a_pair_is_made(**WORDS)
    assert picture.svg.count("<rect") == picture.svg.count("<text") == 11
    assert f'aria-label="{WORDS["alt"]}"' in picture.svg
    assert "Figure 1." in picture._repr_html_()


def test_what_a_mark_hides_adds_up():
    picture = what_a_mark_hides(**WORDS).svg
    widths = [int(width) for width in re.findall(r'<rect .*?width="(\d+)"', picture)]
    known, lucky, unlucky, still_open = widths
    assert sum(widths) == 340
    assert lucky == unlucky
    assert ">right 65</text>" in picture
    assert ">wrong 15</text>" in picture
    assert (known + lucky) / 340 == pytest.approx(0.65, abs=0.005)
    assert still_open / 340 == pytest.approx(0.20, abs=0.005)
    assert f'aria-label="{WORDS["alt"]}"' in picture


LABELS = {"A": "A>B", "B": "B>A", "TIE": "A=B"}


def write_outputs(records, path):
    """Write simulated records as the authors' code writes its outputs."""
    with path.open("w", encoding="utf-8") as file:
        for item, pair in records.groupby("item"):
            line = {
                "pair_id": str(item),
                "source": "livebench-math",
                "label": LABELS[pair["gold"].iloc[0]],
                "response_model": "simulated",
                "judgments": [
                    {"judgment": {"text": "…"}, "decision": LABELS.get(word)}
                    for word in pair.sort_values("swapped")["verdict"]
                ],
            }
            file.write(json.dumps(line) + "\n")


@pytest.mark.parametrize("beta", [-1.2, 0, 1.2])
def test_a_planted_nudge_is_read_back_from_a_file_of_the_authors_format(tmp_path, beta):
    judge = Judge(k=4, beta=beta, invalid_rate=0.05, name="planted")
    records = simulate(judge, draw_pairs(2000, rng=3), rng=3)
    write_outputs(records, tmp_path / "planted.jsonl")
    read = judgebench.read_output(tmp_path / "planted.jsonl")
    row = judgebench.evaluate(read, rule="judgebench").iloc[-1]
    assert row["invalid"].low < 0.05 < row["invalid"].high
    estimate = nudge(judgebench.tables_by_gold("planted", records=read).sum(axis=0))
    assert estimate.low < beta < estimate.high
