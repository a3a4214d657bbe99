"""Stop works in every state: a state machine drives the chain through commands, faults, latches and pauses."""

from __future__ import annotations

from math import inf, nan

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from robot_bridge.contracts import REST, Applied, Command, Observation, Odometry, Pose, Scan, Source, Twist
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.geometry import along, clamp_steering
from tests.support.robot_bridge.rays import CONFIG, as_scan, scan_of

BEAMS = CONFIG.lidar.beams
twists = st.builds(Twist, st.floats(-0.3, 0.3) | st.just(nan), st.floats(-1, 1) | st.just(inf))
sensors = st.sampled_from(["good", "good", "good", "none", "nan", "inf", "negative", "short", "old", "lost odometry"])


class Driven(RuleBasedStateMachine):
    """A robot that does what leaves the chain at once, in a room with two poles."""

    def __init__(self) -> None:
        super().__init__()
        self.chain = SafetyChain(CONFIG)
        self.now, self.pose, self.sensors = 0.0, Pose(), "good"
        self.commands = list[Command]()
        self.applied = Applied(REST, "none")
        self.is_latched = False
        self.tick(6)

    def scan(self) -> Scan | None:
        posts = [(0.9, 0.1, 0.01), (-0.7, -0.2, 0.01)]
        good = scan_of(posts, pose=self.pose, stamp=self.now)
        spoilt = {"nan": nan, "inf": inf, "negative": -1.0}
        if self.sensors in spoilt:
            return as_scan(np.full(BEAMS, spoilt[self.sensors]), self.now)
        if self.sensors == "short":
            return as_scan(good.ranges[:-5], self.now)
        if self.sensors == "old":
            return as_scan(good.ranges, self.now - 0.3)
        return None if self.sensors == "none" else good

    def tick(self, count: int) -> None:
        for _ in range(count):
            self.now += 0.05
            odometry = Odometry(self.now, self.pose, self.applied.twist)
            observation = Observation(self.scan(), None, None if self.sensors == "lost odometry" else odometry)
            self.applied = self.chain.step(self.commands, observation, self.now)
            self.check()
            self.drive(0.05)

    def drive(self, seconds: float) -> None:
        v, w = self.applied.twist.linear, self.applied.twist.angular
        self.pose = self.pose.compose(along(w / v if v else 0.0, v * seconds))

    def check(self) -> None:
        alive = [command for command in self.commands if not command.expires <= self.now]
        strongest = min((command.source for command in alive), default=None)
        if self.is_latched:
            assert self.applied.source == "stop"
            assert self.applied.reason == self.chain.state.stopped != ""
        elif strongest is not None:
            assert self.applied.source == strongest.name.lower()
        if self.is_latched or strongest in {None, Source.STOP} or self.sensors != "good":
            assert self.applied.twist == REST

    @rule(count=st.integers(1, 8))
    def drives_on(self, count: int) -> None:
        self.tick(count)

    @rule(twist=twists, source=st.sampled_from(Source), lasts=st.floats(0, 2))
    def commanded(self, twist: Twist, source: Source, lasts: float) -> None:
        self.commands = [*self.commands[-3:], Command(twist, source, self.now + lasts)]
        self.tick(1)

    @rule()
    def withdrawn(self) -> None:
        self.commands = []
        self.tick(1)

    @rule(what=sensors)
    def sensors_change(self, what: str) -> None:
        self.sensors = what
        self.tick(1)

    @rule(reason=st.sampled_from(["", "operator", "collision"]))
    def stopped(self, reason: str) -> None:
        self.chain.stop(reason)
        self.is_latched = True
        self.tick(1)

    @rule()
    def released(self) -> None:
        self.chain.release()
        self.is_latched = False
        self.tick(1)

    @rule(seconds=st.floats(0, 3))
    def host_pauses(self, seconds: float) -> None:
        """The robot obeys until the last command is too old."""
        self.now += seconds
        self.drive(min(seconds, CONFIG.limits.command_timeout))
        self.applied = Applied(REST, "none")

    @rule(direction=st.sampled_from([1.0, -1.0]))
    def goes_on_when_all_is_well(self, direction: float) -> None:
        """From any state, nothing is needed but what it waits for; it is carried back once it stands."""
        self.sensors, self.is_latched = "good", False
        self.chain.release()
        self.commands = []
        self.tick(1)
        self.pose = Pose()
        self.tick(12)
        self.commands = [Command(Twist(0.05 * direction, 0.02), Source.MODEL, self.now + 1)]
        self.tick(2)
        assert self.applied == Applied(self.commands[0].twist, "model")

    @invariant()
    def only_what_can_be_driven_leaves(self) -> None:
        twist = self.applied.twist
        assert clamp_steering(twist, CONFIG.body) == twist
        assert -CONFIG.limits.reverse_speed <= twist.linear <= CONFIG.limits.speed


TestDriven = Driven.TestCase
TestDriven.settings = settings(max_examples=15, stateful_step_count=20)
