"""Judging in shards on many machines, and by file: asked = answered + missing."""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("openai")

from misbehaving_server import MisbehavingServer, completion

from judgelab.errors import ValidationError
from judgelab.models import (
    Endpoint,
    Log,
    ask_all,
    judge,
    questions,
    read_batch,
    scale_up,
    shard_of,
    write_batch,
)
from judgelab.models.cost import Use
from judgelab.models.runner import Progress
from judgelab.position import pair_orders

SHARDS = 6
ITEMS = pd.DataFrame(
    {
        "item": [f"q{n}" for n in range(120)],
        "question": [f"number {n}?" for n in range(120)],
        "answer_a": "four",
        "answer_b": "five",
    }
)


def number_of(question: str) -> int:
    return int(re.search(r"number (\d+)\?", question)[1])


def decide(question: str, times: int) -> str:
    """Some items pass after a fault, some never come."""
    number = number_of(question)
    if number % 10 == 3:
        return "status 502"
    if number % 10 == 4 and times == 0:
        return ("closed", "half", "status 500", "wait-ms 5")[number % 4]
    return "ok [[A]]"


def judge_shard(shard: int, address: str, folder: str) -> Progress:
    """Judge the items of one shard: what runs on some machine."""
    mine = ITEMS[[shard_of(item, SHARDS) == shard for item in ITEMS["item"]]]
    log = Log(f"{folder}/shard-{shard}.sqlite")
    options = {"attempts": 2, "backoff": 0.001, "stop_after": None}
    _, run = judge(mine, Endpoint("m", address), "pairwise", log, **options)
    log.to_parquet(f"{folder}/log/shard-{shard}.parquet")
    return run.progress


@pytest.fixture
def workers():
    if importlib.util.find_spec("distributed") is None:
        message = "distributed is not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        Client(two) as client,
    ):
        yield client


def test_shards_on_two_workers_lose_nothing_and_ask_nothing_twice(
    workers, tmp_path, monkeypatch
):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "log").mkdir()
    assert len(workers.scheduler_info()["workers"]) == 2
    with MisbehavingServer(decide) as server:
        work = partial(judge_shard, address=server.base_url, folder=str(tmp_path))
        first = workers.gather(workers.map(work, range(SHARDS), pure=False))
        asked = Counter(server.asked)
        again = workers.gather(workers.map(work, range(SHARDS), pure=False))
        asked_again = server.asked - asked
    total = 2 * len(ITEMS)
    missing = total // 10
    assert sum(p.total for p in first) == total
    assert sum(p.answered for p in first) == total - missing
    assert sum(p.missing for p in first) == missing
    assert max(server.answered.values()) == 1
    # The second run asks what failed, and nothing else.
    assert sum(p.from_log for p in again) == total - missing
    assert sum(p.missing for p in again) == missing
    assert {number_of(q) % 10 for q in asked_again} == {3}
    # The log of all is one folder of Parquet files.
    logged = pd.read_parquet(tmp_path / "log")
    assert len(logged) == logged["key"].nunique() == total
    assert set(logged["item"][logged["error"] != ""]) == {
        f"q{n}" for n in range(3, 120, 10)
    }


def test_a_shard_is_the_same_everywhere_and_none_is_much_larger():
    counts = np.bincount([shard_of(f"q{n}", 8) for n in range(80_000)], minlength=8)
    assert abs(counts - 10_000).max() < 5 * np.sqrt(10_000)
    assert shard_of(7, 5) == shard_of("7", 5)
    assert shard_of("\ud800", 1) == 0
    with pytest.raises(ValidationError, match="shards is 0"):
        shard_of("q", 0)


def test_a_large_run_is_a_pilot_many_times():
    pilot = Progress(100, answered=98, missing=2, use=Use(50_000, 400, 2.0))
    effort = scale_up(pilot, 36.0, 10_000, machines=4, machine_hour=3.0)
    assert effort.hours == pytest.approx(0.25)
    assert effort.use.prompt_tokens == 5_000_000
    assert effort.use.completion_tokens == 40_000
    assert effort.cost == pytest.approx(200 + 4 * 0.25 * 3)
    assert str(effort).startswith("10,000 requests: 0.2 hours")
    with pytest.raises(ValidationError, match="took 5 from its log"):
        scale_up(Progress(10, from_log=5, answered=5), 1.0, 10)
    with pytest.raises(ValidationError, match="requests 0"):
        scale_up(pilot, 1.0, 0)


