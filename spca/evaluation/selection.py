"""Selection of the episodes that an evaluation plays, by seed, category and environment id (no input or output)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spca.common.errors import SettingsError
from spca.common.names import find_nearest
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.outside import UNPLAYABLE, matches_id
from spca.evaluation.seeds import MAX_EPISODES
from spca.runs.curriculum import Task, split_names


def list_warnings(learned: Learned, words: int | None, seeds: Sequence[int]) -> list[str]:
    """Return warnings about circumstances that make the results of an evaluation less valuable.

    Args:
        learned: the agents and writers that are evaluated.
        words: seed of the invented words that replace the words for colours and kinds; None for the true words.
        seeds: the seeds that the evaluation plays.
    """
    warnings = [learned.warning] if learned.warning else []
    learned_seeds = {learned.settings.get("seed"), *(task.seed for task in learned.tasks)}
    seed = next((seed for seed in seeds if seed in learned_seeds), None)
    if seed is not None:
        warnings.append(f"seed {seed} is no unseen one: {learned.source} has learned on it")
    learned_with = learned.settings.get("rename_words")
    is_run = bool(learned.settings)  # an agent's file does not say with which words the agent was learned
    if is_run and words != learned_with:
        known = "the true words" if learned_with is None else f"--rename-words {learned_with}"
        warnings.append(
            f"{learned.source} was learned with {known}: writers and actions that spell words out cannot succeed"
        )
    return warnings


def select_episodes(
    settings: EvaluationSettings, tasks: Sequence[Task], outside: Sequence[Task]
) -> tuple[Episode, ...]:
    """Return the episodes of an evaluation: every selected task with every seed; tasks of the curriculum come first.

    Args:
        tasks: the tasks of the curriculum.
        outside: tasks whose environment ids the curriculum lacks.

    Raises:
        SettingsError: a category does not exist, no episode is selected, or too many episodes are selected.
    """
    ids = settings.ids
    chosen = _filter_tasks(settings, [*tasks, *outside])
    seeds = settings.seeds.values
    count = len(chosen) * len(seeds)
    if count == 0:
        raise SettingsError(f"no episode is selected: {_explain_nothing(tasks, ids)}")
    if count > MAX_EPISODES:
        raise SettingsError(f"{count:,} episodes are selected: at most {MAX_EPISODES:,} (--seeds)")

    outside_ids = {task.env_id for task in outside}
    episodes: list[Episode] = []
    for task in chosen:
        is_outside = task.env_id in outside_ids
        for seed in seeds:
            index = len(episodes)
            place = (index, task.env_id, seed, task.category, task.skill, task.level)
            episodes.append(Episode(*place, is_outside, task.kwargs, task.mission, task.world))
    return tuple(episodes)


def _filter_tasks(settings: EvaluationSettings, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks whose category and environment id the settings select.

    Of tasks that differ only in their seed, the first is returned, because an evaluation has seeds of its own.
    """
    distinct: dict[str, Task] = {}
    for task in tasks:
        distinct.setdefault(task.spec.name, task)
    chosen = list(distinct.values())
    if settings.categories is not None:
        wanted = _read_categories(settings.categories, [task.category for task in tasks])
        chosen = [task for task in chosen if task.category in wanted]
    if settings.ids is not None:
        chosen = [task for task in chosen if matches_id(task.env_id, settings.ids)]
    return chosen


def _read_categories(names: str, known: Iterable[str]) -> frozenset[str]:
    """Return the categories that ``names`` lists, separated by commas.

    Raises:
        SettingsError: a category is not one of ``known``.
    """
    categories = dict.fromkeys(known)  # distinct names in order
    wanted = split_names(names, categories)
    for name in wanted:
        if name not in categories:
            near = find_nearest(name, categories, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(categories)}"
            raise SettingsError(f"--only: no category {name!a:.80}; {hint}")
    return frozenset(wanted)


def _explain_nothing(tasks: Sequence[Task], ids: str | None) -> str:
    """Return why no task matches the glob ``ids``."""
    if ids is None:
        return "there are no ids"
    for env_id in UNPLAYABLE:
        if matches_id(env_id, ids):
            return f"{env_id} cannot be played: {UNPLAYABLE[env_id]}"
    nearest = find_nearest(ids, (task.env_id for task in tasks), 1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"no id matches --only {ids!a:.80}{hint}"
