"""States of a robot that is looked through: made up, but of the real kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    ActionResult,
    Estimate,
    Frame,
    Frontier,
    NavigationDecision,
    Observation,
    Odometry,
    Pose,
    Scan,
    Twist,
)
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory

CONFIG = RobotConfig()
NOW = 7.0


def scan(range_at: Callable[[float], float] | float = 5.0) -> Scan:
    """A scan whose ranges are a function of the angle in degrees from ahead."""
    lidar = CONFIG.lidar
    angles = np.degrees(lidar.angle_min + lidar.angle_increment * np.arange(lidar.beams))
    ranges = [range_at(angle) if callable(range_at) else range_at for angle in angles]
    return Scan(
        NOW,
        np.array(ranges, np.float32),
        lidar.angle_min,
        lidar.angle_increment,
        lidar.range_min,
        lidar.range_max,
    )


def frame(seed: int = 0, height: int = 480, width: int = 640, stamp: float = 0.0) -> Frame:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 16, width // 16, 3), dtype=np.uint8)
    rgb = np.kron(coarse, np.ones((16, 16, 1), np.uint8))
    depth: NDArray[np.float32] = np.full(rgb.shape[:2], 2.0, np.float32)
    return Frame(stamp, rgb, depth, 461.0)


def view(
    seen: Scan | None = None,
    picture: Frame | None = None,
    *,
    pose: Pose | None = None,
    frontiers: Sequence[Frontier] = (),
    result: ActionResult | None = None,
    battery: float | None = 11.9,
    driven: float = 3.0,
    time: float = 75.0,
) -> View:
    where = pose or Pose(1.0, 2.0, pi / 2)
    odometry = Odometry(0.0, Pose(), Twist(0.12, 0.0))
    return View(
        now=NOW,
        config=CONFIG,
        observation=Observation(seen, picture, odometry, battery),
        estimate=Estimate(0.0, where, REST),
        frontiers=frontiers,
        distance_traveled_m=driven,
        explore_time_s=time,
        previous_action_result=result,
    )


def remember(
    memory: ExplorationMemory,
    tool: str,
    *,
    success: bool = True,
    moved: float = 1.0,
    reason: str = "",
    at: Pose | None = None,
    data: dict[str, Any] | None = None,
    **parameters: Any,
) -> None:
    """One more decision and what became of it."""
    result = ActionResult(tool, success, moved, 0.0, reason, data or {})
    memory.update_after_action(NavigationDecision(tool, parameters), result, at or Pose())
