"""Odometry: infer from two views whether a step forward succeeded (pure numpy).

MiniGrid does not say whether the agent moved. Where nothing moves by itself, the cell in front of the agent decides.
The agent enters empty ground, floor, a goal, lava and an open door, and nothing else (``can_overlap`` in
``minigrid.core.world_object``). Where things move by themselves, they move within the step, before the agent does
(``minigrid.envs.dynamicobstacles``). An agent that was stopped therefore has in front of it what stopped it.

Views are egocentric arrays of cell codes, as :func:`spca.sense.perception.encode_view` returns them: rows far to near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spca.sense.perception import CARRIABLE, EMPTY, UNSEEN, VOCABULARY

AHEAD: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Displacement (rows south, columns east) of a step forward, by direction: East, South, West, North."""

_IMPOSSIBLE: Final = 4
_UNLIKELY: Final = 2
"""Weights of things that nothing explains and of things that stayed, against one for a thing that came into view."""


def _list_codes(is_wanted: Callable[[str], bool]) -> frozenset[int]:
    return frozenset(code for code, word in enumerate(VOCABULARY) if is_wanted(word))


def _can_be_entered(word: str) -> bool:
    kind = word.split(maxsplit=1)[0]
    is_open_door = kind == "door" and word.endswith(" open")
    return kind in ("empty", "floor", "goal", "lava") or is_open_door


def _is_barrier(word: str) -> bool:
    return word == "wall" or (word.startswith("door ") and not word.endswith(" open"))


def _is_movable(word: str) -> bool:
    return word.split(maxsplit=1)[0] in CARRIABLE


ENTERABLE: Final = _list_codes(_can_be_entered)
"""Codes of cells that the agent can enter."""

BARRIERS: Final = _list_codes(_is_barrier)
"""Codes of cells that stop the agent and cannot change by themselves: walls and doors that are not open."""

MOVABLE: Final = _list_codes(_is_movable)
"""Codes of things that can change their place; a "thing" is of a kind that MiniGrid does not know."""

_KNOWN_FRONT: Final = ENTERABLE | BARRIERS | frozenset(c for c in MOVABLE if not VOCABULARY[c].startswith("thing"))
_IS_MOVABLE: Final[NDArray[np.bool_]] = np.isin(np.arange(256), list(MOVABLE))
_CAN_CHANGE: Final[NDArray[np.bool_]] = np.isin(np.arange(256), [EMPTY, UNSEEN, *MOVABLE])
"""Whether a cell of this code can hold another thing after a step, or is unseen; scenery cannot change."""


@cache  # a step forward calls it; the memory is faster than the sets
def decide_move(front_before: int, front_after: int) -> bool | None:
    """Return whether a step forward succeeded, by the cells in front of the agent before and after it.

    The answer is certain under MiniGrid's rules, also where things move by themselves. It is None if the two cells
    allow both.
    """
    if front_before not in _KNOWN_FRONT:
        return None
    if front_before in BARRIERS:
        return False if front_after == front_before else None
    if front_after in ENTERABLE or front_after in BARRIERS:
        return True
    return None


def compare_scenery(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> bool | None:
    """Return whether a step forward succeeded, by what cannot move: walls, doors, goals, lava and floor.

    Return None if the scenery in both views allows both, or neither.
    """
    is_moved_possible = not _has_conflict(*_align_views(before, after, has_moved=True))
    is_stopped_possible = not _has_conflict(*_align_views(before, after, has_moved=False))
    if is_moved_possible == is_stopped_possible:
        return None
    return is_moved_possible


def guess_move(before: NDArray[np.uint8], after: NDArray[np.uint8], *, is_restless: bool) -> bool:
    """Return whether a step forward more probably succeeded, by how well each answer explains what is in view.

    Args:
        is_restless: whether things are known to move by themselves. They then move in each step, to one of the eight
            cells around them.
    """
    count = _count_unexplained if is_restless else _count_changes
    penalty_if_moved = count(*_align_views(before, after, has_moved=True))
    penalty_if_stopped = count(*_align_views(before, after, has_moved=False))
    return penalty_if_moved < penalty_if_stopped


def shows_motion(known: NDArray[np.uint8], view: NDArray[np.uint8], ignored: Iterable[tuple[int, int]]) -> bool:
    """Return whether a thing stands where the ground was empty, apart from the ``ignored`` cells.

    Args:
        known: codes of the cells of ``view`` before the step.
    """
    has_appeared = _IS_MOVABLE[view] & (known == EMPTY)
    for cell in ignored:
        has_appeared[cell] = False
    return bool(has_appeared.any())


def _align_views(
    before: NDArray[np.uint8], after: NDArray[np.uint8], *, has_moved: bool
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return copies of the parts of two views that show the same cells, if the agent moved or if it was stopped.

    The cell of the agent in the later view shows what it carries, and is unseen in both copies.
    """
    if has_moved:
        earlier = before[:-1].copy()
        later = after[1:].copy()
    else:
        earlier = before.copy()
        later = after.copy()
    middle = before.shape[1] // 2
    earlier[-1, middle] = UNSEEN
    later[-1, middle] = UNSEEN
    return earlier, later


def _has_conflict(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> bool:
    """Return whether scenery that is seen in both of two aligned views differs."""
    is_scenery = ~(_CAN_CHANGE[before] & _CAN_CHANGE[after])
    is_seen = (before != UNSEEN) & (after != UNSEEN)
    return bool((is_scenery & is_seen & (before != after)).any())


def _count_changes(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    is_seen = (before != UNSEEN) & (after != UNSEEN)
    return int((is_seen & (before != after)).sum())


def _count_unexplained(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    """Return how badly steps of things to neighbouring cells explain the change between two aligned views.

    A thing at an edge may have gone out of view unnoticed, and more rarely comes from there.
    """
    things_before = _IS_MOVABLE[before]
    things_after = _IS_MOVABLE[after]
    is_inner = np.zeros(before.shape, dtype=np.bool_)
    is_inner[1:-1, 1:-1] = True

    appeared = things_after & ~_spread(things_before)
    vanished = things_before & ~_spread(things_after)
    stayed = things_before & things_after
    impossible = (appeared & is_inner).sum() + (vanished & is_inner).sum()
    entered = (appeared & ~is_inner).sum()
    return _IMPOSSIBLE * int(impossible) + _UNLIKELY * int(stayed.sum()) + int(entered)


def _spread(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the cells that have one of the given cells among their eight neighbours."""
    rows, columns = cells.shape
    padded = np.pad(cells, 1)
    found = np.zeros_like(cells)
    for south in range(3):
        for east in range(3):
            if (south, east) != (1, 1):
                found |= padded[south : south + rows, east : east + columns]
    return found
