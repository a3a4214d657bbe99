"""Any Gymnasium environment with discrete actions as a World: a subclass says what generated code and models see.

A subclass gives a :class:`~spca.body.Body` and the method :meth:`GymnasiumWorld.read`; all other methods have defaults.
"""

from __future__ import annotations

import io
import math
import os
import sys
import traceback
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar, Final, Literal, Self, get_args

import numpy as np

from spca.act.frame import WorldFrame
from spca.act.replay_check import find_copy_fault, find_replay_fault
from spca.act.snapshots import Parts
from spca.act.state_hash import hash_state
from spca.act.world import ActingWorld
from spca.act.world_values import ValueConverter, make_json
from spca.contracts import AgentView, LevelSpec
from spca.errors import WorldError
from spca.protocols import Executor
from spca.sense.renaming import rename_values

_MAX_ERROR: Final = 400
"""Largest number of characters of an environment's error in a message."""

_KEPT: Final = frozenset(
    ("_converter", "_executor", "_first_action", "_known", "_snapshots", "body", "level", "restore_count", "restores")
)
"""Attributes of a world that no restored state changes."""

Restores = Literal["replay", "copy", "none"]
"""How a world returns to an earlier state: by the same seed and primitives, by a copy of the environment, or not."""


class GymnasiumWorld(ActingWorld):
    """A World on a Gymnasium environment.

    Args:
        level: environment id, arguments and mission.
        executor: runs generated code.

    Attributes:
        body: the body of the agent; a class attribute of the subclass.
        restores: how an earlier state is reached. The first use checks it by random primitives: a world that does not
            come back to the same states plays one life.
        env: the environment.
        observation, info: what the environment returned last.

    Raises:
        WorldError: the environment cannot be built or reset, or what is read or shown does not fit the body.
    """

    restores: ClassVar[Restores] = "replay"
    _mission_advice: ClassVar[str] = 'give the level a "mission", or write describe_mission'
    reads_observations: ClassVar[bool] = True
    """Whether :meth:`read` and :meth:`show` need nothing but observation and information, as a policy has them."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.restores not in get_args(Restores):
            raise ValueError(
                f"{cls.__name__}.restores is {cls.restores!r}: it is one of {', '.join(get_args(Restores))}"
            )

    def __init__(self, level: LevelSpec, seed: int, executor: Executor) -> None:
        super().__init__(level.name, executor, type(self).body)
        self.level = level
        self._seed = seed
        self._converter = ValueConverter(self.body.words)
        with self._translate_errors("build"):
            self.env: Any = self.build(level)
        self._first_action = 0
        self._require_discrete_actions()
        self._known: set[str] = set()  # a restored state forgets no feature, because nothing is discovered twice
        self._reset()

    @classmethod
    def make(cls, level: LevelSpec, seed: int, executor: Executor) -> Self:
        """Return the world of a level; the function to register."""
        return cls(level, seed, executor)

    # What a subclass writes.

    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the value of each attribute of ``body.state``, by name; generated code reads these values.

        Values of other names are left out. By default, this is the observation itself, if it is a dict.
        """
        if not isinstance(observation, Mapping):
            kind = type(observation).__name__
            raise NotImplementedError(f"the observation is no dict, but {kind}: write read(observation, info)")
        return observation

    def show(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what planner, coder and reports are shown, as values of JSON; a value ``map`` holds rows of text.

        By default, these are the values of :meth:`read`.
        """
        read = self.read(observation, info)
        return {each.name: self._converter.decode(each, read[each.name]) for each in self.body.state}

    # What a subclass may write.

    def build(self, level: LevelSpec) -> Any:
        """Return the environment of a level, by default :func:`gymnasium.make` with the level's arguments.

        The environment draws pictures if it can. The module of an id ``module:Id-v0`` is not imported, because the id
        may come from a run folder.
        """
        import gymnasium
        from gymnasium.envs.registration import load_env_creator

        module, _, env_id = level.id.rpartition(":")
        if module and module not in sys.modules:
            raise WorldError(f"{level.id}: the module {module} is not loaded: give --plugin {module}")
        arguments = dict(level.kwargs)
        entry_point = gymnasium.spec(env_id).entry_point
        creator = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
        modes = getattr(creator, "metadata", {}).get("render_modes") or ()
        if "rgb_array" in modes:
            arguments.setdefault("render_mode", "rgb_array")
        return gymnasium.make(env_id, disable_env_checker=True, **arguments)

    def take_step(self, code: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Execute a primitive, and return what :meth:`gymnasium.Env.step` returns.

        By default, a primitive is one step of the environment, and its code is the action.
        """
        result: tuple[Any, float, bool, bool, dict[str, Any]] = self.env.step(self._first_action + code)
        return result

    def describe_mission(self, observation: Any, info: Mapping[str, Any]) -> str:
        """Return the task in words: of the observation, the information or the level, whichever has it first."""
        for source in (observation, info):
            mission: object = source.get("mission") if isinstance(source, Mapping) else None
            if isinstance(mission, str):
                return mission
        return self.level.mission

    def is_success(self, reward: float, terminated: bool) -> bool:
        """Return whether the end of the episode completes the mission: by default, an end with a positive reward."""
        return terminated and reward > 0

    def describe_loss(self, observation: Any, info: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Return why an episode has ended before the mission was complete; planner and coder are told."""
        return "the environment ended it without a positive reward"

    def list_features(self, observation: Any, info: Mapping[str, Any]) -> Iterable[str]:  # noqa: ARG002
        """Return names of what is seen or done now, such as kinds of things; a new name is a discovery."""
        return ()

    def draw_picture(self) -> bytes | None:
        if getattr(self.env, "render_mode", None) != "rgb_array":
            return None
        from PIL import Image

        for device in ("SDL_AUDIODRIVER", "SDL_VIDEODRIVER"):
            os.environ.setdefault(device, "dummy")  # else pygame looks for a device, and complains
        file = io.BytesIO()
        Image.fromarray(np.asarray(self.env.render(), dtype=np.uint8)).save(file, "PNG")
        return file.getvalue()

    # The World.

    def frame(self) -> WorldFrame:
        with self._translate_errors("frame"):
            return super().frame()

    @property
    def one_life_reason(self) -> str:
        if self.restores == "none":
            return "it says so"
        find_fault = find_copy_fault if self.restores == "copy" else find_replay_fault
        return find_fault(type(self), self.level)

    @property
    def over(self) -> bool:
        return self._terminated or self._truncated

    @property
    def reward(self) -> float:
        return self._reward

    def step(self, code: int) -> None:
        self._refuse_when_over()
        if not 0 <= code < len(self.body.primitives):
            raise ValueError(f"{code} is no primitive of the body {self.body.name}")
        with self._translate_errors("step"):
            observation, reward, terminated, truncated, info = self.take_step(code)
            self._reward = float(reward)
            if not math.isfinite(self._reward):
                raise ValueError(f"a reward of {reward}")
        self._terminated = bool(terminated)
        self._truncated = bool(truncated)
        self.previous_actions.append(code)
        self._observe(observation, info)

    def close(self) -> None:
        with suppress(Exception):  # boundary: an error of the environment no longer matters at its end
            self.env.close()

    def _reset(self) -> None:
        self.previous_actions = []
        self._found: list[str] = []
        self._reward = 0.0
        self._terminated = False
        self._truncated = False
        with self._translate_errors("reset"):
            observation, info = self.env.reset(seed=self._seed)
        self._observe(observation, info)
        self._found.clear()  # what is in sight at the start is no discovery
        with self._translate_errors("describe_mission"):
            self.mission = str(self.describe_mission(observation, info) or "")
        if not self.mission:
            raise WorldError(f"{self.name}: no mission: {self._mission_advice}")

    def _observe(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Take over what the environment returned."""
        self.observation = observation
        self.info = info
        with self._translate_errors("read"):
            read = self.read(observation, info)
            self._values = {each.name: self._converter.convert(each, read) for each in self.body.state}
        self._shown: dict[str, Any] | None = None
        with self._translate_errors("list_features"):
            features = _check_features(self.list_features(observation, info))
        for name in features:
            if name not in self._known:
                self._known.add(name)
                self._found.append(name)

    def _get_shown(self) -> dict[str, Any]:
        """Return what is shown of the present state in true words; it is made on first use, not after each step."""
        if self._shown is None:
            with self._translate_errors("show"):
                self._shown = make_json(self.show(self.observation, self.info))
        return self._shown

    def _describe_shown(self) -> Mapping[str, Any]:
        shown: Mapping[str, Any] = rename_values(self._get_shown(), self.renaming.text)
        return shown

    def _agent_view(self) -> AgentView:
        rename = self.renaming.text
        if self.renaming.seed is None:
            return AgentView((self.mission, *self._values.values()), self.body.words)
        values = rename_values((self.mission, *self._values.values()), rename)
        return AgentView(tuple(values), tuple(map(rename, self.body.words)))

    def _state(self) -> Hashable:
        progress = [self._values[each.name] for each in self.body.state if each.is_progress]
        return hash_state(progress)

    def _hash(self) -> str:
        # What an environment hides is not hashed, because it may hold what differs without any effect, such as times.
        seen = (self.observation, self._values, self._get_shown(), self.mission)
        return hash_state(seen, tuple(self.previous_actions), self.over, self._reward)

    def _is_solved(self) -> bool:
        with self._translate_errors("is_success"):
            return bool(self.is_success(self._reward, self._terminated))

    def _why_over(self) -> str:
        if not self._terminated:
            return "the step limit was reached"
        with self._translate_errors("describe_loss"):
            return self.describe_loss(self.observation, self.info)

    def pop_discoveries(self) -> tuple[str, ...]:
        found = tuple(self._found)
        self._found.clear()
        return found

    def _find_replay_fault(self) -> str:
        return find_replay_fault(type(self), self.level)

    @contextmanager
    def _gather_saved_parts(self) -> Iterator[Parts]:
        if self.restores != "copy":
            yield ()
            return
        yield ((self, _KEPT),)

    def _require_discrete_actions(self) -> None:
        """Raise WorldError if :meth:`take_step` is the default and cannot work with the environment's actions."""
        from gymnasium.spaces import Discrete

        space = getattr(self.env, "action_space", None)
        is_default = type(self).take_step is GymnasiumWorld.take_step
        if not is_default:
            return
        if not isinstance(space, Discrete):
            raise WorldError(f"{self.name}: its actions are {space}, not Discrete: write take_step(code) for them")
        count = len(self.body.primitives)
        if count != int(space.n):
            fix = "name each action once, in order, or write take_step(code)"
            raise WorldError(f"{self.name}: the body has {count} primitives, the environment {space.n} actions: {fix}")
        self._first_action = int(space.start)

    @contextmanager
    def _translate_errors(self, method: str) -> Iterator[None]:
        """Turn any error of the environment or of the subclass within a block into a WorldError of one line.

        Args:
            method: what was called, for the message.
        """
        try:
            yield
        except WorldError:
            raise
        except Exception as error:  # boundary: environments and plugins raise errors of many kinds
            cause = " ".join(f"{type(error).__name__}: {error}".split())
            place = _find_place(error, type(self))
            text = shorten(f"{method} failed{place}: {cause}", _MAX_ERROR, placeholder=" ...")
            raise WorldError(f"{self.name}: {text}") from error


def _check_features(features: Any) -> tuple[str, ...]:
    """Return the names of features; raise ValueError if they are no texts."""
    names = () if isinstance(features, str) else tuple(features)
    if isinstance(features, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"it returned {features!r} instead of a list of names")
    return names


def _find_place(error: BaseException, world_class: type) -> str:
    """Return the last line of the subclass's own files that led to an error, as " (FILE, line N)"; "" for none."""
    own_classes = world_class.__mro__[: world_class.__mro__.index(GymnasiumWorld)]
    modules = [sys.modules.get(each.__module__) for each in own_classes]
    files = [getattr(module, "__file__", None) for module in modules]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return f" ({Path(frame.filename).name}, line {frame.lineno})"
    return ""
