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

from gridworld.layout import State
from gridworld.relaxing.events import Event
from gridworld.relaxing.numbering import HAND, HOME, LOOSE, Numbering
from gridworld.relaxing.places import Numbers, Places
from gridworld.tilings import Cell

_LEAST: Final = -(1 << 30)


class Worth:
    """The potentials of the keys of a projection; within each part the greatest is 0.

    Args:
        numbering: of its modes.
        anchors: cells from which the agent comes for a key; none: only the way in hand counts.

    """

    def __init__(self, numbering: Numbering, anchors: Collection[Cell]) -> None:
        self.numbering, self.places = numbering, numbering.places
        self._parts = np.full(len(self.places.index) + 1, -1)
        for cell, part in numbering.parts.items():
            self._parts[self.places.index[cell]] = part
        self._coming = _moves(self.places, anchors, back=False)
        self._going = {name: self._to_door(name) for name in numbering.pattern.keys}
        self._most = {name: self._greatest(going + self._coming) for name, going in self._going.items()}
        self._values = {name: self._levelled(name) for name in numbering.pattern.keys}

    def of(self, state: State) -> int:
        """What it is worth where the dropped keys of a state lie that are still of use."""
        layout, numbering = self.places.layout, self.numbering
        cells = {name: state.key_cells[layout.key_index[name]] for name in numbering.loose(state)}
        return sum(int(self._values[name][self.places.index[cell]]) for name, cell in cells.items() if cell)

    def gain(self, event: Event) -> Numbers:
        """By pose, the worth that picking up or dropping a key gains at least."""
        name, digit = event.equal[0]
        values, places = self._values[name], self.places
        if digit == HAND:
            return values[places.ahead]
        part = digit - LOOSE
        there = np.where(self._parts == part, values, _LEAST)
        return -np.maximum(there[places.cell], there[places.ahead])

    def estimate(self, codes: Numbers) -> Numbers:
        """By mode and pose, about how far it is: the nearer to the truth, the faster distances are measured."""
        base, rest = np.zeros(len(codes), dtype=np.int64), np.tile(-self._coming[self.places.cell], (len(codes), 1))
        for name, going in self._going.items():
            home = self.numbering.layout.keys[self.numbering.layout.key_index[name]].position.to_tuple()
            at_home = self.places.index.get(home, 0)
            base[self.numbering.having(codes, name, HOME)] += (going + self._coming)[at_home]
            for part, most in enumerate(self._most[name]):
                base[self.numbering.having(codes, name, LOOSE + part)] += most
            rest[self.numbering.having(codes, name, HAND)] = going[self.places.cell]
        estimated: Numbers = base[:, None] + rest
        return estimated

    def _to_door(self, name: str) -> Numbers:
        layout = self.places.layout
        colour = layout.colour_of_key[name]
        doors = [c for c, door in layout.doors.items() if door.requires_key == colour and door.initial_state != "open"]
        return _moves(self.places, doors, back=True)

    def _greatest(self, raw: Numbers) -> Numbers:
        most = np.full(1 + max(self.numbering.parts.values(), default=-1), _LEAST)
        for cell, part in self.numbering.parts.items():
            most[part] = max(most[part], raw[self.places.index[cell]])
        return most

    def _levelled(self, name: str) -> Numbers:
        values, raw = np.zeros(len(self.places.index) + 1, dtype=np.int64), self._going[name] + self._coming
        for cell, part in self.numbering.parts.items():
            number = self.places.index[cell]
            values[number] = raw[number] - self._most[name][part]
        return values


def _moves(places: Places, cells: Collection[Cell], back: bool) -> Numbers:
    """Fewest moves by cell, from the nearest of some cells or, ``back``, to it, with all passages open.

    Turns are not counted: dropping and picking up can save them. 0 where there is no way.
    """
    able = places.after >= 0
    origin, target = places.cell[able], places.cell[places.after[able]]
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
