"""A scene with all that its files say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.certificate import Certificate
from explorer.findings import Finding
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.scene import Scene


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A scene, its milestones and where they came from.

    Attributes:
        text: the only thing that an agent is told.
        metadata: ``scene_description``, ``design_notes``, ``knobs``, ``seed``, ``index``, where they are known.
        source: the folder, or the file and line; "" of a scene that was made here.
        published: read from files of others, which say nothing of wires.
        notes: what was dropped or assumed while reading, a line each.
        faults: what reading such files found wrong, in the order of reading.
    """

    scene: Scene
    milestones: tuple[Milestone, ...]
    graph: Graph
    text: str
    certificate: Certificate | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    published: bool = False
    notes: tuple[str, ...] = ()
    faults: tuple[Finding, ...] = ()

    @property
    def hops(self) -> int:
        """How many milestones there are, the goal included."""
        return len(self.milestones)
