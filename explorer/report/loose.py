"""Distinguish loose things, which are items and mobs, from blocks."""

from __future__ import annotations

from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import MOBS
from explorer.scene import Cell
from explorer.view import Thing, View


def is_mob(thing: Thing) -> bool:
    """Return whether a thing is an animal or monster."""
    return thing.kind in MOBS


def is_loose(thing: Thing, view: View) -> bool:
    """Return whether a thing of a view is an item or mob rather than a block."""
    if is_mob(thing):
        return True
    x, y, z = thing.cell
    return BLOCKS[int(view.known[y, z, x])].name != thing.kind


def list_loose(view: View) -> list[tuple[str, Cell]]:
    """Return (kind, cell) of each item and mob that the agent knows."""
    return [(thing.kind, thing.cell) for thing in view.things if is_loose(thing, view)]
