"""Events that change the mode of a projection, and crossings into another connected component (pure).

:mod:`gridworld.search.relaxation.numbering` defines modes and their digits.
"""

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
    """An action of the agent that changes the mode of a projection.

    Attributes:
        poses: the poses in which the action is possible.
        equal: digits that the mode must have before the action.
        other: digits that the mode must not have before the action.
        delta: code of the mode after the action, minus the code of the mode before the action.
        key: id of the key that the agent drops, or of the dropped key that the agent picks up; "" for other events.
    """

    poses: Mask
    equal: Digits
    other: Digits
    delta: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A step from a connected component (``origin``) to another (``target``), in modes with the digits ``equal``."""

    origin: int
    target: int
    equal: Digits


def events(numbering: Numbering) -> Iterator[Event]:
    """Yield the events of picking up, dropping and toggling; moves and pushes are not events."""
    yield from _key_events(numbering)
    yield from _switch_events(numbering)
    yield from _door_events(numbering)


def crossings(numbering: Numbering) -> set[Crossing]:
    """Return the crossings between components; blocks are ignored."""
    places = numbering.places
    layout = numbering.layout
    cells = list(places.index)
    result: set[Crossing] = set()
    for pose in np.flatnonzero(places.after >= 0):
        origin = int(places.component[pose])
        target = int(places.component[places.after[pose]])
        if origin != target:
            conditions = _entry_conditions(layout, numbering, cells[places.ahead[pose]])
            result.update(Crossing(origin, target, digits) for digits in conditions)
    return result


def _entry_conditions(layout: Layout, numbering: Numbering, cell: Cell) -> Iterator[Digits]:
    """Yield alternative sets of digits with which the agent may enter a cell; () stands for every mode."""
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
    """Yield the events of picking up and dropping keys.

    The projection forgets the cell of a dropped key, so the agent can pick up the key anywhere in the part of the grid
    where the key lies. A key that has no further use can be picked up anywhere in the whole grid.
    """
    places = numbering.places
    layout = numbering.layout
    keys = numbering.pattern.keys
    full_hand = tuple((name, HAND) for name in keys)
    anywhere = np.ones(len(places), dtype=np.bool_)
    # The last entry serves the index -1 (no cell ahead).
    part_of_cell = np.full(len(places.index) + 1, -1)
    for cell, part in numbering.parts.items():
        part_of_cell[places.index[cell]] = part
    part_ahead = part_of_cell[places.ahead]
    part_under = part_of_cell[places.cell]
    for name in keys:
        cell = layout.keys[layout.key_index[name]].position.to_tuple()
        stride = numbering.strides[name]
        near = places.facing(cell) | places.on(cell)
        yield Event(near, ((name, HOME),), full_hand, (HAND - HOME) * stride)

        for part in range(numbering.radices[name] - LOOSE):
            digit = LOOSE + part
            pickup_delta = (HAND - digit) * stride
            can_pick_up = (part_ahead == part) | (part_under == part)
            yield Event(can_pick_up, ((name, digit),), full_hand, pickup_delta, name)
            yield Event(part_ahead == part, ((name, HAND),), (), -pickup_delta, name)

        if name in numbering.uses:
            doors = tuple((door, 1) for door in numbering.uses[name])
            delta = (HAND - GONE) * stride
            yield Event(anywhere, ((name, GONE), *doors), full_hand, delta)


def _switch_events(numbering: Numbering) -> Iterator[Event]:
    """Yield the events of toggling the tracked switches, which are toggle or one_shot switches."""
    for cell, switch in numbering.layout.switches.items():
        if switch.id in numbering:
            on = numbering.places.on(cell)
            stride = numbering.strides[switch.id]
            yield Event(on, ((switch.id, 0),), (), stride)
            if numbering.layout.switch_type(switch.id) == "toggle":
                yield Event(on, ((switch.id, 1),), (), -stride)


def _door_events(numbering: Numbering) -> Iterator[Event]:
    """Yield the events of opening doors.

    A tracked door can be opened with each tracked key that fits. If an untracked key fits, the door can be opened
    without a tracked key, because the agent may carry the untracked key. A tracked key can also be used up at a door
    that is not tracked, because that door may be locked.
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
