"""Progress bars for running jobs, shown on standard error if standard error is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

OnProgress: TypeAlias = Callable[[int, int, int], None]
"""Function that is called with the numbers of finished jobs, of all jobs, and of successful jobs."""

_Value = TypeVar("_Value")


@contextmanager
def show_bar(quiet: bool = False, jobs: str = "tasks", good: str = "solved") -> Iterator[OnProgress]:
    """Show a progress bar until the block ends; yield the function that updates the bar.

    Args:
        quiet: whether to show nothing.
        jobs: word for the jobs.
        good: word for successful jobs.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn(f"{jobs}, {{task.fields[good]}} {good}")
    columns = (BarColumn(), MofNCompleteColumn(), text, TimeElapsedColumn())
    is_hidden = quiet or not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=is_hidden) as progress:
        task = progress.add_task("", total=None, good=0)

        def update(finished: int, total: int, good: int) -> None:
            progress.update(task, completed=finished, total=total, good=good)

        yield update


def track_items(items: Iterable[_Value], total: int, what: str) -> Iterable[_Value]:
    """Return ``items``; while they are iterated, a progress bar shows how many were taken.

    The bar is shown only if ``total`` is at least 2.

    Args:
        what: text before the bar.
    """
    from rich.console import Console
    from rich.progress import track

    is_hidden = total < 2 or not sys.stderr.isatty()
    return track(items, what, total, console=Console(stderr=True), transient=True, disable=is_hidden)
