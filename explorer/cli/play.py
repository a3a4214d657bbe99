"""``play``: a person plays a scene."""

from __future__ import annotations

import os
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

from explorer.cli.certificates import require_certificates
from explorer.cli.parser import RESULTS, Settings, look_at
from explorer.cli.scenes import scene_of
from explorer.errors import EpisodeError
from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode, append_episode
from explorer.files import Loaded
from explorer.rules.actions import Primitive
from explorer.worlds.voxel import VoxelWorld
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.debug_log import log_to_folder
from spca.common.files import make_folder
from spca.common.text import counted, one_line


def run(settings: Settings) -> int:
    """Let a person play, and append the episode to the results."""
    output = settings.output or RESULTS
    make_folder(output.parent)
    if output.exists() and not (output.is_file() and os.access(output, os.W_OK)):
        raise EpisodeError(f"{output}: cannot append an episode; choose another --output")
    loaded = scene_of(settings, output.parent / "scenes")
    require_certificates([loaded])
    with log_to_folder(output.parent):
        return _on_terminal(loaded, output) if settings.terminal else _in_browser(loaded, output, settings)


def _on_terminal(loaded: Loaded, output: Path) -> int:
    from explorer.play.hands import MODEL
    from explorer.play.terminal import Terminal

    game = Game(VoxelWorld(), loaded)
    with suppress(KeyboardInterrupt, OSError):  # OSError: the terminal is gone; the steps so far count
        Terminal(game, loaded.text).play()
    if not game.view.step:
        return _nothing_played()
    if not game.over:
        game.step(Primitive.DONE)
    _keep(game.episode(MODEL), loaded, output)
    return EXIT_FINISHED


def _in_browser(loaded: Loaded, output: Path, settings: Settings) -> int:
    from explorer.play.server import served
    from explorer.play.session import Session
    from explorer.report.reading import PROGRAM, Read, Shelf, report

    session = Session(loaded)

    def page() -> str:
        return report([Read(session.episode())], "Your episode", Shelf([loaded]))

    with served(session, PROGRAM, page, settings.port) as server:
        print(one_line(f"Task: {loaded.text}"))
        print(f"{server.address} (Ctrl-C ends)", flush=True)
        if settings.browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            session.finished.wait()
        if not session.game.view.step:
            return _nothing_played()
        is_over = session.finished.is_set()
        _keep(session.episode(), loaded, output)
        if is_over:
            print("The page stays open until Ctrl-C.", flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    return EXIT_FINISHED


def _nothing_played() -> int:
    complain("interrupted; no step was taken, so nothing was recorded")
    return EXIT_INTERRUPTED


def _keep(episode: Episode, loaded: Loaded, output: Path) -> None:
    append_episode(output, episode)
    print(summary(episode, loaded))
    print(one_line(f"added to {output}"))
    print(one_line(look_at(output)), flush=True)


def summary(episode: Episode, loaded: Loaded) -> str:
    """Return the result of an episode, with a line for each milestone."""
    reached = f"{len(episode.latched)} of {counted(episode.hops, 'milestone')} in {counted(episode.steps, 'step')}"
    lines = [f"{'solved' if episode.solved else 'not solved'}: {reached}"]
    for milestone in loaded.milestones:
        at = episode.latched.get(milestone.milestone_id)
        lines.append(one_line(f"  {'never' if at is None else f'step {at}':>9}  {milestone.description}"))
    return "\n".join(lines)
