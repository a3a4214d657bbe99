"""The regression check: before a rewritten method is kept, solved levels that use this method run again."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from spca.code import agent_source, library
from spca.contracts import AgentSource, Checkpoint, Plan
from spca.errors import RestoreError, WorldError
from spca.llm.feedback import failure_report
from spca.protocols import RegressionCheck, World

_LOG: Final = logging.getLogger(__name__)

MAX_RERUNS: Final = 20
"""Largest number of solved levels that run again for one patch."""


@dataclass(frozen=True, slots=True)
class SolvedLevel:
    """A solved level: the state at the start of its last round, and the plan that succeeded from this state."""

    env_id: str
    seed: int
    checkpoint: Checkpoint
    plan: Plan


class RegressionSuite:
    """Memory of solved levels, which re-runs the levels that use a changed method. No LLM is called.

    Args:
        make_world: function that creates a world from an environment id and a seed.
        limit: largest number of levels that run again for one patch; the most diverse levels are chosen.
        enabled: whether to check; if False, every patch passes.
    """

    def __init__(
        self, make_world: Callable[[str, int], World], limit: int = MAX_RERUNS, *, enabled: bool = True
    ) -> None:
        self._make_world = make_world
        self._enabled = enabled
        self._limit = limit
        self._solved: list[SolvedLevel] = []

    def extend(self, levels: Iterable[SolvedLevel]) -> None:
        """Remember more solved levels."""
        self._solved.extend(levels)

    def forget(self) -> None:
        """Forget all solved levels."""
        self._solved.clear()

    def against(self, library: AgentSource) -> RegressionCheck:
        """Return a function that checks a new agent against ``library``, the agent that solved the earlier levels."""
        return lambda agent: self._check(library, agent) if self._enabled else None

    def _check(self, library: AgentSource, agent: AgentSource) -> str | None:
        """Return a report of the first solved level that fails with ``agent``; None if no level fails."""
        changed = set(agent_source.find_changed_methods(library.text, agent.text))
        # Only changes of existing methods matter, and a new __init__, because __init__ runs before every action.
        changed &= {method.name for method in agent_source.signatures(library.text)} | {"__init__"}
        if not changed:
            return None

        affected: list[SolvedLevel] = []
        for level in self._solved:
            reached = agent_source.call_closure(agent.text, level.plan.actions)
            if changed & reached:
                affected.append(level)

        names = ", ".join(sorted(changed))
        for solved in most_diverse(affected, self._limit):
            failure = self._failure(solved, agent)
            if failure is not None:
                _LOG.info("a patch of %s is refused: %s seed %d fails", names, solved.env_id, solved.seed)
                intro = f"Regression: the rewritten {names} breaks a level that was solved before: keep what worked."
                return f"{intro}\n{failure}"
        return None

    def _failure(self, solved: SolvedLevel, agent: AgentSource) -> str | None:
        """Return how a solved level fails with ``agent``; None if ``agent`` solves the level again.

        A level that cannot be replayed counts as failed, because nothing shows that ``agent`` still solves it.
        """
        try:
            with closing(self._make_world(solved.env_id, solved.seed)) as world:
                world.restore(solved.checkpoint)
                outcome = world.run_sim(solved.plan, agent)
        except (WorldError, RestoreError) as error:
            return f"it cannot be played again: {error}"
        return None if outcome.solved else failure_report(solved.plan, outcome, library.method_at(agent.text))


def most_diverse(levels: list[SolvedLevel], limit: int) -> list[SolvedLevel]:
    """Return up to ``limit`` levels, chosen one by one, each as different as possible from the levels chosen before.

    Each choice prefers the level whose sequence of actions was chosen least often. Among equal levels, it prefers the
    environment family that was chosen least often.
    """
    chosen: list[SolvedLevel] = []
    actions: Counter[tuple[str, ...]] = Counter()
    families: Counter[str] = Counter()
    remaining = list(levels)

    def familiarity(level: SolvedLevel) -> tuple[int, int]:
        return actions[level.plan.actions], families[_family(level.env_id)]

    while remaining and len(chosen) < limit:
        best = min(remaining, key=familiarity)
        remaining.remove(best)
        chosen.append(best)
        actions[best.plan.actions] += 1
        families[_family(best.env_id)] += 1
    return chosen


def _family(env_id: str) -> str:
    """Return the letters of an environment id, without the version at its end."""
    return "".join(c for c in env_id.rpartition("-v")[0] if c.isalpha())
