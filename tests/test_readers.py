"""Files of other tools become tidy records; malformed ones become named errors."""

import json
import os
import warnings
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judgelab.counts import crossed_counts, two_order_tables
from judgelab.errors import JudgelabError, ValidationError
from judgelab.readers import READERS, examine_as, looks_like, read_as
from judgelab.records import column_names, examine, json_objects, read
from judgelab.verdict import Verdict

FASTCHAT = {
    "question_id": 81,
    "model_1": "q",
    "model_2": "p",
    "g1_winner": "model_1",
    "g2_winner": "model_1",
    "judge": ["gpt-4", "pair-v2"],
    "turn": 1,
}
ALPACA = {
    "instruction": "Say  hello.",
    "output_1": "hello",
    "output_2": "hello there",
    "generator_1": "base",
    "generator_2": "new",
    "annotator": "gpt4",
    "preference": 1.9,
}
MATCH = {
    "id": "m1",
    "domain": "ml",
    "better_is_a": True,
    "model": {"name": "small"},
    "judge": {"raw": "…", "answer": "A"},
}
VOTE = {
    "judge": "expert_1",
    "question_id": 81,
    "turn": 2,
    "model_a": "q",
    "model_b": "p",
    "winner": "model_a",
}


def lines(path, *objects):
    path.write_text("\n".join(map(json.dumps, objects)) + "\n", "utf-8")
    return path


def one(path, reader):
    frame, _ = read_as(path, reader)
    return frame.iloc[0].to_dict()


# --- Each format ----------------------------------------------------------------------


def test_mt_bench_votes_meet_whatever_their_order(tmp_path):
    other = VOTE | {"judge": "expert_2", "model_a": "p", "model_b": "q"}
    frame, kind = read_as(lines(tmp_path / "v.jsonl", VOTE, other), "mt-bench")
    assert kind == "pairwise"
    assert frame["item"].nunique() == 1
    assert frame["swapped"].tolist() == [True, False]
    # One prefers q, the other p: nobody agrees, whatever was shown first.
    table = crossed_counts(frame, ["expert_1"], ["expert_2"]).tables[0]
    assert table[Verdict.B, Verdict.A] == table.sum() == 1
    assert frame["cluster"].tolist() == ["81", "81"]


def test_fastchat_games_are_two_orders(tmp_path):
    """A judge that names the same model twice says A, then B of the slots."""
    frame, _ = read_as(lines(tmp_path / "p.jsonl", FASTCHAT), "fastchat")
    assert frame["verdict"].tolist() == ["A", "B"]
    assert frame["swapped"].tolist() == [True, False]
    assert frame["judge"].unique().tolist() == ["gpt-4 pair-v2"]
    table = two_order_tables(frame).tables[0]
    assert table[Verdict.B, Verdict.B] == 1
    lean = FASTCHAT | {"g2_winner": "model_2"}
    frame, _ = read_as(lines(tmp_path / "q.jsonl", lean), "fastchat")
    assert frame["verdict"].tolist() == ["A", "A"]
    lost = FASTCHAT | {"g1_winner": "error", "g2_winner": "tie"}
    frame, _ = read_as(lines(tmp_path / "r.jsonl", lost), "fastchat")
    assert frame["verdict"].tolist() == ["INVALID", "TIE"]


def test_fastchat_scores(tmp_path):
    row = {"question_id": 81, "model": "p", "judge": ["gpt-4", "single"], "turn": 1}
    frame, kind = read_as(
        lines(tmp_path / "s.jsonl", row | {"score": 7}), "fastchat-single"
    )
    assert (kind, frame["label"].tolist()) == ("ratings", [7])
    with pytest.raises(ValidationError, match="line 1: score −1"):
        read_as(lines(tmp_path / "t.jsonl", row | {"score": -1}), "fastchat-single")


@pytest.mark.parametrize(
    ("preference", "verdict"),
    [
        (1, "A"),
        (2.0, "B"),
        (1.49, "A"),
        (1.9, "B"),
        (1.5, "TIE"),
        (0, "TIE"),
        (None, "INVALID"),
    ],
)
def test_alpaca_eval(tmp_path, preference, verdict):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps([ALPACA | {"preference": preference}]))
    found = one(path, "alpacaeval")
    assert found["verdict"] == verdict
    assert (found["length_a"], found["length_b"]) == (5, 11)
    assert found["cluster"] == "Say hello."
    assert "swapped" not in found


