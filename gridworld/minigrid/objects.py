"""The mechanisms of a task as MiniGrid objects, drawn in MiniGrid's style.

MiniGrid has no index of its own for most of them. Each takes the index of the MiniGrid type that behaves most like it,
with states 0 to 2, so that every code stays within MiniGrid's tables and no two looks share one:

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

Objects do not change: another look is another object. What they may do is for MiniGrid's own methods; the rules are
those of :mod:`gridworld.rules.transition`.
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
    """An object that is encoded with a state; ``passable`` things are walked over and seen through."""

    def __init__(self, kind: str, color: str, state: int, *, passable: bool = True) -> None:
        super().__init__(kind, color)
        self._state = state
        self._passable = passable

    def can_overlap(self) -> bool:
        return self._passable

    def encode(self) -> Code:
        return OBJECT_TO_IDX[self.type], COLOR_TO_IDX[self.color], self._state


class GroundKey(Key):
    """A key; it can be walked over."""

    def can_overlap(self) -> bool:
        return True


class Target(_Thing):
    """The mark of a cell to which a block is to be pushed."""

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
    """Opened by switches only; closed it is a portcullis, open there are its posts."""

    def __init__(self, color: str, *, is_open: bool) -> None:
        super().__init__("floor" if is_open else "door", color, 2 if is_open else 1, passable=is_open)
        self.is_open = is_open

    def see_behind(self) -> bool:
        return self.is_open

    def render(self, img: Image) -> Image:
        pen = _Pen(img)
        color = COLORS[self.color]
        for left in (0.03, 0.87) if self.is_open else (0.03, 0.24, 0.45, 0.66, 0.87):
            pen.rectangle(left, left + 0.10, 0.03, 0.97, color)
        if not self.is_open:
            pen.rectangle(0.03, 0.97, 0.22, 0.30, color)
            pen.rectangle(0.03, 0.97, 0.70, 0.78, color)
        return img


class Switch(_Thing):
    """Stands on the floor; off it is a ring, on it is full and has a white core."""

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
    """A crate that can be pushed has a plain lid, one that cannot has a cross on it."""

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
    """The ends of a pair have one colour; an entrance has rings, an end that is only an exit a ring and a cross."""

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
    """Lava, a pit or spikes; entering it ends the episode."""

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
            for one, other in pairwise(points):
                pen.line(one, other, 0.03, _BLACK)

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
    """A mechanism that the agent may not know of: it is there, but encoded and drawn as what is known of its cell.

    Attributes:
        thing: what is there.
        shown: what is known, None for the floor.
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
    """Return a new object with a look; None for the floor and what was not seen."""
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
    """Fills shapes of a tile; coordinates from 0 to 1, to the right and down."""

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
        x, y = start
        end_x, end_y = end
        dx = end_x - x
        dy = end_y - y
        projection = (self._x - x) * dx + (self._y - y) * dy
        along = np.clip(projection / (dx**2 + dy**2), 0, 1)
        away_x = self._x - x - along * dx
        away_y = self._y - y - along * dy
        self._img[away_x**2 + away_y**2 <= radius**2] = color

    def spike(self, middle: float, bottom: float, half_width: float, height: float, color: Any) -> None:
        up = (bottom - self._y) / height
        narrow = np.abs(self._x - middle) <= half_width * (1 - up)
        self._img[(up >= 0) & narrow] = color
