"""A log of a run, told again to any journal exactly as :class:`robot_bridge.ros.log.recorder.BagRecorder` was told.

Pictures are left out. The times of maps come back to the nanosecond, everything else bit for bit.
Contents of a log are data of somebody else: what cannot be read is a :class:`RecordingError`, never executed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    ActionResult,
    Applied,
    Command,
    Estimate,
    ExecutionResult,
    Observation,
    Odometry,
    Scan,
)
from robot_bridge.errors import RecordingError
from robot_bridge.protocols import Journal
from robot_bridge.ros import messages, topics
from robot_bridge.ros.log import bag
from robot_bridge.ros.log.records import from_json

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Log:
    """``is_complete`` False where the run was killed: its log ends a second or so before."""

    path: Path
    config: RobotConfig
    is_complete: bool

    def tell(self, *journals: Journal) -> None:
        """Tell it to journals from the beginning.

        Raises:
            RecordingError: it is damaged.
        """
        teller = _Teller(journals)
        for topic, _, message in bag.read(self.path):
            try:
                teller.read(topic, message)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                reason = " ".join(str(error).split())
                place = f"{self.path} cannot be read: {topic}"
                raise RecordingError(f"{place}: {type(error).__name__}: {reason}") from error


def read_log(path: Path | str) -> Log:
    """Return the log in a folder, a bag or an MCAP file.

    Raises:
        RecordingError: there is none, or it is not one of ours.
    """
    found = bag.find(Path(path))
    with closing(bag.read(found)) as messages_of_log:
        topic, _, message = next(messages_of_log, ("", 0, None))
    match from_json(getattr(message, "data", "")) if topic == topics.NOTES else None:
        case {"kind": "config", "data": {"config": RobotConfig() as config}}:
            return Log(found, config, bag.is_complete(found))
        case _:
            raise RecordingError(f"{found} is not a log of this program: it begins without the robot's configuration")


class _Teller:
    """Makes calls of messages."""

    def __init__(self, journals: Sequence[Journal]) -> None:
        self._journals = journals
        self._ranges = np.zeros(0, dtype=np.float32)
        self._scans = 0
        self._scan: tuple[int, Scan] | None = None
        self._is_begun = False
        self._readers: dict[str, Callable[[Any], None]] = {
            topics.Topics().scan: self._read_scan,
            topics.MAP: self._read_map,
        }
        self._record_readers: dict[str, Callable[[Any], None]] = {
            topics.OBSERVATIONS: self._read_observation,
            topics.ESTIMATES: self._read_estimate,
            topics.SAFETY: self._read_safety,
            topics.DECISIONS: self._read_decision,
            topics.NOTES: self._read_note,
        }

    def read(self, topic: str, message: Any) -> None:
        """Tell the journals of a message; one that only repeats what records tell is passed over."""
        if topic in self._record_readers:
            record = from_json(message.data)
            self._record_readers[topic](record)
        elif topic in self._readers:
            self._readers[topic](message)

    def _read_scan(self, message: Any) -> None:
        self._ranges = np.array(message.ranges, dtype=np.float32)
        self._scans += 1

    def _read_observation(self, record: dict[str, Any]) -> None:
        odometry = record["odometry"]
        battery = record["battery"]
        seen = Observation(
            self._restore_scan(record["scan"]),
            odometry=None if odometry is None else _require(Odometry, odometry),
            battery=None if battery is None else float(battery),
        )
        for journal in self._journals:
            journal.record_observation(seen)

    def _read_estimate(self, record: object) -> None:
        estimate = _require(Estimate, record)
        for journal in self._journals:
            journal.record_estimate(estimate)

    def _restore_scan(self, record: list[Any] | None) -> Scan | None:
        """Return a recorded scan: the same object as long as it is the same scan, as its robot gave it."""
        if record is None:
            return None
        number, stamp, angle_min, increment, low, high = record
        if self._scan is None or self._scan[0] != number:
            if number != self._scans:
                raise ValueError(f"scan {number} is told of after {self._scans}")
            self._scan = number, Scan(stamp, self._ranges, angle_min, increment, low, high)
        return self._scan[1]

    def _read_map(self, message: Any) -> None:
        now = messages.seconds(message.header.stamp)
        grid = messages.grid_from(message)
        for journal in self._journals:
            journal.record_map(now, *grid)

    def _read_safety(self, record: dict[str, Any]) -> None:
        commands = tuple(_require(Command, command) for command in record["commands"])
        applied = _require(Applied, record["applied"])
        for journal in self._journals:
            journal.record_command(record["now"], commands, applied)

    def _read_decision(self, record: dict[str, Any]) -> None:
        for journal in self._journals:
            if "decided" in record:
                journal.record_decision(record["now"], _require(ExecutionResult, record["decided"]))
            else:
                journal.record_action(record["now"], _require(ActionResult, record["acted"]))

    def _read_note(self, record: dict[str, Any]) -> None:
        """Tell the journals of a note, but for the first, which is that of the log itself."""
        if not self._is_begun:
            self._is_begun = True
            return
        for journal in self._journals:
            journal.record_note(record["now"], record["kind"], record["data"])


def _require(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
    return value
