"""The solver's process: keeps Unified Planning loaded and forks one child for every attempt.

The process itself never runs a planner, so it always answers, and every attempt begins in the same state: a plan
depends on its texts alone. The child of the next attempt is forked ahead. A child, and whatever planners it starts, are
killed when the attempt is over or cancelled, when the request pipe closes and when the host is gone, even by SIGKILL:
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
import selectors
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from spca.plan import configspace
from spca.plan.wire import Lines, decode, encode, read_chunk, write_all

MEMORY_LIMIT = 4 << 30
"""Bytes of address space that an attempt may use, for each of its processes."""

HOST_CHECK = 1.0
"""Seconds between looks whether the host is alive; the closed pipe usually tells earlier."""

_GARBAGE = 50_000
"""Allocations between collections in a child, which lives shortly: looking through all of memory would copy it."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class _HostGoneError(Exception):
    """Nobody is left to answer to."""


class _Child(NamedTuple):
    """A process that waits for its request: its id, the pipe ends to write to and to read from."""

    pid: int
    request: int
    reports: int


class _Server:
    def __init__(self, requests: int, answers: int, host: int) -> None:
        self._requests = requests
        self._answers = answers
        self._host = host
        self._next: _Child | None = None
        self._lines = Lines()
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)

    def send(self, message: Mapping[str, object]) -> None:
        write_all(self._answers, encode(message))

    def serve(self) -> NoReturn:
        """Answer requests until the host is gone.

        Raises:
            _HostGoneError: always, in the end.
        """
        self._next = _fork()
        while True:
            for line in self._request_lines() if self._wait() else ():
                message = decode(line)
                if "domain" in message:  # a cancellation may come late, when its attempt is over
                    self._attempt(message)

    def _attempt(self, request: Mapping[str, Any]) -> None:
        """Have a child attempt it; the last message is its result or, where there is none, how it ended."""
        folder = tempfile.mkdtemp(prefix="spca-solver-")
        child, self._next = self._next or _fork(), None
        told = False
        try:
            with suppress(BrokenPipeError):  # it has died while it waited: that is how it ended
                write_all(child.request, encode({**request, "folder": folder}))
            told = self._relay(child.reports)
        finally:
            os.kill(child.pid, signal.SIGKILL)
            _, status = os.waitpid(child.pid, 0)
            end_children()
            os.close(child.request)
            os.close(child.reports)
            shutil.rmtree(folder, ignore_errors=True)
        if not told:
            self.send({"ended": os.waitstatus_to_exitcode(status)})
        self._next = _fork()

    def _relay(self, reading: int) -> bool:
        """Pass on what the child reports until it has finished or is to be cancelled; whether there was a result."""
        reports = Lines()
        self._selector.register(reading, selectors.EVENT_READ)
        try:
            while True:
                ready = self._wait()
                if self._requests in ready and any("cancel" in decode(line) for line in self._request_lines()):
                    return False
                if reading in ready:
                    chunk = read_chunk(reading)
                    if not chunk:
                        return False
                    for line in reports.feed(chunk):
                        write_all(self._answers, line + b"\n")
                        if "status" in decode(line):
                            return True
        finally:
            self._selector.unregister(reading)

    def _wait(self) -> set[int]:
        ready = {key.fd for key, _ in self._selector.select(HOST_CHECK)}
        if os.getppid() != self._host:
            raise _HostGoneError
        return ready

    def _request_lines(self) -> list[bytes]:
        chunk = read_chunk(self._requests)
        if not chunk:
            raise _HostGoneError
        return list(self._lines.feed(chunk))


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
    asked, request = os.pipe()
    reports, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(request)
        _run_child(asked, writing)
    os.close(asked)
    os.close(writing)
    return _Child(pid, request, reports)


def _run_child(asked: int, writing: int) -> NoReturn:
    """One attempt in a process of its own, in a folder of its own; ends the process."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _limit(resource.RLIMIT_AS, MEMORY_LIMIT)
        _limit(resource.RLIMIT_CORE, 0)
        gc.set_threshold(_GARBAGE)
        from spca.plan import job

        job.rehearse()
        request = _only_line(asked)
        _limit(resource.RLIMIT_CPU, request["cpu_seconds"])
        os.chdir(request["folder"])
        os.environ["TMPDIR"] = tempfile.tempdir = request["folder"]
        job.attempt(
            request["domain"],
            request["problem"],
            request["engines"],
            lambda message: write_all(writing, encode(message)),
        )
        os._exit(0)
    finally:  # whatever happened, this copy of the server must not go on
        os._exit(1)


def _only_line(fd: int) -> dict[str, Any]:
    lines = Lines()
    while chunk := read_chunk(fd):
        for line in lines.feed(chunk):
            return decode(line)
    os._exit(0)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _HostGoneError


def _load(host: int) -> None:
    """Import and prepare Unified Planning; ends the process when the host is gone before that is done."""

    def look(_signal: int, _frame: FrameType | None) -> None:
        if os.getppid() != host:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, HOST_CHECK, HOST_CHECK)
    configspace.defer()
    from spca.plan import job

    job.prepare()
    signal.setitimer(signal.ITIMER_REAL, 0)
    gc.collect()
    gc.freeze()


def _private_pipes() -> tuple[int, int]:
    """Request and answer pipes; the standard streams lead nowhere from now on, whatever libraries print."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    return requests, answers


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the process whose id is the only argument, over the standard streams."""
    (host,) = sys.argv[1:] if argv is None else argv
    server = _Server(*_private_pipes(), int(host))
    signal.signal(signal.SIGTERM, _stop)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        try:
            _load(int(host))
        except Exception as error:  # boundary: an installation can be broken in any way
            server.send({"failed": f"{type(error).__name__}: {error}"})
            return 1
        server.send({"ready": True})
        server.serve()
    except (_HostGoneError, BrokenPipeError):
        return 0
    finally:
        end_children()


if __name__ == "__main__":
    sys.exit(main())
