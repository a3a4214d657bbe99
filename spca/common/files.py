"""Safe reading of files that a user names, atomic writing, and creation and locking of folders.

The path that a user names may lead to anything. A pipe would block the reader, a device may never end, and a file of
gigabytes would fill the memory. Therefore only regular files of a bounded size are read, and text has to be UTF-8.
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
"""Largest size of a text file written by a user."""
MAX_RUN_FILE_BYTES: Final = 256 << 20
"""Largest size of a file of a run; the log of a run of 150 levels is a hundredth as large."""
_MAX_LOG_BYTES: Final = 1 << 30

_TEMPORARY: Final = re.compile(r"\.[0-9a-f]{16}\.tmp")


def open_to_read(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        FileError: the file does not exist, is not a regular file, or cannot be opened.
    """
    try:
        return open(path, "rb", opener=open_regular)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise FileError(path, getattr(error, "strerror", None) or str(error)) from error


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return the contents of a regular file of at most ``limit`` bytes.

    Raises:
        FileError: the file is larger, is not a regular file, or cannot be read.
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
    """Return the text of a file; a byte order mark is dropped, and all lines end with a line feed.

    Raises:
        FileError: see :func:`read_bytes`; or the file is not UTF-8, or contains a NUL.
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
    """Replace a file in one step: readers see the whole old content or the whole new content, even after a crash.

    Raises:
        SettingsError: the file system refuses.
    """
    with explain_failure(f"cannot write {path}"):
        replace_file(path, content.encode("utf-8") if isinstance(content, str) else content)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file by ``data`` as a whole or not at all, even if other processes replace it at the same time.

    Raises:
        OSError: the file system refuses, or the file is a folder, a device or a pipe.
        ValueError: the path holds a NUL.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # matches _TEMPORARY
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:  # also after an interrupt no temporary file stays
        temporary.unlink(missing_ok=True)
        raise


def remove_torn_files(folder: Path, pattern: str = "**/.*.tmp") -> None:
    """Remove from a folder the temporary files of a killed process; the caller must hold the lock of the folder.

    Args:
        pattern: glob pattern of the files to consider, in the form of :meth:`pathlib.Path.glob`.
    """
    for path in folder.glob(pattern):
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):  # such a file does no harm
                path.unlink()


def write_line(path: Path, line: str, how: int = os.O_APPEND) -> None:
    """Append a line to a file; or replace the content by the line if ``how`` is ``os.O_TRUNC``.

    If the process is killed meanwhile, at most this line is incomplete.

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
    """Return the complete lines of a file, and cut an incomplete last line off the file.

    Return [] if the file does not exist.

    Raises:
        FileError: the file cannot be read, or its incomplete line cannot be cut off.
    """
    if not os.path.lexists(path):
        return []
    data = read_bytes(path, _MAX_LOG_BYTES)
    *lines, torn = data.split(b"\n")
    if torn:
        _cut_torn_line(path, len(data) - len(torn), len(torn))
    return lines


def read_whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the complete lines of a file of any size, and cut an incomplete last line off the file.

    Yield nothing if the file does not exist.

    Raises:
        FileError: see :func:`whole_lines`.
    """
    if not os.path.lexists(path):
        return
    with open_to_read(path) as file:
        end = 0
        for line in file:
            if not line.endswith(b"\n"):
                _cut_torn_line(path, end, len(line))
                return
            end += len(line)
            yield line[:-1]


def _cut_torn_line(path: Path, end: int, torn: int) -> None:
    """Cut an incomplete last line of ``torn`` bytes off a file, which then has ``end`` bytes."""
    _LOG.info("%s: a torn last line of %d bytes is cut off", path, torn)
    try:
        os.truncate(path, end)
    except OSError as error:
        raise FileError(path, f"its torn last line cannot be cut off: {error.strerror}") from error


def check_folder(path: Path) -> None:
    """Raise an error if a folder cannot be created or written to; do not create the folder.

    Raises:
        SettingsError: the folder cannot be used; the message says why.
    """
    with explain_failure(f"cannot use folder {path}"):  # a name or path may be too long
        nearest = next(folder for folder in (path, *path.parents) if folder.exists() or folder.is_symlink())
    if not nearest.is_dir():
        raise SettingsError(f"cannot use folder {path}: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise SettingsError(f"cannot write to folder {nearest}: permission denied")


def make_folder(path: Path) -> None:
    """Create a folder unless it exists.

    Raises:
        SettingsError: the folder cannot be created or written to.
    """
    check_folder(path)
    with explain_failure(f"cannot create folder {path}"):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def lock_folder(folder: Path, what: str, name: str = ".lock") -> Iterator[None]:
    """Hold a lock on a folder until the block ends; the kernel releases the lock if the process dies.

    Args:
        what: word for the folder in error messages, such as "run".
        name: name of the lock file in the folder.

    Raises:
        WorkspaceBusyError: another process holds the lock.
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
    """Turn an error of the file system within the block into a SettingsError that begins with ``action``."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise SettingsError(f"{action}: {getattr(error, 'strerror', None) or error}") from error


def open_regular(path: str, flags: int) -> int:
    """Open a regular file and return its descriptor; suitable as the ``opener`` of :func:`open`.

    Raises:
        OSError: the path leads to a folder, a pipe or a device, or cannot be opened.
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
