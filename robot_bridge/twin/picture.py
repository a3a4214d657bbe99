"""Pictures of the simulated world: the view of the robot's RGB-D camera, and the view from above for people.

Colour and depth of the camera come from the same drawing. Any thread may draw, one thread at a time.
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

_TILT_RADIANS = radians(12)
"""Tilt of the view from above, so that fronts can be told from tops."""
_LOW_WALL_M = 0.22
"""Height of walls in the view from above, metres; higher walls would hide the things behind them."""
_WALL_TOP = (0.36, 0.40, 0.46)
_MARGIN_M = 0.15
_HALO_SHARE = 0.028
_HALO_COLOUR = (1.0, 0.62, 0.0, 0.45)
"""The radius, as a fraction of the view's width, and the colour of the disc under the robot.

The disc marks the robot in the view from above.
"""
_OVERSAMPLING = 2
"""Factor by which the view from above is drawn larger and reduced again, which gives smooth edges.

Smoothing by the graphics library would make every picture of the camera three times as slow.
"""


class Painter:
    """Draws pictures of one model; a painter owns a drawing context and must be closed.

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
        self._eye = self._make_camera(mujoco.mjtCamera.mjCAMERA_FIXED)
        self._eye.fixedcamid = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "eye")
        self._above = self._make_camera(mujoco.mjtCamera.mjCAMERA_FREE)
        self._seen_by_robot = self._show_groups(mjcf.SOLID, mjcf.MARKS, mjcf.SIGNS)
        self._seen_from_above = self._show_groups(mjcf.SOLID, mjcf.MARKS, mjcf.CAR)

    def frame(self, data: Any) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return (rgb, depth) of the camera without noise: (height, width, 3), and metres (height, width)."""
        self._update(data, self._seen_by_robot, self._eye)
        rgb, drawn_depth = self._draw(self._camera.width, self._camera.height)

        # The depth buffer holds 0 at the far plane and 1 at the near plane (mjDEPTH_ZEROFAR).
        planes = self._model.vis.map
        extent = self._model.stat.extent
        near = np.float32(planes.znear * extent)
        far = np.float32(planes.zfar * extent)
        return rgb, near * far / (near + drawn_depth * (far - near))

    def top_view(self, data: Any, width: int) -> NDArray[np.uint8]:
        """Return the world from above, north up: rgb (height, width, 3), at most ``mjcf.TOP_VIEW`` wide and high."""
        x0, y0, x1, y1 = self._world.bounds
        # Width and height of the view in metres.
        span = x1 - x0 + 2 * _MARGIN_M
        ground_depth = (y1 - y0 + 2 * _MARGIN_M) * cos(_TILT_RADIANS)
        depth = ground_depth + _LOW_WALL_M * sin(_TILT_RADIANS)
        max_width = int(mjcf.TOP_VIEW * span / depth)
        width = max(1, min(width, mjcf.TOP_VIEW, max_width))
        height = max(1, round(width * depth / span))

        self._above.lookat[:] = (x0 + x1) / 2, (y0 + y1) / 2, 0
        self._above.distance = 20.0
        self._above.azimuth = 90.0
        self._above.elevation = -90 + np.degrees(_TILT_RADIANS)

        self._update(data, self._seen_from_above, self._above)
        self._lower_walls()
        self._add_halo(data, _HALO_SHARE * span)
        for eye in self._scene.camera:
            eye.orthographic = 1
            eye.frustum_center = 0
            eye.frustum_width = span / 2
            eye.frustum_top = depth / 2
            eye.frustum_bottom = -depth / 2
            eye.frustum_near = 1.0
            eye.frustum_far = 40.0

        drawn, _ = self._draw(width * _OVERSAMPLING, height * _OVERSAMPLING)
        return _average_blocks(drawn)

    def close(self) -> None:
        with self._canvas:
            self._context.free()
        self._canvas.close()

    def _find_walls(self) -> set[int]:
        """Return the geom ids of the walls."""
        names = [self._model.geom(geom).name for geom in range(self._model.ngeom)]
        return {geom for geom, name in enumerate(names) if name.startswith("wall")}

    def _make_camera(self, kind: int) -> Any:
        camera = self._mj.MjvCamera()
        camera.type = kind
        return camera

    def _show_groups(self, *shown: int) -> Any:
        """Return drawing options that show only these geom groups."""
        option = self._mj.MjvOption()
        option.geomgroup[:] = [int(group in shown) for group in range(len(option.geomgroup))]
        return option

    def _update(self, data: Any, option: Any, camera: Any) -> None:
        """Fill the scene with the geoms that the camera is to draw."""
        all_categories = self._mj.mjtCatBit.mjCAT_ALL
        self._mj.mjv_updateScene(self._model, data, option, None, camera, all_categories, self._scene)

    def _lower_walls(self) -> None:
        """Make the walls of the scene low and dark; the model does not change."""
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == self._mj.mjtObj.mjOBJ_GEOM and geom.objid in self._walls:
                geom.size[2] = _LOW_WALL_M / 2
                geom.pos[2] = _LOW_WALL_M / 2
                geom.rgba[:3] = _WALL_TOP

    def _add_halo(self, data: Any, radius: float) -> None:
        """Add the disc under the robot to the scene."""
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
        """Draw the scene; return (rgb, depth buffer) with row 0 at the top."""
        rgb = np.empty((height, width, 3), np.uint8)
        depth = np.empty((height, width), np.float32)
        rect = self._mj.MjrRect(0, 0, width, height)
        with self._canvas:
            self._mj.mjr_render(rect, self._scene, self._context)
            self._mj.mjr_readPixels(rgb, depth, rect, self._context)

        # OpenGL counts rows from the bottom.
        upright_rgb = np.ascontiguousarray(rgb[::-1])
        upright_depth = np.ascontiguousarray(depth[::-1])
        return upright_rgb, upright_depth


def _average_blocks(fine: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the picture reduced by ``_OVERSAMPLING``; each pixel is the mean of a square of pixels, rounded down."""
    total = np.zeros_like(fine[::_OVERSAMPLING, ::_OVERSAMPLING], np.uint16)
    for row in range(_OVERSAMPLING):
        for column in range(_OVERSAMPLING):
            total += fine[row::_OVERSAMPLING, column::_OVERSAMPLING]
    return (total // _OVERSAMPLING**2).astype(np.uint8)
