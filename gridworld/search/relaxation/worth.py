"""The worth of the cell of a dropped key: a potential, so that a projection need not track the cell (pure).

A projection forgets the cell of a dropped key within its part of the grid, and lets the agent pick up the key anywhere
in the part. The potential W(state) takes the cell into account. W is a sum over the dropped keys that have further use:
each key contributes a number that depends on its cell. In the projection, each step costs 1 + W(after) - W(before). If
the projection does not distinguish some steps, the least of their costs counts.

The costs along a path add up to: length of the path + W(end) - W(begin). The bound is: cost of the cheapest path in the
projection + W(begin) - W(end). The bound never overestimates, whatever the numbers are. The numbers of each part are
shifted so that the greatest number is 0. The shift is possible because a projection tracks the part of a dropped key.
Then W(end) <= 0, and a step in which a key loses its use never gets cheaper by W. A step can have a negative cost. If a
cycle has a negative cost, the projection has no bound, and other numbers are tried.

The number of a cell is the sum of two distances: from the cell to the door of the key (carrying the key), and from an
anchor to the cell (carrying nothing). A key on a nearer cell saves both distances.

After Pommerening et al., "From Non-Negative to General Operator Cost Partitioning" (2015), on potential heuristics.
"""

from __future__ import annotations

from collections import deque
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
    """The worths of the dropped keys and of the roughly tracked blocks of a projection.

    The greatest worth of a key within each part of the grid is 0.

    Args:
        numbering: the numbering of the modes of the projection.
        anchors: cells from which the agent comes for a key; if empty, only the distance from the key to its door
            counts.
    """

    def __init__(self, numbering: Numbering, anchors: Collection[Cell]) -> None:
        self.numbering = numbering
        self.places = numbering.places
        self._parts = np.full(len(self.places.index) + 1, -1)
        for cell, part in numbering.parts.items():
            self._parts[self.places.index[cell]] = part
        keys = numbering.pattern.keys
        loose_blocks = numbering.pattern.loose
        # By cell: moves from an anchor; by key and cell: moves to the door; by key and part: greatest sum of both.
        self._from_anchor = moves(self.places, anchors, back=False)
        self._to_door = {name: self._measure_to_door(name) for name in keys}
        self._most = {name: self._greatest(self._sum_ways(name)) for name in keys}
        # By block and cell: pushes to the target; by block and digit: the most pushes.
        self._pushes = {name: self._count_pushes(name) for name in loose_blocks}
        self._most_pushes = {name: self._farthest(name) for name in loose_blocks}
        self._values = {name: self._level_values(name) for name in keys}

    def rate_state(self, state: State) -> int:
        """Return the worth of a state: of its dropped keys with further use, and of its roughly tracked blocks."""
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
        """Return the worth of a key on each cell; the last value is for a key that was never picked up."""
        return self._values[key]

    def rate_push(self, block: str, cell: Cell, beyond: Cell) -> int:
        """Return the change of the worth if a block is pushed from ``cell`` to ``beyond``."""
        if block not in self._pushes:
            return 0
        return self._rate_block(block, beyond) - self._rate_block(block, cell)

    def _sum_ways(self, key: str) -> Numbers:
        """Return for each cell the number of moves from an anchor through the cell to the door of a key."""
        return self._to_door[key] + self._from_anchor

    def _rate_block(self, block: str, cell: Cell) -> int:
        """Return the worth of a roughly tracked block on a cell; the greatest worth for each digit is 0."""
        digit = self.numbering.cells[block][cell]
        return self._pushes[block][cell] - self._most_pushes[block][digit]

    def gain(self, event: Event) -> Numbers:
        """Return for each pose the least change of the worth if the agent picks up or drops a key.

        Args:
            event: an event with a ``key``.
        """
        name, digit = event.equal[0]
        values = self._values[name]
        places = self.places
        is_drop = digit == HAND
        if is_drop:
            return values[places.ahead]
        part = digit - LOOSE
        values_in_part = np.where(self._parts == part, values, _MIN_VALUE)
        return -np.maximum(values_in_part[places.cell], values_in_part[places.ahead])

    def estimate(self, codes: Numbers) -> Numbers:
        """Return an approximate distance to the goal, shape (modes, poses).

        The result of a search does not depend on the estimate, but a better estimate makes the search faster.

        Args:
            codes: codes of the modes.
        """
        numbering = self.numbering
        layout = numbering.layout
        # Moves for the keys on the floor, by mode, and the correction for the agent's cell, by mode and pose.
        by_mode = np.zeros(len(codes), dtype=np.int64)
        by_pose = np.tile(-self._from_anchor[self.places.cell], (len(codes), 1))
        for name, to_door in self._to_door.items():
            home = layout.keys[layout.key_index[name]].position.to_tuple()
            at_home = self.places.index.get(home, 0)
            by_mode[numbering.has_digit(codes, name, HOME)] += self._sum_ways(name)[at_home]
            for part, most in enumerate(self._most[name]):
                by_mode[numbering.has_digit(codes, name, LOOSE + part)] += most
            by_pose[numbering.has_digit(codes, name, HAND)] = to_door[self.places.cell]
        for name, most_pushes in self._most_pushes.items():
            for digit, most in most_pushes.items():
                by_mode[numbering.has_digit(codes, name, digit)] += most
        estimated: Numbers = by_mode[:, None] + by_pose
        return estimated

    def _farthest(self, block: str) -> dict[int, int]:
        """Return for each digit of a block the most pushes to the target that a cell with this digit requires."""
        most_pushes: dict[int, int] = {}
        for cell, digit in self.numbering.cells[block].items():
            most_pushes[digit] = max(most_pushes.get(digit, 0), self._pushes[block][cell])
        return most_pushes

    def _count_pushes(self, block: str) -> dict[Cell, int]:
        """Return by cell the fewest pushes of a block from the cell to its target, if nothing else is in the way.

        If the block cannot be pushed from a cell to the target, the cell gets the greatest of the other values. The
        search goes backwards from the target, breadth-first.
        """
        goal = self.numbering.layout.spec.goal
        tiling = self.places.layout.tiling
        reach = self.places.reach[block]
        targets = dict(zip(goal.target_ids, goal.target_positions, strict=True))
        target = targets[block].to_tuple()
        pushes = {target: 0}
        queue = deque([target])
        while queue:
            cell = queue.popleft()
            for heading, before in enumerate(tiling.neighbours(cell)):
                pusher = tiling.ahead(before, heading)
                if before in reach and before not in pushes and pusher in self.places.index:
                    pushes[before] = pushes[cell] + 1
                    queue.append(before)
        most = max(pushes.values())
        return {cell: pushes.get(cell, most) for cell in reach}

    def _measure_to_door(self, name: str) -> Numbers:
        """Return the moves from each cell to the nearest locked door of a key."""
        layout = self.places.layout
        colour = layout.colour_of_key[name]
        locked = [(cell, door) for cell, door in layout.doors.items() if door.initial_state != "open"]
        doors = [cell for cell, door in locked if door.requires_key == colour]
        return moves(self.places, doors, back=True)

    def _greatest(self, values: Numbers) -> Numbers:
        """Return for each part of the grid the greatest of the values of its cells."""
        count = 1 + max(self.numbering.parts.values(), default=-1)
        greatest = np.full(count, _MIN_VALUE)
        for cell, part in self.numbering.parts.items():
            greatest[part] = max(greatest[part], values[self.places.index[cell]])
        return greatest

    def _level_values(self, name: str) -> Numbers:
        """Return the worth of a key on each cell, shifted so that the greatest worth in each part is 0."""
        values = np.zeros(len(self.places.index) + 1, dtype=np.int64)
        moves_over_cell = self._sum_ways(name)
        for cell, part in self.numbering.parts.items():
            number = self.places.index[cell]
            values[number] = moves_over_cell[number] - self._most[name][part]
        return values


def moves(places: Places, cells: Collection[Cell], back: bool) -> Numbers:
    """Return by cell the number of moves from the nearest of ``cells`` or, if ``back``, to the nearest of ``cells``.

    All doors and gates count as open. Turns are not counted, because dropping and picking up can save turns. If no path
    exists, the number is 0.
    """
    can_move = places.after >= 0
    origin = places.cell[can_move]
    target = places.cell[places.after[can_move]]
    if back:
        origin, target = target, origin
    distance = np.full(len(places.index), -1, dtype=np.int64)
    numbers = sorted(places.index[cell] for cell in cells if cell in places.index)
    frontier = np.array(numbers, dtype=np.int64)
    steps = 0
    while len(frontier):
        distance[frontier] = steps
        successors = target[np.isin(origin, frontier)]
        frontier = np.unique(successors[distance[successors] < 0])
        steps += 1
    return np.maximum(distance, 0)
