"""A run whose policy the tests use; nobody writes into it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import spca
from tests.support.report.making import real_run


@pytest.fixture(scope="session")
def learned_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real run of the embedded model: three levels, each in a category of its own."""
    home = tmp_path_factory.mktemp("learned")
    doors = ["MiniGrid-DoorKey-5x5-v0"]
    return real_run(home, walking=["MiniGrid-Empty-5x5-v0"], unlock_door=doors, rooms=["BabyAI-GoToLocal-v0"])


@pytest.fixture(scope="session")
def policy(learned_run: Path) -> Iterator[spca.LearnedPolicy]:
    """The policy of this run, for all tests; each begins an episode of its own."""
    with spca.load_policy(learned_run) as loaded:
        yield loaded
