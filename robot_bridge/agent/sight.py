"""What the camera adds to the lidar's map: things by their signs, marks on the floor, and which floor is bare (pure).

Signs hang too high to be seen from the next cell; what marks a goal or lava is on the floor too, and that is seen from
there. So a cell counts as looked at when its floor was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.agent.cells import Cell, Ground, Lattice, Terrain
from robot_bridge.config import Camera
from robot_bridge.contracts import Frame, Pose, Sighting

Label = tuple[str, str, str]
"""Kind, colour and state, as a sign says them."""

MARKS: Final[Mapping[int, Label]] = {1: ("goal", "green", ""), 2: ("lava", "red", "")}
_ON_FLOOR = 0.03
"""Metres; what is measured lower is floor."""
_INNER = 0.3
"""Half the side of the middle of a cell, whose floor must be seen."""
_POINTS = 20
_CONTRAST = 40
"""How much greener or redder than the rest a mark is, of 255."""
_ROUGHLY = 0.4
"""Metres: a sign so far from the middle of a cell is not understood to stand in it."""


def floor(frame: Frame, pose: Pose, camera: Camera, lattice: Lattice) -> dict[Cell, Label | None]:
    """The cells of which enough floor is seen, and what is marked on it; None for bare floor.

    Args:
        frame: colour and depth.
        pose: of the rear axle when it was taken, map frame.
    """
    height, width = frame.depth.shape
    top = height // 2 + 1
    depth = frame.depth[top:].astype(np.float64)
    rows, columns = np.mgrid[top:height, :width]
    drop = (rows - (height - 1) / 2) / frame.focal * depth
    is_floor = (depth > 0) & np.isfinite(depth) & (camera.z - drop < _ON_FLOOR)
    ahead = depth[is_floor] + camera.x
    left = -(columns[is_floor] - (width - 1) / 2) / frame.focal * depth[is_floor]
    c, s = np.cos(pose.heading), np.sin(pose.heading)
    east = pose.x + c * ahead - s * left - lattice.x + 0.5
    south = lattice.y - (pose.y + s * ahead + c * left) + 0.5
    row, column = np.floor(south), np.floor(east)
    inner = np.maximum(np.abs(south - row - 0.5), np.abs(east - column - 0.5)) < _INNER
    cells = np.stack((row[inner], column[inner]), axis=1).astype(np.int64)
    return _voted(cells, _marks(frame.rgb[top:][is_floor][inner]))


def _marks(rgb: NDArray[np.uint8]) -> NDArray[np.int64]:
    """By point, the key of its colour in ``MARKS``, 0 for none."""
    red, green, blue = rgb.astype(np.int64).T
    marks: NDArray[np.int64] = np.zeros(len(rgb), np.int64)
    marks[green - np.maximum(red, blue) > _CONTRAST] = 1
    marks[red - np.maximum(green, blue) > _CONTRAST] = 2
    return marks


def _voted(cells: NDArray[np.int64], marks: NDArray[np.int64]) -> dict[Cell, Label | None]:
    if not len(cells):
        return {}
    corner = cells.min(axis=0)
    shape = cells.max(axis=0) - corner + 1
    flat = (cells[:, 0] - corner[0]) * shape[1] + cells[:, 1] - corner[1]
    votes = np.bincount(flat * 3 + marks, minlength=int(shape.prod()) * 3).reshape(-1, 3)
    enough = np.flatnonzero(votes.sum(axis=1) >= _POINTS)
    won = votes[enough].argmax(axis=1)
    places = (divmod(index, int(shape[1])) for index in enough.tolist())
    return {
        (row + int(corner[0]), column + int(corner[1])): MARKS.get(mark)
        for (row, column), mark in zip(places, won.tolist(), strict=True)
    }


def is_solid(label: Label) -> bool:
    """Whether it stands on the floor, so that the lidar meets it."""
    return label[0] in ("key", "ball", "box") or (label[0] == "door" and label[2] != "open")


@dataclass(slots=True)
class Knowledge:
    """What is known of cells besides their ground.

    ``things``: what was recognised where; ``looked``: cells whose floor was seen, or was driven over; ``changed``: when
    something was done to a cell, after which older pictures of it are out of date.
    """

    things: dict[Cell, Label] = field(default_factory=dict)
    looked: set[Cell] = field(default_factory=set)
    changed: dict[Cell, float] = field(default_factory=dict)

    def see(self, stamp: float, seen: Mapping[Cell, Label | None]) -> None:
        """Enter what :func:`floor` returned; marks do not go away."""
        for cell, mark in seen.items():
            if stamp > self.changed.get(cell, -1.0):
                self.looked.add(cell)
                if mark is not None and not is_solid(self.things.get(cell, mark)):
                    self.things[cell] = mark

    def recognise(self, stamp: float, sightings: Iterable[Sighting], pose: Pose, lattice: Lattice) -> None:
        """Enter things whose signs were seen with the rear axle at ``pose``."""
        for sighting in sightings:
            x, y = pose.ahead(sighting.forward, sighting.left)
            cell = lattice.cell(x, y)
            middle = lattice.middle(cell)
            if stamp > self.changed.get(cell, -1.0) and hypot(x - middle[0], y - middle[1]) < _ROUGHLY:
                self.things[cell] = sighting.kind, sighting.color, sighting.state

    def change(self, cell: Cell, label: Label | None, now: float) -> None:
        """Something was put there, taken away (None) or changed."""
        self.things.pop(cell, None)
        if label is not None:
            self.things[cell] = label
        self.looked.add(cell)
        self.changed[cell] = now

    def word(self, cell: Cell, terrain: Terrain) -> str:
        """As the agent calls it: "unseen" where anything about it is open."""
        ground, label = terrain.at(cell), self.things.get(cell)
        if label is not None and self._stands(cell, label, ground):
            return " ".join(filter(None, label)) if label[0] != "lava" else "lava"
        if ground is Ground.WALL:
            return "wall"
        if cell in self.looked and (ground is Ground.FREE or cell in self.changed):
            return "empty"
        return "unseen"

    def _stands(self, cell: Cell, label: Label, ground: Ground) -> bool:
        """Whether what was recognised can be there: a wall cannot be it, and what stands leaves no free ground."""
        if cell in self.changed:
            return True
        return ground is not Ground.WALL and not (ground is Ground.FREE and is_solid(label))
