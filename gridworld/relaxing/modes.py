"""Modes of a projection: everything that it tracks but the pose, as numbers in a mixed radix (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

import numpy as np

from gridworld.layout import State
from gridworld.relaxing.places import NO_CELL, Mask, Numbers, Places

HOME, HAND, LOOSE, USED = range(4)
"""What is known of a tracked key: never picked up, in hand, dropped somewhere, used up."""

_MAX_CODE: Final = 1 << 62

Digits: TypeAlias = tuple[tuple[str, int], ...]
"""Pairs of a tracked thing and its digit."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Ids of the things that a projection tracks: keys, locked doors, switches that do not "hold", pushable blocks."""

    keys: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()

    def only(self, names: Iterable[str]) -> Pattern:
        """The part of it that tracks these."""
        kept = frozenset(names)
        groups = (self.keys, self.doors, self.switches, self.blocks)
        return Pattern(*(tuple(name for name in group if name in kept) for group in groups))


@dataclass(frozen=True, slots=True)
class Event:
    """What the agent can do in some poses besides moving: it adds ``delta`` to the codes of the modes that allow it.

    ``equal``: digits that the mode must have; ``other``: digits that it must not have.
    """

    poses: Mask
    equal: Digits
    other: Digits
    delta: int


class TooLargeError(Exception):
    """A projection has more states than allowed. Never leaves this package."""


class Modes:
    """The modes that a projection can be in if neither the way nor other blocks matter.

    Args:
        places: the poses of the task.
        start: the state that every other one is reached from.
        pattern: what is tracked.
        limit: of the number of modes x poses.

    Attributes:
        codes: of all modes, ascending.
        strides: by tracked thing.
        events: all but the moves.

    Raises:
        TooLargeError: there would be more.
    """

    def __init__(self, places: Places, start: State, pattern: Pattern, limit: int) -> None:
        self.places, self.layout, self.pattern = places, places.layout, pattern
        radices = dict.fromkeys(pattern.keys, 4) | dict.fromkeys((*pattern.doors, *pattern.switches), 2)
        radices |= {name: len(places.reach[name]) for name in pattern.blocks}
        if prod(radices.values()) >= _MAX_CODE:
            raise TooLargeError
        names = list(radices)
        self._radices = radices
        self.strides = {name: prod(radices[other] for other in names[:i]) for i, name in enumerate(names)}
        self.events = tuple(self._all_events())
        self.codes = self._closure(start, limit)

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, name: object) -> bool:
        """Whether a thing is tracked."""
        return name in self.strides

    def row(self, state: State) -> int:
        """Index of a state's mode in ``codes``; -1 if it cannot be reached."""
        code = self._code(state)
        row = int(np.searchsorted(self.codes, code))
        return row if row < len(self.codes) and self.codes[row] == code else -1

    def having(self, name: str, digit: int) -> Mask:
        """Which modes have a digit; shape (modes, 1)."""
        return self._has(self.codes, name, digit)[:, None]

    def changes(self, event: Event) -> tuple[Numbers, Numbers]:
        """Rows of the modes that allow an event, and those of the modes after it."""
        rows = np.flatnonzero(self._allows(event, self.codes))
        return rows, np.searchsorted(self.codes, self.codes[rows] + event.delta)

    def _has(self, codes: Numbers, name: str, digit: int) -> Mask:
        return np.equal(codes // self.strides[name] % self._radices[name], digit)

    def _allows(self, event: Event, codes: Numbers) -> Mask:
        allowed = np.ones(len(codes), dtype=np.bool_)
        for name, digit in event.equal:
            allowed &= self._has(codes, name, digit)
        for name, digit in event.other:
            allowed &= ~self._has(codes, name, digit)
        return allowed

    def _code(self, state: State) -> int:
        digits = {name: self._status(name, state) for name in self.pattern.keys}
        digits |= {name: int(name in state.open_doors) for name in self.pattern.doors}
        digits |= {name: int(name in state.active_switches) for name in self.pattern.switches}
        cells = {name: state.block_cells[self.layout.block_index[name]] for name in self.pattern.blocks}
        digits |= {name: self.places.reach[name][cell] for name, cell in cells.items()}
        return sum(digit * self.strides[name] for name, digit in digits.items())

    def _status(self, name: str, state: State) -> int:
        if state.carrying == name:
            return HAND
        if state.key_cells[self.layout.key_index[name]] is None:
            return USED
        return LOOSE if name in state.collected else HOME

    def _closure(self, start: State, limit: int) -> Numbers:
        """Modes reached by events, times all places of tracked blocks."""
        blocks = self.pattern.blocks
        code = self._code(start)
        for name in blocks:
            code -= code // self.strides[name] % self._radices[name] * self.strides[name]
        known = fresh = np.array([code], dtype=np.int64)
        width = len(self.places) * prod(self._radices[name] for name in blocks)
        while len(fresh) and self.events:
            after = [fresh[self._allows(event, fresh)] + event.delta for event in self.events]
            fresh = np.setdiff1d(np.concatenate(after), known)
            known = np.union1d(known, fresh)
            if len(known) * width > limit:
                break
        if len(known) * width > limit:
            raise TooLargeError
        for name in blocks:
            known = (known + np.arange(self._radices[name])[:, None] * self.strides[name]).ravel()
        return np.sort(known)

    def _all_events(self) -> Iterator[Event]:
        yield from self._key_events()
        yield from self._switch_events()
        on_switch = np.isin(self.places.cell, [self.places.index.get(cell, NO_CELL) for cell in self.layout.switches])
        for cell, door in self.layout.doors.items():
            if door.id in self:
                yield from self._door_events(door.id, door.requires_key, self.places.facing(cell) & ~on_switch)

    def _key_events(self) -> Iterator[Event]:
        """A key that was dropped may be anywhere."""
        full = tuple((name, HAND) for name in self.pattern.keys)
        anywhere = np.ones(len(self.places), dtype=np.bool_)
        for name in self.pattern.keys:
            cell, stride = self.layout.keys[self.layout.key_index[name]].position.to_tuple(), self.strides[name]
            near = self.places.facing(cell) | self.places.on(cell)
            yield Event(near, ((name, HOME),), full, (HAND - HOME) * stride)
            yield Event(anywhere, ((name, LOOSE),), full, (HAND - LOOSE) * stride)
            yield Event(self.places.room, ((name, HAND),), (), (LOOSE - HAND) * stride)

    def _switch_events(self) -> Iterator[Event]:
        for cell, switch in self.layout.switches.items():
            if switch.id in self:
                on, stride = self.places.on(cell), self.strides[switch.id]
                yield Event(on, ((switch.id, 0),), (), stride)
                if self.layout.switch_type(switch.id) == "toggle":
                    yield Event(on, ((switch.id, 1),), (), -stride)

    def _door_events(self, door: str, colour: str, poses: Mask) -> Iterator[Event]:
        """With each tracked key that fits; without any if one is not tracked, for it may be in hand."""
        stride = self.strides[door]
        fitting = [key.id for key in self.layout.keys if key.color == colour]
        if any(name not in self for name in fitting):
            yield Event(poses, ((door, 0),), (), stride)
        spent = USED - HAND if self.layout.spec.rules.key_consumption else 0
        for name in fitting:
            if name in self:
                yield Event(poses, ((door, 0), (name, HAND)), (), stride + spent * self.strides[name])
