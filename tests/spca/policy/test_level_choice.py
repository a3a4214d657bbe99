"""Which level a policy is told to play."""

from __future__ import annotations

import pytest

from spca.common.errors import SettingsError
from spca.contracts import LevelInfo
from spca.policy.level_choice import choose_level
from spca.runs.curriculum import Task

WALKING = Task(0, "Walking", "Walk", "Empty", "MiniGrid-Empty-5x5-v0")
TEA = Task(1, "Drinks", "Buy", "Tea", "Lab/Shop-v0", {"slots": 3}, mission="buy tea")
TASKS = (WALKING, TEA)


@pytest.mark.parametrize(
    ("given", "info", "env_id"),
    [
        (None, LevelInfo("", "", ""), ""),
        ("MiniGrid-Empty-5x5-v0", LevelInfo("Walking", "Walk", "Empty"), "MiniGrid-Empty-5x5-v0"),
        (TEA.spec.name, LevelInfo("Drinks", "Buy", "Tea"), "Lab/Shop-v0"),
        ("walking", LevelInfo("Walking", "Walk", ""), ""),
        ("tea", LevelInfo("Drinks", "Buy", "Tea"), ""),
        ("drinks/tea", LevelInfo("Drinks", "Buy", "Tea"), ""),
        (
            "BabyAI-GoToLocalS7N4-v0",
            LevelInfo("outside", "Do what the mission says", "Go To Local"),
            "BabyAI-GoToLocalS7N4-v0",
        ),
        (LevelInfo("a", "b", "c"), LevelInfo("a", "b", "c"), ""),
    ],
)
def test_a_level_is_named_in_several_ways(given: LevelInfo | str | None, info: LevelInfo, env_id: str) -> None:
    chosen = choose_level(given, TASKS)
    assert (chosen.info, chosen.spec.id) == (info, env_id)
    assert chosen.is_known == (given is not None)


def test_arguments_and_mission_come_from_the_curriculum() -> None:
    assert choose_level("Lab/Shop-v0", TASKS).spec == TEA.spec
    assert choose_level("Tea", TASKS).spec.mission == "buy tea"


def test_a_misspelled_level_is_refused() -> None:
    with pytest.raises(SettingsError, match="level 'Walkin' is not in the run's curriculum: did you mean 'Walking'"):
        choose_level("Walkin", TASKS)
    with pytest.raises(SettingsError, match="give an environment id, or a category"):
        choose_level("xyzzy", TASKS)
