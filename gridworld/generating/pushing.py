"""Placement of blocks: blocks for a target, blocks that obstruct the path to the goal, and fixed blocks."""

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
    """The cells of a push: from the cell ``agent``, the agent can push the block from ``block`` to ``target``."""

    agent: Cell
    block: Cell
    target: Cell


def push_line(draft: Draft, targets: Iterable[Cell], turns: int = 0) -> PushLine:
    """Find a cell from which a block can be pushed onto one of ``targets``; mark all cells of the push as taken.

    Return the cells of the push. The search goes backwards by pulling the block away from the target.

    Args:
        targets: candidates for the target.
        turns: number of times that the push changes its direction.

    Raises:
        UnfitError: no cell was found.
    """
    tiling = draft.floor.tiling
    free_targets = draft.list_free(targets)
    for _ in range(_TRIES if free_targets else 0):
        target = draft.rng.choice(free_targets)
        headings = [draft.rng.randrange(tiling.headings) for _ in range(turns + 1)]
        block = target
        used = [target]
        for heading in headings:
            for _ in range(draft.rng.randint(1, 3)):
                # The agent pulls the block to its own cell, and steps back.
                agent = tiling.ahead(block, heading)
                behind = tiling.ahead(agent, heading)
                if not _is_clear(draft, agent) or not _is_clear(draft, behind):
                    break
                used += [agent, behind]
                block = agent
        if block != target:
            draft.taken.update(used)
            return PushLine(used[-1], block, target)
    raise UnfitError("no room to push a block")


def _is_clear(draft: Draft, cell: Cell) -> bool:
    """Return whether a cell is floor that is neither taken nor closed."""
    return cell in draft.floor.neighbours and cell not in draft.taken and cell not in draft.closed


def push_goal(draft: Draft, count: int) -> None:
    """Set a push_block_to goal for ``count`` new blocks.

    The cell from which the agent pushes the first block becomes ``draft.goal``, to which the chain of locks will lead.

    Raises:
        UnfitError: the floor has no room for the blocks.
    """
    draft.taken.discard(draft.goal)
    lines: list[PushLine] = []
    for _ in range(count):
        turns = draft.rng.randrange(2)
        lines.append(push_line(draft, draft.near, turns=turns))
    names = [draft.add_block(line.block) for line in lines]
    targets = [Position(*line.target) for line in lines]
    draft.goal = lines[0].agent
    draft.goal_spec = GoalSpec("push_block_to", target_ids=names, target_positions=targets)


def block_the_way(draft: Draft) -> str:
    """Add a block in a doorway or corridor on the path to the goal, so that the agent has to push it; return its id.

    Raises:
        UnfitError: the path to the goal has no cell for a block.
    """
    way = draft.floor.path(draft.start, draft.goal, draft.walled)
    tiling = draft.floor.tiling
    candidates: list[tuple[Cell, Cell, Cell, Cell]] = []
    for before, cell in pairwise(way[1:]):
        heading = tiling.neighbours(before).index(cell)
        beyond = tiling.ahead(cell, heading)
        needed = (before, cell, beyond, tiling.ahead(beyond, heading))
        if cell in draft.floor.narrow and all(_is_clear(draft, each) for each in needed):
            candidates.append(needed)
    if not candidates:
        raise UnfitError("no place for a block in the way")
    chosen = draft.rng.choice(candidates)
    _, block, _, _ = chosen
    draft.taken.update(chosen)
    return draft.add_block(block)


def pillar(draft: Draft) -> str:
    """Add a fixed block on a cell that does not cut off any part of the floor; return the block's id.

    Raises:
        UnfitError: no cell is suitable.
    """
    floor = draft.floor
    open_cells = [cell for cell in draft.list_free(floor.cells) if len(floor.neighbours[cell]) > 2]
    cells = [cell for cell in open_cells if draft.stays_connected(cell)]
    if not cells:
        raise UnfitError("no place for a pillar")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    draft.barred.add(cell)
    return draft.add_block(cell, pushable=False)
