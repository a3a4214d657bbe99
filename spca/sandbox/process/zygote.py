"""The fork server: a process with Python and what its workers need loaded, and nothing else.

It is a program of its own, started with an empty environment (but for a fixed hash seed) in ``/``, so that no key, no
environment id and no seed was ever in its memory. Each worker is a fork of it. It handles descriptors and process ids
only; what an episode is about goes directly from the host to the worker.
"""

from __future__ import annotations

import errno
import gc
import marshal
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from typing import Final, NoReturn

REQUEST: Final = struct.Struct("<cI")
ANSWER: Final = struct.Struct("<Ii")
PID: Final = struct.Struct("<i")
FORK = b"F"
REAP = b"R"
"""Kinds of a request, which goes on with its number and a payload; an answer holds the number and one integer.

FORK: marshalled layers and limits, with the worker's two pipe ends; answered by the pid with a pidfd where there are
such things, or by a negative ``errno``. REAP: a pid, which is killed; answered by its exit code as in
:mod:`subprocess`."""

HOST_CHECK: Final = 1.0
"""Seconds between looks whether the host is alive; the closed socket usually tells earlier."""

Work = Callable[[int, int], NoReturn]
"""What a worker does with its two pipe ends."""

Preparation = Callable[[bytes], Work]
"""Makes that of the payload of a request to fork."""

READY: Final = b"ready"
LONGEST_REQUEST: Final = 1 << 16


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a socket: its descriptor and the name of the workers' module are the arguments.

    That module has ``load_libraries()``, called here once, and ``main(incoming, outgoing, layers, limits)``, which each
    worker ends with.
    """
    host = os.getppid()
    number, name = sys.argv[1:] if argv is None else argv
    for inherited in (signal.SIGCHLD, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(inherited, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if hasattr(os, "sched_setscheduler"):  # a host that drives a robot has a priority that generated code must not have
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with socket.socket(fileno=int(number)) as control:
        try:
            prepare = _load_workers(name, marshal.loads(control.recv(LONGEST_REQUEST)))  # noqa: S302 - from the host
        except Exception as error:  # boundary: an installation can be broken in any way
            control.send(f"{type(error).__name__}: {error}".encode()[:LONGEST_REQUEST])
            return 1
        control.send(READY)
        control.settimeout(HOST_CHECK)
        with suppress(ConnectionError):
            serve(control, host, prepare)
    return 0


def serve(control: socket.socket, host: int, prepare: Preparation) -> None:
    """Fork and reap on request until the process ``host`` is gone; then no worker is left."""
    children: set[int] = set()
    try:
        while True:
            try:
                request, descriptors, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 2)
            except TimeoutError:
                if os.getppid() != host:
                    return
                continue
            if not request:
                return
            kind, number = REQUEST.unpack_from(request)
            payload = request[REQUEST.size :]
            if kind == FORK:
                _fork(control, number, prepare(payload), descriptors, children)
            else:
                (pid,) = PID.unpack(payload)
                control.send(ANSWER.pack(number, _end(pid) if pid in children else 0))
                children.discard(pid)
    finally:
        for pid in children:
            _end(pid)


def _fork(control: socket.socket, number: int, work: Work, descriptors: Sequence[int], children: set[int]) -> None:
    try:
        pid = os.fork()
        if pid == 0:
            _become_worker(control, work, descriptors)
        children.add(pid)
    except OSError as error:
        control.send(ANSWER.pack(number, -(error.errno or errno.EAGAIN)))
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    if pidfd < 0:
        control.send(ANSWER.pack(number, pid))
    else:
        socket.send_fds(control, [ANSWER.pack(number, pid)], [pidfd])
        os.close(pidfd)


def _become_worker(control: socket.socket, work: Work, descriptors: Sequence[int]) -> NoReturn:
    try:
        incoming, outgoing = descriptors
        control.close()
        work(incoming, outgoing)
    finally:
        os._exit(1)


def _end(pid: int) -> int:
    """Kill and reap a child, which keeps its number until then; its exit code."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _load_workers(name: str, path: list[str]) -> Preparation:
    """Import the workers' module with all that they use, as the host finds it, with a single thread."""
    sys.path[:] = path
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"  # a process that forks must have one thread
    worker = import_module(name)
    worker.load_libraries()
    from spca.sandbox.kernel import lockdown
    from spca.sandbox.kernel.limits import Limits

    @lru_cache(maxsize=8)
    def prepare(payload: bytes) -> Work:
        """Before the fork: what a child does first costs it a copy of each page that it touches."""
        layers, limits = marshal.loads(payload)  # noqa: S302 - from the host
        return partial(worker.main, layers=lockdown.Layer(layers), limits=Limits(*limits))

    with suppress(OSError):  # a system without the sandbox is found out by the first worker
        lockdown.prepare()
    os.environ.clear()
    sys.path.clear()
    gc.collect()
    gc.freeze()
    return prepare


if __name__ == "__main__":
    sys.exit(main())
