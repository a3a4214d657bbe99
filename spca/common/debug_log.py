"""The log of ``--debug``: what the programs wait for, repeat, kill and decide, and the causes of errors.

Without ``--debug`` nothing is logged, not even the warnings of libraries. With it, records go to standard error, and to
``debug.log`` of the folder that a command fills. Only the loggers of this project tell details: those of HTTP libraries
would write headers. Keys are taken out of every line, tracebacks included.

Parts log at INFO at most: where a program has set up nothing, as in a worker process, Python prints what is above it.

The sandbox and the solver's process log nothing: what their host knows of them is logged by the host.
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
"""First parts of the names of our loggers."""

_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"
_LOG: Final = logging.getLogger(__name__)

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _SafeFormatter(logging.Formatter):
    """Texts of models and servers stay data: no keys, nothing that steers a terminal, one line a record."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # named by logging
        return one_line(super().formatMessage(record))

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802  # likewise
        return textwrap.indent(visible(super().formatException(ei)), "    ")

    def format(self, record: logging.LogRecord) -> str:
        fresh = copy(record)
        fresh.exc_text = None  # a host's handler may have kept its own text there
        return redact(super().format(fresh))


def _is_wanted(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


class _LogHandler(logging.Handler):
    """Hands each record on as a text; one that cannot be written stops nothing."""

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
    """Write to standard error, above what rich keeps at the bottom of the same terminal.

    While something of rich is live, ``sys.stderr`` is a proxy that prints above it. Where standard error leads to
    another place than the terminal, the proxy is passed by.
    """
    actual: TextIO = getattr(sys.stderr, "rich_proxied_file", sys.stderr)
    stream = sys.stderr if actual.isatty() else actual
    stream.write(text)
    stream.flush()


@contextmanager
def _attach(handler: logging.Handler) -> Iterator[None]:
    """Have a handler handle all records until the block ends."""
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()


class _DebugLog:
    """The log of a process.

    Attributes:
        paths: the files that are written to, the innermost last.
    """

    def __init__(self) -> None:
        from logging.handlers import MemoryHandler  # 10 ms

        self.paths: list[Path] = []
        # Never full: without a target it keeps what comes.
        self._early = MemoryHandler(capacity=sys.maxsize, flushLevel=sys.maxsize)
        self._logged: BaseException | None = None

    @contextmanager
    def running(self, *, has_terminal: bool) -> Iterator[None]:
        """Log until the block ends; keep what is logged before there is a file for it."""
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
        """Append to a file until the block ends, first of all what came before there was one.

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
            except (Exception, KeyboardInterrupt) as error:  # while there is a file, whatever it is
                self.log_once(error)
                raise
            finally:
                self.paths.remove(path)

    def log_once(self, error: BaseException) -> None:
        """Log the traceback of an error, its causes included, if that was not done."""
        if error is not self._logged:
            self._logged = error
            _LOG.error("%s", type(error).__name__, exc_info=error)


_RUNNING: Final[list[_DebugLog]] = []
"""The log of this process, if there is one: loggers are global, too."""

_HELD: Final[list[ExitStack]] = []
"""What ends with each program of this process."""


@contextmanager
def hold_debug_log() -> Iterator[None]:
    """Log nothing until the log is started, and end it with the block."""
    with _attach(logging.NullHandler()), ExitStack() as stack:  # Python prints the warnings that nobody handles
        _HELD.append(stack)
        stack.callback(_HELD.remove, stack)
        start_if_asked()
        yield


def start_if_asked() -> None:
    """Start the log of a program whose environment, by now completed from ``.env``, asks for it."""
    if os.environ.get(DEBUG_VARIABLE, "") not in ("", "0"):
        start_debug_log()


def start_debug_log() -> None:
    """Log to standard error from now on, until the :func:`hold_debug_log` ends that this is within."""
    if _HELD and not _RUNNING:
        _HELD[-1].enter_context(_DebugLog().running(has_terminal=True))


@contextmanager
def log_to_folder(folder: Path) -> Iterator[None]:
    """Write the log into ``debug.log`` of an existing folder, too, until the block ends; do nothing without a log."""
    with _RUNNING[0].append_to(folder / LOG_NAME) if _RUNNING else nullcontext():
        yield


def log_error(error: BaseException) -> None:
    """Log an error with its traceback, if anything is logged: the user reads one line otherwise."""
    if _RUNNING:
        _RUNNING[0].log_once(error)


@dataclass(frozen=True, slots=True)
class WorkerLog:
    """What a worker process logs; it is sent to it.

    Attributes:
        path: the file that its host writes to; without one the worker logs to standard error.
    """

    is_on: bool = False
    path: Path | None = None

    @contextmanager
    def open_log(self) -> Iterator[None]:
        """Log in this process until the block ends."""
        with _attach(logging.NullHandler()), ExitStack() as stack:
            if self.is_on:
                log = _DebugLog()
                stack.enter_context(log.running(has_terminal=self.path is None))  # its host may show a bar there
                if self.path:
                    stack.enter_context(log.append_to(self.path))
            yield


def worker_log() -> WorkerLog:
    """Return what a worker process of this one logs."""
    if not _RUNNING:
        return WorkerLog()
    paths = _RUNNING[0].paths
    return WorkerLog(is_on=True, path=paths[-1] if paths else None)
