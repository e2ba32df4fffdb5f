"""From documents to a ranked benchmark, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judgelab._checks import whole
from judgelab.errors import JudgelabError, ValidationError
from judgelab.models.log import Log
from judgelab.models.request import Model, Reply, Request
from judgelab.models.runner import ask_all
from judgelab.papers.rankjudge.asking import MOST_TOKENS, Ask
from judgelab.papers.rankjudge.audit import Case, cases
from judgelab.papers.rankjudge.curate import (
    HARDEST,
    Curation,
    curate,
    cut_size,
    leaderboard,
)
from judgelab.papers.rankjudge.generate import (
    SHORTEST,
    Candidate,
    Fate,
    candidates,
    generate,
)
from judgelab.papers.rankjudge.grade import Grades, grades
from judgelab.papers.rankjudge.judging import judge_pairs
from judgelab.papers.rankjudge.schema import Document, Item, Match, Order, save
from judgelab.papers.rankjudge.verify import losses, survival, survivors, verify

Tell = Callable[[str], None]

PAIRS_PER_JUDGE = 4
"""Pairs to write for each judge, at least. About half are left in the end, as in the
paper; and with fewer than two clusters for each judge intervals are too narrow (see
`judgelab.ranking.bradley_terry`). That is for a first look: the paper wrote 57."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """What a run brought: pairs, what became of the others, answers, ranking.

    Parameters
    ----------
    fates : tuple of Fate
        One per candidate pair.
    matches : tuple of Match
        One per judge, surviving pair and order.
    hardest : float
        Which share of the pairs was dropped as too hard.
    stopped : str
        Why the judges were not asked; empty if they were.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    fates: tuple[Fate, ...]
    matches: tuple[Match, ...]
    hardest: float = HARDEST
    stopped: str = ""

    @cached_property
    def items(self) -> list[Item]:
        """The pairs that passed all checks."""
        return survivors(self.fates)

    @cached_property
    def grades(self) -> Grades:
        """Who was right on what, by the joint criterion.

        Raises
        ------
        ValidationError
            If the judges were not asked; the message says why.
        """
        if self.stopped:
            raise ValidationError(self.stopped)
        return grades(self.matches)

    @cached_property
    def cases(self) -> list[Case]:
        """The pairs with all there is to see on them, those to audit first in front."""
        checks = [f.verification for f in self.fates if f.verification is not None]
        return cases(self.items, self.matches, self.grades, checks)

    @cached_property
    def curation(self) -> Curation:
        """The ranking, and which pairs were dropped for it.

        Judges without a finite rating are left out by name. Intervals take the pairs as
        independent; of several pairs about one document that is not sure, and
        `judgelab.papers.rankjudge.curate` can be told with `clusters`.

        Raises
        ------
        JudgelabError
            If no two judges can be rated; the message says why.
        """
        return curate(self.grades, hardest=self.hardest, unidentified="largest")

    def save(self, folder: str | Path) -> None:
        """Write pairs, checks, matches, survival and leaderboard into a folder."""
        import pandas as pd

        folder = Path(folder)
        checks = [f.verification for f in self.fates if f.verification is not None]
        save(self.items, folder / "pairs.json")
        save(checks, folder / "verification.json")
        save(self.matches, folder / "matches.json")
        for by in ("all", "failure", "user_behavior", "domain"):
            survival(self.fates, by=by).to_csv(folder / f"survival_{by}.csv")
        losses(self.fates).to_csv(folder / "losses.csv", index=False)
        rows = [
            {
                "rank": row["rank"].value,
                "judge": row["judge"],
                "elo": row["elo"].value,
                "low": row["elo"].low,
                "high": row["elo"].high,
                "pairs": row["pairs"],
            }
            for row in self.leaderboard()
        ]
        columns = ["rank", "judge", "elo", "low", "high", "pairs"]
        board = pd.DataFrame(rows, columns=columns)
        board.to_csv(folder / "leaderboard.csv", index=False)

    def leaderboard(self) -> list[dict[str, Any]]:
        """Best judge first; empty if no two judges can be rated."""
        try:
            return leaderboard(self.curation.ranking)
        except JudgelabError:
            return []


