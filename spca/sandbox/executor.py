"""The Executor of every run: generated code is checked, and executed in a worker in the sandbox."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Final, Self

from spca.code import compilation
from spca.code.policy import check as policy
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import PatchError
from spca.protocols import Failed
from spca.sandbox.doctor import examination
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process import reports
from spca.sandbox.process.calls import Caller
from spca.sandbox.process.client import Zygote
from spca.sandbox.process.episode import RefusedEpisode, SandboxEpisode
from spca.sandbox.process.runner import FILENAME

_LOG: Final = logging.getLogger(__name__)

UNSAFE = "unsafe"
"""Level of an executor without a sandbox."""


@lru_cache(maxsize=8)
def _compiled(agent: AgentSource) -> CodeType:
    return compilation.code(compilation.tree(agent.text, FILENAME), FILENAME)


@lru_cache(maxsize=1)
def _of_process(pid: int) -> SandboxExecutor:  # noqa: ARG001 - a fork of this process must have one of its own
    executor = SandboxExecutor()
    atexit.register(executor.close)
    return executor


def default_executor() -> SandboxExecutor:
    """The executor of those who bring none: one for the whole process, started when it is first used."""
    return _of_process(os.getpid())


class SandboxExecutor:
    """Runs agent sources in the sandbox; a context manager. Making one does nothing yet.

    Args:
        limits: budgets of each episode.
        check: the static policy, which raises :class:`~spca.errors.PatchError` for a source that must not be executed;
            None leaves it out.
        unsafe: without the sandbox: a plain process of its own, nothing more.

    Raises:
        SandboxError: from :meth:`start` and :meth:`verify`, when the sandbox does not hold here.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        check: Callable[[AgentSource], None] | None = policy.check_agent,
        unsafe: bool = False,
    ) -> None:
        self._limits = limits or Limits()
        self._check = check
        self._unsafe = unsafe
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._layers = Layer(0)
        self._level = ""

    @property
    def level(self) -> str:
        """``strict``, ``strict-nolandlock`` or ``unsafe``; "" before :meth:`verify`."""
        return self._level

    def begin(self) -> None:
        """Start the process that workers are forked from, without waiting for it."""
        with self._lock:
            self._process()

    def verify(self) -> str:
        """Prove on throw-away workers that the sandbox holds here; returns the level.

        Raises:
            SandboxError: it does not; says which layer, and what would mend it.
        """
        with self._lock:
            zygote = self._process()
            if not self._level:
                if self._unsafe:
                    zygote.await_ready()
                    self._level = UNSAFE
                else:
                    report = examination.examine(zygote)
                    report.raise_for_refusal()
                    self._layers = report.layers
                    self._level = report.level
                _LOG.info("sandbox: %s", self._level)
            return self._level

    def start(
        self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]
    ) -> SandboxEpisode | RefusedEpisode:
        """Begin ``steps`` with a fresh ``Agent`` in a worker of its own.

        Raises:
            SandboxError: there is no sandbox to run it in.
        """
        try:
            if self._check is not None:
                self._check(agent)
            module = _compiled(agent)
        except PatchError as error:
            return RefusedEpisode(Failed(Status.SYNTAX_ERROR, reports.clean(str(error), reports.MAX_MESSAGE)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return RefusedEpisode(reports.syntax_error(error, agent))
        self.verify()
        with self._lock:
            worker = self._process().worker(self._layers, self._limits)
        return SandboxEpisode(worker, agent, module, steps, previous, self._limits)

    def caller(self, module: str, limits: Limits) -> Caller:
        """Return what calls a module of our own in this sandbox, each time in a process of its own."""
        return Caller(self._verified_layers, module, limits)

    def _verified_layers(self) -> Layer:
        self.verify()
        return self._layers

    def close(self) -> None:
        """End every worker; idempotent. Episodes must not be used afterwards."""
        with self._lock:
            if self._zygote is not None:
                self._zygote.close()
            self._zygote = None
            self._level = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _process(self) -> Zygote:
        if self._zygote is not None and not self._zygote.usable():
            _LOG.info("the sandbox's process %d cannot be used any more: another one is started", self._zygote.pid)
            self._zygote.close()
            self._zygote = None
            self._level = ""
        if self._zygote is None:
            self._zygote = Zygote()
        return self._zygote
