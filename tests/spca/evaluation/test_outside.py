"""What is said of the ids outside the curriculum, held against the installed minigrid."""

from __future__ import annotations

import importlib.util
from contextlib import closing
from pathlib import Path

import pytest

from minigridenv import MiniGridEnv, list_known_ids
from spca.errors import WorldError
from spca.evaluation.outside import CATEGORY, UNPLAYABLE, find_outside, level_name
from spca.runs.curriculum import load

ROOT = Path(__file__).resolve().parents[3]
LEARNED = {task.env_id for task in load(ROOT / "merged_curriculum2.json").tasks()}
OUTSIDE = find_outside(list_known_ids(), LEARNED)


def test_every_registered_id_is_learned_played_or_explained() -> None:
    playable = {task.env_id for task in OUTSIDE.tasks}
    assert playable.isdisjoint(LEARNED | UNPLAYABLE.keys())
    assert playable | LEARNED | UNPLAYABLE.keys() == set(list_known_ids())
    assert OUTSIDE.unplayable == UNPLAYABLE
    assert [task.index for task in OUTSIDE.tasks] == list(range(21))
    assert {task.category for task in OUTSIDE.tasks} == {CATEGORY}


@pytest.mark.parametrize("env_id", [task.env_id for task in OUTSIDE.tasks])
def test_the_playable_can_be_played(env_id: str) -> None:
    with closing(MiniGridEnv(env_id, 1)) as world:
        assert world.mission
        world.step(0)


@pytest.mark.parametrize("env_id", sorted(env_id for env_id in UNPLAYABLE if "WFC" in env_id))
def test_wave_function_collapse_lacks_its_patterns(env_id: str) -> None:
    with pytest.raises(WorldError, match="No such file") as raised:
        MiniGridEnv(env_id, 1)
    found = importlib.util.find_spec("minigrid")
    assert found is not None
    assert found.submodule_search_locations is not None
    (package,) = found.submodule_search_locations
    missing = UNPLAYABLE[env_id].rpartition(" ")[2]
    assert missing.split("/", 1)[1] in str(raised.value)
    assert not (Path(package).parent / missing).exists()


def test_the_playground_has_no_mission() -> None:
    with closing(MiniGridEnv("MiniGrid-Playground-v0", 1)) as world:
        assert not world.mission


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("BabyAI-GoToLocalS7N4-v0", "Go To Local"),
        ("MiniGrid-GoToObject-6x6-N2-v0", "Go To Object"),
        ("MiniGrid-ObstructedMaze-2Dlhb-v0", "Obstructed Maze"),
        ("MiniGrid-MemoryS9-v0", "Memory"),
        ("BabyAI-Pickup-v0", "Pickup"),
    ],
)
def test_a_level_is_named_without_its_sizes(env_id: str, name: str) -> None:
    assert level_name(env_id) == name