@pytest.mark.parametrize("preference", [3, 0.5, -1, "A", True, [1], float("inf")])
def test_alpaca_eval_without_meaning(tmp_path, preference):
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps([ALPACA, ALPACA | {"preference": preference}]))
    with pytest.raises(
        ValidationError, match=r"annotation 2: the preference is no number"
    ):
        read_as(path, "alpacaeval")


def test_rankjudge(tmp_path):
    found = one(lines(tmp_path / "m.jsonl", MATCH), "rankjudge")
    assert (found["verdict"], found["gold"], found["category"]) == ("A", "A", "ml")
    assert "swapped" not in found
    turned = one(lines(tmp_path / "n.jsonl", MATCH | {"order": "BA"}), "rankjudge")
    # It named conversation A, which was shown second.
    assert (turned["verdict"], turned["swapped"]) == ("B", True)
    for raw, word in (
        ("no idea", "INVALID"),
        (None, "MISSING"),
        ("ERROR: x", "MISSING"),
    ):
        reply = MATCH | {"judge": {"raw": raw, "answer": None}}
        assert one(lines(tmp_path / "o.jsonl", reply), "rankjudge")["verdict"] == word


def test_llmjudge(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1 0 p1 3\nq1 0 p2 0\n")
    frame, kind = read_as(path, "llmjudge")
    assert kind == "ratings"
    assert frame["judge"].tolist() == ["run", "run"]
    assert frame["item"].tolist() == ["q1 p1", "q1 p2"]
    assert frame["cluster"].tolist() == ["q1", "q1"]


def test_nothing_is_guessed_but_suggested(tmp_path):
    examples = {"fastchat": FASTCHAT, "rankjudge": MATCH, "mt-bench": VOTE}
    for name, example_ in examples.items():
        assert looks_like(lines(tmp_path / "x.jsonl", example_)) == name
    assert looks_like(lines(tmp_path / "x.jsonl", {"judge": "x", "item": 1})) is None
    assert looks_like(tmp_path / "no such file") is None
    with pytest.raises(ValidationError, match="there are: judgebench, mt-bench"):
        read_as(tmp_path / "x.jsonl", "something")


@pytest.mark.parametrize(
    ("reader", "row", "lacking"),
    [
        ("mt-bench", VOTE, "winner"),
        ("fastchat", FASTCHAT, "judge"),
        ("rankjudge", MATCH, "better_is_a"),
        ("alpacaeval", ALPACA, "generator_1"),
    ],
)
def test_a_missing_field_is_named_with_its_line(tmp_path, reader, row, lacking):
    lame = {key: value for key, value in row.items() if key != lacking}
    path = tmp_path / "x.jsonl"
    if reader == "alpacaeval":
        path.write_text(json.dumps([row, lame]))
    else:
        lines(path, row, lame)
    with pytest.raises(ValidationError, match=f" 2: lacks '{lacking}'"):
        read_as(path, reader)


def test_an_unknown_winner(tmp_path):
    with pytest.raises(ValidationError, match=r"line 1: unknown winner.*'model_c'"):
        read_as(lines(tmp_path / "x.jsonl", VOTE | {"winner": "model_c"}), "mt-bench")


def test_everything_wrong_in_a_file_of_another_tool_is_told(tmp_path):
    path = lines(
        tmp_path / "v.jsonl",
        VOTE,
        VOTE | {"winner": "model_c", "turn": 1},
        [1],
        {key: value for key, value in VOTE.items() if key != "judge"},
        VOTE | {"winner": None, "question_id": 82},
        VOTE,
        VOTE | {"model_b": "q"},
        VOTE | {"judge": " expert_2"},
        VOTE | {"judge": "expert_3"},
    )
    with path.open("a") as file:
        file.write("not json\n")
    found = examine_as(path, "mt-bench")
    for place, what in [
        ("lines 2, 5", "unknown winner; known are model_a, model_b"),
        ("line 3", "not an object"),
        ("line 4", "lacks 'judge'"),
        ("lines 1, 6", "several verdicts on one item"),
        ("line 7", "compared with itself"),
        ("line 8", "spaces around it"),
        ("line 10", "not JSON"),
    ]:
        assert any(place in p and what in p for p in found.problems), (place, what)
    assert len(found.problems) == 7
    assert "('model_c'; None)" in found.problems[0]
    assert found.rows == 10
    assert found.records["judge"].tolist() == ["expert_3"]
    with pytest.raises(ValidationError, match=r"lines 2, 5: .*and 6 more kinds"):
        read_as(path, "mt-bench")


@pytest.mark.parametrize(
    ("reader", "content", "told"),
    [
        (
            "alpacaeval",
            json.dumps([1, ALPACA | {"preference": 7}, ALPACA]),
            ["annotation 1: not an object", "annotation 2: the preference is no"],
        ),
        (
            "llmjudge",
            "q 0 p 1\nq 0 r\nq 0 s x\nq 0 p 1",
            ["line 2", "line 3", "s 1, 4"],
        ),
        (
            "rankjudge",
            "\n".join(map(json.dumps, [MATCH, MATCH | {"better_is_a": "yes"}, {}])),
            ["line 2: better_is_a is neither", "line 3: lacks 'judge'"],
        ),
        (
            "fastchat-single",
            '{"question_id": 1, "turn": 1, "model": "m", "score": "7", "judge": "j"}',
            ["line 1: the score is no number ('7')"],
        ),
        (
            "judgebench",
            '{"pair_id": 1, "judgments": [], "label": "A"}\n{}',
            ["line 1: label 'A' names no right answer", "line 2: lacks 'judgments'"],
        ),
        ("fastchat", '{"model_1": "a", "model_2": "b", "g1_winner": "a"}', ["lacks"]),
    ],
)
def test_every_format_tells_all_that_is_wrong(tmp_path, reader, content, told):
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    problems = examine_as(path, reader).problems
    assert len(problems) == len(told)
    for text in told:
        assert any(text in problem for problem in problems), problems


def test_the_first_kinds_of_many_are_told(tmp_path):
    path = tmp_path / "v.jsonl"
    # Every line has a field twice, another in each.
    text = [f'{{"f{n}": 1, "f{n}": 2}}' for n in range(30)]
    path.write_text("\n".join(text))
    problems = examine_as(path, "mt-bench").problems
    assert len(problems) == 21
    assert problems[-1].startswith("and more")


def test_our_own_json_lines_tell_every_broken_line(tmp_path):
    path = tmp_path / "x.jsonl"
    good = {"judge": "x", "item": 1, "verdict": "A"}
    path.write_text(
        "\n".join([json.dumps(good), "{", "[]", '{"item": [1]}', "{", "", "7"])
    )
    found = examine(path)
    assert [p.split(": ")[0] for p in found.problems] == [
        "x.jsonl, lines 2, 5",
        "x.jsonl, lines 3, 7",
        "x.jsonl, line 4",
    ]
    assert (len(found.records), found.rows) == (1, 6)


# --- Real files -----------------------------------------------------------------------

DATA = Path(os.environ.get("JUDGELAB_DATA", "no raw records"))


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the raw records: JUDGELAB_DATA")
def test_real_files_read_as_the_papers_read_them():
    from judgelab.papers import judgebench, mt_bench

    ours, _ = read_as(DATA / "mtbench" / "gpt4_pair.jsonl", "mt-bench")
    theirs = mt_bench.load().query("kind == 'gpt4'")
    columns = ["item", "verdict", "swapped", "model_a", "model_b"]
    for column in columns:
        assert ours[column].tolist() == theirs[column].tolist()
    path = next((DATA / "judgebench" / "outputs").glob("*o1-mini*"))
    frame, _ = read_as(path, "judgebench")
    expected = judgebench.load(["o1-mini"]).drop(columns="label")
    pd.testing.assert_frame_equal(frame, expected)
    # One vote of an author is stored twice, in both orders of naming.
    people, _ = read_as(DATA / "mtbench" / "human.jsonl", "mt-bench")
    twice = people[people.duplicated(["judge", "item"], keep=False)]
    assert twice["judge"].tolist() == ["author_0"] * 2
    assert sorted(twice["swapped"]) == [False, True]


# --- Bad input ------------------------------------------------------------------------


def any_file(path, content, *, reader="records"):
    """Read bytes as a file; an error of ours is fine, anything else is not."""
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if reader == "records":
                found = examine(path)
                if found.records is None:
                    assert found.problems
                return found
            return examine_as(path, reader)
    except JudgelabError:
        return None


HEADERS = [b"", b"judge,item,verdict\n", b"judge,item,verdict,swapped,trial\n"]
NASTY = [
    b"\xff\xfe\x00",
    b"\x00",
    b'"',
    b"x,1,A\r",
    b"x,1,A,\n",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b",".join([b""] * 50),
    b"x,1,1e999\n",
    b"=cmd|' /C calc'!A0,1,A\n",
    b"nan,NaN,A\n",
    b" x ,1,A\n",
    "x,1,\u0410\n".encode(),
]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(HEADERS),
    st.lists(st.binary(max_size=40) | st.sampled_from(NASTY), max_size=8),
)
@example(HEADERS[1], [b"LONG"])
@example(HEADERS[1], [b'"LONG'])
def test_any_bytes_as_csv(tmp_path, header, parts):
    # Longer than a field may be for Python's own reader of CSV.
    parts = [part.replace(b"LONG", b"x" * 200_000) for part in parts]
    any_file(tmp_path / "x.csv", header + b"\n".join(parts))


