"""Output of a run: a live line on a terminal, plain lines in a file or pipe, and a table at the end."""

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
from spca.plugins.loaded import format_plugin_flags
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
"""Phase -> the part that works in the phase while no model is asked."""
_LONG = 5.0
"""Seconds after which a wait is reported if the output is not a terminal."""
_SILENT = 30.0
"""Seconds without a report, after which a shorter wait is reported, too."""
_LOOK = 0.5
"""Seconds between two checks of the current wait."""
_REFRESHES: Final = 12.5
"""Refreshes of the live line per second."""


_MAX_CORRECTED: Final = 12
"""Largest number of levels whose names the final table lists because minigrid's verifier was corrected."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A wait for a model or another part.

    Attributes:
        who: role of the model, or name of the part.
        model: name of the model; "" if no model is asked.
        since: start of the wait, as ``time.monotonic``.
    """

    who: str
    model: str
    since: float


class Display:
    """Prints progress and results of a run on standard output.

    Args:
        tasks: all levels of the run, finished levels included.
        paid: whether a model costs money.
        quiet: whether to print only the final table.
        greets: whether to begin with a line on the models and a line on the sandbox.
        console: where to print; by default standard output.

    Attributes:
        solved, failed: numbers of finished levels.
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
        self._wait_reporter = threading.Thread()  # not started; replaced for each level that is shown in a file
        self._level_ended = threading.Event()
        self._fitted: tuple[int, LevelColumns] | None = None  # width of the terminal and the columns that fit it
        self._heading: tuple[str, LevelColumns] | None = None  # category and columns of the last printed heading
        self._repeated = RepeatedLine()
        self._task = Task(0, "", "", "", "")
        self._number = 0
        self._round = 0
        self._phase = ""
        self._level_started = self._started = time.monotonic()
        self._wait = _Wait(_WORKING[""], "", self._started)
        self._count_usage: Callable[[], Mapping[str, Any]] = lambda: sums([])
        self._usage: Mapping[str, Any] = self._count_usage()
        self.solved = self.failed = 0

    def begin(
        self,
        greeting: str,
        sandbox: str,
        finished: Sequence[Mapping[str, Any]],
        count: Callable[[], Mapping[str, Any]],
    ) -> None:
        """Print the first lines: the greeting, the sandbox, and for a resumed run its progress so far.

        Args:
            greeting: line on the models of the run.
            sandbox: level of the sandbox.
            finished: summaries of the finished levels.
            count: returns the usage of the run so far, as :func:`spca.llm.calls.ledger.sums` does.
        """
        if self._greets:
            self.note(greeting)
            self.note(f"Sandbox: {sandbox} (docs/sandbox.md says what generated code can and cannot do).")
        self.solved = sum(summary["outcome"] == "success" for summary in finished)
        self.failed = len(finished) - self.solved
        self._count_usage = count
        self._usage = count()
        spent = spending.spent(self._usage)
        if finished or spent:
            done = f"resuming: {len(finished)} of {len(self._tasks)} levels are finished, {self.solved} of them solved"
            so_far = f"; so far {spent}" if spent else ""
            self.note(f"{done}{so_far}")

    def announce_replayed_levels(self, levels: int) -> None:
        """Print how many levels are played again because a model gave no usable answer; print nothing for 0."""
        if levels:
            self.note(f"{format_count(levels, 'level')} without a usable answer: played again")

    def note(self, line: str, indent: int = 0) -> None:
        """Print a line, unless the display is quiet; of equal lines in a row, print one line and their number."""
        if not self._quiet:
            for shown, columns in self._repeated.add(one_line(line), indent):
                self._print(shown, indent=columns)

    def attend(self, desk: CallDesk) -> None:
        """Let ``desk`` report waits and repeated requests to the display, and suspend the live line when needed."""
        desk.notify = self.note
        desk.waiting = self.asking
        desk.step_aside = self.suspend_display

    def telling(self, emit: EventSink) -> EventSink:
        """Return a sink that passes events to ``emit`` and prints a line on each unusable answer of a model."""

        def emit_and_print(event: str, data: Mapping[str, object]) -> None:
            emit(event, data)
            error = str(data.get("error") or "")
            is_from_person = str(data.get("model")).startswith("human/")
            if error and is_from_person:
                self.note(f"that answer cannot be used: {error}")
            elif error and "began" in data:
                line = describe_unusable(event.removesuffix("_call"), error, str(data["began"]))
                self.note(line, self._columns().indent)

        return emit_and_print

    def level_started(self, number: int, task: Task) -> None:
        """Show that a level begins; ``number`` counts from 1."""
        self._task = task
        self._number = number
        self._round = 0
        self._level_started = time.monotonic()
        self._set_phase("")
        if self._quiet:
            return
        self._print_heading()
        if self._live:
            self._status = Live(
                console=self._console, get_renderable=self._draw, transient=True, refresh_per_second=_REFRESHES
            )
            self._status.start()
        else:
            self._level_ended.clear()
            self._wait_reporter = threading.Thread(target=self._report_waits, daemon=True)
            self._wait_reporter.start()

    def phase(self, round_number: int, phase: str) -> None:
        """Show the current round and phase; ``phase`` is "plan", "code" or "act"."""
        self._round = round_number
        self._set_phase(phase)

    @contextmanager
    def asking(self, who: str, model: str) -> Iterator[None]:
        """Show that a model is being asked, until the block ends.

        Args:
            who: role of the model.
            model: name of the model.
        """
        self._wait = _Wait(who, model, time.monotonic())
        try:
            yield
        finally:
            if not self._quiet:
                self._usage = self._count_usage()
            self._set_phase(self._phase)

    def _set_phase(self, phase: str) -> None:
        """Set the phase, and begin to wait for the part that works in this phase."""
        self._phase = phase
        self._wait = _Wait(_WORKING.get(phase, phase), "", time.monotonic())

    def _draw(self) -> Spinner:
        """Return the live line with the times, counts, level, round and wait; a narrow terminal wraps the line."""
        now = time.monotonic()
        wait = self._wait
        waited = max(now - wait.since, 0.0)
        waited_text = f"{waited:.0f}s" if waited < 600 else clock(waited)
        parts = [
            clock(now - self._started),
            f"{self.solved} solved, {self.failed} failed",
            self._task.category,
            f"{self._number}/{len(self._tasks)} {self._task.level}: {self._task.name}",
            *self._describe_work(wait, waited_text),
        ]
        self._spinner.update(text=make_text("  ".join(filter(None, parts))))
        return self._spinner

    def _describe_work(self, wait: _Wait, waited: str = "") -> list[str]:
        """Return three texts: the round, the wait, and the usage of the run; a text is "" if there is nothing to say.

        Args:
            waited: duration of the wait; "" to leave the duration out.
        """
        round_words = f"round {self._round}" if self._round else ""
        wait_words = " ".join(filter(None, (wait.who, wait.model, waited)))
        return [round_words, wait_words, spending.so_far(self._usage)]

    def _report_waits(self) -> None:
        """Print each long wait of a level once, until the level ends; runs in a thread."""
        last_report = self._level_started
        reported: _Wait | None = None
        while not self._level_ended.wait(_LOOK):
            # The time is read before the wait, so that a wait that begins in between does not seem long.
            now = time.monotonic()
            wait = self._wait
            is_due = now - wait.since >= _LONG or now - last_report >= _SILENT
            if wait is not reported and is_due:
                reported = wait
                level = self._columns().name_wait(clock(wait.since - self._started), self._number, self._task)
                line = make_text("  ".join(filter(None, (level, *self._describe_work(wait)))))
                with suppress(OSError):  # printing the next result raises the same error in the main thread
                    self._console.print(line, soft_wrap=True)
            if wait is reported:  # silence is counted from the end of a reported wait
                last_report = now

    def _columns(self) -> LevelColumns:
        """Return the columns of results that fit the present width of the terminal."""
        width = self._console.width
        if self._fitted is None or self._fitted[0] != width:
            self._fitted = width, LevelColumns.fit(self._tasks, width, paid=self._paid)
        return self._fitted[1]

    def _print_heading(self) -> None:
        """Print the category and the headings of the columns, unless the last printed heading is the same."""
        columns = self._columns()
        heading = (self._task.category, columns)
        if heading != self._heading:
            self._heading = heading
            self._console.print(columns.make_heading(self._task.category))

    def level_ended(self, summary: Mapping[str, Any], ended: Sequence[str] = ()) -> None:
        """Print the result of a level, and below it the repairs, refusals and failed attempts in the level.

        Args:
            summary: summary of the level.
            ended: statuses of the failed attempts, in order.
        """
        self.close()
        solved = summary["outcome"] == "success"
        self.solved += solved
        self.failed += not solved
        if self._quiet:
            return

        self._usage = self._count_usage()
        self._print_heading()
        seconds = time.monotonic() - self._level_started
        solved_of_finished = f"{self.solved}/{self.solved + self.failed}"
        figures = format_figures(summary, seconds, solved_of_finished, self._usage)
        mark, style = ("solved", "green") if solved else ("failed", "red")
        columns = self._columns()
        self._console.print(columns.make_row(mark, style, self._number, self._task, figures))

        self._print(describe_troubles(summary["counters"], ended), indent=columns.indent)
        if not solved:
            self._print(describe_failure(summary), indent=columns.indent)

    def _print(self, text: str, style: str = "", indent: int = 0) -> None:
        print_line(self._console, text, style, indent)

    @contextmanager
    def suspend_display(self) -> Iterator[None]:
        """Hide the live line until the block ends, so that a model or a person can use the terminal."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def close(self) -> None:
        """Remove the live line, stop reporting waits, and print the number of repetitions of the last line, if any."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._wait_reporter.is_alive():
            self._level_ended.set()
            self._wait_reporter.join()
        for line, indent in self._repeated.end():
            self._print(line, indent=indent)

    def table(self, totals: Mapping[str, Any], seconds: float, where: str) -> None:
        """Print the final table with a row per category, and below it the totals of the run.

        Args:
            totals: content of ``summary.json``.
            seconds: duration of the run in this process.
            where: path of the run folder.
        """
        self.close()
        usage = totals["usage"]
        has_paid_requests = bool(usage["input_tokens"] or usage["output_tokens"] or usage["cost_unknown"])
        self._print(f"{totals['solved']} of {totals['levels']} levels solved", "bold")
        print_table(self._console, list(_make_rows(totals, has_paid_requests)))
        if has_paid_requests:
            self._print_spending(usage)
        self._print(describe_culprits(totals.get("failures", ())))
        if usage["differing"]:
            prompts = format_count(usage["requests"], "prompt")
            self._print(f"{usage['differing']} of {prompts} differ from those that the answers were recorded for")
        counters = totals["counters"]
        if planned := counters.get("planner_compiled", 0) - counters.get("compiled_failed", 0):
            self._print(f"planned without a call, by stored problem writers: {format_count(planned, 'level')}")
        if totals["sandbox"] == "unsafe":
            self._print("unsafe: generated code ran without the sandbox (--unsafe-no-sandbox)", "red")
        if totals["corrected"]:
            corrected = ", ".join(totals["corrected"][:_MAX_CORRECTED])
            if (further := len(totals["corrected"]) - _MAX_CORRECTED) > 0:
                corrected += f" and {further} more"
            impossible = "(docs/simulator.md; impossible with --upstream-rules)"
            self._print(f"solved with minigrid's verifier corrected: {corrected} {impossible}")
        self._print(f"{clock(seconds)} elapsed; everything about the run lies in {where}")
        self.note(f"look at it: {program()} report {shlex.quote(where)}{format_plugin_flags()}")

    def _print_spending(self, usage: Mapping[str, Any]) -> None:
        """Print requests, tokens and USD of the run, and the meaning of "?" and "~" if they occur."""
        requests = f"{format_count(usage['requests'], 'request')}{spending.count_unanswered(usage)}"
        self._print(f"{requests}, {spending.spent(usage)}")
        if usage["cost_unknown"]:
            unknown = format_count(usage["cost_unknown"], "request")
            self._print(f"?: the cost of {unknown} is not known; see calls.jsonl")
        if usage["estimated"]:
            self._print("~: estimated, because the server reports no tokens")


def _make_rows(totals: Mapping[str, Any], paid: bool) -> Iterator[dict[str, object]]:
    """Yield a row of the final table for each category; if ``paid``, with columns for tokens and USD."""
    usage = totals["usage"]["categories"]
    for name, row in totals["categories"].items():
        solved = f"{row['solved']}/{row['levels']}"
        calls = {"planner": row["planner_calls"], "coder": row["coder_calls"]}
        cells = {"category": name, "solved": solved, "rounds": row["rounds"], **calls, "steps": row["steps"]}
        if paid:
            cells |= spending.cells(usage[name]) if name in usage else {"tokens": "", "reasoning": "", "USD": ""}
        yield cells


def list_tasks(rows: Sequence[tuple[str, str, str]]) -> None:
    """Print categories, levels and environment ids as an indented list.

    Args:
        rows: (category, level, environment id) of each task; rows of one category, and of one level, are adjacent.
    """
    console = open_console()
    previous: tuple[str, ...] = ()
    for row in rows:
        for depth, name in enumerate(row):
            is_env_id = depth == 2
            is_new = row[: depth + 1] != previous[: depth + 1]
            if is_env_id or is_new:
                print_line(console, name, "" if depth else "bold", indent=2 * depth)
        previous = row
