"""Save scenes in the published format: the same scene gives the same bytes."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Final

from explorer.errors import SceneError
from explorer.files.building import size_of
from explorer.files.commands import MOB_NAME, MOST_ITEMS
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
_TYPES: Final = {rule: name for name, rule in RULES.items()}


def documents_of(loaded: Loaded) -> dict[str, Any]:
    """Return the contents of the files by name; without ``certificate`` if the scene has none.

    Raises:
        SceneError: this format cannot express the scene.
    """
    _check(loaded.scene)
    documents = {
        "metadata": _metadata(loaded),
        "milestones": {"milestones": [_milestone(each) for each in loaded.milestones]},
        "reasoning_graph": _graph(loaded.graph),
    }
    if loaded.certificate is not None:
        documents["certificate"] = asdict(loaded.certificate)
    return documents


def save_scene(folder: Path, loaded: Loaded) -> None:
    """Write the files of a scene into its own folder, which is created; the certificate comes last.

    Raises:
        SceneError: this format cannot express the scene.
        SettingsError: the files cannot be written.
    """
    documents = documents_of(loaded)
    make_folder(folder)
    for name, document in documents.items():
        write_atomic(folder / f"{name}.json", json_text(document, indent=1) + "\n")


def scene_line(loaded: Loaded) -> str:
    """Return a scene as one line of JSON Lines, without the line feed.

    Raises:
        SceneError: this format cannot express the scene.
    """
    return json.dumps(documents_of(loaded), separators=(",", ":"))


def _check(scene: Scene) -> None:
    """Raise if the files could not be read back."""
    size_of(((0, 0, 0), (scene.size[0] - 1, scene.size[1] - 1, scene.size[2] - 1)))
    if scene.spawn.aim is not None:
        raise SceneError("a spawn cannot aim at a cell: give it a facing and a pitch", field="spawn.aim")
    if not AIR <= int(scene.blocks.min()) <= int(scene.blocks.max()) < len(BLOCKS):
        raise SceneError("expected codes of blocks, with air for empty cells", field="blocks")
    for mob in scene.mobs:
        if re.fullmatch(MOB_NAME, mob.name) is None:
            raise SceneError(f"a mob is called {mob.name[:80]!a}: use up to 40 letters, digits and _", field="mobs")
    stacks = chain(*scene.items.values(), *scene.chests.values())
    for name, count in (*((stack.item, stack.count) for stack in stacks), *scene.inventory.items()):
        if not 1 <= count <= MOST_ITEMS:
            raise SceneError(f"{count:,} of {name[:80]}: expected 1 to {MOST_ITEMS:,}", field="items")
    for x, y, z in scene.chests:
        if BLOCKS[int(scene.blocks[y, z, x])].kind != "chest":
            raise SceneError(f"there are chest contents at {x} {y} {z}, but no chest", field="chests")


def _metadata(loaded: Loaded) -> dict[str, Any]:
    scene = loaded.scene
    about = loaded.metadata
    made = {name: about[name] for name in ("knobs", "seed", "index") if name in about}
    return {
        "scene_name": scene.name,
        "scene_description": about.get("scene_description", ""),
        "task_text": loaded.text,
        "atomic_tasks_ordered": [each.task for each in loaded.milestones],
        "commands": commands_of(scene),
        "design_notes": about.get("design_notes", ""),
        "requires": "explorer",
        "explorer": {"rules": VERSION, "arena": _arena(scene), **_extras(scene), **made},
    }


def _arena(scene: Scene) -> dict[str, Any]:
    x, y, z = scene.size
    spawn = scene.spawn.cell
    return {"min": offset_to(spawn, (0, 0, 0)), "max": offset_to(spawn, (x - 1, y - 1, z - 1))}


def _extras(scene: Scene) -> dict[str, Any]:
    wires = [_wire(scene, wire) for wire in scene.wires]
    return {**({"wires": wires} if wires else {}), **({"dark": True} if scene.dark else {})}


def _wire(scene: Scene, wire: Wire) -> dict[str, Any]:
    cells = [offset_to(scene.spawn.cell, cell) for cell in wire.cells]
    needs = [offset_to(scene.spawn.cell, cell) for cell in wire.needs]
    return asdict(wire) | {"cells": cells, "needs": needs}


def _milestone(milestone: Milestone) -> dict[str, Any]:
    return {
        "task": milestone.task,
        "milestone_id": milestone.milestone_id,
        "description": milestone.description,
        "rules": [{"type": _TYPES[type(rule)], "params": _params(rule)} for rule in milestone.rules],
    }


def _params(rule: Rule) -> dict[str, Any]:
    frame = {} if isinstance(rule, InventoryHas) else {"coordinate_frame": "spawn_relative"}
    return asdict(rule) | frame


def _graph(graph: Graph) -> dict[str, Any]:
    nodes = [{name: value for name, value in asdict(node).items() if value is not None} for node in graph.nodes]
    return {"nodes": nodes, "edges": [{"from": e.before, "to": e.after, "reason": e.reason} for e in graph.edges]}
