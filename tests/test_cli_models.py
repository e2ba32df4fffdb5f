"""``judgelab judge`` and ``judgelab models``: a scripted server, and a real model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest
from test_models_local import need_model
from typer.testing import CliRunner, Result

from judgelab.cli import app
from judgelab.data.examples import example_pairs
from judgelab.errors import MissingExtra, MissingModel, ValidationError
from judgelab.models.local import LocalModel
from judgelab.models.log import Log
from judgelab.models.recorded import Recorded, example_requests
from judgelab.models.request import Reply
from judgelab.models.weights import WEIGHTS

PAIRS = [
    {"item": "q1", "question": "2 + 2?", "answer_a": "4", "answer_b": "5", "gold": "A"},
    {"item": "q2", "question": "3 + 3?", "answer_a": "7", "answer_b": "6", "gold": "B"},
    {"item": "q3", "question": "NA?", "answer_a": "NA", "answer_b": "1", "gold": "A"},
]


class Scripted(ThreadingHTTPServer):
    """A server that always replies the same, and counts how often."""

    reply = "A"
    asked = 0


class Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        assert json.loads(self.rfile.read(length))["model"] == "scripted"
        self.server.asked += 1
        message = {"role": "assistant", "content": self.server.reply}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = json.dumps({"model": "scripted", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    pd.DataFrame(PAIRS).to_csv(path, index=False)
    return path


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [*map(str, args)])


def at(server: Scripted, tmp_path: Path) -> list[object]:
    address = f"http://127.0.0.1:{server.server_port}/v1"
    log = tmp_path / "log.sqlite"
    return ["--model", "scripted", "--base-url", address, "--log", log]


def test_a_null_judge_is_found_out(
    server: Scripted, pairs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "records.csv"
    found = run("judge", pairs, *at(server, tmp_path), "--out", out)
    assert found.exit_code == 0, found.output
    assert server.asked == 6
    for line in (
        "6 requests: 6 answered, 0 from the log, 0 missing",
        "picks the first slot         1.000",
        "says the same in both orders 0.000",
        "right in both orders         0.000",
        "answered replies             6 of 6",
        "Does the order matter?",
    ):
        assert " ".join(line.split()) in " ".join(found.output.split())
    records = pd.read_csv(out, keep_default_na=False)
    assert records["verdict"].tolist() == ["A"] * 6
    assert records["swapped"].tolist() == [False, True] * 3
    # Again: everything comes from the log.
    again = run("judge", pairs, *at(server, tmp_path))
    assert "0 answered, 6 from the log" in again.output
    assert server.asked == 6


def test_a_dry_run_fetches_nothing(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ninety megabytes are no part of saying what would be asked."""
    pytest.importorskip("xllamacpp")
    monkeypatch.delenv("JUDGELAB_MODEL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def fetched(*_: object, **__: object) -> None:
        raise AssertionError("a dry run fetched weights")

    monkeypatch.setattr("judgelab.models.weights.get_weights", fetched)
    found = run("judge", pairs, "--model", "local", "--dry-run")
    assert found.exit_code == 0, found.output
    assert "requests to ask; a dry run fetches no model" in found.output


def test_a_dry_run_asks_nothing(server: Scripted, pairs: Path, tmp_path: Path) -> None:
    found = run("judge", pairs, *at(server, tmp_path), "--dry-run")
    assert found.exit_code == 0, found.output
    assert "6 to ask" in found.output
    assert server.asked == 0


def test_unreadable_replies_are_counted(
    server: Scripted, pairs: Path, tmp_path: Path
) -> None:
    server.reply = "Both are fine."
    found = run("judge", pairs, *at(server, tmp_path))
    words = " ".join(found.output.split())
    assert "unparsed replies 6 of 6" in words
    assert "unusable replies: FOUND" in words


def test_one_order_and_a_limit(server: Scripted, tmp_path: Path) -> None:
    limited = ["--orders", "swapped", "--limit", 10]
    found = run("judge", "examples", *at(server, tmp_path), *limited)
    assert server.asked == 10
    assert "picks the first slot 1.000" in " ".join(found.output.split())
    assert "says the same in both orders" not in found.output


def test_a_limit_keeps_all_kinds(server: Scripted, tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    run("judge", "examples", *at(server, tmp_path), "--limit", 10, "--out", out)
    kinds = set(pd.read_json(out, lines=True)["kind"])
    assert kinds == set(example_pairs()["kind"])


def test_files_of_three_kinds_are_the_same(
    server: Scripted, pairs: Path, tmp_path: Path
) -> None:
    frame = pd.DataFrame(PAIRS)
    frame.to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "pairs.parquet")
    for path in (pairs, tmp_path / "pairs.jsonl", tmp_path / "pairs.parquet"):
        found = run("judge", path, *at(server, tmp_path))
        assert found.exit_code == 0, found.output
    # Equal texts are equal questions: "NA" stays a text, and nothing is asked twice.
    assert server.asked == 6


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["no.csv", "--model", "x"], "no file 'no.csv'"),
        (["examples", "--model", "x", "--orders", "two"], "--orders 'two'"),
        (["examples", "--model", "x", "--read", "mind"], "--read 'mind'"),
        (["examples", "--model", "x", "--out", "x.xls"], "end it with .csv"),
        (["examples", "--model", "x", "--out", "no/x.csv"], "no folder 'no'"),
        (["examples", "--model", "x", "--prompt", "grade"], "shows one answer"),
        (
            ["examples", "--model", "local", "--base-url", "http://x/v1"],
            "no --base-url",
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    args: list[str], message: str
) -> None:
    error = run("judge", *args).exception
    assert isinstance(error, ValidationError)
    assert message in str(error)


