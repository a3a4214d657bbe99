"""Which episodes are played: seeds, categories and environment ids as a user writes them (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from spca.common.errors import SettingsError
from spca.evaluation.episodes import Episode
from spca.evaluation.outside import CATEGORY, UNPLAYABLE
from spca.evaluation.seeds import MAX_EPISODES
from spca.runs.curriculum import Task, listed, nearest


def episodes(
    tasks: Sequence[Task],
    outside: Sequence[Task],
    seeds: Sequence[int],
    categories: str | None = None,
    ids: str | None = None,
) -> tuple[Episode, ...]:
    """Return the episodes of a curriculum's ids and those ``outside`` it, in their order, then by seed.

    Args:
        categories: names separated by commas, compared without regard to case; None for all.
        ids: a glob that ids must match, compared without regard to case; None for all.

    Raises:
        SettingsError: a category that does not exist, or no episode or too many are left.
    """
    chosen = [*((task, False) for task in tasks), *((task, True) for task in outside)]
    if categories is not None:
        wanted = _categories(categories, [task.category for task, _ in chosen])
        chosen = [each for each in chosen if each[0].category in wanted]
    if ids is not None:
        chosen = [each for each in chosen if matches(each[0].env_id, ids)]
    if not chosen or not seeds:
        raise SettingsError(f"no episode is selected: {_why(tasks, ids)}")
    if len(chosen) * len(seeds) > MAX_EPISODES:
        raise SettingsError(f"{len(chosen) * len(seeds):,} episodes are selected: at most {MAX_EPISODES:,} (--seeds)")
    pairs = [
        Episode(0, task.env_id, seed, task.category, task.skill, task.level, is_outside)
        for task, is_outside in chosen
        for seed in seeds
    ]
    return tuple(replace(episode, index=index) for index, episode in enumerate(pairs))


def matches(env_id: str, ids: str | None) -> bool:
    """Whether an id is one of ``ids`` as :func:`episodes` takes them."""
    return ids is None or fnmatchcase(env_id.casefold(), ids.casefold())


def taught(categories: Sequence[str], tasks: Sequence[Task], *, outside: bool) -> str | None:
    """Return ``categories`` of a curriculum, which a run has learned, as :func:`episodes` takes them.

    None means all: the run has learned something in each category, or what it has learned is not known.

    Args:
        outside: whether ids outside the curriculum are played, too.
    """
    if not categories or {task.category for task in tasks} <= {*categories}:
        return None
    return ",".join([*categories, *[CATEGORY] * outside])


def _categories(names: str, known: Iterable[str]) -> frozenset[str]:
    there = dict.fromkeys(known)
    wanted = listed(names, there)
    for name in wanted:
        if name not in there:
            near = nearest(name, there, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(there)}"
            raise SettingsError(f"--only: no category {name!a:.80}; {hint}")
    return frozenset(wanted)


def _why(tasks: Sequence[Task], ids: str | None) -> str:
    if ids is None:
        return "there are no ids"
    for env_id in UNPLAYABLE:
        if matches(env_id, ids):
            return f"{env_id} cannot be played: {UNPLAYABLE[env_id]}"
    near = nearest(ids, (task.env_id for task in tasks), 1)
    return f"no id matches --only {ids!a:.80}{f'; did you mean {near[0]}?' if near else ''}"
