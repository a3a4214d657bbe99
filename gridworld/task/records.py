"""The fields of a task: maze, mechanisms, rules and goal, as dataclasses whose types define the file format.

Cells are ``(x, y)``: column and row, from 0, origin top-left. The first paragraph of a class docstring becomes the
description in the JSON Schema (:mod:`gridworld.task.schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast

from gridworld.task.reading import noting, read

Color: TypeAlias = Literal["red", "green", "blue", "purple", "yellow", "grey"]
DoorState: TypeAlias = Literal["locked", "open"]
GateState: TypeAlias = Literal["closed", "open"]
SwitchState: TypeAlias = Literal["off", "on"]
SwitchType: TypeAlias = Literal["toggle", "hold", "one_shot"]
HazardType: TypeAlias = Literal["lava", "pit", "spike"]
Observability: TypeAlias = Literal["full", "view_cone", "fog_of_war"]
GoalType: TypeAlias = Literal["reach_position", "collect_all", "push_block_to", "survive_steps"]

_GREY = {"also": {"gray": "grey"}}
_PAINT = {**_GREY, "instead": dict.fromkeys(("black", "white", "orange", "cyan"), "grey")}
"""Replaces by grey the colours of Multinet-v2 that MiniGrid lacks; Multinet-v2 itself draws them grey on MiniGrid."""


class _Record:
    """A part of a task that can be read from JSON data."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False, warnings: list[str] | None = None) -> Self:
        """Return the part from JSON data.

        Args:
            strict: whether an unknown field is an error; otherwise unknown fields are ignored.
            warnings: list that gets a line for each ignored field. If None, all these lines become one
                :class:`~gridworld.errors.TaskWarning`.

        Raises:
            TaskError: fields are missing or mistyped; the error lists every one of these fields.
        """
        return noting(lambda notes: read(cls, data, "", notes), "", strict=strict, notes=warnings)


class _Colored(_Record):
    """A part with a colour."""

    def __post_init__(self) -> None:
        """Replace the spelling "gray" by "grey"."""
        for name in ("color", "requires_key"):
            if getattr(self, name, None) == "gray":
                setattr(self, name, "grey")


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
            TaskError: the value is not a list of two integers.
        """
        return read(cls, coords)


@dataclass
class KeySpec(_Colored):
    """A key that opens doors of its colour."""

    id: str
    position: Position
    color: Color = field(metadata=_GREY)


@dataclass
class DoorSpec(_Colored):
    """A door; ``requires_key`` is the colour of the keys that open it."""

    id: str
    position: Position
    requires_key: Color = field(metadata=_GREY)
    initial_state: DoorState = "locked"


@dataclass
class SwitchSpec(_Colored):
    """A switch that controls gates; without a type of its own it has that of the rules."""

    id: str
    position: Position
    controls: list[str]
    color: Color = field(default="yellow", metadata=_PAINT)
    switch_type: SwitchType | None = None
    initial_state: SwitchState = "off"


@dataclass
class GateSpec(_Colored):
    """A gate: open if it was open initially or a switch that controls it is active."""

    id: str
    position: Position
    initial_state: GateState = "closed"
    color: Color = field(default="grey", metadata=_PAINT)


@dataclass
class BlockSpec(_Colored):
    """A block that can be pushed, or cannot."""

    id: str
    position: Position
    pushable: bool = True
    color: Color = field(default="grey", metadata=_PAINT)


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

    The cells of the border are always walls, and so are the cells of ``walls``. If ``floor`` is None, all other cells
    are floor. If ``floor`` is a list, every inner cell that is not in ``floor`` is a wall too.
    """

    dimensions: tuple[int, int] = field(metadata={"bounds": (3, 128)})
    walls: list[Position] = field(metadata={"absent": list})
    start: Position
    goal: Position
    floor: list[Position] | None = None

    def __post_init__(self) -> None:
        self.dimensions = cast("tuple[int, int]", tuple(self.dimensions))
        self.floor = self.floor or None

    def wall_cells(self) -> frozenset[tuple[int, int]]:
        """Return all inner wall cells, without the border.

        The cells include walls that a door or gate replaces.
        """
        width, height = self.dimensions
        columns = range(1, width - 1)
        rows = range(1, height - 1)
        walls = {cell.to_tuple() for cell in self.walls}
        if self.floor is not None:
            inner = {(x, y) for x in columns for y in rows}
            walls |= inner - {cell.to_tuple() for cell in self.floor}
        return frozenset((x, y) for x, y in walls if x in columns and y in rows)


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
    view_size: int = field(default=7, metadata={"bounds": (3, 257)})


@dataclass
class GoalSpec(_Record):
    """When the task is solved.

    The conditions are written as in :mod:`gridworld.task.conditions`.
    """

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
class Task(_Record):
    """The fields of a complete task; :class:`~gridworld.task_spec.TaskSpecification` adds its methods."""

    task_id: str
    seed: int
    difficulty_tier: int = field(metadata={"bounds": (1, None)})
    maze: MazeLayout
    goal: GoalSpec
    max_steps: int = field(metadata={"bounds": (1, 100_000)})
    mechanisms: MechanismSet = field(default_factory=MechanismSet)
    rules: Rules = field(default_factory=Rules)
    dependency_chain: DependencyChain | None = None
    distractors: list[Distractor] | None = None
    metadata: dict[str, Any] | None = None
    version: str = "1.0"
    description: str = ""
