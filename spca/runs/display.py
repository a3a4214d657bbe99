"""What a user sees of a run: live on a terminal, plain lines elsewhere, a table at the end."""

from __future__ import annotations

import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from spca.common.command import program
from spca.common.text import counted, one_line
from spca.llm import spending
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import sums
from spca.protocols import EventSink
from spca.runs.curriculum import Task
from spca.runs.lines import (
    Columns,
    Moment,
    RepeatedLine,
    elapsed,
    failed_line,
    failures_line,
    figures,
    folded,
    troubles,
    unusable_line,
)

_WORKING: Final = {"": "world", "plan": "solver", "code": "checks", "act": "world"}
"""What is waited for in each phase while no model is."""
_LONG, _SILENT, _LOOK = 5.0, 30.0, 0.5
"""A file is told what is waited for after as many seconds of waiting, or without a line; seconds between looks."""
_SPINNER: Final = 2
"""Columns before the live line."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """Who is waited for, since when."""

    who: str
    model: str
    since: float


class _Now:
    """Text that is made anew whenever the terminal is refreshed."""

    def __init__(self, describe: Callable[[], str]) -> None:
        self._describe = describe

    def __rich__(self) -> Text:
        return Text(self._describe(), no_wrap=True, overflow="ellipsis")


class _Output(Console):
    """Standard output; that nobody reads it any more is for the program to deal with."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


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
        self._console = console or _Output(highlight=False)
        self._tasks, self._paid, self._quiet, self._greets = tasks, paid, quiet, greets
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._status: Status | None = None
        self._log, self._ended = threading.Thread(), threading.Event()
        self._heading = ""
        self._repeated = RepeatedLine()
        self._task, self._number, self._round, self._phase = Task(0, "", "", "", ""), 0, 0, ""
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
        self._count, self._usage = count, count()
        paid = spending.spent(self._usage)
        if finished or paid:
            done = f"resuming: {len(finished)} of {len(self._tasks)} levels are finished, {self.solved} of them solved"
            self.note(f"{done}{paid and f'; so far {paid}'}")

    def played_again(self, levels: int) -> None:
        """Say that levels without a usable answer are played again."""
        if levels:
            self.note(f"{counted(levels, 'level')} without a usable answer: played again")

    def note(self, line: str, indent: int = 0) -> None:
        """A line of its own; of those that say the same one after another the first, and then how many there were."""
        if not self._quiet:
            for shown, columns in self._repeated.add(one_line(line), indent):
                self._say(shown, columns)

    def attend(self, desk: CallDesk) -> None:
        """Be told by the desk who is asked, what is asked again and when the terminal is needed."""
        desk.notify, desk.waiting, desk.step_aside = self.note, self.asking, self.suspended

    def telling(self, emit: EventSink) -> EventSink:
        """``emit``, with a line on each answer that cannot be used; a person waits for the next question."""

        def tell(event: str, data: Mapping[str, object]) -> None:
            emit(event, data)
            error = str(data.get("error") or "")
            if error and str(data.get("model")).startswith("human/"):
                self.note(f"that answer cannot be used: {error}")
            elif error and "began" in data:
                line = unusable_line(event.removesuffix("_call"), error, str(data["began"]))
                self.note(line, self._columns().indent)

        return tell

    def level_started(self, number: int, task: Task) -> None:
        """Begin a level; ``number`` counts from 1."""
        self._task, self._number, self._round = task, number, 0
        self._level_started = time.monotonic()
        self._turn_to("")
        if self._quiet:
            return
        self._head()
        if self._live:
            self._status = self._console.status(_Now(self._now))
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
        self._phase, self._wait = phase, _Wait(_WORKING.get(phase, phase), "", time.monotonic())

    def _moment(self, now: float, wait: _Wait) -> Moment:
        return Moment(
            task=self._task,
            number=self._number,
            total=len(self._tasks),
            round=self._round,
            who=wait.who,
            model=wait.model,
            waited=max(now - wait.since, 0.0),
            solved=self.solved,
            failed=self.failed,
            elapsed=now - self._started,
            usage=self._usage,
        )

    def _now(self) -> str:
        return self._moment(time.monotonic(), self._wait).live(self._console.width - _SPINNER)

    def _tell_file(self) -> None:
        """Say once of each long wait of a level who is waited for."""
        last, told = self._level_started, None
        while not self._ended.wait(_LOOK):
            now, wait = time.monotonic(), self._wait  # in this order: a wait that begins meanwhile has not lasted
            if wait is not told and (now - wait.since >= _LONG or now - last >= _SILENT):
                told, line = wait, self._moment(now, wait).logged(self._console.width)
                with suppress(OSError):  # who prints the next result says that nothing can be written
                    self._console.print(Text(line), soft_wrap=True)
            last = now if wait is told else last

    def _columns(self) -> Columns:
        return Columns.of(self._tasks, self._console.width, paid=self._paid)

    def _head(self) -> None:
        """Say the category and what the columns mean, unless the last such line does."""
        heading = self._columns().heading(self._task.category)
        if heading != self._heading:
            self._heading = heading
            self._console.print(Text(heading, style="bold"), soft_wrap=True)

    def level_ended(self, summary: Mapping[str, Any], ended: Sequence[str] = ()) -> None:
        """A level's line, and below it what failed on the way; ``ended``: statuses of its failed attempts."""
        self.close()
        solved = summary["outcome"] == "success"
        self.solved += solved
        self.failed += not solved
        if self._quiet:
            return
        self._usage = self._count()
        self._head()
        columns, so_far = self._columns(), f"{self.solved}/{self.solved + self.failed}"
        seconds = time.monotonic() - self._level_started
        row = columns.row(
            "solved" if solved else "failed",
            self._number,
            self._task,
            figures(summary, seconds, so_far, self._usage),
        )
        line = Text(row)
        line.stylize("green" if solved else "red", 0, len("solved"))
        below = [troubles(summary["counters"], ended)]
        if len(below[0]) + line.cell_len + 2 <= self._console.width:
            line.append(f"  {below.pop()}".rstrip())
        self._console.print(line, soft_wrap=True)
        below += [] if solved else [failed_line(summary)]
        for text in filter(None, below):
            self._say(one_line(text), columns.indent)

    def _say(self, text: str, indent: int = 0, style: str = "") -> None:
        """A text of any length: folded between words on a terminal, in one line in a file."""
        room = self._console.width - indent if self._console.is_terminal else sys.maxsize
        for line in folded(text, room):
            self._console.print(Text(" " * indent + line, style), soft_wrap=True)

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
        """Take the live line down; nothing more is said of the level but how often the last line was said."""
        if self._status is not None:
            self._status.stop()
            self._status = None
        if self._log.is_alive():
            self._ended.set()
            self._log.join()
        for line, indent in self._repeated.end():
            self._say(line, indent)

    def table(self, totals: Mapping[str, Any], seconds: float, where: str) -> None:
        """The result per category, and what it took where models were paid in tokens."""
        self.close()
        usage = totals["usage"]
        paid = bool(usage["input_tokens"] or usage["output_tokens"] or usage["cost_unknown"])
        table = Table(title=f"{totals['solved']} of {totals['levels']} levels solved", box=SIMPLE_HEAD, padding=0)
        table.show_edge = False
        columns = _fitting(_by_category(totals, paid), self._console.width)
        for heading in columns:
            table.add_column(heading, justify="left" if heading == "category" else "right", no_wrap=True)
        for row in zip(*columns.values(), strict=True):
            table.add_row(*map(Text, row))
        self._console.print(table)
        if paid:
            requests = f"{counted(usage['requests'], 'request')}{spending.unanswered(usage)}"
            self._say(f"{requests}, {spending.spent(usage)}")
            if usage["cost_unknown"]:
                unknown = counted(usage["cost_unknown"], "request")
                self._say(f"?: the cost of {unknown} is not known; see calls.jsonl")
            if usage["estimated"]:
                self._say("~: estimated, because the server reports no tokens")
        if culprits := failures_line(totals.get("failures", ())):
            self._say(culprits)
        if usage["differing"]:
            prompts = counted(usage["requests"], "prompt")
            self._say(f"{usage['differing']} of {prompts} differ from those that the answers were recorded for")
        counters = totals["counters"]
        if planned := counters.get("planner_compiled", 0) - counters.get("compiled_failed", 0):
            self._say(f"planned without a call, by stored problem writers: {counted(planned, 'level')}")
        if totals["sandbox"] == "unsafe":
            self._say("unsafe: generated code ran without the sandbox (--unsafe-no-sandbox)", style="red")
        if totals["corrected"]:
            corrected = one_line(", ".join(totals["corrected"]))
            impossible = "(docs/simulator.md; impossible with --upstream-rules)"
            self._say(f"solved with minigrid's verifier corrected: {corrected} {impossible}")
        self._say(one_line(f"{elapsed(seconds)} elapsed; everything about the run lies in {where}"))
        self.note(f"look at it: {program()} report {shlex.quote(where)}")


