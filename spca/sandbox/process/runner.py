"""Execution of generated code: load the module, show the state to the agent, return one primitive after the other.

This module does not depend on processes: workers use it in the sandbox, tests use it in their own process.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType, GeneratorType, MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spca.body import PREVIOUS_ACTIONS, AgentInterface, StateKind
from spca.contracts import Status

FILENAME: Final = "agent_tmp.py"
"""File name of the module in tracebacks; the working copy in the workspace has the same name."""

MAX_FRAMES: Final = 8
_MAX_MESSAGE: Final = 2000
_MAX_NAME: Final = 60
_RESERVE: Final = 1 << 20  # bytes


Arguments = tuple[str, ...] | dict[str, str]
"""Arguments of an action: in the order of its parameters, or by parameter name."""


class Asked(NamedTuple):
    """A yielded primitive.

    It consists of its code, its step's position in the plan (from 0), and the line of the innermost generator.
    """

    code: int
    position: int
    line: int


class Done(NamedTuple):
    """The end of the plan: every action has returned."""


class Fault(NamedTuple):
    """A failure of generated code; ``frames`` are (function, line), outermost first."""

    status: Status
    message: str
    position: int | None = None
    frames: tuple[tuple[str, int], ...] = ()


Shown = Sequence[Any]
"""The values of the agent's state attributes, in the order of :attr:`spca.body.AgentInterface.attributes`."""


class PreviousActions(list[int]):
    """A list that generated code can read but not change."""

    def _refuse(self, *_args: object, **_kwargs: object) -> Any:
        raise TypeError("previous_actions is read-only: the world keeps it")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse


def protect_value(value: Any) -> Any:
    """Return a VALUE that generated code cannot change: with read-only mappings for dicts, and tuples for lists."""
    if isinstance(value, tuple | list):
        return tuple(map(protect_value, value))
    if isinstance(value, dict):
        return MappingProxyType({name: protect_value(inner) for name, inner in value.items()})
    return value


class _State:
    """Source of the values of the agent's state attributes, which come from the latest view.

    An array of words is decoded when it is first read.
    """

    def __init__(self, interface: AgentInterface, words: NDArray[np.str_], previous: Sequence[int]) -> None:
        self._interface = interface
        self._words = words
        self._values: Shown = ()
        # The decoded form of each array of words, beside the codes from which it was decoded.
        self._decoded: dict[int, tuple[NDArray[np.uint16], NDArray[np.str_]]] = {}
        self.previous_actions = PreviousActions(previous)

    def show(self, values: Shown) -> None:
        self._values = values

    def record_executed(self, code: int) -> None:
        list.append(self.previous_actions, code)

    def install(self, agent_class: type) -> None:
        """Add the state attributes to a class, so that its objects can read but not assign them."""
        readers = self._attribute_readers()
        for name, read in readers.items():
            setattr(agent_class, name, property(read, _make_refusing_setter(name)))

    def _attribute_readers(self) -> dict[str, Callable[[object], Any]]:
        """Return the getter of each state attribute, by attribute name."""
        readers: dict[str, Callable[[object], Any]] = {PREVIOUS_ACTIONS: lambda _: self.previous_actions}
        for index, (name, kind) in enumerate(self._interface.attributes):
            read = self._read_words if kind == StateKind.WORDS else self._read_value
            readers[name] = partial(_read_at, read, index)
        return readers

    def _read_value(self, index: int) -> Any:
        return self._values[index]

    def _read_words(self, index: int) -> NDArray[np.str_]:
        codes = self._values[index]
        known = self._decoded.get(index)
        if known is not None and known[0] is codes:
            return known[1]
        words: Any = self._words.take(codes)  # faster than an index
        # An array over bytes can never be made writeable.
        shown: NDArray[np.str_] = np.ndarray(codes.shape, self._words.dtype, words.tobytes())
        self._decoded[index] = (codes, shown)
        return shown


def _read_at(read: Callable[[int], Any], index: int, _agent: object) -> Any:
    return read(index)


def _make_refusing_setter(name: str) -> Callable[[object, object], None]:
    def refuse(_agent: object, _value: object) -> None:
        raise AttributeError(f"{name} is read-only: the world keeps it")

    return refuse


