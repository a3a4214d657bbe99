"""A simulated robot in a simulated world: the whole Robot protocol without hardware, on its own clock.

Physics are MuJoCo's. The same world, seed and commands give the same run, bit for bit, as long as pictures are drawn
by the same library. Waiting on :attr:`MujocoRobot.clock` moves the simulation; nothing else does. ``observe``,
``apply`` and ``stop`` may be called from any thread, time is moved by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Frame, Observation, Odometry, Pose, Scan, Twist
from robot_bridge.errors import DeviceError
from robot_bridge.twin import mjcf
from robot_bridge.twin.collisions import Collision, CollisionLog
from robot_bridge.twin.drive import Drive, feasible
from robot_bridge.twin.noise import DriftingOdometry, Noise, noisy_ranges
from robot_bridge.twin.world import TwinWorld

ODOMETRY_RATE = 50.0
SETTLE = 0.3
"""Seconds in which the car sinks onto its wheels before time begins."""
FULL_BATTERY, DRAIN = 12.4, 0.4 / 3600
"""Volts, and volts a second."""


class SimulatedClock:
    """Time of the simulation."""

    def __init__(self, robot: MujocoRobot) -> None:
        self._robot = robot

    def now(self) -> float:
        return self._robot.time

    def wait_until(self, time: float) -> None:
        self._robot.advance(time)


class MujocoRobot:
    """See the module. ``camera_fault`` says why there are no pictures, "" where there are."""

    def __init__(
        self,
        world: TwinWorld,
        *,
        config: RobotConfig | None = None,
        seed: int = 0,
        noise: Noise | None = None,
        with_camera: bool = True,
    ) -> None:
        import mujoco

        self._mj: Any = mujoco
        self._world, self._config = world, config or RobotConfig()
        self._noise = noise if noise is not None else Noise()
        self._model: Any = mujoco.MjModel.from_xml_string(mjcf.text(world, self._config), mjcf.textures(world))
        self._data: Any = mujoco.MjData(self._model)
        self._clock = SimulatedClock(self)
        lidar, wheels, camera = np.random.SeedSequence(seed).spawn(3)
        self._lidar_rng, self._camera_rng = np.random.default_rng(lidar), np.random.default_rng(camera)
        self._odometry = DriftingOdometry(Pose(0, 0, world.start.heading), self._noise, np.random.default_rng(wheels))
        self._log = CollisionLog()
        self._steps = 0
        self._command, self._commanded = REST, float("-inf")
        self._drive = Drive()
        self._observation = Observation()
        self._is_closed = False
        self.camera_fault = "" if with_camera else "no camera was asked for"
        self._prepare()

    def _prepare(self) -> None:
        mj, model, data = self._mj, self._model, self._data
        self._hull = mj.mj_name2id(model, mj.mjtObj.mjOBJ_GEOM, "hull")
        rear = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name) for name in ("rear_left", "rear_right")]
        self._rear_qpos = [int(model.jnt_qposadr[joint]) for joint in rear]
        self._rear_qvel = [int(model.jnt_dofadr[joint]) for joint in rear]
        names = ("rear_left", "rear_right", "front_left_steer", "front_right_steer")
        self._actuators = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_ACTUATOR, name) for name in names]
        lidar = self._config.lidar
        angles = lidar.angle_min + np.arange(lidar.beams) * lidar.angle_increment
        self._rays = np.stack([np.cos(angles), np.sin(angles), np.zeros(lidar.beams)])
        for _ in range(round(SETTLE / mjcf.TIMESTEP)):
            mj.mj_step(model, data)
        self._last_pose, self._last_wheels = self._pose(), self._rolled()
        self._periods = {
            "odometry": self._every(ODOMETRY_RATE),
            "scan": self._every(lidar.rate),
            "frame": self._every(self._config.camera.rate),
        }
        self._sense()

    def _every(self, rate: float) -> int:
        return max(1, round(1 / (rate * mjcf.TIMESTEP)))

    @property
    def config(self) -> RobotConfig:
        return self._config

    @property
    def clock(self) -> SimulatedClock:
        return self._clock

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self._steps * mjcf.TIMESTEP

    @property
    def truth(self) -> Pose:
        """Where the robot really is, in the map frame."""
        pose, start = self._pose(), self._world.start
        return Pose(pose.x - start.x, pose.y - start.y, pose.heading)

    @property
    def collisions(self) -> tuple[Collision, ...]:
        return self._log.collisions

    @property
    def is_moving(self) -> bool:
        own = self._own_motion()
        return abs(own.linear) > 0.005 or abs(own.angular) > 0.01

    def observe(self) -> Observation:
        self._check()
        return self._observation

    def apply(self, twist: Twist) -> Twist:
        self._check()
        self._command, self._commanded = feasible(twist, self._config.body, self._config.limits), self.time
        return self._command

    def stop(self) -> None:
        self._check()
        self._command, self._commanded = REST, self.time

    def close(self) -> None:
        self._is_closed = True

    def advance(self, time: float) -> None:
        """Let the simulation run until then."""
        self._check()
        while self._steps * mjcf.TIMESTEP < time - 1e-9:
            self._step()

    def _check(self) -> None:
        if self._is_closed:
            raise DeviceError("the simulated robot is closed")

    def _step(self) -> None:
        limits, body = self._config.limits, self._config.body
        wanted = self._command if self.time - self._commanded <= limits.command_timeout else REST
        self._drive = self._drive.toward(wanted, body, limits, mjcf.TIMESTEP)
        self._data.ctrl[self._actuators] = self._drive.actuators(body)
        own = self._own_motion()
        self._mj.mj_step(self._model, self._data)
        self._steps += 1
        self._note_contacts(own)
        self._sense()

    def _sense(self) -> None:
        seen = self._observation
        scan, frame, odometry, battery = seen.scan, seen.frame, seen.odometry, seen.battery
        if self._steps % self._periods["odometry"] == 0:
            odometry, battery = self._measure(), FULL_BATTERY - DRAIN * self.time
        if self._steps % self._periods["scan"] == 0:
            scan = self._scan()
        if not self.camera_fault and self._steps % self._periods["frame"] == 0:
            frame = self._look()
        if (scan, frame, odometry) != (seen.scan, seen.frame, seen.odometry):
            self._observation = Observation(scan, frame, odometry, battery)

    def _pose(self) -> Pose:
        """In world coordinates."""
        x, y, _, qw, qx, qy, qz = self._data.qpos[:7].tolist()
        return Pose(x, y, atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)))

    def _rolled(self) -> float:
        """Metres that the rear wheels have rolled, on average."""
        left, right = self._rear_qpos
        return float(self._data.qpos[left] + self._data.qpos[right]) / 2 * self._config.body.wheel_radius

    def _own_motion(self) -> Twist:
        """What the robot itself does, whatever pushes it: by its wheels and its steering."""
        left, right = self._data.qvel[self._rear_qvel].tolist()
        radius, half = self._config.body.wheel_radius, self._config.body.half_width * mjcf.TRACK
        return Twist((left + right) / 2 * radius, (right - left) * radius / (2 * half))

    def _measure(self) -> Odometry:
        pose, rolled = self._pose(), self._rolled()
        turned = (pose.heading - self._last_pose.heading + np.pi) % (2 * np.pi) - np.pi
        self._odometry.moved(rolled - self._last_wheels, turned)
        self._last_pose, self._last_wheels = pose, rolled
        true = Twist(self._own_motion().linear, float(self._data.qvel[5]))
        return Odometry(self.time, self._odometry.pose, self._odometry.measured(true))

    def _scan(self) -> Scan:
        lidar, pose = self._config.lidar, self._pose()
        self._place_geoms()
        c, s = np.cos(pose.heading), np.sin(pose.heading)
        x, y, z = self._rays
        rays = np.stack([c * x - s * y, s * x + c * y, z], axis=1)
        origin = np.array([*pose.ahead(lidar.x), lidar.z])
        hit, far = np.empty(lidar.beams, np.int32), np.empty(lidar.beams)
        groups = np.array([1, 0, 0, 0, 0, 0], np.uint8)
        self._mj.mj_multiRay(
            self._model,
            self._data,
            origin,
            rays.ravel(),
            groups,
            True,
            -1,
            hit,
            far,
            None,
            lidar.beams,
            lidar.range_max,
        )
        far[(hit < 0) | (far > lidar.range_max)] = np.inf
        ranges = noisy_ranges(far, self._noise, self._lidar_rng)
        return Scan(self.time, ranges, lidar.angle_min, lidar.angle_increment, lidar.range_min, lidar.range_max)

    def _look(self) -> Frame | None:
        return None

    def _place_geoms(self) -> None:
        """Bring what is drawn and scanned to where physics have moved it; changes nothing of their state."""
        self._mj.mj_kinematics(self._model, self._data)
        self._mj.mj_comPos(self._model, self._data)
        self._mj.mj_camlight(self._model, self._data)

    def _note_contacts(self, own: Twist) -> None:
        geoms: NDArray[np.int32] = self._data.contact.geom
        for index in np.flatnonzero((geoms == self._hull).any(axis=1)).tolist():
            contact = self._data.contact[index]
            first, second = contact.geom.tolist()
            other = second if first == self._hull else first
            towards = contact.frame[:2] * (1 if first == self._hull else -1)
            name = self._mj.mj_id2name(self._model, self._mj.mjtObj.mjOBJ_GEOM, other)
            self._log.touched(self.time, name, self._approach(own, contact.pos, towards))

    def _approach(self, own: Twist, at: Sequence[float], towards: Sequence[float]) -> float:
        """How fast a point of the robot moves in a direction, by its own motion."""
        pose = self._pose()
        heading = Pose(0, 0, pose.heading)
        vx, vy = heading.ahead(own.linear)
        vx, vy = vx - own.angular * (at[1] - pose.y), vy + own.angular * (at[0] - pose.x)
        return float(vx * towards[0] + vy * towards[1])
