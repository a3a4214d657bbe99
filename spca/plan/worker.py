"""The solver's process: keeps Unified Planning loaded and forks one child for every attempt.

The process itself never runs a planner, so it always answers, and every attempt begins in the same state: a plan
depends on its texts alone. The child of the next attempt is forked ahead. A child, and whatever planners it starts, are
killed when the attempt is over or cancelled, when the connection closes and when the host is gone, even by SIGKILL:
the process is a *subreaper*, so a planner that leaves its process group and loses its parent becomes a child of this
one.
What is not covered: if this very process is killed by SIGKILL, its child dies with it, but a Fast Downward that runs
at that moment goes on until its limit of processor time.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from spca.plan import configspace
from spca.plan.wire import receive_message, send_message

MEMORY_LIMIT = 4 << 30
"""Bytes of address space that an attempt may use, for each of its processes."""

HOST_CHECK = 1.0
"""Seconds between looks whether the host is alive; the closed connection usually tells earlier."""

_GARBAGE = 50_000
"""Allocations between collections in a child, which lives shortly: looking through all of memory would copy it."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class _HostGoneError(Exception):
    """Nobody is left to answer to."""


class _Child(NamedTuple):
    """A process that waits for its request: its id, and the connection to it."""

    pid: int
    connection: Connection[Any, Any]


class _Server:
    def __init__(self, connection: Connection[Any, Any], host: int) -> None:
        self._connection = connection
        self._host = host
        self._next: _Child | None = None

    def serve(self) -> NoReturn:
        """Answer requests until the host is gone.

        Raises:
            _HostGoneError, EOFError, ConnectionError: always, in the end.
        """
        self._next = _fork()
        while True:
            if self._wait():
                message = receive_message(self._connection)
                if "domain" in message:  # a cancellation may come late, when its attempt is over
                    self._attempt(message)

    def _attempt(self, request: Mapping[str, Any]) -> None:
        """Have a child attempt it; the last message is its result or, where there is none, how it ended."""
        folder = tempfile.mkdtemp(prefix="spca-solver-")
        child = self._next or _fork()
        self._next = None
        told = False
        try:
            with suppress(ConnectionError):  # it has died while it waited: that is how it ended
                send_message(child.connection, {**request, "folder": folder})
            told = self._relay(child.connection)
        finally:
            os.kill(child.pid, signal.SIGKILL)
            _, status = os.waitpid(child.pid, 0)
            end_children()
            child.connection.close()
            shutil.rmtree(folder, ignore_errors=True)
        if not told:
            send_message(self._connection, {"ended": os.waitstatus_to_exitcode(status)})
        self._next = _fork()

    def _relay(self, child: Connection[Any, Any]) -> bool:
        """Pass on what the child reports until it finishes or is cancelled; return whether there was a result."""
        while True:
            ready = self._wait(child)
            if self._connection in ready and "cancel" in receive_message(self._connection):
                return False
            if child in ready:
                try:
                    report = receive_message(child)
                except (EOFError, OSError):  # killed, maybe in the middle of a message
                    return False
                send_message(self._connection, report)
                if "status" in report:
                    return True

    def _wait(self, *others: Connection[Any, Any]) -> list[Any]:
        ready = wait([self._connection, *others], HOST_CHECK)
        if os.getppid() != self._host:
            raise _HostGoneError
        return ready


def end_children() -> None:
    """Kill and reap every child; orphaned grandchildren become children, so in the end none is left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            continue
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os.waitpid(-1, 0)


def _children() -> list[int]:
    own = str(os.getpid())
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # The command's name, in parentheses, may hold anything; the parent is the second field behind it.
                if (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1] == own:
                    found.append(int(entry.name))
    return found


def _fork() -> _Child:
    ours, theirs = Pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _run_child(theirs)
    theirs.close()
    return _Child(pid, ours)


def _run_child(connection: Connection[Any, Any]) -> NoReturn:
    """Carry out one attempt in a process and a folder of its own, then end the process."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _limit(resource.RLIMIT_AS, MEMORY_LIMIT)
        _limit(resource.RLIMIT_CORE, 0)
        gc.set_threshold(_GARBAGE)
        from spca.plan import job

        job.rehearse()
        request = receive_message(connection)
        _limit(resource.RLIMIT_CPU, request["cpu_seconds"])
        os.chdir(request["folder"])
        os.environ["TMPDIR"] = tempfile.tempdir = request["folder"]
        job.attempt(
            request["domain"],
            request["problem"],
            request["engines"],
            partial(send_message, connection),
        )
        os._exit(0)
    finally:  # whatever happened, this copy of the server must not go on
        os._exit(1)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _HostGoneError


def _load() -> None:
    """Import and prepare Unified Planning."""
    configspace.defer()
    from spca.plan import job

    job.prepare()
    gc.collect()
    gc.freeze()


def _take_connection() -> Connection[Any, Any]:
    """Return the connection to the host, which came as standard input; that leads nowhere from now on."""
    connection: Connection[Any, Any] = Connection(os.dup(0))
    with open(os.devnull) as nowhere:
        os.dup2(nowhere.fileno(), 0)
    return connection


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the process whose id is the only argument, over standard input."""
    (host,) = sys.argv[1:] if argv is None else argv
    connection = _take_connection()
    signal.signal(signal.SIGTERM, _stop)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        try:
            _load()
        except Exception as error:  # boundary: an installation can be broken in any way
            send_message(connection, {"failed": f"{type(error).__name__}: {error}"})
            return 1
        send_message(connection, {"ready": True})
        _Server(connection, int(host)).serve()
    except (_HostGoneError, EOFError, ConnectionError):
        return 0
    finally:
        end_children()


if __name__ == "__main__":
    sys.exit(main())
