"""From documents to a ranked benchmark, with a scripted stand-in for a model."""

import asyncio
import itertools
import json
import re
import threading
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from judgelab.cli import app
from judgelab.errors import ValidationError
from judgelab.models.log import Log
from judgelab.models.request import AskError, Message, Reply, Request
from judgelab.papers import rankjudge as rj
from judgelab.papers.rankjudge import scripted
from judgelab.papers.rankjudge.asking import Unreadable, json_object

DOCUMENTS = rj.read_documents()
SHORT = rj.Document("short", "ml", "Too little to talk about.")


def made(writer, documents=DOCUMENTS, per_document=4):
    wanted = rj.candidates(documents, per_document=per_document)
    return rj.verify(rj.generate(wanted, writer), rj.WRITER)


# Conditions ---------------------------------------------------------------------------


def test_conditions_depend_on_the_pair_alone():
    forward = rj.candidates(DOCUMENTS, per_document=3)
    backward = rj.candidates(DOCUMENTS[::-1], per_document=3)
    assert {c.id: c for c in forward} == {c.id: c for c in backward}
    assert [c.conditions for c in forward] != [
        c.conditions for c in rj.candidates(DOCUMENTS, per_document=3, seed=1)
    ]


def test_the_sampler_is_uniform_or_the_papers():
    pairs = [f"{k:012x}" for k in range(4000)]
    uniform = Counter(rj.sample(p).assistant_behavior_type for p in pairs)
    assert max(abs(n / 4000 - 1 / 7) for n in uniform.values()) < 0.03
    drawn = [rj.sample(p, uniform=False) for p in pairs]
    kinds = Counter(c.assistant_behavior_type for c in drawn)
    for name, weight in rj.weights("failure").items():
        assert kinds[name] / 4000 == pytest.approx(weight, abs=0.03)
    rounds = Counter(str(c.n_rounds) for c in drawn)
    assert rounds["5"] / 4000 == pytest.approx(0.3, abs=0.03)
    assert np.mean([c.better_is_a for c in drawn]) == pytest.approx(0.5, abs=0.03)


