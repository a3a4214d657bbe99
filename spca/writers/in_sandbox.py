"""The program inside the sandbox that calls a problem writer once, in a new process that ends after its answer.

The process is a fork of a zygote that has loaded this module and holds no writer and no snapshot.
"""

from __future__ import annotations

import builtins
import marshal
import os
import re
from contextlib import suppress
from types import SimpleNamespace, TracebackType
from typing import Any, NoReturn

from spca.sandbox.kernel import lockdown
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process import confinement, framing

WRITTEN = "+"
REFUSED = "?"
INVALID = "!"
"""First character of a result: the problem follows after WRITTEN, the reason of the failure after the others."""

MAX_PROBLEM = 20_000
"""Largest number of characters of a problem."""

FILENAME = "writer.py"
"""File name of a writer's source in tracebacks."""

FUNCTION = "make_problem"
"""Name of the function that a writer's source must define."""

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
"""Names of :mod:`re` that a writer may use."""

_MAX_REASON = 300
_BLOCK = 16
_BLOCK_SIZES = 28
"""Python allocates small objects in blocks of 16, 32, ... 512 bytes; an empty ``bytes`` already takes 33 bytes."""
_MAX_OBJECTS_PER_SIZE = 16


_inherited = Layer(0)
"""Layers that the zygote has applied to itself, so that every forked process has the layers too."""


def load_libraries() -> None:
    """Use what Python loads on first use, then apply the layers that forks inherit; no file can be opened later."""
    global _inherited  # noqa: PLW0603 - set once, in the zygote
    re.compile("(a|b)*[c-e]+?", re.IGNORECASE)
    "é".encode("latin-1", "replace")
    trial = compile(f"def {FUNCTION}(snapshot):\n    return str(1 / 0)", FILENAME, "exec")
    _result(marshal.dumps(trial), marshal.dumps({}))
    re.purge()
    confinement.go_first()
    with suppress(OSError):  # if a layer fails, it also fails in each call, which reports the error
        lockdown.prepare()
        lockdown.enter(lockdown.INHERITED)
        _inherited = lockdown.INHERITED


def main(incoming: int, outgoing: int, layers: Layer, limits: Limits) -> NoReturn:
    """Answer one call and end the process; ``incoming`` and ``outgoing`` are the pipe ends to read and write."""
    try:
        confinement.keep_pipes(incoming, outgoing)
        scattered = _scatter_memory()  # noqa: F841 - the objects must stay alive
        confinement.lock_in(layers & ~_inherited, limits)
        read_frame = framing.frame_reader()
        code, state = marshal.loads(read_frame().payload)  # noqa: S302 - from the host
        result = _result(code, state).encode(errors="replace")
        framing.write_bytes(framing.pack(framing.RESULT, 1, result))
        read_frame()  # waits, while the host reads the processor time of this process, until the host ends it
    finally:  # this copy of the zygote must not continue after any error
        os._exit(1)


def _scatter_memory() -> list[object]:
    """Return a random number of objects of every small block size of Python's allocator.

    The addresses of later objects then reveal nothing about earlier calls, for example their number.
    """
    smallest_types = (object, complex, list, dict)
    counts = iter(os.urandom(len(smallest_types) + _BLOCK_SIZES))
    held: list[object] = []
    for kind in smallest_types:
        held += [kind() for _ in range(next(counts) % _MAX_OBJECTS_PER_SIZE)]
    for size in range(_BLOCK_SIZES):
        held += [bytes(_BLOCK * size + 1) for _ in range(next(counts) % _MAX_OBJECTS_PER_SIZE)]
    return held


def _result(code: bytes, state: bytes) -> str:
    """Call the writer with a snapshot, both marshalled; return its problem or failure after the first character."""
    try:
        namespace = _make_namespace()
        exec(marshal.loads(code), namespace)  # noqa: S102, S302 - from the host
        text = namespace[FUNCTION](marshal.loads(state))  # noqa: S302 - from the host
    except ValueError as error:
        return f"{REFUSED}{_get_message(error)}"
    except BaseException as error:  # boundary: a writer may raise anything
        reason = ": ".join(filter(None, [type(error).__name__, _get_message(error)]))
        return f"{INVALID}{reason}{_describe_line(error.__traceback__)}"
    if type(text) is not str:
        return f"{INVALID}{FUNCTION} returned {type(text).__name__}, not str"
    if len(text) > MAX_PROBLEM:
        return f"{INVALID}{FUNCTION} returned {len(text)} characters, at most {MAX_PROBLEM} are read"
    return f"{WRITTEN}{text}"


def _make_namespace() -> dict[str, Any]:
    """Return the global names of a writer's module, with the allowed builtins and imports only."""
    allowed: dict[str, Any] = {name: getattr(builtins, name) for name in BUILTINS}
    expressions = SimpleNamespace(**{name: getattr(re, name) for name in EXPRESSIONS})

    def import_allowed(name: str, *_: object) -> object:
        if name not in ("re", "__future__"):
            raise ImportError(f"module {name} is not available")
        return expressions if name == "re" else SimpleNamespace(annotations=None)

    allowed["__import__"] = import_allowed
    return {"__builtins__": allowed, "__name__": "writer"}


def _get_message(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_REASON]
    except BaseException:  # boundary: the ``__str__`` of a writer's exception may raise
        return "no message"


def _describe_line(trace: TracebackType | None) -> str:
    """Return the line of the writer's source that raised, as " (line 7)"; "" if no line is known."""
    line = 0  # of the innermost frame in the writer's source
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line else ""
