"""The solver's process, which keeps Unified Planning loaded and forks one child for every attempt.

The process itself never runs a planner, so it always answers. Every attempt begins in the same state, so that a plan
depends only on the PDDL texts. The child for the next attempt is forked in advance.

This process kills a child, and all planners that the child started, if the attempt is over or cancelled. It does the
same if the connection closes, or if the host has ended, even by SIGKILL. The process is a *subreaper*: if a planner
leaves its process group and loses its parent, it becomes a child of this process.

Not covered: if this process itself is killed by SIGKILL, its child dies too, but a running Fast Downward continues up
to its limit of processor time.
"""

from __future__ import annotations

import ctypes
import gc
import json
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

from spca.common.errors import PluginError
from spca.plan import configspace
from spca.plan.engines import AddedEngine
from spca.plan.wire import receive_message, send_message

MEMORY_LIMIT = 4 << 30
"""Bytes of address space for each process of an attempt."""

HOST_CHECK = 1.0
"""Seconds between checks whether the host is alive.

If the host has ended, its connection usually closes before the next check.
"""

_GARBAGE = 50_000
"""Number of allocations between two garbage collections in a child.

The number is large, because each collection would copy the memory that the child shares with its parent.
"""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class _HostGoneError(Exception):
    """The host has ended."""


class _Child(NamedTuple):
    """A forked process that waits for a request: its process id, and this process's connection to it."""

    pid: int
    connection: Connection[Any, Any]


class _Server:
    """Answers the host's requests, each by an attempt in a new child."""

    def __init__(self, connection: Connection[Any, Any], host: int) -> None:
        self._connection = connection
        self._host = host
        self._next: _Child | None = None

    def serve(self) -> NoReturn:
        """Answer requests until the host ends; this method never returns.

        Raises:
            _HostGoneError, EOFError, ConnectionError: the host has ended.
        """
        self._next = _fork()
        while True:
            if self._wait():
                message = receive_message(self._connection)
                if "domain" in message:  # a cancellation may arrive after the end of its attempt
                    self._attempt(message)

    def _attempt(self, request: Mapping[str, Any]) -> None:
        """Let a child make the requested attempt, and pass its reports on to the host.

        If the child gives no result, send its exit code to the host.
        """
        folder = tempfile.mkdtemp(prefix="spca-solver-")
        child = self._next or _fork()
        self._next = None
        has_result = False
        try:
            with suppress(ConnectionError):  # a child that died before the request: its exit code is reported below
                send_message(child.connection, {**request, "folder": folder})
            has_result = self._relay(child.connection)
        finally:
            os.kill(child.pid, signal.SIGKILL)
            _, status = os.waitpid(child.pid, 0)
            end_children()
            child.connection.close()
            shutil.rmtree(folder, ignore_errors=True)
        if not has_result:
            send_message(self._connection, {"ended": os.waitstatus_to_exitcode(status)})
        self._next = _fork()

    def _relay(self, child: Connection[Any, Any]) -> bool:
        """Pass the child's reports on to the host until a result arrives, the host cancels the attempt, or the child
        ends.

        Return whether a result arrived.
        """
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
        """Return which connections have a message: the host's connection and ``others`` are watched.

        If no message arrives within :data:`HOST_CHECK` seconds, return an empty list. Raise _HostGoneError if the host
        has ended.
        """
        ready = wait([self._connection, *others], HOST_CHECK)
        if os.getppid() != self._host:
            raise _HostGoneError
        return ready


def end_children() -> None:
    """Kill and reap the children of this process until no child is left.

    While this goes on, grandchildren that lose their parent become children.
    """
    while True:  # until waitpid finds no child
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            continue
        for child in _list_children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os.waitpid(-1, 0)


def _list_children() -> list[int]:
    """Return the process ids of this process's children."""
    this_pid = str(os.getpid())
    children: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                status = (entry / "stat").read_text(errors="replace")
                # The command's name stands in parentheses and may hold any character; the next fields are the state
                # and the parent's id.
                _state, parent, *_ = status.rpartition(")")[2].split()
                if parent == this_pid:
                    children.append(int(entry.name))
    return children


def _fork() -> _Child:
    """Fork a child that waits for the request of its attempt."""
    ours, theirs = Pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _run_child(theirs)
    theirs.close()
    return _Child(pid, ours)


def _run_child(connection: Connection[Any, Any]) -> NoReturn:
    """Wait for a request, make its attempt in the request's folder, then end this forked process."""
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
    finally:  # this copy of the server must not continue after any error
        os._exit(1)


def _limit(kind: int, value: int) -> None:
    """Set the soft and the hard limit of a resource to ``value``, or to the current hard limit if that is lower."""
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _HostGoneError


def _load(added: Sequence[AddedEngine]) -> None:
    """Import and prepare Unified Planning, then the engines of plugins.

    Raises:
        PluginError: an engine cannot be used.
    """
    configspace.defer()
    from spca.plan import job

    job.prepare()
    for engine in added:
        job.add_engine(engine)
    gc.collect()
    gc.freeze()


def _take_connection() -> Connection[Any, Any]:
    """Return the connection to the host, which was standard input; then connect standard input to the null device."""
    connection: Connection[Any, Any] = Connection(os.dup(0))
    with open(os.devnull) as null_device:
        os.dup2(null_device.fileno(), 0)
    return connection


def main(argv: Sequence[str] | None = None) -> int:
    """Answer the requests of the host; return the exit code.

    The arguments are the host's process id, and JSON with the engines of plugins and where modules are found. The
    connection to the host is standard input.
    """
    host, added = sys.argv[1:] if argv is None else argv
    connection = _take_connection()
    signal.signal(signal.SIGTERM, _stop)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        try:
            plugins = json.loads(added)
            sys.path += [folder for folder in plugins["path"] if folder not in sys.path]
            _load([AddedEngine(**engine) for engine in plugins["engines"]])
        except PluginError as error:
            send_message(connection, {"plugin": str(error)})
            return 1
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
