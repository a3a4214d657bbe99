"""Generator of proven tasks; the same arguments give the same task on every machine.

The generator draws a task (:mod:`gridworld.generating`) and computes its certificate. The task is kept if the
certificate proves that the task can be solved in ``MIN_SOLUTION_STEPS`` to ``MAX_SOLUTION_STEPS`` steps, and that every
element of its dependency chain is necessary. Otherwise the generator draws again.

Tiers: 1 navigation, 2 keys and doors, 3 switches and gates, 4 irreversible actions (blocks, wasted keys), 5 hidden
information (views, hidden mechanisms, teleporters, hazards).
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
"""Version of the generator; it changes if the same arguments would give a different task."""
ATTEMPTS: Final = 400
"""Greatest number of draws for a task."""
_MAX_DUPLICATES: Final = 200
"""Number of successive duplicates after which the generator stops, because new tasks are unlikely."""
_MAX_SEED: Final = 2**63 - 1
SEARCH_LIMIT: Final = 1_000
"""Default of the greatest number of states that each search of the proof may expand."""
MIN_SOLUTION_STEPS: Final = 6
MAX_SOLUTION_STEPS: Final = 250
"""``MIN_SOLUTION_STEPS`` and ``MAX_SOLUTION_STEPS`` are the bounds of the steps that a task may need."""


def generate(
    tier: int,
    seed: int,
    *,
    index: int = 0,
    tiling: str = "square",
    mechanisms: Collection[str] | None = None,
    limit: int = SEARCH_LIMIT,
) -> TaskSpecification:
    """Generate a task.

    Args:
        tier: 1 to 5.
        seed, index: the number of a series of tasks, and the number of the task in the series, from 0.
        tiling: the name of the tiling; the certificate holds for this tiling only.
        mechanisms: kinds of mechanisms that may occur ("keys", "doors", ...); None for all.
        limit: greatest number of states that each search of the proof may expand. A draw whose proof needs more states
            is not kept.

    Returns:
        The task. ``metadata["generator"]`` holds the arguments and ``metadata["certificate"]`` the proof. ``max_steps``
        is three times the optimum plus 10, at least 50.

    Raises:
        GenerationError: an argument is not valid, or no draw gave a task.
    """
    allowed = _check_arguments(tier, seed, index, tiling, mechanisms, limit)
    stream = f"gridworld {VERSION} {tier} {seed} {index} {tiling} {' '.join(allowed)}"
    for attempt in range(ATTEMPTS):
        # A deterministic generator is needed, because the same seed has to give the same task.
        rng = random.Random(f"{stream} {attempt}")  # noqa: S311
        try:
            draft = cook(rng, TILINGS[tiling], TIERS[tier], allowed)
            origin = _describe_origin(tier, seed, index, tiling, allowed, limit)
            return _make_task(draft, tier, seed, origin, limit)
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
    """Write ``count`` different tasks as files ``ID.json`` to a folder; yield each task after it is written.

    The indices of the tasks ascend from 0. An index is left out if its task equals an earlier task. Files of an
    interrupted call are reused: a file is kept if its task was generated from the same arguments and has not changed
    since. Whether the task has changed is decided by the fingerprint in its certificate.

    Args:
        tier, seed, tiling, mechanisms, limit: as for :func:`generate`.
        overwrite: whether to replace files with other contents.

    Raises:
        GenerationError: an argument is not valid, the seed has fewer than ``count`` different tasks, a file has other
            contents, or a file cannot be written. Files that were written before the error stay.
    """
    allowed = _check_arguments(tier, seed, 0, tiling, mechanisms, limit)
    folder = Path(out_dir)

    def read_or_generate(index: int) -> TaskSpecification:
        name = task_name(tier, seed, index, tiling)
        origin = _describe_origin(tier, seed, index, tiling, allowed, limit)
        stored = read_made(folder / f"{name}.json", name, origin)
        return stored or generate(tier, seed, index=index, tiling=tiling, mechanisms=mechanisms, limit=limit)

    return _write_tasks(_make_distinct(tier, count, seed, read_or_generate), folder, overwrite)


def task_name(tier: int, seed: int, index: int, tiling: str = "square") -> str:
    """Return the id of a generated task, which is the stem of its file."""
    ending = "" if tiling == "square" else f"_{tiling}"
    return f"t{tier}_{seed}_{index:04d}{ending}"


def content(spec: TaskSpecification) -> str:
    """Return a hash of a task without the parts that do not matter for playing.

    These parts are id, seed, description, metadata and version.
    """
    data = spec.to_dict()
    for name in ("task_id", "seed", "description", "metadata", "version"):
        data.pop(name, None)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _make_distinct(
    tier: int, count: int, seed: int, make: Callable[[int], TaskSpecification]
) -> Iterator[TaskSpecification]:
    """Yield ``count`` tasks with different contents; ``make(index)`` returns the task with this index."""
    seen: set[str] = set()
    newest = -1  # index of the newest task that was new
    for index in count_from():
        if len(seen) >= count:
            return
        if index - newest > _MAX_DUPLICATES:
            raise GenerationError(f"no more than {len(seen)} different tasks of tier {tier} came of seed {seed}")
        spec = make(index)
        digest = content(spec)
        if digest not in seen:
            seen.add(digest)
            newest = index
            yield spec


def _describe_origin(
    tier: int, seed: int, index: int, tiling: str, allowed: tuple[str, ...], limit: int
) -> dict[str, Any]:
    """Return the arguments of a task for its metadata; arguments with default values are left out."""
    origin: dict[str, Any] = {"version": VERSION, "tier": tier, "seed": seed, "index": index, "tiling": tiling}
    if allowed != MECHANISMS:
        origin["mechanisms"] = list(allowed)
    if limit != SEARCH_LIMIT:
        origin["limit"] = limit
    return origin


def _make_task(draft: Draft, tier: int, seed: int, origin: dict[str, Any], limit: int) -> TaskSpecification:
    """Return the proven task of a draft; raise UnfitError or SearchLimitError as :func:`prove_task` does."""
    tiling = draft.floor.tiling
    task_id = task_name(tier, seed, origin["index"], tiling.name)
    spec = draft.build_specification(task_id, seed, tier)
    spec.metadata = {"generator": origin, "tiling": tiling.name, "wall_topology": draft.floor.plan}
    describe = draft.describe if TIERS[tier].tells else TaskSpecification.get_mission_text
    return prove_task(spec, tiling, describe, limit)


def _check_arguments(
    tier: int, seed: int, index: int, tiling: str, mechanisms: Collection[str] | None, limit: int
) -> tuple[str, ...]:
    """Check the arguments of :func:`generate`; return the allowed kinds of mechanisms, ordered as in ``MECHANISMS``."""
    numbers = {"tier": tier, "seed": seed, "index": index, "limit": limit}
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise GenerationError(f"{name} must be an integer, not {number!r:.40}")
    if tier not in TIERS:
        raise GenerationError(f"there is no tier {tier}; tiers are {min(TIERS)} to {max(TIERS)}")
    has_valid_numbers = abs(seed) <= _MAX_SEED and 0 <= index <= _MAX_SEED and 0 < limit <= _MAX_SEED
    if not has_valid_numbers:
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
        tiling: the tiling on which the task is played.
        describe: function that returns the description of a task; called with the task after ``max_steps`` is set.
        limit: greatest number of states that each search may expand.

    Raises:
        UnfitError: the task cannot be solved, needs too few or too many steps, or an element of its chain is not
            necessary.
        SearchLimitError: a search expanded ``limit`` states and is undecided.
    """
    proof = certify(replace(spec, max_steps=4 * MAX_SOLUTION_STEPS), tiling, limit)
    # The solution of a survive_steps goal ends with DONE actions that only wait; these actions are not needed.
    needed = len(proof.actions.rstrip(str(Action.DONE.value)))
    if not (proof.sound and MIN_SOLUTION_STEPS <= needed <= MAX_SOLUTION_STEPS):
        raise UnfitError("not solvable, too easy or too long, or its chain is not necessary")
    final = replace(spec, max_steps=enough_steps(needed))
    final.description = describe(final)
    if spec.goal.goal_type == "survive_steps":
        return attach_certificate(final, certify(final, tiling, limit))
    # For the other goals, max_steps changes only the fingerprint of the proof.
    return attach_certificate(final, replace(proof, fingerprint=fingerprint(final)))


