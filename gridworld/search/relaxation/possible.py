"""Masks of the states of a projection in which a statement may hold (pure).

The shape of each mask can be broadcast to (modes, poses).

A statement about an untracked mechanism may always hold, and so may its opposite. A mask may therefore have too many
states, but never too few.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.modes import Modes
from gridworld.search.relaxation.numbering import HAND, HOME
from gridworld.search.relaxation.places import Mask
from gridworld.task.conditions import Condition


class Possible:
    """Statements about all states of a projection; ``wanted=False`` asks whether the opposite may hold."""

    def __init__(self, modes: Modes) -> None:
        self.layout = modes.places.layout
        self.places = modes.places
        self.modes = modes
        self._switches = {switch.id: cell for cell, switch in self.layout.switches.items()}
        self._doors = {door.id: door for door in self.layout.doors.values()}
        self._gates = {gate.id: gate for gate in self.layout.gates.values()}

    def goal(self) -> Mask:
        """Return for each state whether the goal and its conditions may hold.

        A ``survive_steps`` goal always holds, apart from its conditions.
        """
        goal = self.layout.spec.goal
        masks = [_always(True)]
        if self.layout.goal_square is not None:
            masks.append(self.places.on(self.layout.goal_square)[None, :])
        elif goal.goal_type == "collect_all":
            masks += [self._was_collected(name) for name in goal.target_ids]
        elif goal.goal_type == "push_block_to":
            targets = zip(goal.target_ids, goal.target_positions, strict=True)
            masks += [self.stands_on(name, cell.to_tuple(), True) for name, cell in targets]
        masks += [self._condition(condition) for condition in self.layout.conditions]
        shape = (len(self.modes), len(self.places))
        return np.broadcast_to(reduce(np.logical_and, masks), shape)

    def active(self, switch: str, wanted: bool) -> Mask:
        """Return for each state whether a switch may be active or, if not ``wanted``, may be inactive."""
        if switch in self.modes:
            return self.modes.has_digit(switch, int(wanted))
        if self.layout.switch_type(switch) != "hold":
            return _always(True)
        cell = self._switches[switch]
        held = self.places.on(cell)[None, :]
        blocks = [self.stands_on(name, cell, wanted) for name in self.places.reach]
        if wanted:
            return reduce(np.logical_or, blocks, held)
        return reduce(np.logical_and, blocks, ~held)

    def open(self, name: str, wanted: bool) -> Mask:
        """Return for each state whether a door or gate may be open or, if not ``wanted``, may be shut."""
        if name in self._doors:
            if name in self.modes:
                return self.modes.has_digit(name, int(wanted))
            return _always(wanted or self._doors[name].initial_state != "open")
        if self._gates[name].initial_state == "open":
            return _always(wanted)
        switches = [switch.id for switch in self.layout.switches.values() if name in switch.controls]
        drivers = [self.active(switch, wanted) for switch in switches]
        combine = np.logical_or if wanted else np.logical_and
        return reduce(combine, drivers, _always(not wanted))

    def stands_on(self, block: str, cell: Cell | None, wanted: bool) -> Mask:
        """Return for each state whether a block may stand on a cell or, if not ``wanted``, may stand elsewhere."""
        reach = self.places.reach.get(block)
        if reach is None:
            spec = self.layout.blocks[self.layout.block_index[block]]
            return _always((spec.position.to_tuple() == cell) == wanted)
        if cell is None or cell not in reach:
            return _always(not wanted)
        if block not in self.modes:
            return _always(True)
        numbering = self.modes.numbering
        if not wanted and not numbering.exactly(block, cell):
            return _always(True)
        mask: Mask = self.modes.has_digit(block, numbering.cells[block][cell]) == wanted
        return mask

    def _key(self, name: str, digit: int, wanted: bool) -> Mask:
        """Return for each state whether a key may have a digit or, if not ``wanted``, may have another digit."""
        if name not in self.modes:
            return _always(True)
        mask: Mask = self.modes.has_digit(name, digit) == wanted
        return mask

    def _was_collected(self, name: str) -> Mask:
        """Return for each state whether a target of a ``collect_all`` goal may be fulfilled."""
        if name in self.layout.key_index:
            return self._key(name, HOME, False)
        return self.active(name, True) if name in self._switches else self.open(name, True)

    def _condition(self, condition: Condition) -> Mask:
        """Return for each state whether an auxiliary condition may hold."""
        name = condition.id
        wanted = not condition.negated
        match condition.kind:
            case "collected":  # a collected key is never HOME
                return self._key(name, HOME, not wanted)
            case "carrying":
                return self._key(name, HAND, wanted)
            case "open":
                return self.open(name, wanted)
            case "active":
                return self.active(name, wanted)
            case _:  # "at"
                return self.stands_on(name, condition.position, wanted)


def _always(value: bool) -> Mask:
    return np.full((1, 1), value)
