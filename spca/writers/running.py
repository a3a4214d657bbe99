"""Running problem writers in the sandbox: many in one worker, each judged by what was printed in its own turn."""

from __future__ import annotations

import marshal
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import Any, Final
from weakref import finalize

import numpy as np

from spca.code import compilation
from spca.common.text import one_line
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.errors import SandboxError
from spca.llm.feedback import shortened
from spca.protocols import Episode, Executor, Yielded
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from spca.writers import in_sandbox
from spca.writers.checking import fault_of
from spca.writers.stored import Miss

LIMITS: Final = Limits(yield_seconds=0.2, printed_bytes=1 << 18)
"""Who has not answered after 0.2 s is ended if it had the processor for at least 0.1 s of them, else gets a grace."""

_PART: Final = 30_000
"""Characters of a message, which may have twice as many bytes: a mission has less than 65,536."""
_REMEMBERED: Final = 256
_LONGEST_REASON: Final = 300
_MISSES: Final = {in_sandbox.REFUSED: Miss.REFUSED, in_sandbox.INVALID: Miss.INVALID}
_WHERE: Final = re.compile(r" in \w+, line \d+$")
_CELL: Final = np.zeros((1, 1), np.uint8)
_NOTHING: Final = AgentView("", _CELL, _CELL, 0, None, (0, 0), (0, 0), 0)

Job = tuple[str, Mapping[str, Any]]
"""A writer's source and what it is given."""


@dataclass(frozen=True, slots=True)
class Written:
    """The problem that a writer made, or how and why it made none."""

    text: str = ""
    miss: Miss | None = None
    reason: str = ""


class WriterRunner:
    """Runs writers, in one worker as long as they leave it whole; what one made of a snapshot is remembered.

    Args:
        executor: where they run; a sandbox gives them :data:`LIMITS` of their own.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor.limited(LIMITS) if isinstance(executor, SandboxExecutor) else executor
        self._known: OrderedDict[tuple[str, str], Written] = OrderedDict()
        self._worker: _Worker | None = None

    def each(self, jobs: Iterable[Job], *, again: bool = False) -> Iterator[Written]:
        """Yield what each job comes to when it is asked for; ``again``: do not look at what is remembered.

        Raises:
            SandboxError: there is no sandbox to run them in.
        """
        for source, state in jobs:
            key = source, _packed(state)
            known = None if again else self._known.get(key)
            yield self._run(*key) if known is None else known

    def close(self) -> None:
        """End the worker; idempotent, and another one is begun where it is needed."""
        if self._worker is not None:
            self._worker.end()
        self._worker = None

    def _run(self, source: str, state: str) -> Written:
        if fault := fault_of(source):
            return Written(miss=Miss.INVALID, reason=_short(fault))
        try:
            return self._remembered(source, state)
        except (_EndedError, SandboxError):  # those before it, or a busy machine, may be to blame
            self.close()
        try:
            return self._remembered(source, state)
        except _EndedError as ended:
            self.close()
            reason = _WHERE.sub("", str(ended)).replace("no yield", "no answer")
            return Written(miss=Miss.INVALID, reason=_short(reason))

    def _remembered(self, source: str, state: str) -> Written:
        if self._worker is None or not self._worker.usable():
            self.close()
            self._worker = _Worker(self._executor)
        written = self._known[source, state] = self._worker.write(_compiled(source), state)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return written


class _EndedError(Exception):
    """The worker has ended; ``str(error)`` says why."""


class _Worker:
    """A worker that runs writers, one after another.

    Raises:
        SandboxError: there is no sandbox for it.
    """

    def __init__(self, executor: Executor) -> None:
        self._episode = executor.start(_agent(), [PlanStep("serve", ())], ())
        self._state: str | None = None
        self._pid = os.getpid()
        self.end = finalize(self, _end, self._episode, self._pid)

    def usable(self) -> bool:
        """Whether it belongs to this process and has room for another problem."""
        return self._pid == os.getpid() and len(self._episode.printed) < LIMITS.printed_bytes // 2

    def write(self, code: str, state: str) -> Written:
        """Return what a writer's code makes of a state.

        Raises:
            _EndedError: it has ended.
        """
        if state != self._state:
            self._tell(in_sandbox.SNAPSHOT, state)
            self._state = state
        return _read(self._tell(in_sandbox.WRITER, code))

    def _tell(self, kind: str, data: str) -> str:
        """Return what is printed on the way."""
        before = len(self._episode.printed)
        *begun, rest = (data[at : at + _PART] for at in range(0, max(1, len(data)), _PART))
        for said in (*(in_sandbox.PART + part for part in begun), kind + rest):
            event = self._episode.advance(replace(_NOTHING, mission=said))
            if not isinstance(event, Yielded):
                raise _EndedError(getattr(event, "message", "it does not go on"))
        return self._episode.printed[before:]


def _end(episode: Episode, pid: int) -> None:
    if pid == os.getpid():  # in a fork of its process it belongs to another
        episode.close()


def _read(printed: str) -> Written:
    kind, text = printed[:1], printed[1:]
    if kind == in_sandbox.WRITTEN and len(text) <= in_sandbox.LONGEST:
        return Written(text)
    miss = _MISSES.get(kind, Miss.INVALID)
    return Written(miss=miss, reason=_short(text) if kind in _MISSES else "it gave no answer")


def _short(text: str) -> str:
    return shortened(one_line(text), _LONGEST_REASON) or "it gave no reason"


def _packed(state: Mapping[str, Any]) -> str:
    return marshal.dumps(dict(state), 2).decode("latin-1")  # version 2 marks no shared parts: equal values, equal bytes


@lru_cache(maxsize=1)
def _agent() -> AgentSource:
    return AgentSource(resources.files("spca.writers").joinpath("in_sandbox.py").read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _compiled(source: str) -> str:
    code = compilation.code(compilation.tree(source, in_sandbox.FILENAME), in_sandbox.FILENAME)
    return marshal.dumps(code).decode("latin-1")
