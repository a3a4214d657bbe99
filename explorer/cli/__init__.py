"""The command line ``python -m explorer COMMAND``; each command has a module, which is imported only when needed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from cyclopts import App

from spca.common.command import ExitHandler, program
from spca.common.errors import SettingsError
from spca.common.options.command_line import make_app, run_app

_DESCRIPTION: Final = """\
Open-world exploration with hidden prerequisites: agents are told only the goal, and must discover what it needs first.
Every scene comes with a proof: docs/explorer.md says what is proven, and what is not claimed."""
_EPILOGUE: Final = """\
exit codes: 0 done, 1 the answer is no (a proof does not hold), 2 a mistake in the command or its files, 130 interrupted

examples:
  {called} play      # a new scene of two hops, in the browser
  {called} report    # your episodes, as one page
  {called} generate --count 100 --seed 7 --output my_scenes
  {called} certify my_scenes
  {called} run my_scenes --agent random --workers 2"""


COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "play": ("play:play_scene", "Play a scene in the browser, or in the terminal."),
    "run": ("run:run_agent", "Let an agent play scenes, and measure how well it does."),
    "report": ("report:write_report", "Write results as one page: rates, episodes, and a player for each."),
    "show": (
        "show:show_scene",
        "Print a scene: its task, its hops and why they are in this order, its certificate, its map.",
    ),
    "generate": ("generate:generate_scenes", "Make scenes, each with its proof."),
    "certify": ("certify:certify_scenes", "Prove scenes again, our own or in the published format."),
    "release": ("release:release_sets", "Make the released sets of scenes again."),
}
"""Name of a command -> (``module:function`` within this package, one line of help)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments; None stands for the arguments of the process.

    Returns:
        The exit code: 0 for success, 1 for a negative answer, 2 for a mistake of the user, 130 for an interruption.
    """
    with ExitHandler() as ending:
        try:
            ending.code = run_app(build_app(), argv)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader of the output has ended, which ExitHandler handles
            raise
        except OSError as error:
            raise SettingsError(str(error)) from error
    return ending.code


def build_app() -> App:
    """Return the command-line application with all commands."""
    called = program("python -m explorer")
    app = make_app(called, _DESCRIPTION, epilogue=_EPILOGUE.format(called=called))
    for position, (name, (place, text)) in enumerate(COMMANDS.items()):
        app.command(f"{__name__}.{place}", name=name, help=text, sort_key=position, help_epilogue="")
    return app
