"""Read files that a user named, or that lie in a folder that a user named: anything may stand under such a name.

A pipe would keep the reader waiting, a device never ends, and a file of gigabytes fills the memory. So only regular
files of a bounded size are read, and text has to be UTF-8.
"""

from __future__ import annotations

import errno
import os
import stat
from io import StringIO
from pathlib import Path
from typing import BinaryIO, Final

from spca.errors import FileError

MAX_BYTES: Final = 16 << 20
"""Size of a text file that somebody wrote, at most."""
_MAX_ENV_BYTES: Final = 64 << 10
"""Linux starts no process with a variable of 128 KiB."""


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        FileError: there is none, or it cannot be opened.
    """
    try:
        return open(path, "rb", opener=_regular)
    except OSError as error:
        raise FileError(path, error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in the path
        raise FileError(path, str(error)) from error


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return what is in a regular file of at most ``limit`` bytes.

    Raises:
        FileError: it is larger, no regular file, or cannot be read.
    """
    with opened(path) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise FileError(path, error.strerror or str(error)) from error
    if len(data) > limit:
        size = f"{limit >> 20} MB" if limit >= 1 << 20 else f"{limit >> 10} kB"
        raise FileError(path, f"it has more than {size}")
    return data


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Return the text of such a file without a byte order mark, its lines ended by line feeds.

    Raises:
        FileError: as :func:`read_bytes`, or it is not UTF-8 or holds a NUL.
    """
    try:
        text = read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = f"byte {error.start} is 0x{error.object[error.start]:02x}"
        raise FileError(path, f"it is not UTF-8 text ({bad}): save it as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileError(path, f"line {line} holds a NUL character: save it as UTF-8 text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_env(path: Path) -> None:
    """Complete the environment from a ``.env`` file, if there is one; variables that are set stay.

    Raises:
        FileError: it cannot be read, or is larger than an environment may be.
    """
    if not os.path.lexists(path):
        return
    from dotenv import load_dotenv

    load_dotenv(stream=StringIO(read_text(path, _MAX_ENV_BYTES)), override=False)


def _regular(path: str, flags: int) -> int:
    # Without O_NONBLOCK the opening of a pipe waits for a writer.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
