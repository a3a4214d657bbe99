"""``python -m explorer COMMAND``: one module per command, imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from cyclopts import App

from explorer.cli.options import (
    CertifyOptions,
    GenerateOptions,
    PlayOptions,
    ReleaseOptions,
    ReportOptions,
    RunOptions,
    ShowOptions,
)
from spca.common.command import Ending, program
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments; None takes those of the process.

    Returns:
        The exit code: 0 done, 1 the answer is no, 2 a mistake of the user, 130 interrupted.
    """
    with Ending() as ending:
        try:
            ending.code = run_app(build_app(), argv)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SettingsError(str(error)) from error
    return ending.code


def build_app() -> App:
    """Return the program with its commands."""
    called = program("python -m explorer")
    app = make_app(called, _DESCRIPTION, epilogue=_EPILOGUE.format(called=called))
    commands: tuple[Callable[..., int], ...] = (_play, _run, _report, _show, _generate, _certify, _release)
    for position, command in enumerate(commands):
        app.command(command, sort_key=position, help_epilogue="")
    return app


def _play(scene: Path | None = None, /, options: PlayOptions = PlayOptions()) -> int:
    """Play a scene in the browser, or in the terminal.

    Args:
        scene: folder of a scene, or a line of a file or released set, as FILE:1 or test:1 (default: a new one is made)
    """
    from explorer.cli.play import play_scene

    return play_scene(scene, options)


def _run(scenes: tuple[Path, ...], /, options: RunOptions = RunOptions()) -> int:
    """Let an agent play scenes, and measure how well it does.

    Args:
        scenes: scenes, folders of scenes, or files with one per line
    """
    from explorer.cli.run import run_agent

    return run_agent(scenes, options)


def _report(results: tuple[Path, ...] = (), /, options: ReportOptions = ReportOptions()) -> int:
    """Write results as one page: rates, episodes, and a player for each.

    Args:
        results: results in JSON Lines (default results/explorer/human.jsonl)
    """
    from explorer.cli.report import write_report

    return write_report(results, options)


def _show(scene: Path, /, options: ShowOptions = ShowOptions()) -> int:
    """Print a scene: its task, its hops and why they are in this order, its certificate, its map.

    Args:
        scene: folder of a scene, or a line of a file or released set, as FILE:1 or test:1
    """
    from explorer.cli.show import show_scene

    return show_scene(scene, options)


def _generate(options: GenerateOptions = GenerateOptions()) -> int:
    """Make scenes, each with its proof."""
    from explorer.cli.generate import generate_scenes

    return generate_scenes(options)


def _certify(scenes: tuple[Path, ...], /, options: CertifyOptions = CertifyOptions()) -> int:
    """Prove scenes again, our own or in the published format.

    Args:
        scenes: a scene, a folder of scenes, or a file with one per line
    """
    from explorer.cli.certify import certify_scenes

    return certify_scenes(scenes, options)


def _release(options: ReleaseOptions = ReleaseOptions()) -> int:
    """Make the released sets of scenes again."""
    from explorer.cli.release import release_sets

    return release_sets(options)
