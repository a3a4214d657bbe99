"""The host's side of the sandbox: handles for the zygote's process and for each worker."""

from __future__ import annotations

import ctypes
import fcntl
import logging
import marshal
import math
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from spca.errors import SandboxError
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process import framing, zygote
from spca.sandbox.process.worker import DUMP_SIGNAL

_LOG: Final = logging.getLogger(__name__)

START_LIMIT: Final = 60.0
"""Seconds that the zygote may take to start."""

ANSWER_LIMIT: Final = 10.0
"""Seconds that a fork, or the death of a killed worker, may take; large enough for a very busy machine."""

STOP_LIMIT: Final = 3.0
"""Seconds that the zygote may take to end its workers; after that time the host kills the zygote."""

EPISODES: Final = "spca.sandbox.process.worker"
"""Name of the module whose workers execute plans."""

_ROOT: Final = Path(__file__).parents[3]
_CHUNK: Final = 1 << 12
_NO_CPU: Final = -2  # differs from every result of `_current_cpu`


class GoneError(Exception):
    """The worker has closed its pipe, because it has ended."""


class Zygote:
    """A process that runs :mod:`spca.sandbox.process.zygote`.

    The constructor starts the process; :meth:`worker` waits until the process is ready.
    """

    def __init__(self, module: str = EPISODES) -> None:
        """Start the process.

        Args:
            module: name of the workers' module, see :func:`spca.sandbox.process.zygote.main`.

        Raises:
            SandboxError: the system refused to start the process.
        """
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._ready = self._broken = False
        self._requests = 0
        try:
            self._control, theirs = map(_move_above_standard, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            with theirs:
                self._process = _start_zygote(theirs.fileno(), module)
        except OSError as error:
            raise SandboxError(f"the sandbox's process cannot be started: {error}") from error
        self._control.settimeout(START_LIMIT)
        path = [entry for entry in sys.path if os.path.isabs(entry)]  # relative entries depend on the directory
        with suppress(OSError):  # a process that died at once is noticed on first use
            self._control.send(marshal.dumps([*path, str(_ROOT)]), socket.MSG_NOSIGNAL)

    @property
    def pid(self) -> int:
        return self._process.pid

    def usable(self) -> bool:
        """Return whether the zygote still runs, was started by this process, and completed every request."""
        return self._owner == os.getpid() and not self._broken and self._process.poll() is None

    def await_ready(self) -> None:
        """Wait until the zygote has loaded everything that workers need.

        Raises:
            SandboxError: the zygote did not start.
        """
        with self._lock, self._unless_broken():
            if self._ready:
                return
            try:
                answer = self._control.recv(zygote.MAX_REQUEST_BYTES)
            except OSError as error:
                raise SandboxError(f"the sandbox's process did not start: {error}") from error
            if answer != zygote.READY:
                raise SandboxError(f"the sandbox's process did not start: {answer.decode() or 'it ended at once'}")
            self._control.settimeout(ANSWER_LIMIT)
            self._ready = True
            _LOG.debug("the sandbox's process %d is ready", self.pid)

    def worker(self, layers: Layer, limits: Limits) -> Worker:
        """Fork a worker and wait until the worker has applied ``layers`` to itself; return the worker.

        Raises:
            SandboxError: the worker cannot be forked, or a layer cannot be applied.
        """
        self.await_ready()
        payload = marshal.dumps((int(layers), astuple(limits)))
        try:
            with ExitStack() as ours, ExitStack() as theirs:
                # The zygote gets copies of the worker's ends, so this process closes its own copies in any case.
                incoming, to_worker = _pipe(theirs, ours)
                from_worker, outgoing = _pipe(ours, theirs)
                pid, pidfd = self._request(zygote.FORK, payload, [incoming, outgoing])
                if pid <= 1:  # a negative errno
                    raise SandboxError(f"a sandbox worker cannot be forked: {os.strerror(-pid)}")
                ours.pop_all()  # keep this process's ends open
            worker = Worker(self, pid, pidfd, to_worker, from_worker)
        except OSError as error:
            raise SandboxError(f"a sandbox worker cannot be started: {error}") from error
        with ExitStack() as unless_locked:
            unless_locked.callback(worker.close)
            worker.await_locked(layers)
            unless_locked.pop_all()  # keep the worker
        return worker

    def reap(self, pid: int) -> int | None:
        """Kill and reap the worker ``pid``; return its exit code, or None if the zygote has ended."""
        try:
            return self._request(zygote.REAP, zygote.PID.pack(pid), [])[0]
        except SandboxError:
            return None

    def close(self) -> None:
        """End the zygote and all of its workers; idempotent.

        In a forked copy of the host, only close the socket.
        """
        if self._owner != os.getpid():
            self._control.close()
            return
        if not self._ready:
            self._process.kill()
        with suppress(OSError):  # close() does not suffice: a fork of the host may hold the socket too
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()  # the zygote then kills and reaps its workers
        try:
            self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            _LOG.info("the sandbox's process %d is killed: it did not end in %g s", self.pid, STOP_LIMIT)
            self._process.kill()
            self._process.wait()

    def _request(self, kind: bytes, payload: bytes, descriptors: list[int]) -> tuple[int, int | None]:
        """Send a request to the zygote; return the answer's integer and its descriptor.

        The descriptor is None if the answer has no descriptor.
        """
        with self._lock, self._unless_broken():
            self._requests += 1
            try:
                request = zygote.REQUEST.pack(kind, self._requests) + payload
                socket.send_fds(self._control, [request], descriptors, socket.MSG_NOSIGNAL)
                answer, received, _, _ = socket.recv_fds(self._control, zygote.ANSWER.size, 1)
                number, value = zygote.ANSWER.unpack(answer)
            except (OSError, struct.error) as error:
                raise SandboxError(f"the sandbox's process does not answer: {error}") from error
            if number != self._requests:
                raise SandboxError("the sandbox's process answers another question")
            return value, received[0] if received else None

    @contextmanager
    def _unless_broken(self) -> Iterator[None]:
        """Guard one request: raise SandboxError if an earlier request was interrupted before it was complete."""
        if self._broken or self._owner != os.getpid():
            raise SandboxError("the sandbox's process cannot be asked any more")
        self._broken = True
        yield
        self._broken = False  # not in a `finally`, so that the flag stays set after an exception


class Worker:
    """One worker process, and the host's pipes to it. Several threads must not use a worker at the same time.

    Attributes:
        pid: process id.
        closed: whether :meth:`close` was called.
        exit_code: exit code of the closed worker, negative for a signal as in :mod:`subprocess`; None while it is
            unknown.
    """

    def __init__(self, parent: Zygote, pid: int, pidfd: int | None, to_worker: int, from_worker: int) -> None:
        self.pid = pid
        self.exit_code: int | None = None
        self._parent = parent
        self._pidfd = pidfd
        self._to = to_worker
        self._from = from_worker
        os.set_blocking(to_worker, False)
        os.set_blocking(from_worker, False)
        self._readable = select.poll()
        self._writable = select.poll()
        self._readable.register(from_worker, select.POLLIN)
        self._writable.register(to_worker, select.POLLOUT)
        self._is_sigpipe_deadly = signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL
        # State of `pin_to_current_cpu`: the worker's processor, the processors to which this thread is pinned (empty if
        # pinning failed), and the processors that this thread was allowed to use before.
        self._cpu = _NO_CPU
        self._pinned_cpus = frozenset[int]()
        self._usual_cpus = set[int]()
        self.closed = False

    def await_locked(self, layers: Layer) -> None:
        """Wait until the worker reports that ``layers`` are applied, then check this in the kernel's status of the
        worker.

        Raises:
            SandboxError: the layers are not applied.
        """
        frames = framing.Frames()
        deadline = time.monotonic() + ANSWER_LIMIT
        try:
            while (frame := frames.next()) is None:
                frames.feed(self.receive(deadline))
        except (GoneError, TimeoutError, framing.WireError) as error:
            raise SandboxError(f"a sandbox worker did not start: {error}") from error
        if frame.kind != framing.READY:
            reason = frame.payload.decode(errors="replace") if frame.kind == framing.OPEN else "it says something else"
            raise SandboxError(f"a sandbox worker could not be locked in: {reason}")
        if Layer.SECCOMP in layers:
            status = self.status()
            if status.get("Seccomp") != "2" or status.get("NoNewPrivs") != "1":
                raise SandboxError("a sandbox worker says that it is locked in, but the kernel knows nothing of it")

    def status(self) -> dict[str, str]:
        """Return the fields of ``/proc/PID/status`` by name; an empty dictionary if the file cannot be read."""
        with suppress(OSError):
            text = Path(f"/proc/{self.pid}/status").read_text(errors="replace")
            fields = [line.partition(":") for line in text.splitlines()]
            return {name: value.strip() for name, _, value in fields}
        return {}

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of ``data`` to the worker.

        Raises:
            GoneError: the worker has ended.
            TimeoutError: ``time.monotonic()`` passed ``deadline`` first.
        """
        if self._is_sigpipe_deadly:
            with _pipe_signal_held():
                self._send(data, deadline)
        else:
            self._send(data, deadline)

    def _send(self, data: bytes, deadline: float) -> None:
        """Write all of ``data`` to the pipe, which does not block."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError as error:
                if not self._writable.poll(_milliseconds_left(deadline)):
                    raise TimeoutError("it does not read") from error
            except BrokenPipeError as error:
                raise GoneError("it has ended") from error

    def receive(self, deadline: float) -> bytes:
        """Return the next bytes from the worker; wait until at least one byte arrives.

        Raises:
            GoneError: the worker has ended.
            TimeoutError: ``time.monotonic()`` passed ``deadline`` first.
        """
        try:
            data = os.read(self._from, _CHUNK)
        except BlockingIOError as error:
            if not self._readable.poll(_milliseconds_left(deadline)):
                raise TimeoutError("no answer") from error
            data = os.read(self._from, _CHUNK)
        if not data:
            raise GoneError("it has ended")
        return data

    def pending(self) -> bool:
        """Return whether there are bytes to receive, or the worker has ended."""
        return bool(self._readable.poll(0))

    def pin_to_current_cpu(self) -> None:
        """Pin the worker to the processor that now runs this thread, and pin this thread to it until :meth:`unpin`.

        Worker and thread take turns. If each had its own processor, every turn would have to wake up a processor. On a
        virtual machine, this takes ten times as long as the answer. The worker moves to this thread's processor and not
        the reverse, because the worker sleeps. On a busy machine, moving a running thread takes longer than the answer.
        """
        cpu = _current_cpu()
        if cpu != self._cpu:
            self._pin_worker(cpu)
        if self._pinned_cpus:
            try:
                os.sched_setaffinity(0, self._pinned_cpus)
            except OSError:  # this thread may no longer use the processor
                self._pinned_cpus = frozenset()
                self._cpu = _NO_CPU

    def _pin_worker(self, cpu: int) -> None:
        """Move the worker to processor ``cpu``; do nothing if ``cpu`` is -1 (unknown)."""
        self._pinned_cpus = frozenset()
        self._cpu = cpu
        if cpu >= 0:
            with suppress(OSError):
                self._usual_cpus = os.sched_getaffinity(0)
                os.sched_setaffinity(self.pid, {cpu})
                self._pinned_cpus = frozenset((cpu,))

    def unpin(self) -> None:
        """Undo :meth:`pin_to_current_cpu` for this thread; the worker stays pinned."""
        if self._pinned_cpus:
            with suppress(OSError):
                os.sched_setaffinity(0, self._usual_cpus)

    def cpu_seconds(self) -> float:
        """Return the processor time that the worker has used so far; 0.0 if the clock cannot be read."""
        with suppress(OSError):
            return time.clock_gettime((~self.pid << 3) | 2)  # CPU clock of a process: clock_getcpuclockid(3)
        return 0.0

    def request_traceback(self) -> None:
        """Let the worker's Python interpreter write the worker's traceback to the pipe."""
        self._signal(DUMP_SIGNAL)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill and reap the process, and close all descriptors; idempotent."""
        if self.closed:
            return
        self.closed = True
        self.kill()
        try:
            self.exit_code = self._parent.reap(self.pid)
        finally:  # an interrupt may arrive during the wait
            os.close(self._to)
            os.close(self._from)
            if self._pidfd is not None:
                os.close(self._pidfd)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._pidfd is None:
                os.kill(self.pid, number)  # no other process has this id: the zygote reaps only on request
            else:
                signal.pidfd_send_signal(self._pidfd, number)


def _start_zygote(control: int, module: str) -> subprocess.Popen[bytes]:
    """Start the zygote's program and return the process.

    ``control`` is the zygote's end of the socket, ``module`` the name of the workers' module.
    """
    # the same iteration order of sets in every run
    environment = {"PYTHONHASHSEED": "0"}
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-B", "-X", "utf8", zygote.__file__, str(control), module],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=environment,
        pass_fds=[control],
        start_new_session=True,  # Ctrl-C goes to the host only, which then stops this process
    )


def _move_above_standard(end: socket.socket) -> socket.socket:
    """Return the socket with a descriptor above 2, so that no process mistakes it for a standard stream."""
    if end.fileno() > 2:
        return end
    with end:
        return socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


@contextmanager
def _pipe_signal_held() -> Iterator[None]:
    """Block SIGPIPE in this context: a write to a worker that has ended raises an error and does not kill the host."""
    mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGPIPE,))
    try:
        yield
    finally:
        signal.sigtimedwait((signal.SIGPIPE,), 0)  # discards a pending signal
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Create a pipe; return its reading end and its writing end.

    The stack ``reader`` closes the reading end, the stack ``writer`` the writing end.
    """
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _milliseconds_left(deadline: float) -> int:
    """Return the milliseconds until ``deadline``, rounded up; 0 after the deadline."""
    return max(0, math.ceil((deadline - time.monotonic()) * 1000))


@lru_cache(maxsize=1)
def _libc() -> Any:
    return ctypes.CDLL(None)


def _current_cpu() -> int:
    """Return the number of the processor that runs this thread; -1 if it is unknown."""
    try:
        return int(_libc().sched_getcpu())
    except (AttributeError, OSError):
        return -1
