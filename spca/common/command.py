"""How the program ends: exit codes, the line that says why, and how to go on."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import ExitStack, suppress
from io import TextIOWrapper
from types import TracebackType
from typing import Final, Self

from spca.common.debug_log import hold_debug_log, log_error
from spca.common.errors import BudgetReached, SPCAError, UserError
from spca.common.interrupts import interrupt_on_termination
from spca.common.text import one_line

PROGRAM_VARIABLE: Final = "SPCA_PROGRAM"
"""Environment variable by which a script that starts the program says how a user calls it."""

COMMAND_VARIABLE: Final = "SPCA_COMMAND"
"""Environment variable by which the command ``spca`` says how a user calls it: the other programs are parts of it."""

EXIT_FINISHED: Final = 0
EXIT_FAILED: Final = 1
"""What was asked for was done, and the answer is no: not strict, not proven, different."""
EXIT_USER_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130
"""By Ctrl-C, SIGTERM or a terminal that was closed: all three keep the same."""


class ExitHandler:
    """How the program ends: as a context it turns the errors that a user can act on into a line and an exit code.

    SIGTERM and SIGHUP interrupt it as Ctrl-C does; with ``--debug`` tracebacks are logged. That nobody reads its output
    any more ends it without a word, but in the middle of a run. Characters that the encoding of standard output lacks
    are escaped.

    Attributes:
        code: the exit code.
        go_on: the command that resumes the run, "" before one has begun.
    """

    def __init__(self) -> None:
        self.code = EXIT_FINISHED
        self.go_on = ""
        self._held = ExitStack()

    def __enter__(self) -> Self:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        self._held.enter_context(interrupt_on_termination())
        self._held.enter_context(hold_debug_log())
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None, /
    ) -> bool:
        with self._held:
            return self._handle(error)

    def _handle(self, error: BaseException | None) -> bool:
        """Say in one line why the program ends; return False for an error that is a defect of ours."""
        if isinstance(error, KeyboardInterrupt | OSError | SPCAError):
            log_error(error)
        if isinstance(error, KeyboardInterrupt):
            self.code = _report_stop(EXIT_INTERRUPTED, "interrupted", self.go_on)
        elif isinstance(error, BrokenPipeError):
            print_no_more()
            if self.go_on:
                self.code = _report_stop(EXIT_INTERRUPTED, "interrupted, since nobody reads the output", self.go_on)
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            print_no_more()  # it may be the output that there is no space for
            self.code = _report_stop(EXIT_USER_ERROR, f"error: {error.strerror}", self.go_on)
        elif isinstance(error, BudgetReached):
            self.code = _report_stop(error.exit_code, f"stopped: {error}", f"{self.go_on} {error.option}".rstrip())
        elif isinstance(error, UserError):
            self.code = _report_stop(error.exit_code, f"error: {error}", self.go_on if error.resumable else "")
        else:
            return False
        return True


def _report_stop(code: int, reason: str, go_on: str) -> int:
    """Say on standard error why the program stops, and how to go on if it can; returns ``code``."""
    complain(f"{reason}; go on with: {go_on}" if go_on else reason)
    return code


def print_no_more() -> None:
    """Let standard output lead nowhere, once whoever read it has left: Python writes what is buffered once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """Print one line on standard error; where the terminal is gone, nobody would read it."""
    with suppress(OSError):
        print(one_line(message), file=sys.stderr)


def program(default: str = "python main.py") -> str:
    """How a user calls the program."""
    return os.environ.get(PROGRAM_VARIABLE, default)


def other_program(default: str) -> str:
    """How a user calls another of our programs than the one that runs.

    Args:
        default: how it is called in a checkout.
    """
    command = os.environ.get(COMMAND_VARIABLE)
    return f"{command} {_PARTS[default]}".rstrip() if command else default


_PARTS: Final = {
    "python main.py": "",
    "python run_eval.py": "gridworld",
    "python -m robot_bridge": "robot",
    "python -m explorer": "explorer",
}
"""Programs in a checkout -> the parts of the command ``spca`` that they are."""