class Runner:
    """Execution of one plan by a fresh ``Agent``.

    Args:
        module: the compiled source, with the file name :data:`FILENAME`.
        interface: names of the agent's primitives and state.
        steps: actions with their arguments.
        previous: codes of the primitives executed before this plan.
        words: the words of arrays of words, whose numbers are indices into them.
        printed: function that receives each text that the code prints.
        print_limit: largest number of printed characters that are passed on to ``printed`` in total.
    """

    def __init__(
        self,
        module: CodeType,
        interface: AgentInterface,
        steps: Sequence[tuple[str, Arguments]],
        previous: Sequence[int],
        words: NDArray[np.str_],
        printed: Callable[[str], object],
        print_limit: int,
    ) -> None:
        self._module = module
        self._steps = steps
        self._primitive_count = len(interface.primitives)
        self._state = _State(interface, words, previous)
        self._printed = printed
        self._print_left = print_limit
        self._agent: Any = None
        self._position = 0
        self._running: GeneratorType[object, None, object] | None = None
        self._failed: Fault | None = None
        self._reserve: bytes | None = bytes(_RESERVE)

    def advance(self, values: Shown) -> Asked | Done | Fault:
        """Show ``values``, the state after the previous primitive, to the agent; return the agent's answer."""
        if self._failed is not None:
            return self._failed
        self._state.show(values)
        answer = self._answer()
        if isinstance(answer, Fault):
            self._failed = answer
        return answer

    def _answer(self) -> Asked | Done | Fault:
        """Load the agent if this is the first answer; return the next primitive, the end or the failure."""
        if self._agent is None:
            fault = self._load()
            if fault is not None:
                return fault
        try:
            return self._next_primitive()
        except BaseException as error:  # boundary: generated code may raise anything, even SystemExit
            return self._make_fault(Status.RUNTIME_ERROR, error)

    def _load(self) -> Fault | None:
        """Execute the module and create the agent; return the failure, or None if there is none."""
        namespace: dict[str, Any] = {"__name__": "agent_tmp", "print": self._print}
        try:
            exec(self._module, namespace)  # noqa: S102 - running generated code is this module's purpose
            agent_class = namespace.get("Agent")
            if not isinstance(agent_class, type):
                return Fault(Status.SYNTAX_ERROR, "the module defines no class Agent")
            self._state.install(agent_class)
            self._agent = agent_class()
        except BaseException as error:  # boundary: loading runs generated code
            return self._make_fault(Status.SYNTAX_ERROR, error)
        for position, (action, _) in enumerate(self._steps):
            if not callable(getattr(type(self._agent), action, None)):
                return Fault(Status.MISSING_METHOD, f"class Agent has no method {action}", position)
        return None

    def _next_primitive(self) -> Asked | Done | Fault:
        """Continue the current action, and begin the next ones, until one yields a primitive or the plan ends."""
        while self._position < len(self._steps):
            running = self._running or self._begin_action(*self._steps[self._position])
            try:
                code = next(running)
            except StopIteration:
                self._running = None
                self._position += 1
                continue
            return self._check_code(code, running)
        return Done()

    def _begin_action(self, action: str, args: Arguments) -> GeneratorType[object, None, object]:
        """Call the action's method; remember and return the generator that the method returns."""
        method = getattr(self._agent, action)
        generator = method(**args) if isinstance(args, dict) else method(*args)
        if not isinstance(generator, GeneratorType):
            raise TypeError(f"{action} returned {type(generator).__name__}: an action must yield primitive codes")
        self._running = generator
        return generator

    def _check_code(self, code: object, running: GeneratorType[object, None, object]) -> Asked | Fault:
        """Record and return the primitive ``code`` that ``running`` yielded; return a failure for any other value."""
        number = _to_plain_int(code)
        frames = _list_suspended_frames(running)
        if number is None or not 0 <= number < self._primitive_count:
            last = self._primitive_count - 1
            message = f"yielded {_show_value(code)}: actions yield primitive codes 0-{last}"
            return Fault(Status.RUNTIME_ERROR, message, self._position, tuple(frames[-MAX_FRAMES:]))
        self._state.record_executed(number)
        return Asked(number, self._position, frames[-1][1])

    def _make_fault(self, status: Status, error: BaseException) -> Fault:
        """Return an exception of generated code as a failure, with its frames and shortened texts."""
        self._reserve = None  # if memory has run out, this frees the memory that the report needs
        frames = _list_raising_frames(error)[-MAX_FRAMES:]
        message = type(error).__name__[:_MAX_NAME]
        words = _get_message(error)[:_MAX_MESSAGE]
        if words:
            message = f"{message}: {words}"[:_MAX_MESSAGE]
        is_in_step = status is Status.RUNTIME_ERROR and self._position < len(self._steps)
        return Fault(status, message, self._position if is_in_step else None, tuple(frames))

    def _print(self, *values: object, sep: str | None = " ", end: str | None = "\n", **_options: object) -> None:
        """Pass printed text on, shortened to the characters left of the print limit; replaces the builtin ``print``."""
        separator = " " if sep is None else sep
        text = separator.join(map(str, values)) + ("\n" if end is None else end)
        text = text[: self._print_left]
        self._print_left -= len(text)
        if text:
            self._printed(text)


def _to_plain_int(code: object) -> int | None:
    """Return a yielded integer as a plain ``int``, whose comparisons generated code cannot override.

    Return None for any other value.
    """
    if isinstance(code, bool):
        return None
    if isinstance(code, int):
        return int.__int__(code)
    if isinstance(code, np.integer) and type(code).__module__ == "numpy":  # no subclass by generated code
        return int(code)
    return None


def _show_value(value: object) -> str:
    try:
        return repr(value)[:80]
    except BaseException:  # boundary: the ``__repr__`` of generated code may raise
        return f"an object of class {type(value).__name__[:_MAX_NAME]}"


def _get_message(error: BaseException) -> str:
    """Return the message of an exception of generated code, even if the exception's own ``__str__`` raises."""
    try:
        words = str(error)
        if isinstance(error, MemoryError) and not words:
            return "more memory than an episode may use"
        return words
    except BaseException:  # boundary: the ``__str__`` of generated code may raise
        return "no message"


def _list_suspended_frames(running: object) -> list[tuple[str, int]]:
    """Return (function, line) of the suspended generators, from the action's generator to the innermost one."""
    frames = []
    while isinstance(running, GeneratorType) and running.gi_code.co_filename == FILENAME:
        line = running.gi_frame.f_lineno if running.gi_frame else 0
        frames.append((running.gi_code.co_name[:_MAX_NAME], line))
        running = running.gi_yieldfrom
    return frames or [("", 0)]


def _list_raising_frames(error: BaseException) -> list[tuple[str, int]]:
    """Return (function, line) of each frame in the generated source; for a syntax error, only the line of the error."""
    if isinstance(error, SyntaxError) and error.filename == FILENAME and error.lineno:
        return [("<module>", error.lineno)]
    frames = traceback.walk_tb(error.__traceback__)
    return [(f.f_code.co_name[:_MAX_NAME], line) for f, line in frames if f.f_code.co_filename == FILENAME]
