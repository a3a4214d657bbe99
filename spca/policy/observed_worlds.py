"""Worlds whose simulator is the caller's own loop: they know only the observations that they are given.

Such a world senses and carries out plans like any other. It never learns a reward or the end of an episode, and has one
life.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

from spca.act.gymnasium_world import GymnasiumWorld
from spca.act.mapped_world import MappedWorld
from spca.act.plan_execution import PlanExecution
from spca.act.state_hash import hash_state
from spca.common.errors import SettingsError
from spca.contracts import AgentSource, LevelSpec, Plan, Snapshot
from spca.errors import WorldError
from spca.plugins.registry import MINIGRID, RegisteredWorld, find_world
from spca.protocols import Executor, Failed, Finished, Yielded
from spca.sense import perception
from spca.sense.grid_tracker import GridTracker
from spca.sense.renaming import Renaming

_OUTSIDE: Final = "its simulator is the caller's"
_AS_MINIGRID: Final = "give the observation as MiniGrid returns it, without wrappers"


class ObservedWorld(Protocol):
    """The part of an observed world that a policy uses."""

    def receive(self, code: int, observation: Any, info: Mapping[str, Any]) -> None:
        """Take over what the caller's environment returned after the primitive ``code``.

        Raises:
            WorldError: the observation cannot be read.
        """
        ...

    def sense(self) -> Snapshot: ...

    def begin_plan(self, plan: Plan, agent: AgentSource) -> PlanExecution: ...

    def advance_plan(self, execution: PlanExecution) -> Yielded | Finished | Failed: ...

    def pop_discoveries(self) -> tuple[str, ...]: ...


WorldStarter: TypeAlias = Callable[[Any, Mapping[str, Any]], ObservedWorld]
"""Begins an episode with its first observation and information."""


def find_world_starter(world: str, level: LevelSpec, executor: Executor, renaming: Renaming) -> WorldStarter:
    """Return the function that begins episodes in a world.

    Args:
        world: name of the world.
        level: the level, for a world that reads arguments or the mission from it.

    Raises:
        SettingsError: the world does not exist, or needs more than observations.
    """
    registered = find_world(world or MINIGRID)
    if registered is None:
        return lambda observation, _info: ObservedGrid(observation, executor, renaming)
    return make_world_starter(registered, level, executor, renaming)


def make_world_starter(
    registered: RegisteredWorld, level: LevelSpec, executor: Executor, renaming: Renaming
) -> WorldStarter:
    """Return the function that begins episodes in a plugin's world; see :func:`find_world_starter`.

    Raises:
        SettingsError: the world needs more than observations.
    """
    world_class = _require_readable(registered)
    observed_class: Any = type(f"Observed{world_class.__name__}", (_ObservedMethods, world_class), {})

    def start(observation: Any, info: Mapping[str, Any]) -> ObservedWorld:
        world = observed_class.__new__(observed_class)
        world._stream = _ObservationStream(observation, info)  # the constructor builds and resets its environment
        world.__init__(level if level.id else replace(level, id="the policy"), 0, executor)
        world.renaming = renaming
        observed: ObservedWorld = world
        return observed

    return start


class ObservedGrid(MappedWorld):
    """A world of the grid's body that is mapped from observations with ``image``, ``direction`` and ``mission``.

    Args:
        observation: the first observation of the episode.
        executor: runs generated code.
        renaming: the words that generated code and problem writers are shown.

    Raises:
        WorldError: the observation is none of MiniGrid.
    """

    over = False
    reward = 0.0

    def __init__(self, observation: Any, executor: Executor, renaming: Renaming) -> None:
        super().__init__("the policy", executor, renaming)
        _bind_loaded_numbers()
        self._tracker = GridTracker()
        self._observe(self._tracker.reset, observation)
        if not isinstance(observation["mission"], str):
            raise WorldError(f"the mission is no text, but {type(observation['mission']).__name__}: {_AS_MINIGRID}")
        self.mission = observation["mission"].encode(errors="replace").decode()

    @property
    def one_life_reason(self) -> str:
        return _OUTSIDE

    def receive(self, code: int, observation: Any, info: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Integrate the observation that followed a primitive into the map.

        Raises:
            WorldError: the observation is none of MiniGrid.
        """
        self._observe(lambda seen: self._tracker.update(code, seen), observation)
        self.previous_actions.append(code)

    def _observe(self, integrate: Callable[[Mapping[str, Any]], None], observation: Any) -> None:
        if not isinstance(observation, Mapping):
            raise WorldError(f"an observation of MiniGrid is a dict, not {type(observation).__name__}")
        missing = [part for part in ("image", "direction", "mission") if part not in observation]
        if missing:
            raise WorldError(f"the observation has no {missing[0]!r}: {_AS_MINIGRID}")
        try:
            integrate(observation)
        except (ValueError, TypeError) as error:
            raise WorldError(f"the observation is none of MiniGrid: {error}") from error
        self._read_tracker(self._tracker)

    def step(self, code: int) -> None:
        raise WorldError(f"{self.name} cannot execute primitive {code}: {_OUTSIDE}")

    def close(self) -> None:
        """Do nothing: there is no simulator to close."""

    def _reset(self) -> None:
        raise WorldError(f"{self.name} cannot be reset: {_OUTSIDE}")

    def _hash(self) -> str:
        return hash_state(self._state(), tuple(self.previous_actions))

    def _is_solved(self) -> bool:
        return False

    def _why_over(self) -> str:
        return ""


