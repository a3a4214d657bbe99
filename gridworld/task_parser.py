"""TaskParser makes MiniGrid environments from task specifications."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gridworld.custom_env import CustomMiniGridEnv, as_task, check_rendering
from gridworld.task_spec import TaskSpecification


class TaskParser:
    """A maker of MiniGrid environments, which are already reset and populated.

    Args:
        render_mode: the render mode of the environments: "rgb_array" or None.
        tile_size: width of a cell in the pictures of the environments, in pixels.

    Raises:
        BackendError: the render mode or the tile size is not supported.
    """

    def __init__(self, render_mode: str | None = "rgb_array", tile_size: int = 32) -> None:
        check_rendering(render_mode, tile_size)
        self.render_mode = render_mode
        self.tile_size = tile_size

    def parse(self, spec: TaskSpecification, seed: int | None = None) -> CustomMiniGridEnv:
        """Return the environment of a task, in its initial state.

        Args:
            spec: the task, which the caller must not change afterwards.
            seed: the seed of the reset; None takes the seed of the task.

        Raises:
            TaskError: the task is not valid.
        """
        env = CustomMiniGridEnv(spec, render_mode=self.render_mode, tile_size=self.tile_size)
        env.reset(seed=spec.seed if seed is None else seed)
        return env

    def parse_file(self, path: str | os.PathLike[str], seed: int | None = None) -> CustomMiniGridEnv:
        """Return the environment of a task file; see :func:`gridworld.library.resolve` for the path.

        Raises:
            TaskError: the file cannot be read, or the task is not valid.
        """
        return self.parse(as_task(path), seed)

    def parse_dict(self, data: Mapping[str, Any], seed: int | None = None) -> CustomMiniGridEnv:
        """Return the environment of the JSON data of a task file.

        Raises:
            TaskError: the data cannot be read, or the task is not valid.
        """
        return self.parse(as_task(data), seed)
