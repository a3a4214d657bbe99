"""Which milestones the goal needs, and in which order they can only be achieved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.findings import FaultKind, Finding
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.solver.closure import Arena, Closure, closure
from explorer.solver.forbid import possible, restraint


@dataclass(frozen=True, slots=True, eq=False)
class Proven:
    """What closures show of a scene. Sound, not complete: what is not shown may still be so.

    Attributes:
        everything: the closure without any restraint.
        possible: milestones that it holds.
        without: milestone -> those that could be achieved although it stays open. The goal is no key.
        free: milestones whose staying open forbids nothing that can be told.
        states: that the closures have looked at, together.
    """

    everything: Closure
    possible: frozenset[str]
    without: Mapping[str, frozenset[str]]
    free: frozenset[str]
    states: int

    def needs(self, later: str, earlier: str) -> bool:
        """Return whether a milestone cannot be achieved unless another one is."""
        return later != earlier and later not in self.without.get(earlier, {later})

    def before(self, later: str) -> tuple[str, ...]:
        """Return the milestones that a milestone needs."""
        return tuple(earlier for earlier in self.without if self.needs(later, earlier))


def prove(arena: Arena, milestones: Sequence[Milestone]) -> Proven:
    """Return what closures show of milestones, the goal being the last."""
    everything = closure(arena)
    reachable = frozenset(_achieved(arena, everything, milestones))
    without: dict[str, frozenset[str]] = {}
    free, states = set(), everything.states
    for milestone in milestones[:-1]:
        name, kept = milestone.milestone_id, restraint(arena, milestone)
        if kept is None:
            without[name] = reachable
            free.add(name)
            continue
        rest = closure(arena, kept)
        states += rest.states
        without[name] = frozenset(_achieved(arena, rest, milestones)) - {name}
    return Proven(everything, reachable, without, frozenset(free), states)


def faults(proven: Proven, milestones: Sequence[Milestone], graph: Graph) -> Iterator[Finding]:
    """Yield what closures refute, or what they should show and do not."""
    names = [each.milestone_id for each in milestones]
    for name in names:
        if name not in proven.possible:
            yield Finding(FaultKind.UNREACHABLE, "no plan of any length reaches it", name)
    for name in names[:-1]:
        if not proven.needs(names[-1], name):
            loose = (
                "nothing shows that the goal needs it" if name in proven.free else "the goal can be reached without it"
            )
            yield Finding(FaultKind.UNNECESSARY, f"{loose}: put a gate before the goal that it opens", name)
    for edge in graph.edges:
        if edge.after != names[-1] and not proven.needs(edge.after, edge.before):
            problem = f"{edge.after} can be had before it: nothing enforces the edge"
            yield Finding(FaultKind.UNORDERED, problem, edge.before)


def _achieved(arena: Arena, all_: Closure, milestones: Sequence[Milestone]) -> Iterator[str]:
    return (each.milestone_id for each in milestones if possible(arena, all_, each))
