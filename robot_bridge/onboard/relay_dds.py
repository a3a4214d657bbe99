"""The deadman's transport over cyclonedds, for machines without rclpy, such as a host that serves the twin."""

from __future__ import annotations

from collections.abc import Sequence

from robot_bridge.contracts import Twist
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus
from robot_bridge.ros.messages import twist_from, twist_message


class DdsTransport:
    """A transport over cyclonedds; see :class:`robot_bridge.onboard.deadman.Transport`.

    Raises:
        SetupError: the domain cannot be joined.
    """

    def __init__(self, domain: int, commands: str, driver: str, stop: str) -> None:
        self._bus = Bus(domain)
        self._commands = self._bus.subscription(commands, types.TWIST, reliable=True, depth=1)
        self._stop = self._bus.subscription(stop, types.BOOL, reliable=True, depth=1)
        self._driver = self._bus.publisher(driver, types.TWIST)

    def receive(self, seconds: float) -> Sequence[tuple[float, float] | bool]:
        """Wait at most ``seconds`` for messages; return the commands first, then the stops and releases.

        With this order, a stop that came together with a command wins.
        """
        self._bus.wait(seconds)
        received: list[tuple[float, float] | bool] = []
        for message in self._commands.take():
            twist = twist_from(message)
            received.append((twist.linear, twist.angular))
        received += [bool(message.data) for message in self._stop.take()]
        return received

    def send(self, linear: float, angular: float) -> None:
        self._driver.send(twist_message(Twist(linear, angular)))

    def close(self) -> None:
        self._bus.close()
