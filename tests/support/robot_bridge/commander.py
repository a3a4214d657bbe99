"""``python -m tests.support.robot_bridge.commander DOMAIN TOPIC``: a host that commands 0.15 m/s until it is killed."""

from __future__ import annotations

import sys
import time

from robot_bridge.contracts import Twist
from robot_bridge.errors import DeviceError
from robot_bridge.ros.robot import Ros2Robot
from robot_bridge.ros.topics import Topics
from tests.support.robot_bridge.served_twin import CONFIG


def main() -> None:
    robot = Ros2Robot(int(sys.argv[1]), CONFIG, with_camera=False, topics=Topics(commands=sys.argv[2]))
    print("driving", flush=True)
    try:
        while True:
            robot.apply(Twist(0.15))
            time.sleep(0.05)
    except DeviceError as error:
        print(f"DeviceError: {error}", flush=True)


if __name__ == "__main__":
    main()
