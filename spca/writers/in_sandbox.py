"""What runs problem writers inside the sandbox: its text is an agent that gets them by its mission, one after another.

The host decides whose turn it is: what is printed in a turn is that writer's result, whatever it says. Every writer
gets a namespace, builtins and a copy of the snapshot of its own, so none can reach another's.
"""

from __future__ import annotations

import builtins
import marshal
import re
from collections.abc import Iterator
from types import SimpleNamespace, TracebackType
from typing import Any

PART, SNAPSHOT, WRITER = "p", "s", "w"
"""Kinds of what a view brings: the beginning of the next one, what writers are given, a writer."""

WRITTEN, REFUSED, INVALID = "+", "?", "!"
"""What a result begins with: the problem follows, or why there is none."""

LONGEST = 20_000
"""Characters of a problem."""

FILENAME = "writer.py"
"""What a writer's source is called in tracebacks."""

FUNCTION = "make_problem"
"""What a writer's source defines."""

BUILTINS = frozenset(
    """
    abs all any bool bytes callable chr dict divmod enumerate filter float format frozenset hash int isinstance iter len
    list map max min next object ord pow range repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NotImplementedError
    OverflowError RecursionError RuntimeError StopIteration TypeError ValueError ZeroDivisionError
    """.split()  # noqa: SIM905 - read more easily
)
"""Builtins that a writer may use."""

EXPRESSIONS = frozenset(
    """
    compile search match fullmatch split findall finditer sub subn escape error Pattern Match
    A ASCII I IGNORECASE M MULTILINE S DOTALL X VERBOSE U UNICODE
    """.split()  # noqa: SIM905 - read more easily
)
"""What a writer has of :mod:`re`."""

_LONGEST_REASON = 300


class Agent:
    """Answers the mission of each view: its first character tells the kind of the rest, which is a character a byte."""

    mission: str

    def serve(self) -> Iterator[int]:
        """Take a marshalled snapshot or a writer's marshalled code; print what the writer makes of the snapshot."""
        state, begun = b"", ""
        while True:
            kind, text = self.mission[0], begun + self.mission[1:]
            begun = text if kind == PART else ""
            if kind == SNAPSHOT:
                state = text.encode("latin-1")
            elif kind == WRITER:
                print(_result(text.encode("latin-1"), state), end="")
            yield 6


def _result(code: bytes, state: bytes) -> str:
    try:
        namespace = _namespace()
        exec(marshal.loads(code), namespace)  # noqa: S102, S302 - from the host
        text = namespace[FUNCTION](marshal.loads(state))  # noqa: S302 - from the host
    except ValueError as error:
        return f"{REFUSED}{_words(error)}"
    except BaseException as error:  # boundary: a writer may raise anything
        words = ": ".join(filter(None, [type(error).__name__, _words(error)]))
        return f"{INVALID}{words}{_where(error.__traceback__)}"
    if type(text) is not str:
        return f"{INVALID}{FUNCTION} returned {type(text).__name__}, not str"
    if len(text) > LONGEST:
        return f"{INVALID}{FUNCTION} returned {len(text)} characters, at most {LONGEST} are read"
    return f"{WRITTEN}{text}"


def _namespace() -> dict[str, Any]:
    own: dict[str, Any] = {name: getattr(builtins, name) for name in BUILTINS}
    expressions = SimpleNamespace(**{name: getattr(re, name) for name in EXPRESSIONS})

    def imported(name: str, *_: object) -> object:
        if name not in ("re", "__future__"):
            raise ImportError(f"module {name} is not available")
        return expressions if name == "re" else SimpleNamespace(annotations=None)

    own["__import__"] = imported
    return {"__builtins__": own, "__name__": "writer"}


def _words(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST_REASON]
    except BaseException:  # boundary: to write it out may fail like anything else
        return "no message"


def _where(trace: TracebackType | None) -> str:
    line = 0
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == FILENAME else line
        trace = trace.tb_next
    return f" (line {line})" if line else ""
