"""A lidar that repeats itself while the robot drives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robot_bridge.contracts import REST, Command, Pose, Source, Twist
from robot_bridge.safety_chain import SafetyChain
from tests.robot_bridge.rays import CONFIG, scan_of, seen

DRIVE = Command(Twist(0.02, 0.0), Source.MODEL, 99.0)
POSTS = [(0.9, 0.3, 0.05)]


def driven(poses: list[Pose], *, is_frozen: bool) -> list[str]:
    """The reasons for which a robot that passes these poses, 10 a second, is stopped."""
    chain, first, found = SafetyChain(CONFIG), scan_of(POSTS), list[str]()
    for number, pose in enumerate(poses):
        now = number / 10
        scan = replace(first, stamp=now) if is_frozen else scan_of(POSTS, pose=pose, stamp=now)
        applied = chain.step([DRIVE], seen(scan, now=now, pose=pose), now)
        found.append(applied.reason if applied.twist == REST else "")
    return found


@pytest.mark.parametrize("step", [Pose(0.02), Pose(0, 0, 0.04)])
def test_the_same_scan_again_and_again_stops_a_robot_that_moves(step: Pose) -> None:
    poses = [Pose(step.x * number, 0, step.heading * number) for number in range(8)]
    assert driven(poses, is_frozen=False) == [""] * 8
    stopped = driven(poses, is_frozen=True)
    assert stopped[:2] == ["", ""]
    assert all("repeats itself" in reason for reason in stopped[3:])


def test_it_goes_on_with_a_new_scan_and_a_robot_that_stands_may_see_the_same() -> None:
    assert driven([Pose()] * 8, is_frozen=True) == [""] * 8
    chain, old = SafetyChain(CONFIG), scan_of(POSTS)
    for number in range(6):
        pose, now = Pose(0.02 * number), number / 10
        applied = chain.step([DRIVE], seen(replace(old, stamp=now), now=now, pose=pose), now)
    assert "repeats itself" in applied.reason
    new = scan_of(POSTS, pose=pose, stamp=0.6)
    assert chain.step([DRIVE], seen(new, now=0.6, pose=pose), 0.6).twist == DRIVE.twist
