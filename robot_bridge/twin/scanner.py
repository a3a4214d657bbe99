"""The simulated lidar: one ray a beam, all at one instant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose
from robot_bridge.twin import mjcf

_GROUPS = np.array([group == mjcf.SOLID for group in range(6)], np.uint8)


class Scanner:
    """Casts rays into a model; sees neither the robot nor what hangs above it."""

    def __init__(self, mujoco: Any, model: Any, data: Any, lidar: Lidar) -> None:
        self._mj = mujoco
        self._model = model
        self._data = data
        self._lidar = lidar
        angles = lidar.angle_min + np.arange(lidar.beams) * lidar.angle_increment
        self._across = np.sin(angles)
        self._along = np.cos(angles)

    def ranges(self, pose: Pose) -> NDArray[np.float64]:
        """Return metres by beam, inf beyond the lidar's range; ``pose``: of the rear axle in world coordinates."""
        lidar = self._lidar
        c = np.cos(pose.heading)
        s = np.sin(pose.heading)
        rays = np.zeros((lidar.beams, 3))
        rays[:, 0] = c * self._along - s * self._across
        rays[:, 1] = s * self._along + c * self._across
        origin = np.array([*pose.ahead(lidar.x), lidar.z])
        hit = np.empty(lidar.beams, np.int32)
        far = np.empty(lidar.beams)
        self._mj.mj_multiRay(
            self._model,
            self._data,
            origin,
            rays.ravel(),
            _GROUPS,
            True,
            -1,
            hit,
            far,
            None,
            lidar.beams,
            lidar.range_max,
        )
        far[(hit < 0) | (far > lidar.range_max)] = np.inf
        return far
