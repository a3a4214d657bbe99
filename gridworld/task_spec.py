"""The task of a gridworld: maze, mechanisms, rules and goal, as dataclasses and as a JSON file.

:class:`TaskSpecification` is the one form of a task everywhere. Its types are the format of the file: strict reading
(:mod:`gridworld.reading`), the checks of what a task means (:mod:`gridworld.validation`) and the JSON Schema
(:mod:`gridworld.schema`) are derived from them. Cells are ``(x, y)``: column and row, origin top-left.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from gridworld.errors import TaskError
from gridworld.jsonfile import JsonObject, read_json, write_json
from gridworld.reading import read, shown, write

Color: TypeAlias = Literal["red", "green", "blue", "purple", "yellow", "grey"]
DoorState: TypeAlias = Literal["locked", "open"]
GateState: TypeAlias = Literal["closed", "open"]
SwitchState: TypeAlias = Literal["off", "on"]
SwitchType: TypeAlias = Literal["toggle", "hold", "one_shot"]
HazardType: TypeAlias = Literal["lava", "pit", "spike"]
Observability: TypeAlias = Literal["full", "view_cone", "fog_of_war"]
GoalType: TypeAlias = Literal["reach_position", "collect_all", "push_block_to", "survive_steps"]

_T = TypeVar("_T")
_GREY = {"also": {"gray": "grey"}}


class _Record:
    """A part of a task that can be read from JSON data."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read strictly.

        Raises:
            TaskError: with every missing, mistyped or unknown field.
        """
        return read(cls, data)


@dataclass
class Position(_Record):
    """A cell: column and row. In JSON ``[x, y]`` or ``{"x": x, "y": y}``."""

    as_list: ClassVar[bool] = True

    x: int
    y: int

    def to_tuple(self) -> tuple[int, int]:
        return (self.x, self.y)

    @classmethod
    def from_list(cls, coords: list[int] | tuple[int, int]) -> Self:
        """Read ``[x, y]``.

        Raises:
            TaskError: it is not a list of two integers.
        """
        return read(cls, coords)


@dataclass
class KeySpec(_Record):
    """A key that opens doors of its colour."""

    id: str
    position: Position
    color: Color = field(metadata=_GREY)


@dataclass
class DoorSpec(_Record):
    """A door; ``requires_key`` is the colour of the keys that open it."""

    id: str
    position: Position
    requires_key: Color = field(metadata=_GREY)
    initial_state: DoorState = "locked"


@dataclass
class SwitchSpec(_Record):
    """A switch that controls gates; without a type of its own it has that of the rules."""

    id: str
    position: Position
    controls: list[str]
    color: Color = field(default="yellow", metadata=_GREY)
    switch_type: SwitchType | None = None
    initial_state: SwitchState = "off"


@dataclass
class GateSpec(_Record):
    """A gate: open if it was open initially or a switch that controls it is active."""

    id: str
    position: Position
    initial_state: GateState = "closed"
    color: Color = field(default="grey", metadata=_GREY)


@dataclass
class BlockSpec(_Record):
    """A block that can be pushed, or cannot."""

    id: str
    position: Position
    pushable: bool = True
    color: Color = field(default="grey", metadata=_GREY)


@dataclass
class TeleporterSpec(_Record):
    """Two linked cells; ``position_b`` is an entrance only if ``bidirectional``."""

    id: str
    position_a: Position
    position_b: Position
    bidirectional: bool = True


@dataclass
class HazardSpec(_Record):
    """A cell that ends the episode."""

    id: str
    position: Position
    hazard_type: HazardType = "lava"


@dataclass
class MazeLayout(_Record):
    """The grid: ``dimensions`` are columns and rows.

    The border is wall in any case. ``floor`` None: every other cell that is not in ``walls`` is floor. Otherwise the
    inner cells that are not in ``floor`` are walls too (:meth:`wall_cells` tells both).
    """

    dimensions: tuple[int, int]
    walls: list[Position] = field(metadata={"absent": list})
    start: Position
    goal: Position
    floor: list[Position] | None = None

    def __post_init__(self) -> None:
        self.dimensions = (self.dimensions[0], self.dimensions[1])
        self.floor = self.floor or None

    def wall_cells(self) -> frozenset[tuple[int, int]]:
        """Every inner cell that is a wall, before doors and gates take the places of theirs; without the border."""
        width, height = self.dimensions
        walls = {cell.to_tuple() for cell in self.walls}
        if self.floor is not None:
            inner = {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}
            walls |= inner - {cell.to_tuple() for cell in self.floor}
        return frozenset((x, y) for x, y in walls if 0 < x < width - 1 and 0 < y < height - 1)


@dataclass
class MechanismSet(_Record):
    """Everything that stands in the maze."""

    keys: list[KeySpec] = field(default_factory=list)
    doors: list[DoorSpec] = field(default_factory=list)
    switches: list[SwitchSpec] = field(default_factory=list)
    gates: list[GateSpec] = field(default_factory=list)
    blocks: list[BlockSpec] = field(default_factory=list)
    teleporters: list[TeleporterSpec] = field(default_factory=list)
    hazards: list[HazardSpec] = field(default_factory=list)


@dataclass
class Rules(_Record):
    """How mechanisms behave and what the agent sees; ``view_size`` in cells, odd, at least 3."""

    key_consumption: bool = True
    switch_type: SwitchType = "toggle"
    hidden_mechanisms: list[str] = field(default_factory=list)
    observability: Observability = "full"
    view_size: int = 7


@dataclass
class GoalSpec(_Record):
    """When the task is solved; the conditions are written as in :mod:`gridworld.conditions`."""

    goal_type: GoalType = field(default="reach_position", metadata={"keys": ("type", "goal_type")})
    target: Position | None = None
    target_ids: list[str] = field(default_factory=list)
    target_positions: list[Position] = field(default_factory=list)
    auxiliary_conditions: list[str] = field(default_factory=list)


@dataclass
class DependencyStep(_Record):
    """One link of a dependency chain: ``element`` makes ``unlocks`` possible."""

    step: int
    type: str
    element: str
    unlocks: str


@dataclass
class DependencyChain(_Record):
    """The order in which mechanisms depend on each other."""

    depth: int
    sequence: list[DependencyStep] = field(default_factory=list)
    notation: str = ""


@dataclass
class Distractor(_Record):
    """A thing that leads astray; ``element_id`` of type ``distractor_chain`` names a group, else a mechanism."""

    type: str
    element_id: str
    description: str = ""


@dataclass
class TaskSpecification(_Record):
    """A complete task."""

    task_id: str
    seed: int
    difficulty_tier: int
    maze: MazeLayout
    goal: GoalSpec
    max_steps: int
    mechanisms: MechanismSet = field(default_factory=MechanismSet)
    rules: Rules = field(default_factory=Rules)
    dependency_chain: DependencyChain | None = None
    distractors: list[Distractor] | None = None
    metadata: dict[str, Any] | None = None
    version: str = "1.0"
    description: str = ""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read strictly; also with everything under "TaskSpecification", or the maze under ``maze.layout``.

        Raises:
            TaskError: with every missing, mistyped or unknown field.
        """
        return _read_task(cls, data, "")

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file.

        Raises:
            TaskError: the file cannot be read or is not a task; names the file.
        """
        return _read_task(cls, read_json(path), os.fspath(path))

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`from_dict` reads; fields that are None are left out."""
        return write(self)  # type: ignore[no-any-return]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write a file, whole or not at all.

        Raises:
            TaskError: it cannot be written.
        """
        write_json(path, self.to_dict())

    def validate(self) -> tuple[bool, list[str]]:
        """Whether the task makes sense, and everything that does not, each "field: reason"."""
        from gridworld.validation import validate

        problems = validate(self)
        return not problems, problems

    def get_mission_text(self) -> str:
        """The task in words."""
        return self.description or self.goal.goal_type


def _read_task(cls: type[_T], data: Any, source: str) -> _T:
    """Read a task in any of the three forms of its file."""
    moved: dict[str, str] = {}
    if isinstance(data, Mapping) and "TaskSpecification" in data:
        _alone(data, source)
        data = data["TaskSpecification"]
    if isinstance(data, Mapping) and isinstance(data.get("maze"), Mapping):
        data = _flat(data, moved)
    return read(cls, data, source, moved)


def _alone(data: Mapping[str, Any], source: str) -> None:
    """Nothing stands beside a wrapped task, and it is wrapped once."""
    others = [key for key in data if key != "TaskSpecification"]
    if others:
        raise TaskError(f"{shown(others[0])} stands beside TaskSpecification; put it inside", source)
    if getattr(data, "repeated", ()):
        raise TaskError("TaskSpecification: is given more than once", source)


def _flat(data: Mapping[str, Any], moved: dict[str, str]) -> Mapping[str, Any]:
    """The task with the contents of ``maze.layout`` in ``maze``, and ``maze.mechanisms`` at the top.

    What is given in both places stays where it is, and is refused there as unknown.
    """
    maze, task = JsonObject(data["maze"]), JsonObject(data)
    maze.repeated, task.repeated = getattr(data["maze"], "repeated", ()), getattr(data, "repeated", ())
    layout = maze.get("layout")
    if isinstance(layout, Mapping) and not maze.keys() & layout.keys() and not getattr(layout, "repeated", ()):
        del maze["layout"]
        maze.update(layout)
        moved.update({f"maze.{key}": f"maze.layout.{key}" for key in layout})
    if "mechanisms" in maze and "mechanisms" not in task:
        task["mechanisms"] = maze.pop("mechanisms")
        moved["mechanisms"] = "maze.mechanisms"
    task["maze"] = maze
    return task
