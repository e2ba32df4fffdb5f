"""The runner with scripted models: limits, retries, budgets, and nothing twice."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import time
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judgelab as jl
from judgelab.errors import ValidationError
from judgelab.models import (
    AskError,
    Log,
    LogError,
    Message,
    Prices,
    Reply,
    Request,
    ask_all,
    judge,
    plan,
    questions,
    to_records,
)
from judgelab.models.cost import at_most
from judgelab.models.parse import from_first_token
from judgelab.models.prompts import Prompt, find_prompt


class Scripted:
    """Answers as a function of question and attempt says; counts what it is asked."""

    identity = "scripted"

    def __init__(self, say=lambda question, attempt: Reply("A"), seconds=0.0):
        self.say = say
        self.seconds = seconds
        self.asked = Counter()
        self.requests = []
        self.times = []
        self.at_once = self.most_at_once = 0

    async def ask(self, request):
        question = request.messages[-1].content
        self.requests.append(request)
        self.times.append(time.monotonic())
        self.asked[question] += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
            outcome = self.say(question, self.asked[question])
        finally:
            self.at_once -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def failing(times, **options):
    """Fail so many times, then answer with the question."""

    def say(question, attempt):
        if attempt <= times:
            return AskError("it is down", **{"passing": True, **options})
        return Reply(question)

    return say


def some(n, **options):
    return [Request((Message("user", f"q{i}"),), **options) for i in range(n)]


@pytest.fixture
def log(tmp_path) -> Log:
    return Log(tmp_path / "run.sqlite")


def test_replies_stand_in_the_order_of_the_requests(log):
    def say(question, attempt):
        return Reply(question)

    rng = np.random.default_rng(1)
    model = Scripted(say)
    requests = some(50)
    shuffled = [requests[i] for i in rng.permutation(50)]
    run = ask_all(iter(shuffled), model, log)
    assert [r.text for r in run.replies] == [r.messages[0].content for r in shuffled]
    assert run.errors == ("",) * 50
    assert str(run).startswith("50 requests: 50 answered, 0 from the log, 0 missing")


def test_equal_requests_are_asked_once(log):
    model = Scripted(lambda question, attempt: Reply(f"{question} {attempt}"))
    run = ask_all([*some(2), *some(2)], model, log)
    assert [r.text for r in run.replies] == ["q0 1", "q1 1"] * 2
    assert run.progress.total == run.progress.answered == 2


def test_a_run_says_what_replies_lacked_and_who_gave_them(log):
    def say(question, attempt):
        version = "v2" if question == "q2" else "v1"
        lost = ("logprobs", "seed") if question == "q0" else ("seed",)
        return Reply("A", model="m", fingerprint=version, fallbacks=lost)

    run = ask_all(some(3), Scripted(say), log)
    assert run.fallbacks == {"logprobs": 1, "seed": 3}
    assert run.answered_by == {"m v1": 2, "m v2": 1}
    assert "1 without logprobs, 3 without seed, 2 versions of the model" in str(run)


def test_nothing_to_ask(log):
    run = ask_all([], Scripted(), log)
    assert (run.replies, run.stopped) == ((), "")


@pytest.mark.parametrize("concurrency", [1, 3, 100])
def test_concurrency_is_bounded_and_used(log, concurrency):
    model = Scripted(seconds=0.01)
    ask_all(some(20), model, log, concurrency=concurrency)
    assert model.most_at_once == min(concurrency, 20)


def test_the_log_answers_the_second_time(log):
    first = ask_all(some(5), Scripted(), log)
    model = Scripted()
    again = ask_all(some(7), model, log)
    assert {*model.asked} == {"q5", "q6"}
    assert again.replies[:5] == first.replies
    assert (again.progress.from_log, again.progress.answered) == (5, 2)


def test_another_model_is_asked_anew(log):
    ask_all(some(2), Scripted(), log)
    other = Scripted()
    other.identity = "another"
    ask_all(some(2), other, log)
    assert other.asked.total() == 2
    assert log.replies()["identity"].tolist() == ["scripted"] * 2 + ["another"] * 2


def test_what_may_pass_is_tried_again(log):
    model = Scripted(failing(2))
    run = ask_all(some(3), model, log, attempts=3, backoff=0.001)
    assert [r.text for r in run.replies] == ["q0", "q1", "q2"]
    assert {*model.asked.values()} == {3}
    assert log.replies()["attempts"].tolist() == [3, 3, 3]


def test_attempts_end(log):
    model = Scripted(failing(99))
    run = ask_all(some(3), model, log, attempts=4, backoff=0.001)
    assert run.replies == (None,) * 3
    assert run.errors == ("it is down",) * 3
    assert {*model.asked.values()} == {4}
    assert (run.progress.missing, run.stopped) == (3, "")


def test_what_cannot_succeed_is_not_tried_again_in_a_run_but_in_the_next(log):
    def say(question, attempt):
        bad = question == "q1" and attempt == 1
        return AskError("too long", passing=False) if bad else Reply("A")

    model = Scripted(say)
    run = ask_all(some(3), model, log)
    assert run.errors == ("", "too long", "")
    assert model.asked["q1"] == 1
    run = ask_all(some(3), model, log)
    assert run.errors == ("", "", "")
    assert model.asked == {"q0": 1, "q1": 2, "q2": 1}


def test_a_fault_of_every_request_stops_the_run(log):
    model = Scripted(failing(99, passing=False, everywhere=True))
    run = ask_all(some(100), model, log, concurrency=4)
    assert model.asked.total() <= 4
    assert run.stopped == "it is down"
    assert run.errors[-1] == "not asked: it is down"
    assert run.progress.missing <= 4
    assert "96 not asked" in str(run)


def test_a_server_that_is_down_stops_the_run(log):
    model = Scripted(failing(99))
    options = {"attempts": 2, "backoff": 0.001, "concurrency": 2}
    run = ask_all(some(100), model, log, stop_after=5, **options)
    assert run.stopped == "5 requests failed in a row: it is down"
    assert 5 <= run.progress.missing <= 6
    assert ask_all(some(100), model, log, stop_after=None, **options).stopped == ""


def test_failures_between_replies_do_not_stop_the_run(log):
    def say(question, attempt):
        odd = int(question[1:]) % 2
        return AskError("odd", passing=False) if odd else Reply("A")

    run = ask_all(some(40), Scripted(say), log, stop_after=2, concurrency=1)
    assert run.stopped == ""
    assert run.progress.missing == 20


def test_a_wait_that_the_server_asks_for_holds_all(log):
    def say(question, attempt):
        if question == "q0" and attempt == 1:
            return AskError("slow down", passing=True, wait=0.3)
        return Reply("A")

    model = Scripted(say)
    ask_all(some(10), model, log, concurrency=1, backoff=0.001)
    assert model.times[1] - model.times[0] >= 0.3
    model = Scripted(say, seconds=0.02)
    model.identity = "another"
    ask_all(some(10), model, log, concurrency=2, backoff=0.001)
    gaps = np.diff(model.times)
    assert gaps.max() >= 0.25


def test_a_wait_that_is_too_long_is_a_failure(log):
    model = Scripted(failing(99, wait=3600.0))
    run = ask_all(some(1), model, log, longest_wait=60)
    assert model.asked == {"q0": 1}
    assert run.errors == ("it is down",)


def test_backoff_doubles_with_jitter_up_to_a_limit(log, monkeypatch):
    slept, sleep = [], asyncio.sleep

    async def note(seconds):
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", note)
    options = {"attempts": 7, "backoff": 1.0, "longest_wait": 10.0, "concurrency": 1}
    ask_all(some(200), Scripted(failing(99)), log, stop_after=None, rng=1, **options)
    waits = np.array([seconds for seconds in slept if seconds]).reshape(200, 6)
    longest = np.array([1, 2, 4, 8, 10, 10])
    assert (waits <= longest).all()
    assert (waits >= longest / 2).all()
    assert np.allclose(waits.mean(axis=0), 0.75 * longest, rtol=0.05)


def test_requests_per_minute(log):
    model = Scripted()
    ask_all(some(6), model, log, requests_per_minute=1200)
    assert np.diff(model.times).min() >= 0.045
    assert model.times[-1] - model.times[0] >= 0.24


def test_tokens_per_minute_follow_what_the_server_counts(log):
    model = Scripted(lambda q, a: Reply("A", prompt_tokens=90, completion_tokens=10))
    start = time.monotonic()
    # 100 tokens each at 60,000 a minute: .1 s each, however long the limit.
    ask_all(some(6), model, log, tokens_per_minute=60_000, concurrency=1)
    assert time.monotonic() - start >= 0.45
    assert np.diff(model.times)[1:].min() >= 0.08
    assert model.times[-1] - model.times[0] <= 2.4


PRICES = Prices(prompt=1.0, completion=10.0)


def counted(question, attempt):
    return Reply("A", prompt_tokens=10, completion_tokens=5)


@pytest.mark.parametrize("concurrency", [1, 7])
def test_a_budget_is_used_and_never_exceeded(log, concurrency):
    model = Scripted(counted)
    # 60 millionths each; before it is known, at most 11 + 10 × 20.
    requests = some(100, max_tokens=20)
    budget = 1000e-6
    run = ask_all(
        requests, model, log, budget=budget, prices=PRICES, concurrency=concurrency
    )
    most = at_most(requests[0], PRICES).cost
    assert budget - most <= run.progress.use.cost <= budget
    assert run.progress.answered == model.asked.total()
    assert run.stopped == "the budget does not allow another request"
    assert run.errors[-1] == f"not asked: {run.stopped}"
    # What earlier runs spent counts: nothing more is asked.
    again = ask_all(requests, model, log, budget=budget, prices=PRICES)
    assert again.progress.answered == 0
    assert again.progress.use == run.progress.use
    more = ask_all(requests, model, log, budget=1.0, prices=PRICES)
    assert more.stopped == ""
    assert more.progress.use.cost == pytest.approx(100 * 60e-6)


def test_a_budget_of_tokens(log):
    run = ask_all(some(100, max_tokens=20), Scripted(counted), log, token_budget=300)
    assert 300 - 31 <= run.progress.use.tokens <= 300
    assert run.stopped


def test_where_the_server_does_not_count_the_estimate_stands(log):
    requests = some(3, max_tokens=20)
    run = ask_all(requests, Scripted(), log, prices=PRICES)
    assert run.progress.use.tokens == sum(at_most(r, PRICES).tokens for r in requests)


def test_failures_cost_nothing_and_give_the_reserve_back(log):
    model = Scripted(failing(99, passing=False))
    run = ask_all(some(10, max_tokens=20), model, log, token_budget=31, stop_after=None)
    assert model.asked.total() == 10
    assert run.progress.use.tokens == 0


def test_a_budget_of_money_needs_prices(log):
    with pytest.raises(ValidationError, match="needs prices"):
        ask_all(some(1), Scripted(), log, budget=1.0)
    for price in (-1.0, float("nan")):
        with pytest.raises(ValidationError, match="per million prompt tokens"):
            Prices(price, 1.0)


@pytest.mark.parametrize(
    "name", ["concurrency", "attempts", "requests_per_minute", "stop_after"]
)
def test_limits_that_make_no_sense(log, name):
    with pytest.raises(ValidationError, match=f"{name} is 0"):
        ask_all(some(1), Scripted(), log, **{name: 0})


def test_a_plan_asks_nothing(log):
    requests = some(10, max_tokens=20)
    ask_all(requests[:4], Scripted(), log)
    model = Scripted()
    planned = plan(
        [*requests, *requests], model, log, prices=PRICES, requests_per_minute=2
    )
    assert model.asked.total() == 0
    assert (planned.total, planned.from_log, planned.minutes) == (10, 4, 3.0)
    most = at_most(requests[0], PRICES)
    assert planned.most.tokens == 6 * most.tokens
    assert planned.most.cost == pytest.approx(6 * most.cost)
    assert str(planned).splitlines()[0] == "10 requests, 4 of them in the log: 6 to ask"
    by_tokens = plan(requests, model, log, tokens_per_minute=planned.most.tokens / 5)
    assert by_tokens.minutes == pytest.approx(5)


def test_progress_is_told_after_every_outcome(log):
    ask_all(some(2), Scripted(counted), log)
    seen = []

    def say(question, attempt):
        bad = question == "q3"
        return AskError("bad", passing=False) if bad else counted(question, attempt)

    run = ask_all(some(5), Scripted(say), log, progress=seen.append, concurrency=1)
    assert [p.done for p in seen] == [2, 3, 4, 5]
    assert [p.missing for p in seen] == [0, 0, 1, 1]
    assert [p.use.tokens for p in seen] == [30, 45, 45, 60]
    assert seen[-1] == run.progress


def test_a_bar(log, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr("sys.stdout", shown)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("COLUMNS", "200")
    ask_all(some(3), Scripted(counted), log, prices=PRICES, progress=True)
    assert "3/3" in shown.getvalue()
    assert "45 tokens, cost 0.0002" in shown.getvalue()


def in_a_notebook(*args, **options):
    """Ask from within a running loop, in which a cell of a notebook runs."""

    async def cell():
        return ask_all(*args, **options)

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(cell())
    finally:
        loop.close()


ask_anywhere = pytest.mark.parametrize("ask", [ask_all, in_a_notebook])


@ask_anywhere
def test_in_a_notebook_too(log, ask):
    assert ask(some(5), Scripted(), log).progress.answered == 5


@ask_anywhere
def test_a_fault_of_the_program_ends_the_run_and_keeps_the_log(log, ask):
    def say(question, attempt):
        return KeyError("a bug") if question == "q7" else Reply("A")

    with pytest.raises(KeyError, match="a bug"):
        ask(some(20), Scripted(say), log, concurrency=1)
    assert (log.replies()["error"] == "").sum() == 7
    assert ask(some(20), Scripted(), log).progress.from_log == 7


@pytest.fixture
def interruptible():
    """Let Python mind interrupts, which it does not when started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@ask_anywhere
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_run_soon_and_keeps_the_log(log, ask):
    def say(question, attempt):
        if question == "q5":
            os.kill(os.getpid(), signal.SIGINT)
        return Reply("A")

    with pytest.raises(KeyboardInterrupt):
        ask(some(1000), Scripted(say, seconds=0.02), log, concurrency=1)
    answered = (log.replies()["error"] == "").sum()
    assert 5 <= answered < 1000
    assert len(log.replies()) == 1000
    with log.writing():  # nothing holds it any more
        pass


