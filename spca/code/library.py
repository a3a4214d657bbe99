"""The agent's library in prompts: the whole sources of relevant methods, one line for each other method (pure).

Sizes are in characters. Python, PDDL and maps take at least three characters a token (o200k), prose takes four.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final

from spca.code import agent_source, method_lists
from spca.contracts import TrustedPDDL
from spca.llm import feedback

MAX_ACTIONS: Final = 2400
"""Largest number of characters of a planner's list of actions; bounds the prompt when the library grows."""

MAX_METHODS: Final = 1700
"""Largest number of characters of a coder's list of methods."""

MAX_SOURCE: Final = 5000
"""Largest number of characters of the method sources in a prompt; a method that does not fit is left out completely."""

MAX_EXCERPTS: Final = 1500
"""Largest number of characters of the excerpts from methods that an error names but whose sources do not fit."""

_AROUND: Final = 5
"""Number of lines of an excerpt before and after the line that the error names."""

MAX_TRUSTED: Final = 3000
"""Largest number of characters of PDDL that worked before."""

MAX_PROMPT: Final = 13_000
"""Largest number of characters of a coder's prompt without the system prompt.

Sources get the characters that the other parts leave.
"""


def high_level_actions(source: str) -> tuple[agent_source.MethodInfo, ...]:
    """Return the agent's public generator methods."""
    generators = [method for method in agent_source.signatures(source) if method.is_generator]
    return tuple(method for method in generators if not method.name.startswith("_"))


def action_listing(source: str, mission: str) -> str:
    """List the high-level actions for a planner, the most relevant to the mission first.

    A line is for example ``open_door(agent, door) - ...``.

    The list has at most :data:`MAX_ACTIONS` characters.
    """
    ranked = method_lists.sort_by_relevance(source, high_level_actions(source), [mission.lower()])
    calls: list[tuple[str, str]] = []
    for method in ranked:
        parameters = ", ".join(method.params)
        calls.append((f"{method.name}({parameters})", method.doc))
    return method_lists.fit_lines(calls, MAX_ACTIONS) or "(none yet)"


def missing(source: str, actions: Collection[str]) -> tuple[str, ...]:
    """Return the ``actions`` that the agent lacks, in the given order."""
    return tuple(name for name in actions if name not in agent_source.methods_of(source))


def room_for_sources(prompt: str) -> int:
    """Return the number of characters left for sources in a coder's prompt.

    ``prompt`` is the prompt without sources and without the list of methods.
    """
    return max(0, min(MAX_SOURCE, MAX_PROMPT - MAX_METHODS - len(prompt)))


def method_at(source: str) -> Callable[[int], str]:
    """Return a function that returns the name of the method at a line (from 1); "" outside of methods."""
    methods = agent_source.signatures(source)
    return lambda line: next((m.name for m in methods if m.first_line <= line <= m.last_line), "")


def find_cited(source: str, error: str, primitives: Collection[str]) -> tuple[str, ...]:
    """Return the methods that an error names in its traceback or in its list of the last primitives.

    The agent's primitives are left out.
    """
    existing = agent_source.methods_of(source).keys() - set(primitives)
    return tuple(name for name in feedback.find_cited_methods(error) if name in existing)


def find_involved(
    source: str, actions: Collection[str], primitives: Collection[str], error: str = "", room: int = MAX_SOURCE
) -> tuple[str, ...]:
    """Return the methods that the ``error`` names, the ``actions``, and the helpers that the actions call.

    An action that does not exist is replaced by the existing action whose name shares most words with its name.
    Primitives are left out.

    Methods that the error names come first. Actions and helpers follow, sorted by their number of mentions in the
    error. Among equal numbers the order is breadth-first from the actions.

    The sources fit into ``room`` characters; methods that the error names may use up to :data:`MAX_SOURCE` characters.
    A method that does not fit is left out.
    """
    chosen: list[str] = []
    used = 0
    cited = find_cited(source, error, primitives)
    reachable = _sort_by_mentions(_find_reachable(source, actions, primitives), error)
    for name in dict.fromkeys((*cited, *reachable)):
        size = len(agent_source.method_source(source, name)) + 2  # and the blank line between methods
        if used + size <= (MAX_SOURCE if name in cited else room):
            chosen.append(name)
            used += size
    return tuple(chosen)


