"""Find the cheapest way to do what a gridworld task asks for, as far as the task is known (pure).

The search is A* over primitives. A *way* is a sequence of primitives: turns, steps, uses of the hand and presses of a
switch. The prompt does not say which switch opens which gate. A way may therefore pass as many closed gates as switches
were turned on earlier on the way. With ``generous``, the search assumes that a single switch opens all gates.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from spca.reference.mechanisms.terrain import Cell, Terrain, ahead_of

MAX_STATES: Final = 300_000
"""The number of states after which a search gives up; also an upper bound of the cost of a way."""
_PUSH_COST: Final = 5
"""The cost of a push, in primitives.

A push cannot be undone, so a short detour without a push should be cheaper.
"""


class State(NamedTuple):
    """The facts that change while the agent follows a way.

    Attributes:
        cell: the agent's cell.
        heading: the agent's heading, an index of STEPS.
        held: the colour of the key in hand, or None.
        keys: the cells of the keys in the order of ``Search.keys``; None for a key that was taken.
        opened: the cells of doors that were opened, and of closed gates that were passed.
        pressed: the cells of switches that were pressed.
        blocks: the cells of the blocks in the order of ``Search.blocks``.
    """

    cell: Cell
    heading: int
    held: str | None
    keys: tuple[Cell | None, ...]
    opened: frozenset[Cell]
    pressed: frozenset[Cell]
    blocks: tuple[Cell, ...]


Test: TypeAlias = Callable[[State], bool]
"""A function that returns whether a state meets a condition."""


class Event(NamedTuple):
    """A use of a thing on a way, such as taking a key; turns and plain steps are no events.

    Attributes:
        verb: "take", "drop", "unlock", "press", "turn off", "pass" (a closed gate) or "push".
        thing: the name of the thing, or the colour of the key if the verb is "drop".
        other: the name of the mark or cell to which a block is pushed; "" for other verbs.
    """

    verb: str
    thing: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A way from the present state to the state ``end``.

    Attributes:
        cost: the number of primitives, where each push counts as ``_PUSH_COST`` primitives.
        events: the events of the way, in order.
    """

    cost: int
    events: tuple[Event, ...]
    end: State


