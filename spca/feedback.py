"""What went wrong, in words that a coder LLM can act on (pure)."""

from __future__ import annotations

from spca.contracts import PRIMITIVE_METHODS, Outcome, Plan
from spca.map_text import LEGEND, draw

_LAST_PRIMITIVES = 24


def failure_report(plan: Plan, outcome: Outcome) -> str:
    """Status, failing step, traceback, last primitives and last map of a failed attempt."""
    lines = [f"status: {outcome.status.value}", f"message: {outcome.message}", f"plan: {plan.text}"]
    if outcome.action is not None and outcome.position is not None:
        lines.append(f"failing step: {outcome.position + 1} of {len(plan.steps)}: {plan.steps[outcome.position]}")
    if outcome.traceback:
        lines += ["traceback:", outcome.traceback]
    lines.append(f"primitives executed: {outcome.steps}")
    if outcome.trace:
        last = [f"{PRIMITIVE_METHODS[s.code]} ({s.action}, line {s.line})" for s in outcome.trace[-_LAST_PRIMITIVES:]]
        lines.append(f"last primitives: {'; '.join(last)}")
    if outcome.printed:
        lines += ["printed:", outcome.printed.rstrip()]
    lines += [f"map at the end ({LEGEND}):", *draw(outcome.last_map)]
    return "\n".join(lines)
