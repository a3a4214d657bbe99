"""Certificates: what is proven of the shipped tasks, what taking a thing away means, and proving it all again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridworld.errors import SearchLimitError, TaskError
from gridworld.library import task_files
from gridworld.rules.tilings import HEX
from gridworld.search.ablation import remove_mechanism
from gridworld.search.certificate import FIELD, Certificate, attach_certificate, certify, fingerprint, recertify
from gridworld.search.solver import solve
from gridworld.task_spec import DependencyChain, TaskSpecification
from tests.support.gridworld.drawn import drawn

SHIPPED = [*task_files("tiers"), *task_files("validation_10")]

LOCKED = """
    #######
    #A.k#.#
    #...dG#
    #######
"""
BYPASS = """
    #######
    #A.k..#
    #...dG#
    #######
"""
GATED = """
    #######
    #As.#.#
    #...gG#
    #######
"""
WEIGHED = """
    ########
    #A..#..#
    #.bsg.G#
    #...####
    ########
"""
HELD_ONLY = """
    #########
    #A...#..#
    #.bs.g.G#
    #....####
    #########
"""
PUSH = """
    ######
    #A...#
    #.b.x#
    ######
"""
PORTAL = """
    #######
    #A.t#u#
    #...#G#
    #######
"""


def with_chain(spec: TaskSpecification, *links: tuple[str, str]) -> TaskSpecification:
    steps = [{"step": i, "type": "x", "element": a, "unlocks": b} for i, (a, b) in enumerate(links, 1)]
    return replace(spec, dependency_chain=DependencyChain.from_dict({"depth": len(links), "sequence": steps}))


@pytest.mark.long
def test_every_shipped_task_is_certified_and_certified_again() -> None:
    for path in SHIPPED:
        spec = TaskSpecification.from_json(path)
        certificate = certify(spec)
        assert certificate.sound, path
        stored = json.loads(json.dumps(attach_certificate(spec, certificate).to_dict()))
        again = TaskSpecification.from_dict(stored)
        assert Certificate.from_dict(stored["metadata"][FIELD]) == certificate
        assert recertify(again) == []
        assert fingerprint(again) == fingerprint(spec) == certificate.fingerprint


@pytest.mark.parametrize(
    ("spec", "link", "necessary"),
    [
        (drawn(LOCKED), ("k0", "d0"), True),
        (drawn(BYPASS), ("k0", "d0"), False),
        (drawn(LOCKED.replace("A.k", "Akk")), ("k0", "d0"), False),
        (drawn(LOCKED.replace("A.k", "Akk"), keys="red blue"), ("k0", "d0"), True),
        (drawn(LOCKED.replace("A.k", "Akk"), keys="red blue"), ("k1", "d0"), False),
        (drawn(GATED), ("s0", "g0"), True),
        (drawn(GATED, more={"g0": {"initial_state": "open"}}), ("s0", "g0"), False),
        (drawn(GATED, more={"s0": {"initial_state": "on"}}), ("s0", "g0"), True),
        (drawn(WEIGHED.replace("sg", "s."), goal={"target": [6, 2]}), ("b0", "s0"), False),
        (drawn(HELD_ONLY, rules={"switch_type": "hold"}), ("b0", "g0"), True),
        (drawn(HELD_ONLY), ("b0", "g0"), False),
        (drawn(PORTAL), ("t0", "t0"), True),
        (drawn(PORTAL.replace("#u", ".u")), ("t0", "t0"), False),
        (drawn(LOCKED.replace("A.k", "Ahk")), ("h0", "d0"), False),
        (drawn(LOCKED.replace("A.k", "Ahk")), ("d0", "h0"), False),
        (drawn(LOCKED, more={"d0": {"initial_state": "open"}}), ("d0", "k0"), False),
        (drawn(BYPASS, goal={"target": [5, 2], "auxiliary_conditions": ["open:d0"]}), ("k0", "d0"), True),
        (drawn(BYPASS, goal={"target": [5, 2], "auxiliary_conditions": ["not open:d0"]}), ("k0", "d0"), False),
        (drawn(BYPASS, goal={"target": [5, 2], "auxiliary_conditions": ["collected:k0"]}), ("k0", "k0"), True),
        (drawn(GATED.replace("#.#", "..#"), goal={"type": "collect_all", "target_ids": ["g0"]}), ("s0", "g0"), True),
        (drawn(PUSH, goal={"type": "push_block_to", "target_ids": ["b0"]}), ("b0", "b0"), True),
    ],
)
def test_links_are_necessary_or_not(spec: TaskSpecification, link: tuple[str, str], necessary: bool) -> None:
    certificate = certify(with_chain(spec, link))
    assert [(made.element, made.unlocks, made.necessary) for made in certificate.chain] == [(*link, necessary)]
    assert certificate.sound == (necessary and certificate.solvable)


def test_as_many_steps_as_the_shortest_solution_takes_are_enough() -> None:
    optimal = certify(drawn(LOCKED)).optimal_steps
    assert optimal is not None
    made = [certify(drawn(LOCKED, max_steps=most)) for most in (optimal, optimal - 1)]
    assert [(each.solvable, each.within_max_steps, each.optimal_steps) for each in made] == [
        (True, True, optimal),
        (True, False, optimal),
    ]


def test_taking_away_leaves_the_task_valid_and_itself_as_it_was() -> None:
    for path in SHIPPED:
        spec = TaskSpecification.from_json(path)
        before = spec.to_dict()
        for name in [thing["id"] for group in before.get("mechanisms", {}).values() for thing in group]:
            rest = remove_mechanism(spec, name)
            assert rest is not None
            assert rest.validate() == (True, [])
            assert f'"{name}"' not in json.dumps(rest.to_dict()["mechanisms"])
        assert spec.to_dict() == before


def test_taking_away_a_doorway_of_a_floor_list_and_a_negated_condition_on_it() -> None:
    spec = drawn(LOCKED, goal={"target": [5, 2], "auxiliary_conditions": ["not open:d0", "not at:b0:4,2"]})
    floor = [[x, y] for x in range(1, 6) for y in (1, 2) if (x, y) != (4, 1)]
    data = spec.to_dict()
    data["maze"] |= {"walls": [], "floor": floor, "goal": [4, 2]}
    data["mechanisms"]["blocks"] = [{"id": "b0", "position": [2, 2]}]
    rest = remove_mechanism(TaskSpecification.from_dict(data), "k0")
    assert rest is not None
    assert rest.validate() == (True, [])
    assert rest.goal.auxiliary_conditions == []
    assert not solve(rest).solved
    data["goal"]["auxiliary_conditions"] = ["at:b0:4,2"]
    assert remove_mechanism(TaskSpecification.from_dict(data), "d0") is None


def test_whoever_starts_in_an_open_doorway_may_leave_it() -> None:
    spec = drawn("#####\n#AgG#\n#####", more={"g0": {"initial_state": "open"}})
    spec.maze.start = spec.mechanisms.gates[0].position
    rest = remove_mechanism(spec, "g0")
    assert rest is not None
    assert solve(rest).solved


def test_an_unsolvable_task_says_so_and_proves_nothing_necessary() -> None:
    spec = with_chain(drawn(LOCKED.replace("A.k#.", "A..#k")), ("k0", "d0"))
    certificate = certify(spec)
    assert (certificate.solvable, certificate.optimal_steps, certificate.actions) == (False, None, "")
    assert [link.necessary for link in certificate.chain] == [False]
    assert not certificate.sound
    assert recertify(attach_certificate(spec, certificate)) == []


def test_too_few_steps_are_told() -> None:
    certificate = certify(drawn(LOCKED, max_steps=3))
    assert (certificate.solvable, certificate.within_max_steps, certificate.sound) == (True, False, False)


def test_on_hexagons() -> None:
    spec = with_chain(drawn(LOCKED), ("k0", "d0"))
    certificate = certify(spec, HEX)
    assert (certificate.tiling, certificate.sound) == ("hex", True)
    assert recertify(attach_certificate(spec, certificate)) == []


def test_the_fingerprint_is_of_what_the_task_is() -> None:
    spec = drawn(LOCKED)
    assert fingerprint(TaskSpecification.from_dict(dict(reversed(spec.to_dict().items())))) == fingerprint(spec)
    assert fingerprint(replace(spec, metadata={})) == fingerprint(spec)
    assert fingerprint(replace(spec, metadata={"by": "hand"})) != fingerprint(spec)
    assert fingerprint(replace(spec, max_steps=51)) != fingerprint(spec)


STORED = certify(with_chain(drawn(LOCKED), ("k0", "d0"))).to_dict()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"task_id": "other"}, "task_id: says 'other', but it is 'drawn'"),
        ({"fingerprint": "0" * 64}, f"fingerprint: says '{'0' * 64}', but it is"),
        ({"rules": "0"}, "rules: says '0', but it is"),
        ({"solvable": False}, "solvable: says false, but it is true"),
        ({"within_max_steps": False}, "within_max_steps: says false, but it is true"),
        ({"actions": STORED["actions"] + "6", "optimal_steps": STORED["optimal_steps"] + 1}, "optimal_steps: says"),
        ({"actions": STORED["actions"][:-1]}, "actions: has"),
        ({"actions": "7" * STORED["optimal_steps"]}, " actions: must be a text of digits from 0 to 6, not '777"),
        (
            {"actions": "\N{SUPERSCRIPT TWO}" * STORED["optimal_steps"]},
            " actions: must be a text of digits from 0 to 6, not '\\xb2",
        ),
        ({"actions": "6" * STORED["optimal_steps"]}, "actions: do not solve the task"),
        ({"chain": []}, "chain: has 0 links, but the task has 1"),
        ({"chain": [STORED["chain"][0] | {"necessary": False}]}, "chain[0]: says 1 'k0' for 'd0' (not necessary), but"),
        ({"tiling": "octagon"}, " tiling: must be one of square, hex, not 'octagon'"),
        ({"optimal_steps": "many"}, " optimal_steps: must be an integer, not 'many'"),
        ({"surprise": 1}, " surprise: is not a field of the format"),
    ],
)
def test_every_disagreement_is_listed(change: dict[str, Any], line: str) -> None:
    spec = with_chain(drawn(LOCKED), ("k0", "d0"))
    lines = recertify(replace(spec, metadata={FIELD: STORED | change}))
    assert any(text.removeprefix("metadata.certificate").lstrip(".:").startswith(line.lstrip(".:")) for text in lines)
    assert recertify(replace(spec, metadata={FIELD: STORED, "more": 1}))[0].startswith(
        "metadata.certificate.fingerprint"
    )


def test_long_solutions_are_read_too() -> None:
    spec = drawn("####\n#A.#\n####", goal={"type": "survive_steps"}, max_steps=30_000)
    certificate = certify(spec)
    assert len(certificate.actions) == 30_000
    assert recertify(TaskSpecification.from_dict(attach_certificate(spec, certificate).to_dict())) == []


def test_a_solution_into_a_hazard_is_told() -> None:
    spec = drawn("#####\n#AhG#\n#...#\n#####")
    stored = certify(spec).to_dict() | {"actions": "2" * solve(spec).steps}
    assert recertify(replace(spec, metadata={FIELD: stored})) == [
        "metadata.certificate.actions: the agent dies in step 1"
    ]


@pytest.mark.parametrize("metadata", [None, {}, {FIELD: None}])
def test_a_missing_certificate_is_one_line(metadata: dict[str, Any] | None) -> None:
    assert recertify(replace(drawn(LOCKED), metadata=metadata)) == ["metadata.certificate: is missing"]


@pytest.mark.parametrize("stored", [3, [], "", {}])
def test_what_is_no_certificate_is_told(stored: Any) -> None:
    lines = recertify(replace(drawn(LOCKED), metadata={FIELD: stored}))
    assert lines
    assert all(line.startswith("metadata.certificate: ") for line in lines)


def test_what_cannot_be_decided_or_read_is_raised() -> None:
    with pytest.raises(SearchLimitError):
        certify(drawn(LOCKED), limit=2)
    with pytest.raises(TaskError, match="max_steps"):
        certify(replace(drawn(LOCKED), max_steps=0))


def test_shipped_paths_are_all_there() -> None:
    assert len(SHIPPED) == len({Path(path).stem for path in SHIPPED}) == 26
