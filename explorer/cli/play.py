"""``play``: a person plays a scene."""

from __future__ import annotations

import os
import threading
import webbrowser
from contextlib import suppress
from itertools import count
from pathlib import Path

from explorer.cli.certificates import require_certificates
from explorer.cli.options import PlayOptions, suggest_report
from explorer.errors import EpisodeError
from explorer.evaluation.episode import Game
from explorer.evaluation.results import Episode, append_episode
from explorer.files import Loaded, load_scene, save_scene
from explorer.files.listing import scene_at
from explorer.rules.actions import Primitive
from explorer.worlds.voxel import VoxelWorld
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.debug_log import log_to_folder
from spca.common.files import make_folder
from spca.common.text import format_count, one_line


def play_scene(scene: Path | None = None, /, options: PlayOptions = PlayOptions()) -> int:
    """Let a person play a scene, and append the episode to the results.

    Args:
        scene: folder of a scene, or a line of a file or released set, as FILE:1 or test:1 (default: a new one is made)
    """
    output = options.output
    make_folder(output.parent)
    can_append = output.is_file() and os.access(output, os.W_OK)
    if output.exists() and not can_append:
        raise EpisodeError(f"{output}: cannot append an episode; choose another --output")
    loaded = make_new_scene(output.parent / "scenes", options) if scene is None else scene_at(scene)
    require_certificates([loaded])
    with log_to_folder(output.parent):
        return _play_in_terminal(loaded, output) if options.terminal else _play_in_browser(loaded, options)


def make_new_scene(folder: Path, options: PlayOptions) -> Loaded:
    """Make a scene, save the scene in a subfolder of ``folder``, and return the scene.

    If the options give no seed, the seed is the smallest positive number whose scene does not exist yet.

    Raises:
        GenerationError: no scene could be made.
    """
    from explorer.generating.composer import compose
    from explorer.generating.knobs import Knobs

    def folder_of(seed: int) -> Path:
        return folder / f"seed_{seed}_hops_{options.hops}"

    seed = options.seed
    if seed is None:
        seed = next(each for each in count(1) if not folder_of(each).exists())
    save_scene(folder_of(seed), compose(seed, 0, Knobs(hops=options.hops)).loaded())
    return load_scene(folder_of(seed))


def _play_in_terminal(loaded: Loaded, output: Path) -> int:
    """Let a person play in the terminal, record the episode if any step was taken, and return the exit code."""
    from explorer.play.hands import MODEL
    from explorer.play.terminal import Terminal

    game = Game(VoxelWorld(), loaded)
    with suppress(KeyboardInterrupt, OSError):  # OSError: the terminal is gone; the steps so far are recorded
        Terminal(game, loaded.text).play()
    if not game.view.step:
        return _report_nothing_played()
    if not game.over:
        game.step(Primitive.DONE)
    _record_episode(game.episode(MODEL), loaded, output)
    return EXIT_FINISHED


def _play_in_browser(loaded: Loaded, options: PlayOptions) -> int:
    """Let a person play in the browser, record the episode if any step was taken, and return the exit code.

    After the end of the episode, the server keeps running until Ctrl-C, so that the page can show the report.
    """
    from explorer.play.server import served
    from explorer.play.session import Session
    from explorer.report.reading import PROGRAM, Read, Shelf, report

    session = Session(loaded)

    def page() -> str:
        return report([Read(session.episode())], "Your episode", Shelf([loaded]))

    with served(session, PROGRAM, page, options.port) as server:
        print(one_line(f"Task: {loaded.text}"))
        print(f"{server.address} (Ctrl-C ends)", flush=True)
        if not options.no_browser:
            webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):
            session.finished.wait()
        if not session.game.view.step:
            return _report_nothing_played()
        is_over = session.finished.is_set()
        _record_episode(session.episode(), loaded, options.output)
        if is_over:
            print("The page stays open until Ctrl-C.", flush=True)
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    return EXIT_FINISHED


def _report_nothing_played() -> int:
    complain("interrupted; no step was taken, so nothing was recorded")
    return EXIT_INTERRUPTED


def _record_episode(episode: Episode, loaded: Loaded, output: Path) -> None:
    append_episode(output, episode)
    print(summarize_episode(episode, loaded))
    print(one_line(f"added to {output}"))
    print(one_line(suggest_report(output)), flush=True)


def summarize_episode(episode: Episode, loaded: Loaded) -> str:
    """Return the result of an episode in words: a summary, then a line for each milestone."""
    outcome = "solved" if episode.solved else "not solved"
    milestones = f"{len(episode.latched)} of {format_count(episode.hops, 'milestone')}"
    lines = [f"{outcome}: {milestones} in {format_count(episode.steps, 'step')}"]
    for milestone in loaded.milestones:
        step = episode.latched.get(milestone.milestone_id)
        when = "never" if step is None else f"step {step}"
        lines.append(one_line(f"  {when:>9}  {milestone.description}"))
    return "\n".join(lines)
