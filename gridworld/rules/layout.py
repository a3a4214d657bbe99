"""A task compiled for a tiling (:class:`Layout`), and the changing state of an episode (:class:`State`).

The specification lists the mechanisms by kind; :class:`Layout` indexes them by cell. :class:`State` is a small hashable
value; the transition function maps a state and an action to the next state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

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
    """The complete changing state of an episode, except the count of steps; equal states have equal futures.

    Attributes:
        position, heading: the pose of the agent.
        carrying: id of the carried key; None if the agent carries nothing.
        key_cells: cell of each key of ``Layout.keys``; None for a key that is carried or used up.
        block_cells: cell of each block of ``Layout.blocks``.
        open_doors, active_switches, collected: ids of the open doors, the active switches and the collected keys.
        cooling: name of the teleporter end whose cooldown is 1 ("portal_b"); "" if no end has a cooldown.
        touched: ids of the hidden mechanisms that the agent has touched.
        dead: whether the agent is on a hazard.
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
    """An entrance of a teleporter: its name, the name of the other end, and the cell of the other end."""

    name: str
    partner: str
    exit: Cell


_Placed = TypeVar("_Placed", DoorSpec, GateSpec, SwitchSpec, HazardSpec)


def _by_cell(mechanisms: Iterable[_Placed]) -> dict[Cell, _Placed]:
    return {mechanism.position.to_tuple(): mechanism for mechanism in mechanisms}


class Layout:
    """A valid task on a tiling; immutable by convention, so that all episodes of the task share one layout.

    Args:
        spec: the task; the caller must not change the task afterwards.
        tiling: the tiling on which the cells lie.

    Attributes:
        width, height: the size of the grid in cells, border included.
        walls: the cells of the border and of the inner walls.
        doors, gates, switches, portals, hazards: mechanisms by cell.
        ends: cells of all teleporter ends by name ("portal_a").
        keys, blocks: in the order of the specification, as in ``key_cells`` and ``block_cells`` of :class:`State`.
        goal_square: target of a ``reach_position`` goal, None for other goals.
        hidden: ids of the hidden mechanisms.

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
        self.doors = _by_cell(things.doors)
        self.gates = _by_cell(things.gates)
        self.switches = _by_cell(things.switches)
        self.hazards = _by_cell(things.hazards)
        self.ends, self.portals = self._teleporters()
        self.walls = self._walls()
        goal = spec.goal
        target = goal.target if goal.goal_type == "reach_position" else None
        self.goal_square = None if target is None else target.to_tuple()
        self.conditions: tuple[Condition, ...] = tuple(map(parse_condition, goal.auxiliary_conditions))
        self.colour_of_key = {key.id: key.color for key in self.keys}
        self.key_index = {key.id: index for index, key in enumerate(self.keys)}
        self.block_index = {block.id: index for index, block in enumerate(self.blocks)}
        self.pushable = tuple(block.pushable for block in self.blocks)
        self.hidden = frozenset(spec.rules.hidden_mechanisms)
        default_type = spec.rules.switch_type
        self._switch_types = {switch.id: switch.switch_type or default_type for switch in things.switches}
        placed_switches = ((cell, switch.id) for cell, switch in self.switches.items())
        self._hold_switches = tuple(
            (cell, switch_id) for cell, switch_id in placed_switches if self._switch_types[switch_id] == "hold"
        )
        self._gates_by_switches: dict[frozenset[str], frozenset[str]] = {}
        barred = {*self.walls, *self.doors, *self.gates, *self.hazards, *self.ends.values()}
        if self.goal_square:
            barred.add(self.goal_square)
        self._barred_for_blocks = frozenset(barred)

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
        """Return the type of a switch: toggle, hold or one_shot; a switch without a type has the type of the rules."""
        return self._switch_types[switch_id]

    def apply_holds(self, active: frozenset[str], position: Cell, blocks: tuple[Cell, ...]) -> frozenset[str]:
        """Return the active switches after an update of the hold switches.

        A hold switch is active while the agent or a block stands on its cell.

        Args:
            active: ids of the active switches before the update.
            position: cell of the agent.
            blocks: cells of the blocks.
        """
        if not self._hold_switches:
            return active
        held = {name for cell, name in self._hold_switches if cell == position or cell in blocks}
        released = {name for _, name in self._hold_switches} - held
        return (active | held) - released

    def open_gates(self, active_switches: frozenset[str]) -> frozenset[str]:
        """Return the ids of the gates that are open while these switches are active."""
        cached = self._gates_by_switches.get(active_switches)
        if cached is None:
            always_open = {gate.id for gate in self.gates.values() if gate.initial_state == "open"}
            active = [switch for switch in self.spec.mechanisms.switches if switch.id in active_switches]
            controlled = {gate for switch in active for gate in switch.controls}
            cached = self._gates_by_switches[active_switches] = frozenset(controlled | always_open)
        return cached

    def can_enter(self, cell: Cell, state: State) -> bool:
        """Return whether the agent may step onto a cell; blocks on the cell are not considered."""
        if cell in self.walls:
            return False
        if (door := self.doors.get(cell)) is not None:
            return door.id in state.open_doors
        if (gate := self.gates.get(cell)) is not None:
            return gate.id in self.open_gates(state.active_switches)
        return True

    def takes_block(self, cell: Cell, state: State) -> bool:
        """Return whether a block may be pushed onto a cell: the cell is empty, or has only a switch."""
        return cell not in self._barred_for_blocks and cell not in state.key_cells and cell not in state.block_cells

    def is_free(self, cell: Cell, state: State) -> bool:
        """Return whether a cell is empty floor, so that a key may be dropped on the cell."""
        return cell not in self.switches and self.takes_block(cell, state)

    def is_opaque(self, cell: Cell, state: State) -> bool:
        """Return whether a cell blocks the view; all cells outside of the grid block the view."""
        if not (0 <= cell[0] < self.width and 0 <= cell[1] < self.height):
            return True
        return not self.can_enter(cell, state)

    def hidden_at(self, state: State, cell: Cell) -> frozenset[str]:
        """Return the ids of the hidden mechanisms on a cell."""
        return frozenset(name for name in self.names_at(state, cell) if name in self.hidden)

    def names_at(self, state: State, cell: Cell) -> Iterator[str]:
        """Yield the ids of the mechanisms on a cell."""
        for table in (self.doors, self.gates, self.switches, self.hazards):
            if (thing := table.get(cell)) is not None:
                yield thing.id
        for name, end in self.ends.items():
            if end == cell:
                yield name[:-2]  # without "_a" or "_b"
        for key, key_cell in zip(self.keys, state.key_cells, strict=True):
            if key_cell == cell:
                yield key.id
        for block, block_cell in zip(self.blocks, state.block_cells, strict=True):
            if block_cell == cell:
                yield block.id

    def _teleporters(self) -> tuple[dict[str, Cell], dict[Cell, Portal]]:
        """Return (the cells of all ends by name, the entrances by cell)."""
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
        """Return the wall cells, border included; a door or gate replaces the wall on its cell."""
        columns = range(self.width)
        rows = range(self.height)
        border = {(column, row) for column in columns for row in (0, self.height - 1)}
        border |= {(column, row) for column in (0, self.width - 1) for row in rows}
        passages = self.doors.keys() | self.gates.keys()
        return (self.spec.maze.wall_cells() | border) - passages
