"""Whose motion was to blame."""

from __future__ import annotations

from math import pi

import pytest

from robot_bridge.contracts import Pose, Twist
from tests.support.robot_bridge.collisions import Collision, CollisionLog, approach


def test_a_contact_that_lasts_is_one_collision() -> None:
    log = CollisionLog()
    for step in range(400):
        log.touched(step * 0.005, "wall1", 0.2)
    assert log.collisions == (Collision(0.0, "wall1", True),)


def test_what_cannot_move_is_never_to_blame() -> None:
    log = CollisionLog()
    log.touched(1.0, "wall1", 0.0)
    log.touched(1.0, "thing3", -0.1)
    log.touched(1.0, "mover0", 0.0)
    assert [(c.other, c.caused_by_robot) for c in log.collisions] == [
        ("wall1", True),
        ("thing3", True),
        ("mover0", False),
    ]


def test_touching_again_is_another_one_as_is_coming_to_blame() -> None:
    log = CollisionLog()
    log.touched(1.0, "mover0", 0.0)
    log.touched(1.1, "mover0", 0.05)
    log.touched(1.2, "mover0", 0.0)
    log.touched(1.3, "mover0", 0.05)
    log.touched(5.0, "mover0", 0.0)
    found = [(c.stamp, c.caused_by_robot) for c in log.collisions]
    assert found == [(1.0, False), (1.1, True), (5.0, False)]


@pytest.mark.parametrize(
    ("own", "at", "towards", "speed"),
    [
        (Twist(0.2), (0.25, 0.0), (1.0, 0.0), 0.2),
        (Twist(0.2), (-0.05, 0.0), (-1.0, 0.0), -0.2),
        (Twist(0.2), (0.1, 0.1), (0.0, 1.0), 0.0),
        (Twist(0.2, 0.5), (0.25, 0.1), (0.0, 1.0), 0.125),
        (Twist(0.2, 0.5), (0.25, -0.1), (0.0, -1.0), -0.125),
    ],
)
def test_a_corner_swings_out_when_turning(
    own: Twist, at: tuple[float, float], towards: tuple[float, float], speed: float
) -> None:
    assert approach(Pose(), own, at, towards) == pytest.approx(speed)
    turned = Pose(3.0, 4.0, pi / 2)
    place = turned.ahead(*at)
    direction = Pose(0, 0, pi / 2).ahead(*towards)
    assert approach(turned, own, place, direction) == pytest.approx(speed)
