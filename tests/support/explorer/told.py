"""The scenes built by hand as files would bring them: with a graph, a text and descriptions."""

from __future__ import annotations

import itertools
from dataclasses import replace

from explorer.files import Loaded
from explorer.graph import Edge, Graph, Node
from explorer.rules.actions import Primitive, aim
from tests.support.explorer import scenes
from tests.support.explorer.scenes import Puzzle

TEXT = "Get the emerald."
TO_LEVER = "FORWARD FORWARD FORWARD FORWARD TURN_LEFT FORWARD FORWARD FORWARD"
TO_EMERALD = "BACK BACK BACK TURN_RIGHT FORWARD FORWARD FORWARD FORWARD FORWARD FORWARD"
EMERALD = (
    *(int(Primitive[name]) for name in TO_LEVER.split()),
    *(aim(1, 0, 0), int(Primitive.USE)),
    *(int(Primitive[name]) for name in TO_EMERALD.split()),
)
"""Codes that win :func:`tests.support.explorer.scenes.emerald`."""


def told(puzzle: Puzzle | None = None, text: str = TEXT, name: str = "") -> Loaded:
    """Return a puzzle, the emerald one unless another is given, as a chain of hops."""
    scene, milestones = puzzle or scenes.emerald()
    nodes = tuple(Node(each.milestone_id, each.task) for each in milestones)
    edges = tuple(
        Edge(one.id, other.id, "the door bars the way until this is done") for one, other in itertools.pairwise(nodes)
    )
    return Loaded(replace(scene, name=name or scene.name), milestones, Graph(nodes, edges), text)
