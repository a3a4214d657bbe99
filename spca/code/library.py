"""The agent's library as prompts show it: whole sources of what is involved, one line for the rest (pure).

Sizes are in characters. Python, PDDL and maps take at least three characters a token (o200k), prose takes four.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final

from spca.code import agent_source, method_lists
from spca.contracts import PRIMITIVE_METHODS, TrustedPDDL
from spca.llm import feedback

MAX_ACTIONS: Final = 2400
"""Characters of the list that a planner gets, so that a prompt does not grow with the library."""

MAX_METHODS: Final = 1700
"""Characters of the list that a coder gets."""

MAX_SOURCE: Final = 5000
"""Characters of method sources shown at most; what does not fit is left out whole."""

MAX_EXCERPTS: Final = 1500
"""Characters of the places that an error points into where the whole method does not fit."""

_AROUND: Final = 5
"""Lines that are shown before and after such a place."""

MAX_TRUSTED: Final = 3000
"""Characters of PDDL that worked before."""

MAX_PROMPT: Final = 13_000
"""Characters of a coder's prompt, system prompt aside; sources give way to the rest."""


def high_level_actions(source: str) -> tuple[agent_source.MethodInfo, ...]:
    """Return the agent's public generator methods."""
    generators = [method for method in agent_source.signatures(source) if method.is_generator]
    return tuple(method for method in generators if not method.name.startswith("_"))


def action_listing(source: str, mission: str) -> str:
    """List the high-level actions for a planner, most relevant to the mission first: ``open_door(agent, door) - ...``.

    At most :data:`MAX_ACTIONS` characters.
    """
    ranked = method_lists.sort_by_relevance(source, high_level_actions(source), [mission.lower()])
    calls: list[tuple[str, str]] = []
    for method in ranked:
        parameters = ", ".join(method.params)
        calls.append((f"{method.name}({parameters})", method.doc))
    return method_lists.fit_lines(calls, MAX_ACTIONS) or "(none yet)"


def missing(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Return those of ``actions`` that the agent lacks, in their order."""
    return tuple(name for name in actions if name not in agent_source.methods_of(source))


def room_for_sources(prompt: str) -> int:
    """Return the characters left for sources, beside a coder's prompt without them and without the list of methods."""
    return max(0, min(MAX_SOURCE, MAX_PROMPT - MAX_METHODS - len(prompt)))


def method_at(source: str) -> Callable[[int], str]:
    """Return what finds the method that a line lies in, "" where none does."""
    found = agent_source.signatures(source)
    return lambda line: next((m.name for m in found if m.first_line <= line <= m.last_line), "")


def find_cited(source: str, error: str) -> tuple[str, ...]:
    """Return the methods that an error points into, by its traceback and the last primitives, but no primitives."""
    existing = agent_source.methods_of(source).keys() - PRIMITIVE_METHODS
    return tuple(name for name in feedback.find_cited_methods(error) if name in existing)


def find_involved(source: str, actions: Collection[str], error: str = "", room: int = MAX_SOURCE) -> tuple[str, ...]:
    """Return what the ``error`` points into, those of ``actions`` that exist, and the helpers they reach.

    They have ``room`` characters; what the error points into has :data:`MAX_SOURCE` in any case. For an action that is
    missing stands the existing one whose name shares most words with it, if any shares one. What the error names most
    often comes first, then the actions, then helpers, nearest first. Primitives are left out, and so is a method that
    no longer fits.
    """
    chosen: list[str] = []
    used = 0
    first = find_cited(source, error)
    for name in dict.fromkeys((*first, *_sort_by_mentions(_find_reachable(source, actions), error))):
        size = len(agent_source.method_source(source, name)) + 2
        if used + size <= (MAX_SOURCE if name in first else room):
            chosen.append(name)
            used += size
    return tuple(chosen)


def sources(source: str, names: Collection[str]) -> str:
    """Return the source of the named methods in the order of the file, below a line with their line numbers."""
    methods = [method for method in agent_source.signatures(source) if method.name in names]
    if not methods:
        return ""

    places = [f"{method.name} {method.first_line}-{method.last_line}" for method in methods]
    head = f"(lines: {', '.join(places)})"
    texts = [agent_source.method_source(source, method.name) for method in methods]
    return "\n\n".join([head, *texts])


def excerpts(source: str, error: str, leave_out: Collection[str]) -> str:
    """Return the lines around the places that the ``error`` points into, where the whole methods are not shown.

    At most :data:`MAX_EXCERPTS` characters.
    """
    lines = agent_source.split_lines(source)
    places = feedback.find_cited_lines(error)
    wanted = set(find_cited(source, error)).difference(leave_out)
    found = list[str]()
    for method in agent_source.signatures(source):
        first = method.first_line
        last = method.last_line
        inside = [place for place in places if first <= place <= last]
        if method.name in wanted and inside:
            shown = _lines_around(lines, inside, first, last)
            intro = f"(of {method.name}, lines {first}-{last}, around the places named:)"
            found.append(f"{intro}\n{shown}")
    return "\n".join(found)[:MAX_EXCERPTS].rstrip()


def _lines_around(lines: Sequence[str], places: Sequence[int], first: int, last: int) -> str:
    """Return the lines from ``first`` to ``last`` that are near one of the places, ``...`` where some are left out."""
    near: set[int] = set()
    for place in places:
        begin = max(first, place - _AROUND)
        end = min(last, place + _AROUND)
        near.update(range(begin, end + 1))

    shown = ""
    previous = min(near) - 1
    for number in sorted(near):
        if number != previous + 1:
            shown += "...\n"
        shown += lines[number - 1]
        previous = number
    return shown


def fit_trusted_pddl(trusted: TrustedPDDL) -> dict[str, str]:
    """Return PDDL that worked before, as it is; of long texts the domain alone, or nothing rather than a part."""
    shown = {"domain": trusted.domain, "problem": trusted.problem}
    while shown and sum(map(len, shown.values())) > MAX_TRUSTED:
        shown.popitem()
    return shown


def listing(
    source: str, *, relevant_to: Collection[str], leave_out: Collection[str] = (), room: int = MAX_METHODS
) -> str:
    """List signatures with first docstring lines in ``room`` characters, most relevant to some actions first."""
    hidden = {*leave_out, *PRIMITIVE_METHODS}
    methods = [method for method in agent_source.signatures(source) if method.name not in hidden]
    ranked = method_lists.sort_by_relevance(source, methods, relevant_to)
    entries = [(method_lists.call(source, method), method.doc) for method in ranked]
    return method_lists.fit_lines(entries, room, whole=True)


def _find_reachable(source: str, actions: Collection[str]) -> Sequence[str]:
    """Return the actions, or what is most like them, and what they call, breadth first."""
    calls = method_lists.calls(source)
    existing = high_level_actions(source)

    shown: list[str] = []
    for name in actions:
        shown += [name] if name in calls else method_lists.nearest(source, existing, name)
    pending = list(dict.fromkeys(shown))
    if pending and "__init__" in calls:
        pending.append("__init__")

    known = {*pending, *PRIMITIVE_METHODS}
    for name in pending:  # grows on the way
        pending.extend(other for other in calls[name] if other not in known)
        known.update(calls[name])
    return pending


def _sort_by_mentions(names: Sequence[str], error: str) -> Sequence[str]:
    mentions = Counter(re.findall(r"\w+", error))
    return sorted(names, key=lambda name: -mentions[name])
