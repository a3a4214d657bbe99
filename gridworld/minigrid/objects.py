"""The mechanisms of a task as MiniGrid objects, drawn in MiniGrid's style.

MiniGrid has no type index for most mechanisms. Each mechanism takes the index of the MiniGrid type that behaves most
similarly, with a state from 0 to 2. Every code is therefore within MiniGrid's tables. A look is what a cell shows
(:class:`gridworld.rules.observation.Look`); different looks have different codes:

=====================  ========================================================
look                   ``encode()``: type, colour, state
=====================  ========================================================
wall, goal square      wall grey 0, goal green 0, as in MiniGrid
target mark            goal green 1
key                    key, its colour, 0
door                   door, its colour, 0 open | 2 locked, as in MiniGrid
gate                   closed: door, its colour, 1; open: floor, its colour, 2
switch                 ball, its colour, 0 off | 1 on
block                  box, its colour, 0 pushable | 1 fixed
teleporter             floor, colour of the pair, 0 entrance | 1 exit
hazard                 lava red, 0 lava | 1 pit | 2 spike
=====================  ========================================================

Objects are immutable; a mechanism that changes its look becomes a new object. ``can_overlap`` and ``see_behind`` serve
MiniGrid's own methods only, because :mod:`gridworld.rules.transition` decides what the agent can do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, COLORS, OBJECT_TO_IDX
from minigrid.core.world_object import Door, Goal, Key, Lava, Wall, WorldObj
from numpy.typing import NDArray

from gridworld.rules.observation import Look

Image = NDArray[np.uint8]
Code = tuple[int, int, int]

EMPTY: Final[Code] = (OBJECT_TO_IDX["empty"], 0, 0)
UNSEEN: Final[Code] = (OBJECT_TO_IDX["unseen"], 0, 0)

_BLACK: Final = (0, 0, 0)
_WHITE: Final = (255, 255, 255)
_HAZARD_STATES: Final = ("lava", "pit", "spike")


class _Thing(WorldObj):
    """A MiniGrid object with a state in its code; the agent can walk over it if it is ``passable``."""

    def __init__(self, kind: str, color: str, state: int, *, passable: bool = True) -> None:
        super().__init__(kind, color)
        self._state = state
        self._passable = passable

    def can_overlap(self) -> bool:
        return self._passable

    def encode(self) -> Code:
        return OBJECT_TO_IDX[self.type], COLOR_TO_IDX[self.color], self._state


class GroundKey(Key):
    """A key over which the agent can walk."""

    def can_overlap(self) -> bool:
        return True


class Target(_Thing):
    """The mark of a cell to which the agent has to push a block."""

    def __init__(self) -> None:
        super().__init__("goal", "green", 1)

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        pen.rectangle(0.12, 0.88, 0.12, 0.88, COLORS[self.color])
        pen.rectangle(0.22, 0.78, 0.22, 0.78, _BLACK)
        pen.rectangle(0.36, 0.64, 0.00, 1.00, _BLACK)
        pen.rectangle(0.00, 1.00, 0.36, 0.64, _BLACK)
        pen.disc(0.5, 0.5, 0.08, COLORS[self.color])
        return img


class Gate(_Thing):
    """A gate, which can be opened only by switches; drawn as a portcullis if closed, as two posts if open."""

    def __init__(self, color: str, *, is_open: bool) -> None:
        super().__init__("floor" if is_open else "door", color, 2 if is_open else 1, passable=is_open)
        self.is_open = is_open

    def see_behind(self) -> bool:
        return self.is_open

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        color = COLORS[self.color]
        posts = (0.03, 0.87)
        bars = (0.24, 0.45, 0.66)
        for left in posts if self.is_open else (*posts, *bars):
            pen.rectangle(left, left + 0.10, 0.03, 0.97, color)
        if not self.is_open:
            pen.rectangle(0.03, 0.97, 0.22, 0.30, color)
            pen.rectangle(0.03, 0.97, 0.70, 0.78, color)
        return img


class Switch(_Thing):
    """A switch on the floor; drawn as a ring if off, as a full disc with a white core if on."""

    def __init__(self, color: str, *, is_active: bool) -> None:
        super().__init__("ball", color, int(is_active))
        self.is_active = is_active

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        color = COLORS[self.color]
        pen.disc(0.5, 0.5, 0.36, color)
        pen.disc(0.5, 0.5, 0.26, color if self.is_active else _BLACK)
        if self.is_active:
            pen.disc(0.5, 0.5, 0.14, _WHITE)
        return img


class Block(_Thing):
    """A crate; drawn with a plain lid if it can be pushed, otherwise with a cross on the lid."""

    def __init__(self, color: str, *, pushable: bool) -> None:
        super().__init__("box", color, int(not pushable), passable=False)
        self.pushable = pushable

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        color = COLORS[self.color]
        dark = 0.45 * color
        pen.rectangle(0.09, 0.91, 0.09, 0.91, color)
        pen.rectangle(0.17, 0.83, 0.17, 0.83, dark)
        if self.pushable:
            pen.rectangle(0.25, 0.75, 0.25, 0.75, color)
        else:
            pen.line((0.2, 0.2), (0.8, 0.8), 0.05, color)
            pen.line((0.2, 0.8), (0.8, 0.2), 0.05, color)
        return img


class TeleporterEnd(_Thing):
    """An end of a teleporter; both ends have the same colour.

    An entrance is drawn as concentric rings, an end that is only an exit as a ring with a cross.
    """

    def __init__(self, color: str, *, entrance: bool) -> None:
        super().__init__("floor", color, int(not entrance))
        self.entrance = entrance

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        color = COLORS[self.color]
        for radius, shade in ((0.45, color), (0.38, _BLACK)):
            pen.disc(0.5, 0.5, radius, shade)
        if self.entrance:
            for radius, shade in ((0.30, color), (0.22, _BLACK), (0.13, color)):
                pen.disc(0.5, 0.5, radius, shade)
        else:
            pen.line((0.32, 0.5), (0.68, 0.5), 0.04, color)
            pen.line((0.5, 0.32), (0.5, 0.68), 0.04, color)
        return img


class Hazard(Lava):
    """A cell with lava, a pit or spikes; the episode ends if the agent enters the cell."""

    def __init__(self, hazard_type: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # MiniGrid's has no types
        self.hazard_type = hazard_type

    def encode(self) -> Code:
        return OBJECT_TO_IDX["lava"], COLOR_TO_IDX["red"], _HAZARD_STATES.index(self.hazard_type)

    def render(self, img: Image) -> Image:
        getattr(self, f"_render_{self.hazard_type}")(_Pen(img))
        return img

    @staticmethod
    def _render_lava(pen: _Pen) -> None:
        pen.rectangle(0, 1, 0, 1, (255, 128, 0))
        for top in (0.3, 0.5, 0.7):
            points = [(0.1 + 0.2 * step, top + 0.1 * (step % 2)) for step in range(5)]
            for start, end in pairwise(points):
                pen.line(start, end, 0.03, _BLACK)

    @staticmethod
    def _render_pit(pen: _Pen) -> None:
        for radius, shade in ((0.46, (150, 100, 50)), (0.38, (80, 50, 25)), (0.28, _BLACK)):
            pen.disc(0.5, 0.5, radius, shade)

    @staticmethod
    def _render_spike(pen: _Pen) -> None:
        for middle in (0.2, 0.5, 0.8):
            for bottom in (0.5, 0.92):
                pen.spike(middle, bottom, 0.14, 0.38, (200, 200, 210))


class Hidden(WorldObj):
    """A mechanism that the agent may not know of; encoded and drawn as what the agent knows of its cell.

    Attributes:
        thing: the true object.
        shown: the object that the agent knows; None means plain floor.
    """

    def __init__(self, thing: WorldObj, shown: WorldObj | None) -> None:
        super().__init__(thing.type, thing.color)
        self.thing = thing
        self.shown = shown

    def can_overlap(self) -> bool:
        return bool(self.thing.can_overlap())

    def see_behind(self) -> bool:
        return bool(self.thing.see_behind())

    def encode(self) -> Code:
        return EMPTY if self.shown is None else self.shown.encode()

    def render(self, img: Image) -> Image:
        if self.shown is not None:
            self.shown.render(img)
        return img


def object_of(look: Look) -> WorldObj | None:
    """Return a new MiniGrid object that looks like ``look``; return None for plain floor and for unseen cells."""
    kind, color, state = look
    makers: dict[str, Any] = {
        "wall": Wall,
        "goal": Goal,
        "target": Target,
        "key": lambda: GroundKey(color),
        "door": lambda: Door(color, is_open=state == "open", is_locked=state == "locked"),
        "gate": lambda: Gate(color, is_open=state == "open"),
        "switch": lambda: Switch(color, is_active=state == "on"),
        "block": lambda: Block(color, pushable=state != "fixed"),
        "teleporter": lambda: TeleporterEnd(color, entrance=state == "entrance"),
        "hazard": lambda: Hazard(state),
    }
    return makers[kind]() if kind in makers else None


class _Pen:
    """A pen that fills shapes of a tile; coordinates are from 0 to 1, x to the right, y down."""

    def __init__(self, img: Image) -> None:
        self._img = img
        height, width = img.shape[:2]
        rows = (np.arange(height) + 0.5) / height
        columns = (np.arange(width) + 0.5) / width
        self._y = rows[:, np.newaxis]
        self._x = columns[np.newaxis, :]

    def rectangle(self, left: float, right: float, top: float, bottom: float, color: Any) -> None:
        columns = (self._x >= left) & (self._x <= right)
        rows = (self._y >= top) & (self._y <= bottom)
        self._img[columns & rows] = color

    def disc(self, x: float, y: float, radius: float, color: Any) -> None:
        squared = (self._x - x) ** 2 + (self._y - y) ** 2
        self._img[squared <= radius**2] = color

    def line(self, start: tuple[float, float], end: tuple[float, float], radius: float, color: Any) -> None:
        """Fill the pixels within ``radius`` of the segment from start to end."""
        x, y = start
        end_x, end_y = end
        dx = end_x - x
        dy = end_y - y
        projection = (self._x - x) * dx + (self._y - y) * dy
        # Position of the nearest point of the segment: 0 at the start, 1 at the end.
        along = np.clip(projection / (dx**2 + dy**2), 0, 1)
        away_x = self._x - x - along * dx
        away_y = self._y - y - along * dy
        self._img[away_x**2 + away_y**2 <= radius**2] = color

    def spike(self, middle: float, bottom: float, half_width: float, height: float, color: Any) -> None:
        """Fill an upright triangle whose base is at ``bottom``."""
        elevation = (bottom - self._y) / height  # 0 at the base, 1 at the tip
        is_within_sides = np.abs(self._x - middle) <= half_width * (1 - elevation)
        self._img[(elevation >= 0) & is_within_sides] = color
