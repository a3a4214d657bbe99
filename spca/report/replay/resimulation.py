"""Re-simulation of trajectories: recorded primitives are replayed, and the resulting states are compared with the
recording.

The content of a trajectory file is not trusted: every fault becomes the message of a
:class:`~spca.report.read.model.Check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, TypeAlias

from spca.act.frame import Frame, ReplayedWorld, WorldMaker
from spca.common.command import other_program
from spca.common.errors import SPCAError
from spca.common.web.films import GridFilm
from spca.contracts import GRIDWORLD, Checkpoint, Primitive
from spca.report.read.lenient import items, table
from spca.report.read.model import Check
from spca.report.replay.minigrid_films import film_of

ENV_ID: Final = re.compile(r"(?:MiniGrid|BabyAI)-[A-Za-z0-9._-]{1,100}")
"""Environment ids that may be built. Other ids are forbidden, because Gymnasium would import the module of an id
``module:id``.
"""

ELSEWHERE: Final = (
    "episodes of gridworld tasks are shown from the results of the evaluation: "
    f"{other_program('python run_eval.py')} draw --episode RESULTS --task ID --gif FILE"
)
"""Message about a level whose world no :class:`WorldMaker` can build."""

_MAX_SEED: Final = 2**64
_CODES: Final = frozenset(Primitive)
_SHOWN: Final = 40
"""Largest number of characters that a message repeats of an invalid value."""

_Recorded: TypeAlias = tuple[int | str, ...]
"""Recorded primitives by code; a string for an invalid value."""

Attempt: TypeAlias = tuple[GridFilm | None, Check]
"""The film of an attempt (None without frames) and its check."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replayed attempt.

    Attributes:
        frames: the state at the start of the attempt, then the state after each step. The tuple is empty if the start
            cannot be reached, and ends early at a step that cannot be replayed.
        check: whether the replay equals the recording.
    """

    frames: tuple[Frame, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class Resimulated:
    """A re-simulated trajectory: the mission ("" if the world cannot be built), and film and check of each attempt."""

    mission: str
    attempts: tuple[Attempt, ...]


def resimulate(make_world: WorldMaker, trajectory: Mapping[str, Any], *, upstream_rules: bool = False) -> Resimulated:
    """Replay every attempt of a trajectory, and return the films and checks.

    Args:
        make_world: builds the world; called only for ids that match :data:`ENV_ID`.
        trajectory: content of the trajectory file; its values may be of any JSON type.
        upstream_rules: whether the run used the judgement of the simulator without corrections.
    """
    mission, attempts = replay_attempts(make_world, trajectory, upstream_rules=upstream_rules)
    # Equal attempts share one tuple of frames, so that each film is made once.
    films: dict[int, GridFilm | None] = {}
    films_and_checks = []
    for attempt in attempts:
        key = id(attempt.frames)
        if key not in films:
            films[key] = film_of(attempt.frames) if attempt.frames else None
        films_and_checks.append((films[key], attempt.check))
    return Resimulated(mission, tuple(films_and_checks))


def replay_attempts(
    make_world: WorldMaker, trajectory: Mapping[str, Any], *, upstream_rules: bool = False, only: int | None = None
) -> tuple[str, tuple[Replayed, ...]]:
    """Replay the attempts of a trajectory; see :func:`resimulate`.

    Args:
        only: index of the only attempt to be replayed; None for all attempts.

    Returns:
        The mission ("" if the world cannot be built), and the replayed attempts.
    """
    recorded = items(trajectory.get("attempts"))
    indices = range(len(recorded)) if only is None else [only]
    if is_elsewhere(trajectory):
        return "", tuple(Replayed((), Check("", ELSEWHERE)) for _ in indices)
    try:
        world = make_world(*_task(trajectory), upstream_rules=upstream_rules)
    except (SPCAError, ValueError) as error:
        check = Check("different", f"the world cannot be built: {error}")
        return "", tuple(Replayed((), check) for _ in indices)
    replayed = []
    with closing(world):
        # Attempts with the same primitives are replayed once.
        replay = cache(partial(_replay_primitives, world, world.checkpoint()))
        for index in indices:
            older_hash = _older_hash(trajectory, index, len(recorded))
            replayed.append(_replay_attempt(replay, recorded[index], older_hash))
        return world.mission, tuple(replayed)


def is_elsewhere(trajectory: Mapping[str, Any]) -> bool:
    """Return whether a trajectory belongs to a gridworld task, whose world cannot be built here."""
    return trajectory.get("category") == GRIDWORLD


def is_judged_as_upstream(info: Mapping[str, Any]) -> bool:
    """Return whether a run used the judgement of the simulator without corrections.

    Args:
        info: content of the run's ``run.json``.
    """
    return table(info.get("settings")).get("upstream_rules") is True


@dataclass(frozen=True, slots=True)
class _Run:
    """The result of replaying primitives.

    Attributes:
        start_hash, end_hash: hashes of the first and the last state of the attempt; "" for a state that was not
            reached.
        problem: why the replay ended early; "" for a complete replay.
    """

    frames: tuple[Frame, ...] = ()
    start_hash: str = ""
    end_hash: str = ""
    problem: str = ""


def _replay_primitives(world: ReplayedWorld, begin: Checkpoint, before: _Recorded, steps: _Recorded) -> _Run:
    """Replay the primitives of an attempt.

    Args:
        begin: first state of the world.
        before: primitives between the first state and the start of the attempt.
        steps: primitives of the attempt.
    """
    frames: list[Frame] = []
    start_hash = ""
    fault = "the world cannot be reset"
    try:
        world.restore(begin)
        for number, code in enumerate(before, 1):
            fault = f"step {number} of the {len(before)} before the attempt cannot be replayed"
            _step_world(world, code)
        start_hash = world.checkpoint().state_hash if before else begin.state_hash
        frames.append(world.frame())
        for number, code in enumerate(steps, 1):
            fault = f"step {number} of {len(steps)} cannot be replayed"
            _step_world(world, code)
            frames.append(world.frame())
    except (SPCAError, ValueError) as error:
        return _Run(tuple(frames), start_hash, problem=f"{fault}: {error}")
    end_hash = world.checkpoint().state_hash if steps else start_hash
    return _Run(tuple(frames), start_hash, end_hash)


def _step_world(world: ReplayedWorld, code: int | str) -> None:
    """Execute a recorded primitive.

    Raises:
        SPCAError, ValueError: the primitive is invalid or cannot be executed.
    """
    if isinstance(code, str):
        raise ValueError(f"{code} is not a primitive")
    world.step(code)


def _replay_attempt(replay: Callable[[_Recorded, _Recorded], _Run], attempt: object, older_hash: object) -> Replayed:
    """Replay a recorded attempt, compare the states with the recording, and return the replayed attempt.

    Args:
        replay: function that replays the primitives before the attempt and the primitives of the attempt.
        attempt: the attempt's record, which may be any JSON value.
        older_hash: hash of the first state from another place in the trajectory, for a record without this hash.
    """
    if not isinstance(attempt, Mapping):
        return Replayed((), Check("different", f"the attempt is recorded as {_shorten_repr(attempt)}"))
    steps = attempt.get("steps")
    if isinstance(steps, list):
        steps = [step[0] if isinstance(step, list) and step else step for step in steps]
    run = replay(_read_values(attempt.get("start")), _read_values(steps))
    if run.problem:
        return Replayed(run.frames, Check("different", run.problem))

    start_hash = attempt.get("start_hash") or older_hash
    recorded = (start_hash, attempt.get("end_hash"), attempt.get("reward"))
    replayed = (run.start_hash, run.end_hash, run.frames[-1].reward)
    return Replayed(run.frames, _compare_with_recording(recorded, replayed))


def _read_values(values: object) -> _Recorded:
    """Return the primitives in a JSON value; each value that is no primitive becomes the beginning of its
    representation.
    """
    values = values if isinstance(values, list) else [values]
    recorded: list[int | str] = []
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool) and value in _CODES:
            recorded.append(value)
        else:
            recorded.append(_shorten_repr(value))
    return tuple(recorded)


def _compare_with_recording(recorded: tuple[object, object, object], replayed: tuple[str, str, float]) -> Check:
    """Return the result of comparing a replay with its recording.

    Both tuples have the hash of the first state, the hash of the last state, and the last reward. None and "" stand for
    values that were not recorded.
    """
    names = ("the state before its first step", "the state after its last step", "its reward")
    different = []
    unrecorded = []
    for name, recorded_value, replayed_value in zip(names, recorded, replayed, strict=True):
        if recorded_value in (None, ""):
            unrecorded.append(name)
        elif recorded_value != replayed_value:
            different.append(name)
    if different:
        *others, last = different
        words = f"{', '.join(others)} and {last} differ" if others else f"{last} differs"
        return Check("different", f"every step was replayed, but {words} from what was recorded")
    missing_hashes = [name for name in names[:2] if name in unrecorded]
    if missing_hashes:
        missing = " and of ".join(missing_hashes)
        return Check("unrecorded", f"no hash of {missing} was recorded: every step was replayed")
    _, end_hash, _ = replayed
    return Check("equal", f"re-simulation equals the recording (state hash {end_hash[:12]})")


def _task(trajectory: Mapping[str, Any]) -> tuple[str, int]:
    """Return environment id and seed of a trajectory.

    Raises:
        ValueError: the id is not an id of MiniGrid, or the seed is invalid.
    """
    env_id = trajectory.get("env_id")
    seed = trajectory.get("seed")
    if not isinstance(env_id, str) or not ENV_ID.fullmatch(env_id):
        raise ValueError(f"{_shorten_repr(env_id)} is not an environment of MiniGrid")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < _MAX_SEED:
        raise ValueError(f"{_shorten_repr(seed)} is not a seed")
    return env_id, seed


def _older_hash(trajectory: Mapping[str, Any], index: int, count: int) -> object:
    """Return the hash of the first state of the last attempt, as older versions of the program recorded it.

    For other attempts return None, because older versions did not record their hashes.

    Args:
        index: index of the attempt.
        count: number of attempts.
    """
    if index != count - 1:
        return None
    return table(trajectory.get("checkpoint")).get("state_hash")


def _shorten_repr(value: object) -> str:
    """Return the beginning of the representation of a value."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deeply nested list
        return "something unreadable"
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}..."
