"""Tally of the usable and unusable answers in a level, which decides when the level makes no more calls of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from spca.common.text import beginning
from spca.llm.catalogue.model_ref import ModelRef

Role = Literal["planner", "coder"]

MAX_BARREN_CALLS: Final = 12
"""Number of counted calls after which a level ends, as long as planner or coder has given no usable answer.

For a role with a usable answer, only the usable answers count, so that errors of this role do not use up the calls of
the other role. For a role without a usable answer, all calls count.
"""

QUOTED: Final = 80
"""Number of characters of an unusable answer that are shown to people."""


@dataclass(slots=True)
class _Answers:
    """Counts of one role's answers in a level; ``began`` is the beginning of the last unusable answer."""

    model: ModelRef
    calls: int = 0
    usable: int = 0
    unusable_in_a_row: int = 0
    began: str = ""


class AnswerTally:
    """Counts the answers of planner and coder in a level.

    A planner's answer is usable if it yields a valid plan, even if the loop refuses the plan. A coder's answer is
    usable if it is an objection to the plan or a patch that merges, even if the regression check refuses the patch.
    Whether a plan or code succeeds in the world does not matter here.

    A role is *barren* in a level if the role was asked in the level and gave no usable answer.

    Args:
        max_barren_calls: number of counted calls (see :data:`MAX_BARREN_CALLS`) after which a level with a barren role
            is exhausted; None for no bound.
    """

    def __init__(self, max_barren_calls: int | None = MAX_BARREN_CALLS) -> None:
        self._max_barren_calls = max_barren_calls
        self._answers: dict[Role, _Answers] = {}

    def begin_level(self) -> None:
        """Forget the answers of the previous level."""
        self._answers = {}

    def count(self, role: Role, model: ModelRef, text: str, *, is_usable: bool) -> None:
        """Count one answer; ``text`` is the answer of the model, "" if no text can be quoted."""
        answers = self._answers.setdefault(role, _Answers(model))
        answers.model = model
        answers.calls += 1
        if is_usable:
            answers.usable += 1
            answers.unusable_in_a_row = 0
        else:
            answers.unusable_in_a_row += 1
            answers.began = beginning(text, QUOTED)

    @property
    def is_exhausted(self) -> bool:
        """Whether a role is barren and the counted calls have reached the bound; see :data:`MAX_BARREN_CALLS`."""
        if self._max_barren_calls is None or not self._barren:
            return False
        counted = 0
        for answers in self._answers.values():
            counted += answers.usable or answers.calls
        return counted >= self._max_barren_calls

    def unusable_in_a_row(self, role: Role) -> int:
        """Return the number of unusable answers of a role since its last usable answer."""
        answers = self._answers.get(role)
        return answers.unusable_in_a_row if answers else 0

    def barren_roles(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the barren roles; each has its ``model``, number of ``calls``, and how its last answer ``began``."""
        described: dict[str, Mapping[str, Any]] = {}
        for role, answers in self._barren.items():
            described[role] = {"model": str(answers.model), "calls": answers.calls, "began": answers.began}
        return described

    @property
    def _barren(self) -> Mapping[Role, _Answers]:
        return {role: answers for role, answers in self._answers.items() if not answers.usable}
