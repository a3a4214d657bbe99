"""Choose the spawn: a pose in the first room from which the agent does not see the targets of the first hops.

A hop is a planned milestone; a first hop is a hop that needs no other hop. A spot is a column of cells, given by x and
z.
"""

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
"""Greatest number of poses that are tried as the spawn."""
_OUTLOOK: Final = 4
"""A pose looks out if all cells ahead of the eye, at distances in cells below this number, are air."""


def choose_spawn(rng: random.Random, plan: Plan, before: Order, placed: Furnished, occlusion: int) -> Pose:
    """Return a spawn pose in the first room.

    Args:
        before: hop -> the hops that must come before it.
        occlusion: 1: the agent must not see a cell that gives away a first hop; 0: it may see everything.

    Raises:
        RejectedDraw: each of the tried poses is unsuitable.
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
    """Return whether the goal is to look at a thing that is so near that a turn at the spawn might achieve the goal."""
    if goal.aim != "look" or not isinstance(goal.target, Thing):
        return False
    target = placed.cells[goal.target][0]
    return math.dist(pose.cell, target) <= LOOK_WITHIN + 1


def _list_poses(rng: random.Random, root: Area, placed: Furnished) -> list[Pose]:
    """Return the poses in the first room whose cell does not adjoin walls or things.

    First come the poses that look out (:data:`_OUTLOOK`), then all others, both in random order.
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
    """Return whether a column and its 8 neighbours are clear (:func:`_is_clear`) at the level ``floor``."""
    x, z = spot
    around = ((x + i, floor, z + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
    return all(_is_clear(draft, cell) for cell in around)


def _looks_out(draft: Draft, pose: Pose) -> bool:
    """Return whether the cells ahead of the eye are air, up to the distance :data:`_OUTLOOK`."""
    x, y, z = pose.cell
    i, _, j = FACINGS[pose.facing]
    ahead = ((x + i * away, y + 1, z + j * away) for away in range(1, _OUTLOOK))
    return all(draft.is_air(cell) for cell in ahead)


def _is_clear(draft: Draft, cell: Cell) -> bool:
    """Return whether a body fits into a cell, the ground below is unbreakable, and the cell holds no item or mob."""
    x, y, z = cell
    ground = BLOCKS[draft.blocks[y - 1, z, x]]
    if not ground.solid or ground.breakable:
        return False
    if not draft.is_air(cell) or not draft.is_air((x, y + 1, z)):
        return False
    return cell not in draft.items and all(mob.cell != cell for mob in draft.mobs)


def _is_in_view(draft: Draft, pose: Pose, cells: list[Cell]) -> bool:
    """Return whether an agent in a pose sees at least one of the given cells."""
    observer = Observer(draft.scene("", pose))
    observer.look(pose, 0, {}, ())
    known = observer.known
    return any(known[y, z, x] for x, y, z in cells)


def _find_telltale_cells(hop: Hop, placed: Furnished) -> list[Cell]:
    """Return the cells that would give away a hop if the agent saw them.

    For a hop about a thing, these are the cells of the thing; for a hop to craft an item, the cells of the ingredients.
    For a hop to pass a gate, these are the cells of the gate's devices; without devices, the floor of the room behind
    the gate.
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
