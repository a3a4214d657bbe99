"""Drawings of the looks of cells (pure).

A look is the visible kind, colour and state of a cell. A drawing is a list of layers, the lowest layer first. A layer
is a shape in one colour.

Lengths are in widths of a cell. The origin is the middle of the cell, x points right and y points down. Tasks name
colours, but every state also has a shape of its own. Doors, gates, switches, blocks and teleporters can therefore be
told apart without colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from gridworld.drawing.shapes import (
    Point,
    Shape,
    bar,
    box,
    circle,
    dashes,
    grow,
    intersect,
    invert,
    line,
    polygon,
    transform,
    union,
    wave,
)
from gridworld.rules.observation import Look

Rgb: TypeAlias = tuple[int, int, int]


class Layer(NamedTuple):
    """A shape in one colour."""

    shape: Shape
    colour: Rgb


PAINTS: Final[Mapping[str, Rgb]] = MappingProxyType(
    {
        "red": (222, 52, 60),
        "green": (40, 160, 82),
        "blue": (40, 108, 222),
        "purple": (144, 66, 202),
        "yellow": (250, 196, 24),
        "grey": (146, 152, 164),
    }
)
"""RGB values of the colours that tasks name."""

UNSEEN: Final[Rgb] = (20, 22, 27)
FLOOR: Final[Rgb] = (246, 244, 238)
INK: Final[Rgb] = (30, 34, 42)
_WHITE: Final[Rgb] = (255, 255, 255)
_GRID: Final[Rgb] = (222, 218, 208)
_WALL: Final[Rgb] = (84, 92, 106)
_WALL_FACE: Final[Rgb] = (102, 111, 127)
_GOAL: Final[Rgb] = (134, 214, 150)
_GOAL_EDGE: Final[Rgb] = (40, 160, 82)
_LAVA: Final[Rgb] = (240, 84, 28)
_LAVA_CREST: Final[Rgb] = (255, 206, 84)
_STEEL: Final[Rgb] = (176, 184, 196)
_MARK: Final[Rgb] = (236, 0, 140)
_AGENT: Final[Rgb] = (0, 206, 224)
_EDGE: Final = 0.035
"""Half the line width of outlines, in widths of a cell."""

_ARROW: Final = polygon(((0.36, 0.0), (-0.28, 0.3), (-0.14, 0.0), (-0.28, -0.3)))
_PENNANT: Final = polygon(((-0.16, -0.3), (0.3, -0.13), (-0.16, 0.05)))
_KEYHOLE_SLOT: Final = polygon(((-0.045, -0.05), (0.045, -0.05), (0.09, 0.2), (-0.09, 0.2)))


def layers(look: Look, cell: Shape) -> list[Layer]:
    """Return the layers of a look, the lowest layer first; ``cell`` is the outline of the tiling's cells."""
    return _DRAWINGS[look.kind](look, cell)


def agent(angle: float, carrying: str | None, *, on_floor: bool) -> list[Layer]:
    """Return an arrow that points in the agent's heading. If the agent carries a key, the key is drawn near the arrow's
    tail.

    Args:
        angle: angle of the heading, in radians clockwise from the right.
        carrying: colour of the carried key; None without a key.
        on_floor: whether the agent's cell is empty. If not, the arrow is smaller so that the thing below stays visible.
    """
    scale = 1.0 if on_floor else 0.74
    body = transform(_ARROW, turn=angle, scale=scale)
    drawn = [
        Layer(grow(body, 0.085), _WHITE),
        Layer(grow(body, 0.045), INK),
        Layer(grow(body, -0.015), _AGENT),
    ]
    if carrying is None:
        return drawn

    back = (-0.26 * math.cos(angle), -0.26 * math.sin(angle))
    disc = circle(0.24, back)
    colour = PAINTS[carrying]
    key = transform(_KEY, at=back, turn=_KEY_TURN, scale=0.52)
    drawn.append(Layer(disc, INK))
    drawn.append(Layer(grow(disc, -0.04), colour))
    drawn.append(Layer(key, _choose_contrast(colour)))
    return drawn


def mark(cell: Shape) -> list[Layer]:
    """Return the layers of a dashed frame around a cell. The frame marks a thing that is hidden from the agent."""
    frame = line(grow(cell, -0.06), 0.06)
    dashed = intersect(grow(frame, -0.01), dashes(12, 0.6, math.pi / 12))
    return [Layer(frame, _WHITE), Layer(dashed, _MARK)]


def _ground(cell: Shape, colour: Rgb = FLOOR, edge: Rgb = _GRID) -> list[Layer]:
    """Return the whole cell in one colour, with a thin edge."""
    return [Layer(grow(cell, 1), edge), Layer(grow(cell, -0.02), colour)]


