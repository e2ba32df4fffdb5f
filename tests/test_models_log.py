"""The log: append-only, one writer, one reply per request, and readable by others."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
import threading

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.models import AskError, Log, LogError, Message, Reply, Request

WHO = "a model"


def request(text="which?", **options) -> Request:
    return Request((Message("user", text),), **options)


def keep(log: Log, asked: Request, *outcomes: Reply | AskError) -> str:
    """Log a request with its outcomes; return its key."""
    key = asked.key(WHO)
    with log.writing() as writer:
        writer.expect(WHO, [asked])
        for outcome in outcomes:
            if isinstance(outcome, Reply):
                writer.reply(key, outcome, seconds=0.5)
            else:
                writer.failure(key, outcome, seconds=0.5)
    return key


def down() -> AskError:
    return AskError("the server is down", passing=True)


@pytest.fixture
def log(tmp_path) -> Log:
    return Log(tmp_path / "run.sqlite")


def test_a_reply_comes_back_as_it_was(log):
    asked = Request(
        (Message("system", "be just"), Message("user", "Ünï\0code \U0001f600")),
        temperature=0.7,
        max_tokens=3,
        seed=4,
        top_logprobs=5,
        schema={"type": "object"},
        trial=2,
        tags={"item": "q1", "order": "given"},
    )
    reply = Reply(
        "A\0\nÜ \U0001f600",
        "length",
        {"A": -0.25, " B": -1.5},
        10,
        20,
        "m-2026",
        "fp",
        ("logprobs", "seed"),
    )
    key = keep(log, asked, reply)
    [answer] = log.answers()
    assert answer.request == asked
    assert answer.request.key(answer.identity) == key
    assert (answer.identity, answer.reply, answer.error) == (WHO, reply, "")
    assert log.known([key, "another"]) == {key: reply}


@settings(max_examples=20)
@given(st.text(), st.text())
def test_any_text_can_be_logged(tmp_path_factory, question, said):
    log = Log(tmp_path_factory.mktemp("log") / "run.sqlite")
    keep(log, request(question), Reply(said, model=said, fingerprint=said))
    [answer] = log.answers()
    assert answer.request == request(question)
    assert answer.reply.text == Reply(said).text


@pytest.mark.parametrize("half", ["\ud83d", "\ude00 x", "a\ud800b"])
def test_half_a_surrogate_pair_is_no_text(log, half):
    keep(log, request(half), Reply(half, model=half), AskError(half, passing=False))
    [answer] = log.answers()
    assert answer.request == request(half)
    assert answer.reply.text == Reply(half).text
    assert "�" in answer.reply.text
    log.replies()


def test_a_failure_is_no_answer(log):
    key = keep(log, request(), down(), AskError("it is down again", passing=True))
    assert log.known([key]) == {}
    [answer] = log.answers()
    assert (answer.reply, answer.error) == (None, "it is down again")
    rows = log.replies()
    assert rows["attempts"].tolist() == [2]
    assert rows["error"].tolist() == ["it is down again"]
    assert rows["text"].isna().all()


def test_a_reply_counts_whatever_failed_before_or_after(log):
    key = keep(log, request(), down(), Reply("A"), down())
    assert log.known([key]) == {key: Reply("A")}
    assert [answer.error for answer in log.answers()] == [""]
    assert log.replies()["attempts"].tolist() == [3]


def test_an_empty_reply_is_a_reply(log):
    key = keep(log, request(), Reply(""))
    assert log.known([key]) == {key: Reply("")}
    assert [answer.reply for answer in log.answers()] == [Reply("")]


def test_what_was_never_asked_is_known_to_lack(log):
    keep(log, request())
    [answer] = log.answers()
    assert (answer.reply, answer.error) == (None, "not asked yet")
    assert log.replies()["attempts"].tolist() == [0]


def test_a_request_has_one_reply(log):
    with pytest.raises(LogError, match="UNIQUE"):
        keep(log, request(), Reply("A"), Reply("B"))
    assert [answer.reply for answer in log.answers()] == [Reply("A")]


@pytest.mark.parametrize("table", ["requests", "outcomes"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET key = 'x'"])
def test_rows_are_never_changed(log, table, change):
    keep(log, request(), Reply("A"))
    connection = sqlite3.connect(log.path)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        connection.execute(change.format(table))
    connection.close()


def test_the_frame_has_a_column_per_tag(log):
    tags = {"item": "q1", "order": "swapped", "model": "a clash", "prompt": "pairwise"}
    keep(log, request(tags=tags, trial=1), Reply("A", model="m", prompt_tokens=3))
    keep(log, request(tags={"item": "q2"}), down())
    rows = log.replies()
    assert rows["item"].tolist() == ["q1", "q2"]
    assert rows["order"].tolist()[0] == "swapped"
    assert rows["model"].tolist()[0] == "m"
    assert json.loads(rows["tags"][0]) == tags
    assert rows["trial"].tolist() == [1, 0]
    assert rows["prompt_tokens"].dtype == "Int64"
    assert str(rows["at"].dt.tz) == "UTC"


def test_an_empty_log_has_the_columns(log):
    rows = log.replies()
    assert len(rows) == 0
    assert {"key", "text", "error", "request"} <= {*rows}
    assert [*log.answers()] == []


def test_answers_by_tag(log):
    keep(log, request(tags={"item": "1", "prompt": "x"}), Reply("A"))
    keep(log, request(tags={"item": "2", "prompt": "y"}), Reply("B"))
    assert [a.reply.text for a in log.answers(prompt="y")] == ["B"]
    assert [a.reply.text for a in log.answers(prompt="y", item="1")] == []


def test_duckdb_and_pandas_read_the_parquet(log, tmp_path):
    keep(log, request(tags={"item": "q1"}), Reply("A", first_token={"A": -0.5}))
    keep(log, request(tags={"item": "q2"}), down())
    path = tmp_path / "run.parquet"
    log.to_parquet(path)
    pd.testing.assert_frame_equal(pd.read_parquet(path), log.replies())
    found = duckdb.sql(
        "SELECT item, text, (first_token::JSON ->> '$.A')::DOUBLE, "
        f"request::JSON ->> '$.messages[0].content' FROM '{path}' ORDER BY item"
    ).fetchall()
    assert found == [("q1", "A", -0.5, "which?"), ("q2", None, None, "which?")]


def test_only_one_run_writes(log):
    with log.writing():
        keep_out = pytest.raises(
            LogError, match=r"run\.sqlite is in use by another run"
        )
        with keep_out, Log(log.path).writing():
            pass
        refused = []

        def other() -> None:
            try:
                with log.writing():
                    pass
            except LogError as error:
                refused.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(refused) == 1
        assert log.replies().empty  # reading is free
    keep(log, request(), Reply("A"))  # and afterwards so is writing


def test_another_name_of_the_file_is_the_same_log(log, tmp_path):
    link = tmp_path / "link.sqlite"
    link.symlink_to(log.path)
    with log.writing(), pytest.raises(LogError), Log(link).writing():
        pass


PROCESS = """
import sys
from judgelab.models import Log, LogError
try:
    with Log(sys.argv[1]).writing():
        print("in", flush=True)
        sys.stdin.readline()
