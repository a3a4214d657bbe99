"""Tasks and episodes as pictures: as the model sees them, or revealed for their author (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gridworld.drawing.picturing import TILE_SIZE, picture
from gridworld.multigrid.world import find_tiling
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import background, things
from gridworld.rules.tilings import SQUARE, Cell, Tiling
from gridworld.task_spec import TaskSpecification


def task_picture(
    spec: TaskSpecification, tiling: Tiling | str = SQUARE, *, reveal: bool = True, tile_size: int = TILE_SIZE
) -> NDArray[np.uint8]:
    """Draw a task at its start, RGB, shape (height, width, 3).

    Args:
        spec: the task.
        tiling: one, or its name.
        reveal: everything, hidden mechanisms in a dashed frame; else what a model sees.
        tile_size: width of a cell, in pixels.

    Raises:
        TaskError: the task is not valid.
        BackendError: there is no such tiling or size.
    """
    return _draw(_episode(spec, tiling), reveal, tile_size)


def episode_frames(
    spec: TaskSpecification,
    tiling: Tiling | str,
    actions: Iterable[SupportsIndex],
    *,
    reveal: bool = False,
    tile_size: int = TILE_SIZE,
) -> Iterator[NDArray[np.uint8]]:
    """Yield pictures of an episode: its start, and after each external action. Arguments as of :func:`task_picture`.

    Raises:
        ActionError: there is no such action.
        BackendError: an action after the end; there is no such tiling or size.
        TaskError: the task is not valid.
    """
    episode = _episode(spec, tiling)
    yield _draw(episode, reveal, tile_size)
    for action in actions:
        episode.step(action)
        yield _draw(episode, reveal, tile_size)


def _episode(spec: TaskSpecification, tiling: Tiling | str) -> Episode:
    chosen = find_tiling(tiling) if isinstance(tiling, str) else tiling
    return Episode(Layout(spec, chosen))


def reveal_codes(episode: Episode) -> NDArray[np.uint8]:
    """Return the looks of all cells as they are now, hidden mechanisms included."""
    codes = background(episode.layout)
    for (column, row), code, _ in _list_everything(episode):
        codes[row, column] = code
    return codes


def _list_everything(episode: Episode) -> Iterator[tuple[Cell, int, str]]:
    layout = episode.layout
    return things(layout, episode.state._replace(touched=layout.hidden))


def _draw(episode: Episode, reveal: bool, tile_size: int) -> NDArray[np.uint8]:
    observation = episode.observe()
    if not reveal:
        return picture(observation, tile_size)
    hidden = episode.layout.hidden - episode.state.touched
    marked = {cell for cell, _, name in _list_everything(episode) if name in hidden}
    revealed = replace(observation, codes=reveal_codes(episode), visible=np.ones_like(observation.visible))
    return picture(revealed, tile_size, marked=marked)
