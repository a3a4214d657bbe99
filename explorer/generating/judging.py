"""Make the milestones and the graph of a scene from the hops of its plan.

A hop is a planned milestone. The rule of a milestone refers to cells of the scene; an edge of the graph carries a
reason. The witness is a list of actions that achieves the goal.
"""

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
"""Width in degrees of the cone in which the target of a hop to look must lie: 30 degrees to either side."""
HIGHEST: Final = 8
"""Height in cells, above the feet, of the box over a moat or before a cliff; rules count the blocks in this box."""


def make_milestones(hops: list[Hop], placed: Furnished, spawn: Cell) -> tuple[Milestone, ...]:
    """Return one milestone for each hop, in the same order.

    Args:
        hops: all hops, in the order in which the witness achieves them.
    """
    milestones = []
    for number, hop in enumerate(hops, 1):
        text = task(hop.task).text
        rule = _make_rule(hop, placed, spawn)
        milestones.append(Milestone(hop.task, milestone_id(number, hop), text, (rule,)))
    return tuple(milestones)


def milestone_id(number: int, hop: Hop) -> str:
    """Return the milestone id of a hop.

    Args:
        number: position of the hop in the order in which the witness achieves the hops, from 1.
    """
    return f"m{number}_{hop.task}"


def make_graph(hops: list[Hop], before: Order, plan: Plan) -> Graph:
    """Return the graph of hops, without edges that follow from other edges.

    Args:
        hops: all hops, in the order in which the witness achieves them.
        before: hop -> all hops that must come before it.
    """
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
    """Return in words what opens a gate; return None if ``gate`` is None or the gate needs no key."""
    if gate is None or gate.opener == "none":
        return None
    if gate.opener == "devices":
        return " and ".join(device.block for device in gate.devices)
    return gate.item or f"tool for {gate.block}"


def _make_rule(hop: Hop, placed: Furnished, spawn: Cell) -> Rule:
    """Return the rule of a hop's milestone: the condition under which the hop counts as achieved."""
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
    # The only aim left is "lay".
    return AtLeast("block", hop.item, *_offset_bounds(_box_for_laying(passage), spawn))


def _box_for_laying(passage: Passage) -> Box:
    """Return the box in which blocks for crossing a gate count.

    For a moat, the box is above the moat; for a cliff, the box contains the room before the cliff and the gate.
    """
    over_moat = passage.gate.kind == "moat"
    level = passage.parent.floor
    rows = passage.lanes[passage.first : passage.last + 1]
    cells = [(x, level, z) for row in rows for x, z in row]

    box = Box(cells[0], cells[0]) if over_moat else passage.parent.inside
    for cell in cells:
        box = box.include(cell)
    west, floor, north = box.least
    east, _, south = box.most
    lowest = floor - DEPTHS["moat"] if over_moat else floor
    return Box((west, lowest, north), (east, floor + HIGHEST, south))


def _make_thing_rule(hop: Hop, thing: Thing, placed: Furnished, spawn: Cell) -> Rule:
    """Return the rule of a hop about a thing.

    The hop asks the agent to look at the thing, to put a block into its cell, or to kill all its mobs.
    """
    cell = placed.cells[thing][0]
    if hop.aim == "look":
        return NearWithFacing(cell_offset(cell, spawn), LOOK_WITHIN, LOOK_TOLERANCE)
    if hop.aim == "put":
        return AtLeast("block", hop.item, *_offset_bounds(Box(cell, cell), spawn))
    inside = placed.room(thing.area).inside
    return AtMost("mob", thing.block, *_offset_bounds(inside, spawn))


def _offset_bounds(box: Box, spawn: Cell) -> tuple[Offset, Offset]:
    """Return two corners of a box, relative to the spawn: the lowest, then the highest."""
    return cell_offset(box.least, spawn), cell_offset(box.most, spawn)


def _plug_core(passage: Passage) -> Cell:
    """Return the cell of a plug that the witness digs last; while this cell is filled, the plug blocks the passage."""
    x, z = passage.middle[passage.last]
    return x, passage.parent.floor, z
