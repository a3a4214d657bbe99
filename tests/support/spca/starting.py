"""A run that was prepared without checks and locks, over levels that a test chooses, and the log of a recorder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from main import load_phases
from spca.common import installation
from spca.common.files import make_folder
from spca.common.options.command_line import make_app, run_app
from spca.runs import resolution
from spca.runs.curriculum import Task
from spca.runs.models import Models
from spca.runs.options import RunOptions
from spca.runs.recording.folder import ASKED_ANEW, RunFolder
from spca.runs.resolution import resolve_settings
from spca.runs.run import Run
from spca.runs.screen.display import Display
from spca.runs.settings import Settings
from spca.runs.startup import Prepared
from spca.runs.workspace import Workspace
from spca.sandbox.executor import default_executor
from tests.support.spca.doubles import AGENT
from tests.support.spca.scenes import DOOR_KEY, EMPTY

ABLATIONS = {
    "compile": "--no-compile",
    "reuse": "--no-reuse",
    "regression_check": "--no-regression-check",
    "carry_over": "--no-curriculum",
    "preflight": "--no-preflight",
}
"""Settings that are true by default -> the flag that says otherwise."""


def read_options(*words: str) -> RunOptions:
    """Return the options of a command line of ``run``."""
    read: list[RunOptions] = []

    def keep(options: RunOptions = RunOptions()) -> int:  # noqa: B008  # options are frozen
        read.append(options)
        return 0

    app = make_app("main.py", "")
    app.default(keep)
    run_app(app, words)
    return read[0]


def write_words(**given: object) -> list[str]:
    """Return settings, by name, as they stand on a command line; a list is given once for each of its values."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--server" if name == "servers" else f"--{name.replace('_', '-')}"
        if value is False:
            words += [ABLATIONS[name]] if name in ABLATIONS else []
        elif value is True:
            words += [] if name in ABLATIONS else [flag]
        elif value is not None:
            for each in value if isinstance(value, list | tuple) else [value]:
                words += [flag, str(each)]
    return words


def make_settings(root: Path, environ: Mapping[str, str] | None = None, /, **given: object) -> Settings:
    """Return the settings of a run whose workspace and runs lie in ``root``."""
    folders: dict[str, object] = {"workspace": root / "workspace", "runs": root / "runs"}
    return resolve_settings(read_options(*write_words(**folders | given)), environ or {})


CHECKOUT = Path("/checkout")
HERE = Path("/here")


def resolve_words(*words: str, recorded: Settings | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that a command line means in the folder ``HERE`` of a machine with the checkout ``CHECKOUT``.

    What excludes one another is not refused.
    """
    with (
        patch.object(resolution, "_check_settings", lambda _settings: None),
        patch.object(resolution, "applications", lambda: CHECKOUT),
        patch.object(installation, "applications", lambda: CHECKOUT),
        patch.object(Path, "cwd", lambda: HERE),
    ):
        return resolve_settings(read_options(*words), environ or {}, recorded)


def prepared(chosen: Settings, folder: RunFolder, tasks: list[Task]) -> Prepared:
    """What ``Run`` takes; code runs in the sandbox that all worlds of the process share."""
    models = Models.load(chosen.models)
    return Prepared(
        settings=chosen,
        models=models,
        folder=folder,
        workspace=Workspace(Path(chosen.workspace)),
        executor=default_executor(),
        tasks=tuple(tasks),
        caps=models.caps(),
        go_on="",
        asked_anew=folder.info().get(ASKED_ANEW),
    )


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
        self.told.append(("summary", len(self._folder.read_finished())))

    def end_level(self, _summary: Mapping[str, Any], /) -> None:
        self.told.append(("end", len(self._folder.read_finished())))


class Learned:
    """A run over a few levels, on the reference model unless told otherwise, in this process."""

    ids: tuple[str, ...] = (EMPTY, DOOR_KEY)

    def __init__(self, root: Path, **given: object) -> None:
        chosen = make_settings(root, **{"workspace": root / "w", "quiet": True, **given})
        info = {"settings": chosen.record(), "sandbox": "strict"}
        runs = root / "runs"
        self._resumed = RunFolder(runs / str(given["resume"])) if "resume" in given else None
        self.folder = self._resumed or RunFolder.create(runs, info, "[]", AGENT)
        self._tasks = [Task(n, "a", "b", "c", env_id) for n, env_id in enumerate(self.ids)]
        self._settings = chosen
        make_folder(root / "w")

    def learn(self) -> Self:
        run = prepared(self._settings, self.folder, self._tasks)
        Run(run, load_phases(), Display(self._tasks, quiet=True)).learn()
        return self

    @property
    def book(self) -> list[dict[str, Any]]:
        """The records of all requests."""
        lines = (self.folder.path / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @property
    def transcripts(self) -> list[str]:
        return sorted(path.name for path in (self.folder.path / "llm").iterdir())

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The events of all calls."""
        lines = (self.folder.path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return [e for e in map(json.loads, lines) if e["event"] in ("planner_call", "coder_call")]

    def results(self) -> dict[str, Any]:
        """What two equal runs have in common."""
        summary = self.folder.read_json("summary.json")
        return {key: value for key, value in summary.items() if key not in ("run_id", "usage")}
