"""A level as minigrid's simulator holds it, with the whole grid, and what a search needs of it."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

from spca.act.corrections import correct
from spca.common.text import one_line
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


class UnknownRulesError(ValueError):
    """The rules of an environment are not known here; the message says which."""


_GROUND: Final = {"Wall": Ground.WALL, "Lava": Ground.LAVA, "Goal": Ground.GOAL, "Floor": Ground.FLOOR}
_ITEMS: Final = ("Key", "Ball", "Box")


def open_simulator(env_id: str, seed: int, upstream_rules: bool = False) -> Any:
    """Build and reset an environment and return its simulator, which judges as :mod:`spca.act.corrections` says.

    Raises:
        WorldError: minigrid or the environment cannot build or reset it.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import gymnasium
    import minigrid  # noqa: F401

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            environment: Any = gymnasium.make(env_id, disable_env_checker=True).unwrapped
            environment.reset(seed=seed)
        except (Exception, SystemExit) as error:  # boundary: level generators raise errors of many kinds
            raise WorldError(one_line(f"{env_id}: {type(error).__name__}: {error}")) from error
    if not upstream_rules:
        correct(environment, lambda _: None)
    return environment


def read(simulator: Any, upstream_rules: bool = False) -> tuple[Maze, MazeState, Mission]:
    """Return what a search needs of a simulator that has just been reset.

    Raises:
        UnknownRulesError: it has objects, a judgement or an instruction that are not those of minigrid.
    """
    if not _minigrid_name(simulator).isidentifier():
        raise UnknownRulesError(f"an environment of the class {_minigrid_name(simulator)}")
    things = _Things(simulator)
    mission = _mission(simulator, things, upstream_rules)
    if Ground.GOAL in things.ground and not all(isinstance(goal, SquareGoal) for goal in mission.goals):
        raise UnknownRulesError("a goal square beside another mission")
    maze = Maze(
        int(simulator.grid.width),
        tuple(things.ground),
        tuple(things.items),
        tuple(things.doors),
        {door.cell: number for number, door in enumerate(things.doors)},
        int(simulator.max_steps),
    )
    places = tuple(things.places)
    listed = tuple(things.listed) if any(isinstance(goal, GoToGoal) for goal in mission.goals) else ()
    column, row = simulator.agent_pos
    held = NOWHERE if simulator.carrying is None else things.number[id(simulator.carrying)]
    cell = int(row) * maze.width + int(column)
    heading = int(simulator.agent_dir)
    return maze, MazeState(cell, heading, held, places, tuple(things.door_states), listed, mission.begin), mission


