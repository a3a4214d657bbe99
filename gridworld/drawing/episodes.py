"""Pictures of tasks and episodes, as the model sees them or with everything revealed for the author (pure)."""

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
    """Return the picture of a task at its start: RGB, shape (height, width, 3).

    Args:
        spec: the task.
        tiling: the tiling or its name.
        reveal: whether to show everything, with hidden mechanisms in a dashed frame. If False, the picture shows what a
            model sees.
        tile_size: width of a cell, in pixels.

    Raises:
        TaskError: the task is not valid.
        BackendError: the tiling or the size is not supported.
    """
    return _draw(_start_episode(spec, tiling), reveal, tile_size)


def episode_frames(
    spec: TaskSpecification,
    tiling: Tiling | str,
    actions: Iterable[SupportsIndex],
    *,
    reveal: bool = False,
    tile_size: int = TILE_SIZE,
) -> Iterator[NDArray[np.uint8]]:
    """Yield a picture of the start of an episode, and one picture after each action.

    Args:
        spec, tiling, reveal, tile_size: see :func:`task_picture`.
        actions: action numbers of tasks and models, not of the engine.

    Raises:
        ActionError: a number is no action.
        BackendError: an action follows the end of the episode, or the tiling or the size is not supported.
        TaskError: the task is not valid.
    """
    episode = _start_episode(spec, tiling)
    yield _draw(episode, reveal, tile_size)
    for action in actions:
        episode.step(action)
        yield _draw(episode, reveal, tile_size)


def _start_episode(spec: TaskSpecification, tiling: Tiling | str) -> Episode:
    chosen = find_tiling(tiling) if isinstance(tiling, str) else tiling
    return Episode(Layout(spec, chosen))


def reveal_codes(episode: Episode) -> NDArray[np.uint8]:
    """Return the present code of each cell, hidden mechanisms included.

    The array has the shape (height, width). Each code is an index into ``LOOKS``.
    """
    codes = background(episode.layout)
    # Lower mechanisms come first, so that the upper mechanism of a cell stays.
    for (column, row), code, _ in _all_mechanisms(episode):
        codes[row, column] = code
    return codes


def _all_mechanisms(episode: Episode) -> Iterator[tuple[Cell, int, str]]:
    """Yield (cell, code, id) of every mechanism, hidden mechanisms included.

    If two mechanisms are on one cell, the lower mechanism comes first.
    """
    layout = episode.layout
    # A hidden mechanism that was touched counts as seen.
    return things(layout, episode.state._replace(touched=layout.hidden))


def _draw(episode: Episode, reveal: bool, tile_size: int) -> NDArray[np.uint8]:
    """Return a picture of an episode's present state. If ``reveal`` is False, the picture shows what the agent sees."""
    observation = episode.observe()
    if not reveal:
        return picture(observation, tile_size)
    hidden = episode.layout.hidden - episode.state.touched
    marked = {cell for cell, _, name in _all_mechanisms(episode) if name in hidden}
    all_visible = np.ones_like(observation.visible)
    revealed = replace(observation, codes=reveal_codes(episode), visible=all_visible)
    return picture(revealed, tile_size, marked=marked)
