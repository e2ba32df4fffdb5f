"""Our own pairs and documents: the gold is right, and nothing else gives it away."""

import ast
import operator
import re

import numpy as np
import pandas as pd
import pytest

from judgelab.correlation import kendall_tau
from judgelab.data import example_documents, example_pairs, published
from judgelab.models.prompts import find_prompt
from judgelab.significance import binomial_test

KINDS = ["arithmetic", "facts", "quality", "padding", "brevity"]
STEPS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


ROWS = published("askmodel", "pairs").fillna("").astype(str).to_dict("records")
PAIRS = example_pairs()
DOCUMENTS = example_documents()


def calculate(node):
    """Work out a sum of numbers, and nothing but numbers."""
    if isinstance(node, ast.Constant):
        return node.value
    return STEPS[type(node.op)](calculate(node.left), calculate(node.right))


def numbers(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_the_file_says_whose_it_is_and_how_the_gold_was_set():
    header = " ".join(DOCUMENTS.attrs["header"])
    assert "written for this book" in header
    assert "by construction" in header
    assert "licence: MIT" in header


def test_thirty_pairs_of_each_kind_and_none_twice():
    assert PAIRS["kind"].value_counts(sort=False).to_dict() == dict.fromkeys(KINDS, 30)
    assert PAIRS["item"].is_unique
    assert PAIRS["question"].str.casefold().is_unique
    words = [frozenset(re.findall(r"\w+", row["question"].lower())) for row in ROWS]
    assert len(set(words)) == len(words)
    texts = ["item", "kind", "question", "better", "worse", "why"]
    for row in ROWS:
        assert all(row[name] and row[name] == row[name].strip() for name in texts)
        assert row["better"] != row["worse"]
        assert bool(row["reference"]) == (row["kind"] != "quality")


CALCULATED = [row for row in ROWS if row["check"]]


def test_every_pair_of_arithmetic_has_a_calculation():
    assert {row["item"] for row in ROWS if row["kind"] == "arithmetic"} <= {
        row["item"] for row in CALCULATED
    }


@pytest.mark.parametrize("row", CALCULATED, ids=lambda row: row["item"])
def test_the_gold_is_what_comes_out(row):
    right = calculate(ast.parse(row["check"], mode="eval").body)
    assert right == float(row["reference"])
    asked = numbers(row["question"].replace(":", " "))
    assert set(asked) <= set(numbers(row["check"]))
    assert right in numbers(row["better"])
    assert right not in numbers(row["worse"])


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["reference"]], ids=lambda row: row["item"]
)
def test_the_reference_stands_in_the_better_answer_alone(row):
    found = re.compile(rf"(?<!\w){re.escape(row['reference'])}(?!\w)", re.I)
    assert found.search(row["better"])
    if row["reference"] not in ("diamond",):  # both answers name both minerals
        assert not found.search(row["worse"])


def test_wrong_numbers_err_to_both_sides():
    wrong = [row for row in CALCULATED if row["kind"] == "arithmetic"]
    larger = sum(
        (set(numbers(row["worse"])) - set(numbers(row["better"]))).pop()
        > float(row["reference"])
        for row in wrong
        if set(numbers(row["worse"])) - set(numbers(row["better"]))
    )
    assert binomial_test(larger, len(wrong)).p_value > 0.2


def test_length_is_not_the_gold():
    better = pd.Series([len(row["better"]) for row in ROWS], index=PAIRS["kind"])
    worse = pd.Series([len(row["worse"]) for row in ROWS], index=PAIRS["kind"])
    means = pd.DataFrame({"better": better, "worse": worse}).groupby(level=0).mean()
    for kind in ("arithmetic", "facts", "quality"):
        assert means["better"][kind] == pytest.approx(means["worse"][kind], rel=0.05)
    assert (better["padding"] < worse["padding"] / 5).all()
    assert (better["brevity"] > worse["brevity"] * 5).all()
    assert means["worse"]["padding"] == pytest.approx(
        means["better"]["brevity"], rel=0.02
    )
    assert better.mean() == pytest.approx(worse.mean(), rel=0.02)
    longer, shorter = int((better > worse).sum()), int((better < worse).sum())
    assert binomial_test(longer, longer + shorter).p_value > 0.2


def test_the_better_answer_stands_in_each_slot_equally_often():
    share = PAIRS.groupby("kind")["gold"].apply(lambda gold: (gold == "A").mean())
    assert (share == 0.5).all()
    first = PAIRS["answer_a"].where(PAIRS["gold"] == "A", PAIRS["answer_b"])
    assert first.tolist() == [row["better"] for row in ROWS]
    lengths = PAIRS["answer_a"].str.len() / PAIRS["answer_b"].str.len()
    assert np.allclose(2 ** PAIRS["log_length"], lengths)


@pytest.mark.parametrize("name", ["pairwise", "reference", "few-shot"])
def test_every_pair_fits_the_prompts(name):
    prompt = find_prompt(name)
    for row in PAIRS.to_dict("records"):
        messages = prompt.messages(**{field: row[field] for field in prompt.fields})
        assert row["question"] in messages[-1].content
        # No solved example gives an answer away.
        assert all(row["question"] not in m.content for m in messages[:-1])


def test_four_documents_for_each_of_24_queries():
    grades = DOCUMENTS.groupby("topic")["grade"].apply(sorted)
    assert len(grades) == 24
    assert all(grade == [0, 1, 2, 3] for grade in grades)
    assert (DOCUMENTS.groupby("topic")["query"].nunique() == 1).all()
    for column in ("item", "document"):
        assert DOCUMENTS[column].is_unique
    prompt = find_prompt("relevance")
    for row in DOCUMENTS.to_dict("records"):
        prompt.messages(query=row["query"], document=row["document"])


def test_neither_length_nor_place_gives_the_grade():
    lengths = DOCUMENTS["document"].str.len()
    for clue in (lengths, DOCUMENTS.groupby("topic").cumcount()):
        within = [
            kendall_tau(clue[rows], DOCUMENTS["grade"][rows]).value
            for rows in DOCUMENTS.groupby("topic").groups.values()
        ]
        assert abs(np.mean(within)) < 0.1