def _bind_loaded_numbers() -> None:
    """Tell perception the numbers of kinds and colours that were added to minigrid's tables, if minigrid is loaded."""
    constants = sys.modules.get("minigrid.core.constants")
    if constants is not None:
        perception.bind_numbers(constants.OBJECT_TO_IDX, constants.COLOR_TO_IDX)


class _ObservationStream:
    """Takes the place of an environment: it returns what the caller's environment has returned."""

    render_mode = None

    def __init__(self, observation: Any, info: Mapping[str, Any]) -> None:
        self.observation = observation
        self.info = info

    def reset(self, *, seed: int | None = None) -> tuple[Any, Mapping[str, Any]]:  # noqa: ARG002
        return self.observation, self.info

    def step(self, code: int) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:  # noqa: ARG002
        return self.observation, 0.0, False, False, self.info

    def close(self) -> None:
        """Do nothing: the environment is the caller's."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise WorldError(f"the world reads {name!r} of its environment: a policy has observation and info alone")


class _ObservedMethods:
    """The methods by which a class of :class:`GymnasiumWorld` is fed with observations."""

    one_life_reason = _OUTSIDE
    _mission_advice = "name the level that is played (level=)"
    _stream: _ObservationStream

    def build(self, level: LevelSpec) -> _ObservationStream:  # noqa: ARG002
        return self._stream

    def receive(self, code: int, observation: Any, info: Mapping[str, Any]) -> None:
        self._stream.observation = observation
        self._stream.info = info
        self.step(code)  # type: ignore[attr-defined]  # of GymnasiumWorld, whose subclass is mixed in

    def _require_discrete_actions(self) -> None:
        """Accept the caller's environment as it is."""


def _require_readable(registered: RegisteredWorld) -> type[GymnasiumWorld]:
    """Return the class of a registered world, if it can be fed with observations.

    Raises:
        SettingsError: the world is none of :class:`GymnasiumWorld`, or one primitive is not one step.
    """
    world_class = getattr(registered.make, "__self__", None)
    if not isinstance(world_class, type) or not getattr(world_class, "reads_observations", False):
        raise SettingsError(
            f"world {registered.name}: only a spca.GymnasiumWorld registered with its own make() reads observations"
        )
    changed = [name for name in ("make", "take_step", "step") if _is_overridden(world_class, name)]
    if changed:
        raise SettingsError(f"world {registered.name}: it has its own {changed[0]}(), which needs the environment")
    return world_class


def _is_overridden(world_class: type[GymnasiumWorld], name: str) -> bool:
    """Return whether a class has another method of this name than :class:`GymnasiumWorld`."""
    found = getattr(world_class, name)
    base = getattr(GymnasiumWorld, name)
    return getattr(found, "__func__", found) is not getattr(base, "__func__", base)
