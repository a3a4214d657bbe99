"""Gymnasium ids: one id for each shipped task, and one id for any task."""

from __future__ import annotations

from typing import Final

from gridworld.library import shipped_files

ANY_TASK: Final = "gridworld/Task-v0"
"""Id for ``gymnasium.make(ANY_TASK, task=...)``; ``task`` is a specification, its data or the path of a file."""

_ENTRY_POINT: Final = "gridworld.custom_env:CustomMiniGridEnv"


def shipped_ids() -> dict[str, str]:
    """Return the file of each shipped task by id: ``gridworld/V04_single_key-v0`` has ``.../V04_single_key.json``."""
    return {f"gridworld/{file.stem}-v0": str(file) for file in shipped_files()}


def register() -> None:
    """Register the ids with gymnasium; an id that is registered already is not changed.

    Since version 1.0, gymnasium loads no plugins. Call this function or import :mod:`gridworld.envs`; for
    ``gymnasium.make("gridworld.envs:gridworld/V04_single_key-v0")`` gymnasium imports that module by itself. Older
    versions of gymnasium call this function through the entry point ``gymnasium.envs`` of the package.
    """
    import gymnasium

    if ANY_TASK not in gymnasium.registry:
        gymnasium.register(ANY_TASK, entry_point=_ENTRY_POINT)
    for env_id, path in shipped_ids().items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=_ENTRY_POINT, kwargs={"task": path})
