"""Which things of a view stand or lie in their cells, rather than being blocks."""

from __future__ import annotations

from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import MOBS
from explorer.view import Thing, View


def is_mob(thing: Thing) -> bool:
    """Return whether it is an animal or monster."""
    return thing.kind in MOBS


def is_tall(kind: str) -> bool:
    """Return whether it is a mob of two cells."""
    return kind in MOBS and MOBS[kind].tall


def is_loose(thing: Thing, view: View) -> bool:
    """Return whether it stands or lies in its cell, rather than being the block of it."""
    x, y, z = thing.cell
    return is_mob(thing) or BLOCKS[int(view.known[y, z, x])].name != thing.kind
