"""``report`` and ``replay`` of an evaluation: its page and figures, and an episode again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from spca.act.frame import WorldMaker
from spca.common.command import program
from spca.common.files import write_atomic
from spca.common.installation import where_runs_lie
from spca.common.text import one_line
from spca.errors import ReportError
from spca.evaluation.eval_folder import RECORD, REPORT, EvaluationFolder
from spca.evaluation.figures import show
from spca.evaluation.playing.harness import results
from spca.evaluation.summary import Results
from spca.evaluation.trajectories import make_trajectory
from spca.report.finding import check_target
from spca.report.replay.replay_options import ReplayOptions
from spca.runs.phases import LoadPhases
from spca.runs.recording.folder import only_folder

if TYPE_CHECKING:
    from rich.console import Console


def find_evaluation(name: str, runs: Path) -> EvaluationFolder | None:
    """Return the finished evaluation that a user names, None if the name means something else.

    Raises:
        ReportError: the evaluation is not finished.
        ResumeError: its files cannot be read.
    """
    places = (runs / name, Path.cwd() / name, only_folder(runs, name))
    path = next((each for each in places if each and os.path.isfile(each / RECORD)), None)
    if path is None:
        return None
    folder = EvaluationFolder.load(path.resolve())
    if not folder.is_finished:
        command = f"{program()} evaluate --resume {folder.id}{where_runs_lie(folder.path.parent)}"
        raise ReportError(f"{folder.id} is not finished: go on with {command}")
    return folder


def write_page(found: Results, folder: EvaluationFolder, make_world: WorldMaker, target: Path | None = None) -> Path:
    """Write the page of a finished evaluation; return where it lies."""
    from spca.evaluation.page.rendering import render_page

    path = target or folder.path / REPORT
    write_atomic(path, render_page(found, folder, make_world, path))
    return path


def describe_page(page: Path) -> str:
    """Return the line that says where a page lies."""
    size = page.stat().st_size
    written = f"{size / 1e6:.1f} MB" if size > 1e5 else f"{size / 1e3:.0f} kB"
    return one_line(f"page: {page} ({written}); open it in a browser")


def look_at(folder: EvaluationFolder) -> str:
    """Return the line that names the command which shows an evaluation."""
    return one_line(f"look at it: {program()} report {folder.id}{where_runs_lie(folder.path.parent)}")


def show_evaluation(
    folder: EvaluationFolder, target: Path | None, load_phases: LoadPhases, *, writes_page: bool
) -> None:
    """Print the figures of an evaluation and write its page.

    Args:
        target: where the page goes; None for the usual place.
        load_phases: asked only where the page is written.

    Raises:
        ReportError: the page cannot be written.
    """
    path = target or folder.path / REPORT
    found = results(folder)
    if writes_page:
        check_target(path)
        write_page(found, folder, load_phases().make_world, path)
    show(found, folder)
    if writes_page:
        print(describe_page(path))


def replay_episode(
    folder: EvaluationFolder, name: str, options: ReplayOptions, make_world: WorldMaker, console: Console
) -> int:
    """Show an episode again; return the exit code.

    Args:
        name: ``ENVIRONMENT:SEED``, as in ``episodes.jsonl``.

    Raises:
        ReportError: there is no such episode, or a file cannot be written.
    """
    from spca.report.read.recordings import Recording
    from spca.report.replay.playback import replay

    played = next((each for each in results(folder).played if each.episode.name == name), None)
    if played is None:
        raise ReportError(f"there is no episode {name!a:.80}: name one as in episodes.jsonl, ENVIRONMENT:SEED")
    trajectory = make_trajectory(played, make_world, upstream_rules=folder.settings.upstream_rules)
    title = f"{played.episode.name} of {folder.id}"
    # Which lines yielded the primitives is not recorded.
    recording = Recording(folder.path, name, title, trajectory, folder.record)
    return replay(recording, options, make_world, console)
