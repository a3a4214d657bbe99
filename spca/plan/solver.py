"""One-shot planning with Unified Planning's engines, in a separate process and under a hard time limit.

Importing Unified Planning takes seconds. Some of its engines ignore time limits, hold the interpreter lock or leave
processes behind. Therefore one process keeps Unified Planning loaded and forks a child for every attempt. The child can
be killed with all processes that it started. Some engines return wrong plans, so independent code validates every plan.
The plans of solved problems are remembered.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from spca.common.errors import SettingsError
from spca.contracts import PlannedAction, SolveResult, SolveStatus
from spca.plan.client import STOP_LIMIT, GoneError, ServerProcess
from spca.plan.engines import ADDED, AUTOMATIC, available_engines
from spca.plan.memory import SolvedTexts
from spca.plan.pddl import shape_fault

_LOG: Final = logging.getLogger(__name__)

__all__ = ["Solver", "available_engines"]

SECOND_OPINION = 5.0
"""Seconds for all other engines together, after one engine has answered that the problem has no plan."""

# the most informative status first
_BY_INFORMATION = (
    SolveStatus.SOLVED,
    SolveStatus.PARSE_ERROR,
    SolveStatus.UNSOLVABLE,
    SolveStatus.TIMEOUT,
    SolveStatus.EMPTY_PLAN,
    SolveStatus.INVALID_PLAN,
    SolveStatus.ENGINE_ERROR,
)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The result of one engine, and whether it is final: after a final result no other engine is tried."""

    result: SolveResult
    final: bool


