"""Calls of a function in the sandbox, each in a process of its own: nothing is left for the next one."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final
from weakref import finalize

from spca.errors import SandboxError
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process import framing
from spca.sandbox.process.client import GoneError, Worker, Zygote

GRACE: Final = 0.75
"""Further seconds for a process that got less than half of the processor time that its deadline would have allowed."""


class CallError(Exception):
    """A call came to nothing; ``str(error)`` says why, ``is_late`` whether its time was up."""

    def __init__(self, words: str, *, is_late: bool = False) -> None:
        super().__init__(words)
        self.is_late = is_late


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call returned, and the processor time that it took."""

    payload: bytes
    cpu_seconds: float


class Caller:
    """Calls one module of the sandbox; the zygote that it forks from is started when it is first needed.

    Args:
        layers: verifies that the sandbox holds here, and returns its layers.
        module: what answers, see :func:`spca.sandbox.process.zygote.main`; it sends one ``RESULT`` for one ``CALL``.
        limits: of each call; ``yield_seconds`` is the time for an answer.
    """

    def __init__(self, layers: Callable[[], Layer], module: str, limits: Limits) -> None:
        self._layers = layers
        self._module = module
        self._limits = limits
        self._zygote: Zygote | None = None
        self._end: Callable[[], object] = lambda: None

    def call(self, request: bytes) -> Answer:
        """Return what a fresh process answers to ``request``.

        Raises:
            CallError: it gave no answer.
            SandboxError: there is no sandbox to run it in.
        """
        try:
            return self._call_once(request)
        except SandboxError:  # a zygote or process that somebody else has killed is nobody's fault
            self.close()
        return self._call_once(request)

    def begin(self) -> Zygote:
        """Return the running zygote, or start one without waiting for it."""
        if self._zygote is not None and not self._zygote.usable():
            self.close()
        if self._zygote is None:
            self._zygote = Zygote(self._module)
            self._end = finalize(self, self._zygote.close)
        return self._zygote

    def close(self) -> None:
        """End the zygote; idempotent. The next call starts another, in which everything lies elsewhere in memory."""
        self._end()
        self._zygote = None

    def _call_once(self, request: bytes) -> Answer:
        layers = self._layers()
        with closing(self.begin().worker(layers, self._limits)) as worker:
            return exchange(worker, self._limits, request)


def exchange(worker: Worker, limits: Limits, request: bytes) -> Answer:
    """Send a request to a fresh process, and wait for the answer as long as it may take.

    Raises:
        CallError: there was none.
        SandboxError: somebody else has killed the process.
    """
    frames = framing.Frames()
    deadline = time.monotonic() + limits.yield_seconds
    has_grace = True
    try:
        worker.send(framing.pack(framing.CALL, 1, request), deadline)
        while (frame := frames.next()) is None:
            try:
                frames.feed(worker.receive(deadline))
            except TimeoutError:
                if not has_grace or worker.cpu_seconds() >= limits.yield_seconds / 2:
                    raise
                has_grace = False
                deadline = deadline + GRACE
        cpu = worker.cpu_seconds()
    except TimeoutError as error:
        raise CallError(f"no answer for {limits.yield_seconds:.1f} s", is_late=True) from error
    except GoneError as error:
        raise _ended(worker, limits) from error
    except framing.WireError as error:
        raise CallError(f"the code broke the protocol: {error}") from error
    if frame.kind != framing.RESULT:
        raise CallError("the code broke the protocol: its answer is no result")
    return Answer(frame.payload, cpu)


def _ended(worker: Worker, limits: Limits) -> Exception:
    """Return why the process ended without an answer."""
    cpu = worker.cpu_seconds()
    worker.close()
    code = worker.exit_code
    if code is None or (code == -signal.SIGKILL and cpu < limits.cpu_seconds / 2):
        return SandboxError("the process of a call was killed")
    if code >= 0:
        return CallError(f"the code ended its own process (exit code {code})")
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return CallError(f"more than {limits.cpu_seconds} s of processor time", is_late=True)
    return CallError(f"the code crashed the interpreter ({signal.strsignal(-code) or f'signal {-code}'})")
