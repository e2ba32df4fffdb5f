"""Pairs of answers and graded documents of our own, with which to try a judge.

The gold is by construction: one answer of each pair was written to be better, and the
row says why. So a judge that misses one is wrong, and not of another opinion.

Length tells nothing over all pairs. In *padding* the better answer is short and the
worse one long; in *brevity* it is the other way round, with the same kind of padding;
in the other kinds the lengths are alike. A judge that takes the longer answer gets
none right of the one, all of the other, and half over both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.data.registry import published

if TYPE_CHECKING:
    import pandas as pd


def example_pairs() -> pd.DataFrame:
    """Which pairs of answers come with the package, and which answer is better?

    Returns
    -------
    pandas.DataFrame
        One row per pair, 30 of each kind: ``item``; ``kind`` ("arithmetic", "facts",
        "quality", "padding" or "brevity"); ``question``, ``answer_a`` and ``answer_b``,
        as the prompts take them; ``gold``, the better answer ("A" in every second row
        of a kind, "B" in the others); ``log_length``, the length of A to that of B in
        characters, base 2; ``reference``, a correct answer in short (empty for quality,
        where many are); ``why`` the better one is better.

    Notes
    -----
    Written for this book, free to use. Chapter: *Ask a real model*.

    Examples
    --------
    >>> pairs = example_pairs()
    >>> pairs.loc[0, ["item", "question", "answer_a", "answer_b", "gold"]].tolist()
    ['arithmetic-01', 'What is 27 + 48?', '27 + 48 is 75.', '27 + 48 is 65.', 'A']
    >>> pairs.groupby("kind", sort=False)["log_length"].size().to_dict()
    {'arithmetic': 30, 'facts': 30, 'quality': 30, 'padding': 30, 'brevity': 30}
    """
    # Imported here: `import judgelab.data` must not load them.
    import numpy as np

    pairs = published("askmodel", "pairs").fillna("")
    first = pairs.groupby("kind").cumcount() % 2 == 0
    pairs["answer_a"] = pairs["better"].where(first, pairs["worse"])
    pairs["answer_b"] = pairs["worse"].where(first, pairs["better"])
    pairs["gold"] = np.where(first, "A", "B")
    lengths = pairs["answer_a"].str.len() / pairs["answer_b"].str.len()
    pairs["log_length"] = np.log2(lengths)
    columns = ["item", "kind", "question", "answer_a", "answer_b", "gold"]
    return pairs[[*columns, "log_length", "reference", "why"]]


def example_answers() -> pd.DataFrame:
    """Which single answers come with the package: those of the pairs, one by one?

    Returns
    -------
    pandas.DataFrame
        One row per answer, two for each pair: ``item`` (that of the pair, with ``-a``
        or ``-b``); ``pair`` and ``kind``; ``question`` and ``answer``, as the prompts
        take them; ``better``, whether it is the better one of its pair.

    Notes
    -----
    Written for this book, free to use. Chapter: *Ask a real model*.

    Examples
    --------
    >>> example_answers().loc[:1, ["item", "answer", "better"]]
                  item          answer  better
    0  arithmetic-01-a  27 + 48 is 75.    True
    1  arithmetic-01-b  27 + 48 is 65.   False
    """
    import pandas as pd

    pairs = example_pairs()
    sides = [
        pd.DataFrame(
            {
                "item": pairs["item"] + f"-{side}",
                "pair": pairs["item"],
                "kind": pairs["kind"],
                "question": pairs["question"],
                "answer": pairs[f"answer_{side}"],
                "better": pairs["gold"] == side.upper(),
            }
        )
        for side in ("a", "b")
    ]
    return pd.concat(sides).sort_index(kind="stable").reset_index(drop=True)


def example_documents() -> pd.DataFrame:
    """Which graded documents come with the package?

    Returns
    -------
    pandas.DataFrame
        One row per document, four for each of 24 queries: ``item``; ``topic``;
        ``query`` and ``document``, as the prompt takes them; ``grade``, 3 (answers the
        query), 2 (a part of it, or the answer can be worked out), 1 (the same subject)
        or 0 (something else), each once per query.

    Notes
    -----
    Some documents of grade 0 share a word with their query, and the length of a
    document tells nothing about its grade. Written for this book, free to use.
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> documents = example_documents()
    >>> documents.loc[documents["topic"] == "topic-15", ["document", "grade"]].values
    array([['The new Jaguar has leather seats, a quiet electric motor and room ...', 0],
           ['Jaguars live in the forests and wetlands of Central and South ...', 3],
           ['The Pantanal, a wetland in Brazil, is home to many jaguars.', 2],
           ['The spots of a jaguar have small dots inside, those of a ...', 1]],
          dtype=object)
    """
    return published("askmodel", "relevance")