class Search:
    """A search for ways through a terrain.

    Args:
        keeps_keys: whether a key stays in hand after opening a door.
        held_down: the names of switches that stay on only while a block or the agent is on the switch.
        blocks_hold: whether to assume that a block turns on every other switch on which it lies.
        turned_off: the names of switches that are on and have to be turned off.
        generous: whether to assume that a single switch opens all gates.
    """

    def __init__(
        self,
        terrain: Terrain,
        *,
        keeps_keys: bool = False,
        held_down: frozenset[str] = frozenset(),
        blocks_hold: bool = False,
        turned_off: frozenset[str] = frozenset(),
        generous: bool = False,
    ) -> None:
        self.terrain = terrain
        self._keeps_keys = keeps_keys
        self._generous = generous
        self.keys = terrain.find_kind("key")
        self.blocks = tuple(thing for thing in terrain.find_kind("block") if thing.state != "fixed")
        self._key_colours = tuple(key.colour for key in self.keys)
        self._locked_doors = {door.cell: door for door in terrain.find_kind("door", "locked")}
        self._closed_gates = {gate.cell: gate for gate in terrain.find_kind("gate", "closed")}

        switches_off = terrain.find_kind("switch", "off")
        switches_on = terrain.find_kind("switch", "on")
        self._to_turn_off = {switch.cell: switch for switch in switches_on if switch.name in turned_off}
        # The switches that the agent may press, by cell.
        self._pressable = {switch.cell: switch for switch in switches_off if switch.name not in held_down}
        self._pressable |= self._to_turn_off

        # The switches that a block turns on by lying on the switch.
        plates = [switch for switch in switches_off if blocks_hold or switch.name in held_down]
        self._plates = frozenset(plate.cell for plate in plates)
        marks = (*terrain.find_kind("target"), *plates)
        self._mark_names = {mark.cell: mark.name for mark in marks}

        passable_kinds = ("switch", "target", "key", "block")
        obstacles = {thing.cell for thing in terrain.things.values() if thing.kind not in passable_kinds}
        self._block_ground = terrain.open_ground - obstacles
        self._drop_ground = self._block_ground - {switch.cell for switch in terrain.find_kind("switch")}

    def start(self) -> State:
        """Return the present state, from which every way starts."""
        terrain = self.terrain
        cells = tuple(block.cell for block in self.blocks)
        keys = tuple(key.cell for key in self.keys)
        return State(terrain.position, terrain.heading, terrain.held, keys, frozenset(), frozenset(), cells)

    def way(self, test: Test, towards: frozenset[Cell] = frozenset()) -> Way | None:
        """Return the cheapest way to a state that passes the test.

        Return None if there is no such way, or if the search gives up after MAX_STATES states.

        Args:
            towards: the only cells on which the agent can stand when the test passes. The heuristic of A* is the
                distance to the nearest of these cells. If ``towards`` is empty, the search has no heuristic.
        """
        distances = self._find_distances(towards) if towards else {}
        start = self.start()
        predecessors: dict[State, State | None] = {start: None}
        costs = {start: 0}
        # Heap entries are (estimate of the whole cost, minus the entry's number, cost so far, state). Of entries with
        # the same estimate, the newest comes first. States themselves are never compared, because numbers differ.
        entry_number = 0
        heap = [(distances.get(start.cell, 0), 0, 0, start)]
        while heap and len(costs) < MAX_STATES:
            _, _, cost, state = heapq.heappop(heap)
            is_outdated = cost > costs[state]
            if is_outdated:
                continue
            if test(state):
                return Way(cost, tuple(self._list_events(predecessors, state)), state)
            for successor in self._successors(state):
                total = cost + (1 if successor.blocks == state.blocks else _PUSH_COST)
                is_cheaper = total < costs.get(successor, MAX_STATES)
                if is_cheaper and (not distances or successor.cell in distances):
                    costs[successor] = total
                    predecessors[successor] = state
                    entry_number += 1
                    estimate = total + distances.get(successor.cell, 0)
                    heapq.heappush(heap, (estimate, -entry_number, total, successor))
        return None

    def opens(self, state: State, gates: Set[Cell]) -> bool:
        """Return whether enough switches are on in ``state`` to have opened all closed gates in ``gates``.

        If the search is generous, one switch is enough. Otherwise, each gate that is in ``gates`` or was passed on the
        way needs a switch.
        """
        if not gates:
            return True
        needed = 1 if self._generous else len(self._find_passed_gates(state) | gates)
        return self._count_switched_on(state) >= needed

    def _successors(self, state: State) -> Iterator[State]:
        """Yield the state after each possible primitive: turn right, turn left, step ahead, use the hand, press the
        switch.
        """
        yield state._replace(heading=(state.heading + 1) % 4)
        yield state._replace(heading=(state.heading - 1) % 4)
        ahead = ahead_of(state.cell, state.heading)
        if (moved := self._step_ahead(state, ahead)) is not None:
            yield moved
        yield from self._use_hand(state, ahead)
        if state.cell in self._pressable and state.cell not in state.pressed:
            yield state._replace(pressed=state.pressed | {state.cell})

    def _step_ahead(self, state: State, ahead: Cell) -> State | None:
        """Return the state after a step to the cell ``ahead``, or None if the step is impossible.

        The step may push a block or pass a gate.
        """
        if ahead not in self.terrain.open_ground:
            return None
        blocks = state.blocks
        opened = state.opened
        if ahead in blocks:
            beyond = ahead_of(ahead, state.heading)
            if beyond not in self._block_ground or beyond in blocks or beyond in state.keys:
                return None
            blocks = tuple(beyond if block == ahead else block for block in blocks)
        elif ahead not in opened:
            if ahead in self._locked_doors:
                return None
            if ahead in self._closed_gates:
                if not self._may_pass(state):
                    return None
                opened = opened | {ahead}
        arrival = self.terrain.leads.get(ahead, ahead)
        return state._replace(cell=arrival, blocks=blocks, opened=opened)

    def _may_pass(self, state: State) -> bool:
        """Return whether enough switches are on in ``state`` to pass one more closed gate."""
        used = 0 if self._generous else len(self._find_passed_gates(state))
        return self._count_switched_on(state) > used

    def _find_passed_gates(self, state: State) -> Set[Cell]:
        """Return the cells of the closed gates that were passed on the way to ``state``."""
        return state.opened & self._closed_gates.keys()

    def _count_switched_on(self, state: State) -> int:
        """Return how many switches the agent and the blocks have turned on, on the way to ``state``."""
        turned_on = state.pressed - self._to_turn_off.keys()
        return len(turned_on | self._plates.intersection(state.blocks))

    def _use_hand(self, state: State, ahead: Cell) -> Iterator[State]:
        """Yield the state after using the hand: take a key, unlock the door ahead, or drop the key ahead.

        Yield nothing if the hand cannot do anything.
        """
        if state.held is None:
            # A key under the agent is taken before a key ahead.
            place = state.cell if state.cell in state.keys else ahead
            if place in state.keys:
                index = state.keys.index(place)
                yield state._replace(held=self._key_colours[index], keys=_replace_cell(state.keys, index, None))
            return

        door = self._locked_doors.get(ahead)
        if door is not None and ahead not in state.opened and door.colour == state.held:
            held = state.held if self._keeps_keys else None
            yield state._replace(held=held, opened=state.opened | {ahead})
        elif ahead in self._drop_ground and ahead not in state.blocks and ahead not in state.keys:
            # A dropped key has no cell any more, so the search leaves out ways that come back for the key.
            yield state._replace(held=None)

    def _list_events(self, predecessors: Mapping[State, State | None], end: State) -> Iterator[Event]:
        """Yield the events of the way to the state ``end``, in order; ``predecessors`` holds the state before each
        state.
        """
        states: list[State] = []
        current: State | None = end
        while current is not None:
            states.append(current)
            current = predecessors[current]
        states.reverse()
        for old, new in pairwise(states):
            yield from self._compare(old, new)

    def _compare(self, old: State, new: State) -> Iterator[Event]:
        """Yield the events of a single primitive, given the states before and after the primitive."""
        for key, old_cell, new_cell in zip(self.keys, old.keys, new.keys, strict=True):
            if old_cell != new_cell:
                yield Event("take", key.name)

        for cell in new.opened - old.opened:
            if cell in self._locked_doors:
                yield Event("unlock", self._locked_doors[cell].name)
            else:
                yield Event("pass", self._closed_gates[cell].name)

        if old.held and not new.held and new.opened == old.opened:
            yield Event("drop", old.held)

        for cell in new.pressed - old.pressed:
            verb = "turn off" if cell in self._to_turn_off else "press"
            yield Event(verb, self._pressable[cell].name)

        for block, old_place, new_place in zip(self.blocks, old.blocks, new.blocks, strict=True):
            if old_place != new_place:
                row, column = new_place
                yield Event("push", block.name, self._mark_names.get(new_place) or f"cell_{row}_{column}")

    def _find_distances(self, targets: frozenset[Cell]) -> dict[Cell, int]:
        """Return the smallest number of steps from each cell to one of ``targets``, as if all doors and gates were
        open.

        Cells from which no target can be reached are left out.
        """
        origins: dict[Cell, list[Cell]] = {}  # the cells from which one step leads to a cell
        for cell in self.terrain.open_ground:
            for heading in range(4):
                ahead = ahead_of(cell, heading)
                if ahead in self.terrain.open_ground:
                    arrival = self.terrain.leads.get(ahead, ahead)
                    origins.setdefault(arrival, []).append(cell)

        # Breadth-first search from the targets backwards; the queue grows during the loop.
        distances = dict.fromkeys(targets, 0)
        queue = list(targets)
        for cell in queue:
            for origin in origins.get(cell, ()):
                if origin not in distances:
                    distances[origin] = distances[cell] + 1
                    queue.append(origin)
        return distances


def _replace_cell(cells: tuple[Cell | None, ...], index: int, cell: Cell | None) -> tuple[Cell | None, ...]:
    return (*cells[:index], cell, *cells[index + 1 :])
