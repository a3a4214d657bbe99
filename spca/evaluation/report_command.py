"""The commands ``report`` and ``replay`` for an evaluation: print the figures, write the page, replay an episode."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from spca.act.frame import WorldMaker
from spca.common.command import program
from spca.common.files import write_atomic
from spca.common.installation import where_runs_lie
from spca.common.text import one_line
from spca.errors import ReportError, WorldError
from spca.evaluation.eval_folder import RECORD, REPORT, EvaluationFolder
from spca.evaluation.figures import show
from spca.evaluation.playing.harness import results
from spca.evaluation.summary import Results
from spca.evaluation.trajectories import make_trajectory
from spca.plugins.loaded import format_plugin_flags, require_plugins
from spca.report.finding import check_target
from spca.report.replay.replay_options import ReplayOptions
from spca.runs.phases import LoadPhases
from spca.runs.recording.folder import only_folder

if TYPE_CHECKING:
    from rich.console import Console


def find_evaluation(name: str, runs: Path) -> EvaluationFolder | None:
    """Return the finished evaluation that a user names, or None if no evaluation has this name.

    Args:
        name: the evaluation's id, a unique beginning of the id, or a path relative to the working folder.

    Raises:
        ReportError: the evaluation is not finished.
        ResumeError: a file of the evaluation cannot be read.
    """
    candidates = (runs / name, Path.cwd() / name, only_folder(runs, name))
    evaluations = (each for each in candidates if each and os.path.isfile(each / RECORD))
    path = next(evaluations, None)
    if path is None:
        return None

    folder = EvaluationFolder.load(path.resolve())
    if not folder.is_finished:
        where = f"{where_runs_lie(folder.path.parent)}{format_plugin_flags()}"
        command = f"{program()} evaluate --resume {folder.id}{where}"
        raise ReportError(f"{folder.id} is not finished: go on with {command}")
    return folder


def write_page(found: Results, folder: EvaluationFolder, make_world: WorldMaker, target: Path | None = None) -> Path:
    """Write the page of a finished evaluation and return the path of the page.

    Args:
        target: the path of the page; None for ``report.html`` in the evaluation's folder.
    """
    from spca.evaluation.page.rendering import render_page

    path = target or folder.path / REPORT
    write_atomic(path, render_page(found, folder, make_world, path))
    return path


def describe_page(page: Path) -> str:
    """Return a line for the user with the path and the size of a page."""
    size = page.stat().st_size
    size_text = f"{size / 1e3:.0f} kB"
    if size > 1e5:
        size_text = f"{size / 1e6:.1f} MB"
    return one_line(f"page: {page} ({size_text}); open it in a browser")


def look_at(folder: EvaluationFolder) -> str:
    """Return a line for the user with the command that reports an evaluation."""
    where = f"{where_runs_lie(folder.path.parent)}{format_plugin_flags()}"
    return one_line(f"look at it: {program()} report {folder.id}{where}")


def show_evaluation(
    folder: EvaluationFolder, target: Path | None, load_phases: LoadPhases, *, writes_page: bool
) -> None:
    """Print the figures of an evaluation and, if ``writes_page`` is set, write its page.

    Args:
        target: the path of the page; None for ``report.html`` in the evaluation's folder.
        load_phases: called only if the page is written.

    Raises:
        PluginError: the page is written, but a plugin of the evaluation is not loaded.
        ReportError: the page cannot be written.
    """
    path = target or folder.path / REPORT
    evaluation_results = results(folder)
    if writes_page:
        check_target(path)
        require_plugins(folder.record, f"evaluation {folder.id}")
        write_page(evaluation_results, folder, load_phases().make_world, path)
    show(evaluation_results, folder)
    if writes_page:
        print(describe_page(path))


def replay_episode(
    folder: EvaluationFolder, name: str, options: ReplayOptions, make_world: WorldMaker, console: Console
) -> int:
    """Replay an episode of an evaluation and return the exit code of the command.

    Args:
        name: ``ENVIRONMENT:SEED``, as in ``episodes.jsonl``.

    Raises:
        PluginError: a plugin of the evaluation is not loaded.
        ReportError: there is no such episode, or a file cannot be written.
    """
    from spca.report.read.recordings import Recording
    from spca.report.replay.playback import replay

    require_plugins(folder.record, f"evaluation {folder.id}")
    matches = (each for each in results(folder).played if each.episode.name == name)
    played = next(matches, None)
    if played is None:
        raise ReportError(f"there is no episode {name!a:.80}: name one as in episodes.jsonl, ENVIRONMENT:SEED")
    try:
        trajectory = make_trajectory(played, make_world, upstream_rules=folder.settings.upstream_rules)
    except WorldError as error:
        raise ReportError(f"the episode cannot be played: {error}") from error
    title = f"{played.episode.name} of {folder.id}"
    # An evaluation does not record which lines of code yielded the primitives, so the recording has no lines.
    recording = Recording(folder.path, name, title, trajectory, folder.record)
    return replay(recording, options, make_world, console)
