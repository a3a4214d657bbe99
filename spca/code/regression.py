"""The regression check: before a rewritten method is kept, solved levels that use this method run again."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Final

from spca.code import agent_source, library
from spca.contracts import AgentSource, Checkpoint, LevelSpec, Plan
from spca.errors import ForeignCheckpointError, RestoreError, WorldError
from spca.llm.feedback import failure_report
from spca.protocols import RegressionCheck, World

_LOG: Final = logging.getLogger(__name__)

MAX_RERUNS: Final = 20
"""Largest number of solved levels that run again for one patch."""


@dataclass(frozen=True, slots=True)
class SolvedLevel:
    """A solved level: the state at the start of its last round, and the plan that succeeded from this state."""

    level: LevelSpec
    seed: int
    checkpoint: Checkpoint
    plan: Plan


class RegressionSuite:
    """Memory of solved levels, which re-runs the levels that use a changed method. No LLM is called.

    Args:
        make_world: function that creates a world from a level and a seed.
        limit: largest number of levels that run again for one patch; the most diverse levels are chosen.
        enabled: whether to check; if False, every patch passes.
    """

    def __init__(
        self, make_world: Callable[[LevelSpec, int], World], limit: int = MAX_RERUNS, *, enabled: bool = True
    ) -> None:
        self._make_world = make_world
        self._enabled = enabled
        self._limit = limit
        self._solved: list[SolvedLevel] = []
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter()  # of (family, actions)

    def wants(self, name: str, actions: tuple[str, ...]) -> bool:
        """Return whether a solved level would be remembered.

        Of levels with the same actions and environment family, only the first few can be chosen by a check.

        Args:
            name: environment id or name of the level.
            actions: actions of the plan.
        """
        return self._counts[_family(name), actions] < self._limit

    def extend(self, levels: Iterable[SolvedLevel]) -> None:
        """Remember more solved levels, unless they are not wanted."""
        for level in levels:
            if self.wants(level.level.id, level.plan.actions):
                self._counts[_family(level.level.id), level.plan.actions] += 1
                self._solved.append(level)

    def forget(self) -> None:
        """Forget all solved levels."""
        self._solved.clear()
        self._counts.clear()

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

        @cache
        def is_affected(actions: tuple[str, ...]) -> bool:
            return bool(changed & agent_source.call_closure(agent.text, actions))

        affected = [level for level in self._solved if is_affected(level.plan.actions)]

        names = ", ".join(sorted(changed))
        for solved in most_diverse(affected, self._limit):
            failure = self._failure(solved, agent)
            if failure is not None:
                _LOG.info("a patch of %s is refused: %s seed %d fails", names, solved.level.name, solved.seed)
                intro = f"Regression: the rewritten {names} breaks a level that was solved before: keep what worked."
                return f"{intro}\n{failure}"
        return None

    def _failure(self, solved: SolvedLevel, agent: AgentSource) -> str | None:
        """Return how a solved level fails with ``agent``; None if ``agent`` solves the level again.

        A level that cannot be replayed counts as failed, because nothing shows that ``agent`` still solves it. Only a
        world that no other world can take the place of is left out.
        """
        try:
            with closing(self._make_world(solved.level, solved.seed)) as world:
                if not world.can_restore:
                    return None  # a world with one life cannot be played again
                world.restore(solved.checkpoint)
                outcome = world.run_sim(solved.plan, agent)
        except ForeignCheckpointError:
            return None
        except (WorldError, RestoreError) as error:
            return f"it cannot be played again: {error}"
        return (
            None if outcome.solved else failure_report(solved.plan, outcome, world.body, library.method_at(agent.text))
        )


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
        return actions[level.plan.actions], families[_family(level.level.id)]

    while remaining and len(chosen) < limit:
        best = min(remaining, key=familiarity)
        remaining.remove(best)
        chosen.append(best)
        actions[best.plan.actions] += 1
        families[_family(best.level.id)] += 1
    return chosen


def _family(env_id: str) -> str:
    """Return the letters of an environment id, without the version at its end."""
    name, _, _version = env_id.partition("-v")
    return "".join(c for c in name if c.isalpha())
