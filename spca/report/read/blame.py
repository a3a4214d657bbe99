"""The line of generated code where an attempt ended, found from the attempt's record and the source that ran."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from spca.contracts import Status
from spca.report.read.lenient import count, counts, items, table, text
from spca.report.read.model import Blame
from spca.report.read.outline import MethodLines, method_at, method_named
from spca.sandbox.process.runner import FILENAME

_FRAME: Final = re.compile(rf"^  {re.escape(FILENAME)}, line (\d{{1,7}}), in (\S{{1,90}})$", re.MULTILINE)
_WHERE: Final = re.compile(r" in (<?\w{1,80}>?), line (\d{1,7})$")
_LINE: Final = re.compile(r"\bline (\d{1,7})\b")
_RAISED: Final = re.compile(r"([^\W\d]\w{0,60})(?::|$)")
_NO_GENERATOR: Final = re.compile(r"TypeError: (\w{1,80}) returned \w+: an action must yield")
_NO_METHOD: Final = re.compile(r"class Agent has no method (\w{1,80})$")
_OVERDUE: Final = ("no yield for ", "more than ")
_LAST: Final[Mapping[str, str]] = {
    Status.STUCK: "yielded the last primitive before the agent was stuck",
    Status.REWARD_FAILED: "yielded the primitive that ended the episode without success",
    Status.GOAL_NOT_REACHED: "yielded the last primitive; the plan was carried out, the mission was not complete",
}


@dataclass(frozen=True, slots=True)
class _Place:
    """A line to blame.

    Attributes:
        line: line of the source, from 1; 0 if no line is known.
        name: name of the method, for a line that is outside of methods or not known; "" if no name is known.
        why: why the line is to blame.
    """

    line: int
    name: str
    why: str


class _Ended:
    """The record of an attempt's end.

    Attributes:
        status: status of the attempt.
        message: message of the failure.
        frames: pairs (line as digits, method) of the traceback's frames in the agent, from the outermost frame.
        plan: names of the plan's actions.
        lines: source lines that yielded the primitives, in order.
        source: source of the agent.
    """

    def __init__(self, attempt: Mapping[str, Any], source: str) -> None:
        self.status = text(attempt.get("status"))
        self.message = text(attempt.get("message"))
        # The traceback ends with the message, which generated code may have made to look like a frame.
        traceback = text(attempt.get("traceback")).removesuffix(self.message)
        self.frames: list[tuple[str, str]] = _FRAME.findall(traceback)

        plan_steps = map(table, items(attempt.get("plan")))
        self.plan = [text(step.get("action")) for step in plan_steps]
        primitive_steps = map(items, items(attempt.get("steps")))
        self.lines = [count(step[2]) for step in primitive_steps if len(step) == 3]
        self.source = source


def blame(attempt: Mapping[str, Any], source: str, agent_id: str) -> Blame | None:
    """Return the line to blame for the end of an attempt; None if the attempt succeeded or its end is not recorded.

    Args:
        attempt: an attempt of a trajectory file; its values may be of any JSON type.
        source: source of the agent that ran.
        agent_id: id of the agent's text, for :attr:`Blame.agent`.
    """
    end = _Ended(attempt, source)
    place = _find_place(end)
    if place is None:
        return None

    last_line = source.count("\n") + 1
    line = place.line if 0 < place.line <= last_line else 0
    method = method_at(source, line) or MethodLines(place.name, line, line, line)
    return Blame(
        status=end.status,
        message=end.message,
        agent=agent_id,
        line=line,
        method=method.name,
        first=method.first,
        last=method.last,
        position=plan_position(attempt),
        why=place.why,
        **counts(attempt, "round", "attempt"),
    )


def exception(attempt: Mapping[str, Any]) -> str | None:
    """Return the class of the exception that ended an attempt, or None if no exception did."""
    if text(attempt.get("status")) not in (Status.RUNTIME_ERROR, Status.SYNTAX_ERROR):
        return None
    raised = _RAISED.match(text(attempt.get("message")))
    return raised[1] if raised else None


def plan_position(attempt: Mapping[str, Any]) -> int | None:
    """Return the step of the plan, from 0, at which an attempt ended; None without a plan.

    The result is usually the step that yielded the last primitive. If the message or the traceback names the action of
    a later step, that step is the result, because it ended before it yielded a primitive.
    """
    end = _Ended(attempt, "")
    if not end.plan:
        return None
    primitive_steps = items(attempt.get("steps"))
    plan_end = len(end.plan) - 1
    if not primitive_steps and end.status == Status.GOAL_NOT_REACHED:
        return plan_end

    last_step = items(primitive_steps[-1]) if primitive_steps else []
    last_position = count(last_step[1]) if len(last_step) == 3 else 0
    action = _name_action(end)
    for position in range(last_position, len(end.plan)):
        if end.plan[position] == action:
            return position
    return min(last_position, plan_end)


def _name_action(end: _Ended) -> str:
    """Return the method of the outermost frame. Without frames, return the method that the message names, or ""."""
    if end.frames:
        _, outermost_method = end.frames[0]
        return outermost_method
    message = end.message
    match = _NO_GENERATOR.match(message) or _NO_METHOD.search(message) or _WHERE.search(message)
    return match[1] if match else ""


def _find_place(end: _Ended) -> _Place | None:
    """Return the line where an attempt ended; None if the attempt succeeded or its end is not recorded."""
    if end.status == Status.RUNTIME_ERROR:
        return _runtime_error(end)
    if end.status == Status.SYNTAX_ERROR:
        return _syntax_error(end)
    if end.status == Status.MISSING_METHOD:
        match = _NO_METHOD.search(end.message)
        method = match[1] if match else ""
        return _Place(0, method, "is in the plan, but class Agent has no such method")
    if end.status == Status.GOAL_NOT_REACHED and end.plan and not end.lines:
        return _beginning(end, end.plan[-1], "carried out the last step of the plan without a single primitive")
    if end.status in _LAST:
        return _last_primitive(end, _LAST[end.status])
    return None


def _runtime_error(end: _Ended) -> _Place:
    """Return the line to blame for a runtime error.

    The first available line is used: the innermost frame, the line that the message names, the ``def`` of an action
    without a yield, or the last primitive.
    """
    why = _why(end.message)
    if end.frames:
        line, name = end.frames[-1]
        return _Place(int(line), name, why)
    if where := _WHERE.search(end.message):
        name, line = where.groups()
        return _Place(int(line), name, why)
    if match := _NO_GENERATOR.match(end.message):
        return _beginning(end, match[1], "is an action without a yield")
    return _last_primitive(end, "yielded the last primitive before the code ended")


def _why(message: str) -> str:
    """Return words that say what the line to blame did, given the message of a runtime error."""
    if message.startswith(_OVERDUE):
        return "was still running when its time was over"
    if message.startswith("the code crashed the interpreter"):
        return "was running when the interpreter crashed"
    if message.startswith("yielded "):
        return "yielded what is no primitive"
    raised = _RAISED.match(message)
    return f"raised {raised[1]}" if raised else "was running when the code ended"


def _syntax_error(end: _Ended) -> _Place:
    """Return the line of the innermost frame. Without frames, return the line that the message names, or no line."""
    match = _LINE.search(end.message)
    line = int(match[1]) if match else 0
    if end.frames:
        innermost_line, _ = end.frames[-1]
        line = int(innermost_line)
    return _Place(line, "", "is why the code could not be loaded" if line else "the code could not be loaded")


def _last_primitive(end: _Ended, why: str) -> _Place:
    """Return the line that yielded the last primitive. Without primitives, return the ``def`` of the plan's first
    action.
    """
    if end.lines:
        return _Place(end.lines[-1], "", why)
    first = end.plan[0] if end.plan else ""
    return _beginning(end, first, "was to carry out the first step of the plan; nothing was yielded")


def _beginning(end: _Ended, name: str, why: str) -> _Place:
    """Return the line with the ``def`` of a method."""
    method = method_named(end.source, name)
    return _Place(method.line if method else 0, name, why)