def test_two_documents_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValidationError, match="two documents are called 'short'"):
        rj.candidates([SHORT, SHORT])
    with pytest.raises(ValidationError, match="no folder"):
        rj.read_documents(tmp_path / "none")
    with pytest.raises(ValidationError, match=r"has no \.txt or \.md file"):
        rj.read_documents(tmp_path)
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "a.txt").write_text("One.", "utf-8")
    (tmp_path / "b.md").write_text("Two.", "utf-8")
    found = rj.read_documents(tmp_path)
    assert [(d.domain, d.id) for d in found] == [("own", "b"), ("law", "a")]
    (tmp_path / "c.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValidationError, match="not UTF-8"):
        rj.read_documents(tmp_path)


# What goes wrong is counted -----------------------------------------------------------


def test_a_sound_writer_loses_pairs_only_to_the_checks():
    fates = made(rj.WRITER)
    table = rj.survival(fates)
    row = table.loc["all"]
    lost = sum(row[layer] for layer in ("coherence", "adherence", "grounding"))
    assert row["document"] == row["generation"] == 0
    assert row["candidates"] == 36 == lost + row["survived"]
    assert len(rj.survivors(fates)) == row["survived"] > 15
    for by in ("failure", "user_behavior", "domain"):
        assert rj.survival(fates, by=by)["candidates"].sum() == 36
    with pytest.raises(ValidationError, match="choose from all, failure"):
        rj.survival(fates, by="judge")
    with pytest.raises(ValidationError, match="no candidates"):
        rj.survival([])


@pytest.mark.parametrize(
    ("fault", "layer", "reason"),
    [
        ("wrong turn count", "generation", "wrong turn count"),
        ("not JSON", "generation", "not JSON"),
        ("cut off", "generation", "cut off"),
        ("unknown failure letter", "generation", "unknown failure letter"),
        ("two flawed turns", "adherence", "two flawed turns"),
    ],
)
def test_every_fault_is_counted_under_its_own_name(fault, layer, reason):
    writer = rj.Scripted("faulty", faults={fault: 1.0})
    fates = made(writer, [*DOCUMENTS, SHORT], per_document=2)
    counts = {
        (row.layer, row.reason): row.pairs
        for row in rj.losses(fates).itertuples(index=False)
    }
    assert counts[layer, reason] >= (18 if layer == "generation" else 8)
    assert counts["document", "document too short"] == 2
    assert sum(counts.values()) + len(rj.survivors(fates)) == 20


def test_a_fault_that_passes_costs_nothing_but_a_second_attempt():
    writer = rj.Scripted("now and then", faults={"not JSON": 0.4})
    requests = []

    def ask(batch):
        requests.append(len(batch))
        return writer(batch)

    wanted = rj.candidates(DOCUMENTS, per_document=2)
    fates = rj.generate(wanted, ask)
    assert requests[0] == 36
    assert requests[0] > requests[1] > requests[2] > 0
    lost = Counter(fate.reason for fate in fates)
    assert set(lost) <= {"", "not JSON"}
    # Three attempts fail together in .064 of the conversations.
    assert lost[""] > 10


def reply_of(plan, n=3, **more):
    turns = [
        {"role": role, "content": "words"}
        for _ in range(n)
        for role in ("user", "assistant")
    ]
    return Reply(json.dumps({"plan": plan, "conversation": turns} | more))


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ({"bad_round_index": [1, 3]}, "two flawed turns"),
        ({"bad_round_index": 9}, "no such round"),
        ({"bad_round_index": "two"}, "wrong fields"),
        ({"bad_round_index": True}, "wrong fields"),
        ({"problem_type": "A"}, "another failure"),
        ({"problem_type": "H"}, "unknown failure letter"),
        ({"problem_type": None}, "unknown failure letter"),
        ({"reasoning": 7}, "wrong fields"),
        ("a text", "wrong fields"),
    ],
)
def test_what_is_wrong_in_the_plan_of_the_worse_branch_has_a_name(plan, reason):
    conditions = rj.Conditions("focused", "evasion", 3, True)
    candidate = rj.Candidate("d" * 12, DOCUMENTS[0], conditions)
    sound = {"reasoning": "Round 1: …", "bad_round_index": 2, "problem_type": "B"}

    def writer(requests):
        return [
            reply_of("Round 1: …")
            if "better" in request.messages[0].content.splitlines()[0]
            else reply_of(sound | plan if isinstance(plan, dict) else plan)
            for request in requests
        ]

    (fate,) = rj.generate([candidate], writer)
    assert (fate.layer, fate.reason) == ("generation", reason)


def test_turns_out_of_order_are_told_from_a_wrong_number():
    conditions = rj.Conditions("focused", "evasion", 3, True)
    candidate = rj.Candidate("d" * 12, DOCUMENTS[0], conditions)
    swapped = json.loads(reply_of("Round 1: …").text)
    swapped["conversation"].reverse()
    (fate,) = rj.generate([candidate], lambda r: [Reply(json.dumps(swapped))] * len(r))
    assert fate.reason == "turns out of order"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (None, "no reply"),
        (Reply("{}", "length"), "cut off"),
        (Reply("{}", "refusal"), "refused"),
        (Reply(""), "not JSON"),
        (Reply("[1]"), "not JSON"),
        (Reply('{"a": 1, "a": 2}'), "not JSON"),
        (Reply('{"a": 1} and more'), "not JSON"),
        (Reply("[" * 100_000), "not JSON"),
    ],
)
def test_only_one_json_object_is_a_reply(reply, reason):
    with pytest.raises(Unreadable) as problem:
        json_object(reply)
    assert problem.value.reason == reason


