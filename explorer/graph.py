"""The directed acyclic graph of a scene's milestones, in which an edge means that a hop requires an earlier hop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A hop.

    Attributes:
        id: id of the milestone.
        task: id of the atomic task.
        gate: the obstacle that bars the way to this hop, or None.
        key: what opens the gate, or None.
    """

    id: str
    task: str
    gate: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A required order of two hops: ``after`` cannot be achieved until ``before`` has been achieved.

    Attributes:
        before, after: ids of the hops.
        reason: the cause of the order, in 15 to 25 words.
    """

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Hops in a topological order, of which the last is the goal, and the edges between the hops."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def goal(self) -> Node:
        """The only hop that the task text states to the agent."""
        return self.nodes[-1]
