"""Which hop needs which: the directed acyclic graph of a scene's milestones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A hop.

    Attributes:
        id: of its milestone.
        task: id of the atomic task.
        gate: what bars the way to it, None if nothing does.
        key: what opens that gate.
    """

    id: str
    task: str
    gate: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """``before`` has to be achieved before ``after`` can be.

    Attributes:
        reason: why, in 15 to 25 words.
    """

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Hops in an order that their edges allow; the last one is the goal."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def goal(self) -> Node:
        """The hop that the agent is told."""
        return self.nodes[-1]