def test_a_fence_and_thinking_aloud_are_no_hindrance():
    assert json_object(Reply('```json\n{"a": 1}\n```')) == {"a": 1}
    assert json_object(Reply('<think>{"a": 2}</think>\n{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "# Heading\n" * 60,
        "word " * 200,
        "One sentence. Another one! " * 30,
        "A line.\r\n" * 80,
        "{{ context }} {% raw %} </document> <letter>A</letter> " * 20,
        "Ünïcödé – “quoted” 文字。 " * 40,
    ],
)
def test_any_text_can_be_a_document(text):
    document = rj.Document("odd", "own", text)
    result = rj.verify(
        rj.generate(rj.candidates([document], per_document=8), rj.WRITER), rj.WRITER
    )
    assert all(fate.layer != "generation" for fate in result)


def test_a_check_that_cannot_be_read_is_a_loss_of_its_layer():
    generated = rj.generate(rj.candidates(DOCUMENTS), rj.WRITER)

    def checker(requests):
        return [Reply("fine by me")] * len(requests)

    fates = rj.verify(generated, checker)
    assert {(f.layer, f.reason) for f in fates} == {("coherence", "not JSON")}
    assert all(f.verification is not None for f in fates)
    fates = rj.verify(generated, lambda requests: [None] * len(requests))
    assert {f.reason for f in fates} == {"no reply"}
    assert rj.survivors(fates) == []


# The stand-in obeys its law -----------------------------------------------------------


@pytest.fixture(scope="module")
def items():
    return rj.survivors(made(rj.WRITER, per_document=40))


def test_a_scripted_pair_has_exactly_its_one_flaw(items):
    for item in items:
        numbered = dict(enumerate((t.content for t in item.worse[1::2]), start=1))
        meta = item.metadata
        assert scripted._flaws(numbered) == {
            meta.bad_round_index: meta.assistant_behavior_type
        }
        better = dict(enumerate((t.content for t in item.better[1::2]), start=1))
        assert scripted._flaws(better) == {}


def questions(conversation):
    return [turn.content for turn in conversation[::2]]


def test_nobody_asks_about_what_was_to_be_left_out(items):
    kind = "instruction_forgetting"
    told = [i for i in items if i.metadata.assistant_behavior_type == kind]
    assert len(told) > 10
    for item in told:
        for conversation in (item.better, item.worse):
            first, *later = questions(conversation)
            asked, wish = first.split(" Please leave out ")
            topic = wish.removesuffix(", here and later on.")
            assert not any(topic in question for question in [asked, *later])


def test_a_question_back_offers_two_different_things(items):
    answers = [turn.content for item in items for turn in item.better[1::2]]
    offered = [re.match(r"Do you mean (.+?) or (.+?)\?", text) for text in answers]
    pairs = [found.groups() for found in offered if found]
    assert len(pairs) > 5
    assert all(one != other for one, other in pairs)


def test_the_fault_for_audits_breaks_the_instruction_in_the_better_one_alone():
    writer = rj.Scripted("careless", faults={rj.BREAKS_INSTRUCTION: 1.0})
    pairs = rj.survivors(made(writer, per_document=20))
    broken = 0
    for item in pairs:
        for conversation in (item.better, item.worse):
            first, *later = questions(conversation)
            topic = first.partition(" Please leave out ")[2]
            topic = topic.removesuffix(", here and later on.")
            asks = bool(topic) and any(topic in question for question in later)
            assert asks == (bool(topic) and conversation is item.better)
            broken += asks
    # No check of the pipeline looks for it.
    assert broken > 5


def test_a_text_on_one_subject_has_something_else_to_leave_out():
    text = "## Soap\n" + "Soap loosens fat from the skin. Water carries it away. " * 9
    document = rj.Document("soap", "own", text)
    conditions = rj.Conditions("focused", "no_clarification", 3, True)
    candidate = rj.Candidate("a" * 12, document, conditions)
    (fate,) = rj.generate([candidate], rj.WRITER)
    answers = " ".join(turn.content for turn in fate.item.better[1::2])
    assert "Do you mean soap or anything else?" in answers


