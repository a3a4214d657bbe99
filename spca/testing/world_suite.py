"""What every World promises, whatever its simulator and its body; see :class:`spca.protocols.World`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar

import pytest

from spca.contracts import AgentSource, Checkpoint, Outcome, Plan, PlannerMode, PlanStep, Status
from spca.errors import RestoreError, WorldError
from spca.protocols import World
from spca.testing.generated_code import make_agent

ACTOR = make_agent("""
    def act(self, codes):
        for code in codes.split():
            yield int(code)

    def crash(self, codes):
        yield from self.act(codes)
        raise ValueError("crashed")

    def answer_words(self, codes):
        yield from self.act(codes)
        yield "forward"

    def repeat(self, code, count):
        for _ in range(int(count)):
            yield int(code)
""")
"""An agent that does what it is told in codes of primitives; ``crash`` ends in line 8, ``answer_words`` in line 12."""

MAX_REPEATS = 2_000
"""Number of primitives after which an endless action is given up."""


def make_plan(*steps: tuple[str, ...]) -> Plan:
    """Return a plan of steps, each an action with its arguments."""
    made = tuple(PlanStep(step[0], step[1:]) for step in steps)
    return Plan(made, "", "", (), PlannerMode.FRESH)


def spell_codes(codes: Sequence[int]) -> str:
    """Return codes as the argument of an action of :data:`ACTOR`."""
    return " ".join(map(str, codes))


def check_shown(shown: Mapping[str, Any]) -> None:
    """Check what holds of everything that a planner is shown: it is JSON, and rows of a map are text."""
    json.dumps(dict(shown), allow_nan=False)
    assert all(isinstance(name, str) for name in shown)
    taken = shown.keys() & {"mission", "level"}
    assert not taken, f"{min(taken)} is added by the loop"
    rows = shown.get("map", [])
    assert all(isinstance(row, str) for row in rows), "a map holds rows of text"


def check_outcome(outcome: Outcome, plan: Plan, world: World) -> None:
    """Check what holds of the outcome of any attempt."""
    positions = [step.position for step in outcome.trace]
    assert outcome.steps == len(outcome.trace) == len(outcome.primitives)
    assert positions == sorted(positions)
    for step in outcome.trace:
        assert plan.steps[step.position].action == step.action
        assert step.line > 0
    assert all(0 <= code < len(world.body.primitives) for code in outcome.primitives)
    assert outcome.message
    assert outcome.solved == (outcome.status is Status.SUCCESS)
    if outcome.position is not None:
        assert outcome.action == plan.steps[outcome.position].action
        assert outcome.args == plan.steps[outcome.position].args
    check_shown(outcome.shown)
    assert outcome.state_hash == world.checkpoint().state_hash


class WorldSuite:
    """Promises of a world: sensing changes nothing, attempts are told exactly, checkpoints come back.

    Override the fixture ``make``: it returns a function that builds the same world, ready to act, every time.

    Attributes:
        one_life: whether the world cannot restore checkpoints; then :meth:`World.restore` raises ``RestoreError``.
        harmless: codes of four or more primitives that do not end the episode from its start; by default, a random
            sequence is looked for.
        idle: code of a primitive that never changes the state; None if there is no such primitive.
        solution: codes of primitives that complete the mission from its start; () if none are known.
        loss: codes of primitives that end the episode without success; () if none are known.
    """

    one_life: ClassVar[bool] = False
    harmless: ClassVar[tuple[int, ...]] = ()
    idle: ClassVar[int | None] = None
    solution: ClassVar[tuple[int, ...]] = ()
    loss: ClassVar[tuple[int, ...]] = ()

    @pytest.fixture
    def make(self) -> Callable[[], World]:
        """Return a function that builds the world to test."""
        raise NotImplementedError("override the fixture make: it returns a function that builds the world")

    @pytest.fixture
    def world(self, make: Callable[[], World]) -> Iterator[World]:
        """Yield the world to test."""
        with closing(make()) as world:
            yield world

    @pytest.fixture
    def codes(self, make: Callable[[], World]) -> tuple[int, ...]:
        """Return four primitives that do not end the episode from its start."""
        if self.harmless:
            return self.harmless
        chooser = random.Random(0)  # noqa: S311 - no secret
        for _ in range(100):
            with closing(make()) as world:
                codes = tuple(chooser.choices(range(len(world.body.primitives)), k=4))
                outcome = world.run_sim(make_plan(("act", spell_codes(codes))), ACTOR)
            if outcome.status is Status.GOAL_NOT_REACHED:
                return codes
        raise AssertionError("no four random primitives leave the episode open: set the attribute harmless")

    @pytest.fixture
    def start(self, world: World) -> Checkpoint:
        """Return a checkpoint of the start; skip the test in a world with one life, which cannot restore it."""
        if self.one_life:
            pytest.skip("this world has one life")
        return world.checkpoint()

    def test_a_snapshot_is_json(self, world: World) -> None:
        snapshot = world.sense()
        assert snapshot.mission
        assert isinstance(snapshot.mission, str)
        check_shown(snapshot.shown)

    def test_what_is_shown_can_be_drawn(self, world: World) -> None:
        for rows in (world.body.drawing.draw_rows, world.body.drawing.describe_end):
            assert all(isinstance(row, str) for row in rows(world.sense().shown))
        if hasattr(world, "frame"):  # the world of a plugin, which people can watch
            world.frame()

    def test_sensing_changes_nothing(self, world: World) -> None:
        before = world.checkpoint()
        assert world.sense() == world.sense()
        assert world.checkpoint() == before

    def test_the_world_says_whether_it_restores(self, world: World) -> None:
        assert world.can_restore is not self.one_life
        assert bool(world.one_life_reason) is self.one_life

    def test_a_plan_that_leaves_the_mission_open_has_not_reached_the_goal(
        self, world: World, codes: tuple[int, ...]
    ) -> None:
        plan = make_plan(("act", spell_codes(codes[:1])), ("act", spell_codes(codes[1:])))
        outcome = world.run_sim(plan, ACTOR)
        check_outcome(outcome, plan, world)
        assert (outcome.status, outcome.position) == (Status.GOAL_NOT_REACHED, None)
        assert outcome.primitives == codes
        assert [step.position for step in outcome.trace] == [0, *[1] * (len(codes) - 1)]

    def test_an_empty_plan_has_not_reached_the_goal(self, world: World) -> None:
        outcome = world.run_sim(make_plan(), ACTOR)
        assert (outcome.status, outcome.position, outcome.steps) == (Status.GOAL_NOT_REACHED, None, 0)

    def test_a_missing_method_is_told_before_anything_is_done(self, world: World, codes: tuple[int, ...]) -> None:
        before = world.checkpoint()
        plan = make_plan(("act", spell_codes(codes)), ("fly", "home"))
        outcome = world.run_sim(plan, ACTOR)
        check_outcome(outcome, plan, world)
        assert (outcome.status, outcome.position) == (Status.MISSING_METHOD, 1)
        assert outcome.steps == 0
        assert world.checkpoint() == before

    def test_code_that_does_not_load_is_a_syntax_error(self, world: World) -> None:
        before = world.checkpoint()
        broken = AgentSource("class Agent:\n    def act(self, codes)\n        yield 0\n")
        outcome = world.run_sim(make_plan(("act", "0")), broken)
        assert (outcome.status, outcome.position) == (Status.SYNTAX_ERROR, None)
        assert "line 2" in outcome.message + outcome.traceback
        assert world.checkpoint() == before

    @pytest.mark.parametrize(("action", "line"), [("crash", 8), ("answer_words", 12)])
    def test_a_crash_keeps_what_was_done_before_it(
        self, world: World, codes: tuple[int, ...], action: str, line: int
    ) -> None:
        plan = make_plan(("act", spell_codes(codes[:1])), (action, spell_codes(codes[1:])), ("act", "0"))
        outcome = world.run_sim(plan, ACTOR)
        check_outcome(outcome, plan, world)
        assert (outcome.status, outcome.position) == (Status.RUNTIME_ERROR, 1)
        assert outcome.primitives == codes
        assert f"line {line}, in {action}" in outcome.traceback

    def test_an_attempt_goes_on_from_where_the_last_one_ended(self, world: World, codes: tuple[int, ...]) -> None:
        assert world.checkpoint().primitives == ()
        world.run_sim(make_plan(("crash", spell_codes(codes[:2]))), ACTOR)
        world.run_sim(make_plan(("act", spell_codes(codes[2:]))), ACTOR)
        assert world.checkpoint().primitives == codes

    def test_an_endless_action_is_stuck_or_ends_the_episode(self, make: Callable[[], World]) -> None:
        """Only a world that always has something new for one primitive lets it go on."""
        with closing(make()) as world:
            count = len(world.body.primitives)
        ended: list[int] = []
        for code in range(count):
            plan = make_plan(("repeat", str(code), str(MAX_REPEATS)))
            with closing(make()) as world:
                outcome = world.run_sim(plan, ACTOR)
                check_outcome(outcome, plan, world)
                if outcome.status is Status.STUCK:
                    assert outcome.position == 0
                    assert outcome.steps < MAX_REPEATS
                elif outcome.status in (Status.SUCCESS, Status.REWARD_FAILED):
                    with pytest.raises(WorldError):
                        world.run_sim(plan, ACTOR)
                else:
                    assert (outcome.status, outcome.steps) == (Status.GOAL_NOT_REACHED, MAX_REPEATS)
                    continue
                ended.append(code)
        assert ended, "nothing is ever stuck: does a state attribute change by itself that counts as progress?"

    def test_the_solution_completes_the_mission(self, world: World) -> None:
        if not self.solution:
            pytest.skip("no solution is known: set the attribute solution")
        plan = make_plan(("act", spell_codes(self.solution)))
        outcome = world.run_sim(plan, ACTOR)
        check_outcome(outcome, plan, world)
        assert outcome.status is Status.SUCCESS, outcome.message

    def test_a_loss_ends_the_episode_without_success(self, world: World) -> None:
        if not self.loss:
            pytest.skip("no loss is known: set the attribute loss")
        plan = make_plan(("act", spell_codes(self.loss)))
        outcome = world.run_sim(plan, ACTOR)
        check_outcome(outcome, plan, world)
        assert outcome.status is Status.REWARD_FAILED, outcome.message

    @pytest.fixture
    def idle_code(self) -> int:
        """Return a primitive that never changes the state."""
        if self.idle is None:
            pytest.skip("no primitive is known to change nothing: set the attribute idle")
        return self.idle

    def test_standing_still_is_stuck_after_the_bodys_patience(self, world: World, idle_code: int) -> None:
        outcome = world.run_sim(make_plan(("repeat", str(idle_code), str(MAX_REPEATS))), ACTOR)
        assert (outcome.status, outcome.position) == (Status.STUCK, 0), self._doubt_idle(idle_code, outcome)
        assert outcome.steps == world.body.budgets.patience

    def test_each_attempt_counts_its_own_standing_still(self, world: World, idle_code: int) -> None:
        plan = make_plan(("repeat", str(idle_code), str(world.body.budgets.patience // 2 + 1)))
        for _ in range(2):
            outcome = world.run_sim(plan, ACTOR)
            assert outcome.status is Status.GOAL_NOT_REACHED, self._doubt_idle(idle_code, outcome)

    def _doubt_idle(self, code: int, outcome: Outcome) -> str:
        return f"does primitive {code} change something, or are episodes shorter than the patience? {outcome.message}"

    def test_closing_twice_is_allowed(self, make: Callable[[], World]) -> None:
        world = make()
        world.close()
        world.close()

    def test_every_checkpoint_is_restored_or_refused(self, world: World, codes: tuple[int, ...]) -> None:
        made = [world.checkpoint()]
        for code in codes:
            world.run_sim(make_plan(("act", str(code))), ACTOR)
            made.append(world.checkpoint())
        for checkpoint in reversed(made):
            if self.one_life:
                with pytest.raises(RestoreError):
                    world.restore(checkpoint)
                assert world.checkpoint() == made[-1]
            else:
                world.restore(checkpoint)
                assert world.checkpoint() == checkpoint

    def test_a_checkpoint_is_restored_wherever_the_world_has_got_to(
        self, world: World, start: Checkpoint, codes: tuple[int, ...]
    ) -> None:
        seen = world.sense()
        world.run_sim(make_plan(("act", spell_codes(codes[:2]))), ACTOR)
        middle = world.checkpoint()
        middle_seen = world.sense()
        for action in ("crash", "answer_words", "act", "fly"):
            world.run_sim(make_plan((action, spell_codes(codes[2:]))), ACTOR)
            world.restore(middle)
            assert world.checkpoint() == middle
            assert world.sense() == middle_seen
        world.restore(start)
        assert world.checkpoint() == start
        assert world.sense() == seen

    def test_attempts_from_one_checkpoint_are_alike(
        self, world: World, start: Checkpoint, codes: tuple[int, ...]
    ) -> None:
        plan = make_plan(("crash", spell_codes(codes)))
        first = world.run_sim(plan, ACTOR)
        end = world.checkpoint()
        world.restore(start)
        assert world.run_sim(plan, ACTOR) == first
        assert world.checkpoint() == end

    def test_the_end_of_an_episode_is_left_by_restoring(
        self, world: World, start: Checkpoint, codes: tuple[int, ...]
    ) -> None:
        for code in range(len(world.body.primitives)):
            world.run_sim(make_plan(("repeat", str(code), str(MAX_REPEATS))), ACTOR)
            world.restore(start)
            outcome = world.run_sim(make_plan(("act", spell_codes(codes))), ACTOR)
            assert outcome.status is Status.GOAL_NOT_REACHED
            world.restore(start)

    def test_another_world_of_the_same_making_restores_the_checkpoint(
        self, world: World, start: Checkpoint, codes: tuple[int, ...], make: Callable[[], World]
    ) -> None:
        world.run_sim(make_plan(("act", spell_codes(codes))), ACTOR)
        with closing(make()) as other:
            assert other.checkpoint() == start
            other.restore(world.checkpoint())
            assert other.sense() == world.sense()
            assert other.checkpoint() == world.checkpoint()

    def test_a_checkpoint_that_was_tampered_with_is_refused(
        self, world: World, start: Checkpoint, codes: tuple[int, ...]
    ) -> None:
        world.run_sim(make_plan(("act", spell_codes(codes))), ACTOR)
        true = world.checkpoint()
        assert true != start
        flipped = ("0" if true.state_hash[0] != "0" else "1") + true.state_hash[1:]
        unknown = len(world.body.primitives)
        tampered = [
            Checkpoint(true.primitives, flipped),
            Checkpoint(true.primitives[:-1], true.state_hash),
            Checkpoint((*true.primitives, codes[0]), true.state_hash),
            Checkpoint((unknown, *true.primitives), true.state_hash),
        ]
        for checkpoint in tampered:
            with pytest.raises(RestoreError):
                world.restore(checkpoint)
        world.restore(true)
        assert world.checkpoint() == true