except LogError as error:
    print(error)
"""


def test_two_processes_do_not_share_a_log(log):
    command = [sys.executable, "-c", PROCESS, str(log.path)]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **options) as first:
        assert first.stdout.readline() == "in\n"
        with subprocess.Popen(command, **options) as second:
            assert "is in use by another run" in second.communicate("\n")[0]
        with pytest.raises(LogError), log.writing():
            pass
        first.kill()
        first.wait()
        with log.writing():  # the lock ended with its holder
            pass


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(LogError, match=r"no log of judgelab's"):
        Log(other)
    assert other.read_bytes() == before

    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at" * 100)
    with pytest.raises(LogError, match="not a database"):
        Log(text)
    assert text.read_text().startswith("not a database")


def test_another_version_is_refused(log):
    connection = sqlite3.connect(log.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LogError, match="is a log of version 99"):
        Log(log.path)


def test_a_damaged_file_is_a_named_error(log):
    many = [request(f"{number}" * 50) for number in range(200)]
    with log.writing() as writer:
        writer.expect(WHO, many)
        for asked in many:
            writer.reply(asked.key(WHO), Reply("A" * 500), seconds=0.1)
    content = bytearray(log.path.read_bytes())
    content[4096 : len(content) // 2] = bytes(len(content) // 2 - 4096)
    log.path.write_bytes(content)
    with pytest.raises(LogError, match=r"run\.sqlite cannot be used as a log"):
        log.replies()


def test_no_folder(tmp_path):
    with pytest.raises(LogError, match="there is no folder"):
        Log(tmp_path / "no" / "run.sqlite")


def test_a_log_travels_as_its_path(log):
    keep(log, request(), Reply("A"))
    again = pickle.loads(pickle.dumps(log))
    assert [answer.reply for answer in again.answers()] == [Reply("A")]
    assert repr(again) == f"Log({str(log.path)!r})"


def test_the_key_holds_everything():
    base = request()
    others = [
        request("other"),
        request(temperature=0.5),
        request(max_tokens=1),
        request(seed=0),
        request(top_logprobs=1),
        request(schema={}),
        request(trial=1),
        request(tags={"item": "1"}),
        Request((Message("system", "which?"),)),
    ]
    keys = {one.key(WHO) for one in [base, *others]} | {base.key("another")}
    assert len(keys) == len(others) + 2
    assert base.key(WHO) == request(tags={}).key(WHO)
