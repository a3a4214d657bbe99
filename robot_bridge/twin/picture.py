"""Pictures of the simulated world: what the robot's RGB-D camera sees, and the view from above for people.

Colour and depth come from one drawing. Any thread may draw, one at a time.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Camera
from robot_bridge.twin import mjcf
from robot_bridge.twin.engine import Canvas, NoPictureError
from robot_bridge.twin.worlds.world import TwinWorld

_TILT = radians(12)
"""Of the view from above, so that fronts can be told from tops."""
_LOW_WALL = 0.22
"""Walls are drawn no higher in the view from above: they would hide what is behind them."""
_WALL_TOP = (0.36, 0.40, 0.46)
_MARGIN = 0.15
_HALO = 0.028
_HALO_COLOUR = (1.0, 0.62, 0.0, 0.45)
"""A disc under the robot, so that it is found in the view from above: its radius as a share of what is in view."""
_FINE = 2
"""The view from above is drawn so many times as large and then averaged: smooth edges, where smoothing by the graphics
library would make every picture of the camera three times as slow."""


class Painter:
    """Owns the drawing context of one model. Close it when done.

    Raises:
        NoPictureError: this machine cannot draw.
    """

    def __init__(self, mujoco: Any, model: Any, world: TwinWorld, camera: Camera) -> None:
        self._mj = mujoco
        self._model = model
        self._world = world
        self._camera = camera
        self._canvas = Canvas()
        with self._canvas:
            try:
                self._context: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
            except mujoco.FatalError as error:
                raise NoPictureError(f"the graphics library is not enough: {error}") from error
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
            self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene: Any = mujoco.MjvScene(model, maxgeom=model.ngeom + 50)
        self._walls = self._find_walls()
        self._eye = self._view(mujoco.mjtCamera.mjCAMERA_FIXED)
        self._eye.fixedcamid = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "eye")
        self._above = self._view(mujoco.mjtCamera.mjCAMERA_FREE)
        self._seen_by_robot = self._groups(mjcf.SOLID, mjcf.MARKS, mjcf.SIGNS)
        self._seen_from_above = self._groups(mjcf.SOLID, mjcf.MARKS, mjcf.CAR)

    def frame(self, data: Any) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return what the camera sees, without noise: rgb (height, width, 3) and depth (height, width) in metres."""
        self._update(data, self._seen_by_robot, self._eye)
        rgb, drawn_depth = self._draw(self._camera.width, self._camera.height)

        # The depth buffer holds 0 at the far plane and 1 at the near one (mjDEPTH_ZEROFAR).
        planes = self._model.vis.map
        extent = self._model.stat.extent
        near = np.float32(planes.znear * extent)
        far = np.float32(planes.zfar * extent)
        return rgb, near * far / (near + drawn_depth * (far - near))

    def top_view(self, data: Any, width: int) -> NDArray[np.uint8]:
        """Return the world from above, north up: rgb (height, width, 3), at most ``mjcf.TOP_VIEW`` wide and high."""
        x0, y0, x1, y1 = self._world.bounds
        span = x1 - x0 + 2 * _MARGIN
        ground_depth = (y1 - y0 + 2 * _MARGIN) * cos(_TILT)
        depth = ground_depth + _LOW_WALL * sin(_TILT)
        fitting = int(mjcf.TOP_VIEW * span / depth)
        width = max(1, min(width, mjcf.TOP_VIEW, fitting))
        height = max(1, round(width * depth / span))

        self._above.lookat[:] = (x0 + x1) / 2, (y0 + y1) / 2, 0
        self._above.distance = 20.0
        self._above.azimuth = 90.0
        self._above.elevation = -90 + np.degrees(_TILT)

        self._update(data, self._seen_from_above, self._above)
        self._lower_walls()
        self._add_halo(data, _HALO * span)
        for eye in self._scene.camera:
            eye.orthographic = 1
            eye.frustum_center = 0
            eye.frustum_width = span / 2
            eye.frustum_top = depth / 2
            eye.frustum_bottom = -depth / 2
            eye.frustum_near = 1.0
            eye.frustum_far = 40.0

        drawn, _ = self._draw(width * _FINE, height * _FINE)
        return _average_blocks(drawn)

    def close(self) -> None:
        with self._canvas:
            self._context.free()
        self._canvas.close()

    def _find_walls(self) -> set[int]:
        names = [self._model.geom(geom).name for geom in range(self._model.ngeom)]
        return {geom for geom, name in enumerate(names) if name.startswith("wall")}

    def _view(self, kind: int) -> Any:
        camera = self._mj.MjvCamera()
        camera.type = kind
        return camera

    def _groups(self, *shown: int) -> Any:
        option = self._mj.MjvOption()
        option.geomgroup[:] = [int(group in shown) for group in range(len(option.geomgroup))]
        return option

    def _update(self, data: Any, option: Any, camera: Any) -> None:
        every = self._mj.mjtCatBit.mjCAT_ALL
        self._mj.mjv_updateScene(self._model, data, option, None, camera, every, self._scene)

    def _lower_walls(self) -> None:
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == self._mj.mjtObj.mjOBJ_GEOM and geom.objid in self._walls:
                geom.size[2] = _LOW_WALL / 2
                geom.pos[2] = _LOW_WALL / 2
                geom.rgba[:3] = _WALL_TOP

    def _add_halo(self, data: Any, radius: float) -> None:
        car = data.body("car").xpos
        size = np.array([radius, 0.003, 0.0])
        place = np.array([car[0], car[1], 0.006])
        kind = self._mj.mjtGeom.mjGEOM_CYLINDER
        colour = np.array(_HALO_COLOUR, np.float32)
        upright = np.eye(3).ravel()
        geom = self._scene.geoms[self._scene.ngeom]
        self._mj.mjv_initGeom(geom, kind, size, place, upright, colour)
        self._scene.ngeom += 1

    def _draw(self, width: int, height: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        rgb = np.empty((height, width, 3), np.uint8)
        depth = np.empty((height, width), np.float32)
        rect = self._mj.MjrRect(0, 0, width, height)
        with self._canvas:
            self._mj.mjr_render(rect, self._scene, self._context)
            self._mj.mjr_readPixels(rgb, depth, rect, self._context)

        # OpenGL counts rows from below.
        upright_rgb = np.ascontiguousarray(rgb[::-1])
        upright_depth = np.ascontiguousarray(depth[::-1])
        return upright_rgb, upright_depth


def _average_blocks(fine: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture of a share ``1 / _FINE`` of the size, each pixel the mean of a square, rounded down."""
    total = np.zeros_like(fine[::_FINE, ::_FINE], np.uint16)
    for row in range(_FINE):
        for column in range(_FINE):
            total += fine[row::_FINE, column::_FINE]
    return (total // _FINE**2).astype(np.uint8)
