"""What each look is drawn as: layers of shapes and colours, from the ground up (pure).

Colours are the language of the tasks; every state has a shape of its own beside them, so that doors, gates, switches,
blocks and teleporters are told apart without seeing colours.
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
    common,
    dashes,
    grown,
    line,
    outside,
    placed,
    polygon,
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
"""RGB of the colours of tasks."""

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
"""Half the width of outlines."""


def layers(look: Look, cell: Shape) -> list[Layer]:
    """A look from the ground up; ``cell`` is the outline of the tiling's cells."""
    return _DRAWINGS[look.kind](look, cell)


def agent(angle: float, carrying: str | None, *, on_floor: bool) -> list[Layer]:
    """The agent: an arrow in its heading, on its back the key in hand; smaller where something is to be seen below.

    Args:
        angle: of the heading, in radians clockwise from the right.
        carrying: colour of the key.
        on_floor: nothing lies below.
    """
    arrow = polygon(((0.36, 0.0), (-0.28, 0.3), (-0.14, 0.0), (-0.28, -0.3)))
    scale = 1.0 if on_floor else 0.74
    body = placed(arrow, turn=angle, scale=scale)
    drawn = [Layer(grown(body, 0.085), _WHITE), Layer(grown(body, 0.045), INK), Layer(grown(body, -0.015), _AGENT)]
    if carrying is not None:
        back = (-0.26 * math.cos(angle), -0.26 * math.sin(angle))
        disc = circle(0.24, back)
        colour = PAINTS[carrying]
        key = placed(_KEY, at=back, turn=_KEY_TURN, scale=0.52)
        drawn += [Layer(disc, INK), Layer(grown(disc, -0.04), colour), Layer(key, _contrast(colour))]
    return drawn


def mark(cell: Shape) -> list[Layer]:
    """A frame around what the author sees and the agent does not."""
    frame = line(grown(cell, -0.06), 0.06)
    return [Layer(frame, _WHITE), Layer(common(grown(frame, -0.01), dashes(12, 0.6, math.pi / 12)), _MARK)]


def _ground(cell: Shape, colour: Rgb = FLOOR, edge: Rgb = _GRID) -> list[Layer]:
    return [Layer(grown(cell, 1), edge), Layer(grown(cell, -0.02), colour)]


def _outlined(shape: Shape, colour: Rgb) -> list[Layer]:
    return [Layer(grown(shape, _EDGE), INK), Layer(grown(shape, -_EDGE), colour)]


def _darker(colour: Rgb, share: float = 0.35) -> Rgb:
    red, green, blue = (round(part * (1 - share)) for part in colour)
    return red, green, blue


def _contrast(colour: Rgb) -> Rgb:
    """Dark on light colours, white on dark ones; luma after ITU-R BT.601."""
    red, green, blue = colour
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else _WHITE


def _unseen(_look: Look, cell: Shape) -> list[Layer]:
    return [Layer(grown(cell, 1), UNSEEN)]


def _floor(_look: Look, cell: Shape) -> list[Layer]:
    return _ground(cell)


def _wall(_look: Look, cell: Shape) -> list[Layer]:
    return [*_ground(cell, _WALL, _WALL), Layer(grown(cell, -0.06), _WALL_FACE)]


def _goal(_look: Look, cell: Shape) -> list[Layer]:
    pole = bar((-0.18, -0.3), (-0.18, 0.34), 0.035)
    pennant = polygon(((-0.16, -0.3), (0.3, -0.13), (-0.16, 0.05)))
    return [
        *_ground(cell, _GOAL, _GOAL_EDGE),
        Layer(line(grown(cell, -0.045), 0.045), _GOAL_EDGE),
        *_outlined(pennant, _WHITE),
        Layer(pole, INK),
    ]


def _target(_look: Look, cell: Shape) -> list[Layer]:
    cross = union(bar((-0.17, -0.17), (0.17, 0.17), 0.05), bar((-0.17, 0.17), (0.17, -0.17), 0.05))
    corners = common(line(box(0.36, 0.36), 0.035), dashes(4, 0.5, math.pi / 4))
    return [*_ground(cell), Layer(union(cross, corners), INK)]


def _hazard(look: Look, cell: Shape) -> list[Layer]:
    if look.state == "lava":
        crests = union(*(wave(0.06, 2, 0.04, at=height) for height in (-0.25, 0.0, 0.25)))
        return [*_ground(cell, _LAVA, _darker(_LAVA)), Layer(common(crests, grown(cell, -0.06)), _LAVA_CREST)]
    if look.state == "pit":
        return [*_ground(cell), Layer(circle(0.42), _darker(FLOOR)), Layer(circle(0.36), INK)]
    spikes = [polygon(((x - 0.14, 0.24), (x, -0.34), (x + 0.14, 0.24))) for x in (-0.27, 0.27, 0.0)]
    drawn = [layer for spike in spikes for layer in _outlined(spike, _STEEL)]
    return [*_ground(cell), *drawn, *_outlined(box(0.42, 0.07, at=(0.0, 0.28)), _WALL)]


