"""Random worlds: what is promised of each, for any seed."""

from __future__ import annotations

from collections import Counter
from math import hypot

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.tags import FACES
from robot_bridge.twin.worlds.floor_plans import DOORWAYS, divide_rooms, single_room
from robot_bridge.twin.worlds.random_worlds import FREE_AT_START, make_cluttered
from robot_bridge.twin.worlds.world import Obstacle, Point, TwinWorld, Wall

CELL = 0.05
THING_SIZE = FACES["box"].side
SEEDS = st.integers(0, 2**32 - 1)


def robot_of(world: TwinWorld) -> Point:
    return world.start.ahead(RobotConfig().body.centre)


def to_wall(wall: Wall, x: float, y: float) -> float:
    return hypot(max(wall.x0 - x, x - wall.x1, 0.0), max(wall.y0 - y, y - wall.y1, 0.0))


def to_box(dx: float, dy: float, half_x: float, half_y: float) -> float:
    return hypot(max(dx - half_x, 0.0), max(dy - half_y, 0.0))


def to_obstacle(obstacle: Obstacle, x: float, y: float) -> float:
    dx, dy = abs(obstacle.x - x), abs(obstacle.y - y)
    if obstacle.shape == "cylinder":
        return max(0.0, hypot(dx, dy) - obstacle.half_x)
    return to_box(dx, dy, obstacle.half_x, obstacle.half_y)


def nearest(world: TwinWorld, x: float, y: float, *, with_movers: bool = True) -> float:
    obstacles = [o for o in world.obstacles if o.bottom == 0 and (with_movers or not o.path)]
    things = [to_box(abs(t.x - x), abs(t.y - y), THING_SIZE / 2, THING_SIZE / 2) for t in world.things]
    return min(
        [to_wall(wall, x, y) for wall in world.walls] + [to_obstacle(o, x, y) for o in obstacles] + [*things, 99.0]
    )


def parts_of(free: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Numbers of the connected parts, 0 where it is not free."""
    return np.asarray(cv2.connectedComponents(free.astype(np.uint8), connectivity=4)[1], np.int32)


def is_connected(world: TwinWorld, clearance: float) -> bool:
    """Whether a disc of that radius that begins with the robot comes to every place where it fits, chairs excepted."""
    x0, y0, x1, y1 = world.bounds
    xs, ys = np.meshgrid(np.arange(x0, x1, CELL), np.arange(y0, y1, CELL))
    gap = np.full(xs.shape, np.inf)
    for wall in world.walls:
        across = np.maximum(np.maximum(wall.x0 - xs, xs - wall.x1), 0)
        along = np.maximum(np.maximum(wall.y0 - ys, ys - wall.y1), 0)
        gap = np.minimum(gap, np.hypot(across, along))
    for o in (o for o in world.obstacles if not o.path):
        dx, dy = np.abs(xs - o.x), np.abs(ys - o.y)
        box = np.hypot(np.maximum(dx - o.half_x, 0), np.maximum(dy - o.half_y, 0))
        gap = np.minimum(gap, box if o.shape == "box" else np.hypot(dx, dy) - o.half_x)
    for thing in world.things:
        gap = np.minimum(gap, np.maximum(np.abs(xs - thing.x), np.abs(ys - thing.y)) - THING_SIZE / 2)
    parts = parts_of(gap > clearance)
    x, y = robot_of(world)
    own = parts[round((y - y0) / CELL), round((x - x0) / CELL)]
    return bool(own > 0 and (parts[gap > clearance] == own).all())


@pytest.mark.long
@settings(max_examples=10)
@given(seed=SEEDS)
def test_all_of_the_floor_hangs_together(seed: int) -> None:
    assert is_connected(make_cluttered(seed), 0.2)


@given(seed=SEEDS)
def test_the_start_is_free(seed: int) -> None:
    world = make_cluttered(seed)
    assert nearest(world, *robot_of(world)) >= FREE_AT_START - 1e-6


@given(
    width=st.floats(6, 12),
    height=st.floats(6, 12),
    rooms=st.integers(1, 6),
    seed=st.integers(0, 999),
)
def test_no_wall_stands_in_a_doorway(width: float, height: float, rooms: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    plan = divide_rooms(single_room(width, height), rng, rooms)
    assert len(plan.doorways) == len(plan.rooms) - 1
    for doorway in plan.doorways:
        assert DOORWAYS[0] <= doorway.width <= DOORWAYS[1]
        for off in (-0.4, 0.0, 0.4):
            x, y = (doorway.x + off, doorway.y) if doorway.axis == 0 else (doorway.x, doorway.y + off)
            assert min(to_wall(wall, x, y) for wall in plan.walls) >= 0.2
        assert min(to_wall(wall, doorway.x, doorway.y) for wall in plan.walls) == pytest.approx(doorway.width / 2)
    floor = sum(room.size[0] * room.size[1] for room in plan.rooms)
    assert floor == pytest.approx(width * height, rel=0.1)


@pytest.mark.long
@settings(max_examples=10)
@given(seed=SEEDS)
def test_movers_walk_through_nothing_and_begin_away_from_the_robot(seed: int) -> None:
    world = make_cluttered(seed)
    for mover in (o for o in world.obstacles if o.path):
        assert 0.1 <= mover.speed <= 0.5
        for way in np.arange(0.0, 2 * mover.length, 0.11).tolist():
            x, y = mover.position_at(way)
            assert nearest(world, x, y, with_movers=False) >= mover.half_x
            assert hypot(x - robot_of(world)[0], y - robot_of(world)[1]) > FREE_AT_START + mover.half_x


@pytest.mark.long
def test_cluttered_worlds_have_of_everything() -> None:
    worlds = [make_cluttered(seed) for seed in range(40)]
    for world in worlds:
        x0, y0, x1, y1 = world.bounds
        assert 6 <= x1 - x0 <= 12.5
        assert 6 <= y1 - y0 <= 12.5
        names = Counter(o.name for o in world.obstacles)
        assert 2 <= names["mover"] <= 4
        assert names["leg"] == 4 * names["seat"]
    total = Counter(o.name for world in worlds for o in world.obstacles)
    assert all(total[name] >= 2 * len(worlds) for name in ("pole", "box", "leg", "mover"))
    assert min(o.half_x for world in worlds for o in world.obstacles) == 0.01


def test_the_same_seed_is_the_same_world() -> None:
    assert make_cluttered(7) == make_cluttered(7)
    assert make_cluttered(7) != make_cluttered(8)