class Solver:
    """Parser, solver and validator of PDDL; solves one problem at a time, and is safe to share between threads.

    Args:
        engine: the only engine to use, one of :func:`available_engines`. If None, the suitable engines are tried, the
            fastest first, until an engine finds a valid plan.
        time_limit: seconds for one problem, summed over all engines; the start of the process is not counted.

    Raises:
        SettingsError: the engine is not installed, or no engine is installed.
    """

    def __init__(self, engine: str | None = None, time_limit: float = 30.0) -> None:
        installed = available_engines()
        if engine is not None and engine not in installed:
            raise SettingsError(
                f"planning engine '{engine}' is not installed; installed: {', '.join(installed) or 'none'}"
            )
        if not set(installed) & set(AUTOMATIC):
            raise SettingsError(f"no planning engine is installed; install one of: {', '.join(AUTOMATIC)}")
        self._engines = [engine] if engine else [name for name in AUTOMATIC if name in installed]
        self._added = [ADDED[name] for name in self._engines if name in ADDED]
        self._time_limit = time_limit
        self._solved = SolvedTexts()
        self._server: ServerProcess | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm(self) -> None:
        """Start the process unless it runs already; do not wait until the process is ready."""
        self._start_server()

    def close(self) -> None:
        """End the process and every planner that it runs; idempotent."""
        self._closed = True
        self._drop()

    def solve(self, domain: str, problem: str, seconds: float = math.inf) -> SolveResult:
        """Search for a validated plan, for at most ``seconds`` and at most the time limit; return the result.

        If no plan is found, the result says what is wrong with the texts. The ``steps`` contain the names of the PDDL
        in lower case. If texts with the same words were solved before, the remembered plan is returned.

        Raises:
            SettingsError: Unified Planning cannot be loaded.
            ValueError: the solver is closed.
        """
        if known := self._solved.find(domain, problem):
            return known
        for which, text in (("domain", domain), ("problem", problem)):
            if fault := shape_fault(text):
                return SolveResult(SolveStatus.PARSE_ERROR, message=f"{which}: {fault}")
        with self._lock:
            try:
                result = self._solve(domain, problem, min(seconds, self._time_limit))
                self._solved.keep(domain, problem, result)
                return result
            except BaseException:  # boundary: an interrupt must not leave an incomplete exchange of messages behind
                self._drop()
                raise

    def _solve(self, domain: str, problem: str, limit: float) -> SolveResult:
        """Let the engines try one after the other, within ``limit`` seconds; return the most informative result."""
        attempts: list[_Attempt] = []
        budget = limit
        restarts = 0
        while not attempts or not attempts[-1].final:
            server = self._ready_server()
            began = time.monotonic()
            tried = {attempt.result.engine for attempt in attempts}
            job = {
                "domain": domain,
                "problem": problem,
                "engines": [name for name in self._engines if name not in tried],
                "cpu_seconds": math.ceil(limit) + 1,
            }
            try:
                attempts.append(self._attempt(server, job, began + budget))
            except GoneError:
                _LOG.info("the solver's process has gone: it is started again")
                self._drop()
                restarts += 1
                if restarts > 1:
                    attempts.append(_make_failure("the solver's process ended unexpectedly"))
            budget -= time.monotonic() - began
            # An engine may be wrong that there is no plan, so the other engines get a short time.
            if attempts and attempts[-1].result.status is SolveStatus.UNSOLVABLE:
                budget = min(budget, SECOND_OPINION)
        return _best([attempt.result for attempt in attempts], limit)

    def _attempt(self, server: ServerProcess, job: Mapping[str, object], deadline: float) -> _Attempt:
        """Let the next suitable engine try; return its answer.

        The time left is divided equally among this engine and all engines that can still try later.
        """
        server.send(job)
        engine = ""
        others = 0  # engines that could try after this one
        engine_deadline = deadline
        while (message := server.receive(engine_deadline)) is not None:
            if "solving" in message:
                engine = message["solving"]
                others = message["left"]
                now = time.monotonic()
                engine_deadline = now + (deadline - now) / (others + 1)
            elif "ended" in message:
                activity = engine or "reading the PDDL"
                ending = _describe_end(message["ended"])
                _LOG.info("%s %s", activity, ending)
                return _make_failure(f"{activity} {ending}", engine, not others)
            else:
                return _Attempt(_read_result(message), message["final"] or not others)
        _LOG.info("%s is cancelled: its time is up", engine or "reading the PDDL")
        self._cancel(server)
        is_last = not others or time.monotonic() >= deadline
        return _Attempt(SolveResult(SolveStatus.TIMEOUT, engine=engine), is_last)

    def _cancel(self, server: ServerProcess) -> None:
        """Cancel the attempt and wait for its last message; if no message comes, stop the process."""
        server.send({"cancel": True})
        deadline = time.monotonic() + STOP_LIMIT
        while (message := server.receive(deadline)) is not None:
            if "ended" in message or "status" in message:  # the attempt may have finished before the cancellation
                return
        self._drop()

    def _ready_server(self) -> ServerProcess:
        """Return the running process as soon as it is ready; retry once if the process ends while it starts."""
        for _ in range(2):
            server = self._start_server()
            try:
                server.await_ready()
            except GoneError:
                self._drop()
            else:
                return server
        raise SettingsError("the solver's process ends while it loads Unified Planning")

    def _start_server(self) -> ServerProcess:
        """Return the running process; start a process if none runs."""
        with self._starting:
            if self._closed:
                raise ValueError("the solver is closed")
            self._server = self._server or ServerProcess(self._added)
            return self._server

    def _drop(self) -> None:
        """Stop the process, if one runs; the next use starts a new process."""
        server = self._server
        self._server = None
        if server is not None:
            server.stop()


def _read_result(message: Mapping[str, Any]) -> SolveResult:
    steps = tuple(PlannedAction(name, tuple(args)) for name, args in message["steps"])
    return SolveResult(SolveStatus(message["status"]), steps, message["engine"], message["message"])


def _make_failure(message: str, engine: str = "", final: bool = True) -> _Attempt:
    return _Attempt(SolveResult(SolveStatus.ENGINE_ERROR, engine=engine, message=message), final)


def _describe_end(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended without an answer (code {code})"


def _best(results: Sequence[SolveResult], limit: float) -> SolveResult:
    """Return the most informative result; if all engines failed or timed out, its message names every engine."""
    best = min(results, key=lambda result: _BY_INFORMATION.index(result.status))
    if best.status is SolveStatus.TIMEOUT:
        tried = ", ".join(result.engine or "reading the PDDL" for result in results)
        message = f"no plan was found within the limit of {limit:g} s ({tried}); "
        return replace(best, message=f"{message}use fewer objects, or actions with fewer parameters")
    if best.status is SolveStatus.ENGINE_ERROR:
        return replace(best, message="; ".join(dict.fromkeys(result.message for result in results)))
    return best
