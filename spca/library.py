"""The agent's library as prompts show it: whole sources of what is involved, one line for the rest (pure).

Sizes are in characters. Python, PDDL and maps take at least three characters a token (o200k), prose takes four.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from spca import agent_code
from spca.contracts import PRIMITIVE_METHODS, TrustedPDDL

MAX_ACTIONS: Final = 2400
"""Characters of the list that a planner gets, so that a prompt does not grow with the library."""

MAX_METHODS: Final = 1800
"""Characters of the list that a coder gets."""

MAX_LINE: Final = 120
"""Characters of a listed method."""

MAX_SOURCE: Final = 5000
"""Characters of method sources shown at most; what does not fit is left out whole."""

MAX_TRUSTED: Final = 3300
"""Characters of PDDL that worked before."""

MAX_PROMPT: Final = 13_500
"""Characters of a coder's prompt, system prompt aside; sources give way to the rest."""

_DOCUMENTED: Final = 0.75
"""Share of a list for lines that tell what a method does; from there on signatures alone."""


def high_level_actions(source: str) -> tuple[agent_code.MethodInfo, ...]:
    """The agent's public generator methods."""
    return tuple(m for m in _methods(source) if m.is_generator and not m.name.startswith("_"))


def action_listing(source: str, mission: str) -> str:
    """The high-level actions a planner may use, most relevant to the mission first: ``open_door(agent, door) - ...``.

    At most :data:`MAX_ACTIONS` characters.
    """
    methods = [m for m in high_level_actions(source) if m.name not in PRIMITIVE_METHODS]
    ranked = _ranked(source, methods, [mission.lower()])
    return _fitting([(f"{m.name}({', '.join(m.params)})", m.doc) for m in ranked], MAX_ACTIONS) or "(none yet)"


def missing(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Those of ``actions`` that the agent lacks, in their order."""
    existing = {method.name for method in _methods(source)}
    return tuple(name for name in actions if name not in existing)


def room_for_sources(prompt: str) -> int:
    """Characters that may be spent on sources beside a coder's prompt that lacks them and the list of methods."""
    return max(0, min(MAX_SOURCE, MAX_PROMPT - MAX_METHODS - len(prompt)))


def involved(source: str, actions: Collection[str], error: str = "", room: int = MAX_SOURCE) -> tuple[str, ...]:
    """Those of ``actions`` that exist and the helpers they reach, up to ``room`` characters.

    What the ``error`` names most often comes first, then the actions, then helpers, nearest first. Primitives are left
    out, and so is a method that no longer fits.
    """
    chosen: list[str] = []
    left = room
    for name in _by_mentions(_reached(source, actions), error):
        size = len(agent_code.method_source(source, name)) + 2
        if size <= left:
            chosen.append(name)
            left -= size
    return tuple(chosen)


def sources(source: str, names: Collection[str]) -> str:
    """Source of the named methods in the order of the file, below a line that tells the lines where they stand."""
    methods = [method for method in _methods(source) if method.name in names]
    if not methods:
        return ""
    places = ", ".join(f"{m.name} {m.first_line}-{m.last_line}" for m in methods)
    return "\n\n".join([f"(lines: {places})", *(agent_code.method_source(source, m.name) for m in methods)])


def trusted_pddl(trusted: TrustedPDDL) -> dict[str, str]:
    """PDDL that worked before, as it is; of long texts the domain alone, or nothing rather than a part of it."""
    shown = {"domain": trusted.domain, "problem": trusted.problem}
    while shown and sum(map(len, shown.values())) > MAX_TRUSTED:
        shown.popitem()
    return shown


def listing(source: str, *, relevant_to: Collection[str], leave_out: Collection[str] = ()) -> str:
    """Signatures with first docstring lines, most relevant to some actions first, :data:`MAX_METHODS` characters."""
    methods = [m for m in _methods(source) if m.name not in {*leave_out, *PRIMITIVE_METHODS}]
    ranked = _ranked(source, methods, relevant_to)
    return _fitting([(f"{m.name}({', '.join(('self', *m.params))})", m.doc) for m in ranked], MAX_METHODS)


def _reached(source: str, actions: Collection[str]) -> Sequence[str]:
    """The actions that exist and what they call, breadth first."""
    calls = _calls(source)
    pending = [name for name in actions if name in calls]
    pending += ["__init__"] if pending and "__init__" in calls else []
    for name in pending:
        pending.extend(other for other in calls[name] if other not in pending and other not in PRIMITIVE_METHODS)
    return pending


def _by_mentions(names: Sequence[str], error: str) -> Sequence[str]:
    mentions = Counter(re.findall(r"\w+", error))
    return sorted(names, key=lambda name: -mentions[name])


def _ranked(
    source: str, methods: Iterable[agent_code.MethodInfo], relevant_to: Iterable[str]
) -> Sequence[agent_code.MethodInfo]:
    """Methods that share words with the given texts first, then those that many others call."""
    wanted = set().union(*map(_words, relevant_to))
    callers = _caller_counts(source)

    def rank(method: agent_code.MethodInfo) -> tuple[int, int, int, str]:
        told = {word for word in _words(method.doc.lower()) if len(word) > 3}
        return -len(wanted & _words(method.name)), -len(wanted & told), -callers.get(method.name, 0), method.name

    return sorted(methods, key=rank)


def _fitting(methods: Sequence[tuple[str, str]], limit: int) -> str:
    """A line for each (call, documentation), up to ``limit`` characters; the last one counts what is left out."""
    lines: list[str] = []
    used = 0
    for call, doc in methods:
        line = _line(call, doc if used < limit * _DOCUMENTED else "")
        if used + len(line) + 1 > limit:
            break
        lines.append(line)
        used += len(line) + 1
    left = len(methods) - len(lines)
    return "\n".join([*lines, f"(and {left} more)"] if left else lines)


def _line(call: str, doc: str) -> str:
    line = f"{call} - {doc}" if doc else call
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 3]}..."


@lru_cache(maxsize=2)
def _methods(source: str) -> tuple[agent_code.MethodInfo, ...]:
    return agent_code.signatures(source)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def _caller_counts(source: str) -> Counter[str]:
    return Counter(called for names in _calls(source).values() for called in names)


@lru_cache(maxsize=2)
def _calls(source: str) -> Mapping[str, tuple[str, ...]]:
    """What each method calls."""
    return {method.name: agent_code.direct_calls(source, method.name) for method in _methods(source)}
