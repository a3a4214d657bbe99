"""Calls of a trusted module in the sandbox. Each call runs in a new process, so that it cannot affect the next call."""

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
"""Additional seconds for a process that has used less than half of its time limit as processor time.

On a busy machine, such a process may not have got enough processor time.
"""


class CallError(Exception):
    """A call gave no answer: ``str(error)`` says why, and ``is_late`` whether a time limit was exceeded."""

    def __init__(self, words: str, *, is_late: bool = False) -> None:
        super().__init__(words)
        self.is_late = is_late


@dataclass(frozen=True, slots=True)
class Answer:
    """The payload that a call returned, and the processor time that the call took."""

    payload: bytes
    cpu_seconds: float


class Caller:
    """Caller of one module in the sandbox. The zygote is started on first use.

    Args:
        layers: function that verifies the sandbox of this host and returns the layers to apply.
        module: name of the module that answers, see :func:`spca.sandbox.process.zygote.main`; for one ``CALL`` the
            module sends one ``RESULT``.
        limits: limits of each call; ``yield_seconds`` is the time limit for the answer.
    """

    def __init__(self, layers: Callable[[], Layer], module: str, limits: Limits) -> None:
        self._layers = layers
        self._module = module
        self._limits = limits
        self._zygote: Zygote | None = None
        self._end: Callable[[], object] = lambda: None

    def call(self, request: bytes) -> Answer:
        """Send ``request`` to a new process and return the answer of this process.

        Raises:
            CallError: the process gave no answer.
            SandboxError: there is no working sandbox.
        """
        try:
            return self._call_once(request)
        except SandboxError:  # another program may have killed the zygote or the process: retry once
            self.close()
        return self._call_once(request)

    def begin(self) -> Zygote:
        """Return the zygote; if no zygote runs, start a new zygote without waiting until it is ready."""
        if self._zygote is not None and not self._zygote.usable():
            self.close()
        if self._zygote is None:
            self._zygote = Zygote(self._module)
            self._end = finalize(self, self._zygote.close)  # runs once: by `close`, or when this object is deleted
        return self._zygote

    def close(self) -> None:
        """End the zygote; idempotent. The next call starts a new zygote, whose memory layout differs."""
        self._end()
        self._zygote = None

    def _call_once(self, request: bytes) -> Answer:
        layers = self._layers()
        with closing(self.begin().worker(layers, self._limits)) as worker:
            return exchange(worker, self._limits, request)


def exchange(worker: Worker, limits: Limits, request: bytes) -> Answer:
    """Send ``request`` to a new process and return the answer; wait at most as long as ``limits`` allow.

    Raises:
        CallError: the process gave no valid answer.
        SandboxError: another program killed the process.
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
                deadline += GRACE
        cpu = worker.cpu_seconds()
    except TimeoutError as error:
        raise CallError(f"no answer for {limits.yield_seconds:.1f} s", is_late=True) from error
    except GoneError as error:
        raise _describe_end(worker, limits) from error
    except framing.WireError as error:
        raise CallError(f"the code broke the protocol: {error}") from error
    if frame.kind != framing.RESULT:
        raise CallError("the code broke the protocol: its answer is no result")
    return Answer(frame.payload, cpu)


def _describe_end(worker: Worker, limits: Limits) -> Exception:
    """Close the worker; return the error that says why its process ended without an answer."""
    cpu = worker.cpu_seconds()
    worker.close()
    code = worker.exit_code
    was_within_limit = cpu < limits.cpu_seconds / 2  # so the kernel had no reason to kill the process
    if code is None or (code == -signal.SIGKILL and was_within_limit):
        return SandboxError("the process of a call was killed")
    if code >= 0:
        return CallError(f"the code ended its own process (exit code {code})")
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return CallError(f"more than {limits.cpu_seconds} s of processor time", is_late=True)
    signal_name = signal.strsignal(-code) or f"signal {-code}"
    return CallError(f"the code crashed the interpreter ({signal_name})")
