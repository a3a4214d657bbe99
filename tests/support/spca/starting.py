"""A run that was prepared without checks and locks, over levels that a test chooses, and the log of a recorder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spca.runs import startup
from spca.runs.curriculum import Task
from spca.runs.folder import RunFolder
from spca.runs.model_choice import Models
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace
from spca.sandbox.executor import default_executor


def prepared(chosen: Settings, folder: RunFolder, tasks: list[Task]) -> startup.Prepared:
    """What ``main.Run`` takes; code runs in the sandbox that all worlds of the process share."""
    models = Models.of(chosen)
    make_desk = startup.desk_maker(chosen, models, models.caps(), folder)
    workspace, executor = Workspace(Path(chosen.workspace)), default_executor()
    return startup.Prepared(chosen, models, "", folder, workspace, make_desk, executor, tuple(tasks), "")


class Log:
    """The part of the logger that a recorder needs; remembers in which order it is told."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.told: list[tuple[str, int]] = []

    def summary(self, outcome: str, reason: str, **extra: object) -> dict[str, Any]:
        counters = {"spca_rounds": 2, "planner_calls": 3, "coder_calls": 4}
        level = {"category": "navigation", "level_name": f"level-{len(self.told)}"}
        return {"outcome": outcome, "reason": reason, "counters": counters, "level": level, **extra}

    def write_summary(self, _summary: Mapping[str, Any], /) -> None:
        self.told.append(("summary", len(self._folder.state()["finished"])))

    def end_level(self, _summary: Mapping[str, Any], /) -> None:
        self.told.append(("end", len(self._folder.state()["finished"])))