def enough_steps(needed: int) -> int:
    """Return a ``max_steps`` that allows a player more steps than the ``needed`` steps of the optimum."""
    return max(50, 3 * needed + 10)


@dataclass(frozen=True, slots=True)
class Written:
    """A task and its file.

    Attributes:
        what: "written" for a new file, "replaced" for a file that had other contents, "kept" for an unchanged file.
    """

    path: Path
    spec: TaskSpecification
    what: Literal["written", "replaced", "kept"]


def _write_tasks(specs: Iterable[TaskSpecification], folder: Path, overwrite: bool) -> Iterator[Written]:
    """Write each task to ``ID.json`` in a folder as soon as ``specs`` yields the task; yield task and file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise GenerationError(f"folder {str(folder)!a} cannot be made: {reason}") from error
    for spec in specs:
        yield _write(spec, folder / f"{spec.task_id}.json", overwrite)


def read_made(path: Path, task_id: str, origin: Mapping[str, Any]) -> TaskSpecification | None:
    """Return the task in a file if it has this id and these arguments and is unchanged; otherwise return None.

    Args:
        origin: the arguments, as in ``metadata["generator"]``.
    """
    try:
        spec = TaskSpecification.from_json(path, strict=True)
        proof, _ = stored_proof(spec, TILINGS[origin["tiling"]])
    except TaskError:
        return None
    has_same_origin = (spec.metadata or {}).get("generator") == origin and spec.task_id == task_id
    return spec if has_same_origin and proof is not None else None


def _holds(path: Path, spec: TaskSpecification) -> bool:
    """Return whether a file holds the task ``spec``."""
    try:
        return TaskSpecification.from_json(path, strict=True) == spec
    except TaskError:
        return False


def _write(spec: TaskSpecification, path: Path, overwrite: bool) -> Written:
    """Write a task to a file if the file does not hold this task already; return the task and its file.

    The errors are those of :func:`write_many`.
    """
    exists = os.path.lexists(path)
    if exists and _holds(path, spec):
        return Written(path, spec, "kept")
    if exists and not overwrite:
        raise GenerationError(f"file {os.fspath(path)!a} holds something else: take another folder, or overwrite it")
    try:
        spec.to_json(path)
    except TaskError as error:
        raise GenerationError(str(error)) from error
    return Written(path, spec, "replaced" if exists else "written")
