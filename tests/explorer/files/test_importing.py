"""Scenes in the published format, written by hand with the faults that audits of the published ones found."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.audit import audit, examine
from explorer.errors import SceneError
from explorer.files import load_scene, scene_of_line
from explorer.files.listing import places_at
from explorer.findings import FaultKind as Kind
from explorer.milestones import InsideBox
from explorer.scene import Pose, Stack, Wire
from tests.support.explorer.random_json import ANYTHING, paths_in, with_value

PUBLISHED = Path(__file__).parent / "published"
FAULTS: dict[str, set[tuple[Kind, str]]] = {
    "0001": set(),
    "0002": {
        (Kind.NEAR_AT_SPAWN, "find_green_banner"),
        (Kind.FIND_HOP_NOT_LAST, "find_green_banner"),
        (Kind.FIND_HOP_NOT_LAST, "find_stone_bricks"),
        (Kind.HOP_NAMED_IN_TEXT, "find_green_banner"),
        (Kind.HOP_NAMED_IN_TEXT, "find_stone_bricks"),
    },
    "0003": {(Kind.TRUE_AT_START, "get_sticks"), (Kind.TRUE_AT_START, "place_table")},
    "0004": {
        (Kind.UNKNOWN_NAME, ""),
        (Kind.UNKNOWN_NAME, "trade"),
        (Kind.IMPOSSIBLE_CRAFT, "smelt_iron"),
        (Kind.IMPOSSIBLE_CRAFT, "craft_chestplate"),
    },
    "0005": {(Kind.UNORDERED, ""), (Kind.UNORDERED, "hunt_spider"), (Kind.VACUOUS_COUNT, "hunt_zombie")},
    "0006": set(),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_audit_says_what_is_wrong_with_published_scenes(name: str) -> None:
    loaded = load_scene(PUBLISHED / name)
    assert loaded.published
    assert {(finding.kind, finding.milestone) for finding in audit(loaded)} == FAULTS[name]


def test_a_lever_beside_a_door_opens_it_for_good() -> None:
    loaded = load_scene(PUBLISHED / "0001")
    assert loaded.scene.wires == (Wire("door_1", ((6, 1, 10), (6, 2, 10)), ((8, 2, 9),)),)
    assert "door_1 is opened for good by any of 1 devices near it" in loaded.notes
    assert loaded.scene.items == {(6, 1, 15): (Stack("emerald"),)}


def test_what_is_left_out_is_noted() -> None:
    notes = "\n".join(load_scene(PUBLISHED / "0004").notes)
    assert "left out: " in notes
    assert "commands[14]: the coordinate '100' is not relative to the spawn: write ~ before it" in notes
    assert "trade is left out: its rules cannot be judged here" in notes
    assert "edges[1] is left out: it names no milestone" in notes


def test_unknown_names_come_with_the_nearest() -> None:
    problems = [finding.problem for finding in load_scene(PUBLISHED / "0004").faults]
    assert problems[0].startswith("unknown block 'smithing_tabel'; did you mean smithing_table or")
    assert problems[1:] == [
        "unknown mob 'villager'",
        "unknown command 'execute'; did you mean effect?",
        "unknown rule type 'traded_with'",
    ]


def test_edges_that_name_tasks_mean_their_milestones() -> None:
    graph = load_scene(PUBLISHED / "0001").graph
    assert [node.id for node in graph.nodes] == ["enter_the_vault", "take_the_emerald"]
    assert [(edge.before, edge.after) for edge in graph.edges] == [("enter_the_vault", "take_the_emerald")]


def test_milestones_follow_a_player_who_was_moved(tmp_path: Path) -> None:
    metadata = json.loads((PUBLISHED / "0006" / "metadata.json").read_text())
    box = {
        "type": "position_inside_box",
        "params": {"min": [-3, 4, 11], "max": [3, 6, 17], "coordinate_frame": "spawn_relative"},
    }
    metadata["milestones"]["milestones"][0]["rules"] = [box]
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    loaded = load_scene(tmp_path)
    assert loaded.scene.spawn == Pose((4, 5, 3))
    assert loaded.milestones[0].rules == (InsideBox((-3, 0, 11), (3, 2, 17)),)


def test_all_that_is_in_the_metadata_is_enough(tmp_path: Path) -> None:
    text = (PUBLISHED / "0001" / "metadata.json").read_text()
    (tmp_path / "metadata.json").write_text(text)
    assert load_scene(tmp_path).milestones == load_scene(PUBLISHED / "0001").milestones
    metadata = json.loads(text)
    del metadata["reasoning_graph"]
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    loaded = load_scene(tmp_path)
    assert "there is no graph: the milestones are taken in order" in loaded.notes
    assert len(loaded.graph.edges) == 1


def test_a_scene_without_a_milestone_that_can_be_judged_is_refused(tmp_path: Path) -> None:
    metadata = json.loads((PUBLISHED / "0001" / "metadata.json").read_text())
    for milestone in metadata["milestones"]["milestones"]:
        milestone["rules"] = []
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    with pytest.raises(SceneError, match="no milestone can be judged: each needs a rule of a known type"):
        load_scene(tmp_path)


def test_every_scene_of_a_folder_is_examined() -> None:
    found = {Path(source).name: examine(read)[1] for source, read in places_at([PUBLISHED])}
    assert sorted(found) == sorted(FAULTS)
    assert {name for name, findings in found.items() if findings} == {name for name, faults in FAULTS.items() if faults}


DOCUMENTS = {
    name: json.loads((PUBLISHED / "0005" / f"{name}.json").read_text())
    for name in ("metadata", "milestones", "reasoning_graph")
}


@given(st.sampled_from([path for path in paths_in(DOCUMENTS) if path]), ANYTHING)
def test_any_value_in_any_place_is_audited_or_refused(path: tuple[str | int, ...], value: object) -> None:
    line = json.dumps(with_value(DOCUMENTS, path, value))
    try:
        loaded, findings = examine(partial(scene_of_line, line, "line"))
    except SceneError as error:
        assert str(error).startswith("line: ")  # noqa: PT017  # most values are as good as those that they replace
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert loaded is None or loaded.published
        assert all(str(finding).isprintable() for finding in findings)