def _outline(shape: Shape, colour: Rgb) -> list[Layer]:
    """Return a shape in one colour, with a dark outline."""
    outline = grow(shape, _EDGE)
    inside = grow(shape, -_EDGE)
    return [Layer(outline, INK), Layer(inside, colour)]


def _cross(reach: float, half_width: float) -> Shape:
    """Return two diagonal strokes that cross in the middle of the cell.

    Args:
        reach: distance of each end from the middle, along x and along y.
        half_width: half the width of a stroke.
    """
    falling = bar((-reach, -reach), (reach, reach), half_width)
    rising = bar((-reach, reach), (reach, -reach), half_width)
    return union(falling, rising)


def _darken(colour: Rgb, share: float = 0.35) -> Rgb:
    """Return a colour that is darker by the fraction ``share``."""
    left = 1 - share
    red, green, blue = colour
    return round(red * left), round(green * left), round(blue * left)


def _choose_contrast(colour: Rgb) -> Rgb:
    """Return ``INK`` for a light colour, or white for a dark colour. The luma of ITU-R BT.601 decides."""
    red, green, blue = colour
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    return INK if luma > 130 else _WHITE


def _unseen(_look: Look, cell: Shape) -> list[Layer]:
    return [Layer(grow(cell, 1), UNSEEN)]


def _floor(_look: Look, cell: Shape) -> list[Layer]:
    return _ground(cell)


def _wall(_look: Look, cell: Shape) -> list[Layer]:
    return [*_ground(cell, _WALL, _WALL), Layer(grow(cell, -0.06), _WALL_FACE)]


def _goal(_look: Look, cell: Shape) -> list[Layer]:
    """Return a green cell with a flag."""
    pole = bar((-0.18, -0.3), (-0.18, 0.34), 0.035)
    frame = line(grow(cell, -0.045), 0.045)
    return [
        *_ground(cell, _GOAL, _GOAL_EDGE),
        Layer(frame, _GOAL_EDGE),
        *_outline(_PENNANT, _WHITE),
        Layer(pole, INK),
    ]


def _target(_look: Look, cell: Shape) -> list[Layer]:
    """Return a cross between four corner marks. A block belongs on such a cell."""
    frame = line(box(0.36, 0.36), 0.035)
    corners = intersect(frame, dashes(4, 0.5, math.pi / 4))
    return [*_ground(cell), Layer(union(_cross(0.17, 0.05), corners), INK)]


def _hazard(look: Look, cell: Shape) -> list[Layer]:
    if look.state == "lava":
        return _lava(cell)
    if look.state == "pit":
        return _pit(cell)
    return _spikes(cell)


def _lava(cell: Shape) -> list[Layer]:
    waves = [wave(0.06, 2, 0.04, at=height) for height in (-0.25, 0.0, 0.25)]
    crests = union(*waves)
    inside = intersect(crests, grow(cell, -0.06))
    return [*_ground(cell, _LAVA, _darken(_LAVA)), Layer(inside, _LAVA_CREST)]


def _pit(cell: Shape) -> list[Layer]:
    rim = Layer(circle(0.42), _darken(FLOOR))
    return [*_ground(cell), rim, Layer(circle(0.36), INK)]


def _spikes(cell: Shape) -> list[Layer]:
    drawn = _ground(cell)
    for x in (-0.27, 0.27, 0.0):  # the middle spike last, in front of the others
        spike = polygon(((x - 0.14, 0.24), (x, -0.34), (x + 0.14, 0.24)))
        drawn += _outline(spike, _STEEL)
    base = box(0.42, 0.07, at=(0.0, 0.28))
    return [*drawn, *_outline(base, _WALL)]


def _key_shape() -> Shape:
    """Return an upright key: a ring at the top, a shaft and two teeth."""
    bow = line(circle(0.13, (0.0, -0.2)), 0.055)
    shaft = bar((0.0, -0.06), (0.0, 0.33), 0.055)
    long_tooth = bar((0.0, 0.33), (0.14, 0.33), 0.05)
    short_tooth = bar((0.0, 0.17), (0.11, 0.17), 0.05)
    return union(bow, shaft, union(long_tooth, short_tooth))


_KEY: Final = _key_shape()
_KEY_TURN: Final = math.radians(38)


def _key(look: Look, cell: Shape) -> list[Layer]:
    shape = transform(_KEY, turn=_KEY_TURN, at=(0.01, -0.02))
    outline = Layer(grow(shape, 0.045), INK)
    return [*_ground(cell), outline, Layer(shape, PAINTS[look.color])]


