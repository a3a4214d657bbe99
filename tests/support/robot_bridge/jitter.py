"""How evenly the control loop ticks."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from robot_bridge.contracts import Applied
from robot_bridge.control.controller import Controller
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import Clock, Robot
from robot_bridge.safety.chain import SafetyChain


@dataclass(frozen=True, slots=True)
class Jitter:
    """The loop's period in milliseconds: median, 99th percentile, and 99th percentile of its deviation."""

    periods: int
    p50_ms: float
    p99_ms: float
    deviation_p99_ms: float


class TimedController(Controller):
    """A controller that keeps the times at which its ticks begin."""

    def __init__(self, robot: Robot, clock: Clock, navigation: Navigation, chain: SafetyChain) -> None:
        super().__init__(robot, clock, navigation, chain)
        self._begun = list[float]()

    def tick(self) -> Applied:
        self._begun.append(time.perf_counter())
        return super().tick()

    @property
    def jitter(self) -> Jitter:
        """Return the jitter of the periods so far."""
        periods = 1000 * np.diff(self._begun)
        if not len(periods):
            return Jitter(0, 0.0, 0.0, 0.0)
        p50, p99 = np.percentile(periods, (50, 99))
        deviation = np.percentile(np.abs(periods - 1000 / self.config.control_rate), 99)
        return Jitter(len(periods), float(p50), float(p99), float(deviation))
