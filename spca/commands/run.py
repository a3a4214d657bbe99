"""The command ``run``: learn the levels of a curriculum."""

from __future__ import annotations

from spca.commands.shared_options import Handed
from spca.common.command import ExitHandler
from spca.runs.options import RunOptions
from spca.runs.phases import LoadPhases


def learn(
    options: RunOptions = RunOptions(), *, exit_handler: Handed[ExitHandler], load_phases: Handed[LoadPhases]
) -> int:
    """Learn the levels of a curriculum in a new or a resumed run."""
    from spca.runs.resolution import find_run
    from spca.runs.run import play_run

    settings, begun = find_run(options)
    # The curriculum of a resumed run lies in its run folder, which never has anything imported.
    return play_run(exit_handler, load_phases(), settings, begun, imports_modules=begun is None)
