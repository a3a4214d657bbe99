"""Files of careless and hostile hands: named problems and no traceback, or a task that can be played."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gridworld.library import task_files
from gridworld.task.validation import check_file
from tests.soak.gridworld_gates import files
from tests.support.gridworld.hostile import MUTATORS


@pytest.mark.long
def test_a_slice_of_the_soak_test() -> None:
    figures = files(seed=7, first=0, count=60)
    assert figures["wrong"] == []
    assert figures["refused"] > 30
    assert figures["playable"] > 3


@pytest.mark.parametrize("name", sorted(MUTATORS))
def test_every_mutation_is_seen_through_or_harmless(name: str, tmp_path: Path) -> None:
    rng, path = random.Random(name), tmp_path / "task.json"
    task = json.loads(task_files("validation_10")[9].read_text(encoding="utf-8"))
    before = json.dumps(task)
    problems: list[str] = []
    for _ in range(6):
        path.write_bytes(MUTATORS[name](rng, json.loads(before)))
        problems += check_file(path, warnings=problems)
    assert problems
    assert all(problem.isprintable() for problem in problems)
