"""What is known of the shortest solution of a task: from its certificate, else from a search.

A certificate is used after cheap checks: fingerprint and rules match, its witness solves the task in the claimed number
of steps without returning to a state, and a short search does not contradict it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gridworld.actions import Action
from gridworld.certificate import stored_proof
from gridworld.errors import SearchLimitError
from gridworld.layout import Layout
from gridworld.solver import DEFAULT_LIMIT, solve
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import SQUARE, Tiling

CHECK_LIMIT: Final = 1_000
"""States that the search may expand which looks for what contradicts a certificate."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """What is known of the shortest solution of a task.

    Attributes:
        steps: its length; None if there is none, or it is not known.
        bound: every solution takes at least so many steps, which the search proved itself; less than ``steps`` where
            those come from the certificate; None if there is no solution.
        actions: such a solution; empty where none is known.
        doubt: what the certificate says wrongly, "" for nothing.
    """

    steps: int | None
    bound: int | None
    actions: tuple[Action, ...] = ()
    doubt: str = ""

    @property
    def known(self) -> bool:
        """Whether it is decided that there is a solution, and how long the shortest is."""
        return self.steps is not None or self.bound is None


def find_optimum(spec: TaskSpecification, tiling: Tiling = SQUARE, limit: int | None = DEFAULT_LIMIT) -> Optimum:
    """What is known of the shortest solution of a task.

    Args:
        spec: the task; a certificate in its metadata spares the search.
        tiling: on which it is played.
        limit: states that the search may expand; None for no limit.

    Raises:
        TaskError: the task is not valid.
    """
    proof, _ = stored_proof(spec, tiling)
    room = limit if proof is None else CHECK_LIMIT if limit is None else min(limit, CHECK_LIMIT)
    try:
        solution = solve(Layout(spec, tiling), limit=room)
    except SearchLimitError as error:
        if proof is None:
            return Optimum(None, error.bound)
        actions = tuple(Action(int(digit)) for digit in proof.actions)
        return Optimum(proof.optimal_steps, error.bound, actions)
    if not solution.solved:
        return Optimum(None, None)
    claimed = solution.steps if proof is None else proof.optimal_steps
    doubt = "" if claimed == solution.steps else f"says {claimed} steps, but {solution.steps} are enough"
    return Optimum(solution.steps, solution.steps, solution.actions, doubt)
