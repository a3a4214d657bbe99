"""What a user sees of a run: live on a terminal, plain lines elsewhere, a table at the end."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table
from rich.text import Text

from spca.common.command import program
from spca.common.text import counted, visible
from spca.llm import spending

_PAID = ("tokens", "reasoning", "USD")


class _Now:
    """Text that is made anew whenever the terminal is refreshed."""

    def __init__(self, describe: Callable[[], str]) -> None:
        self._describe = describe

    def __rich__(self) -> Text:
        return Text(self._describe(), no_wrap=True, overflow="ellipsis")


class Display:
    """Progress and results on standard output.

    Args:
        total: levels of the run, finished ones included.
        quiet: print nothing but the final table.
    """

    def __init__(self, total: int, *, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._total = total
        self._quiet = quiet
        self._live = self._console.is_terminal and not quiet
        self._status: Status | None = None
        self._category = ""
        self._label = self._phase = ""
        self._level_started = self._started = time.monotonic()
        self.solved = self.failed = 0

    def begin(self, greeting: str, sandbox: str, finished: Sequence[Mapping[str, Any]]) -> None:
        """The first lines: what the run works with, in which sandbox, and where it goes on.

        ``finished`` are summaries of levels.
        """
        self.note(greeting)
        self.note(f"Sandbox: {sandbox} (docs/sandbox.md says what generated code can and cannot do).")
        self.solved = sum(summary["outcome"] == "success" for summary in finished)
        self.failed = len(finished) - self.solved
        if finished:
            self.note(f"resuming: {len(finished)} of {self._total} levels are finished")

    def note(self, line: str) -> None:
        """A line of its own."""
        if not self._quiet:
            self._console.print(escape(visible(line)), soft_wrap=True)

    def level_started(self, number: int, category: str, level: str, env_id: str) -> None:
        self._level_started = time.monotonic()
        if category != self._category:
            self._category = category
            self.note(f"{category}")
        self._phase = ""
        self._label = f"[{number}/{self._total}] {level}: {env_id}"
        if self._live:
            self._status = self._console.status(_Now(self._now))
            self._status.start()

    def phase(self, round_number: int, phase: str) -> None:
        """Show what is being done now; on a terminal only."""
        self._phase = f"round {round_number} {phase}"

    def _now(self) -> str:
        clock = _clock(time.monotonic() - self._started)
        counts = f"{self.solved} solved, {self.failed} failed"
        return f"{clock}  {counts}  {self._category} {self._label}  {self._phase}"

    def level_ended(self, summary: Mapping[str, Any]) -> None:
        self.close()
        solved = summary["outcome"] == "success"
        self.solved += solved
        self.failed += not solved
        counters = summary["counters"]
        seconds = time.monotonic() - self._level_started
        rounds = f"{counters['spca_rounds']} round{'s' if counters['spca_rounds'] != 1 else ''}"
        coder = f" + {counters['coder_calls']} coder" if counters["coder_calls"] else ""
        calls = (
            f"{counters['planner_calls']} planner{coder} call{'s' if coder or counters['planner_calls'] != 1 else ''}"
        )
        paid = spending.spent(summary["usage"])
        line = f"  {self._label}  {rounds}, {calls}, {summary['steps']} steps, {seconds:.1f} s{paid and f', {paid}'}"
        if self._quiet:
            return
        mark = "[green]solved[/]" if solved else "[red]failed[/]"
        self._console.print(f"{mark}{escape(visible(line))}", soft_wrap=True)
        if not solved:
            first_line = summary["reason"].partition("\n")[0]
            self._console.print(f"        {escape(visible(first_line))}", soft_wrap=True)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the terminal to somebody else."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def close(self) -> None:
        """Take the live line down."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def table(self, totals: Mapping[str, Any], elapsed: float, where: str) -> None:
        """The result per category, and what it took where models were paid in tokens."""
        self.close()
        usage = totals["usage"]
        paid = bool(usage["input_tokens"] or usage["output_tokens"] or usage["cost_unknown"])
        title = f"{totals['solved']} of {totals['levels']} levels solved"
        table = Table(title=title, box=SIMPLE_HEAD, padding=0, show_edge=False)
        table.add_column("category", no_wrap=True, overflow="fold")
        for heading in ("solved", "rounds", "planner", "coder", "steps", *_PAID * paid):
            table.add_column(heading, justify="right", no_wrap=True)
        for name, row in totals["categories"].items():
            solved = f"{row['solved']}/{row['levels']}"
            numbers = [str(row[key]) for key in ("rounds", "planner_calls", "coder_calls", "steps")]
            spent = usage["categories"].get(name)
            if paid and spent:
                numbers += [spending.tokens(spent), spending.reasoning(spent), spending.usd(spent)]
            table.add_row(escape(name), solved, *numbers)
        self._console.print(table)
        if paid:
            requests = f"{counted(usage['requests'], 'request')}{spending.unanswered(usage)}"
            self._console.print(f"{requests}, {spending.spent(usage)}", soft_wrap=True)
            if usage["cost_unknown"]:
                unknown = counted(usage["cost_unknown"], "request")
                self._console.print(f"?: the cost of {unknown} is not known; see calls.jsonl", soft_wrap=True)
            if usage["estimated"]:
                self._console.print("~: estimated, because the server reports no tokens")
        if totals["sandbox"] == "unsafe":
            self._console.print("[red]unsafe[/]: generated code ran without the sandbox (--unsafe-no-sandbox)")
        if totals["corrected"]:
            self._console.print(
                f"solved with minigrid's verifier corrected: {escape(', '.join(totals['corrected']))}"
                " (docs/simulator.md; impossible with --upstream-rules)",
                soft_wrap=True,
            )
        self._console.print(f"{_clock(elapsed)} elapsed; everything about the run lies in {where}", soft_wrap=True)
        self.note(f"look at it: {program()} report {shlex.quote(where)}")


def list_tasks(rows: Sequence[tuple[str, str, str]]) -> None:
    """Categories, levels and environment ids."""
    console = Console(highlight=False)
    category = level = ""
    for row in rows:
        if row[0] != category:
            category, level = row[0], ""
            console.print(f"[bold]{escape(category)}[/]")
        if row[1] != level:
            level = row[1]
            console.print(f"  {escape(level)}")
        console.print(f"    {escape(row[2])}", soft_wrap=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
