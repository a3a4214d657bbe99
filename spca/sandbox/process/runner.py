"""Drives generated code: loads the module, shows it the state, takes one primitive after the other.

Nothing here knows of processes: the worker calls it in the sandbox, tests call it in their own process.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from types import CodeType, GeneratorType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spca.contracts import DIRECTIONS, PRIMITIVE_METHODS, Status

FILENAME: Final = "agent_tmp.py"
"""What the module is called in tracebacks; the working copy in the workspace has that name."""

MAX_FRAMES: Final = 8
_MAX_MESSAGE: Final = 2000
_MAX_NAME: Final = 60
_RESERVE: Final = 1 << 20


Arguments = tuple[str, ...] | dict[str, str]
"""What an action is called with: in the order of its parameters, or by their names."""


class Asked(NamedTuple):
    """Generated code yielded a primitive: its code, the position in the plan, the line of the innermost generator."""

    code: int
    position: int
    line: int


class Done(NamedTuple):
    """Every action of the plan has returned."""


class Fault(NamedTuple):
    """Generated code could not go on; ``frames`` are (function, line), outermost first."""

    status: Status
    message: str
    position: int | None = None
    frames: tuple[tuple[str, int], ...] = ()


Shown = Any
"""What is shown to the agent: an :class:`~spca.contracts.AgentView`, however it is kept."""


class PreviousActions(list[int]):
    """A list that only the world extends."""

    def _refuse(self, *_args: object, **_kwargs: object) -> Any:
        raise TypeError("previous_actions is read-only: the world keeps it")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


class _State:
    """What the agent's state attributes read: the latest view, decoded when it is looked at."""

    def __init__(self, words: NDArray[np.str_], previous: Sequence[int]) -> None:
        self._words = words
        self._decoded: dict[str, NDArray[np.str_]] = {}
        self.previous_actions = PreviousActions(previous)

    def show(self, view: Shown) -> None:
        self._view = view
        self._decoded.clear()

    def executed(self, code: int) -> None:
        list.append(self.previous_actions, code)

    def install(self, agent_class: type) -> None:
        """Make the state read-only attributes of a class."""
        for name, read in self._readers().items():
            setattr(agent_class, name, property(read, _refusing(name)))

    def _readers(self) -> dict[str, Callable[[object], Any]]:
        return {
            "mission": lambda _: self._view.mission,
            "full_grid": lambda _: self._grid("full_grid"),
            "current_observation": lambda _: self._grid("observation"),
            "current_dir": lambda _: DIRECTIONS[self._view.direction],
            "inventory": lambda _: self._view.inventory,
            "previous_actions": lambda _: self.previous_actions,
            "start_position": lambda _: self._view.start_position,
            "start_dir": lambda _: DIRECTIONS[self._view.start_direction],
        }

    def _grid(self, name: str) -> NDArray[np.str_]:
        if name not in self._decoded:
            words = self._words.take(getattr(self._view, name))
            words.flags.writeable = False
            self._decoded[name] = words.view()  # unlike an owner of its data, it cannot be made writeable again
        return self._decoded[name]


def _refusing(name: str) -> Callable[[object, object], None]:
    def refuse(_agent: object, _value: object) -> None:
        raise AttributeError(f"{name} is read-only: the world keeps it")

    return refuse


