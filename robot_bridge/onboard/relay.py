"""The deadman's way to the wheels: the host's commands in, the driver's topic out, over rclpy or over cyclonedds.

The robot needs only this folder, Python 3.10 and rclpy; the last two come with ROS 2::

    python3 -m robot_bridge.onboard.relay

Options set the topics, the limits and the domain. The default of ``--domain`` is ``ROS_DOMAIN_ID``, or 61 if that
variable is not set. docs/robot.md has a systemd unit for the relay.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

from robot_bridge.onboard.deadman import TIMEOUT_S, Deadman, Transport, catch_termination, serve

COMMANDS = "/spca/cmd_vel"
STOP = "/spca/stop"
DRIVER = "/cmd_vel"
A1_DOMAIN = 61
LAST_DOMAIN = 232
"""Greatest number of a ROS domain; a higher number would need UDP ports that do not exist."""

Message = tuple[float, float] | bool


class RclpyTransport:
    """A transport over a node of ROS 2."""

    def __init__(self, domain: int, commands: str, driver: str, stop: str) -> None:
        import rclpy  # type: ignore[import-not-found,unused-ignore]  # only where ROS 2 is
        from geometry_msgs.msg import Twist  # type: ignore[import-not-found,unused-ignore]
        from rclpy.signals import SignalHandlerOptions  # type: ignore[import-not-found,unused-ignore]
        from std_msgs.msg import Bool  # type: ignore[import-not-found,unused-ignore]

        # The signal handlers of rclpy would end the node before the last zeros are sent.
        rclpy.init(domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        self._rclpy: Any = rclpy
        self._twist: Any = Twist
        self._node: Any = rclpy.create_node("spca_deadman")
        self._publisher: Any = self._node.create_publisher(Twist, driver, 1)
        self._node.create_subscription(Twist, commands, self._receive_command, 1)
        self._node.create_subscription(Bool, stop, self._receive_stop, 1)
        self._received: list[Message] = []

    def receive(self, seconds: float) -> Sequence[Message]:
        """See :class:`robot_bridge.onboard.deadman.Transport`."""
        self._rclpy.spin_once(self._node, timeout_sec=seconds)  # calls the two methods below, which fill the list
        received = self._received
        self._received = []
        return received

    def send(self, linear: float, angular: float) -> None:
        """See :class:`robot_bridge.onboard.deadman.Transport`."""
        message = self._twist()
        message.linear.x = linear
        message.angular.z = angular
        self._publisher.publish(message)

    def close(self) -> None:
        """See :class:`robot_bridge.onboard.deadman.Transport`."""
        self._node.destroy_node()
        self._rclpy.shutdown()

    def _receive_command(self, message: Any) -> None:
        self._received.append((message.linear.x, message.angular.z))

    def _receive_stop(self, message: Any) -> None:
        self._received.append(bool(message.data))


def resolve_domain(given: str | None) -> int:
    """Return the number of the ROS domain.

    The number is ``given``, the value of ``--domain``. If ``given`` is None, the number is ``ROS_DOMAIN_ID``. If that
    is not set either, the number is the domain of the ROSMASTER A1. Hosts use this function to choose their domain,
    too.

    Raises:
        ValueError: the text is not the number of a ROS domain.
    """
    from_environment = os.environ.get("ROS_DOMAIN_ID", "") if given is None else ""
    text = given if given is not None else from_environment or str(A1_DOMAIN)
    # The length is checked before int(), because Python refuses to convert thousands of digits.
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(LAST_DOMAIN))
    if not is_number or int(text) > LAST_DOMAIN:
        source = " (ROS_DOMAIN_ID)" if from_environment else ""
        raise ValueError(f"there is no ROS domain {text!r}{source}: choose one from 0 to {LAST_DOMAIN}")
    return int(text)


def _make_rclpy(domain: int, commands: str, driver: str, stop: str) -> Transport:
    """Return the transport over rclpy; end the program if rclpy is missing."""
    try:
        return RclpyTransport(domain, commands, driver, stop)
    except ImportError as error:
        _refuse(f"{error.name or 'rclpy'} is missing: {_ADVICE}")


def _make_dds(domain: int, commands: str, driver: str, stop: str) -> Transport:
    """Return the transport over cyclonedds; end the program if the domain cannot be joined or a package is missing."""
    try:
        from robot_bridge.errors import RobotError
        from robot_bridge.onboard.relay_dds import DdsTransport

        try:
            return DdsTransport(domain, commands, driver, stop)
        except RobotError as error:
            _refuse(str(error))
    except ImportError:
        _refuse(f"rclpy is missing: {_ADVICE}")


def _refuse(text: str) -> NoReturn:
    """Print an error and end the program with code 2."""
    print(f"error: {text}", file=sys.stderr)
    raise SystemExit(2)


_ADVICE = "source the ROS 2 set-up first (/opt/ros/humble/setup.bash)"
TRANSPORTS: dict[str, Callable[[int, str, str, str], Transport]] = {"rclpy": _make_rclpy, "cyclonedds": _make_dds}
"""For each name of a transport, the function that makes the transport.

The arguments of the function are (domain, topic of commands, topic of the driver, topic of stops).
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m robot_bridge.onboard.relay", description=__doc__.splitlines()[0])
    default = "rclpy" if find_spec("rclpy") else "cyclonedds"
    parser.add_argument("--transport", choices=list(TRANSPORTS), default=default)
    parser.add_argument("--domain", metavar="N", help=f"(default ROS_DOMAIN_ID, else {A1_DOMAIN})")
    parser.add_argument("--commands", default=COMMANDS, metavar="TOPIC", help="of the host (default %(default)s)")
    parser.add_argument("--driver", default=DRIVER, metavar="TOPIC", help="of the driver (default %(default)s)")
    parser.add_argument(
        "--stop", default=STOP, metavar="TOPIC", help="true stops, false releases (default %(default)s)"
    )
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, metavar="SECONDS", help="(default %(default)s)")
    parser.add_argument("--speed", type=float, default=0.3, metavar="M/S", help="hard limit (default %(default)s)")
    parser.add_argument("--parent", type=int, metavar="PID", help="end when this process, which started it, has ended")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a termination signal, or until the process ``--parent`` has ended; return 0.

    The program ends with code 2 if the limits or the domain are invalid, or if ROS is missing.
    """
    options = build_parser().parse_args(argv)
    try:
        domain = resolve_domain(options.domain)
        deadman = Deadman(timeout=options.timeout, speed=options.speed)
    except ValueError as error:
        _refuse(str(error))
    with catch_termination() as is_terminated:

        def is_over() -> bool:
            has_parent_ended = options.parent is not None and os.getppid() != options.parent
            return is_terminated() or has_parent_ended

        transport = TRANSPORTS[options.transport](domain, options.commands, options.driver, options.stop)
        serve(transport, deadman, is_over)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
