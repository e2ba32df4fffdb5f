"""Replies of two local models to all examples, as they came: a judge without a model.

A recorded model answers the questions of `example_requests` as the live one did, and
under the live one's identity, so that one switch asks again:

>>> from judgelab.models.recorded import Recorded
>>> Recorded("smollm2")
Recorded('smollm2')

or ``LocalModel("smollm2")`` in its place. With the same engine and the same weights the
same verdicts come out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.data.examples import example_answers, example_documents, example_pairs
from judgelab.errors import ValidationError
from judgelab.models.judging import questions
from judgelab.models.request import AskError, Model, Reply, Request

if TYPE_CHECKING:
    import pandas as pd

    from judgelab.models.local import LocalModel

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    # The free text of a judge that should say one letter: long enough to see it ramble.
    "pairwise": {"max_tokens": 48, "top_logprobs": 10},
    "few-shot": {"max_tokens": 8, "top_logprobs": 10},
    "relevance": {"max_tokens": 8, "top_logprobs": 20},
    "grade-9": {"max_tokens": 8, "top_logprobs": 20},
    "pairwise-tie": {"max_tokens": 8, "top_logprobs": 10},
    "chain-of-thought": {"max_tokens": 160},
}
"""Prompts that were asked, and how: arguments of `judging.judge`."""


def _every_third_pair() -> pd.DataFrame:
    """Take ten pairs of each kind: long prompts and thinking aloud take long."""
    return example_pairs().iloc[::3].reset_index(drop=True)


_ITEMS = {
    "relevance": example_documents,
    "grade-9": example_answers,
    "few-shot": _every_third_pair,
    "pairwise-tie": _every_third_pair,
    "chain-of-thought": _every_third_pair,
}

_COLUMNS = (
    *("key", "prompt", "item", "order", "text", "finish"),
    *("prompt_tokens", "completion_tokens", "first_token"),
)
_KEY = 16
"""Hexadecimal digits of a key that are kept: enough to tell any two apart."""

_DIGITS = 4
"""Decimals of a log-probability that are kept."""


def example_items(prompt: str) -> pd.DataFrame:
    """Which examples was this prompt asked about?

    Parameters
    ----------
    prompt : str
        A name in `SETTINGS`.

    Returns
    -------
    pandas.DataFrame
        Of `example_pairs`, `example_answers` or `example_documents`.

    Raises
    ------
    ValidationError
        If the prompt was not asked.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> len(example_items("pairwise")), len(example_items("relevance"))
    (150, 96)
    """
    if prompt not in SETTINGS:
        raise ValidationError(
            f"there are no recorded replies to {prompt!r}; there are to: "
            f"{', '.join(SETTINGS)}"
        )
    return _ITEMS.get(prompt, example_pairs)()


def example_requests(prompt: str) -> list[Request]:
    """Write the questions whose replies are recorded.

    Parameters
    ----------
    prompt : str
        A name in `SETTINGS`.

    Returns
    -------
    list of Request
        Pairs in both orders.

    Raises
    ------
    ValidationError
        As `example_items`.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    return questions(example_items(prompt), prompt, **SETTINGS[prompt])


