"""The fork server: a process with Python, numpy and the allowed modules loaded, and nothing else.

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
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Final, NoReturn

REQUEST: Final = struct.Struct("<cI")
ANSWER: Final = struct.Struct("<Ii")
PID: Final = struct.Struct("<i")
FORK, REAP = b"F", b"R"
"""Kinds of a request, which goes on with its number and a payload; an answer holds the number and one integer.

FORK: marshalled layers and limits, with the worker's two pipe ends; answered by the pid with a pidfd where there are
such things, or by a negative ``errno``. REAP: a pid, which is killed; answered by its exit code as in
:mod:`subprocess`."""

HOST_CHECK: Final = 1.0
"""Seconds between looks whether the host is alive; the closed socket usually tells earlier."""

READY: Final = b"ready"
LONGEST_REQUEST: Final = 1 << 16

_LAZY_MODULES: Final = ("unicodedata", "encodings.latin_1", "encodings.ascii", "traceback", "linecache", "numpy.random")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the socket whose descriptor is the only argument."""
    host = os.getppid()
    (number,) = sys.argv[1:] if argv is None else argv
    for inherited in (signal.SIGCHLD, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(inherited, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if hasattr(os, "sched_setscheduler"):  # a host that drives a robot has a priority that generated code must not have
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with socket.socket(fileno=int(number)) as control:
        try:
            _load(marshal.loads(control.recv(LONGEST_REQUEST)))  # noqa: S302 - from the host
        except Exception as error:  # boundary: an installation can be broken in any way
            control.send(f"{type(error).__name__}: {error}".encode()[:LONGEST_REQUEST])
            return 1
        control.send(READY)
        control.settimeout(HOST_CHECK)
        with suppress(ConnectionError):
            serve(control, host)
    return 0


def serve(control: socket.socket, host: int) -> None:
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
                _fork(control, number, payload, descriptors, children)
            else:
                (pid,) = PID.unpack(payload)
                control.send(ANSWER.pack(number, _end(pid) if pid in children else 0))
                children.discard(pid)
    finally:
        for pid in children:
            _end(pid)


def _fork(control: socket.socket, number: int, request: bytes, descriptors: Sequence[int], children: set[int]) -> None:
    try:
        pid = os.fork()
        if pid == 0:
            _become_worker(control, request, descriptors)
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


def _become_worker(control: socket.socket, request: bytes, descriptors: Sequence[int]) -> NoReturn:
    try:
        incoming, outgoing = descriptors
        from spca.sandbox.kernel.limits import Limits
        from spca.sandbox.kernel.lockdown import Layer
        from spca.sandbox.process.worker import main as work

        control.close()
        layers, limits = marshal.loads(request)  # noqa: S302 - from the host
        work(incoming, outgoing, Layer(layers), Limits(*limits))
    finally:
        os._exit(1)


def _end(pid: int) -> int:
    """Kill and reap a child, which keeps its number until then; its exit code."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _load(path: list[str]) -> None:
    """Import everything that generated code may use, as the host finds it, with a single thread."""
    sys.path[:] = path
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # a process that forks must have one thread
    from spca.code.policy.available import MODULES

    for name in (*MODULES, *_LAZY_MODULES, "spca.sandbox.process.worker"):
        import_module(name)
    _warm_up()
    from spca.sandbox.kernel import lockdown

    with suppress(OSError):  # a system without the sandbox is found out by the first worker
        lockdown.prepare()
    os.environ.clear()
    sys.path.clear()
    gc.collect()
    gc.freeze()


def _warm_up() -> None:
    """Let libraries load what they load on first use; a worker can open no file."""
    import numpy as np

    words = np.array(["door red", "key blue"])
    np.char.startswith(words, "door")
    np.unique(words, return_counts=True)
    np.random.default_rng(0).integers(9)
    f"{words!r} {np.arange(3.0)} {np.linalg.norm(np.ones(2))}".encode("latin-1")


if __name__ == "__main__":
    sys.exit(main())
