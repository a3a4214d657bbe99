"""Certificates: what is proven of a task, stored with it, and proven again.

A link of the dependency chain is *necessary* if the task cannot be solved without its element, nor without what it
unlocks (:mod:`gridworld.search.ablation` says what taking away means).
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
"""Version of the rules (docs/gridworld_rules.md) that certificates are made under."""

_ACTIONS: Final = re.compile("[0-6]*")

_LONGEST: Final = 100_000
"""Actions of a solution; no task allows more."""

FIELD: Final = "certificate"
"""Where a certificate is stored in the metadata of a task."""


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A step of the dependency chain, and whether it is proven necessary; never of an unsolvable task."""

    step: int
    element: str
    unlocks: str
    necessary: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What is proven of a task on a tiling.

    Attributes:
        task_id, fingerprint: of the task, see :func:`fingerprint`.
        rules: the version of the rules.
        tiling: "square" or "hex".
        solvable: it has a solution, however long.
        within_max_steps: the shortest one keeps to ``max_steps``.
        optimal_steps: length of the shortest solution; None without one.
        expanded: states that the search for it expanded.
        actions: such a solution, a digit for each action.
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
        """The task is solvable within ``max_steps``, and every link of its chain is necessary."""
        return self.solvable and self.within_max_steps and all(link.necessary for link in self.chain)

    def to_dict(self) -> dict[str, Any]:
        """Return the dict that :meth:`from_dict` reads."""
        return cast("dict[str, Any]", write(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """Read strictly.

        Raises:
            TaskError: with every missing, mistyped or unknown field.
        """
        given: Any = data
        is_object = isinstance(given, Mapping)
        actions = given.get("actions") if is_object else None
        # They are read on their own: they may be longer than any text in a task.
        made = read(cls, {**given, "actions": ""} if is_object else given)
        if not isinstance(actions, str) or not _ACTIONS.fullmatch(actions):
            raise TaskError(f"actions: must be a text of digits from 0 to 6, not {shown(actions)}")
        return replace(made, actions=actions)


def fingerprint(spec: TaskSpecification) -> str:
    """Return the sha256 of the task's canonical JSON, its certificate left out."""
    data = spec.to_dict()
    metadata = data.pop("metadata", None) or {}
    metadata = {name: value for name, value in metadata.items() if name != FIELD}
    if metadata:
        data["metadata"] = metadata
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def certify(spec: TaskSpecification, tiling: Tiling = SQUARE, limit: int | None = DEFAULT_LIMIT) -> Certificate:
    """Prove what can be proven of a task.

    Args:
        spec: the task; not changed.
        tiling: on which it is played.
        limit: states that each search may expand; None for no limit.

    Raises:
        TaskError: the task is not valid.
        SearchLimitError: something is not decided within the limit.
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
    """Return the task with its certificate in the metadata."""
    return replace(spec, metadata={**(spec.metadata or {}), FIELD: certificate.to_dict()})


def stored_proof(spec: TaskSpecification, tiling: Tiling = SQUARE) -> tuple[Certificate | None, str]:
    """Return the certificate of a valid task if it passes the checks that need no search.

    Fingerprint and rules must match, and the witness must solve the task in the claimed number of steps and never
    return to a state. Whether a shorter solution exists is not checked; :func:`recertify` does that.

    Returns:
        the certificate, or None if the task has no usable one that claims a solution on this tiling; the reason why
        the one it has is refused, or "".
    """
    data = (spec.metadata or {}).get(FIELD)
    if data is None:
        return None, ""
    try:
        given = Certificate.from_dict(data)
    except TaskError as error:
        return None, f"metadata.{FIELD} is not used: {error}"
    if given.tiling != tiling.name:
        return None, ""
    if problem := next(_find_faults(given, spec, tiling), ""):
        return None, f"metadata.{FIELD} is not used: {problem}; `certify --write` makes another one"
    return (given if _within_reach(given, spec) else None), ""


def _within_reach(given: Certificate, spec: TaskSpecification) -> bool:
    """Return whether the witness keeps to ``max_steps``; an empty or longer one is of no use and is not played."""
    return given.solvable and 0 < len(given.actions) <= spec.max_steps


def _find_faults(given: Certificate, spec: TaskSpecification, tiling: Tiling) -> Iterator[str]:
    if given.rules != RULES:
        yield f"rules: it is of version {shown(given.rules)}, not {RULES}"
    elif given.fingerprint != fingerprint(spec):
        yield "fingerprint: the task has changed since it was made"
    elif _within_reach(given, spec):
        layout = Layout(spec, tiling)
        yield from _find_misplays(given, layout)
        if spec.goal.goal_type != "survive_steps" and _returns_to_state(given, layout):
            yield "actions: return to a state, so there is a shorter way"


def _returns_to_state(given: Certificate, layout: Layout) -> bool:
    state = layout.start()
    # A cooldown ends before the next action, a touch is only seen.
    seen = {state._replace(cooling="", touched=NOTHING)}
    for digit in given.actions:
        state = transition(layout, state, Action(int(digit)))
        seen.add(state._replace(cooling="", touched=NOTHING))
    # The goal is looked at after a step only, so a task that begins at its goal takes one that leads nowhere.
    return len(seen) <= len(given.actions) and len(given.actions) > 1


def recertify(spec: TaskSpecification, limit: int | None = DEFAULT_LIMIT) -> list[str]:
    """Prove everything again; a line for each disagreement with the stored certificate, none if it agrees.

    The stored solution is played: another one of its length would do. How long the search took is not compared.

    Args:
        spec: a task with a certificate.
        limit: as for :func:`certify`.

    Raises:
        TaskError: the task is not valid.
        SearchLimitError: something is not decided within the limit.
    """
    path = f"metadata.{FIELD}"
    data = (spec.metadata or {}).get(FIELD)
    if data is None:
        return [f"{path}: is missing"]
    try:
        given = Certificate.from_dict(data)
    except TaskError as error:
        return [f"{path}: {problem}" for problem in error.problems]
    tiling = TILINGS[given.tiling]
    made = certify(spec, tiling, limit)
    problems = (*_differences(given, made), *_find_misplays(given, Layout(spec, tiling)))
    return [f"{path}.{line}" for line in problems]


def _links(spec: TaskSpecification, tiling: Tiling, limit: int | None, solution: Solution) -> Iterator[ChainLink]:
    needed: dict[str, bool] = {}
    for step in spec.dependency_chain.sequence if spec.dependency_chain else ():
        for name in (step.element, step.unlocks):
            if name not in needed:
                needed[name] = solution.solved and _is_necessary(spec, name, tiling, limit)
        necessary = needed[step.element] and needed[step.unlocks]
        yield ChainLink(step.step, step.element, step.unlocks, necessary)


def _is_necessary(spec: TaskSpecification, name: str, tiling: Tiling, limit: int | None) -> bool:
    rest = remove_mechanism(spec, name)
    return rest is None or not solve(rest, tiling=tiling, limit=limit).solved


def _differences(given: Certificate, made: Certificate) -> Iterator[str]:
    for name in ("task_id", "fingerprint", "rules", "solvable", "within_max_steps", "optimal_steps"):
        said = getattr(given, name)
        found = getattr(made, name)
        if said != found:
            yield f"{name}: says {shown(said)}, but it is {shown(found)}"
    if len(given.chain) != len(made.chain):
        yield f"chain: has {len(given.chain)} links, but the task has {len(made.chain)}"
        return
    for index, (link, other) in enumerate(zip(given.chain, made.chain, strict=True)):
        if link != other:
            yield f"chain[{index}]: says {_describe_link(link)}, but it is {_describe_link(other)}"


def _describe_link(link: ChainLink) -> str:
    necessary = "necessary" if link.necessary else "not necessary"
    return f"{link.step} {shown(link.element)} for {shown(link.unlocks)} ({necessary})"


def _find_misplays(given: Certificate, layout: Layout) -> Iterator[str]:
    """Yield what is wrong with the stored solution, played by the rules."""
    if len(given.actions) > _LONGEST:
        yield f"actions: has {len(given.actions)}; at most {_LONGEST}"
        return
    if len(given.actions) != (given.optimal_steps or 0):
        yield f"actions: has {len(given.actions)}, but optimal_steps is {shown(given.optimal_steps)}"
    state = layout.start()
    for number, digit in enumerate(given.actions, 1):
        state = transition(layout, state, Action(int(digit)))
        if state.dead:
            yield f"actions: the agent dies in step {number}"
            return
    at_limit = len(given.actions) == layout.spec.max_steps
    if given.solvable and not achieved(layout, state, at_limit=at_limit):
        yield "actions: do not solve the task"
