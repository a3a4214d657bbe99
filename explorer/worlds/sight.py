"""Compute which cells are in view, from precomputed tables.

In every pose of the lattice, the eye is at the same point of its cell. So for each facing and pitch, the rays always
cross the same cells, and a table lists them. A ray ends at the first opaque cell, or after :data:`RANGE` metres. Every
cell that a ray touches is seen, including air.

Each pitch has about 3,700 rays. They are chosen for the faces of cells that are turned to the eye, within range, and
within :data:`WIDTH` x :data:`HEIGHT` degrees. If nothing is in the way, each of these faces is entered by :data:`RAYS`
rays, or by one ray to its middle. Some cells are missed although the middle of a face is in sight: 2 in 100 among
scattered blocks, 5 in 100 among dense blocks.

Rays that begin with the same cells share these cells in the table. So the table is a forest of 46,000 cells in
depth-first order: all cells that are reached through a certain cell follow it in one run. The tables for the other
facings are rotated copies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.scene import EYE_HEIGHT, PITCH_STEP, Cell, Pose

RANGE: Final = 16
"""Range of sight in metres."""
WIDTH: Final = 100
"""Degrees between the left and the right edge of the field of view."""
HEIGHT: Final = 84
"""Degrees between the upper and the lower edge of the field of view."""
RAYS: Final = 3
"""Number of rays that enter each face if nothing is in the way.

