"""Execution of problem writers in the sandbox, each call in a new process."""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from spca.code import compilation
from spca.common.text import one_line
from spca.llm.feedback import shorten_middle
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process.calls import CallError
from spca.writers import in_sandbox
from spca.writers.checking import fault_of
from spca.writers.stored import Miss

LIMITS: Final = Limits(yield_seconds=0.2, cpu_seconds=1, memory_bytes=128 << 20)
"""Limits of a call. If no answer comes within 0.2 s, a writer that has used 0.1 s of processor time is ended.

A writer that has used less processor time gets further time once.
"""

MAX_CPU_SECONDS: Final = 0.1
"""Longest processor time of a call, in seconds; ordinary writers take a fiftieth of it."""

_REMEMBERED: Final = 256
_MAX_REASON: Final = 300
_MISSES: Final = {in_sandbox.REFUSED: Miss.REFUSED, in_sandbox.INVALID: Miss.INVALID}

Job = tuple[str, Mapping[str, Any]]
"""A writer's source, and the input for the writer."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a writer: the problem (``text``), or how (``miss``) and why (``reason``) the writer failed."""

    text: str = ""
    miss: Miss | None = None
    reason: str = ""


class WriterRunner:
    """Runs writers, and remembers the result for each pair of a writer and an input.

    Args:
        executor: executor whose sandbox runs the writers.
    """

    def __init__(self, executor: SandboxExecutor) -> None:
        self._caller = executor.caller(in_sandbox.__name__, LIMITS)
        self._known: OrderedDict[tuple[str, bytes], Written] = OrderedDict()

    def each(self, jobs: Iterable[Job], *, again: bool = False) -> Iterator[Written]:
        """Yield the result of each job; a job runs only when the caller asks for its result.

        If ``again``, jobs whose result is remembered run again.

        Raises:
            SandboxError: there is no working sandbox.
        """
        for source, state in jobs:
            key = source, _pack_state(state)
            known = None if again else self._known.get(key)
            yield self._run(*key) if known is None else known

    def close(self) -> None:
        """End the process of which every call is a fork; idempotent.

        The next call starts a new process, which has other memory addresses.
        """
        self._caller.close()

    def _run(self, source: str, state: bytes) -> Written:
        """Run a writer on a marshalled input; return the result, and remember it if the writer answered in time."""
        if fault := fault_of(source):
            return Written(miss=Miss.INVALID, reason=_shorten(fault))
        try:
            answer = self._caller.call(marshal.dumps((_compile_writer(source), state)))
        except CallError as error:
            return Written(miss=Miss.LATE if error.is_late else Miss.INVALID, reason=_shorten(str(error)))
        if answer.cpu_seconds > MAX_CPU_SECONDS:
            reason = f"it took {answer.cpu_seconds:.2f} s of processor time, {MAX_CPU_SECONDS:g} s are allowed"
            return Written(miss=Miss.LATE, reason=reason)
        written = self._known[source, state] = read_answer(answer.payload.decode(errors="replace"))
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return written


def read_answer(printed: str) -> Written:
    """Return the result that a process of the sandbox has ``printed``.

    The first character says whether the rest is a problem or the reason of a failure.
    """
    kind = printed[:1]
    text = printed[1:]
    if kind == in_sandbox.WRITTEN and len(text) <= in_sandbox.MAX_PROBLEM:
        return Written(text)
    miss = _MISSES.get(kind, Miss.INVALID)
    return Written(miss=miss, reason=_shorten(text) if kind in _MISSES else "it gave no answer")


def _shorten(text: str) -> str:
    return shorten_middle(one_line(text), _MAX_REASON) or "it gave no reason"


def _pack_state(state: Mapping[str, Any]) -> bytes:
    return marshal.dumps(dict(state), 2)  # version 2 has no references, so equal values give equal bytes


@lru_cache(maxsize=256)
def _compile_writer(source: str) -> bytes:
    code = compilation.code(compilation.tree(source, in_sandbox.FILENAME), in_sandbox.FILENAME)
    return marshal.dumps(code)
