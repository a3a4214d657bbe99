"""Feedback to a model: short descriptions of failures that the model can act on (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

from spca.body import Body
from spca.contracts import FailedPlan, Outcome, Plan, TraceStep

_LAST_PRIMITIVES: Final = 24
_MAX_PLAN: Final = 400
_MAX_MESSAGE: Final = 400
_MAX_TRACEBACK: Final = 900
_MAX_PRINTED: Final = 400
_MAX_ERROR: Final = 1500
_MAX_FOUND: Final = 20
"""Largest number of discoveries of one plan that the planner is told."""
_FRAME: Final = re.compile(r"^  \S+, line (\d+), in (\w+)$", re.MULTILINE)
"""A frame of the traceback; groups: line number, method."""
_PLACE: Final = re.compile(r"\((\w+)(?: > (\w+))?, line (\d+)\)")
"""The place of a primitive; groups: high-level action, method that the action calls (if any), line number."""
_MAX_REASON: Final = 290
"""Maximum number of characters of the reason for a plan's failure; short, because the plan itself tells the planner
more.
"""


def failure_report(plan: Plan, outcome: Outcome, body: Body, method_at: Callable[[int], str] = lambda _line: "") -> str:
    """Return a report on a failed attempt: status, failing step, traceback, last primitives and final state.

    Each part is shortened to a fixed number of characters.

    Args:
        body: names the primitives and describes the final state.
        method_at: returns the method that contains a line of the agent's source, "" if no method contains the line.
    """
    status = outcome.status.value
    message = shorten_middle(outcome.message, _MAX_MESSAGE)
    text = shorten_middle(plan.text, _MAX_PLAN)
    lines = [f"status: {status}", f"message: {message}", f"plan: {text}"]
    if outcome.action is not None and outcome.position is not None:
        step = shorten_middle(str(plan.steps[outcome.position]), _MAX_PLAN)
        number = outcome.position + 1
        count = len(plan.steps)
        lines.append(f"failing step: {number} of {count}: {step}")
    if outcome.traceback:
        lines += ["traceback:", shorten_middle(outcome.traceback, _MAX_TRACEBACK)]
    lines.append(f"primitives executed: {outcome.steps}")
    if outcome.trace:
        last = outcome.trace[-_LAST_PRIMITIVES:]
        lines.append(f"last primitives: {_describe_primitives(last, body.interface.primitives, method_at)}")
    if outcome.printed.strip():
        lines += ["printed:", shorten_middle(outcome.printed.strip(), _MAX_PRINTED)]
    return "\n".join([*lines, *body.drawing.describe_end(outcome.shown)])


def plan_failure(failed: Sequence[FailedPlan]) -> dict[str, Any]:
    """Return the feedback on the plans of a level that did not solve it, in the given order (oldest first).

    If a plan has discovered something, the feedback does not call all plans failed.
    """
    plans = []
    for failed_plan in failed:
        text = shorten_middle(failed_plan.plan, _MAX_PLAN)
        if failed_plan.found:
            plans.append({"plan": text, "discovered": list(failed_plan.found[:_MAX_FOUND])})
        else:
            plans.append({"plan": text, "status": failed_plan.status, "message": _find_reason(failed_plan)})
    if any(failed_plan.found for failed_plan in failed):
        return {"kind": "plans_so_far", "plans": plans}
    return {"kind": "plan_failed", "failed_plans": plans}


def pddl_error(message: str) -> dict[str, str]:
    """Return the feedback on PDDL that cannot be used."""
    return {"kind": "pddl_error", "message": shorten_middle(message, _MAX_ERROR)}


def shorten_middle(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters; replace the middle of a longer text by dots."""
    if len(text) <= limit:
        return text

    gap = " ... "
    tail = (limit - len(gap)) // 2
    head = limit - len(gap) - tail
    return text[:head] + gap + text[len(text) - tail :]


def _find_reason(failed: FailedPlan) -> str:
    """Return the first line of a failed plan's message, without the status at its beginning.

    The feedback names the status separately.
    """
    line = failed.message.strip().partition("\n")[0]
    return shorten_middle(line.removeprefix(f"{failed.status}: "), _MAX_REASON)


def find_cited_methods(report: str) -> tuple[str, ...]:
    """Return the methods that a failure report names, each once.

    First come the methods of the traceback (innermost first), then the methods of the primitives (latest first).
    """
    methods = [method for _line, method in reversed(_FRAME.findall(report))]
    for action, method, _line in reversed(_PLACE.findall(report)):
        methods += [method, action]
    return tuple(dict.fromkeys(filter(None, methods)))


def find_cited_lines(report: str) -> frozenset[int]:
    """Return the line numbers that a failure report names in its traceback and its primitives."""
    numbers = [line for line, _method in _FRAME.findall(report)]
    numbers += [line for _action, _method, line in _PLACE.findall(report)]
    return frozenset(int(line) for line in numbers if len(line) < 8)  # a longer number is no line of the agent


def _describe_primitives(trace: Sequence[TraceStep], names: Sequence[str], method_at: Callable[[int], str]) -> str:
    """Return primitives with their places; join a run of equal steps: ``push x3 (go > _step, line 70)``."""
    parts = []
    for (code, action, line), equal_steps in groupby(trace, key=lambda step: (step.code, step.action, step.line)):
        count = len(list(equal_steps))
        times = f" x{count}" if count > 1 else ""
        method = method_at(line)
        place = f"{action} > {method}" if method not in ("", action) else action
        primitive = names[code]
        parts.append(f"{primitive}{times} ({place}, line {line})")
    return "; ".join(parts)
