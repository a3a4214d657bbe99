"""The cheapest way to do what a gridworld task asks for, as far as it is known: A* over primitives (pure).

Which switch opens which gate is not known. A way may go through as many closed gates as switches were pressed before on
it; with ``generous`` a single switch is hoped to open all of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from spca.reference.mechanisms.terrain import Cell, Terrain, ahead_of

MAX_STATES: Final = 300_000
"""States after which a search gives up."""
_PUSH: Final = 5
"""What a push counts for: it cannot be undone, so it should be worth a short detour to do without."""


class State(NamedTuple):
    """What can change; ``keys`` are the cells of the keys by index, None once they are in hand or used up.

    ``held`` is a colour; ``opened`` holds the cells of doors and gates that were opened or gone through on this way.
    """

    cell: Cell
    heading: int
    held: str | None
    keys: tuple[Cell | None, ...]
    opened: frozenset[Cell]
    pressed: frozenset[Cell]
    blocks: tuple[Cell, ...]


Test: TypeAlias = Callable[[State], bool]


class Event(NamedTuple):
    """Something that a way does besides walking: "take", "drop", "unlock", "press", "pass" or "push" of a thing."""

    verb: str
    thing: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A way: its length in primitives, pushes counting more, what it does, and where it ends."""

    cost: int
    events: tuple[Event, ...]
    end: State


