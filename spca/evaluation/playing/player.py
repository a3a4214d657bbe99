"""Playing of an episode with a frozen agent: stored writers plan first, then a model; no code is written."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from textwrap import shorten
from typing import Final

from spca.code import library
from spca.common.text import format_count
from spca.contracts import AgentSource, FailedPlan, LevelInfo, LevelSpec, Plan, PlanFailure, Snapshot, Status, TraceStep
from spca.errors import RestoreError, WorldError
from spca.evaluation.episodes import NO_PLAN, WORLD_ERROR, Episode, Played, Trial
from spca.llm.feedback import shorten_middle
from spca.protocols import World
from spca.runs.level.compiled_planning import MAX_EXECUTED
from spca.writers.stored import WriterFailure

_MAX_REASON: Final = 400
"""Largest number of characters of a recorded reason."""
_MAX_WRITER_REASON: Final = 100
"""Largest number of characters of a single writer's reason."""
_MAX_LISTED_WRITERS: Final = 3
"""Number of writers whose reasons are recorded if no writer has a plan; their reasons fit into :data:`_MAX_REASON`."""
MAX_FRUITLESS: Final = 5
"""Most plans in a row that discover nothing, in a world with one life."""
MAX_LIFE_PLANS: Final = 100
"""Most plans of an episode in a world with one life."""
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{6,}\b")
"""Pattern of a memory address, which differs from process to process."""

Asker = Callable[[Snapshot, Sequence[FailedPlan]], Plan | PlanFailure]
"""Function that asks the model for a plan of one episode; it receives the plans that have failed in this episode."""


@dataclass(frozen=True, slots=True)
class Planning:
    """Sources of plans.

    Attributes:
        stored: function that returns the plans of the stored writers, the best plan first, and the failures of writers
            that have no plan.
        model: name of the model that is asked after the writers; "" if no model is asked.
        asker: function that begins an episode for an agent, and returns the function that asks the model in this
            episode.
    """

    stored: Callable[[Snapshot, LevelInfo], Iterable[Plan | WriterFailure]]
    model: str
    asker: Callable[[Episode, AgentSource], Asker]

    def list_plans(
        self, snapshot: Snapshot, episode: Episode, agent: AgentSource, failed: Sequence[FailedPlan], attempts: int = 1
    ) -> Iterator[tuple[str, Plan | str]]:
        """Yield pairs (name of the planner, plan); if a planner has no plan, the second value is the reason as text.

        Plans of stored writers come first. Without a model, all these plans are yielded. With a model, at most
        :data:`MAX_EXECUTED` of these plans are yielded; then the model is asked once for each attempt.

        Args:
            failed: the plans that have failed so far; the caller appends to this list during the iteration.
        """
        writer_failures: list[WriterFailure] = []
        stored = 0
        for plan_or_failure in self.stored(snapshot, episode.info()):
            if isinstance(plan_or_failure, WriterFailure):
                writer_failures.append(plan_or_failure)
                continue
            yield plan_or_failure.writer, plan_or_failure
            stored += 1
            if stored == MAX_EXECUTED and self.model:
                break
        if not self.model:
            if not stored:
                yield "", _explain_no_plan(writer_failures)
            return
        ask = self.asker(episode, agent)
        for _ in range(attempts):
            plan = ask(snapshot, failed)
            yield self.model, plan.reason if isinstance(plan, PlanFailure) else plan


