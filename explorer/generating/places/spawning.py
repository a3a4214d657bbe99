"""Choose the spawn: in the first room, turned away from the targets of the first hops."""

from __future__ import annotations

import math
import random
from typing import Final

from explorer.generating.places.deeds import LOOK_WITHIN
from explorer.generating.places.draft import Draft
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.rooms import Spot
from explorer.generating.plans.plan import Area, Hop, Plan, RejectedDraw, Thing
from explorer.generating.plans.shapes import Order
from explorer.rules.blocks import BLOCKS
from explorer.scene import FACINGS, Cell, Pose
from explorer.worlds.observing import Observer

_TRIES: Final = 24
"""Number of poses that are tried as the spawn."""
_OUTLOOK: Final = 4
"""A pose looks out if all cells ahead of the eye at a distance of less than this are air."""


def choose_spawn(rng: random.Random, plan: Plan, before: Order, placed: Furnished, occlusion: int) -> Pose:
    """Return a spawn pose in the first room.

    Args:
        before: the hops that must come before each hop.
        occlusion: 1: nothing may be in view that gives away a hop without prerequisites; 0: everything may.

    Raises:
        RejectedDraw: none of the tried poses fits.
    """
    first_hops = [hop for hop in before if not before[hop]]
    telltale_cells = [cell for hop in first_hops for cell in _find_telltale_cells(hop, placed)]

    poses = _list_poses(rng, plan.areas[0], placed)
    for pose in poses[:_TRIES]:
        if _is_near(pose, plan.goal, placed):
            continue
        if occlusion and _is_in_view(placed.draft, pose, telltale_cells):
            continue
        return pose
    raise RejectedDraw("spawn: the first hop is in sight")


def _is_near(pose: Pose, goal: Hop, placed: Furnished) -> bool:
    """Return whether the goal is a look that a turn at the spawn might achieve, without a step."""
    if goal.aim != "look" or not isinstance(goal.target, Thing):
        return False
    target = placed.cells[goal.target][0]
    return math.dist(pose.cell, target) <= LOOK_WITHIN + 1


def _list_poses(rng: random.Random, root: Area, placed: Furnished) -> list[Pose]:
    """Return the poses in the first room away from walls and things.

    The order is random, but the poses that look out precede all others.
    """
    draft = placed.draft
    room = placed.room(root)
    free = []
    for spot in room.columns:
        if not room.is_on_edge(spot) and _is_clear_around(draft, spot, room.floor):
            free.append((spot[0], room.floor, spot[1]))

    poses = [Pose(cell, facing) for cell in free for facing in range(4)]
    rng.shuffle(poses)
    return sorted(poses, key=lambda pose: not _looks_out(draft, pose))


def _is_clear_around(draft: Draft, spot: Spot, floor: int) -> bool:
    """Return whether the cells of a column and its 8 neighbours at the level ``floor`` are clear."""
    x, z = spot
    around = [(x + i, floor, z + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return all(_is_clear(draft, cell) for cell in around)


def _looks_out(draft: Draft, pose: Pose) -> bool:
    """Return whether the next cells ahead of the eye are air."""
    x, y, z = pose.cell
    i, _, j = FACINGS[pose.facing]
    ahead = [(x + i * away, y + 1, z + j * away) for away in range(1, _OUTLOOK)]
    return all(draft.is_air(cell) for cell in ahead)


def _is_clear(draft: Draft, cell: Cell) -> bool:
    """Return whether a body fits into a cell on unbreakable ground, and no item or mob is in the cell."""
    x, y, z = cell
    ground = BLOCKS[draft.blocks[y - 1, z, x]]
    if not ground.solid or ground.breakable:
        return False
    if not draft.is_air(cell) or not draft.is_air((x, y + 1, z)):
        return False
    return cell not in draft.items and all(mob.cell != cell for mob in draft.mobs)


def _is_in_view(draft: Draft, pose: Pose, cells: list[Cell]) -> bool:
    """Return whether an agent with a pose sees any of the given cells."""
    observer = Observer(draft.scene("", pose))
    observer.look(pose, 0, {}, ())
    known = observer.known
    return any(known[y, z, x] for x, y, z in cells)


def _find_telltale_cells(hop: Hop, placed: Furnished) -> list[Cell]:
    """Return the cells whose sight would give a hop away.

    For a hop about a thing, these are the cells of the thing; for an item to craft, the cells of the ingredients. For a
    hop to pass a gate, these are the cells of the gate's devices, or, without devices, the floor behind the gate.
    """
    target = hop.target
    if isinstance(target, Thing):
        return placed.cells[target]

    if hop.aim == "item":
        ingredients = [thing for thing in placed.cells if thing.area is target and thing.item]
        return [cell for thing in ingredients for cell in placed.cells[thing]]

    _, gate = target.entrance
    if gate.devices:
        return [placed.cells[device][0] for device in gate.devices]
    room = placed.room(target)
    return [(x, room.floor - 1, z) for x, z in room.columns]
