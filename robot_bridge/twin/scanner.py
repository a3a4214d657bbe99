"""The simulated lidar: one ray for each beam, all rays at the same instant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose
from robot_bridge.twin import mjcf

_SEEN_GROUPS = np.array([group == mjcf.SOLID for group in range(6)], np.uint8)
"""For each of MuJoCo's six geom groups, 1 if rays hit the group."""


class Scanner:
    """Casts rays into a model; the rays hit neither the robot nor the signs above the robot."""

    def __init__(self, mujoco: Any, model: Any, data: Any, lidar: Lidar) -> None:
        self._mj = mujoco
        self._model = model
        self._data = data
        self._lidar = lidar
        angles = lidar.angle_min + np.arange(lidar.beams) * lidar.angle_increment
        self._sines = np.sin(angles)
        self._cosines = np.cos(angles)

    def ranges(self, pose: Pose) -> NDArray[np.float64]:
        """Return the distance along each beam, metres (beams,); inf beyond the lidar's range.

        ``pose`` is the pose of the rear axle in world coordinates.
        """
        lidar = self._lidar
        c = np.cos(pose.heading)
        s = np.sin(pose.heading)
        rays = np.zeros((lidar.beams, 3))
        rays[:, 0] = c * self._cosines - s * self._sines
        rays[:, 1] = s * self._cosines + c * self._sines
        origin = np.array([*pose.ahead(lidar.x), lidar.z])
        hit_geoms = np.empty(lidar.beams, np.int32)  # -1 without a hit
        distances = np.empty(lidar.beams)
        self._mj.mj_multiRay(
            self._model,
            self._data,
            origin,
            rays.ravel(),
            _SEEN_GROUPS,
            True,
            -1,
            hit_geoms,
            distances,
            None,
            lidar.beams,
            lidar.range_max,
        )
        distances[(hit_geoms < 0) | (distances > lidar.range_max)] = np.inf
        return distances
