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

_LEAST: Final = -(1 << 30)


class Worth:
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
        self._going = {name: self._to_door(name) for name in numbering.pattern.keys}
        self._most = {name: self._greatest(going + self._coming) for name, going in self._going.items()}
        self._pushes = {name: self._to_target(name) for name in numbering.pattern.loose}
        self._far = {name: self._farthest(name) for name in numbering.pattern.loose}
        self._values = {name: self._levelled(name) for name in numbering.pattern.keys}

    def of(self, state: State) -> int:
        """What it is worth where the dropped keys of a state lie that are still of use."""
        layout = self.places.layout
        numbering = self.numbering
        cells = {name: state.key_cells[layout.key_index[name]] for name in numbering.loose(state)}
        keys = sum(int(self._values[name][self.places.index[cell]]) for name, cell in cells.items() if cell)
        return keys + sum(self._of(name, state.block_cells[layout.block_index[name]]) for name in self._pushes)

    def values(self, key: str) -> Numbers:
        """By number of cell, what it is worth that a key of use lies there."""
        return self._values[key]

    def pushed(self, block: str, cell: Cell, beyond: Cell) -> int:
        """Worth gained by pushing a block from a cell to the next."""
        return self._of(block, beyond) - self._of(block, cell) if block in self._pushes else 0

    def _of(self, block: str, cell: Cell) -> int:
        return self._pushes[block][cell] - self._far[block][self.numbering.cells[block][cell]]

    def gain(self, event: Event) -> Numbers:
        """By pose, the worth that picking up or dropping a key gains at least."""
        name, digit = event.equal[0]
        values = self._values[name]
        places = self.places
        if digit == HAND:
            return values[places.ahead]
        part = digit - LOOSE
        there = np.where(self._parts == part, values, _LEAST)
        return -np.maximum(there[places.cell], there[places.ahead])

    def estimate(self, codes: Numbers) -> Numbers:
        """By mode and pose, about how far it is: the nearer to the truth, the faster distances are measured."""
        base = np.zeros(len(codes), dtype=np.int64)
        rest = np.tile(-self._coming[self.places.cell], (len(codes), 1))
        for name, going in self._going.items():
            home = self.numbering.layout.keys[self.numbering.layout.key_index[name]].position.to_tuple()
            at_home = self.places.index.get(home, 0)
            base[self.numbering.having(codes, name, HOME)] += (going + self._coming)[at_home]
            for part, most in enumerate(self._most[name]):
                base[self.numbering.having(codes, name, LOOSE + part)] += most
            rest[self.numbering.having(codes, name, HAND)] = going[self.places.cell]
        for name, far in self._far.items():
            for digit, most in far.items():
                base[self.numbering.having(codes, name, digit)] += most
        estimated: Numbers = base[:, None] + rest
        return estimated

    def _farthest(self, block: str) -> dict[int, int]:
        """By digit, most pushes that a block needs from a cell with the digit."""
        far: dict[int, int] = {}
        for cell, digit in self.numbering.cells[block].items():
            far[digit] = max(far.get(digit, 0), self._pushes[block][cell])
        return far

    def _to_target(self, block: str) -> dict[Cell, int]:
        """Fewest pushes from a cell to the target, if nothing else is in the way; the most where there is no way."""
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

    def _to_door(self, name: str) -> Numbers:
        layout = self.places.layout
        colour = layout.colour_of_key[name]
        doors = [c for c, door in layout.doors.items() if door.requires_key == colour and door.initial_state != "open"]
        return moves(self.places, doors, back=True)

    def _greatest(self, raw: Numbers) -> Numbers:
        most = np.full(1 + max(self.numbering.parts.values(), default=-1), _LEAST)
        for cell, part in self.numbering.parts.items():
            most[part] = max(most[part], raw[self.places.index[cell]])
        return most

    def _levelled(self, name: str) -> Numbers:
        values = np.zeros(len(self.places.index) + 1, dtype=np.int64)
        raw = self._going[name] + self._coming
        for cell, part in self.numbering.parts.items():
            number = self.places.index[cell]
            values[number] = raw[number] - self._most[name][part]
        return values


def moves(places: Places, cells: Collection[Cell], back: bool) -> Numbers:
    """Fewest moves by cell, from the nearest of some cells or, ``back``, to it, with all passages open.

    Turns are not counted: dropping and picking up can save them. 0 where there is no way.
    """
    able = places.after >= 0
    origin = places.cell[able]
    target = places.cell[places.after[able]]
    if back:
        origin, target = target, origin
    found = np.full(len(places.index), -1, dtype=np.int64)
    border = np.array(sorted(places.index[cell] for cell in cells if cell in places.index), dtype=np.int64)
    steps = 0
    while len(border):
        found[border] = steps
        beyond = target[np.isin(origin, border)]
        border = np.unique(beyond[found[beyond] < 0])
        steps += 1
    return np.maximum(found, 0)
