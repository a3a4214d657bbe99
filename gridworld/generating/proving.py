"""Proof that a drawn task is worth keeping (pure)."""

from __future__ import annotations

from typing import Final

from gridworld.actions import Action
from gridworld.certificate import attached, certify
from gridworld.generating.draft import UnfitError
from gridworld.layout import Layout
from gridworld.solver import solve
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import Tiling

SEARCH_LIMIT: Final = 20_000
"""States that a proof may expand; what needs more is not kept."""
SHORTEST: Final = 6
LONGEST: Final = 250
"""Bounds of the steps that a task may need."""


def enough_steps(spec: TaskSpecification, tiling: Tiling) -> int:
    """A ``max_steps`` that leaves a player room: three times what is needed and 10 more, at least 50.

    Raises:
        UnfitError: the task cannot be solved, or needs too few or too many steps.
        SearchLimitError: undecided.
    """
    spec.max_steps = 4 * LONGEST
    solution = solve(Layout(spec, tiling), limit=SEARCH_LIMIT)
    steps = solution.steps
    # Who has to survive waits when all else is done.
    while steps and solution.actions[steps - 1] is Action.DONE:
        steps -= 1
    if not (solution.solved and SHORTEST <= steps <= LONGEST):
        raise UnfitError("not solvable, too easy or too long")
    return max(50, 3 * steps + 10)


def certified(spec: TaskSpecification, tiling: Tiling) -> TaskSpecification:
    """The task with a certificate in its metadata.

    Raises:
        UnfitError: an element of its dependency chain is not necessary.
        SearchLimitError: undecided.
    """
    certificate = certify(spec, tiling, limit=SEARCH_LIMIT)
    if not certificate.sound:
        raise UnfitError("the certificate is not sound")
    return attached(spec, certificate)
