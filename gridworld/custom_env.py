"""A MiniGrid environment that plays a task: a gymnasium interface to :class:`~gridworld.rules.episode.Episode`."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
from minigrid.core.constants import TILE_PIXELS
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import WorldObj
from minigrid.minigrid_env import MiniGridEnv
from numpy.typing import NDArray

from gridworld.backends.base import GridState, check_render_mode
from gridworld.drawing.picturing import checked_tile_size
from gridworld.errors import BackendError
from gridworld.library import resolve
from gridworld.minigrid.objects import EMPTY, GroundKey, Hidden, Image, object_of
from gridworld.minigrid.view import TaskGrid, egocentric, encode, picture, view_objects
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import CODES, LOOKS, Look, Observation, background, things
from gridworld.task_spec import TaskSpecification

_FLOOR = CODES[Look("floor")]
_UP = 3  # MiniGrid's number of the heading; 0 is right and numbers go clockwise


def as_task(task: TaskSpecification | Mapping[str, Any] | str | os.PathLike[str]) -> TaskSpecification:
    """Return a specification unchanged, or read the specification from a dict or from the path of a file.

    Raises:
        TaskError: the dict or file cannot be read.
    """
    if isinstance(task, TaskSpecification):
        return task
    if isinstance(task, Mapping):
        return TaskSpecification.from_dict(task)
    return TaskSpecification.from_json(resolve(task))


def check_rendering(render_mode: object, tile_size: object) -> None:
    """Check the render mode and the tile size.

    Raises:
        BackendError: the mode is neither "rgb_array" nor None, or tiles are not 8 to 256 pixels wide.
    """
    check_render_mode(render_mode)
    checked_tile_size(tile_size)


class CustomMiniGridEnv(MiniGridEnv):
    """A task as a MiniGrid environment.

    An observation has MiniGrid's keys: ``image``, ``direction`` and ``mission``. ``image`` is the egocentric view, a
    square with a side of ``rules.view_size`` cells (see :mod:`gridworld.minigrid.objects` for its codes). If the
    observability is full, the agent sees through walls. Observations and :meth:`render` show only what a model may
    know.

    ``grid`` is the true state and agrees with :attr:`state` after every step. If the agent may not know of a mechanism,
    ``grid`` has a :class:`~gridworld.minigrid.objects.Hidden` in its place. MiniGrid's ``FullyObsWrapper`` encodes the
    whole ``grid``, so use the wrapper with full observability only. Tasks are deterministic, whatever the seed.

    Args:
        task: a specification, a dict with its data, or the path of a task file, which may be the path of a shipped
            task.
        render_mode: "rgb_array" or None; gymnasium supports the mode "human" (a window) by means of "rgb_array".
        tile_size: width of a cell in pictures, in pixels, from 8 to 256.

    Raises:
        TaskError: the task cannot be read or is not valid.
        BackendError: the render mode or the tile size is not supported.
    """

    carrying: Any
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - as in MiniGrid

    def __init__(
        self,
        task: TaskSpecification | Mapping[str, Any] | str | os.PathLike[str],
        render_mode: str | None = None,
        tile_size: int = TILE_PIXELS,
    ) -> None:
        check_rendering(render_mode, tile_size)
        self.task_spec = spec = as_task(task)
        self._layout = Layout(spec)
        self._background = background(self._layout)
        self._episode: Episode | None = None
        super().__init__(
            mission_space=MissionSpace(mission_func=_mission, ordered_placeholders=[[spec.get_mission_text()]]),
            width=self._layout.width,
            height=self._layout.height,
            max_steps=spec.max_steps,
            see_through_walls=spec.rules.observability == "full",
            agent_view_size=spec.rules.view_size,
            render_mode=render_mode,
            highlight=False,
            tile_size=tile_size,
        )

    @property
    def state(self) -> GridState:
        """A copy of the complete current state.

        Raises:
            BackendError: ``reset`` has not been called.
        """
        return self._playing().grid_state()

    def observe(self) -> Observation:
        """Return the observation of the whole maze; cells that a model may not see are "unseen".

        Raises:
            BackendError: ``reset`` has not been called.
        """
        return self._playing().observe()

    def reset(  # type: ignore[override]  # MiniGrid leaves its type variables open
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the episode anew; return (observation, info).

        Args:
            seed: the seed of ``np_random``, any integer; no task uses ``np_random``.
            options: ignored.
        """
        # A task may have a negative seed, but gymnasium refuses negative seeds.
        unsigned_seed = None if seed is None else operator.index(seed) % 2**64
        observation, _ = super().reset(seed=unsigned_seed, options=options)
        return observation, {"is_success": False}

    def step(  # type: ignore[override]
        self, action: SupportsIndex
    ) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do one action; return (observation, reward, terminated, truncated, info).

        ``info["is_success"]`` is whether the goal is reached.

        Raises:
            ActionError: the value is not an action; the state is unchanged.
            BackendError: the call comes before ``reset`` or after the end of the episode.
        """
        episode = self._playing()
        episode.step(action)
        self._sync(episode)
        info = {"is_success": episode.goal_reached}
        return self.gen_obs(), episode.reward, episode.terminated, episode.truncated, info

    def gen_obs(self) -> dict[str, Any]:
        """Return MiniGrid's observation of the current state."""
        size = self.agent_view_size
        image = encode(self._view(size))
        # As in MiniGrid, the cell of the agent (bottom row, middle column) shows what the agent carries.
        image[size // 2, -1] = EMPTY if self.carrying is None else self.carrying.encode()
        return {"image": image, "direction": self.agent_dir, "mission": self.mission}

    def gen_obs_grid(self, agent_view_size: int | None = None) -> tuple[TaskGrid, NDArray[np.bool_]]:
        """Return (the agent's view as a grid, the mask of the visible cells), both of shape (width, height)."""
        size = agent_view_size or self.agent_view_size
        codes = self._view(size)
        grid = TaskGrid(size, size)
        grid.grid = view_objects(codes)
        grid.set(size // 2, size - 1, self.carrying)
        return grid, codes != CODES[Look("unseen")]

    def render(self) -> Image | None:
        """Return an image of the grid as far as the agent knows it; return None if ``render_mode`` is None."""
        return None if self.render_mode is None else self.get_full_render(False, self.tile_size)

    def get_full_render(self, highlight: bool, tile_size: int) -> Image:  # noqa: ARG002 - MiniGrid's signature
        """Return an image of what the agent knows of the grid, shape (height * tile_size, width * tile_size, 3)."""
        return picture(self.observe(), tile_size)

    def get_pov_render(self, tile_size: int) -> Image:
        """Return an image of the agent's view, drawn by MiniGrid."""
        grid, visible = self.gen_obs_grid()
        agent = self.agent_view_size // 2, self.agent_view_size - 1
        image: Image = grid.render(tile_size, agent, agent_dir=_UP, highlight_mask=visible)
        return image

    def put_obj(self, obj: WorldObj | None, i: int, j: int) -> None:
        """Put an object on the cell in column i, row j; None means plain floor."""
        self.grid.set(i, j, obj)
        if obj is not None:
            obj.init_pos = obj.cur_pos = (i, j)

    def _gen_grid(self, width: int, height: int) -> None:
        """Start the episode anew and fill the grid; MiniGrid's ``reset`` calls this method."""
        if self._episode is None:
            self._episode = Episode(self._layout)
        else:
            self._episode.reset()
        self.grid = TaskGrid(width, height)
        self._true = np.full((height, width), _FLOOR, dtype=np.uint8)
        self._known = self._true.copy()
        self._sync(self._episode)

    def _sync(self, episode: Episode) -> None:
        """Copy the state of the episode to MiniGrid's attributes; only changed cells of the grid are replaced."""
        state = episode.state
        self.agent_pos = state.position
        self.agent_dir = state.heading
        self.step_count = episode.step_count
        self.carrying = None if state.carrying is None else GroundKey(self._layout.colour_of_key[state.carrying])
        known = self._codes()
        true = self._codes(reveal_hidden=True) if self._layout.hidden else known
        changed = (true != self._true) | (known != self._known)
        self._true = true
        self._known = known
        for row, column in np.argwhere(changed).tolist():
            true_code = int(true[row, column])
            known_code = int(known[row, column])
            self.put_obj(_object(true_code, known_code), column, row)

    def _codes(self, *, reveal_hidden: bool = False) -> NDArray[np.uint8]:
        """Return the code (:data:`gridworld.rules.observation.CODES`) of each cell, shape (height, width).

        Args:
            reveal_hidden: whether to include the hidden mechanisms that the agent has not touched.
        """
        layout = self._layout
        state = self._playing().state
        codes = self._background.copy()
        shown = state._replace(touched=layout.hidden) if reveal_hidden else state
        for (column, row), code, _ in things(layout, shown):
            codes[row, column] = code
        return codes

    def _view(self, size: int) -> NDArray[np.uint8]:
        """Return the code of each cell of the agent's view, shape (size, size), indexed [column, row]."""
        return egocentric(self.observe(), size, see_through_walls=self.see_through_walls)

    def _playing(self) -> Episode:
        """Return the current episode.

        Raises:
            BackendError: ``reset`` has not been called.
        """
        if self._episode is None:
            raise BackendError("there is no episode: call reset() first")
        return self._episode


def _mission(text: str) -> str:
    """Return the mission text unchanged; a lambda could not be pickled, so a named function is needed."""
    return text


def _object(true: int, known: int) -> WorldObj | None:
    """Return the MiniGrid object of a cell from its true code and from the code that the agent knows."""
    thing = object_of(LOOKS[true])
    if thing is None or true == known:
        return thing
    return Hidden(thing, object_of(LOOKS[known]))
