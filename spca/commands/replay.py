"""The command ``replay``: show a recorded episode again, exactly."""

from __future__ import annotations

from spca.commands.shared_options import Handed, RunsOption, pause_garbage_collection
from spca.report.replay.replay_options import ReplayOptions
from spca.runs.phases import LoadPhases


def replay(
    run: str,
    level: str,
    /,
    *,
    options: ReplayOptions = ReplayOptions(),
    where: RunsOption = RunsOption(),
    load_phases: Handed[LoadPhases],
) -> int:
    """Show an episode again, exactly: as text, picture, GIF or MP4.

    Args:
        run: run id or run folder
        level: number of the level, environment id, or category/environment-id
    """
    from pathlib import Path

    from spca.common.printing import open_console
    from spca.evaluation.report_command import find_evaluation, replay_episode
    from spca.plugins.loaded import require_plugins
    from spca.report.finding import find_one
    from spca.report.read.recordings import find_recording
    from spca.report.read.run_files import open_run
    from spca.report.replay import playback

    with pause_garbage_collection():
        make_world = load_phases().make_world
        console = open_console()
        if folder := find_evaluation(run, where.folder):
            return replay_episode(folder, level, options, make_world, console)
        files = open_run(find_one(run, where.folder, Path.cwd()))
        require_plugins(files.info, f"run {files.path.name}")
        return playback.replay(find_recording(files, level), options, make_world, console)
