"""A season of levels, played with a library of problem writers and a scripted model: no world, but the real sandbox.

The model knows each level. Its answer to the first one of a category carries a writer for that category: four good
ones, and one that is given, which may be anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle, islice, product
from typing import Final
from unittest.mock import patch

from spca.bodies.grid.body import GRID
from spca.contracts import (
    AgentSource,
    Checkpoint,
    CodePatch,
    LevelInfo,
    LevelSpec,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    ProblemWriter,
    Snapshot,
    Status,
)
from spca.runs.level.compiled_planning import CompiledPlanning
from spca.runs.results import Attempt, LevelContext, LevelResult, Round
from spca.sandbox.executor import SandboxExecutor
from spca.writers import checking, running
from spca.writers.library import WriterLibrary
from spca.writers.stored import StoredWriter
from tests.support.spca.doubles import AGENT, outcome_of
from tests.support.spca.writing import DOMAIN, FETCH, PlayedWorlds, problem, snapshot, solve

GOOD: Final = {"collecting": "fetch", "finding": "find", "bringing": "bring", "sorting": "sort"}
"""Verb of the missions of each category that has a good writer."""

GUEST: Final = "juggling"
VERBS: Final = GOOD | {GUEST: "juggle"}
MAX_LOST: Final = 2
"""Attempts that one writer may cost the others in a run."""

PLACES: Final = tuple(product(("red", "blue", "green", "grey"), ("ball", "key", "box")))


def writer_for(verb: str) -> str:
    """Return the source of a good writer."""
    return FETCH.replace("fetch the", f"{verb} the")


@dataclass(frozen=True, slots=True)
class Mission:
    category: str
    colour: str
    kind: str

    @property
    def verb(self) -> str:
        return VERBS.get(self.category, self.category)

    @property
    def text(self) -> str:
        return f"{self.verb} the {self.colour} {self.kind}"

    @property
    def info(self) -> LevelInfo:
        return LevelInfo(self.category, f"{self.verb} things", self.category)

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        return (PlanStep("fetch", ("a1", f"{self.kind}_{self.colour}")),)


def missions(count: int) -> list[Mission]:
    """Return missions of all categories in turn; the guest's own come early and now and then."""
    order = ("collecting", "finding", GUEST, "bringing", "sorting", "collecting", "finding", "bringing", "sorting")
    places = cycle(PLACES)
    return [Mission(category, *next(places)) for category in islice(cycle(order), count)]


@dataclass
class Figures:
    """What came of a season.

    Attributes:
        requests: to the model, in categories that have a good writer.
        planned: levels by the writer that planned them.
        failed: plans that were carried out in vain, by writer.
        stored: the writers at its end.
        frozen: episodes of those categories whose first plan was right.
    """

    requests: int
    planned: Counter[str]
    failed: Counter[str]
    stored: tuple[StoredWriter, ...]
    frozen: int

    @property
    def of_good_ones(self) -> dict[str, int]:
        return {name: self.planned[name] for name in GOOD}

    @property
    def attempts_lost(self) -> int:
        return sum(self.failed.values())


def harm_done(found: Figures, benign: Figures) -> str:
    """Return what became of the good writers otherwise than beside a benign guest; two lost attempts are no harm."""
    pairs = {
        "requests": (found.requests, benign.requests),
        "levels planned": (found.of_good_ones, benign.of_good_ones),
        "episodes solved": (found.frozen, benign.frozen),
    }
    harm = [f"{name} {seen} instead of {wanted}" for name, (seen, wanted) in pairs.items() if seen != wanted]
    if found.attempts_lost > MAX_LOST:
        harm.append(f"{found.attempts_lost} attempts lost")
    return ", ".join(harm)


@contextmanager
def without_policy() -> Iterator[None]:
    """Let any source be accepted and run as a writer, as long as the block runs."""
    with ExitStack() as stack:
        for module in (running, checking):
            stack.enter_context(patch.object(module, "fault_of", lambda _source: ""))
        yield


