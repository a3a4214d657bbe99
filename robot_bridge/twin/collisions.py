"""Who touched whom, and whose motion was to blame (pure)."""

from __future__ import annotations

from dataclasses import dataclass

BLAME_SPEED = 0.01
"""m/s of the robot's own motion towards what it touches, from which on a contact is its doing."""
APART = 0.5
"""Seconds without contact after which touching the same thing again is a new collision."""


@dataclass(frozen=True, slots=True)
class Collision:
    """``other`` is the name of what was touched, ``caused_by_robot`` whether the robot drove into it."""

    stamp: float
    other: str
    caused_by_robot: bool


class CollisionLog:
    """Counts a contact that lasts as one collision, and as a second one where the robot comes to blame during it."""

    def __init__(self) -> None:
        self._found: list[Collision] = []
        self._touching: dict[str, tuple[float, bool]] = {}

    @property
    def collisions(self) -> tuple[Collision, ...]:
        return tuple(self._found)

    def touched(self, stamp: float, other: str, approach: float) -> None:
        """``approach``: how fast the robot itself moves towards the other at the point of contact, m/s."""
        blame = approach > BLAME_SPEED
        last, blamed = self._touching.get(other, (float("-inf"), False))
        if stamp - last > APART or (blame and not blamed):
            self._found.append(Collision(stamp, other, blame))
            blamed = blame
        self._touching[other] = (stamp, blamed or blame)
