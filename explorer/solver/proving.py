"""Prove which milestones are necessary for the goal, and which must come before which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from explorer.findings import FaultKind, Finding
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.solver.closure import Arena, Closure, closure
from explorer.solver.forbid import possible, restraint


@dataclass(frozen=True, slots=True, eq=False)
class Proven:
    """What closures prove of a scene. Sound but not complete: what they do not prove may still be true.

    Attributes:
        everything: the closure without a restraint.
        possible: milestones that could be achieved.
        without: milestone -> those that could be achieved without it. The goal is not a key.
        free: milestones whose rules yield no restraint.
        states: number of states that all closures visited together.
    """

    everything: Closure
    possible: frozenset[str]
    without: Mapping[str, frozenset[str]]
    free: frozenset[str]
    states: int

    def needs(self, later: str, earlier: str) -> bool:
        """Return whether ``later`` cannot be achieved without ``earlier``."""
        return later != earlier and later not in self.without.get(earlier, {later})

    def before(self, later: str) -> tuple[str, ...]:
        """Return the milestones that a milestone needs."""
        return tuple(earlier for earlier in self.without if self.needs(later, earlier))


def prove(arena: Arena, milestones: Sequence[Milestone]) -> Proven:
    """Return what closures prove of milestones; the goal is the last one."""
    everything = closure(arena)
    reachable = frozenset(_list_achievable(arena, everything, milestones))

    without: dict[str, frozenset[str]] = {}
    free = set()
    states = everything.states
    for milestone in milestones[:-1]:
        name = milestone.milestone_id
        kept = restraint(arena, milestone)
        if kept is None:
            without[name] = reachable
            free.add(name)
            continue
        rest = closure(arena, kept)
        states += rest.states
        without[name] = frozenset(_list_achievable(arena, rest, milestones)) - {name}
    return Proven(everything, reachable, without, frozenset(free), states)


def faults(proven: Proven, milestones: Sequence[Milestone], graph: Graph) -> Iterator[Finding]:
    """Yield what closures refute or fail to prove."""
    names = [each.milestone_id for each in milestones]
    for name in names:
        if name not in proven.possible:
            yield Finding(FaultKind.UNREACHABLE, "no plan of any length reaches it", name)

    for name in names[:-1]:
        if not proven.needs(names[-1], name):
            problem = "the goal can be reached without it"
            if name in proven.free:
                problem = "nothing proves that the goal needs it"
            yield Finding(FaultKind.UNNECESSARY, f"{problem}: put a gate before the goal that it opens", name)

    for first, second in combinations(names[:-1], 2):
        if proven.needs(first, second) and proven.needs(second, first):
            problem = f"{second} and this need each other, so they latch in one step: make them one hop"
            yield Finding(FaultKind.UNORDERED, problem, first)

    for edge in graph.edges:
        if edge.after != names[-1] and not proven.needs(edge.after, edge.before):
            problem = f"{edge.after} can be achieved before it: nothing enforces the edge"
            yield Finding(FaultKind.UNORDERED, problem, edge.before)


def _list_achievable(arena: Arena, all_: Closure, milestones: Sequence[Milestone]) -> Iterator[str]:
    return (each.milestone_id for each in milestones if possible(arena, all_, each))