def _key_shape() -> Shape:
    bow = line(circle(0.13, (0.0, -0.2)), 0.055)
    teeth = union(bar((0.0, 0.33), (0.14, 0.33), 0.05), bar((0.0, 0.17), (0.11, 0.17), 0.05))
    return union(bow, bar((0.0, -0.06), (0.0, 0.33), 0.055), teeth)


_KEY: Final = _key_shape()
_KEY_TURN: Final = math.radians(38)


def _key(look: Look, cell: Shape) -> list[Layer]:
    shape = placed(_KEY, turn=_KEY_TURN, at=(0.01, -0.02))
    return [*_ground(cell), Layer(grown(shape, 0.045), INK), Layer(shape, PAINTS[look.color])]


def _door(look: Look, cell: Shape) -> list[Layer]:
    colour = PAINTS[look.color]
    panel = grown(cell, -0.06)
    if look.state == "open":
        opening = grown(cell, -0.2)
        return [*_ground(cell), *_outlined(common(panel, outside(opening)), colour)]
    inner = line(grown(cell, -0.15), 0.018)
    keyhole = union(circle(0.1, (0.0, -0.07)), polygon(((-0.045, -0.05), (0.045, -0.05), (0.09, 0.2), (-0.09, 0.2))))
    return [*_ground(cell), *_outlined(panel, colour), Layer(inner, _darker(colour)), Layer(keyhole, INK)]


def _gate(look: Look, cell: Shape) -> list[Layer]:
    colour = PAINTS[look.color]
    bars = union(*(box(0.1, 1.0, at=(x, 0.0)) for x in (-0.3, 0.0, 0.3)))
    if look.state == "open":
        stubs = common(grown(bars, 0.01), grown(cell, -0.04), outside(grown(cell, -0.27)), outside(box(1.0, 0.14)))
        return [*_ground(cell), *_outlined(stubs, colour)]
    rail = common(box(1.0, 0.05), cell)
    return [*_ground(cell, INK, INK), Layer(common(grown(bars, -0.02), cell), colour), *_outlined(rail, colour)]


def _switch(look: Look, cell: Shape) -> list[Layer]:
    colour = PAINTS[look.color]
    plate = box(0.37, 0.37, rounding=0.1)
    slot = box(0.24, 0.12, rounding=0.12)
    on = look.state == "on"
    knob: Point = (0.12, 0.0) if on else (-0.12, 0.0)
    face = [Layer(grown(plate, -0.09), FLOOR)] if not on else []
    return [
        *_ground(cell),
        *_outlined(plate, colour),
        *face,
        *_outlined(slot, _WHITE if on else _darker(FLOOR)),
        *_outlined(circle(0.11, knob), colour if not on else INK),
    ]


def _block(look: Look, cell: Shape) -> list[Layer]:
    """A crate of planks; a fixed one is bolted down and crossed out, as minigrid's backend draws it."""
    colour = PAINTS[look.color]
    if look.state == "fixed":
        body = box(0.38, 0.38, rounding=0.05)
        inner = box(0.32, 0.32)
        rivets = union(*(circle(0.06, at) for at in ((-0.25, 0.0), (0.25, 0.0), (0.0, -0.25), (0.0, 0.25))))
        cross = common(union(bar((-1, -1), (1, 1), 0.06), bar((-1, 1), (1, -1), 0.06)), inner)
        return [*_ground(cell), *_outlined(body, _darker(colour, 0.25)), Layer(union(rivets, cross), INK)]
    body = box(0.36, 0.36, rounding=0.04)
    inner = box(0.25, 0.25)
    joints = common(union(*(bar((-1, y), (1, y), 0.035) for y in (-0.085, 0.085))), inner)
    return [*_ground(cell), *_outlined(body, colour), Layer(union(line(inner, 0.03), joints), _darker(colour))]


def _teleporter(look: Look, cell: Shape) -> list[Layer]:
    colour = PAINTS[look.color]
    if look.state == "exit":
        ring = common(line(circle(0.335), 0.1), dashes(4, 0.66, math.pi / 4))
        return [*_ground(cell), *_outlined(ring, colour), *_outlined(circle(0.09), colour)]
    return [
        *_ground(cell),
        *_outlined(circle(0.4), colour),
        Layer(line(circle(0.26), 0.035), _WHITE),
        Layer(circle(0.12), _WHITE),
    ]


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
