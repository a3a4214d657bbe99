"""Check scenes, milestones and graphs for problems that the schema of the files cannot express.

Each problem is an error that names the field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

from explorer.errors import OutsideArenaError, SceneError, UnknownNameError
from explorer.files.building import format_offset
from explorer.findings import FaultKind
from explorer.graph import Graph
from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, box_cells
from explorer.rules.blocks import BLOCKS, Block, code
from explorer.rules.items import item
from explorer.rules.mobs import mob_kind
from explorer.scene import Cell, Scene, offset_to

_DEVICE_KINDS: Final = ("device", "plate")


class GraphOrderError(SceneError):
    """Edges that contradict the order of the hops."""


KINDS: Final[dict[type[SceneError], FaultKind]] = {
    UnknownNameError: FaultKind.UNKNOWN_NAME,
    OutsideArenaError: FaultKind.OUTSIDE_ARENA,
    GraphOrderError: FaultKind.UNORDERED,
}
"""Type of an error -> kind of the fault of the scene; an error of any other type means a malformed file."""


def scene_problems(scene: Scene) -> Iterator[SceneError]:
    """Yield the problems of the spawn and the wires; the errors name fields of ``metadata.json``."""
    x, y, z = scene.spawn.cell
    for cell in ((x, y, z), (x, y + 1, z)):
        block = _find_block(scene, cell)
        if block is None or block.solid or block.kind == "lava":
            yield SceneError(f"the spawn is in {_describe_block(block)}: leave two cells free", field="commands")
    ground = _find_block(scene, (x, y - 1, z))
    if ground is not None and not ground.solid:
        where = _describe_block(ground)
        yield SceneError(f"the spawn is on {where}: put solid ground below ~0 ~0 ~0", field="commands")

    doors = Counter(wire.door for wire in scene.wires)
    wired = Counter(cell for wire in scene.wires for cell in wire.cells)
    for number, wire in enumerate(scene.wires):
        field = f"explorer.wires[{number}]"
        if doors[wire.door] > 1:
            yield SceneError(f"two doors are called {wire.door[:80]!a}: give each its own name", field=f"{field}.door")
        for place, cell in enumerate(wire.cells):
            cell_field = f"{field}.cells[{place}]"
            yield from _device_problems(scene, cell, ("door",), cell_field)
            if wired[cell] > 1:
                yield SceneError("the cell belongs to two doors: keep one", field=cell_field)
        for place, cell in enumerate(wire.needs):
            yield from _device_problems(scene, cell, _DEVICE_KINDS, f"{field}.needs[{place}]")


def _device_problems(scene: Scene, cell: Cell, kinds: tuple[str, ...], field: str) -> Iterator[SceneError]:
    """Yield a problem if a cell lies outside the arena, or if the kind of the block in the cell is not in ``kinds``."""
    block = _find_block(scene, cell)
    offset = format_offset(offset_to(scene.spawn.cell, cell))
    if block is None:
        yield OutsideArenaError(f"{offset} is outside the arena", field=field)
    elif block.kind not in kinds:
        expected = "a door" if kinds == ("door",) else "a lever, button or plate"
        yield SceneError(f"expected {expected} at {offset}, not {block.name}", field=field)


def _find_block(scene: Scene, cell: Cell) -> Block | None:
    """Return the block in a cell, or None if the cell lies outside the arena."""
    for at, cells in zip(cell, scene.size, strict=True):
        if not 0 <= at < cells:
            return None
    x, y, z = cell
    return BLOCKS[int(scene.blocks[y, z, x])]


def _describe_block(block: Block | None) -> str:
    return "no cell of the arena" if block is None else f"a block of {block.name}"


def milestone_problems(milestones: Sequence[Milestone], scene: Scene) -> Iterator[tuple[str, SceneError]]:
    """Yield (id of the milestone, problem) for each problem; the errors name fields of ``milestones.json``."""
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
    """Yield the problems of a rule.

    The problems are an unknown name, a box that contains no cell of the arena, and a target that is not near any cell
    of the arena.
    """
    try:
        _check_names(rule)
    except UnknownNameError as error:
        yield error.at("", "item" if isinstance(rule, InventoryHas) else "object")
    if isinstance(rule, InsideBox | AtLeast | AtMost):
        yield from _box_problems(rule, scene)
    elif isinstance(rule, NearWithFacing) and not _is_near_arena(rule, scene):
        yield OutsideArenaError("no cell of the arena is near the target", field="target")


def _box_problems(rule: InsideBox | AtLeast | AtMost, scene: Scene) -> Iterator[SceneError]:
    """Yield a problem if the box of a rule is empty or contains no cell of the arena."""
    for low, high in zip(rule.min, rule.max, strict=True):
        if low > high:
            yield OutsideArenaError("the box is empty: min is above max", field="max")
            return

    lowest, highest = box_cells(rule.min, rule.max, scene.spawn.cell)
    for low, high, cells in zip(lowest, highest, scene.size, strict=True):
        contains_no_middle = low > high
        is_outside = high < 0 or low >= cells
        if contains_no_middle or is_outside:
            yield OutsideArenaError("no cell of the arena is in the box", field="min")
            return


def _is_near_arena(rule: NearWithFacing, scene: Scene) -> bool:
    """Return whether at least one cell of the arena is within the rule's distance of the target."""
    squared_distance = 0.0
    for offset, origin, cells in zip(rule.target, scene.spawn.cell, scene.size, strict=True):
        distance = _distance_outside(offset + origin, cells - 1)
        squared_distance += distance * distance
    return squared_distance <= rule.max_distance**2


def _check_names(rule: Rule) -> None:
    """Raise UnknownNameError if a rule names an unknown item, mob or block."""
    if isinstance(rule, InventoryHas):
        item(rule.item)
    elif isinstance(rule, AtLeast | AtMost):
        if rule.kind == "mob":
            mob_kind(rule.object)
        elif code(rule.object) == 0:
            raise UnknownNameError("block", rule.object, ())


def _distance_outside(coordinate: float, last: int) -> float:
    """Return the distance of a coordinate from the interval 0 to ``last``; the distance is 0 within the interval."""
    return max(0.0, -coordinate, coordinate - last)


def graph_problems(graph: Graph, ids: Sequence[str]) -> Iterator[SceneError]:
    """Yield the problems of a graph; the errors name fields of ``reasoning_graph.json``.

    The nodes must be in a topological order, with the goal last.

    Args:
        ids: ids of the milestones, the goal last.
    """
    nodes = [node.id for node in graph.nodes]
    has_same_goal = nodes[-1:] == list(ids[-1:])
    if sorted(nodes) != sorted(ids) or not has_same_goal:
        yield SceneError("expected one node for each milestone, by its id, the goal last", field="nodes")

    positions = {name: position for position, name in enumerate(nodes)}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for number, edge in enumerate(graph.edges):
        for name, end in ((edge.before, "from"), (edge.after, "to")):
            if name not in positions:
                yield UnknownNameError("node", name, nodes, field=f"edges[{number}].{end}")
        sorter.add(edge.after, edge.before)

    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " <- ".join(error.args[1])
        yield GraphOrderError(f"hops wait for each other: {cycle[:200]}", field="edges")
        return
    for number, edge in enumerate(graph.edges):
        # The defaults avoid a second problem for an edge with an unknown name.
        before = positions.get(edge.before, -1)
        after = positions.get(edge.after, len(nodes))
        if before > after:
            yield GraphOrderError("the edge goes backwards: list hops after those they need", field=f"edges[{number}]")
