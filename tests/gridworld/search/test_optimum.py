"""What is known of a shortest solution: from a search, from a certificate, and from none that was tampered with."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from gridworld.actions import Action
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import TILINGS
from gridworld.rules.transition import achieved, transition
from gridworld.search.certificate import FIELD, attach_certificate, certify, stored_proof
from gridworld.search.optimum import CHECK_LIMIT, find_optimum
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn

LOCKED = """
    #########
    #Ak.#...#
    #.k.d.dG#
    #...#...#
    #########
"""
SMALL = 1
"""States in which nothing of this is decided."""


def locked(**more: Any) -> TaskSpecification:
    return drawn(LOCKED, keys="red blue", doors="red blue", **more)


def altered(spec: TaskSpecification, **changes: Any) -> TaskSpecification:
    """The task with other values in its certificate; None takes one away."""
    stored = {**(spec.metadata or {})[FIELD], **changes}
    return replace(spec, metadata={FIELD: {name: value for name, value in stored.items() if value is not None}})


def plays(spec: TaskSpecification, actions: tuple[Action, ...]) -> bool:
    layout = Layout(spec)
    state = layout.start()
    for action in actions:
        state = transition(layout, state, action)
    return achieved(layout, state, at_limit=len(actions) == spec.max_steps)


def test_a_search_decides_or_tells_its_bound() -> None:
    steps = solve(locked()).steps
    decided = find_optimum(locked())
    assert (decided.steps, decided.bound, decided.known) == (steps, steps, True)
    assert plays(locked(), decided.actions)
    undecided = find_optimum(locked(), limit=SMALL)
    assert (undecided.steps, undecided.actions, undecided.known) == (None, (), False)
    assert undecided.bound is not None
    assert 1 <= undecided.bound <= steps
    impossible = find_optimum(drawn("#####\n#A#G#\n#####"))
    assert (impossible.steps, impossible.bound, impossible.known) == (None, None, True)


def test_a_certificate_that_agrees_spares_the_search() -> None:
    spec = attach_certificate(locked(), certify(locked()))
    known = find_optimum(spec, limit=SMALL)
    assert known.steps == solve(locked()).steps
    assert known.bound == find_optimum(locked(), limit=SMALL).bound, "which is all that was proven here"
    assert plays(spec, known.actions)
    again = TaskSpecification.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert find_optimum(again, limit=SMALL) == known


@pytest.mark.parametrize(
    "spec",
    [
        drawn("#####\n#A.G#\n#####", goal={"type": "survive_steps"}, max_steps=9),
        drawn("#####\n#A..#\n#####", goal={"type": "reach_position", "target": [1, 1]}),
    ],
)
def test_waiting_is_no_detour_where_the_task_asks_for_it(spec: TaskSpecification) -> None:
    proof, problem = stored_proof(attach_certificate(spec, certify(spec)))
    assert (proof is not None, problem) == (True, "")


def test_a_certificate_of_another_tiling_says_nothing() -> None:
    hexagonal = TILINGS["hex"]
    spec = attach_certificate(locked(), certify(locked(), hexagonal))
    assert stored_proof(spec) == (None, "")
    assert find_optimum(spec, limit=SMALL) == find_optimum(locked(), limit=SMALL)
    assert find_optimum(spec, hexagonal, limit=SMALL).steps == solve(locked(), tiling=hexagonal).steps
    unsolvable = drawn("#####\n#A#G#\n#####")
    assert stored_proof(attach_certificate(unsolvable, certify(unsolvable))) == (None, ""), (
        "the search decides that itself"
    )


def test_an_empty_way_is_none() -> None:
    """The goal is looked at after a step only."""
    spec = drawn("#####\n#A..#\n#####", goal={"type": "reach_position", "target": [1, 1]})
    empty = attach_certificate(spec, replace(certify(spec), actions="", optimal_steps=0))
    assert stored_proof(empty) == (None, "")
    assert find_optimum(empty).steps == 1


CERTIFIED = attach_certificate(locked(), certify(locked()))
STEPS = solve(locked()).steps
WAY = (CERTIFIED.metadata or {})[FIELD]["actions"]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (replace(CERTIFIED, description="another"), "fingerprint: the task has changed since it was made"),
        (replace(CERTIFIED, max_steps=60), "fingerprint: the task has changed since it was made"),
        (altered(CERTIFIED, rules="0"), "rules: it is of version '0', not 1"),
        (altered(CERTIFIED, optimal_steps=STEPS + 9), f"actions: has {STEPS}, but optimal_steps is {STEPS + 9}"),
        (altered(CERTIFIED, optimal_steps=STEPS - 1), f"actions: has {STEPS}, but optimal_steps is {STEPS - 1}"),
        (altered(CERTIFIED, optimal_steps=STEPS - 1, actions=WAY[1:]), "actions: do not solve the task"),
        (altered(CERTIFIED, optimal_steps=STEPS + 1, actions="6" + WAY), "actions: return to a state"),
        (altered(CERTIFIED, optimal_steps=STEPS + 2, actions="01" + WAY), "actions: return to a state"),
        (altered(CERTIFIED, optimal_steps=STEPS + 4, actions=f"0000{WAY}"), "actions: return to a state"),
        (altered(CERTIFIED, optimal_steps=None), "actions: has"),
        (altered(CERTIFIED, fingerprint=None), "fingerprint: is missing"),
        (altered(CERTIFIED, optimal_steps="9"), "optimal_steps: must be an integer, not '9'"),
        (altered(CERTIFIED, more=1), "more: is not a field of the format"),
        (replace(CERTIFIED, metadata={FIELD: "proven"}), "must be an object, not 'proven'"),
    ],
)
def test_one_that_does_not_agree_is_not_used_and_says_why(spec: TaskSpecification, problem: str) -> None:
    proof, why = stored_proof(spec)
    assert proof is None
    assert why.startswith(f"metadata.certificate is not used: {problem}")
    assert find_optimum(spec, limit=SMALL) == find_optimum(replace(spec, metadata=None), limit=SMALL)


def test_a_longer_way_that_solves_the_task_is_found_out_by_the_short_search() -> None:
    spec = drawn("########\n#A.....#\n#..k...#\n#.....G#\n########")
    short = certify(spec)
    longer = replace(short, actions="1202222212", optimal_steps=10)
    assert short.optimal_steps == 8
    assert stored_proof(attach_certificate(spec, longer)) == (longer, ""), (
        "it solves the task, and comes back to no state"
    )
    found = find_optimum(attach_certificate(spec, longer), limit=CHECK_LIMIT)
    assert (found.steps, found.bound, found.doubt) == (8, 8, "says 10 steps, but 8 are enough")


def test_hostile_certificates_take_no_time() -> None:
    start = time.process_time()
    for digits in ("6" * 16_000_000, "01" * 45_000):
        spec = altered(CERTIFIED, optimal_steps=len(digits), actions=digits)
        assert stored_proof(spec)[0] is None
        assert find_optimum(spec, limit=SMALL).steps is None
    assert time.process_time() - start < 3