def test_a_model_that_opens_something_is_entered_once(log):
    class Opened(Scripted):
        entered = 0
        is_open = False

        async def __aenter__(self):
            self.entered += 1
            self.is_open = True

        async def __aexit__(self, *_):
            self.is_open = False

        async def ask(self, request):
            assert self.is_open
            return await super().ask(request)

    model = Opened()
    ask_all(some(5), model, log)
    assert (model.entered, model.is_open) == (1, False)
    ask_all(some(5), model, log)  # all from the log: nothing to open
    assert model.entered == 1


def test_a_log_in_use_is_refused_before_anything_is_asked(log):
    model = Scripted()
    with log.writing(), pytest.raises(LogError, match="in use"):
        ask_all(some(1), model, log)
    assert model.asked.total() == 0


ITEMS = pd.DataFrame(
    {
        "item": [1, 2, 3],
        "question": ["one?", "two?", "three?"],
        "answer_a": ["a1", "a2", "a3"],
        "answer_b": ["b1", "b2", "b3"],
        "model_a": ["x", "x", "y"],
        "model_b": ["y", "z", "z"],
        "gold": ["A", "B", "A"],
    }
)


def prefers(text):
    """Judge that wants the answer with this text, wherever it stands."""

    def say(question, attempt):
        shown = [x for x in question.splitlines() if x[:1] in "ab" and x[1:].isdigit()]
        return Reply("AB"[[x[0] for x in shown].index(text)])

    return say