def _by_category(totals: Mapping[str, Any], paid: bool) -> dict[str, list[str]]:
    """Cells of the final table by heading."""
    categories, usage = totals["categories"], totals["usage"]["categories"]
    cells = {"category": [one_line(name) for name in categories]}
    cells["solved"] = [f"{row['solved']}/{row['levels']}" for row in categories.values()]
    counts = {"rounds": "rounds", "planner": "planner_calls", "coder": "coder_calls", "steps": "steps"}
    cells |= {heading: [str(row[key]) for row in categories.values()] for heading, key in counts.items()}
    figures = {"tokens": spending.tokens, "reasoning": spending.reasoning, "USD": spending.usd}
    for heading, figure in figures.items() if paid else ():
        cells[heading] = [figure(usage[name]) if name in usage else "" for name in categories]
    return cells


def _fitting(cells: dict[str, list[str]], width: int) -> dict[str, list[str]]:
    """The columns there is room for; what the total below says too goes first."""
    for heading in ("reasoning", "rounds", "tokens", "steps", "coder", "planner", "USD"):
        if sum(max(map(cell_len, (name, *column))) + 1 for name, column in cells.items()) <= width + 1:
            break
        cells.pop(heading, None)
    return cells


def list_tasks(rows: Sequence[tuple[str, str, str]]) -> None:
    """Categories, levels and environment ids."""
    console = Console(highlight=False)
    category = level = ""
    for row in rows:
        if row[0] != category:
            category, level = row[0], ""
            console.print(Text(one_line(category), style="bold"), soft_wrap=True)
        if row[1] != level:
            level = row[1]
            console.print(Text(f"  {one_line(level)}"), soft_wrap=True)
        console.print(Text(f"    {one_line(row[2])}"), soft_wrap=True)
