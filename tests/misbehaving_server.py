"""A small OpenAI-compatible server that misbehaves on demand, in a thread.

What it does with a request is decided by a function of the question and of how often it
was asked before: the name of a behaviour in `BEHAVIOURS`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from time import time

Decide = Callable[[str, int], str]


class MisbehavingServer:
    """Serve on 127.0.0.1 while the ``with`` block lasts.

    `asked` counts every question (the last message) that arrived, `answered` those
    that were sent a whole reply; `bodies` and `headers` keep what was sent last.
    """

    def __init__(self, decide: Decide = lambda question, times: "ok") -> None:
        self.decide = decide
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict] = []
        self.headers: dict[str, str] = {}
        self.most_at_once = self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> MisbehavingServer:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        self._open: set[asyncio.Task] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader, writer) -> None:
        task = asyncio.current_task()
        self._open.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        except asyncio.CancelledError:
            pass  # the server ends
        finally:
            self._open.discard(task)
            writer.close()

    async def _one(self, reader, writer) -> bool:
        """Answer one request; say whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")[1:-2]
        self.headers = {k.lower(): v for k, v in (x.split(": ", 1) for x in lines)}
        size = int(self.headers["content-length"])
        body = json.loads(await reader.readexactly(size))
        self.bodies.append(body)
        question = body["messages"][-1]["content"]
        behaviour = self.decide(question, self.asked[question])
        self.asked[question] += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            name, _, argument = behaviour.partition(" ")
            stays = await BEHAVIOURS[name](self, writer, body, argument)
            await writer.drain()
        finally:
            self._at_once -= 1
        if stays is WHOLE:
            self.answered[question] += 1
        return bool(stays)


WHOLE = "a whole reply"


def send(writer, status: int, body, headers=(), *, cut: int = 0) -> bool:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} X",
        f"Content-Length: {len(content)}",
        "Content-Type: application/json",
        *headers,
    ]
    sent = content[: len(content) - cut]
    writer.write("\r\n".join([*lines, "", ""]).encode() + sent)
    return not cut


def completion(body: dict, text: str | None = "A", finish: str = "stop", **message):
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    if body.get("logprobs"):
        likely = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -2.4}]
        choice["logprobs"] = {"content": [{**likely[0], "top_logprobs": likely}]}
    words = sum(len(m["content"].split()) for m in body["messages"])
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": f"{body['model']}-2026",
        "system_fingerprint": "fp_1",
        "choices": [choice],
        "usage": {
            "prompt_tokens": words,
            "completion_tokens": len((text or "").split()),
            "total_tokens": words + 1,
        },
    }


def complaint(message: str, **more) -> dict:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


async def ok(server, writer, body, text):
    send(writer, 200, completion(body, text or "A"))
    return WHOLE


async def json_text(server, writer, body, text):
    """Send a reply given as a JSON string, escapes and all."""
    send(writer, 200, completion(body, json.loads(text)))
    return WHOLE


async def no_text(server, writer, body, _):
    send(writer, 200, completion(body, None))
    return WHOLE


async def cut_off(server, writer, body, _):
    send(writer, 200, completion(body, "Let me think", "length"))
    return WHOLE


async def refuse(server, writer, body, _):
    send(writer, 200, completion(body, None, refusal="I cannot judge this."))
    return WHOLE


async def filtered(server, writer, body, _):
    send(writer, 200, completion(body, None, "content_filter"))
    return WHOLE


async def filtered_prompt(server, writer, body, _):
    return send(writer, 400, complaint("filtered", code="content_filter"))


async def status(server, writer, body, code):
    return send(writer, int(code), complaint(f"status {code}"))


async def wait_ms(server, writer, body, ms):
    headers = [f"Retry-After-Ms: {ms}"]
    return send(writer, 429, complaint("too many requests"), headers)


async def wait_seconds(server, writer, body, seconds):
    headers = [f"Retry-After: {seconds}"]
    return send(writer, 429, complaint("too many requests"), headers)


async def wait_until(server, writer, body, seconds):
    headers = [f"Retry-After: {formatdate(time() + float(seconds), usegmt=True)}"]
    return send(writer, 503, complaint("loading the model"), headers)


async def no_money(server, writer, body, _):
    return send(writer, 429, complaint("no credit", code="insufficient_quota"))


async def slow(server, writer, body, seconds):
    await asyncio.sleep(float(seconds))
    send(writer, 200, completion(body))
    return WHOLE


async def half(server, writer, body, _):
    return send(writer, 200, completion(body), cut=40)


async def not_json(server, writer, body, _):
    return send(writer, 200, b"<html>Bad gateway</html>")


async def closed(server, writer, body, _):
    return False


async def wrong_schema(server, writer, body, what):
    return send(writer, 200, json.loads(what or '{"hello": 1}'))


async def bad_request(server, writer, body, what):
    return send(writer, 400, json.loads(what))


async def error_in_200(server, writer, body, code):
    return send(writer, 200, complaint("upstream failed", code=int(code)))


async def without(server, writer, body, names):
    """Complain about the first of these parameters that is there."""
    for name in names.split(","):
        if name in body:
            return send(writer, 400, complaint(f"Unsupported parameter: '{name}'"))
    send(writer, 200, completion(body))
    return WHOLE


async def echo_key(server, writer, body, code):
    """Send back all that was sent, the key included."""
    said = f"what is {server.headers['authorization']}?"
    if int(code) != 200:
        return send(writer, int(code), complaint(said))
    reply = completion({**body, "model": said}, said)
    reply["system_fingerprint"] = said
    send(writer, 200, reply)
    return WHOLE


BEHAVIOURS = {
    name.replace("_", "-"): behaviour
    for name, behaviour in list(globals().items())
    if asyncio.iscoroutinefunction(behaviour)
}
