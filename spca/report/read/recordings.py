"""Finding the level of a run that a user names, and reading the level's recording.

The values of a recording may be of any JSON type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spca.common.names import find_nearest
from spca.common.text import one_line
from spca.errors import ReportError
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, steps, table, text
from spca.report.read.run_files import RunFiles


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded step: primitive code, plan position (from 0) and source line (from 1); -1 for a missing value.

    ``primitive`` is the name of the primitive; "?" for an unknown code.
    """

    code: int
    position: int
    line: int
    primitive: str


@dataclass(frozen=True, slots=True)
class Recording:
    """The recording of a level of a run, or of an episode of an evaluation.

    Attributes:
        path: folder of the run or the evaluation.
        name: name of the level or episode, as an argument of the command ``replay``.
        title: name of the level or episode for people.
        trajectory: content of the trajectory file; its values may be of any JSON type.
        info: record of the settings under which the simulator judged, in the form of ``run.json``.
        read_source: returns the text of an agent's file, or None if the file cannot be read.
    """

    path: Path
    name: str
    title: str
    trajectory: Mapping[str, Any]
    info: Mapping[str, Any]
    read_source: Callable[[str], str | None] = lambda _name: None


class RecordedAttempt:
    """An attempt of a trajectory, read leniently.

    Attributes:
        name: round and number of the attempt, such as "1.2".
        before: number of primitives that were executed between the reset of the world and the attempt.
        steps: the executed primitives.
        plan: calls of the plan as text.
    """

    def __init__(self, recorded: object, read_source: Callable[[str], str | None], primitives: Sequence[str]) -> None:
        record = table(recorded)
        round_number = count(record.get("round"))
        attempt_number = count(record.get("attempt"))
        self.name = f"{round_number}.{attempt_number}"
        self.status = text(record.get("status"))
        self.message = text(record.get("message"))
        self.before = len(items(record.get("start")))
        self.steps: list[Step] = []
        for code, position, line in steps(record):
            name = primitives[code] if 0 <= code < len(primitives) else "?"
            self.steps.append(Step(code, position, line, name))
        self.plan = [_call(each) for each in items(record.get("plan"))]
        self._record = record
        self._agent = text(record.get("agent"))
        self._read_source = read_source

    @cached_property
    def source(self) -> str | None:
        """The source of the agent that ran; None if its file cannot be read."""
        return self._read_source(self._agent) if self._agent else None

    def action(self, step: Step) -> str:
        """Return the call of the plan that a primitive belongs to, as text; "?" if the position is unknown."""
        return self.plan[step.position] if 0 <= step.position < len(self.plan) else "?"

    def find_blamed(self) -> str:
        """Return words for the line where the attempt failed and for the plan's step; "" if nothing is to blame."""
        blamed = None if self.source is None else blame(self._record, self.source, "")
        if blamed is None:
            return ""
        line = f"line {blamed.line}" if blamed.line else ""
        place = " of ".join(filter(None, (line, blamed.method))) or "no line"
        line_and_reason = f"{place} ({self._agent}) {blamed.why}"

        position = blamed.position
        if position is None:
            return line_and_reason
        step = f"step {position + 1} of {len(self.plan)} of the plan"
        return f"{line_and_reason}; {step}: {self.plan[position]}"


def find_recording(files: RunFiles, level: str) -> Recording:
    """Return the recording of the level that a user names.

    Args:
        level: number, environment id, or category and environment id ("CATEGORY/ID").

    Raises:
        ReportError: no level or several levels have this name, or the level has no recording.
    """
    finished = files.summaries
    names = {task.index + 1: (task.category, task.name) for task in files.tasks()}
    for number, summary in finished.items():
        recorded_level = table(summary.get("level"))
        category = text(recorded_level.get("category"))
        env_id = text(recorded_level.get("level_name"))
        names[number] = (category, env_id)

    number = _find_number(level, names)
    title = one_line(f"level {number}, {'/'.join(names[number])}")
    if number not in finished:
        raise ReportError(f"{title}: not finished, so nothing of it can be replayed")
    trajectory = files.trajectory(finished[number])
    if trajectory is None or not items(trajectory.get("attempts")):
        reason = "nothing was executed"
        if trajectory is None and files.warnings:
            reason = files.warnings[-1]  # of the trajectory file
        raise ReportError(f"{title}: there is nothing to replay: {one_line(reason)}")
    return Recording(files.path, level, title, trajectory, files.info, files.source)


def _find_number(level: str, names: Mapping[int, tuple[str, str]]) -> int:
    """Return the number of the level that a user names.

    Args:
        level: number, environment id, or category and environment id.
        names: category and environment id of each level, by number.

    Raises:
        ReportError: no level or several levels have this name.
    """
    if level.isdecimal() and len(level) < 10:
        if int(level) not in names:
            raise ReportError(f"there is no level {level}: the run has {_range(sorted(names))}")
        return int(level)

    paths = {number: "/".join(name) for number, name in names.items()}
    matches = []
    for number, (_, env_id) in names.items():
        if level in (env_id, paths[number]):
            matches.append(number)
    if len(matches) > 1:
        choices = ", ".join(f"{number} ({paths[number]})" for number in matches)
        raise ReportError(f"{one_line(level)!r} is several levels, name one of them: {one_line(choices)}")
    if not matches:
        env_ids = [env_id for _, env_id in names.values()]
        near = find_nearest(level, dict.fromkeys([*env_ids, *paths.values()]))
        hint = f": the run has {_range(sorted(names))}"
        if near:
            hint = f": did you mean {' or '.join(near)}?"
        raise ReportError(f"there is no level {one_line(level)!r}{one_line(hint)}")
    return matches[0]


def _range(numbers: Sequence[int]) -> str:
    """Return words for the range from the first to the last number; ``numbers`` must be sorted."""
    return f"levels {numbers[0]} to {numbers[-1]}" if numbers else "no levels"


def _call(recorded: object) -> str:
    """Return a recorded step of a plan as text, such as ``go_to(key, red)``."""
    step = table(recorded)
    action = text(step.get("action"), "?")
    args = [text(arg, "?") for arg in items(step.get("args"))]
    return f"{action}({', '.join(args)})"
