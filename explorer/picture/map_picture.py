"""Draw the map of what an agent knows: each column of cells from above, without ceilings.

A column shows its highest known block that has known air above it and lies below the ceiling over the agent. A column
without a known top is a wall, or a ledge seen from below: it is dark.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.lettering import write
from explorer.picture.shading import FOG
from explorer.picture.textures import SIDE, Pixels, has_shape, load_atlas, number_faces
from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import MOBS
from explorer.scene import FACINGS, Pose
from explorer.view import Thing

_STEP: Final = 0.09
"""How much brighter a level is than the one below."""
_WALL: Final = 0.34
"""Brightness of walls."""
_SHADOW: Final = 0.62
"""Brightness of a floor's edge beside higher ground."""
_MARKS: Final = {"item": (255, 214, 64), "mob": (255, 110, 90), "device": (120, 200, 255)}
MARKED: Final = ("device", "plate", "chest", "table", "door")
"""Kinds of the blocks that are marked."""


def render(
    known: NDArray[np.uint16],
    pose: Pose,
    things: Iterable[Thing] = (),
    cell_px: int = 12,
    *,
    labels: bool = False,
) -> Pixels:
    """Return the map, north up, ``[depth * cell_px, width * cell_px, 3]``; unknown columns are dark.

    Brightness shows the height relative to the agent's feet. Items are marked yellow, mobs red, and devices, doors,
    chests and tables blue.

    Args:
        known: codes ``[y, z, x]``, as in a view.
        things: things of the view.
        labels: whether to write the names of items, mobs, devices, doors, chests and tables.
    """
    levels, codes, top = _surface(known, _ceiling(known, pose))
    image = _ground(levels, codes, top, pose, cell_px)
    over = _above(known, levels)
    sides = number_faces()[0]
    tiles = _shrink_tiles(cell_px)
    laid = has_shape("upright", "flat", "panel")[over]
    for z, x in np.argwhere(top & laid).tolist():
        _stamp(image, tiles[sides[over[z, x]]], x, z)
    marked = [(thing, mark) for thing in things if (mark := _mark(known, thing))]
    for thing, mark in marked:
        x, y, z = thing.cell
        number = sides[known[y, z, x]] if mark == "device" else load_atlas().sprites[thing.kind]
        _stamp(image, tiles[number], x, z)
        _frame(image[z * cell_px : (z + 1) * cell_px, x * cell_px : (x + 1) * cell_px], _MARKS[mark])
    _arrow(image, pose, cell_px)
    if labels:
        write(
            image, [(each.name, (each.cell[0] + 0.5) * cell_px, (each.cell[2] + 1) * cell_px + 4) for each, _ in marked]
        )
    return image


def _ceiling(known: NDArray[np.uint16], pose: Pose) -> int:
    """Return the level of the ceiling over the agent, or the height of the arena if none is known."""
    x, y, z = pose.cell
    above = np.flatnonzero(has_shape("cube")[known[y + 2 :, z, x]])
    return y + 2 + int(above[0]) if len(above) else len(known)


def _surface(known: NDArray[np.uint16], ceiling: int) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.bool_]]:
    """Return the level and code that each column shows, ``[z, x]``, and whether its top is known."""
    ground = has_shape("cube")[known[:ceiling]]
    free = np.zeros_like(ground)
    free[: len(known) - 1] = ~has_shape("cube", "unseen")[known[1 : ceiling + 1]]
    tops = ground & free
    top: NDArray[np.bool_] = np.logical_or.reduce(tops)
    levels = np.where(top, _last(tops), _last(ground))
    return levels, np.take_along_axis(known, levels[None], axis=0)[0], top


