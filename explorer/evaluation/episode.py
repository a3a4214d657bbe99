"""One episode: an agent or a person plays a scene in a world, and each step is judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from operator import index
from typing import Final, TypeVar

from explorer.agents.agent import Agent, Usage
from explorer.certificate import Certificate
from explorer.codes import LONGEST
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
"""Step limit that a player of a certified scene is told, the same for all of them.

The certificate's own limit is a multiple of the witness, so it would tell how long the solution is. No scene of the
released sets has a higher one than 1,524.
"""
_LONGEST_ERROR: Final = 300
_NOTHING: Final = Usage()

T = TypeVar("T")


class Game:
    """An episode in progress: the player reads :attr:`view` and calls :meth:`step` until it is :attr:`over`.

    Args:
        world: the world to play in; it is reset.
        loaded: the scene with its milestones.
        max_steps: step limit, which the player is told. None: the certificate's, and the player is told
            :data:`TOLD_MAX_STEPS`; :data:`DEFAULT_MAX_STEPS` without a certificate. Never more than
            :data:`explorer.codes.LONGEST`.

    Attributes:
        view: what the player knows.
        over: why the episode is over, as in :attr:`Episode.ended`; "" while it runs.

    Raises:
        SceneError: the scene cannot be built.
    """

    def __init__(self, world: VoxelWorld, loaded: Loaded, max_steps: int | None = None) -> None:
        shown_limit, self._max_steps = _resolve_limits(loaded, max_steps)
        self._world = world
        self._loaded = loaded
        self._codes: list[int] = []
        self._tracker = Tracker(loaded.milestones, loaded.scene.spawn)
        self.view: View = world.reset(loaded.scene, shown_limit)
        self.over = ""
        self._judge()

    @property
    def latched(self) -> Mapping[str, int]:
        """Milestone id -> the first step after which it held."""
        return self._tracker.latched

    def step(self, code: int) -> tuple[str, ...]:
        """Carry out a primitive; ``view.last`` then says what it did.

        Returns:
            The ids of the milestones that latch now.

        Raises:
            ActionError: the code is not a primitive, or the episode is over.
        """
        if self.over:
            raise ActionError(f"the episode is over: {self.over}")
        self._world.step(code)
        self._codes.append(code)
        self.view = self._world.view()
        return self._judge()

    def episode(self, model: str, *, usage: Usage = _NOTHING, error: str = "", seed: int = 0) -> Episode:
        """Return the result so far."""
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
            certificate_refuted=self._refutes(loaded.certificate, early),
            state_hash=state_hash(self._state()),
            ended=self.over,
            error=error,
            seed=seed,
            source=loaded.source,
        )

    def _state(self) -> WorldState:
        """Return the present state; the judge ends an episode that has used up the certificate's steps."""
        state = self._world.state()
        if state.over or len(self._codes) < self._max_steps:
            return state
        return replace(state, over="max_steps")

    def _judge(self) -> tuple[str, ...]:
        state = self._state()
        new = self._tracker.observe(state, self.view.known)
        self.over = "goal" if self._loaded.graph.goal.id in self._tracker.latched else state.over
        return new

    def _refutes(self, certificate: Certificate | None, early: Collection[tuple[str, str]]) -> bool:
        """Return whether the latched milestones contradict the certificate."""
        if certificate is None:
            return False
        enforced = {(edge.before, edge.after) for edge in certificate.edges if edge.enforced}
        reached = self._loaded.graph.goal.id in self._tracker.latched
        return (reached and not self._tracker.complete) or not enforced.isdisjoint(early)


def _resolve_limits(loaded: Loaded, max_steps: int | None) -> tuple[int, int]:
    """Return the step limit that the player is told, and the one at which the judge ends the episode."""
    if max_steps is None and loaded.certificate is not None:
        return TOLD_MAX_STEPS, min(loaded.certificate.max_steps, TOLD_MAX_STEPS)
    limit = min(DEFAULT_MAX_STEPS if max_steps is None else max_steps, LONGEST)
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
    """Let an agent play a scene until the goal latches, the agent is done, the world ends it or the steps run out.

    An exception of the agent ends its episode and is recorded in ``error``. Only an :class:`SPCAError` is raised on: it
    means that the agent cannot be used any more.

    Args:
        model: name of the agent in results.
        max_steps: see :class:`Game`.

    Raises:
        SceneError: the scene cannot be built.
        SPCAError: the agent cannot be used any more.
    """
    game = Game(world, loaded, max_steps)
    _, error = _ask(lambda: agent.reset(game.view, loaded.text, seed))
    while not (game.over or error):
        code, error = _ask(lambda: index(agent.act(game.view)))
        if code is None:
            continue
        try:
            game.step(code)
        except ActionError as fault:
            error = str(fault)

    usage, missing = _ask(lambda: agent.usage)
    return game.episode(model, usage=usage or _NOTHING, error=error or missing, seed=seed)


def _ask(ask: Callable[[], T]) -> tuple[T | None, str]:
    """Return an agent's answer, or None and how it failed."""
    try:
        return ask(), ""
    except SPCAError:
        raise
    except Exception as fault:  # boundary to foreign code: an agent's bugs are part of its results
        problem = one_line(f"{type(fault).__name__}: {fault}")
        return None, problem[:_LONGEST_ERROR]
