"""What every World keeps: sensing changes nothing, attempts are told exactly, checkpoints come back.

Derive a test class from :class:`WorldSuite` and give it a ``make`` fixture: a callable that builds the same world,
ready to act, every time. It must allow at least 70 primitives on the spot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest

from spca.contracts import (
    DIRECTIONS,
    PRIMITIVE_METHODS,
    AgentSource,
    Checkpoint,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    Status,
)
from spca.errors import RestoreError
from spca.protocols import World
from spca.sense.perception import VOCABULARY
from tests.support.contracts.executing import methods, steps

TURNER = methods("""
    def left(self):
        yield 0

    def right(self):
        yield 1

    def wait(self, count="60"):
        for _ in range(int(count)):
            yield 6

    def crash(self):
        yield 0
        yield 1
        raise ValueError("crashed")

    def nonsense(self):
        yield 0
        yield "left"
""")


def planned(*names: str) -> Plan:
    return Plan(steps(*names), "", "", (), PlannerMode.FRESH)


def act(world: World, *names: str, agent: AgentSource = TURNER) -> Outcome:
    return world.run_sim(planned(*names), agent)


def at_fault(outcome: Outcome) -> tuple[Status, int | None, str | None, tuple[str, ...]]:
    return outcome.status, outcome.position, outcome.action, outcome.args


def assert_consistent(outcome: Outcome, plan: Sequence[str]) -> None:
    """What holds of any outcome."""
    assert outcome.steps == len(outcome.trace) == len(outcome.primitives)
    assert [step.position for step in outcome.trace] == sorted(step.position for step in outcome.trace)
    assert all(plan[step.position] == step.action and step.line > 0 for step in outcome.trace)
    assert all(0 <= code < len(PRIMITIVE_METHODS) for code in outcome.primitives)
    assert len({len(row) for row in outcome.last_map}) == 1
    assert sum(row.count("agent") for row in outcome.last_map) == 1
    assert outcome.solved == (outcome.status is Status.SUCCESS)
    assert outcome.message
    if outcome.position is not None:
        assert outcome.action == plan[outcome.position]


class WorldSuite:
    """Inherit and override ``make``."""

    @pytest.fixture
    def make(self) -> Callable[[], World]:
        raise NotImplementedError

    @pytest.fixture
    def world(self, make: Callable[[], World]) -> Iterator[World]:
        with closing(make()) as world:
            yield world

    def test_a_snapshot_is_well_formed(self, world: World) -> None:
        snapshot = world.sense()
        assert snapshot.mission
        assert snapshot.direction in DIRECTIONS
        assert len({len(row) for row in snapshot.visible_grid}) == 1
        assert {word for row in snapshot.visible_grid for word in row} <= set(VOCABULARY)
        assert sum(row.count("agent") for row in snapshot.visible_grid) == 1
        for thing in snapshot.visible_objects:
            assert 0 <= thing.forward
            stated = thing.name.startswith(("door", "switch", "gate"))
            assert (thing.state is not None) == stated or (thing.name.startswith("block") and thing.state == "fixed")

    def test_sensing_changes_nothing(self, world: World) -> None:
        before = world.checkpoint()
        assert world.sense() == world.sense()
        assert world.checkpoint() == before

    def test_a_plan_that_leaves_the_mission_open_has_not_reached_the_goal(self, world: World) -> None:
        outcome = act(world, "left", "right", "left")
        assert_consistent(outcome, ["left", "right", "left"])
        assert at_fault(outcome) == (Status.GOAL_NOT_REACHED, None, None, ())
        assert outcome.primitives == (0, 1, 0)
        assert [step.position for step in outcome.trace] == [0, 1, 2]

    def test_an_empty_plan_has_not_reached_the_goal(self, world: World) -> None:
        assert at_fault(act(world)) == (Status.GOAL_NOT_REACHED, None, None, ())

    def test_a_missing_method_is_told_before_anything_is_done(self, world: World) -> None:
        before = world.checkpoint()
        plan = Plan((PlanStep("left", ()), PlanStep("fly", ("a1", "moon"))), "", "", (), PlannerMode.FRESH)
        outcome = world.run_sim(plan, TURNER)
        assert_consistent(outcome, ["left", "fly"])
        assert at_fault(outcome) == (Status.MISSING_METHOD, 1, "fly", ("a1", "moon"))
        assert outcome.steps == 0
        assert world.checkpoint() == before

    def test_code_that_does_not_load_is_a_syntax_error(self, world: World) -> None:
        before = world.checkpoint()
        outcome = act(world, "left", agent=AgentSource("class Agent:\n    def left(self)\n        yield 0\n"))
        assert at_fault(outcome) == (Status.SYNTAX_ERROR, None, None, ())
        assert "line 2" in outcome.message + outcome.traceback
        assert world.checkpoint() == before

    @pytest.mark.parametrize(("action", "primitives", "line"), [("crash", (0, 1), 15), ("nonsense", (0,), 19)])
    def test_a_crash_keeps_what_was_done_before_it(
        self, world: World, action: str, primitives: tuple[int, ...], line: int
    ) -> None:
        outcome = act(world, "right", action, "left")
        assert_consistent(outcome, ["right", action, "left"])
        assert at_fault(outcome) == (Status.RUNTIME_ERROR, 1, action, ())
        assert outcome.primitives == (1, *primitives)
        assert f"line {line}, in {action}" in outcome.traceback

    def test_standing_still_for_sixty_primitives_is_stuck(self, world: World) -> None:
        plan = Plan((PlanStep("wait", ("1000",)),), "", "", (), PlannerMode.FRESH)
        outcome = world.run_sim(plan, TURNER)
        assert at_fault(outcome) == (Status.STUCK, 0, "wait", ("1000",))
        assert outcome.steps == 60

    def test_each_attempt_counts_its_own_stillness(self, world: World) -> None:
        plan = Plan((PlanStep("wait", ("35",)),), "", "", (), PlannerMode.FRESH)
        assert world.run_sim(plan, TURNER).status is Status.GOAL_NOT_REACHED
        assert world.run_sim(plan, TURNER).status is Status.GOAL_NOT_REACHED

    def test_checkpoints_record_what_was_done_since_the_reset(self, world: World) -> None:
        assert world.checkpoint().primitives == ()
        act(world, "left")
        act(world, "crash")
        assert world.checkpoint().primitives == (0, 0, 1)

    def test_a_checkpoint_is_restored_wherever_the_world_has_got_to(self, world: World) -> None:
        act(world, "left", "left")
        middle, seen = world.checkpoint(), world.sense()
        for failing in ("crash", "nonsense", "right", "fly"):
            act(world, failing)
            world.restore(middle)
            assert world.checkpoint() == middle
            assert world.sense() == seen

    def test_attempts_from_one_checkpoint_are_alike(self, world: World) -> None:
        start = world.checkpoint()
        first = act(world, "left", "right", "crash")
        end = world.checkpoint()
        world.restore(start)
        assert act(world, "left", "right", "crash") == first
        assert world.checkpoint() == end

    def test_another_world_of_the_same_making_restores_the_checkpoint(
        self, world: World, make: Callable[[], World]
    ) -> None:
        act(world, "right", "left", "left")
        with closing(make()) as other:
            other.restore(world.checkpoint())
            assert other.sense() == world.sense()
            assert other.checkpoint() == world.checkpoint()

    def test_a_checkpoint_that_was_tampered_with_is_refused(self, world: World) -> None:
        act(world, "right", "left", "left")
        true = world.checkpoint()
        flipped = ("0" if true.state_hash[0] != "0" else "1") + true.state_hash[1:]
        tampered = [
            Checkpoint(true.primitives, flipped),
            Checkpoint(true.primitives[:-1], true.state_hash),
            Checkpoint((*true.primitives, 6), true.state_hash),
            Checkpoint((0, 1, 0), true.state_hash),
            Checkpoint((9, *true.primitives), true.state_hash),
        ]
        for checkpoint in tampered:
            with pytest.raises(RestoreError):
                world.restore(checkpoint)
        world.restore(true)
        assert world.checkpoint() == true
