"""Read single keys from a terminal; keys without a letter have names such as ``up``."""

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
"""Escape sequence, without the escape character -> name of the key."""
_CONTROL_KEYS: Final = {"\r": "enter", "\n": "enter", "\t": "tab", " ": "space", "\x7f": "backspace", "\b": "backspace"}
_ESCAPE_S: Final = 0.05
"""Seconds to wait for the rest of an escape sequence. If nothing follows, the escape key itself was pressed."""


@contextmanager
def raw_keys() -> Iterator[Keys]:
    """Yield the keys of the terminal.

    Within the context, the terminal neither echoes keys nor waits for whole lines. Ctrl-C raises KeyboardInterrupt.

    Raises:
        UserError: standard input or output is not a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("--terminal needs a terminal: run it in one, or play in the browser")
    descriptor = sys.stdin.fileno()
    old_settings = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, old_settings)


class Keys:
    """The keys that are pressed on a terminal, in order.

    Args:
        descriptor: file descriptor of the terminal.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # Text that was read but not yet returned as keys.
        self._pending = ""

    def next(self) -> str:
        """Wait for a key; return its letter, its name such as ``up`` or ``enter``, or "" if the input has ended."""
        text = self._pending or self._read()
        if text.startswith("\x1b"):
            return self._parse_sequence(text[1:])
        self._pending = text[1:]
        return _CONTROL_KEYS.get(text[:1], text[:1])

    def _parse_sequence(self, text: str) -> str:
        """Return the name of the key whose escape sequence begins the text, and keep the rest of the text for later.

        Args:
            text: the text after the escape character.
        """
        if not text and select.select([self._descriptor], [], [], _ESCAPE_S)[0]:
            text = self._read()
        for sequence, name in _SEQUENCES.items():
            if text.startswith(sequence):
                self._pending = text[len(sequence) :]
                return name
        self._pending = ""
        return "unknown" if text else "escape"

    def _read(self) -> str:
        """Wait for input, and return up to 64 bytes of it as text, or "" if the input has ended."""
        try:
            return os.read(self._descriptor, 64).decode(errors="replace")
        except OSError:  # the terminal is gone
            return ""
