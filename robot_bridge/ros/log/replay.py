"""Replay the safety chain: give a chain the inputs of a recorded run and compare new results with recorded results.

:class:`ChainCheck` is a journal. A log can be played back to the check alone, or also to a journal that prints events::

    log = read_log("runs/robot/20261122-101500-1a2b")
    check = ChainCheck(log.config)
    log.tell(Narrator(), check)
    print(check.verdict())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Applied, Command, Observation, Source
from robot_bridge.protocols import Journal
from robot_bridge.ros.log.records import to_json
from robot_bridge.safety.chain import SafetyChain


@dataclass(frozen=True, slots=True)
class Difference:
    """A recorded step for which a new chain gives a different result."""

    time: float
    recorded: Applied
    replayed: Applied

    def __str__(self) -> str:
        recorded = _format_applied(self.recorded)
        return f"{self.time:.2f} s: recorded {recorded}, replayed {_format_applied(self.replayed)}"


class ChainCheck(Journal):
    """A journal that repeats every step of the run's chain with a new chain.

    Attributes:
        steps: number of steps of the chain in the log.
        different: number of steps whose replayed result differs from the recorded result.
        first: the first difference, or None.
    """

    def __init__(self, config: RobotConfig) -> None:
        self.steps = 0
        self.different = 0
        self.first: Difference | None = None
        self._chain = SafetyChain(config)
        self._observation = Observation()

    def verdict(self) -> str:
        """Return the result of the check as a text of one line."""
        if self.first:
            return f"safety chain: {self.different} of {self.steps} steps differ, first at {self.first}"
        return f"safety chain: the same in all {self.steps} steps"

    def record_observation(self, observation: Observation) -> None:
        self._observation = observation

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        """Repeat a step of the chain with the last observation and compare the result with ``applied``."""
        # If a stop was latched during a step, the log has the note of the stop only after the step.
        has_stop_command = any(command.source is Source.STOP for command in commands)
        if applied.source == Source.STOP.name.lower() and not has_stop_command:
            self._chain.stop(applied.reason)

        replayed = self._chain.step(commands, self._observation, now)
        self.steps += 1
        if to_json(replayed) != to_json(applied):
            self.different += 1
            self.first = self.first or Difference(now, applied, replayed)

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Stop or release the chain if the note records an emergency stop or a release."""
        if kind == "emergency_stop":
            self._chain.stop(str(data.get("reason", "")))
        elif kind == "release":
            self._chain.release()


def _format_applied(applied: Applied) -> str:
    twist = applied.twist
    reason = f" ({applied.reason})" if applied.reason else ""
    return f"{applied.source} {twist.linear:.3f} m/s {twist.angular:.3f} rad/s{reason}"
