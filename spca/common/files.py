"""Files: those that a user named are read with care, ours are written whole, folders are made and locked.

Anything may stand under a name that a user gave, or that lies in a folder that a user gave.

A pipe would keep the reader waiting, a device never ends, and a file of gigabytes fills the memory. So only regular
files of a bounded size are read, and text has to be UTF-8.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from spca.common.errors import FileError, SettingsError, WorkspaceBusyError

_LOG: Final = logging.getLogger(__name__)

MAX_BYTES: Final = 16 << 20
"""Size of a text file that somebody wrote, at most."""
MAX_RUN_FILE_BYTES: Final = 256 << 20
"""Bytes of a file of a run that are read; the log of a run of 150 levels has a hundredth of it."""
_MAX_LOG_BYTES: Final = 1 << 30

_TEMPORARY: Final = re.compile(r"\.[0-9a-f]{16}\.tmp")


def open_to_read(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        FileError: it does not exist, or cannot be opened.
    """
    try:
        return open(path, "rb", opener=open_regular)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise FileError(path, getattr(error, "strerror", None) or str(error)) from error


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return what is in a regular file of at most ``limit`` bytes.

    Raises:
        FileError: it is larger, no regular file, or cannot be read.
    """
    with open_to_read(path) as file:
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


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace a file so that a reader or a crash sees the old content or the new one, never a part.

    Raises:
        SettingsError: the file system refuses.
    """
    with explain_failure(f"cannot write {path}"):
        replace_file(path, content.encode("utf-8") if isinstance(content, str) else content)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file by the whole of ``data``, or leave it as it is, even if others replace it at the same time.

    Raises:
        OSError: the file system refuses, or the file is a folder, a device or a pipe.
        ValueError: the path holds a NUL.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # as _TEMPORARY has it
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # no part of a file stays, whatever happened
        temporary.unlink(missing_ok=True)
        raise


def remove_torn_files(folder: Path, pattern: str = "**/.*.tmp") -> None:
    """Remove the temporary files that a killed process has left in a folder, whose lock the caller holds.

    Args:
        pattern: which files are looked at, as :meth:`pathlib.Path.glob` has it.
    """
    for path in folder.glob(pattern):
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):  # such a file does no harm
                path.unlink()


def write_line(path: Path, line: str, how: int = os.O_APPEND) -> None:
    """Write a line at the end of a file, or as all of it with ``os.O_TRUNC``; a kill tears that line at most.

    Raises:
        SettingsError: the file system refuses, or has no room for the whole line.
    """
    data = line.encode() + b"\n"
    with explain_failure(f"cannot write {path}"):
        path.parent.mkdir(exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o644)
        with open(descriptor, "wb", buffering=0) as file:
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, [] if there is no file; a torn last line is cut off.

    Raises:
        FileError: it cannot be read, or the torn line cannot be cut off.
    """
    if not os.path.lexists(path):
        return []
    data = read_bytes(path, _MAX_LOG_BYTES)
    *lines, torn = data.split(b"\n")
    if torn:
        _LOG.info("%s: a torn last line of %d bytes is cut off", path, len(torn))
        try:
            os.truncate(path, len(data) - len(torn))
        except OSError as error:
            raise FileError(path, f"its torn last line cannot be cut off: {error.strerror}") from error
    return lines


def check_folder(path: Path) -> None:
    """Refuse a folder that could not be made or written to, without making it.

    Raises:
        SettingsError: says why.
    """
    with explain_failure(f"cannot use folder {path}"):  # a name or path may be too long
        there = next(folder for folder in (path, *path.parents) if folder.exists() or folder.is_symlink())
    if not there.is_dir():
        raise SettingsError(f"cannot use folder {path}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise SettingsError(f"cannot write to folder {there}: permission denied")


def make_folder(path: Path) -> None:
    """Create a folder that can be written to.

    Raises:
        SettingsError: it cannot.
    """
    check_folder(path)
    with explain_failure(f"cannot create folder {path}"):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def lock_folder(folder: Path, what: str, name: str = ".lock") -> Iterator[None]:
    """Hold the lock file ``name`` of a folder; released by the kernel when the process dies.

    Raises:
        WorkspaceBusyError: another process holds it.
        SettingsError: the lock file cannot be opened.
    """
    with explain_failure(f"cannot open {folder / name}"):
        file = open(folder / name, "ab")  # noqa: SIM115 - the next block closes it
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkspaceBusyError(
                f"{what} {folder} is in use by another run: wait for it or choose another folder"
            ) from error
        yield


@contextmanager
def explain_failure(action: str) -> Iterator[None]:
    """Raise SettingsError that begins with ``action`` where the file system refuses what the block does."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise SettingsError(f"{action}: {getattr(error, 'strerror', None) or error}") from error


def open_regular(path: str, flags: int) -> int:
    """Open a regular file as ``opener`` of :func:`open`.

    Raises:
        OSError: it is a folder, a pipe or a device, or cannot be opened.
    """
    # Without O_NONBLOCK the opening of a pipe waits for a writer.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
