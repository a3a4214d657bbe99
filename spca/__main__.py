"""The command ``spca`` (or ``python -m spca``): ``main.py`` with the other programs as commands of it.

Only processes of this command have the folder of the applications on their path: itself, workers of an evaluation and
the sandbox, which get its path, and Ray's actors, which put it there when they need it.
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
"""Programs beside ``main.py`` by the word that calls them: the module whose ``main`` it is, and what it does."""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command and return its exit code; without a command, print the help."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    is_module = Path(sys.argv[0]).name == Path(__file__).name
    command = "python -m spca" if is_module else "spca"
    if arguments and arguments[0] in PROGRAMS:
        word = arguments[0]
        module, _ = PROGRAMS[word]
        return _run(module, f"{command} {word}", command, arguments[1:])

    others = {name: text for name, (_, text) in PROGRAMS.items()}
    return _run("main", command, command, arguments or ["--help"], others)


def evaluate(argv: Sequence[str] | None = None) -> int:
    """Carry out ``multinet-run-eval``, which is ``spca gridworld`` by the name of MultiNet."""
    return _run("run_eval", "multinet-run-eval", "spca", sys.argv[1:] if argv is None else argv)


def _run(module: str, program: str, command: str, *arguments: object) -> int:
    """Call ``main`` of a module as ``program``, while the other programs are called as parts of ``command``."""
    os.environ[PROGRAM_VARIABLE] = program
    os.environ[COMMAND_VARIABLE] = command
    code: int = application(module).main(*arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
