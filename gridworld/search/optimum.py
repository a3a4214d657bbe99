"""Find what is known about the shortest solution of a task: from its certificate, else from a search.

A certificate is used after cheap checks: fingerprint and rules match, its witness solves the task in the claimed number
of steps without returning to a state, and a short search does not contradict it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Final

from gridworld.actions import Action
from gridworld.errors import SearchLimitError
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import SQUARE, TILINGS, Tiling
from gridworld.search.certificate import FIELD, stored_proof
from gridworld.search.solver import DEFAULT_LIMIT, solve
from gridworld.task_spec import TaskSpecification

CHECK_LIMIT: Final = 1_000
"""Most states expanded by the search for a contradiction to a certificate."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """What is known about the shortest solution of a task.

    Attributes:
        steps: its length; None if the task is unsolvable or the length is unknown.
        bound: lower bound on the steps of any solution, proven by the search; less than ``steps`` if those come from
            the certificate; None if the task is unsolvable.
        actions: a shortest solution; empty if unknown.
        doubt: what the certificate states wrongly, or "".
    """

    steps: int | None
    bound: int | None
    actions: tuple[Action, ...] = ()
    doubt: str = ""

    @property
    def known(self) -> bool:
        """Return whether the task is decided: unsolvable, or the length of the shortest solution is known."""
        return self.steps is not None or self.bound is None


def find_optimum(spec: TaskSpecification, tiling: Tiling = SQUARE, limit: int | None = DEFAULT_LIMIT) -> Optimum:
    """Return what is known about the shortest solution of a task.

    Args:
        spec: the task; a certificate in its metadata saves the full search.
        tiling: the tiling on which it is played.
        limit: most states that the search may expand; None for no limit.

    Raises:
        TaskError: the task is invalid.
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


_found: Final[dict[tuple[str, str, int], Optimum]] = {}


def optimum_of(spec: TaskSpecification, tiling: str = "square", limit: int = DEFAULT_LIMIT) -> Optimum:
    """Return the result of :func:`gridworld.search.optimum.find_optimum`, searched only once and then cached."""
    key = fingerprint(spec), tiling, limit
    if key not in _found:
        _found[key] = find_optimum(spec, TILINGS[tiling], limit)
    return _found[key]


def fingerprint(spec: TaskSpecification) -> str:
    """Return the sha256 of what decides how a task plays: all but name, words and metadata; everything if certified."""
    data = spec.to_dict()
    certificate = (spec.metadata or {}).get(FIELD)
    if certificate is None:
        words = ("task_id", "version", "description", "metadata", "dependency_chain", "distractors")
        data = {key: value for key, value in data.items() if key not in words}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
