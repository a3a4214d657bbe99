"""Levels as worlds: what stands where, and a judge that agrees."""

from __future__ import annotations

from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose, wrap_angle
from robot_bridge.errors import SetupError
from robot_bridge.twin.worlds.levels import Level, cell_at, direction_of, heading_of, level_world, middle
from robot_bridge.twin.worlds.world import Thing

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def begun(level: Level) -> Pose:
    """The robot's true pose at the beginning, in the map frame."""
    return Pose(0.0, 0.0, level.world.start.heading)


def place_of(level: Level, cell: tuple[int, int]) -> tuple[float, float]:
    """The middle of a cell in the map frame."""
    x, y = middle(cell)
    return x - level.world.start.x, y - level.world.start.y


def pose_in(level: Level, cell: tuple[int, int], direction: int) -> Pose:
    heading = heading_of(direction)
    return Pose(*Pose(*place_of(level, cell), heading).ahead(-level.centre), heading)


def is_wall(level: Level, cell: tuple[int, int]) -> bool:
    x, y = middle(cell)
    return any(wall.x0 < x < wall.x1 and wall.y0 < y < wall.y1 for wall in level.world.walls)


@pytest.mark.parametrize(
    "env_id",
    [
        "MiniGrid-Empty-6x6-v0",
        "MiniGrid-DoorKey-6x6-v0",
        "MiniGrid-MultiRoom-N4-S5-v0",
        "MiniGrid-LavaGapS6-v0",
        "MiniGrid-RedBlueDoors-6x6-v0",
        "BabyAI-GoToLocal-v0",
        "BabyAI-UnlockPickup-v0",
        "BabyAI-BossLevel-v0",
        "MiniGrid-ObstructedMaze-1Dlhb-v0",
        "BabyAI-PutNextS5N2Carrying-v0",
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_twin_is_the_level(env_id: str, seed: int) -> None:
    level = level_world(env_id, seed)
    sim = level.judge.simulator
    assert level.difference(begun(level), level.world.things) == ""
    assert level.judge.mission == sim.mission
    here = {cell_at(thing.x, thing.y): thing for thing in level.world.things if thing.is_present}
    for cell in ((c, r) for c in range(sim.grid.width) for r in range(sim.grid.height)):
        item = sim.grid.get(*cell)
        around = [(cell[0] + dx, cell[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        grid = [sim.grid.get(*c) for c in around if 0 <= c[0] < sim.grid.width and 0 <= c[1] < sim.grid.height]
        can_be_seen = any(other is None or other.type != "wall" for other in grid)
        assert is_wall(level, cell) == (item is not None and item.type == "wall" and can_be_seen)
        if item is not None and item.type != "wall":
            thing = here.pop(cell)
            assert (thing.kind, thing.color) == (item.type, item.color)
    assert not here


@given(direction=st.integers(0, 3), off=st.floats(-0.7, 0.7))
def test_directions_and_headings(direction: int, off: float) -> None:
    assert direction_of(heading_of(direction) + off) == direction
    dx, dy = Pose(heading=heading_of(direction)).ahead(1.0)
    assert cell_at(dx, dy) == STEPS[direction]


def test_the_footprint_begins_in_the_agents_cell_with_its_heading() -> None:
    level = level_world("BabyAI-GoToLocal-v0", 3)
    assert level.stands(begun(level)) == (level.judge.cell, level.judge.direction)
    x, y = begun(level).ahead(RobotConfig().body.centre)
    assert place_of(level, level.judge.cell) == pytest.approx((x, y))


def test_doors_are_passed_across_their_wall() -> None:
    headings = set()
    for seed in range(6):
        level = level_world("MiniGrid-MultiRoom-N4-S5-v0", seed)
        for door in (thing for thing in level.world.things if thing.kind == "door"):
            column, row = cell_at(door.x, door.y)
            for sign in (-1, 1):
                dx, dy = Pose(heading=door.heading).ahead(float(sign))
                assert not is_wall(level, (column + round(dx), row - round(dy)))
            headings.add(round(abs(wrap_angle(door.heading)), 3))
    assert headings == {0.0, round(pi / 2, 3)}


def test_what_is_hidden_in_boxes_is_in_the_world_but_not_present() -> None:
    level = level_world("BabyAI-KeyInBox-v0", 0)
    ((box, key),) = level.contents.items()
    assert (level.world.things[box].kind, level.world.things[key].kind) == ("box", "key")
    assert level.world.things[box].is_present
    assert not level.world.things[key].is_present
    assert level.world.things[key].x == level.world.things[box].x


def test_what_the_agent_carries_at_first_is_told() -> None:
    level = level_world("BabyAI-PutNextS5N2Carrying-v0", 0)
    assert level.carrying is not None
    carried, thing = level.judge.simulator.carrying, level.world.things[level.carrying]
    assert (thing.kind, thing.color, thing.is_present) == (carried.type, carried.color, False)


def test_the_judge_goes_along_and_says_solved() -> None:
    level = level_world("MiniGrid-Empty-5x5-v0", 0)
    cell, direction = level.judge.cell, level.judge.direction
    for code in (FORWARD, FORWARD, RIGHT, FORWARD, FORWARD):
        assert not level.judge.over
        level.judge.step(code)
        if code == FORWARD:
            cell = cell[0] + STEPS[direction][0], cell[1] + STEPS[direction][1]
        else:
            direction += 1
        assert level.difference(pose_in(level, cell, direction), level.world.things) == ""
    assert level.judge.over
    assert level.judge.solved
    assert level.judge.reward > 0


@pytest.mark.parametrize(
    ("env_id", "code", "why"),
    [("MiniGrid-LavaGapS5-v0", FORWARD, "fatal"), ("MiniGrid-Empty-5x5-v0", LEFT, "the step limit was reached")],
)
def test_a_lost_level_is_over_and_not_solved(env_id: str, code: int, why: str) -> None:
    level = level_world(env_id, 1)
    while not level.judge.over:
        level.judge.step(code)
    assert not level.judge.solved
    assert why in level.judge.why_over


def test_differences_are_told() -> None:
    level = level_world("MiniGrid-DoorKey-5x5-v0", 0)
    things = level.world.things
    assert "looking" in level.difference(Pose(1.0, 0.0, begun(level).heading), things)
    turned = Pose(*begun(level).ahead(level.centre), begun(level).heading + pi / 2)
    assert level.difference(turned, things)
    moved = tuple(Thing(t.kind, t.color, "open" if t.kind == "door" else "", t.x, t.y, t.heading) for t in things)
    assert "open yellow door" in level.difference(begun(level), moved)
    assert "key" in level.difference(begun(level), tuple(t for t in things if t.kind != "key"))


def test_the_same_seed_is_the_same_world() -> None:
    assert level_world("BabyAI-BossLevel-v0", 5).world == level_world("BabyAI-BossLevel-v0", 5).world


@pytest.mark.parametrize(
    ("env_id", "seed", "words"),
    [
        ("MiniGrid-FourRoms-v0", 0, "unknown level 'MiniGrid-FourRoms-v0': .*'MiniGrid-FourRooms-v0'"),
        ("CartPole-v1", 0, "unknown level 'CartPole-v1'"),
        ("MiniGrid-Dynamic-Obstacles-6x6-v0", 0, "things move in it by themselves"),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", 14, "things move in it by themselves"),
    ],
)
def test_what_has_no_twin_is_refused_in_a_line(env_id: str, seed: int, words: str) -> None:
    with pytest.raises(SetupError, match=words) as raised:
        level_world(env_id, seed)
    assert "\n" not in str(raised.value)
