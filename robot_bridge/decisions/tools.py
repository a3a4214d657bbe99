"""The seven tools of a model: their parameters, their definitions for a provider, and the reading of calls.

A definition is strict in OpenAI's sense: every parameter is required, an optional parameter is nullable, and no other
parameters are allowed. All calls of a model are read and checked here, because many providers do not enforce a schema.
In a call, a nullable parameter may also be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from robot_bridge.contracts import Direction, NavigationDecision, Speed, StopReason, Tool
from robot_bridge.text import harmless

DURATION_S: Final = (1.0, 8.0)
"""Shortest and longest duration of ``move_toward``."""
DISTANCE_M: Final = (0.5, 5.0)
"""Least and greatest distance for ``check_path_clear``."""
MAX_DISTANCE_M: Final = 1000.0
"""Coordinates beyond this are a mistake of the model, not a place in a building."""
_MAX_INTEGER: Final = 10**30
"""Error messages do not quote greater integers, because Python refuses to print thousands of digits."""
LABEL_LENGTH: Final = 60
NOTES_LENGTH: Final = 300


def _whole(value: Any) -> Any:
    """Convert a float such as 90.0 to the integer 90, because JSON has only one type of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(limit: int) -> AfterValidator:
    """Return a validator that makes a text harmless and cuts it to ``limit`` characters; None and "" are unchanged."""
    return AfterValidator(lambda value: value and harmless(value, limit))


class _Parameters(BaseModel):
    """Base of the parameters: unknown names and infinite numbers are errors, and no number is read from a text."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Number = Annotated[float, Field(strict=True)]
_Id = Annotated[int, Field(strict=True, ge=0, le=10**9)]


class MoveToward(_Parameters):
    """Drive in a direction at a speed for a time; the robot steers like a car, so sideways means along an arc."""

    direction: Direction
    speed: Speed
    duration_s: Annotated[float, Field(strict=True, ge=DURATION_S[0], le=DURATION_S[1])]


class NavigateToGoal(_Parameters):
    """Let the path planner drive to a listed frontier, to map coordinates in metres, or back to the start (retrace)."""

    goal_type: Literal["frontier", "coordinates", "retrace"]
    frontier_id: Annotated[_Id | None, BeforeValidator(_whole)] = None
    x: Annotated[_Number, Field(ge=-MAX_DISTANCE_M, le=MAX_DISTANCE_M)] | None = None
    y: Annotated[_Number, Field(ge=-MAX_DISTANCE_M, le=MAX_DISTANCE_M)] | None = None
    reason: Annotated[str | None, _text(NOTES_LENGTH)] = None

    @model_validator(mode="after")
    def _goal_is_given(self) -> NavigateToGoal:
        if self.goal_type == "coordinates" and (self.x is None or self.y is None):
            raise ValueError("goal_type coordinates needs numbers for x and y, not null")
        if self.goal_type == "frontier" and self.frontier_id is None:
            raise ValueError("goal_type frontier needs the id of a listed frontier in frontier_id, not null")
        return self


class Rotate(_Parameters):
    """Turn by degrees, positive to the left; done by arcs and small back-and-forth turns."""

    degrees: Annotated[Literal[-180, -135, -90, -45, 45, 90, 135, 180], BeforeValidator(_whole)]


class StopRobot(_Parameters):
    """Stand still; exploration_complete ends the exploration."""

    reason: StopReason


class ObserveScene(_Parameters):
    """Stand still and have the camera image described in detail; the description comes with the next message."""

    focus: Literal["general", "doorways", "obstacles", "objects", "floor_surface"]


class CheckPathClear(_Parameters):
    """Ask the LiDAR whether the robot fits through in a direction; the answer comes with the next message."""

    direction: Direction
    distance_m: Annotated[float, Field(strict=True, ge=DISTANCE_M[0], le=DISTANCE_M[1])]


class ReportDiscovery(_Parameters):
    """Announce and remember a finding; significance room starts a new room named label."""

    label: Annotated[str, _text(LABEL_LENGTH)]
    notes: Annotated[str | None, _text(NOTES_LENGTH)] = None
    significance: Literal["landmark", "room", "obstacle", "point_of_interest"]

    @model_validator(mode="after")
    def _label_is_given(self) -> ReportDiscovery:
        if not self.label:
            raise ValueError("label must not be empty")
        return self


Parameters = MoveToward | NavigateToGoal | Rotate | StopRobot | ObserveScene | CheckPathClear | ReportDiscovery

PARAMETERS: Final[Mapping[Tool, type[Parameters]]] = {
    Tool.MOVE_TOWARD: MoveToward,
    Tool.NAVIGATE_TO_GOAL: NavigateToGoal,
    Tool.ROTATE: Rotate,
    Tool.STOP_ROBOT: StopRobot,
    Tool.OBSERVE_SCENE: ObserveScene,
    Tool.CHECK_PATH_CLEAR: CheckPathClear,
    Tool.REPORT_DISCOVERY: ReportDiscovery,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusal of an invalid call; ``reason`` is a line for the model."""

    reason: str


