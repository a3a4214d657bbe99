"""Tell items and mobs, which stand or lie in their cells, from blocks."""

from __future__ import annotations

from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import MOBS
from explorer.view import Thing, View


def is_mob(thing: Thing) -> bool:
    """Return whether a thing is an animal or monster."""
    return thing.kind in MOBS


def is_tall(kind: str) -> bool:
    """Return whether a kind is a mob that fills two cells."""
    return kind in MOBS and MOBS[kind].tall


def is_loose(thing: Thing, view: View) -> bool:
    """Return whether a thing is an item or mob rather than a block."""
    x, y, z = thing.cell
    return is_mob(thing) or BLOCKS[int(view.known[y, z, x])].name != thing.kind
