"""The gates of ``scripts/soak robot-safety``: each drives a simulated robot and returns figures that can be added up.

Distances and times are the truth of the simulation, not what the chain believes. What touches a robot that was not told
to move, and has had the time to stop, has pushed it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import hypot, inf, nan, pi

import numpy as np

from robot_bridge.contracts import REST, Observation, Pose, Twist
from robot_bridge.control.controller import Controller
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.exploration.explorer import Explorer
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.safety.chain import choose_command, find_refusal
from robot_bridge.safety.geometry import along, clamp_steering
from robot_bridge.tags import FACES
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.random_worlds import make_cluttered
from robot_bridge.twin.worlds.world import Obstacle, Thing
from tests.soak.journal import Figures
from tests.soak.robot_safety_scenes import (
    CONFIG,
    PERIOD,
    Trial,
    Witness,
    broken,
    bursts,
    hall,
    rectangle,
    still,
    surfaces,
    timed,
    true_distance,
)
from tests.support.robot_bridge.hostile_navigator import HostileNavigator

THING_SIZE = FACES["box"].side
STANDS = 0.01
"""m/s"""
MINUTES = 5.0
"""Of the simulation, in one world."""


def hostile(seed: int) -> Figures:
    """A hostile model explores a cluttered world."""
    robot = MujocoRobot(make_cluttered(seed), seed=seed, with_camera=False)
    chain = Witness(robot, f"hostile {seed}")
    navigation = Navigation(robot.config, Pose(heading=robot.world.start.heading))
    controller = Controller(robot, robot.clock, navigation, chain)
    model, calls = HostileNavigator(seed), 0
    while robot.time < MINUTES * 60:
        explorer = Explorer(controller, model, LockstepLink(robot.clock))
        calls += explorer.run(MINUTES - robot.time / 60).calls
    chain.judge()
    distance = controller.state.distance_traveled_m
    return figures(robot, chain, distance) | {"calls": calls}


def raw(seed: int) -> Figures:
    """Random commands of every source go straight to the chain, now and then with broken sensors."""
    robot = MujocoRobot(make_cluttered(seed), seed=seed, with_camera=False)
    chain = Witness(robot, f"raw {seed}")
    distance, rng = 0.0, np.random.default_rng(seed)
    for commands, is_blind in bursts(rng):
        now = robot.time
        if now >= MINUTES * 60:
            break
        if rng.random() < 0.002:
            chain.stop("a whim")
        elif rng.random() < 0.05:
            chain.release()
        seen = robot.observe()
        seen = replace(seen, scan=broken(seen.scan, rng)) if is_blind else seen
        applied = chain.step(timed(commands, now), seen, now)
        robot.apply(applied.twist)
        before = robot.truth
        robot.wait_until(now + PERIOD)
        distance += hypot(robot.truth.x - before.x, robot.truth.y - before.y)
    chain.judge()
    return figures(robot, chain, distance)


def figures(robot: MujocoRobot, chain: Witness, distance: float) -> Figures:
    """What every drive comes to."""
    return {
        "count": 1,
        "hours": robot.time / 3600,
        "km": distance / 1000,
        "touched": chain.touched,
        "excused": chain.excused,
        "interventions": dict(chain.interventions),
        "wrong": chain.wrong,
    }


def false_stops(seed: int) -> Figures:
    """Random commands in a cluttered world where nothing walks: how often it stopped for something that was not there.

    Counted are the periods in which motion was commanded and the true distance was outside of the emergency zone by
    more than three deviations of the lidar's noise.
    """
    world = still(make_cluttered(seed))
    robot, walls = MujocoRobot(world, seed=seed, with_camera=False), surfaces(world)
    chain, rng = Witness(robot, f"false stops {seed}"), np.random.default_rng(seed)
    periods = stopped = 0
    for commands, _ in bursts(rng):
        now = robot.time
        if now >= MINUTES * 60:
            break
        alive = timed(commands, now)
        applied = chain.step(alive, robot.observe(), now)
        command = choose_command(alive, now)
        if command is not None and not find_refusal(command) and "braking" not in applied.reason and now > 1:
            wanted = clamp_steering(command.twist, CONFIG.body)
            if wanted != REST and true_distance(robot, walls, wanted) > CONFIG.zones.emergency_stop + 0.03:
                periods += 1
                stopped += applied.twist == REST
        robot.apply(applied.twist)
        robot.wait_until(now + PERIOD)
    return {"count": 1, "periods": periods, "stopped": stopped, "wrong": []}


def appearing(seed: int) -> Figures:
    """A box appears in the emergency zone, stays two seconds and is gone: stop, hold, resume."""
    rng = np.random.default_rng(seed)
    forward = rng.random() < 0.75
    speed = rng.uniform(0.05, CONFIG.limits.speed if forward else CONFIG.limits.reverse_speed)
    speed = speed if forward else -speed
    twist = Twist(speed, speed * rng.uniform(-1.0, 1.0))
    trial = Trial(hall(Pose(), [Thing("box", "red", "", 5.0, 5.0)]), seed, twist, f"appearing {seed}")
    trial.until(rng.uniform(1.0, 2.0))
    edge = CONFIG.body.front if forward else CONFIG.body.rear
    gap = edge + rng.uniform(0.08, 0.13) + THING_SIZE / 2
    x, y = trial.robot.truth.compose(along(twist.angular / twist.linear, 0.05)).ahead(gap if forward else -gap)
    trial.robot.put(0, x, y)
    box = rectangle(x - THING_SIZE / 2, y - THING_SIZE / 2, x + THING_SIZE / 2, y + THING_SIZE / 2)
    came, stood, held, periods = trial.robot.time, inf, 0, 0
    for _ in range(round(2.0 / PERIOD)):
        applied = trial.tick()
        if trial.speed < STANDS:
            stood = min(stood, trial.robot.time - came)
        if trial.robot.time - came > 0.6 and true_distance(trial.robot, box, twist) < CONFIG.zones.emergency_stop:
            held, periods = held + (applied.twist == REST), periods + 1
    trial.robot.remove(0)
    gone, resumed = trial.robot.time, inf
    while resumed == inf and trial.robot.time < gone + 3:
        now = trial.robot.time
        if trial.tick().twist != REST:
            resumed = now - gone
    trial.chain.judge()
    return {"count": 1, "stop": [stood], "held": held, "zone": periods, "resume": [resumed], "wrong": trial.chain.wrong}


def crossing(seed: int) -> Figures:
    """Somebody walks at up to 0.5 m/s into the way of a robot, from anywhere."""
    rng = np.random.default_rng(seed)
    forward, seconds = rng.random() < 0.75, rng.uniform(2, 6)
    speed = rng.choice([0.08, 0.15, 0.25]) if forward else -CONFIG.limits.reverse_speed
    curvature = rng.choice([0.0, rng.uniform(-2.8, 2.8)])
    meeting = along(curvature, speed * seconds).ahead(CONFIG.body.centre)
    walk, angle = rng.uniform(0.2, 0.5), rng.uniform(-pi, pi)
    way = np.array([np.cos(angle), np.sin(angle)])
    middle = np.array(meeting) + rng.normal(0, 0.2, 2)
    first, last = middle - way * walk * seconds, middle + way * 2
    if np.hypot(first[0] - CONFIG.body.centre, first[1]) < 0.5:
        first = middle - way * 3
    who = Obstacle.mover([tuple(first), tuple(last)], walk, float(rng.choice([0.03, 0.05, 0.15, 0.25])))
    twist = Twist(float(speed), float(speed * curvature))
    trial = Trial(hall(Pose(), (), [who]), seed, twist, f"crossing {seed}")
    trial.until(seconds + 3)
    trial.chain.judge()
    chain = trial.chain
    return {"count": 1, "touched": chain.touched, "excused": chain.excused, "wrong": chain.wrong}


def faults(seed: int) -> Figures:
    """The lidar breaks while the robot drives: seconds from when the scan is no good until rest is commanded, and until
    the robot stands."""
    rng = np.random.default_rng(seed)
    forward = rng.random() < 0.75
    speed = CONFIG.limits.speed if forward else -CONFIG.limits.reverse_speed
    trial = Trial(hall(Pose()), seed, Twist(speed, speed * rng.uniform(-2, 2)), f"faults {seed}")
    trial.until(rng.uniform(1.0, 1.5))
    kinds = ("none", "nan", "inf", "-1", "short", "scattered", "silent")
    kind = kinds[seed % len(kinds)]
    frozen = trial.robot.observe().scan

    def spoilt(seen: Observation) -> Observation:
        if seen.scan is None or kind == "none":
            return replace(seen, scan=None)
        if kind == "silent":
            return replace(seen, scan=frozen)
        if kind == "short":
            return replace(seen, scan=replace(seen.scan, ranges=seen.scan.ranges[:-1]))
        value = {"nan": nan, "inf": inf, "-1": -1.0}.get(kind, inf)
        share = 0.4 if kind == "scattered" else 1.0
        lost = rng.random(len(seen.scan.ranges)) < share
        return replace(seen, scan=replace(seen.scan, ranges=np.where(lost, np.float32(value), seen.scan.ranges)))

    began = trial.robot.time
    if kind == "silent" and frozen is not None:
        began = frozen.stamp + CONFIG.zones.scan_timeout
    commanded = stands = inf
    while stands == inf and trial.robot.time < began + 2:
        now = trial.robot.time
        if trial.tick(spoilt).twist == REST:
            commanded = min(commanded, now - began)
        if trial.speed < STANDS:
            stands = trial.robot.time - began
    return {"count": 1, "commanded": [commanded], "stands": [stands], "wrong": trial.chain.wrong}


def stopping(seed: int) -> Figures:
    """The emergency stop is pressed at any moment: seconds until rest is commanded, and until the robot stands."""
    rng = np.random.default_rng(seed)
    twist = Twist(CONFIG.limits.speed, CONFIG.limits.speed * rng.uniform(-2, 2))
    trial = Trial(hall(Pose()), seed, twist, f"stopping {seed}")
    trial.until(rng.uniform(1.0, 1.5))
    waited = rng.uniform(0, PERIOD)
    trial.robot.wait_until(trial.robot.time + waited)
    trial.chain.stop("pressed")
    pressed = trial.robot.time
    trial.robot.wait_until(pressed + PERIOD - waited)
    commanded = trial.robot.time - pressed
    applied = trial.tick()
    wrong = [] if applied.twist == REST else [f"stopping {seed}: went on"]
    while trial.speed >= STANDS and trial.robot.time < pressed + 2:
        trial.tick()
    return {"count": 1, "commanded": [commanded], "stands": [trial.robot.time - pressed], "wrong": wrong}


GATES: dict[str, Callable[[int], Figures]] = {
    "hostile": hostile,
    "raw": raw,
    "false-stops": false_stops,
    "appearing": appearing,
    "crossing": crossing,
    "faults": faults,
    "stopping": stopping,
}
