"""Re-simulation of trajectories: recorded primitives are replayed, and the resulting states are compared with the
recording.

The content of a trajectory file is not trusted: every fault becomes the message of a
:class:`~spca.report.read.model.Check`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, TypeAlias

from spca.act.frame import Frame, ReplayedWorld, TextFrame, WorldFrame, WorldMaker
from spca.common.command import other_program
from spca.common.errors import SPCAError
from spca.common.web.films import Film
from spca.contracts import GRIDWORLD, LevelSpec
from spca.plugins.loaded import is_loaded
from spca.report.read.lenient import items, table
from spca.report.read.model import Check
from spca.report.replay.minigrid_films import film_of
from spca.report.replay.text_films import make_text_film

_ENV_ID: Final = re.compile(r"(?:([A-Za-z0-9_.]{1,100}):)?(?:[A-Za-z0-9_-]{1,100}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Environment ids that may be built; group: the module of an id ``module:id``, which has to be a loaded plugin."""

MAX_PICTURES: Final = 200
"""Largest number of pictures in the films of a level, for a world that draws pictures of its own."""

ELSEWHERE: Final = (
    "episodes of gridworld tasks are shown from the results of the evaluation: "
    f"{other_program('python run_eval.py')} draw --episode RESULTS --task ID --gif FILE"
)
"""Message about a level whose world no :class:`WorldMaker` can build."""

_MAX_SEED: Final = 2**64
_SHOWN: Final = 40
"""Largest number of characters that a message repeats of an invalid value."""

_Recorded: TypeAlias = tuple[int | str, ...]
"""Recorded primitives by code; a string for an invalid value."""

Attempt: TypeAlias = tuple[Film | None, Check]
"""The film of an attempt (None without frames) and its check."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replayed attempt.

    Attributes:
        frames: the state at the start of the attempt, then the state after each step. The tuple is empty if the start
            cannot be reached, and ends early at a step that cannot be replayed.
        check: whether the replay equals the recording.
    """

    frames: tuple[WorldFrame, ...]
    check: Check


@dataclass(frozen=True, slots=True)
class Resimulated:
    """A re-simulated trajectory: the mission ("" if the world cannot be built), and film and check of each attempt."""

    mission: str
    attempts: tuple[Attempt, ...]


def resimulate(
    make_world: WorldMaker,
    trajectory: Mapping[str, Any],
    *,
    upstream_rules: bool = False,
    max_pictures: int = MAX_PICTURES,
) -> Resimulated:
    """Replay every attempt of a trajectory, and return the films and checks.

    Args:
        make_world: builds the world; called only for ids that :func:`require_env_id` accepts.
        trajectory: content of the trajectory file; its values may be of any JSON type.
        upstream_rules: whether the run used the judgement of the simulator without corrections.
        max_pictures: see :func:`replay_attempts`.
    """
    mission, attempts = replay_attempts(
        make_world, trajectory, upstream_rules=upstream_rules, max_pictures=max_pictures
    )
    # Equal attempts share one tuple of frames, so that each film is made once.
    films: dict[int, Film | None] = {}
    films_and_checks = []
    for attempt in attempts:
        key = id(attempt.frames)
        if key not in films:
            films[key] = _make_film(attempt.frames)
        films_and_checks.append((films[key], attempt.check))
    return Resimulated(mission, tuple(films_and_checks))


def _make_film(frames: Sequence[WorldFrame]) -> Film | None:
    """Return the film of an episode; None without frames. All frames of a world are of one kind."""
    grids = [frame for frame in frames if isinstance(frame, Frame)]
    if grids:
        return film_of(grids)
    texts = [frame for frame in frames if isinstance(frame, TextFrame)]
    return make_text_film(texts) if texts else None


def replay_attempts(
    make_world: WorldMaker,
    trajectory: Mapping[str, Any],
    *,
    upstream_rules: bool = False,
    only: int | None = None,
    max_pictures: int | None = None,
) -> tuple[str, tuple[Replayed, ...]]:
    """Replay the attempts of a trajectory; see :func:`resimulate`.

    Args:
        only: index of the only attempt to be replayed; None for all attempts.
        max_pictures: largest number of the frames that keep the world's own picture, which are spread evenly; None for
            all frames.

    Returns:
        The mission ("" if the world cannot be built), and the replayed attempts.
    """
    recorded = items(trajectory.get("attempts"))
    indices = range(len(recorded)) if only is None else [only]
    if is_elsewhere(trajectory):
        return "", tuple(Replayed((), Check("", ELSEWHERE)) for _ in indices)
    frame_counts = [1 + len(items(table(recorded[index]).get("steps"))) for index in indices]
    try:
        make = partial(make_world, *_task(trajectory), upstream_rules=upstream_rules)
        stage = _Stage(make, _choose_stride(frame_counts, max_pictures))
    except (SPCAError, ValueError) as error:
        check = Check("different", f"the world cannot be built: {error}")
        return "", tuple(Replayed((), check) for _ in indices)
    replayed = []
    with closing(stage):
        replay = cache(stage.replay)  # attempts with the same primitives are replayed once
        for index in indices:
            older_hash = _older_hash(trajectory, index, len(recorded))
            result = _replay_attempt(replay, recorded[index], older_hash)
            replayed.append(stage.explain_difference(result))
        return stage.mission, tuple(replayed)


