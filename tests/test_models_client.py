"""The client against a real server, which behaves well and badly."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import sys
import traceback

import pytest

pytest.importorskip("openai")

from misbehaving_server import MisbehavingServer

from judgelab.errors import MissingExtra, ValidationError
from judgelab.models import AskError, Endpoint, Message, Request
from judgelab.models._wire import from_body

KEY = "sk-secret-0123456789/+abc"
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["A", "B"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("BASE_URL", "MODEL_NAME", "API_KEY"):
        monkeypatch.delenv(f"JUDGELAB_{name}", raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def asking(behaviour, request=None, **options):
    """Ask a server that behaves so; return the reply and the server."""
    with MisbehavingServer(lambda question, times: behaviour) as server:
        endpoint = Endpoint("m", server.base_url, **options)
        request = request or Request((Message("user", "which?"),))
        return asyncio.run(endpoint.ask(request)), server


def fault(behaviour, **options) -> AskError:
    with pytest.raises(AskError) as caught:
        asking(behaviour, **options)
    return caught.value


def test_sends_all_that_is_asked_and_reads_all_that_comes():
    request = Request(
        (Message("system", "be just"), Message("user", "which?")),
        temperature=0.5,
        max_tokens=7,
        seed=3,
        top_logprobs=2,
        schema=SCHEMA,
        tags={"item": "never sent"},
    )
    reply, server = asking("ok B", request, extra={"top_p": 0.9}, api_key=KEY)
    assert server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be just"},
                {"role": "user", "content": "which?"},
            ],
            "temperature": 0.5,
            "max_tokens": 7,
            "seed": 3,
            "logprobs": True,
            "top_logprobs": 2,
            "top_p": 0.9,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
            },
        }
    ]
    assert server.headers["authorization"] == f"Bearer {KEY}"
    assert (reply.text, reply.finish) == ("B", "stop")
    assert reply.first_token == {"A": -0.1, "B": -2.4}
    assert (reply.prompt_tokens, reply.completion_tokens) == (3, 1)
    assert (reply.model, reply.fingerprint) == ("m-2026", "fp_1")
    assert reply.fallbacks == ()


def test_a_plain_request_sends_no_more_than_it_must():
    _, server = asking("ok")
    assert set(server.bodies[0]) == {"model", "messages", "temperature", "max_tokens"}


@pytest.mark.parametrize(
    ("behaviour", "text", "finish"),
    [
        ("cut-off", "Let me think", "length"),
        ("refuse", "I cannot judge this.", "refusal"),
        ("filtered", "", "refusal"),
        ("filtered-prompt", "", "refusal"),
        ("no-text", "", "stop"),
        ('json-text "half \\ud83d pair\\u0000"', "half � pair\0", "stop"),
    ],
)
def test_a_reply_says_how_it_ended(behaviour, text, finish):
    reply, _ = asking(behaviour)
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    ("behaviour", "passing", "everywhere", "says"),
    [
        ("status 429", True, False, "answered 429: status 429"),
        ("status 500", True, False, "answered 500"),
        ("status 503", True, False, "answered 503"),
        ("status 408", True, False, "answered 408"),
        ("status 400", False, False, "answered 400"),
        ("status 422", False, False, "answered 422"),
        ("status 403", False, False, "answered 403"),
        ("status 401", False, True, "does not accept the key; set JUDGELAB_API_KEY"),
        (
            "status 404",
            False,
            True,
            "is 'm' a model there, does the address end in /v1",
        ),
        ("no-money", False, True, "no credit"),
        ("half", True, False, "no connection"),
        ("closed", True, False, "no connection"),
        ("not-json", True, False, "a response that is not a reply: <html>"),
        ("wrong-schema", True, False, "a response that is not a reply: {'hello': 1}"),
        ('wrong-schema {"choices": []}', True, False, "not a reply"),
        ('wrong-schema {"choices": [{"message": {}}]}', True, False, "not a reply"),
        (
            'wrong-schema {"choices": [{"message": {"content": 5}}]}',
            True,
            False,
            "not a",
        ),
        ("wrong-schema [[1]]", True, False, "not a reply"),
        ('wrong-schema {"error": "model crashed"}', True, False, "complaint: model cr"),
        (
            'wrong-schema {"error": {"message": "model crashed"}}',
            True,
            False,
            "complai",
        ),
        ("error-in-200 502", True, False, "answered 502: upstream failed"),
        ("error-in-200 400", False, False, "answered 400: upstream failed"),
    ],
)
def test_a_fault_says_whether_it_may_pass(behaviour, passing, everywhere, says):
    error = fault(behaviour)
    assert says in str(error)
    assert (error.passing, error.everywhere) == (passing, everywhere)
    assert error.wait is None


def test_a_slow_server_is_given_up():
    error = fault("slow 5", timeout=0.2)
    assert error.passing
    assert "within 0.2 s" in str(error)


def test_nobody_at_the_address():
    with MisbehavingServer() as server:
        address = server.base_url
    with pytest.raises(AskError, match=f"no connection to {address}") as caught:
        asyncio.run(Endpoint("m", address).ask(Request((Message("user", "x"),))))
    assert caught.value.passing


def test_the_client_itself_never_tries_again():
    with MisbehavingServer(lambda question, times: "status 500") as server:
        endpoint = Endpoint("m", server.base_url)
        with pytest.raises(AskError):
            asyncio.run(endpoint.ask(Request((Message("user", "x"),))))
    assert server.asked == {"x": 1}


@pytest.mark.parametrize(
    ("behaviour", "low", "high"),
    [
        ("wait-ms 250", 0.25, 0.25),
        ("wait-seconds 7", 7, 7),
        ("wait-seconds -7", 0, 0),
        ("wait-until 30", 28, 30),
        ("wait-until -30", 0, 0),
    ],
)
def test_how_long_the_server_asks_to_wait(behaviour, low, high):
    error = fault(behaviour)
    assert error.passing
    assert low <= error.wait <= high


@pytest.mark.parametrize("words", ["soon", "nan", "inf", ""])
def test_no_sense_in_what_the_server_asks(words):
    assert fault(f"wait-seconds {words}").wait is None


@pytest.mark.parametrize(
    ("names", "losses"),
    [
        ("response_format", ("schema",)),
        ("logprobs", ("logprobs",)),
        ("top_logprobs", ("logprobs",)),
        ("seed", ("seed",)),
        ("temperature", ("temperature",)),
        ("seed,logprobs,response_format", ("logprobs", "schema", "seed")),
    ],
)
def test_what_a_server_cannot_do_is_left_out_and_said(names, losses):
    request = Request(
        (Message("user", "x"),), seed=1, top_logprobs=2, schema=SCHEMA, trial=1
    )
    with MisbehavingServer(lambda question, times: f"without {names}") as server:
        endpoint = Endpoint("m", server.base_url)
        reply = asyncio.run(endpoint.ask(request))
        refusals = len(server.bodies) - 1
        again = asyncio.run(endpoint.ask(request))
    assert reply.fallbacks == again.fallbacks == losses
    # One refusal for each, and none the second time: it is remembered.
    assert (refusals, len(server.bodies)) == (len(losses), len(losses) + 2)
    assert reply.first_token == ({} if "logprobs" in losses else {"A": -0.1, "B": -2.4})


def test_a_request_that_asks_for_less_lost_nothing():
    with MisbehavingServer(lambda question, times: "without seed") as server:
        endpoint = Endpoint("m", server.base_url)
        seeded = Request((Message("user", "x"),), seed=1)
        assert asyncio.run(endpoint.ask(seeded)).fallbacks == ("seed",)
        plain = Request((Message("user", "x"),))
        assert asyncio.run(endpoint.ask(plain)).fallbacks == ()


def test_a_complaint_about_something_else_teaches_nothing():
    def decide(question, times):
        return "status 400" if question == "too long" else "ok"

    with MisbehavingServer(decide) as server:
        endpoint = Endpoint("m", server.base_url)
        with pytest.raises(AskError):
            asyncio.run(endpoint.ask(Request((Message("user", "too long"),), seed=1)))
        asyncio.run(endpoint.ask(Request((Message("user", "short"),), seed=1)))
    assert [body.get("seed") for body in server.bodies] == [1, 1]


def test_the_newer_word_for_the_limit():
    said = '{"error": {"message": "no max_tokens here: use max_completion_tokens"}}'

    def decide(question, times):
        limit = "max_tokens" in server.bodies[-1]
        return f"bad-request {said}" if limit else "ok"

    with MisbehavingServer(decide) as server:
        endpoint = Endpoint("m", server.base_url)
        reply = asyncio.run(endpoint.ask(Request((Message("user", "x"),))))
    assert reply.fallbacks == ()
    assert server.bodies[-1]["max_completion_tokens"] == 512


def test_logprobs_that_a_server_ignores_are_a_loss():
    request = Request((Message("user", "x"),), top_logprobs=2)
    body = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    reply, _ = asking(f"wrong-schema {json.dumps(body)}", request)
    assert (reply.text, reply.first_token) == ("A", {})
    assert reply.fallbacks == ("logprobs",)


def test_two_tokens_that_are_written_alike_are_one():
    likely = [{"token": "A", "logprob": v} for v in (-1.0, -1.0, float("-inf"))]
    choice = {
        "message": {"content": [{"type": "text", "text": "A"}]},
        "logprobs": {"content": [{"top_logprobs": likely}]},
    }
    reply, _ = asking(f"wrong-schema {json.dumps({'choices': [choice]})}")
    assert reply.text == "A"
    assert reply.first_token == pytest.approx({"A": -1.0 + 0.6931471805599453})


@pytest.mark.parametrize("behaviour", ["echo-key 401", "echo-key 400", "echo-key 500"])
def test_the_key_reaches_nothing_that_is_shown(behaviour, caplog):
    caplog.set_level(logging.DEBUG)
    with MisbehavingServer(lambda question, times: behaviour) as server:
        endpoint = Endpoint("m", server.base_url, KEY)
        with pytest.raises(AskError) as caught:
            asyncio.run(endpoint.ask(Request((Message("user", "x"),))))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    told = traceback.TracebackException.from_exception(
        caught.value, capture_locals=True
    )
    printed = "".join(told.format())
    assert "AskError" in printed
    assert "HTTP Response" in caplog.text
    for text in (printed, caplog.text, repr(endpoint), str(vars(endpoint))):
        assert KEY not in text
    assert KEY not in endpoint.identity


def test_the_key_reaches_no_reply():
    reply, _ = asking("echo-key 200", api_key=KEY)
    assert KEY not in repr(reply)
    assert reply.text == "what is Bearer <key>?"


def test_a_placeholder_is_no_secret():
    reply, _ = asking("ok x marks it", api_key="x")
    assert reply.text == "x marks it"


@pytest.mark.parametrize("key", ["two words", "with\nbreak", "schlüssel-0123456"])
def test_a_key_that_is_none_is_not_shown(key):
    with pytest.raises(ValidationError, match="the key holds") as caught:
        Endpoint("m", "http://127.0.0.1:1/v1", key)
    assert key not in str(caught.value)


def test_the_environment_says_who_is_asked(monkeypatch):
    monkeypatch.setenv("JUDGELAB_MODEL_NAME", "m")
    monkeypatch.setenv("JUDGELAB_BASE_URL", "http://127.0.0.1:1/v1/")
    assert repr(Endpoint()) == "Endpoint('m', 'http://127.0.0.1:1/v1')"


def test_the_key_of_openai_is_not_sent_to_others(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with MisbehavingServer() as server:
        request = Request((Message("user", "x"),))
        asyncio.run(Endpoint("m", server.base_url).ask(request))
        assert server.headers["authorization"] == "Bearer none"
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asyncio.run(Endpoint("m").ask(request))
        assert server.headers["authorization"] == f"Bearer {KEY}"
        monkeypatch.setenv("JUDGELAB_API_KEY", f"{KEY}-ours\n")
        asyncio.run(Endpoint("m").ask(request))
        assert server.headers["authorization"] == f"Bearer {KEY}-ours"


@pytest.mark.parametrize("spelling", ["Authorization", "authorization"])
def test_nothing_else_of_openai_is_sent_to_others(monkeypatch, spelling):
    """The package `openai` would add all of this to every request."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-openai")
    custom = f"X-Gateway: gateway-of-openai\n{spelling}: Bearer key-of-openai"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", custom)
    with MisbehavingServer() as server:
        request = Request((Message("user", "x"),))
        asyncio.run(Endpoint("m", server.base_url, KEY).ask(request))
        assert "of-openai" not in str(server.headers)
        assert server.headers["authorization"] == f"Bearer {KEY}"
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asyncio.run(Endpoint("m", api_key=KEY).ask(request))
        assert server.headers["openai-organization"] == "org-of-openai"


