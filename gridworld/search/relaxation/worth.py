"""What it is worth where a dropped key lies: a potential, so that a projection need not track the place (pure).

A projection forgets where in its part of the grid a dropped key lies, and lets the agent pick it up anywhere there.
With a potential W(state), the sum of a number for the place of each dropped key of use, that gains nothing: every step
costs 1 + W(after) - W(before), the least for all the places that the projection takes for the same. The costs along a
way add up to its length + W(end) - W(begin): (cheapest way in the projection) + W(begin) - W(end) never overestimates,
whatever the numbers are. They are shifted so that the greatest of each part is 0, for each part by itself, which a
projection knows; then W(end) <= 0, and a key that loses its use costs at least 0. A step can cost less than nothing;
where a way around does, there is no bound, and other numbers are tried.

The numbers are the way from the place to the key's door, in hand, and the way to there from an anchor, with an empty
hand: a key that lies nearer has saved both.
After Pommerening et al., "From Non-Negative to General Operator Cost Partitioning" (2015), on potential heuristics.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from gridworld.rules.layout import State
from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.events import Event
from gridworld.search.relaxation.numbering import HAND, HOME, LOOSE, Numbering
from gridworld.search.relaxation.places import Numbers, Places

_MIN_VALUE: Final = -(1 << 30)


class DroppedKeyPotential:
    """The potentials of the keys of a projection; within each part the greatest is 0.

    Args:
        numbering: of its modes.
        anchors: cells from which the agent comes for a key; none: only the way in hand counts.

    """

    def __init__(self, numbering: Numbering, anchors: Collection[Cell]) -> None:
        self.numbering = numbering
        self.places = numbering.places
        self._parts = np.full(len(self.places.index) + 1, -1)
        for cell, part in numbering.parts.items():
            self._parts[self.places.index[cell]] = part
        self._coming = moves(self.places, anchors, back=False)
        self._going = {name: self._measure_to_door(name) for name in numbering.pattern.keys}
        self._most = {name: self._greatest(self._sum_ways(name)) for name in numbering.pattern.keys}
        self._pushes = {name: self._count_pushes(name) for name in numbering.pattern.loose}
        self._far = {name: self._farthest(name) for name in numbering.pattern.loose}
        self._values = {name: self._level_values(name) for name in numbering.pattern.keys}

    def rate_state(self, state: State) -> int:
        """Return the worth of a state's dropped keys that are still of use."""
        layout = self.places.layout
        numbering = self.numbering
        index = self.places.index
        total = 0
        for name in numbering.loose(state):
            cell = state.key_cells[layout.key_index[name]]
            if cell:
                total += int(self._values[name][index[cell]])
        for name in self._pushes:
            total += self._rate_block(name, state.block_cells[layout.block_index[name]])
        return total

    def values(self, key: str) -> Numbers:
        """Return, by number of cell, the worth of a key of use that lies there."""
        return self._values[key]

    def rate_push(self, block: str, cell: Cell, beyond: Cell) -> int:
        """Return the worth gained by pushing a block from a cell to the next."""
        if block not in self._pushes:
            return 0
        return self._rate_block(block, beyond) - self._rate_block(block, cell)

    def _sum_ways(self, key: str) -> Numbers:
        return self._going[key] + self._coming

    def _rate_block(self, block: str, cell: Cell) -> int:
        digit = self.numbering.cells[block][cell]
        return self._pushes[block][cell] - self._far[block][digit]

    def gain(self, event: Event) -> Numbers:
        """Return, by pose, the least worth that picking up or dropping a key gains."""
        name, digit = event.equal[0]
        values = self._values[name]
        places = self.places
        if digit == HAND:
            return values[places.ahead]
        part = digit - LOOSE
        there = np.where(self._parts == part, values, _MIN_VALUE)
        return -np.maximum(there[places.cell], there[places.ahead])

    def estimate(self, codes: Numbers) -> Numbers:
        """Return, by mode and pose, about how far it is: the nearer to the truth, the faster distances are measured."""
        numbering = self.numbering
        layout = numbering.layout
        base = np.zeros(len(codes), dtype=np.int64)
        rest = np.tile(-self._coming[self.places.cell], (len(codes), 1))
        for name, going in self._going.items():
            home = layout.keys[layout.key_index[name]].position.to_tuple()
            at_home = self.places.index.get(home, 0)
            base[numbering.has_digit(codes, name, HOME)] += self._sum_ways(name)[at_home]
            for part, most in enumerate(self._most[name]):
                base[numbering.has_digit(codes, name, LOOSE + part)] += most
            rest[numbering.has_digit(codes, name, HAND)] = going[self.places.cell]
        for name, far in self._far.items():
            for digit, most in far.items():
                base[numbering.has_digit(codes, name, digit)] += most
        estimated: Numbers = base[:, None] + rest
        return estimated

    def _farthest(self, block: str) -> dict[int, int]:
        """Return, by digit, the most pushes that a block needs from a cell with the digit."""
        far: dict[int, int] = {}
        for cell, digit in self.numbering.cells[block].items():
            far[digit] = max(far.get(digit, 0), self._pushes[block][cell])
        return far

    def _count_pushes(self, block: str) -> dict[Cell, int]:
        """Return the fewest pushes from a cell to the target past nothing else; the most where there is no way."""
        goal = self.numbering.layout.spec.goal
        tiling = self.places.layout.tiling
        reach = self.places.reach[block]
        targets = dict(zip(goal.target_ids, goal.target_positions, strict=True))
        found = {targets[block].to_tuple(): 0}
        border = list(found)
        for cell in border:
            for heading, before in enumerate(tiling.neighbours(cell)):
                behind = tiling.ahead(before, heading)
                if before in reach and before not in found and behind in self.places.index:
                    found[before] = found[cell] + 1
                    border.append(before)
        most = max(found.values())
        return {cell: found.get(cell, most) for cell in reach}

    def _measure_to_door(self, name: str) -> Numbers:
        layout = self.places.layout
        colour = layout.colour_of_key[name]
        locked = [(cell, door) for cell, door in layout.doors.items() if door.initial_state != "open"]
        doors = [cell for cell, door in locked if door.requires_key == colour]
        return moves(self.places, doors, back=True)

    def _greatest(self, raw: Numbers) -> Numbers:
        count = 1 + max(self.numbering.parts.values(), default=-1)
        most = np.full(count, _MIN_VALUE)
        for cell, part in self.numbering.parts.items():
            most[part] = max(most[part], raw[self.places.index[cell]])
        return most

    def _level_values(self, name: str) -> Numbers:
        values = np.zeros(len(self.places.index) + 1, dtype=np.int64)
        raw = self._sum_ways(name)
        for cell, part in self.numbering.parts.items():
            number = self.places.index[cell]
            values[number] = raw[number] - self._most[name][part]
        return values


def moves(places: Places, cells: Collection[Cell], back: bool) -> Numbers:
    """Count moves by cell, from the nearest of some cells or, ``back``, to it, with all passages open.

    Turns are not counted: dropping and picking up can save them. 0 where there is no way.
    """
    able = places.after >= 0
    origin = places.cell[able]
    target = places.cell[places.after[able]]
    if back:
        origin, target = target, origin
    found = np.full(len(places.index), -1, dtype=np.int64)
    numbers = sorted(places.index[cell] for cell in cells if cell in places.index)
    border = np.array(numbers, dtype=np.int64)
    steps = 0
    while len(border):
        found[border] = steps
        beyond = target[np.isin(origin, border)]
        border = np.unique(beyond[found[beyond] < 0])
        steps += 1
    return np.maximum(found, 0)
