"""The program ``main.py`` and its commands. A command is imported only when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from cyclopts import App

from spca.common.command import PROGRAM_VARIABLE, ExitHandler
from spca.common.options.command_line import make_app, run_app
from spca.plugins.named import load_named_plugins
from spca.runs.phases import LoadPhases
from spca.version import __version__

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "run": ("run:learn", "learn the levels (default)"),
    "evaluate": (
        "evaluate:evaluate",
        "play unseen seeds with what was learned\n\nNo code is written, no call is paid unless named.",
    ),
    "ablations": (
        "ablations:study_ablations",
        "what each part of learning is worth\n\n"
        "Learns once in full and once without each part; plays what was learned on unseen seeds.",
    ),
    "list": ("listing:list_levels", "categories and levels\n\nThose that a run with these options learns."),
    "models": ("models:list_models", "models that can be used here\n\nPrices are in USD per million tokens."),
    "doctor": (
        "doctor:examine",
        "whether sandbox and models are ready to use\n\nThe models are those of a run with these options.",
    ),
    "report": ("report:report", "runs as a page (one HTML file) and as tables"),
    "replay": ("replay:replay", "an episode again, exactly: as text, picture, GIF or MP4"),
    "watch": ("watch:watch", "the page of a run, live while the run goes on"),
    "query": ("query:query", "SQL over any number of runs"),
    "worlds": ("worlds:list_worlds", "worlds and whatever else is registered, and by which plugin"),
    "export": ("export:export", "what a run has learned, as a program of another harness"),
    "pack": ("pack:pack", "a run's calls as one file, which replay/FOLDER answers from"),
}
"""Command -> (``MODULE:FUNCTION`` in this package, help text). The list of commands shows one paragraph of the text."""

OLD_NAMES: Final = {"--out": "--output", "--levels": "--only", "--categories": "--only", "--ids": "--only"}
"""Former flag -> present flag."""


def make_program(name: str, programs: Mapping[str, str] = MappingProxyType({})) -> App:
    """Return the program with all its commands.

    Args:
        name: the words with which a user calls the program.
        programs: subcommand that starts another program -> help text of the subcommand. These subcommands appear in
            ``--help`` only, because the caller (``spca/__main__.py``) starts the other programs before this program
            parses the arguments.
    """
    from spca.commands.run import learn

    app = make_app(
        name,
        "Sense-Plan-Code-Act: learn a curriculum of grid-world levels by planning and writing code.",
        version=f"sense-plan-code-act {__version__}",
    )
    app.default(learn)
    for command, (place, text) in COMMANDS.items():
        app.command(f"{__package__}.{place}", name=command, help=text)
    for command, text in programs.items():
        app.command(learn, name=command, help=text)
    return app


def run_program(
    argv: Sequence[str] | None, load_phases: LoadPhases, programs: Mapping[str, str] = MappingProxyType({})
) -> int:
    """Run a command; return the exit code.

    Args:
        argv: arguments of the command line; None for the arguments of the process.
        load_phases: function that imports the phases of the loop, for commands that play levels.
        programs: see :func:`make_program`.
    """
    app = make_program(os.environ.get(PROGRAM_VARIABLE, "main.py"), programs)
    with ExitHandler() as exit_handler:
        exit_handler.code = run_app(
            app, argv, OLD_NAMES, load_plugins=load_named_plugins, exit_handler=exit_handler, load_phases=load_phases
        )
    return exit_handler.code
