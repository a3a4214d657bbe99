"""The state that an exploration remembers, and the YAML file of the state.

The file is written atomically. When the file is read, its content is untrusted and is checked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import yaml
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from robot_bridge.contracts import Pose
from robot_bridge.errors import SetupError
from robot_bridge.text import harmless
from spca.common.errors import FileError
from spca.common.files import read_bytes, replace_file

START: Final = "start"
_MAX_BYTES: Final = 1 << 20
"""Largest accepted file, in bytes; a real file has a few thousand bytes."""

_Text = Annotated[str, Field(max_length=200), AfterValidator(lambda text: harmless(text, 60))]
_Words = Annotated[str, Field(max_length=2000), AfterValidator(lambda text: harmless(text, 600))]
_Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
_Place = Annotated[list[_Metres], Field(min_length=2, max_length=2)]
"""[x, y] in the map frame."""
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Degrees = Annotated[int, Field(ge=-360, le=360)]


class _Entry:
    """Base of the entries in the file, which may have no unknown fields, no infinite numbers and no NaN."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(kw_only=True)
class KnownRoom(_Entry):
    """Room that was entered at ``position``.

    ``frontiers_found`` counts the frontiers that were ever found nearer to this room than to any other room.
    ``explored_pct`` is the percentage of these frontiers that do not exist any more.
    """

    name: _Text
    explored_pct: Annotated[int, Field(ge=0, le=100)] = 0
    objects: Annotated[list[_Text], Field(max_length=100)] = field(default_factory=list)
    entered_from: _Text
    position: _Place
    frontiers_found: _Count = 0


@dataclass
class DeadEnd(_Entry):
    """Direction in which the robot cannot go on from a place; ``direction_deg`` is counter-clockwise from east."""

    direction_deg: _Degrees
    reason: _Text
    position: _Place


@dataclass
class KnownFrontier(_Entry):
    """Frontier at the time of the last update; ``direction_deg`` is counter-clockwise from the robot's heading."""

    id: _Count
    direction_deg: _Degrees
    distance_m: _Metres
    type: _Text
    width_m: _Metres
    position: _Place


@dataclass
class Finding(_Entry):
    """Text about a place: the description of a picture, or the notes of a discovery.

    For a description, ``kind`` is ``view`` and ``name`` is what was looked for. For a discovery, ``kind`` is its
    significance and ``name`` its label.
    """

    kind: _Text
    name: _Text
    text: _Words
    position: _Place


@dataclass
class PastResult(_Entry):
    """Result of an action; ``clear`` and ``free_m`` are the answers of ``check_path_clear``, else None."""

    success: bool
    actual_distance_m: _Metres
    turned_deg: Annotated[int, Field(ge=-(10**6), le=10**6)]
    stopped_reason: _Text
    clear: bool | None = None
    free_m: _Metres | None = None


@dataclass
class PastAction(_Entry):
    """Action with its result; ``position`` is where the robot was when the action ended."""

    action: _Text
    params: Annotated[dict[_Text, bool | int | float | _Text], Field(max_length=8)]
    result: PastResult
    position: _Place


def _start_rooms() -> list[KnownRoom]:
    return [KnownRoom(name=START, entered_from="", position=round_place(Pose()))]


@dataclass
class ExplorationState(_Entry):
    """Complete memory of an exploration, in types that YAML supports.

    - ``frontiers_known``: False before the first update of ``frontiers``
    - ``unseen``: places of obstacles that the robot ran into and that its lidar does not see
    - ``findings``: oldest first
    - ``recent_actions``: the last five actions, oldest first
    - ``exploration_duration_s``: total duration of all explorations with this memory, as reported by the explorer
    """

    rooms: Annotated[list[KnownRoom], Field(min_length=1, max_length=1000)] = field(default_factory=_start_rooms)
    current_room: _Text = START
    dead_ends: Annotated[list[DeadEnd], Field(max_length=1000)] = field(default_factory=list)
    frontiers: Annotated[list[KnownFrontier], Field(max_length=10_000)] = field(default_factory=list)
    recent_actions: Annotated[list[PastAction], Field(max_length=5)] = field(default_factory=list)
    total_discoveries: _Count = 0
    exploration_duration_s: Annotated[float, Field(ge=0)] = 0.0
    frontiers_known: bool = False
    unseen: Annotated[list[_Place], Field(max_length=1000)] = field(default_factory=list)
    findings: Annotated[list[Finding], Field(max_length=1000)] = field(default_factory=list)


def round_place(position: Pose) -> list[float]:
    """Return [x, y] of a pose, rounded to centimetres."""
    return [round(float(position.x), 2), round(float(position.y), 2)]


def write_state(path: Path, state: ExplorationState) -> None:
    """Write the state to the file atomically, so that even after a crash the file holds either the old or the new text.

    Raises:
        SetupError: the file cannot be written.
    """
    data = asdict(state, dict_factory=_drop_nones)
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        raise SetupError(f"{path}: the exploration memory cannot be written: {error.strerror}") from error


def _drop_nones(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in items if value is not None}


def read_state(path: Path) -> ExplorationState:
    """Return the state from a file.

    Raises:
        SetupError: the file cannot be read or is invalid; the message is one line that names the file and the fault.
    """
    try:
        data = read_bytes(path, _MAX_BYTES)
        return TypeAdapter(ExplorationState).validate_python(yaml.safe_load(data))
    except FileError as error:
        raise SetupError(str(error)) from error
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        reason = f"{harmless(where, 80)}: {harmless(fault['msg'], 120)}"
        raise SetupError(f"{path}: no exploration memory: {reason}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SetupError(f"{path}: no exploration memory: {harmless(error, 160)}") from error
