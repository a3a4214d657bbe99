"""A served robot leaves nothing behind, however it ends."""

from __future__ import annotations

from typing import Any

import pytest

from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, Subscription, wait_until
from robot_bridge.ros.topics import DRIVER_COMMANDS
from tests.support.robot_bridge.loopback import started


@pytest.mark.long
def test_the_deadman_of_a_killed_server_ends(domain: int) -> None:
    with Bus(domain) as bus:
        heard = bus.subscription(DRIVER_COMMANDS, types.TWIST, reliable=True)
        with started("tests.support.robot_bridge.served_twin", str(domain), "--deadman", wait_for="ready"):
            zeros = list[Any]()
            assert wait_until(lambda: _more(zeros, heard) > 10, 20), "it goes on for longer than it takes leave"
        assert wait_until(lambda: not heard.publishers, 8)


def _more(found: list[Any], subscription: Subscription) -> int:
    found.extend(subscription.take())
    return len(found)
