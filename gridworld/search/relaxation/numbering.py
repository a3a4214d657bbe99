"""What a projection tracks besides the pose, as numbers in a mixed radix: its modes (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

import numpy as np

from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.places import Mask, Numbers, Places

HOME, HAND, GONE, LOOSE = range(4)
"""Digits of a key: never picked up; in hand; used up, or of no more use; from LOOSE on: in which part of the grid."""

_MAX_CODE: Final = 1 << 62

Digits: TypeAlias = tuple[tuple[str, int], ...]
"""Pairs of a tracked thing and its digit."""


class TooLargeError(Exception):
    """A projection has more states than allowed. Never leaves this package."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Ids of the things that a projection tracks: keys, locked doors, switches that do not "hold", pushable blocks.

    Of blocks in ``loose`` it tracks only whether they are where they began, on their target, or elsewhere.
    """

    keys: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()

    def only(self, names: Iterable[str]) -> Pattern:
        """The part of it that tracks these."""
        kept = frozenset(names)
        groups = (self.keys, self.doors, self.switches, self.blocks, self.loose)
        return Pattern(*(tuple(name for name in group if name in kept) for group in groups))


def named(layout: Layout) -> frozenset[str]:
    """Ids that goal and auxiliary conditions name."""
    return frozenset((*layout.spec.goal.target_ids, *(condition.id for condition in layout.conditions)))


class Numbering:
    """Codes of modes.

    Args:
        places: the poses of the task.
        pattern: what is tracked.
        grain: size of the parts of the grid, within connected components, in which dropped keys are told apart.
        limit: of the number of states; roughly, for what is certain to be more.

    Attributes:
        parts: number of its part, by cell on which a key can be dropped.
        cells: by block, its digit on every cell that it can reach.
        strides: by tracked thing; blocks have the highest.
        radices: by tracked thing.
        uses: doors of each key that is of no more use, and forgotten, once they are open.

    Raises:
        TooLargeError: there would be more states than ``limit``, or numbers that do not fit 64 bits.
    """

    def __init__(self, places: Places, pattern: Pattern, grain: int, limit: int) -> None:
        self.places = places
        self.layout = places.layout
        self.pattern = pattern
        self.parts = places.parts(grain)
        self.radices = dict.fromkeys(pattern.keys, LOOSE + 1 + max(self.parts.values(), default=0))
        self.radices |= dict.fromkeys((*pattern.doors, *pattern.switches), 2)
        self.cells = {name: places.reach[name] for name in pattern.blocks}
        self.cells |= {name: self._roughly(name) for name in pattern.loose}
        self.radices |= {name: max(cells.values()) + 1 for name, cells in self.cells.items()}
        # A key that can be dropped in every part makes as many modes.
        least = max((self.radices[name] for name in (*pattern.keys[:1], *self.cells)), default=1)
        if least * len(places) > limit or prod(self.radices.values()) * len(places) >= _MAX_CODE:
            raise TooLargeError
        names = list(self.radices)
        self.strides = {name: prod(self.radices[other] for other in names[:i]) for i, name in enumerate(names)}
        doors = [door for door in self.layout.doors.values() if door.id in self]
        colours = {name: self.layout.colour_of_key[name] for name in pattern.keys if name not in named(self.layout)}
        self.uses = {name: tuple(d.id for d in doors if d.requires_key == colour) for name, colour in colours.items()}

    def __contains__(self, name: object) -> bool:
        """Whether a thing is tracked."""
        return name in self.strides

    def having(self, codes: Numbers, name: str, digit: int) -> Mask:
        """Which codes have a digit."""
        return np.equal(codes // self.strides[name] % self.radices[name], digit)

    def allowing(self, codes: Numbers, equal: Digits, other: Digits) -> Mask:
        """Which codes have all digits of ``equal`` and none of ``other``."""
        allowed = np.ones(len(codes), dtype=np.bool_)
        for name, digit in equal:
            allowed &= self.having(codes, name, digit)
        for name, digit in other:
            allowed &= ~self.having(codes, name, digit)
        return allowed

    def settled(self, codes: Numbers) -> Numbers:
        """The codes with keys of no more use forgotten, wherever they are but in hand."""
        for name, doors in self.uses.items():
            stride = self.strides[name]
            useless = self.allowing(codes, tuple((door, 1) for door in doors), ((name, HAND),))
            codes = np.where(useless, codes + (GONE - codes // stride % self.radices[name]) * stride, codes)
        return codes

    def code(self, state: State, blocks: bool = True) -> int:
        """Code of a state's mode, as settled; without ``blocks`` their digits are 0."""
        digits = self.statuses(state)
        digits |= {name: int(name in state.open_doors) for name in self.pattern.doors}
        digits |= {name: int(name in state.active_switches) for name in self.pattern.switches}
        for name in self.cells if blocks else ():
            digits[name] = self.cells[name][state.block_cells[self.layout.block_index[name]]]
        return sum(digit * self.strides[name] for name, digit in digits.items())

    def exactly(self, name: str, cell: Cell) -> bool:
        """Whether the digit of a block on a cell is that of no other cell."""
        return name in self.pattern.blocks or self.cells[name][cell] < self.radices[name] - 1

    def _roughly(self, name: str) -> dict[Cell, int]:
        goal = self.layout.spec.goal
        reach = self.places.reach[name]
        ends = [
            to.to_tuple() for block, to in zip(goal.target_ids, goal.target_positions, strict=False) if block == name
        ]
        alone = [cell for cell, number in reach.items() if not number or cell in ends]
        return {cell: alone.index(cell) if cell in alone else len(alone) for cell in reach}

    def loose(self, state: State) -> list[str]:
        """The tracked keys that were dropped and are still of use."""
        return [name for name, digit in self.statuses(state).items() if digit >= LOOSE]

    def statuses(self, state: State) -> dict[str, int]:
        """Digits of the tracked keys."""
        found = {name: self._status(name, state) for name in self.pattern.keys}
        for name, doors in self.uses.items():
            if found[name] != HAND and state.open_doors.issuperset(doors):
                found[name] = GONE
        return found

    def _status(self, name: str, state: State) -> int:
        if state.carrying == name:
            return HAND
        cell = state.key_cells[self.layout.key_index[name]]
        if cell is None:
            return GONE
        return LOOSE + self.parts[cell] if name in state.collected else HOME