def served(path: Path, answers: Path) -> None:
    """Answer a batch file as its endpoints do: some lines fail, one gets lost."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    with answers.open("w") as file:
        for place, line in enumerate(lines[:-1]):
            body = completion(line["body"], "[[A]]")
            response = {"status_code": 200, "body": body}
            out = {"custom_id": line["custom_id"], "response": response, "error": None}
            if place == 0:
                out["response"] = {"status_code": 500, "body": {"error": "down"}}
            elif place == 1:
                out |= {"response": None, "error": {"code": "batch_expired"}}
            file.write(json.dumps(out) + "\n")


def test_a_batch_goes_out_as_a_file_and_what_failed_is_asked_again(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("JUDGELAB_API_KEY", "sk-secret-0123456789")
    out, back = tmp_path / "batch.jsonl", tmp_path / "answers.jsonl"
    log = Log(tmp_path / "run.sqlite")
    asked = questions(ITEMS[:20], "pairwise")
    with MisbehavingServer(lambda question, times: "ok [[B]]") as server:
        endpoint = Endpoint("m", server.base_url, extra={"top_p": 0.5})
        assert write_batch(asked, endpoint, log, out) == 40
        line = json.loads(out.read_text("utf-8").splitlines()[0])
        assert line["url"] == "/v1/chat/completions"
        assert line["body"]["model"] == "m"
        assert line["body"]["top_p"] == 0.5
        assert "sk-secret" not in out.read_text("utf-8")
        served(out, back)
        assert read_batch(back, asked, endpoint, log) == (37, 2, 1)
        assert read_batch(back, asked, endpoint, log) == (0, 2, 1)
        assert write_batch(asked, endpoint, log, out) == 3
        run = ask_all(asked, endpoint, log)
        assert sum(server.asked.values()) == run.progress.answered == 3
        records, _ = judge(ITEMS[:20], endpoint, "pairwise", log)
        assert Counter(records["verdict"]) == {"A": 37, "B": 3}
        assert len(pair_orders(records)) == 20
        other = Endpoint("another", server.base_url)
        with pytest.raises(ValidationError, match=r"line 1: '.*' is none of these"):
            read_batch(back, asked, other, log)


PAGE = Path(__file__).parents[1] / "book" / "ten-million-verdicts.md"
CELLS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_page_on_ten_million_verdicts(tmp_path, monkeypatch, capsys):
    """From shards to an answer, with a batch beside it, as the page does it."""
    if importlib.util.find_spec("distributed") is None:
        message = "distributed is not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    for folder in ("log", "logs", "verdicts"):
        (tmp_path / folder).mkdir()
    ITEMS.to_parquet(tmp_path / "items.parquet")
    _, shard, shards, batch, records, counts = CELLS
    space: dict = {}
    with MisbehavingServer(lambda question, times: "ok [[A]]") as server:
        here = "http://127.0.0.1:8000/v1"
        assert here in shard
        exec(shard.replace(here, server.base_url), space)
        exec(shards, space)
    assert capsys.readouterr().out == "240 0\n"
    assert set(server.asked.values()) == {1}

    written, read = batch.split("# vllm run-batch")
    exec(written, space)
    served(tmp_path / "batch.jsonl", tmp_path / "answers.jsonl")
    exec("#" + read, space)
    assert "answered=237, failed=2, lacking=1" in capsys.readouterr().out

    exec(records + counts, space)
    assert len(pd.read_parquet(tmp_path / "log")) == 240
    # A judge that always takes the first slot is never consistent.
    assert space["consistency"].value == 0
    assert space["consistency"].n == len(ITEMS)


def test_the_arithmetic_of_the_page():
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
    assert CELLS[0].startswith(">>>")
