"""The executor of every run: it checks generated code, and executes the code in a worker of the sandbox."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Final, Self

from spca.body import AgentInterface, Body
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
"""Level of an executor whose workers run without a sandbox."""


@lru_cache(maxsize=8)
def _compile_agent(agent: AgentSource) -> CodeType:
    return compilation.code(compilation.tree(agent.text, FILENAME), FILENAME)


@lru_cache(maxsize=1)
def _make_process_executor(pid: int) -> SandboxExecutor:  # noqa: ARG001 - the cache's key
    """Return the executor of process ``pid``; create it on the first call, and cache it.

    A forked process has another pid, so it gets a new executor.
    """
    executor = SandboxExecutor()
    atexit.register(executor.close)
    return executor


def default_executor() -> SandboxExecutor:
    """Return the executor that all callers in this process share; its sandbox is started on first use."""
    return _make_process_executor(os.getpid())


class SandboxExecutor:
    """Executor that runs agent sources in the sandbox; also a context manager. The constructor starts no process.

    Args:
        limits: budgets of each episode; None means the defaults of :class:`Limits`, with the body's budgets.
        check: the static policy, which raises :class:`~spca.errors.PatchError` for a source that must not be executed;
            None skips the check.
        unsafe: whether workers are plain processes without any layer of the sandbox.

    Raises:
        SandboxError: from :meth:`start` and :meth:`verify`, if the sandbox does not work on this host.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        check: Callable[[AgentSource, AgentInterface], None] | None = policy.check_agent,
        unsafe: bool = False,
    ) -> None:
        self._limits = limits
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
        """Start the zygote (the process that workers are forked from) without waiting until the zygote is ready."""
        with self._lock:
            self._get_zygote()

    def verify(self) -> str:
        """Test the sandbox once on throw-away workers; return its level.

        Raises:
            SandboxError: the sandbox does not work here; the message names the layer and the remedy.
        """
        with self._lock:
            zygote = self._get_zygote()
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
        self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body
    ) -> SandboxEpisode | RefusedEpisode:
        """Begin an episode that executes ``steps`` with a fresh ``Agent`` in a new worker.

        If the source is not allowed or does not compile, the returned episode fails at once.

        Args:
            previous: codes of the primitives executed so far.
            body: the body of the agent.

        Raises:
            SandboxError: there is no working sandbox.
        """
        try:
            if self._check is not None:
                self._check(agent, body.interface)
            module = _compile_agent(agent)
        except PatchError as error:
            return RefusedEpisode(Failed(Status.SYNTAX_ERROR, reports.clean(str(error), reports.MAX_MESSAGE)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return RefusedEpisode(reports.syntax_error(error, agent))
        self.verify()
        budgets = body.budgets
        limits = self._limits or Limits(cpu_seconds=budgets.cpu_seconds, wall_seconds=budgets.wall_seconds)
        with self._lock:
            worker = self._get_zygote().worker(self._layers, limits)
        return SandboxEpisode(worker, agent, module, body.interface, steps, previous, limits)

    def caller(self, module: str, limits: Limits) -> Caller:
        """Return a caller of the trusted ``module``; each call runs in a new process of this sandbox."""
        return Caller(self._verify_layers, module, limits)

    def _verify_layers(self) -> Layer:
        self.verify()
        return self._layers

    def close(self) -> None:
        """End the zygote and every worker; idempotent. Episodes must not be used afterwards."""
        with self._lock:
            if self._zygote is not None:
                self._zygote.close()
            self._zygote = None
            self._level = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get_zygote(self) -> Zygote:
        """Return the running zygote; start a new zygote if none runs. The calling method must hold the lock."""
        if self._zygote is not None and not self._zygote.usable():
            _LOG.info("the sandbox's process %d cannot be used any more: another one is started", self._zygote.pid)
            self._zygote.close()
            self._zygote = None
            self._level = ""
        if self._zygote is None:
            self._zygote = Zygote()
        return self._zygote
