"""Progress bars on standard error while jobs run, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

OnProgress: TypeAlias = Callable[[int, int, int], None]
"""Told how many jobs are finished, how many there are, and how many succeeded."""

_Value = TypeVar("_Value")


@contextmanager
def show_bar(quiet: bool = False, jobs: str = "tasks", good: str = "solved") -> Iterator[OnProgress]:
    """Show a progress bar; it is told how many jobs are finished, how many there are, and how many succeeded.

    Args:
        quiet: never show it.
        jobs: what to call the jobs.
        good: what to call a successful job.
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
    """Return the items; a bar shows how many were taken, if there are several."""
    from rich.console import Console
    from rich.progress import track

    is_hidden = total < 2 or not sys.stderr.isatty()
    return track(items, what, total, console=Console(stderr=True), transient=True, disable=is_hidden)