class _Things:
    """Everything in the grid by number; ``number`` by identity, for items and doors."""

    def __init__(self, simulator: Any) -> None:
        self.width = int(simulator.grid.width)
        self.ground: list[Ground] = []
        self.items: list[Item] = []
        self.places: list[int] = []
        self.doors: list[Door] = []
        self.door_states: list[int] = []
        self.number: dict[int, int] = {}
        self.cells: dict[int, int] = {}
        for cell, found in enumerate(simulator.grid.grid):
            self.ground.append(self._register_object(found, cell))
        self.listed = list(self.places)
        if simulator.carrying is not None:
            self._item(simulator.carrying, NOWHERE)
            column, row = simulator.carrying.init_pos
            self.listed += [NOWHERE] * (len(self.places) - len(self.listed))
            self.listed[self.number[id(simulator.carrying)]] = int(row) * self.width + int(column)

    def _register_object(self, found: Any, cell: int) -> Ground:
        if found is None:
            return Ground.FREE
        kind = _minigrid_name(found)
        self.cells[id(found)] = cell
        if kind == "Door":
            self.number[id(found)] = len(self.doors)
            self.doors.append(Door(cell, str(found.color)))
            locked = DoorState.LOCKED if found.is_locked else DoorState.CLOSED
            self.door_states.append(DoorState.OPEN if found.is_open else locked)
            return Ground.DOOR
        if kind in _ITEMS:
            self._item(found, cell)
            return Ground.FREE
        if kind not in _GROUND:
            raise UnknownRulesError(f"an object of the class {kind}")
        return _GROUND[kind]

    def _item(self, found: Any, place: int) -> int:
        kind = _minigrid_name(found)
        if kind not in _ITEMS:
            raise UnknownRulesError(f"a {kind} in a box or in hand")
        inside = NOWHERE if found.contains is None else self._item(found.contains, NOWHERE)
        self.number[id(found)] = len(self.items)
        self.items.append(Item(kind.lower(), str(found.color), inside))
        self.places.append(place)
        return self.number[id(found)]

    def split_objects(self, found: Iterable[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Numbers of the items and cells of the rest, of objects of the grid."""
        found = list(found)
        items = [self.number[id(each)] for each in found if _minigrid_name(each) in _ITEMS]
        return tuple(items), tuple(self.cells[id(each)] for each in found if _minigrid_name(each) not in _ITEMS)

    def find_items(self, kind: str, color: str) -> tuple[int, ...]:
        """Numbers of the items of a kind and color."""
        return tuple(n for n, item in enumerate(self.items) if (item.kind, item.color) == (kind, color))

    def cell(self, position: Any) -> int:
        column, row = position
        return int(row) * self.width + int(column)


def _minigrid_name(thing: Any) -> str:
    """Return the name of a class of minigrid, with its module where it is another's."""
    kind = type(thing)
    own = kind.__module__.startswith("minigrid.")
    return str(kind.__name__ if own else f"{kind.__module__}.{kind.__name__}")


def _mission(simulator: Any, things: _Things, upstream_rules: bool) -> Mission:
    judge = next(kind.__name__ for kind in type(simulator).__mro__ if "step" in vars(kind))
    if judge == "RoomGridLevel":
        return _read_instruction(simulator.instrs, things, upstream_rules)
    if judge not in _GOALS:
        raise UnknownRulesError(f"an environment that judges as {judge}")
    return Mission((_GOALS[judge](simulator, things),), ((0,),))


def _memory(simulator: Any, things: _Things) -> Goal:
    """Nothing can be picked up; two cells end the episode."""
    for place in things.places:
        things.ground[place] = Ground.WALL
    things.items.clear()
    things.places.clear()
    things.ground[things.cell(simulator.success_pos)] = Ground.GOAL
    things.ground[things.cell(simulator.failure_pos)] = Ground.LAVA
    return SquareGoal()


def _beside(simulator: Any, things: _Things) -> Goal:
    """Toggling ends the episode, so that no door is ever opened."""
    things.ground = [Ground.WALL if ground == Ground.DOOR else ground for ground in things.ground]
    things.doors.clear()
    things.door_states.clear()
    return BesideGoal(things.cell(simulator.target_pos))


def _put_near(simulator: Any, things: _Things) -> Goal:
    return PutNearGoal(things.find_items(simulator.move_type, simulator.moveColor), things.cell(simulator.target_pos))


def _take(simulator: Any, things: _Things) -> Goal:
    number = things.number.get(id(simulator.obj))
    return TakeGoal(() if number is None else (number,), fetch=False)


def _doors_in_order(simulator: Any, things: _Things) -> Goal:
    return InOrderGoal(things.number[id(simulator.red_door)], things.number[id(simulator.blue_door)])


def _unlock(simulator: Any, things: _Things) -> Goal:
    return OpenGoal((things.number[id(simulator.door)],), strict=False)


_GOALS: Final[dict[str, Callable[[Any, _Things], Goal]]] = {
    "MiniGridEnv": lambda simulator, things: SquareGoal(),  # noqa: ARG005
    "BlockedUnlockPickupEnv": _take,
    "FetchEnv": lambda simulator, things: TakeGoal(
        things.find_items(simulator.targetType, simulator.targetColor), fetch=True
    ),
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
"""Class that defines ``step`` -> its goal."""


def _read_instruction(instruction: Any, things: _Things, upstream_rules: bool) -> Mission:
    """Return the mission of a BabyAI instruction (``minigrid.envs.babyai.core.verifier``)."""
    from minigrid.envs.babyai.core import verifier

    if verifier.use_done_actions:
        raise UnknownRulesError("instructions that are judged by the action done (BABYAI_DONE_ACTIONS)")
    parts = {"BeforeInstr": ("instr_a", "instr_b"), "AfterInstr": ("instr_b", "instr_a")}.get(
        _minigrid_name(instruction), ()
    )
    if parts and instruction.strict:
        raise UnknownRulesError("a sequence that is judged strictly")
    goals: list[Goal] = []
    groups = []
    for part in [getattr(instruction, name) for name in parts] or [instruction]:
        leaves = [part.instr_a, part.instr_b] if _minigrid_name(part) == "AndInstr" else [part]
        groups.append(tuple(range(len(goals), len(goals) + len(leaves))))
        goals += [_goal(leaf, things) for leaf in leaves]
    return Mission(tuple(goals), tuple(groups), forgiving=not upstream_rules)


def _goal(instruction: Any, things: _Things) -> Goal:
    kind = _minigrid_name(instruction)
    if kind == "GoToInstr":
        return GoToGoal(*things.split_objects(instruction.desc.obj_set))
    if kind == "OpenInstr":
        doors = tuple(things.number[id(door)] for door in instruction.desc.obj_set)
        return OpenGoal(doors, strict=bool(instruction.strict))
    if kind == "PickupInstr":
        return PickUpGoal(things.split_objects(instruction.desc.obj_set)[0], strict=bool(instruction.strict))
    if kind == "PutNextInstr":
        lifted, _ = things.split_objects(instruction.desc_move.obj_set)
        return PutNextGoal(
            lifted, *things.split_objects(instruction.desc_fixed.obj_set), strict=bool(instruction.strict)
        )
    raise UnknownRulesError(f"an instruction of the class {kind}")
