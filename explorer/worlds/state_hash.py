"""Compute a hash of the complete state: equal hashes mean equal states, on any machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from explorer.scene import RULES, Cell, Stack, WorldState


def state_hash(state: WorldState) -> str:
    """Return the sha256, in hexadecimal, of the canonical bytes of a state.

    The bytes are a sorted JSON text of everything except the blocks, followed by the blocks as little-endian uint16 in
    array order. Items with a count of 0 and cells without stacks do not change the hash.
    """
    pose = state.pose
    content = {
        "rules": RULES,
        "pose": [pose.cell, pose.facing, pose.pitch, pose.aim],
        "shape": state.blocks.shape,
        "items": canonical_stacks(state.items),
        "chests": canonical_stacks(state.chests),
        "mobs": sorted((mob.name, mob.kind, mob.cell) for mob in state.mobs),
        "inventory": sorted((name, count) for name, count in state.inventory.items() if count),
        "held": state.held,
        "placed": sorted(state.placed),
        "timers": sorted(state.timers.items()),
        "step": state.step,
        "over": state.over,
    }

    digest = hashlib.sha256(json.dumps(content, separators=(",", ":"), sort_keys=True).encode("ascii"))
    digest.update(state.blocks.astype("<u2", order="C").tobytes())
    return digest.hexdigest()


def canonical_stacks(where: Mapping[Cell, tuple[Stack, ...]]) -> list[object]:
    """Return cells and their stacks as sorted JSON-compatible data; cells without stacks are left out.

    Args:
        where: cell -> stacks in the cell.
    """
    canonical: list[object] = []
    for cell in sorted(where):
        stacks = [(stack.item, stack.count) for stack in where[cell]]
        if stacks:
            canonical.append([cell, stacks])
    return canonical
