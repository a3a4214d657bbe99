"""One run whose levels end in every way, its report, and a browser to look at it with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support import browsing
from tests.support.browsing import Visit
from tests.support.commands import curriculum, main_py, only_run

LEVELS = {
    "goal_navigation": "MiniGrid-Empty-5x5-v0",
    "open_door": "MiniGrid-GoToDoor-5x5-v0",
    "unlock_door": "MiniGrid-DoorKey-5x5-v0",
}
"""With ``faulty/stubborn/coder``: solved, stuck in every attempt, and a crash in every attempt."""


@pytest.fixture(scope="session")
def failing_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of which two levels of three fail."""
    home = tmp_path_factory.mktemp("failing")
    curriculum(home / "curriculum.json", **{category: [env_id] for category, env_id in LEVELS.items()})
    where = ("--curriculum", "curriculum.json", "--runs", "runs", "--workspace", "workspace")
    models = ("--planner-model", "reference/planner", "--planner-small-model", "reference/planner")
    done = main_py(home, *where, *models, "--coder-model", "faulty/stubborn/coder", "--quiet")
    assert done.returncode == 0, done.stderr
    return only_run(home / "runs")


@pytest.fixture(scope="session")
def failing_report(failing_run: Path) -> Path:
    """The page of that run."""
    made = main_py(failing_run.parent, "report", failing_run)
    assert made.returncode == 0, made.stderr
    return failing_run / "report.html"


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A fresh window, which must not complain of anything."""
    with browsing.visit(chromium) as made:
        yield made
    assert made.complaints == []
