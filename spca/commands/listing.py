"""The command ``list``: list the categories and levels of a run."""

from __future__ import annotations

from spca.common.command import EXIT_FINISHED
from spca.runs.options import RunOptions


def list_levels(options: RunOptions = RunOptions()) -> int:
    """List the categories and levels that a run with these options learns."""
    from spca.runs.curriculum import list_names
    from spca.runs.resolution import find_run
    from spca.runs.screen.display import list_tasks

    settings, begun = find_run(options, asks_models=False)
    list_tasks(list_names(settings, begun))
    return EXIT_FINISHED
