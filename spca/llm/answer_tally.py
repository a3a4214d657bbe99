"""Which answers of a level's models could be used, and when a level has asked often enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from spca.common.text import beginning
from spca.llm.catalogue.model_ref import ModelRef

Role = Literal["planner", "coder"]

MAX_BARREN_CALLS: Final = 12
"""Calls of planner and coder together after which a level ends, while either of them has not answered usably.

Unusable answers of the one that has also answered usably do not count: where both err often, each has its chance.
"""

QUOTED: Final = 80
"""Characters of an unusable answer that people are shown."""


@dataclass(slots=True)
class _Answers:
    """What came of the calls of one role in a level."""

    model: ModelRef
    calls: int = 0
    usable: int = 0
    unusable_in_a_row: int = 0
    began: str = ""


class AnswerTally:
    """Counts the answers of planner and coder in a level.

    A planner's answer is usable if it yields a valid plan, also one that the loop then refuses. A coder's is usable if
    it is a patch that merges, also one that the regression check refuses, or an objection to the plan. How a plan or
    code does in the world does not count: such a model works, it is only wrong.

    A role that was asked in a level and gave no usable answer is *barren* there. A role that was not asked is not.

    Args:
        max_barren_calls: after which a level is exhausted while a role is barren; None for no bound.
    """

    def __init__(self, max_barren_calls: int | None = MAX_BARREN_CALLS) -> None:
        self._max_barren_calls = max_barren_calls
        self._answers: dict[Role, _Answers] = {}

    def begin_level(self) -> None:
        """Forget the level before."""
        self._answers = {}

    def count(self, role: Role, model: ModelRef, text: str, *, is_usable: bool) -> None:
        """Count one answer; ``text`` is what the model said, "" if nothing can be quoted."""
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
        """Whether no further call is worth its price: a role is barren, and all calls of such a level were made."""
        if self._max_barren_calls is None or not self._barren:
            return False
        counted = sum(answers.usable or answers.calls for answers in self._answers.values())
        return counted >= self._max_barren_calls

    def unusable_in_a_row(self, role: Role) -> int:
        """Return how many answers of a role could not be used since its last usable one."""
        return self._answers[role].unusable_in_a_row if role in self._answers else 0

    def barren_roles(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the barren roles: ``model``, ``calls``, and how the last answer ``began``."""
        return {
            role: {"model": str(answers.model), "calls": answers.calls, "began": answers.began}
            for role, answers in self._barren.items()
        }

    @property
    def _barren(self) -> Mapping[Role, _Answers]:
        return {role: answers for role, answers in self._answers.items() if not answers.usable}
