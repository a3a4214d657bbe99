"""Which level of a run a user means, and what was recorded of it; a file may hold anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spca.common.names import find_nearest
from spca.common.text import one_line
from spca.contracts import PRIMITIVE_METHODS
from spca.errors import ReportError
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, steps, table, text
from spca.report.read.run_files import RunFiles


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded step: primitive, plan position from 0, source line from 1; -1 for what cannot be read."""

    code: int
    position: int
    line: int

    @property
    def primitive(self) -> str:
        return PRIMITIVE_METHODS[self.code] if 0 <= self.code < len(PRIMITIVE_METHODS) else "?"


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded of a level of a run, or of another episode.

    Attributes:
        path: the folder that holds it.
        name: what the command calls it there.
        trajectory: content of its file; may hold anything.
        info: tells how it was judged, as ``run.json`` does.
        read_source: gives the text of an agent's file, None where it cannot be read.
    """

    path: Path
    name: str
    title: str
    trajectory: Mapping[str, Any]
    info: Mapping[str, Any]
    read_source: Callable[[str], str | None] = lambda _name: None


class RecordedAttempt:
    """What a trajectory says of an attempt, read leniently."""

    def __init__(self, recorded: object, read_source: Callable[[str], str | None]) -> None:
        known = table(recorded)
        round_number = count(known.get("round"))
        attempt_number = count(known.get("attempt"))
        self.name = f"{round_number}.{attempt_number}"
        self.status = text(known.get("status"))
        self.message = text(known.get("message"))
        self.before = len(items(known.get("start")))
        self.steps = [Step(*step) for step in steps(known)]
        self.plan = [_call(each) for each in items(known.get("plan"))]
        self._known = known
        self._agent = text(known.get("agent"))
        self._read_source = read_source

    @cached_property
    def source(self) -> str | None:
        """The code that ran; None when its file cannot be read."""
        return self._read_source(self._agent) if self._agent else None

    def action(self, step: Step) -> str:
        """Return the step of the plan that a primitive belongs to."""
        return self.plan[step.position] if 0 <= step.position < len(self.plan) else "?"

    def find_blamed(self) -> str:
        """Return where it failed, and at which step of the plan; "" if nothing is to blame."""
        found = None if self.source is None else blame(self._known, self.source, "")
        if found is None:
            return ""
        line = f"line {found.line}" if found.line else ""
        where = " of ".join(filter(None, (line, found.method))) or "no line"
        line_and_reason = f"{where} ({self._agent}) {found.why}"

        position = found.position
        if position is None:
            return line_and_reason
        step = f"step {position + 1} of {len(self.plan)} of the plan"
        return f"{line_and_reason}; {step}: {self.plan[position]}"


def find_recording(files: RunFiles, level: str) -> Recording:
    """Return what was recorded of the level that is meant.

    Raises:
        ReportError: no level or several are meant, or nothing was recorded of it.
    """
    finished = files.summaries
    names = {task.index + 1: (task.category, task.env_id) for task in files.tasks()}
    for number, summary in finished.items():
        place = table(summary.get("level"))
        category = text(place.get("category"))
        env_id = text(place.get("level_name"))
        names[number] = (category, env_id)

    number = _number(level, names)
    title = one_line(f"level {number}, {'/'.join(names[number])}")
    if number not in finished:
        raise ReportError(f"{title}: not finished, so nothing of it can be replayed")
    trajectory = files.trajectory(finished[number])
    if trajectory is None or not items(trajectory.get("attempts")):
        why = files.warnings[-1] if trajectory is None and files.warnings else "nothing was executed"
        raise ReportError(f"{title}: there is nothing to replay: {one_line(why)}")
    return Recording(files.path, level, title, trajectory, files.info, files.source)


def _number(level: str, names: Mapping[int, tuple[str, str]]) -> int:
    if level.isdecimal() and len(level) < 10:
        if int(level) not in names:
            raise ReportError(f"there is no level {level}: the run has {_range(sorted(names))}")
        return int(level)

    paths = {number: "/".join(name) for number, name in names.items()}
    found = [number for number, (_, env_id) in names.items() if level in (env_id, paths[number])]
    if len(found) > 1:
        choices = ", ".join(f"{number} ({paths[number]})" for number in found)
        raise ReportError(f"{one_line(level)!r} is several levels, name one of them: {one_line(choices)}")
    if not found:
        env_ids = [env_id for _, env_id in names.values()]
        near = find_nearest(level, dict.fromkeys([*env_ids, *paths.values()]))
        hint = f": the run has {_range(sorted(names))}"
        if near:
            hint = f": did you mean {' or '.join(near)}?"
        raise ReportError(f"there is no level {one_line(level)!r}{one_line(hint)}")
    return found[0]


def _range(numbers: Sequence[int]) -> str:
    return f"levels {numbers[0]} to {numbers[-1]}" if numbers else "no levels"


def _call(recorded: object) -> str:
    step = table(recorded)
    action = text(step.get("action"), "?")
    args = [text(arg, "?") for arg in items(step.get("args"))]
    return f"{action}({', '.join(args)})"
