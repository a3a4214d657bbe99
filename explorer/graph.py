"""The directed acyclic graph of a scene's milestones: which hop needs which."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A hop.

    Attributes:
        id: id of its milestone.
        task: id of the atomic task.
        gate: what bars the way to it, or None.
        key: what opens that gate.
    """

    id: str
    task: str
    gate: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """``before`` must be achieved before ``after`` can be.

    Attributes:
        reason: why, in 15 to 25 words.
    """

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Hops in a topological order; the last one is the goal."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def goal(self) -> Node:
        """The only hop that the agent is told about."""
        return self.nodes[-1]
