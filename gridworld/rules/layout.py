"""What never changes during an episode, and what does: a task compiled for a tiling, and its states.

:class:`Layout` answers by cell what the specification lists by kind; :class:`State` is a small hashable value that
the transition function maps to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from gridworld.errors import TaskError
from gridworld.rules.tilings import SQUARE, Cell, Tiling
from gridworld.task.conditions import Condition, parse_condition
from gridworld.task_spec import (
    BlockSpec,
    DoorSpec,
    GateSpec,
    HazardSpec,
    KeySpec,
    SwitchSpec,
    TaskSpecification,
)

NOTHING: Final[frozenset[str]] = frozenset()


class State(NamedTuple):
    """Everything that can change, but for the count of steps; equal states have equal futures.

    Attributes:
        position, heading: the agent's pose.
        carrying: id of the key in hand.
        key_cells: where the keys of ``Layout.keys`` lie, None for one that is in hand or used up.
        block_cells: where the blocks of ``Layout.blocks`` stand.
        open_doors, active_switches, collected: ids.
        cooling: the teleporter end whose cooldown is 1 ("portal_b"), "" for none.
        touched: hidden mechanisms that have been touched.
        dead: the agent is on a hazard.
    """

    position: Cell
    heading: int
    carrying: str | None
    key_cells: tuple[Cell | None, ...]
    block_cells: tuple[Cell, ...]
    open_doors: frozenset[str]
    active_switches: frozenset[str]
    collected: frozenset[str]
    cooling: str
    touched: frozenset[str]
    dead: bool


@dataclass(frozen=True, slots=True)
class Portal:
    """An end of a teleporter that can be entered: where it leads, and the name of the end there."""

    name: str
    partner: str
    exit: Cell


class Layout:
    """A valid task on a tiling. Immutable by convention; shared by all episodes of the task.

    Args:
        spec: the task; not changed and not to be changed afterwards.
        tiling: on which its cells lie.

    Attributes:
        width, height: of the grid, border included.
        walls: border, inner walls.
        doors, gates, switches, portals, hazards: by cell.
        ends: cells of all teleporter ends by name ("portal_a").
        keys, blocks: in the order of the specification; so are the fields of :class:`State`.
        goal_square: target of a ``reach_position`` goal, None for other goals.

    Raises:
        TaskError: the specification is not valid.
    """

    def __init__(self, spec: TaskSpecification, tiling: Tiling = SQUARE) -> None:
        valid, problems = spec.validate()
        if not valid:
            raise TaskError(problems, spec.task_id)
        self.spec = spec
        self.tiling = tiling
        self.width, self.height = spec.maze.dimensions
        things = spec.mechanisms
        self.keys: tuple[KeySpec, ...] = tuple(things.keys)
        self.blocks: tuple[BlockSpec, ...] = tuple(things.blocks)
        self.doors: dict[Cell, DoorSpec] = {door.position.to_tuple(): door for door in things.doors}
        self.gates: dict[Cell, GateSpec] = {gate.position.to_tuple(): gate for gate in things.gates}
        self.switches: dict[Cell, SwitchSpec] = {switch.position.to_tuple(): switch for switch in things.switches}
        self.hazards: dict[Cell, HazardSpec] = {hazard.position.to_tuple(): hazard for hazard in things.hazards}
        self.ends, self.portals = self._teleporters()
        self.walls = self._walls()
        goal = spec.goal
        reach = goal.goal_type == "reach_position"
        self.goal_square = goal.target.to_tuple() if reach and goal.target is not None else None
        self.conditions: tuple[Condition, ...] = tuple(map(parse_condition, goal.auxiliary_conditions))
        self.colour_of_key = {key.id: key.color for key in self.keys}
        self.key_index = {key.id: index for index, key in enumerate(self.keys)}
        self.block_index = {block.id: index for index, block in enumerate(self.blocks)}
        self.pushable = tuple(block.pushable for block in self.blocks)
        self.hidden = frozenset(spec.rules.hidden_mechanisms)
        switch_types = {switch.id: switch.switch_type or spec.rules.switch_type for switch in things.switches}
        self._switch_types = switch_types
        self._hold = tuple(
            (cell, switch.id) for cell, switch in self.switches.items() if switch_types[switch.id] == "hold"
        )
        self._gates_by_switches: dict[frozenset[str], frozenset[str]] = {}
        fixed = {*self.walls, *self.doors, *self.gates, *self.hazards, *self.ends.values()}
        if self.goal_square:
            fixed.add(self.goal_square)
        self._fixed = frozenset(fixed)

    def start(self) -> State:
        """Return the state in which every episode begins."""
        mechanisms = self.spec.mechanisms
        open_doors = [door.id for door in mechanisms.doors if door.initial_state == "open"]
        active_switches = [switch.id for switch in mechanisms.switches if switch.initial_state == "on"]
        position = self.spec.maze.start.to_tuple()
        state = State(
            position=position,
            heading=0,
            carrying=None,
            key_cells=tuple(key.position.to_tuple() for key in self.keys),
            block_cells=tuple(block.position.to_tuple() for block in self.blocks),
            open_doors=frozenset(open_doors),
            active_switches=frozenset(active_switches),
            collected=NOTHING,
            cooling="",
            touched=NOTHING,
            dead=False,
        )
        active = self.apply_holds(state.active_switches, position, state.block_cells)
        touched = self.hidden_at(state, position) if self.hidden else NOTHING
        return state._replace(active_switches=active, touched=touched)

    def switch_type(self, switch_id: str) -> str:
        """Return the type of a switch, toggle, hold or one_shot: its own, else the rules'."""
        return self._switch_types[switch_id]

    def apply_holds(self, active: frozenset[str], position: Cell, blocks: tuple[Cell, ...]) -> frozenset[str]:
        """Return active switches once the hold switches follow what stands on them."""
        if not self._hold:
            return active
        held = {name for cell, name in self._hold if cell == position or cell in blocks}
        loose = {name for _, name in self._hold} - held
        return (active | held) - loose

    def open_gates(self, active_switches: frozenset[str]) -> frozenset[str]:
        """Return the ids of the gates that are open while these switches are active."""
        known = self._gates_by_switches.get(active_switches)
        if known is None:
            switches = self.spec.mechanisms.switches
            driven = {gate for s in switches if s.id in active_switches for gate in s.controls}
            initially = {gate.id for gate in self.gates.values() if gate.initial_state == "open"}
            known = self._gates_by_switches[active_switches] = frozenset(driven | initially)
        return known

    def can_enter(self, cell: Cell, state: State) -> bool:
        """Return whether the agent may step onto a cell on which no block stands."""
        if cell in self.walls:
            return False
        if (door := self.doors.get(cell)) is not None:
            return door.id in state.open_doors
        if (gate := self.gates.get(cell)) is not None:
            return gate.id in self.open_gates(state.active_switches)
        return True

    def takes_block(self, cell: Cell, state: State) -> bool:
        """Return whether a block may be pushed onto a cell: free, or nothing but a switch there."""
        return cell not in self._fixed and cell not in state.key_cells and cell not in state.block_cells

    def is_free(self, cell: Cell, state: State) -> bool:
        """Return whether nothing stands on a cell, so that a key may be dropped there."""
        return cell not in self.switches and self.takes_block(cell, state)

    def is_opaque(self, cell: Cell, state: State) -> bool:
        """Return whether a cell blocks the view; everything outside of the grid does."""
        if not (0 <= cell[0] < self.width and 0 <= cell[1] < self.height):
            return True
        return not self.can_enter(cell, state)

    def hidden_at(self, state: State, cell: Cell) -> frozenset[str]:
        """Return hidden mechanisms on a cell."""
        return frozenset(name for name in self.names_at(state, cell) if name in self.hidden)

    def names_at(self, state: State, cell: Cell) -> Iterator[str]:
        """Yield the ids of the mechanisms on a cell."""
        for table in (self.doors, self.gates, self.switches, self.hazards):
            if (thing := table.get(cell)) is not None:
                yield thing.id
        yield from (name[:-2] for name, end in self.ends.items() if end == cell)
        yield from (key.id for key, place in zip(self.keys, state.key_cells, strict=True) if place == cell)
        yield from (block.id for block, place in zip(self.blocks, state.block_cells, strict=True) if place == cell)

    def _teleporters(self) -> tuple[dict[str, Cell], dict[Cell, Portal]]:
        ends: dict[str, Cell] = {}
        portals: dict[Cell, Portal] = {}
        for teleporter in self.spec.mechanisms.teleporters:
            a = teleporter.position_a.to_tuple()
            b = teleporter.position_b.to_tuple()
            name_a = f"{teleporter.id}_a"
            name_b = f"{teleporter.id}_b"
            ends[name_a] = a
            ends[name_b] = b
            portals[a] = Portal(name_a, name_b, b)
            if teleporter.bidirectional:
                portals[b] = Portal(name_b, name_a, a)
        return ends, portals

    def _walls(self) -> frozenset[Cell]:
        columns = range(self.width)
        rows = range(self.height)
        border = {(column, row) for column in columns for row in (0, self.height - 1)}
        border |= {(column, row) for column in (0, self.width - 1) for row in rows}
        passages = self.doors.keys() | self.gates.keys()
        return (self.spec.maze.wall_cells() | border) - passages
