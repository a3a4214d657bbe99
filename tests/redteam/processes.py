"""Looking at processes, and ending those that an attack has left."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> None:
    """Orphans among the descendants become children of this process instead of vanishing from its sight."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> list[int]:
    """Process ids of the children of ``pid``, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                # The command's name, in parentheses, may hold anything; the parent is the second field behind it.
                if int((entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
    return found


def end_children() -> None:
    """Kill and reap every child; needs :func:`become_subreaper` to be thorough."""
    while True:
        for child in children(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def descriptors(pid: int) -> int:
    """How many are open; -1 where this may not be looked at."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return -1


def memory(pid: int | str, field: str) -> int:
    """Bytes of a field of ``/proc/PID/status``, such as VmRSS or VmHWM; 0 for a process that is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) << 10
    return 0


def starved(pid: int) -> float:
    """Return the seconds in which a process was ready to run and others had the processors; 0.0 if it is gone."""
    waited, threads = 0, list[Path]()
    with suppress(OSError):
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    for thread in threads:
        with suppress(OSError):
            waited += int((thread / "schedstat").read_text(encoding="ascii").split()[1])
    return waited / 1e9


def forget_peak() -> None:
    """Begin VmHWM of this process anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
