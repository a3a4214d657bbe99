"""A hall with some of everything, and the known cells and things of an agent in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import AIR, code
from explorer.scene import Pose, Scene, Stack
from explorer.view import Thing
from explorer.worlds.observing import Observer

SPAWN = Pose((6, 1, 1))
"""Looks south, down the hall."""


def hall(**blocks: tuple[int, int, int]) -> NDArray[np.uint16]:
    """Return a hall of 13 x 7 x 20 cells: floor of planks, walls and ceiling of stone bricks; blocks by name."""
    cells = np.full((7, 20, 13), code("stone_bricks"), dtype=np.uint16)
    cells[1:6, 1:-1, 1:-1] = AIR
    cells[0] = code("oak_planks")
    for name, (x, y, z) in blocks.items():
        cells[y, z, x] = code(name)
    return cells


def seen(
    blocks: NDArray[np.uint16], pose: Pose = SPAWN, items: dict[tuple[int, int, int], str] | None = None
) -> tuple[NDArray[np.uint16], tuple[Thing, ...]]:
    """Return what an agent knows after one look."""
    observer = Observer(Scene("hall", pose, blocks))
    observer.look(pose, 0, {cell: (Stack(item),) for cell, item in (items or {}).items()}, ())
    return observer.known.copy(), observer.things()
