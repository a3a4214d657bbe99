"""Standard output that takes any text, and how the command was called."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from spca.common import command


def print_anything() -> None:
    """From now on standard output escapes what its encoding lacks, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def program() -> str:
    """How the user called the command, for lines that tell what to type next."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return command.program(f"python {name}" if name == "run_eval.py" else "multinet-run-eval")
