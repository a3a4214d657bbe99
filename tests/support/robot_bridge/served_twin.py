"""An empty hall in real time: ``python -m tests.support.robot_bridge.served_twin DOMAIN [--deadman] [--camera]``.

Neither sensors nor odometry have noise: what odometry says is the truth.
"""

from __future__ import annotations

import sys
import threading

from robot_bridge.config import Camera, RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.onboard.deadman import catch_termination
from robot_bridge.ros.server import serve
from robot_bridge.twin.noise import NO_NOISE
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import TwinWorld, Wall

CONFIG = RobotConfig(camera=Camera(width=160, height=120, rate=2.0))
_HALF, _THICK = 5.0, 0.1
_LOW, _HIGH = -_HALF - _THICK, _HALF + _THICK
WALLS = (
    Wall(_LOW, _LOW, _HIGH, -_HALF),
    Wall(_LOW, _HALF, _HIGH, _HIGH),
    Wall(_LOW, _LOW, -_HALF, _HIGH),
    Wall(_HALF, _LOW, _HIGH, _HIGH),
)


def main() -> None:
    world = TwinWorld(walls=WALLS, things=(), obstacles=(), start=Pose(), name="hall")
    camera = "--camera" in sys.argv
    robot = MujocoRobot(world, config=CONFIG, noise=NO_NOISE, with_camera=camera)
    gone = threading.Event()

    def orphaned() -> None:
        sys.stdin.read()
        gone.set()

    threading.Thread(target=orphaned, daemon=True).start()
    with catch_termination() as is_over:
        print("ready", flush=True)
        serve(
            robot,
            robot.clock,
            int(sys.argv[1]),
            lambda: is_over() or gone.is_set(),
            with_deadman="--deadman" in sys.argv,
            with_camera=camera,
        )
    robot.close()


if __name__ == "__main__":
    main()
