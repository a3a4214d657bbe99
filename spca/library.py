"""The agent's library as prompts show it: whole sources of what is involved, one line for the rest (pure)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from spca import agent_code
from spca.contracts import PRIMITIVE_METHODS

MAX_LISTED: Final = 60
"""Methods listed at most, so that a prompt does not grow with the library."""


def high_level_actions(source: str) -> tuple[agent_code.MethodInfo, ...]:
    """The agent's public generator methods."""
    return tuple(
        m
        for m in agent_code.signatures(source)
        if m.is_generator and not m.name.startswith("_") and m.name != "__init__"
    )


def action_listing(source: str) -> str:
    """The high-level actions a planner may use, one line each."""
    return "\n".join(_line(method) for method in high_level_actions(source)[:MAX_LISTED]) or "(none yet)"


def missing(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Those of ``actions`` that the agent lacks, in their order."""
    existing = {method.name for method in agent_code.signatures(source)}
    return tuple(name for name in actions if name not in existing)


def involved(source: str, actions: Collection[str]) -> frozenset[str]:
    """Those of ``actions`` that exist, with every helper they reach; primitives left out."""
    existing = {method.name for method in agent_code.signatures(source)}
    reached = agent_code.call_closure(source, [name for name in actions if name in existing])
    return frozenset(reached) - set(PRIMITIVE_METHODS)


def sources(source: str, names: Collection[str]) -> str:
    """Source of the named methods in the order of the file."""
    order = [method.name for method in agent_code.signatures(source) if method.name in names]
    return "\n\n".join(agent_code.method_source(source, name) for name in order)


def listing(source: str, *, relevant_to: Collection[str], leave_out: Collection[str] = ()) -> str:
    """Signatures with first docstring lines, most relevant first, at most :data:`MAX_LISTED`.

    Relevance: words shared with the wanted actions' names, then how many methods call it.
    """
    methods = [m for m in agent_code.signatures(source) if m.name not in leave_out]
    wanted = {word for name in relevant_to for word in name.split("_")}
    callers = _caller_counts(source)
    ranked = sorted(methods, key=lambda m: (-len(wanted & set(m.name.split("_"))), -callers.get(m.name, 0), m.name))
    return "\n".join(_line(method) for method in ranked[:MAX_LISTED])


def _line(method: agent_code.MethodInfo) -> str:
    call = f"{method.name}({', '.join(('self', *method.params))})"
    return f"{call} - {method.doc}" if method.doc else call


def _caller_counts(source: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for method in agent_code.signatures(source):
        for name in agent_code.direct_calls(source, method.name):
            counts[name] = counts.get(name, 0) + 1
    return counts
