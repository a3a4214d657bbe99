"""Going on without the model as far as it makes the robot wait: more slowly, standing, by itself, home."""

from __future__ import annotations

from robot_bridge.contracts import NavigationDecision, Tier
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.exploration.asker import Note
from robot_bridge.exploration.local_exploration import LocalExploration

_BY_ITSELF = frozenset({Tier.LOCAL_NAV, Tier.RETURN_HOME})


class Fallback:
    """Holds or slows the controller by the tier, and explores where no answer is to be had.

    Args:
        controller: of the robot.
        executor: whose watchdog tells the tier.
        local: what the robot does by itself.
        note: tells the journal of every new tier.

    Attributes:
        tier: of the last look.
    """

    def __init__(self, controller: Controller, executor: SafetyExecutor, local: LocalExploration, note: Note) -> None:
        self._controller, self._executor, self._local, self._note = controller, executor, local, note
        self.tier = Tier.CONTINUE

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to explore without a model."""
        return self._local.is_over

    @property
    def has_given_up(self) -> bool:
        """Whether it is over though frontiers are left."""
        return self._local.has_given_up

    def try_again(self) -> None:
        """What is over is not: look for frontiers again, and for the way home."""
        self._local.interrupted()

    def watch(self, owed_s: float, now: float, *, is_alone: bool) -> NavigationDecision | None:
        """What the robot is to do by itself now, None to go on as it is.

        ``owed_s`` is for how long an answer has been owed; ``is_alone`` whether none will ever come.
        """
        self._enter(self._executor.watchdog.evaluate(owed_s), owed_s)
        self._controller.hold("waiting for the model" if self.tier is Tier.STOP_WAIT else "")
        self._controller.pace = self._executor.watchdog.pace(owed_s) if self.tier is Tier.CONTINUE else 1.0
        if not is_alone and self.tier not in _BY_ITSELF:
            self._local.interrupted()
            return None
        state = self._controller.state
        return self._local.decide(
            state.frontiers,
            state.current_position,
            self.tier,
            is_idle=self._controller.is_idle,
            now=now,
            way_to=self._controller.way_to,
        )

    def rest(self) -> None:
        """A person has the robot: nothing is owed, and what it did by itself is begun again afterwards."""
        self._enter(Tier.CONTINUE, 0.0)
        self._controller.pace = 1.0
        self._local.interrupted()

    def was_blocked(self, x: float, y: float, now: float) -> None:
        """A goal could not be reached."""
        self._local.choice.failed(x, y, now)

    def _enter(self, tier: Tier, owed_s: float) -> None:
        if tier is not self.tier:
            self._note("tier", {"tier": tier.value, "owed_s": round(owed_s, 1)})
        self.tier = tier
