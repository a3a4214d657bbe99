"""Gymnasium ids of the shipped tasks, and one for any task."""

from __future__ import annotations

from typing import Final

from gridworld.library import shipped_files

ANY_TASK: Final = "gridworld/Task-v0"
"""Made with ``task=``: a specification, its data or the path of a file."""

_ENTRY_POINT: Final = "gridworld.custom_env:CustomMiniGridEnv"


def shipped_ids() -> dict[str, str]:
    """Map ids of the shipped tasks to paths: ``gridworld/V04_single_key-v0`` to that of ``V04_single_key.json``."""
    return {f"gridworld/{file.stem}-v0": str(file) for file in shipped_files()}


def register() -> None:
    """Make the ids known to gymnasium; those that it knows already stay as they are.

    Gymnasium loads no plugins since its version 1.0: call this, or import :mod:`gridworld.envs`, which gymnasium does
    by itself for ``gymnasium.make("gridworld.envs:gridworld/V04_single_key-v0")``. Older loaders of plugins find it
    as the entry point ``gymnasium.envs`` of the package.
    """
    import gymnasium

    if ANY_TASK not in gymnasium.registry:
        gymnasium.register(ANY_TASK, entry_point=_ENTRY_POINT)
    for env_id, path in shipped_ids().items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=_ENTRY_POINT, kwargs={"task": path})
