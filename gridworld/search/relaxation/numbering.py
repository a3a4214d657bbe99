"""Numbering of the modes of a projection (pure).

A mode is everything that a projection tracks besides the agent's pose. The code of a mode is a number in a mixed radix
with a digit for each tracked mechanism.
"""

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
"""Digits of a key.

HOME: the key was never picked up. HAND: the agent carries the key. GONE: the key is used up or has no further use.
LOOSE + n: the key was dropped in part n of the grid.
"""

_MAX_CODE: Final = 1 << 62

Digits: TypeAlias = tuple[tuple[str, int], ...]
"""Pairs (id of a tracked mechanism, digit of the mechanism)."""


class TooLargeError(Exception):
    """A projection with more states than allowed. Internal: the error never leaves this package."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Ids of the mechanisms that a projection tracks.

    Attributes:
        keys: keys.
        doors: doors that are locked at first.
        switches: switches of other types than "hold".
        blocks: pushable blocks.
        loose: pushable blocks that are tracked roughly: on the initial cell, on the target, or elsewhere.
    """

    keys: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()

    def only(self, names: Iterable[str]) -> Pattern:
        """Return the pattern limited to these ids."""
        kept = frozenset(names)
        groups = (self.keys, self.doors, self.switches, self.blocks, self.loose)
        return Pattern(*(tuple(name for name in group if name in kept) for group in groups))


def collect_named_ids(layout: Layout) -> frozenset[str]:
    """Return the ids that the goal and its auxiliary conditions name."""
    in_conditions = frozenset(condition.id for condition in layout.conditions)
    return in_conditions.union(layout.spec.goal.target_ids)


class Numbering:
    """The codes of the modes of a projection.

    Args:
        places: the poses of the task.
        pattern: the tracked mechanisms.
        grain: width and height, in cells, of the parts of the grid. The numbering does not distinguish the cells of a
            part on which a key was dropped; a part never extends beyond a connected component.
        limit: limit of the number of states; a rough check finds only patterns that certainly exceed the limit.

    Attributes:
        parts: by cell on which a key can be dropped: number of its part of the grid.
        cells: by block, then by cell that the block can reach: digit of the block on the cell.
        strides: place value of the digit of each tracked mechanism; blocks have the highest values.
        radices: number of digits of each tracked mechanism.
        uses: by key that the goal does not name: the tracked doors of its colour. If all these doors are open, the key
            has no further use.

    Raises:
        TooLargeError: the number of states would exceed ``limit``, or codes would not fit 64 bits.
    """

    def __init__(self, places: Places, pattern: Pattern, grain: int, limit: int) -> None:
        self.places = places
        self.layout = places.layout
        self.pattern = pattern
        self.parts = places.parts(grain)
        self.cells = {name: places.reach[name] for name in pattern.blocks}
        for name in pattern.loose:
            self.cells[name] = self._rough_digits(name)

        self.radices = dict.fromkeys(pattern.keys, LOOSE + 1 + max(self.parts.values(), default=0))
        for name in (*pattern.doors, *pattern.switches):
            self.radices[name] = 2
        for name, cells in self.cells.items():
            self.radices[name] = max(cells.values()) + 1

        # A single key or block makes at least as many modes as its radix.
        radices = [self.radices[name] for name in (*pattern.keys[:1], *self.cells)]
        least_modes = max(radices, default=1)
        most_modes = prod(self.radices.values())
        if least_modes * len(places) > limit or most_modes * len(places) >= _MAX_CODE:
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
        """Return whether a mechanism is tracked."""
        return name in self.strides

    def has_digit(self, codes: Numbers, name: str, digit: int) -> Mask:
        """Return for each code whether the mechanism ``name`` has the digit ``digit``."""
        return np.equal(codes // self.strides[name] % self.radices[name], digit)

    def allows(self, codes: Numbers, equal: Digits, other: Digits) -> Mask:
        """Return whether each code has all digits of ``equal`` and no digit of ``other``."""
        allowed = np.ones(len(codes), dtype=np.bool_)
        for name, digit in equal:
            allowed &= self.has_digit(codes, name, digit)
        for name, digit in other:
            allowed &= ~self.has_digit(codes, name, digit)
        return allowed

    def settle(self, codes: Numbers) -> Numbers:
        """Return the codes after giving the digit GONE to every key that has no further use and is not carried."""
        for name, doors in self.uses.items():
            stride = self.strides[name]
            opened = tuple((door, 1) for door in doors)
            useless = self.allows(codes, opened, ((name, HAND),))
            digits = codes // stride % self.radices[name]
            codes = np.where(useless, codes + (GONE - digits) * stride, codes)
        return codes

    def code(self, state: State, blocks: bool = True) -> int:
        """Return the settled code (:meth:`settle`) of a state's mode; without ``blocks``, digits of blocks are 0."""
        digits = self.statuses(state)
        digits |= {name: int(name in state.open_doors) for name in self.pattern.doors}
        digits |= {name: int(name in state.active_switches) for name in self.pattern.switches}
        for name in self.cells if blocks else ():
            cell = state.block_cells[self.layout.block_index[name]]
            digits[name] = self.cells[name][cell]
        return sum(digit * self.strides[name] for name, digit in digits.items())

    def exactly(self, name: str, cell: Cell) -> bool:
        """Return whether the digit of the block ``name`` on ``cell`` stands for this cell only."""
        if name in self.pattern.blocks:
            return True
        return self.cells[name][cell] < self.radices[name] - 1

    def _rough_digits(self, name: str) -> dict[Cell, int]:
        """Return by cell the digit of a roughly tracked block.

        The initial cell and the target have their own digits; all other cells share one digit.
        """
        goal = self.layout.spec.goal
        reach = self.places.reach[name]
        targets = zip(goal.target_ids, goal.target_positions, strict=False)
        ends = [position.to_tuple() for block, position in targets if block == name]
        # The initial cell has the number 0.
        exact = [cell for cell, number in reach.items() if number == 0 or cell in ends]
        digits = {cell: digit for digit, cell in enumerate(exact)}
        return {cell: digits.get(cell, len(exact)) for cell in reach}

    def loose(self, state: State) -> list[str]:
        """Return the tracked keys that were dropped and have further use."""
        return [name for name, digit in self.statuses(state).items() if digit >= LOOSE]

    def statuses(self, state: State) -> dict[str, int]:
        """Return the digits of the tracked keys."""
        digits = {name: self._status(name, state) for name in self.pattern.keys}
        for name, doors in self.uses.items():
            if digits[name] != HAND and state.open_doors.issuperset(doors):
                digits[name] = GONE
        return digits

    def _status(self, name: str, state: State) -> int:
        """Return the digit that encodes where a key is: in hand, gone, at home, or loose in a part of the maze."""
        if state.carrying == name:
            return HAND
        cell = state.key_cells[self.layout.key_index[name]]
        if cell is None:
            return GONE
        if name in state.collected:
            return LOOSE + self.parts[cell]
        return HOME
