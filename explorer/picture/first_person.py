"""Draw the agent's egocentric view from the agent's knowledge."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.raycasting import Camera
from explorer.picture.shading import Shading, Standing
from explorer.rules import reach
from explorer.rules.blocks import BLOCKS
from explorer.rules.state import KnownState
from explorer.scene import PITCH_STEP, Cell, Pose, move_by
from explorer.view import Thing

TALL: Final = 70
"""Angle from the lower to the upper edge of the picture, in degrees.

At an aspect ratio of 4:3, the picture is 86 degrees wide, which is within the agent's field of view.
"""
_ITEM_SIZE: Final = 0.5
"""Size of a drawn item in metres."""
_MOB_SIZES: Final = {"chicken": 0.8, "rabbit": 0.6, "sheep": 1.3, "cow": 1.4, "skeleton": 1.9, "zombie": 1.9}
"""Kind of a mob -> size of the drawn mob in metres; other mobs have a size of 1."""
_CROSSHAIR: Final = 0.02
"""Half the size of the crosshair, as a fraction of the picture's height."""


def render(
    known: NDArray[np.uint16],
    pose: Pose,
    things: Iterable[Thing] = (),
    width: int = 320,
    height: int = 240,
) -> NDArray[np.uint8]:
    """Return the picture that the agent sees; unknown cells are dark.

    The cell that the crosshair touches has bright edges.

    Args:
        known: codes of the known blocks, ``[y, z, x]``, as in a view.
        things: things of the view, of which only items and mobs are drawn.
        width, height: size of the picture in pixels.

    Returns:
        Red, green and blue from 0 to 255, ``[height, width, 3]``.
    """
    yaw = pose.facing * math.pi / 2
    pitch = math.radians(pose.pitch * PITCH_STEP)
    camera = Camera.from_angles(pose.eye, yaw, pitch, math.radians(TALL))
    target = find_target(known, pose)
    shading = Shading(known, camera, (width, height), list_standing(known, things), target)
    image = np.rint(shading.picture().colours * 255).astype(np.uint8)
    _draw_crosshair(image, camera, pose)
    return image


def list_standing(known: NDArray[np.uint16], things: Iterable[Thing]) -> list[Standing]:
    """Return the items and mobs among things, which are drawn as sprites.

    All other things are blocks, and are left out.
    """
    sprites = []
    for thing in things:
        x, y, z = thing.cell
        if BLOCKS[known[y, z, x]].name == thing.kind:
            continue
        is_item = bool(thing.state)  # the state of an item is its count; mobs have no state
        size = _ITEM_SIZE if is_item else _MOB_SIZES.get(thing.kind, 1.0)
        sprites.append(Standing(thing.kind, thing.cell, size))
    return sprites


def find_target(known: NDArray[np.uint16], pose: Pose) -> Cell | None:
    """Return the cell that the crosshair touches, or None if the crosshair touches no cell of the array.

    Args:
        known: codes of the known blocks, ``[y, z, x]``.
    """
    hit = reach.find_touched(KnownState(known, pose))
    if hit is None:
        return None
    x, y, z = move_by(pose.cell, hit.offset)
    height, depth, width = known.shape
    inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
    return (x, y, z) if inside else None


def _draw_crosshair(image: NDArray[np.uint8], camera: Camera, pose: Pose) -> None:
    """Draw the crosshair into an image; if the pose has an aim, the crosshair is not in the middle."""
    height, width, _ = image.shape
    x, y, z = pose.eye
    dx, dy, dz = pose.direction
    column, row, _ = camera.project((x + dx, y + dy, z + dz), width, height)
    half_length = max(2, round(height * _CROSSHAIR))
    half_thickness = max(1, height // 240)

    # A horizontal and a vertical bar; each brightens the pixels below.
    for half_width, half_height in ((half_length, half_thickness), (half_thickness, half_length)):
        rows = slice(max(0, round(row - half_height)), max(0, round(row + half_height)))
        columns = slice(max(0, round(column - half_width)), max(0, round(column + half_width)))
        bar = image[rows, columns]
        image[rows, columns] = 255 - (255 - bar) // 3
