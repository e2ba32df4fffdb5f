"""RankJudge's records: the released schema in and out, and what is refused."""

import json

import pytest

from judgelab.errors import ValidationError
from judgelab.papers import rankjudge as rj
from judgelab.papers.rankjudge.schema import Message, Metadata


def turns(n, word="a"):
    return [
        {"role": role, "content": f"{word}{k}"}
        for k in range(n)
        for role in ("user", "assistant")
    ]


def pair(**changes):
    """A row of the released pairs file: plans are texts, all else as in its schema."""
    row = {
        "id": "0123456789ab",
        "domain": "ml",
        "convo_a": turns(3),
        "convo_b": turns(3, "b"),
        "better_is_a": True,
        "plan": {"good": "Round 1: …", "bad": "Round 1: …"},
        "metadata": {
            "user_behavior_type": "focused",
            "assistant_behavior_type": "evasion",
            "n_rounds": 3,
            "bad_round_index": 2,
            "context": "A text.",
        },
    }
    return row | changes


def match(judge="gpt-oss-20b", **said):
    """A row of the released matches file."""
    answer = {
        "raw": "{}",
        "answer": "A",
        "bad_round_gt": 2,
        "bad_round_pred": 2,
        "behavior_type_gt": "evasion",
        "behavior_type_pred": "evasion",
        "correct_verdict": True,
        "correct_bad_round": True,
        "correct_behavior_type": True,
        "correct": True,
    }
    return {
        "id": "0123456789ab",
        "domain": "ml",
        "better_is_a": True,
        "pair": {
            "assistant_behavior_type": "evasion",
            "user_behavior_type": "focused",
        },
        "model": {
            "name": judge,
            "openrouter_name": f"openai/{judge}",
            "add_context": True,
            "support_thinking": True,
            "use_thinking": True,
        },
        "judge": answer | said,
        "usage": {
            "prompt_tokens": 900,
            "completion_tokens": 100,
            "total_tokens": 1000,
            "cost": 0.001,
        },
    }


def write(rows, path):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), "utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".parquet"])
def test_files_of_the_released_schema_load_as_they_are(tmp_path, suffix):
    (item,) = rj.load(rj.Item, write([pair()], tmp_path / f"pairs{suffix}"))
    assert item.better == item.convo_a
    assert item.worse[3] == Message("assistant", "b1")
    assert rj.as_json(item) == pair()
    rows = [match(), match(bad_round_pred=None, behavior_type_pred=None)]
    first, second = rj.load(rj.Match, write(rows, tmp_path / f"matches{suffix}"))
    assert first.usage.cost == 0.001
    assert second.judge.bad_round_pred is None
    written = rj.as_json(first)
    assert {name: written[name] for name in match()} == match()


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_line_separator_in_a_text_ends_no_record(tmp_path, suffix):
    row = pair()
    row["plan"]["good"] = "one\u2028two\x85three"
    path = tmp_path / f"pairs{suffix}"
    rows = json.dumps([row] if suffix == ".json" else row, ensure_ascii=False)
    path.write_text(rows + "\n", "utf-8")
    (item,) = rj.load(rj.Item, path)
    assert rj.as_json(item) == row


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_a_file_that_is_not_json_is_refused(tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    path.write_text('{"id": ', "utf-8")
    with pytest.raises(ValidationError, match=r"pairs.*JSON"):
        rj.load(rj.Item, path)


def test_half_a_surrogate_pair_does_not_keep_a_run_from_being_saved(tmp_path):
    row = pair()
    row["plan"]["good"] = "half \ud83d"
    rj.save([rj.read(rj.Item, row)], tmp_path / "pairs.json")
    (item,) = rj.load(rj.Item, tmp_path / "pairs.json")
    assert item.plan.good == "half \ufffd"


def test_the_released_codes_error_rows_load_and_are_missing():
    row = match()
    row |= {"better_is_a": None, "model": {"name": "x"}}
    row["judge"] = {"raw": "ERROR:timed out", "answer": None, "correct": None}
    row["usage"] = dict.fromkeys(row["usage"])
    assert rj.read(rj.Match, row).missing
    assert not rj.read(rj.Match, match(raw="prose", answer=None)).missing


def test_records_survive_a_round_trip_through_a_file(tmp_path):
    items = [rj.read(rj.Item, pair())]
    rj.save(items, tmp_path / "new" / "pairs.json")
    assert rj.load(rj.Item, tmp_path / "new" / "pairs.json") == items
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["pairs.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"convo_b": turns(2)}, "has 4 turns; 3 rounds have 6"),
        ({"better_is_a": "yes"}, r"better_is_a is 'yes'; expected true or false"),
        ({"id": " "}, "the id of the item is empty"),
        ({"plan": "Round 1"}, r"record 1.plan is 'Round 1'; expected an object"),
        ({"convo_a": "Hello"}, r"record 1.convo_a is 'Hello'; expected a list"),
    ],
)
def test_a_wrong_pair_is_refused_with_its_place(tmp_path, change, message):
    path = write([pair(**change)], tmp_path / "pairs.json")
    with pytest.raises(ValidationError, match=message):
        rj.load(rj.Item, path)


def test_a_missing_field_is_named(tmp_path):
    row = pair()
    del row["metadata"]["n_rounds"]
    with pytest.raises(ValidationError, match=r"record 2.metadata.n_rounds is missing"):
        rj.load(rj.Item, write([pair(), row], tmp_path / "pairs.json"))
    with pytest.raises(ValidationError, match=r"expected one of A, B"):
        rj.read(rj.Match, match(answer="C"))
    with pytest.raises(ValidationError, match=r"give a .json, .jsonl or .parquet"):
        rj.load(rj.Item, tmp_path / "pairs.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bad_round_index": 4}, "bad_round_index is 4; the rounds are 1 to 3"),
        ({"bad_round_index": 0}, "bad_round_index is 0"),
        ({"user_behavior_type": "angry"}, "unknown user behaviour 'angry'"),
        ({"assistant_behavior_type": "factual_error"}, "unknown failure"),
    ],
)
def test_metadata_must_make_sense(change, message):
    with pytest.raises(ValidationError, match=message):
        Metadata(**(pair()["metadata"] | change))


def test_letters_and_weights_are_the_papers():
    letters = {failure.letter: name for name, failure in rj.FAILURES.items()}
    assert "".join(letters) == "ABCDEFG"
    assert letters["D"] == "fabricated_answer"
    assert len(rj.USER_BEHAVIORS) == 7
    for axis, names in (
        ("failure", rj.FAILURES),
        ("user", rj.USER_BEHAVIORS),
        ("n_rounds", map(str, rj.ROUNDS)),
    ):
        assert set(rj.weights(axis)) == set(names)
        assert sum(rj.weights(axis).values()) == pytest.approx(1)
    with pytest.raises(ValidationError, match="choose"):
        rj.weights("domain")
