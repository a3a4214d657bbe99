"""The program's functions with the grid's body, and values of this body: snapshots, views and the state of prompts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from spca.bodies.grid.body import GRID
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code import library
from spca.code import merge as merging
from spca.code.policy import check as policy
from spca.contracts import (
    ActionSchema,
    AgentSource,
    AgentView,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    Snapshot,
    SolveResult,
)
from spca.llm import feedback
from spca.plan import pddl
from spca.protocols import Episode, Executor
from spca.runs.level.execution import describe_for_coder
from spca.runs.workspace import Workspace
from spca.sense import map_text
from spca.sense.perception import VisibleObject
from spca.writers import merit, stored
from spca.writers.renamings import likeness as likeness_of
from spca.writers.renamings import recolourings as recolourings_of

STATE_ATTRIBUTES: Final = GRID.interface.state_names
"""State attributes of the agent, the previous primitives included."""

_VIEW: Final = tuple(name for name, _kind in GRID.interface.attributes)

Words = Iterable[Sequence[str]]
"""Rows of cell words, north to south."""


def merge(base: str, patch: str, expected: Mapping[str, tuple[str, ...]] | None = None) -> merging.MergeResult:
    return merging.merge(base, patch, GRID.interface, expected)


def check_patch(patch: str, base: str) -> None:
    policy.check_patch(patch, base, GRID.interface)


def check_agent(agent: AgentSource) -> None:
    policy.check_agent(agent, GRID.interface)


def violations(source: str) -> tuple[policy.Violation, ...]:
    return policy.violations(source, GRID.interface)


def find_involved(
    source: str, actions: Collection[str], error: str = "", room: int = library.MAX_SOURCE
) -> tuple[str, ...]:
    return library.find_involved(source, actions, PRIMITIVE_METHODS, error, room)


def listing(
    source: str, *, relevant_to: Collection[str], leave_out: Collection[str] = (), room: int = library.MAX_METHODS
) -> str:
    return library.listing(source, PRIMITIVE_METHODS, relevant_to=relevant_to, leave_out=leave_out, room=room)


def excerpts(source: str, error: str, leave_out: Collection[str]) -> str:
    return library.excerpts(source, error, PRIMITIVE_METHODS, leave_out)


def failure_report(plan: Plan, outcome: Outcome, method_at: Callable[[int], str] = lambda _line: "") -> str:
    return feedback.failure_report(plan, outcome, GRID, method_at)


def plan_of(solve: Callable[[str, str], SolveResult], domain: str, problem: str, mode: PlannerMode) -> Plan | str:
    return pddl.plan_of(solve, domain, problem, mode, GRID.interface)


def extract_actions(domain: str) -> tuple[ActionSchema, ...]:
    return pddl.extract_actions(domain, GRID.interface)


def name_map(domain: str, problem: str) -> pddl.NameMap:
    return pddl.NameMap.from_pddl(domain, problem, GRID.interface)


def kept_agent(workspace: Workspace) -> AgentSource:
    """The agent to continue from."""
    return workspace.agent(GRID.interface)


def start_episode(
    executor: Executor, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int] = ()
) -> Episode:
    return executor.start(agent, steps, previous, GRID)


def planner_state(snapshot: Snapshot) -> dict[str, Any]:
    """What the planner is shown of a snapshot."""
    return {"mission": snapshot.mission, **snapshot.shown}


def agent_state(snapshot: Snapshot, skill: str = "", names: Sequence[str] = ()) -> dict[str, Any]:
    """What the coder is shown of a snapshot."""
    return describe_for_coder(snapshot, GRID, skill, names)


def make_snapshot(
    mission: str,
    direction: str,
    inventory: str | None,
    visible_grid: Words,
    visible_objects: Iterable[VisibleObject] = (),
) -> Snapshot:
    """A snapshot of a map in words."""
    return Snapshot(mission, show(visible_grid, direction, inventory, visible_objects))


def show(
    visible_grid: Words,
    direction: str = "East",
    inventory: str | None = None,
    visible_objects: Iterable[VisibleObject] = (),
) -> dict[str, Any]:
    """What is shown of a map in words."""
    return map_text.describe_shown(tuple(map(tuple, visible_grid)), direction, inventory, visible_objects)


def words_of(world: Any) -> tuple[tuple[str, ...], ...]:
    """The whole map of a world as words, with the agent's cell marked."""
    words: tuple[tuple[str, ...], ...] = world._map_words()
    return words


def known_things(shown: Mapping[str, Any]) -> set[str]:
    """The names of the things on a map that is shown."""
    return set(shown["known_objects"])


def seen(view: AgentView, name: str) -> Any:
    """The value of an attribute in a view."""
    return view.values[_VIEW.index(name)]


def recolourings(state: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    assert GRID.vocabulary is not None
    return recolourings_of(state, GRID.vocabulary)


def likeness(*texts: str) -> tuple[str, ...]:
    return likeness_of(GRID.vocabulary, *texts)


def add_case(cases: tuple[stored.Case, ...], case: stored.Case) -> tuple[stored.Case, ...]:
    return stored.add_case(cases, case, GRID.vocabulary)


def count_solved(writer: stored.StoredWriter, category: str, case: stored.Case) -> stored.StoredWriter:
    return merit.count_solved(writer, category, case, GRID.vocabulary)
