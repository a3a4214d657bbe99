"""A progress bar in the terminal while jobs run."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A progress bar on standard error, if that is a terminal.

    Args:
        quiet: never show it.
        jobs: what to call the jobs.
        good: what to call a successful job.
    """

    def __init__(self, quiet: bool = False, jobs: str = "tasks", good: str = "solved") -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._jobs, self._good = jobs, good
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            text = TextColumn(f"{self._jobs}, {{task.fields[good]}} {self._good}")
            columns = (BarColumn(), MofNCompleteColumn(), text, TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("", total=None, good=0)
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def update(self, finished: int, total: int, good: int) -> None:
        """Show how many jobs are finished, and how many of them succeeded."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=finished, total=total, good=good)
