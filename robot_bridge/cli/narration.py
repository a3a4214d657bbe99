"""What happens in a run, as short sentences for people (pure).

Words of models and servers in them are made harmless; the recording has everything as it was.
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
"""How reasons begin that say nothing against what was done."""
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
"""A word on what kind of line it is, and the sentence."""


def decided(result: ExecutionResult) -> Line:
    """What is to be done, or why it is refused."""
    wish = decision_text(result.decision)
    if not result.is_valid:
        return "refused", f"{wish}: {harmless(result.reason, _LONG)}"
    return "decides", f"{wish} ({harmless(result.reason, _LONG)})" if result.reason else wish


def decision_text(decision: NavigationDecision) -> str:
    """A decision as a phrase; one that cannot be read as the call that it is."""
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
    why = f": {harmless(goal.reason, _SHORT)}" if goal.reason else ""
    if goal.goal_type == "frontier":
        return f"drive to frontier {goal.frontier_id}{why}"
    if goal.goal_type == "retrace":
        return f"drive back to the start{why}"
    return f"drive to ({goal.x:.1f}, {goal.y:.1f}){why}"


def _call_text(decision: NavigationDecision) -> str:
    given: object = decision.parameters
    values = given.items() if isinstance(given, Mapping) else ()
    told = ", ".join(f"{harmless(name, _SHORT)}={value_text(value)}" for name, value in values if value is not None)
    return f"{harmless(decision.tool_name, _SHORT)}({told})"


def acted(result: ActionResult) -> Line:
    """What became of a decision."""
    reason = harmless(result.stopped_reason, _LONG)
    name = _NAMES.get(result.tool_name, harmless(result.tool_name, _SHORT))
    clear = result.data.get("clear")
    found = [] if not isinstance(clear, bool) else ["it is clear" if clear else "it is not clear"]
    way = [f"{result.actual_distance_m:.2f} m"] if abs(result.actual_distance_m) >= 0.01 else []
    turned = [_turn(result.turned_deg)] if abs(result.turned_deg) >= 1 else []
    what = ", ".join([name, *found, *way, *turned])
    if result.success and reason == UNDER_WAY:
        return "so far", what
    label = "done" if result.success else "ends" if reason.startswith(_CUT_SHORT) else "failed"
    return label, f"{what}: {reason}" if reason else what


def noted(kind: str, data: Mapping[str, Any]) -> Line:
    """Whatever else was noted; what has no sentence of its own is told as it is."""
    sentence = _NOTES.get(kind)
    try:
        return sentence(data) if sentence else _as_it_is(kind, data)
    except (KeyError, TypeError, ValueError):  # a recording of another version
        return _as_it_is(kind, data)


def _as_it_is(kind: str, data: Mapping[str, Any]) -> Line:
    told = ", ".join(f"{harmless(name, _SHORT)} {value_text(value)}" for name, value in data.items())
    return "note", f"{_plain(kind)}: {told}" if told else _plain(kind)


def _asked(data: Mapping[str, Any]) -> Line:
    why = _ASKED.get(data["why"], _plain(data["why"]))
    return "asks", f"the model, {why}, {'with' if data['image'] else 'without'} a picture"


def _failed(data: Mapping[str, Any]) -> Line:
    times = f" ({data['in_a_row']} times in a row)" if data["in_a_row"] > 1 else ""
    return "model", f"no decision{times}: {harmless(data['reason'], _LONG)}"


def _tier(data: Mapping[str, Any]) -> Line:
    since = "" if data["tier"] == Tier.CONTINUE else f"no answer for {data['owed_s']:.0f} s: "
    return "model", f"{since}{_TIERS[data['tier']]}"


def _minute(data: Mapping[str, Any]) -> Line:
    events = f"{data['calls_per_min']:g} calls a minute, {data['triggered']} of them for what was seen"
    return "model", f"{events}, {data['skipped']} left out; answers took {data['avg_latency_ms']:g} ms"


def _effect(data: Mapping[str, Any]) -> Line:
    thing = f" the {harmless(data['thing'], _SHORT)}" if data["thing"] else ""
    purpose = f", for {harmless(data['for'], _SHORT)}" if data["for"] else ""
    what = f"{_plain(data['what'])}{thing}{purpose}"
    if data["success"]:
        return "done", what
    return "failed", f"{what}: {harmless(data['reason'], _LONG)}" if data["reason"] else what


def _because(label: str, words: str) -> Callable[[Mapping[str, Any]], Line]:
    return lambda data: (label, f"{words}: {harmless(data['reason'], _LONG)}" if data.get("reason") else words)


_NOTES: Final[Mapping[str, Callable[[Mapping[str, Any]], Line]]] = {
    "asked": _asked,
    "skip": lambda data: ("model", f"is not asked: {harmless(data['why'], _SHORT)}"),
    "trigger": lambda data: ("sees", "; ".join(_SEEN.get(each, each) for each in str(data["triggers"]).split(", "))),
    "model_failed": _failed,
    "model_ended": _because("model", "is asked no more"),
    "tier": _tier,
    "statistics": _minute,
    "effect": _effect,
    "paused": _because("model", "is not asked: a person decides"),
    "resumed": _because("model", "may decide again"),
    "emergency_stop": _because("safety", "emergency stop"),
    "release": _because("safety", "the emergency stop is lifted"),
    "not_saved": _because("failed", "the memory could not be saved"),
    "not_stopped": _because("failed", "the robot could not be told to stop"),
    "ended": lambda data: _because("ended", _plain(data["reason"]))({"reason": data.get("because")}),
}


def value_text(value: object) -> str:
    """A value as it can be shown in a terminal, whoever wrote it."""
    return f"{value:.2f}" if isinstance(value, float) else harmless(value, _SHORT)


def _plain(name: object) -> str:
    return harmless(name, _SHORT).replace("_", " ")


def _turn(degrees: float) -> str:
    return f"{abs(degrees):.0f} degrees to the {'left' if degrees > 0 else 'right'}"


def time_text(seconds: float) -> str:
    """Minutes and seconds, such as ``2:05.1``."""
    tenths = round(10 * max(0.0, seconds))
    return f"{tenths // 600}:{tenths % 600 / 10:04.1f}"
