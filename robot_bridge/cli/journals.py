"""Journals for people: a narrator that prints events, and the trail of the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final

from robot_bridge.cli import narration
from robot_bridge.contracts import ActionResult, Applied, Command, Estimate, ExecutionResult, Pose
from robot_bridge.exploration.endings import is_ordinary
from robot_bridge.protocols import Journal
from robot_bridge.safety.chain import strip_figures
from robot_bridge.text import harmless

_REPEATED_AFTER: Final = 5.0
"""An intervention is described again only if no intervention of the same kind happened for this many seconds before it.
"""


class Trail(Journal):
    """Journal that keeps poses along the robot's path, at least ``spacing`` metres apart."""

    def __init__(self, spacing: float = 0.05) -> None:
        self.poses: list[Pose] = []
        self._spacing = spacing

    def record_estimate(self, estimate: Estimate) -> None:
        pose = estimate.pose
        last = self.poses[-1] if self.poses else None
        if last is None or last.distance_to(pose.x, pose.y) >= self._spacing:
            self.poses.append(pose)


def _print_line(line: str) -> None:
    print(line, flush=True)


class Narrator(Journal):
    """Journal that describes decisions, results, interventions and other events for a person, one line each.

    Ordinary interventions, such as the limit on acceleration at every start, are left out.

    Args:
        tell: takes every line; by default prints and flushes the line.
        began: time on the robot's clock at which the times in the lines begin.
    """

    def __init__(self, tell: Callable[[str], None] = _print_line, began: float = 0.0) -> None:
        self._tell = tell
        self._began = began
        self._last_told: dict[str, float] = {}

    def record_decision(self, now: float, result: ExecutionResult) -> None:
        self._line(now, narration.describe_decision(result))

    def record_action(self, now: float, result: ActionResult) -> None:
        self._line(now, narration.describe_result(result))

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:  # noqa: ARG002
        kind = strip_figures(applied.reason)
        if not kind or is_ordinary(kind):
            return
        if now - self._last_told.get(kind, -inf) >= _REPEATED_AFTER:
            self._line(now, ("safety", harmless(applied.reason, 120)))
        self._last_told[kind] = now

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        self._line(now, narration.describe_note(kind, data))

    def _line(self, now: float, line: narration.Line) -> None:
        kind, sentence = line
        time = narration.time_text(now - self._began)
        self._tell(f"{time:>8}  {kind:<7}  {sentence}")
