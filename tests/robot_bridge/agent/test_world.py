"""An agent on the robot in the twin of a small level: what it is shown and does is what MiniGrid would show and do.

The level, 5 x 5 cells: the agent looks north at a yellow key, a locked yellow door is to its right, the goal behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest
from minigrid.core.world_object import Goal

from robot_bridge.agent.rigs import Rig, twin_rig
from robot_bridge.agent.world import RobotWorld, act
from robot_bridge.config import Camera, RobotConfig
from robot_bridge.contracts import ExecutionResult
from robot_bridge.protocols import Journal
from spca.contracts import Status
from spca.errors import RestoreError, WorldError
from spca.sense import perception
from tests.support.bodies.grid import seen
from tests.support.contracts.executing import methods
from tests.support.inprocess import InProcessExecutor
from tests.support.robot_bridge.collisions import watch_collisions

LEVEL, SEED = "MiniGrid-DoorKey-5x5-v0", 4
CONFIG = RobotConfig(camera=Camera(width=320, height=240))
RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = 1, 2, 3, 4, 5

AGENT = methods("""
    def act(self, agent, *codes):
        for code in codes:
            yield int(code[1:])
""")


class Reasons(Journal):
    """Keeps why everything was decided, and what was noted."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def record_decision(self, now: float, result: ExecutionResult) -> None:  # noqa: ARG002
        self.lines.append(result.decision.reasoning)

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:  # noqa: ARG002
        self.lines.append(f"{kind} {data['what']} {data['thing']} {data['success']}")


def called(*codes: int) -> str:
    return f"act(a1, {', '.join(f'n{code}' for code in codes)})"


def shown_by_minigrid(world: RobotWorld) -> list[list[str]]:
    judge: Any = world.rig.judge
    seen = judge.simulator.gen_obs()
    view = perception.encode_view(seen["image"])
    words = perception.word_array()[perception.rotate_view(view, int(seen["direction"]))]
    words[perception.agent_cell(7, int(seen["direction"]))] = "agent"
    found: list[list[str]] = words.tolist()
    return found


def shown(world: RobotWorld) -> list[list[str]]:
    found: list[list[str]] = perception.word_array()[seen(world._agent_view(), "current_observation")].tolist()
    return found


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_a_level_is_solved_in_its_twin_and_shown_as_minigrid_shows_it() -> None:
    journal = Reasons()

    def make() -> Rig:
        rig = twin_rig(LEVEL, SEED, config=CONFIG)
        rig.controller.journals = (journal,)
        return rig

    with closing(RobotWorld(LEVEL, make, InProcessExecutor(), can_restart=False)) as world:
        robot: Any = world.rig.controller.robot
        touched = watch_collisions(robot)
        assert world.mission == "use the key to open the door and then get to the goal"
        assert shown(world) == shown_by_minigrid(world)
        for codes, inventory in (
            ((FORWARD, PICK_UP), "key yellow"),
            ((DROP, PICK_UP), "key yellow"),
            ((RIGHT,), "key yellow"),
        ):
            outcome = act(f"[{called(*codes)}]", AGENT.text, world)
            assert outcome.status is Status.GOAL_NOT_REACHED
            assert world.inventory == inventory
            assert shown(world) == shown_by_minigrid(world)
        assert world.bumps == 1, "the key was in the way"
        judge: Any = world.rig.judge
        assert judge.simulator.step_count == len(world.previous_actions), "what is tried in vain takes a step too"
        with pytest.raises(RestoreError, match="cannot be put back"):
            world.restore(world.checkpoint())
        outcome = act(f"[{called(TOGGLE, FORWARD, FORWARD)}, {called(RIGHT, FORWARD)}]", AGENT.text, world)
        assert outcome.status is Status.SUCCESS
        assert outcome.primitives == (TOGGLE, FORWARD, FORWARD, RIGHT, FORWARD)
        assert outcome.reward > 0
        assert [collision for collision in touched.collisions if collision.caused_by_robot] == []
        with pytest.raises(WorldError, match="over"):
            world.step(FORWARD)
    assert "effect pick_up key yellow True" in journal.lines
    assert "effect toggle door yellow open True" in journal.lines
    assert any(line.startswith(f"{called(RIGHT, FORWARD)}: navigate_to_goal (") for line in journal.lines)
    assert any(line.startswith(f"{called(RIGHT)}: rotate -90") for line in journal.lines)
    with pytest.raises(WorldError, match="closed"):
        world.step(FORWARD)


@pytest.mark.usefixtures("drawing")
def test_a_level_is_not_solved_by_a_robot_that_only_believes_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    make = lambda: twin_rig("MiniGrid-Empty-5x5-v0", 1, config=CONFIG)  # noqa: E731
    with closing(RobotWorld("x", make, InProcessExecutor(), can_restart=False)) as world:
        judge: Any = world.rig.judge
        judge.simulator.put_obj(Goal(), *judge.simulator.front_pos)
        monkeypatch.setattr(world.senses, "go", lambda _pose: True)
        with pytest.raises(WorldError, match="the robot is in"):
            world.step(FORWARD)
        assert judge.solved


def test_what_cannot_be_a_world_is_told_in_one_line() -> None:
    with pytest.raises(WorldError, match="nearest is"):
        RobotWorld("x", lambda: twin_rig("MiniGrid-Emty-5x5-v0", 1), InProcessExecutor())
