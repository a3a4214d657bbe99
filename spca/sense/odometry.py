"""Odometry: infer from two views whether a step forward succeeded (pure numpy).

MiniGrid does not say whether the agent moved. Where nothing moves by itself, the cell in front of the agent decides.
The agent enters empty ground, floor, a goal, lava and an open door, and nothing else (``can_overlap`` in
``minigrid.core.world_object``). Where things move by themselves, they move within the step, before the agent does
(``minigrid.envs.dynamicobstacles``). An agent that was stopped therefore has in front of it what stopped it.

Views are egocentric arrays of cell codes, as :func:`spca.sense.perception.encode_view` returns them: rows far to near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spca.sense.perception import CARRIABLE, EMPTY, MAX_WORDS, UNSEEN, list_added_kinds, vocabulary

AHEAD: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Displacement (rows south, columns east) of a step forward, by direction: East, South, West, North."""

_IMPOSSIBLE: Final = 4
_UNLIKELY: Final = 2
"""Penalties of a thing that no step explains, and of a thing that stayed; a thing that came into view costs 1."""


@dataclass(frozen=True, slots=True, eq=False)
class CellKinds:
    """Codes of cells by what they mean for a step forward.

    Attributes:
        enterable: what the agent can enter.
        barriers: what stops the agent and cannot change by itself: walls, and doors that are not open.
        movable: things that can change their place; of a "thing" and of added kinds nothing is known.
        known_front: what decides alone whether a step forward succeeds.
        is_movable: bool of shape (256,), by code.
        can_change: bool of shape (256,): whether a cell of this code can hold another thing after a step, or is unseen;
            scenery cannot change.
    """

    enterable: frozenset[int]
    barriers: frozenset[int]
    movable: frozenset[int]
    known_front: frozenset[int]
    is_movable: NDArray[np.bool_]
    can_change: NDArray[np.bool_]


def cell_kinds() -> CellKinds:
    """Return the kinds of the codes in the present vocabulary."""
    return _classify_words(vocabulary())


@lru_cache(maxsize=4)
def _classify_words(words: tuple[str, ...]) -> CellKinds:
    def list_codes(is_wanted: Callable[[str], bool]) -> frozenset[int]:
        return frozenset(code for code, word in enumerate(words) if is_wanted(word))

    enterable = list_codes(_can_be_entered)
    barriers = list_codes(_is_barrier)
    movable = list_codes(_is_movable)
    unknown = ("thing", *list_added_kinds())
    known_things = list_codes(lambda word: _is_movable(word) and word.split(maxsplit=1)[0] not in unknown)
    codes = np.arange(MAX_WORDS)
    return CellKinds(
        enterable=enterable,
        barriers=barriers,
        movable=movable,
        known_front=enterable | barriers | known_things,
        is_movable=np.isin(codes, list(movable)),
        can_change=np.isin(codes, [EMPTY, UNSEEN, *movable]),
    )


def _can_be_entered(word: str) -> bool:
    kind = word.split(maxsplit=1)[0]
    is_open_door = kind == "door" and word.endswith(" open")
    return kind in ("empty", "floor", "goal", "lava") or is_open_door


def _is_barrier(word: str) -> bool:
    return word == "wall" or (word.startswith("door ") and not word.endswith(" open"))


def _is_movable(word: str) -> bool:
    return word.split(maxsplit=1)[0] in {*CARRIABLE, *list_added_kinds()}


@cache  # a step forward calls it; the memory is faster than the sets
def decide_move(front_before: int, front_after: int) -> bool | None:
    """Return whether a step forward succeeded, by the cells in front of the agent before and after it.

    The answer is certain under MiniGrid's rules, also where things move by themselves. It is None if the two cells
    allow both.
    """
    kinds = cell_kinds()
    if front_before not in kinds.known_front:
        return None
    if front_before in kinds.barriers:
        return False if front_after == front_before else None
    if front_after in kinds.enterable or front_after in kinds.barriers:
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
    has_appeared = cell_kinds().is_movable[view] & (known == EMPTY)
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
    can_change = cell_kinds().can_change
    is_scenery = ~(can_change[before] & can_change[after])
    is_seen = (before != UNSEEN) & (after != UNSEEN)
    return bool((is_scenery & is_seen & (before != after)).any())


def _count_changes(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    is_seen = (before != UNSEEN) & (after != UNSEEN)
    return int((is_seen & (before != after)).sum())


def _count_unexplained(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> int:
    """Return how badly steps of things to neighbouring cells explain the change between two aligned views.

    A thing at an edge may have gone out of view unnoticed, and more rarely comes from there.
    """
    is_movable = cell_kinds().is_movable
    things_before = is_movable[before]
    things_after = is_movable[after]
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
