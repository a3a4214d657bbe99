"""ROS 2 topics over DDS without ROS: cyclonedds carries the bytes of :mod:`robot_bridge.ros.types`.

Names, types and quality of service are those of ROS 2 Humble, so that nodes under Cyclone DDS or Fast DDS are heard and
hear. ``CYCLONEDDS_URI`` configures the network, as with ROS. A peer that was killed counts as there for some ten
seconds more: nothing here tells whether it lives, ages of messages do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import types

LAST_DOMAIN: Final = 232
"""The ports of higher ones do not exist."""
_PREFIX: Final = "rt"
_BLOCKED: Final = 10_000_000
"""Nanoseconds for which sending may wait for a reader that is slow."""

_Part = TypeVar("_Part", "Publisher", "Subscription")


class Publisher:
    """Publishes one topic."""

    def __init__(self, bus: Bus, topic: str, kind: str, reliable: bool, latched: bool) -> None:
        from cyclonedds.pub import DataWriter

        self.topic = topic
        self._kind = types.dds_type(kind)
        qos = _qos(reliable, 1, latched)
        self._writer: Any = bus.make(lambda: DataWriter(bus.participant, bus.topic(topic, kind), qos))

    def send(self, message: Any) -> None:
        """Hand a message to the network.

        Raises:
            DeviceError: it takes none.
        """
        if self._writer is None:
            raise DeviceError(f"{self.topic} is closed")
        from cyclonedds.core import DDSException

        try:
            self._writer.write(self._kind(types.encode(message)))
        except DDSException as error:
            raise DeviceError(f"{self.topic} cannot be sent: {error.msg}") from error

    @property
    def listeners(self) -> int:
        """Number of connected subscribers."""
        return len(self._writer.get_matched_subscriptions()) if self._writer is not None else 0

    def close(self) -> None:
        """Leave the topic."""
        self._writer = None


class Subscription:
    """Receives one topic. ``refused`` counts messages that were not of its type."""

    def __init__(self, bus: Bus, topic: str, kind: str, reliable: bool, depth: int, latched: bool) -> None:
        from cyclonedds.sub import DataReader

        self.topic = topic
        self.kind = kind
        self._sample = types.dds_type(kind)
        self.refused = 0
        self._depth = depth
        qos = _qos(reliable, depth, latched)
        self._reader: Any = bus.make(lambda: DataReader(bus.participant, bus.topic(topic, kind), qos))
        self._detach: Callable[[], None] | None = bus.attach(self._reader)

    def take(self) -> list[Any]:
        """Return the messages that have come since it was asked last, in order, at most as many as are kept."""
        if self._reader is None:
            return []
        from cyclonedds.core import DDSException

        try:
            samples = self._reader.take(2 * self._depth)
        except DDSException as error:
            raise DeviceError(f"{self.topic} cannot be received: {error.msg}") from error

        messages = []
        for sample in samples:
            # Where a publisher leaves there is a sample without a message.
            if not isinstance(sample, self._sample):
                continue
            try:
                messages.append(types.decode(sample.data, self.kind))
            except ValueError:
                self.refused += 1
        return messages

    @property
    def publishers(self) -> int:
        """Number of connected publishers."""
        return len(self._reader.get_matched_publications()) if self._reader is not None else 0

    def close(self) -> None:
        """Leave the topic; belongs to the thread that waits."""
        if self._detach is not None:
            self._detach()
        self._reader = None
        self._detach = None


class Bus:
    """A participant of a domain and what it publishes and hears. ``wait`` and ``take`` belong to one thread.

    Raises:
        SetupError: there is no such domain, or no network to join it by.
    """

    def __init__(self, domain: int) -> None:
        if not 0 <= domain <= LAST_DOMAIN:
            raise SetupError(f"there is no ROS domain {domain}: choose one from 0 to {LAST_DOMAIN}")
        from cyclonedds.core import DDSException, WaitSet
        from cyclonedds.domain import DomainParticipant

        self.domain = domain
        self._parts: list[Publisher | Subscription] = []
        self._topics: dict[tuple[str, str], Any] = {}
        try:
            self.participant: Any = DomainParticipant(domain)
            self._waitset: Any = WaitSet(self.participant)
        except DDSException as error:
            raise SetupError(f"ROS domain {domain} cannot be joined: {error.msg}; check CYCLONEDDS_URI") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def publisher(self, topic: str, kind: str, *, reliable: bool = True, latched: bool = False) -> Publisher:
        """Return a publisher of ``topic`` ("/cmd_vel") of a type ("geometry_msgs/msg/Twist").

        ``latched``: subscribers that come later get the last message, too.
        """
        return self._keep(Publisher(self, topic, kind, reliable, latched))

    def subscription(
        self, topic: str, kind: str, *, reliable: bool = False, depth: int = 5, latched: bool = False
    ) -> Subscription:
        """Return a subscription to the newest ``depth`` messages.

        Best effort hears reliable publishers too, the reverse does not hold.
        """
        return self._keep(Subscription(self, topic, kind, reliable, depth, latched))

    def _keep(self, part: _Part) -> _Part:
        self._parts.append(part)
        return part

    def topic(self, name: str, kind: str) -> Any:
        """Return the cyclonedds topic, created on first use."""
        from cyclonedds.topic import Topic

        if (name, kind) not in self._topics:
            self._topics[name, kind] = Topic(self.participant, _PREFIX + name, types.dds_type(kind))
        return self._topics[name, kind]

    def attach(self, reader: Any) -> Callable[[], None]:
        """Let :meth:`wait` end when something comes for this reader, until what is returned is called."""
        from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState

        waitset = self._waitset
        mask = ViewState.Any | InstanceState.Any | SampleState.NotRead
        condition = ReadCondition(reader, mask)
        waitset.attach(condition)
        return lambda: waitset.detach(condition)

    def make(self, create: Callable[[], Any]) -> Any:
        """Return an entity of cyclonedds, which ``create`` makes.

        Raises:
            SetupError: it cannot be made.
        """
        from cyclonedds.core import DDSException

        try:
            return create()
        except DDSException as error:
            raise SetupError(f"ROS domain {self.domain}: {error.msg}") from error

    def wait(self, seconds: float) -> None:
        """Wait until something has come, at most so long."""
        self._waitset.wait(max(0, round(seconds * 1e9)))

    def close(self) -> None:
        """Leave the domain; may be called again."""
        self._waitset = None
        for part in self._parts:
            part.close()
        self._topics.clear()
        self.participant = None


def wait_until(condition: Callable[[], object], seconds: float) -> bool:
    """Wait until something holds, at most so long; return whether it does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        time.sleep(0.01)
    return True


def _qos(reliable: bool, depth: int, latched: bool) -> Any:
    from cyclonedds.qos import Policy, Qos

    reliability = Policy.Reliability.Reliable(_BLOCKED) if reliable else Policy.Reliability.BestEffort
    durability = Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile
    history = Policy.History.KeepLast(depth)
    representation = Policy.DataRepresentation(use_cdrv0_representation=True)
    return Qos(reliability, durability, history, representation)
