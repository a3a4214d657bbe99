"""The decision loop over a real controller, with models that say what they are told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from robot_bridge.contracts import Frame, ModelReply, Twist
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.memory.memory_state import KnownFrontier
from robot_bridge.decisions.watchdog import LLMWatchdog
from robot_bridge.errors import DeviceError, ModelEnded, ModelFailure
from robot_bridge.exploration.endings import Ending, Summary
from robot_bridge.exploration.explorer import ExplorerSettings
from robot_bridge.exploration.schedule import AskSettings
from tests.support.robot_bridge.kinematic import Log, goal
from tests.support.robot_bridge.scripted import DONE, FORWARD, LOOK, ROOM, SHADOW, STOP, Scripted, explorer


def explored(
    model: Scripted | None, minutes: float = 0.5, settings: ExplorerSettings | None = None
) -> tuple[Summary, Log]:
    host, _, log = explorer(model, settings=settings)
    return host.run(minutes), log


@pytest.mark.long
def test_without_a_model_frontiers_are_explored_until_none_is_left() -> None:
    summary, log = explored(None, minutes=5)
    assert (summary.ended, summary.because) == (Ending.EXPLORED, "no frontiers are left")
    assert summary.frontiers_left == 0
    assert summary.explored_m2 > 12
    assert summary.calls == 0
    assert log.kinds()[-1] == "ended"


@pytest.mark.long
def test_complete_ends_it_where_nothing_is_left() -> None:
    summary, _ = explored(Scripted(STOP, STOP, STOP, DONE))
    assert (summary.ended, summary.calls) == (Ending.EXPLORED, 4)


@pytest.mark.long
def test_complete_must_be_said_twice_while_frontiers_are_left() -> None:
    model = Scripted(DONE, FORWARD, DONE, DONE)
    host, _, log = explorer(model, SHADOW)
    summary = host.run(1)
    assert summary.frontiers_left > 0
    assert (summary.ended, summary.calls) == (Ending.GAVE_UP, 4)
    assert "say it again" in model.messages[1]
    assert len(log.decisions) == len(log.results) == 4


def test_what_a_look_found_reaches_the_next_message_as_data() -> None:
    model = Scripted(LOOK, DONE)
    host, robot, _ = explorer(model)
    rgb = np.full((480, 640, 3), 90, np.uint8)
    shot = Frame(1.5, rgb, np.ones((480, 640), np.float32), 460.0)
    robot.frame = shot
    host.run(0.2)
    assert "objects" in model.prompts[0]
    assert "a red ball" in model.messages[1]
    assert "\nIgnore" not in model.messages[1]
    assert host.memory.state.recent_actions[0].result.success is True


@pytest.mark.long
def test_memory_has_every_decision_once() -> None:
    model = Scripted(ROOM, FORWARD, LOOK, DONE)
    host, _, log = explorer(model)
    host.run(1)
    names = [action.action for action in host.memory.state.recent_actions]
    assert names == [result.tool_name for result in log.results]
    assert names[:3] == ["report_discovery", "move_toward", "observe_scene"]
    assert host.memory.state.current_room == "hall"


@pytest.mark.long
def test_the_memory_knows_how_long_all_its_explorations_took() -> None:
    memory = ExplorationMemory()
    lasted = 0.0
    for _ in range(2):
        host, _, _ = explorer(Scripted(FORWARD), SHADOW)
        host.memory = memory
        lasted += 60 * host.run(0.1).minutes
        assert memory.state.exploration_duration_s == pytest.approx(lasted, abs=0.01)


def test_what_becomes_of_a_decision_for_a_frontier_that_is_gone_is_told_to_the_model_and_in_the_log() -> None:
    class Late(Scripted):
        """While it thinks, a frontier that it was told of gets another id."""

        def ask(
            self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float
        ) -> ModelReply:
            host.memory.state.frontiers.append(KnownFrontier(99, 0, 2.6, "open", 1.0, [2.0, 1.6]))
            return super().ask(system, user, image, tools, timeout_s)

    model = Late(("navigate_to_goal", {"goal_type": "frontier", "frontier_id": 99}), DONE)
    host, _, log = explorer(model, SHADOW)
    host.run(0.5)
    taken = log.decisions[0]
    told = f"frontier 99 is gone, {taken.decision.parameters['frontier_id']} is the nearest to where it was"
    assert taken.reason == told
    assert told in model.messages[1]


@pytest.mark.long
def test_a_slow_model_makes_the_robot_wait() -> None:
    _, log = explored(Scripted(FORWARD, latency_s=5.0), minutes=0.2)
    assert log.tiers()[:2] == ["STOP_WAIT", "CONTINUE"]


@pytest.mark.long
def test_a_healthy_timer_never_makes_the_robot_wait() -> None:
    settings = ExplorerSettings(asking=AskSettings(is_adaptive=False))
    summary, log = explored(Scripted(FORWARD, latency_s=1.0), 0.2, settings)
    assert log.tiers() == []
    assert summary.calls == 3


@pytest.mark.long
def test_a_failing_model_goes_through_the_tiers_and_back() -> None:
    model = Scripted(FORWARD, *[ModelFailure("lost")] * 4, STOP, DONE)
    host, _, log = explorer(model, SHADOW)
    host.executor.watchdog = LLMWatchdog(0.5, 1.5, 4.0)
    summary = host.run(0.33)
    assert log.tiers() == ["STOP_WAIT", "LOCAL_NAV", "RETURN_HOME", "CONTINUE"]
    assert summary.failed_calls == 4
    goals = [each.decision.parameters.get("goal_type") for each in log.decisions]
    assert "frontier" in goals
    assert "retrace" in goals


@pytest.mark.long
def test_a_model_that_has_ended_is_not_asked_again() -> None:
    model = Scripted(FORWARD, ModelEnded("the budget is spent"))
    host, _, log = explorer(model)
    summary = host.run(5)
    assert summary.ended == Ending.NO_MODEL
    assert summary.because == "the budget is spent; without it: no frontiers are left"
    assert len(model.messages) == 2
    assert "model_ended" in log.kinds()


@pytest.mark.long
def test_a_refusal_is_asked_about_at_once() -> None:
    model = Scripted(("fly", {}), DONE)
    host, _, log = explorer(model, SHADOW)
    summary = host.run(0.2)
    assert summary.refusals == 1
    assert "unknown tool" in model.messages[1]
    assert next(data["why"] for at, kind, data in log.notes if kind == "asked" and at > 1.5) == "disturbed"


@pytest.mark.long
def test_while_paused_the_model_is_not_asked_and_a_person_may_drive() -> None:
    model = Scripted(FORWARD)
    host, robot, _ = explorer(model, SHADOW)
    host.llm_nav_paused.set()
    host.run(0.05)
    assert model.messages == []
    assert robot.moved == 0
    host.controller.override(Twist(0.1), 2.0)
    host.run(0.05)
    assert robot.moved > 0.1
    assert model.messages == []


def test_statistics_and_memory_every_minute(tmp_path: Path) -> None:
    path = tmp_path / "memory.yaml"
    host, _, log = explorer(Scripted(STOP), settings=ExplorerSettings(report_s=2, memory_path=path))
    host.run(0.08)
    statistics = [data for _, kind, data in log.notes if kind == "statistics"]
    assert len(statistics) == 2
    assert set(statistics[0]) == {
        *("calls_per_min", "triggered", "skipped", "avg_latency_ms", "tier", "network_tier"),
    }
    loaded = ExplorationMemory()
    loaded.load_from_disk(path)
    assert loaded.state.rooms[0].name == "start"


def test_an_interrupt_stops_the_robot_and_loses_nothing(tmp_path: Path) -> None:
    host, robot, _ = explorer(Scripted(FORWARD), settings=ExplorerSettings(memory_path=tmp_path / "memory.yaml"))
    robot.clock.interrupts_at = 1.0
    assert host.run(1).ended == "interrupted"
    assert robot.commanded == Twist()
    assert (tmp_path / "memory.yaml").is_file()


def test_a_robot_that_fails_ends_it_with_its_error() -> None:
    host, robot, log = explorer(Scripted(FORWARD))
    robot.is_broken = True
    with pytest.raises(DeviceError):
        host.run(1)
    assert log.kinds()[-1] == "ended"


def test_a_defect_of_a_model_is_no_failed_call() -> None:
    with pytest.raises(ZeroDivisionError):
        explored(Scripted(ZeroDivisionError("a bug")))


def test_start_and_stop() -> None:
    host, robot, _ = explorer(Scripted(FORWARD), SHADOW)
    host.start_llm_exploration()
    with pytest.raises(RuntimeError, match="already"):
        host.start_llm_exploration()
    _wait_for(lambda: robot.moved > 0.01)
    host.stop_llm_exploration()
    assert not host.llm_exploring
    assert host.summary().ended == "stopped"
    assert robot.commanded == Twist()


@pytest.mark.long
def test_what_is_blocked_is_remembered_as_such() -> None:
    """A move that the chain holds up, then a goal to which no way leads."""
    away = goal(x=0.0, y=40.0)
    model = Scripted(
        ("move_toward", {"direction": "forward", "speed": "medium", "duration_s": 8.0}),
        (away.tool_name, dict(away.parameters)),
        STOP,
    )
    settings = ExplorerSettings(asking=AskSettings(base_timer_s=9.0))
    host, robot, log = explorer(model, [(1.0, 0.0, 0.2)], settings)
    host.run(0.15)
    assert [result.stopped_reason[:8] for result in log.results[:2]] == ["obstacle", "no way t"]
    assert [end.direction_deg for end in host.memory.state.dead_ends] == pytest.approx([0, 90], abs=2)
    for made in (log.decisions[0].decision, log.decisions[1].decision):
        assert host.executor.blocked_actions.should_allow(made)[1].endswith("was blocked 1x lately")
    why = [data["why"] for _, kind, data in log.notes if kind == "asked"]
    assert why[1:3] == ["disturbed", "disturbed"]
    assert robot.commanded == Twist()


def test_what_ends_a_thread_is_raised_by_whoever_stops_it() -> None:
    host, robot, _ = explorer(Scripted(FORWARD))
    robot.is_broken = True
    host.start_llm_exploration()
    _wait_for(lambda: not host.llm_exploring)
    with pytest.raises(DeviceError, match="cable"):
        host.stop_llm_exploration()
    host.stop_llm_exploration()


def test_an_exploration_after_another_begins_anew() -> None:
    host, _, _ = explorer(None)
    assert host.run(5).ended == Ending.EXPLORED
    again = host.run(0.02)
    assert again.ended == Ending.TIME
    assert again.minutes < 0.03
    assert sum(again.tiers.values()) < 2


@pytest.mark.long
def test_the_same_run_again_is_the_same() -> None:
    first, second = (explored(Scripted(FORWARD, ROOM, DONE)) for _ in range(2))
    assert first[0] == second[0]
    assert first[1].notes == second[1].notes


def _wait_for(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_control_loop_of_a_host_with_threads_of_its_own() -> None:
    host, robot, _ = explorer(None)
    thread = threading.Thread(target=host.llm_control_loop)
    thread.start()
    _wait_for(lambda: robot.clock.now() > 0.2)
    host.stop_llm_exploration()
    thread.join(5)
    assert not thread.is_alive()
