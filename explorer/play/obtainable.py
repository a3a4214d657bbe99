"""Over-approximate the items that one could ever have in a scene."""

from __future__ import annotations

import numpy as np

from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import mob_kind
from explorer.rules.recipes import RECIPES
from explorer.scene import Scene


def obtainable(scene: Scene) -> frozenset[str]:
    """Return the items on the ground, in chests, carried or dropped, and all that can be crafted from them."""
    found = set(scene.inventory)
    found |= {stack.item for where in (scene.items, scene.chests) for stacks in where.values() for stack in stacks}
    found |= {mob_kind(mob.kind).drop.item for mob in scene.mobs}
    found |= {drop for code in np.unique(scene.blocks).tolist() if (drop := BLOCKS[code].drop) is not None}
    while new := {each.makes for each in RECIPES if all(kinds & found for kinds, _ in each.needs)} - found:
        found |= new
    return frozenset(found)
