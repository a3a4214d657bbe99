"""What a robot knows of the cells around it, and how the robot looks at cells that are still unknown.

::

    lidar -> occupancy map -> terrain ┐
    camera -> signs and floor ────────┴─> cells -> window

From the next cell, the camera cannot see a sign, because the sign hangs too high. A goal or lava is also marked on the
floor, which the camera can see from the next cell. Therefore a cell counts as looked at as soon as its floor was seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.agent.cells import Cell, Ground, Lattice, Terrain, is_bare, terrain, window
from robot_bridge.agent.pilot import Pilot
from robot_bridge.agent.vantages import Pose4, Tried, Vantages, visible_words
from robot_bridge.config import Camera
from robot_bridge.contracts import Frame, Pose, Sighting
from robot_bridge.control.controller import Controller
from robot_bridge.errors import DeviceError
from robot_bridge.navigation.clearance import KeepOut
from robot_bridge.tags import Label
from robot_bridge.twin.worlds.levels import direction_of, heading_of
from spca.common.command import program

MARKS: Final[Mapping[int, Label]] = {1: ("goal", "green", ""), 2: ("lava", "red", "")}
"""By number: the label that a colour on the floor marks; the number 0, which is not listed, means no mark."""
_ON_FLOOR = 0.03
"""Points below this height, in metres, belong to the floor."""
_INNER = 0.3
"""Only floor in a square in the middle of a cell is examined; this is half the side of the square, in metres."""
_MIN_POINTS = 20
"""A cell counts as seen if a picture shows at least this many points of its floor."""
_CONTRAST = 40
"""In a mark, green or red exceeds each of the other two colour channels by more than this, of 255."""
_MAX_OFF_MIDDLE = 0.4
"""A thing at least this far from the middle of a cell, in metres, is ignored, because its cell is uncertain."""


def floor(frame: Frame, pose: Pose, camera: Camera, lattice: Lattice) -> dict[Cell, Label | None]:
    """Return, for each cell whose floor the picture shows well enough, the label that is marked on the floor.

    The label is None for bare floor.

    Args:
        frame: colour and depth.
        pose: pose of the rear axle in the map frame when the picture was taken.
        camera: gives the camera's position in the base frame.
        lattice: the grid of cells.
    """
    # Floor can only be below the horizon, which is the middle row because the camera is level.
    height, width = frame.depth.shape
    top = height // 2 + 1
    depth = frame.depth[top:].astype(np.float64)
    rows, columns = np.mgrid[top:height, :width]
    below_axis = (rows - (height - 1) / 2) / frame.focal
    drop = below_axis * depth
    is_low = camera.z - drop < _ON_FLOOR
    is_floor = (depth > 0) & np.isfinite(depth) & is_low

    # Transform from the camera to the robot, to the map, and to metres south and east of the corner of cell (0, 0).
    floor_depth = depth[is_floor]
    ahead = floor_depth + camera.x
    right_of_axis = columns[is_floor] - (width - 1) / 2
    left = -right_of_axis / frame.focal * floor_depth
    c = np.cos(pose.heading)
    s = np.sin(pose.heading)
    x = pose.x + c * ahead - s * left
    y = pose.y + s * ahead + c * left
    east = x - lattice.x + 0.5
    south = lattice.y - y + 0.5

    row = np.floor(south)
    column = np.floor(east)
    off_row = np.abs(south - row - 0.5)
    off_column = np.abs(east - column - 0.5)
    inner = np.maximum(off_row, off_column) < _INNER
    cells = np.stack((row[inner], column[inner]), axis=1).astype(np.int64)
    marks = _classify_marks(frame.rgb[top:][is_floor][inner])
    return _vote_by_cell(cells, marks)


def _classify_marks(rgb: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return for each point the key in ``MARKS`` that matches the point's colour, or 0 if there is no mark.

    ``rgb`` has the shape (points, 3), the result the shape (points,).
    """
    red, green, blue = rgb.astype(np.int64).T
    marks: NDArray[np.int64] = np.zeros(len(rgb), np.int64)
    marks[green - np.maximum(red, blue) > _CONTRAST] = 1
    marks[red - np.maximum(green, blue) > _CONTRAST] = 2
    return marks


