"""Pydantic models of a run's files. An edited or damaged file is refused with one line that names the wrong field.

The models name only the fields that a resumed run reads; a file may hold more fields.
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
"""Largest number of characters of a field's path in an error message."""


def _check_file_name(name: str) -> str:
    if not name or re.search("[\0\ud800-\udfff]", name):
        raise ValueError("no file can have this name")
    return name


FileName = Annotated[str, AfterValidator(_check_file_name)]
"""Name of a file relative to the run folder, or a part of the name.

Whether the file lies in the run folder is checked later, when the file is read.
"""
Count = Annotated[int, Field(ge=0, le=10**12)]


class StrictRecord(BaseModel):
    """Base class of the models: values are not converted (``true`` and "3" are no numbers), unknown fields are kept."""

    model_config = ConfigDict(strict=True, extra="allow")


class LevelRecord(StrictRecord):
    """The level that a summary describes."""

    category: str
    level_name: str


class WriterFate(StrictRecord):
    """The decision on the draft of a problem writer that came with a level's plan.

    Attributes:
        offered: name of the draft; "" if no draft came.
        accepted: label of the stored writer; "" if the draft was rejected.
        rejected: why the draft was rejected.
    """

    offered: str = ""
    accepted: str = ""
    rejected: str = ""


class Counters(StrictRecord):
    """Counters of a level; counters that are not named here must be counts, too."""

    __pydantic_extra__: dict[str, Count]
    spca_rounds: Count
    planner_calls: Count
    coder_calls: Count


class LearnedCategory(StrictRecord):
    """The category of a level."""

    category: str


class LearnedLevel(StrictRecord):
    """The part of a finished level's summary that an evaluation reads."""

    level: LearnedCategory
    outcome: str
    agent_file: FileName


class UnusableRecord(StrictRecord):
    """A model that gave no usable answer in a level; ``began`` is the beginning of its last unusable answer."""

    model: str
    calls: Count
    began: str


class Summary(StrictRecord):
    """The part of a finished level's summary that a resumed run reads; see ``metrics_logger.MetricsLogger.summary``."""

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
        """Raise an error if a level with an unusable model lacks ``index``, by which the level's requests are found."""
        if self.unusable and not self.index:
            raise ValueError("it has no index")
        return self


class WriterRecord(StrictRecord):
    """The newest version of a problem writer; see :mod:`spca.runs.recording.writer_files`.

    Attributes:
        born: category and environment id of the level that the writer came from.
        cases: names of the trajectory files of levels that the writer must solve.
        solved, failed: numbers of levels that the writer has solved, and has failed to solve.
    """

    name: FileName
    version: Annotated[int, Field(ge=1, le=10**6)]
    born: str
    cases: list[FileName]
    solved: Count
    failed: Count


class TrustedRecord(StrictRecord):
    """PDDL that has solved an earlier level of the category."""

    model_config = ConfigDict(strict=True, extra="forbid")

    domain: str
    problem: str


class RunRecord(StrictRecord):
    """The content of ``run.json``."""

    settings: dict[str, Any]
    versions: dict[str, Any] = {}
    sandbox: str | None = None
    asked_anew: dict[str, int] | None = None


class State(StrictRecord):
    """The content of ``state/state.json``: the state of a run after its last committed level.

    ``levels`` is the number of finished levels in the journal.
    """

    levels: Count
    agent: FileName
    category: str | None
    trusted: TrustedRecord | None
    writers: list[WriterRecord] = []


class EarlierState(State):
    """The content of ``state/state.json`` as an earlier version wrote it, with the summaries of the finished levels."""

    levels: Count = 0
    finished: list[dict[Any, Any]]


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
    """The state in which the last attempt of a level began."""

    state_hash: str


class SnapshotLevel(StrictRecord):
    """The level in the input of a problem writer."""

    category: str
    skill: str


class SnapshotRecord(StrictRecord):
    """The input of a problem writer; see :func:`spca.writers.stored.writer_state`."""

    mission: str
    level: SnapshotLevel


class SolvedTrajectory(StrictRecord):
    """The trajectory file of a level that was solved."""

    env_id: str
    seed: int
    kwargs: dict[str, Any] = {}
    mission_text: str = ""
    world: str = ""
    checkpoint: CheckpointRecord
    attempts: Annotated[list[AttemptRecord], Field(min_length=1)]
    snapshot: SnapshotRecord | None = None


_SETTING_TYPES: Final[dict[str, Any]] = {
    **get_type_hints(Settings),
    **{name: kind for name, kind in get_type_hints(ModelSettings).items() if name in PLAIN},
    **dict.fromkeys(MODELS, str),
    **dict.fromkeys((*ADDRESSES, "servers", "only", "levels"), str | None),
}
"""Name of a recorded setting -> type. Later entries override earlier entries of the same name."""
# Missing and unknown settings are allowed here, because Settings.from_record has a better message for them.
SettingsRecord = create_model(
    "SettingsRecord",
    __base__=StrictRecord,
    **{name: (kind, None) for name, kind in _SETTING_TYPES.items() if name != "models"},  # type: ignore[call-overload]
)
"""Model of the settings in ``run.json``."""


class ResumableRun(RunRecord):
    """The content of ``run.json`` of a run that is resumed."""

    settings: SettingsRecord  # type: ignore[valid-type]  # create_model returns a type


RUN: Final = TypeAdapter(RunRecord)
RESUMABLE_RUN: Final = TypeAdapter(ResumableRun)
STATE: Final = TypeAdapter(State)
EARLIER_STATE: Final = TypeAdapter(EarlierState)
SUMMARY: Final = TypeAdapter(Summary)
LEARNED_LEVEL: Final = TypeAdapter(LearnedLevel)
WRITERS: Final = TypeAdapter(list[WriterRecord])
TRAJECTORY: Final = TypeAdapter(SolvedTrajectory)


def check_record(kind: TypeAdapter[Any], value: object, path: Path, within: str = "") -> None:
    """Raise an error if a value from a file does not fit the model ``kind``.

    Args:
        path: path of the file, for the error message.
        within: name of the field that holds the value; "" if the value is the whole content of the file.

    Raises:
        ResumeError: the value does not fit. The message names the file, the first wrong field, and the fault.
    """
    try:
        kind.validate_python(value)
    except ValidationError as error:
        raise ResumeError(one_line(f"{path} cannot be read: {_describe_fault(error, within)}")) from error


def _describe_fault(error: ValidationError, within: str) -> str:
    """Return the first fault of a value in words; ``within`` as for :func:`check_record`."""
    first = error.errors(include_url=False)[0]
    fields = [within] if within else []
    fields += map(str, first["loc"])
    if first["type"] == "missing" and len(fields) == 1:
        return f"it has no {fields[0]!r}"
    field = ".".join(fields)[:_MAX_SHOWN]
    return f"its state is not what a run has left: {field}: {first['msg']}"
