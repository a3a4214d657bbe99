"""How the program ends: exit codes, the line that says why, and how to go on."""

from __future__ import annotations

import argparse
import errno
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from io import TextIOWrapper
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeVar

from spca.common.debug_log import DEBUG_VARIABLE, hold_debug_log, log_error, start_debug_log
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

T = TypeVar("T", int, float)


class _StartDebugLog(argparse.Action):
    """Starts the log as soon as the flag is read: it is no setting of a command."""

    def __call__(self, *_arguments: object) -> None:
        start_debug_log()


class Parser(argparse.ArgumentParser):
    """A parser with ``--debug``, whose complaints are one line, like all others, and name what may have been meant.

    Attributes:
        further_flags: flags that its caller has taken out before: they may have been meant, too.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.further_flags: Sequence[str] = ()
        self._words: Sequence[str] | None = None
        told = f"log what it waits for, repeats and decides, and tracebacks ({DEBUG_VARIABLE}=1)"
        suppress_value = argparse.SUPPRESS
        self.add_argument(
            "--debug", action=_StartDebugLog, nargs=0, dest=suppress_value, default=suppress_value, help=told
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See :class:`argparse.ArgumentParser`; the words are kept, to find what was meant by them."""
        self._words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, with the nearest flag or choice that there is, and exit."""
        hint = self._suggest(message)
        self.exit(EXIT_USER_ERROR, f"error: {one_line(message)}; {one_line(hint)}--help lists all options\n")

    def _suggest(self, message: str) -> str:
        """Return ``did you mean X? `` for the messages of argparse about words that it does not know."""
        if choice := _INVALID_CHOICE.search(message):
            given, listed = choice.groups()
            return suggest_name(given, re.findall(r"[^\s',]+", listed))
        known = (*self.further_flags, *self._list_flags())
        head, _, words = message.partition(": ")
        if head == "unrecognized arguments":
            hints = (suggest_name(word.partition("=")[0], known) for word in words.split() if word.startswith("-"))
            return next(filter(None, hints), "")
        if head == "the following arguments are required":
            return self._suggest_required(known)
        return ""

    def _suggest_required(self, known: Sequence[str]) -> str:
        """Return the same for a word that may be one of the arguments that are missing."""
        for word in self._words or ():
            flag = word.partition("=")[0]
            is_known = any(each.startswith(flag) for each in known)
            if flag.startswith("-") and not is_known and (hint := suggest_name(flag, known)):
                return f"there is no {flag}, {hint}"
        return ""

    def _list_flags(self) -> Iterator[str]:
        """Yield the flags of this parser and of the command that was given."""
        for action in self._actions:
            yield from action.option_strings
            choices = action.choices
            parsers = choices.values() if isinstance(choices, Mapping) else ()
            for parser in parsers:
                if isinstance(parser, Parser) and parser._words is not None:
                    yield from parser._list_flags()


_INVALID_CHOICE: Final = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)")


def suggest_name(given: str, known: Iterable[str]) -> str:
    """Return ``did you mean X? `` for the known name that ``given`` nearly is, "" if there is none.

    The dashes of flags do not count: they would make short ones alike.
    """
    names = {name.lstrip("-").casefold(): name for name in known}
    near = get_close_matches(given[:_LONGEST_COMPARED].lstrip("-").casefold(), names, 1, _LEAST_LIKENESS)
    return f"did you mean {names[near[0]]}? " if near else ""


_LEAST_LIKENESS: Final = 0.65
_LONGEST_COMPARED: Final = 100


class Ending:
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
        self._held.enter_context(program_scope())
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
            self.code = _stopped(EXIT_INTERRUPTED, "interrupted", self.go_on)
        elif isinstance(error, BrokenPipeError):
            print_no_more()
            if self.go_on:
                self.code = _stopped(EXIT_INTERRUPTED, "interrupted, since nobody reads the output", self.go_on)
        elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            print_no_more()  # it may be the output that there is no space for
            self.code = _stopped(EXIT_USER_ERROR, f"error: {error.strerror}", self.go_on)
        elif isinstance(error, BudgetReached):
            self.code = _stopped(error.exit_code, f"stopped: {error}", f"{self.go_on} {error.option}".rstrip())
        elif isinstance(error, UserError):
            self.code = _stopped(error.exit_code, f"error: {error}", self.go_on if error.resumable else "")
        else:
            return False
        return True


@contextmanager
def program_scope() -> Iterator[None]:
    """Hold what every program has: signals to end interrupt it, and ``--debug`` starts a log."""
    with interrupt_on_termination(), hold_debug_log():
        yield


def _stopped(code: int, reason: str, go_on: str) -> int:
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


def ranged(
    kind: Callable[[str], T], fault: str, least: float = 0, most: float = sys.float_info.max
) -> Callable[[str], T]:
    """Return the type of an argument that is a number, int or float, from ``least`` to ``most``.

    Args:
        fault: what is wrong with any other text, which is formatted into it.
    """

    def read(text: str) -> T:
        with suppress(ValueError):  # Python refuses to convert thousands of digits, too
            value = kind(text)
            if least <= value <= most and ((text.isascii() and text.isdigit()) or kind is not int):
                return value
        raise argparse.ArgumentTypeError(fault.format(text))

    return read


def whole(least: int, most: int = 10**9) -> Callable[[str], int]:
    """Return the type of an argument that is a whole number from ``least`` to ``most``."""
    return ranged(int, f"{{!a}} is not a whole number from {least} to {most}", least, most)


def amount(unit: str, *, zero: bool = False) -> Callable[[str], float]:
    """Return the type of an argument that is a finite number above 0, or 0 too."""
    fault = f"{{!a}} is not a number of {unit} {'from' if zero else 'above'} 0"
    return ranged(float, fault, 0 if zero else math.nextafter(0, 1))