def test_pairs_under_the_same_conditions_are_not_the_same_pair():
    conditions = rj.Conditions("focused", "evasion", 3, True)
    wanted = [
        rj.Candidate(name * 12, DOCUMENTS[0], conditions) for name in ("a", "b", "c")
    ]
    texts = {fate.item.convo_a for fate in rj.generate(wanted, rj.WRITER)}
    assert len(texts) == 3


def test_a_scripted_judge_is_right_as_often_as_its_law_says(items):
    judge = rj.Scripted("known", skill=0.7)
    table = rj.grades(rj.judge_pairs(items, {"known": judge}))
    expected = []
    for item in items:
        slots = {
            slot: {k: t.content for k, t in enumerate(convo[1::2], start=1)}
            for slot, convo in (("A", item.convo_a), ("B", item.convo_b))
        }
        kind = item.metadata.assistant_behavior_type
        gap = judge.skill - scripted.difficulty(slots, kind)
        expected.append(1 / (1 + np.exp(-gap)))
    error = np.sqrt(np.sum(np.multiply(expected, np.subtract(1, expected))))
    assert abs(table.table.sum() - sum(expected)) < 3 * error


def test_the_order_of_the_requests_makes_no_difference(items):
    ask = rj.PANEL["scripted-dumper"]
    forward = rj.judge_pairs(items[:20], {"x": ask})
    backward = rj.judge_pairs(items[:20][::-1], {"x": ask})
    assert forward == backward[::-1]


def test_a_wrong_scripted_parameter_is_refused():
    with pytest.raises(ValidationError, match="unknown faults"):
        rj.Scripted(faults={"sleepy": 1.0})
    with pytest.raises(ValidationError, match="evasion_bin is 2"):
        rj.Scripted(evasion_bin=2)
    reply = asyncio.run(rj.WRITER.ask(Request((Message("user", "Tell me a joke"),))))
    assert reply.finish == "refusal"


# All in one, and nothing asked twice --------------------------------------------------


class Counted:
    """A scripted model that counts, and fails once in a while if told to."""

    def __init__(self, model, fails=False):
        self.model, self.fails, self.asked = model, fails, Counter()
        self.identity = model.identity

    async def ask(self, request):
        key = request.key(self.identity)
        if self.fails and int(key[:2], 16) < 20:
            raise AskError("down", passing=False)
        self.asked[key] += 1
        return await self.model.ask(request)


def run(log, fails=False):
    writer = Counted(rj.WRITER, fails)
    judges = {name: Counted(judge, fails) for name, judge in rj.PANEL.items()}
    result = rj.run(
        DOCUMENTS,
        rj.asking(writer, log, stop_after=None),
        {
            name: rj.asking(judge, log, stop_after=None)
            for name, judge in judges.items()
        },
        per_document=4,
    )
    asked = writer.asked + sum((judge.asked for judge in judges.values()), Counter())
    return result, asked


