"""MetricsLogger: the log of a run's events, and one summary file for each level.

Every event is one line of ``metrics.jsonl``. Each line is written by a single ``write`` and flushed, so that the log is
readable after the process was killed. A torn last line is removed when the run is resumed.
"""

from __future__ import annotations

import json
import logging
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from spca.common.encoding import json_text
from spca.common.files import make_folder, read_whole_lines, write_atomic, write_line
from spca.common.interrupts import TERMINATION_SIGNALS, accepts_signal
from spca.common.names import make_file_name

_LOG: Final = logging.getLogger(__name__)

COUNTERS: Final = (
    "spca_rounds",
    "simulation_runs",
    "planner_calls",
    "planner_fresh",
    "planner_reuse",
    "planner_replan",
    "planner_syntax",
    "planner_compiled",
    "compiled_refused",
    "compiled_invalid",
    "compiled_late",
    "compiled_left_out",
    "compiled_failed",
    "writer_accepted",
    "writer_rejected",
    "coder_calls",
    "coder_first",
    "coder_semantic",
    "coder_syntax",
    "plan_objections",
)
"""Names of the counters of a level; all are zero when the level begins."""

DURATIONS: Final = ("plan_s", "solve_s", "code_s", "sim_s", "compile_s")
"""Names of the durations: seconds of planner calls, of solving, of coder calls, of simulation, and of planning by
stored writers.
"""


class MetricsLogger:
    """An event sink (``logger(event, data)``) that also keeps the counters and durations of the present level.

    Args:
        folder: the run's folder, for ``metrics.jsonl`` and the summaries.
        run_id: id of the run, written with every event.
        spent_on: returns the usage of a level (by its number from 1) so far, for the summary of an aborted level.

    Attributes:
        counters: counts of the present level, by the names of :data:`COUNTERS`.
    """

    def __init__(
        self, folder: Path, run_id: str, spent_on: Callable[[int], Mapping[str, object]] = lambda _index: {}
    ) -> None:
        self._spent_on = spent_on
        self._folder = folder
        self._run_id = run_id
        self._path = folder / "metrics.jsonl"
        self._level: dict[str, Any] | None = None
        self._started = 0.0
        self.counters: dict[str, int] = {}
        self._durations: dict[str, list[float]] = {}
        self._begun: Counter[object] = Counter()
        self._delays_interrupts = False
        self._interrupted = ""  # reason of an interrupt, "" without an interrupt

    def __call__(self, event: str, data: Mapping[str, object]) -> None:
        """Write an event to the log, and update the counters and durations that the event affects.

        The events "counter_inc" and "duration" only update a counter or a duration.
        """
        if event == "counter_inc":
            self.inc(str(data["name"]))
            return
        if event == "duration":
            self._add_duration(str(data["name"]), data)
            return
        if event in ("planner_call", "coder_call"):
            role = event.removesuffix("_call")
            self.inc(f"{role}_calls")
            self.inc(f"{role}_{data['mode']}")
            self._add_duration("plan_s" if role == "planner" else "code_s", data)
            if role == "planner":
                self._add_duration("solve_s", data, "solve_s")
        if event == "compiled_plan":
            miss = data["miss"]
            was_executed = miss in ("", "failed")
            if was_executed:
                self.inc("planner_compiled")
            if miss:
                self.inc(f"compiled_{miss}")
        if event == "writer":
            self.inc("writer_rejected" if data["reason"] else "writer_accepted")
        _LOG.debug("%s: %s", event, data)
        self._write(event, data)

    def inc(self, name: str) -> None:
        """Increment a counter by one; ``name`` is one of :data:`COUNTERS`."""
        if name not in COUNTERS:
            raise ValueError(f"unknown counter {name!r}")
        self.counters[name] = self.counters.get(name, 0) + 1
        self._write("counter_inc", {"name": name, "value": self.counters[name]})

    def start_level(self, level: Mapping[str, object], index: int) -> None:
        """Begin a level with all counters at zero.

        Args:
            level: ``level_name``, ``lvl_group``, ``category`` and ``seed``.
            index: number of the level in the run, from 1.
        """
        self._started = time.monotonic()
        self.counters = dict.fromkeys(COUNTERS, 0)
        self._durations = {name: [] for name in DURATIONS}
        self._level = {"index": index, "level": dict(level)}
        self._begun[index] += 1
        self._write("level_start", {"index": index, **level})

    @property
    def episodes(self) -> int:
        """How often the present level was begun: more than once if an earlier process was killed in the level.

        Raises:
            ValueError: no level is in progress.
        """
        if self._level is None:
            raise ValueError("no level is in progress")
        return self._begun[self._level["index"]]

    def summary(self, outcome: str, reason: str, **extra: object) -> dict[str, Any]:
        """Return the summary of the present level, without writing it; ``extra`` are further fields.

        Raises:
            ValueError: no level is in progress.
        """
        if self._level is None:
            raise ValueError("no level is in progress")
        elapsed_s = time.monotonic() - self._started
        durations = {name: _aggregate(values) for name, values in self._durations.items()}
        return {
            "run_id": self._run_id,
            "level_name": self._level["level"]["level_name"],
            **self._level,
            "outcome": outcome,
            "reason": reason,
            "elapsed_min": round(elapsed_s / 60, 4),
            "counters": dict(self.counters),
            "durations": durations,
            **extra,
        }

    def write_summary(self, summary: Mapping[str, Any]) -> Path:
        """Write ``summaries/summary_<category>_<level>_<run_id>.json`` atomically, and return the path of the file."""
        level = summary["level"]
        name = make_file_name(f"summary_{level['category']}_{level['level_name']}_{self._run_id}.json")
        path = self._folder / "summaries" / name
        make_folder(path.parent)
        write_atomic(path, json_text(summary, indent=1) + "\n")
        return path

    def end_level(self, summary: Mapping[str, Any]) -> None:
        """Log the summary of the present level, which ends."""
        self._level = None
        self._write_finished(summary["index"], summary)

    def abort(self, reason: str) -> None:
        """Write an "aborted" summary if a level is in progress."""
        if self._level is None:
            return
        summary = self.summary("aborted", reason, usage=self._spent_on(int(self._level["index"])))
        self.write_summary(summary)
        self.end_level(summary)

    def interrupt(self, signal_name: str) -> None:
        """Interrupt the run: at once, or, within a block of :meth:`delay_interrupts`, at the end of the block.

        The present level is aborted when the logger's ``with`` block ends.

        Raises:
            KeyboardInterrupt: unless interrupts are delayed.
        """
        self._interrupted = f"interrupted by {signal_name}"
        if not self._delays_interrupts:
            raise KeyboardInterrupt(self._interrupted)

    @contextmanager
    def delay_interrupts(self) -> Iterator[None]:
        """Delay interrupts until the end of the block, so that the end of a level is written to all files or to none.

        Raises:
            KeyboardInterrupt: at the end of the block, if an interrupt came within the block; at the beginning of the
                block, if an earlier interrupt raised an exception that generated code swallowed.
        """
        if self._interrupted:
            raise KeyboardInterrupt(self._interrupted)
        self._delays_interrupts = True
        try:
            yield
        finally:
            self._delays_interrupts = False
        if self._interrupted:
            raise KeyboardInterrupt(self._interrupted)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None, /
    ) -> None:
        """Abort the present level if the ``with`` block ends by an error."""
        if error is not None:
            self.abort(str(error) or type(error).__name__)

    def repair(self, finished: Iterable[Mapping[str, Any]]) -> None:
        """Repair the log after the process was killed: remove a torn last line, add missing ends of finished levels.

        Args:
            finished: summaries of the run's finished levels, in order.
        """
        logged, self._begun = _read_level_events(read_whole_lines(self._path))
        for index, summary in enumerate(finished, 1):
            if index not in logged:
                _LOG.info("the log lacks the end of level %s: it is added", index)
                self._write_finished(index, summary)

    def _write_finished(self, index: int, summary: Mapping[str, Any]) -> None:
        self._write("level_summary", {"level_index": index, **summary})

    def _add_duration(self, name: str, data: Mapping[str, object], field: str = "seconds") -> None:
        """Add the seconds in a field of ``data`` to the durations ``name``."""
        seconds = float(str(data[field]))
        self._durations.setdefault(name, []).append(seconds)

    def _write(self, event: str, data: Mapping[str, object]) -> None:
        """Append an event to the log, with time, run and level."""
        level = {} if self._level is None else {"level_index": self._level["index"]}
        now = round(time.time(), 3)
        record = {"event": event, "time": now, "run_id": self._run_id, **level, **data}
        write_line(self._path, json_text(record))


