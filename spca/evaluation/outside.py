"""Environment ids outside a curriculum, for a test of transfer: minigrid registers them, but some cannot be played."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from spca.runs.curriculum import Task

CATEGORY: Final = "outside"
SKILL: Final = "Do what the mission says"

_NO_PATTERN: Final = "minigrid's wheel lacks its pattern image, minigrid/envs/wfc/patterns/{}.png"
UNPLAYABLE: Final[Mapping[str, str]] = {
    "MiniGrid-Playground-v0": "it has no mission and never gives a reward",
    "MiniGrid-WFC-DungeonMazeScaled-v0": _NO_PATTERN.format("ScaledMaze"),
    "MiniGrid-WFC-MazeSimple-v0": _NO_PATTERN.format("SimpleMaze"),
    "MiniGrid-WFC-ObstaclesAngular-v0": _NO_PATTERN.format("Angular"),
    "MiniGrid-WFC-ObstaclesBlackdots-v0": _NO_PATTERN.format("Blackdots"),
    "MiniGrid-WFC-ObstaclesHogs3-v0": _NO_PATTERN.format("Hogs"),
    "MiniGrid-WFC-RoomsFabric-v0": _NO_PATTERN.format("Fabric"),
}
"""Registered ids that cannot be played, each with the reason (minigrid 3.2)."""


@dataclass(frozen=True, slots=True)
class OutsideIds:
    """Environment ids that a curriculum lacks.

    Attributes:
        tasks: one task for each id that can be played, in alphabetical order of the ids.
        unplayable: the ids that cannot be played, each with the reason.
    """

    tasks: tuple[Task, ...]
    unplayable: Mapping[str, str]


def find_outside(known: Iterable[str], learned: Iterable[str], ids: str | None = None) -> OutsideIds:
    """Return the ids of ``known`` that ``learned`` lacks.

    Args:
        ids: a glob for the ids in ``unplayable``, see :func:`matches_id`; the tasks are not filtered.
    """
    outside_ids = sorted({*known} - {*learned})
    playable = (env_id for env_id in outside_ids if env_id not in UNPLAYABLE)
    tasks = []
    for index, env_id in enumerate(playable):
        tasks.append(Task(index, CATEGORY, SKILL, level_name(env_id), env_id))

    unplayable = {}
    for env_id in outside_ids:
        if env_id in UNPLAYABLE and matches_id(env_id, ids):
            unplayable[env_id] = UNPLAYABLE[env_id]
    return OutsideIds(tuple(tasks), unplayable)


def matches_id(env_id: str, pattern: str | None) -> bool:
    """Return whether an id matches a glob, ignoring case; the pattern None matches every id."""
    return pattern is None or fnmatchcase(env_id.casefold(), pattern.casefold())


def level_name(env_id: str) -> str:
    """Return an id's level as words, without sizes: ``Go To Local`` for ``BabyAI-GoToLocalS7N4-v0``.

    If the id contains no such words, return the id.
    """
    level = env_id.partition("-")[2].rpartition("-")[0]
    words = re.findall(r"(?<!\d)[A-Z][a-z]+", level)
    return " ".join(words) or env_id