OBJECT = st.dictionaries(
    st.sampled_from(["judge", "item", "verdict", "swapped", "trial", "cluster"])
    | st.text(max_size=5),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
    max_size=6,
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OBJECT, max_size=6))
@example([{"judge": "\ud800", "item": 1, "verdict": "A"}])
@example([{"judge": "x", "item": 10**400, "verdict": "A"}])
@example([{"judge": "x", "item": 1, "verdict": 10**30}])
@example([{"judge": "x", "item": 1, "verdict": "A", "swapped": 10**30}])
@example([{"judge": True, "item": None, "verdict": 2.5}])
def test_any_objects_as_json_lines(tmp_path, objects):
    content = "\n".join(map(json.dumps, objects))
    any_file(tmp_path / "x.jsonl", content.encode())


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["x.jsonl", "x.parquet"]), st.binary(max_size=300))
@example("x.jsonl", b"[" * 100_000)
@example("x.jsonl", b'{"a":' * 100_000)
@example("x.jsonl", b'{"judge": ' + b"9" * 5000 + b"}")
@example("x.parquet", b"PAR1" + b"\x00" * 40 + b"PAR1")
def test_any_bytes_as_another_file(tmp_path, name, content):
    any_file(tmp_path / name, content)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.parametrize("reader", READERS)
