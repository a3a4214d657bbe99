"""Proof that a drawn task is worth keeping (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gridworld.actions import Action
from gridworld.certificate import attached, certify, fingerprint
from gridworld.generating.draft import UnfitError
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import Tiling

SEARCH_LIMIT: Final = 1_000
"""States that a search of the proof may expand, by default. What needs more, which few draws do, is not kept."""
SHORTEST: Final = 6
LONGEST: Final = 250
"""Bounds of the steps that a task may need."""


def proven(
    spec: TaskSpecification,
    tiling: Tiling,
    describe: Callable[[TaskSpecification], str],
    limit: int = SEARCH_LIMIT,
) -> TaskSpecification:
    """The task with its ``max_steps``, its description and a certificate in its metadata.

    Args:
        spec: the task as drawn.
        tiling: on which it is played.
        describe: what makes its description, once ``max_steps`` is there.
        limit: states that each search may expand.

    Raises:
        UnfitError: it cannot be solved, needs too few or too many steps, or an element of its chain is not necessary.
        SearchLimitError: undecided.
    """
    proof = certify(replace(spec, max_steps=4 * LONGEST), tiling, limit)
    # Who has to survive waits when all else is done.
    needed = len(proof.actions.rstrip(str(Action.DONE.value)))
    if not (proof.sound and SHORTEST <= needed <= LONGEST):
        raise UnfitError("not solvable, too easy or too long, or its chain is not necessary")
    final = replace(spec, max_steps=enough_steps(needed))
    final.description = describe(final)
    if spec.goal.goal_type == "survive_steps":
        return attached(final, certify(final, tiling, limit))
    # For other goals nothing else of the proof depends on max_steps.
    return attached(final, replace(proof, fingerprint=fingerprint(final)))


def enough_steps(needed: int) -> int:
    """A ``max_steps`` that leaves a player room."""
    return max(50, 3 * needed + 10)
