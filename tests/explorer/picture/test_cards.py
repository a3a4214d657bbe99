"""Pictures of whole scenes for people, without ceilings."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.picture.cards import cutaway
from explorer.picture.shading import FOG
from explorer.rules.blocks import code
from explorer.scene import Mob, Scene, Stack
from tests.support.explorer.pictured import SPAWN, hall


def scene(floor: str = "oak_planks", **parts: object) -> Scene:
    blocks = hall(lever=(3, 1, 8))
    blocks[0, 1:-1, 1:-1] = code(floor)
    return Scene("hall", SPAWN, blocks, **parts)  # type: ignore[arg-type]


def share(image: np.ndarray, channel: int) -> float:
    """Share of pixels in which a channel is by far the strongest."""
    others = np.delete(image.astype(int), channel, axis=2).max(axis=2)
    return float((image[..., channel] > 1.5 * others).mean())


@pytest.mark.parametrize("yaw", [0.0, 1.0, 2.7, 4.5])
def test_a_cutaway_looks_into_the_rooms_from_any_side(yaw: float) -> None:
    image = cutaway(scene("lime_concrete"), 240, 160, yaw=yaw)
    assert image.shape == (160, 240, 3)
    assert share(image, 1) > 0.12


@pytest.mark.parametrize(("width", "height"), [(240, 160), (100, 200), (300, 60)])
def test_a_cutaway_fits_into_its_picture_and_fills_it(width: int, height: int) -> None:
    image = cutaway(scene(), width, height).astype(int)
    rows, columns = np.nonzero(np.abs(image - np.rint(np.array(FOG) * 255)).max(axis=2) > 8)
    for found, size in ((rows, height), (columns, width)):
        assert found.min() >= 0.01 * size
        assert found.max() <= 0.99 * size
    assert max(np.ptp(rows) / height, np.ptp(columns) / width) > 0.8


def test_a_cutaway_shows_the_agent_items_and_mobs() -> None:
    plain = cutaway(scene(), 240, 160).astype(int)
    full = cutaway(
        scene(items={(6, 1, 8): (Stack("emerald"),)}, mobs=(Mob("a", "sheep", (4, 1, 14)),)), 240, 160
    ).astype(int)
    assert 20 < (np.abs(full - plain).max(axis=2) > 40).sum() < 2000
