"""Write the message that a model gets with every request: a snapshot and the memory, in 400 to 600 tokens (pure).

The message has one topic per line, always in the same order, because
``robot_bridge.decisions.messages.message_parser`` parses the message. Untrusted text is quoted and has no line breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from robot_bridge.contracts import NavigationDecision
from robot_bridge.decisions.memory.exploration_memory import filter_parameters
from robot_bridge.decisions.memory.memory_text import NONE, call_text
from robot_bridge.decisions.messages.sensor_snapshot import SensorSnapshot
from robot_bridge.text import harmless


class LeftOut(StrEnum):
    """Reasons to send a message without a picture, in the words that the model reads."""

    UNCHANGED = "the scene has not changed"
    LOOKS_THE_SAME = "the robot has moved, but it looks the same"
    NO_NEWER = "the camera has no newer one"
    ON_THE_WAY = "the robot is on its way to a goal"


IMAGE: Final = "IMAGE: attached"
IMAGE_LEFT_OUT: Final = "IMAGE: left out"
NO_IMAGE: Final = "IMAGE: none, there is no camera"
_QUOTED: Final = 400
"""Greatest length of a quoted text."""
_SHORT: Final = 100
"""Greatest length of a name."""
_MAX_DATA: Final = 6
"""Greatest number of shown entries of a result's data."""


def user_message(
    snapshot: SensorSnapshot,
    memory_text: str,
    notes: Sequence[str] = (),
    image: str = NO_IMAGE,
    last: NavigationDecision | None = None,
) -> str:
    """Return the text of a message to the model.

    Args:
        snapshot: sensor data.
        memory_text: text of the exploration memory.
        notes: what was wrong with the model's last answer.
        image: the line ``IMAGE``, ``IMAGE_LEFT_OUT`` or ``NO_IMAGE``; a reason may follow ``IMAGE_LEFT_OUT``.
        last: the model's last call.
    """
    state = _format_state(snapshot.robot_state)
    scores = [f"{name} {score:.2f}" for name, score in snapshot.affordance_scores.items()]
    affordances = ", ".join(scores)
    last_call = call_text(last.tool_name, filter_parameters(last)) if last else NONE
    result = _format_result(snapshot.previous_action_result)
    lines = [
        f"STATE: {state}",
        "LIDAR:",
        snapshot.lidar_summary,
        f"AFFORDANCES: {affordances}",
        f"LAST CALL: {last_call}",
        f"PREVIOUS ACTION: {result}",
    ]
    lines += [f"NOTE: {harmless(note, _QUOTED)}" for note in notes]
    lines.append(memory_text)
    lines.append(image)
    return "\n".join(lines)


def _format_state(state: Mapping[str, Any]) -> str:
    heading = f"heading {state['heading_deg']:.0f}° {state['heading_cardinal']}"
    battery = "not known" if state["battery_v"] is None else f"{state['battery_v']:.1f} V"
    parts = [
        f"x {state['x']:.2f} m",
        f"y {state['y']:.2f} m",
        heading,
        f"speed {state['speed_mps']:.2f} m/s",
        f"driven {state['distance_traveled_m']:.1f} m",
        f"time {state['explore_time_s']:.0f} s",
        f"battery {battery}",
    ]
    return ", ".join(parts)


def _format_result(result: Mapping[str, Any] | None) -> str:
    """Return the result of an action, given as the fields of ``ActionResult``, in a line."""
    if result is None:
        return NONE
    name = harmless(result["tool_name"], _SHORT)
    outcome = "success" if result["success"] else "failed"
    distance = f"{result['actual_distance_m']:+.2f} m"
    turned = f"{result['turned_deg']:+d}°"
    parts = [f"{name} {outcome}", distance, turned]
    if result["stopped_reason"]:
        parts.append(f"stopped: {_quote(result['stopped_reason'])}")
    for key, value in list(result["data"].items())[:_MAX_DATA]:
        parts.append(f"{harmless(key, _SHORT)}: {_format_value(value)}")
    return ", ".join(parts)


def _format_value(value: object) -> str:
    """Return a value of a result's data as text; a text is untrusted and is quoted."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return str(value)
    return _quote(value)


def _quote(text: object) -> str:
    return '"' + harmless(text, _QUOTED).replace('"', "'") + '"'
