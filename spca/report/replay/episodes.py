"""Frames of an attempt as an episode for the player (pure): two grids in one frame, told by what changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spca.act.frame import Frame
from spca.report.read.model import Changes, Episode
from spca.sense.perception import UNSEEN


def episode(frames: Sequence[Frame]) -> Episode:
    """Frames as the player wants them: changes of two grids in one frame; ``frames`` must not be empty."""
    top = min(0, *(f.known_at[0] for f in frames))
    left = min(0, *(f.known_at[1] for f in frames))
    bottom = max(max(f.truth.shape[0], f.known_at[0] + f.known.shape[0]) for f in frames)
    right = max(max(f.truth.shape[1], f.known_at[1] + f.known.shape[1]) for f in frames)
    rows, columns = bottom - top, right - left
    return Episode(
        rows=rows,
        columns=columns,
        top=top,
        left=left,
        truth=_changes(_placed(f.truth, (-top, -left), rows, columns) for f in frames),
        known=_changes(_placed(f.known, (f.known_at[0] - top, f.known_at[1] - left), rows, columns) for f in frames),
        agent=tuple((f.position[0] - top, f.position[1] - left, f.direction) for f in frames),
        view=tuple(_seen(f, top, left, columns) for f in frames),
        inventory=tuple(f.inventory for f in frames),
        reward=tuple(f.reward for f in frames),
    )


def _placed(grid: NDArray[np.uint8], at: tuple[int, int], rows: int, columns: int) -> NDArray[np.uint8]:
    """A grid in a larger frame, as one row of cells."""
    frame = np.full((rows, columns), UNSEEN, dtype=np.uint8)
    frame[at[0] : at[0] + grid.shape[0], at[1] : at[1] + grid.shape[1]] = grid
    return frame.ravel()


def _changes(grids: Iterable[NDArray[np.uint8]]) -> Changes:
    first, *others = grids
    steps, before = [], first
    for grid in others:
        cells = np.flatnonzero(grid != before)
        steps.append(tuple(np.column_stack((cells, grid[cells])).ravel().tolist()))
        before = grid
    return Changes(tuple(first.tolist()), tuple(steps))


def _seen(frame: Frame, top: int, left: int, columns: int) -> tuple[int, ...]:
    rows, cols = np.nonzero(frame.view != UNSEEN)
    cells = (rows + frame.view_at[0] - top) * columns + cols + frame.view_at[1] - left
    return tuple(cells.tolist())
