"""How explorations end, told apart: the decision loop over a real controller, and its rules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from robot_bridge.contracts import ActionResult, ExecutionResult, ModelReply, NavGoalTarget
from robot_bridge.control.actions import Finished
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.errors import BudgetSpent, DeviceError, ModelEnded, ModelFailure
from robot_bridge.exploration.endings import WAYS_HOME, Closing, Ending
from robot_bridge.exploration.explorer import Explorer, ExplorerSettings
from tests.support.robot_bridge.kinematic import goal
from tests.support.robot_bridge.scripted import DONE, FORWARD, SHADOW, STOP, Call, Scripted, explorer
from tests.support.tiers import few, long

CAGE = [(1.2, 0.16 * place, 0.04) for place in range(-26, 27)]
"""Posts with gaps that can be looked through, and not be driven through."""
ROOM: Call = ("report_discovery", {"label": "hall", "notes": "tiles", "significance": "room"})
HOME, AWAY = goal(goal_type="retrace"), goal(x=3.0, y=0.0)
AT_HOME = (0.0, 0.0, 0.5)
"""A post that somebody puts where the robot began."""


def went(goal_type: str, success: bool) -> Finished:
    made = goal(goal_type=goal_type)
    execution = ExecutionResult(NavGoalTarget(0.0, 0.0), made, True)
    return Finished(execution, ActionResult(made.tool_name, success, 1.0, 0.0))


def closing(model: tuple[Ending, str] | None = None) -> Closing:
    return Closing(lambda: model)


def test_the_first_ending_holds_unless_it_is_broken_off() -> None:
    made = closing()
    made.end(Ending.TIME)
    made.end(Ending.EXPLORED)
    assert f"{made.ended}, {made.because}" == "time, the time is up"
    made.break_off(Ending.FAILED, "the cable is out")
    assert f"{made.ended}, {made.because}" == "failed, the cable is out"


@pytest.mark.parametrize("ending", [Ending.EXPLORED, Ending.GAVE_UP])
def test_a_way_home_that_was_missed_counts_until_another_goal_is_driven_to(ending: Ending) -> None:
    for outcomes, expected in (
        ([went("retrace", False)], Ending.NOT_HOME),
        ([went("retrace", False), went("retrace", True)], ending),
        ([went("retrace", False), went("frontier", False)], ending),
        ([went("frontier", False)], ending),
    ):
        made = closing()
        for outcome in outcomes:
            made.record_result(outcome)
        made.end(ending)
        assert made.ended is expected


def test_the_way_home_is_tried_so_often() -> None:
    made = closing()
    made.record_result(went("retrace", False))
    assert [made.accept_nothing_left(has_given_up=False) for _ in range(WAYS_HOME)] == [False] * (WAYS_HOME - 1) + [
        True
    ]
    assert made.ended is Ending.NOT_HOME


def test_what_the_model_lacked_is_told_with_what_the_robot_did_without_it() -> None:
    made = closing((Ending.BUDGET, "3 requests were sent"))
    made.end(Ending.GAVE_UP)
    assert made.ended is Ending.BUDGET
    assert made.because == "3 requests were sent; without it: frontiers are left that were not reached"


def test_a_model_that_claims_too_early_must_insist() -> None:
    made = closing()
    made.claims = 1
    assert not made.accept_claim(2, 0, by_person=False)
    assert made.ended is None
    made.claims = 2
    assert made.accept_claim(2, 0, by_person=False)
    assert f"{made.ended}, {made.because}" == "gave up, the model wants no more, 2 frontiers are left"


def ended(host: Explorer, minutes: float) -> tuple[str, int]:
    """The word, which is in the summary and in the log, and the number of frontiers that are left."""
    summary = host.run(minutes)
    assert Ending(summary.ended)
    return summary.ended, summary.frontiers_left


def test_a_claim_is_true_only_where_no_frontier_was_cut_off() -> None:
    for cut_off, ending in ((0, Ending.EXPLORED), (1, Ending.GAVE_UP)):
        made = closing()
        made.claims = 1
        assert made.accept_claim(0, cut_off, by_person=False)
        assert made.ended is ending


@pytest.mark.long
def test_frontiers_that_are_cut_off_are_given_up() -> None:
    """Somebody closes the way to them as soon as the robot has seen that they are there."""
    host, robot, log = explorer(None, SHADOW)
    for _ in range(30):
        host.controller.tick()
    assert host.controller.state.frontiers
    robot.posts.extend(CAGE)
    word, left = ended(host, 10)
    assert (word, left) == (Ending.GAVE_UP, 0)
    assert abs(robot.pose.x) < 1.2
    assert log.notes[-1][1:] == ("ended", {"reason": "gave up", "because": "frontiers are left that were not reached"})


def steps(host: Explorer, until: Callable[[], object]) -> None:
    """Both loops until something holds."""
    while not until():
        assert host.controller.clock.now() < 600
        host.controller.tick()
        host.step()


@pytest.mark.long
def test_a_robot_that_wanted_home_and_did_not_get_there_is_not_home() -> None:
    host, robot, log = explorer(None, SHADOW)
    steps(host, lambda: robot.moved > 1.5)
    robot.posts.append(AT_HOME)
    steps(host, lambda: host.summary().ended)
    assert host.summary().ended == Ending.NOT_HOME
    tried = [each for each in log.decisions if each.decision.parameters["goal_type"] == "retrace"]
    assert len(tried) == WAYS_HOME
    assert robot.moved > 0.5


@pytest.mark.long
def test_a_model_that_did_not_get_home_and_says_that_it_is_done_is_not_home() -> None:
    model = Scripted((AWAY.tool_name, dict(AWAY.parameters)))
    host, robot, log = explorer(model, SHADOW)
    steps(host, lambda: robot.moved > 1.5)
    robot.posts.append(AT_HOME)
    model.answers = [(HOME.tool_name, dict(HOME.parameters))]
    steps(host, lambda: "retrace" in str(log.decisions[-1]) and not log.results[-1].success)
    model.answers = [DONE]
    steps(host, lambda: host.summary().ended)
    assert host.summary().ended == Ending.NOT_HOME


@pytest.mark.parametrize(("minutes", "left"), [(0.2, "some"), long(5, "none")])
@pytest.mark.parametrize(
    ("error", "word"),
    [
        (BudgetSpent("2 requests were sent"), "budget"),
        long(ModelEnded("no such key"), "no model"),
    ],
)
def test_a_model_that_is_gone_is_the_word_whatever_the_robot_did_alone(
    error: ModelEnded, word: str, minutes: float, left: str
) -> None:
    found, frontiers = ended(explorer(Scripted(FORWARD, error), SHADOW)[0], minutes)
    assert (found, bool(frontiers)) == (word, left == "some"), "also where the time is up before all is seen"


@pytest.mark.long
def test_a_model_that_never_answers_is_no_model_and_one_that_did_once_is() -> None:
    lost = ModelFailure("lost")
    assert ended(explorer(Scripted(lost), SHADOW)[0], 0.2)[0] == "no model"
    assert ended(explorer(Scripted(FORWARD, lost), SHADOW)[0], 0.2)[0] == "time"


class Then(Scripted):
    """Something happens when it is asked for the third time."""

    happens: Callable[[], None]

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        if len(self.messages) == 2:
            self.happens()
        return super().ask(system, user, image, tools, timeout_s)


@pytest.mark.parametrize("word", few(1, ["explored", "gave up", "time", "interrupted", "failed", "stopped"]))
def test_the_memory_is_saved_however_it_ends(word: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.yaml"
    model = {"explored": Then(ROOM, STOP, DONE), "gave up": Then(ROOM, DONE)}.get(word, Then(ROOM, FORWARD))
    host, robot, _ = explorer(model, () if word == "explored" else SHADOW, ExplorerSettings(memory_path=path))
    happenings = {
        "interrupted": lambda: setattr(robot.clock, "interrupts_at", robot.clock.time),
        "failed": lambda: setattr(robot, "is_broken", True),
        "stopped": host.stop_llm_exploration,
    }
    model.happens = happenings.get(word, lambda: None)
    with pytest.raises(DeviceError) if word == "failed" else contextlib.nullcontext():
        host.run(0.3)
    assert host.summary().ended == word
    loaded = ExplorationMemory()
    loaded.load_from_disk(path)
    assert [each.text for each in loaded.state.findings] == ["tiles"]


@pytest.mark.long
def test_a_run_that_is_killed_leaves_the_memory_of_a_minute_before_at_most(tmp_path: Path) -> None:
    """Nothing is called when it is killed: what is in the file was written before."""
    path = tmp_path / "memory.yaml"
    model = Scripted(ROOM, STOP)
    host, robot, _ = explorer(model, SHADOW, ExplorerSettings(memory_path=path))
    steps(host, lambda: robot.clock.now() > 61)
    loaded = ExplorationMemory()
    loaded.load_from_disk(path)
    assert [each.text for each in loaded.state.findings] == ["tiles"]
