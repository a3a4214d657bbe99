"""A served robot leaves nothing behind, however it ends."""

from __future__ import annotations

from robot_bridge.wire import types
from robot_bridge.wire.dds import Bus, until
from robot_bridge.wire.topics import DRIVER_COMMANDS
from tests.robot_bridge.wire.loopback import started


def test_the_deadman_of_a_killed_server_ends(domain: int) -> None:
    with Bus(domain) as bus:
        heard = bus.subscription(DRIVER_COMMANDS, types.TWIST, reliable=True)
        with started("tests.robot_bridge.wire.served_twin", str(domain), "--deadman", wait_for="ready"):
            assert until(heard.take, 20)
        assert until(lambda: not heard.publishers, 8)
