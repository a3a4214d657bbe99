"""Draw the agent's egocentric view from what it knows."""

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
"""Degrees from the lower to the upper edge; 86 degrees wide at 4:3, which is within the field of view."""
_ITEM_SIZE: Final = 0.5
_MOB_SIZES: Final = {"chicken": 0.8, "rabbit": 0.6, "sheep": 1.3, "cow": 1.4, "skeleton": 1.9, "zombie": 1.9}
_CROSS: Final = 0.02
"""Half of the crosshair, as a share of the picture's height."""


def render(
    known: NDArray[np.uint16],
    pose: Pose,
    things: Iterable[Thing] = (),
    width: int = 320,
    height: int = 240,
) -> NDArray[np.uint8]:
    """Return a picture, ``[height, width, 3]``; unknown cells are dark.

    The cell that the crosshair touches has bright edges.

    Args:
        known: codes ``[y, z, x]``, as in a view.
        things: things of the view; items and mobs are drawn.
    """
    yaw = pose.facing * math.pi / 2
    pitch = math.radians(pose.pitch * PITCH_STEP)
    camera = Camera.from_angles(pose.eye, yaw, pitch, math.radians(TALL))
    target = find_target(known, pose)
    shading = Shading(known, camera, (width, height), list_standing(known, things), target)
    image = np.rint(shading.picture().colours * 255).astype(np.uint8)
    _cross(image, camera, pose)
    return image


def list_standing(known: NDArray[np.uint16], things: Iterable[Thing]) -> list[Standing]:
    """Return the things that are not blocks: items and mobs."""
    found = []
    for thing in things:
        x, y, z = thing.cell
        if BLOCKS[known[y, z, x]].name == thing.kind:
            continue
        # Only items have a state here: their count.
        size = _ITEM_SIZE if thing.state else _MOB_SIZES.get(thing.kind, 1.0)
        found.append(Standing(thing.kind, thing.cell, size))
    return found


def find_target(known: NDArray[np.uint16], pose: Pose) -> Cell | None:
    """Return the cell that the crosshair touches, or None if it touches no known cell."""
    hit = reach.find_touched(KnownState(known, pose))
    if hit is None:
        return None
    x, y, z = move_by(pose.cell, hit.offset)
    height, depth, width = known.shape
    inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
    return (x, y, z) if inside else None


def _cross(image: NDArray[np.uint8], camera: Camera, pose: Pose) -> None:
    """Draw the crosshair, which an aim moves off the middle."""
    height, width, _ = image.shape
    x, y, z = pose.eye
    dx, dy, dz = pose.direction
    column, row, _ = camera.project((x + dx, y + dy, z + dz), width, height)
    size = max(2, round(height * _CROSS))
    thick = max(1, height // 240)

    for across, along in ((size, thick), (thick, size)):
        rows = slice(max(0, round(row - along)), max(0, round(row + along)))
        columns = slice(max(0, round(column - across)), max(0, round(column + across)))
        bar = image[rows, columns]
        image[rows, columns] = 255 - (255 - bar) // 3
