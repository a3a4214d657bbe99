"""Schema of a scene's files: the published keys, and the explorer's keys below ``explorer``."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, create_model, model_validator

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, NearWithFacing, Rule

MAX_HOPS: Final = 64
MAX_COMMANDS: Final = 20_000
MAX_WIRES: Final = 256
MAX_CELLS: Final = 256
"""Largest number of cells of one wire."""

Number = Annotated[float, Field(ge=-1_000, le=1_000)]
Point = tuple[Number, Number, Number]
Whole = Annotated[int, Field(ge=-1_000, le=1_000)]
Place = tuple[Whole, Whole, Whole]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]


class Strict(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Lenient(BaseModel):
    """A model that ignores unknown fields, because other programs store more in these files."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class RuleText(Strict):
    """A rule.

    Its parameters are checked later (:data:`PARAMS`), because the rule's type decides which parameters are allowed.
    """

    type: Name
    params: dict[str, JsonValue]


class MilestoneText(Strict):
    """A milestone. A published milestone without rules is one that no program can judge."""

    task: Name
    milestone_id: Name
    description: Text = ""
    rules: Annotated[list[RuleText], Field(max_length=16)]


class MilestonesFile(Strict):
    """``milestones.json``."""

    milestones: Annotated[list[MilestoneText], Field(min_length=1, max_length=MAX_HOPS)]


class NodeText(Lenient):
    """A hop. In published files, a hop is often only a name, which serves as the id."""

    id: Name
    task: Name | None = None
    gate: Name | None = None
    key: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_name(cls, value: object) -> object:
        return {"id": value} if isinstance(value, str) else value


class EdgeText(Strict):
    """An edge of the graph: one hop must come before another hop, for a reason."""

    before: Name = Field(alias="from")
    after: Name = Field(alias="to")
    reason: Text = ""


class GraphFile(Lenient):
    """``reasoning_graph.json``."""

    nodes: Annotated[list[NodeText], Field(min_length=1, max_length=MAX_HOPS)]
    edges: Annotated[list[EdgeText], Field(max_length=MAX_HOPS * MAX_HOPS)] = []


class WireText(Strict):
    """A wire from devices to a door; cells are relative to the spawn."""

    door: Name
    cells: Annotated[list[Place], Field(min_length=1, max_length=MAX_CELLS)]
    needs: Annotated[list[Place], Field(max_length=MAX_CELLS)]
    mode: Literal["all", "any"] = "any"
    holds: Annotated[int, Field(ge=0, le=100_000)] | None = None


class ArenaText(Strict):
    """The lowest and the highest cell of the world, relative to the spawn."""

    min: Place
    max: Place


class Extension(Strict):
    """The explorer's extension: the content that the published format cannot express.

    Attributes:
        knobs, seed, index: arguments with which the scene was generated.
    """

    rules: Literal["1"]
    arena: ArenaText
    wires: Annotated[list[WireText], Field(max_length=MAX_WIRES)] = []
    dark: bool = False
    knobs: dict[str, JsonValue] = {}
    seed: Annotated[int, Field(ge=0)] | None = None
    index: Annotated[int, Field(ge=0)] | None = None


class MetadataFile(Lenient):
    """``metadata.json``. In published scenes, this file may also contain the milestones and the graph."""

    scene_name: Name
    scene_description: Text = ""
    task_text: Annotated[str, Field(min_length=1, max_length=20_000)]
    atomic_tasks_ordered: Annotated[list[Name], Field(max_length=MAX_HOPS)]
    commands: Annotated[list[str], Field(max_length=MAX_COMMANDS)]
    design_notes: JsonValue = ""
    explorer: Extension | None = None
    reasoning_graph: JsonValue = None
    milestones: JsonValue = None


METADATA: Final = TypeAdapter(MetadataFile)
MILESTONES: Final = TypeAdapter(MilestonesFile)
GRAPH: Final = TypeAdapter(GraphFile)

RULES: Final[dict[str, type[Rule]]] = {
    "inventory_has": InventoryHas,
    "position_near_with_facing": NearWithFacing,
    "position_inside_box": InsideBox,
    "count_in_box_at_least": AtLeast,
    "count_in_box_at_most": AtMost,
}
"""Published type of a rule -> class of the rule."""
_FIELDS: Final[dict[str, Any]] = {
    "item": Name,
    "kind": Literal["block", "mob"],
    "object": Name,
    "min": Point,
    "max": Point,
    "target": Point,
    "min_count": Count,
    "max_count": Count,
    "max_distance": Annotated[float, Field(ge=0, le=1_000)],
    "facing_tolerance": Annotated[float, Field(ge=0, le=360)],
}
"""Name of a parameter of rules -> type of the parameter."""


def _make_params_adapter(rule: type[Rule]) -> TypeAdapter[BaseModel]:
    """Return the validator of a rule's parameters: the fields of the rule's class, and the coordinate frame."""
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(rule):
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (_FIELDS[field.name], default)
    if rule is not InventoryHas:
        fields["coordinate_frame"] = (Literal["spawn_relative"], "spawn_relative")
    return TypeAdapter(create_model(rule.__name__, __base__=Strict, **fields))


PARAMS: Final = {name: _make_params_adapter(rule) for name, rule in RULES.items()}
"""Published type of a rule -> validator of the rule's parameters."""