def test_openai_without_a_key():
    with pytest.raises(ValidationError, match="set JUDGELAB_API_KEY or OPENAI_API_KEY"):
        Endpoint("m")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("localhost:8000/v1", "is none; give one as"),
        (KEY, "is none"),
        ("ftp://x/v1", "is none"),
        ("http://[1/v1", "is none"),
        (f"http://me:{KEY}@host/v1", "a password"),
        (f"http://host/v1?key={KEY}", "a query"),
    ],
)
def test_an_address_that_cannot_be_used(address, says):
    with pytest.raises(ValidationError, match=says) as caught:
        Endpoint("m", address)
    assert KEY not in str(caught.value)


def test_no_model_and_no_time():
    with pytest.raises(ValidationError, match="JUDGELAB_MODEL_NAME"):
        Endpoint(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ValidationError, match="timeout"):
        Endpoint("m", "http://127.0.0.1:1/v1", timeout=0)


def test_identity_holds_all_that_changes_the_answers():
    def identity(*args, **options):
        return Endpoint(*args, **options).identity

    a, b = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"
    different = {
        identity("m", a),
        identity("n", a),
        identity("m", b),
        identity("m", a, engine="vllm 1"),
        identity("m", a, extra={"top_p": 0.5}),
    }
    assert len(different) == 5
    assert identity("m", a, KEY, timeout=3) == identity("m", a)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'pip install "judgelab\[models\]"'):
        Endpoint("m", "http://127.0.0.1:1/v1")


