"""Prove which milestones the goal needs, and which milestones need which other milestones.

A closure contains everything that could happen, so what a closure lacks is impossible.
"""

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
    """What closures prove about a scene; a statement that they do not prove may still be true.

    Attributes:
        everything: the closure without a restraint.
        possible: ids of the milestones that could be achieved.
        without: id of each milestone except the goal -> ids of the milestones that could be achieved without it.
        free: ids of the milestones whose rules imply no restraint, so that nothing can be proven to need them.
        states: number of states that all closures visited together.
    """

    everything: Closure
    possible: frozenset[str]
    without: Mapping[str, frozenset[str]]
    free: frozenset[str]
    states: int

    def needs(self, later: str, earlier: str) -> bool:
        """Return whether it is proven that ``later`` cannot be achieved without ``earlier``; both are ids of
        milestones.
        """
        possible_without = self.without.get(earlier, {later})
        return later != earlier and later not in possible_without

    def before(self, later: str) -> tuple[str, ...]:
        """Return the ids of the milestones that the milestone ``later`` is proven to need."""
        return tuple(earlier for earlier in self.without if self.needs(later, earlier))


def prove(arena: Arena, milestones: Sequence[Milestone]) -> Proven:
    """Return what closures prove about the milestones.

    Args:
        milestones: all milestones; the last milestone is the goal.
    """
    everything = closure(arena)
    reachable = frozenset(_list_achievable(arena, everything, milestones))

    without: dict[str, frozenset[str]] = {}
    free = set()
    states = everything.states
    for milestone in milestones[:-1]:
        name = milestone.milestone_id
        restraint_without = restraint(arena, milestone)
        if restraint_without is None:
            without[name] = reachable
            free.add(name)
            continue
        closure_without = closure(arena, restraint_without)
        states += closure_without.states
        without[name] = frozenset(_list_achievable(arena, closure_without, milestones)) - {name}
    return Proven(everything, reachable, without, frozenset(free), states)


def faults(proven: Proven, milestones: Sequence[Milestone], graph: Graph) -> Iterator[Finding]:
    """Yield a finding for each claim about the milestones that closures refute or do not prove."""
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


def _list_achievable(arena: Arena, plays: Closure, milestones: Sequence[Milestone]) -> Iterator[str]:
    """Yield the ids of the milestones that could be achieved in the plays that a closure describes.

    Args:
        plays: the closure.
    """
    return (each.milestone_id for each in milestones if possible(arena, plays, each))
