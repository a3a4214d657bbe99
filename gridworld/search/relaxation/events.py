"""What changes the mode of a projection, and what lets the agent into another connected component (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gridworld.rules.layout import Layout
from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.numbering import GONE, HAND, HOME, LOOSE, Digits, Numbering
from gridworld.search.relaxation.places import NO_CELL, Mask


@dataclass(frozen=True, slots=True)
class Event:
    """What the agent can do in some poses: it adds ``delta`` to the codes of the modes that allow it.

    ``equal``: digits that the mode must have; ``other``: digits that it must not have. ``key``: one that is picked up
    from a part of the grid, or dropped there.
    """

    poses: Mask
    equal: Digits
    other: Digits
    delta: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A way from one connected component to the next, in modes that have the digits ``equal``."""

    origin: int
    target: int
    equal: Digits


def events(numbering: Numbering) -> Iterator[Event]:
    """Yield picking up, dropping and toggling; moves and pushes are not among them."""
    yield from _key_events(numbering)
    yield from _switch_events(numbering)
    yield from _door_events(numbering)


def crossings(numbering: Numbering) -> set[Crossing]:
    """Return the crossings between components, for users that ignore blocks."""
    places = numbering.places
    layout = numbering.layout
    cells = list(places.index)
    found = set[Crossing]()
    for pose in np.flatnonzero(places.after >= 0):
        origin = int(places.component[pose])
        target = int(places.component[places.after[pose]])
        if origin != target:
            ways = _ways_into(layout, numbering, cells[places.ahead[pose]])
            found.update(Crossing(origin, target, digits) for digits in ways)
    return found


def _ways_into(layout: Layout, numbering: Numbering, cell: Cell) -> Iterator[Digits]:
    """Yield digits with which a cell may be entered."""
    if (door := layout.doors.get(cell)) is not None:
        yield ((door.id, 1),) if door.id in numbering else ()
        return
    gate = layout.gates.get(cell)
    if gate is None or gate.initial_state == "open":
        yield ()
        return
    for switch in layout.switches.values():
        if gate.id in switch.controls:
            yield ((switch.id, 1),) if switch.id in numbering else ()


def _key_events(numbering: Numbering) -> Iterator[Event]:
    """Yield events of keys; a key lies anywhere in its part of the grid, one of no more use just anywhere."""
    places = numbering.places
    layout = numbering.layout
    keys = numbering.pattern.keys
    full = tuple((name, HAND) for name in keys)
    anywhere = np.ones(len(places), dtype=np.bool_)
    numbers = np.full(len(places.index) + 1, -1)
    for cell, part in numbering.parts.items():
        numbers[places.index[cell]] = part
    facing = numbers[places.ahead]
    on = numbers[places.cell]
    for name in keys:
        cell = layout.keys[layout.key_index[name]].position.to_tuple()
        stride = numbering.strides[name]
        near = places.facing(cell) | places.on(cell)
        yield Event(near, ((name, HOME),), full, (HAND - HOME) * stride)

        for part in range(numbering.radices[name] - LOOSE):
            digit = LOOSE + part
            picked = (HAND - digit) * stride
            within = (facing == part) | (on == part)
            yield Event(within, ((name, digit),), full, picked, name)
            yield Event(facing == part, ((name, HAND),), (), -picked, name)

        if name in numbering.uses:
            doors = tuple((door, 1) for door in numbering.uses[name])
            delta = (HAND - GONE) * stride
            yield Event(anywhere, ((name, GONE), *doors), full, delta)


def _switch_events(numbering: Numbering) -> Iterator[Event]:
    for cell, switch in numbering.layout.switches.items():
        if switch.id in numbering:
            on = numbering.places.on(cell)
            stride = numbering.strides[switch.id]
            yield Event(on, ((switch.id, 0),), (), stride)
            if numbering.layout.switch_type(switch.id) == "toggle":
                yield Event(on, ((switch.id, 1),), (), -stride)


def _door_events(numbering: Numbering) -> Iterator[Event]:
    """Yield openings with each tracked key that fits; without any if one is not tracked, for it may be in hand.

    A key can be used up at a door that is not tracked, too, which may still be locked.
    """
    places = numbering.places
    layout = numbering.layout
    switches = [places.index.get(cell, NO_CELL) for cell in layout.switches]
    on_switch = np.isin(places.cell, switches)
    spent = GONE - HAND if layout.spec.rules.key_consumption else 0
    for cell, door in layout.doors.items():
        if door.initial_state == "open":
            continue
        poses = places.facing(cell) & ~on_switch
        tracked = door.id in numbering
        locked: Digits = ((door.id, 0),) if tracked else ()
        opened = numbering.strides[door.id] if tracked else 0
        fitting = [key.id for key in layout.keys if key.color == door.requires_key]
        if tracked and any(name not in numbering for name in fitting):
            yield Event(poses, locked, (), opened)
        for name in fitting:
            if name in numbering and (tracked or spent):
                delta = opened + spent * numbering.strides[name]
                yield Event(poses, (*locked, (name, HAND)), (), delta)
