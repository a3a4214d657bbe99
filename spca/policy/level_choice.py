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
        return LevelChoice(LevelInfo("", "", ""), LevelSpec("", mission=_find_only_mission(tasks)))
    if isinstance(given, LevelInfo):
        return LevelChoice(given, LevelSpec("", mission=_find_only_mission(tasks)))
    if not isinstance(given, str):
        raise SettingsError(f"level is no text, but {type(given).__name__}: give a name or a spca.LevelInfo")

    wanted = given.casefold()
    named = [task for task in tasks if given in (task.spec.id, task.spec.name, task.name)]
    if named:
        _require_one_mission(given, named)
        return LevelChoice(named[0].info(), named[0].spec)
    in_category = [task for task in tasks if wanted == task.category.casefold()]
    if in_category:
        first = in_category[0]
        info = LevelInfo(first.category, first.skill, "")
        return LevelChoice(info, LevelSpec("", mission=_find_only_mission(in_category)))
    in_level = [task for task in tasks if wanted in (task.level.casefold(), f"{task.category}/{task.level}".casefold())]
    if in_level:
        return LevelChoice(in_level[0].info(), LevelSpec("", mission=_find_only_mission(in_level)))
    if _ENVIRONMENT_ID.fullmatch(given):
        return LevelChoice(LevelInfo(CATEGORY, SKILL, level_name(given)), LevelSpec(given))
    known = [name for task in tasks for name in (task.category, task.level, task.name)]
    near = find_nearest(given, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else "give an environment id, or a category of the run's curriculum"
    raise SettingsError(f"level {one_line(given)!r} is not in the run's curriculum: {hint}")


def _find_only_mission(tasks: Sequence[Task]) -> str:
    """Return the mission that a curriculum gives to all of these levels; "" if it gives none, or several."""
    missions = {task.mission for task in tasks}
    return missions.pop() if len(missions) == 1 else ""


def _require_one_mission(given: str, named: Sequence[Task]) -> None:
    """Raise SettingsError if levels of one name have several missions."""
    names = {task.mission: task.spec.name for task in reversed(named)}
    if len(names) > 1:
        listed = ", ".join(map(one_line, names.values()))
        raise SettingsError(f"level {one_line(given)!r} has several missions: name one of {listed}")


def list_categories(tasks: Sequence[Task]) -> tuple[LevelInfo, ...]:
    """Return each category of a curriculum with its skill, in order, without a level's name."""
    return tuple(dict.fromkeys(LevelInfo(task.category, task.skill, "") for task in tasks))
