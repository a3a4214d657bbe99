"""Events of a run as short sentences for people (pure).

Words of models and servers within the sentences are made harmless. The recording holds the unchanged words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from robot_bridge.contracts import ActionResult, ExecutionResult, NavigationDecision, Tier, Tool
from robot_bridge.control.actions import UNDER_WAY
from robot_bridge.decisions.tools import (
    CheckPathClear,
    MoveToward,
    NavigateToGoal,
    ObserveScene,
    Refusal,
    ReportDiscovery,
    Rotate,
    StopRobot,
    read,
)
from robot_bridge.text import harmless

_SHORT = 60
_LONG = 240
_NAMES: Final[Mapping[str, str]] = {
    Tool.MOVE_TOWARD: "drive",
    Tool.NAVIGATE_TO_GOAL: "drive to the goal",
    Tool.ROTATE: "turn",
    Tool.STOP_ROBOT: "stop",
    Tool.OBSERVE_SCENE: "look",
    Tool.CHECK_PATH_CLEAR: "look whether the way is clear",
    Tool.REPORT_DISCOVERY: "report",
}
_CUT_SHORT: Final = (
    "broken off for",
    "the exploration ended",
    "the time is up",
    "interrupted",
    "stopped",
    "no frontiers are left",
    "exploration_complete",
    "the controller was closed",
)
"""Beginnings of reasons for which an action ended early although nothing was wrong with the action."""
_ASKED: Final[Mapping[str, str]] = {
    "first": "for the first time",
    "timer": "because its time has come",
    "trigger": "because of what was just seen",
    "idle": "because nothing is under way",
    "disturbed": "because something came in between",
    "retry": "again",
    "silence": "because it was not asked for a while",
}
_SEEN: Final[Mapping[str, str]] = {
    "doorway": "a doorway",
    "intersection": "open on several sides",
    "dead_end": "everything ahead is near",
    "moved": "another place than when it was asked",
}
_TIERS: Final[Mapping[str, str]] = {
    Tier.CONTINUE: "it answers again",
    Tier.STOP_WAIT: "the robot stands and waits",
    Tier.LOCAL_NAV: "the robot explores by itself",
    Tier.RETURN_HOME: "the robot drives to the start, then explores by itself",
}
Line = tuple[str, str]
"""The kind of event in one or two words, and the sentence."""


def describe_decision(result: ExecutionResult) -> Line:
    """Return a line that describes the decision; for a refused decision, the line gives the reason."""
    wish = decision_text(result.decision)
    reason = harmless(result.reason, _LONG)
    if not result.is_valid:
        return "refused", f"{wish}: {reason}"
    if not result.reason:
        return "decides", wish
    return "decides", f"{wish} ({reason})"


def decision_text(decision: NavigationDecision) -> str:
    """Return a decision as a phrase or, if the decision is not a valid tool call, in the form ``tool(name=value)``."""
    match read(decision):
        case MoveToward(direction=direction, speed=speed, duration_s=duration):
            text = f"drive {_plain(direction)}, {speed}, for {duration:g} s"
        case NavigateToGoal() as goal:
            text = _goal_text(goal)
        case Rotate(degrees=degrees):
            text = f"turn {_turn(degrees)}"
        case StopRobot(reason=reason):
            text = f"stop: {_plain(reason)}"
        case ObserveScene(focus=focus):
            text = f"look: {_plain(focus)}"
        case CheckPathClear(direction=direction, distance_m=distance):
            text = f"look whether it is clear {_plain(direction)} for {distance:g} m"
        case ReportDiscovery(label=label, significance=kind):
            text = f'report: {_plain(kind)} "{label}"'
        case Refusal():
            text = _call_text(decision)
    return text


def _goal_text(goal: NavigateToGoal) -> str:
    why = _format_reason(goal.reason, _SHORT)
    if goal.goal_type == "frontier":
        return f"drive to frontier {goal.frontier_id}{why}"
    if goal.goal_type == "retrace":
        return f"drive back to the start{why}"
    return f"drive to ({goal.x:.1f}, {goal.y:.1f}){why}"


def _call_text(decision: NavigationDecision) -> str:
    """Return a decision in the form ``tool(name=value, ...)``.

    Parameters are left out if they are not a mapping, because untrusted parameters can be anything.
    """
    parameters: object = decision.parameters
    values = parameters.items() if isinstance(parameters, Mapping) else ()
    parts = [f"{harmless(name, _SHORT)}={value_text(value)}" for name, value in values if value is not None]
    return f"{harmless(decision.tool_name, _SHORT)}({', '.join(parts)})"


def describe_result(result: ActionResult) -> Line:
    """Return a line that describes the result of a decision."""
    parts = [_NAMES.get(result.tool_name, harmless(result.tool_name, _SHORT))]
    clear = result.data.get("clear")
    if isinstance(clear, bool):
        parts.append("it is clear" if clear else "it is not clear")
    if abs(result.actual_distance_m) >= 0.01:
        parts.append(f"{result.actual_distance_m:.2f} m")
    if abs(result.turned_deg) >= 1:
        parts.append(_turn(result.turned_deg))
    text = ", ".join(parts)

    reason = harmless(result.stopped_reason, _LONG)
    if result.success and reason == UNDER_WAY:
        return "so far", text
    label = "failed"
    if result.success:
        label = "done"
    elif reason.startswith(_CUT_SHORT):
        label = "ends"
    return label, f"{text}: {reason}" if reason else text


def describe_note(kind: str, data: Mapping[str, Any]) -> Line:
    """Return a line for an event that was noted.

    If there is no sentence for this kind of event, the line lists the event's data.
    """
    sentence = _NOTES.get(kind)
    try:
        return sentence(data) if sentence else _list_data(kind, data)
    except (KeyError, TypeError, ValueError):  # a recording of another version
        return _list_data(kind, data)


def _list_data(kind: str, data: Mapping[str, Any]) -> Line:
    parts = [f"{harmless(name, _SHORT)} {value_text(value)}" for name, value in data.items()]
    listed = ", ".join(parts)
    return "note", f"{_plain(kind)}: {listed}" if listed else _plain(kind)


def _describe_question(data: Mapping[str, Any]) -> Line:
    why = _ASKED.get(data["why"], _plain(data["why"]))
    preposition = "with" if data["image"] else "without"
    return "asks", f"the model, {why}, {preposition} a picture"


def _describe_skip(data: Mapping[str, Any]) -> Line:
    return "model", f"is not asked: {harmless(data['why'], _SHORT)}"


def _describe_triggers(data: Mapping[str, Any]) -> Line:
    triggers = str(data["triggers"]).split(", ")
    return "sees", "; ".join(_SEEN.get(trigger, trigger) for trigger in triggers)


def _describe_failure(data: Mapping[str, Any]) -> Line:
    times = f" ({data['in_a_row']} times in a row)" if data["in_a_row"] > 1 else ""
    return "model", f"no decision{times}: {harmless(data['reason'], _LONG)}"


def _describe_tier(data: Mapping[str, Any]) -> Line:
    since = "" if data["tier"] == Tier.CONTINUE else f"no answer for {data['owed_s']:.0f} s: "
    return "model", f"{since}{_TIERS[data['tier']]}"


def _describe_minute(data: Mapping[str, Any]) -> Line:
    calls = f"{data['calls_per_min']:g} calls a minute, {data['triggered']} of them for what was seen"
    latency = f"answers took {data['avg_latency_ms']:g} ms"
    return "model", f"{calls}, {data['skipped']} left out; {latency}"


def _describe_effect(data: Mapping[str, Any]) -> Line:
    thing = f" the {harmless(data['thing'], _SHORT)}" if data["thing"] else ""
    purpose = f", for {harmless(data['for'], _SHORT)}" if data["for"] else ""
    effect = f"{_plain(data['what'])}{thing}{purpose}"
    if data["success"]:
        return "done", effect
    return "failed", effect + _format_reason(data["reason"], _LONG)


def _describe_ending(data: Mapping[str, Any]) -> Line:
    return "ended", _plain(data["reason"]) + _format_reason(data.get("because"), _LONG)


def _add_reason_to(label: str, words: str) -> Callable[[Mapping[str, Any]], Line]:
    """Return a function that makes a line of ``label`` and ``words``, followed by the reason in an event's data."""
    return lambda data: (label, words + _format_reason(data.get("reason"), _LONG))


