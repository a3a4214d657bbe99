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
        """Return the part of the pattern that tracks these names."""
        kept = frozenset(names)
        groups = (self.keys, self.doors, self.switches, self.blocks, self.loose)
        return Pattern(*(tuple(name for name in group if name in kept) for group in groups))


def collect_named_ids(layout: Layout) -> frozenset[str]:
    """Return ids that goal and auxiliary conditions name."""
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
        self.cells = {name: places.reach[name] for name in pattern.blocks}
        for name in pattern.loose:
            self.cells[name] = self._roughly(name)

        self.radices = dict.fromkeys(pattern.keys, LOOSE + 1 + max(self.parts.values(), default=0))
        for name in (*pattern.doors, *pattern.switches):
            self.radices[name] = 2
        for name, cells in self.cells.items():
            self.radices[name] = max(cells.values()) + 1

        # A key that can be dropped in every part makes as many modes.
        alone = [self.radices[name] for name in (*pattern.keys[:1], *self.cells)]
        least = max(alone, default=1)
        modes = prod(self.radices.values())
        if least * len(places) > limit or modes * len(places) >= _MAX_CODE:
            raise TooLargeError

        self.strides = dict[str, int]()
        stride = 1
        for name, radix in self.radices.items():
            self.strides[name] = stride
            stride *= radix

        doors = [door for door in self.layout.doors.values() if door.id in self]
        needed = collect_named_ids(self.layout)
        self.uses = dict[str, tuple[str, ...]]()
        for name in pattern.keys:
            if name not in needed:
                colour = self.layout.colour_of_key[name]
                self.uses[name] = tuple(door.id for door in doors if door.requires_key == colour)

    def __contains__(self, name: object) -> bool:
        """Return whether a thing is tracked."""
        return name in self.strides

    def has_digit(self, codes: Numbers, name: str, digit: int) -> Mask:
        """Return which codes have a digit."""
        return np.equal(codes // self.strides[name] % self.radices[name], digit)

    def allows(self, codes: Numbers, equal: Digits, other: Digits) -> Mask:
        """Return which codes have all digits of ``equal`` and none of ``other``."""
        allowed = np.ones(len(codes), dtype=np.bool_)
        for name, digit in equal:
            allowed &= self.has_digit(codes, name, digit)
        for name, digit in other:
            allowed &= ~self.has_digit(codes, name, digit)
        return allowed

    def settle(self, codes: Numbers) -> Numbers:
        """Return the codes with keys of no more use forgotten, wherever they are but in hand."""
        for name, doors in self.uses.items():
            stride = self.strides[name]
            opened = tuple((door, 1) for door in doors)
            useless = self.allows(codes, opened, ((name, HAND),))
            digits = codes // stride % self.radices[name]
            codes = np.where(useless, codes + (GONE - digits) * stride, codes)
        return codes

    def code(self, state: State, blocks: bool = True) -> int:
        """Return code of a state's mode, as settled; without ``blocks`` their digits are 0."""
        digits = self.statuses(state)
        digits |= {name: int(name in state.open_doors) for name in self.pattern.doors}
        digits |= {name: int(name in state.active_switches) for name in self.pattern.switches}
        for name in self.cells if blocks else ():
            cell = state.block_cells[self.layout.block_index[name]]
            digits[name] = self.cells[name][cell]
        return sum(digit * self.strides[name] for name, digit in digits.items())

    def exactly(self, name: str, cell: Cell) -> bool:
        """Return whether the digit of a block on a cell is that of no other cell."""
        if name in self.pattern.blocks:
            return True
        return self.cells[name][cell] < self.radices[name] - 1

    def _roughly(self, name: str) -> dict[Cell, int]:
        goal = self.layout.spec.goal
        reach = self.places.reach[name]
        targets = zip(goal.target_ids, goal.target_positions, strict=False)
        ends = [position.to_tuple() for block, position in targets if block == name]
        alone = [cell for cell, number in reach.items() if not number or cell in ends]
        return {cell: alone.index(cell) if cell in alone else len(alone) for cell in reach}

    def loose(self, state: State) -> list[str]:
        """Return the tracked keys that were dropped and are still of use."""
        return [name for name, digit in self.statuses(state).items() if digit >= LOOSE]

    def statuses(self, state: State) -> dict[str, int]:
        """Return the digits of the tracked keys."""
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
