"""Closed loop: a bicycle with a slow servo and brakes, a noisy lidar with dropouts, thin poles, and no good driver."""

from __future__ import annotations

from dataclasses import replace
from math import atan, inf, tan

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_bridge.contracts import REST, Command, Odometry, Pose, Source, Twist
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.geometry import along, clamp_steering, clearance, transform_to_frame
from tests.support.robot_bridge.rays import CONFIG, Post, scan_of, seen

BODY, LIMITS = CONFIG.body, CONFIG.limits
DT = 0.01


class Bicycle:
    """What a commanded velocity makes of the robot: the servo turns at its rate, brakes bite at theirs."""

    def __init__(self) -> None:
        self.pose, self.speed, self.steering = Pose(), 0.0, 0.0

    def drive(self, twist: Twist, seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            most = LIMITS.deceleration * DT
            self.speed += max(-most, min(most, twist.linear - self.speed))
            if twist != REST:
                wanted = atan(BODY.wheelbase * twist.angular / twist.linear)
                turn = LIMITS.steering_rate * DT
                self.steering += max(-turn, min(turn, wanted - self.steering))
            self.pose = self.pose.compose(along(tan(self.steering) / BODY.wheelbase, self.speed * DT))

    @property
    def twist(self) -> Twist:
        return Twist(self.speed, self.speed * tan(self.steering) / BODY.wheelbase)


def collision(seed: int, seconds: float, dropouts: float, *, is_guarded: bool = True) -> str:
    """Random commands among poles of 2 cm; what it ran into, "" for nothing."""
    rng = np.random.default_rng(seed)
    posts: list[Post] = [(*rng.uniform(-1.3, 1.3, 2), 0.01) for _ in range(14)]
    posts = [post for post in posts if clearance(np.array([post[:2]]), BODY)[0] > 0.05]
    centres = np.array([post[:2] for post in posts])
    robot, chain, scan, command = Bicycle(), SafetyChain(CONFIG), None, Twist()
    for number in range(round(seconds * 20)):
        now = number / 20
        if number % 2 == 0:
            scan = scan_of(posts, pose=robot.pose, stamp=now, room=1.6, noise=0.01, rng=rng)
            lost = rng.random(CONFIG.lidar.beams) < dropouts
            scan = replace(scan, ranges=np.where(lost, np.float32(inf), scan.ranges))
        if rng.random() < 0.08:
            command = Twist(float(rng.uniform(-0.15, 0.3)), float(rng.uniform(-1, 1)))
        odometry = Odometry(now, robot.pose, robot.twist)
        observation = replace(seen(scan), odometry=odometry)
        applied = chain.step([Command(command, Source.MODEL, now + 1)], observation, now)
        robot.drive(applied.twist if is_guarded else clamp_steering(command, BODY), 0.05)
        gaps = clearance(transform_to_frame(centres, robot.pose), BODY)
        if gaps.min() < 0.01:
            return f"pole {gaps.argmin()} at {now} s"
    return ""


@settings(max_examples=2)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.005, 0.05]))
def test_nothing_is_ever_touched(seed: int, dropouts: float) -> None:
    assert collision(seed, 12.0, dropouts) == ""


def test_the_driver_is_bad_enough_to_hit_a_pole_without_the_chain() -> None:
    assert any(collision(seed, 12.0, 0.0, is_guarded=False) for seed in range(3))
