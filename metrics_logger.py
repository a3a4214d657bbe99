"""MetricsLogger: what a run did, as an append-only event log and one summary per level.

Every event is one line of ``metrics.jsonl``, written with a single ``write`` and flushed, so that the log is readable
after a kill; a torn last line is dropped when the run goes on.
"""

from __future__ import annotations

import json
import logging
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from spca.common.encoding import json_text
from spca.common.files import make_folder, whole_lines, write_atomic, write_line
from spca.common.interrupts import TERMINATION_SIGNALS, accepts_signal

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
"""Counters of a level, all zero at its start."""

DURATIONS: Final = ("plan_s", "solve_s", "code_s", "sim_s", "compile_s")
"""Seconds spent in planner calls, solving, coder calls, simulation, and planning by stored writers."""


class MetricsLogger:
    """An event sink (``logger(event, data)``) that also keeps the counters of the present level.

    Args:
        folder: the run's folder; ``metrics.jsonl`` and the summaries are written there.
        run_id: stamped on every event.
        spent_on: what a level has used so far, for the summary of one that is aborted.
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
        self._held = False
        self._interrupted = ""

    def __call__(self, event: str, data: Mapping[str, object]) -> None:
        """Write an event; calls of models and simulations also count."""
        if event == "counter_inc":
            self.inc(str(data["name"]))
            return
        if event == "duration":
            self._observe(str(data["name"]), data)
            return
        if event in ("planner_call", "coder_call"):
            kind = event.removesuffix("_call")
            self.inc(f"{kind}_calls")
            self.inc(f"{kind}_{data['mode']}")
            self._observe("plan_s" if kind == "planner" else "code_s", data)
            if kind == "planner":
                self._observe("solve_s", data, "solve_s")
        if event == "compiled_plan":
            if data["miss"] in ("", "failed"):  # its plan was taken up
                self.inc("planner_compiled")
            if data["miss"]:
                self.inc(f"compiled_{data['miss']}")
        if event == "writer":
            self.inc("writer_rejected" if data["reason"] else "writer_accepted")
        _LOG.debug("%s: %s", event, data)
        self._write(event, data)

    def inc(self, name: str) -> None:
        """Count one; ``name`` is one of :data:`COUNTERS`."""
        if name not in COUNTERS:
            raise ValueError(f"unknown counter {name!r}")
        self.counters[name] = self.counters.get(name, 0) + 1
        self._write("counter_inc", {"name": name, "value": self.counters[name]})

    def start_level(self, level: Mapping[str, object], index: int) -> None:
        """Begin a level: {level_name, lvl_group, category, seed}."""
        self._started = time.monotonic()
        self.counters = dict.fromkeys(COUNTERS, 0)
        self._durations = {name: [] for name in DURATIONS}
        self._level = {"index": index, "level": dict(level)}
        self._write("level_start", {"index": index, **level})

    def summary(self, outcome: str, reason: str, **extra: object) -> dict[str, Any]:
        """The summary of the present level, not yet written."""
        if self._level is None:
            raise ValueError("no level is in progress")
        return {
            "run_id": self._run_id,
            "level_name": self._level["level"]["level_name"],
            **self._level,
            "outcome": outcome,
            "reason": reason,
            "elapsed_min": round((time.monotonic() - self._started) / 60, 4),
            "counters": dict(self.counters),
            "durations": {name: _aggregate(values) for name, values in self._durations.items()},
            **extra,
        }

    def write_summary(self, summary: Mapping[str, Any]) -> Path:
        """Write ``summaries/summary_<category>_<level>_<run_id>.json``, whole or not at all."""
        level = summary["level"]
        path = self._folder / "summaries" / f"summary_{level['category']}_{level['level_name']}_{self._run_id}.json"
        make_folder(path.parent)
        write_atomic(path, json_text(summary, indent=1) + "\n")
        return path

    def end_level(self, summary: Mapping[str, Any]) -> None:
        """Log that the level is finished."""
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
        """Stop: now, or after what must not be torn apart. The level is aborted when the logger is left.

        Raises:
            KeyboardInterrupt: when it is now.
        """
        self._interrupted = f"interrupted by {signal_name}"
        if not self._held:
            raise KeyboardInterrupt(self._interrupted)

    @contextmanager
    def delay_interrupts(self) -> Iterator[None]:
        """Let interrupts wait until the end of the block, so that a level is finished in all files or in none.

        Raises:
            KeyboardInterrupt: after the block, or before it for an interrupt that generated code has swallowed.
        """
        if self._interrupted:
            raise KeyboardInterrupt(self._interrupted)
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._interrupted:
            raise KeyboardInterrupt(self._interrupted)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None, /
    ) -> None:
        """Abort the level that an error ended."""
        if error is not None:
            self.abort(str(error) or type(error).__name__)

    def repair(self, finished: list[dict[str, Any]]) -> None:
        """Make the log whole after a kill: drop a torn last line, add the last summary if its event is missing."""
        logged = _find_finished_levels(whole_lines(self._path))
        for index, summary in enumerate(finished, 1):
            if index not in logged:
                _LOG.info("the log lacks the end of level %s: it is added", index)
                self._write_finished(index, summary)

    def _write_finished(self, index: int, summary: Mapping[str, Any]) -> None:
        self._write("level_summary", {"level_index": index, **summary})

    def _observe(self, name: str, data: Mapping[str, object], field: str = "seconds") -> None:
        self._durations.setdefault(name, []).append(float(str(data[field])))

    def _write(self, event: str, data: Mapping[str, object]) -> None:
        at = {} if self._level is None else {"level_index": self._level["index"]}
        record = {"event": event, "time": round(time.time(), 3), "run_id": self._run_id, **at, **data}
        write_line(self._path, json_text(record))


def _aggregate(values: list[float]) -> dict[str, float | int]:
    total = sum(values, 0.0)
    return {"count": len(values), "sum": round(total, 4), "max": round(max(values, default=0.0), 4)}


def _find_finished_levels(lines: Iterable[bytes]) -> set[object]:
    """Return the levels whose end a log has; one that was begun again has none yet."""
    ended = set[object]()
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        event = record.get("event") if isinstance(record, dict) else None
        if event == "level_start":
            ended.discard(record.get("level_index"))
        if event == "level_summary" and record.get("outcome", "aborted") != "aborted":
            ended.add(record.get("level_index"))
    return ended


class Interruptible(Protocol):
    """What a signal interrupts, such as :class:`MetricsLogger`."""

    def interrupt(self, signal_name: str, /) -> None: ...


def register_signal_handlers(logger: Interruptible) -> Callable[[], None]:
    """On SIGINT, SIGTERM and SIGHUP abort the level, then raise KeyboardInterrupt; return how to undo it.

    A second signal kills: generated code can swallow the exception of the first.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        logger.interrupt(signal.Signals(number).name)

    numbers = (signal.SIGINT, *filter(accepts_signal, TERMINATION_SIGNALS))
    before = {number: signal.signal(number, handle) for number in numbers}

    def undo() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return undo