def test_a_run_that_failed_in_part_goes_on_and_asks_nothing_twice(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    broken, first = run(log, fails=True)
    whole, second = run(log)
    again, third = run(log)
    alone, all_at_once = run(Log(tmp_path / "other.sqlite"))
    assert not set(first) & set(second)
    assert set(first) | set(second) >= set(all_at_once)
    assert max((first + second).values()) == 1
    assert not third
    assert whole.matches == again.matches == alone.matches
    assert "no reply" in set(rj.losses(broken.fates)["reason"])
    assert broken.grades.table.shape[1] < whole.grades.table.shape[1]
    assert np.isnan(broken.grades.table).any()


def test_results_are_written_and_read_back(tmp_path):
    result, _ = run(Log(tmp_path / "log.sqlite"))
    result.save(tmp_path / "out")
    assert rj.load(rj.Item, tmp_path / "out/pairs.json") == result.items
    assert tuple(rj.load(rj.Match, tmp_path / "out/matches.json")) == result.matches
    checks = rj.load(rj.Verification, tmp_path / "out/verification.json")
    assert sum(check.passed for check in checks) == len(result.items)
    board = (tmp_path / "out/leaderboard.csv").read_text("utf-8").splitlines()
    assert len(board) == 1 + len(rj.PANEL)


def nobody(requests):
    raise AssertionError(f"{len(requests)} requests were sent")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judges": {"x": nobody}}, "1 judges make no ranking"),
        ({"documents": [SHORT]}, "all 8 are too short"),
        ({"documents": [SHORT, *DOCUMENTS[:1]], "per_document": 4}, "per_document=8"),
        (
            {"per_document": 1, "judges": dict.fromkeys("xyz", nobody)},
            "9 pairs are too",
        ),
        ({"per_document": 0}, "per_document is 0"),
        ({"per_document": 1.5}, "per_document is 1.5"),
        ({"documents": DOCUMENTS[:2] * 2}, "two documents are called"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 0.5}, "seed is 0.5"),
        ({"orders": ()}, "orders is"),
        ({"orders": ("BA",)}, "orders is"),
        ({"orders": ("AB", "AB")}, "orders is"),
        ({"orders": ("AB", "CD")}, "orders is"),
        ({"hardest": 1.0}, "hardest is 1.0"),
    ],
)
def test_what_cannot_end_well_is_refused_before_anybody_is_asked(change, message):
    sound = {
        "documents": DOCUMENTS,
        "writer": nobody,
        "judges": {"x": nobody, "y": nobody},
        "per_document": 8,
    }
    with pytest.raises(ValidationError, match=message):
        rj.run(**sound | change)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"concurrency": 0}, "concurrency"),
        ({"budget": 1.0}, "needs prices"),
    ],
)
def test_a_judge_that_cannot_be_asked_so_is_refused_at_once(tmp_path, options, message):
    """And not when the writer has been paid."""
    log = Log(tmp_path / "log.sqlite")
    with pytest.raises(ValidationError, match=message):
        rj.asking(rj.WRITER, log, **options)
    assert list(log.answers()) == []


def test_where_the_checks_leave_too_few_pairs_the_judges_are_not_asked(tmp_path):
    def strict(requests):
        return [Reply("not good enough")] * (len(requests) - 4) + [
            *rj.WRITER(requests[-4:])
        ]

    judges = {"x": nobody, "y": nobody}
    found = rj.run(DOCUMENTS, rj.WRITER, judges, checker=strict, per_document=2)
    assert "of 18 pairs passed the checks" in found.stopped
    assert found.matches == ()
    assert sum(fate.item is not None for fate in found.fates) == 18
    with pytest.raises(ValidationError, match="too few to rank 2 judges"):
        _ = found.grades
    found.save(tmp_path)
    assert rj.load(rj.Item, tmp_path / "pairs.json") == found.items
    assert "not JSON" in (tmp_path / "losses.csv").read_text("utf-8")
    assert leaderboard(tmp_path) == "rank,judge,elo,low,high,pairs\n"


def test_a_judge_that_never_answers_is_named():
    judges = rj.PANEL | {"gone": lambda requests: [None] * len(requests)}
    found = rj.run(DOCUMENTS, rj.WRITER, judges, per_document=4)
    with pytest.raises(ValidationError, match="gone answered nothing"):
        _ = found.curation
    assert found.leaderboard() == []


# The command line, offline and against an endpoint ------------------------------------

cli = CliRunner()


def leaderboard(folder):
    return (folder / "leaderboard.csv").read_text("utf-8")


def test_the_command_goes_from_documents_to_a_ranking(tmp_path):
    out = tmp_path / "out"
    command = ["rankjudge", "run", "--model", "scripted", "--out", str(out)]
    done = cli.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "no language model" in done.output
    assert "flaw not there" in done.output
    board = leaderboard(out)
    assert board.splitlines()[1].startswith("1.0,scripted-sharp")
    assert cli.invoke(app, command).exit_code == 0
    assert leaderboard(out) == board