def _last(cells: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the highest level that is true, or 0."""
    highest: NDArray[np.intp] = (len(cells) - 1 - cells[::-1].argmax(axis=0)) * cells.any(axis=0)
    return highest


def _above(known: NDArray[np.uint16], levels: NDArray[np.intp]) -> NDArray[np.uint16]:
    """Return the codes of the cells above the surface."""
    above = np.minimum(levels + 1, len(known) - 1)
    codes: NDArray[np.uint16] = np.take_along_axis(known, above[None], axis=0)[0]
    return codes


def _ground(
    levels: NDArray[np.intp], codes: NDArray[np.uint16], top: NDArray[np.bool_], pose: Pose, cell_px: int
) -> Pixels:
    """Return the surface, lit by height and with shadows beside higher ground."""
    depth, width = levels.shape
    light = np.where(top, np.clip(1 + _STEP * (levels + 1 - pose.cell[1]), 0.4, 1.5), _WALL)
    shade = np.repeat(np.repeat(light, cell_px, axis=0), cell_px, axis=1)
    heights = np.pad(np.where(top, levels, levels.max() + 1), 1, mode="edge")
    edge = max(1, cell_px // 8)
    cells = shade.reshape(depth, cell_px, width, cell_px)
    for rows, columns, part in (
        (0, 1, np.s_[:, :edge]),
        (2, 1, np.s_[:, -edge:]),
        (1, 0, np.s_[:, :, :, :edge]),
        (1, 2, np.s_[:, :, :, -edge:]),
    ):
        lower = top & (heights[rows : rows + depth, columns : columns + width] > levels)
        cells[part] *= np.where(lower, _SHADOW, 1)[:, None, :, None]
    tiles = _shrink_tiles(cell_px)[number_faces()[2, codes]][..., :3]
    flat = tiles.swapaxes(1, 2).reshape(depth * cell_px, width * cell_px, 3) * shade[..., None]
    unknown = np.repeat(np.repeat(codes == 0, cell_px, axis=0), cell_px, axis=1)
    flat[unknown] = np.array(FOG) * 255
    image: Pixels = np.clip(flat, 0, 255).astype(np.uint8)
    return image


@cache
def _shrink_tiles(size: int) -> Pixels:
    """Return all tiles at another size; each new pixel averages the old ones by area."""
    edges = np.arange(size + 1) * SIDE / size
    old = np.arange(SIDE)
    share = np.clip(np.minimum(edges[1:, None], old + 1) - np.maximum(edges[:-1, None], old), 0, None) * size / SIDE
    wide = load_atlas().tiles.astype(np.float32)
    wide[..., :3] *= wide[..., 3:] / 255
    made = np.einsum("ar,trcx,bc->tabx", share, wide, share, optimize=True)
    made[..., :3] *= 255 / np.maximum(made[..., 3:], 1)
    smaller: Pixels = np.clip(np.rint(made), 0, 255).astype(np.uint8)
    return smaller


def _stamp(image: Pixels, tile: Pixels, x: int, z: int) -> None:
    size = len(tile)
    part = image[z * size : (z + 1) * size, x * size : (x + 1) * size]
    alpha = tile[..., 3:] / 255
    part[:] = np.rint(part * (1 - alpha) + tile[..., :3] * alpha)


def _mark(known: NDArray[np.uint16], thing: Thing) -> str:
    """Return how to mark a thing: ``item``, ``mob``, ``device``, or "" for not at all."""
    x, y, z = thing.cell
    block = BLOCKS[known[y, z, x]]
    if block.name == thing.kind:
        return "device" if block.kind in MARKED else ""
    return "mob" if thing.kind in MOBS and not thing.state else "item"


def _frame(part: Pixels, colour: tuple[int, int, int]) -> None:
    part[0] = part[-1] = part[:, 0] = part[:, -1] = colour


def _arrow(image: Pixels, pose: Pose, cell_px: int) -> None:
    """Draw a white arrow head with a dark edge, a cell and a half long, on the agent's cell."""
    (x, _, z), side = pose.cell, cell_px // 2
    rows = np.arange(max(0, z * cell_px - side), min(len(image), (z + 1) * cell_px + side))
    columns = np.arange(max(0, x * cell_px - side), min(image.shape[1], (x + 1) * cell_px + side))
    down = ((rows + 0.5) / cell_px - z - 0.5)[:, None]
    right = ((columns + 0.5) / cell_px - x - 0.5)[None, :]
    east, _, south = FACINGS[pose.facing]
    ahead, aside = down * south + right * east, np.abs(down * east - right * south)
    # Positive inside: between the two long edges, and not in the notch at the back.
    depth = np.minimum(0.66 - ahead - 1.7 * aside, ahead + 0.62 - 0.5 * (0.6 - aside))
    part = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    part[depth > -0.12] = 22
    part[depth > 0.04] = 255
