"""Tasks of every tier and mechanism, each proven; the same arguments make the same task on every machine.

A task is drawn (:mod:`gridworld.generating`) and kept if its certificate proves that it can be solved, in a sensible
number of steps, and that every element of its dependency chain is necessary; else the next draw of the same stream is
tried. Tiers: 1 navigation, 2 keys and doors, 3 switches and gates, 4 what cannot be undone (blocks, keys to waste),
5 hidden information (views, hidden mechanisms, teleporters, hazards).
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count as count_from
from pathlib import Path
from typing import Any, Final, Literal

from gridworld.actions import Action
from gridworld.errors import GenerationError, SearchLimitError, TaskError
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.recipes import MECHANISMS, TIERS, cook, needs
from gridworld.rules.tilings import TILINGS, Tiling
from gridworld.search.certificate import attach_certificate, certify, fingerprint, stored_proof
from gridworld.task_spec import TaskSpecification

VERSION: Final = 1
"""Of the tasks: another version makes others of the same arguments, because it draws or proves them differently."""
ATTEMPTS: Final = 400
"""Draws that are tried for a task."""
_IN_A_ROW: Final = 200
"""Equal tasks that are skipped before there are none left to make."""
_LARGEST_SEED: Final = 2**63 - 1
SEARCH_LIMIT: Final = 1_000
"""States that a search of the proof may expand, by default. What needs more, which few draws do, is not kept."""
SHORTEST: Final = 6
LONGEST: Final = 250
"""Bounds of the steps that a task may need."""


def generate(
    tier: int,
    seed: int,
    *,
    index: int = 0,
    tiling: str = "square",
    mechanisms: Collection[str] | None = None,
    limit: int = SEARCH_LIMIT,
) -> TaskSpecification:
    """Make a task.

    Args:
        tier: 1 to 5.
        seed, index: tasks of one seed are told apart by their index, from 0.
        tiling: the name of the tiling on which the task is to be played; only there it is certified.
        mechanisms: kinds of mechanisms that may occur ("keys", "doors", ...); None for all.
        limit: states that each search of the proof may expand; what needs more is not kept.

    Returns:
        The task; ``metadata["generator"]`` holds the arguments, ``metadata["certificate"]`` the proof, ``max_steps`` is
        three times the optimum and 10 more, at least 50.

    Raises:
        GenerationError: an argument makes no sense, or no task came of any draw.
    """
    allowed = _check_arguments(tier, seed, index, tiling, mechanisms, limit)
    stream = f"gridworld {VERSION} {tier} {seed} {index} {tiling} {' '.join(allowed)}"
    for attempt in range(ATTEMPTS):
        # Not for secrets: the same seed has to make the same task.
        rng = random.Random(f"{stream} {attempt}")  # noqa: S311
        try:
            draft = cook(rng, TILINGS[tiling], TIERS[tier], allowed)
            return _make_task(draft, tier, seed, _describe_origin(tier, seed, index, tiling, allowed, limit), limit)
        except (UnfitError, SearchLimitError):
            continue
    raise GenerationError(
        f"no task of tier {tier} came of {ATTEMPTS} draws with seed {seed}, index {index}: take another seed or allow "
        "more mechanisms"
    )


def write_many(
    tier: int,
    count: int,
    seed: int,
    out_dir: str | os.PathLike[str],
    *,
    tiling: str = "square",
    mechanisms: Collection[str] | None = None,
    limit: int = SEARCH_LIMIT,
    overwrite: bool = False,
) -> Iterator[Written]:
    """Make ``count`` tasks no two of which are equal, as files ``ID.json`` in a folder; each is told once it is there.

    Their indices rise; an index is left out if its task is not new.
    What an interrupted call has written is kept by the next one, and not made again: a file whose task has the
    fingerprint that its certificate names.

    Args:
        overwrite: replace files that hold something else.

    Raises:
        GenerationError: as :func:`generate`; there are not so many; or a file holds something else, or cannot be
            written. What was written stays.
    """
    allowed = _check_arguments(tier, seed, 0, tiling, mechanisms, limit)
    folder = Path(out_dir)

    def made_or_kept(index: int) -> TaskSpecification:
        name = task_name(tier, seed, index, tiling)
        origin = _describe_origin(tier, seed, index, tiling, allowed, limit)
        there = read_made(folder / f"{name}.json", name, origin)
        return there or generate(tier, seed, index=index, tiling=tiling, mechanisms=mechanisms, limit=limit)

    return _write_tasks(_make_distinct(tier, count, seed, made_or_kept), folder, overwrite)


def task_name(tier: int, seed: int, index: int, tiling: str = "square") -> str:
    """Return the id of a generated task, which is the stem of its file."""
    ending = "" if tiling == "square" else f"_{tiling}"
    return f"t{tier}_{seed}_{index:04d}{ending}"


def content(spec: TaskSpecification) -> str:
    """Return a hash of all that matters in play: not of id, seed, words or metadata."""
    data = spec.to_dict()
    for name in ("task_id", "seed", "description", "metadata", "version"):
        data.pop(name, None)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _make_distinct(
    tier: int, count: int, seed: int, make: Callable[[int], TaskSpecification]
) -> Iterator[TaskSpecification]:
    seen = set[str]()
    last = -1
    for index in count_from():
        if len(seen) >= count:
            return
        if index - last > _IN_A_ROW:
            raise GenerationError(f"no more than {len(seen)} different tasks of tier {tier} came of seed {seed}")
        spec = make(index)
        if (found := content(spec)) not in seen:
            seen.add(found)
            last = index
            yield spec


def _describe_origin(
    tier: int, seed: int, index: int, tiling: str, allowed: tuple[str, ...], limit: int
) -> dict[str, Any]:
    """Return the arguments of a task, as its metadata keeps them."""
    made: dict[str, Any] = {"version": VERSION, "tier": tier, "seed": seed, "index": index, "tiling": tiling}
    if allowed != MECHANISMS:
        made["mechanisms"] = list(allowed)
    return made if limit == SEARCH_LIMIT else {**made, "limit": limit}


def _make_task(draft: Draft, tier: int, seed: int, origin: dict[str, Any], limit: int) -> TaskSpecification:
    tiling = draft.floor.tiling
    spec = draft.build_specification(task_name(tier, seed, origin["index"], tiling.name), seed, tier)
    spec.metadata = {"generator": origin, "tiling": tiling.name, "wall_topology": draft.floor.plan}
    return prove_task(spec, tiling, draft.describe if TIERS[tier].tells else TaskSpecification.get_mission_text, limit)


def _check_arguments(
    tier: int, seed: int, index: int, tiling: str, mechanisms: Collection[str] | None, limit: int
) -> tuple[str, ...]:
    """Return the kinds of mechanisms that may occur, in a fixed order; check the arguments."""
    numbers = {"tier": tier, "seed": seed, "index": index, "limit": limit}
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise GenerationError(f"{name} must be an integer, not {number!r:.40}")
    if tier not in TIERS:
        raise GenerationError(f"there is no tier {tier}; tiers are {min(TIERS)} to {max(TIERS)}")
    fits = abs(seed) <= _LARGEST_SEED and 0 <= index <= _LARGEST_SEED
    if not fits or not 0 < limit <= _LARGEST_SEED:
        raise GenerationError("seed, index and limit must fit 64 bits, index be at least 0, limit at least 1")
    if tiling not in TILINGS:
        raise GenerationError(f"there is no tiling {tiling!r:.40}; there are {', '.join(TILINGS)}")
    if mechanisms is None:
        return MECHANISMS
    if unknown := sorted({str(name) for name in mechanisms} - set(MECHANISMS)):
        raise GenerationError(f"there are no mechanisms {', '.join(unknown):.80}; there are {', '.join(MECHANISMS)}")
    allowed = tuple(name for name in MECHANISMS if name in mechanisms)
    needed = needs(TIERS[tier])
    if needed and not any(kinds <= set(allowed) for kinds in needed):
        choices = [", ".join(name for name in MECHANISMS if name in kinds) for kinds in needed]
        raise GenerationError(f"tier {tier} is about {TIERS[tier].what}: allow {'; or '.join(choices)}")
    return allowed


def prove_task(
    spec: TaskSpecification,
    tiling: Tiling,
    describe: Callable[[TaskSpecification], str],
    limit: int = SEARCH_LIMIT,
) -> TaskSpecification:
    """Return the task with its ``max_steps``, its description and a certificate in its metadata.

    Args:
        spec: the task as drawn.
        tiling: on which it is played.
        describe: what makes its description, once ``max_steps`` is there.
        limit: states that each search may expand.

    Raises:
        UnfitError: it cannot be solved, needs too few or too many steps, or an element of its chain is not necessary.
        SearchLimitError: undecided.
    """
    proof = certify(replace(spec, max_steps=4 * LONGEST), tiling, limit)
    # Who has to survive waits when all else is done.
    needed = len(proof.actions.rstrip(str(Action.DONE.value)))
    if not (proof.sound and SHORTEST <= needed <= LONGEST):
        raise UnfitError("not solvable, too easy or too long, or its chain is not necessary")
    final = replace(spec, max_steps=enough_steps(needed))
    final.description = describe(final)
    if spec.goal.goal_type == "survive_steps":
        return attach_certificate(final, certify(final, tiling, limit))
    # For other goals nothing else of the proof depends on max_steps.
    return attach_certificate(final, replace(proof, fingerprint=fingerprint(final)))


def enough_steps(needed: int) -> int:
    """Return a ``max_steps`` that leaves a player room."""
    return max(50, 3 * needed + 10)


@dataclass(frozen=True, slots=True)
class Written:
    """A task in its file: "written", "replaced", or "kept" because it was there."""

    path: Path
    spec: TaskSpecification
    what: Literal["written", "replaced", "kept"]


def _write_tasks(specs: Iterable[TaskSpecification], folder: Path, overwrite: bool) -> Iterator[Written]:
    """Write tasks to ``ID.json`` in a folder, one by one as they are made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise GenerationError(f"folder {str(folder)!a} cannot be made: {reason}") from error
    for spec in specs:
        yield _write(spec, folder / f"{spec.task_id}.json", overwrite)


def read_made(path: Path, task_id: str, origin: Mapping[str, Any]) -> TaskSpecification | None:
    """Return the task in a file if it was generated from these arguments and not changed since; else None."""
    try:
        spec = TaskSpecification.from_json(path, strict=True)
        proof, _ = stored_proof(spec, TILINGS[origin["tiling"]])
    except TaskError:
        return None
    ours = (spec.metadata or {}).get("generator") == origin and spec.task_id == task_id
    return spec if ours and proof is not None else None


def _holds(path: Path, spec: TaskSpecification) -> bool:
    try:
        return TaskSpecification.from_json(path, strict=True) == spec
    except TaskError:
        return False


def _write(spec: TaskSpecification, path: Path, overwrite: bool) -> Written:
    there = os.path.lexists(path)
    if there and _holds(path, spec):
        return Written(path, spec, "kept")
    if there and not overwrite:
        raise GenerationError(f"file {os.fspath(path)!a} holds something else: take another folder, or overwrite it")
    try:
        spec.to_json(path)
    except TaskError as error:
        raise GenerationError(str(error)) from error
    return Written(path, spec, "replaced" if there else "written")
