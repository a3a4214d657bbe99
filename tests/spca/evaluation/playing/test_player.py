"""An episode is played with what was learned: writers first, then a model, each plan from the beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from minigridenv import MiniGridEnv
from spca.body import render_agent
from spca.contracts import (
    AgentSource,
    FailedPlan,
    LevelInfo,
    LevelSpec,
    Plan,
    PlanFailure,
    PlannerMode,
    PlanStep,
    Snapshot,
)
from spca.errors import WorldError
from spca.evaluation.episodes import NO_PLAN, WORLD_ERROR, Episode, Played
from spca.evaluation.playing.player import MAX_FRUITLESS, Planning, Player, normalise_reason
from spca.protocols import World
from spca.writers.stored import Miss, WriterFailure
from tests.support.inprocess import InProcessExecutor
from tests.support.machine.stove import STOVE, OneStove
from tests.support.spca.doubles import ROOT

EPISODE = Episode(0, "MiniGrid-Empty-5x5-v0", 1, "Empty", "go", "Empty 5x5")
INITIAL = (ROOT / "agent.py").read_text(encoding="utf-8")
AGENT = AgentSource(
    INITIAL
    + "\n    def reach(self, agent, goal):\n        for code in (2, 2, 1, 2, 2):\n            yield code\n"
    + "\n    def wait(self, agent):\n        yield 0\n"
)
MISSED = WriterFailure("go/v001", Miss.REFUSED, "cannot read it")


def plan(*calls: tuple[str, ...], writer: str = "") -> Plan:
    return Plan(tuple(PlanStep(call[0], call[1:]) for call in calls), "", "", (), PlannerMode.FRESH, "", writer)


GOOD, BAD = plan(("reach", "a", "g")), plan(("wait", "a"))


class Planner:
    """Gives what it is told to, and remembers what it was told of failures."""

    def __init__(self, *answers: Plan | PlanFailure) -> None:
        self._answers, self.told = list(answers), list[list[str]]()

    def begin(
        self, _episode: Episode, _agent: AgentSource
    ) -> Callable[[Snapshot, Sequence[FailedPlan]], Plan | PlanFailure]:
        def ask(_snapshot: Snapshot, failed: Sequence[FailedPlan]) -> Plan | PlanFailure:
            self.told.append([each.status for each in failed])
            return self._answers.pop(0)

        return ask


def play(
    stored: Iterable[Plan | WriterFailure],
    model: Planner | None,
    attempts: int = 1,
    agents: dict[str, AgentSource] | None = None,
) -> Played:
    def make_world(level: LevelSpec, seed: int) -> World:
        return MiniGridEnv(level, seed, executor=InProcessExecutor())

    def written(_snapshot: Snapshot, _level: LevelInfo) -> Iterable[Plan | WriterFailure]:
        return stored

    planning = Planning(written, "m/planner" if model else "", (model or Planner()).begin)
    return Player(make_world, planning, agents or {"": AGENT}, attempts)(EPISODE)


def test_a_stored_writer_goes_before_the_model() -> None:
    model = Planner(GOOD)
    played = play([MISSED, plan(("reach", "a", "g"), writer="go/v002")], model)
    assert (played.pass1, played.attempts, played.trials[0].planner, model.told) == (True, 1, "go/v002", [])
    assert played.trials[0].acted == ((2, 2, 1, 2, 2),)
    assert played.trials[0].plan == ("reach(a, g)",)


def test_the_model_is_asked_where_no_writer_has_a_plan() -> None:
    played = play([MISSED], Planner(GOOD))
    assert (played.solved, played.trials[0].planner) == (True, "m/planner")


def test_one_attempt_undoes_nothing() -> None:
    played = play([BAD], Planner(GOOD))
    assert (played.pass1, played.solved, played.attempts, played.failure) == (False, False, 1, "goal_not_reached")


def test_further_attempts_begin_at_the_beginning_and_count_apart() -> None:
    model = Planner(GOOD)
    played = play([plan(("wait", "a"), writer="go/v001")], model, attempts=3)
    assert (played.pass1, played.solved, played.attempts) == (False, True, 2)
    assert [each.planner for each in played.trials] == ["go/v001", "m/planner"]
    assert played.trials[1].acted == ((2, 2, 1, 2, 2),)
    assert model.told == [["goal_not_reached"]]


def test_the_same_plan_is_not_carried_out_again() -> None:
    played = play([BAD], Planner(BAD, BAD, GOOD), attempts=3)
    assert [each.status for each in played.trials] == ["goal_not_reached", "success"]


def test_no_code_is_written_for_what_the_library_lacks() -> None:
    played = play([], Planner(plan(("fly", "a"), ("reach", "a", "g"))))
    assert (played.failure, played.steps, played.reason) == ("missing_method", 0, "the library lacks fly")


@pytest.mark.parametrize(
    ("stored", "model", "said"),
    [
        ([], None, "there are no writers"),
        ([MISSED], None, "go/v001: cannot read it"),
        ([], Planner(PlanFailure("unsolvable", 9)), "no valid plan after 9 calls: unsolvable"),
    ],
)
def test_nobody_has_a_plan(stored: list[Plan | WriterFailure], model: Planner | None, said: str) -> None:
    played = play(stored, model)
    assert (played.failure, played.reason, played.steps) == (NO_PLAN, said, 0)


def test_writers_without_a_plan_have_a_line_each_that_ends_at_a_word() -> None:
    many = [WriterFailure(f"go/v{number:03}", Miss.REFUSED, "no such thing " * 20) for number in range(1, 7)]
    *lines, last = play(many, None).reason.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["go/v001", "go/v002", "go/v003"]
    assert all(line.endswith((" no ...", " such ...", " thing ...")) for line in lines)
    assert last == "and 3 other writers"


def test_a_category_may_have_an_agent_of_its_own() -> None:
    assert play([GOOD], None, agents={"": AgentSource(INITIAL), "Empty": AGENT}).solved
    assert play([GOOD], None, agents={"": AGENT, "Empty": AgentSource(INITIAL)}).failure == "missing_method"


def test_a_world_that_cannot_be_had_is_a_failure_of_its_own() -> None:
    def make_world(_level: LevelSpec, _seed: int) -> World:
        raise WorldError("reset failed")

    played = Player(make_world, Planning(lambda *_: (), "", Planner().begin), {"": AGENT})(EPISODE)
    assert (played.failure, played.reason) == (WORLD_ERROR, "reset failed")


def test_reasons_are_short_and_do_not_depend_on_memory() -> None:
    assert normalise_reason("<Thing object at 0x7f1234567890> failed") == "<Thing object at 0x...> failed"
    assert len(normalise_reason("x" * 5000)) <= 400


def live(stored: Sequence[Plan], model: Planner | None, *methods: str) -> Played:
    """Play the stove, which has one life."""

    def make_world(level: LevelSpec, seed: int) -> World:
        return OneStove(level, seed, InProcessExecutor())

    def written(_snapshot: Snapshot, _level: LevelInfo) -> Iterable[Plan | WriterFailure]:
        return stored

    agent = AgentSource(render_agent(OneStove.body) + "".join(f"\n    {method}\n" for method in methods))
    planning = Planning(written, "m/planner" if model else "", (model or Planner()).begin)
    return Player(make_world, planning, {"": agent}, attempts=2)(Episode(0, STOVE, 1, "kitchen", "cook", "soup"))


WARM_UP = "def warm_up(self):\n        yield self.warm()"
FINISH = """def finish(self):
        while self.degrees != 5:
            yield self.warm() if self.degrees < 5 else self.cool()
        yield self.serve()"""
BURN = "def burn(self):\n        for _ in range(12):\n            yield self.warm()"
SMELL = "def sniff(self):\n        yield self.warm()\n        yield self.stir()"


def test_in_one_life_the_model_is_asked_after_a_writers_plan_was_in_vain() -> None:
    model = Planner(plan(("finish",)))
    played = live([plan(("warm_up",), writer="cook/v001")], model, WARM_UP, FINISH)
    assert [trial.planner for trial in played.trials] == ["cook/v001", "m/planner"]
    assert played.trials[-1].solved
    assert model.told == [["goal_not_reached"]]


def test_in_one_life_a_writers_plan_goes_on_as_long_as_it_discovers() -> None:
    model = Planner(plan(("finish",)))
    played = live([plan(("sniff",), writer="cook/v001")], model, SMELL, FINISH)
    writers_trials = [trial for trial in played.trials if trial.planner == "cook/v001"]
    assert len(writers_trials) == 7  # six smells; the seventh trial finds none
    assert len(played.trials) == 8
    assert played.trials[-1].solved


def test_in_one_life_without_a_model_at_most_five_plans_are_in_vain() -> None:
    played = live([plan(("warm_up",), writer="cook/v001")], None, WARM_UP)
    assert len(played.trials) == MAX_FRUITLESS == 5
    assert not played.trials[-1].solved


def test_a_lost_life_ends_its_episode() -> None:
    played = live([plan(("burn",), writer="cook/v001")], Planner(plan(("finish",))), BURN, FINISH)
    assert [trial.status for trial in played.trials] == ["reward_failed"]
