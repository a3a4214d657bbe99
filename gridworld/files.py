"""Files that appear whole or not at all, and files that others wrote."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path


def read_regular(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first ``size`` bytes of a file: a pipe would keep the reader waiting, a device never ends.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    with open(path, "rb", opener=_open_regular) as file:
        return file.read(size)


def _open_regular(path: str, flags: int) -> int:
    # Without O_NONBLOCK the opening of a pipe waits for a writer.
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, "is not a regular file", path)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader, or a machine that stops, never meets half of it.

    Raises:
        OSError: it cannot be written, or is a device or pipe, which would be replaced; what was there stays.
    """
    target = Path(path)
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "is not a regular file", str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0o022)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:  # no half of a file stays, whatever happened
        Path(name).unlink(missing_ok=True)
        raise
