"""A run as a ROS 2 bag: what ``ros2 bag play``, Foxglove and every MCAP reader show, and all that replaying needs.

Sensors, commands, poses and maps are logged as messages of ROS on the topics that its users expect; beside them, under
``/spca``, the same values exactly as the program had them (:mod:`robot_bridge.ros.log.records`). Stamps are the robot's
clock. What happened reaches the file within about a second of that clock, so that the log of a killed run can be read
up to there (:mod:`robot_bridge.ros.log.playback`); ``ros2 bag reindex -s mcap`` gives such a bag the index it lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    ActionResult,
    Applied,
    Command,
    Estimate,
    ExecutionResult,
    NavGoalTarget,
    Observation,
    Odometry,
    Pose,
)
from robot_bridge.protocols import Journal
from robot_bridge.ros import images, messages, topics, types
from robot_bridge.ros.log.bag import BagWriter
from robot_bridge.ros.log.records import to_json

_FLUSHED_EVERY: Final = 1.0
_ROBOT: Final = topics.Topics()


class BagRecorder(Journal):
    """A journal that writes a bag. Its methods may be called from any thread.

    A disk that fails ends the log, never the run: ``fault`` says why, "" where all is well.

    Raises:
        SetupError: ``path`` exists, or cannot be made.
    """

    def __init__(self, path: Path | str, config: RobotConfig) -> None:
        self.fault = ""
        self._bag = BagWriter(Path(path))
        self._lock = Lock()
        self._seen: Observation | None = None
        self._estimate: Estimate | None = None
        self._written = Observation()
        self._scans = self._frames = 0
        self._flushed = 0.0
        self._config = config
        self._is_begun = False

    def record_observation(self, observation: Observation) -> None:
        """Keep an observation until something is told with its time."""
        with self._lock:
            self._seen = observation

    def record_estimate(self, estimate: Estimate) -> None:
        """Keep an estimate, as :meth:`record_observation` does."""
        with self._lock:
            self._estimate = estimate

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        record = _record_message({"now": now, "commands": list(commands), "applied": applied})
        command = messages.twist_message(applied.twist)
        self._write(now, (topics.SAFETY, record), (topics.DRIVER_COMMANDS, command))

    def record_decision(self, now: float, result: ExecutionResult) -> None:
        record = _record_message({"now": now, "decided": result})
        target = result.target
        if not isinstance(target, NavGoalTarget):
            self._write(now, (topics.DECISIONS, record))
            return
        pose = messages.pose_message(Pose(target.x, target.y, target.heading or 0.0))
        goal = types.make(types.POSE_STAMPED, header=messages.header(now, messages.MAP_FRAME), pose=pose)
        self._write(now, (topics.DECISIONS, record), (topics.GOAL, goal))

    def record_action(self, now: float, result: ActionResult) -> None:
        record = _record_message({"now": now, "acted": result})
        self._write(now, (topics.DECISIONS, record))

    def record_map(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        self._write(now, (topics.MAP, messages.grid_message(now, codes, resolution, x, y)))

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        record = _record_message({"now": now, "kind": kind, "data": dict(data)})
        self._write(now, (topics.NOTES, record))

    def close(self) -> None:
        """Write what is left, the index, and ``metadata.yaml``; may be called again."""
        self._write(self._flushed)
        with self._lock:
            if self.fault:
                return
            try:
                self._bag.close()
            except OSError as error:
                self._end_log(error)

    def _begin(self, now: float) -> None:
        """Write what every log begins with, at the time of what is told first: a real clock does not begin at 0."""
        self._is_begun = True
        self._flushed = now
        note = {"now": now, "kind": "config", "data": {"config": self._config}}
        self._bag.write(now, topics.NOTES, _record_message(note))
        self._bag.write(now, topics.TF_STATIC, _mounting_transforms(self._config))
        self._bag.flush()

    def _write(self, now: float, *found: tuple[str, Any]) -> None:
        with self._lock:
            if self.fault:
                return
            try:
                if not self._is_begun:
                    self._begin(now)
                self._write_pending(now)
                for topic, message in found:
                    self._bag.write(now, topic, message)
                # Negated: a time that is NaN flushes, too.
                if not abs(now - self._flushed) < _FLUSHED_EVERY:
                    self._flushed = now
                    self._bag.flush()
            except OSError as error:
                self._end_log(error)

    def _end_log(self, error: OSError) -> None:
        self.fault = f"the log {self._bag.path} ends here: {error.strerror or error}"
        self._bag.abort()

    def _write_pending(self, now: float) -> None:
        """Write what was seen and believed since something was written."""
        seen = self._seen
        self._seen = None
        if seen is not None:
            self._write_sensors(now, seen)
            record = _record_message(self._describe_observation(seen))
            self._bag.write(now, topics.OBSERVATIONS, record)

        estimate = self._estimate
        self._estimate = None
        if estimate is not None:
            self._bag.write(now, topics.ESTIMATES, _record_message(estimate))
            self._bag.write(now, topics.TF, _pose_transforms(estimate, self._written.odometry))

    def _describe_observation(self, seen: Observation) -> Mapping[str, Any]:
        """Return what the messages do not hold exactly, and which of them it is."""
        described: dict[str, Any] = {
            "scan": None,
            "frame": None,
            "odometry": seen.odometry,
            "battery": seen.battery,
        }
        scan = seen.scan
        if scan is not None:
            limits = (scan.angle_min, scan.angle_increment, scan.range_min, scan.range_max)
            described["scan"] = [self._scans, scan.stamp, *limits]
        frame = seen.frame
        if frame is not None:
            described["frame"] = [self._frames, frame.stamp, frame.focal]
        return described

    def _write_sensors(self, now: float, seen: Observation) -> None:
        scan = seen.scan
        frame = seen.frame
        odometry = seen.odometry
        battery = seen.battery
        before = self._written
        self._written = seen

        if scan is not None and scan is not before.scan:
            self._scans += 1
            self._bag.write(now, _ROBOT.scan, messages.scan_message(scan))
        if odometry is not None and odometry is not before.odometry:
            self._bag.write(now, _ROBOT.odometry, messages.odometry_message(odometry))
        if battery is not None and battery != before.battery:
            self._bag.write(now, _ROBOT.battery, messages.number_message(battery))
        if frame is not None and frame is not before.frame:
            self._frames += 1
            depth = images.make_compressed_message(frame.stamp, images.DEPTH, images.depth_png(frame.depth))
            self._bag.write(now, topics.LOGGED_DEPTH, depth)
            image = images.make_compressed_message(frame.stamp, images.JPEG, images.jpeg(frame.rgb))
            self._bag.write(now, topics.LOGGED_IMAGE, image)


def _record_message(record: object) -> Any:
    """Return values as a message that holds them exactly."""
    return messages.text_message(to_json(record))


def _pose_transforms(estimate: Estimate, odometry: Odometry | None) -> Any:
    """Return map -> odom -> base_link, as a localisation publishes it."""
    base = odometry.pose if odometry else Pose()
    drift = estimate.pose.compose(Pose().relative_to(base))
    map_to_odom = messages.transform_message(estimate.stamp, messages.MAP_FRAME, messages.ODOM_FRAME, drift)
    odom_to_base = messages.transform_message(estimate.stamp, messages.ODOM_FRAME, messages.BASE_FRAME, base)
    return messages.tf_message(map_to_odom, odom_to_base)


def _mounting_transforms(config: RobotConfig) -> Any:
    lidar = config.lidar
    camera = config.camera
    base = messages.BASE_FRAME
    base_to_lidar = messages.transform_message(0.0, base, messages.LIDAR_FRAME, Pose(lidar.x), lidar.z)
    base_to_camera = messages.optical_transform(0.0, base, messages.CAMERA_FRAME, camera.x, camera.z)
    return messages.tf_message(base_to_lidar, base_to_camera)
