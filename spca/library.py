"""The agent's library as prompts show it: whole sources of what is involved, one line for the rest (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from spca import agent_code
from spca.contracts import PRIMITIVE_METHODS

MAX_LISTED: Final = 60
"""Methods listed at most, so that a prompt does not grow with the library."""

MAX_LINE: Final = 120
"""Characters of a listed method."""

MAX_SOURCE: Final = 24_000
"""Characters of method sources shown at most; the methods asked for come first, then the helpers nearest to them."""


def high_level_actions(source: str) -> tuple[agent_code.MethodInfo, ...]:
    """The agent's public generator methods."""
    return tuple(m for m in agent_code.signatures(source) if m.is_generator and not m.name.startswith("_"))


def action_listing(source: str, mission: str) -> str:
    """The high-level actions a planner may use, most relevant to the mission first, at most :data:`MAX_LISTED`."""
    ranked = _ranked(source, high_level_actions(source), [mission.lower()])
    return "\n".join(map(_line, ranked)) or "(none yet)"


def missing(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Those of ``actions`` that the agent lacks, in their order."""
    existing = {method.name for method in agent_code.signatures(source)}
    return tuple(name for name in actions if name not in existing)


def involved(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Those of ``actions`` that exist and the helpers they reach, nearest first, up to :data:`MAX_SOURCE` characters.

    Primitives are left out, and so is a helper that no longer fits.
    """
    existing = {method.name for method in agent_code.signatures(source)}
    pending = [name for name in actions if name in existing]
    pending += ["__init__"] if pending and "__init__" in existing else []
    chosen: list[str] = []
    left = MAX_SOURCE
    for name in pending:
        size = len(agent_code.method_source(source, name))
        if size <= left or name in actions:
            chosen.append(name)
            left -= size
        called = agent_code.direct_calls(source, name)
        pending.extend(other for other in called if other not in pending and other not in PRIMITIVE_METHODS)
    return tuple(chosen)


def sources(source: str, names: Collection[str]) -> str:
    """Source of the named methods in the order of the file."""
    order = [method.name for method in agent_code.signatures(source) if method.name in names]
    return "\n\n".join(agent_code.method_source(source, name) for name in order)


def listing(source: str, *, relevant_to: Collection[str], leave_out: Collection[str] = ()) -> str:
    """Signatures with first docstring lines, most relevant to some actions first, at most :data:`MAX_LISTED`."""
    methods = [m for m in agent_code.signatures(source) if m.name not in leave_out]
    return "\n".join(map(_line, _ranked(source, methods, relevant_to)))


def _ranked(
    source: str, methods: Iterable[agent_code.MethodInfo], relevant_to: Iterable[str]
) -> Sequence[agent_code.MethodInfo]:
    """Methods that share words with the given texts first, then those that many others call."""
    wanted = set().union(*map(_words, relevant_to))
    callers = _caller_counts(source)
    ranked = sorted(methods, key=lambda m: (-len(wanted & _words(m.name)), -callers.get(m.name, 0), m.name))
    return ranked[:MAX_LISTED]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def _line(method: agent_code.MethodInfo) -> str:
    call = f"{method.name}({', '.join(('self', *method.params))})"
    line = f"{call} - {method.doc}" if method.doc else call
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 3]}..."


def _caller_counts(source: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for method in agent_code.signatures(source):
        for name in agent_code.direct_calls(source, method.name):
            counts[name] = counts.get(name, 0) + 1
    return counts
