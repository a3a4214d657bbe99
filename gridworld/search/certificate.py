"""Certificates: proven facts about a task, which are stored in the task and can be proven again.

A link of the dependency chain is *necessary* if the task cannot be solved without the element of the link, and cannot
be solved without the mechanism that the element unlocks. :mod:`gridworld.search.ablation` defines how a mechanism is
removed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from gridworld.actions import Action
from gridworld.errors import TaskError
from gridworld.rules.layout import NOTHING, Layout
from gridworld.rules.tilings import SQUARE, TILINGS, Tiling
from gridworld.rules.transition import achieved, transition
from gridworld.search.ablation import remove_mechanism
from gridworld.search.solver import DEFAULT_LIMIT, Solution, solve
from gridworld.task.reading import read, shown, write
from gridworld.task_spec import TaskSpecification

RULES: Final = "1"
"""Version of the rules (docs/gridworld_rules.md) for which certificates hold."""

_ACTIONS: Final = re.compile("[0-6]*")

_MAX_LENGTH: Final = 100_000
"""Greatest number of actions of a solution; no task allows more actions."""

FIELD: Final = "certificate"
"""Field of the metadata of a task that holds the certificate."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A step of the dependency chain.

    Attributes:
        necessary: whether the step is proven necessary; False if the task is unsolvable.
    """

    step: int
    element: str
    unlocks: str
    necessary: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The proven facts about a task on a tiling.

    Attributes:
        task_id, fingerprint: id of the task, and its :func:`fingerprint`.
        rules: version of the rules.
        tiling: "square" or "hex".
        solvable: whether the task has a solution of any length.
        within_max_steps: whether the shortest solution has at most ``max_steps`` steps.
        optimal_steps: length of the shortest solution; None if the task is unsolvable.
        expanded: number of states that the search for the shortest solution expanded.
        actions: a shortest solution, one digit for each action; "" if the task is unsolvable.
        chain: the dependency chain of the task.
    """

    task_id: str
    fingerprint: str
    rules: str
    tiling: Literal["square", "hex"]
    solvable: bool
    within_max_steps: bool
    optimal_steps: int | None = None
    expanded: int
    actions: str
    chain: list[ChainLink]

    @property
    def sound(self) -> bool:
        """Whether the task is solvable within ``max_steps`` and every link of its chain is necessary."""
        return self.solvable and self.within_max_steps and all(link.necessary for link in self.chain)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON data for :meth:`from_dict`."""
        return cast("dict[str, Any]", write(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """Return the certificate from JSON data, which is read strictly.

        Raises:
            TaskError: the data is not a certificate; the error lists every missing, mistyped or unknown field.
        """
        untrusted: Any = data
        is_object = isinstance(untrusted, Mapping)
        actions = untrusted.get("actions") if is_object else None
        # Actions are read separately, because they may be longer than a text in a task.
        certificate = read(cls, {**untrusted, "actions": ""} if is_object else untrusted)
        if not isinstance(actions, str) or not _ACTIONS.fullmatch(actions):
            raise TaskError(f"actions: must be a text of digits from 0 to 6, not {shown(actions)}")
        return replace(certificate, actions=actions)


def fingerprint(spec: TaskSpecification) -> str:
    """Return the sha256 of the canonical JSON of a task without its certificate."""
    data = spec.to_dict()
    metadata = data.pop("metadata", None) or {}
    metadata = {name: value for name, value in metadata.items() if name != FIELD}
    if metadata:
        data["metadata"] = metadata
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def certify(spec: TaskSpecification, tiling: Tiling = SQUARE, limit: int | None = DEFAULT_LIMIT) -> Certificate:
    """Return the certificate of a task, from exact searches.

    Args:
        spec: the task; it is not changed.
        tiling: the tiling on which the task is played.
        limit: greatest number of states that each search may expand; None for no limit.

    Raises:
        TaskError: the task is not valid.
        SearchLimitError: a search reached the limit and is undecided.
    """
    solution = solve(spec, tiling=tiling, limit=limit)
    return Certificate(
        task_id=spec.task_id,
        fingerprint=fingerprint(spec),
        rules=RULES,
        tiling=cast('Literal["square", "hex"]', tiling.name),
        solvable=solution.solved,
        within_max_steps=solution.solved and solution.steps <= spec.max_steps,
        optimal_steps=solution.steps if solution.solved else None,
        actions="".join(str(action.value) for action in solution.actions),
        expanded=solution.expanded,
        chain=list(_links(spec, tiling, limit, solution)),
    )


def attach_certificate(spec: TaskSpecification, certificate: Certificate) -> TaskSpecification:
    """Return a copy of the task with the certificate in its metadata."""
    return replace(spec, metadata={**(spec.metadata or {}), FIELD: certificate.to_dict()})


def stored_proof(spec: TaskSpecification, tiling: Tiling = SQUARE) -> tuple[Certificate | None, str]:
    """Return (the certificate of a valid task, the reason for refusing the certificate).

    The certificate is None if the task has no usable certificate with a solution on this tiling. The reason is "" if no
    certificate is refused.

    The checks need no search. Fingerprint and rules must match. The witness, which is the stored solution, must solve
    the task in the claimed number of steps and must not visit a state twice. Only :func:`recertify` checks whether a
    shorter solution exists.
    """
    data = (spec.metadata or {}).get(FIELD)
    if data is None:
        return None, ""
    try:
        stored = Certificate.from_dict(data)
    except TaskError as error:
        return None, f"metadata.{FIELD} is not used: {error}"
    if stored.tiling != tiling.name:
        return None, ""
    if problem := next(_find_faults(stored, spec, tiling), ""):
        return None, f"metadata.{FIELD} is not used: {problem}; `certify --write` makes another one"
    return (stored if _has_usable_witness(stored, spec) else None), ""


def _has_usable_witness(stored: Certificate, spec: TaskSpecification) -> bool:
    """Return whether the witness has at least one action and at most ``max_steps`` actions."""
    return stored.solvable and 0 < len(stored.actions) <= spec.max_steps


def _find_faults(stored: Certificate, spec: TaskSpecification, tiling: Tiling) -> Iterator[str]:
    """Yield the faults of a stored certificate that can be found without a search."""
    if stored.rules != RULES:
        yield f"rules: it is of version {shown(stored.rules)}, not {RULES}"
    elif stored.fingerprint != fingerprint(spec):
        yield "fingerprint: the task has changed since it was made"
    elif _has_usable_witness(stored, spec):
        layout = Layout(spec, tiling)
        yield from _find_misplays(stored, layout)
        if spec.goal.goal_type != "survive_steps" and _returns_to_state(stored, layout):
            yield "actions: return to a state, so there is a shorter way"


def _returns_to_state(stored: Certificate, layout: Layout) -> bool:
    """Return whether the witness visits a state twice, so that a shorter solution exists."""
    state = layout.start()
    # Cooldowns and touched mechanisms do not count: a cooldown ends before the next action, a touch changes only views.
    seen = {state._replace(cooling="", touched=NOTHING)}
    for digit in stored.actions:
        state = transition(layout, state, Action(int(digit)))
        seen.add(state._replace(cooling="", touched=NOTHING))
    # The goal is checked only after a step. A task that begins at its goal therefore needs one action without effect.
    return len(seen) <= len(stored.actions) and len(stored.actions) > 1


def recertify(spec: TaskSpecification, limit: int | None = DEFAULT_LIMIT) -> list[str]:
    """Prove the certificate of a task again; return a line for each wrong statement of the stored certificate.

    A task may have several shortest solutions. The stored solution is therefore not compared with the new solution, but
    played by the rules. The effort of the search is not compared.

    Args:
        spec: a task with a certificate.
        limit: as for :func:`certify`.

    Raises:
        TaskError: the task is not valid.
        SearchLimitError: a search reached the limit and is undecided.
    """
    path = f"metadata.{FIELD}"
    data = (spec.metadata or {}).get(FIELD)
    if data is None:
        return [f"{path}: is missing"]
    try:
        stored = Certificate.from_dict(data)
    except TaskError as error:
        return [f"{path}: {problem}" for problem in error.problems]
    tiling = TILINGS[stored.tiling]
    proven = certify(spec, tiling, limit)
    problems = (*_differences(stored, proven), *_find_misplays(stored, Layout(spec, tiling)))
    return [f"{path}.{line}" for line in problems]


def _links(spec: TaskSpecification, tiling: Tiling, limit: int | None, solution: Solution) -> Iterator[ChainLink]:
    """Yield the links of the dependency chain; each mechanism is tested only once, by removing it from the task."""
    is_necessary: dict[str, bool] = {}
    for step in spec.dependency_chain.sequence if spec.dependency_chain else ():
        for name in (step.element, step.unlocks):
            if name not in is_necessary:
                is_necessary[name] = solution.solved and _is_necessary(spec, name, tiling, limit)
        necessary = is_necessary[step.element] and is_necessary[step.unlocks]
        yield ChainLink(step.step, step.element, step.unlocks, necessary)


def _is_necessary(spec: TaskSpecification, name: str, tiling: Tiling, limit: int | None) -> bool:
    """Return whether the task is unsolvable without a mechanism."""
    reduced = remove_mechanism(spec, name)
    return reduced is None or not solve(reduced, tiling=tiling, limit=limit).solved


def _differences(stored: Certificate, proven: Certificate) -> Iterator[str]:
    """Yield a line for each difference between a stored and a newly proven certificate."""
    for name in ("task_id", "fingerprint", "rules", "solvable", "within_max_steps", "optimal_steps"):
        stored_value = getattr(stored, name)
        proven_value = getattr(proven, name)
        if stored_value != proven_value:
            yield f"{name}: says {shown(stored_value)}, but it is {shown(proven_value)}"
    if len(stored.chain) != len(proven.chain):
        yield f"chain: has {len(stored.chain)} links, but the task has {len(proven.chain)}"
        return
    for index, (stored_link, proven_link) in enumerate(zip(stored.chain, proven.chain, strict=True)):
        if stored_link != proven_link:
            yield f"chain[{index}]: says {_describe_link(stored_link)}, but it is {_describe_link(proven_link)}"


def _describe_link(link: ChainLink) -> str:
    necessary = "necessary" if link.necessary else "not necessary"
    return f"{link.step} {shown(link.element)} for {shown(link.unlocks)} ({necessary})"


def _find_misplays(stored: Certificate, layout: Layout) -> Iterator[str]:
    """Play the stored solution by the rules; yield its faults."""
    if len(stored.actions) > _MAX_LENGTH:
        yield f"actions: has {len(stored.actions)}; at most {_MAX_LENGTH}"
        return
    if len(stored.actions) != (stored.optimal_steps or 0):
        yield f"actions: has {len(stored.actions)}, but optimal_steps is {shown(stored.optimal_steps)}"
    state = layout.start()
    for number, digit in enumerate(stored.actions, 1):
        state = transition(layout, state, Action(int(digit)))
        if state.dead:
            yield f"actions: the agent dies in step {number}"
            return
    at_limit = len(stored.actions) == layout.spec.max_steps
    if stored.solvable and not achieved(layout, state, at_limit=at_limit):
        yield "actions: do not solve the task"
