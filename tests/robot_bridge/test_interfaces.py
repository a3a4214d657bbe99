"""Every class, method, field, enum and tool that the plan of the exploration names is there under its name."""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import fields, is_dataclass
from enum import StrEnum

import pytest

from robot_bridge import contracts
from robot_bridge.decisions import safety_executor, triggers, watchdog
from robot_bridge.decisions.memory import exploration_memory, memory_state
from robot_bridge.decisions.messages import annotate, sensor_snapshot
from robot_bridge.decisions.navigators import llm_navigator
from robot_bridge.exploration import explorer

CALLABLES = {
    sensor_snapshot.SensorSnapshotBuilder: ["vm"],
    sensor_snapshot.SensorSnapshotBuilder.capture: ["self"],
    annotate.annotate_image: ["image", "depth_points", "heading_deg", "heading_cardinal"],
    sensor_snapshot.build_lidar_summary: ["ranges", "angle_min", "angle_inc"],
    sensor_snapshot.compute_affordance_scores: ["obstacle_distances"],
    sensor_snapshot.compute_frame_similarity: ["frame_a", "frame_b"],
    triggers.EventTrigger.check_triggers: [
        *("self", "obstacle_distances", "detected_gaps", "position", "last_trigger_time"),
    ],
    llm_navigator.LLMNavigator.decide: ["self", "snapshot", "memory", "skip_image"],
    llm_navigator.LLMNavigator._build_system_prompt: ["self"],
    llm_navigator.LLMNavigator._build_user_message: ["self", "snapshot", "memory", "skip_image"],
    llm_navigator.LLMNavigator._get_tool_definitions: ["self"],
    llm_navigator.LLMNavigator._parse_tool_call: ["self"],
    exploration_memory.ExplorationMemory.update_after_action: ["self", "decision", "result", "position"],
    exploration_memory.ExplorationMemory.record_discovery: ["self", "label", "notes", "significance", "position"],
    exploration_memory.ExplorationMemory.update_frontiers: ["self", "frontier_list"],
    exploration_memory.ExplorationMemory.record_dead_end: ["self", "direction", "position"],
    exploration_memory.ExplorationMemory.to_prompt_text: ["self"],
    exploration_memory.ExplorationMemory.save_to_disk: ["self", "path"],
    exploration_memory.ExplorationMemory.load_from_disk: ["self", "path"],
    safety_executor.SafetyExecutor.execute_decision: ["self", "decision", "vm", "memory"],
    safety_executor.SafetyExecutor._pre_validate: ["self", "decision", "obstacle_distances"],
    safety_executor.SafetyExecutor._execute_move: ["self"],
    safety_executor.SafetyExecutor._execute_navigate: ["self"],
    safety_executor.SafetyExecutor._execute_rotate: ["self"],
    safety_executor.SafetyExecutor._execute_stop: ["self"],
    safety_executor.SafetyExecutor._execute_observe: ["self"],
    safety_executor.SafetyExecutor._execute_check_path: ["self"],
    safety_executor.SafetyExecutor._execute_report: ["self"],
    safety_executor.BlockedActionMemory.should_allow: ["self", "decision"],
    safety_executor.BlockedActionMemory.record_blocked: ["self", "decision"],
    watchdog.LLMWatchdog.evaluate: ["self", "elapsed_s"],
    watchdog.NetworkMonitor.record_call: ["self", "latency_ms", "success"],
    explorer.Explorer.llm_control_loop: ["self"],
    explorer.Explorer.vlm_decision_loop: ["self"],
    explorer.Explorer.start_llm_exploration: ["self"],
    explorer.Explorer.stop_llm_exploration: ["self"],
}
"""Their first parameters."""

FIELDS = {
    sensor_snapshot.SensorSnapshot: [
        *("timestamp", "annotated_image_b64", "lidar_summary", "doorway_gaps", "robot_state", "affordance_scores"),
        "previous_action_result",
    ],
    memory_state.ExplorationState: [
        *("rooms", "current_room", "dead_ends", "frontiers", "recent_actions", "total_discoveries"),
        "exploration_duration_s",
    ],
    contracts.NavigationDecision: ["tool_name", "parameters", "reasoning", "timestamp", "raw_response"],
    contracts.VelocityTarget: ["twist", "duration_s"],
    contracts.NavGoalTarget: ["x", "y"],
    contracts.ObserveTarget: ["focus"],
    contracts.StopTarget: ["reason"],
}

ENUMS: dict[type[StrEnum], list[str]] = {
    contracts.Tier: ["CONTINUE", "STOP_WAIT", "LOCAL_NAV", "RETURN_HOME"],
    contracts.Tool: [
        *("move_toward", "navigate_to_goal", "rotate", "stop_robot", "observe_scene", "check_path_clear"),
        "report_discovery",
    ],
    contracts.Direction: ["forward", "forward_left", "left", "forward_right", "right", "backward"],
    contracts.Speed: ["slow", "medium", "fast"],
    contracts.StopReason: [
        *("obstacle_detected", "exploration_complete", "need_to_observe", "user_requested", "uncertain"),
    ],
}


@pytest.mark.parametrize("named", CALLABLES, ids=lambda each: each.__qualname__)
def test_callables_begin_with_the_parameters_of_the_plan(named: type) -> None:
    names = CALLABLES[named]
    assert list(inspect.signature(named).parameters)[: len(names)] == names


@pytest.mark.parametrize("named", FIELDS, ids=lambda each: each.__name__)
def test_dataclasses_begin_with_the_fields_of_the_plan(named: type) -> None:
    assert is_dataclass(named)
    assert [field.name for field in fields(named)][: len(FIELDS[named])] == FIELDS[named]


@pytest.mark.parametrize("named", ENUMS, ids=lambda each: each.__name__)
def test_enums_have_the_values_of_the_plan(named: type[StrEnum]) -> None:
    assert [member.value for member in named] == ENUMS[named]


def test_constants_of_the_plan() -> None:
    assert len(llm_navigator.TOOL_DEFINITIONS) == 7
    assert llm_navigator.LLMNavigator.TOOL_DEFINITIONS is llm_navigator.TOOL_DEFINITIONS
    assert llm_navigator.SYSTEM_PROMPT
    assert {speed.value: metres for speed, metres in contracts.SPEEDS.items()} == {
        "slow": 0.08,
        "medium": 0.12,
        "fast": 0.18,
    }
    monitor = watchdog.NetworkMonitor(lambda: 0.0)
    assert monitor.current_tier == 0
    kept = [each for each in vars(monitor).values() if isinstance(each, deque)]
    assert [each.maxlen for each in kept] == [20]


def test_the_tiers_of_the_watchdog() -> None:
    made = watchdog.LLMWatchdog()
    assert [made.evaluate(elapsed) for elapsed in (0, 2.9, 3.1, 9.9, 10.1, 29.9, 30.1)] == [
        *("CONTINUE", "CONTINUE", "STOP_WAIT", "STOP_WAIT", "LOCAL_NAV", "LOCAL_NAV", "RETURN_HOME"),
    ]