def test_both_orders_become_records_that_the_package_reads(log):
    records, run = judge(ITEMS, Scripted(prefers("a")), "pairwise", log, name="me")
    assert records["judge"].unique().tolist() == ["me"]
    assert records["item"].tolist() == [1, 1, 2, 2, 3, 3]
    assert records["swapped"].tolist() == [False, True] * 3
    assert records["verdict"].tolist() == ["A", "B"] * 3
    assert records["model_a"].tolist() == ["x", "y", "x", "z", "y", "z"]
    assert records["model_b"].tolist() == ["y", "x", "z", "x", "z", "y"]
    assert "question" not in records
    assert run.progress.answered == 6
    jl.check_pairwise(records, partner="order")
    pairs = jl.pair_orders(records)
    assert pairs["first"].tolist() == pairs["second"].tolist() == [0, 0, 0]
    assert pairs["gold"].tolist() == ["A", "B", "A"]
    [table] = jl.two_order_tables(records).tables
    assert jl.position_consistency(table).value == 1.0
    joined = records.merge(log.replies(), on="key", suffixes=("", "_log"))
    assert joined["item_log"].tolist() == ["1", "1", "2", "2", "3", "3"]
    assert joined["order"].tolist() == ["given", "swapped"] * 3


@pytest.mark.parametrize(
    ("orders", "swapped"), [("given", [False] * 3), ("swapped", [True] * 3)]
)
def test_one_order(log, orders, swapped):
    records, _ = judge(ITEMS, Scripted(prefers("a")), "pairwise", log, orders=orders)
    assert records["swapped"].tolist() == swapped
    assert records["verdict"].tolist() == ["B" if s else "A" for s in swapped]


