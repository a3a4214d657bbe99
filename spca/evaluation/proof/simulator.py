"""Conversion of minigrid's simulator, which knows the whole grid, into the maze, state and mission of a search."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

from spca.act.corrections import apply_corrections
from spca.common.text import one_line
from spca.contracts import LevelSpec
from spca.errors import WorldError
from spca.evaluation.proof.dynamics import NOWHERE, Door, DoorState, Ground, Item, Maze, MazeState
from spca.evaluation.proof.goals import (
    BesideGoal,
    Goal,
    GoToGoal,
    InOrderGoal,
    OpenGoal,
    PickUpGoal,
    PutNearGoal,
    PutNextGoal,
    SquareGoal,
    TakeGoal,
)
from spca.evaluation.proof.missions import Mission
from spca.plugins.loaded import require_loaded


class UnknownRulesError(ValueError):
    """The environment has a rule that this package does not know; the message names the rule."""


_GROUND: Final = {"Wall": Ground.WALL, "Lava": Ground.LAVA, "Goal": Ground.GOAL, "Floor": Ground.FLOOR}
_ITEMS: Final = ("Key", "Ball", "Box")


def open_simulator(level: LevelSpec | str, seed: int, upstream_rules: bool = False) -> Any:
    """Build and reset an environment and return its simulator.

    Unless ``upstream_rules`` is set, apply the corrections of :mod:`spca.act.corrections` to the simulator's rules.

    Raises:
        WorldError: the environment cannot be built or reset.
    """
    spec = LevelSpec(level) if isinstance(level, str) else level
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import gymnasium
    import minigrid  # noqa: F401

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            name = require_loaded(spec.id)
            wrapped: Any = gymnasium.make(name, **spec.kwargs, disable_env_checker=True)
            environment = wrapped.unwrapped
            environment.reset(seed=seed)
        except (Exception, SystemExit) as error:  # boundary: level generators raise errors of many kinds
            raise WorldError(one_line(f"{spec.name}: {type(error).__name__}: {error}")) from error
    if "max_episode_steps" in spec.kwargs:  # else the environment keeps its own limit
        environment.max_steps = min(environment.max_steps, spec.kwargs["max_episode_steps"])
    if not upstream_rules:
        apply_corrections(environment, lambda _: None)
    return environment


def read(simulator: Any, upstream_rules: bool = False) -> tuple[Maze, MazeState, Mission]:
    """Return the maze, the first state and the mission of a simulator that has just been reset.

    Raises:
        UnknownRulesError: an object, the judgement of success or the instruction is of a kind that this package does
            not know.
    """
    if not _minigrid_name(simulator).isidentifier():  # the name has dots if the class is not part of minigrid
        raise UnknownRulesError(f"an environment of the class {_minigrid_name(simulator)}")
    things = _Things(simulator)
    mission = _read_mission(simulator, things, upstream_rules)
    has_goal_square = Ground.GOAL in things.ground
    if has_goal_square and not all(isinstance(goal, SquareGoal) for goal in mission.goals):
        raise UnknownRulesError("a goal square beside another mission")

    maze = things.make_maze(int(simulator.max_steps))
    listed: tuple[int, ...] = ()
    if any(isinstance(goal, GoToGoal) for goal in mission.goals):
        listed = tuple(things.listed)
    held = NOWHERE if simulator.carrying is None else things.number[id(simulator.carrying)]
    cell = things.cell(simulator.agent_pos)
    heading = int(simulator.agent_dir)
    places = tuple(things.places)
    door_states = tuple(things.door_states)
    return maze, MazeState(cell, heading, held, places, door_states, listed, mission.begin), mission


class _Things:
    """Numbers and places of all objects in a simulator's grid.

    Attributes:
        width: number of cells in a row.
        ground: permanent content of each cell.
        items, places: items by number, and their cells or :data:`NOWHERE`.
        listed: places of the items for minigrid's verifier: like ``places``, but a held item has its original cell.
        doors, door_states: doors by number, and their states.
        number: number of an item or a door, by Python's ``id`` of minigrid's object.
        cells: cell of an object, by Python's ``id`` of minigrid's object.
    """

    def __init__(self, simulator: Any) -> None:
        self.width = int(simulator.grid.width)
        self.ground: list[Ground] = []
        self.items: list[Item] = []
        self.places: list[int] = []
        self.doors: list[Door] = []
        self.door_states: list[int] = []
        self.number: dict[int, int] = {}
        self.cells: dict[int, int] = {}
        for cell, thing in enumerate(simulator.grid.grid):
            self.ground.append(self._register_object(thing, cell))
        self.listed = list(self.places)
        if simulator.carrying is not None:
            self._register_item(simulator.carrying, NOWHERE)
            new_items = len(self.places) - len(self.listed)
            self.listed += [NOWHERE] * new_items
            self.listed[self.number[id(simulator.carrying)]] = self.cell(simulator.carrying.init_pos)

    def _register_object(self, thing: Any, cell: int) -> Ground:
        """Record the object in a cell (None for an empty cell), and return the ground of the cell."""
        if thing is None:
            return Ground.FREE
        kind = _minigrid_name(thing)
        self.cells[id(thing)] = cell
        if kind == "Door":
            self.number[id(thing)] = len(self.doors)
            self.doors.append(Door(cell, str(thing.color)))
            closed_state = DoorState.LOCKED if thing.is_locked else DoorState.CLOSED
            self.door_states.append(DoorState.OPEN if thing.is_open else closed_state)
            return Ground.DOOR
        if kind in _ITEMS:
            self._register_item(thing, cell)
            return Ground.FREE
        if kind not in _GROUND:
            raise UnknownRulesError(f"an object of the class {kind}")
        return _GROUND[kind]

    def _register_item(self, thing: Any, place: int) -> int:
        """Record first the item that an item contains, then the item itself, and return the item's number."""
        kind = _minigrid_name(thing)
        if kind not in _ITEMS:
            raise UnknownRulesError(f"a {kind} in a box or in hand")
        inside = NOWHERE
        if thing.contains is not None:
            inside = self._register_item(thing.contains, NOWHERE)
        number = len(self.items)
        self.number[id(thing)] = number
        self.items.append(Item(kind.lower(), str(thing.color), inside))
        self.places.append(place)
        return number

    def make_maze(self, limit: int) -> Maze:
        """Return the maze of the recorded objects; ``limit`` is the step limit."""
        door_at = {door.cell: number for number, door in enumerate(self.doors)}
        return Maze(self.width, tuple(self.ground), tuple(self.items), tuple(self.doors), door_at, limit)

    def split_objects(self, found: Iterable[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the numbers of those objects of minigrid that are items, and the cells of the other objects."""
        items = []
        cells = []
        for thing in found:
            if _minigrid_name(thing) in _ITEMS:
                items.append(self.number[id(thing)])
            else:
                cells.append(self.cells[id(thing)])
        return tuple(items), tuple(cells)

    def find_items(self, kind: str, color: str) -> tuple[int, ...]:
        """Return the numbers of the items of a kind and a color."""
        return tuple(number for number, item in enumerate(self.items) if item.kind == kind and item.color == color)

    def cell(self, position: Any) -> int:
        """Return the number of the cell at minigrid's position (column, row)."""
        column, row = position
        return int(row) * self.width + int(column)


def _minigrid_name(thing: Any) -> str:
    """Return the class name of an object; if the class is not part of minigrid, its module precedes the name."""
    kind = type(thing)
    if kind.__module__.startswith("minigrid."):
        return str(kind.__name__)
    return f"{kind.__module__}.{kind.__name__}"


def _read_mission(simulator: Any, things: _Things, upstream_rules: bool) -> Mission:
    """Return the mission of a simulator; some missions also change ``things``, see :data:`_GOALS`.

    Raises:
        UnknownRulesError: this package does not know the class that decides about success.
    """
    # The class whose ``step`` the simulator inherits decides about success.
    judge = next(kind.__name__ for kind in type(simulator).__mro__ if "step" in vars(kind))
    if judge == "RoomGridLevel":
        return _read_instruction(simulator.instrs, things, upstream_rules)
    if judge not in _GOALS:
        raise UnknownRulesError(f"an environment that judges as {judge}")
    goal = _GOALS[judge](simulator, things)
    return Mission((goal,), ((0,),))


def _memory(simulator: Any, things: _Things) -> Goal:
    """Adapt the grid of a memory environment and return the goal to stand on a goal square.

    Items become walls, because this environment does not let the agent pick them up. The cell that ends the episode
    with success becomes a goal square. The cell that ends the episode with failure becomes lava.
    """
    for place in things.places:
        things.ground[place] = Ground.WALL
    things.items.clear()
    things.places.clear()
    things.ground[things.cell(simulator.success_pos)] = Ground.GOAL
    things.ground[things.cell(simulator.failure_pos)] = Ground.LAVA
    return SquareGoal()


def _beside(simulator: Any, things: _Things) -> Goal:
    """Turn doors into walls and return the goal to carry out ``done`` beside the target.

    In these environments, toggling ends the episode, so that no door is ever opened.
    """
    things.ground = [Ground.WALL if ground == Ground.DOOR else ground for ground in things.ground]
    things.doors.clear()
    things.door_states.clear()
    return BesideGoal(things.cell(simulator.target_pos))


def _put_near(simulator: Any, things: _Things) -> Goal:
    items = things.find_items(simulator.move_type, simulator.moveColor)
    return PutNearGoal(items, things.cell(simulator.target_pos))


def _take(simulator: Any, things: _Things) -> Goal:
    number = things.number.get(id(simulator.obj))
    items = () if number is None else (number,)
    return TakeGoal(items, fetch=False)


def _fetch(simulator: Any, things: _Things) -> Goal:
    return TakeGoal(things.find_items(simulator.targetType, simulator.targetColor), fetch=True)


def _doors_in_order(simulator: Any, things: _Things) -> Goal:
    return InOrderGoal(things.number[id(simulator.red_door)], things.number[id(simulator.blue_door)])


def _unlock(simulator: Any, things: _Things) -> Goal:
    return OpenGoal((things.number[id(simulator.door)],), strict=False)


_GOALS: Final[dict[str, Callable[[Any, _Things], Goal]]] = {
    "MiniGridEnv": lambda simulator, things: SquareGoal(),  # noqa: ARG005
    "BlockedUnlockPickupEnv": _take,
    "FetchEnv": _fetch,
    "GoToDoorEnv": _beside,
    "GoToObjectEnv": _beside,
    "KeyCorridorEnv": _take,
    "MemoryEnv": _memory,
    "ObstructedMazeEnv": _take,
    "PutNearEnv": _put_near,
    "RedBlueDoorEnv": _doors_in_order,
    "UnlockEnv": _unlock,
    "UnlockPickupEnv": _take,
}
"""Functions that return the goal of a simulator, by name of the class that defines the simulator's ``step``.

A function may also adapt the objects of the grid to the rules of this class.
"""


def _read_instruction(instruction: Any, things: _Things, upstream_rules: bool) -> Mission:
    """Return the mission of a BabyAI instruction (``minigrid.envs.babyai.core.verifier``).

    The two parts of a sequence ("before", "after") become groups, in the order in which they must be carried out. A
    conjunction ("and") becomes one group with two goals.

    Raises:
        UnknownRulesError: minigrid judges instructions in an unsupported way.
    """
    from minigrid.envs.babyai.core import verifier

    if verifier.use_done_actions:
        raise UnknownRulesError("instructions that are judged by the action done (BABYAI_DONE_ACTIONS)")
    parts = _split_sequence(instruction)
    if len(parts) > 1 and instruction.strict:
        raise UnknownRulesError("a sequence that is judged strictly")
    goals: list[Goal] = []
    groups = []
    for part in parts:
        leaves = [part.instr_a, part.instr_b] if _minigrid_name(part) == "AndInstr" else [part]
        first = len(goals)
        goals += [_read_goal(leaf, things) for leaf in leaves]
        groups.append(tuple(range(first, len(goals))))
    return Mission(tuple(goals), tuple(groups), forgiving=not upstream_rules)


def _split_sequence(instruction: Any) -> list[Any]:
    """Return the parts of an instruction in the order in which they must be carried out; only a sequence has several
    parts.
    """
    kind = _minigrid_name(instruction)
    if kind == "BeforeInstr":
        return [instruction.instr_a, instruction.instr_b]
    if kind == "AfterInstr":
        return [instruction.instr_b, instruction.instr_a]
    return [instruction]


def _read_goal(instruction: Any, things: _Things) -> Goal:
    """Return the goal of an instruction that is neither a sequence nor a conjunction."""
    kind = _minigrid_name(instruction)
    if kind == "GoToInstr":
        return GoToGoal(*things.split_objects(instruction.desc.obj_set))
    if kind == "OpenInstr":
        doors = tuple(things.number[id(door)] for door in instruction.desc.obj_set)
        return OpenGoal(doors, strict=bool(instruction.strict))
    if kind == "PickupInstr":
        items, _ = things.split_objects(instruction.desc.obj_set)
        return PickUpGoal(items, strict=bool(instruction.strict))
    if kind == "PutNextInstr":
        items, _ = things.split_objects(instruction.desc_move.obj_set)
        other_items, other_cells = things.split_objects(instruction.desc_fixed.obj_set)
        return PutNextGoal(items, other_items, other_cells, strict=bool(instruction.strict))
    raise UnknownRulesError(f"an instruction of the class {kind}")
