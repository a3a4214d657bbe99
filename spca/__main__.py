"""The command ``spca`` (or ``python -m spca``). It runs ``main.py``, and offers the other programs as subcommands.

This command puts the folder of the applications (``main.py`` and others) on the module path of its process. The workers
of an evaluation and the sandbox inherit this module path. Ray's actors extend their module path on demand.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from spca.common.command import COMMAND_VARIABLE, PROGRAM_VARIABLE
from spca.common.installation import application

PROGRAMS: Final[Mapping[str, tuple[str, str]]] = {
    "gridworld": ("run_eval", "judge models on gridworld tasks"),
    "robot": ("robot_bridge.cli", "explore and act with a robot, simulated or real"),
    "explorer": ("explorer.cli", "explore open worlds with hidden prerequisites"),
}
"""Subcommand that starts a program other than ``main.py`` -> (module that defines ``main``, help text)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; without a command, print the help."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    is_module = Path(sys.argv[0]).name == Path(__file__).name
    command = "python -m spca" if is_module else "spca"
    if arguments and arguments[0] in PROGRAMS:
        word = arguments[0]
        module, _ = PROGRAMS[word]
        return _run(module, f"{command} {word}", command, arguments[1:])

    other_programs = {name: text for name, (_, text) in PROGRAMS.items()}
    return _run("main", command, command, arguments or ["--help"], other_programs)


def evaluate(argv: Sequence[str] | None = None) -> int:
    """Run ``multinet-run-eval``, which is MultiNet's name for ``spca gridworld``."""
    return _run("run_eval", "multinet-run-eval", "spca", sys.argv[1:] if argv is None else argv)


def _run(module: str, program: str, command: str, *arguments: object) -> int:
    """Call the function ``main`` of ``module`` with ``arguments``, and return the exit code.

    Args:
        program: command line that starts this program, for its messages.
        command: command line that starts ``spca``, for messages that name other subcommands of ``spca``.
    """
    os.environ[PROGRAM_VARIABLE] = program
    os.environ[COMMAND_VARIABLE] = command
    code: int = application(module).main(*arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