def test_four_outcomes_stay_apart(log):
    said = {
        "one?": Reply("I like both."),
        "two?": Reply("Let me think: answer", "length"),
        "three?": Reply("I will not.", "refusal"),
        "four?": AskError("it is down", passing=False),
        "five?": Reply("C"),
    }

    def say(question, attempt):
        return next(v for k, v in said.items() if k in question.splitlines())

    items = pd.DataFrame(
        {"item": [*"abcde"], "question": [*said], "answer_a": "x", "answer_b": "y"}
    )
    records, _ = judge(items, Scripted(say), "pairwise-tie", log, orders="given")
    assert records["verdict"].tolist() == ["INVALID"] * 3 + ["MISSING", "TIE"]
    assert records["outcome"].tolist() == [
        *("unparsed", "truncated", "refusal", "missing", "answered")
    ]
    assert records["reason"].tolist()[3:] == ["it is down", ""]
    assert all(records["reason"][:3])


def test_the_log_is_parsed_again_without_asking(log):
    model = Scripted(prefers("b"))
    records, _ = judge(ITEMS, model, "pairwise", log, repeats=2, name="me")
    carried = ITEMS[["item", "model_a", "model_b", "gold"]]
    parse = find_prompt("pairwise").parse
    answers = log.answers(prompt="pairwise")
    again = to_records(answers, parse, items=carried, name="me")
    pd.testing.assert_frame_equal(again, records)
    plain = to_records(log.answers(), parse)
    assert plain["item"].tolist() == records["item"].astype(str).tolist()
    assert plain["judge"].unique().tolist() == ["scripted"]
    with pytest.raises(ValidationError, match="about '3', no item here"):
        to_records(log.answers(), parse, items=carried[:2])


