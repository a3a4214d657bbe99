"""What is certified, and what a certificate that was tampered with is refused for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from explorer.certificate import Certificate
from explorer.codes import packed, unpacked
from explorer.errors import RefutedError, SceneError
from explorer.findings import FaultKind, Finding
from explorer.graph import Edge, Graph, Node
from explorer.milestones import InventoryHas, Milestone, NearWithFacing
from explorer.rules.actions import Primitive
from explorer.scene import Pose, Stack
from explorer.solver.certificate import certify, check, fingerprint
from explorer.solver.witness import carry_out
from tests.support.explorer import scenes
from tests.support.explorer.plans import PLANS
from tests.support.explorer.scenes import Puzzle, hall, having

REASON = "the first opens the way to the second, and there is no other way round it at all"


def chain(milestones: tuple[Milestone, ...]) -> Graph:
    nodes = tuple(Node(each.milestone_id, each.task) for each in milestones)
    pairs = pairwise(nodes)
    return Graph(nodes, tuple(Edge(before.id, after.id, REASON) for before, after in pairs))


def solved(make: Callable[[], Puzzle]) -> tuple[Puzzle, Graph, tuple[int, ...]]:
    puzzle = make()
    return puzzle, chain(puzzle.milestones), carry_out(puzzle.scene, PLANS[make]).codes


def certified(make: Callable[[], Puzzle]) -> tuple[Puzzle, Graph, Certificate]:
    puzzle, graph, codes = solved(make)
    return puzzle, graph, certify(puzzle.scene, puzzle.milestones, graph, codes)


def refusal(puzzle: Puzzle, codes: tuple[int, ...] = (), graph: Graph | None = None) -> tuple[Finding, ...]:
    with pytest.raises(RefutedError) as caught:
        certify(puzzle.scene, puzzle.milestones, graph or chain(puzzle.milestones), codes)
    return caught.value.findings


@pytest.mark.parametrize("make", PLANS, ids=lambda make: make.__name__)
def test_a_puzzle_is_certified_and_its_certificate_holds(make: Callable[[], Puzzle]) -> None:
    puzzle, graph, certificate = certified(make)
    assert check(puzzle.scene, puzzle.milestones, graph, certificate) == ()
    assert all(proof.necessary for proof in certificate.milestones)
    assert all(edge.enforced for edge in certificate.edges)
    first, *_, last = certificate.milestones
    assert first.after == ()
    assert last.after == tuple(each.milestone_id for each in puzzle.milestones[:-1])
    assert last.at_step == certificate.witness.steps == len(unpacked(certificate.witness.codes))
    assert 0 < certificate.lower_bound <= certificate.witness.steps
    assert certificate.max_steps == 6 * certificate.witness.steps + 60


def test_the_same_scene_gives_the_same_certificate() -> None:
    assert certified(scenes.plug)[2] == certified(scenes.plug)[2]


def test_what_is_in_sight_at_the_spawn_is_said() -> None:
    assert certified(scenes.emerald)[2].seen_at_start == ()
    assert "planks" in certified(scenes.moat)[2].seen_at_start


def tampered(certificate: Certificate) -> dict[str, Certificate]:
    codes = unpacked(certificate.witness.codes)

    def witness(**changes: object) -> Certificate:
        return replace(certificate, witness=replace(certificate.witness, **changes))  # type: ignore[arg-type]

    return {
        "rules": replace(certificate, rules="0"),
        "fingerprint": replace(certificate, fingerprint="0" * 64),
        "lower_bound": replace(certificate, lower_bound=certificate.lower_bound + 1),
        "max_steps": replace(certificate, max_steps=10_000),
        "states": replace(certificate, states=0),
        "witness": witness(state_hash="0" * 64),
        "steps": witness(codes=packed(codes[:-1])),
        "means": witness(codes=packed((60_000,))),
        "read": witness(codes="nothing"),
        "milestones": replace(certificate, milestones=certificate.milestones[::-1]),
        "edges": replace(certificate, edges=()),
    }


def test_every_alteration_of_a_certificate_is_named() -> None:
    puzzle, graph, certificate = certified(scenes.emerald)
    for name, other in tampered(certificate).items():
        findings = check(puzzle.scene, puzzle.milestones, graph, other)
        assert {each.kind for each in findings} == {FaultKind.ALTERED_WITNESS}, name
    assert "lower_bound" in str(check(puzzle.scene, puzzle.milestones, graph, replace(certificate, lower_bound=0))[0])


def test_an_altered_scene_has_another_fingerprint() -> None:
    puzzle, graph, certificate = certified(scenes.emerald)
    cell = (5, 1, 12)
    others = (
        replace(puzzle.scene, items={cell: (Stack("emerald", 2),)}),
        replace(puzzle.scene, spawn=Pose((5, 1, 3))),
        replace(puzzle.scene, wires=()),
        replace(puzzle.scene, inventory={"emerald": 1}),
        replace(puzzle.scene, dark=True),
    )
    for other in others:
        assert fingerprint(other, puzzle.milestones, graph) != certificate.fingerprint
        assert check(other, puzzle.milestones, graph, certificate)[0].kind is FaultKind.ALTERED_WITNESS
    renamed = replace(puzzle.scene, name="another")
    assert fingerprint(renamed, puzzle.milestones, graph) == certificate.fingerprint


def test_a_milestone_that_is_not_needed_is_unnecessary() -> None:
    puzzle, _, codes = solved(scenes.emerald)
    build = hall().item((2, 1, 2), "stick").item((6, 1, 6), "emerald")
    loose = Puzzle(
        build.scene(), (having("take_stick", "stick", "stick"), having("take_emerald", "emerald", "emerald"))
    )
    kinds = {each.kind for each in refusal(loose)}
    assert FaultKind.UNNECESSARY in kinds
    assert {each.kind for each in refusal(puzzle)} == {FaultKind.ALTERED_WITNESS}, "no steps, but all is proven"
    assert codes


def test_an_edge_that_nothing_enforces_is_unordered() -> None:
    puzzle, _, codes = solved(scenes.plug)
    log, pickaxe, room = puzzle.milestones
    turned = Puzzle(puzzle.scene, (pickaxe, log, room))
    assert [(each.kind, each.milestone) for each in refusal(turned, codes)] == [(FaultKind.UNORDERED, "pickaxe")]


def test_what_no_plan_reaches_is_unreachable() -> None:
    build = hall(9, 9, 9).fill((2, 6, 2), (2, 6, 2)).item((2, 7, 2), "emerald")
    kinds = {each.kind for each in refusal(Puzzle(build.scene(), (having("take_emerald", "emerald", "emerald"),)))}
    assert kinds == {FaultKind.UNREACHABLE, FaultKind.ALTERED_WITNESS}


def test_what_holds_before_the_first_step_is_refused() -> None:
    build = hall()
    build.inventory = {"emerald": 1}
    puzzle = Puzzle(build.scene(), (having("take_emerald", "emerald", "emerald"),))
    assert {each.kind for each in refusal(puzzle)} == {FaultKind.TRUE_AT_START}


def test_a_target_near_the_spawn_is_refused() -> None:
    build = hall().put("red_wool", (4, 1, 7))
    rule = NearWithFacing((0.0, 0.0, 3.0), 4.0, 60.0)
    puzzle = Puzzle(build.scene(), (Milestone("find_red", "red", "", (rule,)),))
    assert FaultKind.NEAR_AT_SPAWN in {each.kind for each in refusal(puzzle, (int(Primitive.TURN_LEFT),))}


def test_two_rules_are_never_shown_to_be_necessary() -> None:
    puzzle, _, codes = solved(scenes.emerald)
    first, goal = puzzle.milestones
    both = replace(first, rules=(*first.rules, InventoryHas("emerald")))
    kinds = {each.kind for each in refusal(Puzzle(puzzle.scene, (both, goal)), codes)}
    assert FaultKind.UNNECESSARY in kinds


def test_a_scene_that_cannot_be_built_is_an_error() -> None:
    build = hall(spawn=Pose((4, 2, 4)))
    puzzle = Puzzle(build.scene(), (having("take_emerald", "emerald", "emerald"),))
    with pytest.raises(SceneError, match="cannot stand"):
        certify(puzzle.scene, puzzle.milestones, chain(puzzle.milestones), ())
