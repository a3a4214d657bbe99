"""What a robot knows of the cells around it, and how it gets to know what is missing.

::

    lidar -> occupancy map -> terrain ┐
    camera -> signs and floor ────────┴─> cells -> window
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from robot_bridge.agent.cells import Cell, Ground, Lattice, Terrain, direction_of, heading_of, is_bare, terrain, window
from robot_bridge.agent.pilot import Pilot
from robot_bridge.agent.sight import Knowledge, Label, floor, is_solid
from robot_bridge.agent.vantages import Pose4, Tried, Vantages, shown
from robot_bridge.contracts import Frame, Pose, Sighting
from robot_bridge.control.controller import Controller
from robot_bridge.errors import DeviceError
from robot_bridge.navigation.clearance import KeepOut

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
        self._controller, self._detect = controller, detect
        self._lattice: Lattice | None = None
        self._knowledge = Knowledge()
        self._newest = -1.0
        self._poses = deque[tuple[float, Pose]](maxlen=_REMEMBERED)
        self._tried: set[Tried] = set()
        self.pilot = pilot(self._ticked)

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
        """Drive to the middle of a cell and face a direction; whether the robot stands so then."""
        return self.pilot.go(*self.lattice.middle(pose[0]), heading_of(pose[1]))

    def begin(self) -> None:
        """Wait for the first scan and picture.

        Raises:
            DeviceError: they do not come.
        """
        self.pilot.doing = "look around"
        if not self.pilot.wait(self._has_begun, READY_S):
            raise DeviceError("the robot sends no scan or no picture: see python -m robot_bridge doctor")
        self.pilot.wait(lambda: False, SURE_AFTER_S)

    def survey(self, at: Pose4) -> dict[Cell, str]:
        """The words of the window at the robot's pose; what it lacks is looked at first, from near poses.

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
        """What was recognised there."""
        return self._knowledge.things.get(cell)

    def may_enter(self, cell: Cell) -> bool:
        """Whether nothing is known to stand there, nor that it would be the end of the robot."""
        ground, label = self.terrain().at(cell), self.label(cell)
        if ground in (Ground.WALL, Ground.THING):
            return False
        if label is None:
            return True
        return label[0] != "lava" and (not is_solid(label) or self._knowledge.word(cell, self.terrain()) == "empty")

    def change(self, cell: Cell, label: Label | None) -> None:
        """Something was put there, taken away (None) or changed: wait until the map shows it, to plan by it."""
        self._knowledge.change(cell, label, self.pilot.state.now)
        stands = label is not None and is_solid(label)
        chart = self._controller.navigation.map
        self.pilot.wait(lambda: is_bare(chart, self.lattice, cell) != stands, _SETTLED_S)

    def terrain(self) -> Terrain:
        return terrain(self._controller.navigation.map, self.lattice)

    def _has_begun(self) -> bool:
        return self._lattice is not None and self._newest >= 0 and self._controller.navigation.map.codes.size > 0

    def _ticked(self) -> None:
        """Take in a new picture, seen from where the robot was when it was taken."""
        controller = self._controller
        view, pose = controller.view, self.pilot.pose
        if self._lattice is None and view.observation.scan is not None:
            self._lattice = Lattice.around(pose, controller.config.body.centre)
        self._poses.append((view.now, pose))
        frame = view.observation.frame
        if frame is None or self._lattice is None or frame.stamp <= self._newest:
            return
        self._newest = frame.stamp
        pose = min(self._poses, key=partial(_apart, frame.stamp))[1]
        self._knowledge.see(frame.stamp, floor(frame, pose, controller.config.camera, self._lattice))
        self._knowledge.recognise(frame.stamp, self._detect(frame), pose, self._lattice)
        lava = [cell for cell, label in self._knowledge.things.items() if label[0] == "lava"]
        controller.navigation.avoid(KeepOut(*self._lattice.middle(cell), _LAVA_M) for cell in lava)

    def _window(self, at: Pose4) -> dict[Cell, str]:
        ground = self.terrain()
        words = {cell: self._knowledge.word(cell, ground) for _, _, cell in window(*at)}
        if words[at[0]] == "unseen":
            words[at[0]] = "empty"  # the lidar need not have seen the ground that it stands on
        return shown(at, words)

    def _missing(self, at: Pose4) -> list[Cell]:
        return [cell for cell, word in self._window(at).items() if word == "unseen"]

    def _look_around(self, home: Pose4) -> None:
        self.pilot.look()
        for _ in range(MAX_LOOKS):
            missing = self._missing(home)
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
        things, navigation = self._knowledge.things, self._controller.navigation
        closed = {cell for cell, label in things.items() if is_solid(label) or label[0] == "lava"}
        camera = self._controller.config.camera
        return Vantages(navigation.map, self.terrain(), self.lattice, camera, closed, self._tried)


def _apart(stamp: float, entry: tuple[float, Pose]) -> float:
    return abs(entry[0] - stamp)
