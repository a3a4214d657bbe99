"""Commanded motion held against measured motion, and what the chain does when they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Applied, Command, Observation, Odometry, Pose, Scan, Source, Twist
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.doubt import BLOCKED_UNSEEN, Phase, unseen_points
from robot_bridge.safety.geometry import along, curvature_of
from tests.support.frozen_sensors import Disguise, FrozenSensors
from tests.support.robot_bridge.rays import CONFIG, Post, as_scan, scan_of
from tests.support.tiers import few

PERIOD = 1 / CONFIG.control_rate
POSTS: list[Post] = [(1.8, 1.1, 0.2), (-1.5, 1.4, 0.3), (0.6, -1.7, 0.2)]


@dataclass
class Drive:
    """A robot of pure geometry in a room with posts: wheels that may be stuck or spin, sensors that may be spoilt.

    ``wall``: the rear axle comes no farther along x, and the lidar does not see why; ``spins``: the wheels turn on.
    """

    twist: Twist = field(default_factory=lambda: Twist(0.15, 0.05))
    wall: float = inf
    spins: bool = False
    noise: float = 0.005
    spoilt: Callable[[Observation], Observation] | None = None
    config: RobotConfig = CONFIG

    def __post_init__(self) -> None:
        self.chain, self.rng = SafetyChain(self.config), np.random.default_rng(1)
        self.truth = self.rolled = Pose()
        self.now, self.pushed, self.seen = 0.0, 0.0, scan_of(POSTS)
        self.backed = 0.0

    def tick(self) -> Applied:
        """One period."""
        if round(self.now / PERIOD) % 2 == 0:
            self.seen = scan_of(POSTS, pose=self.truth, stamp=self.now, noise=self.noise, rng=self.rng)
        driven = self.chain.state.twist
        observation = Observation(self.seen, None, Odometry(self.now, self.rolled, driven))
        observation = self.spoilt(observation) if self.spoilt else observation
        applied = self.chain.step([Command(self.twist, Source.MODEL, self.now + 1)], observation, self.now)
        step = along(curvature_of(applied.twist, CONFIG.body), applied.twist.linear * PERIOD)
        is_stuck = step.x > 0 and self.truth.compose(step).x > self.wall
        self.pushed += PERIOD * is_stuck
        self.backed += max(0.0, -step.x)
        self.truth = self.truth if is_stuck else self.truth.compose(step)
        self.rolled = self.rolled.compose(step) if self.spins or not is_stuck else self.rolled
        self.now += PERIOD
        return applied

    def until(self, seconds: float) -> list[Applied]:
        return [self.tick() for _ in range(round(seconds / PERIOD))]

    @property
    def phase(self) -> Phase:
        return self.chain.state.doubt.phase


@pytest.mark.parametrize("speed", few(1, [0.05, 0.12, 0.25]))
@pytest.mark.parametrize("disguise", Disguise)
def test_a_frozen_lidar_stops_the_robot_within_a_third_of_a_second_or_5_cm(disguise: Disguise, speed: float) -> None:
    drive = Drive(Twist(speed, 0.3 * speed))
    sensors = FrozenSensors(disguise, 2.0, np.random.default_rng(2))
    drive.spoilt = sensors.spoilt
    assert all(applied.twist != REST for applied in drive.until(2.0))
    began, before = drive.now, drive.truth
    while drive.tick().twist != REST:
        pass
    moved = drive.truth.distance_to(before.x, before.y)
    assert drive.now - began <= 0.3 + PERIOD or moved <= 0.05
    drive.until(5.0)
    assert drive.phase is Phase.UNUSABLE
    assert drive.backed <= CONFIG.witness.backing + 0.005
    assert all(applied.reason.startswith("a sensor is unusable: ") for applied in drive.until(1.0))


def test_somebody_who_sees_to_the_sensors_releases_them() -> None:
    drive = Drive()
    drive.until(1.0)
    drive.spoilt = FrozenSensors(Disguise.DITHER, 1.0, np.random.default_rng(2)).spoilt
    drive.until(4.0)
    assert drive.phase is Phase.UNUSABLE
    drive.spoilt = None
    drive.until(1.0)
    assert drive.phase is Phase.UNUSABLE
    drive.chain.release()
    assert drive.until(1.0)[-1].twist != REST


@pytest.mark.parametrize("spins", few(1, [False, True]))
@pytest.mark.parametrize("speed", few(1, [0.04, 0.08, 0.18]))
def test_what_the_lidar_does_not_see_is_pushed_for_a_moment_and_known_afterwards(speed: float, spins: bool) -> None:
    drive = Drive(Twist(speed, 0.0), wall=0.4, spins=spins)
    while not drive.chain.state.doubt.unseen:
        drive.tick()
        assert drive.now < 15
    assert drive.pushed <= 0.6
    assert drive.backed <= CONFIG.witness.backing
    assert len(drive.chain.state.doubt.unseen) == 1
    odometry = Odometry(drive.now, drive.rolled, REST)
    edge = unseen_points(drive.chain.state.doubt, odometry)
    assert np.ptp(edge[:, 1]) == pytest.approx(2 * CONFIG.body.half_width)
    assert edge[:, 0].max() == pytest.approx(0.4 - drive.truth.x + CONFIG.body.front, abs=0.03)
    after = drive.until(2.0)
    assert drive.pushed <= 0.6
    assert all(BLOCKED_UNSEEN in applied.reason for applied in after[3:])
    assert all(applied.twist == REST for applied in after[3:])


@pytest.mark.parametrize("wall", [0.03, 0.035, 0.04])
def test_three_centimetres_driven_are_ground_enough_to_find_out(wall: float) -> None:
    """The path planner backs and drives on: what is touched at once is found out like anything else."""
    drive = Drive(Twist(0.18, 0.0), wall=wall)
    drive.until(8.0)
    assert drive.phase is Phase.TRUSTED
    assert len(drive.chain.state.doubt.unseen) == 1
    assert drive.truth.x > -0.03


def test_an_honest_lidar_is_believed_however_the_robot_drives() -> None:
    for curvature in (0.0, 1.0, -2.5):
        drive = Drive(Twist(0.12, 0.12 * curvature), noise=0.01)
        drive.until(4.0)
        drive.twist = Twist(-0.1, 0.05)
        drive.until(4.0)
        assert drive.phase is Phase.TRUSTED


def test_nothing_is_backed_over_that_has_not_been_driven_before() -> None:
    drive = Drive(Twist(0.1, 0.0), wall=0.02)
    drive.until(4.0)
    assert drive.backed == 0.0
    assert drive.phase is Phase.UNUSABLE


def test_no_more_ground_beside_its_own_is_known_than_the_zones_keep_free() -> None:
    drive = Drive(Twist(0.18, 0.0), wall=0.03, config=replace(CONFIG, zones=replace(CONFIG.zones, padding=0.01)))
    drive.until(8.0)
    assert drive.backed == 0.0
    assert drive.phase is Phase.UNUSABLE


@pytest.mark.parametrize("disguise", few(2, Disguise))
def test_sensors_that_freeze_as_the_robot_turns_round_are_not_driven_on_with(disguise: Disguise) -> None:
    drive = Drive(Twist(-0.1, 0.0))
    drive.until(5.0)
    drive.twist = Twist(0.15, 0.3)
    drive.until(0.5)
    drive.spoilt = FrozenSensors(disguise, drive.now, np.random.default_rng(2)).spoilt
    before = drive.truth
    drive.until(8.0)
    assert drive.phase is Phase.UNUSABLE
    assert drive.truth.distance_to(before.x, before.y) < 0.1


def test_nothing_is_backed_into_what_has_come_behind_meanwhile() -> None:
    drive = Drive(Twist(0.15, 0.0), wall=0.4)
    while drive.phase is Phase.TRUSTED:
        drive.tick()
    where = drive.truth.x - CONFIG.body.rear - 0.05
    behind: list[Post] = [*POSTS, (where, 0.0, 0.02)]

    def watched(seen: Observation) -> Observation:
        scan = scan_of(behind, pose=drive.truth, stamp=drive.seen.stamp)
        return Observation(scan, None, seen.odometry)

    drive.spoilt = watched
    found = drive.until(3.0)
    assert drive.backed == 0.0
    assert any("something is in the way of that" in applied.reason for applied in found)


def corridor(noise: float, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What is seen between two walls without an end, 0.8 m to either side, wherever along them."""
    lidar = CONFIG.lidar
    angles = lidar.angle_min + lidar.angle_increment * np.arange(lidar.beams)
    with np.errstate(divide="ignore"):
        ranges = 0.8 / np.abs(np.sin(angles)) + rng.normal(0, noise, lidar.beams)
    ranges[ranges > 2.5] = inf
    return np.asarray(ranges, np.float64)


def test_walls_alongside_stay_put_and_only_the_very_same_scan_is_too_much() -> None:
    for noise, is_frozen in ((0.01, False), (0.0, True)):
        drive, rng = Drive(Twist(0.15, 0.0)), np.random.default_rng(5)

        scans = dict[float, Scan]()

        def spoilt(
            seen: Observation,
            noise: float = noise,
            rng: np.random.Generator = rng,
            scans: dict[float, Scan] = scans,
        ) -> Observation:
            assert seen.scan is not None
            stamp = seen.scan.stamp
            if stamp not in scans:
                scans[stamp] = as_scan(corridor(noise, rng), stamp)
            return Observation(scans[stamp], None, seen.odometry)

        drive.spoilt = spoilt
        reasons = [applied.reason for applied in drive.until(3.0)]
        assert any("repeats itself" in reason for reason in reasons) == is_frozen
        assert (drive.phase is not Phase.TRUSTED) == is_frozen


def test_a_robot_at_rest_is_never_in_doubt() -> None:
    drive = Drive(REST)
    drive.spoilt = FrozenSensors(Disguise.ODOMETRY, 0.5, np.random.default_rng(2)).spoilt
    drive.until(5.0)
    assert drive.phase is Phase.TRUSTED
