"""A simulated robot in a simulated world: the whole Robot protocol without hardware, on its own clock.

MuJoCo computes the physics. The same world, seed and commands give the same run, bit for bit, if the same library draws
the pictures. Only waiting on :attr:`MujocoRobot.clock` moves the simulation, and only one thread at a time may wait.
Any thread may call the other methods; ``observe``, ``apply`` and ``stop`` never wait for the simulation.
"""

from __future__ import annotations

from math import atan2
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Frame, Observation, Odometry, Pose, Scan, Twist
from robot_bridge.errors import DeviceError
from robot_bridge.protocols import Clock
from robot_bridge.safety.config_check import require_valid
from robot_bridge.twin import mjcf
from robot_bridge.twin.drive import Drive, feasible
from robot_bridge.twin.engine import NoPictureError, mujoco
from robot_bridge.twin.noise import DriftingOdometry, Grain, Noise, noisy_ranges
from robot_bridge.twin.picture import Painter
from robot_bridge.twin.props import Movers, Things
from robot_bridge.twin.scanner import Scanner
from robot_bridge.twin.worlds.world import Thing, TwinWorld

ODOMETRY_RATE = 50.0
SETTLE = 0.3
"""Seconds in which the car sinks onto its wheels before the simulated time starts."""
FULL_BATTERY = 12.4
DRAIN = 0.4 / 3600
"""The battery's voltage at the start, volts, and the rate at which the voltage falls, volts per second."""


