"""The message that a model gets with every request: one snapshot and the memory, in 400 to 600 tokens (pure).

It has one topic per line, always in this order; ``robot_bridge.decisions.messages.message_parser`` reads it. Untrusted
text is quoted and has no line breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from robot_bridge.contracts import NavigationDecision
from robot_bridge.decisions.memory.exploration_memory import parameters_told
from robot_bridge.decisions.memory.memory_text import NONE, call_text
from robot_bridge.decisions.messages.sensor_snapshot import SensorSnapshot
from robot_bridge.text import harmless


class LeftOut(StrEnum):
    """Why a picture does not go with a message, in the words in which the model reads it."""

    UNCHANGED = "the scene has not changed"
    LOOKS_THE_SAME = "the robot has moved, but it looks the same"
    NO_NEWER = "the camera has no newer one"
    ON_THE_WAY = "the robot is on its way to a goal"


IMAGE: Final = "IMAGE: attached"
IMAGE_LEFT_OUT: Final = "IMAGE: left out"
NO_IMAGE: Final = "IMAGE: none, there is no camera"
_QUOTED: Final = 400
_SHORT: Final = 100
_MOST_DATA: Final = 6


def user_message(
    snapshot: SensorSnapshot,
    memory_text: str,
    notes: Sequence[str] = (),
    image: str = NO_IMAGE,
    last: NavigationDecision | None = None,
) -> str:
    """Return the message. ``notes`` say what was wrong with the model's last answer, ``last`` is that call.

    ``image`` is one of the three lines above; the reason for leaving the image out may follow it.
    """
    lines = [
        f"STATE: {_state(snapshot.robot_state)}",
        "LIDAR:",
        snapshot.lidar_summary,
        f"AFFORDANCES: {', '.join(f'{name} {score:.2f}' for name, score in snapshot.affordance_scores.items())}",
        f"LAST CALL: {call_text(last.tool_name, parameters_told(last)) if last else NONE}",
        f"PREVIOUS ACTION: {_result(snapshot.previous_action_result)}",
        *(f"NOTE: {harmless(note, _QUOTED)}" for note in notes),
        memory_text,
        image,
    ]
    return "\n".join(lines)


def _state(state: Mapping[str, Any]) -> str:
    battery = "not known" if state["battery_v"] is None else f"{state['battery_v']:.1f} V"
    return (
        f"x {state['x']:.2f} m, y {state['y']:.2f} m, heading {state['heading_deg']:.0f}° {state['heading_cardinal']}, "
        f"speed {state['speed_mps']:.2f} m/s, driven {state['distance_traveled_m']:.1f} m, "
        f"time {state['explore_time_s']:.0f} s, battery {battery}"
    )


def _result(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return NONE
    outcome = "success" if result["success"] else "failed"
    parts = [
        f"{harmless(result['tool_name'], _SHORT)} {outcome}, {result['actual_distance_m']:+.2f} m, "
        f"{result['turned_deg']:+d}°",
        *([f"stopped: {_quoted(result['stopped_reason'])}"] if result["stopped_reason"] else []),
        *(f"{harmless(name, _SHORT)}: {_value(value)}" for name, value in list(result["data"].items())[:_MOST_DATA]),
    ]
    return ", ".join(parts)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value) if isinstance(value, int) else _quoted(value)


def _quoted(text: object) -> str:
    return '"' + harmless(text, _QUOTED).replace('"', "'") + '"'