def _vote_by_cell(cells: NDArray[np.int64], marks: NDArray[np.int64]) -> dict[Cell, Label | None]:
    """Return, for each cell with enough points, the most frequent label of its points.

    The label is None for bare floor. ``cells`` is (points, 2), the row and column of each point's cell. ``marks`` is
    (points,).
    """
    if not len(cells):
        return {}
    corner = cells.min(axis=0)
    rows, columns = (cells.max(axis=0) - corner + 1).tolist()
    offsets = cells - corner
    cell_numbers = offsets[:, 0] * columns + offsets[:, 1]
    kinds = len(MARKS) + 1
    counts = np.bincount(cell_numbers * kinds + marks, minlength=rows * columns * kinds)
    votes = counts.reshape(-1, kinds)

    seen_cells = np.flatnonzero(votes.sum(axis=1) >= _MIN_POINTS)
    winners = votes[seen_cells].argmax(axis=1)
    first_row, first_column = corner.tolist()
    labels: dict[Cell, Label | None] = {}
    for cell_number, mark in zip(seen_cells.tolist(), winners.tolist(), strict=True):
        row, column = divmod(cell_number, columns)
        labels[row + first_row, column + first_column] = MARKS.get(mark)
    return labels


def is_solid(label: Label) -> bool:
    """Return whether the lidar can see the thing: a key, a ball, a box, or a door that is closed or locked."""
    kind, _, state = label
    return kind in ("key", "ball", "box") or (kind == "door" and state != "open")


@dataclass(slots=True)
class Knowledge:
    """What pictures show about cells, in addition to the classes that the lidar gives.

    ``things`` holds the recognised label by cell. ``looked`` holds the cells whose floor was seen or on which the robot
    stood. ``changed`` holds, by cell, the time of the last effect on the cell; older pictures of the cell are ignored.
    """

    things: dict[Cell, Label] = field(default_factory=dict)
    looked: set[Cell] = field(default_factory=set)
    changed: dict[Cell, float] = field(default_factory=dict)

    def see(self, stamp: float, seen: Mapping[Cell, Label | None]) -> None:
        """Record the result of :func:`floor` for a picture taken at time ``stamp``.

        Bare floor does not delete a mark that was recorded earlier.
        """
        for cell, mark in seen.items():
            if stamp > self.changed.get(cell, -1.0):
                self.looked.add(cell)
                # A mark does not replace a solid thing: marks themselves are never solid.
                if mark is not None and not is_solid(self.things.get(cell, mark)):
                    self.things[cell] = mark

    def recognise(self, stamp: float, sightings: Iterable[Sighting], pose: Pose, lattice: Lattice) -> None:
        """Record the things whose signs were seen at time ``stamp``, when the rear axle was at ``pose``."""
        for sighting in sightings:
            x, y = pose.ahead(sighting.forward, sighting.left)
            cell = lattice.cell(x, y)
            middle_x, middle_y = lattice.middle(cell)
            is_up_to_date = stamp > self.changed.get(cell, -1.0)
            if is_up_to_date and hypot(x - middle_x, y - middle_y) < _MAX_OFF_MIDDLE:
                self.things[cell] = sighting.kind, sighting.color, sighting.state

    def change(self, cell: Cell, label: Label | None, now: float) -> None:
        """Record an effect on a cell at time ``now``.

        The cell now holds the thing ``label``, or no thing if ``label`` is None.
        """
        self.things.pop(cell, None)
        if label is not None:
            self.things[cell] = label
        self.looked.add(cell)
        self.changed[cell] = now

    def word(self, cell: Cell, terrain: Terrain) -> str:
        """Return the agent's word for the content of a cell, or "unseen" if the content is not certain.

        The word for a recognised thing is returned if the lidar's class allows the thing. The lidar alone decides that
        a cell is a "wall". A cell is "empty" if its floor was looked at and the lidar shows free ground or an effect
        has changed the cell.
        """
        ground = terrain.ground_at(cell)
        label = self.things.get(cell)
        if label is not None and self._is_consistent(cell, label, ground):
            return " ".join(filter(None, label)) if label[0] != "lava" else "lava"
        if ground is Ground.WALL:
            return "wall"
        is_known_bare = ground is Ground.FREE or cell in self.changed
        if cell in self.looked and is_known_bare:
            return "empty"
        return "unseen"

    def _is_consistent(self, cell: Cell, label: Label, ground: Ground) -> bool:
        """Return whether the lidar's class of the cell allows the thing to be in the cell.

        A wall holds no thing, and free ground holds no solid thing. After an effect on the cell, every thing is
        allowed, because the map may be out of date.
        """
        if cell in self.changed:
            return True
        is_solid_on_free = ground is Ground.FREE and is_solid(label)
        return ground is not Ground.WALL and not is_solid_on_free