def test_any_bytes_and_objects_in_every_format(tmp_path, reader, data):
    """What is right but for one field, and what is not right at all."""
    right = {
        "mt-bench": VOTE,
        "fastchat": FASTCHAT,
        "rankjudge": MATCH,
        "alpacaeval": ALPACA,
        "judgebench": {
            "pair_id": "p",
            "source": "mmlu-pro-law",
            "label": "A>B",
            "response_model": "m",
            "judgments": [{"decision": "A>B", "judgment": {}}, None],
        },
        "fastchat-single": {"question_id": 1, "turn": 1, "model": "m", "score": 3},
        "llmjudge": {},
    }[reader]
    values = data.draw(st.lists(OBJECT, max_size=2))
    for field in right:
        if data.draw(st.booleans()):
            odd = data.draw(
                st.none() | st.text(max_size=3) | st.integers() | st.floats() | OBJECT
            )
            values.append(right | {field: odd})
    text = (
        json.dumps(values)
        if reader == "alpacaeval"
        else "\n".join(map(json.dumps, values))
    )
    content = data.draw(st.binary(max_size=60) | st.just(text.encode()))
    any_file(tmp_path / "x.jsonl", content, reader=reader)


def test_a_line_of_a_million_fields(tmp_path):
    wide = b",".join([b"x"] * 1_000_000)
    found = any_file(tmp_path / "x.csv", wide + b"\n" + wide)
    assert "1,000,000 columns" in found.problems[0]
    found = any_file(tmp_path / "y.csv", b"judge,item,verdict\n" + wide)
    assert "line 2: 1,000,000 fields where the header has 3" in found.problems[0]
    many = json.dumps({f"f{k}": k for k in range(20_000)}).encode()
    found = any_file(tmp_path / "z.jsonl", many)
    assert "20,000 fields" in found.problems[0]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_mixed_encodings_are_named_with_their_line(tmp_path, name):
    rows = {
        "x.csv": ["judge,item,verdict", "x,1,A", "José,2,B", "y,3,A"],
        "x.jsonl": [
            json.dumps({"judge": j, "item": i, "verdict": "A"}, ensure_ascii=False)
            for i, j in enumerate(["a", "b", "José"])
        ],
    }[name]
    # One line comes from another machine.
    content = b"\n".join(
        row.encode("cp1252" if "José" in row else "utf-8") for row in rows
    )
    found = any_file(tmp_path / name, content)
    assert "line 3: byte 0xe9 is not utf-8" in found.problems[0]
    good = "\n".join(rows).encode("cp1252")
    (tmp_path / name).write_bytes(good)
    assert "José" in read(tmp_path / name, encoding="cp1252")["judge"].tolist()


def test_a_bad_byte_far_down_a_long_file(tmp_path):
    path = tmp_path / "x.csv"
    with path.open("wb") as file:
        file.write(b"judge,item,verdict\n")
        for k in range(200_000):
            file.write(b"x,%d,A\n" % k)
        file.write("ü,7,A\n".encode("latin-1"))
    assert "line 200002: byte 0xfc" in examine(path).problems[0]