def test_goes_to_another_process_without_its_key(monkeypatch):
    monkeypatch.setenv("JUDGELAB_API_KEY", KEY)
    endpoint = Endpoint("m", "http://127.0.0.1:1/v1", engine="e", extra={"top_p": 1})
    sent = pickle.dumps(endpoint)
    assert KEY.encode() not in sent
    assert pickle.loads(sent).identity == copy.copy(endpoint).identity
    with pytest.raises(ValidationError, match="stays in its process"):
        pickle.dumps(Endpoint("m", "http://127.0.0.1:1/v1", KEY))


def body(reason="stop", **choice):
    """A response, as parsed JSON."""
    message = {"content": "A"}
    return {"choices": [{"message": message, "finish_reason": reason, **choice}]}


@pytest.mark.parametrize("count", [float("inf"), -5, 10**30, float("nan"), "9", [9]])
def test_a_count_of_tokens_that_makes_no_sense_costs_no_reply(count):
    """It must not end the run, nor give money back."""
    reply = from_body(body() | {"usage": {"prompt_tokens": count}})
    assert (reply.text, reply.prompt_tokens) == ("A", 0)


@pytest.mark.parametrize("likely", [None, []])
def test_log_probabilities_that_are_not_there_cost_no_reply(likely):
    token = {"token": "A", "logprob": -0.1, "top_logprobs": likely}
    reply = from_body(body(logprobs={"content": [token]}))
    assert (reply.text, reply.first_token) == ("A", {})


@pytest.mark.parametrize(
    "broken", [body("error"), body("abort"), body(error={"code": 502})]
)
def test_a_reply_that_broke_off_is_none(broken):
    assert from_body(broken) is None


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length"])
def test_a_cut_reply_is_cut_in_any_word(reason):
    assert from_body(body(reason)).finish == "length"


def test_half_a_surrogate_pair_is_asked_about_all_the_same():
    request = Request((Message("user", "a\ud800b"),))
    reply, server = asking("ok B", request)
    assert reply.text == "B"
    assert server.bodies[0]["messages"][0]["content"] == "a\ufffdb"


@pytest.mark.parametrize(
    "where", [{"engine": KEY}, {"extra": {"key": KEY}}, {"base_url": f"http://x/{KEY}"}]
)
def test_a_key_that_would_stand_in_the_log_is_refused(where):
    with pytest.raises(ValidationError, match="the key stands in") as caught:
        Endpoint("m", **{"base_url": "http://x/v1", **where}, api_key=KEY)
    assert KEY not in str(caught.value)
