"""Untrusted text on a terminal, and parsers that complain in one line."""

from __future__ import annotations

import argparse
import io
import sys
import unicodedata
from pathlib import Path
from typing import Final, NoReturn

EXIT_FINISHED: Final = 0
EXIT_USER_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USER_ERROR, f"error: {visible(message)}; --help lists all options\n")


def visible(text: str) -> str:
    """A text on one line, without characters that control a terminal, change the direction of writing or hide.

    Each of them becomes its code, such as ``<U+001B>``.
    """
    return "".join(f"<U+{ord(each):04X}>" if unicodedata.category(each) in _HIDDEN else each for each in text)


def complain(message: str) -> None:
    """One line on standard error."""
    print(visible(message), file=sys.stderr)


def print_anything() -> None:
    """From now on standard output escapes what its encoding lacks, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def program() -> str:
    """How the user called the command, for lines that tell what to type next."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return f"python {name}" if name == "run_eval.py" else "multinet-run-eval"
