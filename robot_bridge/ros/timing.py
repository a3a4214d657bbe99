"""Times and rates of messages: translate stamps to the clock of this machine, count arrivals, thin out pictures.

The clocks of the robot and of this machine need not agree. A message always arrives after the time of its stamp.
Therefore the least difference between arrival and stamp ever seen is the offset of the clocks plus the shortest travel
time. If the difference of a message is greater than the least difference, the message is older by the excess. A frozen
sensor or a slow network thus cannot make old measurements look fresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Final

_MAX_DRIFT: Final = 1e-4
"""Greatest difference in speed of two quartz clocks, seconds per second."""
_MAX_STAMP_FALL_S: Final = 0.05
"""If a topic's stamps fall back by more seconds than this, the robot's clock was set back.

Without a new offset, the fall would be added to the age of all later messages.
"""


class StampTranslator:
    """Translates stamps of the robot's clock to the clock of this machine; the module's docstring says how."""

    def __init__(self) -> None:
        self._offset = float("inf")  # least difference between arrival and stamp so far, seconds
        self._seen = float("-inf")  # time of the last arrival
        self._last: dict[str, float] = {}  # topic: stamp of the last message

    def translate(self, topic: str, stamp: float, received: float) -> float:
        """Return the stamp on the clock of ``received``, the time of arrival; the result is never after the arrival.

        If the stamp is invalid (0, negative or not finite), return ``received``.
        """
        if not isfinite(stamp) or stamp <= 0:
            return received
        if stamp < self._last.get(topic, stamp) - _MAX_STAMP_FALL_S:
            self._offset = float("inf")
            self._last = {}
        self._last[topic] = stamp

        if isfinite(self._offset):
            self._offset += _MAX_DRIFT * max(0.0, received - self._seen)
        self._offset = min(self._offset, received - stamp)
        self._seen = received
        return stamp + self._offset


@dataclass(slots=True)
class Arrivals:
    """The numbers of messages that came on a topic.

    Attributes:
        count: messages that could be read.
        refused: messages that could not be read.
    """

    count: int = 0
    refused: int = 0


class Pace:
    """Lets at most ``rate`` messages a second through, evenly in time; reads no clock.

    If messages come less often than ``rate``, all messages pass, even at uneven intervals.
    """

    def __init__(self, rate: float) -> None:
        self._period = 1 / rate
        self._due = -inf  # stamp from which on the next message passes

    def is_due(self, stamp: float) -> bool:
        """Return whether a message with this stamp, seconds, may pass."""
        return stamp >= self._due

    def count_taken(self, stamp: float) -> None:
        """Record that the message with this stamp passed, and set the time from which the next message may pass.

        The next message may pass a period after the last due time, but not within half a period after ``stamp``.
        """
        self._due = max(self._due + self._period, stamp + self._period / 2)
