"""Read single keys from a terminal, by name."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from spca.common.errors import UserError

_SEQUENCES: Final = {
    "[A": "up", "OA": "up", "[B": "down", "OB": "down", "[C": "right", "OC": "right", "[D": "left", "OD": "left",
    "[5~": "page up", "[6~": "page down", "[Z": "back tab",
}  # fmt: skip
_PLAIN: Final = {"\r": "enter", "\n": "enter", "\t": "tab", " ": "space", "\x7f": "backspace", "\b": "backspace"}
_ESCAPE_S: Final = 0.05
"""Seconds within which the rest of an escape sequence follows; after that, it was the escape key."""


@contextmanager
def raw_keys() -> Iterator[Keys]:
    """Read keys without echo and line buffering; Ctrl-C raises KeyboardInterrupt.

    Raises:
        UserError: standard input or output is not a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("--terminal needs a terminal: run it in one, or play in the browser")
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


class Keys:
    """Keys in the order in which they are pressed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = ""

    def next(self) -> str:
        """Wait for a key and return it: a letter, or a name such as ``up`` or ``enter``; "" if the input has ended."""
        text = self._pending or self._read()
        if text.startswith("\x1b"):
            return self._sequence(text[1:])
        self._pending = text[1:]
        return _PLAIN.get(text[:1], text[:1])

    def _sequence(self, text: str) -> str:
        if not text and select.select([self._descriptor], [], [], _ESCAPE_S)[0]:
            text = self._read()
        for sequence, name in _SEQUENCES.items():
            if text.startswith(sequence):
                self._pending = text[len(sequence) :]
                return name
        self._pending = ""
        return "unknown" if text else "escape"

    def _read(self) -> str:
        try:
            return os.read(self._descriptor, 64).decode(errors="replace")
        except OSError:  # the terminal is gone
            return ""
