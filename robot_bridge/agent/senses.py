"""What a robot knows of the cells around it, and how it gets to know what is missing.

::

    lidar -> occupancy map -> terrain ┐
    camera -> signs and floor ────────┴─> cells -> window

Signs hang too high to be seen from the next cell; what marks a goal or lava is on the floor too, and that is seen from
there. So a cell counts as looked at when its floor was seen.
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
    """Return the cells whose floor is seen well enough, with the label marked on it; None for bare floor.

    Args:
        frame: colour and depth.
        pose: of the rear axle when it was taken, map frame.
    """
    # Only below the horizon can there be floor.
    height, width = frame.depth.shape
    top = height // 2 + 1
    depth = frame.depth[top:].astype(np.float64)
    rows, columns = np.mgrid[top:height, :width]
    below_axis = (rows - (height - 1) / 2) / frame.focal
    drop = below_axis * depth
    is_low = camera.z - drop < _ON_FLOOR
    is_floor = (depth > 0) & np.isfinite(depth) & is_low

    # From the camera to the robot, and from there to cells: metres south and east of the corner of cell (0, 0).
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
    """Return by point the key of its colour in ``MARKS``, 0 for none."""
    red, green, blue = rgb.astype(np.int64).T
    marks: NDArray[np.int64] = np.zeros(len(rgb), np.int64)
    marks[green - np.maximum(red, blue) > _CONTRAST] = 1
    marks[red - np.maximum(green, blue) > _CONTRAST] = 2
    return marks


def _vote_by_cell(cells: NDArray[np.int64], marks: NDArray[np.int64]) -> dict[Cell, Label | None]:
    """Return the mark that most points of a cell show, for the cells with enough points."""
    if not len(cells):
        return {}
    corner = cells.min(axis=0)
    rows, columns = (cells.max(axis=0) - corner + 1).tolist()
    offsets = cells - corner
    flat = offsets[:, 0] * columns + offsets[:, 1]
    kinds = len(MARKS) + 1
    counts = np.bincount(flat * kinds + marks, minlength=rows * columns * kinds)
    votes = counts.reshape(-1, kinds)

    enough = np.flatnonzero(votes.sum(axis=1) >= _POINTS)
    winners = votes[enough].argmax(axis=1)
    first_row, first_column = corner.tolist()
    marked: dict[Cell, Label | None] = {}
    for index, mark in zip(enough.tolist(), winners.tolist(), strict=True):
        row, column = divmod(index, columns)
        marked[row + first_row, column + first_column] = MARKS.get(mark)
    return marked


def is_solid(label: Label) -> bool:
    """Return whether it stands on the floor, so that the lidar meets it."""
    kind, _, state = label
    return kind in ("key", "ball", "box") or (kind == "door" and state != "open")


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
            middle_x, middle_y = lattice.middle(cell)
            is_new = stamp > self.changed.get(cell, -1.0)
            if is_new and hypot(x - middle_x, y - middle_y) < _ROUGHLY:
                self.things[cell] = sighting.kind, sighting.color, sighting.state

    def change(self, cell: Cell, label: Label | None, now: float) -> None:
        """Enter that something was put there, taken away (None) or changed."""
        self.things.pop(cell, None)
        if label is not None:
            self.things[cell] = label
        self.looked.add(cell)
        self.changed[cell] = now

    def word(self, cell: Cell, terrain: Terrain) -> str:
        """Return what the agent calls a cell: "unseen" if anything about it is open."""
        ground = terrain.ground_at(cell)
        label = self.things.get(cell)
        if label is not None and self._stands(cell, label, ground):
            return " ".join(filter(None, label)) if label[0] != "lava" else "lava"
        if ground is Ground.WALL:
            return "wall"
        if cell in self.looked and (ground is Ground.FREE or cell in self.changed):
            return "empty"
        return "unseen"

    def _stands(self, cell: Cell, label: Label, ground: Ground) -> bool:
        """Return whether what was recognised can be there.

        A wall cannot be it, and what stands leaves no free ground.
        """
        if cell in self.changed:
            return True
        return ground is not Ground.WALL and not (ground is Ground.FREE and is_solid(label))


MAX_LOOKS: Final = 12
"""Poses from which missing cells are looked for at a time."""
READY_S: Final = 10.0
SURE_AFTER_S: Final = 1.0
"""How long the lidar needs until free ground counts as free."""
_SETTLED_S: Final = 5.0
_REMEMBERED: Final = 60
_LAVA_M: Final = 0.45
"""Radius around the middle of a cell with lava that no way crosses."""


class Senses:
    """Cells as they become known; the first is the one in which the robot stands.

    Args:
        controller: of the robot.
        detect: finds signs in a picture.

    Attributes:
        pilot: drives, also in order to see.
        looks: extra poses that were driven to for a look.
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
        self._newest = -1.0
        self._poses = deque[tuple[float, Pose]](maxlen=_REMEMBERED)
        self._tried: set[Tried] = set()
        self.pilot = pilot(self._take_in_picture)

    @property
    def lattice(self) -> Lattice:
        """Where the cells lie."""
        if self._lattice is None:
            raise DeviceError("the robot has not seen anything yet")
        return self._lattice

    @property
    def at(self) -> Pose4:
        """The cell in which the footprint's middle is, and the nearest direction."""
        x, y = self.pilot.middle
        return self.lattice.cell(x, y), direction_of(self.pilot.pose.heading)

    def go(self, pose: Pose4) -> bool:
        """Drive to the middle of a cell and face a direction; return whether the robot stands so then."""
        cell, direction = pose
        return self.pilot.go(*self.lattice.middle(cell), heading_of(direction))

    def begin(self) -> None:
        """Wait for the first scan and picture.

        Raises:
            DeviceError: they do not come.
        """
        self.pilot.doing = "look around"
        if not self.pilot.wait(self._has_begun, READY_S):
            raise DeviceError(f"the robot sends no scan or no picture: see {program('python -m robot_bridge')} doctor")
        self.pilot.wait(lambda: False, SURE_AFTER_S)

    def survey(self, at: Pose4) -> dict[Cell, str]:
        """Return the words of the window at the robot's pose; look at what it lacks first, from near poses.

        Raises:
            DeviceError: the robot cannot get back to that pose.
        """
        self._knowledge.looked.add(at[0])
        words = self._window(at)
        if "unseen" in words.values():
            self._look_around(at)
            words = self._window(at)
        return words

    def label(self, cell: Cell) -> Label | None:
        """Return what was recognised there."""
        return self._knowledge.things.get(cell)

    def may_enter(self, cell: Cell) -> bool:
        """Return whether nothing is known to stand there, nor that it would be the end of the robot."""
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
        """Enter that something was put there, taken away (None) or changed; wait until the map shows it."""
        self._knowledge.change(cell, label, self.pilot.state.now)
        stands = label is not None and is_solid(label)
        chart = self._controller.navigation.map
        self.pilot.wait(lambda: is_bare(chart, self.lattice, cell) != stands, _SETTLED_S)

    def terrain(self) -> Terrain:
        return terrain(self._controller.navigation.map, self.lattice)

    def _has_begun(self) -> bool:
        has_map = self._controller.navigation.map.codes.size > 0
        return self._lattice is not None and self._newest >= 0 and has_map

    def _take_in_picture(self) -> None:
        """Take in a new picture, if there is one, seen from where the robot was when it was taken."""
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
        _, pose = min(self._poses, key=lambda entry: abs(entry[0] - stamp))
        seen = floor(frame, pose, controller.config.camera, self._lattice)
        self._knowledge.see(stamp, seen)
        self._knowledge.recognise(stamp, self._detect(frame), pose, self._lattice)

        things = self._knowledge.things
        lava = [cell for cell, label in things.items() if label[0] == "lava"]
        areas = [KeepOut(*self._lattice.middle(cell), _LAVA_M) for cell in lava]
        controller.navigation.keep_outs = tuple(areas)

    def _window(self, at: Pose4) -> dict[Cell, str]:
        ground = self.terrain()
        words = {cell: self._knowledge.word(cell, ground) for _, _, cell in window(*at)}
        if words[at[0]] == "unseen":
            words[at[0]] = "empty"  # the lidar need not have seen the ground that it stands on
        return visible_words(at, words)

    def _find_unseen(self, at: Pose4) -> list[Cell]:
        return [cell for cell, word in self._window(at).items() if word == "unseen"]

    def _look_around(self, home: Pose4) -> None:
        self.pilot.look()
        for _ in range(MAX_LOOKS):
            missing = self._find_unseen(home)
            found = self._vantages().best(self.at, missing) if missing else None
            if found is None:
                break
            self._tried.update((found.place, cell) for cell in found.shows)
            self.looks += 1
            if self.pilot.go(*found.place):
                self.pilot.look()
        if not self.go(home):
            raise DeviceError(f"the robot cannot get back to {self.lattice.middle(home[0])}")

    def _vantages(self) -> Vantages:
        things = self._knowledge.things
        navigation = self._controller.navigation
        closed = {cell for cell, label in things.items() if is_solid(label) or label[0] == "lava"}
        camera = self._controller.config.camera
        return Vantages(navigation.map, self.terrain(), self.lattice, camera, closed, self._tried)
