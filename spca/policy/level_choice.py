"""The level that a policy plays: writers ask for its category, its skill and its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spca.common.errors import SettingsError
from spca.common.names import find_nearest
from spca.common.text import one_line
from spca.contracts import LevelInfo, LevelSpec
from spca.evaluation.outside import CATEGORY, SKILL, level_name
from spca.runs.curriculum import Task

_ENVIRONMENT_ID: Final = re.compile(r"\S*-v\d+")


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """What a policy knows of its level.

    Attributes:
        info: category, skill and level in the words of the curriculum; empty words if nothing is known.
        spec: the environment; the id is "" if it is not known.
    """

    info: LevelInfo
    spec: LevelSpec

    @property
    def is_known(self) -> bool:
        """Whether the category is known."""
        return bool(self.info.category)


def choose_level(given: LevelInfo | str | None, tasks: Sequence[Task]) -> LevelChoice:
    """Return the level that a caller names.

    Args:
        given: an environment id, a category, a level, ``category/level``, or these words as a :class:`LevelInfo`; None
            if nothing is known. An id that the curriculum lacks is a level outside of it, as in an evaluation.
        tasks: the levels of the run's curriculum.

    Raises:
        SettingsError: no level has this name.
    """
    if given is None:
        return LevelChoice(LevelInfo("", "", ""), LevelSpec(""))
    if isinstance(given, LevelInfo):
        return LevelChoice(given, LevelSpec(""))

    wanted = given.casefold()
    for task in tasks:
        info = LevelInfo(task.category, task.skill, task.level)
        if given in (task.spec.id, task.spec.name):
            return LevelChoice(info, task.spec)
    for task in tasks:
        info = LevelInfo(task.category, task.skill, task.level)
        if wanted == task.category.casefold():
            return LevelChoice(LevelInfo(task.category, task.skill, ""), LevelSpec("", mission=task.mission))
        if wanted in (task.level.casefold(), f"{task.category}/{task.level}".casefold()):
            return LevelChoice(info, LevelSpec("", mission=task.mission))
    if _ENVIRONMENT_ID.fullmatch(given):
        return LevelChoice(LevelInfo(CATEGORY, SKILL, level_name(given)), LevelSpec(given))
    known = [name for task in tasks for name in (task.category, task.level, task.env_id)]
    near = find_nearest(given, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else "give an environment id, or a category of the run's curriculum"
    raise SettingsError(f"level {one_line(given)!r} is not in the run's curriculum: {hint}")


def list_categories(tasks: Sequence[Task]) -> tuple[LevelInfo, ...]:
    """Return each category of a curriculum with its skill, in order, without a level's name."""
    return tuple(dict.fromkeys(LevelInfo(task.category, task.skill, "") for task in tasks))