class MujocoRobot:
    """The simulated robot; the module's docstring says how to use it.

    ``world`` is the world at the start; :attr:`things` is the present state of its things. ``clock`` is the robot
    itself. ``camera_fault`` says why the robot has no pictures; it is "" if the robot has pictures.

    Raises:
        SetupError: MuJoCo is not installed, or the configuration is impossible or unsafe.
        ValueError: the world has a thing without a tag.
    """

    def __init__(
        self,
        world: TwinWorld,
        *,
        config: RobotConfig | None = None,
        seed: int = 0,
        noise: Noise | None = None,
        with_camera: bool = True,
    ) -> None:
        self._mj: Any = mujoco()
        self.world = world
        self.config = require_valid(config or RobotConfig())
        self.clock: Clock = self
        self._noise = noise if noise is not None else Noise()
        xml = mjcf.text(world, self.config)
        self._model: Any = self._mj.MjModel.from_xml_string(xml, mjcf.textures(world))
        self._data: Any = self._mj.MjData(self._model)

        # Each sensor has its own generator, so that the rate of a sensor does not change the noise of the others.
        seeds = np.random.SeedSequence(seed).spawn(3)
        lidar_rng, wheels_rng, camera_rng = (np.random.default_rng(child) for child in seeds)
        self._lidar_rng = lidar_rng
        eye = self.config.camera
        self._grain = Grain(eye.height, eye.width, self._noise, eye.depth_max, camera_rng)
        start = Pose(0, 0, world.start.heading)
        self._odometry = DriftingOdometry(start, self._noise, wheels_rng)

        self._things = Things(self._model, self._data, world)
        self._movers = Movers(self._model, self._data, world, self.config.body)
        self._scanner = Scanner(self._mj, self._model, self._data, self.config.lidar)
        self._command = (REST, float("-inf"))  # the last command and its time
        self._drive = Drive()
        self._observation = Observation()
        self._steps = 0
        self._is_closed = False
        self._lock = Lock()
        self._painter: Painter | None = None
        self.camera_fault = "it was not asked for"
        if with_camera:
            self._open_camera()
        self._look_up_indices()
        self._settle()

    def _open_camera(self) -> None:
        try:
            self._painter = Painter(self._mj, self._model, self.world, self.config.camera)
            self.camera_fault = ""
        except NoPictureError as error:
            self.camera_fault = str(error)

    def _look_up_indices(self) -> None:
        """Look up where MuJoCo's arrays hold the rear wheels' angles and speeds, and the actuators."""
        model = self._model
        rear = [model.joint(name) for name in ("rear_left", "rear_right")]
        self._rear_qpos = [int(joint.qposadr[0]) for joint in rear]
        self._rear_qvel = [int(joint.dofadr[0]) for joint in rear]
        names = ("rear_left", "rear_right", "front_left_steer", "front_right_steer")
        self._actuators = [model.actuator(name).id for name in names]

    def _settle(self) -> None:
        """Let the car sink onto its wheels, then measure for the first time."""
        for _ in range(round(SETTLE / mjcf.TIMESTEP)):
            self._mj.mj_step(self._model, self._data)
        self._last_pose = self._pose()
        self._last_rolled = self._measure_rolled_distance()
        self._periods = {
            "odometry": self._steps_between(ODOMETRY_RATE),
            "scan": self._steps_between(self.config.lidar.rate),
            "frame": self._steps_between(self.config.camera.rate),
        }
        self._sense()

    def _steps_between(self, rate: float) -> int:
        return max(1, round(1 / (rate * mjcf.TIMESTEP)))

    def now(self) -> float:
        return self.time

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self._steps * mjcf.TIMESTEP

    @property
    def truth(self) -> Pose:
        """True pose of the robot in the map frame."""
        pose = self._pose()
        start = self.world.start
        return Pose(pose.x - start.x, pose.y - start.y, pose.heading)

    @property
    def is_moving(self) -> bool:
        """Whether the rear wheels turn."""
        motion = self._wheel_motion()
        return abs(motion.linear) > 0.005 or abs(motion.angular) > 0.01

    def observe(self) -> Observation:
        self._require_open()
        return self._observation

    def apply(self, twist: Twist) -> Twist:
        self._require_open()
        sent = feasible(twist, self.config.body, self.config.limits)
        self._command = (sent, self.time)
        return sent

    def stop(self) -> None:
        self._require_open()
        self._command = (REST, self.time)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            painter = self._painter
            self._painter = None
        if painter is not None:
            painter.close()

    @property
    def things(self) -> tuple[Thing, ...]:
        """The true present state of the world's things, in the order of the world, in world coordinates."""
        return self._things.now

    def set_state(self, index: int, state: str) -> None:
        """Set the state of a door: open, closed or locked.

        Raises:
            IndexError: no thing has this index.
            ValueError: the thing cannot be in this state.
        """
        with self._lock:
            self._things.change(index, state=state)

    def remove(self, index: int) -> None:
        """Take a thing out of the world, for example because the thing is carried now.

        Raises:
            IndexError: no thing has this index.
        """
        with self._lock:
            self._things.change(index, is_present=False)

    def put(self, index: int, x: float, y: float) -> None:
        """Put a thing at a place in world coordinates, whether or not the thing is in the world now.

        Raises:
            IndexError: no thing has this index.
        """
        with self._lock:
            self._things.change(index, x=x, y=y, is_present=True)

    def top_view(self, width: int) -> NDArray[np.uint8]:
        """Return the world from above, north up: rgb (height, width, 3), at most 1024 pixels wide and high.

        Raises:
            DeviceError: this robot has no camera.
        """
        with self._lock:
            self._require_open()
            if self._painter is None:
                raise DeviceError(f"no pictures: {self.camera_fault}")
            self._place_geoms()
            return self._painter.top_view(self._data, width)

    def wait_until(self, time: float) -> None:
        """Let the simulation run until ``time``, in simulated seconds."""
        while self._steps * mjcf.TIMESTEP < time - 1e-9:
            with self._lock:
                self._require_open()
                self._step()

    def _require_open(self) -> None:
        if self._is_closed:
            raise DeviceError("the simulated robot is closed")

    def _step(self) -> None:
        """Simulate one time step; a command older than the timeout counts as rest."""
        limits = self.config.limits
        body = self.config.body
        wanted, commanded_at = self._command
        if self.time - commanded_at > limits.command_timeout:
            wanted = REST
        self._drive = self._drive.toward(wanted, body, limits, mjcf.TIMESTEP)
        self._data.ctrl[self._actuators] = self._drive.actuators(body)
        self._movers.step(self.time, mjcf.TIMESTEP, self._pose)
        self._mj.mj_step(self._model, self._data)
        self._steps += 1
        self._sense()

    def _sense(self) -> None:
        """Measure with the sensors that are due at this step; make a new observation if any sensor was due."""
        last = self._observation
        scan = last.scan
        frame = last.frame
        odometry = last.odometry
        battery = last.battery
        if self._steps % self._periods["odometry"] == 0:
            odometry = self._measure_odometry()
            battery = FULL_BATTERY - DRAIN * self.time
        if self._steps % self._periods["scan"] == 0:
            scan = self._take_scan()
        if self._painter is not None and self._steps % self._periods["frame"] == 0:
            frame = self._take_frame(self._painter)
        has_changed = odometry is not last.odometry or scan is not last.scan or frame is not last.frame
        if has_changed:
            self._observation = Observation(scan, frame, odometry, battery)

    def _pose(self) -> Pose:
        """Return the true pose in world coordinates."""
        x, y, _, qw, qx, qy, qz = self._data.qpos[:7].tolist()
        sine = 2 * (qw * qz + qx * qy)
        cosine = 1 - 2 * (qy * qy + qz * qz)
        return Pose(x, y, atan2(sine, cosine))

    def _measure_rolled_distance(self) -> float:
        """Return the mean distance that the rear wheels have rolled, metres, signed."""
        left, right = self._rear_qpos
        positions = self._data.qpos
        mean_angle = float(positions[left] + positions[right]) / 2
        return mean_angle * self.config.body.wheel_radius

    def _wheel_motion(self) -> Twist:
        """Return the velocity computed from the speeds of the rear wheels, even if other forces push the robot."""
        left, right = self._data.qvel[self._rear_qvel].tolist()
        radius = self.config.body.wheel_radius
        half_track = self.config.body.half_width * mjcf.TRACK
        linear = (left + right) / 2 * radius
        angular = (right - left) * radius / (2 * half_track)
        return Twist(linear, angular)

    def _measure_odometry(self) -> Odometry:
        """Advance the odometry by the motion since the last call and return the reading."""
        pose = self._pose()
        rolled = self._measure_rolled_distance()
        change = pose.heading - self._last_pose.heading
        turned = (change + np.pi) % (2 * np.pi) - np.pi
        self._odometry.advance(rolled - self._last_rolled, turned)
        self._last_pose = pose
        self._last_rolled = rolled

        yaw_rate = float(self._data.qvel[5])  # of the car's free joint: 3 linear, then 3 angular velocities
        true = Twist(self._wheel_motion().linear, yaw_rate)
        return Odometry(self.time, self._odometry.pose, self._odometry.measure(true))

    def _take_scan(self) -> Scan:
        """Return a scan of the lidar with noise."""
        lidar = self.config.lidar
        self._place_geoms()
        true_ranges = self._scanner.ranges(self._pose())
        ranges = noisy_ranges(true_ranges, self._noise, self._lidar_rng)
        return Scan(self.time, ranges, lidar.angle_min, lidar.angle_increment, lidar.range_min, lidar.range_max)

    def _take_frame(self, painter: Painter) -> Frame:
        """Return a frame of the camera with noise."""
        camera = self.config.camera
        self._place_geoms()
        rgb, depth = self._grain.add_to(*painter.frame(self._data))
        return Frame(self.time, rgb, depth, camera.focal)

    def _place_geoms(self) -> None:
        """Update the places of the geoms for drawing and scanning; the state of the physics does not change."""
        self._mj.mj_kinematics(self._model, self._data)
        self._mj.mj_comPos(self._model, self._data)
        self._mj.mj_camlight(self._model, self._data)
