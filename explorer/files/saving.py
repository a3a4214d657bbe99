"""Save scenes in the published format; equal scenes yield identical bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Final

from explorer.errors import SceneError
from explorer.files.building import size_of
from explorer.files.commands import MAX_ITEMS, MOB_NAME
from explorer.files.exporting import commands_of
from explorer.files.loaded import Loaded
from explorer.files.schema import RULES
from explorer.graph import Graph
from explorer.milestones import InventoryHas, Milestone, Rule
from explorer.rules.blocks import AIR, BLOCKS
from explorer.scene import RULES as VERSION
from explorer.scene import Scene, Wire, offset_to
from spca.common.encoding import json_text
from spca.common.files import make_folder, write_atomic

NAMES: Final = ("metadata", "milestones", "reasoning_graph", "certificate")
"""Names of a scene's files, without ``.json``."""
_RULE_TYPES: Final = {rule: name for name, rule in RULES.items()}
"""Class of a rule -> published type."""


def documents_of(loaded: Loaded) -> dict[str, Any]:
    """Return name of a file, without ``.json`` -> JSON-compatible content.

    If the scene has no certificate, ``certificate`` is missing.

    Raises:
        SceneError: the format cannot express the scene.
    """
    _require_expressible(loaded.scene)
    milestones = [_dump_milestone(each) for each in loaded.milestones]
    documents = {
        "metadata": _dump_metadata(loaded),
        "milestones": {"milestones": milestones},
        "reasoning_graph": _dump_graph(loaded.graph),
    }
    if loaded.certificate is not None:
        documents["certificate"] = asdict(loaded.certificate)
    return documents


def save_scene(folder: Path, loaded: Loaded) -> None:
    """Write the files of a scene into a folder, the certificate last. The folder is created if needed.

    Raises:
        SceneError: the format cannot express the scene.
        SettingsError: the files cannot be written.
    """
    documents = documents_of(loaded)
    make_folder(folder)
    for name, document in documents.items():
        write_atomic(folder / f"{name}.json", json_text(document, indent=1) + "\n")


def scene_line(loaded: Loaded) -> str:
    """Return a scene as one line of JSON Lines, without the line feed.

    Raises:
        SceneError: the format cannot express the scene.
    """
    return json.dumps(documents_of(loaded), separators=(",", ":"))


def _require_expressible(scene: Scene) -> None:
    """Raise SceneError if the files of the scene could not be read again."""
    x, y, z = scene.size
    size_of(((0, 0, 0), (x - 1, y - 1, z - 1)))
    if scene.spawn.aim is not None:
        raise SceneError("a spawn cannot aim at a cell: give it a facing and a pitch", field="spawn.aim")
    if scene.blocks.min() < AIR or scene.blocks.max() >= len(BLOCKS):
        raise SceneError("expected codes of blocks, with air for empty cells", field="blocks")
    for mob in scene.mobs:
        if re.fullmatch(MOB_NAME, mob.name) is None:
            raise SceneError(f"a mob is called {mob.name[:80]!a}: use up to 40 letters, digits and _", field="mobs")
    for name, count in _amounts(scene):
        if not 1 <= count <= MAX_ITEMS:
            raise SceneError(f"{count:,} of {name[:80]}: expected 1 to {MAX_ITEMS:,}", field="items")
    for x, y, z in scene.chests:
        if BLOCKS[scene.blocks[y, z, x]].kind != "chest":
            raise SceneError(f"there are chest contents at {x} {y} {z}, but no chest", field="chests")


def _amounts(scene: Scene) -> Iterator[tuple[str, int]]:
    """Yield (item, count) of each stack on the ground, in a chest or in the inventory."""
    for stack in chain(*scene.items.values(), *scene.chests.values()):
        yield stack.item, stack.count
    yield from scene.inventory.items()


def _dump_metadata(loaded: Loaded) -> dict[str, Any]:
    about = loaded.metadata
    return {
        "scene_name": loaded.scene.name,
        "scene_description": about.get("scene_description", ""),
        "task_text": loaded.text,
        "atomic_tasks_ordered": [each.task for each in loaded.milestones],
        "commands": commands_of(loaded.scene),
        "design_notes": about.get("design_notes", ""),
        "requires": "explorer",
        "explorer": _dump_extension(loaded),
    }


def _dump_extension(loaded: Loaded) -> dict[str, Any]:
    """Return the explorer's extension: the content for which the published format has no keys."""
    scene = loaded.scene
    extension: dict[str, Any] = {"rules": VERSION, "arena": _dump_arena(scene)}
    if scene.wires:
        extension["wires"] = [_dump_wire(scene, wire) for wire in scene.wires]
    if scene.dark:
        extension["dark"] = True
    for name in ("knobs", "seed", "index"):
        if name in loaded.metadata:
            extension[name] = loaded.metadata[name]
    return extension


def _dump_arena(scene: Scene) -> dict[str, Any]:
    """Return the lowest and the highest cell of the arena, relative to the spawn."""
    x, y, z = scene.size
    spawn = scene.spawn.cell
    last = (x - 1, y - 1, z - 1)
    return {"min": offset_to(spawn, (0, 0, 0)), "max": offset_to(spawn, last)}


def _dump_wire(scene: Scene, wire: Wire) -> dict[str, Any]:
    cells = [offset_to(scene.spawn.cell, cell) for cell in wire.cells]
    needs = [offset_to(scene.spawn.cell, cell) for cell in wire.needs]
    return asdict(wire) | {"cells": cells, "needs": needs}


def _dump_milestone(milestone: Milestone) -> dict[str, Any]:
    rules = [{"type": _RULE_TYPES[type(rule)], "params": _dump_params(rule)} for rule in milestone.rules]
    return {
        "task": milestone.task,
        "milestone_id": milestone.milestone_id,
        "description": milestone.description,
        "rules": rules,
    }


def _dump_params(rule: Rule) -> dict[str, Any]:
    params = asdict(rule)
    if not isinstance(rule, InventoryHas):
        params["coordinate_frame"] = "spawn_relative"
    return params


def _dump_graph(graph: Graph) -> dict[str, Any]:
    nodes = []
    for node in graph.nodes:
        fields = asdict(node)
        nodes.append({name: value for name, value in fields.items() if value is not None})
    edges = [{"from": edge.before, "to": edge.after, "reason": edge.reason} for edge in graph.edges]
    return {"nodes": nodes, "edges": edges}
