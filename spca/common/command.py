"""The end of a program: its exit code, one line with the reason, and the command that resumes the run."""

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
"""Environment variable for the command line that starts this program; set by a script that starts the program."""

COMMAND_VARIABLE: Final = "SPCA_COMMAND"
"""Environment variable for the command line that starts ``spca``; set by ``spca`` for its subcommands."""

EXIT_FINISHED: Final = 0
EXIT_FAILED: Final = 1
"""The command did its work and its answer is negative, such as "not strict", "not proven" or "different"."""
EXIT_USER_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130
"""The user pressed Ctrl-C, the terminal was closed, or SIGTERM came."""


class ExitHandler:
    """Context manager that turns an error which a user can act on into one line on standard error and an exit code.

    SIGTERM and SIGHUP interrupt the block as Ctrl-C does. With ``--debug``, tracebacks are logged. A broken pipe ends
    the program, and a message is printed only if a run has begun. Characters that standard output cannot encode are
    escaped.

    Attributes:
        code: the exit code.
        go_on: the command that resumes the run; "" before a run has begun.
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
        """Print one line that says why the program ends, set ``code``, and return True.

        Print nothing and return False if there is no error, or if the error is a defect of this program.
        """
        if isinstance(error, KeyboardInterrupt | OSError | SPCAError):
            log_error(error)
        if isinstance(error, KeyboardInterrupt):
            self.code = _report_stop(EXIT_INTERRUPTED, "interrupted", self.go_on)
        elif isinstance(error, BrokenPipeError):
            discard_output()
            if self.go_on:
                self.code = _report_stop(EXIT_INTERRUPTED, "interrupted, since nobody reads the output", self.go_on)
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            discard_output()  # the output itself may be what has no space
            self.code = _report_stop(EXIT_USER_ERROR, f"error: {error.strerror}", self.go_on)
        elif isinstance(error, BudgetReached):
            self.code = _report_stop(error.exit_code, f"stopped: {error}", f"{self.go_on} {error.option}".rstrip())
        elif isinstance(error, UserError):
            self.code = _report_stop(error.exit_code, f"error: {error}", self.go_on if error.resumable else "")
        else:
            return False
        return True


def _report_stop(code: int, reason: str, go_on: str) -> int:
    """Print on standard error why the program stops and, if ``go_on`` is not empty, the command that resumes the run.

    Return ``code``.
    """
    complain(f"{reason}; go on with: {go_on}" if go_on else reason)
    return code


def discard_output() -> None:
    """Redirect stdout to /dev/null after a failed write, because Python flushes its buffer once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """Print one line on standard error; do nothing if the terminal is gone."""
    with suppress(OSError):
        print(one_line(message), file=sys.stderr)


def program(default: str = "python main.py") -> str:
    """Return the command line with which a user starts this program."""
    return os.environ.get(PROGRAM_VARIABLE, default)


def other_program(default: str) -> str:
    """Return the command line with which a user starts another program of this project.

    Args:
        default: that command line in a checkout.
    """
    command = os.environ.get(COMMAND_VARIABLE)
    return f"{command} {_PARTS[default]}".rstrip() if command else default


_PARTS: Final = {
    "python main.py": "",
    "python run_eval.py": "gridworld",
    "python -m robot_bridge": "robot",
    "python -m explorer": "explorer",
}
"""Command line of a program in a checkout -> subcommand of ``spca`` that starts the same program."""