def test_another_model_can_do_the_checks(tmp_path):
    command = ["rankjudge", "run", "--model", "scripted", "--per-document", "3"]
    checker = ["--checker", "scripted-steady", "--out", str(tmp_path)]
    assert cli.invoke(app, [*command, *checker]).exit_code == 0
    asked = Counter(
        (a.identity.split("'name': '")[1].split("'")[0], a.request.tags["prompt"])
        for a in Log(tmp_path / "log.sqlite").answers()
        if a.request.tags["prompt"].startswith("rankjudge/")
    )
    assert {name for name, prompt in asked if "good" in prompt} == {"scripted-writer"}
    checks = {name for name, prompt in asked if "ground" in prompt}
    assert checks == {"scripted-steady"}


def test_a_file_of_matches_is_ranked(tmp_path):
    out = str(tmp_path / "out")
    command = ["rankjudge", "run", "--model", "scripted", "--out", out]
    cli.invoke(app, [*command, "--per-document", "4"])
    file = str(tmp_path / "out" / "matches.json")
    done = cli.invoke(app, ["rankjudge", "rank", file, "--method", "mm"])
    assert done.exit_code == 0, done.output
    assert "joint, strict, mm, cluster" in done.output
    done = cli.invoke(app, ["rankjudge", "rank", file, "--interval", "model"])
    assert "conditional, model" in done.output
    done = cli.invoke(app, ["rankjudge", "rank", file, "--criterion", "all"])
    assert "choose from joint" in str(done.exception)
    page = (tmp_path / "out" / "pairs.html").read_text("utf-8")
    assert "no language model" in page


def test_without_a_ranking_the_command_shows_the_shares_and_says_why(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.md").write_text(DOCUMENTS[0].context, "utf-8")
    more = ["--judges", "scripted-sharp,scripted-hasty", "--per-document", "8"]
    more += ["--seed", "1"]
    where = ["--documents", str(texts), "--out", str(tmp_path / "out")]
    run = ["rankjudge", "run", "--model", "scripted"]
    done = cli.invoke(app, [*run, *more, *where])
    assert isinstance(done.exception, ValidationError)
    assert "no ranking: " in str(done.exception)
    assert "rankjudge rank" in str(done.exception)
    assert "scripted-sharp: all right on" in done.output
    kept = rj.load(rj.Match, tmp_path / "out" / "matches.json")
    assert {match.model.name for match in kept} == {"scripted-sharp", "scripted-hasty"}


def test_the_command_says_before_it_asks_that_pairs_will_be_too_few(tmp_path):
    command = ["rankjudge", "run", "--model", "scripted", "--per-document", "2"]
    done = cli.invoke(app, [*command, "--out", str(tmp_path)])
    assert isinstance(done.exception, ValidationError)
    assert "--per-document 3" in str(done.exception)
    assert list(Log(tmp_path / "log.sqlite").answers()) == []


def test_more_pairs_keep_the_replies_to_the_first_ones(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    writer = rj.asking(rj.WRITER, log)
    rj.generate(rj.candidates(DOCUMENTS, per_document=2), writer)
    before = len(list(log.answers()))
    rj.generate(rj.candidates(DOCUMENTS, per_document=3), writer)
    assert len(list(log.answers())) == before * 3 / 2


def test_the_command_refuses_what_makes_no_sense(tmp_path):
    out = ["--out", str(tmp_path / "out")]
    for more, message in (
        (["--model", "scripted", "--judges", "scripted-sharp"], "two or more"),
        (
            ["--model", "scripted", "--judges", "scripted-sharp,scripted-x"],
            "no scripted judge",
        ),
        (["--model", "some"], "name the judges"),
        (["--model", "scripted", "--documents", str(tmp_path)], "no .txt"),
        (["--model", "scripted", "--out", f"{__file__}/x"], "cannot be a folder"),
    ):
        done = cli.invoke(app, ["rankjudge", "run", *out, *more])
        assert isinstance(done.exception, ValidationError)
        assert message in str(done.exception)


@pytest.fixture
def endpoint():
    """The scripted models behind an OpenAI-compatible address."""
    models = {"writer": rj.WRITER, **rj.PANEL}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = tuple(
                Message(each["role"], each["content"]) for each in body["messages"]
            )
            request = Request(messages, seed=body.get("seed"))
            reply = asyncio.run(models[body["model"]].ask(request))
            content = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": reply.finish,
                        "message": {"role": "assistant", "content": reply.text},
                    }
                ],
                "usage": {
                    "prompt_tokens": reply.prompt_tokens,
                    "completion_tokens": reply.completion_tokens,
                    "total_tokens": reply.prompt_tokens + reply.completion_tokens,
                },
            }
            text = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_same_command_runs_against_an_endpoint(tmp_path, endpoint, monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.delenv("JUDGELAB_API_KEY", raising=False)
    names = "scripted-sharp,scripted-leaning,scripted-hasty"
    shared = ["--judges", names, "--per-document", "6"]
    over = [
        "--model",
        "writer",
        "--base-url",
        endpoint,
        "--out",
        str(tmp_path / "http"),
    ]
    done = cli.invoke(app, ["rankjudge", "run", *shared, *over])
    assert done.exit_code == 0, done.output
    local = ["--model", "scripted", "--out", str(tmp_path / "local")]
    assert cli.invoke(app, ["rankjudge", "run", *shared, *local]).exit_code == 0
    assert leaderboard(tmp_path / "http") == leaderboard(tmp_path / "local")
    one, two = (
        rj.load(rj.Match, tmp_path / name / "matches.json")
        for name in ("http", "local")
    )
    # Who answered is named differently; what was said is the same.
    assert [replace(m, model=n.model) for m, n in zip(one, two, strict=True)] == two


# Whatever a model replies -------------------------------------------------------------

words = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | words,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw, sound):
    """Replies that are right but for one place, at any depth."""
    value = json.loads(draw(st.sampled_from(sound)))
    holder, key = value, draw(st.sampled_from([*value]))
    while isinstance(holder[key], (dict, list)) and holder[key] and draw(st.booleans()):
        holder = holder[key]
        keys = [*holder] if isinstance(holder, dict) else range(len(holder))
        key = draw(st.sampled_from(keys))
    if draw(st.booleans()):
        holder[key] = draw(values)
    else:
        del holder[key]
    return Reply(json.dumps(value))


