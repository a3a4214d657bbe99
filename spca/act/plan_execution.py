"""A plan that generated code carries out, one primitive at a time; the caller executes the primitives."""

from __future__ import annotations

from collections.abc import Hashable

from spca.act.stuck import StuckDetector
from spca.contracts import AgentView, Status
from spca.protocols import Episode, Failed, Finished, Yielded


class PlanExecution:
    """The execution of one plan.

    Args:
        episode: runs the generated code.
        detector: decides when the plan makes no progress.
    """

    def __init__(self, episode: Episode, detector: StuckDetector) -> None:
        self._episode = episode
        self._detector = detector
        self._position: int | None = None

    @property
    def printed(self) -> str:
        """Output of the generated code so far."""
        return self._episode.printed

    def advance(self, view: AgentView, state: Hashable) -> Yielded | Finished | Failed:
        """Show the present state to the code; return its next primitive, or how the plan ended.

        Args:
            view: what generated code sees.
            state: the parts of the state by which progress is seen. Without progress, the plan ends as stuck.

        Raises:
            SandboxError: generated code cannot be executed safely.
            ValueError: the view cannot be sent.
        """
        reason = self._detector.observe(state)
        if reason is not None:
            return Failed(Status.STUCK, reason, self._position)
        event = self._episode.advance(view)
        if isinstance(event, Yielded):
            self._position = event.step.position
        return event

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
        self._episode.close()
