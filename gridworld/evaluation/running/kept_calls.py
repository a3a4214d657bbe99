"""The folder in which the calls of a model lie beside the results, as an evaluation begins, goes on or ends."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from gridworld.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class KeptCalls:
    """The calls of an evaluation; without a path none are kept."""

    path: Path | None

    def check(self) -> None:
        """Refuse to begin where calls lie already.

        Raises:
            EvaluationError: they do; names the ways out.
        """
        if self.path is not None and self.path.exists():
            raise EvaluationError(
                f"{self.path}: holds the calls of an earlier evaluation: choose another --output, --resume to be"
                " given the same answers again, or --overwrite"
            )

    def are_paid_for(self) -> bool:
        """Return whether a model may have worked on one of them."""
        if self.path is None or not self.path.is_dir():
            return False
        from gridworld.adapters.asking import was_worked_on

        return was_worked_on(self.path)

    def remove(self) -> None:
        """Delete them.

        Raises:
            EvaluationError: they cannot be deleted.
        """
        if self.path is not None and self.path.exists():
            try:
                shutil.rmtree(self.path)
            except OSError as error:
                raise EvaluationError(f"{self.path}: cannot be removed: {error.strerror or error}") from error
