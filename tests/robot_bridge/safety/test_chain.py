"""The chain: what it lets through, for any commands, scans and times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import hypot, inf, isclose, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from robot_bridge.contracts import REST, Applied, Command, Observation, Odometry, Pose, Scan, Source, Twist
from robot_bridge.safety.chain import MIN_SPEED, ChainState, SafetyChain, choose_command, filter_command
from robot_bridge.safety.geometry import clamp_steering, clearance, curvature_of, free_distance
from robot_bridge.safety.scans import returns
from robot_bridge.safety.stop_distance import margin, max_speed_at
from tests.support.robot_bridge.rays import CONFIG, Post, as_scan, scan_of, seen

LIMITS, ZONES, BODY = CONFIG.limits, CONFIG.zones, CONFIG.body
OVERHANG = BODY.front - CONFIG.lidar.x

twists = st.builds(Twist, st.floats(width=32), st.floats(width=32))
sane = st.builds(Twist, st.floats(-0.4, 0.4), st.floats(-2, 2))
commands = st.lists(
    st.builds(Command, st.one_of(sane, twists), st.sampled_from(Source), st.floats(-1, 12) | st.just(nan)), max_size=5
)
posts = st.lists(st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(0.005, 0.2)), max_size=6)


def apart(found: list[Post]) -> list[Post]:
    """Those that do not touch the footprint at the origin."""
    return [p for p in found if clearance(np.array([p[:2]]), BODY)[0] > p[2] + 0.001]


def watched(found: list[Post], twist: Twist = REST) -> ChainState:
    """The state after half a second at rest among posts, with the wheels where ``twist`` wants them."""
    state = ChainState()
    for now in (0.0, 0.1, 0.2, 0.45):
        state, _ = filter_command(state, [], seen(scan_of(found, stamp=now), now=now), now, CONFIG)
    angle = float(np.arctan(BODY.wheelbase * curvature_of(clamp_steering(twist, BODY), BODY)))
    return replace(state, twist=clamp_steering(twist, BODY), steering=(angle, angle))


@given(posts, sane, commands, st.floats(0.0, 0.6))
def test_whatever_is_commanded_only_feasible_velocities_leave_and_never_more_than_was_asked_for(
    found: list[Post], before: Twist, wanted: list[Command], passed: float
) -> None:
    state, now = watched(apart(found), before), 0.45 + passed
    observation = seen(scan_of(apart(found), stamp=now), now=now)
    new, applied = filter_command(state, wanted, observation, now, CONFIG)
    assert filter_command(state, wanted, observation, now, CONFIG)[1] == applied
    twist, command = applied.twist, choose_command(wanted, now)
    assert clamp_steering(twist, BODY) == twist == new.twist
    assert -LIMITS.reverse_speed <= twist.linear <= LIMITS.speed
    if command is None or command.source is Source.STOP:
        assert twist == REST
        return
    assert applied.source == command.source.name.lower()
    assert (applied.reason == "") == (twist == command.twist)
    if twist == REST:
        return
    assert (twist.linear > 0) == (command.twist.linear > 0)
    assert abs(twist.linear) <= abs(command.twist.linear)
    last = abs(before.linear) if passed <= LIMITS.command_timeout else 0.0
    assert abs(twist.linear) <= last + LIMITS.acceleration * max(passed, 1 / CONFIG.control_rate) + 1e-9
    # The zones looked along the arc of the clamped command: no later stage may bend it.
    bent = curvature_of(twist, BODY) - curvature_of(clamp_steering(command.twist, BODY), BODY)
    assert abs(bent) < 1e-9


@given(posts, sane)
def test_what_drives_has_the_room_that_its_speed_needs(found: list[Post], wanted: Twist) -> None:
    assume(clamp_steering(wanted, BODY) != REST)
    feasible = clamp_steering(Twist(max(-LIMITS.reverse_speed, min(LIMITS.speed, wanted.linear)), wanted.angular), BODY)
    state = watched(apart(found), feasible)
    scan = scan_of(apart(found), stamp=0.5)
    _, applied = filter_command(
        state, [Command(feasible, Source.MODEL, 9.0)], seen(scan, now=0.5, twist=feasible), 0.5, CONFIG
    )
    points = returns(scan, CONFIG.lidar)
    padding = np.minimum(ZONES.padding, clearance(points, BODY) - 0.001)
    forward = feasible.linear > 0
    free = free_distance(points, curvature_of(feasible, BODY), forward, BODY, padding, 2.0)
    from_lidar = free + ZONES.padding + (OVERHANG if forward else BODY.rear + CONFIG.lidar.x)
    most = max_speed_at(from_lidar, forward, CONFIG)
    # Half a millimetre of a footprint that is carried from odometry to now and back.
    nearer = max_speed_at(from_lidar - 5e-4, forward, CONFIG)
    assert abs(applied.twist.linear) <= most + 1e-6 + (most - nearer)
    if abs(feasible.linear) < nearer:
        assert applied == Applied(feasible, "model")
    if from_lidar < ZONES.emergency_stop - 0.001:
        assert applied.twist == REST
        assert "stopped" in applied.reason


@given(st.floats(0.01, 0.25), st.floats(-1, 1), st.floats(-0.04, 0.04))
def test_a_pole_of_two_centimetres_in_the_path_stops_the_robot(speed: float, turn: float, side: float) -> None:
    found = [(BODY.front + 0.1, side, 0.01)]
    assume(abs(turn) < 0.5 * speed)
    command = Command(Twist(speed, turn), Source.HUMAN, 9.0)
    _, applied = filter_command(
        watched(found, command.twist), [command], seen(scan_of(found, stamp=0.5), now=0.5), 0.5, CONFIG
    )
    assert applied.twist == REST
    assert applied.reason.startswith("obstacle 0.")


@given(st.floats(0.005, 0.02), st.sampled_from([1.0, -1.0]))
def test_away_from_what_is_too_near_is_always_possible(gap: float, direction: float) -> None:
    edge = BODY.front + gap if direction > 0 else -BODY.rear - gap
    found = [(edge + direction * 0.02, y / 50, 0.02) for y in range(-6, 7)]
    away = Command(Twist(-0.1 * direction, 0.0), Source.MODEL, 9.0)
    state = watched(found, Twist(-0.1 * direction, 0.0))
    assert filter_command(state, [away], seen(scan_of(found, stamp=0.5), now=0.5), 0.5, CONFIG)[1].twist == away.twist
    into = Command(Twist(0.1 * direction, 0.0), Source.MODEL, 9.0)
    state = watched(found, into.twist)
    assert filter_command(state, [into], seen(scan_of(found, stamp=0.5), now=0.5), 0.5, CONFIG)[1].twist == REST


bad_scans = st.one_of(
    st.none(),
    st.sampled_from([nan, inf, -inf, -1.0, 0.0]).map(lambda value: as_scan(np.full(CONFIG.lidar.beams, value))),
    st.integers(0, 359).map(lambda count: as_scan(np.ones(count))),
    st.floats(0.201, 5).map(lambda age: scan_of([], stamp=-age)),
    st.floats(0.3, 0.7).map(
        lambda share: as_scan(np.where(np.random.default_rng(1).random(CONFIG.lidar.beams) < share, inf, 1.0))
    ),
)
bad_odometry = st.one_of(
    st.none(),
    st.floats(0.501, 5).map(lambda age: Odometry(-age, Pose(), Twist())),
    st.sampled_from([nan, inf]).map(lambda value: Odometry(0.0, Pose(value, 0.0, 0.0), Twist())),
    st.sampled_from([nan, inf]).map(lambda value: Odometry(0.0, Pose(), Twist(0.0, value))),
)


@given(bad_scans, sane)
def test_no_motion_without_a_usable_scan(scan: Scan | None, wanted: Twist) -> None:
    state = replace(watched([], wanted), stamp=-0.05)
    observation = replace(seen(None), scan=scan)
    _, applied = filter_command(state, [Command(wanted, Source.HUMAN, 9.0)], observation, 0.0, CONFIG)
    assert applied.twist == REST
    assert bool(applied.reason) == (wanted != REST)


@given(bad_odometry, sane)
def test_no_motion_without_usable_odometry(odometry: Odometry | None, wanted: Twist) -> None:
    state = replace(watched([], wanted), stamp=-0.05)
    observation = Observation(scan_of([]), None, odometry)
    _, applied = filter_command(state, [Command(wanted, Source.HUMAN, 9.0)], observation, 0.0, CONFIG)
    assert applied.twist == REST
    assert bool(applied.reason) == (wanted != REST)


def step(chain: SafetyChain, *wanted: Command, now: float) -> Applied:
    """A period of a robot that goes where it was told to, a period late."""
    pose = Pose(chain.state.doubt.watch.now.commanded)
    return chain.step(wanted, seen(scan_of([], pose=pose, stamp=now), now=now, pose=pose), now)


def test_stop_beats_human_beats_model_beats_planner_and_the_newest_of_a_source_counts() -> None:
    every = [Command(Twist(0.01 * (3 - source), 0.0), source, 1.0) for source in Source]
    for source in Source:
        applied = step(SafetyChain(CONFIG), *every[source:], now=0.0)
        assert (applied.source, applied.twist) == (source.name.lower(), every[source].twist if source else REST)
    newer = Command(Twist(0.01, 0.0), Source.MODEL, 1.0)
    assert step(SafetyChain(CONFIG), every[2], newer, now=0.0).twist == newer.twist


def test_a_source_that_commands_rest_holds_the_robot_until_it_expires() -> None:
    held = [Command(REST, Source.HUMAN, 1.0), Command(Twist(0.02, 0.0), Source.MODEL, 5.0)]
    assert step(SafetyChain(CONFIG), *held, now=0.99) == Applied(REST, "human")
    assert step(SafetyChain(CONFIG), *held, now=1.0).source == "model"
    assert step(SafetyChain(CONFIG), now=1.0) == Applied(REST, "none")


@pytest.mark.parametrize("twist", [Twist(nan, 0.0), Twist(0.1, inf), Twist(-inf, nan)])
def test_a_command_of_no_numbers_is_refused_and_lets_no_weaker_source_drive(twist: Twist) -> None:
    other = Command(Twist(0.02, 0.0), Source.MODEL, 9.0)
    applied = step(SafetyChain(CONFIG), Command(twist, Source.HUMAN, 9.0), other, now=0.0)
    assert applied == Applied(REST, "human", "the command is not made of finite numbers")


def test_turning_in_place_is_refused_and_tight_turns_are_widened() -> None:
    refused = step(SafetyChain(CONFIG), Command(Twist(0.0, 0.5), Source.MODEL, 9.0), now=0.0)
    assert refused == Applied(REST, "model", "this robot cannot turn in place")
    tight = step(SafetyChain(CONFIG), Command(Twist(0.02, 0.45), Source.MODEL, 9.0), now=0.0)
    assert tight == Applied(clamp_steering(Twist(0.02, 0.45), BODY), "model", "curvature at the steering limit")


def test_the_latch_holds_through_everything_until_it_is_released() -> None:
    chain, drive = SafetyChain(CONFIG), Command(Twist(0.02, 0.0), Source.HUMAN, 9.0)
    assert step(chain, drive, now=0.0).twist != REST
    chain.stop("operator")
    chain.stop("again")
    for number in range(1, 40):
        assert step(chain, drive, now=number / 20) == Applied(REST, "stop", "operator")
    assert chain.state.stopped == "operator"
    chain.release()
    assert step(chain, drive, now=2.0).twist == drive.twist
    chain.stop("")
    assert step(chain, drive, now=2.05).reason == "emergency stop"


def test_a_stop_in_the_middle_of_a_step_is_not_lost() -> None:
    chain = SafetyChain(CONFIG)

    class Pressing(list[Command]):
        """Commands that somebody reacts to while they are read."""

        def __iter__(self) -> Iterator[Command]:
            chain.stop("pressed")
            return super().__iter__()

    driving = Pressing([Command(Twist(0.02, 0.0), Source.MODEL, 9.0)])
    assert chain.step(driving, seen(scan_of([])), 0.0) == Applied(REST, "stop", "pressed")
    assert chain.state.stopped == "pressed"
    assert chain.state.twist == REST


def test_speed_is_reached_by_the_acceleration_limit_and_left_at_once() -> None:
    chain, drive = SafetyChain(CONFIG), Command(Twist(0.25, 0.0), Source.MODEL, 99.0)
    speeds = [step(chain, drive, now=number / 20).twist.linear for number in range(12)]
    np.testing.assert_allclose(speeds[:10], np.arange(1, 11) * 0.025, atol=1e-9)
    assert speeds[-1] == 0.25
    assert step(chain, Command(REST, Source.MODEL, 99.0), now=0.6).twist == REST


def test_a_robot_that_rolls_forward_brakes_before_it_reverses() -> None:
    back = [Command(Twist(-0.1, 0.0), Source.MODEL, 9.0)]
    rolling = seen(scan_of([]), twist=Twist(0.1, 0.0))
    applied = SafetyChain(CONFIG).step(back, rolling, 0.0)
    assert applied == Applied(REST, "model", "braking before the direction changes")
    assert SafetyChain(CONFIG).step(back, seen(scan_of([]), twist=Twist(0.02, 0.0)), 0.0).twist.linear < 0


def test_wheels_that_still_point_at_an_obstacle_hold_the_robot_back() -> None:
    config = replace(CONFIG, limits=replace(LIMITS, steering_rate=0.5))
    left = [(0.4, 0.25, 0.05)]
    command = Command(Twist(0.25, -0.5), Source.MODEL, 9.0)
    arrived = watched(left, command.twist)
    still_left = replace(arrived, steering=(BODY.steering_limit, BODY.steering_limit))
    observation = seen(scan_of(left, stamp=0.5), now=0.5)
    assert filter_command(arrived, [command], observation, 0.5, config)[1].twist == command.twist
    slow = filter_command(still_left, [command], observation, 0.5, config)[1]
    assert MIN_SPEED <= slow.twist.linear < command.twist.linear
    assert "slowed" in slow.reason


@given(st.floats(-0.25, 0.25), st.floats(-0.7, 0.7), st.floats(0.0, 0.5))
def test_measured_motion_is_where_the_wheels_may_point(linear: float, angular: float, passed: float) -> None:
    twist = clamp_steering(Twist(linear, angular), BODY)
    state, _ = filter_command(ChainState(), [], seen(scan_of([]), twist=twist), passed, CONFIG)
    low, high = state.steering
    assert -BODY.steering_limit <= low <= high <= BODY.steering_limit
    if abs(linear) > 0.08:
        measured = float(np.arctan(BODY.wheelbase * curvature_of(twist, BODY)))
        assert low - 1e-9 <= measured <= high + 1e-9


def test_what_the_wheels_were_told_becomes_certain() -> None:
    chain, drive = SafetyChain(CONFIG), Command(Twist(0.02, 0.03), Source.MODEL, 99.0)
    for number in range(10):
        step(chain, drive, now=number / 20)
    low, high = chain.state.steering
    assert isclose(low, high)
    assert isclose(low, float(np.arctan(BODY.wheelbase * 1.5)), rel_tol=1e-6)


def test_after_a_pause_nobody_knows_how_far_the_wheels_have_turned() -> None:
    chain, lock = SafetyChain(CONFIG), BODY.steering_limit
    left, right = (Command(Twist(0.02, turn), Source.MODEL, 99.0) for turn in (0.05, -0.05))
    for number in range(10):
        step(chain, left, now=number / 20)
    assert chain.state.steering == pytest.approx((lock * 0.88, lock * 0.88), rel=0.1)
    step(chain, right, now=0.5)
    step(chain, right, now=2.5)
    low, high = chain.state.steering
    assert low < -0.4
    assert high > 0.4


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("value", [nan, 0.0])
def test_nothing_drives_where_the_lidar_is_blind(value: float, forward: bool) -> None:
    ahead = Command(Twist(0.1 if forward else -0.1, 0.0), Source.MODEL, 99.0)
    dead = np.arange(150, 210) if forward else np.arange(-30, 30)
    for way, is_stopped in ((ahead, True), (replace(ahead, twist=Twist(-ahead.twist.linear)), False)):
        chain = SafetyChain(CONFIG)
        for number in range(12):
            now, pose = number / 20, Pose(chain.state.doubt.watch.now.commanded)
            ranges = scan_of([], pose=pose).ranges.copy()
            ranges[dead] = value
            applied = chain.step([way], seen(as_scan(ranges, now), now=now, pose=pose), now)
        assert (applied.twist == REST) == is_stopped


@given(st.floats(0.0, 0.2))
def test_what_a_late_scan_shows_on_the_move_gets_more_room(age: float) -> None:
    walker, now = (0.0, 0.2 + CONFIG.zones.padding + margin(0.0, CONFIG, age), 0.1), 0.5
    straight = Command(Twist(0.02, 0.0), Source.MODEL, 99.0)
    for nearer, is_stopped in ((0.015, True), (-0.03, False)):
        found = [(walker[0], walker[1] - nearer, walker[2])]
        scan = scan_of(found, stamp=now - age)
        applied = SafetyChain(CONFIG).step([straight], seen(scan, now=now), now)
        assert (applied.twist == REST) == is_stopped


@given(st.floats(0.3, 0.8), st.floats(-0.3, 0.3), st.floats(0.4, 0.5))
def test_what_may_move_is_kept_at_a_distance(x: float, y: float, speed: float) -> None:
    """A leg walks up to a robot that wants to drive on, and is near at last."""
    chain, drive = SafetyChain(CONFIG), Command(Twist(0.25, 0.0), Source.MODEL, 99.0)
    for number in range(12):
        now = number / 10
        gone = speed * (1.1 - now)
        leg = (x + gone * x / hypot(x, y), y + gone * y / hypot(x, y), 0.05)
        applied = chain.step([drive], seen(scan_of([leg], stamp=now), now=now, twist=chain.state.twist), now)
    near = clearance(np.array([leg[:2]]), BODY)[0] - leg[2]
    assert near - ZONES.padding > margin(applied.twist.linear, CONFIG) - 0.05 or applied.twist == REST
