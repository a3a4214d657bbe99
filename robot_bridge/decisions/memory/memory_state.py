"""The state that an exploration remembers, and its YAML file: written atomically, untrusted until checked."""

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
"""Largest file in bytes; real ones have a few thousand."""

_Text = Annotated[str, Field(max_length=200), AfterValidator(lambda text: harmless(text, 60))]
_Words = Annotated[str, Field(max_length=2000), AfterValidator(lambda text: harmless(text, 600))]
_Metres = Annotated[float, Field(ge=-1e6, le=1e6)]
_Place = Annotated[list[_Metres], Field(min_length=2, max_length=2)]
"""[x, y] in the map frame."""
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Degrees = Annotated[int, Field(ge=-360, le=360)]


class _Entry:
    """What is read from a file has these fields only, and finite numbers."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(kw_only=True)
class KnownRoom(_Entry):
    """A room, entered at ``position``.

    ``explored_pct`` is the share that is gone of the ``frontiers_found``, which were ever nearest to it.
    """

    name: _Text
    explored_pct: Annotated[int, Field(ge=0, le=100)] = 0
    objects: Annotated[list[_Text], Field(max_length=100)] = field(default_factory=list)
    entered_from: _Text
    position: _Place
    frontiers_found: _Count = 0


@dataclass
class DeadEnd(_Entry):
    """A way that ends; ``direction_deg`` counter-clockwise from east."""

    direction_deg: _Degrees
    reason: _Text
    position: _Place


@dataclass
class KnownFrontier(_Entry):
    """A frontier as it was at the last update; ``direction_deg`` counter-clockwise from ahead."""

    id: _Count
    direction_deg: _Degrees
    distance_m: _Metres
    type: _Text
    width_m: _Metres
    position: _Place


@dataclass
class Finding(_Entry):
    """A note on a place.

    ``kind`` is ``view`` for a description of a picture, else the significance of a discovery; ``name`` is what was
    looked for, or the label.
    """

    kind: _Text
    name: _Text
    text: _Words
    position: _Place


@dataclass
class PastResult(_Entry):
    """What became of an action; ``clear`` and ``free_m`` are answers of ``check_path_clear``."""

    success: bool
    actual_distance_m: _Metres
    turned_deg: Annotated[int, Field(ge=-(10**6), le=10**6)]
    stopped_reason: _Text
    clear: bool | None = None
    free_m: _Metres | None = None


@dataclass
class PastAction(_Entry):
    """An action, and where the robot was when it ended."""

    action: _Text
    params: Annotated[dict[_Text, bool | int | float | _Text], Field(max_length=8)]
    result: PastResult
    position: _Place


def _start_rooms() -> list[KnownRoom]:
    return [KnownRoom(name=START, entered_from="", position=round_place(Pose()))]


@dataclass
class ExplorationState(_Entry):
    """Everything remembered, in types that YAML supports.

    - ``frontiers_known`` is False before the first update of ``frontiers``
    - ``unseen``: places of obstacles that the robot ran into and its lidar does not see
    - ``findings``: oldest first
    - ``recent_actions``: the last five, oldest first
    - ``exploration_duration_s``: total of all explorations, as reported by the explorer
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
    """Return the position of a pose in the form in which it is remembered."""
    return [round(float(position.x), 2), round(float(position.y), 2)]


def write_state(path: Path, state: ExplorationState) -> None:
    """Replace the file (atomic write): a reader or a crash sees the old text or the new one.

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
    """Return the state that was written.

    Raises:
        SetupError: one line that names the file and the fault.
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
