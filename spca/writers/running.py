"""Running problem writers in the sandbox, each call in a process of its own."""

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
"""Who has not answered after 0.2 s is ended if it had the processor for at least 0.1 s of them, else gets a grace."""

MAX_CPU_SECONDS: Final = 0.1
"""Processor time of a call; ordinary writers take a fiftieth of it."""

_REMEMBERED: Final = 256
_LONGEST_REASON: Final = 300
_MISSES: Final = {in_sandbox.REFUSED: Miss.REFUSED, in_sandbox.INVALID: Miss.INVALID}

Job = tuple[str, Mapping[str, Any]]
"""A writer's source and what it is given."""


@dataclass(frozen=True, slots=True)
class Written:
    """The problem that a writer made, or how and why it made none."""

    text: str = ""
    miss: Miss | None = None
    reason: str = ""


class WriterRunner:
    """Runs writers; what one made of a snapshot is remembered.

    Args:
        executor: whose sandbox they run in.
    """

    def __init__(self, executor: SandboxExecutor) -> None:
        self._caller = executor.caller(in_sandbox.__name__, LIMITS)
        self._known: OrderedDict[tuple[str, bytes], Written] = OrderedDict()

    def each(self, jobs: Iterable[Job], *, again: bool = False) -> Iterator[Written]:
        """Yield what each job comes to when it is asked for; ``again``: do not look at what is remembered.

        Raises:
            SandboxError: there is no sandbox to run them in.
        """
        for source, state in jobs:
            key = source, _pack_state(state)
            known = None if again else self._known.get(key)
            yield self._run(*key) if known is None else known

    def close(self) -> None:
        """End that process; idempotent. The next call has another one, in which objects lie elsewhere."""
        self._caller.close()

    def _run(self, source: str, state: bytes) -> Written:
        if fault := fault_of(source):
            return Written(miss=Miss.INVALID, reason=_short(fault))
        try:
            answer = self._caller.call(marshal.dumps((_compile_writer(source), state)))
        except CallError as error:
            return Written(miss=Miss.LATE if error.is_late else Miss.INVALID, reason=_short(str(error)))
        if answer.cpu_seconds > MAX_CPU_SECONDS:
            reason = f"it took {answer.cpu_seconds:.2f} s of processor time, {MAX_CPU_SECONDS:g} s are allowed"
            return Written(miss=Miss.LATE, reason=reason)
        written = self._known[source, state] = read_answer(answer.payload.decode(errors="replace"))
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return written


def read_answer(printed: str) -> Written:
    """Return what a process of the sandbox says; nothing in it is believed but its first character."""
    kind = printed[:1]
    text = printed[1:]
    if kind == in_sandbox.WRITTEN and len(text) <= in_sandbox.LONGEST:
        return Written(text)
    miss = _MISSES.get(kind, Miss.INVALID)
    return Written(miss=miss, reason=_short(text) if kind in _MISSES else "it gave no answer")


def _short(text: str) -> str:
    return shorten_middle(one_line(text), _LONGEST_REASON) or "it gave no reason"


def _pack_state(state: Mapping[str, Any]) -> bytes:
    return marshal.dumps(dict(state), 2)  # version 2 marks no shared parts: equal values, equal bytes


@lru_cache(maxsize=256)
def _compile_writer(source: str) -> bytes:
    code = compilation.code(compilation.tree(source, in_sandbox.FILENAME), in_sandbox.FILENAME)
    return marshal.dumps(code)
