"""Trajectories seen again: recorded primitives are replayed, and the state reached is held against the recorded one.

What a trajectory file holds is not trusted: whatever is wrong with it becomes the message of a :class:`model.Check`.
Worlds come in as a :class:`spca.act.frame.WorldMaker`.
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
"""Environment ids that may be built. Gymnasium's form ``module:id`` imports the module, so that no other may be."""

ELSEWHERE: Final = (
    "episodes of gridworld tasks are shown from the results of the evaluation: "
    f"{other_program('python run_eval.py')} draw --episode RESULTS --task ID --gif FILE"
)
"""What is said of a level whose world no :class:`WorldMaker` builds."""

_MAX_SEED: Final = 2**64
_CODES: Final = frozenset(Primitive)
_SHOWN: Final = 40
"""Characters of a wrong value that a message repeats."""

_Recorded: TypeAlias = tuple[int | str, ...]
"""Primitives as they are recorded; anything else in words."""

Attempt: TypeAlias = tuple[GridFilm | None, Check]


@dataclass(frozen=True, slots=True)
class Replayed:
    """An attempt replayed: its frames, first the state in which it began, and whether it equals the recording.

    ``frames`` is empty when the beginning cannot be reached, and ends early at a step that cannot be replayed.
    """

    frames: tuple[Frame, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class Resimulated:
    """A trajectory re-simulated: the mission ("" without a world), and per attempt its episode and its check."""

    mission: str
    attempts: tuple[Attempt, ...]


def resimulate(make_world: WorldMaker, trajectory: Mapping[str, Any], *, upstream_rules: bool = False) -> Resimulated:
    """Replay every attempt of a trajectory file's content.

    Args:
        make_world: builds the world; asked only for ids that MiniGrid may have registered.
        trajectory: as read from the file; may hold anything that JSON can.
        upstream_rules: the run judged without corrections of the simulator.
    """
    mission, attempts = replay_attempts(make_world, trajectory, upstream_rules=upstream_rules)
    # Equal attempts share their frames, so that each film is made once.
    distinct = {id(attempt.frames): attempt.frames for attempt in attempts}
    films = {key: film_of(frames) if frames else None for key, frames in distinct.items()}
    films_and_checks = [(films[id(attempt.frames)], attempt.check) for attempt in attempts]
    return Resimulated(mission, tuple(films_and_checks))


def replay_attempts(
    make_world: WorldMaker, trajectory: Mapping[str, Any], *, upstream_rules: bool = False, only: int | None = None
) -> tuple[str, tuple[Replayed, ...]]:
    """Return the mission and the frames of every attempt, or of attempt ``only``; see :func:`resimulate`."""
    recorded = items(trajectory.get("attempts"))
    chosen = [(i, attempt) for i, attempt in enumerate(recorded) if only in (None, i)]
    if is_elsewhere(trajectory):
        return "", tuple(Replayed((), Check("", ELSEWHERE)) for _ in chosen)
    try:
        world = make_world(*_task(trajectory), upstream_rules=upstream_rules)
    except (SPCAError, ValueError) as error:
        check = Check("different", f"the world cannot be built: {error}")
        return "", tuple(Replayed((), check) for _ in chosen)
    with closing(world):
        # Attempts that do the same are replayed once.
        run = cache(partial(_replay_primitives, world, world.checkpoint()))
        return world.mission, tuple(
            _replay_attempt(run, attempt, _older_hash(trajectory, i, len(recorded))) for i, attempt in chosen
        )


def is_elsewhere(trajectory: Mapping[str, Any]) -> bool:
    """Return whether a trajectory file is of a gridworld task."""
    return trajectory.get("category") == GRIDWORLD


def is_judged_as_upstream(info: Mapping[str, Any]) -> bool:
    """Return whether a run, given its ``run.json``, judged without corrections of the simulator."""
    return table(info.get("settings")).get("upstream_rules") is True


@dataclass(frozen=True, slots=True)
class _Run:
    """Primitives replayed: the frames of an attempt, the hashes of its first and last state, and why the replay ended
    early ("" when it did not)."""

    frames: tuple[Frame, ...] = ()
    start_hash: str = ""
    end_hash: str = ""
    problem: str = ""


def _replay_primitives(world: ReplayedWorld, begin: Checkpoint, before: _Recorded, steps: _Recorded) -> _Run:
    """Replay an attempt from the state in which the world begins."""
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
        SPCAError, ValueError: it cannot be executed.
    """
    if isinstance(code, str):
        raise ValueError(f"{code} is not a primitive")
    world.step(code)


def _replay_attempt(replay: Callable[[_Recorded, _Recorded], _Run], attempt: object, older_hash: object) -> Replayed:
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
    values = values if isinstance(values, list) else [values]
    recorded: list[int | str] = []
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool) and value in _CODES:
            recorded.append(value)
        else:
            recorded.append(_shorten_repr(value))
    return tuple(recorded)


def _compare_with_recording(recorded: tuple[object, object, object], replayed: tuple[str, str, float]) -> Check:
    """Hold hashes of the states before and after an attempt, and its last reward, against the recorded ones."""
    names = ("the state before its first step", "the state after its last step", "its reward")
    different = []
    for name, was, now in zip(names, recorded, replayed, strict=True):
        if was not in (None, "") and was != now:
            different.append(name)
    if different:
        *others, last = different
        words = f"{', '.join(others)} and {last} differ" if others else f"{last} differs"
        return Check("different", f"every step was replayed, but {words} from what was recorded")
    missing = [name for name, was in zip(names[:2], recorded, strict=False) if was in (None, "")]
    if missing:
        return Check("unrecorded", f"no hash of {' and of '.join(missing)} was recorded: every step was replayed")
    return Check("equal", f"re-simulation equals the recording (state hash {replayed[1][:12]})")


def _task(trajectory: Mapping[str, Any]) -> tuple[str, int]:
    """Return environment id and seed.

    Raises:
        ValueError: they are not an environment of MiniGrid and a seed.
    """
    env_id = trajectory.get("env_id")
    seed = trajectory.get("seed")
    if not isinstance(env_id, str) or not ENV_ID.fullmatch(env_id):
        raise ValueError(f"{_shorten_repr(env_id)} is not an environment of MiniGrid")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < _MAX_SEED:
        raise ValueError(f"{_shorten_repr(seed)} is not a seed")
    return env_id, seed


def _older_hash(trajectory: Mapping[str, Any], index: int, count: int) -> object:
    """Return the hash of the state before the last attempt, the only one that older versions recorded."""
    if index != count - 1:
        return None
    return table(trajectory.get("checkpoint")).get("state_hash")


def _shorten_repr(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits, deeply nested lists
        return "something unreadable"
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}..."
