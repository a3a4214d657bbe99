"""Protocols of the interchangeable parts of the bridge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    ActionResult,
    Applied,
    Command,
    EffectResult,
    Estimate,
    ExecutionResult,
    ModelReply,
    Observation,
    Twist,
)


class Robot(Protocol):
    """A body with sensors. All methods return at once.

    Raises:
        DeviceError: the connection is lost, or a stop did not reach the robot.
    """

    @property
    def config(self) -> RobotConfig: ...
    def observe(self) -> Observation: ...
    def apply(self, twist: Twist) -> Twist:
        """Command a velocity and return the velocity that was sent.

        The robot stops by itself if no command arrives for ``limits.command_timeout`` seconds.
        """
        ...

    def stop(self) -> None:
        """Stop at once. A stop is never refused and never queued."""
        ...

    def close(self) -> None: ...


class Clock(Protocol):
    """The robot's clock, in seconds; waiting on a simulated clock advances the simulation."""

    def now(self) -> float: ...
    def wait_until(self, time: float) -> None: ...


class Journal:
    """Recorder of events, in order; no decision depends on a journal.

    The base class keeps nothing. Subclasses override the methods for the events that they keep.
    """

    def record_observation(self, observation: Observation) -> None: ...
    def record_estimate(self, estimate: Estimate) -> None: ...
    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None: ...
    def record_decision(self, now: float, result: ExecutionResult) -> None: ...
    def record_action(self, now: float, result: ActionResult) -> None: ...
    def record_map(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        """Record a map.

        ``codes`` are -1 for unknown, otherwise from 0 (free) to 100 (occupied); row 0 has the lowest y. ``x``, ``y`` is
        the map's lower left corner, and ``resolution`` the edge of a map cell, all in metres.
        """

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        """Record an event of another kind: trigger, tier, skip, statistics, operator's command or e-stop."""


Note = Callable[[str, Mapping[str, Any]], None]
"""Function that records an event in the journal, given the event's kind and data."""


class Effects(Protocol):
    """Effects that a robot without an arm cannot cause itself.

    In simulation, the twin causes an effect if the robot stands in the right place. With a real robot, an operator
    causes the effect.
    """

    def pick_up(self) -> EffectResult: ...
    def drop(self) -> EffectResult: ...
    def toggle(self) -> EffectResult: ...


class DecisionModel(Protocol):
    """Model behind the navigator; ``robot_bridge.cli.models`` implements it over ``spca.llm.providers``.

    Raises:
        ModelFailure: no usable answer came within ``timeout_s``.
        ModelEnded: there will be no more answers.
    """

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """Send a request and return the model's reply, which should call one of ``tools``.

        Args:
            system: system prompt.
            user: text of the request.
            image: JPEG, or None for a request without a picture.
            tools: names of the tools that the model may call.
            timeout_s: how long to wait for the reply.
        """
        ...

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        """Return the model's description of a JPEG (``observe_scene``); the reply calls no tool."""
        ...
