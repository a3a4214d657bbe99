"""What is saved is loaded, to the last block, and always in the same bytes."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings

from explorer.files import Loaded, load_scene, save_scene, scene_line, scene_of_line
from tests.support.explorer.random_scenes import loaded_scenes


def assert_same(made: Loaded, given: Loaded) -> None:
    np.testing.assert_array_equal(made.scene.blocks, given.scene.blocks)
    for each in fields(made.scene):
        if each.name != "blocks":
            assert getattr(made.scene, each.name) == getattr(given.scene, each.name), each.name
    for name in ("milestones", "graph", "text", "certificate", "metadata"):
        assert getattr(made, name) == getattr(given, name), name
    assert (made.published, made.notes, made.faults) == (False, (), ())


@given(loaded_scenes())
def test_a_line_says_all_of_a_scene(given: Loaded) -> None:
    line = scene_line(given)
    assert "\n" not in line
    made = scene_of_line(line, "set.jsonl:1")
    assert_same(made, given)
    assert scene_line(made) == line


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
