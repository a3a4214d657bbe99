"""What the files of a run hold, as models: one that was edited or damaged is refused in one line, field and all.

Only the fields that a run goes on with are named; a file may hold more.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Self, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)

from spca.common.text import one_line
from spca.errors import ResumeError
from spca.runs.settings import ADDRESSES, MODELS, PLAIN, ModelSettings, Settings

_MAX_SHOWN: Final = 120


def _check_file_name(name: str) -> str:
    if not name or re.search("[\0\ud800-\udfff]", name):
        raise ValueError("no file can have this name")
    return name


FileName = Annotated[str, AfterValidator(_check_file_name)]
"""Of a file of a run, relative to its folder, or a part of such a name; whether it may be read is seen then."""
Count = Annotated[int, Field(ge=0, le=10**12)]


class StrictRecord(BaseModel):
    """The root of all: neither true nor "3" is a number, and further fields stay."""

    model_config = ConfigDict(strict=True, extra="allow")


class LevelRecord(StrictRecord):
    """Which level a summary is of."""

    category: str
    level_name: str


class WriterFate(StrictRecord):
    """What became of the writer that came with a level's plan."""

    offered: str = ""
    accepted: str = ""
    rejected: str = ""


class Counters(StrictRecord):
    """What was counted in a level; further counters are numbers, too."""

    __pydantic_extra__: dict[str, Count]
    spca_rounds: Count
    planner_calls: Count
    coder_calls: Count


class LearnedCategory(StrictRecord):
    """Of which category a level is."""

    category: str


class LearnedLevel(StrictRecord):
    """What an evaluation needs of a finished level."""

    level: LearnedCategory
    outcome: str
    agent_file: FileName


class UnusableRecord(StrictRecord):
    """A model that gave no usable answer in a level."""

    model: str
    calls: Count
    began: str


class Summary(StrictRecord):
    """A finished level, as a run needs it to go on; see :meth:`metrics_logger.MetricsLogger.summary`."""

    level: LevelRecord
    outcome: str
    reason: str
    counters: Counters
    steps: Count
    steps_total: Count
    usage: dict[str, Any]
    library: dict[str, Count]
    agent_file: FileName
    trajectory: FileName
    sandbox: str
    corrections: list[str]
    writers: WriterFate = WriterFate()
    unusable: dict[str, UnusableRecord] = {}
    index: Count = 0

    @model_validator(mode="after")
    def check_index(self) -> Self:
        """Refuse a level without a number where its requests are looked for."""
        if self.unusable and not self.index:
            raise ValueError("it has no index")
        return self


class WriterRecord(StrictRecord):
    """The newest version of a problem writer; see :mod:`spca.runs.recording.writer_files`."""

    name: FileName
    version: Annotated[int, Field(ge=1, le=10**6)]
    born: str
    cases: list[FileName]
    solved: Count
    failed: Count


class TrustedRecord(StrictRecord):
    """PDDL that has solved a level."""

    model_config = ConfigDict(strict=True, extra="forbid")

    domain: str
    problem: str


class RunRecord(StrictRecord):
    """``run.json``."""

    settings: dict[str, Any]
    versions: dict[str, Any] = {}
    sandbox: str | None = None
    asked_anew: dict[str, int] | None = None


class State(StrictRecord):
    """``state/state.json``: what the last commit says of a run."""

    finished: list[dict[Any, Any]]
    agent: FileName
    category: str | None
    trusted: TrustedRecord | None
    writers: list[WriterRecord] = []


class StepRecord(StrictRecord):
    """A step of a plan."""

    action: str
    args: list[str]
    parameters: list[str] = []


class AttemptRecord(StrictRecord):
    """An attempt of a trajectory; see :func:`spca.runs.recording.folder.attempt_record`."""

    start: list[int]
    plan: list[StepRecord]
    domain: str
    problem: str


class CheckpointRecord(StrictRecord):
    """Where the last round of a level began."""

    state_hash: str


class SnapshotLevel(StrictRecord):
    """The words for a level."""

    category: str
    skill: str


class SnapshotRecord(StrictRecord):
    """What a problem writer is given; see :func:`spca.writers.stored.writer_state`."""

    mission: str
    level: SnapshotLevel


class SolvedTrajectory(StrictRecord):
    """A file of a level that was solved."""

    env_id: str
    seed: int
    checkpoint: CheckpointRecord
    attempts: Annotated[list[AttemptRecord], Field(min_length=1)]
    snapshot: SnapshotRecord | None = None


_KINDS: Final[dict[str, Any]] = {
    **get_type_hints(Settings),
    **{name: kind for name, kind in get_type_hints(ModelSettings).items() if name in PLAIN},
    **dict.fromkeys(MODELS, str),
    **dict.fromkeys((*ADDRESSES, "servers", "only", "levels"), str | None),
}
SettingsRecord = create_model(  # what is missing or further is of another version, and told so elsewhere
    "SettingsRecord",
    __base__=StrictRecord,
    **{name: (kind, None) for name, kind in _KINDS.items() if name != "models"},  # type: ignore[call-overload]
)
"""Types of the settings that ``run.json`` records."""


class ResumableRun(RunRecord):
    """``run.json`` of a run that is about to go on."""

    settings: SettingsRecord  # type: ignore[valid-type]  # made above


RUN: Final = TypeAdapter(RunRecord)
RESUMABLE_RUN: Final = TypeAdapter(ResumableRun)
STATE: Final = TypeAdapter(State)
SUMMARIES: Final = TypeAdapter(list[Summary])
LEARNED_LEVELS: Final = TypeAdapter(list[LearnedLevel])
WRITERS: Final = TypeAdapter(list[WriterRecord])
TRAJECTORY: Final = TypeAdapter(SolvedTrajectory)


def check_record(kind: TypeAdapter[Any], value: object, path: Path, within: str = "") -> None:
    """Refuse a value that was read from a file, unless it has the fields that are needed.

    Args:
        within: the field of the file that holds the value.

    Raises:
        ResumeError: names the file, the first field that is wrong, and why.
    """
    try:
        kind.validate_python(value)
    except ValidationError as error:
        raise ResumeError(one_line(f"{path} cannot be read: {_describe_fault(error, within)}")) from error


def check_learned(info: object, state: dict[str, Any], folder: Path) -> None:
    """Refuse a run whose ``run.json`` or state does not say what it has learned.

    Raises:
        ResumeError: see :func:`check_record`.
    """
    path = folder / "state/state.json"
    check_record(RUN, info, folder / "run.json")
    check_record(STATE, state, path)
    check_record(LEARNED_LEVELS, state["finished"], path, "finished")


def _describe_fault(error: ValidationError, within: str) -> str:
    first = error.errors(include_url=False)[0]
    fields = [within] if within else []
    fields += map(str, first["loc"])
    if first["type"] == "missing" and len(fields) == 1:
        return f"it has no {fields[0]!r}"
    field = ".".join(fields)[:_MAX_SHOWN]
    return f"its state is not what a run has left: {field}: {first['msg']}"
