"""Tell items and mobs, which stand or lie in their cells, from blocks."""

from __future__ import annotations

from typing import Any

from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import MOBS
from explorer.scene import Cell
from explorer.view import Thing, View


def is_mob(thing: Thing) -> bool:
    """Return whether a thing is an animal or monster."""
    return thing.kind in MOBS


def is_loose(thing: Thing, view: View) -> bool:
    """Return whether a thing is an item or mob rather than a block."""
    x, y, z = thing.cell
    return is_mob(thing) or BLOCKS[int(view.known[y, z, x])].name != thing.kind


def describe_sprite(kind: str, cell: Cell) -> dict[str, Any]:
    """Return an item or mob as JSON-compatible data; ``tall``: it fills two cells."""
    mob = MOBS.get(kind)
    return {"kind": kind, "cell": cell, "mob": mob is not None, "tall": mob is not None and mob.tall}