def test_everything_wrong_is_told_at_once(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "judge,item,verdict,swapped\n"
        "x,1,A,false\n"
        "x,1,A,false\n"
        "x,2,perhaps,false\n"
        ",3,A,false\n"
        "x , 4,A,false\n"
        "x,5,,false\n"
        "y,6,B,maybe\n"
        "y,7,B,true\n"
    )
    found = examine(path)
    text = "\n".join(found.problems)
    for line, what in [
        ("lines 2, 3", "several verdicts"),
        ("line 4", "unknown verdict"),
        ("line 5", "'judge' is empty"),
        ("line 6", "spaces around it"),
        ("line 7", "'verdict' is empty"),
        ("line 8", "'swapped' must be true or false"),
    ]:
        assert any(line in p and what in p for p in found.problems), (line, text)
    assert found.rows == 8
    assert found.records["swapped"].tolist() == [True]


def test_what_is_right_remains(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("judge,item,verdict\nx,1,A\nx,2,no\nx,3,B\n,4,A\n")
    found = examine(path)
    assert found.records["item"].tolist() == ["1", "3"]
    assert found.rows == 4
    assert len(found.problems) == 2
    fine = tmp_path / "y.csv"
    fine.write_text("judge,item,verdict\nx,1,A\n")
    assert examine(fine).problems == ()


def test_many_duplicates_are_one_problem(tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"x,{k},A" for k in range(2000) for _ in range(2)]
    path.write_text("judge,item,verdict\n" + "\n".join([*rows, "x,last,B"]))
    found = examine(path)
    assert len(found.problems) == 1
    assert "and 1995 more" in found.problems[0]
    assert found.records["item"].tolist() == ["last"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_only_the_columns_that_are_needed(tmp_path, form):
    frame = pd.DataFrame(
        {
            "judge": ["x", "y"],
            "item": ["1", "1"],
            "verdict": ["A", "B"],
            "reply": ["long text", "more of it"],
        }
    )
    path = tmp_path / f"x.{form}"
    {
        "csv": lambda: frame.to_csv(path, index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path),
    }[form]()
    needed = {"judge", "item", "verdict"}
    assert [*read(path, only=needed)] == ["judge", "item", "verdict"]
    assert [*column_names(path)] == [*frame]
    assert [*examine(path, only=needed).columns] == [*frame]
    # A misspelt name is not left behind in silence.
    misspelt = frame.rename(columns={"reply": "swaped"})
    path.unlink()
    {
        "csv": lambda: misspelt.to_csv(path, index=False),
        "jsonl": lambda: misspelt.to_json(path, orient="records", lines=True),
        "parquet": lambda: misspelt.to_parquet(path),
    }[form]()
    assert "'swaped'" in examine(path, only=needed).problems[0]


def test_a_line_that_is_too_long_is_found_when_columns_are_left_out(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("judge,item,verdict,reply\nx,1,A,r\nx,2,A,r,B\nx,3\n")
    found = examine(path, only={"judge", "item", "verdict"})
    assert "lines 3, 4: 5 fields where the header has 4" in found.problems[0]


def test_json_lines_come_one_by_one(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\nnot json\n')
    found = json_objects(path)
    assert next(found) == (1, {"a": 1})
    assert next(found) == (3, {"a": 2})
    with pytest.raises(ValidationError, match="line 4: not JSON"):
        next(found)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (['m,"q1,A', 'm,"q2,B', "m,q3,A"], 2),
        (["m,q1,A", 'm,"q2,B', "m,q3,A"], 3),
    ],
    ids=["two stray quotes", "one stray quote"],
)
def test_a_stray_quote_swallows_no_line(tmp_path, rows, line):
    """The lines up to the next quote would be one name of an item."""
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["judge,item,verdict", *rows, ""]))
    with pytest.raises(ValidationError, match=f"line {line}: .*quote left open"):
        read(path)


def test_quotes_that_belong_there(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text('judge,item,verdict\nm,"a ""b""\nc",A\nm,5" pipe,B\n')
    assert read(path)["item"].tolist() == ['a "b"\nc', '5" pipe']


def test_a_long_file_is_streamed(tmp_path):
    """Columns that are not asked for cost no memory, however large they are."""
    import tracemalloc

    path = tmp_path / "x.csv"
    with path.open("w") as file:
        file.write("judge,item,verdict,reply\n")
        for k in range(30_000):
            file.write(f"x,{k},A,{'word ' * 200}\n")
    size = path.stat().st_size
    tracemalloc.start()
    examine(path, only={"judge", "item", "verdict"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 30_000_000
    assert peak < size / 2
