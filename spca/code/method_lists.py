"""Lists of the agent's methods for prompts: the most relevant method first, limited in characters (pure)."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from spca.code import agent_source

MAX_LINE: Final = 160
"""Largest number of characters of a listed method; a longer line is cut between two words."""

_DOCUMENTED: Final = 0.75
"""Fraction of a list's characters for lines with documentation; the remaining lines show signatures only."""


@lru_cache(maxsize=2)
def calls(source: str) -> Mapping[str, tuple[str, ...]]:
    """Map the name of each method to the names of the methods that it calls directly."""
    names = [method.name for method in agent_source.signatures(source)]
    return {name: agent_source.direct_calls(source, name) for name in names}


@lru_cache(maxsize=2)
def _parameters(source: str) -> Mapping[str, str]:
    """Map the name of each method to its parameters as source text."""
    methods = agent_source.methods_of(source)
    return {name: ast.unparse(node.args) for name, node in methods.items()}


def sort_by_relevance(
    source: str, chosen: Iterable[agent_source.MethodInfo], relevant_to: Iterable[str]
) -> Sequence[agent_source.MethodInfo]:
    """Return methods sorted by the number of words that they share with the texts ``relevant_to``, largest first.

    Words in the name count before words in the documentation. Among equal numbers, methods with more callers come
    first.
    """
    wanted = set().union(*map(_words, relevant_to))
    callers = Counter(called for names in calls(source).values() for called in names)

    def rank(method: agent_source.MethodInfo) -> tuple[int, int, int, str]:
        documented = {word for word in _words(method.doc.lower()) if len(word) > 3}
        in_name = len(wanted & _words(method.name))
        in_doc = len(wanted & documented)
        return -in_name, -in_doc, -callers[method.name], method.name

    return sorted(chosen, key=rank)


def nearest(source: str, chosen: Iterable[agent_source.MethodInfo], name: str) -> Sequence[str]:
    """Return a list of one method: the method of ``chosen`` whose name shares most words with ``name``.

    If no name shares a word, the list is empty.
    """
    best = sort_by_relevance(source, chosen, [name])[:1]
    return [method.name for method in best if _words(method.name) & _words(name)]


def call(source: str, method: agent_source.MethodInfo) -> str:
    """Return the signature of a method as source text.

    The word ``yields`` after the signature marks a generator: ``_walk(self, to, steps=9) yields``.
    """
    signature = f"{method.name}({_parameters(source)[method.name]})"
    return f"{signature} yields" if method.is_generator else signature


def fit_lines(entries: Sequence[tuple[str, str]], limit: int, *, whole: bool = False) -> str:
    """Return a line for each entry (call, documentation), in at most ``limit`` characters.

    If entries do not fit, a last line gives their number. If ``whole``, each documentation is shown whole or not at
    all; otherwise lines are shortened to :data:`MAX_LINE` characters.
    """
    lines: list[str] = []
    used = 0
    documented_limit = limit * _DOCUMENTED
    for call, doc in entries:
        line = f"{call} - {doc}" if doc else call
        if whole:
            line = line if used + len(line) <= documented_limit else call
        else:
            line = textwrap.shorten(line if used < documented_limit else call, MAX_LINE, placeholder=" ...")
        if used + len(line) + 1 > limit:
            break
        lines.append(line)
        used += len(line) + 1
    omitted = len(entries) - len(lines)
    return "\n".join([*lines, f"(and {omitted} more)"] if omitted else lines)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))
