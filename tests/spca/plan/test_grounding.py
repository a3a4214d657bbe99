"""Conditions of any form, grounded: a plan is found where there is one, and it is valid for the problem as written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unified_planning.engines import PlanGenerationResultStatus as Found
from unified_planning.engines import SequentialPlanValidator, UPSequentialSimulator, ValidationResultStatus
from unified_planning.exceptions import UPInvalidActionError
from unified_planning.model import Problem

from spca.plan import grounding, job
from spca.plan.grounding import GroundingPlanner

FORMS = ("atom", "atom", "not", "and", "or", "imply", "forall", "exists", "equal")
DOMAIN = """(define (domain d) (:requirements :adl :typing)
  (:types sort - object one - sort other - sort) (:constants c - one)
  (:predicates (p ?x - sort) (q ?x - sort) (s ?x - sort) (r ?x ?y - sort)) {})"""
PROBLEM = "(define (problem p) (:domain d) (:objects a - one b - other) (:init {}) (:goal {}))"
OBJECTS = ("a", "b", "c")

pytestmark = pytest.mark.filterwarnings("ignore:'parseString' deprecated")  # by Unified Planning


def condition(rng: random.Random, names: tuple[str, ...], depth: int = 2) -> str:
    """A random condition over the names."""
    form = rng.choice(FORMS) if depth else "atom"
    if form == "atom":
        if rng.random() < 0.2:
            return f"(r {rng.choice(names)} {rng.choice(names)})"
        return f"({rng.choice('pqqs')} {rng.choice(names)})"
    if form == "equal":
        return f"(= {rng.choice(names)} {rng.choice(names)})"
    if form in ("forall", "exists"):
        variable = rng.choice(("?v", "?x"))  # may hide the action's own
        kind = rng.choice(("sort", "one"))
        return f"({form} ({variable} - {kind}) {condition(rng, (*names, variable), depth - 1)})"
    count = {"not": 1, "imply": 2}.get(form, rng.randint(1, 3))
    return f"({form} {' '.join(condition(rng, names, depth - 1) for _ in range(count))})"


def effect(rng: random.Random, made: str) -> str:
    """A random effect; what an action makes true, it does not make false too."""
    name = rng.choice("pqr")
    atom = "(r ?x c)" if name == "r" else f"({name} {rng.choice(('?x', 'c'))})"
    shown = atom if name in made else f"(not {atom})"
    kind = rng.random()
    if kind < 0.4:
        return shown
    if kind < 0.8:
        return f"(when {condition(rng, ('?x', 'c'), 1)} {shown})"
    return f"(forall (?w - sort) (when (s ?w) {shown.replace('?x', '?w')}))"


def problem(rng: random.Random) -> tuple[str, str]:
    made = [rng.choice(("p", "q", "pq", "pr", "pqr")) for _ in range(rng.randint(1, 3))]
    actions = (
        f"(:action m{i} :parameters (?x - {rng.choice(('sort', 'other'))}) :precondition {condition(rng, ('?x', 'c'))}"
        f" :effect (and {effect(rng, each)} {effect(rng, each)}))"
        for i, each in enumerate(made)
    )
    holding = (f"({name} {thing})" for name in "pqs" for thing in OBJECTS if rng.random() < 0.3)
    return DOMAIN.format(" ".join(actions)), PROBLEM.format(" ".join(holding), condition(rng, OBJECTS))


def can_be_solved(task: Problem) -> bool:
    """By trying everything, in Unified Planning's simulator."""
    with UPSequentialSimulator(task) as simulator:
        fluents = [simulator._problem.fluent(name)(*things) for name, things in ground(task)]

        def key(state: object) -> tuple[bool, ...]:
            return tuple(state.get_value(fluent).is_true() for fluent in fluents)  # type: ignore[attr-defined]

        pending = [simulator.get_initial_state()]
        known = {key(pending[0])}
        while pending:
            state = pending.pop()
            if simulator.is_goal(state):
                return True
            for action in task.actions:  # each has one parameter
                for thing in task.objects(action.parameters[0].type):
                    after = None
                    with suppress(UPInvalidActionError):  # its condition can never hold
                        after = simulator.apply(state, action, (thing,))
                    if after is not None and key(after) not in known:
                        known.add(key(after))
                        pending.append(after)
    return False


