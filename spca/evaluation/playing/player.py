"""Playing an episode with what was learned: stored writers first, then a model; no code is written."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from spca.code import library
from spca.common.text import format_count
from spca.contracts import AgentSource, FailedPlan, LevelInfo, Plan, PlanFailure, Snapshot, Status, TraceStep
from spca.errors import RestoreError, WorldError
from spca.evaluation.episodes import NO_PLAN, WORLD_ERROR, Episode, Played, Trial
from spca.llm.feedback import shorten_middle
from spca.protocols import World
from spca.runs.level.compiled_planning import MAX_EXECUTED
from spca.writers.stored import WriterFailure

_LONGEST_REASON: Final = 400
_LONGEST_MISS: Final = 100
_NEAREST: Final = 3
"""Writers whose reasons are recorded where none has a plan: about as much as a reason may have."""
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{6,}\b")
"""Where an object lies in memory is never the same twice."""

Asker = Callable[[Snapshot, Sequence[FailedPlan]], Plan | PlanFailure]
"""Asks the model about an episode, given the plans of it that have failed."""


@dataclass(frozen=True, slots=True)
class Planning:
    """Where plans come from.

    Attributes:
        stored: plans of stored writers, the best first, and why the others have none.
        model: name of the model that is asked after them, "" for none.
        asker: begins an episode at that model, for an agent.
    """

    stored: Callable[[Snapshot, LevelInfo], Iterable[Plan | WriterFailure]]
    model: str
    asker: Callable[[Episode, AgentSource], Asker]


class Player:
    """Plays episodes with frozen agents.

    Args:
        make_world: builds the world of an id and a seed.
        agents: by category; "" is that of all other categories.
        attempts: trials of an episode, each but the first after an undo.
    """

    def __init__(
        self,
        make_world: Callable[[str, int], World],
        planning: Planning,
        agents: Mapping[str, AgentSource],
        attempts: int = 1,
    ) -> None:
        self._make_world = make_world
        self._planning = planning
        self._agents = agents
        self._attempts = attempts

    def __call__(self, episode: Episode) -> Played:
        """Play an episode until a plan succeeds or its attempts are used up.

        Raises:
            SandboxError: generated code cannot be executed safely.
            ProviderConfigError, ProviderDownError, BudgetReached: as :meth:`PlannerLLM.plan`.
        """
        started = time.perf_counter()
        trials = list[Trial]()
        try:
            with closing(self._make_world(episode.env_id, episode.seed)) as world:
                for trial in self._trials(world, episode):
                    trials.append(trial)
                    if trial.solved or len(trials) == self._attempts:
                        break
        except (WorldError, RestoreError) as error:
            trials.append(Trial("", WORLD_ERROR, normalise_reason(str(error))))
        return Played(episode, tuple(trials), time.perf_counter() - started)

    def _trials(self, world: World, episode: Episode) -> Iterator[Trial]:
        """Yield one trial after another, at least one; each plan is carried out from the beginning."""
        snapshot = world.sense()
        failed = list[FailedPlan]()
        plans = set[str]()
        agent = self._agents.get(episode.category, self._agents[""])
        start = world.checkpoint() if self._attempts > 1 else None
        for planner, plan in self._plans(snapshot, episode, agent, failed):
            if isinstance(plan, str):
                yield Trial(planner, NO_PLAN, normalise_reason(plan))
                return
            if plan.text in plans:  # it would end in the same way
                continue
            if plans and start:
                world.restore(start)
            plans.add(plan.text)
            trial = _try_plan(world, plan, agent, planner)
            failed.append(FailedPlan(plan.text, trial.status, trial.reason))
            yield trial

    def _plans(
        self, snapshot: Snapshot, episode: Episode, agent: AgentSource, failed: Sequence[FailedPlan]
    ) -> Iterator[tuple[str, Plan | str]]:
        """Yield plans and who made them; in the end, unless there are attempts enough, why there is none."""
        planning = self._planning
        missed = list[WriterFailure]()
        stored = 0
        for found in planning.stored(snapshot, episode.info()):
            if isinstance(found, WriterFailure):
                missed.append(found)
                continue
            yield found.writer, found
            stored += 1
            if stored == MAX_EXECUTED and planning.model:
                break
        if not planning.model:
            if not stored:
                yield "", _why_none(missed)
            return
        ask = planning.asker(episode, agent)
        for _ in range(self._attempts):
            plan = ask(snapshot, failed)
            yield planning.model, plan.reason if isinstance(plan, PlanFailure) else plan


def _why_none(missed: Sequence[WriterFailure]) -> str:
    """Return why no writer has a plan, a line each for the nearest of them."""
    lines = [f"{each.label}: {shorten(each.reason, _LONGEST_MISS, placeholder=' ...')}" for each in missed[:_NEAREST]]
    more = [f"and {format_count(len(missed) - _NEAREST, 'other writer')}"] * (len(missed) > _NEAREST)
    return "\n".join([*lines, *more]) or "there are no writers"


def _try_plan(world: World, plan: Plan, agent: AgentSource, planner: str) -> Trial:
    calls = tuple(map(str, plan.steps))
    if lacking := library.missing(agent.text, plan.actions):
        return Trial(planner, Status.MISSING_METHOD.value, f"the library lacks {', '.join(lacking)}", calls)
    outcome = world.run_sim(plan, agent)
    reason = "" if outcome.solved else normalise_reason(outcome.message)
    acted = _group_by_position(outcome.trace)
    return Trial(planner, outcome.status.value, reason, calls, acted, outcome.corrections, outcome.state_hash)


def _group_by_position(trace: Sequence[TraceStep]) -> tuple[tuple[int, ...], ...]:
    """Return the primitives of each position of the plan up to the last that has some."""
    last = trace[-1].position if trace else -1
    return tuple(tuple(step.code for step in trace if step.position == at) for at in range(last + 1))


def normalise_reason(reason: str) -> str:
    """Return a reason as it is recorded: short, and the same whenever the episode is played."""
    return shorten_middle(_ADDRESS.sub("0x...", reason), _LONGEST_REASON)