def read(decision: NavigationDecision) -> Parameters | Refusal:
    """Return the checked parameters of a decision, or a refusal if the decision is invalid."""
    name = decision.tool_name
    if name not in TOOL_NAMES:
        return Refusal(f'unknown tool "{harmless(name, 40)}": call one of {", ".join(TOOL_NAMES)}')
    try:
        return PARAMETERS[Tool(name)].model_validate(dict(decision.parameters))
    except ValidationError as error:
        return Refusal(_summarise_errors(name, error))
    except (TypeError, ValueError):
        return Refusal(f"{name}: the arguments must be a JSON object")


def _summarise_errors(name: str, error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=True)[:3]
    lines = dict.fromkeys(_format_fault(fault) for fault in faults)
    return f"{name}: {'; '.join(lines)}"


def _format_fault(fault: Mapping[str, Any]) -> str:
    """Return a fault that pydantic found in a call as a short text for the model."""
    where = harmless(fault["loc"][0], 40) if fault["loc"] else ""
    if fault["type"] == "missing":
        return f"{where} is missing"
    if fault["type"] == "extra_forbidden":
        return f"{where} is no parameter of it"
    message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if where:
        message = f"{where} {message}, not {_quote(fault['input'])}"
    return harmless(message, 200)


def _quote(value: object) -> str:
    """Return an invalid value as harmless text: a text in quotes, a number, or the name of the type."""
    if isinstance(value, str):
        return f'"{harmless(value, 40)}"'
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        return "so great a number"
    if value is None:
        return "null"
    return harmless(value if isinstance(value, int | float) else type(value).__name__, 40)


def _definition(tool: Tool) -> dict[str, Any]:
    """Return the tool as a function definition for OpenAI's Chat Completions API."""
    model = PARAMETERS[tool]
    schema = model.model_json_schema()
    shared = schema.get("$defs", {})
    properties = {name: _property(field_schema, shared) for name, field_schema in schema["properties"].items()}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    description = " ".join((model.__doc__ or "").split())
    function = {"name": tool.value, "description": description, "strict": True, "parameters": parameters}
    return {"type": "function", "function": function}


def _property(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter in the form that strict mode requires.

    A reference to a definition in ``shared`` is replaced by the definition. A nullable parameter gets a list of two
    types.
    """
    if "$ref" in schema:
        schema = shared[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        value = next(option for option in schema["anyOf"] if option["type"] != "null")
        return {"type": [value["type"], "null"]}
    return {key: schema[key] for key in ("type", "enum", "minimum", "maximum") if key in schema}


TOOL_NAMES: Final[tuple[str, ...]] = tuple(tool.value for tool in Tool)

TOOL_DEFINITIONS: Final[tuple[dict[str, Any], ...]] = tuple(map(_definition, Tool))
"""Definitions in the order of :class:`Tool`, for the field ``tools`` of a Chat Completions request."""
