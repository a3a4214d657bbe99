"""What a run has learned, as a policy: it plans from observations, and returns one primitive at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Self, TypeAlias

from spca.body import Body
from spca.common.errors import UserError
from spca.contracts import FailedPlan, LevelInfo, Plan
from spca.policy.policy_episode import PolicyEpisode, PolicyLevel

_NO_INFO: Final[Mapping[str, Any]] = MappingProxyType({})

LevelFinder: TypeAlias = Callable[[LevelInfo | str | None], PolicyLevel]
"""Returns what is needed for a level that a caller names; see :func:`spca.policy.level_choice.choose_level`."""


class LearnedPolicy:
    """A frozen agent for a loop of the caller's own; :func:`spca.load_policy` makes it.

    ::

        observation, info = env.reset(seed=1)
        policy.reset(observation, info)
        observation, reward, terminated, truncated, info = env.step(policy.act(observation, info))

    The first plan is that of the frozen evaluation. When a plan ends and the episode goes on, the policy plans again
    from the state reached, as in a world with one life. It never repeats a plan in the same state. Without a further
    plan it waits.

    Args:
        body: the body of the agent.
        find_level: returns what is needed for a level.
        level: the level of all episodes that name no other.
        close: ends the processes of the policy.

    Raises:
        SettingsError: there is no such level.
    """

    def __init__(
        self, body: Body, find_level: LevelFinder, level: LevelInfo | str | None, close: Callable[[], None]
    ) -> None:
        self._body = body
        self._find_level = find_level
        self._default_level = find_level(level)
        self._close = close
        self._episode: PolicyEpisode | None = None
        self._is_closed = False

    @property
    def plan(self) -> Plan | None:
        """The plan that is carried out now; None before the first primitive, and while the policy waits."""
        return self._episode.plan if self._episode else None

    @property
    def failed_plans(self) -> tuple[FailedPlan, ...]:
        """The plans of this episode that have ended although the episode went on."""
        return tuple(self._episode.failed) if self._episode else ()

    @property
    def waiting_reason(self) -> str:
        """Why the policy has no plan and waits; "" if it does not wait."""
        return self._episode.waiting_reason if self._episode else ""

    def reset(
        self, observation: Any, info: Mapping[str, Any] | None = None, *, level: LevelInfo | str | None = None
    ) -> None:
        """Begin an episode with what the environment's reset returned.

        Args:
            level: the level of this episode, as for :func:`spca.load_policy`; None for the policy's own level.

        Raises:
            WorldError: the observation cannot be read.
            SettingsError: there is no such level.
            UserError: the policy was closed.
        """
        if self._is_closed:
            raise UserError("the policy was closed: load it again")
        self._end_episode()
        played = self._default_level if level is None else self._find_level(level)
        self._episode = PolicyEpisode(played, self._body, observation, _NO_INFO if info is None else info)

    def act(self, observation: Any, info: Mapping[str, Any] | None = None) -> int:
        """Return the code of the next primitive.

        The first call of an episode gets what ``reset`` got. Each later call gets what the environment returned after
        the primitive that the call before has chosen.

        Raises:
            WorldError: the observation cannot be read; or there is no further plan, and no primitive to wait with.
            SandboxError: generated code cannot be executed safely.
            UserError: :meth:`reset` was not called.
        """
        if self._episode is None:
            raise UserError("the policy has no episode: call policy.reset(observation) first")
        return self._episode.choose_primitive(observation, _NO_INFO if info is None else info)

    def close(self) -> None:
        """End the processes of the policy; a second call does nothing."""
        self._is_closed = True
        self._end_episode()
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end_episode(self) -> None:
        if self._episode is not None:
            self._episode.close()
        self._episode = None
