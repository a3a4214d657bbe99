"""Forbid a milestone: find what remains possible in plays that never achieve it.

A play is any sequence of actions. Every play that never achieves a certain milestone obeys a
:class:`explorer.solver.closure.Restraint`. The closure under this restraint contains everything that could happen in
these plays. If it does not contain the goal, the milestone is necessary. Any other milestone that it does not contain
can be achieved only after the forbidden milestone.

A body may be anywhere in a cell. So a restraint keeps feet only out of the cells that lie wholly inside a box. But a
body could be inside the box in every cell that overlaps the box. :func:`whole_cells` makes a box that consists of whole
cells. Entering a box can be proven necessary only if the box reaches from wall to wall, and higher than any body can
reach.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from explorer.milestones import (
    AtLeast,
    AtMost,
    InsideBox,
    InventoryHas,
    Milestone,
    NearWithFacing,
    Rule,
    bare,
)
from explorer.rules.blocks import AIR, BLOCKS
from explorer.scene import Cell, move_by, offset_to
from explorer.solver.closure import Arena, Closure, Restraint
from explorer.solver.places import CORNER, REST, box_of, counted_cells, mobs_of, where_holds
from explorer.solver.stock import ANY, has_block, most_of_block

_AIR: Final = BLOCKS[AIR].name
THINNEST: Final = 2
"""Least width in cells, along x and z, of a box that a step cannot cross without ending inside; a jump spans 2 cells.
"""


def whole_cells(low: Cell, high: Cell, spawn: Cell) -> InsideBox:
    """Return the rule of being inside a box of whole cells, so that no body slips past the box along a wall.

    The bounds of the rule are in metres and relative to the spawn.

    Args:
        low, high: lowest and highest cell of the box, both included.
    """
    x, y, z = offset_to(spawn, low)
    least = x - 0.5, float(y), z - 0.5
    x, y, z = offset_to(spawn, high)
    greatest = x + 0.5, y + 1.0, z + 0.5
    return InsideBox(least, greatest)


def restraint(arena: Arena, milestone: Milestone) -> Restraint | None:
    """Return the restraint that every play obeys which never achieves ``milestone``.

    Return None if the milestone's rules do not imply a restraint.
    """
    # A play may make each of several rules hold, as long as not all of them hold at once.
    if len(milestone.rules) != 1:
        return None
    rule = milestone.rules[0]
    match rule:
        case InventoryHas() if rule.min_count > 0:
            return Restraint(caps={bare(rule.item): rule.min_count - 1})
        case InsideBox():
            return _forbid_box(arena, rule)
        case AtLeast():
            return _forbid_laying(arena, rule)
        case AtMost():
            return _forbid_removing(arena, rule)
        case InventoryHas() | NearWithFacing():
            return None


def possible(arena: Arena, closure: Closure, milestone: Milestone) -> bool:
    """Return whether a milestone could be achieved in the plays that a closure describes."""
    return all(_can_hold(arena, closure, rule) for rule in milestone.rules)


def _forbid_box(arena: Arena, rule: InsideBox) -> Restraint | None:
    """Return the restraint that keeps feet out of a box.

    Where the box has no ground, bodies may fall through it, because a step may end below the box. Return None if a step
    could cross the box, or if the box does not contain a whole cell.
    """
    low, high = _find_whole_cells(rule, arena.scene.spawn.cell)
    last_x, last_y, last_z = offset_to(low, high)
    is_thin = min(last_x, last_z) + 1 < THINNEST
    is_empty = last_y < 0
    if is_thin or is_empty:
        return None

    # A negative bound would count from the other end of the array.
    x, y, z = (slice(max(first, 0), max(last + 1, 0)) for first, last in zip(low, high, strict=True))
    whole = np.zeros(arena.scene.blocks.shape, np.bool_)
    whole[y, z, x] = True
    floor = low[1]
    ground = arena.space.solid(arena.lasting)[max(floor - 1, 0), z, x]
    grounded = np.zeros_like(whole)
    grounded[y, z, x] = ground | (floor <= 0)

    inside = arena.space.flat(whole) & ~arena.lasting
    # If a plate lies on a door inside the box, a step that opens the door may end below the box.
    above_doors = {place + arena.space.up for place in arena.leaves}
    if any(inside[place] for place in above_doors - arena.leaves):
        return None
    return Restraint(shut=arena.space.flat(grounded), through=arena.space.flat(whole & ~grounded))


def _find_whole_cells(rule: InsideBox, spawn: Cell) -> tuple[Cell, Cell]:
    """Return the lowest and the highest of the cells that lie wholly inside a box.

    If there are no such cells, the lowest cell exceeds the highest cell along an axis.
    """
    # The bounds are relative to the middle of the base of the spawn's cell.
    low_x, low_y, low_z = (math.ceil(bound + half) for bound, half in zip(rule.min, CORNER, strict=True))
    high_x, high_y, high_z = (math.floor(bound - rest) for bound, rest in zip(rule.max, REST, strict=True))
    return move_by(spawn, (low_x, low_y, low_z)), move_by(spawn, (high_x, high_y, high_z))


def _forbid_laying(arena: Arena, rule: AtLeast) -> Restraint | None:
    """Return the restraint that limits how many blocks are placed in a box, so that the rule is never true.

    Return None if the box contains enough blocks at the start: the rule is then true as soon as the agent sees them.
    Also return None for rules about mobs.
    """
    held = counted_cells(arena, rule)
    if rule.kind == "mob" or len(held) >= rule.min_count:
        return None
    # A play may remove blocks from the box and lay as many again.
    removable = sum(arena.block(cell).breakable for cell in held)
    most = rule.min_count - 1 - len(held) + removable
    return Restraint(empty=arena.space.mask(box_of(arena, rule)), block=bare(rule.object), most=most)


def _forbid_removing(arena: Arena, rule: AtMost) -> Restraint | None:
    """Return the restraint that spares all blocks or mobs which a rule counts in its box.

    Return None if the rule stays false after a single one of them is removed.
    """
    if rule.kind == "mob":
        mobs = mobs_of(arena, rule)
        return Restraint(spared_mobs=frozenset(mobs)) if len(mobs) == rule.max_count + 1 else None
    cells = box_of(arena, rule)
    held = counted_cells(arena, rule)
    if len(held) != rule.max_count + 1:
        return None
    return Restraint(spared=held, unless=bare(rule.object), beside=frozenset(cells) - held)


def _can_hold(arena: Arena, closure: Closure, rule: Rule) -> bool:
    """Return whether a rule could be true in the plays that a closure describes."""
    match rule:
        case InventoryHas():
            name = bare(rule.item)
            most = closure.most.get(name, 0)
            cap = closure.restraint.caps.get(name, ANY)
            return min(most, cap) >= min(rule.min_count, ANY)
        case InsideBox() | NearWithFacing():
            return bool(where_holds(arena, closure.cells, rule).any())
        case AtLeast():
            return _can_lay(arena, closure, rule)
        case AtMost():
            return _can_remove(arena, closure, rule)


def _can_lay(arena: Arena, closure: Closure, rule: AtLeast) -> bool:
    """Return whether a box could contain as many blocks or mobs as a rule asks for; digging a block adds a block of
    air.
    """
    if rule.kind == "mob":
        return len(mobs_of(arena, rule)) >= rule.min_count
    cells = box_of(arena, rule)
    name = bare(rule.object)
    held = len(counted_cells(arena, rule))
    if name == _AIR:
        held += len(closure.removed.intersection(cells))
    if held >= rule.min_count:
        return True
    most_laid = most_of_block(closure.most, name)
    if most_laid:
        held += min(most_laid, closure.placeable(cells))
    return held >= rule.min_count


def _can_remove(arena: Arena, closure: Closure, rule: AtMost) -> bool:
    """Return whether the count of a rule could first exceed the rule's maximum and later drop to the maximum.

    A block disappears if it is dug. A replaceable block also disappears if another block is placed into its cell.
    """
    if rule.kind == "mob":
        mobs = mobs_of(arena, rule)
        return len(mobs) > rule.max_count >= len(mobs - closure.hunted)
    held = counted_cells(arena, rule)
    remaining = held - closure.removed
    least = len(remaining)
    if has_block(closure.most):
        replaceable = [cell for cell in remaining if arena.block(cell).replaceable]
        least -= closure.placeable(replaceable)
    if least > rule.max_count:
        return False

    # The count exceeds the maximum at the start, or could exceed it after blocks are added.
    name = bare(rule.object)
    if len(held) > rule.max_count or name == _AIR:
        return True
    has_block_to_add = most_of_block(closure.most, name) > 0
    return has_block_to_add and closure.placeable(box_of(arena, rule)) > 0
