"""What runs a problem writer inside the sandbox: one call in a process of its own, which ends with its answer.

The process is a fork of one that has loaded this module and has never seen a writer or a snapshot.
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
_BLOCK = 16
_BLOCK_SIZES = 28
"""Python allocates small objects in blocks of up to 512 bytes; an empty ``bytes`` takes 33 of them."""
_MAX_DRAWN = 16


_inherited = Layer(0)
"""What every process has from the one that it is a fork of."""


def load_libraries() -> None:
    """Let Python load what it loads on first use, then give up what no call needs: no file can be opened later."""
    global _inherited  # noqa: PLW0603 - of the process that is forked, once
    re.compile("(a|b)*[c-e]+?", re.IGNORECASE)
    "é".encode("latin-1", "replace")
    trial = compile(f"def {FUNCTION}(snapshot):\n    return str(1 / 0)", FILENAME, "exec")
    _result(marshal.dumps(trial), marshal.dumps({}))
    re.purge()
    confinement.go_first()
    with suppress(OSError):  # what a call cannot put on either is told by it
        lockdown.prepare()
        lockdown.enter(lockdown.INHERITED)
        _inherited = lockdown.INHERITED


def main(incoming: int, outgoing: int, layers: Layer, limits: Limits) -> NoReturn:
    """Answer one call and end. The first arguments are the pipe ends to read from and to write to."""
    try:
        confinement.keep_pipes(incoming, outgoing)
        scattered = _scatter_memory()  # noqa: F841 - held until the end
        confinement.lock_in(layers & ~_inherited, limits)
        read_frame = framing.frame_reader()
        code, state = marshal.loads(read_frame().payload)  # noqa: S302 - from the host
        result = _result(code, state).encode(errors="replace")
        framing.write_bytes(framing.pack(framing.RESULT, 1, result))
        read_frame()  # never comes: the host has a look at the time that this took
    finally:  # whatever happened, this copy of the zygote must not go on
        os._exit(1)


def _scatter_memory() -> list[object]:
    """Return objects of every size that Python keeps blocks for, of each a number drawn anew.

    Where the next objects lie then says nothing of how many calls there were before.
    """
    smallest = (object, complex, list, dict)
    counts = iter(os.urandom(len(smallest) + _BLOCK_SIZES))
    held: list[object] = [kind() for kind in smallest for _ in range(next(counts) % _MAX_DRAWN)]
    held += [bytes(_BLOCK * size + 1) for size in range(_BLOCK_SIZES) for _ in range(next(counts) % _MAX_DRAWN)]
    return held


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

    def import_allowed(name: str, *_: object) -> object:
        if name not in ("re", "__future__"):
            raise ImportError(f"module {name} is not available")
        return expressions if name == "re" else SimpleNamespace(annotations=None)

    own["__import__"] = import_allowed
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
