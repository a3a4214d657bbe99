"""Runs a command as user 65534 although Python or the checkout lie below a folder that only root may enter.

``python -m tests.redteam.unprivileged COMMAND...``, as root. In a mount namespace of its own, every closed folder above
Python or the checkout is covered by an empty one that holds nothing but the way to them. Nothing outside changes.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

NOBODY: Final = 65534

_ROOT: Final = Path(__file__).resolve().parents[2]
_CLONE_NEWNS: Final = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18


def needed() -> tuple[Path, ...]:
    """Folders that the command has to reach: Python's, the virtual environment's, the checkout."""
    return tuple(dict.fromkeys(Path(path).resolve() for path in (sys.base_prefix, sys.prefix, _ROOT)))


def closed_ancestor(path: Path) -> Path | None:
    """The topmost folder above ``path`` that not everybody may enter."""
    for ancestor in reversed(path.parents):
        if not stat.S_IMODE(ancestor.stat().st_mode) & stat.S_IXOTH:
            return ancestor
    return None


def open_up(paths: Sequence[Path], staging: Path) -> None:
    """Make ``paths`` reachable for everybody, for this process and its descendants only.

    Raises:
        OSError: mounts are not permitted here.
    """
    behind: dict[Path, list[Path]] = {}
    for path in paths:
        ancestor = closed_ancestor(path)
        if ancestor is not None:
            behind.setdefault(ancestor, []).append(path)
    if not behind:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "no mount namespace of its own")
    _mount(libc, "none", Path("/"), None, _MS_REC | _MS_PRIVATE)
    for ancestor, hidden in behind.items():
        kept = [staging / f"{len(os.listdir(staging)) + at}" for at, _ in enumerate(hidden)]
        for path, place in zip(hidden, kept, strict=True):
            place.mkdir()
            _mount(libc, str(path), place, None, _MS_BIND | _MS_REC)
        _mount(libc, "none", ancestor, "tmpfs", 0, "mode=755")
        for path, place in zip(hidden, kept, strict=True):
            path.mkdir(parents=True, exist_ok=True)
            _mount(libc, str(place), path, None, _MS_BIND | _MS_REC)


def _mount(libc: ctypes.CDLL, source: str, target: Path, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, str(target), kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), None if data is None else data.encode()):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"mount on {target}")


def main(argv: Sequence[str] | None = None) -> int:
    """Become user 65534 and the command."""
    command = list(sys.argv[1:] if argv is None else argv)
    with tempfile.TemporaryDirectory(prefix="redteam-") as staging:
        child = os.fork()
        if child == 0:
            _become(command, Path(staging))
        _, status = os.waitpid(child, 0)  # by then its mounts are gone
    return os.waitstatus_to_exitcode(status)


def _become(command: list[str], staging: Path) -> NoReturn:
    try:
        open_up(needed(), staging)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.execv(command[0], command)  # noqa: S606 - the command of the caller
    except OSError as error:
        print(f"cannot become user {NOBODY}: {error}", file=sys.stderr)
    finally:
        os._exit(126)


if __name__ == "__main__":
    sys.exit(main())
