"""TaskParser: from task specifications to MiniGrid environments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gridworld.custom_env import CustomMiniGridEnv, as_task, check_rendering
from gridworld.task_spec import TaskSpecification


class TaskParser:
    """Makes environments that have been reset and populated: there is no need to reset them again.

    Args:
        render_mode: of the environments: "rgb_array" or None.
        tile_size: width of a cell in their pictures, in pixels.

    Raises:
        BackendError: a mode or size that does not exist.
    """

    def __init__(self, render_mode: str | None = "rgb_array", tile_size: int = 32) -> None:
        check_rendering(render_mode, tile_size)
        self.render_mode = render_mode
        self.tile_size = tile_size

    def parse(self, spec: TaskSpecification, seed: int | None = None) -> CustomMiniGridEnv:
        """Return the environment of a task at its start.

        Args:
            spec: must not be changed afterwards.
            seed: the task's own by default.

        Raises:
            TaskError: the task is not valid.
        """
        env = CustomMiniGridEnv(spec, render_mode=self.render_mode, tile_size=self.tile_size)
        env.reset(seed=spec.seed if seed is None else seed)
        return env

    def parse_file(self, path: str | os.PathLike[str], seed: int | None = None) -> CustomMiniGridEnv:
        """Parse a file in the same way; paths of shipped tasks lead to them from any working directory.

        Raises:
            TaskError: the file cannot be read, or the task is not valid.
        """
        return self.parse(as_task(path), seed)

    def parse_dict(self, data: Mapping[str, Any], seed: int | None = None) -> CustomMiniGridEnv:
        """Parse the data of a file in the same way.

        Raises:
            TaskError: the data cannot be read, or the task is not valid.
        """
        return self.parse(as_task(data), seed)
