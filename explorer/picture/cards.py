"""Draw a whole scene for people. These pictures show the true state, so agents never get them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.first_person import list_standing
from explorer.picture.raycasting import Camera
from explorer.picture.shading import FOG, Shading, Standing
from explorer.picture.textures import Pixels, has_shape
from explorer.rules.blocks import AIR, BLOCKS, SOLID, has_kind, mask
from explorer.scene import Cell, Scene
from explorer.view import Thing

_PLAYER: Final = "player"
_TALL: Final = math.radians(24)
_FILLED: Final = 0.95
"""Share of the picture's height or width that a scene fills."""
_LEAST: Final = 0.8
"""Size of items in metres, enlarged to be visible from afar."""
_WALL: Final = 2
"""Levels of a wall to keep above the floors beside it."""


def cutaway(scene: Scene, width: int = 640, height: int = 400, *, yaw: float = 2.7, pitch: float = 0.85) -> Pixels:
    """Return a scene seen from outside, without ceilings and with low walls, ``[height, width, 3]``.

    Args:
        yaw, pitch: direction of the camera in radians: 0 is south, right and down are positive.
    """
    blocks = _cut_open(scene.blocks)
    shown = []
    for each in list_standing(blocks, _list_things(scene)):
        shown.append(replace(each, size=max(each.size, _LEAST)))
    shown.append(Standing(_PLAYER, scene.spawn.cell, 1.8))

    cells = np.argwhere(blocks != AIR)[:, [2, 0, 1]]
    corners = np.concatenate([cells + corner for corner in np.ndindex(2, 2, 2)])
    camera = _fit_camera(corners, yaw, pitch, width / height)

    drawn = Shading(blocks, camera, (width, height), shown, haze=0.0).picture()
    colours = np.where(np.isfinite(drawn.far)[..., None], drawn.colours, np.array(FOG))
    image: Pixels = np.rint(colours * 255).astype(np.uint8)
    return image


def _list_things(scene: Scene) -> tuple[Thing, ...]:
    """Return all things of a scene except clusters of blocks."""
    things: list[tuple[str, str, Cell]] = []
    for cell, stacks in scene.items.items():
        things += [(stack.item, str(stack.count), cell) for stack in stacks]
    things += [(mob.kind, "", mob.cell) for mob in scene.mobs]
    for y, z, x in np.argwhere(_DEVICES[scene.blocks]).tolist():
        block = BLOCKS[scene.blocks[y, z, x]]
        things.append((block.name, block.state, (x, y, z)))
    return tuple(Thing(kind, kind, state, cell, 0, True) for kind, state, cell in things)


_DEVICES: Final = has_kind("device", "plate", "chest", "table", "door")


def _cut_open(blocks: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the blocks without those above the highest free cell of each column, and with walls cut low."""
    height, depth, width = blocks.shape
    cubes = (has_shape("cube") & mask(SOLID))[blocks]
    level = np.arange(height)[:, None, None]
    free = ~cubes
    has_room = free.any(axis=0)
    highest = np.where(has_room, (level * free).max(axis=0), -1)
    under = cubes & (level < highest)
    floors = np.where(has_room, np.where(under, level, 0).max(axis=0), -1)

    # A column without a free cell is a wall: it ends above the lowest floor among its eight neighbours.
    beside = np.pad(np.where(floors >= 0, floors, height), 1, constant_values=height)
    neighbours = [beside[z : z + depth, x : x + width] for z, x in np.ndindex(3, 3)]
    lowest = np.min(neighbours, axis=0)
    wall_top = np.where(lowest < height, lowest + _WALL, -1)

    top = np.where(highest >= 0, highest, wall_top)
    return np.where(level <= top, blocks, AIR).astype(np.uint16)


def _fit_camera(points: NDArray[np.intp], yaw: float, pitch: float, aspect: float) -> Camera:
    """Return the camera whose picture some points just fill."""
    turn = Camera.from_angles((0.0, 0.0, 0.0), yaw, pitch, _TALL).turn
    right, up, ahead = turn @ points.T
    tall = math.tan(_TALL / 2) * _FILLED
    wide = tall * aspect

    # Each edge of the picture is a plane through the eye: move the eye back until all points lie between the planes.
    left_end = (right + ahead * wide).min()
    right_end = (right - ahead * wide).max()
    low_end = (up + ahead * tall).min()
    high_end = (up - ahead * tall).max()
    back_by_width = (left_end - right_end) / (2 * wide)
    back_by_height = (low_end - high_end) / (2 * tall)
    back = min(back_by_width, back_by_height)
    aside = (left_end + right_end) / 2
    above = (low_end + high_end) / 2

    x, y, z = (np.array([aside, above, back]) @ turn).tolist()
    return Camera((x, y, z), turn, math.tan(_TALL / 2))
