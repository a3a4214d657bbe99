"""A run that was prepared without checks and locks, over levels that a test chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from spca.runs import startup
from spca.runs.curriculum import Task
from spca.runs.folder import RunFolder
from spca.runs.model_choice import Models
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace


def prepared(chosen: Settings, folder: RunFolder, tasks: list[Task]) -> startup.Prepared:
    """What ``main.Run`` takes; its worlds need no executor."""
    models = Models.of(chosen)
    make_desk = startup.desk_maker(chosen, models, models.caps(), folder)
    workspace, nobody = Workspace(Path(chosen.workspace)), cast("Any", None)
    return startup.Prepared(chosen, models, "", folder, workspace, make_desk, nobody, tuple(tasks), "")