def _choose_stride(frame_counts: Sequence[int], max_pictures: int | None) -> int:
    """Return the smallest n for which at most ``max_pictures`` frames have a number that is a multiple of n.

    Return 0 if no frame may keep its picture.

    Args:
        frame_counts: number of frames of each attempt, whose frames are numbered from 0.
    """
    if max_pictures is None:
        return 1
    if len(frame_counts) > max_pictures:
        return 0
    stride = 1
    while sum(math.ceil(count / stride) for count in frame_counts) > max_pictures:
        stride += 1
    return stride


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

    frames: tuple[WorldFrame, ...] = ()
    start_hash: str = ""
    end_hash: str = ""
    problem: str = ""


class _Stage:
    """Replays attempts in a world; each attempt begins in the first state of the world.

    Args:
        make: builds the world.
        stride: a frame keeps the world's own picture if its number is a multiple of ``stride``; 0 for no pictures.

    Raises:
        SPCAError, ValueError: the world cannot be built.
    """

    def __init__(self, make: Callable[[], ReplayedWorld], stride: int) -> None:
        self._make = make
        self._stride = stride
        self._world = make()
        self._begin = self._world.checkpoint()
        self._is_fresh = True
        self.mission = self._world.mission

    def close(self) -> None:
        self._world.close()

    def replay(self, before: _Recorded, steps: _Recorded) -> _Run:
        """Replay the primitives of an attempt.

        Args:
            before: primitives between the first state and the start of the attempt.
            steps: primitives of the attempt.
        """
        frames: list[WorldFrame] = []
        start_hash = ""
        fault = "the world cannot be reset"
        try:
            self._return_to_first_state()
            for number, code in enumerate(before, 1):
                fault = f"step {number} of the {len(before)} before the attempt cannot be replayed"
                self._step(code)
            start_hash = self._world.checkpoint().state_hash if before else self._begin.state_hash
            fault = "the state before the first step cannot be shown"
            frames.append(self._take_frame(0))
            for number, code in enumerate(steps, 1):
                fault = f"step {number} of {len(steps)} cannot be replayed"
                self._step(code)
                frames.append(self._take_frame(number))
        except (SPCAError, ValueError) as error:
            return _Run(tuple(frames), start_hash, problem=f"{fault}: {error}")
        end_hash = self._world.checkpoint().state_hash if steps else start_hash
        return _Run(tuple(frames), start_hash, end_hash)

    def explain_difference(self, replayed: Replayed) -> Replayed:
        """Return a replayed attempt whose message says if the world cannot be expected to repeat itself."""
        if replayed.check.result != "different" or self._world.can_restore:
            return replayed
        message = f"{replayed.check.message}; a world with one life need not repeat itself"
        return replace(replayed, check=replace(replayed.check, message=message))

    def _return_to_first_state(self) -> None:
        """Restore the first state; build a world with one life again."""
        if self._is_fresh:
            self._is_fresh = False
        elif self._world.can_restore:
            self._world.restore(self._begin)
        else:
            self._world.close()
            self._world = self._make()

    def _step(self, code: int | str) -> None:
        """Execute a recorded primitive.

        Raises:
            SPCAError, ValueError: the primitive is invalid or cannot be executed.
        """
        if isinstance(code, str) or not 0 <= code < len(self._world.body.primitives):
            raise ValueError(f"{code if isinstance(code, str) else _shorten_repr(code)} is not a primitive")
        self._world.step(code)

    def _take_frame(self, number: int) -> WorldFrame:
        """Return the frame of the present state, without its picture if it is not one of those that keep it."""
        frame = self._world.frame()
        if isinstance(frame, Frame):
            return frame
        keeps_picture = self._stride > 0 and number % self._stride == 0
        return frame if keeps_picture else replace(frame, picture=None)


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
    """Return the primitives in a JSON value; each value that is no whole number becomes the beginning of its
    representation.
    """
    values = values if isinstance(values, list) else [values]
    recorded: list[int | str] = []
    for value in values:
        if isinstance(value, int) and not isinstance(value, bool):
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


def _task(trajectory: Mapping[str, Any]) -> tuple[LevelSpec, int]:
    """Return level and seed of a trajectory.

    Raises:
        ValueError: the id is no id of an environment, or the level or the seed is invalid.
    """
    env_id = trajectory.get("env_id")
    seed = trajectory.get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < _MAX_SEED:
        raise ValueError(f"{_shorten_repr(seed)} is not a seed")
    require_env_id(env_id, trajectory.get("world"))
    return LevelSpec.from_record(trajectory), seed


def require_env_id(value: object, world: object = "") -> str:
    """Return ``value``, which a folder names, if it is an environment id that may be built.

    Args:
        world: name of the world of a plugin, whose ids have no common form; "" for the built-in world.

    Raises:
        ValueError: ``value`` is no id of an environment, or it names a module that is not loaded.
    """
    if world and isinstance(value, str) and value.isprintable():
        return value
    match = _ENV_ID.fullmatch(value) if isinstance(value, str) else None
    if not isinstance(value, str) or match is None:
        raise ValueError(f"{_shorten_repr(value)} is not the id of an environment")
    module = match[1]
    if module and not is_loaded(module):
        raise ValueError(f"{_shorten_repr(value)}: the module {module} is not loaded: give --plugin {module}")
    return value


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