def test_a_file_is_checked(pairs: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(pairs.read_text("utf-8").replace(",A\n", ",first\n"), "utf-8")
    other = tmp_path / "pairs.xlsx"
    other.write_bytes(b"")
    for path, message in ((wrong, "gold holds 'first'"), (other, "must end with")):
        error = run("judge", path, "--model", "x").exception
        assert isinstance(error, ValidationError)
        assert message in str(error)


def test_models_are_listed_and_unknown_ones_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGELAB_CACHE", str(tmp_path))
    listed = run("models", "list").output
    assert all(name in listed for name in WEIGHTS)
    assert listed.count("not here") == len(WEIGHTS)
    error = run("models", "get", "gpt-5").exception
    assert isinstance(error, ValidationError)
    assert "qwen, smollm2" in str(error)


def test_recording_asks_the_log_first(tmp_path: Path) -> None:
    """What the package ships was written by this command."""
    need_model()
    log, out = tmp_path / "log.sqlite", tmp_path / "replies.csv"
    model, shipped = LocalModel("smollm2"), Recorded("smollm2")
    known = [(x, x.key(model.identity)) for x in example_requests("relevance")]
    with Log(log).writing() as writer:
        writer.expect(model.identity, [request for request, _ in known])
        for _, key in known:
            writer.reply(key, Reply("2", model="m", fingerprint="f"), seconds=0.0)
    done = run(
        *("models", "record", "smollm2", "--out", out, "--log", log),
        *("--prompt", "relevance"),
    )
    assert done.exit_code == 0, done.output
    again = Recorded("smollm2", out)
    assert again.prompts == ("relevance",)
    assert again.header.keys() == shipped.header.keys()
    assert len(out.read_text("utf-8").splitlines()) == len(again.header) + 1 + 96


def test_a_named_file_is_not_replaced_by_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGELAB_CACHE", str(tmp_path))
    monkeypatch.setenv("JUDGELAB_MODEL", str(tmp_path / "mine.gguf"))
    error = run("judge", "examples", "--model", "local").exception
    assert isinstance(error, MissingModel | MissingExtra)
    assert [*tmp_path.rglob("*.gguf")] == []


def test_a_real_judge_in_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_model()
    monkeypatch.delenv("JUDGELAB_MODEL", raising=False)
    out = tmp_path / "records.parquet"
    found = run(
        *("judge", "examples", "--model", "local", "--limit", 10),
        *("--log", tmp_path / "log.sqlite", "--out", out),
    )
    assert found.exit_code == 0, found.output
    assert "The place decides" in found.output
    assert "position: FOUND" in found.output
    assert "right, both orders averaged" in found.output
    records = pd.read_parquet(out)
    assert (records["verdict"] == "A").mean() >= 0.9
    assert records["mass"].between(0, 1).all()
