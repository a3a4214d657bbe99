"""Find the cell or mob on which the hands act, and turn an action of the hands into an event.

A primitive is an elementary action of the agent. The crosshair is the line from the eye along which the agent aims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from explorer.rules.actions import MAX_AIM, Decoded, Primitive
from explorer.rules.blocks import BLOCKS, SOLID, USABLE
from explorer.rules.items import ITEMS
from explorer.rules.mobs import mob_kind
from explorer.rules.moves import find_heading
from explorer.rules.raycast import Crossing, ray
from explorer.rules.recipes import RECIPES
from explorer.rules.state import ReachState, RuleState
from explorer.scene import Cell, Deed, Event, Mob, Pose, move_by

OUT_OF_REACH: Final = "out of reach"


def resolve_event(state: RuleState, decoded: Decoded) -> Event | str:
    """Return the event that an action of the hands causes, or the reason as text if it causes no event.

    Args:
        decoded: the action: use, dig, attack, place, place_ahead, place_below, drop, hold or craft.
    """
    if decoded.kind != "primitive":
        return _resolve_name(decoded)
    return _RESOLVERS[decoded.primitive](state)


def _resolve_name(decoded: Decoded) -> Event | str:
    """Return the event to hold an item or to craft by a recipe, or the reason as text if the number is unknown.

    Args:
        decoded: the action; its operand is the number of the item or recipe.
    """
    number = decoded.operand
    if decoded.kind == "hold":
        return Event("hold", name=ITEMS[number]) if number < len(ITEMS) else "no such item"
    return Event("craft", name=RECIPES[number].name) if number < len(RECIPES) else "no such recipe"


def find_touched(state: ReachState, pose: Pose | None = None) -> Crossing | None:
    """Return the first cell along the crosshair that is solid or usable, or None if no such cell is in reach.

    The cell of the eye does not count.

    Args:
        pose: pose of the body; if None, the pose of the state.
    """
    pose = pose or state.pose
    # The first crossing is the cell of the eye.
    for crossing in ray(pose)[1:]:
        code = state.block(move_by(pose.cell, crossing.offset))
        if SOLID[code] or USABLE[code]:
            return crossing
    return None


def mob_hit(state: ReachState) -> Mob | None:
    """Return the first mob along the crosshair, or None if no mob is in reach before the first solid cell."""
    # If mobs share a cell, the mob that comes first in the state counts.
    cells = {cell: mob for mob in reversed(tuple(state.mobs)) for cell in mob_cells(mob)}
    if cells:
        for crossing in ray(state.pose):
            cell = move_by(state.pose.cell, crossing.offset)
            if SOLID[state.block(cell)]:
                return None
            if cell in cells:
                return cells[cell]
    return None


def mob_cells(mob: Mob) -> tuple[Cell, ...]:
    """Return the cells that a mob fills."""
    if not mob_kind(mob.kind).tall:
        return (mob.cell,)
    return mob.cell, move_by(mob.cell, (0, 1, 0))


def table_in_reach(state: RuleState) -> bool:
    """Return whether the agent could touch a crafting table by aiming at its middle."""
    return any(can_touch(state, offset) for offset in _list_tables(state))


def can_touch(state: ReachState, offset: Cell) -> bool:
    """Return whether the agent could touch a cell by aiming at its middle, with no other block in between.

    Args:
        offset: offset of the cell from the cell of the feet.
    """
    if max(map(abs, offset)) > MAX_AIM:
        return False
    touched = find_touched(state, replace(state.pose, aim=offset))
    return touched is not None and touched.offset == offset


def _list_tables(state: RuleState) -> Iterator[Cell]:
    """Yield the offset of each crafting table at which the agent can aim, from the cell of the feet."""
    x, y, z = state.pose.cell
    span = range(-MAX_AIM, MAX_AIM + 1)
    for dy in span:
        for dz in span:
            for dx in span:
                code = state.block((x + dx, y + dy, z + dz))
                if BLOCKS[code].kind == "table":
                    yield dx, dy, dz


def _act_on(deed: Deed, state: RuleState) -> Event | str:
    """Return the event of the kind ``deed`` on the cell that the crosshair touches, or the reason as text if it touches
    none.
    """
    touched = find_touched(state)
    return Event(deed, move_by(state.pose.cell, touched.offset)) if touched else OUT_OF_REACH


def _attack(state: RuleState) -> Event | str:
    mob = mob_hit(state)
    return Event("attack", mob.cell, mob.name) if mob else "nothing to attack"


def _place(state: RuleState) -> Event | str:
    """Return the event to place a block in front of the touched face, or the reason as text if this is impossible.

    This is the last cell that the ray crosses before the touched cell.
    """
    touched = find_touched(state)
    if touched is None:
        return OUT_OF_REACH
    feet = state.pose.cell
    head = move_by(feet, (0, 1, 0))
    target = move_by(feet, touched.before)
    if target in (feet, head):
        return "the body is in the way"
    return Event("place", target)


def _place_ahead(state: RuleState) -> Event | str:
    """Return the event to place a block as ground in front of the body, or the reason as text if this is impossible."""
    front = _find_front(state.pose)
    if SOLID[state.block(front)]:
        return "something is in the way"
    return Event("place", (front[0], front[1] - 1, front[2]))


def _place_below(state: RuleState) -> Event | str:
    """Return the event to jump and place a block into the cell where the feet are now.

    If there is no room for the jump, return the reason as text.
    """
    feet = state.pose.cell
    above = move_by(feet, (0, 2, 0))
    if SOLID[state.block(above)]:
        return "no head-room"
    return Event("place", feet)


def _drop(state: RuleState) -> Event | str:
    return Event("drop", _find_front(state.pose))


def _find_front(pose: Pose) -> Cell:
    """Return the cell in front of the feet."""
    return move_by(pose.cell, find_heading(pose, Primitive.FORWARD))


_RESOLVERS: Final[dict[Primitive, Callable[[RuleState], Event | str]]] = {
    Primitive.USE: partial(_act_on, "use"),
    Primitive.DIG: partial(_act_on, "dig"),
    Primitive.ATTACK: _attack,
    Primitive.PLACE: _place,
    Primitive.PLACE_AHEAD: _place_ahead,
    Primitive.PLACE_BELOW: _place_below,
    Primitive.DROP: _drop,
}
