"""Messages over DDS within one process: what is heard, what is not, and peers that come and go."""

from __future__ import annotations

from typing import Any

import pytest

from robot_bridge.contracts import Twist
from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, Subscription, wait_until
from robot_bridge.ros.messages import text_message, twist_from, twist_message


def heard(subscription: Subscription, count: int) -> list[Any]:
    """So many messages, if they come."""
    came = list[Any]()

    def are_there() -> bool:
        came.extend(subscription.take())
        return len(came) >= count

    wait_until(are_there, 10)
    return came


def test_a_message_arrives(domain: int) -> None:
    with Bus(domain) as here, Bus(domain) as there:
        publisher, subscription = here.publisher("/a", types.TWIST), there.subscription("/a", types.TWIST, depth=3)
        witness = there.subscription("/a", types.TWIST, reliable=True, depth=9)
        assert wait_until(lambda: publisher.listeners == 2 and subscription.publishers and witness.publishers, 10)
        for number in range(5):
            publisher.send(twist_message(Twist(float(number), 0.5)))
        assert len(heard(witness, 5)) == 5
        assert [twist_from(message).linear for message in subscription.take()] == [2, 3, 4]
        assert subscription.take() == []


def test_whoever_leaves_leaves_no_message_behind(domain: int) -> None:
    """DDS then delivers a sample without data."""
    with Bus(domain) as there:
        subscription = there.subscription("/left", types.STRING, reliable=True)
        with Bus(domain) as here:
            publisher = here.publisher("/left", types.STRING)
            assert wait_until(lambda: publisher.listeners and subscription.publishers, 10)
            publisher.send(text_message("\u2603"))
        assert wait_until(lambda: not subscription.publishers, 10)
        assert [message.data for message in subscription.take()] == ["\u2603"]
        assert subscription.take() == []


def test_who_comes_later_hears_what_is_latched(domain: int) -> None:
    with Bus(domain) as here, Bus(domain) as there:
        here.publisher("/latched", types.STRING, latched=True).send(text_message("map"))
        late = there.subscription("/latched", types.STRING, reliable=True, latched=True)
        assert [message.data for message in heard(late, 1)] == ["map"]


def test_what_is_no_message_is_counted_and_left_out(domain: int) -> None:
    with Bus(domain) as here, Bus(domain) as there:
        publisher, subscription = here.publisher("/bad", types.STRING), there.subscription("/bad", types.STRING)
        assert wait_until(lambda: publisher.listeners and subscription.publishers, 10)
        publisher._writer.write(publisher._kind(b"\0\1\0\0\4\0\0\0\xff\xfe\xfd\0"))
        assert wait_until(lambda: subscription.take() or subscription.refused, 10)
        assert subscription.refused == 1


def test_a_closed_topic_says_so(domain: int) -> None:
    bus = Bus(domain)
    publisher, subscription = bus.publisher("/x", types.TWIST), bus.subscription("/x", types.TWIST)
    bus.close()
    bus.close()
    with pytest.raises(DeviceError, match="/x is closed"):
        publisher.send(twist_message(Twist()))
    assert (subscription.take(), publisher.listeners, subscription.publishers) == ([], 0, 0)


@pytest.mark.parametrize("number", [-1, 233, 10**9])
def test_a_domain_that_is_none_is_a_mistake(number: int) -> None:
    with pytest.raises(SetupError, match=f"no ROS domain {number}: choose one from 0 to 232"):
        Bus(number)


def test_a_subscription_that_is_closed_leaves_its_topic(domain: int) -> None:
    with Bus(domain) as here, Bus(domain) as there:
        publisher, subscription = here.publisher("/y", types.TWIST), there.subscription("/y", types.TWIST)
        assert wait_until(lambda: publisher.listeners, 10)
        subscription.close()
        subscription.close()
        assert wait_until(lambda: not publisher.listeners, 10)
        there.wait(0.0)
