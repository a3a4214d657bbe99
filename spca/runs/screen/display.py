"""What a user sees of a run: live on a terminal, plain lines elsewhere, a table at the end."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner

from spca.common.command import program
from spca.common.printing import make_text, open_console, print_line, print_table
from spca.common.text import clock, format_count, one_line
from spca.llm import spending
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import sums
from spca.protocols import EventSink
from spca.runs.curriculum import Task
from spca.runs.screen.lines import (
    LevelColumns,
    RepeatedLine,
    describe_culprits,
    describe_failure,
    describe_troubles,
    describe_unusable,
    format_figures,
)

_WORKING: Final = {"": "world", "plan": "solver", "code": "checks", "act": "world"}
"""What is waited for in each phase while no model is."""
_LONG = 5.0
_SILENT = 30.0
_LOOK = 0.5
"""A file is told what is waited for after as many seconds of waiting, or without a line; seconds between looks."""
_REFRESHES: Final = 12.5
"""Refreshes of the live line a second."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """Who is waited for, since when."""

    who: str
    model: str
    since: float


class Display:
    """Progress and results on standard output.

    Args:
        tasks: the levels of the run, finished ones included.
        paid: whether a model costs money.
        quiet: print nothing but the final table.
        greets: tell first what the run works with.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        paid: bool = False,
        quiet: bool = False,
        greets: bool = True,
        console: Console | None = None,
    ) -> None:
        self._console = console or open_console()
        self._tasks = tasks
        self._paid = paid
        self._quiet = quiet
        self._greets = greets
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._status: Live | None = None
        self._spinner = Spinner("dots", style="status.spinner")
        self._log = threading.Thread()
        self._ended = threading.Event()
        self._heading: tuple[str, LevelColumns] | None = None
        self._repeated = RepeatedLine()
        self._task = Task(0, "", "", "", "")
        self._number = 0
        self._round = 0
        self._phase = ""
        self._level_started = self._started = time.monotonic()
        self._wait = _Wait(_WORKING[""], "", self._started)
        self._count: Callable[[], Mapping[str, Any]] = lambda: sums([])
        self._usage: Mapping[str, Any] = self._count()
        self.solved = self.failed = 0

    def begin(
        self,
        greeting: str,
        sandbox: str,
        finished: Sequence[Mapping[str, Any]],
        count: Callable[[], Mapping[str, Any]],
    ) -> None:
        """The first lines: what the run works with, in which sandbox, and where it goes on.

        Args:
            finished: summaries of levels.
            count: what the run has taken so far (:func:`spca.llm.calls.ledger.sums`).
        """
        if self._greets:
            self.note(greeting)
            self.note(f"Sandbox: {sandbox} (docs/sandbox.md says what generated code can and cannot do).")
        self.solved = sum(summary["outcome"] == "success" for summary in finished)
        self.failed = len(finished) - self.solved
        self._count = count
        self._usage = count()
        paid = spending.spent(self._usage)
        if finished or paid:
            done = f"resuming: {len(finished)} of {len(self._tasks)} levels are finished, {self.solved} of them solved"
            self.note(f"{done}{paid and f'; so far {paid}'}")

    def announce_replayed_levels(self, levels: int) -> None:
        """Say that levels without a usable answer are played again."""
        if levels:
            self.note(f"{format_count(levels, 'level')} without a usable answer: played again")

    def note(self, line: str, indent: int = 0) -> None:
        """A line of its own; of those that say the same one after another the first, and then how many there were."""
        if not self._quiet:
            for shown, columns in self._repeated.add(one_line(line), indent):
                self._say(shown, indent=columns)

    def attend(self, desk: CallDesk) -> None:
        """Be told by the desk who is asked, what is asked again and when the terminal is needed."""
        desk.notify = self.note
        desk.waiting = self.asking
        desk.step_aside = self.suspend_display

    def telling(self, emit: EventSink) -> EventSink:
        """``emit``, with a line on each answer that cannot be used; a person waits for the next question."""

        def tell(event: str, data: Mapping[str, object]) -> None:
            emit(event, data)
            error = str(data.get("error") or "")
            if error and str(data.get("model")).startswith("human/"):
                self.note(f"that answer cannot be used: {error}")
            elif error and "began" in data:
                line = describe_unusable(event.removesuffix("_call"), error, str(data["began"]))
                self.note(line, self._columns().indent)

        return tell

    def level_started(self, number: int, task: Task) -> None:
        """Begin a level; ``number`` counts from 1."""
        self._task = task
        self._number = number
        self._round = 0
        self._level_started = time.monotonic()
        self._turn_to("")
        if self._quiet:
            return
        self._head()
        if self._live:
            self._status = Live(
                console=self._console, get_renderable=self._draw, transient=True, refresh_per_second=_REFRESHES
            )
            self._status.start()
        else:
            self._ended.clear()
            self._log = threading.Thread(target=self._tell_file, daemon=True)
            self._log.start()

    def phase(self, round_number: int, phase: str) -> None:
        """What is being done now: plan, code or act."""
        self._round = round_number
        self._turn_to(phase)

    @contextmanager
    def asking(self, who: str, model: str) -> Iterator[None]:
        """A model is waited for until the block ends."""
        self._wait = _Wait(who, model, time.monotonic())
        try:
            yield
        finally:
            if not self._quiet:
                self._usage = self._count()
            self._turn_to(self._phase)

    def _turn_to(self, phase: str) -> None:
        self._phase = phase
        self._wait = _Wait(_WORKING.get(phase, phase), "", time.monotonic())

    def _draw(self) -> Spinner:
        """Return the live line: all that is known, in as many lines as it takes."""
        now = time.monotonic()
        wait = self._wait
        waited = max(now - wait.since, 0.0)
        parts = [
            clock(now - self._started),
            f"{self.solved} solved, {self.failed} failed",
            self._task.category,
            f"{self._number}/{len(self._tasks)} {self._task.level}: {self._task.env_id}",
            *self._describe_work(wait, f"{waited:.0f}s" if waited < 600 else clock(waited)),
        ]
        self._spinner.update(text=make_text("  ".join(filter(None, parts))))
        return self._spinner

    def _describe_work(self, wait: _Wait, waited: str = "") -> list[str]:
        """Return the round, who is waited for, and what the run has taken so far."""
        round_words = f"round {self._round}" if self._round else ""
        who = " ".join(filter(None, (wait.who, wait.model, waited)))
        return [round_words, who, spending.so_far(self._usage)]

    def _tell_file(self) -> None:
        """Say once of each long wait of a level who is waited for."""
        last = self._level_started
        told = None
        while not self._ended.wait(_LOOK):
            now = time.monotonic()
            wait = self._wait  # in this order: a wait that begins meanwhile has not lasted
            if wait is not told and (now - wait.since >= _LONG or now - last >= _SILENT):
                told = wait
                level = self._columns().name_wait(clock(wait.since - self._started), self._number, self._task)
                line = make_text("  ".join(filter(None, (level, *self._describe_work(wait)))))
                with suppress(OSError):  # who prints the next result says that nothing can be written
                    self._console.print(line, soft_wrap=True)
            last = now if wait is told else last

    def _columns(self) -> LevelColumns:
        return LevelColumns.fit(self._tasks, self._console.width, paid=self._paid)

    def _head(self) -> None:
        """Say the category and what the columns mean, unless the last such line does."""
        columns = self._columns()
        heading = (self._task.category, columns)
        if heading != self._heading:
            self._heading = heading
            self._console.print(columns.make_heading(self._task.category))

    def level_ended(self, summary: Mapping[str, Any], ended: Sequence[str] = ()) -> None:
        """Print a level's line, and below it what failed on the way; ``ended``: statuses of its failed attempts."""
        self.close()
        solved = summary["outcome"] == "success"
        self.solved += solved
        self.failed += not solved
        if self._quiet:
            return

        self._usage = self._count()
        self._head()
        seconds = time.monotonic() - self._level_started
        figures = format_figures(summary, seconds, f"{self.solved}/{self.solved + self.failed}", self._usage)
        mark, style = ("solved", "green") if solved else ("failed", "red")
        columns = self._columns()
        self._console.print(columns.make_row(mark, style, self._number, self._task, figures))

        self._say(describe_troubles(summary["counters"], ended), indent=columns.indent)
        if not solved:
            self._say(describe_failure(summary), indent=columns.indent)

    def _say(self, text: str, style: str = "", indent: int = 0) -> None:
        print_line(self._console, text, style, indent)

    @contextmanager
    def suspend_display(self) -> Iterator[None]:
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
        """Take the live line down; nothing more is said of the level but how often the last line was said."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._log.is_alive():
            self._ended.set()
            self._log.join()
        for line, indent in self._repeated.end():
            self._say(line, indent=indent)

    def table(self, totals: Mapping[str, Any], seconds: float, where: str) -> None:
        """The result per category, and what it took where models were paid in tokens."""
        self.close()
        usage = totals["usage"]
        paid = bool(usage["input_tokens"] or usage["output_tokens"] or usage["cost_unknown"])
        self._say(f"{totals['solved']} of {totals['levels']} levels solved", "bold")
        print_table(self._console, list(_make_rows(totals, paid)))
        if paid:
            requests = f"{format_count(usage['requests'], 'request')}{spending.count_unanswered(usage)}"
            self._say(f"{requests}, {spending.spent(usage)}")
            if usage["cost_unknown"]:
                unknown = format_count(usage["cost_unknown"], "request")
                self._say(f"?: the cost of {unknown} is not known; see calls.jsonl")
            if usage["estimated"]:
                self._say("~: estimated, because the server reports no tokens")
        self._say(describe_culprits(totals.get("failures", ())))
        if usage["differing"]:
            prompts = format_count(usage["requests"], "prompt")
            self._say(f"{usage['differing']} of {prompts} differ from those that the answers were recorded for")
        counters = totals["counters"]
        if planned := counters.get("planner_compiled", 0) - counters.get("compiled_failed", 0):
            self._say(f"planned without a call, by stored problem writers: {format_count(planned, 'level')}")
        if totals["sandbox"] == "unsafe":
            self._say("unsafe: generated code ran without the sandbox (--unsafe-no-sandbox)", "red")
        if totals["corrected"]:
            corrected = ", ".join(totals["corrected"])
            impossible = "(docs/simulator.md; impossible with --upstream-rules)"
            self._say(f"solved with minigrid's verifier corrected: {corrected} {impossible}")
        self._say(f"{clock(seconds)} elapsed; everything about the run lies in {where}")
        self.note(f"look at it: {program()} report {shlex.quote(where)}")


def _make_rows(totals: Mapping[str, Any], paid: bool) -> Iterator[dict[str, object]]:
    """Yield a row of the final table for each category."""
    usage = totals["usage"]["categories"]
    for name, row in totals["categories"].items():
        solved = f"{row['solved']}/{row['levels']}"
        calls = {"planner": row["planner_calls"], "coder": row["coder_calls"]}
        cells = {"category": name, "solved": solved, "rounds": row["rounds"], **calls, "steps": row["steps"]}
        if paid:
            cells |= spending.cells(usage[name]) if name in usage else {"tokens": "", "reasoning": "", "USD": ""}
        yield cells


def list_tasks(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print categories, levels and environment ids."""
    console = open_console()
    shown: tuple[str, ...] = ()
    for row in rows:
        for depth, name in enumerate(row):
            if depth == 2 or row[: depth + 1] != shown[: depth + 1]:
                print_line(console, name, "" if depth else "bold", indent=2 * depth)
        shown = row
