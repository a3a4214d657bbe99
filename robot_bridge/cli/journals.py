"""Listeners of what happens: told to several, told to a terminal, kept as a trail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.cli import narration
from robot_bridge.contracts import ActionResult, Applied, Command, Estimate, ExecutionResult, Observation, Pose
from robot_bridge.exploration.endings import is_ordinary
from robot_bridge.protocols import Journal
from robot_bridge.safety.chain import kind_of
from robot_bridge.text import harmless

_REPEATED_AFTER: Final = 5.0
"""Seconds after which the same intervention is worth telling again."""


class Several(Journal):
    """Tells several journals, in order."""

    def __init__(self, journals: Sequence[Journal]) -> None:
        self._journals = tuple(journals)

    def observed(self, observation: Observation) -> None:
        for each in self._journals:
            each.observed(observation)

    def estimated(self, estimate: Estimate) -> None:
        for each in self._journals:
            each.estimated(estimate)

    def commanded(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        for each in self._journals:
            each.commanded(now, commands, applied)

    def decided(self, now: float, result: ExecutionResult) -> None:
        for each in self._journals:
            each.decided(now, result)

    def acted(self, now: float, result: ActionResult) -> None:
        for each in self._journals:
            each.acted(now, result)

    def mapped(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        for each in self._journals:
            each.mapped(now, codes, resolution, x, y)

    def noted(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        for each in self._journals:
            each.noted(now, kind, data)


class Trail(Journal):
    """Where the robot was, a point every few centimetres."""

    def __init__(self, spacing: float = 0.05) -> None:
        self.poses: list[Pose] = []
        self._spacing = spacing

    def estimated(self, estimate: Estimate) -> None:
        pose = estimate.pose
        if not self.poses or self.poses[-1].distance_to(pose.x, pose.y) >= self._spacing:
            self.poses.append(pose)


def _printed(line: str) -> None:
    print(line, flush=True)


class Narrator(Journal):
    """Tells in lines what a person wants to follow: decisions, their outcomes, interventions, whatever is noted.

    Limits on acceleration, which every start has, are not told.

    Args:
        tell: is given every line; by default it is printed at once, whatever the output is.
        began: on the robot's clock; lines count from it.
    """

    def __init__(self, tell: Callable[[str], None] = _printed, began: float = 0.0) -> None:
        self._tell, self._began = tell, began
        self._told: dict[str, float] = {}

    def decided(self, now: float, result: ExecutionResult) -> None:
        self._line(now, narration.decided(result))

    def acted(self, now: float, result: ActionResult) -> None:
        self._line(now, narration.acted(result))

    def commanded(self, now: float, commands: Sequence[Command], applied: Applied) -> None:  # noqa: ARG002
        kind = kind_of(applied.reason)
        if not kind or is_ordinary(kind):
            return
        if now - self._told.get(kind, -inf) >= _REPEATED_AFTER:
            self._line(now, ("safety", harmless(applied.reason, 120)))
        self._told[kind] = now

    def noted(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        self._line(now, narration.noted(kind, data))

    def _line(self, now: float, line: narration.Line) -> None:
        self._tell(f"{narration.time_text(now - self._began):>8}  {line[0]:<7}  {line[1]}")
