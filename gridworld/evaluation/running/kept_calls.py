"""The folder beside a results file that keeps the calls of a paid model, so that no answer is paid for twice."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from gridworld.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class KeptCalls:
    """The folder with the calls of an evaluation; if ``path`` is None, no calls are kept."""

    path: Path | None

    def check(self) -> None:
        """Check, before an evaluation begins, that the folder does not exist yet.

        Raises:
            EvaluationError: the folder exists and holds the calls of an earlier evaluation.
        """
        if self.path is not None and self.path.exists():
            raise EvaluationError(
                f"{self.path}: holds the calls of an earlier evaluation: choose another --output, --resume to be"
                " given the same answers again, or --overwrite"
            )

    def are_paid_for(self) -> bool:
        """Return whether the folder holds a call that a model may have processed, and that may therefore be billed."""
        if self.path is None or not self.path.is_dir():
            return False
        from gridworld.adapters.asking import was_worked_on

        return was_worked_on(self.path)

    def remove(self) -> None:
        """Delete the folder with all calls.

        Raises:
            EvaluationError: the folder cannot be deleted.
        """
        if self.path is not None and self.path.exists():
            try:
                shutil.rmtree(self.path)
            except OSError as error:
                raise EvaluationError(f"{self.path}: cannot be removed: {error.strerror or error}") from error
