"""Translate pointing at something into primitives: aim at it, then attack, use, dig or place.

Only what the person knows decides, so that an answer that takes no step tells nothing new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from explorer.errors import UnknownNameError
from explorer.rules.actions import FARTHEST_AIM, Primitive, aim, craft, hold
from explorer.rules.blocks import BLOCKS, UNSEEN
from explorer.rules.items import item
from explorer.rules.mobs import MOBS
from explorer.rules.reach import find_touched, mob_hit
from explorer.rules.recipes import recipe
from explorer.rules.state import KnownState
from explorer.scene import Cell, Mob, cells_apart, move_by, offset_to
from explorer.view import Thing, View

MODEL: Final = "human"
"""Name of a person in results."""


def codes_for(view: View, cell: Cell, *, place: bool = False) -> tuple[int, ...] | str:
    """Return the codes that aim at a cell and attack, use or dig what is there, or place what is in hand.

    Args:
        cell: a cell inside the arena.

    Returns:
        The codes, or the reason why the crosshair cannot reach the cell, as far as the person knows; that takes no
        step.
    """
    offset = offset_to(view.pose.cell, cell)
    if max(map(abs, offset)) > FARTHEST_AIM:
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
    """Return what to do with what is in a cell, or the reason why the crosshair cannot reach it."""
    animals = (thing for thing in view.things if thing.kind in MOBS)
    mobs = [Mob(animal.name, animal.kind, animal.cell) for animal in animals]
    known = KnownState(view.known, view.pose.aim_at(offset), mobs)
    mob = mob_hit(known)
    if mob is not None and cell in (mob.cell, move_by(mob.cell, (0, 1, 0))):
        return Primitive.ATTACK

    hit = find_touched(known)
    if hit is None:
        return "out of reach"
    if hit.offset != offset:
        return "something is in the way"
    block = BLOCKS[known.block(cell)]
    return Primitive.DIG if block.breakable or not block.usable else Primitive.USE


def list_targets(view: View) -> Iterator[Thing]:
    """Yield the things in view that can be aimed at, nearest first."""
    here = view.pose.cell
    in_view = (each for each in view.things if each.in_view)
    near = [each for each in in_view if cells_apart(here, each.cell) <= FARTHEST_AIM]
    yield from sorted(near, key=lambda each: sum(part * part for part in offset_to(here, each.cell)))


def find_code(kind: str, name: str) -> int | None:
    """Return the code to hold an item or to craft by a recipe, or None if the name is unknown."""
    try:
        if kind == "hold":
            return hold(item(name))
        if kind == "craft":
            return craft(recipe(name))
    except UnknownNameError:
        pass
    return None
