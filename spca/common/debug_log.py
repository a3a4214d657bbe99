"""The log of ``--debug``: what the programs wait for, repeat, kill and decide, and the causes of errors.

Without ``--debug``, nothing is logged, not even the warnings of libraries. With ``--debug``, records go to standard
error, and to ``debug.log`` in the folder that a command fills. Below WARNING, only loggers of this project log, because
the loggers of HTTP libraries would write headers. Keys are removed from every line, also from tracebacks.

The project's modules log at INFO or below. In a process without a handler, such as a worker, Python would print records
of a higher level.

The processes of the sandbox and of the solver log nothing. The process that starts them logs what it learns about them.
"""

from __future__ import annotations

import logging
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, TextIO

from spca.common.files import explain_failure
from spca.common.redaction import redact
from spca.common.text import one_line, visible

DEBUG_VARIABLE: Final = "SPCA_DEBUG"
"""Environment variable that does what ``--debug`` does."""

LOG_NAME: Final = "debug.log"

_OURS: Final = ("spca", "gridworld", "explorer", "robot_bridge", "metrics_logger", "llmclient")
"""First components of the logger names of this project."""

_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"
_LOG: Final = logging.getLogger(__name__)

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _SafeFormatter(logging.Formatter):
    """Formats each message as one line without keys and control characters.

    These are removed because models and servers write parts of the messages.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # named by logging
        return one_line(super().formatMessage(record))

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802  # likewise
        return textwrap.indent(visible(super().formatException(ei)), "    ")

    def format(self, record: logging.LogRecord) -> str:
        fresh = copy(record)
        fresh.exc_text = None  # another handler may have cached its own text there
        return redact(super().format(fresh))


def _is_wanted(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


class _LogHandler(logging.Handler):
    """Passes each record as text to the function ``write``; a write that fails is ignored."""

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__()
        self._write = write
        self.setFormatter(_SafeFormatter(_FORMAT))
        self.addFilter(_is_wanted)

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{self.format(record)}\n"
        with suppress(OSError):
            self._write(text)


def _write_to_terminal(text: str) -> None:
    """Write ``text`` to standard error; if rich shows a live display in the same terminal, write above the display.

    While a display is live, ``sys.stderr`` is a proxy that prints above the display. If standard error is not a
    terminal, the text goes directly to the file behind the proxy.
    """
    actual: TextIO = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    stream = sys.stderr if actual.isatty() else actual
    stream.write(text)
    stream.flush()


@contextmanager
def _attach(handler: logging.Handler) -> Iterator[None]:
    """Attach a handler to the root logger until the block ends."""
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


class _DebugLog:
    """The log of a process.

    Attributes:
        paths: the open log files, in the order in which they were opened.
    """

    def __init__(self) -> None:
        from logging.handlers import MemoryHandler  # 10 ms

        self.paths: list[Path] = []
        # Never full: without a target it buffers all records.
        self._early = MemoryHandler(capacity=sys.maxsize, flushLevel=sys.maxsize)
        self._logged: BaseException | None = None

    @contextmanager
    def running(self, *, has_terminal: bool) -> Iterator[None]:
        """Log until the block ends; buffer records until a file is opened by :meth:`append_to`.

        Args:
            has_terminal: whether to log to standard error, too.
        """
        with ExitStack() as stack:
            for name in _OURS:
                logging.getLogger(name).setLevel(logging.DEBUG)
                stack.callback(logging.getLogger(name).setLevel, logging.NOTSET)
            stack.enter_context(_attach(self._early))
            if has_terminal:
                stack.enter_context(_attach(_LogHandler(_write_to_terminal)))
            _RUNNING.append(self)
            stack.callback(_RUNNING.remove, self)
            yield

    @contextmanager
    def append_to(self, path: Path) -> Iterator[None]:
        """Append the log to a file until the block ends, beginning with the records that were buffered.

        Raises:
            SettingsError: the file cannot be opened.
        """
        with explain_failure(f"cannot write {path}"):
            file = open(path, "ab", buffering=0)  # noqa: SIM115  # the next block closes it
        # A record is written by one system call: processes may share the file.
        handler = _LogHandler(lambda text: file.write(text.encode(errors="backslashreplace")))
        logging.getLogger().removeHandler(self._early)
        self._early.setTarget(handler)
        self._early.flush()
        self.paths.append(path)
        with file, _attach(handler):
            try:
                yield
            except (Exception, KeyboardInterrupt) as error:  # logged here because the file is still open
                self.log_once(error)
                raise
            finally:
                self.paths.remove(path)

    def log_once(self, error: BaseException) -> None:
        """Log the traceback of an error with its causes, unless this error was the last one to be logged."""
        if error is not self._logged:
            self._logged = error
            _LOG.error("%s", type(error).__name__, exc_info=error)


_RUNNING: Final[list[_DebugLog]] = []
"""The running log of this process, if there is one. The list is global because loggers are global, too."""

_HELD: Final[list[ExitStack]] = []
"""For each program that runs in this process: the exit stack that is closed when the program ends."""


@contextmanager
def hold_debug_log() -> Iterator[None]:
    """Permit :func:`start_debug_log` to start a log until the block ends; the log ends with the block.

    If the environment asks for a log, start it at once.
    """
    with _attach(logging.NullHandler()), ExitStack() as stack:  # without a handler Python prints warnings
        _HELD.append(stack)
        stack.callback(_HELD.remove, stack)
        start_if_asked()
        yield


def start_if_asked() -> None:
    """Start the log if :data:`DEBUG_VARIABLE` is set and is not "0", possibly because ``.env`` was read."""
    if os.environ.get(DEBUG_VARIABLE, "") not in ("", "0"):
        start_debug_log()


def start_debug_log() -> None:
    """Log to standard error until the surrounding :func:`hold_debug_log` ends."""
    if _HELD and not _RUNNING:
        _HELD[-1].enter_context(_DebugLog().running(has_terminal=True))


@contextmanager
def log_to_folder(folder: Path) -> Iterator[None]:
    """If a log is running, also write it into ``debug.log`` of an existing folder until the block ends."""
    with _RUNNING[0].append_to(folder / LOG_NAME) if _RUNNING else nullcontext():
        yield


def log_error(error: BaseException) -> None:
    """Log an error with its traceback if a log is running."""
    if _RUNNING:
        _RUNNING[0].log_once(error)


@dataclass(frozen=True, slots=True)
class WorkerLog:
    """Settings of the log of a worker process.

    The host, which is the process that starts the worker, sends the settings to the worker.

    Attributes:
        path: the log file of the host; None to log to standard error.
    """

    is_on: bool = False
    path: Path | None = None

    @contextmanager
    def open_log(self) -> Iterator[None]:
        """Log in this process according to the settings until the block ends."""
        with _attach(logging.NullHandler()), ExitStack() as stack:
            if self.is_on:
                log = _DebugLog()
                # Without a file the worker logs to standard error; with one, the host may show a progress bar there.
                stack.enter_context(log.running(has_terminal=self.path is None))
                if self.path:
                    stack.enter_context(log.append_to(self.path))
            yield


def worker_log() -> WorkerLog:
    """Return the log settings for a worker of this process."""
    if not _RUNNING:
        return WorkerLog()
    paths = _RUNNING[0].paths
    return WorkerLog(is_on=True, path=paths[-1] if paths else None)