def sources(source: str, names: Collection[str]) -> str:
    """Return a line with the line numbers of the named methods, then their sources in source order."""
    methods = [method for method in agent_source.signatures(source) if method.name in names]
    if not methods:
        return ""

    places = [f"{method.name} {method.first_line}-{method.last_line}" for method in methods]
    head = f"(lines: {', '.join(places)})"
    texts = [agent_source.method_source(source, method.name) for method in methods]
    return "\n\n".join([head, *texts])


def excerpts(source: str, error: str, primitives: Collection[str], leave_out: Collection[str]) -> str:
    """Return the lines around each line that the ``error`` names, from methods that are not in ``leave_out``.

    The excerpts have at most :data:`MAX_EXCERPTS` characters.
    """
    lines = agent_source.split_lines(source)
    places = feedback.find_cited_lines(error)
    wanted = set(find_cited(source, error, primitives)).difference(leave_out)
    shown: list[str] = []
    for method in agent_source.signatures(source):
        first = method.first_line
        last = method.last_line
        inside = [place for place in places if first <= place <= last]
        if method.name in wanted and inside:
            excerpt = _lines_around(lines, inside, first, last)
            intro = f"(of {method.name}, lines {first}-{last}, around the places named:)"
            shown.append(f"{intro}\n{excerpt}")
    return "\n".join(shown)[:MAX_EXCERPTS].rstrip()


def _lines_around(lines: Sequence[str], places: Sequence[int], first: int, last: int) -> str:
    """Return the lines from ``first`` to ``last`` (from 1) near the ``places``, with ``...`` for omitted lines."""
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
    """Return PDDL that worked before, with the keys "domain" and "problem", in :data:`MAX_TRUSTED` characters.

    If both are too long together, return only the domain. If the domain alone is too long, return an empty dictionary.
    """
    shown = {"domain": trusted.domain, "problem": trusted.problem}
    while shown and sum(map(len, shown.values())) > MAX_TRUSTED:
        shown.popitem()
    return shown


def listing(
    source: str,
    primitives: Collection[str],
    *,
    relevant_to: Collection[str],
    leave_out: Collection[str] = (),
    room: int = MAX_METHODS,
) -> str:
    """List the signature and the first docstring line of each method, in at most ``room`` characters.

    The methods most relevant to the actions ``relevant_to`` come first. Primitives and the methods in ``leave_out`` are
    omitted.
    """
    hidden = {*leave_out, *primitives}
    methods = [method for method in agent_source.signatures(source) if method.name not in hidden]
    ranked = method_lists.sort_by_relevance(source, methods, relevant_to)
    entries = [(method_lists.call(source, method), method.doc) for method in ranked]
    return method_lists.fit_lines(entries, room, whole=True)


def _find_reachable(source: str, actions: Collection[str], primitives: Collection[str]) -> Sequence[str]:
    """Return the actions and all methods that they call, breadth first.

    An action that does not exist is replaced by the most similar existing action.
    """
    calls = method_lists.calls(source)
    existing = high_level_actions(source)

    roots: list[str] = []
    for name in actions:
        roots += [name] if name in calls else method_lists.nearest(source, existing, name)
    pending = list(dict.fromkeys(roots))
    if pending and "__init__" in calls:
        pending.append("__init__")

    known = {*pending, *primitives}
    for name in pending:  # the list grows during the loop
        pending.extend(other for other in calls[name] if other not in known)
        known.update(calls[name])
    return pending


def _sort_by_mentions(names: Sequence[str], error: str) -> Sequence[str]:
    """Sort names by the number of mentions in the error, most first; equal names keep their order."""
    mentions = Counter(re.findall(r"\w+", error))
    return sorted(names, key=lambda name: -mentions[name])
