"""A scene together with all other content of the scene's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from explorer.certificate import Certificate
from explorer.findings import Finding
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.scene import Scene


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A scene, its milestones and their graph, and the origin of the scene.

    Attributes:
        text: the goal text, which is all that an agent learns about its task.
        certificate: the proofs of the scene, or None if the scene has no certificate.
        metadata: ``scene_description``, ``design_notes``, ``knobs``, ``seed`` and ``index``, if known.
        source: the folder, or the file and line; "" for a scene made in memory.
        published: whether the scene was read from the published format of other programs, which has no wires.
        notes: content that was left out or assumed while reading, one line each.
        faults: faults found while reading published files, in order.
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
        """Number of milestones, the goal included."""
        return len(self.milestones)


def certificate_file(loaded: Loaded) -> str:
    """Return the location of the certificate of a scene, for error messages."""
    if not loaded.source:
        return loaded.scene.name
    folder = Path(loaded.source)
    return str(folder / "certificate.json") if folder.is_dir() else f"{loaded.source}: certificate"
