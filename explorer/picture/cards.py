"""Draw a whole scene for people. These pictures show the true state, so agents never get them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.first_person import standing
from explorer.picture.raycasting import Camera
from explorer.picture.shading import FOG, Shading, Standing
from explorer.picture.textures import Pixels, has_shape
from explorer.rules.blocks import AIR, BLOCKS, SOLID, has_kind, mask
from explorer.scene import Scene
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
    blocks = _opened(scene.blocks)
    shown = [replace(each, size=max(each.size, _LEAST)) for each in standing(blocks, _things(scene))]
    shown.append(Standing(_PLAYER, scene.spawn.cell, 1.8))
    cells = np.argwhere(blocks != AIR)[:, [2, 0, 1]]
    corners = np.concatenate([cells + corner for corner in np.ndindex(2, 2, 2)])
    camera = _fitting(corners, yaw, pitch, width / height)
    drawn = Shading(blocks, camera, (width, height), shown, haze=0.0).picture()
    colours = np.where(np.isfinite(drawn.far)[..., None], drawn.colours, np.array(FOG))
    image: Pixels = np.rint(colours * 255).astype(np.uint8)
    return image


def _things(scene: Scene) -> tuple[Thing, ...]:
    """Return all things of a scene except clusters of blocks."""
    lying = [(stack.item, str(stack.count), cell) for cell, stacks in scene.items.items() for stack in stacks]
    lying += [(mob.kind, "", mob.cell) for mob in scene.mobs]
    for y, z, x in np.argwhere(_DEVICES[scene.blocks]).tolist():
        block = BLOCKS[scene.blocks[y, z, x]]
        lying.append((block.name, block.state, (x, y, z)))
    return tuple(Thing(kind, kind, state, cell, 0, True) for kind, state, cell in lying)


_DEVICES: Final = has_kind("device", "plate", "chest", "table", "door")


def _opened(blocks: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the blocks without those above the highest free cell of each column, and with walls cut low."""
    cubes = (has_shape("cube") & mask(SOLID))[blocks]
    level = np.arange(len(blocks))[:, None, None]
    free = ~cubes
    highest = np.where(free.any(axis=0), (level * free).max(axis=0), -1)
    floors = np.where(free.any(axis=0), np.where(cubes & (level < highest), level, 0).max(axis=0), -1)
    beside = np.pad(np.where(floors >= 0, floors, len(blocks)), 1, constant_values=len(blocks))
    depth, width = floors.shape
    lowest = np.min([beside[z : z + depth, x : x + width] for z in range(3) for x in range(3)], axis=0)
    top = np.where(highest >= 0, highest, np.where(lowest < len(blocks), lowest + _WALL, -1))
    return np.where(level <= top, blocks, AIR).astype(np.uint16)


def _fitting(points: NDArray[np.intp], yaw: float, pitch: float, aspect: float) -> Camera:
    """Return the camera whose picture some points just fill."""
    turn = Camera.turned((0.0, 0.0, 0.0), yaw, pitch, _TALL).turn
    right, up, ahead = turn @ points.T
    tall = math.tan(_TALL / 2) * _FILLED
    wide = tall * aspect
    # Each edge of the picture is a plane through the eye: move the eye back until all points lie between the planes.
    left_end = (right + ahead * wide).min()
    right_end = (right - ahead * wide).max()
    low_end = (up + ahead * tall).min()
    high_end = (up - ahead * tall).max()
    back = min((left_end - right_end) / (2 * wide), (low_end - high_end) / (2 * tall))
    eye = np.array([(left_end + right_end) / 2, (low_end + high_end) / 2, back]) @ turn
    return Camera((float(eye[0]), float(eye[1]), float(eye[2])), turn, math.tan(_TALL / 2))
