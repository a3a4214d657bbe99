"""Tasks of the gridworld, played as scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from explorer.errors import SceneError
from explorer.milestones import Tracker
from explorer.rules.actions import Primitive
from explorer.rules.blocks import code
from explorer.scene import Scene
from explorer.worlds.flat import FlatWorld, flat_scene
from explorer.worlds.protocol import World
from explorer.worlds.state_hash import state_hash
from explorer.worlds.storage import Storage
from gridworld.library import task_files
from gridworld.task_spec import TaskSpecification
from tests.support.explorer.scenes import emerald
from tests.support.explorer.world_suite import EpisodeSuite, codes
from tests.support.tiers import few

F, L, R = Primitive.FORWARD, Primitive.TURN_LEFT, Primitive.TURN_RIGHT
USE, DROP = Primitive.USE, Primitive.DROP
SHIPPED = [TaskSpecification.from_json(path) for path in task_files("tasks")]
PLAIN = [task for task in SHIPPED if not task.rules.hidden_mechanisms]
CORRIDOR: dict[str, Any] = {
    "task_id": "corridor",
    "seed": 1,
    "difficulty_tier": 3,
    "max_steps": 60,
    "maze": {"dimensions": [10, 4], "start": [1, 1], "goal": [8, 1], "walls": [[5, 2], [7, 2]]},
    "mechanisms": {
        "keys": [
            {"id": "key", "position": [2, 1], "color": "grey"},
            {"id": "spare", "position": [3, 1], "color": "red"},
        ],
        "doors": [{"id": "door", "position": [5, 1], "requires_key": "grey", "initial_state": "locked"}],
        "switches": [{"id": "switch", "position": [6, 1], "controls": ["gate"]}],
        "gates": [{"id": "gate", "position": [7, 1], "initial_state": "closed"}],
        "hazards": [{"id": "lava", "position": [1, 2], "hazard_type": "lava"}],
    },
    "goal": {"type": "reach_position", "target": [8, 1]},
}
CHAIN: dict[str, Any] = {
    "depth": 2,
    "sequence": [
        {"step": 1, "type": "key_door", "element": "key", "unlocks": "door"},
        {"step": 2, "type": "switch_gate", "element": "switch", "unlocks": "gate"},
    ],
}


def made(**fields: Any) -> TaskSpecification:
    chain = {} if fields else {"dependency_chain": CHAIN}
    return TaskSpecification.from_dict(CORRIDOR | chain | fields)


def won(task: TaskSpecification, played: list[int]) -> tuple[FlatWorld, Tracker]:
    scene, milestones = flat_scene(task)
    world, tracker = FlatWorld(), Tracker(milestones, scene.spawn)
    world.reset(scene)
    tracker.observe(world.state(), world.view().known)
    for code_ in played:
        happened = world.step(code_)
        assert happened.done, (code_, happened)
        tracker.observe(world.state(), world.view().known)
    return world, tracker


class TestFlatWorld(EpisodeSuite):
    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return FlatWorld

    @pytest.fixture(params=["corridor", PLAIN[0].task_id])
    def scene(self, request: pytest.FixtureRequest) -> Scene:
        return flat_scene(next(task for task in (made(), *PLAIN) if task.task_id == request.param))[0]


def test_keys_doors_and_switches_are_the_way_to_the_goal() -> None:
    world, tracker = won(made(), [F, F, F, USE, F, F, USE, F, F])
    assert list(tracker.latched.items()) == [("key", 1), ("door", 5), ("gate", 8), ("goal", 9)]
    assert world.state().inventory == {}


def test_the_second_key_waits_for_an_empty_hand() -> None:
    world, _ = won(made(), [F, F])
    state = world.state()
    assert (state.inventory, list(state.items)) == ({"gray_dye": 1}, [(3, 1, 1)])
    world, _ = won(made(), [F, L, L, DROP, R, R, F])
    assert world.state().inventory == {"red_dye": 1}


def test_what_it_cannot_do_is_refused() -> None:
    world = FlatWorld()
    world.reset(flat_scene(made())[0])
    reasons = [world.step(code_).reason for code_ in (Primitive.BACK, Primitive.DIG, L, F, USE, DROP)]
    no_deed = "not possible in the flat world"
    assert reasons == [no_deed, no_deed, "", "bumped", "nothing to use", "nothing to drop there"]


def test_a_hazard_ends_the_episode() -> None:
    world, _ = won(made(), [R, F])
    assert world.state().over == "lava"


def test_a_block_that_is_pushed_home() -> None:
    block = {"id": "block", "position": [2, 1], "color": "green"}
    task = made(
        mechanisms={"blocks": [block]},
        goal={"type": "push_block_to", "target_ids": ["block"], "target_positions": [[4, 1]]},
    )
    world, tracker = won(task, [F, F])
    assert list(tracker.latched.items()) == [("block", 2)]
    assert world.state().blocks[1, 1, 4] == code("green_concrete")


@pytest.mark.parametrize("task", few(4, PLAIN), ids=lambda task: task.task_id)
def test_the_changes_are_all_that_is_different(task: TaskSpecification) -> None:
    scene, milestones = flat_scene(task)
    world = FlatWorld()
    world.reset(scene)
    kept = Storage(scene)
    assert milestones
    for code_ in codes(100, 8):
        if world.state().over:
            break
        kept.do(world.step(code_).changes)
        kept.pose = world.state().pose
        assert state_hash(kept.frozen(world.state().step)) == state_hash(world.state())


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": {"hidden_mechanisms": ["key"]}},
        {"goal": {"type": "survive_steps"}},
        {"goal": {"type": "collect_all", "target_ids": ["switch"]}},
        {"goal": CORRIDOR["goal"] | {"auxiliary_conditions": ["carrying:spare"]}},
    ],
)
def test_a_task_that_no_scene_says_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(SceneError, match="corridor: "):
        flat_scene(made(**fields))


def test_only_tasks_can_be_built() -> None:
    with pytest.raises(SceneError, match="emerald is not a gridworld task"):
        FlatWorld().reset(emerald().scene)
