"""One number for all there is: two plays of the same codes are the same if it is, on any machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from explorer.scene import RULES, Cell, Stack, WorldState


def state_hash(state: WorldState) -> str:
    """Return the sha256 of the canonical bytes of a state, in hexadecimal.

    They are a JSON text of all but the blocks with everything in order, then the blocks as little-endian uint16 in
    the order of the array. Counts of 0 and empty cells of items and chests do not matter.
    """
    pose = state.pose
    said = {
        "rules": RULES,
        "pose": [pose.cell, pose.facing, pose.pitch, pose.aim],
        "shape": state.blocks.shape,
        "items": _stacks(state.items),
        "chests": _stacks(state.chests),
        "mobs": sorted((mob.name, mob.kind, mob.cell) for mob in state.mobs),
        "inventory": sorted((name, count) for name, count in state.inventory.items() if count),
        "held": state.held,
        "placed": sorted(state.placed),
        "timers": sorted(state.timers.items()),
        "step": state.step,
        "over": state.over,
    }
    digest = hashlib.sha256(json.dumps(said, separators=(",", ":"), sort_keys=True).encode("ascii"))
    digest.update(state.blocks.astype("<u2", order="C").tobytes())
    return digest.hexdigest()


def _stacks(where: Mapping[Cell, tuple[Stack, ...]]) -> list[object]:
    return [[cell, [(stack.item, stack.count) for stack in where[cell]]] for cell in sorted(where) if where[cell]]
