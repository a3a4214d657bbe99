"""The line of generated code where an attempt ended, told from its record and the source that ran (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from spca.contracts import Status
from spca.report.read.lenient import count, counts, items, table, text
from spca.report.read.model import Blame
from spca.report.read.outline import method_at, method_named
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
    """A line, the function it is said to be in, and why it is to blame."""

    line: int
    name: str
    why: str


class _Ended:
    """What is known of an attempt's end.

    Attributes:
        frames: line and method of each frame of the agent, the outermost first.
        lines: those that yielded its primitives.
    """

    def __init__(self, attempt: Mapping[str, Any], source: str) -> None:
        self.status = text(attempt.get("status"))
        self.message = text(attempt.get("message"))
        # The message comes last and is not ours: it may look like a frame.
        traceback = text(attempt.get("traceback")).removesuffix(self.message)
        self.frames: list[tuple[str, str]] = _FRAME.findall(traceback)

        planned = map(table, items(attempt.get("plan")))
        self.plan = [text(step.get("action")) for step in planned]
        taken = map(items, items(attempt.get("steps")))
        self.lines = [count(step[2]) for step in taken if len(step) == 3]
        self.source = source


def blame(attempt: Mapping[str, Any], source: str, agent_id: str) -> Blame | None:
    """Return the line to blame for the end of an attempt; None if it succeeded or its end is not recorded.

    Args:
        attempt: an attempt of a trajectory file; may hold anything that JSON can.
        source: the agent that ran.
        agent_id: id of its text.
    """
    end = _Ended(attempt, source)
    place = _find_place(end)
    if place is None:
        return None

    last_line = source.count("\n") + 1
    line = place.line if 0 < place.line <= last_line else 0
    method = method_at(source, line)

    return Blame(
        status=end.status,
        message=end.message,
        agent=agent_id,
        line=line,
        method=method.name if method else place.name,
        first=method.first if method else line,
        last=method.last if method else line,
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

    It is that of the last primitive, or a later one if the code ended in its action before that yielded anything.
    """
    end = _Ended(attempt, "")
    if not end.plan:
        return None
    taken = items(attempt.get("steps"))
    plan_end = len(end.plan) - 1
    if not taken and end.status == Status.GOAL_NOT_REACHED:
        return plan_end

    last_step = items(taken[-1]) if taken else []
    last = count(last_step[1]) if len(last_step) == 3 else 0
    named = _name_action(end)
    for position in range(last, len(end.plan)):
        if end.plan[position] == named:
            return position
    return min(last, plan_end)


def _name_action(end: _Ended) -> str:
    """Return the method that the end of an attempt names: that of the outermost frame, which is the action's."""
    if end.frames:
        return end.frames[0][1]
    message = end.message
    named = _NO_GENERATOR.match(message) or _NO_METHOD.search(message) or _WHERE.search(message)
    return named[1] if named else ""


def _find_place(end: _Ended) -> _Place | None:
    """Return where an attempt ended; None if it succeeded or its end is not recorded."""
    if end.status == Status.RUNTIME_ERROR:
        return _runtime_error(end)
    if end.status == Status.SYNTAX_ERROR:
        return _syntax_error(end)
    if end.status == Status.MISSING_METHOD:
        named = _NO_METHOD.search(end.message)
        return _Place(0, named[1] if named else "", "is in the plan, but class Agent has no such method")
    if end.status == Status.GOAL_NOT_REACHED and end.plan and not end.lines:
        return _beginning(end, end.plan[-1], "carried out the last step of the plan without a single primitive")
    return _last_primitive(end, _LAST[end.status]) if end.status in _LAST else None


def _runtime_error(end: _Ended) -> _Place:
    """Return the deepest frame, else what the message names, else the last primitive."""
    why = _why(end.message)
    if end.frames:
        line, name = end.frames[-1]
        return _Place(int(line), name, why)
    if where := _WHERE.search(end.message):
        return _Place(int(where[2]), where[1], why)
    if named := _NO_GENERATOR.match(end.message):
        return _beginning(end, named[1], "is an action without a yield")
    return _last_primitive(end, "yielded the last primitive before the code ended")


def _why(message: str) -> str:
    if message.startswith(_OVERDUE):
        return "was still running when its time was over"
    if message.startswith("the code crashed the interpreter"):
        return "was running when the interpreter crashed"
    if message.startswith("yielded "):
        return "yielded what is no primitive"
    raised = _RAISED.match(message)
    return f"raised {raised[1]}" if raised else "was running when the code ended"


def _syntax_error(end: _Ended) -> _Place:
    named = _LINE.search(end.message)
    line = int(named[1]) if named else 0
    if end.frames:
        line = int(end.frames[-1][0])
    return _Place(line, "", "is why the code could not be loaded" if line else "the code could not be loaded")


def _last_primitive(end: _Ended, why: str) -> _Place:
    """Return the line that yielded it, or the beginning of the plan's first action if nothing was yielded."""
    if end.lines:
        return _Place(end.lines[-1], "", why)
    first = end.plan[0] if end.plan else ""
    return _beginning(end, first, "was to carry out the first step of the plan; nothing was yielded")


def _beginning(end: _Ended, name: str, why: str) -> _Place:
    method = method_named(end.source, name)
    return _Place(method.line if method else 0, name, why)
