"""The name by which the user called the command."""

from __future__ import annotations

import sys
from pathlib import Path

from spca.common import command


def program() -> str:
    """Return the command as the user called it, for messages that propose the next command."""
    name = Path(sys.argv[0]).name if sys.argv else ""
    return command.program(f"python {name}" if name == "run_eval.py" else "multinet-run-eval")
