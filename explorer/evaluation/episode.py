"""One episode, in which an agent or a person plays a scene. The milestones are judged after each step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from operator import index
from typing import Final, TypeVar

from explorer.agents.agent import Agent, Usage
from explorer.certificate import Certificate
from explorer.codes import MAX_LENGTH
from explorer.errors import ActionError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.milestones import Tracker, out_of_order
from explorer.scene import WorldState
from explorer.view import View
from explorer.worlds.state_hash import state_hash
from explorer.worlds.voxel import VoxelWorld
from spca.common.errors import SPCAError
from spca.common.text import one_line

DEFAULT_MAX_STEPS: Final = 1000
"""Step limit for a scene without a certificate."""
TOLD_MAX_STEPS: Final = 2000
"""Step limit that is told to the player of any certified scene.

The limit in the certificate stays secret. That limit is a multiple of the witness's length and would tell how long the
solution is. The highest limit in the certificates of the released sets is 1,524.
"""
_MAX_ERROR: Final = 300
"""Largest number of characters of an error in results."""
_NO_USAGE: Final = Usage()

T = TypeVar("T")


class Game:
    """An episode in progress; the player reads :attr:`view` and calls :meth:`step` until :attr:`over` is not "".

    Args:
        world: the world to play in, which is reset.
        loaded: the scene with its milestones.
        max_steps: step limit, at most :data:`explorer.codes.MAX_LENGTH`, which is also told to the player. If None, the
            certificate sets the limit, and the player is told :data:`TOLD_MAX_STEPS` instead. If None and there is no
            certificate, the limit is :data:`DEFAULT_MAX_STEPS`.

    Attributes:
        view: the player's knowledge.
        over: the reason why the episode is over, as in :attr:`Episode.ended`; "" while the episode runs.

    Raises:
        SceneError: the scene cannot be built.
    """

    def __init__(self, world: VoxelWorld, loaded: Loaded, max_steps: int | None = None) -> None:
        told_limit, self._max_steps = _resolve_limits(loaded, max_steps)
        self._world = world
        self._loaded = loaded
        self._codes: list[int] = []
        self._tracker = Tracker(loaded.milestones, loaded.scene.spawn)
        self.view: View = world.reset(loaded.scene, told_limit)
        self.over = ""
        self._judge()

    @property
    def latched(self) -> Mapping[str, int]:
        """Milestone id -> the first step after which the milestone held."""
        return self._tracker.latched

    def step(self, code: int) -> tuple[str, ...]:
        """Carry out a primitive, update :attr:`view` and judge the state.

        The result of the primitive is in ``view.last``.

        Returns:
            The ids of the milestones that latched in this step.

        Raises:
            ActionError: the code is not a primitive, or the episode is over.
        """
        if self.over:
            raise ActionError(f"the episode is over: {self.over}")
        self._world.step(code)
        self._codes.append(code)
        self.view = self._world.view()
        return self._judge()

    def episode(self, model: str, *, usage: Usage = _NO_USAGE, error: str = "", seed: int = 0) -> Episode:
        """Return the result of the steps so far.

        Args:
            model: name of the player.
            usage: the player's use of models.
            error: how the player failed, or "" if the player did not fail.
            seed: seed of the player.
        """
        loaded = self._loaded
        latched = self._tracker.latched
        early = [(edge.before, edge.after) for edge in out_of_order(loaded.graph, latched)]

        return Episode(
            scene=loaded.scene.name,
            hops=loaded.hops,
            model=model,
            latched=dict(latched),
            solved=self._tracker.complete,
            steps=len(self._codes),
            calls=usage.calls,
            tokens=usage.tokens,
            cost=usage.cost,
            codes=tuple(self._codes),
            out_of_order=tuple(early),
            certificate_refuted=self._contradicts(loaded.certificate, early),
            state_hash=state_hash(self._state()),
            ended=self.over,
            error=error,
            seed=seed,
            source=loaded.source,
        )

    def _state(self) -> WorldState:
        """Return the present state; if the steps are used up, mark the state as over.

        The world itself knows only the told limit, which may be larger than the true limit.
        """
        state = self._world.state()
        has_steps_left = len(self._codes) < self._max_steps
        return state if state.over or has_steps_left else replace(state, over="max_steps")

    def _judge(self) -> tuple[str, ...]:
        """Update the latched milestones and :attr:`over`.

        Returns:
            The ids of the milestones that latched in this step.
        """
        state = self._state()
        new = self._tracker.observe(state, self.view.known)
        self.over = "goal" if self._loaded.graph.goal.id in self._tracker.latched else state.over
        return new

    def _contradicts(self, certificate: Certificate | None, early: Collection[tuple[str, str]]) -> bool:
        """Return whether the latched milestones contradict the certificate.

        Args:
            early: edges (before, after) of which ``after`` latched although ``before`` latched later or never.
        """
        if certificate is None:
            return False
        enforced = {(edge.before, edge.after) for edge in certificate.edges if edge.enforced}
        goal_latched = self._loaded.graph.goal.id in self._tracker.latched
        goal_without_all_hops = goal_latched and not self._tracker.complete
        return goal_without_all_hops or not enforced.isdisjoint(early)


def _resolve_limits(loaded: Loaded, max_steps: int | None) -> tuple[int, int]:
    """Return (step limit that is told to the player, step limit at which the episode ends)."""
    if max_steps is None and loaded.certificate is not None:
        return TOLD_MAX_STEPS, min(loaded.certificate.max_steps, TOLD_MAX_STEPS)
    limit = min(DEFAULT_MAX_STEPS if max_steps is None else max_steps, MAX_LENGTH)
    return limit, limit


def play(
    world: VoxelWorld,
    loaded: Loaded,
    agent: Agent,
    model: str,
    *,
    seed: int = 0,
    max_steps: int | None = None,
) -> Episode:
    """Let an agent play a scene until the episode is over, and return the result.

    If the agent raises an exception, the episode ends, and its ``error`` describes the exception. An :class:`SPCAError`
    is raised again instead, because it means that the agent cannot be used any more.

    Args:
        model: name of the agent in results.
        seed: seed of the agent.
        max_steps: step limit; see :class:`Game`.

    Raises:
        SceneError: the scene cannot be built.
        SPCAError: the agent cannot be used any more.
    """
    game = Game(world, loaded, max_steps)
    _, error = _call_agent(lambda: agent.reset(game.view, loaded.text, seed))
    while not (game.over or error):
        code, error = _call_agent(lambda: index(agent.act(game.view)))
        if code is None:
            break
        try:
            game.step(code)
        except ActionError as fault:
            error = str(fault)

    usage, usage_error = _call_agent(lambda: agent.usage)
    return game.episode(model, usage=usage or _NO_USAGE, error=error or usage_error, seed=seed)


def _call_agent(call: Callable[[], T]) -> tuple[T | None, str]:
    """Call a method of an agent, and return (value, "").

    If the method raises an exception, return (None, description of the exception).
    """
    try:
        return call(), ""
    except SPCAError:
        raise
    except Exception as fault:  # an agent is foreign code, and the agent's bugs are part of its results
        problem = one_line(f"{type(fault).__name__}: {fault}")
        return None, problem[:_MAX_ERROR]