def example_likelihoods(
    model: LocalModel, answers: pd.DataFrame | None = None
) -> pd.DataFrame:
    """How likely does a model itself hold the better and the worse answer of a pair?

    No judge is asked here: the question alone is put, and the reply is held to the one
    answer and to the other.

    Parameters
    ----------
    model : LocalModel
        Whose probabilities are wanted.
    answers : pandas.DataFrame, optional
        Rows of `example_answers`; all of them by default.

    Returns
    -------
    pandas.DataFrame
        One row per answer: ``item``; ``log_likelihood``, natural, of the whole answer;
        ``tokens``, how many it has.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    import pandas as pd

    rows = []
    for row in (example_answers() if answers is None else answers).to_dict("records"):
        value, tokens = model.log_likelihood(row["question"], row["answer"])
        likelihood = round(value, _DIGITS)
        rows.append((row["item"], likelihood, tokens))
    return pd.DataFrame(rows, columns=["item", "log_likelihood", "tokens"])


class Recorded:
    """A model that gives the replies it gave before.

    Parameters
    ----------
    name : str
        ``"smollm2"`` or ``"qwen"``.
    path : path or str, optional
        A file that `write_replies` wrote, instead of the shipped one.

    Raises
    ------
    ValidationError
        If no replies of this model are shipped.

    Notes
    -----
    Log-probabilities are kept to four decimals.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import asyncio
    >>> question = example_requests("pairwise")[0]
    >>> reply = asyncio.run(Recorded("smollm2").ask(question))
    >>> reply.text, reply.first_token["A"]
    ('A', -1.0704)
    """

    def __init__(self, name: str, path: str | Path | None = None) -> None:
        self.name = name
        self.path = Path(path) if path else _folder() / f"replies_{name}.csv"
        if not self.path.is_file():
            names = sorted(p.stem[8:] for p in _folder().glob("replies_*.csv"))
            raise ValidationError(
                f"no replies of {name!r} are recorded; there are: {', '.join(names)}"
            )

    def __repr__(self) -> str:
        return f"Recorded({self.name!r})"

    @property
    def identity(self) -> str:
        """Of the model that gave the replies."""
        return self.header["identity"]

    @cached_property
    def header(self) -> Mapping[str, str]:
        """What is known of the recording: identity, engine, prompts, licence."""
        lines = self.path.read_text("utf-8").split("\n")
        marked = (line[2:] for line in lines if line.startswith("# "))
        return dict(line.split(": ", 1) for line in marked)

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the prompts whose replies are recorded."""
        return tuple(dict.fromkeys(row["prompt"] for row in self._rows))

    async def ask(self, request: Request) -> Reply:
        """Give the recorded reply.

        Raises
        ------
        AskError
            If this question, to the letter, was not asked.
        """
        key = request.key(self.identity)[:_KEY]
        if key not in self._replies:
            raise AskError(
                f"{self.name} was not asked this question (or in other words, or with "
                f"other settings than SETTINGS); ask the model itself: "
                f"LocalModel({self.name!r})",
                passing=False,
            )
        return self._replies[key]

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        with self.path.open(encoding="utf-8", newline="") as lines:
            return [*csv.DictReader(x for x in lines if not x.startswith("# "))]

    @cached_property
    def _replies(self) -> dict[str, Reply]:
        return {row["key"]: self._reply(row) for row in self._rows}

    def _reply(self, row: Mapping[str, str]) -> Reply:
        return Reply(
            text=json.loads(row["text"]),
            finish="length" if row["finish"] == "length" else "stop",
            first_token=json.loads(row["first_token"]),
            prompt_tokens=int(row["prompt_tokens"]),
            completion_tokens=int(row["completion_tokens"]),
            model=self.header["model"],
            fingerprint=self.header["engine"],
        )


def write_replies(
    path: str | Path,
    model: Model,
    replies: Iterable[tuple[Request, Reply]],
    header: Mapping[str, str],
) -> None:
    """Write replies to a file that `Recorded` reads.

    Parameters
    ----------
    path : path or str
        The file; replaced if it is there.
    model : Model
        Who gave the replies.
    replies : iterable of (Request, Reply)
        In the order in which they are to stand.
    header : mapping of str to str
        What else is to be known: source, licence.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    rows: list[dict[str, Any]] = []
    versions, engine, name = {}, "", ""
    for request, reply in replies:
        prompt, engine, name = request.tags["prompt"], reply.fingerprint, reply.model
        versions[prompt] = request.tags["version"]
        rows.append(
            {
                "key": request.key(model.identity)[:_KEY],
                "prompt": prompt,
                "item": request.tags["item"],
                "order": request.tags.get("order", ""),
                # As JSON: a reply of several lines stays one line of the file.
                "text": json.dumps(reply.text, ensure_ascii=False),
                "finish": reply.finish,
                "prompt_tokens": reply.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "first_token": _compact(reply.first_token),
            }
        )
    settings = "; ".join(
        f"{prompt} {version} {json.dumps(SETTINGS.get(prompt, {}))}"
        for prompt, version in versions.items()
    )
    known = {"identity": model.identity, "engine": engine, "model": name}
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        for key, value in {**header, **known, "prompts": settings}.items():
            out.write(f"# {key}: {value}\n")
        writer = csv.DictWriter(out, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _compact(first_token: Mapping[str, float]) -> str:
    rounded = {token: round(log, _DIGITS) for token, log in first_token.items()}
    return json.dumps(rounded, ensure_ascii=False, separators=(",", ":"))


def _folder() -> Path:
    return Path(str(resources.files("judgelab.data"))) / "askmodel"
