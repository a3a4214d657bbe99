"""The state that an exploration remembers, and its YAML file: written atomically, untrusted until checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from robot_bridge.contracts import Pose
from robot_bridge.errors import SetupError
from robot_bridge.text import harmless
from spca.common.errors import FileError
from spca.common.files import read_bytes, replace_file

START: Final = "start"
_LARGEST: Final = 1 << 20
"""Largest file in bytes; real ones have a few thousand."""

_Text = Annotated[str, Field(max_length=200), AfterValidator(lambda text: harmless(text, 60))]
_Words = Annotated[str, Field(max_length=2000), AfterValidator(lambda text: harmless(text, 600))]
_Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
_Place = Annotated[list[_Metres], Field(min_length=2, max_length=2)]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Degrees = Annotated[int, Field(ge=-360, le=360)]


def _start_room() -> dict[str, Any]:
    return new_room(START, "", Pose())


def new_room(name: str, entered_from: str, position: Pose) -> dict[str, Any]:
    """Return a room as it is when first entered."""
    return {
        "name": name,
        "explored_pct": 0,
        "objects": [],
        "entered_from": entered_from,
        "position": place_of(position),
        "frontiers_found": 0,
    }


@dataclass
class ExplorationState:
    """Everything remembered, in types that YAML supports. Positions are [x, y] in metres, in the map frame.

    - ``rooms``: ``name``, ``explored_pct`` (share of the frontiers ever nearest to it that are gone), ``objects``,
      ``entered_from``, ``position`` where it was entered, ``frontiers_found``
    - ``dead_ends``: ``direction_deg`` (counter-clockwise from east), ``reason``, ``position``
    - ``unseen``: places of obstacles that the robot ran into and its lidar does not see
    - ``frontiers``: ``id``, ``direction_deg`` (counter-clockwise from ahead), ``distance_m``, ``type``, ``width_m``,
      ``position``, as they were at the last update; ``frontiers_known`` is False before the first
    - ``findings``: notes on places, oldest first: ``kind`` (``view`` for a description of a picture, else the
      significance of a discovery), ``name`` (what was looked for, or the label), ``text``, ``position``
    - ``recent_actions``: the last five, oldest first: ``action``, ``params``, ``result``, ``position``
    - ``exploration_duration_s``: total of all explorations, as reported by the explorer
    """

    rooms: list[dict[str, Any]] = field(default_factory=lambda: [_start_room()])
    current_room: str = START
    dead_ends: list[dict[str, Any]] = field(default_factory=list)
    frontiers: list[dict[str, Any]] = field(default_factory=list)
    recent_actions: list[dict[str, Any]] = field(default_factory=list)
    total_discoveries: int = 0
    exploration_duration_s: float = 0.0
    frontiers_known: bool = False
    unseen: list[list[float]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)


def place_of(position: Pose) -> list[float]:
    """Return the position of a pose in the form in which it is remembered."""
    return [round(float(position.x), 2), round(float(position.y), 2)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Room(_Entry):
    name: _Text
    explored_pct: Annotated[int, Field(ge=0, le=100)]
    objects: Annotated[list[_Text], Field(max_length=100)]
    entered_from: _Text
    position: _Place
    frontiers_found: _Count


class _DeadEnd(_Entry):
    direction_deg: _Degrees
    reason: _Text
    position: _Place


class _Frontier(_Entry):
    id: _Count
    direction_deg: _Degrees
    distance_m: _Metres
    type: _Text
    width_m: _Metres
    position: _Place


class _Finding(_Entry):
    kind: _Text
    name: _Text
    text: _Words
    position: _Place


class _Result(_Entry):
    success: bool
    actual_distance_m: _Metres
    turned_deg: Annotated[int, Field(ge=-(10**6), le=10**6)]
    stopped_reason: _Text
    clear: bool | None = None
    free_m: _Metres | None = None


class _Action(_Entry):
    action: _Text
    params: Annotated[dict[_Text, bool | int | float | _Text], Field(max_length=8)]
    result: _Result
    position: _Place


class _State(_Entry):
    rooms: Annotated[list[_Room], Field(min_length=1, max_length=1000)]
    current_room: _Text
    dead_ends: Annotated[list[_DeadEnd], Field(max_length=1000)]
    frontiers: Annotated[list[_Frontier], Field(max_length=10_000)]
    findings: Annotated[list[_Finding], Field(max_length=1000)] = []
    recent_actions: Annotated[list[_Action], Field(max_length=5)]
    total_discoveries: _Count
    exploration_duration_s: Annotated[float, Field(ge=0)]
    frontiers_known: bool
    unseen: Annotated[list[_Place], Field(max_length=1000)] = []


def write_state(path: Path, state: ExplorationState) -> None:
    """Replace the file (atomic write): a reader or a crash sees the old text or the new one.

    Raises:
        SetupError: the file cannot be written.
    """
    import yaml

    text = yaml.safe_dump(asdict(state), allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise SetupError(f"{path}: the exploration memory cannot be written: {error.strerror}") from error


def read_state(path: Path) -> dict[str, Any]:
    """Return the checked fields of an ``ExplorationState``.

    Raises:
        SetupError: one line that names the file and the fault.
    """
    import yaml

    try:
        data = read_bytes(path, _LARGEST)
        return _State.model_validate(yaml.safe_load(data)).model_dump(exclude_none=True)
    except FileError as error:
        raise SetupError(str(error)) from error
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        raise SetupError(
            f"{path}: no exploration memory: {harmless(where, 80)}: {harmless(fault['msg'], 120)}"
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SetupError(f"{path}: no exploration memory: {harmless(error, 160)}") from error
