"""What went wrong, in words that an LLM can act on, in the shortest useful form (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

from spca.contracts import PRIMITIVE_METHODS, FailedPlan, Outcome, Plan, TraceStep
from spca.sense.map_text import end_state

_LAST_PRIMITIVES: Final = 24
_MAX_PLAN: Final = 400
_MAX_MESSAGE: Final = 400
_MAX_TRACEBACK: Final = 900
_MAX_PRINTED: Final = 400
_MAX_ERROR: Final = 1500
_FRAME: Final = re.compile(r"^  \S+, line (\d+), in (\w+)$", re.MULTILINE)
_PLACE: Final = re.compile(r"\((\w+)(?: > (\w+))?, line (\d+)\)")
_MAX_REASON: Final = 290
"""Characters of the reason why a plan failed that a planner gets; the plan itself says most."""


def failure_report(plan: Plan, outcome: Outcome, method_at: Callable[[int], str] = lambda _line: "") -> str:
    """Return status, failing step, traceback, last primitives and end of a failed attempt, each cut to its size.

    Args:
        method_at: the method that a line of the agent's source lies in, "" for none.
    """
    message = shortened(outcome.message, _MAX_MESSAGE)
    text = shortened(plan.text, _MAX_PLAN)
    lines = [f"status: {outcome.status.value}", f"message: {message}", f"plan: {text}"]
    if outcome.action is not None and outcome.position is not None:
        step = shortened(str(plan.steps[outcome.position]), _MAX_PLAN)
        number = outcome.position + 1
        lines.append(f"failing step: {number} of {len(plan.steps)}: {step}")
    if outcome.traceback:
        lines += ["traceback:", shortened(outcome.traceback, _MAX_TRACEBACK)]
    lines.append(f"primitives executed: {outcome.steps}")
    if outcome.trace:
        last = outcome.trace[-_LAST_PRIMITIVES:]
        lines.append(f"last primitives: {_describe_primitives(last, method_at)}")
    if outcome.printed.strip():
        lines += ["printed:", shortened(outcome.printed.strip(), _MAX_PRINTED)]
    end = end_state(outcome.last_map, outcome.direction or None, outcome.inventory)
    return "\n".join([*lines, "map at the end:", *end])


def failed_plans(failed: Sequence[FailedPlan]) -> dict[str, Any]:
    """Return the feedback on the plans that did not solve a level, oldest first."""
    plans = []
    for each in failed:
        plan = shortened(each.plan, _MAX_PLAN)
        plans.append({"plan": plan, "status": each.status, "message": _find_reason(each)})
    return {"kind": "plan_failed", "failed_plans": plans}


def pddl_error(message: str) -> dict[str, str]:
    """Return the feedback on PDDL that cannot be used."""
    return {"kind": "pddl_error", "message": shortened(message, _MAX_ERROR)}


def shortened(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, the beginning and the end of a longer text."""
    if len(text) <= limit:
        return text

    gap = " ... "
    tail = (limit - len(gap)) // 2
    head = limit - len(gap) - tail
    return text[:head] + gap + text[len(text) - tail :]


def _find_reason(failed: FailedPlan) -> str:
    """Return the first line of the message without the status that stands beside it."""
    line = failed.message.strip().partition("\n")[0]
    return shortened(line.removeprefix(f"{failed.status}: "), _MAX_REASON)


def cited(report: str) -> tuple[str, ...]:
    """Return the methods that a report names as places: of the traceback, innermost first, then of the primitives."""
    places = [method for _, method in _FRAME.findall(report)[::-1]]
    for action, method, _ in _PLACE.findall(report)[::-1]:
        places += [method, action]
    return tuple(dict.fromkeys(filter(None, places)))


def cited_lines(report: str) -> frozenset[int]:
    """Return the line numbers of those places."""
    numbers = [line for line, _ in _FRAME.findall(report)]
    numbers += [line for *_, line in _PLACE.findall(report)]
    return frozenset(int(line) for line in numbers if len(line) < 8)


def _describe_primitives(trace: Sequence[TraceStep], method_at: Callable[[int], str]) -> str:
    """Return primitives with their places, equal neighbours once: ``toggle x3 (walk > _step, line 70)``."""
    parts = []
    for step, run in groupby(trace, key=lambda step: (step.code, step.action, step.line)):
        count = len(list(run))
        code, action, line = step
        method = method_at(line)
        place = f"{action} > {method}" if method not in ("", action) else action
        times = f" x{count}" if count > 1 else ""
        parts.append(f"{PRIMITIVE_METHODS[code]}{times} ({place}, line {line})")
    return "; ".join(parts)