def ground(task: Problem) -> Iterator[tuple[str, list[object]]]:
    things = [task.object(name) for name in OBJECTS]
    for one in things:
        yield from ((name, [one]) for name in "pqs")
        yield from (("r", [one, other]) for other in things)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from((grounding.SMALL, (0, 0))))
def test_what_is_found_is_valid_and_what_is_not_found_is_not_there(seed: int, small: tuple[int, int]) -> None:
    task = job.read(*problem(random.Random(seed)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grounding, "SMALL", small)
        found = GroundingPlanner()._solve(task)
    assert (found.plan is not None) == can_be_solved(task)
    if found.plan is not None:
        assert SequentialPlanValidator().validate(task, found.plan).status is ValidationResultStatus.VALID


GENERAL = """(define (domain sequence) (:requirements :adl :typing) (:types agent item - object)
  (:predicates (opened ?x - item) (after ?y ?x - item))
  (:action open :parameters (?a - agent ?d - item)
    :precondition (and (forall (?x - item) (imply (after ?d ?x) (opened ?x)))) :effect (opened ?d)))"""


def test_orders_that_only_the_initial_state_knows_are_kept() -> None:
    order = [f"d{i}" for i in (3, 0, 4, 1, 2)]
    after = " ".join(f"(after {late} {early})" for early, late in pairwise(order))
    goal = " ".join(f"(opened {name})" for name in sorted(order))
    text = f"""(define (problem p) (:domain sequence) (:objects a1 - agent {" ".join(sorted(order))} - item)
      (:init {after}) (:goal (and {goal})))"""
    plan = GroundingPlanner()._solve(job.read(GENERAL, text)).plan
    assert plan is not None
    assert [step.actual_parameters[1].object().name for step in plan.actions] == order


@pytest.mark.parametrize("goal", ["(opened d9)", "(and (opened d1) (not (opened d1)))"])
def test_there_is_no_plan_where_there_is_none(goal: str) -> None:
    text = f"""(define (problem p) (:domain sequence) (:objects a1 - agent d1 d9 - item) (:init (after d9 d9))
      (:goal {goal}))"""
    found = GroundingPlanner()._solve(job.read(GENERAL, text))
    assert found.plan is None
    assert found.status in (Found.UNSOLVABLE_PROVEN, Found.UNSOLVABLE_INCOMPLETELY)


def test_a_goal_that_holds_already_needs_no_action() -> None:
    text = "(define (problem p) (:domain sequence) (:objects a1 - agent d1 - item) (:init (after d1 d1)) (:goal {}))"
    found = GroundingPlanner()._solve(job.read(GENERAL, text.format("(after d1 d1)")))
    assert found.plan is not None
    assert not found.plan.actions


def test_too_many_instances_are_left_to_others() -> None:
    names = " ".join(f"d{i}" for i in range(150))
    domain = GENERAL.replace("(:action", "(:action x :parameters (?d ?e - item) :effect (opened ?d)) (:action", 1)
    text = f"(define (problem p) (:domain sequence) (:objects a1 - agent {names} - item) (:init) (:goal (opened d1)))"
    with pytest.raises(grounding.TooLargeError, match="ground actions"):
        GroundingPlanner()._solve(job.read(domain, text))


def test_too_many_cases_are_left_to_others() -> None:
    names = [f"d{i}" for i in range(14)]
    goal = " ".join(f"(or (opened {one}) (opened {two}))" for one, two in zip(names[:7], names[7:], strict=True))
    text = f"""(define (problem p) (:domain sequence) (:objects a1 - agent {" ".join(names)} - item) (:init)
      (:goal (and {goal})))"""
    with pytest.raises(grounding.TooLargeError, match="cases"):
        GroundingPlanner()._solve(job.read(GENERAL, text))
