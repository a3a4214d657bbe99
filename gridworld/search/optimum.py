"""The length of the shortest solution of a task: from the certificate of the task, or else from a search.

A certificate is used if it passes cheap checks. Fingerprint and rules must match. The stored solution must solve the
task in the claimed number of steps without visiting a state twice. A short search must not contradict the certificate.
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
"""Greatest number of states that the search for a contradiction to a certificate expands."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The known facts about the shortest solution of a task.

    Attributes:
        steps: length of the shortest solution; None if the task is unsolvable or the length is unknown.
        bound: lower bound on the length, proven by the search; None if the task is unsolvable. If ``steps`` comes from
            the certificate, ``bound`` may be less than ``steps``.
        actions: a shortest solution; empty if ``steps`` is None.
        doubt: the wrong statement of the certificate; "" if no wrong statement was found.
    """

    steps: int | None
    bound: int | None
    actions: tuple[Action, ...] = ()
    doubt: str = ""

    @property
    def known(self) -> bool:
        """Whether the task is known to be unsolvable, or the length of its shortest solution is known."""
        return self.steps is not None or self.bound is None


def find_optimum(spec: TaskSpecification, tiling: Tiling = SQUARE, limit: int | None = DEFAULT_LIMIT) -> Optimum:
    """Return the known facts about the shortest solution of a task.

    Args:
        spec: the task; a certificate in its metadata saves the full search.
        tiling: the tiling on which the task is played.
        limit: greatest number of states that the search may expand; None for no limit.

    Raises:
        TaskError: the task is invalid.
    """
    proof, _ = stored_proof(spec, tiling)
    if proof is not None:
        limit = CHECK_LIMIT if limit is None else min(limit, CHECK_LIMIT)
    try:
        solution = solve(Layout(spec, tiling), limit=limit)
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


_cache: Final[dict[tuple[str, str, int], Optimum]] = {}


def optimum_of(spec: TaskSpecification, tiling: str = "square", limit: int = DEFAULT_LIMIT) -> Optimum:
    """Return the result of :func:`find_optimum`; results are cached."""
    key = fingerprint(spec), tiling, limit
    if key not in _cache:
        _cache[key] = find_optimum(spec, TILINGS[tiling], limit)
    return _cache[key]


def fingerprint(spec: TaskSpecification) -> str:
    """Return a sha256 of a task; two tasks with the same hash have the same optimum.

    Fields without influence on play are left out. If the task has a certificate, the hash covers all fields, because
    a certificate is valid for its own task only.
    """
    data = spec.to_dict()
    certificate = (spec.metadata or {}).get(FIELD)
    if certificate is None:
        irrelevant = ("task_id", "version", "description", "metadata", "dependency_chain", "distractors")
        data = {key: value for key, value in data.items() if key not in irrelevant}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
