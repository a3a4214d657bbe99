"""Lidars that are frozen and do not look it: two scans in turn, dither, a part of the turn, odometry frozen as well.

``scripts/soak robot-frozen [--count N] [--only DISGUISE,...] [--seed S] [--jobs N] [--record]``: N runs (default 45) in
cluttered worlds in which nothing walks, the disguises in turn. A robot is driven on, straight, in an arc, or by random
commands of every source, when its sensors freeze at a random moment. It touches nothing, ever; driven on steadily it is
stopped within 0.3 s or 5 cm. Goes on with what was interrupted unless the code has changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import hypot, inf

import numpy as np

from robot_bridge.contracts import REST, Command, Source, Twist
from robot_bridge.safety.doubt import Phase
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.random_worlds import make_cluttered
from tests.soak.common import resumable
from tests.soak.journal import Figures, Found, Soak
from tests.soak.robot_safety_scenes import PERIOD, Witness, bursts, still, timed
from tests.support.frozen_sensors import Disguise, FrozenSensors

DISGUISES = {each.name.lower(): each for each in Disguise}
STOPS_S, STOPS_M = 0.3, 0.05
"""One of them holds."""
_AFTER_S = 25.0
Item = tuple[str, int]


def done(item: Item) -> Figures:
    """The figures of an item."""
    name, seed = item
    rng = np.random.default_rng(seed)
    robot = MujocoRobot(still(make_cluttered(seed)), seed=seed, with_camera=False)
    chain = Witness(robot, f"{name} {seed}")
    begins = float(rng.uniform(0.5, 6.0))
    sensors = FrozenSensors(DISGUISES[name], begins, rng)
    is_steady = seed // len(DISGUISES) % 3 != 2
    speed = float(rng.choice([0.05, 0.08, 0.12, 0.18, 0.25]))
    twist, wild = Twist(speed, speed * float(rng.uniform(-2, 2))), bursts(rng)
    way, stopped, is_driven = 0.0, [inf, inf], False
    while robot.time < begins + _AFTER_S:
        now, before = robot.time, robot.truth
        commands = [Command(twist, Source.MODEL, now + 1)] if is_steady else timed(next(wild)[0], now)
        applied = chain.step(commands, sensors.spoilt(robot.observe()), now)
        robot.apply(applied.twist)
        robot.wait_until(now + PERIOD)
        if now < begins:
            is_driven = applied.twist != REST
            continue
        if stopped[0] == inf and chain.state.doubt.phase is not Phase.TRUSTED:
            stopped = [now - begins, way]
        way += hypot(robot.truth.x - before.x, robot.truth.y - before.y)
    chain.judge()
    wrong = list(chain.wrong)
    if is_steady and is_driven and stopped[0] > STOPS_S + PERIOD and stopped[1] > STOPS_M and way > STOPS_M:
        wrong.append(f"{name} {seed}: stopped after {stopped[0]:.2f} s and {stopped[1]:.3f} m")
    noticed = stopped[0] < inf and is_steady and is_driven
    return {
        "touched": chain.touched + chain.excused + len(chain.wrong),
        "seconds": stopped[0] if noticed else None,
        "metres": stopped[1] if noticed else None,
        "unusable": chain.state.doubt.phase is Phase.UNUSABLE,
        "wrong": wrong,
    }


def table(work: Sequence[Item], found: Found) -> tuple[str, list[str]]:
    """The figures by disguise as Markdown, and everything that was wrong."""
    heads = ("frozen sensors", "runs", "contacts", "stopped after, most", "on the way, most", "told as unusable")
    lines, wrong = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"], list[str]()
    for name in dict.fromkeys(name for name, _ in work):
        runs = [found[item] for item in work if item[0] == name]
        wrong += [line for figures in runs for line in figures["wrong"]]
        seconds = [figures["seconds"] for figures in runs if figures["seconds"] is not None]
        metres = [figures["metres"] for figures in runs if figures["metres"] is not None]
        cells = (
            f"{len(runs)}",
            f"{sum(figures['touched'] for figures in runs)}",
            f"{max(seconds, default=0.0):.2f} s",
            f"{100 * max(metres, default=0.0):.1f} cm",
            f"{sum(figures['unusable'] for figures in runs)}",
        )
        lines.append(f"| {DISGUISES[name]} | {' | '.join(cells)} |")
    return "\n".join(lines), wrong


SOAK = Soak(
    name="robot-frozen",
    title="Frozen sensors in disguise",
    parts=tuple(DISGUISES),
    unit="runs",
    sources=("robot_bridge/**/*.py", "tests/soak/robot_frozen.py", "tests/soak/robot_safety_scenes.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Run them; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=45, help="runs")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    options = parser.parse_args()
    names = options.only
    work = [(names[number % len(names)], options.seed + number) for number in range(options.count)]
    return SOAK.run(work, options)


if __name__ == "__main__":
    sys.exit(resumable(main))