def test_trials_differ_by_number_and_seed(log):
    model = Scripted(prefers("a"))
    options = {"orders": "given", "repeats": 3, "seed": 10, "temperature": 1.0}
    records, _ = judge(ITEMS[:1], model, "pairwise", log, **options)
    assert records["trial"].tolist() == [0, 1, 2]
    assert sorted(r.seed for r in model.requests) == [10, 11, 12]
    assert {r.temperature for r in model.requests} == {1.0}
    jl.check_pairwise(records)


def test_grades_are_ratings(log):
    items = pl.DataFrame(
        {"item": ["p", "q", "r"], "question": "?", "answer": ["7", "8", "no idea"]}
    )
    model = Scripted(lambda question, attempt: Reply(question.splitlines()[3]))
    records, _ = judge(items, model, "grade", log, name="me")
    assert "swapped" not in records
    assert "verdict" not in records
    assert records["label"].tolist()[:2] == [7.0, 8.0]
    assert np.isnan(records["label"][2])
    assert records["outcome"].tolist() == ["answered", "answered", "unparsed"]
    jl.check_ratings(records[records["outcome"] == "answered"])


def test_first_tokens_bring_their_log_odds(log):
    prompt = find_prompt("pairwise")
    reply = Reply("A", "length", {"A": -0.1, "B": -2.4})
    parse = partial(from_first_token, labels=prompt.labels)
    records, _ = judge(
        *(ITEMS, Scripted(lambda q, a: reply), prompt, log),
        **{"parse": parse, "top_logprobs": 2, "max_tokens": 1},
    )
    assert records["log_odds"].tolist() == pytest.approx([2.3] * 6)
    assert records["mass"].between(0.9, 1).all()