class Search:
    """Ways through a terrain.

    Args:
        keeps_keys: a key stays in hand when it opens a door.
        held_down: names of switches that work only while something stands on them.
        blocks_hold: a block on any other switch is hoped to work too.
        turned_off: names of switches that are on and are to be turned off.
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
        self._colours = tuple(key.colour for key in self.keys)
        self._locked = {door.cell: door for door in terrain.find_kind("door", "locked")}
        self._shut = {gate.cell: gate for gate in terrain.find_kind("gate", "closed")}
        off = terrain.find_kind("switch", "off")
        self._switches = {switch.cell: switch for switch in off if switch.name not in held_down}
        self._plates = frozenset(switch.cell for switch in off if blocks_hold or switch.name in held_down)
        on = terrain.find_kind("switch", "on")
        self._on = {switch.cell: switch for switch in on if switch.name in turned_off}
        self._switches |= self._on
        plates = [switch for switch in off if switch.cell in self._plates]
        marks = (*terrain.find_kind("target"), *plates)
        self._marks = {mark.cell: mark.name for mark in marks}
        passable = ("switch", "target", "key", "block")
        standing = {thing.cell for thing in terrain.things.values() if thing.kind not in passable}
        self._takes_block = terrain.open_ground - standing
        self._free = self._takes_block - {switch.cell for switch in terrain.find_kind("switch")}

    def start(self) -> State:
        """Return the present state."""
        terrain = self.terrain
        cells = tuple(block.cell for block in self.blocks)
        keys = tuple(key.cell for key in self.keys)
        return State(terrain.position, terrain.heading, terrain.held, keys, frozenset(), frozenset(), cells)

    def way(self, test: Test, towards: frozenset[Cell] = frozenset()) -> Way | None:
        """Return the cheapest way to a state that passes a test; None when there is none, or none was found in time.

        Args:
            towards: cells, if any, on one of which such a state stands; they guide the search.
        """
        far = self._distances(towards) if towards else {}
        start = self.start()
        before: dict[State, State | None] = {start: None}
        costs = {start: 0}
        number = 0
        heap = [(far.get(start.cell, 0), 0, 0, start)]
        while heap and len(costs) < MAX_STATES:
            _, _, cost, state = heapq.heappop(heap)
            if cost > costs[state]:
                continue
            if test(state):
                return Way(cost, tuple(self._events(before, state)), state)
            for after in self._successors(state):
                total = cost + (1 if after.blocks == state.blocks else _PUSH)
                if total < costs.get(after, MAX_STATES) and (not far or after.cell in far):
                    costs[after] = total
                    before[after] = state
                    number = number + 1
                    heapq.heappush(heap, (total + far.get(after.cell, 0), -number, total, after))
        return None

    def opens(self, state: State, gates: Set[Cell]) -> bool:
        """Return whether so many switches are on in a state that these closed gates may be hoped to be open too."""
        passed = (state.opened & self._shut.keys()) | gates
        return not gates or self._means(state) >= (1 if self._generous else len(passed))

    def _successors(self, state: State) -> Iterator[State]:
        yield state._replace(heading=(state.heading + 1) % 4)
        yield state._replace(heading=(state.heading - 1) % 4)
        ahead = ahead_of(state.cell, state.heading)
        if (moved := self._move(state, ahead)) is not None:
            yield moved
        yield from self._handle(state, ahead)
        if state.cell in self._switches and state.cell not in state.pressed:
            yield state._replace(pressed=state.pressed | {state.cell})

    def _move(self, state: State, ahead: Cell) -> State | None:
        if ahead not in self.terrain.open_ground:
            return None
        blocks = state.blocks
        opened = state.opened
        if ahead in blocks:
            beyond = ahead_of(ahead, state.heading)
            if beyond not in self._takes_block or beyond in blocks or beyond in state.keys:
                return None
            blocks = tuple(beyond if cell == ahead else cell for cell in blocks)
        elif ahead not in opened:
            if ahead in self._locked:
                return None
            if ahead in self._shut:
                if not self._may_pass(state):
                    return None
                opened = opened | {ahead}
        return state._replace(cell=self.terrain.leads.get(ahead, ahead), blocks=blocks, opened=opened)

    def _may_pass(self, state: State) -> bool:
        """Return whether one more closed gate may be hoped to be open."""
        return self._means(state) > (0 if self._generous else len(state.opened & self._shut.keys()))

    def _means(self, state: State) -> int:
        """Return how many switches were turned on."""
        return len((state.pressed - self._on.keys()) | self._plates.intersection(state.blocks))

    def _handle(self, state: State, ahead: Cell) -> Iterator[State]:
        """Yield the states after what hand and key can do: take, drop, unlock."""
        if state.held is None:
            place = state.cell if state.cell in state.keys else ahead
            if place in state.keys:
                index = state.keys.index(place)
                yield state._replace(held=self._colours[index], keys=_replace_cell(state.keys, index, None))
            return
        door = self._locked.get(ahead)
        if door is not None and ahead not in state.opened and door.colour == state.held:
            held = state.held if self._keeps_keys else None
            yield state._replace(held=held, opened=state.opened | {ahead})
        elif ahead in self._free and ahead not in state.blocks and ahead not in state.keys:
            # What is put down is wanted no more: ways that come back for it are left out.
            yield state._replace(held=None)

    def _events(self, before: Mapping[State, State | None], state: State) -> Iterator[Event]:
        """Yield what happens between the states of a way, in order."""
        states: list[State] = []
        current: State | None = state
        while current is not None:
            states.append(current)
            current = before[current]
        states.reverse()
        for old, new in pairwise(states):
            yield from self._event(old, new)

    def _event(self, old: State, new: State) -> Iterator[Event]:
        for index, (was, now) in enumerate(zip(old.keys, new.keys, strict=True)):
            if was != now:
                yield Event("take", self.keys[index].name)
        for cell in new.opened - old.opened:
            thing = self._locked.get(cell) or self._shut[cell]
            yield Event("unlock" if cell in self._locked else "pass", thing.name)
        if old.held and not new.held and new.opened == old.opened:
            yield Event("drop", old.held)
        for cell in new.pressed - old.pressed:
            yield Event("turn off" if cell in self._on else "press", self._switches[cell].name)
        for block, was, now in zip(self.blocks, old.blocks, new.blocks, strict=True):
            if was != now:
                row, column = now
                yield Event("push", block.name, self._marks.get(now) or f"cell_{row}_{column}")

    def _distances(self, towards: frozenset[Cell]) -> dict[Cell, int]:
        """Return the fewest moves to one of ``towards`` where nothing is closed.

        Cells from which there is no way are left out.
        """
        arrivals: dict[Cell, list[Cell]] = {}
        for cell in self.terrain.open_ground:
            for heading in range(4):
                ahead = ahead_of(cell, heading)
                if ahead in self.terrain.open_ground:
                    arrivals.setdefault(self.terrain.leads.get(ahead, ahead), []).append(cell)
        far = dict.fromkeys(towards, 0)
        border = list(towards)
        for cell in border:
            for earlier in arrivals.get(cell, ()):
                if earlier not in far:
                    far[earlier] = far[cell] + 1
                    border.append(earlier)
        return far


def _replace_cell(cells: tuple[Cell | None, ...], index: int, cell: Cell | None) -> tuple[Cell | None, ...]:
    return (*cells[:index], cell, *cells[index + 1 :])
