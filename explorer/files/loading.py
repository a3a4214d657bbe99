"""Load scenes from files.

Files with the explorer's extension are checked strictly. :mod:`explorer.files.importing` reads all other files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from explorer.certificate import Certificate
from explorer.errors import SceneError
from explorer.files.building import Box, build_scene
from explorer.files.checking import graph_problems, milestone_problems, scene_problems
from explorer.files.commands import parse_commands
from explorer.files.importing import import_scene
from explorer.files.json_text import file_text, json_value, validate
from explorer.files.loaded import Loaded
from explorer.files.reading import read_rule
from explorer.files.saving import NAMES
from explorer.files.schema import GRAPH, METADATA, MILESTONES, Extension, GraphFile, MetadataFile, MilestonesFile
from explorer.graph import Edge, Graph, Node
from explorer.milestones import Milestone
from explorer.scene import Cell, Scene, Wire, offset_to

CERTIFICATE: Final = TypeAdapter(Certificate)


def load_scene(folder: Path) -> Loaded:
    """Return the scene in a folder. Only a scene of other programs has notes and faults.

    Raises:
        SceneError: a file is missing or malformed, or a scene with the explorer's extension has a problem. The error
            names file and field.
    """
    files = {name: folder / f"{name}.json" for name in NAMES}
    documents = {}
    for name, path in files.items():
        if name == "metadata" or path.exists():
            documents[name] = json_value(file_text(path), str(path))
    sources = {name: str(path) for name, path in files.items()}
    return _load_documents(documents, sources, str(folder))


def scene_of_line(line: str, source: str) -> Loaded:
    """Return the scene in a line of JSON Lines.

    Args:
        source: file and line, for errors.

    Raises:
        SceneError: see :func:`load_scene`.
    """
    documents = json_value(line, source)
    if not isinstance(documents, dict) or "metadata" not in documents:
        raise SceneError("expected an object with metadata, milestones and reasoning_graph", source)
    sources = {name: f"{source}: {name}" for name in NAMES}
    return _load_documents(documents, sources, source)


def _load_documents(documents: Mapping[str, Any], sources: Mapping[str, str], source: str) -> Loaded:
    """Return the scene that documents describe.

    Args:
        documents: name of a document -> JSON value.
        sources: name of a document -> file of the document, for errors.
        source: the folder, or the file and line, of the scene.
    """
    metadata = validate(METADATA, documents["metadata"], sources["metadata"])
    milestones_value = _find_document(documents, "milestones")
    graph_value = _find_document(documents, "reasoning_graph")
    if milestones_value is None:
        raise SceneError("there is no such file: a scene needs its milestones", sources["milestones"])
    hops = validate(MILESTONES, milestones_value, sources["milestones"])
    edges = None if graph_value is None else validate(GRAPH, graph_value, sources["reasoning_graph"])
    if metadata.explorer is None:
        return import_scene(metadata, hops, edges, sources, source)

    if edges is None:
        raise SceneError("there is no such file: a scene needs its graph", sources["reasoning_graph"])
    certificate_value = documents.get("certificate")
    certificate = None
    if certificate_value is not None:
        certificate = validate(CERTIFICATE, certificate_value, sources["certificate"])

    scene = _build_scene(metadata, metadata.explorer, sources["metadata"])
    milestones = _read_milestones(hops, sources["milestones"])
    _raise_first((problem for _, problem in milestone_problems(milestones, scene)), sources["milestones"])
    if metadata.atomic_tasks_ordered != [each.task for each in milestones]:
        raise SceneError("expected the tasks of the milestones, in order", sources["metadata"], "atomic_tasks_ordered")

    graph = _read_graph(edges)
    ids = [each.milestone_id for each in milestones]
    _raise_first(graph_problems(graph, ids), sources["reasoning_graph"])

    about: dict[str, Any] = metadata.explorer.model_dump(include={"knobs", "seed", "index"}, exclude_unset=True)
    about["scene_description"] = metadata.scene_description
    about["design_notes"] = metadata.design_notes
    return Loaded(scene, milestones, graph, metadata.task_text, certificate, about, source)


def _find_document(documents: Mapping[str, Any], name: str) -> Any:
    """Return a document, or None if the document is missing.

    In a published scene, the document may be a field of the metadata instead of a file.
    """
    return documents.get(name, documents["metadata"].get(name))


def _build_scene(metadata: MetadataFile, extension: Extension, source: str) -> Scene:
    """Return the scene that the commands and the extension describe; raise the first error if there is one."""
    parsed = parse_commands(metadata.commands)
    for number, error in parsed.faults:
        raise error.at(source, f"commands[{number}]")

    arena = extension.arena.min, extension.arena.max
    try:
        built, spawn_offset = build_scene(parsed.deeds, arena)
    except SceneError as error:
        error.at(source, "commands")
        raise
    if spawn_offset != (0, 0, 0):
        raise SceneError("/tp must put the player at ~0 ~0 ~0", source, "commands")

    wires = []
    for wire in extension.wires:
        cells = _arena_cells(wire.cells, arena)
        needs = _arena_cells(wire.needs, arena)
        wires.append(Wire(wire.door, cells, needs, wire.mode, wire.holds))
    scene = replace(built, name=metadata.scene_name, wires=tuple(wires), dark=extension.dark)
    _raise_first(scene_problems(scene), source)
    return scene


def _read_milestones(hops: MilestonesFile, source: str) -> tuple[Milestone, ...]:
    milestones = []
    for number, text in enumerate(hops.milestones):
        rules = []
        for place, rule in enumerate(text.rules):
            rules.append(read_rule(rule, source, f"milestones[{number}].rules[{place}]"))
        milestones.append(Milestone(text.task, text.milestone_id, text.description, tuple(rules)))
    return tuple(milestones)


def _read_graph(edges: GraphFile) -> Graph:
    nodes = [Node(node.id, node.task or node.id, node.gate, node.key) for node in edges.nodes]
    kept = [Edge(edge.before, edge.after, edge.reason) for edge in edges.edges]
    return Graph(tuple(nodes), tuple(kept))


def _arena_cells(offsets: Iterable[Cell], arena: Box) -> tuple[Cell, ...]:
    """Convert spawn-relative cells into cells counted from the lowest corner of the arena."""
    return tuple(offset_to(arena[0], at) for at in offsets)


def _raise_first(problems: Iterable[SceneError], source: str) -> None:
    """Raise the first problem, if there is one."""
    for problem in problems:
        raise problem.at(source)