More rays would see more through gaps, but take longer.
"""
LIT: Final = 3
"""Distance in metres from the eye within which cells are seen in a dark scene without a light, measured to their
middles.
"""
LIGHT: Final = 6
"""Distance in metres within which a light block lights cells, measured from middle to middle."""
_EYE: Final = np.array([0.5, EYE_HEIGHT, 0.5])
"""Offset in metres from the lowest corner of the cell of the feet to the eye."""
_HEAD: Final = np.array([0, math.floor(EYE_HEIGHT), 0])
"""Offset from the cell of the feet to the cell of the eye."""
_FELT: Final = ((0, 0, 0), (0, -1, 0))
"""Offsets, from the cell of the feet, of the cells that a body always knows: this cell and the cell below it."""
_REACH: Final = RANGE + 2
"""Limit, along each axis, for the offsets of the cells in a table."""
_SPAN: Final = 2 * _REACH + 1
"""Number of possible offsets along each axis."""
_NO_FACE: Final = 3 * _SPAN**3
"""Number that means "no face"; it is greater than the number of any face."""
_ASIDE: Final = 0.03
"""Distance in metres from the middle of a top or bottom face to the point at which its ray aims."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The cells that the rays of a facing and pitch touch, as a forest in depth-first order.

    Different sequences of cells may lead from the eye to the same cell; the cell then occurs once for each sequence.

    Attributes:
        cells: offset x, y, z of each cell from the cell of the feet, int ``(n, 3)``.
        ends: for each cell, the index after the last cell that rays reach through it, ``(n,)``.
        near: whether each cell is within :data:`LIT` of the eye, ``(n,)``.
    """

    cells: NDArray[np.int64]
    ends: NDArray[np.int32]
    near: NDArray[np.bool_]


class Layout:
    """The order of an arena's cells in a flat array.

    The arena has a border of one cell, and the flat array has a margin at both ends. So every cell of a :class:`Table`
    has an index inside the array, and every ray that leaves the arena crosses the border.

    Attributes:
        shape: number of cells of the arena along y, z and x.
        strides: difference between the indices of two neighbours along x, along y and along z.
        size: length of the flat array.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        """Lay out an arena; ``shape`` is its number of cells along y, z and x."""
        self.shape = shape
        self._padded = tuple(side + 2 for side in shape)
        _, depth, width = self._padded
        self.strides = (1, depth * width, width)
        self._margin = _REACH * sum(self.strides)
        self.size = math.prod(self._padded) + 2 * self._margin
        # (facing, pitch) -> smallest offset, and all offsets relative to the smallest.
        self._tables: dict[tuple[int, int], tuple[int, NDArray[np.intp]]] = {}

    def index(self, cell: Cell) -> int:
        """Return the index of a cell in the flat array."""
        x, y, z = cell
        across, up, along = self.strides
        return self._margin + (x + 1) * across + (y + 1) * up + (z + 1) * along

    def cell(self, index: int) -> Cell:
        """Return the cell that has an index in the flat array."""
        y, rest = divmod(index - self._margin, self.strides[1])
        z, x = divmod(rest, self.strides[2])
        return x - 1, y - 1, z - 1

    def square_distances(self, places: NDArray[np.int64], to: int) -> NDArray[np.int64]:
        """Return the squared distance of each of some cells from the cell ``to``.

        Args:
            places: indices of the cells in the flat array.
            to: index of a cell in the flat array.
        """
        y, rest = np.divmod(places - self._margin, self.strides[1])
        z, x = np.divmod(rest, self.strides[2])
        at_x, at_y, at_z = self.cell(to)
        # The border shifts the coordinates of ``places`` by 1.
        squares: NDArray[np.int64] = (x - (at_x + 1)) ** 2
        squares += (y - (at_y + 1)) ** 2
        squares += (z - (at_z + 1)) ** 2
        return squares

    def inner(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return the arena's part of a flat array as a numpy view ``[y, z, x]``."""
        padded = flat[self._margin : -self._margin].reshape(self._padded)
        return padded[1:-1, 1:-1, 1:-1]

    def view_read_only(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return the arena's part of a flat array as a read-only numpy view ``[y, z, x]``."""
        view = self.inner(flat)
        view.flags.writeable = False
        return view

    def table(self, facing: int, pitch: int) -> tuple[int, NDArray[np.intp]]:
        """Return the cells of the table of a facing and a pitch, as offsets in the flat array from the cell of the
        feet.

        Returns:
            The smallest offset; and the offsets of all cells, each minus the smallest offset.
        """
        if (facing, pitch) not in self._tables:
            cells = table(facing, pitch).cells
            offsets = (cells @ np.array(self.strides)).astype(np.intp)
            least = int(offsets.min())
            self._tables[facing, pitch] = least, offsets - least
        return self._tables[facing, pitch]


def see(
    opaque: NDArray[np.bool_], layout: Layout, pose: Pose, lit: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Return the indices of the cells in view, unordered and with repetitions.

    Args:
        opaque: flat mask of the opaque cells; the border must be opaque.
        lit: flat mask of the cells within :data:`LIGHT` of a light; None if the scene is not dark.
    """
    forest = table(pose.facing, pose.pitch)
    least, offsets = layout.table(pose.facing, pose.pitch)
    start = layout.index(pose.cell) + least
    bars = opaque[start:].take(offsets, mode="clip")
    # An opaque cell hides all cells up to the end of its run. Runs are either nested or disjoint, so cell ``i`` is
    # hidden if the run of any opaque cell before ``i`` ends after ``i``.
    hidden_to = np.maximum.accumulate(forest.ends * bars)
    numbers = _count_up(len(bars))
    seen = np.empty(len(bars), dtype=np.bool_)
    seen[0] = True
    np.less_equal(hidden_to[:-1], numbers[1:], out=seen[1:])
    if lit is not None:
        seen &= forest.near | lit[start:].take(offsets, mode="clip")
    return offsets[seen] + start


def light(sources: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask ``[y, z, x]`` of the cells that are within :data:`LIGHT` of at least one light.

    Args:
        sources: mask ``[y, z, x]`` of the lights.
    """
    lit = np.zeros_like(sources)
    height, depth, width = sources.shape
    ys, zs, xs = np.ogrid[:height, :depth, :width]
    for y, z, x in np.argwhere(sources).tolist():
        squares = (ys - y) ** 2 + (zs - z) ** 2 + (xs - x) ** 2
        lit |= squares <= LIGHT**2
    return lit


@cache
def rays(pitch: int) -> NDArray[np.float64]:
    """Return the directions of the rays for a pitch and a view to the south, as unit vectors ``(rays, 3)``.

    No ray passes exactly through an edge of a cell.
    """
    directions, faces = _aim_at_faces(pitch)
    entered = _number_faces(*_march_rays(directions))
    wanted = _number_faces(*faces)
    return directions[_choose_rays(entered, wanted)]


@cache
def table(facing: int, pitch: int) -> Table:
    """Return the table of cells for a facing and a pitch."""
    if facing:
        # Rotate the table of the previous facing by a quarter turn.
        before = table(facing - 1, pitch)
        x, y, z = before.cells.T
        return Table(np.stack([-z, y, x], axis=1), before.ends, before.near)
    cells, axes = _march_rays(rays(pitch))
    return _build_forest(cells, axes >= 0)


@cache
def _count_up(count: int) -> NDArray[np.int32]:
    """Return the array 0, 1, ..., ``count`` - 1; it is cached, so callers must not change it."""
    return np.arange(count, dtype=np.int32)


def _aim_at_faces(pitch: int) -> tuple[NDArray[np.float64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the faces turned to the eye that are in range and in the field of view, the farthest first.

    Returns:
        Unit vectors from the eye to the middles of the faces; and the faces, as a pair of arrays: the cell of each
        face, and the axis (0 to 2) perpendicular to the face.
    """
    angle = math.radians(pitch * PITCH_STEP)
    forward = np.array([0, -math.sin(angle), math.cos(angle)])
    up = np.array([0, math.cos(angle), math.sin(angle)])
    span = np.arange(-_REACH, _REACH + 1)
    axes_of_grid = np.meshgrid(span, span, span, indexing="ij")
    grid = np.stack(axes_of_grid, axis=-1).reshape(-1, 3)

    vectors = []
    cells = []
    axes = []
    for axis in range(3):
        turned = grid[grid[:, axis] != _HEAD[axis]]
        middle = turned + 0.5
        along = turned[:, axis]
        middle[:, axis] = along + (along < _HEAD[axis])
        if axis == 1:
            # The eye is above the middle of a cell. A ray to the middle of a horizontal face can pass exactly through a
            # vertical edge, where the cell that the ray enters is arbitrary. Rays to other faces never do.
            middle[:, 0] += _ASIDE * np.sign(turned[:, 0])
        vectors.append(middle - _EYE)
        cells.append(turned)
        axes.append(np.full(len(turned), axis))
    vector = np.concatenate(vectors)
    cell = np.concatenate(cells)
    axis_of = np.concatenate(axes)

    length = np.linalg.norm(vector, axis=1)
    ahead = vector @ forward
    max_aside = ahead * math.tan(math.radians(WIDTH / 2))
    max_up = ahead * math.tan(math.radians(HEIGHT / 2))
    keep = (length <= RANGE) & (ahead > 0)
    keep &= np.abs(vector[:, 0]) <= max_aside
    keep &= np.abs(vector @ up) <= max_up

    farthest_first = np.argsort(-length[keep], kind="stable")
    order = np.flatnonzero(keep)[farthest_first]
    directions = vector[order] / length[order, None]
    return directions, (cell[order], axis_of[order])


def _march_rays(directions: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Follow each ray from the eye, from cell to cell, until it ends.

    Returns:
        The offset of each cell on each ray from the cell of the feet, ``(rays, steps, 3)``; and the axis perpendicular
        to the face through which the ray enters each cell, ``(rays, steps)``. After the end of a ray, the axis is -1.
    """
    rays = np.arange(len(directions))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Along a ray, in metres: the spacing of the boundaries of cells, and the next boundary, for each axis.
        spacing = np.abs(1 / directions)
        within_cell = _EYE - _HEAD
        next_boundary = np.where(directions > 0, 1 - within_cell, within_cell) * spacing
    next_boundary = np.where(directions == 0, np.inf, next_boundary)
    signs = np.sign(directions).astype(np.int64)

    cell = np.tile(_HEAD, (len(rays), 1))
    cells = [cell.copy()]
    axes = [np.zeros(len(rays), dtype=np.int64)]
    while True:
        axis = next_boundary.argmin(axis=1)
        in_range = next_boundary[rays, axis] <= RANGE
        if not in_range.any():
            return np.stack(cells, axis=1), np.stack(axes, axis=1)
        moved = rays[in_range]
        crossed = axis[in_range]
        cell[moved, crossed] += signs[moved, crossed]
        next_boundary[rays, axis] += spacing[rays, axis]
        cells.append(cell.copy())
        axes.append(np.where(in_range, axis, -1))


def _number_faces(cells: NDArray[np.int64], axes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each face, which is given by a cell and an axis; for the axis -1, return :data:`_NO_FACE`."""
    places = cells + _REACH
    column = places[..., 0] * _SPAN + places[..., 1]
    cell = column * _SPAN + places[..., 2]
    return np.where(axes < 0, _NO_FACE, cell * 3 + axes)


def _choose_rays(entered: NDArray[np.int64], wanted: NDArray[np.int64]) -> list[int]:
    """Return the numbers of enough rays: each wanted face is entered by :data:`RAYS` of them, or by the ray to its
    middle.

    Args:
        entered: numbers of the faces that each ray enters, ``(rays, steps)``.
        wanted: numbers of the wanted faces; ray ``i`` goes to the middle of the face ``wanted[i]``.
    """
    times_entered = np.zeros(_NO_FACE + 1, dtype=np.int32)
    chosen = []
    for ray, face in enumerate(wanted.tolist()):
        if times_entered[face] < RAYS:
            chosen.append(ray)
            times_entered[entered[ray]] += 1
    return chosen


def _build_forest(cells: NDArray[np.int64], touched: NDArray[np.bool_]) -> Table:
    """Return the cells of some rays as a table, in which cells that several rays begin with occur only once.

    Args:
        cells: offset of each cell on each ray, ``(rays, steps, 3)``.
        touched: whether the ray has not ended before this cell, ``(rays, steps)``.
    """
    # Number each cell by its face of axis 0.
    same_axis = np.zeros_like(cells[..., 0])
    numbers = np.where(touched, _number_faces(cells, same_axis), -1)
    order = np.lexsort(numbers.T[::-1])
    cells = cells[order]
    numbers = numbers[order]

    # Rays are sorted by their cells. A ray branches off at the first cell that differs from the previous ray.
    differs = numbers[1:] != numbers[:-1]
    branches_at = np.empty(len(numbers), dtype=np.int64)
    branches_at[0] = 0
    branches_at[1:] = differs.argmax(axis=1)
    steps = np.arange(numbers.shape[1])
    kept = (steps >= branches_at[:, None]) & (numbers >= 0)

    # The run of a cell ends where the next ray branches off at or before the step of this cell.
    begins = np.concatenate([[0], kept.sum(axis=1).cumsum()])
    ends = np.empty(kept.shape, dtype=np.int32)
    for step in steps:
        new = np.flatnonzero(branches_at <= step)
        following = np.append(new[1:], len(branches_at))
        ends[new, step] = begins[following]

    offsets = np.concatenate([cells[kept], _FELT])
    felt_ends = begins[-1] + 1 + np.arange(len(_FELT), dtype=np.int32)
    ends_kept = np.concatenate([ends[kept], felt_ends])
    near = np.linalg.norm(offsets + 0.5 - _EYE, axis=1) <= LIT
    return Table(offsets, ends_kept.astype(np.int32), near)