def sound_replies():
    """One reply to every kind of question."""
    found = []

    def spy(requests):
        replies = rj.WRITER(requests)
        found.extend(reply.text for reply in replies[:4])
        return replies

    rj.verify(rj.generate(rj.candidates(DOCUMENTS[:2]), spy), spy)
    return found


odd = st.builds(
    Reply,
    words | values.map(json.dumps),
    st.sampled_from(["stop", "length", "refusal"]),
)
VERDICT = '{"analysis": "…", "turn": 2, "failure": "evasion", "verdict": "A"}'


@given(st.lists(odd | st.none() | damaged(sound_replies()), min_size=1, max_size=4))
def test_no_reply_of_a_writer_or_checker_stops_the_run(several):
    cycle = itertools.cycle(several)

    def ask(requests):
        return [next(cycle) for _ in requests]

    wanted = rj.candidates(DOCUMENTS[:2])
    for fate in rj.generate(wanted, ask):
        assert (fate.item is None) == (fate.layer == "generation") == bool(fate.reason)
    for fate in rj.verify(rj.generate(wanted, rj.WRITER), ask):
        assert bool(fate.layer) == bool(fate.reason)
        assert bool(fate.layer) != fate.verification.passed


@given(reply=odd | st.none() | damaged([VERDICT]), order=st.sampled_from(["AB", "BA"]))
def test_every_reply_of_a_judge_is_a_match(items, reply, order):
    match = rj.read_match(reply, items[0], "x", order=order)
    assert match.missing == (reply is None)
    assert (match.judge.answer is None) == (match.judge.correct is None)
    if match.judge.answer is None:
        assert match.invalid
    for rule in ("strict", "released"):
        rj.grades([match], rule=rule, order=order)
    assert rj.read(rj.Match, rj.as_json(match)) == match
