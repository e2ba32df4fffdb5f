"""A progress bar in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgelab.models.runner import Progress


@contextmanager
def shown(
    progress: Callable[[Progress], None] | bool,
) -> Iterator[Callable[[Progress], None]]:
    """Give what to call with every `Progress`: a bar, a function, or nothing."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda _: None
    else:
        with _bar() as bar:
            yield bar


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich import progress as rich

    columns = (
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.description}"),
    )
    with rich.Progress(*columns) as bar:
        task = bar.add_task("", total=None)

        def show(state: Progress) -> None:
            parts = [f"{state.missing:,} missing"] if state.missing else []
            parts.append(f"{state.use.tokens:,} tokens")
            if state.use.cost:
                parts.append(f"cost {state.use.cost:,.4f}")
            bar.update(
                task,
                total=state.total,
                completed=state.done,
                description=", ".join(parts),
            )

        yield show
