"""The fork server (zygote): a process that has loaded Python and the workers' libraries, and forks the workers.

The host starts the zygote as a separate program in ``/`` with an empty environment (except a fixed hash seed).
Therefore no key, environment id or seed of a level was ever in the zygote's memory. Each worker is a fork of the
zygote. The zygote handles descriptors and process ids only; the host sends the content of an episode directly to the
worker.
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
"""Kinds of requests. A request consists of kind, number and payload; its answer of the same number and one integer.

FORK: the payload is the marshalled layers and limits; the worker's two pipe ends come with the request. The integer of
the answer is the pid, or a negative ``errno``. A pidfd comes with the pid if the system has pidfds.

REAP: the payload is the pid of a worker to kill. The integer of the answer is the exit code as in :mod:`subprocess`.
"""

HOST_CHECK: Final = 1.0
"""Seconds between checks whether the host is alive.

If the host has ended, its socket usually closes before the next check.
"""

Work = Callable[[int, int], NoReturn]
"""The program of a worker: a function that takes the pipe end to read from and the pipe end to write to."""

Preparation = Callable[[bytes], Work]
"""Function that returns the worker's program for the payload of a FORK request."""

READY: Final = b"ready"
MAX_REQUEST_BYTES: Final = 1 << 16


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the host's requests; return the exit code.

    The two arguments are the descriptor of the host's socket and the name of the workers' module. The module must
    define ``load_libraries()``, which the zygote calls once, and ``main(incoming, outgoing, layers, limits)``, which
    runs a worker and never returns.
    """
    host = os.getppid()
    number, name = sys.argv[1:] if argv is None else argv
    for inherited in (signal.SIGCHLD, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(inherited, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if hasattr(os, "sched_setscheduler"):  # not the raised priority of a host that drives a robot
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with socket.socket(fileno=int(number)) as control:
        try:
            prepare = _load_workers(name, marshal.loads(control.recv(MAX_REQUEST_BYTES)))  # noqa: S302 - from the host
        except Exception as error:  # boundary: an installation can be broken in any way
            control.send(f"{type(error).__name__}: {error}".encode()[:MAX_REQUEST_BYTES])
            return 1
        control.send(READY)
        control.settimeout(HOST_CHECK)
        with suppress(ConnectionError):
            serve(control, host, prepare)
    return 0


def serve(control: socket.socket, host: int, prepare: Preparation) -> None:
    """Fork and reap workers on request until the process ``host`` has ended; finally end all workers."""
    children: set[int] = set()
    try:
        while True:
            try:
                request, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST_BYTES, 2)
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
            else:  # REAP
                (pid,) = PID.unpack(payload)
                exit_code = _end(pid) if pid in children else 0
                control.send(ANSWER.pack(number, exit_code))
                children.discard(pid)
    finally:
        for pid in children:
            _end(pid)


def _fork(control: socket.socket, number: int, work: Work, descriptors: Sequence[int], children: set[int]) -> None:
    """Fork a worker that runs ``work``, add its pid to ``children``, and answer request ``number``."""
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
    """Run ``work`` in this forked process with the worker's pipe ends; end the process even if an error is raised."""
    try:
        incoming, outgoing = descriptors
        control.close()
        work(incoming, outgoing)
    finally:
        os._exit(1)


def _end(pid: int) -> int:
    """Kill and reap a child; return its exit code."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _load_workers(name: str, path: list[str]) -> Preparation:
    """Import the workers' module and return its preparation function, see :data:`Preparation`.

    Modules are found in the folders ``path``, the host's module path. The environment and the module path are empty
    afterwards.
    """
    sys.path[:] = path
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"  # a process that forks must have only one thread
    worker = import_module(name)
    worker.load_libraries()
    from spca.sandbox.kernel import lockdown
    from spca.sandbox.kernel.limits import Limits

    @lru_cache(maxsize=8)
    def prepare(payload: bytes) -> Work:
        """Return the worker's program.

        The zygote calls this function before the fork, because in a child each changed memory page would be copied.
        """
        layers, limits = marshal.loads(payload)  # noqa: S302 - from the host
        return partial(worker.main, layers=lockdown.Layer(layers), limits=Limits(*limits))

    with suppress(OSError):  # on a system without the sandbox, the first worker reports the error
        lockdown.prepare()
    os.environ.clear()
    sys.path.clear()
    gc.collect()
    gc.freeze()
    return prepare


if __name__ == "__main__":
    sys.exit(main())