def _door(look: Look, cell: Shape) -> list[Layer]:
    """Return a panel with a keyhole for a locked door, and only the frame for an open door."""
    colour = PAINTS[look.color]
    panel = grow(cell, -0.06)
    if look.state == "open":
        frame = intersect(panel, invert(grow(cell, -0.2)))
        return [*_ground(cell), *_outline(frame, colour)]

    inner = line(grow(cell, -0.15), 0.018)
    keyhole = union(circle(0.1, (0.0, -0.07)), _KEYHOLE_SLOT)
    drawn = [*_ground(cell), *_outline(panel, colour)]
    drawn.append(Layer(inner, _darken(colour)))
    drawn.append(Layer(keyhole, INK))
    return drawn


def _gate(look: Look, cell: Shape) -> list[Layer]:
    """Return a grille for a closed gate, and only the ends of the bars for an open gate."""
    colour = PAINTS[look.color]
    upright = [box(0.1, 1.0, at=(x, 0.0)) for x in (-0.3, 0.0, 0.3)]
    bars = union(*upright)
    if look.state == "open":
        # Only the ends of the bars stay, near the edge of the cell.
        edge = intersect(grow(cell, -0.04), invert(grow(cell, -0.27)))
        middle = box(1.0, 0.14)
        stubs = intersect(grow(bars, 0.01), edge, invert(middle))
        return [*_ground(cell), *_outline(stubs, colour)]

    grille = intersect(grow(bars, -0.02), cell)
    rail = intersect(box(1.0, 0.05), cell)
    return [*_ground(cell, INK, INK), Layer(grille, colour), *_outline(rail, colour)]


def _switch(look: Look, cell: Shape) -> list[Layer]:
    """Return a plate with a slider, whose knob is on the right if the switch is on, otherwise on the left."""
    colour = PAINTS[look.color]
    plate = box(0.37, 0.37, rounding=0.1)
    slot = box(0.24, 0.12, rounding=0.12)
    drawn = [*_ground(cell), *_outline(plate, colour)]
    if look.state == "on":
        knob = circle(0.11, (0.12, 0.0))
        return [*drawn, *_outline(slot, _WHITE), *_outline(knob, INK)]

    knob = circle(0.11, (-0.12, 0.0))
    drawn.append(Layer(grow(plate, -0.09), FLOOR))
    return [*drawn, *_outline(slot, _darken(FLOOR)), *_outline(knob, colour)]


def _block(look: Look, cell: Shape) -> list[Layer]:
    """Return a crate of planks for a pushable block, or a riveted and crossed-out crate for a fixed block.

    The MiniGrid backend draws fixed blocks in the same way.
    """
    colour = PAINTS[look.color]
    if look.state == "fixed":
        body = box(0.38, 0.38, rounding=0.05)
        inner = box(0.32, 0.32)
        near_edges: tuple[Point, ...] = ((-0.25, 0.0), (0.25, 0.0), (0.0, -0.25), (0.0, 0.25))
        rivets = union(*(circle(0.06, middle) for middle in near_edges))
        iron = union(rivets, intersect(_cross(1, 0.06), inner))
        return [*_ground(cell), *_outline(body, _darken(colour, 0.25)), Layer(iron, INK)]

    body = box(0.36, 0.36, rounding=0.04)
    inner = box(0.25, 0.25)
    upper = bar((-1, -0.085), (1, -0.085), 0.035)
    lower = bar((-1, 0.085), (1, 0.085), 0.035)
    planks = union(upper, lower)
    joints = union(line(inner, 0.03), intersect(planks, inner))
    return [*_ground(cell), *_outline(body, colour), Layer(joints, _darken(colour))]


def _teleporter(look: Look, cell: Shape) -> list[Layer]:
    """Return filled rings for an entrance, and a broken ring with a dot for an exit."""
    colour = PAINTS[look.color]
    drawn = _ground(cell)
    if look.state == "exit":
        ring = intersect(line(circle(0.335), 0.1), dashes(4, 0.66, math.pi / 4))
        return [*drawn, *_outline(ring, colour), *_outline(circle(0.09), colour)]

    drawn += _outline(circle(0.4), colour)
    drawn.append(Layer(line(circle(0.26), 0.035), _WHITE))
    drawn.append(Layer(circle(0.12), _WHITE))
    return drawn


_DRAWINGS: Final[Mapping[str, Callable[[Look, Shape], list[Layer]]]] = MappingProxyType(
    {
        "unseen": _unseen,
        "floor": _floor,
        "wall": _wall,
        "goal": _goal,
        "target": _target,
        "hazard": _hazard,
        "key": _key,
        "door": _door,
        "gate": _gate,
        "switch": _switch,
        "block": _block,
        "teleporter": _teleporter,
    }
)
