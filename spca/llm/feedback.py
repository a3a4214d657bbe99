"""What went wrong, in words that an LLM can act on, in the shortest useful form (pure)."""

from __future__ import annotations

from collections.abc import Sequence
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
_MAX_REASON: Final = 290
"""Characters of the reason why a plan failed that a planner gets; the plan itself says most."""


def failure_report(plan: Plan, outcome: Outcome) -> str:
    """Status, failing step, traceback, last primitives and last map of a failed attempt, each cut to its size."""
    message, text = shortened(outcome.message, _MAX_MESSAGE), shortened(plan.text, _MAX_PLAN)
    lines = [f"status: {outcome.status.value}", f"message: {message}", f"plan: {text}"]
    if outcome.action is not None and outcome.position is not None:
        step = shortened(str(plan.steps[outcome.position]), _MAX_PLAN)
        lines.append(f"failing step: {outcome.position + 1} of {len(plan.steps)}: {step}")
    if outcome.traceback:
        lines += ["traceback:", shortened(outcome.traceback, _MAX_TRACEBACK)]
    lines.append(f"primitives executed: {outcome.steps}")
    if outcome.trace:
        lines.append(f"last primitives: {_told(outcome.trace[-_LAST_PRIMITIVES:])}")
    if outcome.printed.strip():
        lines += ["printed:", shortened(outcome.printed.strip(), _MAX_PRINTED)]
    return "\n".join([*lines, "map at the end:", *end_state(outcome.last_map)])


def failed_plans(failed: Sequence[FailedPlan]) -> dict[str, Any]:
    """Return the feedback on the plans that did not solve a level, oldest first."""
    plans = [
        {"plan": shortened(each.plan, _MAX_PLAN), "status": each.status, "message": _reason(each)} for each in failed
    ]
    return {"kind": "plan_failed", "failed_plans": plans}


def pddl_error(message: str) -> dict[str, str]:
    """Return the feedback on PDDL that cannot be used."""
    return {"kind": "pddl_error", "message": shortened(message, _MAX_ERROR)}


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters, the beginning and the end of a longer text."""
    if len(text) <= limit:
        return text
    tail = (limit - 5) // 2
    return f"{text[: limit - 5 - tail]} ... {text[len(text) - tail :]}"


def _reason(failed: FailedPlan) -> str:
    """The first line of the message without the status that stands beside it."""
    line = failed.message.strip().partition("\n")[0]
    return shortened(line.removeprefix(f"{failed.status}: "), _MAX_REASON)


def _told(trace: Sequence[TraceStep]) -> str:
    """Primitives with the place that yielded them, equal neighbours once: ``move_forward x3 (walk, line 70)``."""
    told = []
    for step, run in groupby(trace, key=lambda step: (step.code, step.action, step.line)):
        count = len(list(run))
        code, action, line = step
        told.append(f"{PRIMITIVE_METHODS[code]}{f' x{count}' if count > 1 else ''} ({action}, line {line})")
    return "; ".join(told)
