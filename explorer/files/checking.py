"""Check what types cannot: each problem of a scene, its milestones or graph is an error that names the field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

from explorer.errors import OutsideArenaError, SceneError, UnknownNameError
from explorer.files.building import tilde
from explorer.findings import FaultKind
from explorer.graph import Graph
from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, box_cells
from explorer.rules.blocks import BLOCKS, Block, code
from explorer.rules.items import item
from explorer.rules.mobs import mob_kind
from explorer.scene import Cell, Scene, offset_to

_DEVICES: Final = ("device", "plate")


class GraphOrderError(SceneError):
    """Edges that contradict the order of the hops."""


KINDS: Final[dict[type[SceneError], FaultKind]] = {
    UnknownNameError: FaultKind.UNKNOWN_NAME,
    OutsideArenaError: FaultKind.OUTSIDE_ARENA,
    GraphOrderError: FaultKind.UNORDERED,
}
"""Errors that are faults of the scene; all others mean malformed files."""


def scene_problems(scene: Scene) -> Iterator[SceneError]:
    """Yield the problems of the spawn and the wires; fields are those of ``metadata.json``."""
    x, y, z = scene.spawn.cell
    for cell in ((x, y, z), (x, y + 1, z)):
        block = _block(scene, cell)
        if block is None or block.solid or block.kind == "lava":
            yield SceneError(f"the spawn is in {_named(block)}: leave two cells free", field="commands")
    ground = _block(scene, (x, y - 1, z))
    if ground is not None and not ground.solid:
        yield SceneError(f"the spawn is on {_named(ground)}: put solid ground below ~0 ~0 ~0", field="commands")
    doors = Counter(wire.door for wire in scene.wires)
    wired = Counter(cell for wire in scene.wires for cell in wire.cells)
    for number, wire in enumerate(scene.wires):
        field = f"explorer.wires[{number}]"
        if doors[wire.door] > 1:
            yield SceneError(f"two doors are called {wire.door[:80]!a}: give each its own name", field=f"{field}.door")
        for place, cell in enumerate(wire.cells):
            yield from _device(scene, cell, ("door",), f"{field}.cells[{place}]")
            if wired[cell] > 1:
                yield SceneError("the cell belongs to two doors: keep one", field=f"{field}.cells[{place}]")
        for place, cell in enumerate(wire.needs):
            yield from _device(scene, cell, _DEVICES, f"{field}.needs[{place}]")


def _device(scene: Scene, cell: Cell, kinds: tuple[str, ...], field: str) -> Iterator[SceneError]:
    block = _block(scene, cell)
    offset = tilde(offset_to(scene.spawn.cell, cell))
    if block is None:
        yield OutsideArenaError(f"{offset} is outside the arena", field=field)
    elif block.kind not in kinds:
        what = "a door" if kinds == ("door",) else "a lever, button or plate"
        yield SceneError(f"expected {what} at {offset}, not {block.name}", field=field)


def _block(scene: Scene, cell: Cell) -> Block | None:
    x, y, z = cell
    inside = all(0 <= at < cells for at, cells in zip(cell, scene.size, strict=True))
    return BLOCKS[scene.blocks[y, z, x]] if inside else None


def _named(block: Block | None) -> str:
    return "no cell of the arena" if block is None else f"a block of {block.name}"


def milestone_problems(milestones: Sequence[Milestone], scene: Scene) -> Iterator[tuple[str, SceneError]]:
    """Yield the problems of milestones, with their ids; fields are those of ``milestones.json``."""
    ids = Counter(each.milestone_id for each in milestones)
    for number, milestone in enumerate(milestones):
        name = milestone.milestone_id
        field = f"milestones[{number}]"
        if ids[name] > 1:
            clash = f"two milestones have the id {name[:80]!a}: give each its own"
            yield name, SceneError(clash, field=f"{field}.milestone_id")
        if not milestone.rules:
            yield name, SceneError("a milestone without a rule never holds: add one", field=f"{field}.rules")
        for place, rule in enumerate(milestone.rules):
            for problem in rule_problems(rule, scene):
                yield name, problem.at("", f"{field}.rules[{place}].params")


def rule_problems(rule: Rule, scene: Scene) -> Iterator[SceneError]:
    """Yield the unknown names in a rule, and whether it refers only to places outside the arena."""
    try:
        _check_names(rule)
    except UnknownNameError as error:
        yield error.at("", "item" if isinstance(rule, InventoryHas) else "object")
    last = tuple(cells - 1 for cells in scene.size)
    if isinstance(rule, InsideBox | AtLeast | AtMost):
        if any(low > high for low, high in zip(rule.min, rule.max, strict=True)):
            yield OutsideArenaError("the box is empty: min is above max", field="max")
            return
        low, high = box_cells(rule.min, rule.max, scene.spawn.cell)
        if any(high[axis] < 0 or low[axis] > last[axis] or low[axis] > high[axis] for axis in range(3)):
            yield OutsideArenaError("no cell of the arena is in the box", field="min")
    elif isinstance(rule, NearWithFacing):
        away = (
            _beyond(at + origin, most) for at, origin, most in zip(rule.target, scene.spawn.cell, last, strict=True)
        )
        if sum(distance * distance for distance in away) > rule.max_distance**2:
            yield OutsideArenaError("no cell of the arena is near the target", field="target")


def _check_names(rule: Rule) -> None:
    if isinstance(rule, InventoryHas):
        item(rule.item)
    elif isinstance(rule, AtLeast | AtMost):
        if rule.kind == "mob":
            mob_kind(rule.object)
        elif code(rule.object) == 0:
            raise UnknownNameError("block", rule.object, ())


def _beyond(at: float, last: int) -> float:
    return max(0.0, -at, at - last)


def graph_problems(graph: Graph, ids: Sequence[str]) -> Iterator[SceneError]:
    """Yield the problems of a graph; fields are those of ``reasoning_graph.json``.

    Args:
        ids: ids of the milestones, the goal last.
    """
    nodes = [node.id for node in graph.nodes]
    if sorted(nodes) != sorted(ids) or nodes[-1:] != list(ids[-1:]):
        yield SceneError("expected one node for each milestone, by its id, the goal last", field="nodes")
    place = {name: number for number, name in enumerate(nodes)}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for number, edge in enumerate(graph.edges):
        for name, end in ((edge.before, "from"), (edge.after, "to")):
            if name not in place:
                yield UnknownNameError("node", name, nodes, field=f"edges[{number}].{end}")
        sorter.add(edge.after, edge.before)
    try:
        sorter.prepare()
    except CycleError as error:
        yield GraphOrderError(f"hops wait for each other: {' <- '.join(error.args[1])[:200]}", field="edges")
        return
    for number, edge in enumerate(graph.edges):
        if place.get(edge.before, -1) > place.get(edge.after, len(nodes)):
            yield GraphOrderError("the edge goes backwards: list hops after those they need", field=f"edges[{number}]")