def test_a_json_reply_may_have_more_to_say(log):
    prompt = find_prompt("pairwise-json")
    names = {n: "because" for n in prompt.schema["properties"]} | {"verdict": "A"}
    reply = Reply(pd.Series(names).to_json())
    model = Scripted(lambda q, a: reply)
    records, _ = judge(ITEMS, model, prompt, log, orders="given")
    assert model.requests[0].schema == prompt.schema
    assert records["verdict"].tolist() == ["A"] * 3
    assert records["details"][0]


def test_another_version_of_a_prompt_is_asked_anew(log):
    text = "---\nversion: 1\nlabels: {A: A, B: B}\n---\n{{answer_a}} or {{answer_b}}?"
    items, model = ITEMS.drop(columns="question"), Scripted()
    judge(items, model, Prompt("mine", text), log)
    judge(items, model, Prompt("mine", text.replace("1", "2")), log)
    assert model.asked.total() == 12


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda x: x.drop(columns="item"), "no column 'item'; there are: question"),
        (lambda x: x.drop(columns="answer_b"), "no column 'answer_b'"),
        (lambda x: x.assign(verdict="A"), "a column 'verdict', and so will the record"),
        (lambda x: x.assign(item=["a", "b", "a"]), "row 3: there is another item 'a'"),
        (lambda x: x.assign(item=["a", "b", None]), "row 3: the item has no name"),
        (lambda x: x.assign(item=["a", " ", "b"]), "row 2: the item has no name"),
        (lambda x: x.assign(item=[1, float("nan"), 3]), "row 2: the item has no name"),
        (lambda x: x.assign(item=pd.array([1, 2, None], "Int64")), "row 3: the item"),
        (
            lambda x: pl.DataFrame(x.to_dict("list")).with_columns(item=None),
            "row 1: the",
        ),
        (lambda x: x.assign(item=[1, 2, 1]), "row 3: there is another item 1"),
        (
            lambda x: x.assign(answer_a=["a", None, "b"]),
            "item '2': prompt 'pairwise': a",
        ),
    ],
)
def test_items_that_cannot_be_asked(log, change, says):
    model = Scripted()
    with pytest.raises(ValidationError, match=says):
        judge(change(ITEMS), model, "pairwise", log)
    assert model.asked.total() == 0


@pytest.mark.parametrize("engine", [pl.DataFrame, pl.LazyFrame])
def test_items_of_any_engine(log, engine):
    items = engine(ITEMS.to_dict("list"))
    records, _ = judge(items, Scripted(prefers("a")), "pairwise", log)
    expected, _ = judge(ITEMS, Scripted(prefers("a")), "pairwise", log)
    pd.testing.assert_frame_equal(records, expected)


def test_orders_and_repeats_that_make_no_sense():
    with pytest.raises(ValidationError, match="orders is 'all'"):
        questions(ITEMS, "pairwise", orders="all")
    with pytest.raises(ValidationError, match="repeats is 0"):
        questions(ITEMS, "pairwise", repeats=0)


def test_questions_for_a_plan(log):
    requests = questions(ITEMS, "pairwise", repeats=2)
    assert len({r.key("x") for r in requests}) == len(requests) == 12
    assert plan(requests, Scripted(), log).total == 12
    judge(ITEMS, Scripted(prefers("a")), "pairwise", log, repeats=2)
    assert plan(requests, Scripted(), log).from_log == 12
