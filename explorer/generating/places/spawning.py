"""Choose the spawn: in the first room, turned away from the targets of the first hops."""

from __future__ import annotations

import math
import random
from typing import Final

from explorer.generating.places.deeds import LOOK_WITHIN
from explorer.generating.places.draft import Draft
from explorer.generating.places.furnishing import Furnished
from explorer.generating.plans.plan import Area, Hop, Plan, Thing, Unfit
from explorer.generating.plans.shapes import Order
from explorer.rules.blocks import BLOCKS
from explorer.scene import FACINGS, Cell, Pose
from explorer.worlds.observing import Observer

_TRIES: Final = 24
_OUTLOOK: Final = 4


def spawn(rng: random.Random, plan: Plan, before: Order, placed: Furnished, occlusion: int) -> Pose:
    """Return a spawn pose; with ``occlusion`` 1, nothing of the first hops is in view from it.

    Raises:
        Unfit: there is no such pose.
    """
    hidden = [cell for hop in before if not before[hop] for cell in _cells_of(hop, placed)]
    poses = _poses(rng, plan.areas[0], placed)
    for pose in poses[:_TRIES]:
        if _is_near(pose, plan.goal, placed) or (occlusion and _sees(placed.draft, pose, hidden)):
            continue
        return pose
    raise Unfit("spawn: the first hop is in sight")


def _is_near(pose: Pose, goal: Hop, placed: Furnished) -> bool:
    """Return whether a turn on the spot might find the goal."""
    if goal.aim != "look" or not isinstance(goal.target, Thing):
        return False
    return math.dist(pose.cell, placed.cells[goal.target][0]) <= LOOK_WITHIN + 1


def _poses(rng: random.Random, root: Area, placed: Furnished) -> list[Pose]:
    draft = placed.draft
    room = placed.room(root)
    free = [
        (x, room.floor, z)
        for x, z in room.columns
        if not room.on_edge((x, z))
        and all(_is_clear(draft, (x + i, room.floor, z + j)) for i in (-1, 0, 1) for j in (-1, 0, 1))
    ]
    poses = [Pose(cell, facing) for cell in free for facing in range(4)]
    rng.shuffle(poses)
    return sorted(poses, key=lambda pose: not _looks_out(draft, pose))


def _looks_out(draft: Draft, pose: Pose) -> bool:
    """Return whether the next cells ahead are free."""
    x, y, z = pose.cell
    i, _, j = FACINGS[pose.facing]
    return all(draft.is_air((x + i * away, y + 1, z + j * away)) for away in range(1, _OUTLOOK))


def _is_clear(draft: Draft, cell: Cell) -> bool:
    x, y, z = cell
    ground = BLOCKS[draft.blocks[y - 1, z, x]]
    return (
        draft.is_air(cell)
        and draft.is_air((x, y + 1, z))
        and ground.solid
        and not ground.breakable
        and cell not in draft.items
        and all(mob.cell != cell for mob in draft.mobs)
    )


def _sees(draft: Draft, pose: Pose, cells: list[Cell]) -> bool:
    observer = Observer(draft.scene("", pose))
    observer.look(pose, 0, {}, ())
    known = observer.known
    return any(known[y, z, x] for x, y, z in cells)


def _cells_of(hop: Hop, placed: Furnished) -> list[Cell]:
    """Return the cells that would give a hop away."""
    target = hop.target
    if isinstance(target, Thing):
        return placed.cells[target]
    if hop.aim == "item":
        return [cell for thing, cells in placed.cells.items() if thing.area is target and thing.item for cell in cells]
    _, gate = target.entrance
    if gate.devices:
        return [placed.cells[device][0] for device in gate.devices]
    inside = placed.room(target).inside
    return [(x, inside.least[1] - 1, z) for x, z in placed.room(target).columns]
