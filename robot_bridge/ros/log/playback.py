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
                what = " ".join(str(error).split())
                raise RecordingError(f"{self.path} cannot be read: {topic}: {type(error).__name__}: {what}") from error


def read_log(path: Path | str) -> Log:
    """The log in a folder, a bag or an MCAP file.

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
            topics.OBSERVATIONS: lambda message: self._read_observation(from_json(message.data)),
            topics.ESTIMATES: lambda message: self._read_estimate(_a(Estimate, from_json(message.data))),
            topics.SAFETY: lambda message: self._read_safety(from_json(message.data)),
            topics.DECISIONS: lambda message: self._read_decision(from_json(message.data)),
            topics.NOTES: lambda message: self._read_note(from_json(message.data)),
        }

    def read(self, topic: str, message: Any) -> None:
        """Messages that only repeat what records tell are passed over."""
        reader = self._readers.get(topic)
        if reader is not None:
            reader(message)

    def _read_scan(self, message: Any) -> None:
        self._ranges = np.array(message.ranges, dtype=np.float32)
        self._scans += 1

    def _read_observation(self, record: dict[str, Any]) -> None:
        odometry = record["odometry"]
        battery = record["battery"]
        seen = Observation(
            self._scanned(record["scan"]),
            odometry=None if odometry is None else _a(Odometry, odometry),
            battery=None if battery is None else float(battery),
        )
        for journal in self._journals:
            journal.observed(seen)

    def _read_estimate(self, estimate: Estimate) -> None:
        for journal in self._journals:
            journal.estimated(estimate)

    def _scanned(self, record: list[Any] | None) -> Scan | None:
        """The same object as long as it is the same scan, as its robot gave it."""
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
            journal.mapped(now, *grid)

    def _read_safety(self, record: dict[str, Any]) -> None:
        commands = tuple(_a(Command, each) for each in record["commands"])
        applied = _a(Applied, record["applied"])
        for journal in self._journals:
            journal.commanded(record["now"], commands, applied)

    def _read_decision(self, record: dict[str, Any]) -> None:
        for journal in self._journals:
            if "decided" in record:
                journal.decided(record["now"], _a(ExecutionResult, record["decided"]))
            else:
                journal.acted(record["now"], _a(ActionResult, record["acted"]))

    def _read_note(self, record: dict[str, Any]) -> None:
        """The first is that of the log itself."""
        for journal in self._journals if self._is_begun else ():
            journal.noted(record["now"], record["kind"], record["data"])
        self._is_begun = True


def _a(kind: type[_T], value: object) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} where {kind.__name__} belongs")
    return value
