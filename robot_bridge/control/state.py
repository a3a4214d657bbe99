"""The control loop's state, for code that builds snapshots and checks decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    ActionResult,
    Estimate,
    ExecutionResult,
    Frontier,
    Gap,
    Observation,
    Odometry,
    Pose,
    Scan,
)
from robot_bridge.safety.scans import gaps, obstacle_distances


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """State at one tick (``vm`` in the original code), immutable so that any thread may read it.

    Distances and gaps are computed on demand, once for all views of the same scan.

    ``current`` is the decision that is being carried out, and ``so_far`` is its result up to now.
    ``previous_action_result`` is the newest result, which may be equal to ``so_far``.
    """

    now: float
    config: RobotConfig
    observation: Observation = field(default_factory=Observation)
    estimate: Estimate = field(default_factory=lambda: Estimate(0.0, Pose(), REST))
    frontiers: Sequence[Frontier] = ()
    distance_traveled_m: float = 0.0
    explore_time_s: float = 0.0
    previous_action_result: ActionResult | None = None
    current: ExecutionResult | None = None
    so_far: ActionResult | None = None

    @property
    def latest_image(self) -> NDArray[np.uint8] | None:
        return self.observation.frame.rgb if self.observation.frame else None

    @property
    def latest_depth(self) -> NDArray[np.float32] | None:
        return self.observation.frame.depth if self.observation.frame else None

    @property
    def latest_scan(self) -> Scan | None:
        return self.observation.scan

    @property
    def latest_odom(self) -> Odometry | None:
        return self.observation.odometry

    @property
    def current_position(self) -> Pose:
        return self.estimate.pose

    @property
    def obstacle_distances(self) -> Mapping[str, float]:
        """Metres from the lidar to the nearest valid return by :class:`Direction` value; empty before the first scan.

        In a direction without a valid return, the distance is ``range_max``.
        """
        return _distances(self.observation.scan, self.config) if self.observation.scan else {}

    @property
    def detected_gaps(self) -> Sequence[Gap]:
        return _gaps(self.observation.scan, self.config) if self.observation.scan else ()


@lru_cache(maxsize=2)
def _distances(scan: Scan, config: RobotConfig) -> Mapping[str, float]:
    """Return the obstacle distances in a scan, cached by the identity of the scan, because scans are immutable."""
    return MappingProxyType(obstacle_distances(scan, config))


@lru_cache(maxsize=2)
def _gaps(scan: Scan, config: RobotConfig) -> Sequence[Gap]:
    return gaps(scan, config)
