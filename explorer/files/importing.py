"""Import scenes that other programs wrote in the published format.

Content without a counterpart in the explorer is left out with a note. Errors become findings. Because the files contain
no wires, a lever, button or plate opens each iron door within two cells, and the door stays open. The ground below the
spawn is grass wherever no command sets a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from explorer.errors import SceneError
from explorer.files.building import GROUND, bounds_of, build_scene
from explorer.files.checking import KINDS, graph_problems, milestone_problems, scene_problems
from explorer.files.commands import parse_commands
from explorer.files.loaded import Loaded
from explorer.files.reading import read_rule
from explorer.files.schema import GraphFile, MetadataFile, MilestonesFile
from explorer.findings import Finding
from explorer.graph import Edge, Graph, Node
from explorer.milestones import InventoryHas, Milestone, NearWithFacing, Offset, Rule
from explorer.rules.blocks import has_kind
from explorer.rules.state import doors_of
from explorer.scene import Cell, Scene, Wire, cells_apart

NEAR: Final = 2
"""Largest distance between a door and a device that opens the door, in cells along each axis."""


def import_scene(
    metadata: MetadataFile, hops: MilestonesFile, edges: GraphFile | None, sources: Mapping[str, str], source: str
) -> Loaded:
    """Return a published scene, with notes and faults.

    Args:
        hops: the milestones.
        edges: the graph, or None; without a graph, the milestones form a chain in the order of the file.
        sources: name of a document -> file of the document.
        source: the folder, or the file and line, of the scene.

    Raises:
        SceneError: the scene cannot be built, or no milestone can be judged.
    """
    report = _Report()
    scene, spawn_offset = _build_scene(metadata, report, sources["metadata"])
    milestones = tuple(_import_milestones(hops, spawn_offset, report, sources["milestones"]))
    if not milestones:
        raise SceneError("no milestone can be judged: each needs a rule of a known type", sources["milestones"])
    for name, problem in milestone_problems(milestones, scene):
        report.add_problem(problem.at(sources["milestones"]), name)
    graph = _import_graph(edges, milestones, report, sources["reasoning_graph"])
    about = {"scene_description": metadata.scene_description, "design_notes": metadata.design_notes}
    return Loaded(
        scene,
        milestones,
        graph,
        metadata.task_text,
        metadata=about,
        source=source,
        published=True,
        notes=tuple(report.notes),
        faults=tuple(report.faults),
    )


class _Report:
    """The notes and faults of a scene, collected while the scene is imported."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.faults: list[Finding] = []

    def add_problem(self, error: SceneError, milestone: str = "") -> None:
        """Record an error as a fault if its type is in :data:`KINDS`, else as a note."""
        kind = KINDS.get(type(error))
        if kind is None:
            self.notes.append(f"left out: {error}")
        else:
            self.faults.append(Finding(kind, error.problem, milestone, error.source, error.field))


def _build_scene(metadata: MetadataFile, report: _Report, source: str) -> tuple[Scene, Cell]:
    """Return (scene, player's final cell relative to the origin of the commands).

    Notes and faults are added to the report.
    """
    parsed = parse_commands(metadata.commands)
    for number, error in parsed.faults:
        report.add_problem(error.at(source, f"commands[{number}]"))
    report.notes += parsed.notes

    arena = bounds_of(parsed.deeds)
    try:
        scene, spawn_offset = build_scene(parsed.deeds, arena, GROUND)
    except SceneError as error:
        error.at(source, "commands")
        raise
    report.notes.append("the world ends at the outermost block that a command names; below the spawn it is grass")

    wires = tuple(default_wires(scene))
    for wire in wires:
        report.notes.append(f"{wire.door} is opened for good by any of {len(wire.needs)} devices near it")
    scene = replace(scene, name=metadata.scene_name, wires=wires)
    for problem in scene_problems(scene):
        report.add_problem(problem.at(source))
    return scene, spawn_offset


def default_wires(scene: Scene) -> Iterator[Wire]:
    """Yield a wire for each iron door that has devices nearby.

    The function serves scenes whose files contain no wires.
    """
    is_device = has_kind("device", "plate")[scene.blocks]
    devices = [(x, y, z) for y, z, x in np.argwhere(is_device).tolist()]
    for number, door in enumerate(doors_of(scene), 1):
        near = [device for device in devices if _is_near(device, door.cells)]
        if near:
            yield Wire(f"door_{number}", door.cells, tuple(near))


def _is_near(device: Cell, door: Iterable[Cell]) -> bool:
    return any(cells_apart(device, cell) <= NEAR for cell in door)


def _import_milestones(hops: MilestonesFile, spawn_offset: Cell, report: _Report, source: str) -> Iterator[Milestone]:
    """Yield the milestones that can be judged, with spawn-relative rules, and report all other milestones.

    Args:
        spawn_offset: the spawn relative to the origin of the commands.
    """
    for number, text in enumerate(hops.milestones):
        rules = []
        try:
            for place, rule_text in enumerate(text.rules):
                rule = read_rule(rule_text, source, f"milestones[{number}].rules[{place}]")
                rules.append(_shift_rule(rule, spawn_offset))
        except SceneError as error:
            report.add_problem(error, text.milestone_id)
            rules = []  # a milestone is left out if any of its rules cannot be judged
        if rules:
            yield Milestone(text.task, text.milestone_id, text.description, tuple(rules))
        else:
            report.notes.append(f"{text.milestone_id} is left out: its rules cannot be judged here")


def _shift_rule(rule: Rule, spawn_offset: Cell) -> Rule:
    """Return the rule with coordinates relative to the spawn instead of the origin of the commands.

    Args:
        spawn_offset: the spawn relative to the origin of the commands.
    """
    if isinstance(rule, InventoryHas):
        return rule
    if isinstance(rule, NearWithFacing):
        return replace(rule, target=_subtract(rule.target, spawn_offset))
    return replace(rule, min=_subtract(rule.min, spawn_offset), max=_subtract(rule.max, spawn_offset))


def _subtract(point: Offset, origin: Cell) -> Offset:
    x, y, z = point
    return x - origin[0], y - origin[1], z - origin[2]


def _import_graph(edges: GraphFile | None, milestones: Sequence[Milestone], report: _Report, source: str) -> Graph:
    """Return the graph, in which an edge joins the ids of two milestones.

    A published edge may name a task instead of an id. If there is no published graph, the milestones form a chain.
    """
    ids = [each.milestone_id for each in milestones]
    nodes = tuple(Node(each.milestone_id, each.task) for each in milestones)
    if edges is None:
        report.notes.append("there is no graph: the milestones are taken in order")
        chain = [Edge(before, after, "in the order of the file") for before, after in pairwise(ids)]
        return Graph(nodes, tuple(chain))

    id_of_name = {each.task: each.milestone_id for each in milestones}
    id_of_name.update({name: name for name in ids})
    kept = []
    for number, edge in enumerate(edges.edges):
        before = id_of_name.get(edge.before)
        after = id_of_name.get(edge.after)
        if before is None or after is None:
            report.notes.append(f"edges[{number}] is left out: it names no milestone")
        else:
            kept.append(Edge(before, after, edge.reason))
    graph = Graph(nodes, tuple(kept))
    for problem in graph_problems(graph, ids):
        report.add_problem(problem.at(source))
    return graph
