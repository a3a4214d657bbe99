"""An Executor that runs generated code inside this process.

It keeps the contract of :class:`spca.contracts.Executor` but is no wall: generated code can do here whatever the
process can.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Sequence
from functools import lru_cache
from types import CodeType, TracebackType
from typing import Any

from spca.contracts import (
    DIRECTIONS,
    AgentSource,
    AgentView,
    Episode,
    Failed,
    Finished,
    PlanStep,
    Primitive,
    Status,
    TraceStep,
    Yielded,
)
from spca.perception import WORDS

_FILENAME = "agent_tmp.py"
_MAX_MESSAGE = 2000


@lru_cache(maxsize=8)
def _compiled(agent: AgentSource) -> CodeType:
    return compile(agent.text, _FILENAME, "exec")


class LocalExecutor:
    """Compiles and runs agent sources in-process."""

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        return LocalEpisode(agent, steps, previous)


class LocalEpisode:
    """One plan in lock-step; a fresh ``Agent`` per episode."""

    def __init__(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> None:
        self._source = agent
        self._steps = tuple(steps)
        self._previous = list(previous)
        self._agent: Any = None
        self._position = 0
        self._running: Generator[object, None, None] | None = None

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        if self._agent is None:
            failure = self._load()
            if failure is not None:
                return failure
        self._show(view)
        while self._position < len(self._steps):
            try:
                code = self._next_code()
            except StopIteration:
                self._running = None
                self._position += 1
                continue
            except (Exception, SystemExit) as error:  # boundary: generated code may raise anything
                return self._failure(Status.RUNTIME_ERROR, error)
            return self._checked(code)
        return Finished()

    def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            try:
                running.close()
            except Exception:  # noqa: S110 - boundary: generated code may raise anything while it is being closed
                pass

    def _load(self) -> Failed | None:
        namespace: dict[str, Any] = {"__name__": "agent_tmp"}
        try:
            exec(_compiled(self._source), namespace)  # noqa: S102 - running generated code is this module's purpose
            self._agent = namespace["Agent"]()
        except (Exception, SystemExit) as error:  # boundary: loading runs generated code
            return self._failure(Status.SYNTAX_ERROR, error)
        for position, step in enumerate(self._steps):
            if not callable(getattr(self._agent, step.action, None)):
                return Failed(Status.MISSING_METHOD, f"class Agent has no method {step.action}", position)
        return None

    def _show(self, view: AgentView) -> None:
        agent = self._agent
        agent.mission = view.mission
        agent.full_grid = WORDS[view.full_grid]
        agent.current_observation = WORDS[view.observation]
        agent.current_dir = DIRECTIONS[view.direction]
        agent.inventory = view.inventory
        agent.previous_actions = self._previous.copy()
        agent.start_position = view.start_position
        agent.start_dir = DIRECTIONS[view.start_direction]

    def _next_code(self) -> object:
        if self._running is None:
            step = self._steps[self._position]
            made = getattr(self._agent, step.action)(*step.args)
            if not isinstance(made, Generator):
                raise TypeError(f"{step.action} returned {type(made).__name__}: an action must yield primitive codes")
            self._running = made
        return next(self._running)

    def _checked(self, code: object) -> Yielded | Failed:
        if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code < len(Primitive):
            message = f"yielded {code!r:.80}: actions yield primitive codes 0-6"
            return Failed(Status.RUNTIME_ERROR, message, self._position, f"line {self._line()}: {message}")
        self._previous.append(int(code))
        step = TraceStep(int(code), self._position, self._steps[self._position].action, self._line())
        return Yielded(step)

    def _line(self) -> int:
        """Line of the innermost generator that yielded."""
        running: Any = self._running
        while isinstance(running.gi_yieldfrom, Generator):
            running = running.gi_yieldfrom
        return int(running.gi_frame.f_lineno)

    def _failure(self, status: Status, error: BaseException) -> Failed:
        message = f"{type(error).__name__}: {error}"[:_MAX_MESSAGE]
        position = None if status is Status.SYNTAX_ERROR else self._position
        return Failed(status, message, position, _trimmed(error.__traceback__, self._source.text, message))


def _trimmed(trace: TracebackType | None, source: str, message: str) -> str:
    """The frames inside the generated source, each with its line of text; the last eight of them."""
    lines = source.splitlines()
    frames = [f for f in traceback.extract_tb(trace, limit=-200) if f.filename == _FILENAME and f.lineno]
    shown = [
        f"  {_FILENAME}, line {f.lineno}, in {f.name}\n    {lines[f.lineno - 1].strip()}"
        for f in frames[-8:]
        if f.lineno and f.lineno <= len(lines)
    ]
    return "\n".join(["Traceback (most recent call last):", *shown, message])
