"""Blocks: where they can be pushed to, blocks in the way, and blocks that never move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from gridworld.generating.draft import Draft, UnfitError
from gridworld.rules.tilings import Cell
from gridworld.task_spec import GoalSpec, Position

_TRIES = 40


@dataclass(frozen=True, slots=True)
class PushLine:
    """A way of pushing: the block ends on ``target`` if the agent starts to push at ``agent``."""

    agent: Cell
    block: Cell
    target: Cell


def push_line(draft: Draft, targets: Iterable[Cell], turns: int = 0) -> PushLine:
    """Find a place for a block from which it can be pushed onto a target; take all cells of the way.

    It is found backwards, by pulling the block from its target.

    Args:
        turns: how often the direction may change.

    Raises:
        UnfitError: none was found.
    """
    tiling = draft.floor.tiling
    ends = draft.list_free(targets)
    for _ in range(_TRIES if ends else 0):
        target = draft.rng.choice(ends)
        ways = [draft.rng.randrange(tiling.headings) for _ in range(turns + 1)]
        block = target
        used = [target]
        for way in ways:
            for _ in range(draft.rng.randint(1, 3)):
                agent = tiling.ahead(block, way)
                behind = tiling.ahead(agent, way)
                if not _clear(draft, agent) or not _clear(draft, behind):
                    break
                used += [agent, behind]
                block = agent
        if block != target:
            draft.taken.update(used)
            return PushLine(used[-1], block, target)
    raise UnfitError("no room to push a block")


def _clear(draft: Draft, cell: Cell) -> bool:
    return cell in draft.floor.neighbours and cell not in draft.taken and cell not in draft.closed


def push_goal(draft: Draft, count: int) -> None:
    """Make it the goal that blocks stand on their targets; the chain of locks leads to the first one.

    Raises:
        UnfitError: no room.
    """
    draft.taken.discard(draft.goal)
    lines = list[PushLine]()
    for _ in range(count):
        turns = draft.rng.randrange(2)
        lines.append(push_line(draft, draft.near, turns=turns))
    names = [draft.add_block(line.block) for line in lines]
    targets = [Position(*line.target) for line in lines]
    draft.goal = lines[0].agent
    draft.goal_spec = GoalSpec("push_block_to", target_ids=names, target_positions=targets)


def block_the_way(draft: Draft) -> str:
    """Put a block in a doorway or corridor on the way to the goal, which has to be pushed on; return its id.

    Raises:
        UnfitError: there is no such place.
    """
    way = draft.floor.path(draft.start, draft.goal, draft.walled)
    tiling = draft.floor.tiling
    found = []
    for before, cell in pairwise(way[1:]):
        heading = tiling.neighbours(before).index(cell)
        beyond = tiling.ahead(cell, heading)
        needed = (before, cell, beyond, tiling.ahead(beyond, heading))
        if cell in draft.floor.narrow and all(_clear(draft, there) for there in needed):
            found.append(needed)
    if not found:
        raise UnfitError("no place for a block in the way")
    chosen = draft.rng.choice(found)
    draft.taken.update(chosen)
    return draft.add_block(chosen[1])


def pillar(draft: Draft) -> str:
    """Put a block that never moves where it bars no way; return its id.

    Raises:
        UnfitError: there is no such place.
    """
    floor = draft.floor
    wide = [cell for cell in draft.list_free(floor.cells) if len(floor.neighbours[cell]) > 2]
    cells = [cell for cell in wide if draft.stays_connected(cell)]
    if not cells:
        raise UnfitError("no place for a pillar")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    draft.barred.add(cell)
    return draft.add_block(cell, pushable=False)
