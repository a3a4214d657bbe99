"""Lines on what happens, for people."""

from __future__ import annotations

from typing import Any

import pytest

from robot_bridge.cli import narration
from robot_bridge.contracts import ActionResult, ExecutionResult, StopTarget, Tier, Trigger
from robot_bridge.control.actions import UNDER_WAY
from robot_bridge.exploration.schedule import Choice
from tests.support.robot_bridge.kinematic import decision


@pytest.mark.parametrize(
    ("tool", "parameters", "told"),
    [
        (
            "move_toward",
            {"direction": "forward_left", "speed": "slow", "duration_s": 3},
            "drive forward left, slow, for 3 s",
        ),
        ("navigate_to_goal", {"goal_type": "frontier", "frontier_id": 4}, "drive to frontier 4"),
        ("navigate_to_goal", {"goal_type": "retrace", "reason": "low battery"}, "drive back to the start: low battery"),
        ("navigate_to_goal", {"goal_type": "coordinates", "x": 1.25, "y": -2.0}, "drive to (1.2, -2.0)"),
        ("rotate", {"degrees": -135}, "turn 135 degrees to the right"),
        ("stop_robot", {"reason": "exploration_complete"}, "stop: exploration complete"),
        ("observe_scene", {"focus": "floor_surface"}, "look: floor surface"),
        ("check_path_clear", {"direction": "left", "distance_m": 1.5}, "look whether it is clear left for 1.5 m"),
        ("report_discovery", {"label": "kitchen", "significance": "room"}, 'report: room "kitchen"'),
        ("rotate", {"degrees": 30, "why": None, "far": 0.123}, "rotate(degrees=30, far=0.12)"),
    ],
)
def test_a_decision_is_a_phrase_and_a_wrong_one_is_told_as_it_is(tool: str, parameters: Any, told: str) -> None:
    assert narration.decision_text(decision(tool, **parameters)) == told


def test_what_the_executor_changed_or_refused_is_told() -> None:
    wish = decision("rotate", degrees=90)
    assert narration.describe_decision(ExecutionResult(StopTarget(""), wish, True, "slowed down")) == (
        "decides",
        "turn 90 degrees to the left (slowed down)",
    )
    assert narration.describe_decision(ExecutionResult(StopTarget(""), wish, False, "no room")) == (
        "refused",
        "turn 90 degrees to the left: no room",
    )


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (ActionResult("rotate", True, 0.4, -90.0), ("done", "turn, 0.40 m, 90 degrees to the right")),
        (ActionResult("report_discovery", True, 0.0, 0.2), ("done", "report")),
        (ActionResult("navigate_to_goal", True, 1.0, 0.0, UNDER_WAY), ("so far", "drive to the goal, 1.00 m")),
        (
            ActionResult("navigate_to_goal", False, 1.0, 0.0, "the time is up"),
            ("ends", "drive to the goal, 1.00 m: the time is up"),
        ),
        (
            ActionResult("move_toward", False, 0.0, 0.0, "obstacle 0.3 m ahead: stopped"),
            ("failed", "drive: obstacle 0.3 m ahead: stopped"),
        ),
        (
            ActionResult("check_path_clear", True, 0.0, 0.0, data={"clear": False}),
            ("done", "look whether the way is clear, it is not clear"),
        ),
    ],
)
def test_an_outcome_says_how_far_and_whether_it_failed_or_was_cut_short(
    result: ActionResult, told: tuple[str, str]
) -> None:
    assert narration.describe_result(result) == told


@pytest.mark.parametrize(
    ("kind", "data", "told"),
    [
        (
            "asked",
            {"why": "silence", "image": False},
            ("asks", "the model, because it was not asked for a while, without a picture"),
        ),
        ("trigger", {"triggers": "doorway, moved"}, ("sees", "a doorway; another place than when it was asked")),
        ("skip", {"why": "a goal is driven to", "similarity": 0.9}, ("model", "is not asked: a goal is driven to")),
        ("model_failed", {"reason": "no server", "in_a_row": 1}, ("model", "no decision: no server")),
        (
            "model_failed",
            {"reason": "no server", "in_a_row": 3},
            ("model", "no decision (3 times in a row): no server"),
        ),
        ("model_ended", {"reason": "budget"}, ("model", "is asked no more: budget")),
        ("tier", {"tier": "CONTINUE", "owed_s": 0.0}, ("model", "it answers again")),
        (
            "effect",
            {"for": "open_door(a1)", "what": "toggle", "thing": "door red open", "reason": "", "success": True},
            ("done", "toggle the door red open, for open_door(a1)"),
        ),
        (
            "effect",
            {"for": "", "what": "pick_up", "thing": "", "reason": "nothing is there", "success": False},
            ("failed", "pick up: nothing is there"),
        ),
        ("paused", {}, ("model", "is not asked: a person decides")),
        ("not_saved", {"reason": "disk full"}, ("failed", "the memory could not be saved: disk full")),
        ("ended", {"reason": "exploration_complete"}, ("ended", "exploration complete")),
        ("of_tomorrow", {"what": 0.123}, ("note", "of tomorrow: what 0.12")),
        ("tier", {"tier": "ANOTHER"}, ("note", "tier: tier ANOTHER")),
    ],
)
def test_whatever_is_noted_is_a_sentence(kind: str, data: dict[str, Any], told: tuple[str, str]) -> None:
    assert narration.describe_note(kind, data) == told


def test_there_are_words_for_everything_that_has_a_name() -> None:
    for choice in Choice:
        told = narration.describe_note("asked", {"why": choice.value, "image": True})[1]
        assert not choice.is_call or not told.startswith(f"the model, {choice.value},")
    for trigger in (Trigger.INTERSECTION, Trigger.DEAD_END):
        assert trigger.value not in narration.describe_note("trigger", {"triggers": trigger.value})[1]
    for tier in Tier:
        assert narration.describe_note("tier", {"tier": tier.value, "owed_s": 4.0})[0] == "model"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.04, "0:00.0"), (59.94, "0:59.9"), (59.96, "1:00.0"), (3605.1, "60:05.1"), (-1.0, "0:00.0")]
)
def test_a_minute_has_sixty_seconds(seconds: float, told: str) -> None:
    assert narration.time_text(seconds) == told
