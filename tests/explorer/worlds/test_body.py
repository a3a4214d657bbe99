"""The body moves as a player of the game does; figures are those of Minecraft 1.16.5."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.rules.blocks import AIR, code
from explorer.worlds.body import BACK, FORWARD, JUMPING, LEFT, RIGHT, SPRINTING, Body, Solids

STONE = code("stone")
EAST = -90.0


def arena(x: int = 40, y: int = 16, z: int = 3, floor: int = 8) -> np.ndarray:
    blocks = np.full((y, z, x), AIR, np.uint16)
    blocks[:floor] = STONE
    return blocks


def test_a_jump_rises_by_1_2522_m_and_lasts_12_ticks() -> None:
    body = Body(Solids(arena()), (2, 8, 1))
    heights = []
    body.tick(JUMPING, 0.0)
    while not body.on_ground:
        heights.append(body.y - 8)
        body.tick(0, 0.0)
    assert max(heights) == pytest.approx(1.2522, abs=1e-4)
    assert len(heights) + 1 == 12


@pytest.mark.parametrize(
    ("keys", "speed"), [(FORWARD, 4.317), (BACK, 4.317), (LEFT, 4.317), (FORWARD | SPRINTING, 5.612)]
)
def test_its_speed_is_that_of_a_player(keys: int, speed: float) -> None:
    body = Body(Solids(arena(x=60, z=60)), (30, 8, 30))
    for _ in range(20):
        body.tick(keys, 30.0)
    x, z = body.x, body.z
    for _ in range(20):
        body.tick(keys, 30.0)
    assert np.hypot(body.x - x, body.z - z) == pytest.approx(speed, abs=0.01)


def test_forward_and_sideways_together_are_no_faster() -> None:
    body = Body(Solids(arena(x=60, z=60)), (30, 8, 30))
    for _ in range(40):
        x, z = body.x, body.z
        body.tick(FORWARD | RIGHT, 0.0)
    assert 0.2158 < np.hypot(body.x - x, body.z - z) < 0.2203


def crosses(gap: int, drop: int, keys: int) -> bool:
    """Whether some run and jump gets over a gap, onto ground that lies lower."""
    blocks = arena()
    blocks[:, :, 12 : 12 + gap] = AIR
    blocks[8 - drop : 8, :, 12 + gap :] = AIR
    solids = Solids(blocks)
    for take_off in (11.8 + 0.05 * tenth for tenth in range(11)):
        body = Body(solids, (2, 8, 1))
        while body.y >= 8 - drop - 0.01:
            body.tick(keys | JUMPING * (body.x > take_off), EAST)
            if body.on_ground and body.x > 12 + gap:
                return True
    return False


@pytest.mark.parametrize(
    ("keys", "drop", "widest"), [(FORWARD, 0, 2), (FORWARD | SPRINTING, 0, 4), (FORWARD | SPRINTING, 2, 5)]
)
def test_the_gaps_of_the_game_come_out(keys: int, drop: int, widest: int) -> None:
    assert [gap for gap in range(1, 8) if crosses(gap, drop, keys)] == list(range(1, widest + 1))


def test_a_step_of_one_is_not_climbed_without_a_jump() -> None:
    blocks = arena()
    blocks[8, :, 5] = STONE
    body = Body(Solids(blocks), (3, 8, 1))
    for _ in range(40):
        body.tick(FORWARD | SPRINTING, EAST)
    assert body.cell == (4, 8, 1)
    assert body.x == pytest.approx(4.7)


@pytest.mark.parametrize("yaw", range(0, 360, 15))
def test_no_key_gets_it_out_of_a_room(yaw: int) -> None:
    blocks = np.full((4, 5, 5), AIR, np.uint16)
    body = Body(Solids(blocks), (2, 0, 2))
    for tick in range(200):
        body.tick(FORWARD | SPRINTING | JUMPING * (tick % 7 == 0) | LEFT * (tick % 31 > 20), yaw + tick / 10)
        assert 0.3 - 1e-9 <= min(body.x, body.z)
        assert max(body.x, body.z) <= 4.7 + 1e-9
        assert 0 <= body.y <= 2.2 + 1e-9


def test_it_does_not_hang_on_a_wall_that_it_leans_on() -> None:
    blocks = np.full((30, 5, 9), AIR, np.uint16)
    blocks[:29, :, 5:] = STONE
    for start in (4, 4.3, 4.69999):
        body = Body(Solids(blocks), (3, 28, 2))
        body.x = start
        for _ in range(80):
            body.tick(FORWARD, EAST)
        assert body.y == 0


def test_lava_burns_what_touches_it() -> None:
    blocks = arena()
    blocks[8, 1, 5] = code("lava")
    body = Body(Solids(blocks), (3, 8, 1))
    while body.x + 0.3 < 5 - 0.2:
        body.tick(FORWARD, EAST)
        assert not body.burnt
    for _ in range(4):
        body.tick(FORWARD, EAST)
    assert body.burnt


def test_a_changed_block_is_felt() -> None:
    solids = Solids(arena())
    body = Body(solids, (3, 8, 1))
    solids.put((3, 7, 1), AIR)
    for _ in range(20):
        body.tick(0, 0.0)
    assert body.cell == (3, 7, 1)
