"""One episode: an agent, or a person, in a world, and what is judged after each step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from operator import index
from typing import Final, TypeVar

from explorer.agents.agent import Agent, Usage
from explorer.certificate import Certificate
from explorer.codes import LONGEST
from explorer.errors import ActionError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.milestones import Tracker, out_of_order
from explorer.view import View
from explorer.worlds.protocol import World
from explorer.worlds.state_hash import state_hash
from spca.common.errors import SPCAError
from spca.common.text import one_line

DEFAULT_MAX_STEPS: Final = 1000
"""Steps of an episode in a scene that has no certificate to say how many."""
_LONGEST_ERROR: Final = 300
_NOTHING: Final = Usage()

T = TypeVar("T")


class Game:
    """An episode under way; whoever plays asks for :attr:`view` and calls :meth:`step` until it is :attr:`over`.

    Args:
        world: in which it is played; it is reset.
        loaded: the scene with its milestones.
        max_steps: None: as the certificate says, else :data:`DEFAULT_MAX_STEPS`; at most as many as can be kept.

    Attributes:
        view: what the player knows.
        over: why the episode is over, as :attr:`Episode.ended`; "" while it is not.

    Raises:
        SceneError: the world cannot build the scene.
    """

    def __init__(self, world: World, loaded: Loaded, max_steps: int | None = None) -> None:
        proven = loaded.certificate.max_steps if loaded.certificate else DEFAULT_MAX_STEPS
        self._world, self._loaded = world, loaded
        self._codes: list[int] = []
        self._tracker = Tracker(loaded.milestones, loaded.scene.spawn)
        self.view: View = world.reset(loaded.scene, min(proven if max_steps is None else max_steps, LONGEST))
        self.over = ""
        self._judge()

    @property
    def latched(self) -> Mapping[str, int]:
        """Milestone -> the step after which it held."""
        return self._tracker.latched

    def step(self, code: int) -> tuple[str, ...]:
        """Carry out a primitive; ``view.last`` says what it did.

        Returns:
            ids of the milestones that latch.

        Raises:
            ActionError: the code means nothing, or the episode is over.
        """
        if self.over:
            raise ActionError(f"the episode is over: {self.over}")
        self._world.step(code)
        self._codes.append(code)
        self.view = self._world.view()
        return self._judge()

    def episode(self, model: str, *, usage: Usage = _NOTHING, error: str = "", seed: int = 0) -> Episode:
        """Return the result so far."""
        loaded, latched = self._loaded, self._tracker.latched
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
            state_hash=state_hash(self._world.state()),
            ended=self.over,
            error=error,
            seed=seed,
            source=loaded.source,
        )

    def _judge(self) -> tuple[str, ...]:
        state = self._world.state()
        new = self._tracker.observe(state, self.view.known)
        self.over = "goal" if self._loaded.graph.goal.id in self._tracker.latched else state.over
        return new

    def _refutes(self, certificate: Certificate | None, early: Collection[tuple[str, str]]) -> bool:
        """Return whether what latched cannot be, were the certificate true."""
        if certificate is None:
            return False
        enforced = {(edge.before, edge.after) for edge in certificate.edges if edge.enforced}
        reached = self._loaded.graph.goal.id in self._tracker.latched
        return (reached and not self._tracker.complete) or not enforced.isdisjoint(early)


def play(
    world: World,
    loaded: Loaded,
    agent: Agent,
    model: str,
    *,
    seed: int = 0,
    max_steps: int | None = None,
) -> Episode:
    """Let an agent play a scene until the goal latches, the agent is done, the world ends it or the steps are spent.

    What an agent raises ends its episode and is told in ``error``, but for an :class:`SPCAError`: then nothing more
    can be had from it.

    Args:
        model: what results call the agent.
        max_steps: as in :class:`Game`.

    Raises:
        SceneError: the world cannot build the scene.
        SPCAError: the agent cannot be used any more.
    """
    game = Game(world, loaded, max_steps)
    _, error = _asked(lambda: agent.reset(game.view, loaded.text, seed))
    while not (game.over or error):
        code, error = _asked(lambda: index(agent.act(game.view)))
        if code is not None:
            try:
                game.step(code)
            except ActionError as fault:
                error = str(fault)
    return game.episode(model, usage=agent.usage, error=error, seed=seed)


def _asked(ask: Callable[[], T]) -> tuple[T | None, str]:
    """Return what an agent answers, or how it failed."""
    try:
        return ask(), ""
    except SPCAError:
        raise
    except Exception as fault:  # an agent may be anybody's, and its defects are its results
        return None, one_line(f"{type(fault).__name__}: {fault}")[:_LONGEST_ERROR]