def _aggregate(values: list[float]) -> dict[str, float | int]:
    total = sum(values, 0.0)
    maximum = max(values, default=0.0)
    return {"count": len(values), "sum": round(total, 4), "max": round(maximum, 4)}


def _read_level_events(lines: Iterable[bytes]) -> tuple[set[object], Counter[object]]:
    """Return the numbers of the levels that are finished according to a log, and how often each level was begun.

    Two kinds of levels count as unfinished: aborted levels, and levels that were begun again after their end.
    """
    finished: set[object] = set()
    begun: Counter[object] = Counter()
    for line in lines:
        if b"level_s" not in line:  # neither level_start nor level_summary; parsing would take long
            continue
        try:
            record = json.loads(line)
        except ValueError:
            continue
        event = record.get("event") if isinstance(record, dict) else None
        if event == "level_start":
            finished.discard(record.get("level_index"))
            begun[record.get("level_index")] += 1
        if event == "level_summary" and record.get("outcome", "aborted") != "aborted":
            finished.add(record.get("level_index"))
    return finished, begun


class Interruptible(Protocol):
    """The part of :class:`MetricsLogger` that signal handlers call."""

    def interrupt(self, signal_name: str, /) -> None: ...


def register_signal_handlers(logger: Interruptible) -> Callable[[], None]:
    """Let SIGINT, SIGTERM and SIGHUP interrupt ``logger``; return a function that restores the former handlers.

    The second signal of a kind kills the process, because generated code may swallow the exception of the first.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        logger.interrupt(signal.Signals(number).name)

    numbers = (signal.SIGINT, *filter(accepts_signal, TERMINATION_SIGNALS))
    former_handlers = {number: signal.signal(number, handle) for number in numbers}

    def restore_handlers() -> None:
        for number, handler in former_handlers.items():
            signal.signal(number, handler)

    return restore_handlers
