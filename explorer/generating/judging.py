"""The milestones of a plan's hops, with rules over cells, and the graph with its reasons."""

from __future__ import annotations

from typing import Final

from explorer.generating.places.deeds import LOOK_WITHIN, room_box
from explorer.generating.places.draft import Box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.rooms import DEPTHS, Passage
from explorer.generating.plans.plan import Gate, Hop, Plan, Thing
from explorer.generating.plans.shapes import Order, reduce_order
from explorer.generating.reasons import explain_edge, find_gate
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


def make_milestones(hops: list[Hop], placed: Furnished, spawn: Cell) -> tuple[Milestone, ...]:
    """Return the milestones of hops, which are in the order of the witness."""
    found = []
    for number, hop in enumerate(hops, 1):
        text = task(hop.task).text
        rule = _make_rule(hop, placed, spawn)
        found.append(Milestone(hop.task, milestone_id(number, hop), text, (rule,)))
    return tuple(found)


def milestone_id(number: int, hop: Hop) -> str:
    """Return the id of a hop with its number, from 1."""
    return f"m{number}_{hop.task}"


def make_graph(hops: list[Hop], before: Order, plan: Plan) -> Graph:
    """Return the graph of hops; it has no edge that others imply."""
    ids = {hop: milestone_id(number, hop) for number, hop in enumerate(hops, 1)}
    direct = reduce_order(before)

    nodes = []
    edges = []
    for hop in hops:
        gate = find_gate(hop)
        gadget = gate.gadget if gate else None
        nodes.append(Node(ids[hop], hop.task, gadget, _describe_key(gate)))
        for earlier in hops:
            if earlier in direct[hop]:
                edges.append(Edge(ids[earlier], ids[hop], explain_edge(earlier, hop, plan)))
    return Graph(tuple(nodes), tuple(edges))


def _describe_key(gate: Gate | None) -> str | None:
    """Return what opens a gate, in words, or None if it needs nothing."""
    if gate is None or gate.opener == "none":
        return None
    if gate.opener == "devices":
        return " and ".join(device.block for device in gate.devices)
    return gate.item or f"tool for {gate.block}"


def _make_rule(hop: Hop, placed: Furnished, spawn: Cell) -> Rule:
    """Return the rule that tells when a hop is done."""
    target = hop.target
    if hop.aim == "item":
        return InventoryHas(hop.item)
    if isinstance(target, Thing):
        return _make_thing_rule(hop, target, placed, spawn)

    passage = placed.layout.passages[target.number]
    if hop.aim == "enter":
        box = room_box(passage)
        return whole_cells(box.least, box.most, spawn)
    if hop.aim == "gone":
        core = _plug_core(passage)
        return AtMost("block", passage.gate.block, *_offset_bounds(Box(core, core), spawn))
    return AtLeast("block", hop.item, *_offset_bounds(_box_for_laying(passage), spawn))


def _box_for_laying(passage: Passage) -> Box:
    """Return the cells where blocks may be laid to pass a gate: over a moat, or before and along a cliff."""
    over_moat = passage.gate.kind == "moat"
    level = passage.parent.floor
    rows = passage.lanes[passage.first : passage.last + 1]
    cells = [(x, level, z) for row in rows for x, z in row]

    box = Box(cells[0], cells[0]) if over_moat else passage.parent.inside
    for cell in cells:
        box = box.include(cell)
    x, y, z = box.least
    u, _, w = box.most
    low = y - DEPTHS["moat"] if over_moat else y
    return Box((x, low, z), (u, y + HIGHEST, w))


def _make_thing_rule(hop: Hop, thing: Thing, placed: Furnished, spawn: Cell) -> Rule:
    cell = placed.cells[thing][0]
    if hop.aim == "look":
        return NearWithFacing(cell_offset(cell, spawn), LOOK_WITHIN, LOOK_TOLERANCE)
    if hop.aim == "put":
        return AtLeast("block", hop.item, *_offset_bounds(Box(cell, cell), spawn))
    inside = placed.room(thing.area).inside
    return AtMost("mob", thing.block, *_offset_bounds(inside, spawn))


def _offset_bounds(box: Box, spawn: Cell) -> tuple[Offset, Offset]:
    """Return the corners of a box relative to the spawn."""
    return cell_offset(box.least, spawn), cell_offset(box.most, spawn)


def _plug_core(passage: Passage) -> Cell:
    """Return the cell of a plug that is dug last: nothing passes until it is gone."""
    x, z = passage.middle[passage.last]
    return x, passage.parent.floor, z
