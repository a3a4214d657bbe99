"""Physics carries out what the lattice says, on any terrain."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.rules.actions import Primitive
from explorer.rules.blocks import AIR, code
from explorer.rules.moves import OUTSIDE, find_heading, move, stands
from explorer.scene import Cell, Pose
from explorer.worlds.body import BACK, FORWARD, JUMPING, LEFT, RIGHT, Body, Solids
from explorer.worlds.controller import carry_out, drop_down, rise

STONE, LAVA = code("stone"), code("lava")
MOVES = (Primitive.FORWARD, Primitive.BACK, Primitive.LEFT, Primitive.RIGHT, Primitive.JUMP)
KEYS = dict(zip(MOVES, (FORWARD, BACK, LEFT, RIGHT, FORWARD | JUMPING), strict=True))
SIZE = 8


class Rocks:
    """Random terrain: columns of random height, some holes in them and some blocks in the air."""

    def __init__(self, seed: int, lava: float = 0) -> None:
        random = np.random.default_rng(seed)
        heights = random.integers(1, 6, (SIZE, SIZE)) - random.integers(0, 3)
        levels = np.arange(SIZE)[:, None, None]
        rock = (levels < heights) & (random.random((SIZE, SIZE, SIZE)) < 0.95)
        rock |= random.random((SIZE, SIZE, SIZE)) < random.choice([0, 0.05, 0.15])
        self.blocks = np.where(rock, STONE, AIR).astype(np.uint16)
        self.blocks[~rock & (random.random(rock.shape) < lava)] = LAVA
        self.solids = Solids(self.blocks)

    def block(self, cell: Cell) -> int:
        x, y, z = cell
        inside = all(0 <= value < SIZE for value in cell)
        return int(self.blocks[y, z, x]) if inside else OUTSIDE

    def poses(self) -> Iterator[Pose]:
        cells = [(x, y, z) for x in range(SIZE) for y in range(SIZE) for z in range(SIZE)]
        yield from (Pose(cell, sum(cell) % 4) for cell in cells if stands(self, cell))


@pytest.mark.long
@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_lattice_foretells_each_move(seed: int) -> None:
    rocks = Rocks(seed)
    for pose in rocks.poses():
        for primitive in MOVES:
            way = move(rocks, pose, primitive)
            body = Body(rocks.solids, pose.cell)
            if way.end == "moved":
                assert carry_out(body, pose, primitive, way), (pose, primitive, way)
                assert body.cell == way.cell
                assert (body.x % 1, body.y % 1, body.z % 1) == (0.5, 0, 0.5)
                assert (body.vx, body.vz) == (0, 0)
                assert body.ticks <= 30


def brushes_lava(rocks: Rocks, pose: Pose) -> bool:
    """Whether a jump would touch lava by the 5 cm that it rises into the cells above its head-room."""
    (x, y, z), (dx, _, dz) = pose.cell, find_heading(pose, Primitive.JUMP)
    return LAVA in (rocks.block((x + far * dx, y + 3, z + far * dz)) for far in range(3))


@pytest.mark.long
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1]))
@settings(max_examples=30, deadline=None)
def test_no_move_that_is_carried_out_touches_lava_but_overhead(seed: int, lava: float) -> None:
    rocks = Rocks(seed, lava)
    for pose in rocks.poses():
        for primitive in MOVES:
            way = move(rocks, pose, primitive)
            if way.end == "moved":
                body = Body(rocks.solids, pose.cell)
                assert carry_out(body, pose, primitive, way)
                assert not body.burnt or brushes_lava(rocks, pose), (pose, primitive, way)


@pytest.mark.long
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_what_the_lattice_calls_a_bump_is_one(seed: int) -> None:
    rocks = Rocks(seed)
    for pose in rocks.poses():
        for primitive in MOVES:
            way = move(rocks, pose, primitive)
            if way.reason == "bumped" and way.kind != "over":
                dx, _, dz = find_heading(pose, primitive)
                body = Body(rocks.solids, pose.cell)
                for _ in range(25):
                    body.tick(KEYS[primitive], 90.0 * pose.facing)
                    assert (body.x - pose.cell[0] - 0.5) * dx + (body.z - pose.cell[2] - 0.5) * dz < 0.5


@pytest.mark.parametrize("ceiling", [3, 4])
@pytest.mark.parametrize("deep", [1, 7])
def test_a_fall_and_a_pillar_end_in_the_middle(ceiling: int, deep: int) -> None:
    blocks = np.full((deep + ceiling, 3, 3), AIR, np.uint16)
    solids = Solids(blocks)
    body = Body(solids, (1, deep, 1))
    assert drop_down(body) == (1, 0, 1)
    assert rise(body, lambda: solids.put((1, 0, 1), STONE))
    assert (body.x, body.y, body.z, body.vx, body.vz) == (1.5, 1, 1.5, 0, 0)


def test_a_pillar_under_a_ceiling_is_given_up() -> None:
    body = Body(Solids(np.full((2, 3, 3), AIR, np.uint16)), (1, 0, 1))
    assert not rise(body, lambda: pytest.fail("nothing is put"))
    assert body.cell == (1, 0, 1)
