"""The sandbox as its host sees it: the zygote's process, and a handle for each worker."""

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
"""Seconds that loading the zygote may take."""

ANSWER_LIMIT: Final = 10.0
"""Seconds for a fork or for the death of a worker that was killed, on a machine that is very busy."""

STOP_LIMIT: Final = 3.0
"""Seconds that the process has to end its workers before it is killed itself."""

EPISODES: Final = "spca.sandbox.process.worker"
"""Module of the workers that carry out plans."""

_ROOT: Final = Path(__file__).parents[3]
_CHUNK: Final = 1 << 12
_NOWHERE: Final = -2


class GoneError(Exception):
    """The worker has closed its pipe."""


class Zygote:
    """A running :mod:`spca.sandbox.process.zygote`; making one starts it, :meth:`worker` waits until it is ready."""

    def __init__(self, module: str = EPISODES) -> None:
        """Start the process.

        Args:
            module: what its workers do, see :func:`spca.sandbox.process.zygote.main`.

        Raises:
            SandboxError: the system does not let it.
        """
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._ready = self._broken = False
        self._asked = 0
        try:
            self._control, theirs = map(_above_standard, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            with theirs:
                self._process = _start(theirs.fileno(), module)
        except OSError as error:
            raise SandboxError(f"the sandbox's process cannot be started: {error}") from error
        self._control.settimeout(START_LIMIT)
        path = [entry for entry in sys.path if os.path.isabs(entry)]  # a relative one may lead elsewhere by now
        with suppress(OSError):  # one that died at once is noticed when it is first needed
            self._control.send(marshal.dumps([*path, str(_ROOT)]), socket.MSG_NOSIGNAL)

    @property
    def pid(self) -> int:
        return self._process.pid

    def usable(self) -> bool:
        """Whether it still runs, for this process, and was never left in the middle of a request."""
        return self._owner == os.getpid() and not self._broken and self._process.poll() is None

    def await_ready(self) -> None:
        """Wait until everything is loaded.

        Raises:
            SandboxError: it cannot be loaded.
        """
        with self._lock, self._unless_broken():
            if self._ready:
                return
            try:
                answer = self._control.recv(zygote.LONGEST_REQUEST)
            except OSError as error:
                raise SandboxError(f"the sandbox's process did not start: {error}") from error
            if answer != zygote.READY:
                raise SandboxError(f"the sandbox's process did not start: {answer.decode() or 'it ended at once'}")
            self._control.settimeout(ANSWER_LIMIT)
            self._ready = True
            _LOG.debug("the sandbox's process %d is ready", self.pid)

    def worker(self, layers: Layer, limits: Limits) -> Worker:
        """Fork a worker and wait until it has locked itself in.

        Raises:
            SandboxError: it cannot be forked, or one of the layers cannot be put on.
        """
        self.await_ready()
        payload = marshal.dumps((int(layers), astuple(limits)))
        try:
            with ExitStack() as ours, ExitStack() as theirs:
                incoming, to_worker = _pipe(theirs, ours)
                from_worker, outgoing = _pipe(ours, theirs)
                pid, pidfd = self._ask(zygote.FORK, payload, [incoming, outgoing])
                if pid <= 1:
                    raise SandboxError(f"a sandbox worker cannot be forked: {os.strerror(-pid)}")
                ours.pop_all()
            worker = Worker(self, pid, pidfd, to_worker, from_worker)
        except OSError as error:
            raise SandboxError(f"a sandbox worker cannot be started: {error}") from error
        with ExitStack() as unless_locked:
            unless_locked.callback(worker.close)
            worker.await_locked(layers)
            unless_locked.pop_all()
        return worker

    def reap(self, pid: int) -> int | None:
        """End a worker for good; its exit code, None when nobody is left who knows it."""
        try:
            return self._ask(zygote.REAP, zygote.PID.pack(pid), [])[0]
        except SandboxError:
            return None

    def close(self) -> None:
        """End the process and all of its workers; idempotent. A fork of the host only lets go of it."""
        if self._owner != os.getpid():
            self._control.close()
            return
        if not self._ready:
            self._process.kill()
        with suppress(OSError):  # not only closed: a fork of the host may hold it as well
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()  # nobody is left to ask: it kills and reaps its workers
        try:
            self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            _LOG.info("the sandbox's process %d is killed: it did not end in %g s", self.pid, STOP_LIMIT)
            self._process.kill()
            self._process.wait()

    def _ask(self, kind: bytes, payload: bytes, descriptors: list[int]) -> tuple[int, int | None]:
        """What is answered, and the descriptor that comes with it."""
        with self._lock, self._unless_broken():
            self._asked += 1
            try:
                request = zygote.REQUEST.pack(kind, self._asked) + payload
                socket.send_fds(self._control, [request], descriptors, socket.MSG_NOSIGNAL)
                answer, received, _, _ = socket.recv_fds(self._control, zygote.ANSWER.size, 1)
                number, value = zygote.ANSWER.unpack(answer)
            except (OSError, struct.error) as error:
                raise SandboxError(f"the sandbox's process does not answer: {error}") from error
            if number != self._asked:
                raise SandboxError("the sandbox's process answers another question")
            return value, received[0] if received else None

    @contextmanager
    def _unless_broken(self) -> Iterator[None]:
        """A request that is left in the middle, by whatever error or interrupt, is the last one."""
        if self._broken or self._owner != os.getpid():
            raise SandboxError("the sandbox's process cannot be asked any more")
        self._broken = True
        yield
        self._broken = False


class Worker:
    """One worker process and the pipes to it. Not for use by several threads at once.

    Attributes:
        pid: its process id.
        closed: whether it was ended for good.
        exit_code: once closed, as in :mod:`subprocess`: negative for a signal; None when it is not known.
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
        self._deadly_pipe = signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL
        self._cpu = _NOWHERE
        self._here = frozenset[int]()
        self._anywhere = set[int]()
        self.closed = False

    def await_locked(self, layers: Layer) -> None:
        """Wait until the worker says that it is locked in, then look whether it is.

        Raises:
            SandboxError: it is not.
        """
        frames = framing.Frames()
        deadline = time.monotonic() + ANSWER_LIMIT
        try:
            while (frame := frames.next()) is None:
                frames.feed(self.receive(deadline))
        except (GoneError, TimeoutError, framing.WireError) as error:
            raise SandboxError(f"a sandbox worker did not start: {error}") from error
        if frame.kind != framing.READY:
            said = frame.payload.decode(errors="replace") if frame.kind == framing.OPEN else "it says something else"
            raise SandboxError(f"a sandbox worker could not be locked in: {said}")
        if Layer.SECCOMP in layers:
            status = self.status()
            if status.get("Seccomp") != "2" or status.get("NoNewPrivs") != "1":
                raise SandboxError("a sandbox worker says that it is locked in, but the kernel knows nothing of it")

    def status(self) -> dict[str, str]:
        """Fields of ``/proc/PID/status``; empty when it cannot be read."""
        with suppress(OSError):
            text = Path(f"/proc/{self.pid}/status").read_text(errors="replace")
            return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}
        return {}

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of ``data``.

        Raises:
            GoneError: nobody reads it any more.
            TimeoutError: ``time.monotonic()`` passed ``deadline`` first.
        """
        if self._deadly_pipe:
            with _pipe_signal_held():
                self._send(data, deadline)
        else:
            self._send(data, deadline)

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError as error:
                if not self._writable.poll(_left(deadline)):
                    raise TimeoutError("it does not read") from error
            except BrokenPipeError as error:
                raise GoneError("it has ended") from error

    def receive(self, deadline: float) -> bytes:
        """Some bytes.

        Raises:
            GoneError: there are no more.
            TimeoutError: ``time.monotonic()`` passed ``deadline`` first.
        """
        try:
            data = os.read(self._from, _CHUNK)
        except BlockingIOError as error:
            if not self._readable.poll(_left(deadline)):
                raise TimeoutError("no answer") from error
            data = os.read(self._from, _CHUNK)
        if not data:
            raise GoneError("it has ended")
        return data

    def pending(self) -> bool:
        """Whether there is something to receive, or the worker has ended."""
        return bool(self._readable.poll(0))

    def draw_near(self) -> None:
        """Keep the worker, and this thread until :meth:`part`, on the processor that this thread is found on.

        The two take turns; a hand-over between processors has to wake one up, which costs a virtual machine ten times
        as much as the answer itself. It is the worker that follows: it sleeps, while a running thread is stopped to be
        moved, which on a busy machine takes longer than the answer.
        """
        cpu = _current_cpu()
        if cpu != self._cpu:
            self._settle(cpu)
        if self._here:
            try:
                os.sched_setaffinity(0, self._here)
            except OSError:  # that processor is not for this thread any more
                self._here = frozenset()
                self._cpu = _NOWHERE

    def _settle(self, cpu: int) -> None:
        self._here = frozenset()
        self._cpu = cpu
        if cpu >= 0:
            with suppress(OSError):
                self._anywhere = os.sched_getaffinity(0)
                os.sched_setaffinity(self.pid, {cpu})
                self._here = frozenset((cpu,))

    def part(self) -> None:
        """Let this thread run on any processor again."""
        if self._here:
            with suppress(OSError):
                os.sched_setaffinity(0, self._anywhere)

    def cpu_seconds(self) -> float:
        """Processor time used so far; 0.0 when it cannot be known."""
        with suppress(OSError):
            return time.clock_gettime((~self.pid << 3) | 2)  # the clock of another process, see clock_getcpuclockid(3)
        return 0.0

    def ask_where(self) -> None:
        """Have the interpreter write where it is."""
        self._signal(DUMP_SIGNAL)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill and reap the process, and close everything; idempotent."""
        if self.closed:
            return
        self.closed = True
        self.kill()
        try:
            self.exit_code = self._parent.reap(self.pid)
        finally:  # an interrupt may come while it is waited for
            for descriptor in (self._to, self._from, *([] if self._pidfd is None else [self._pidfd])):
                os.close(descriptor)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._pidfd is None:
                os.kill(self.pid, number)  # its parent reaps it only when it is told to: the number is still its own
            else:
                signal.pidfd_send_signal(self._pidfd, number)


def _start(control: int, module: str) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-B", "-X", "utf8", zygote.__file__, str(control), module],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PYTHONHASHSEED": "0", **kept},  # sets of words are gone through in the same order every time
        pass_fds=[control],
        start_new_session=True,  # Ctrl-C is for the host, which then stops this process
    )


def _above_standard(end: socket.socket) -> socket.socket:
    """A socket that is no standard stream, even where those are closed."""
    if end.fileno() > 2:
        return end
    with end:
        return socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


@contextmanager
def _pipe_signal_held() -> Iterator[None]:
    """For a host that dies of SIGPIPE: writing to a worker that has ended is an error and nothing more."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGPIPE,))
    try:
        yield
    finally:
        signal.sigtimedwait((signal.SIGPIPE,), 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with the owners of the reading and the writing end."""
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _left(deadline: float) -> int:
    """Milliseconds until ``deadline``, rounded up."""
    return max(0, math.ceil((deadline - time.monotonic()) * 1000))


@lru_cache(maxsize=1)
def _library() -> Any:
    return ctypes.CDLL(None)


def _current_cpu() -> int:
    """The processor that this thread runs on, -1 where the system does not tell."""
    try:
        return int(_library().sched_getcpu())
    except (AttributeError, OSError):
        return -1
