"""What pictures add: floor and marks in drawn pictures, and what is remembered of what was seen."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from robot_bridge.agent.cells import Cell, Ground, Lattice, Terrain
from robot_bridge.agent.senses import Knowledge, floor
from robot_bridge.config import Camera
from robot_bridge.contracts import Frame, Pose, Sighting
from robot_bridge.tags import Label

CAMERA = Camera()
LATTICE = Lattice(0.1, 0.0)
GREEN, RED, GREY = (40, 165, 65), (215, 40, 40), (170, 165, 155)


def picture(pose: Pose, marks: dict[Cell, tuple[int, int, int]], wall: float = 20.0) -> Frame:
    """An endless floor with coloured cells, a wall across the view so far ahead, with 1 % noise of depth."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[: CAMERA.height, : CAMERA.width]
    below = np.maximum(rows - (CAMERA.height - 1) / 2, 1e-6)
    depth = np.minimum(CAMERA.z * CAMERA.focal / below, wall)
    left = -(columns - (CAMERA.width - 1) / 2) / CAMERA.focal * depth
    ahead = depth + CAMERA.x
    x = pose.x + np.cos(pose.heading) * ahead - np.sin(pose.heading) * left
    y = pose.y + np.sin(pose.heading) * ahead + np.cos(pose.heading) * left
    rgb = np.full((*depth.shape, 3), GREY, np.uint8)
    for cell, color in marks.items():
        at = LATTICE.middle(cell)
        rgb[(np.abs(x - at[0]) < 0.45) & (np.abs(y - at[1]) < 0.45) & (depth < wall)] = color
    depth = np.where(depth > CAMERA.depth_max, 0, depth * rng.normal(1, 0.01, depth.shape))
    return Frame(1.0, rgb, depth.astype(np.float32), CAMERA.focal)


@pytest.mark.parametrize(("heading", "ahead"), [(0.0, (0, 1)), (-pi / 2, (1, 0)), (pi / 2, (-1, 0)), (-pi, (0, -1))])
def test_marks_lie_where_they_are_whichever_way_the_robot_looks(heading: float, ahead: Cell) -> None:
    x, y = LATTICE.middle((0, 0))
    pose = Pose(x - 0.1 * np.cos(heading), y - 0.1 * np.sin(heading), heading)
    far = ahead[0] * 4, ahead[1] * 4
    seen = floor(picture(pose, {ahead: GREEN, far: RED}), pose, CAMERA, LATTICE)
    assert seen[ahead] == ("goal", "green", "")
    assert seen[far] == ("lava", "red", "")
    assert seen[ahead[0] * 2, ahead[1] * 2] is None
    assert (0, 0) not in seen
    assert (-ahead[0], -ahead[1]) not in seen


def test_no_floor_is_seen_behind_a_wall() -> None:
    seen = floor(picture(Pose(), {}, wall=2.3), Pose(), CAMERA, LATTICE)
    assert max(column for _, column in seen) == 2


FREE: Terrain = Terrain(np.full((9, 9), Ground.FREE, np.uint8), (-4, -4))
THING: Terrain = Terrain(np.full((9, 9), Ground.THING, np.uint8), (-4, -4))
WALL: Terrain = Terrain(np.full((9, 9), Ground.WALL, np.uint8), (-4, -4))
BALL: Label = ("ball", "red", "")


def test_free_ground_is_empty_once_its_floor_was_seen() -> None:
    knowledge = Knowledge()
    assert knowledge.word((0, 1), FREE) == "unseen"
    knowledge.see(1.0, {(0, 1): None})
    assert knowledge.word((0, 1), FREE) == "empty"
    assert knowledge.word((0, 1), THING) == "unseen", "what it is was not recognised"


def test_a_sign_tells_what_stands_there_where_the_lidar_agrees() -> None:
    knowledge = Knowledge()
    knowledge.recognise(1.0, [Sighting("ball", "red", "", 1.15, 0.05)], Pose(), LATTICE)
    assert knowledge.word((0, 1), THING) == "ball red"
    assert knowledge.word((0, 1), FREE) == "unseen"
    assert knowledge.word((0, 1), WALL) == "wall"


def test_a_sign_between_cells_is_not_understood() -> None:
    knowledge = Knowledge()
    knowledge.recognise(1.0, [Sighting("ball", "red", "", 1.55, 0.45)], Pose(), LATTICE)
    assert knowledge.things == {}


def test_what_was_done_is_newer_than_pictures_from_before() -> None:
    knowledge = Knowledge()
    knowledge.recognise(1.0, [Sighting("ball", "red", "", 1.1, 0.0)], Pose(), LATTICE)
    knowledge.change((0, 1), None, 2.0)
    knowledge.recognise(1.9, [Sighting("ball", "red", "", 1.1, 0.0)], Pose(), LATTICE)
    assert knowledge.word((0, 1), FREE) == "empty"
    knowledge.change((0, 1), ("door", "blue", "open"), 3.0)
    assert knowledge.word((0, 1), FREE) == "door blue open"
    knowledge.recognise(3.5, [Sighting("door", "blue", "closed", 1.1, 0.0)], Pose(), LATTICE)
    assert knowledge.word((0, 1), THING) == "door blue closed"
