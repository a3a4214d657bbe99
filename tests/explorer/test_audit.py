"""An audit names each kind of fault that can be told without playing, and none in scenes that are sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from explorer.audit import audit, examine
from explorer.codes import packed
from explorer.errors import SceneError
from explorer.files import Loaded, load_scene, save_scene
from explorer.findings import FaultKind
from explorer.graph import Edge, Graph, Node
from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule
from explorer.rules.blocks import code
from explorer.scene import Stack
from explorer.solver.certificate import certify, fingerprint
from tests.support.explorer.scenes import Puzzle, emerald, handle, moat, plug
from tests.support.explorer.told import EMERALD, told

EVERYWHERE = ((-99.0, -99.0, -99.0), (99.0, 99.0, 99.0))


def kinds(loaded: Loaded) -> dict[FaultKind, str]:
    return {finding.kind: finding.milestone for finding in audit(loaded)}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (emerald, "Get the emerald."),
        (moat, "Take the thing that points north."),
        (plug, "Get into the room with the blue floor."),
        (handle, "Get behind the door."),
    ],
)
def test_a_sound_scene_has_no_fault(make: Callable[[], Puzzle], text: str) -> None:
    assert audit(told(make(), text)) == ()


def with_rule(loaded: Loaded, number: int, *rules: Rule) -> Loaded:
    milestones = list(loaded.milestones)
    milestones[number] = replace(milestones[number], rules=rules)
    return replace(loaded, milestones=tuple(milestones))


FAULTS: dict[FaultKind, Callable[[Loaded], Loaded]] = {
    FaultKind.TRUE_AT_START: lambda it: with_rule(it, 0, InsideBox((-1, 0, -1), (1, 1, 1))),
    FaultKind.NEAR_AT_SPAWN: lambda it: with_rule(it, 0, NearWithFacing((0, 1, 3), 4)),
    FaultKind.UNNECESSARY: lambda it: with_rule(it, 0, InsideBox((2, 0, 0), (3, 2, 3))),
    FaultKind.UNKNOWN_NAME: lambda it: with_rule(it, 0, InventoryHas("emrald")),
    FaultKind.IMPOSSIBLE_CRAFT: lambda it: with_rule(it, 1, InventoryHas("emerald", 2)),
    FaultKind.HOP_NAMED_IN_TEXT: lambda it: replace(it, text="Pull the lever and get the emerald."),
    FaultKind.FIND_HOP_NOT_LAST: lambda it: with_rule(it, 0, NearWithFacing((0, 1, 12), 3)),
    FaultKind.VACUOUS_COUNT: lambda it: with_rule(it, 0, AtMost("mob", "spider", *EVERYWHERE)),
    FaultKind.OUTSIDE_ARENA: lambda it: with_rule(it, 0, InsideBox((90, 0, 0), (99, 9, 9))),
    FaultKind.UNREACHABLE: lambda it: replace(it, scene=replace(it.scene, wires=())),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_named(kind: FaultKind) -> None:
    found = kinds(FAULTS[kind](told()))
    assert kind in found


def test_an_edge_that_nothing_enforces() -> None:
    made = told(plug(), "Get into the room with the blue floor.")
    turned = replace(made, milestones=(made.milestones[1], made.milestones[0], made.milestones[2]))
    first, second, goal = (each.milestone_id for each in turned.milestones)
    nodes = tuple(Node(each.milestone_id, each.task) for each in turned.milestones)
    graph = Graph(nodes, (Edge(first, second, ""), Edge(second, goal, "")))
    assert kinds(replace(turned, graph=graph)) == {FaultKind.UNORDERED: first}


def test_hops_that_wait_for_each_other() -> None:
    made = told()
    back = Edge(made.graph.nodes[1].id, made.graph.nodes[0].id, "")
    assert FaultKind.UNORDERED in kinds(replace(made, graph=replace(made.graph, edges=(*made.graph.edges, back))))


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (InventoryHas("emerald", 0), FaultKind.VACUOUS_COUNT),
        (AtLeast("block", "lever", *EVERYWHERE, 0), FaultKind.VACUOUS_COUNT),
        (AtLeast("block", "lever", *EVERYWHERE, 1), FaultKind.TRUE_AT_START),
        (AtLeast("block", "lever", *EVERYWHERE, 2), FaultKind.UNREACHABLE),
        (AtMost("block", "stone_bricks", *EVERYWHERE, 3), FaultKind.UNREACHABLE),
        (AtMost("block", "lever", *EVERYWHERE, 1), FaultKind.VACUOUS_COUNT),
        (AtLeast("mob", "cow", *EVERYWHERE, 1), FaultKind.UNREACHABLE),
        (AtLeast("block", "levver", *EVERYWHERE, 1), FaultKind.UNKNOWN_NAME),
        (AtLeast("mob", "emerald", *EVERYWHERE, 1), FaultKind.UNKNOWN_NAME),
        (InsideBox((3, 0, 0), (1, 1, 1)), FaultKind.OUTSIDE_ARENA),
        (NearWithFacing((50, 0, 0), 3), FaultKind.OUTSIDE_ARENA),
    ],
)
def test_a_rule_that_cannot_be_meant(rule: Rule, kind: FaultKind) -> None:
    made = with_rule(told(), 0, rule)
    assert (kind, "behind_the_door") in {(finding.kind, finding.milestone) for finding in audit(made)}


def test_a_recipe_that_lacks_an_ingredient() -> None:
    made = told(plug(), "Get into the room with the blue floor.")
    blocks = made.scene.blocks.copy()
    blocks[blocks == code("oak_log")] = code("oak_fence")
    bare = replace(made, scene=replace(made.scene, blocks=blocks))
    assert FaultKind.IMPOSSIBLE_CRAFT in kinds(bare)
    logs = replace(bare, scene=replace(bare.scene, inventory={"oak_log": 3}))
    assert FaultKind.IMPOSSIBLE_CRAFT not in kinds(logs)


def test_an_item_whose_tool_is_missing_is_impossible() -> None:
    made = told()
    blocks = made.scene.blocks.copy()
    blocks[1, 12, 2] = code("diamond_ore")
    ore = replace(made.scene, blocks=blocks)
    asked = with_rule(replace(made, scene=ore), 1, InventoryHas("diamond"))
    assert FaultKind.IMPOSSIBLE_CRAFT in kinds(asked)
    tooled = replace(asked, scene=replace(ore, chests={}, items={(5, 1, 12): (Stack("iron_pickaxe"),)}))
    assert FaultKind.IMPOSSIBLE_CRAFT not in kinds(tooled)


def test_the_goal_may_be_named_though_a_hop_is_about_it_too() -> None:
    made = told()
    hop = Milestone("take_emerald", "first", "", (InventoryHas("emerald"),))
    named = replace(made, milestones=(hop, *made.milestones[1:]))
    assert FaultKind.HOP_NAMED_IN_TEXT not in kinds(named)


def test_findings_are_one_line() -> None:
    made = with_rule(told(emerald(), "x"), 0, InventoryHas("a\nb\x1b"))
    assert all(line.isprintable() for line in map(str, audit(made)))


def certified() -> Loaded:
    made = told()
    return replace(made, certificate=certify(made.scene, made.milestones, made.graph, EMERALD))


def sealed(made: Loaded) -> Loaded:
    """The same scene, its certificate naming it as it is now."""
    assert made.certificate is not None
    seal = fingerprint(made.scene, made.milestones, made.graph)
    return replace(made, certificate=replace(made.certificate, fingerprint=seal))


def test_a_certified_scene_is_sound_after_a_round_trip(tmp_path: Path) -> None:
    save_scene(tmp_path, certified())
    loaded, findings = examine(partial(load_scene, tmp_path))
    assert findings == ()
    assert loaded is not None
    assert loaded.certificate == certified().certificate


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_is_named_in_certified_scenes(kind: FaultKind, tmp_path: Path) -> None:
    save_scene(tmp_path, sealed(FAULTS[kind](certified())))
    _, findings = examine(partial(load_scene, tmp_path))
    assert kind in {finding.kind for finding in findings}
    assert kind is FaultKind.UNREACHABLE or FaultKind.ALTERED_WITNESS not in {finding.kind for finding in findings}


@pytest.mark.parametrize("keep", [0, 5, len(EMERALD) - 1])
def test_a_witness_that_does_not_win_is_altered(keep: int, tmp_path: Path) -> None:
    made = certified()
    assert made.certificate is not None
    witness = replace(made.certificate.witness, codes=packed(EMERALD[:keep]))
    save_scene(tmp_path, replace(made, certificate=replace(made.certificate, witness=witness)))
    _, findings = examine(partial(load_scene, tmp_path))
    assert {finding.kind for finding in findings} == {FaultKind.ALTERED_WITNESS}


def test_files_that_are_malformed_are_no_finding(tmp_path: Path) -> None:
    save_scene(tmp_path, certified())
    (tmp_path / "milestones.json").write_text("{")
    with pytest.raises(SceneError, match="is not JSON"):
        examine(partial(load_scene, tmp_path))
