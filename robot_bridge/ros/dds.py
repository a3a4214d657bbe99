"""ROS 2 topics over DDS without ROS: cyclonedds carries the bytes of :mod:`robot_bridge.ros.types`.

Names, types and quality of service follow ROS 2 Humble. Therefore nodes of ROS under Cyclone DDS or Fast DDS exchange
messages with this program. ``CYCLONEDDS_URI`` configures the network, as with ROS. A peer that was killed still counts
as connected for about ten seconds. Therefore judge by the age of messages whether a peer is alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import types

LAST_DOMAIN: Final = 232
"""Greatest number of a ROS domain; a higher number would need UDP ports that do not exist."""
_TOPIC_PREFIX: Final = "rt"
_MAX_BLOCKING_NS: Final = 10_000_000
"""Longest time that sending may wait for a slow reader, nanoseconds."""

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
            DeviceError: the publisher is closed, or the network does not take the message.
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
        """Stop publishing on the topic."""
        self._writer = None


class Subscription:
    """Receives one topic. ``refused`` counts messages that were not of the topic's type."""

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
        """Return the messages that have come since the last call, oldest first; only the newest ``depth`` are kept.

        Raises:
            DeviceError: the network failed.
        """
        if self._reader is None:
            return []
        from cyclonedds.core import DDSException

        try:
            samples = self._reader.take(2 * self._depth)
        except DDSException as error:
            raise DeviceError(f"{self.topic} cannot be received: {error.msg}") from error

        messages = []
        for sample in samples:
            # If a publisher leaves, a sample of another class without a message comes.
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
        """Stop receiving the topic; call only in the thread that calls :meth:`Bus.wait`."""
        if self._detach is not None:
            self._detach()
        self._reader = None
        self._detach = None


class Bus:
    """A participant of a ROS domain, with its publishers and subscriptions.

    Only one thread may call ``wait`` and the subscriptions' ``take``.

    Raises:
        SetupError: the domain does not exist, or the network does not let this program join the domain.
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
        """Return a publisher of ``topic`` (such as "/cmd_vel") for one type (such as "geometry_msgs/msg/Twist").

        If ``latched`` is True, subscribers that come later get the last message, too.
        """
        return self._keep(Publisher(self, topic, kind, reliable, latched))

    def subscription(
        self, topic: str, kind: str, *, reliable: bool = False, depth: int = 5, latched: bool = False
    ) -> Subscription:
        """Return a subscription that keeps the newest ``depth`` messages.

        A best-effort subscription also receives from reliable publishers. A reliable subscription does not receive from
        best-effort publishers.
        """
        return self._keep(Subscription(self, topic, kind, reliable, depth, latched))

    def _keep(self, part: _Part) -> _Part:
        """Return the publisher or subscription ``part`` after storing it for :meth:`close`."""
        self._parts.append(part)
        return part

    def topic(self, name: str, kind: str) -> Any:
        """Return the cyclonedds topic with this name and type, created on first use."""
        from cyclonedds.topic import Topic

        if (name, kind) not in self._topics:
            self._topics[name, kind] = Topic(self.participant, _TOPIC_PREFIX + name, types.dds_type(kind))
        return self._topics[name, kind]

    def attach(self, reader: Any) -> Callable[[], None]:
        """Make :meth:`wait` end when a message comes for this reader.

        Return a function that detaches the reader again.
        """
        from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState

        waitset = self._waitset
        mask = ViewState.Any | InstanceState.Any | SampleState.NotRead
        condition = ReadCondition(reader, mask)
        waitset.attach(condition)
        return lambda: waitset.detach(condition)

    def make(self, create: Callable[[], Any]) -> Any:
        """Return the cyclonedds entity that ``create`` makes.

        Raises:
            SetupError: the entity cannot be made.
        """
        from cyclonedds.core import DDSException

        try:
            return create()
        except DDSException as error:
            raise SetupError(f"ROS domain {self.domain}: {error.msg}") from error

    def wait(self, seconds: float) -> None:
        """Wait until a message has come, but at most ``seconds``."""
        self._waitset.wait(max(0, round(seconds * 1e9)))

    def close(self) -> None:
        """Leave the domain; may be called again."""
        self._waitset = None
        for part in self._parts:
            part.close()
        self._topics.clear()
        self.participant = None


def wait_until(condition: Callable[[], object], seconds: float) -> bool:
    """Wait until the condition holds, but at most ``seconds``; return whether the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def _qos(reliable: bool, depth: int, latched: bool) -> Any:
    """Return the quality of service that ROS 2 Humble uses for these settings."""
    from cyclonedds.qos import Policy, Qos

    reliability = Policy.Reliability.Reliable(_MAX_BLOCKING_NS) if reliable else Policy.Reliability.BestEffort
    durability = Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile
    history = Policy.History.KeepLast(depth)
    representation = Policy.DataRepresentation(use_cdrv0_representation=True)
    return Qos(reliability, durability, history, representation)
