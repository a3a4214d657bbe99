"""The milestones of a plan's hops, with rules over cells, and the graph with its reasons."""

from __future__ import annotations

from typing import Final

from explorer.generating.places.deeds import LOOK_WITHIN, room_box
from explorer.generating.places.draft import Box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.rooms import DEPTHS, Passage
from explorer.generating.plans.plan import Gate, Hop, Plan, Thing
from explorer.generating.plans.shapes import Order, direct
from explorer.generating.reasons import gate_of, reason
from explorer.graph import Edge, Graph, Node
from explorer.milestones import (
    AtLeast,
    AtMost,
    InventoryHas,
    Milestone,
    NearWithFacing,
    Offset,
    Rule,
    cell_offset,
)
from explorer.scene import Cell
from explorer.solver.forbid import whole_cells
from explorer.tasks.pool import task

LOOK_TOLERANCE: Final = 60.0
"""Degrees, 30 to either side."""
HIGHEST: Final = 8
"""Height in cells above the feet of the space over a moat or before a cliff that rules count in."""


def milestones(hops: list[Hop], placed: Furnished, spawn: Cell) -> tuple[Milestone, ...]:
    """Return the milestones of hops, which are in the order of the witness."""
    return tuple(
        Milestone(hop.task, milestone_id(number, hop), task(hop.task).text, (_rule(hop, placed, spawn),))
        for number, hop in enumerate(hops, 1)
    )


def milestone_id(number: int, hop: Hop) -> str:
    """Return the id of a hop with its number, from 1."""
    return f"m{number}_{hop.task}"


def graph(hops: list[Hop], before: Order, plan: Plan) -> Graph:
    """Return the graph of hops; it has no edge that others imply."""
    ids = {hop: milestone_id(number, hop) for number, hop in enumerate(hops, 1)}
    gates = {hop: gate_of(hop) for hop in hops}
    nodes = tuple(Node(ids[hop], hop.task, gate.gadget if gate else None, _key(gate)) for hop, gate in gates.items())
    near = direct(before)
    pairs = [(earlier, hop) for hop in hops for earlier in hops if earlier in near[hop]]
    edges = tuple(Edge(ids[earlier], ids[hop], reason(earlier, hop, plan)) for earlier, hop in pairs)
    return Graph(nodes, edges)


def _key(gate: Gate | None) -> str | None:
    if gate is None or gate.opener == "none":
        return None
    if gate.opener == "devices":
        return " and ".join(device.block for device in gate.devices)
    return gate.item or f"tool for {gate.block}"


def _rule(hop: Hop, placed: Furnished, spawn: Cell) -> Rule:
    target = hop.target
    if hop.aim == "item":
        return InventoryHas(hop.item)
    if isinstance(target, Thing):
        return _thing_rule(hop, target, placed, spawn)
    passage = placed.layout.passages[target.number]
    if hop.aim == "enter":
        box = room_box(passage)
        return whole_cells(box.least, box.most, spawn)
    if hop.aim == "gone":
        cell = _core(passage)
        return AtMost("block", passage.gate.block, *_bounds(Box(cell, cell), spawn))
    level = passage.parent.floor
    cells = [(x, level, z) for row in passage.lanes[passage.first : passage.last + 1] for x, z in row]
    box = Box(cells[0], cells[0]) if passage.gate.kind == "moat" else passage.parent.inside
    for cell in cells:
        box = box.joined(cell)
    x, y, z = box.least
    u, _, w = box.most
    low = y - DEPTHS["moat"] if passage.gate.kind == "moat" else y
    return AtLeast("block", hop.item, *_bounds(Box((x, low, z), (u, y + HIGHEST, w)), spawn))


def _thing_rule(hop: Hop, thing: Thing, placed: Furnished, spawn: Cell) -> Rule:
    cell = placed.cells[thing][0]
    if hop.aim == "look":
        return NearWithFacing(cell_offset(cell, spawn), LOOK_WITHIN, LOOK_TOLERANCE)
    if hop.aim == "put":
        return AtLeast("block", hop.item, *_bounds(Box(cell, cell), spawn))
    return AtMost("mob", thing.block, *_bounds(placed.room(thing.area).inside, spawn))


def _bounds(box: Box, spawn: Cell) -> tuple[Offset, Offset]:
    return cell_offset(box.least, spawn), cell_offset(box.most, spawn)


def _core(passage: Passage) -> Cell:
    """Return the cell of a plug that is dug last: nothing passes until it is gone."""
    x, z = passage.middle[passage.last]
    return x, passage.parent.floor, z
