"""Translate a person's choice of a cell into primitives: aim at the cell, then attack, use, dig or place.

The translation uses only what the person knows. A refused choice takes no step, and so must not reveal anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from explorer.errors import UnknownNameError
from explorer.rules.actions import MAX_AIM, Primitive, aim, craft, hold
from explorer.rules.blocks import BLOCKS, UNSEEN
from explorer.rules.items import item
from explorer.rules.mobs import MOBS
from explorer.rules.reach import find_touched, mob_hit
from explorer.rules.recipes import recipe
from explorer.rules.state import KnownState
from explorer.scene import Cell, Mob, cells_apart, move_by, offset_to
from explorer.view import Thing, View

MODEL: Final = "human"
"""Name that stands for every person in results; it is the model of the person's episodes."""


def codes_for(view: View, cell: Cell, *, place: bool = False) -> tuple[int, ...] | str:
    """Return the codes that aim at a cell, and that then attack, use or dig the content of the cell.

    Args:
        cell: a cell inside the arena.
        place: whether to place the block in hand into the cell instead.

    Returns:
        The codes, or the reason why the request is impossible as far as the person knows.
    """
    offset = offset_to(view.pose.cell, cell)
    if max(map(abs, offset)) > MAX_AIM:
        return "too far away"
    x, y, z = cell
    if view.known[y, z, x] == UNSEEN:
        return "not seen yet"
    if place and view.held is None:
        return "your hand is empty"

    deed = Primitive.PLACE if place else _choose_deed(view, offset, cell)
    if isinstance(deed, str):
        return deed
    if view.pose.aim == offset:
        return (int(deed),)
    return aim(*offset), int(deed)


def _choose_deed(view: View, offset: Cell, cell: Cell) -> Primitive | str:
    """Return the primitive that suits the content of a cell, or the reason why the crosshair cannot reach the cell.

    Args:
        offset: offset from the feet to the cell.
    """
    mobs = [Mob(thing.name, thing.kind, thing.cell) for thing in view.things if thing.kind in MOBS]
    known = KnownState(view.known, view.pose.aim_at(offset), mobs)
    mob = mob_hit(known)
    if mob is not None:
        cell_above_mob = move_by(mob.cell, (0, 1, 0))
        if cell in (mob.cell, cell_above_mob):
            return Primitive.ATTACK

    hit = find_touched(known)
    if hit is None:
        return "out of reach"
    if hit.offset != offset:
        return "something is in the way"
    block = BLOCKS[known.block(cell)]
    return Primitive.DIG if block.breakable or not block.usable else Primitive.USE


def list_targets(view: View) -> Iterator[Thing]:
    """Yield the things in view that are near enough to aim at, nearest first."""
    here = view.pose.cell
    in_view = (each for each in view.things if each.in_view)
    near = [each for each in in_view if cells_apart(here, each.cell) <= MAX_AIM]
    yield from sorted(near, key=lambda each: sum(part * part for part in offset_to(here, each.cell)))


def find_code(kind: str, name: str) -> int | None:
    """Return the action code that holds an item or crafts a recipe, or None if the kind or the name is unknown.

    Args:
        kind: "hold" or "craft".
        name: name of the item or recipe.
    """
    try:
        if kind == "hold":
            return hold(item(name))
        if kind == "craft":
            return craft(recipe(name))
    except UnknownNameError:
        return None
    return None