class Player:
    """Plays episodes with frozen agents.

    Args:
        make_world: function that builds the world of a level and a seed.
        agents: agents by category; the key "" stands for all other categories.
        attempts: largest number of trials of an episode; each trial is undone before the next one. A world with one
            life ignores the number: each trial goes on from where the last one ended.
    """

    def __init__(
        self,
        make_world: Callable[[LevelSpec, int], World],
        planning: Planning,
        agents: Mapping[str, AgentSource],
        attempts: int = 1,
    ) -> None:
        self._make_world = make_world
        self._planning = planning
        self._agents = agents
        self._attempts = attempts

    def __call__(self, episode: Episode) -> Played:
        """Play an episode until a plan succeeds, the attempts are used up, or there is no further plan; return the
        trials.

        Raises:
            SandboxError: generated code cannot be executed safely.
            ProviderConfigError, ProviderDownError, BudgetReached: as in :meth:`PlannerLLM.plan`.
        """
        started = time.perf_counter()
        trials: list[Trial] = []
        one_life = False
        try:
            with closing(self._make_world(episode.spec, episode.seed)) as world:
                one_life = not world.can_restore
                if one_life:
                    trials += self._play_life(world, episode)
                else:
                    for trial in self._trials(world, episode):
                        trials.append(trial)
                        if trial.solved or len(trials) == self._attempts:
                            break
        except (WorldError, RestoreError) as error:
            trials.append(Trial("", WORLD_ERROR, normalise_reason(str(error))))
        return Played(episode, tuple(trials), time.perf_counter() - started, one_life)

    def _trials(self, world: World, episode: Episode) -> Iterator[Trial]:
        """Yield a trial for each different plan, executed from the first state of the episode.

        If a planner has no plan, yield a last trial with the planner's reason and status :data:`NO_PLAN`. The caller
        stops the iteration after a success or after the last allowed attempt.
        """
        snapshot = world.sense()
        failed: list[FailedPlan] = []
        tried: set[str] = set()
        agent = self._agents.get(episode.category, self._agents[""])
        start = world.checkpoint() if self._attempts > 1 else None
        for planner, plan in self._planning.list_plans(snapshot, episode, agent, failed, self._attempts):
            if isinstance(plan, str):
                yield Trial(planner, NO_PLAN, normalise_reason(plan))
                return
            if plan.text in tried:  # the same plan from the same state ends in the same way
                continue
            if tried and start:
                world.restore(start)
            tried.add(plan.text)
            trial, _found = _try_plan(world, plan, agent, planner)
            failed.append(FailedPlan(plan.text, trial.status, trial.reason))  # ``list_plans`` reads this list, too
            yield trial

    def _play_life(self, world: World, episode: Episode) -> Iterator[Trial]:
        """Yield the trials of the only life: after each plan, sense and plan again from the state reached.

        The life ends with a success, with the end of the episode, without a plan, or if :data:`MAX_FRUITLESS` plans in
        a row discover nothing.
        """
        agent = self._agents.get(episode.category, self._agents[""])
        failed: list[FailedPlan] = []
        vain: set[str] = set()  # plans that discovered nothing
        fruitless = 0
        while fruitless < MAX_FRUITLESS and len(failed) < MAX_LIFE_PLANS:
            plans = self._planning.list_plans(world.sense(), episode, agent, failed, self._attempts)
            planner, plan = self._choose_plan(plans, vain)
            if isinstance(plan, str):
                yield Trial(planner, NO_PLAN, normalise_reason(plan))
                return
            trial, found = _try_plan(world, plan, agent, planner)
            yield trial
            is_over = trial.solved or trial.status in (Status.REWARD_FAILED, Status.MISSING_METHOD)
            if is_over:
                return
            failed.append(FailedPlan(plan.text, trial.status, trial.reason, found))
            if not found:
                vain.add(plan.text)
            fruitless = 0 if found else fruitless + 1

    def _choose_plan(self, plans: Iterator[tuple[str, Plan | str]], vain: Collection[str]) -> tuple[str, Plan | str]:
        """Return the first plan of a writer that was not in vain, else the plan of the model, else the first plan."""
        first: tuple[str, Plan | str] | None = None
        for planner, plan in plans:
            was_vain = isinstance(plan, Plan) and planner != self._planning.model and plan.text in vain
            if not was_vain:
                return planner, plan
            first = first or (planner, plan)
        if first is None:
            raise ValueError("no plan and no reason")
        return first


def _explain_no_plan(failures: Sequence[WriterFailure]) -> str:
    """Return why no writer has a plan: a line for each of the first few failures, and the number of the others."""
    if not failures:
        return "there are no writers"
    lines = []
    for failure in failures[:_MAX_LISTED_WRITERS]:
        reason = shorten(failure.reason, _MAX_WRITER_REASON, placeholder=" ...")
        lines.append(f"{failure.label}: {reason}")
    omitted = len(failures) - _MAX_LISTED_WRITERS
    if omitted > 0:
        lines.append(f"and {format_count(omitted, 'other writer')}")
    return "\n".join(lines)


def _try_plan(world: World, plan: Plan, agent: AgentSource, planner: str) -> tuple[Trial, tuple[str, ...]]:
    """Execute a plan in a world and return the trial, and what was found.

    If the agent lacks an action of the plan, nothing is executed.
    """
    calls = tuple(map(str, plan.steps))
    missing_actions = library.missing(agent.text, plan.actions)
    if missing_actions:
        reason = f"the library lacks {', '.join(missing_actions)}"
        return Trial(planner, Status.MISSING_METHOD.value, reason, calls), ()
    outcome = world.run_sim(plan, agent)
    reason = "" if outcome.solved else normalise_reason(outcome.message)
    acted = _group_by_position(outcome.trace)
    trial = Trial(planner, outcome.status.value, reason, calls, acted, outcome.corrections, outcome.state_hash)
    return trial, outcome.found


def _group_by_position(trace: Sequence[TraceStep]) -> tuple[tuple[int, ...], ...]:
    """Return the primitive codes at each plan position, from position 0 to the position of the last step.

    A position without a step has an empty tuple.
    """
    last = trace[-1].position if trace else -1
    groups = []
    for position in range(last + 1):
        codes = tuple(step.code for step in trace if step.position == position)
        groups.append(codes)
    return tuple(groups)


def normalise_reason(reason: str) -> str:
    """Return a reason shortened and without memory addresses, so that repeated episodes record the same reason."""
    return shorten_middle(_ADDRESS.sub("0x...", reason), _MAX_REASON)
