"""Record a run as a ROS 2 bag, for ``ros2 bag play``, Foxglove, any MCAP reader, and for replays.

Sensors, commands, poses and maps are logged as messages of ROS on the topics that ROS users expect. Under ``/spca``,
the log holds the same values exactly as the program had them (:mod:`robot_bridge.ros.log.records`).

Stamps are times of the robot's clock. Events reach the file within about a second of this clock. Therefore
:mod:`robot_bridge.ros.log.playback` can read the log of a killed run except for the last second. The bag of a killed
run has no index; ``ros2 bag reindex -s mcap`` adds the index.
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

_FLUSH_PERIOD_S: Final = 1.0
_ROBOT: Final = topics.Topics()


class BagRecorder(Journal):
    """A journal that writes a bag. Any thread may call the methods.

    If the disk fails, the log ends but the run goes on, and ``fault`` says why. Without a failure, ``fault`` is "".

    Raises:
        SetupError: the folder ``path`` exists, or cannot be made.
    """

    def __init__(self, path: Path | str, config: RobotConfig) -> None:
        self.fault = ""
        self._bag = BagWriter(Path(path))
        self._lock = Lock()
        self._pending_observation: Observation | None = None
        self._pending_estimate: Estimate | None = None
        self._written = Observation()  # the last observation in the log
        self._scans = self._frames = 0  # numbers of scans and frames in the log
        self._flushed = 0.0  # time of the last flush, seconds
        self._config = config
        self._has_started = False

    def record_observation(self, observation: Observation) -> None:
        """Store an observation; the next call that has a time writes it."""
        with self._lock:
            self._pending_observation = observation

    def record_estimate(self, estimate: Estimate) -> None:
        """Store an estimate; the next call that has a time writes it."""
        with self._lock:
            self._pending_estimate = estimate

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        record = _record_message({"now": now, "commands": list(commands), "applied": applied})
        command = messages.twist_message(applied.twist)
        self._write(now, (topics.SAFETY, record), (topics.DRIVER_COMMANDS, command))

    def record_decision(self, now: float, result: ExecutionResult) -> None:
        """Write a decision; if its target is a goal to drive to, also write the goal as a ROS message."""
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
        """Write the pending values, the index, and ``metadata.yaml``; may be called again."""
        self._write(self._flushed)
        with self._lock:
            if self.fault:
                return
            try:
                self._bag.close()
            except OSError as error:
                self._end_log(error)

    def _start_log(self, now: float) -> None:
        """Write the start of the log: the configuration and the mounting transforms.

        ``now`` is the time of the first call, because a real clock does not start at 0.
        """
        self._has_started = True
        self._flushed = now
        note = {"now": now, "kind": "config", "data": {"config": self._config}}
        self._bag.write(now, topics.NOTES, _record_message(note))
        self._bag.write(now, topics.TF_STATIC, _mounting_transforms(self._config))
        self._bag.flush()

    def _write(self, now: float, *new: tuple[str, Any]) -> None:
        """Write the pending values, then the new (topic, message) pairs; flush about once a second."""
        with self._lock:
            if self.fault:
                return
            try:
                if not self._has_started:
                    self._start_log(now)
                self._write_pending(now)
                for topic, message in new:
                    self._bag.write(now, topic, message)
                # Negated, so that a time of NaN flushes, too.
                if not abs(now - self._flushed) < _FLUSH_PERIOD_S:
                    self._flushed = now
                    self._bag.flush()
            except OSError as error:
                self._end_log(error)

    def _end_log(self, error: OSError) -> None:
        """Set the fault and write no more."""
        self.fault = f"the log {self._bag.path} ends here: {error.strerror or error}"
        self._bag.abort()

    def _write_pending(self, now: float) -> None:
        """Write the pending observation and the pending estimate, if any."""
        observation = self._pending_observation
        self._pending_observation = None
        if observation is not None:
            self._write_sensors(now, observation)
            record = _record_message(self._describe_observation(observation))
            self._bag.write(now, topics.OBSERVATIONS, record)

        estimate = self._pending_estimate
        self._pending_estimate = None
        if estimate is not None:
            self._bag.write(now, topics.ESTIMATES, _record_message(estimate))
            self._bag.write(now, topics.TF, _pose_transforms(estimate, self._written.odometry))

    def _describe_observation(self, seen: Observation) -> Mapping[str, Any]:
        """Return the values of an observation that the sensor messages cannot hold exactly.

        Scan and frame are lists. The first item of a list is the number of the scan or frame message, counted from 1.
        """
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

    def _write_sensors(self, now: float, new: Observation) -> None:
        """Write a message for every sensor value that has changed since the last observation in the log."""
        scan = new.scan
        frame = new.frame
        odometry = new.odometry
        battery = new.battery
        last = self._written
        self._written = new

        if scan is not None and scan is not last.scan:
            self._scans += 1
            self._bag.write(now, _ROBOT.scan, messages.scan_message(scan))
        if odometry is not None and odometry is not last.odometry:
            self._bag.write(now, _ROBOT.odometry, messages.odometry_message(odometry))
        if battery is not None and battery != last.battery:
            self._bag.write(now, _ROBOT.battery, messages.number_message(battery))
        if frame is not None and frame is not last.frame:
            self._frames += 1
            depth = images.make_compressed_message(frame.stamp, images.DEPTH, images.depth_png(frame.depth))
            self._bag.write(now, topics.LOGGED_DEPTH, depth)
            image = images.make_compressed_message(frame.stamp, images.JPEG, images.jpeg(frame.rgb))
            self._bag.write(now, topics.LOGGED_IMAGE, image)


def _record_message(record: object) -> Any:
    """Return a ``std_msgs/String`` with the record as JSON, without loss."""
    return messages.text_message(to_json(record))


def _pose_transforms(estimate: Estimate, odometry: Odometry | None) -> Any:
    """Return the transforms map -> odom and odom -> base_link, as a ROS localisation publishes them."""
    base = odometry.pose if odometry else Pose()
    odom_origin = estimate.pose.compose(Pose().relative_to(base))
    map_to_odom = messages.transform_message(estimate.stamp, messages.MAP_FRAME, messages.ODOM_FRAME, odom_origin)
    odom_to_base = messages.transform_message(estimate.stamp, messages.ODOM_FRAME, messages.BASE_FRAME, base)
    return messages.tf_message(map_to_odom, odom_to_base)


def _mounting_transforms(config: RobotConfig) -> Any:
    """Return the transforms of lidar and camera in the base frame."""
    lidar = config.lidar
    camera = config.camera
    base = messages.BASE_FRAME
    base_to_lidar = messages.transform_message(0.0, base, messages.LIDAR_FRAME, Pose(lidar.x), lidar.z)
    base_to_camera = messages.optical_transform(0.0, base, messages.CAMERA_FRAME, camera.x, camera.z)
    return messages.tf_message(base_to_lidar, base_to_camera)
