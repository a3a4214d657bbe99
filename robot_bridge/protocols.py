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
        """Command a velocity and return it as sent; the robot stops without one for ``limits.command_timeout``."""
        ...

    def stop(self) -> None:
        """Stop now; never refused, never queued."""
        ...

    def close(self) -> None: ...


class Clock(Protocol):
    """The robot's clock; waiting on a simulated clock advances the simulation."""

    def now(self) -> float: ...
    def wait_until(self, time: float) -> None: ...


class Journal:
    """Records what happens, in order; no decision depends on it.

    This one keeps nothing: override what is to be kept.
    """

    def record_observation(self, observation: Observation) -> None: ...
    def record_estimate(self, estimate: Estimate) -> None: ...
    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None: ...
    def record_decision(self, now: float, result: ExecutionResult) -> None: ...
    def record_action(self, now: float, result: ActionResult) -> None: ...
    def record_map(self, now: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        """Record a map: ``codes`` -1 unknown, 0 free to 100 occupied, row 0 at the lowest y.

        ``x``, ``y`` is its lower left corner.
        """

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        """Note anything else: triggers, tiers, skips, statistics, operator's commands, e-stops."""


Note = Callable[[str, Mapping[str, Any]], None]
"""Notes a kind of event with its data in the journal."""


class Effects(Protocol):
    """Effects that a robot without an arm cannot cause itself.

    The twin applies them if the robot stands in the right place; on hardware an operator does."""

    def pick_up(self) -> EffectResult: ...
    def drop(self) -> EffectResult: ...
    def toggle(self) -> EffectResult: ...


class DecisionModel(Protocol):
    """A model behind the navigator; see ``robot_bridge.cli.models`` for the one over ``spca.llm.providers``.

    Raises:
        ModelFailure: no usable answer came within ``timeout_s``.
        ModelEnded: there will be no more answers.
    """

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """Send one request: a text, a JPEG or None, and the names of the tools; the model is to call one of them."""
        ...

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        """Return a description of a picture (``observe_scene``); it calls no tool."""
        ...
