"""The books of one exploration: time in each tier, statistics every minute, the memory saved, the summary."""

from __future__ import annotations

from pathlib import Path

from robot_bridge.contracts import Tier
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.exploration_memory import ExplorationMemory
from robot_bridge.decisions.watchdog import NetworkMonitor
from robot_bridge.errors import SetupError
from robot_bridge.exploration.asker import Note
from robot_bridge.exploration.summary import Summary, Tally


class Books:
    """Kept by the decision loop.

    Args:
        tally: what is counted while it runs.
        now: when it begins, seconds of the robot's clock.
        statistics_s: how often statistics are noted.
        save_s: how often the memory is saved.
        memory_path: where to; None: nowhere.
        note: tells the journal.
    """

    def __init__(
        self,
        controller: Controller,
        memory: ExplorationMemory,
        tally: Tally,
        monitor: NetworkMonitor,
        note: Note,
        now: float,
        *,
        statistics_s: float,
        save_s: float,
        memory_path: Path | None,
    ) -> None:
        self._controller, self._memory, self._tally = controller, memory, tally
        self._monitor, self._note = monitor, note
        self._statistics_s, self._save_s, self._path = statistics_s, save_s, memory_path
        self._began = self._kept_at = self._statistics_at = self._saved_at = now
        self._earlier_s = memory.state.exploration_duration_s

    def keep(self, tier: Tier, now: float) -> None:
        """Once for every turn of the decision loop; ``tier`` is that of the time since the last."""
        self._tally.spent(tier, now - self._kept_at)
        self._kept_at = now
        self._memory.state.exploration_duration_s = round(self._earlier_s + now - self._began, 2)
        passed = now - self._statistics_at
        if passed >= self._statistics_s:
            self._statistics_at = now
            self._note("statistics", self._tally.minute(passed, tier, self._monitor.current_tier))
        if now - self._saved_at >= self._save_s:
            self._saved_at = now
            self.save()

    def save(self) -> None:
        """The memory with the frontiers of now; that it cannot be written is noted."""
        state = self._controller.state
        self._memory.update_frontiers(state.frontiers, state.current_position)
        if self._path is None:
            return
        try:
            self._memory.save_to_disk(self._path)
        except SetupError as error:
            self._note("not_saved", {"reason": str(error)})

    def summary(self, ended: str, because: str) -> Summary:
        """What it has come to so far; ``ended`` and ``because`` say how it ended, "" while it has not."""
        tally, state, memory = self._tally, self._controller.state, self._memory.state
        return Summary(
            minutes=(self._controller.clock.now() - self._began) / 60,
            ended=ended,
            because=because,
            explored_m2=self._controller.navigation.map.explored_m2,
            frontiers_left=len(state.frontiers),
            distance_m=state.distance_traveled_m,
            calls=tally.calls,
            failed_calls=tally.failed_calls,
            descriptions=tally.descriptions,
            skips=tally.skips,
            asked_for=dict(tally.asked_for),
            triggers=dict(tally.triggers),
            interventions=dict(self._controller.interventions.counts),
            refusals=tally.refusals,
            tiers=dict(tally.tiers),
            average_latency_ms=tally.average_latency_ms,
            rooms=tuple(room["name"] for room in memory.rooms),
            discoveries=memory.total_discoveries,
        )
