"""A made-up run with everything that a journal can be told, and what a log tells again, as comparable text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import (
    REST,
    ActionResult,
    Applied,
    Command,
    Estimate,
    ExecutionResult,
    Frame,
    NavGoalTarget,
    NavigationDecision,
    Observation,
    Odometry,
    Pose,
    Scan,
    Source,
    StopTarget,
    Twist,
)
from robot_bridge.protocols import Journal
from robot_bridge.ros.log.records import to_json


class Heard(Journal):
    """A journal that keeps what it is told as text, without pictures."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scans: list[Scan | None] = []

    def record_observation(self, observation: Observation) -> None:
        scan = observation.scan
        self.scans.append(scan)
        self._keep(
            "observed",
            scan and [scan.ranges.tobytes().hex(), scan.stamp, scan.angle_min, scan.angle_increment, scan.range_max],
            observation.odometry,
            observation.battery,
        )

    def record_estimate(self, estimate: Estimate) -> None:
        self._keep("estimated", estimate)

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        self._keep("commanded", now, list(commands), applied)

    def record_decision(self, now: float, result: ExecutionResult) -> None:
        self._keep("decided", now, result)

    def record_action(self, now: float, result: ActionResult) -> None:
        self._keep("acted", now, result)

    def record_map(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        self._keep("mapped", now, codes.tolist(), resolution, x, y)

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        self._keep("noted", now, kind, data)

    def _keep(self, *what: object) -> None:
        self.lines.append(to_json(what))


def frame(stamp: float) -> Frame:
    rgb = np.full((48, 64, 3), (200, 100, 50), dtype=np.uint8)
    return Frame(stamp, rgb, np.full((48, 64), 1.25, dtype=np.float32), 55.5)


def scan(stamp: float, seed: int) -> Scan:
    ranges = np.random.default_rng(seed).uniform(0.1, 5, 90).astype(np.float32)
    ranges[:5] = [nan, inf, -inf, -1.0, 0.0]
    return Scan(stamp, ranges, -np.pi, 2 * np.pi / 90, 0.05, 12.0)


def tell(journal: Journal, ticks: int = 80, period: float = 0.05) -> None:
    """A run from time 0.3 on, with pictures once a second and a scan every other tick."""
    begin = 0.3
    seen = Observation()
    journal.record_note(begin, "start", {"world": "a\x1b[31mb", "numbers": [inf, 0.1]})
    for tick in range(ticks):
        now = begin + tick * period
        odometry = Odometry(now - 0.001, Pose(0.1 * tick, 0.2, 0.3), Twist(0.1, -0.2))
        fresh = scan(now - 0.03, tick) if tick % 2 else seen.scan
        seen = Observation(fresh, frame(now) if tick % 20 == 10 else seen.frame, odometry, 12.1 if tick else None)
        journal.record_observation(seen)
        journal.record_estimate(Estimate(now, Pose(0.1 * tick, 0.25, 0.3), Twist(0.1, -0.2), tick % 3 > 0))
        commands = (Command(Twist(0.1, nan), Source.MODEL, inf), Command(REST, Source.PLANNER, now))
        journal.record_command(now, commands, Applied(Twist(0.1, -0.0), "model", "a reason"))
    decision = NavigationDecision(
        "navigate_to_goal", {"x": 1.5, "_": None, "reason": "\u2603"}, "why", 0.5, {"id": "z"}
    )
    journal.record_decision(4.3, ExecutionResult(NavGoalTarget(1.5, 2.0), decision, True, data={"clear": True}))
    journal.record_action(4.4, ActionResult("navigate_to_goal", False, 1.1, -3.0, "stuck", {"text": "box"}))
    journal.record_decision(4.4, ExecutionResult(StopTarget("no"), decision, False, "blocked"))
    journal.record_map(4.5, np.array([[-1, 0, 100], [5, 50, 99]], dtype=np.int8), 0.05, -1.0, 2.5)
