"""Which episodes are played: seeds, categories and environment ids as a user writes them (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spca.common.errors import SettingsError
from spca.common.names import find_nearest
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.outside import UNPLAYABLE, matches_id
from spca.evaluation.seeds import MAX_EPISODES
from spca.runs.curriculum import Task, split_names


def list_warnings(learned: Learned, words: int | None, seeds: Sequence[int]) -> list[str]:
    """Return what makes an evaluation less than its user may think.

    Args:
        learned: what is evaluated.
        words: the seed of the words that the evaluation uses; None for the true ones.
        seeds: those that it plays.
    """
    warnings = [learned.warning] if learned.warning else []
    seed = learned.settings.get("seed")
    if seed in seeds:
        warnings.append(f"seed {seed} is no unseen one: {learned.source} has learned on it")
    learned_with = learned.settings.get("rename_words")
    if learned.settings and words != learned_with:  # nobody knows the words of a file
        known = "the true words" if learned_with is None else f"--rename-words {learned_with}"
        warnings.append(
            f"{learned.source} was learned with {known}: writers and actions that spell words out cannot succeed"
        )
    return warnings


def select_episodes(
    settings: EvaluationSettings, tasks: Sequence[Task], outside: Sequence[Task]
) -> tuple[Episode, ...]:
    """Return the episodes of an evaluation: ids of the curriculum, then those outside it, each by seed.

    Args:
        tasks: those of the curriculum.
        outside: those that it lacks and that are played, too.

    Raises:
        SettingsError: a category that does not exist, or no episode or too many are left.
    """
    categories = settings.categories
    ids = settings.ids
    seeds = settings.seeds.values
    chosen = [*((task, False) for task in tasks), *((task, True) for task in outside)]
    if categories is not None:
        wanted = _read_categories(categories, [task.category for task, _ in chosen])
        chosen = [each for each in chosen if each[0].category in wanted]
    if ids is not None:
        chosen = [each for each in chosen if matches_id(each[0].env_id, ids)]
    if not chosen or not seeds:
        raise SettingsError(f"no episode is selected: {_explain_nothing(tasks, ids)}")
    if len(chosen) * len(seeds) > MAX_EPISODES:
        raise SettingsError(f"{len(chosen) * len(seeds):,} episodes are selected: at most {MAX_EPISODES:,} (--seeds)")
    pairs = [
        Episode(0, task.env_id, seed, task.category, task.skill, task.level, is_outside)
        for task, is_outside in chosen
        for seed in seeds
    ]
    return tuple(replace(episode, index=index) for index, episode in enumerate(pairs))


def _read_categories(names: str, known: Iterable[str]) -> frozenset[str]:
    there = dict.fromkeys(known)
    wanted = split_names(names, there)
    for name in wanted:
        if name not in there:
            near = find_nearest(name, there, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(there)}"
            raise SettingsError(f"--only: no category {name!a:.80}; {hint}")
    return frozenset(wanted)


def _explain_nothing(tasks: Sequence[Task], ids: str | None) -> str:
    if ids is None:
        return "there are no ids"
    for env_id in UNPLAYABLE:
        if matches_id(env_id, ids):
            return f"{env_id} cannot be played: {UNPLAYABLE[env_id]}"
    near = find_nearest(ids, (task.env_id for task in tasks), 1)
    return f"no id matches --only {ids!a:.80}{f'; did you mean {near[0]}?' if near else ''}"
