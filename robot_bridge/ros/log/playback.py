"""Play a log back: make the calls to journals that :class:`robot_bridge.ros.log.recorder.BagRecorder` received.

Pictures are left out. The times of maps are exact to a nanosecond; all other values are exact.

A log may come from other people. Therefore its contents are never executed, and contents that cannot be read raise
:class:`RecordingError`.
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
    """A log of a run.

    If the run was killed, ``is_complete`` is False, and the log ends about a second before the run did.
    """

    path: Path
    config: RobotConfig
    is_complete: bool

    def tell(self, *journals: Journal) -> None:
        """Play the log back to journals from the beginning.

        Raises:
            RecordingError: the log is damaged.
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
        RecordingError: ``path`` has no log, or another program wrote the log.
    """
    file = bag.find(Path(path))
    with closing(bag.read(file)) as messages_of_log:
        topic, _, message = next(messages_of_log, ("", 0, None))
    first_record = from_json(getattr(message, "data", "")) if topic == topics.NOTES else None
    match first_record:
        case {"kind": "config", "data": {"config": RobotConfig() as config}}:
            return Log(file, config, bag.is_complete(file))
        case _:
            raise RecordingError(f"{file} is not a log of this program: it begins without the robot's configuration")


class _Teller:
    """Turns the messages of a log into calls to journals."""

    def __init__(self, journals: Sequence[Journal]) -> None:
        self._journals = journals
        self._ranges = np.zeros(0, dtype=np.float32)  # of the last scan message
        self._scans = 0  # number of scan messages so far
        self._scan: tuple[int, Scan] | None = None  # the last restored scan and its number, which counts from 1
        self._is_first_note_read = False
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
        """Make the calls to the journals that a message stands for.

        Ignore a message on a topic without a reader, because such a message only repeats the contents of records.
        """
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
        """Return a recorded scan, or None if ``record`` is None.

        All records of the same scan give the same object, as in the recorded run. A record holds the scan's number and
        fields; the ranges come from the last scan message.
        """
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
        """Record a note in the journals; skip the first note, which the recorder itself has written."""
        if not self._is_first_note_read:
            self._is_first_note_read = True
            return
        for journal in self._journals:
            journal.record_note(record["now"], record["kind"], record["data"])


def _require(kind: type[_T], value: object) -> _T:
    """Return the value; raise TypeError if the value is not of the type ``kind``."""
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
    return value
