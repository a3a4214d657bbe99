"""An Executor that runs generated code inside this process.

It keeps the contract of :class:`spca.contracts.Executor` but is no wall: generated code can do here whatever the
process can.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import CodeType, GeneratorType
from typing import Any, Final

import numpy as np

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

_FILENAME: Final = "agent_tmp.py"
_MAX_MESSAGE: Final = 2000
_MAX_FRAMES: Final = 8
_INTEGERS: Final = (int, np.integer)


@lru_cache(maxsize=8)
def _compiled(agent: AgentSource) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(agent.text, _FILENAME, "exec", dont_inherit=True)


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
        self._running: GeneratorType[object, None, object] | None = None

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        if self._agent is None:
            failure = self._load()
            if failure is not None:
                return failure
        try:
            self._show(view)
            return self._proceed()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # boundary: generated code may raise anything, SystemExit and its like included
            return self._failure(Status.RUNTIME_ERROR, error)

    def close(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            try:
                running.close()
            except KeyboardInterrupt:
                raise
            except BaseException:  # noqa: S110 - boundary: generated code may raise anything while it is being closed
                pass

    def _load(self) -> Failed | None:
        namespace: dict[str, Any] = {"__name__": "agent_tmp", "print": _discard}
        try:
            exec(_compiled(self._source), namespace)  # noqa: S102 - running generated code is this module's purpose
            if "Agent" not in namespace:
                return Failed(Status.SYNTAX_ERROR, "the module defines no class Agent")
            self._agent = namespace["Agent"]()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # boundary: loading runs generated code
            return self._failure(Status.SYNTAX_ERROR, error)
        for position, step in enumerate(self._steps):
            if not callable(getattr(type(self._agent), step.action, None)):
                return Failed(Status.MISSING_METHOD, f"class Agent has no method {step.action}", position)
        return None

    def _show(self, view: AgentView) -> None:
        agent = self._agent
        agent.mission = view.mission
        agent.full_grid = WORDS.take(view.full_grid)
        agent.current_observation = WORDS.take(view.observation)
        agent.current_dir = DIRECTIONS[view.direction]
        agent.inventory = view.inventory
        agent.previous_actions = self._previous.copy()
        agent.start_position = view.start_position
        agent.start_dir = DIRECTIONS[view.start_direction]

    def _proceed(self) -> Yielded | Finished | Failed:
        while self._position < len(self._steps):
            running = self._running or self._begin(self._steps[self._position])
            try:
                code = next(running)
            except StopIteration:
                self._running = None
                self._position += 1
                continue
            return self._checked(code, running)
        return Finished()

    def _begin(self, step: PlanStep) -> GeneratorType[object, None, object]:
        made = getattr(self._agent, step.action)(*step.args)
        if not isinstance(made, GeneratorType):
            raise TypeError(f"{step.action} returned {type(made).__name__}: an action must yield primitive codes")
        self._running = made
        return made

    def _checked(self, code: object, running: GeneratorType[object, None, object]) -> Yielded | Failed:
        suspended = _suspended(running)
        if isinstance(code, bool) or not isinstance(code, _INTEGERS) or not 0 <= code < len(Primitive):
            message = f"yielded {code!r:.80}: actions yield primitive codes 0-6"
            shown = _render(suspended, self._source.text, message)
            return Failed(Status.RUNTIME_ERROR, message, self._position, shown)
        number = int(code)
        self._previous.append(number)
        return Yielded(TraceStep(number, self._position, self._steps[self._position].action, suspended[-1][1]))

    def _failure(self, status: Status, error: BaseException) -> Failed:
        message = f"{type(error).__name__}: {_words(error)}"[:_MAX_MESSAGE]
        planned = status is Status.RUNTIME_ERROR and self._position < len(self._steps)
        shown = _render(_raised_at(error), self._source.text, message)
        return Failed(status, message, self._position if planned else None, shown)


def _discard(*_args: object, **_kwargs: object) -> None:
    """Stands for ``print``: generated code has no say on our standard output."""


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # boundary: an exception class of generated code may not even have words
        return "no message"


def _suspended(running: object) -> list[tuple[str, int]]:
    """Function and line of each generator of the source from the action down to the one that yielded."""
    frames = []
    while isinstance(running, GeneratorType) and running.gi_code.co_filename == _FILENAME:
        frames.append((running.gi_code.co_name, running.gi_frame.f_lineno if running.gi_frame else 0))
        running = running.gi_yieldfrom
    return frames


def _raised_at(error: BaseException) -> list[tuple[str, int]]:
    """Function and line of each frame inside the generated source; for a syntax error the place of the error."""
    if isinstance(error, SyntaxError) and error.filename == _FILENAME and error.lineno:
        return [("<module>", error.lineno)]
    frames = traceback.walk_tb(error.__traceback__)
    return [(f.f_code.co_name, line) for f, line in frames if f.f_code.co_filename == _FILENAME]


def _render(frames: Iterable[tuple[str, int]], source: str, message: str) -> str:
    """A traceback of the innermost frames, each with its line of the source."""
    lines = source.splitlines()
    shown = [
        f"  {_FILENAME}, line {line}, in {name}\n    {lines[line - 1].strip()}"
        for name, line in list(frames)[-_MAX_FRAMES:]
        if 0 < line <= len(lines)
    ]
    return "\n".join(["Traceback (most recent call last):", *shown, message])