class Runner:
    """One plan carried out by a fresh ``Agent``.

    Args:
        module: the compiled source, named :data:`FILENAME`.
        steps: actions with their arguments.
        previous: codes of the primitives executed so far.
        words: the vocabulary that grids are encoded with.
        printed: given what the code prints, at most ``print_limit`` characters in all.
    """

    def __init__(
        self,
        module: CodeType,
        steps: Sequence[tuple[str, Arguments]],
        previous: Sequence[int],
        words: NDArray[np.str_],
        printed: Callable[[str], object],
        print_limit: int,
    ) -> None:
        self._module = module
        self._steps = steps
        self._state = _State(words, previous)
        self._printed = printed
        self._print_left = print_limit
        self._agent: Any = None
        self._position = 0
        self._running: GeneratorType[object, None, object] | None = None
        self._failed: Fault | None = None
        self._reserve: bytes | None = bytes(_RESERVE)

    def advance(self, view: Shown) -> Asked | Done | Fault:
        """Show the state after the previous primitive, get the next one."""
        if self._failed is not None:
            return self._failed
        self._state.show(view)
        answer = self._answer()
        if isinstance(answer, Fault):
            self._failed = answer
        return answer

    def _answer(self) -> Asked | Done | Fault:
        if self._agent is None:
            fault = self._load()
            if fault is not None:
                return fault
        try:
            return self._proceed()
        except BaseException as error:  # boundary: generated code may raise anything, SystemExit and its like included
            return self._fault(Status.RUNTIME_ERROR, error)

    def _load(self) -> Fault | None:
        namespace: dict[str, Any] = {"__name__": "agent_tmp", "print": self._print}
        try:
            exec(self._module, namespace)  # noqa: S102 - running generated code is this module's purpose
            agent_class = namespace.get("Agent")
            if not isinstance(agent_class, type):
                return Fault(Status.SYNTAX_ERROR, "the module defines no class Agent")
            self._state.install(agent_class)
            self._agent = agent_class()
        except BaseException as error:  # boundary: loading runs generated code
            return self._fault(Status.SYNTAX_ERROR, error)
        for position, (action, _) in enumerate(self._steps):
            if not callable(getattr(type(self._agent), action, None)):
                return Fault(Status.MISSING_METHOD, f"class Agent has no method {action}", position)
        return None

    def _proceed(self) -> Asked | Done | Fault:
        while self._position < len(self._steps):
            running = self._running or self._begin(*self._steps[self._position])
            try:
                code = next(running)
            except StopIteration:
                self._running = None
                self._position += 1
                continue
            return self._checked(code, running)
        return Done()

    def _begin(self, action: str, args: Arguments) -> GeneratorType[object, None, object]:
        method = getattr(self._agent, action)
        made = method(**args) if isinstance(args, dict) else method(*args)
        if not isinstance(made, GeneratorType):
            raise TypeError(f"{action} returned {type(made).__name__}: an action must yield primitive codes")
        self._running = made
        return made

    def _checked(self, code: object, running: GeneratorType[object, None, object]) -> Asked | Fault:
        number = _plain(code)
        frames = _suspended(running)
        if number is None or not 0 <= number < len(PRIMITIVE_METHODS):
            message = f"yielded {_shown(code)}: actions yield primitive codes 0-6"
            return Fault(Status.RUNTIME_ERROR, message, self._position, tuple(frames[-MAX_FRAMES:]))
        self._state.executed(number)
        return Asked(number, self._position, frames[-1][1])

    def _fault(self, status: Status, error: BaseException) -> Fault:
        self._reserve = None  # where memory has run out, this is what the report is made of
        frames = _raised_at(error)[-MAX_FRAMES:]
        words = _words(error)[:_MAX_MESSAGE]
        message = f"{type(error).__name__[:_MAX_NAME]}{': ' if words else ''}{words}"[:_MAX_MESSAGE]
        planned = status is Status.RUNTIME_ERROR and self._position < len(self._steps)
        return Fault(status, message, self._position if planned else None, tuple(frames))

    def _print(self, *values: object, sep: str | None = " ", end: str | None = "\n", **_options: object) -> None:
        """Stands for ``print``."""
        text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
        text = text[: self._print_left]
        self._print_left -= len(text)
        if text:
            self._printed(text)


def _plain(code: object) -> int | None:
    """The value of a yielded integer, whatever its class makes of comparisons; None for anything else."""
    if isinstance(code, bool):
        return None
    if isinstance(code, int):
        return int.__int__(code)
    return int(code) if type(code).__module__ == "numpy" and isinstance(code, np.integer) else None


def _shown(value: object) -> str:
    try:
        return repr(value)[:80]
    except BaseException:  # boundary: a class of generated code may refuse to be shown
        return f"an object of class {type(value).__name__[:_MAX_NAME]}"


def _words(error: BaseException) -> str:
    try:
        words = str(error)
        return "more memory than an episode may use" if isinstance(error, MemoryError) and not words else words
    except BaseException:  # boundary: an exception class of generated code may not even have words
        return "no message"


def _suspended(running: object) -> list[tuple[str, int]]:
    """Function and line of each generator of the source from the action down to the one that yielded."""
    frames = []
    while isinstance(running, GeneratorType) and running.gi_code.co_filename == FILENAME:
        frames.append((running.gi_code.co_name[:_MAX_NAME], running.gi_frame.f_lineno if running.gi_frame else 0))
        running = running.gi_yieldfrom
    return frames or [("", 0)]


def _raised_at(error: BaseException) -> list[tuple[str, int]]:
    """Function and line of each frame inside the generated source; for a syntax error the place of the error."""
    if isinstance(error, SyntaxError) and error.filename == FILENAME and error.lineno:
        return [("<module>", error.lineno)]
    frames = traceback.walk_tb(error.__traceback__)
    return [(f.f_code.co_name[:_MAX_NAME], line) for f, line in frames if f.f_code.co_filename == FILENAME]
