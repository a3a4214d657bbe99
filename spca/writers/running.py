"""Running problem writers in the sandbox: many in one episode, each judged by what was printed in its own turn."""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import groupby, takewhile
from typing import Any, Final

import numpy as np

from spca.code import compilation
from spca.common.text import one_line
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.llm.feedback import shortened
from spca.protocols import Executor, Failed
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from spca.writers import in_sandbox
from spca.writers.checking import fault_of
from spca.writers.stored import Miss

LIMITS: Final = Limits(yield_seconds=0.2, printed_bytes=4 << 20)
"""Who has not answered after 0.2 s is ended if it had the processor for at least 0.1 s of them, else gets a grace."""

MOST: Final = 100
"""Writers that are run in one episode at most."""

_REMEMBERED: Final = 256
_LONGEST_REASON: Final = 300
_MISSES: Final = {in_sandbox.REFUSED: Miss.REFUSED, in_sandbox.INVALID: Miss.INVALID}
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
    """Runs writers; what one made of a snapshot is remembered.

    Args:
        executor: where they run; a sandbox gives them :data:`LIMITS` of their own.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor.limited(LIMITS) if isinstance(executor, SandboxExecutor) else executor
        self._known: OrderedDict[tuple[str, str], Written] = OrderedDict()

    def each(self, jobs: Sequence[Job], *, until_written: bool = False, again: bool = False) -> Iterator[Written]:
        """Yield what each job comes to, in order, many to an episode.

        Args:
            until_written: what comes after a problem is run only when it is asked for.
            again: do not look at what is remembered.

        Raises:
            SandboxError: there is no sandbox to run them in.
        """
        at = 0
        while at < len(jobs):
            results = self._some(jobs[at : at + MOST], until_written, again)
            yield from results
            at += len(results)

    def _some(self, jobs: Sequence[Job], until_written: bool, again: bool) -> list[Written]:
        """Return what at least the first job comes to, and those after it as far as one episode leads."""
        results = list[Written]()
        packed = [(source, _packed(state)) for source, state in jobs]
        for key in packed:
            known = None if again else self._known.get(key)
            if known is None and (fault := fault_of(key[0])):
                known = Written(miss=Miss.INVALID, reason=shortened(one_line(fault), _LONGEST_REASON))
            if known is None:
                break
            results.append(known)
            if until_written and known.miss is None:
                return results
        return results or self._episode(packed, until_written)

    def _episode(self, jobs: Sequence[tuple[str, str]], until_written: bool) -> list[Written]:
        jobs = list(takewhile(lambda job: not fault_of(job[0]), jobs))
        results = list[Written]()
        steps = [step for state, group in groupby(jobs, lambda job: job[1]) for step in _steps(state, group)]
        with closing(self._executor.start(_agent(), steps, ())) as episode:
            for step in steps:
                before = len(episode.printed)
                event = episode.advance(_NOTHING)
                if isinstance(event, Failed):
                    # Another may have left it so: only one that comes first in its process is to blame for its end.
                    return results or [
                        Written(miss=Miss.INVALID, reason=_reason(event.message.replace("no yield", "no answer")))
                    ]
                if step.action != "write":
                    continue
                results.append(_read(episode.printed[before:]))
                self._remember(jobs[len(results) - 1], results[-1])
                if until_written and results[-1].miss is None:
                    break
        return results

    def _remember(self, key: tuple[str, str], written: Written) -> None:
        self._known[key] = written
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _steps(state: str, jobs: Iterator[tuple[str, str]]) -> Iterator[PlanStep]:
    yield PlanStep("show", (state,))
    yield from (PlanStep("write", (_compiled(source),)) for source, _ in jobs)


def _read(printed: str) -> Written:
    kind, text = printed[:1], printed[1:]
    if kind == in_sandbox.WRITTEN and len(text) <= in_sandbox.LONGEST:
        return Written(text)
    miss = _MISSES.get(kind, Miss.INVALID)
    return Written(miss=miss, reason=_reason(text) if kind in _MISSES else "it gave no answer")


def _reason(text: str) -> str:
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
