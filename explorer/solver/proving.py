"""Prove which milestones are necessary for the goal, and which milestones need which other milestones."""

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
    """What closures prove about a scene; a statement that closures do not prove may still be true.

    Attributes:
        everything: the closure without a restraint.
        possible: milestones that could be achieved.
        without: milestone other than the goal -> milestones that could be achieved without this milestone.
        free: milestones whose rules imply no restraint, so that nothing proves that another milestone needs them.
        states: number of states that all closures together visited.
    """

    everything: Closure
    possible: frozenset[str]
    without: Mapping[str, frozenset[str]]
    free: frozenset[str]
    states: int

    def needs(self, later: str, earlier: str) -> bool:
        """Return whether ``later`` cannot be achieved without ``earlier``."""
        possible_without = self.without.get(earlier, {later})
        return later != earlier and later not in possible_without

    def before(self, later: str) -> tuple[str, ...]:
        """Return the milestones that the milestone ``later`` needs."""
        return tuple(earlier for earlier in self.without if self.needs(later, earlier))


def prove(arena: Arena, milestones: Sequence[Milestone]) -> Proven:
    """Return what closures prove about milestones; the last milestone is the goal."""
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
    """Yield a finding for each property of the milestones that closures refute or fail to prove."""
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
    """Yield the ids of the milestones that could be achieved within a closure."""
    return (each.milestone_id for each in milestones if possible(arena, plays, each))
