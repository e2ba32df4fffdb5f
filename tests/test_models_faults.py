"""Two thousand requests, a server that misbehaves, and a kill in the middle.

In the end asked = answered + missing, nothing that was answered was asked again, and
nothing is lost.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

pytest.importorskip("openai")

from misbehaving_server import MisbehavingServer

from judgelab.models import Endpoint, Log, Message, Request, ask_all

N = 2000
KEY = "sk-secret-0123456789"
OPTIONS = {"concurrency": 50, "backoff": 0.01, "attempts": 4, "stop_after": None}

# What the first attempts at request 0, 1, 2, … of every twenty bring, then a reply.
PASSING = [
    ["wait-ms 20"],
    ["wait-seconds 0"],
    ["status 429", "status 429"],
    ["status 500"],
    ["half"],
    ["not-json"],
    ["closed", "status 503"],
    ["wrong-schema"],
    ["echo-key 500"],
]


def decide(question: str, times: int) -> str:
    number = int(question.removeprefix("question "))
    if number % 100 == 11:
        return "echo-key 400"
    if number % 100 == 12:
        return "status 502"
    if number % 400 == 13 and times == 0:
        return "slow 9"
    faults = PASSING[number % 20] if number % 20 < len(PASSING) else []
    return faults[times] if times < len(faults) else f"ok answer {number}"


REFUSED = {f"question {n}" for n in range(11, N, 100)}
BROKEN = {f"question {n}" for n in range(12, N, 100)}


def requests() -> list[Request]:
    return [
        Request((Message("user", f"question {n}"),), tags={"item": str(n)})
        for n in range(N)
    ]


def run(address: str, path: str):
    """Ask everything; the part that is killed."""
    endpoint = Endpoint("m", address, timeout=3)
    return ask_all(requests(), endpoint, Log(path), **OPTIONS)


if __name__ == "__main__":
    run(*sys.argv[1:])


def test_nothing_is_lost_and_nothing_asked_twice(tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGELAB_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    path = tmp_path / "run.sqlite"
    with MisbehavingServer(decide) as server:
        command = [sys.executable, __file__, server.base_url, str(path)]
        child = subprocess.Popen(command, env={**os.environ, "PYTHONWARNINGS": ""})
        deadline = time.monotonic() + 60
        while len(server.answered) < N // 3 and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()

        # Every reply of the log was sent, and all but those under way were written.
        before = Log(path).replies()
        written = {f"question {i}" for i in before["item"][before["error"] == ""]}
        sent = Counter(server.answered)
        assert len(before) == N
        assert N // 3 - OPTIONS["concurrency"] <= len(written) < N
        assert written <= {*sent}
        assert len({*sent} - written) <= OPTIONS["concurrency"]

        asked = Counter(server.asked)
        second = run(server.base_url, str(path))
        assert not written & {*(server.asked - asked)}

        asked = Counter(server.asked)
        third = run(server.base_url, str(path))
        assert {*(server.asked - asked)} == REFUSED | BROKEN

    missing = {f"question {n}" for n in range(N) if second.replies[n] is None}
    assert missing == REFUSED | BROKEN
    assert third.replies == second.replies
    assert all(
        reply is None or reply.text == f"answer {n}"
        for n, reply in enumerate(second.replies)
    )
    p = second.progress
    assert p.from_log == len(written)
    assert p.from_log + p.answered + p.missing == p.total == N
    assert p.missing == len(missing)
    # A refusal is not repeated; what may pass is, as often as allowed.
    assert max(server.asked[q] for q in REFUSED) <= 3
    assert max(server.asked[q] for q in BROKEN) <= 3 * OPTIONS["attempts"]
    assert server.most_at_once <= OPTIONS["concurrency"]

    # The log alone tells the same.
    rows = Log(path).replies()
    assert len(rows) == rows["key"].nunique() == N
    assert {f"question {i}" for i in rows["item"][rows["error"] != ""]} == missing
    assert KEY.encode() not in b"".join(f.read_bytes() for f in tmp_path.iterdir())
