"""A lidar that is frozen and does not look it: what it sends is new every time, what it has seen is not."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

import numpy as np

from robot_bridge.contracts import Observation, Odometry, Scan

DITHER_M: Final = 0.001


class Disguise(StrEnum):
    """How a frozen lidar looks alive."""

    TURNS = "two scans in turn"
    DITHER = "1 mm of dither"
    HALF = "half the turn frozen"
    STREWN = "every other beam frozen"
    ODOMETRY = "scan and odometry frozen together"


class FrozenSensors:
    """Spoils observations from the moment ``begins`` on; stamps go on as if nothing were.

    Args:
        disguise: how.
        begins: time of the robot's clock.
        rng: for the dither, and for which half is frozen.
    """

    def __init__(self, disguise: Disguise, begins: float, rng: np.random.Generator) -> None:
        self._disguise, self._begins, self._rng = disguise, begins, rng
        self._first_beam = float(rng.random())
        self._last: Scan | None = None
        self._frozen: tuple[Scan, ...] = ()
        self._odometry: Odometry | None = None
        self._sent: Scan | None = None
        self._count = 0

    def spoilt(self, seen: Observation) -> Observation:
        """An observation as the sensors would send it."""
        if seen.scan is None or seen.odometry is None:
            return seen
        if seen.scan.stamp < self._begins:
            self._frozen = (*self._frozen[-1:], seen.scan) if self._is_new(seen.scan) else self._frozen
            self._last, self._odometry = seen.scan, seen.odometry
            return seen
        if self._sent is None or seen.scan.stamp != self._sent.stamp:
            self._sent = self._changed(seen.scan)
        odometry = seen.odometry
        if self._disguise is Disguise.ODOMETRY and self._odometry is not None:
            odometry = replace(self._odometry, stamp=odometry.stamp)
        return replace(seen, scan=self._sent, odometry=odometry)

    def _is_new(self, scan: Scan) -> bool:
        return self._last is None or scan.stamp != self._last.stamp

    def _changed(self, scan: Scan) -> Scan:
        self._count += 1
        if not self._frozen:
            self._frozen = (scan,)
        old = self._frozen[-1].ranges
        match self._disguise:
            case Disguise.TURNS:
                ranges = self._frozen[self._count % len(self._frozen)].ranges
            case Disguise.DITHER | Disguise.ODOMETRY:
                ranges = old + self._rng.normal(0, DITHER_M, len(old)).astype(np.float32)
            case Disguise.HALF:
                beams = np.arange(len(old))
                is_frozen = (beams - round(self._first_beam * len(old))) % len(old) < len(old) // 2
                ranges = np.where(is_frozen, old, scan.ranges)
            case Disguise.STREWN:
                ranges = np.where(np.arange(len(old)) % 2 == 0, old, scan.ranges)
        return replace(scan, ranges=ranges)
