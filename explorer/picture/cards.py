"""Draw whole scenes for people. The pictures show the true state, so agents never get these pictures."""

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
_FIELD_OF_VIEW: Final = math.radians(24)
"""Angle from the lower to the upper edge of the picture, in radians."""
_FILLED: Final = 0.95
"""Fraction of the picture's height or width that a scene fills."""
_SMALLEST: Final = 0.8
"""Smallest size of a drawn item or mob in metres; smaller things are enlarged to be visible from afar."""
_PLAYER_HEIGHT: Final = 1.8
"""Height of the player in metres."""
_WALL: Final = 2
"""Number of levels of a wall that are kept above the lowest floor beside the wall."""


def cutaway(scene: Scene, width: int = 640, height: int = 400, *, yaw: float = 2.7, pitch: float = 0.85) -> Pixels:
    """Return a picture of a scene seen from outside, without ceilings and with low walls.

    Args:
        width, height: size of the picture in pixels.
        yaw, pitch: direction of the camera in radians; yaw 0 is south and grows to the right, pitch grows downward.

    Returns:
        Red, green and blue from 0 to 255, ``[height, width, 3]``.
    """
    blocks = _cut_open(scene.blocks)
    sprites = []
    for each in list_standing(blocks, _list_things(scene)):
        sprites.append(replace(each, size=max(each.size, _SMALLEST)))
    sprites.append(Standing(_PLAYER, scene.spawn.cell, _PLAYER_HEIGHT))

    cells = np.argwhere(blocks != AIR)[:, [2, 0, 1]]  # columns y, z, x -> x, y, z
    corners = np.concatenate([cells + corner for corner in np.ndindex(2, 2, 2)])
    camera = _fit_camera(corners, yaw, pitch, width / height)

    picture = Shading(blocks, camera, (width, height), sprites, haze=0.0).picture()
    colours = np.where(np.isfinite(picture.depths)[..., None], picture.colours, np.array(FOG))
    image: Pixels = np.rint(colours * 255).astype(np.uint8)
    return image


def _list_things(scene: Scene) -> tuple[Thing, ...]:
    """Return the items, mobs, devices, chests, tables and doors of a scene."""
    things: list[tuple[str, str, Cell]] = []
    for cell, stacks in scene.items.items():
        things += [(stack.item, str(stack.count), cell) for stack in stacks]
    things += [(mob.kind, "", mob.cell) for mob in scene.mobs]
    for y, z, x in np.argwhere(_IS_DEVICE[scene.blocks]).tolist():
        block = BLOCKS[scene.blocks[y, z, x]]
        things.append((block.name, block.state, (x, y, z)))
    return tuple(Thing(kind, kind, state, cell, seen_at=0, in_view=True) for kind, state, cell in things)


_IS_DEVICE: Final = has_kind("device", "plate", "chest", "table", "door")
"""Array by block code: whether the block is a device, plate, chest, table or door."""


def _cut_open(blocks: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the blocks, ``[y, z, x]``, without ceilings and with walls cut low.

    A column (z, x) that contains a free cell keeps its blocks up to the highest free cell. A column without a free cell
    is a wall. It ends :data:`_WALL` levels above the lowest floor among its eight neighbours.
    """
    height, depth, width = blocks.shape
    solid = (has_shape("cube") & mask(SOLID))[blocks]
    level = np.arange(height)[:, None, None]
    free = ~solid
    has_room = free.any(axis=0)
    highest_free = np.where(has_room, (level * free).max(axis=0), -1)
    below_room = solid & (level < highest_free)
    floors = np.where(has_room, np.where(below_room, level, 0).max(axis=0), -1)

    # Columns without a floor, and columns beyond the edge, count as floors at `height`, above all real floors.
    padded = np.pad(np.where(floors >= 0, floors, height), 1, constant_values=height)
    neighbours = [padded[z : z + depth, x : x + width] for z, x in np.ndindex(3, 3)]
    lowest_floor = np.min(neighbours, axis=0)
    wall_top = np.where(lowest_floor < height, lowest_floor + _WALL, -1)

    top = np.where(highest_free >= 0, highest_free, wall_top)
    return np.where(level <= top, blocks, AIR).astype(np.uint16)


def _fit_camera(points: NDArray[np.intp], yaw: float, pitch: float, aspect: float) -> Camera:
    """Return a camera with the given direction, placed so that the points fill its picture up to a margin.

    Args:
        points: ``[n, 3]``, columns x, y and z.
        yaw, pitch: see :func:`cutaway`.
        aspect: width of the picture divided by its height.
    """
    turn = Camera.from_angles((0.0, 0.0, 0.0), yaw, pitch, _FIELD_OF_VIEW).turn
    right, up, ahead = turn @ points.T
    half_height = math.tan(_FIELD_OF_VIEW / 2) * _FILLED  # at distance 1
    half_width = half_height * aspect

    # Each edge of the picture is a plane through the eye. For each plane, find the point that is farthest outside. The
    # eye lies where the outermost left and right planes meet, or the outermost lower and upper planes: the farther back
    # of the two, so that all points lie between all planes.
    left_end = (right + ahead * half_width).min()
    right_end = (right - ahead * half_width).max()
    low_end = (up + ahead * half_height).min()
    high_end = (up - ahead * half_height).max()
    ahead_by_width = (left_end - right_end) / (2 * half_width)
    ahead_by_height = (low_end - high_end) / (2 * half_height)
    eye_ahead = min(ahead_by_width, ahead_by_height)
    eye_right = (left_end + right_end) / 2
    eye_up = (low_end + high_end) / 2

    # The rows of `turn` are unit vectors, so this turns camera coordinates back to x, y and z.
    x, y, z = (np.array([eye_right, eye_up, eye_ahead]) @ turn).tolist()
    return Camera((x, y, z), turn, math.tan(_FIELD_OF_VIEW / 2))