def _format_reason(reason: object, limit: int) -> str:
    """Return a colon and the reason, or "" if the reason is empty."""
    return f": {harmless(reason, limit)}" if reason else ""


_NOTES: Final[Mapping[str, Callable[[Mapping[str, Any]], Line]]] = {
    "asked": _describe_question,
    "skip": _describe_skip,
    "trigger": _describe_triggers,
    "model_failed": _describe_failure,
    "model_ended": _add_reason_to("model", "is asked no more"),
    "tier": _describe_tier,
    "statistics": _describe_minute,
    "effect": _describe_effect,
    "paused": _add_reason_to("model", "is not asked: a person decides"),
    "resumed": _add_reason_to("model", "may decide again"),
    "emergency_stop": _add_reason_to("safety", "emergency stop"),
    "release": _add_reason_to("safety", "the emergency stop is lifted"),
    "not_saved": _add_reason_to("failed", "the memory could not be saved"),
    "not_stopped": _add_reason_to("failed", "the robot could not be told to stop"),
    "ended": _describe_ending,
}


def value_text(value: object) -> str:
    """Return a value from any source as text that is safe in a terminal."""
    return f"{value:.2f}" if isinstance(value, float) else harmless(value, _SHORT)


def _plain(name: object) -> str:
    """Return a name as harmless words, in which blanks replace underscores."""
    return harmless(name, _SHORT).replace("_", " ")


def _turn(degrees: float) -> str:
    side = "left" if degrees > 0 else "right"
    return f"{abs(degrees):.0f} degrees to the {side}"


def time_text(seconds: float) -> str:
    """Return minutes and seconds, such as ``2:05.1``."""
    tenths = round(10 * max(0.0, seconds))
    minutes, rest = divmod(tenths, 600)
    return f"{minutes}:{rest / 10:04.1f}"
