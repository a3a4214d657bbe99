"""Runs that several tests of reports look at; nobody writes into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.report import making


@pytest.fixture(scope="session")
def mixed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real run of three levels: two solved, with repairs of the planner's answers, and one failed."""
    return making.mixed_run(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that no model was asked for: three levels, solved, failed, solved."""
    return making.finished_run(tmp_path_factory.mktemp("finished"))
