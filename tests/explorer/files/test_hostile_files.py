"""Files that are wrong in any way are refused in one line that names file and field, before memory is spent."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.certificate import Certificate, Proof, Witness
from explorer.codes import packed
from explorer.errors import OutsideArenaError, SceneError, UnknownNameError
from explorer.files import Loaded, load_scene, save_scene, scene_of_line
from explorer.files.saving import documents_of
from explorer.graph import Edge, Graph, Node
from tests.support.explorer.random_json import ANYTHING, Steps, paths_in, with_value
from tests.support.explorer.scenes import emerald


def _sound() -> Loaded:
    puzzle = emerald()
    ids = [each.milestone_id for each in puzzle.milestones]
    graph = Graph(
        tuple(Node(each.milestone_id, each.task) for each in puzzle.milestones), (Edge(ids[0], ids[1], "the door"),)
    )
    proofs = tuple(Proof(name, True, (), 3) for name in ids)
    certificate = Certificate("1", "f0", proofs, (), (), Witness(packed([1, 2]), 2, 9, "aa"), 2, 72, (), 9)
    return Loaded(puzzle.scene, puzzle.milestones, graph, "Get the emerald.", certificate, {"seed": 1, "index": 0})


SOUND: dict[str, Any] = json.loads(json.dumps(documents_of(_sound())))


def changed(path: Steps, value: object) -> dict[str, Any]:
    """The documents with one value replaced, or taken out for ``...``."""
    made: dict[str, Any] = with_value(SOUND, path, value)
    return made


FIRST_RULE: Steps = ("milestones", "milestones", 0, "rules", 0)
SECOND_RULE: Steps = ("milestones", "milestones", 1, "rules", 0)
EXTRA: Steps = ("metadata", "explorer")
WRONG: list[tuple[Steps, object, str]] = [
    (("metadata", "task_text"), ..., "metadata: task_text: is missing: add it"),
    (("metadata", "task_text"), "", 'metadata: task_text: string should have at least 1 character, not ""'),
    (("metadata", "commands"), "x", 'metadata: commands: expected a list, not "x"'),
    (("metadata", "commands", 3), 5, "metadata: commands[3]: expected a text, not 5"),
    (("metadata", "commands", 3), "/fil ~", "metadata: commands[3]: unknown command 'fil'; did you mean fill"),
    (("metadata", "commands", 3), "/setblock ~ ~ ~ stoone", "commands[3]: unknown block 'stoone'; did you mean stone"),
    (("metadata", "commands", 3), "/setblock ~99 ~ ~ stone", "metadata: commands: ~99 ~0 ~0 is outside the arena"),
    (("metadata", "commands", -1), "/tp ~1 ~ ~", "/tp must put the player at ~0 ~0 ~0"),
    (("metadata", "commands", -1), "/setblock ~ ~1 ~ stone", "the spawn is in a block of stone: leave two cells free"),
    (("metadata", "commands", -1), "/setblock ~ ~-1 ~ air", "the spawn is on a block of air: put solid ground below"),
    (
        ("metadata", "atomic_tasks_ordered"),
        ["x"],
        "atomic_tasks_ordered: expected the tasks of the milestones, in order",
    ),
    ((*EXTRA, "rules"), "2", "explorer.rules: input should be '1', not \"2\""),
    ((*EXTRA, "arena"), ..., "explorer.arena: is missing"),
    ((*EXTRA, "arena", "max", 0), 900, "an arena of 906 x 6 x 15 cells: at most 128 x 64 x 128"),
    ((*EXTRA, "arena", "max", 0), -900, "an arena of -894 x 6 x 15 cells"),
    ((*EXTRA, "arena", "max", 0), 10**9, "explorer.arena.max[0]: input should be less than or equal to 1000"),
    ((*EXTRA, "arena", "max", 0), True, "explorer.arena.max[0]: expected a whole number, not true"),
    ((*EXTRA, "arena", "max", 0), 1.5, "explorer.arena.max[0]: expected a whole number"),
    ((*EXTRA, "seed"), -1, "explorer.seed: input should be greater than or equal to 0, not -1"),
    ((*EXTRA, "wirse"), [], "explorer.wirse: is not a field of this format: remove it or correct its name"),
    ((*EXTRA, "wires", 0, "cells", 0), [0, 0, 1], "explorer.wires[0].cells[0]: expected a door at ~0 ~0 ~1, not air"),
    ((*EXTRA, "wires", 0, "cells", 0), [99, 0, 1], "explorer.wires[0].cells[0]: ~99 ~0 ~1 is outside the arena"),
    ((*EXTRA, "wires", 0, "needs", 0), [0, 0, 1], "explorer.wires[0].needs[0]: expected a lever, button or plate at"),
    ((*EXTRA, "wires", 0, "mode"), "none", "explorer.wires[0].mode: input should be 'all' or 'any', not \"none\""),
    (("milestones", "milestones"), [], "milestones: milestones: list should have at least 1 item"),
    (
        ("milestones", "milestones", 0, "milestone_id"),
        "emerald",
        "milestones[0].milestone_id: two milestones have the id 'emerald'",
    ),
    (("milestones", "milestones", 0, "rules"), [], "milestones[0].rules: a milestone without a rule never holds"),
    (("milestones", "milestones", 0, "note"), "", "milestones[0].note: is not a field of this format"),
    (
        (*FIRST_RULE, "type"),
        "inside_box",
        "rules[0].type: unknown rule type 'inside_box'; did you mean position_inside_box",
    ),
    ((*FIRST_RULE, "params", "min"), [0, 1], "milestones[0].rules[0].params.min[2]: is missing: add it"),
    ((*FIRST_RULE, "params", "min", 0), "0", 'rules[0].params.min[0]: expected a number, not "0"'),
    ((*FIRST_RULE, "params", "min", 0), False, "rules[0].params.min[0]: expected a number, not false"),
    ((*FIRST_RULE, "params", "min", 0), 77, "rules[0].params.max: the box is empty: min is above max"),
    ((*FIRST_RULE, "params", "coordinate_frame"), "world", "coordinate_frame: input should be 'spawn_relative'"),
    ((*FIRST_RULE, "params", "maxx"), 1, "rules[0].params.maxx: is not a field of this format"),
    ((*SECOND_RULE, "params", "item"), "emrald", "params.item: unknown item 'emrald'; did you mean emerald"),
    ((*SECOND_RULE, "params", "min_count"), True, "params.min_count: expected a whole number, not true"),
    ((*SECOND_RULE, "params", "min_count"), 10**30, "params.min_count: "),
    (("reasoning_graph", "nodes", 0, "id"), "x", "reasoning_graph: nodes: expected one node for each milestone"),
    (("reasoning_graph", "edges", 0, "from"), "x", "reasoning_graph: edges[0].from: unknown node 'x'"),
    (("reasoning_graph", "edges", 0, "to"), "behind_the_door", "edges: hops wait for each other"),
    (("certificate", "witness"), ..., "certificate: witness: is missing"),
    (("certificate", "witness", "steps"), "2", 'certificate: witness.steps: expected a whole number, not "2"'),
    (("certificate", "milestones", 0, "necessary"), 1, "milestones[0].necessary: expected true or false, not 1"),
    (("milestones",), ..., "milestones: there is no such file: a scene needs its milestones"),
    (("reasoning_graph",), ..., "reasoning_graph: there is no such file: a scene needs its graph"),
    (("metadata",), [], "metadata: expected an object, not a list"),
    (("metadata",), ..., "expected an object with metadata, milestones and reasoning_graph"),
]


@pytest.mark.parametrize(("path", "value", "words"), WRONG)
def test_what_is_wrong_is_named_with_its_field(path: Steps, value: object, words: str) -> None:
    with pytest.raises(SceneError) as caught:
        scene_of_line(json.dumps(changed(path, value)), "set.jsonl:7")
    assert str(caught.value).startswith("set.jsonl:7: ")
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_kinds_of_errors_tell_kinds_of_faults() -> None:
    for path, value, kind in (
        ((*SECOND_RULE, "params", "item"), "emrald", UnknownNameError),
        ((*FIRST_RULE, "type"), "box", UnknownNameError),
        (("metadata", "commands", 3), "/setblock ~99 ~ ~ stone", OutsideArenaError),
        ((*FIRST_RULE, "params", "max", 0), -99, OutsideArenaError),
    ):
        with pytest.raises(kind):
            scene_of_line(json.dumps(changed(path, value)), "line")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON: line 1 column 1"),
        ("{", "is not JSON: line 1 column 2"),
        ('{"metadata": NaN}', "holds NaN: expected a finite number"),
        ('{"metadata": {"a": 1, "a": 2}}', "the key 'a' is given more than once: keep one"),
        ("[" * 100_000, "is nested too deeply"),
        ("1" * 10_000, "holds a number of thousands of digits"),
        ('{"metadata": {"seed": 1e999}}', "metadata"),
        ('"' + "x" * (1 << 20) + '"', "has more than 1 MB"),
    ],
)
def test_texts_that_are_no_json(text: str, words: str) -> None:
    with pytest.raises(SceneError, match=r"^line: ") as caught:
        scene_of_line(text, "line")
    assert words in str(caught.value)


def _broken(folder: Path, name: str, content: bytes) -> str:
    save_scene(folder, _sound())
    (folder / name).write_bytes(content)
    with pytest.raises(SceneError) as caught:
        load_scene(folder)
    return str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    name = str(tmp_path / "milestones.json")
    assert _broken(tmp_path, "milestones.json", b"\xff") == (
        f"{name}: cannot be read: it is not UTF-8 text (byte 0 is 0xff): save it as UTF-8"
    )
    assert (
        _broken(tmp_path, "milestones.json", b" " * (1 << 20) + b"1")
        == f"{name}: cannot be read: it has more than 1 MB"
    )
    assert _broken(tmp_path, "milestones.json", b'{"milestones": 3}') == f"{name}: milestones: expected a list, not 3"
    (tmp_path / "metadata.json").unlink()
    with pytest.raises(SceneError, match=r"metadata.json: cannot be read: No such file"):
        load_scene(tmp_path)
    os.mkfifo(tmp_path / "metadata.json")
    with pytest.raises(SceneError, match="pipe or a device"):
        load_scene(tmp_path)


def test_a_sound_scene_is_read() -> None:
    assert scene_of_line(json.dumps(SOUND), "line").hops == 2


@given(st.sampled_from([path for path in paths_in(SOUND) if path]), ANYTHING)
def test_any_value_in_any_place_is_read_or_refused(path: Steps, value: object) -> None:
    try:
        scene_of_line(json.dumps(changed(path, value)), "line")
    except SceneError as error:
        assert str(error).startswith("line: ")  # noqa: PT017  # many values are as good as those that they replace
        assert str(error).isprintable()  # noqa: PT017
        assert len(str(error)) < 600  # noqa: PT017


@pytest.mark.long
def test_hostile_sizes_cost_no_memory() -> None:
    arena = {"min": [-1000, -1000, -1000], "max": [1000, 1000, 1000]}
    fills = ["/fill ~-5 ~-1 ~-2 ~5 ~4 ~12 stone"] * 20_000
    hostile = [
        changed((*EXTRA, "arena"), arena),
        changed(("metadata", "commands"), ["/fill ~-200 ~-200 ~-200 ~200 ~200 ~200 stone"] * 5_000),
        changed(("metadata", "commands"), [*fills, "x"]),
        changed((*EXTRA, "knobs"), {"a": [[[]]] * 50_000}),
        changed((*EXTRA, "wires"), [SOUND["metadata"]["explorer"]["wires"][0]] * 300),
    ]
    lines = [json.dumps(each) for each in hostile]
    tracemalloc.start()
    try:
        for line in lines[:3]:
            with pytest.raises(SceneError):
                scene_of_line(line, "line")
        scene_of_line(lines[3], "line")
        with pytest.raises(SceneError, match=r"explorer\.wires: list should have at most 256 items"):
            scene_of_line(lines[4], "line")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