class _Place:
    """What of a world round 0 needs."""

    body = GRID
    can_restore = True
    one_life_reason = ""

    def __init__(self, mission: Mission) -> None:
        self._mission = mission

    def sense(self) -> Snapshot:
        return snapshot(self._mission.text)

    def checkpoint(self) -> Checkpoint:
        return Checkpoint((), "")

    def restore(self, checkpoint: Checkpoint) -> None: ...

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome:  # noqa: ARG002 - the library has what it takes
        return outcome_of(Status.SUCCESS if plan.steps == self._mission.steps else Status.GOAL_NOT_REACHED)

    def close(self) -> None: ...


class _Execution:
    """Carries plans out; every action is known."""

    def progress(self, number: int, phase: str) -> None: ...

    def implement(self, *_: object) -> CodePatch:
        return CodePatch(AGENT, ())

    def act(self, _number: int, world: _Place, plan: Plan, agent: AgentSource) -> Outcome:
        return world.run_sim(plan, agent)


def play_season(executor: SandboxExecutor, guest: str, levels: int = 50, episodes: int = 150) -> Figures:
    """Play levels in order, then episodes with what was learned; ``guest`` is the source of the fifth writer."""
    library = WriterLibrary(executor, solve, GRID, PlayedWorlds())
    requests, planned, failed = 0, Counter[str](), Counter[str]()
    for mission in missions(levels):
        tried = play_level(library, mission, guest if mission.category == GUEST else writer_for(mission.verb))
        failed.update(_name(attempt.plan) for attempt in tried.attempts if not attempt.outcome.solved)
        if tried.solved and tried.plan is not None:
            planned[_name(tried.plan)] += 1
        else:
            requests += mission.category != GUEST
    later = [mission for mission in missions(levels + 2 * episodes)[levels:] if mission.category != GUEST]
    frozen = count_solved(executor, library.stored, later[:episodes])
    library.close()
    return Figures(requests, planned, failed, library.stored, frozen)


def play_level(library: WriterLibrary, mission: Mission, offered: str = "") -> Round:
    """Play a level to its end; return round 0. Where that fails a model is asked, which offers a writer."""
    world = _Place(mission)
    compiled = CompiledPlanning(library, _Execution(), lambda *_: None)  # type: ignore[arg-type]
    tried = compiled.round(LevelContext(world, mission.info, AGENT, None))
    rounds = [tried] if tried.solved else [tried, _asked_round(mission, world, offered)]
    compiled.conclude(mission.info, LevelSpec(f"Level-{mission.text}"), 1, LevelResult.from_rounds(rounds, AGENT))
    return tried


def count_solved(executor: SandboxExecutor, stored: Iterable[StoredWriter], episodes: Iterable[Mission]) -> int:
    """Return how many episodes the first plan of stored writers solves; none of them keeps a tally."""
    library = WriterLibrary(executor, solve, GRID)
    library.load(stored)
    solved = 0
    for mission in episodes:
        plans = (plan for plan in library.plans(snapshot(mission.text), mission.info) if isinstance(plan, Plan))
        first = next(plans, None)
        solved += first is not None and first.steps == mission.steps
    library.close()
    return solved


def _asked_round(mission: Mission, world: _Place, offered: str) -> Round:
    """Return the round of a model that knows the plan."""
    (step,) = mission.steps
    draft = ProblemWriter(mission.category, DOMAIN, offered) if offered else None
    plan = Plan(mission.steps, DOMAIN, problem(step.args[1]), (), PlannerMode.FRESH, draft=draft)
    attempt = Attempt(1, 1, world.checkpoint(), plan, AGENT, outcome_of(Status.SUCCESS))
    return Round(plan, (attempt,), "", snapshot=world.sense())


def _name(plan: Plan) -> str:
    return plan.writer.partition("/")[0]