MAX_LOOKS: Final = 12
"""Greatest number of extra poses per survey."""
READY_S: Final = 10.0
"""Longest wait for the first scan and picture."""
SURE_AFTER_S: Final = 1.0
"""Time, in seconds, that the lidar needs until the map shows free ground as free."""
_SETTLED_S: Final = 5.0
"""Longest wait until the map shows an effect."""
_REMEMBERED: Final = 60
"""Number of recent poses that are kept to look up the pose of a picture."""
_LAVA_M: Final = 0.45
"""No path may enter the circle of this radius, in metres, around the middle of a cell with lava."""


class Senses:
    """The robot's senses, which collect knowledge of the cells around the robot.

    Cell (0, 0) is the cell in which the robot starts.

    Args:
        controller: the robot's controller.
        detect: finds signs in a picture.
        pilot: makes the pilot, given the function that the pilot calls after every tick.

    Attributes:
        pilot: drives the robot, also to extra poses for a look.
        looks: number of extra poses to which the robot drove for a look.
    """

    def __init__(
        self,
        controller: Controller,
        detect: Callable[[Frame], Sequence[Sighting]],
        pilot: Callable[[Callable[[], None]], Pilot],
    ) -> None:
        self.looks = 0
        self._controller = controller
        self._detect = detect
        self._lattice: Lattice | None = None
        self._knowledge = Knowledge()
        self._newest = -1.0  # time of the newest picture, -1 before the first
        self._poses = deque[tuple[float, Pose]](maxlen=_REMEMBERED)
        self._tried: set[Tried] = set()
        self.pilot = pilot(self._take_in_picture)

    @property
    def lattice(self) -> Lattice:
        """Grid of cells in the map frame.

        Raises:
            DeviceError: no scan has arrived yet.
        """
        if self._lattice is None:
            raise DeviceError("the robot has not seen anything yet")
        return self._lattice

    @property
    def at(self) -> Pose4:
        """Cell in which the footprint's middle is, and the direction nearest to the heading."""
        x, y = self.pilot.middle
        return self.lattice.cell(x, y), direction_of(self.pilot.pose.heading)

    def go(self, pose: Pose4) -> bool:
        """Drive to the middle of a cell and face a direction; return whether the robot reached this pose."""
        cell, direction = pose
        return self.pilot.go(*self.lattice.middle(cell), heading_of(direction))

    def begin(self) -> None:
        """Wait for the first scan and picture.

        Raises:
            DeviceError: no scan or no picture came within ``READY_S``.
        """
        self.pilot.doing = "look around"
        if not self.pilot.wait(self._has_begun, READY_S):
            raise DeviceError(f"the robot sends no scan or no picture: see {program('python -m robot_bridge')} doctor")
        self.pilot.wait(lambda: False, SURE_AFTER_S)

    def survey(self, at: Pose4) -> dict[Cell, str]:
        """Return the words of the cells that light reaches in the window of an agent at ``at``, the robot's pose.

        If some of these cells are unseen, first look at them from near poses and drive back to ``at``.

        Raises:
            DeviceError: the robot cannot get back to ``at``.
        """
        robot_cell, _ = at
        self._knowledge.looked.add(robot_cell)
        words = self._window(at)
        if "unseen" in words.values():
            self._look_around(at)
            words = self._window(at)
        return words

    def label(self, cell: Cell) -> Label | None:
        """Return the label of the thing recognised in a cell, or None."""
        return self._knowledge.things.get(cell)

    def may_enter(self, cell: Cell) -> bool:
        """Return whether the robot may drive into a cell: no known wall, solid thing or lava is there."""
        ground = self.terrain().ground_at(cell)
        label = self.label(cell)
        if ground in (Ground.WALL, Ground.THING):
            return False
        if label is None:
            return True
        if label[0] == "lava":
            return False
        return not is_solid(label) or self._knowledge.word(cell, self.terrain()) == "empty"

    def change(self, cell: Cell, label: Label | None) -> None:
        """Record an effect on a cell and wait until the map shows the effect.

        The cell now holds the thing ``label``, or no thing if ``label`` is None.
        """
        self._knowledge.change(cell, label, self.pilot.state.now)
        has_solid = label is not None and is_solid(label)
        chart = self._controller.navigation.map
        self.pilot.wait(lambda: is_bare(chart, self.lattice, cell) != has_solid, _SETTLED_S)

    def terrain(self) -> Terrain:
        return terrain(self._controller.navigation.map, self.lattice)

    def _has_begun(self) -> bool:
        has_map = self._controller.navigation.map.codes.size > 0
        return self._lattice is not None and self._newest >= 0 and has_map

    def _take_in_picture(self) -> None:
        """Record the robot's pose and, if a new picture has arrived, the contents of the picture.

        The contents are located with the pose at which the robot took the picture. The first call after the first scan
        creates the grid of cells.
        """
        controller = self._controller
        view = controller.view
        pose = self.pilot.pose
        if self._lattice is None and view.observation.scan is not None:
            self._lattice = Lattice(*pose.ahead(controller.config.body.centre))
        self._poses.append((view.now, pose))
        frame = view.observation.frame
        if frame is None or self._lattice is None or frame.stamp <= self._newest:
            return
        stamp = frame.stamp
        self._newest = stamp
        _, pose = min(self._poses, key=lambda timed_pose: abs(timed_pose[0] - stamp))
        marks = floor(frame, pose, controller.config.camera, self._lattice)
        self._knowledge.see(stamp, marks)
        self._knowledge.recognise(stamp, self._detect(frame), pose, self._lattice)

        things = self._knowledge.things
        lava = [cell for cell, label in things.items() if label[0] == "lava"]
        areas = [KeepOut(*self._lattice.middle(cell), _LAVA_M) for cell in lava]
        controller.navigation.keep_outs = tuple(areas)

    def _window(self, at: Pose4) -> dict[Cell, str]:
        """Return the words of those cells that light reaches in the window at ``at``."""
        terrain = self.terrain()
        words = {cell: self._knowledge.word(cell, terrain) for _, _, cell in window(*at)}
        robot_cell, _ = at
        if words[robot_cell] == "unseen":
            words[robot_cell] = "empty"  # the lidar cannot see the ground under the robot
        return visible_words(at, words)

    def _find_unseen(self, at: Pose4) -> list[Cell]:
        return [cell for cell, word in self._window(at).items() if word == "unseen"]

    def _look_around(self, home: Pose4) -> None:
        """Look from the present pose and from up to ``MAX_LOOKS`` other poses, then drive back to ``home``."""
        self.pilot.look()
        for _ in range(MAX_LOOKS):
            unseen = self._find_unseen(home)
            vantage = self._vantages().best(self.at, unseen) if unseen else None
            if vantage is None:
                break
            self._tried.update((vantage.place, cell) for cell in vantage.shows)
            self.looks += 1
            if self.pilot.go(*vantage.place):
                self.pilot.look()
        if not self.go(home):
            raise DeviceError(f"the robot cannot get back to {self.lattice.middle(home[0])}")

    def _vantages(self) -> Vantages:
        things = self._knowledge.things
        navigation = self._controller.navigation
        closed = {cell for cell, label in things.items() if is_solid(label) or label[0] == "lava"}
        camera = self._controller.config.camera
        return Vantages(navigation.map, self.terrain(), self.lattice, camera, closed, self._tried)
