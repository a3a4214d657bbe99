"""What is saved is loaded, to the last block, and always in the same bytes."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from explorer.errors import SceneError
from explorer.files import Loaded, load_scene, save_scene, scene_line, scene_of_line
from explorer.scene import Mob, Pose, Stack
from tests.support.explorer.random_scenes import loaded_scenes
from tests.support.explorer.scenes import Puzzle, hall
from tests.support.explorer.told import told


def assert_same(made: Loaded, given: Loaded) -> None:
    np.testing.assert_array_equal(made.scene.blocks, given.scene.blocks)
    for each in fields(made.scene):
        if each.name != "blocks":
            assert getattr(made.scene, each.name) == getattr(given.scene, each.name), each.name
    for name in ("milestones", "graph", "text", "certificate", "metadata"):
        assert getattr(made, name) == getattr(given, name), name
    assert (made.published, made.notes, made.faults) == (False, (), ())


@given(loaded_scenes())
@settings(max_examples=15)
def test_a_line_says_all_of_a_scene(given: Loaded) -> None:
    line = scene_line(given)
    assert "\n" not in line
    made = scene_of_line(line, "set.jsonl:1")
    assert_same(made, given)
    assert scene_line(made) == line


@pytest.mark.long
@given(loaded_scenes())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_folder_says_all_of_a_scene(tmp_path: Path, given: Loaded) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    save_scene(tmp_path, given)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    made = load_scene(tmp_path)
    assert_same(made, given)
    assert made.source == str(tmp_path)
    save_scene(tmp_path, made)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spawn": Pose((4, 1, 4), aim=(1, 0, 0))}, "spawn.aim: a spawn cannot aim at a cell"),
        ({"blocks": np.zeros((6, 9, 9), np.uint16)}, "blocks: expected codes of blocks, with air for empty cells"),
        ({"blocks": np.full((6, 9, 9), 60_000, np.uint16)}, "blocks: expected codes of blocks"),
        ({"blocks": np.ones((65, 9, 9), np.uint16)}, "an arena of 9 x 65 x 9 cells: at most 128 x 64 x 128"),
        ({"mobs": (Mob("Ann\"'}", "cow", (1, 1, 1)),)}, "mobs: a mob is called"),
        ({"inventory": {"stick": 0}}, "items: 0 of stick: expected 1 to 100,000"),
        ({"chests": {(1, 1, 1): (Stack("stick"),)}}, "chests: there are chest contents at 1 1 1, but no chest"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    made = told(Puzzle(replace(hall().scene(), **changes), told().milestones))
    with pytest.raises(SceneError) as caught:
        save_scene(tmp_path / "scene", made)
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())
