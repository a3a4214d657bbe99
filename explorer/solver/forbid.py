"""Forbid a milestone: what a play must avoid so as never to achieve it, and what it could still achieve.

Every play that never achieves a milestone obeys a :class:`explorer.solver.closure.Restraint`. If the closure under that
restraint lacks the goal, the milestone is necessary; whatever else it lacks can only come after the milestone.

A body may be anywhere in a cell. So a box is forbidden only for cells that lie wholly inside, and counts as entered
from any cell that overlaps it. :func:`whole_cells` makes a box of whole cells only. To prove a rule necessary, its box
must reach from wall to wall, and from the ground to a height that no body can reach.
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
from explorer.scene import Cell, offset_to
from explorer.solver.closure import Arena, Closure, Restraint
from explorer.solver.places import CORNER, REST, box_of, counted_cells, mobs_of, where_holds
from explorer.solver.stock import ANY, has_block, most_of_block

_AIR: Final = BLOCKS[AIR].name
THINNEST: Final = 2
"""Least width of a box along x and z that no step of the lattice can cross without ending in it: a jump spans two."""


def whole_cells(low: Cell, high: Cell, spawn: Cell) -> InsideBox:
    """Return the rule of a box of whole cells, both corners included, so that no body slips past along its walls."""
    x, y, z = offset_to(spawn, low)
    least = x - 0.5, float(y), z - 0.5
    x, y, z = offset_to(spawn, high)
    greatest = x + 0.5, y + 1.0, z + 0.5
    return InsideBox(least, greatest)


def restraint(arena: Arena, milestone: Milestone) -> Restraint | None:
    """Return what every play that never achieves a milestone must avoid, or None if nothing follows from its rules."""
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
    """Return whether a milestone could be achieved within a closure."""
    return all(_can_hold(arena, closure, rule) for rule in milestone.rules)


def _forbid_box(arena: Arena, rule: InsideBox) -> Restraint | None:
    """Keep feet out of a box. Where it has no ground, a step may end below it, so bodies may fall through."""
    low, high = _find_whole_cells(rule, arena.scene.spawn.cell)
    width, height, depth = offset_to(low, high)
    if min(width, depth) + 1 < THINNEST or height < 0:
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
    above = {at + arena.space.up for at in arena.leaves}
    if any(inside[at] for at in above - arena.leaves):
        return None  # a plate may lie on a door inside the box: a step that opens the door may end below the box
    return Restraint(shut=arena.space.flat(grounded), through=arena.space.flat(whole & ~grounded))


def _find_whole_cells(rule: InsideBox, spawn: Cell) -> tuple[Cell, Cell]:
    """Return the lowest and highest cell that lie wholly inside a box; if there are none, low exceeds high."""
    low = [math.ceil(bound + half) + origin for bound, half, origin in zip(rule.min, CORNER, spawn, strict=True)]
    high = [math.floor(bound - rest) + origin for bound, rest, origin in zip(rule.max, REST, spawn, strict=True)]
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _forbid_laying(arena: Arena, rule: AtLeast) -> Restraint | None:
    """Keep too few of a block in the box; None if there are enough at the start, where seeing them is enough."""
    held = counted_cells(arena, rule)
    if rule.kind == "mob" or len(held) >= rule.min_count:
        return None
    removable = sum(arena.block(cell).breakable for cell in held)
    most = rule.min_count - 1 - len(held) + removable
    return Restraint(empty=arena.space.mask(box_of(arena, rule)), block=bare(rule.object), most=most)


def _forbid_removing(arena: Arena, rule: AtMost) -> Restraint | None:
    """Keep everything counted in the box; None unless removing a single one would achieve the rule."""
    if rule.kind == "mob":
        mobs = mobs_of(arena, rule)
        return Restraint(spared_mobs=frozenset(mobs)) if len(mobs) == rule.max_count + 1 else None
    cells = box_of(arena, rule)
    held = counted_cells(arena, rule)
    if len(held) != rule.max_count + 1:
        return None
    return Restraint(spared=held, unless=bare(rule.object), beside=frozenset(cells) - held)


def _can_hold(arena: Arena, closure: Closure, rule: Rule) -> bool:
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
    """Return whether the box could hold enough of them. Dug blocks leave air."""
    if rule.kind == "mob":
        return len(mobs_of(arena, rule)) >= rule.min_count
    cells = box_of(arena, rule)
    name = bare(rule.object)
    held = len(counted_cells(arena, rule))
    if name == _AIR:
        held += len(closure.removed.intersection(cells))
    if held >= rule.min_count:
        return True
    laid = most_of_block(closure.most, name)
    if laid:
        held += min(laid, closure.placeable(cells))
    return held >= rule.min_count


def _can_remove(arena: Arena, closure: Closure, rule: AtMost) -> bool:
    """Return whether the count could exceed the maximum and then drop to it. Placed blocks replace replaceable ones."""
    if rule.kind == "mob":
        mobs = mobs_of(arena, rule)
        return len(mobs) > rule.max_count >= len(mobs - closure.hunted)
    held = counted_cells(arena, rule)
    left = held - closure.removed
    least = len(left)
    if has_block(closure.most):
        covered = [cell for cell in left if arena.block(cell).replaceable]
        least -= closure.placeable(covered)
    if least > rule.max_count:
        return False

    name = bare(rule.object)
    if len(held) > rule.max_count or name == _AIR:
        return True
    return most_of_block(closure.most, name) > 0 and closure.placeable(box_of(arena, rule)) > 0
