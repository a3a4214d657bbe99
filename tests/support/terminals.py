"""A program that tests run in a terminal of a given width."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.processes import Process

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """Keeps what was written to it."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._written = b""

    def run(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> int:
        """Run a program to its end: its exit code."""
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (50, self._columns))
        env = {name: value for name, value in env.items() if name != "COLUMNS"} | {"TERM": "xterm"}
        with Process(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=its, stderr=its) as process:
            os.close(its)
            with suppress(OSError):  # so Linux says that the other side is closed
                while chunk := os.read(ours, 65536):
                    self._written += chunk
            os.close(ours)
            return process.wait()

    @property
    def lines(self) -> list[str]:
        """All lines that were shown, overwritten ones included, without colours and moves of the cursor."""
        text = _ESCAPES.sub("", self._written.decode(errors="replace"))
        return [line for line in re.split(r"[\r\n]+", text) if line]