def asking(
    model: Model,
    log: Log,
    *,
    max_tokens: int = MOST_TOKENS,
    tell: Tell | None = None,
    **options: Any,
) -> Ask:
    """Ask a model through a log, so that nothing is asked twice.

    Parameters
    ----------
    model : Model
    log : Log
    max_tokens : int, default 32768
        Where replies are cut: the paper's limit, which not every server allows.
    tell : callable, optional
        Gets a line when requests stay without a reply.
    **options
        Further arguments of `judgelab.models.runner.ask_all`.

    Raises
    ------
    ValidationError, LogError
        If a limit makes no sense or the log cannot be written: here, and not when
        others have been asked already.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    max_tokens = whole("max_tokens", max_tokens, least=1)
    ask_all((), model, log, **options | {"progress": False})

    def ask(requests: Sequence[Request]) -> Sequence[Reply | None]:
        asked = [replace(request, max_tokens=max_tokens) for request in requests]
        done = ask_all(asked, model, log, **options)
        if tell and None in done.replies:
            first = next(error for error in done.errors if error)
            tell(f"{done}\nwithout a reply, and asked again in the next run: {first}")
        return done.replies

    return ask


def run(
    documents: Sequence[Document],
    writer: Ask,
    judges: Mapping[str, Ask],
    *,
    checker: Ask | None = None,
    per_document: int = 1,
    seed: int = 0,
    uniform: bool = True,
    orders: Sequence[Order] = ("AB",),
    hardest: float = HARDEST,
    tell: Tell | None = None,
) -> Benchmark:
    """Make a benchmark for judges from documents, and let judges take it.

    Parameters
    ----------
    documents : sequence of Document
        What conversations are about.
    writer : Ask
        The model that writes them.
    judges : mapping of str to Ask
        The judges by name, two or more.
    checker : Ask, optional
        The model that checks the pairs; the writer unless given, as in the paper.
    per_document, seed, uniform
        As for `candidates`.
    orders
        As for `judge_pairs`.
    hardest
        As for `curate`.
    tell : callable, optional
        Gets a line about every step.

    Returns
    -------
    Benchmark
        Where the checks leave too few pairs for a ranking the judges are not asked:
        `stopped` says so, and what was written is there.

    Raises
    ------
    ValidationError
        Before anything is asked: if there are fewer than two judges or fewer than
        `PAIRS_PER_JUDGE` pairs to write for each of them, or an argument makes no
        sense.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3.

    Notes
    -----
    Asked through a log (see `asking`), a run that was stopped goes on where it was.
    Chapter: *RankJudge*.
    """
    if len(judges) < 2:
        raise ValidationError(f"{len(judges)} judges make no ranking; give two or more")
    if "AB" not in orders or len(set(orders)) < len(orders) or {*orders} - {"AB", "BA"}:
        raise ValidationError(
            f"orders is {list(orders)}; give ['AB'], as in the paper, or ['AB', 'BA']"
        )
    cut_size(0, hardest)
    say = tell or (lambda _: None)
    wanted = candidates(
        documents, per_document=per_document, seed=seed, uniform=uniform
    )
    _refuse_too_few(wanted, len(judges), per_document)
    say(f"{len(documents)} documents, {len(wanted)} pairs to write")
    made = generate(wanted, writer)
    say(f"{sum(fate.item is not None for fate in made)} pairs written")
    fates = verify(made, checker or writer)
    items = survivors(fates)
    say(f"{len(items)} pairs passed the checks")
    ranked = len(items) - cut_size(len(items), hardest)
    if ranked < len(judges):
        return Benchmark(
            tuple(fates),
            (),
            hardest,
            f"{len(items)} of {len(fates)} pairs passed the checks, too few to rank "
            f"{len(judges)} judges; these were not asked. Raise per_document (on the "
            "command line --per-document): what was written is not asked for again",
        )
    matches = []
    for name, ask in judges.items():
        matches += judge_pairs(items, {name: ask}, orders=orders)
        say(f"{name} judged {len(items)} pairs")
    return Benchmark(tuple(fates), tuple(matches), hardest)


def _refuse_too_few(
    wanted: Sequence[Candidate], judges: int, per_document: int
) -> None:
    """Refuse, before anything is asked, what can hardly end in a ranking."""
    usable = sum(candidate.long_enough for candidate in wanted)
    need = PAIRS_PER_JUDGE * judges
    if usable >= need:
        return
    if not usable:
        raise ValidationError(
            f"no document has the {SHORTEST} characters that a pair needs: all "
            f"{len(wanted)} are too short"
        )
    more = math.ceil(need * per_document / usable)
    raise ValidationError(
        f"{usable} pairs are too few to rank {judges} judges: about half of them will "
        f"be left, and {need} should be written at least; give per_document={more} or "
        f"more (on the command line --per-document {more}), or fewer judges"
    )
