"""The generator: the same arguments make the same task, all of it is proven, and everything occurs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gridworld.errors import GenerationError
from gridworld.generating.draft import UnfitError
from gridworld.generating.generator import VERSION, content, generate, write_many
from gridworld.generating.recipes import MECHANISMS, TIERS, cook
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import TILINGS
from gridworld.search.certificate import Certificate, recertify
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.features import FEATURES, features, regenerate

SEED = 11
CASES = [
    (tier, tiling, index) for tier in TIERS for tiling, count in (("square", 4), ("hex", 2)) for index in range(count)
]
CONTENTS = {
    "1 square": "2e5ae145de1371c5",
    "1 hex": "f575312d124ccc83",
    "2 square": "e230acd392b4269d",
    "2 hex": "0cae6811d0186c53",
    "3 square": "2d585261ed2553d4",
    "3 hex": "5fc4aed008f68698",
    "4 square": "2c01144657dffd34",
    "4 hex": "cdea26e16262b521",
    "5 square": "6b59290a01b4033e",
    "5 hex": "3c6843fcb003bf32",
}
"""What tasks of this version are: a change of any of them needs a new VERSION."""


@pytest.fixture(scope="module")
def made() -> dict[tuple[int, str, int], TaskSpecification]:
    return {case: generate(case[0], SEED, tiling=case[1], index=case[2]) for case in CASES}


def test_the_same_arguments_make_the_same_task_for_ever(made: dict[tuple[int, str, int], TaskSpecification]) -> None:
    assert {f"{tier} {tiling}": content(made[tier, tiling, 0])[:16] for tier, tiling, _ in CASES} == CONTENTS


def test_another_process_with_other_hashes_makes_the_same(made: dict[tuple[int, str, int], TaskSpecification]) -> None:
    source = (
        "import json, sys; from gridworld.generating.generator import generate; "
        f"json.dump([generate(tier, {SEED}).to_dict() for tier in (1, 3, 5)], sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONHASHSEED": "4242", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert json.loads(done.stdout) == [made[tier, "square", 0].to_dict() for tier in (1, 3, 5)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tasks_are_sound(case: tuple[int, str, int], made: dict[tuple[int, str, int], TaskSpecification]) -> None:
    (tier, tiling, index), spec = case, made[case]
    assert spec.validate() == (True, [])
    assert spec.difficulty_tier == tier
    assert spec.metadata is not None
    assert spec.metadata["tiling"] == tiling
    assert spec.metadata["generator"] == {
        "version": VERSION,
        "tier": tier,
        "seed": SEED,
        "index": index,
        "tiling": tiling,
    }
    assert TaskSpecification.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    certificate = Certificate.from_dict(spec.metadata["certificate"])
    assert certificate.sound
    assert certificate.optimal_steps is not None
    if spec.goal.goal_type == "survive_steps":
        assert certificate.optimal_steps == spec.max_steps
    else:
        assert spec.max_steps == max(50, 3 * certificate.optimal_steps + 10)
    episode = Episode(Layout(spec, TILINGS[tiling]))
    for digit in certificate.actions:
        episode.step(int(digit))
    assert episode.goal_reached


def test_certificates_are_found_again(made: dict[tuple[int, str, int], TaskSpecification]) -> None:
    for case in ((2, "square", 0), (3, "hex", 0), (5, "square", 1)):
        assert recertify(made[case]) == []


def test_tasks_are_made_again_from_their_metadata(made: dict[tuple[int, str, int], TaskSpecification]) -> None:
    for case in ((1, "hex", 1), (5, "square", 2)):
        assert regenerate(made[case]) == made[case]
    spec = generate(3, SEED, mechanisms=["gates", "switches"])
    assert regenerate(spec) == spec
    assert not spec.mechanisms.keys


def test_words_tell_the_goal_but_not_what_is_to_be_found_out(
    made: dict[tuple[int, str, int], TaskSpecification],
) -> None:
    for (tier, _, _), spec in made.items():
        assert spec.description == spec.get_mission_text()
        for name in spec.rules.hidden_mechanisms:
            assert tier == 5
            assert name in str((spec.goal.target_ids, spec.goal.auxiliary_conditions)) or name not in spec.description


@pytest.mark.long
def test_starts_and_goals_are_anywhere() -> None:
    ways: Counter[tuple[bool, bool]] = Counter()
    for index in range(60):
        maze = generate(1, SEED, index=index).maze
        ways[maze.start.x < maze.goal.x, maze.start.y < maze.goal.y] += 1
    assert min(ways[a, b] for a in (True, False) for b in (True, False)) >= 5


def test_everything_occurs() -> None:
    """In drafts: proof takes most of the time and throws few of them away."""
    found: set[str] = set()
    for tier, recipe in TIERS.items():
        for index in range(150):
            try:
                draft = cook(random.Random(f"{tier} {index}"), TILINGS["square"], recipe, MECHANISMS)
            except UnfitError:
                continue
            found.update(features(draft.build_specification("t", 0, tier)))
    assert found == FEATURES


def test_no_two_of_many_are_equal_and_a_count_is_kept(tmp_path: Path) -> None:
    many = [written.spec for written in write_many(1, 25, 3, tmp_path)]
    assert len({content(spec) for spec in many}) == len(many) == 25
    assert [spec.task_id for spec in many[:2]] == ["t1_3_0000", "t1_3_0001"]
    assert list(write_many(1, 0, 3, tmp_path)) == []


def test_equal_tasks_are_told_by_what_is_played() -> None:
    one = generate(1, 5)
    other = TaskSpecification.from_dict(one.to_dict() | {"task_id": "other", "seed": 6, "metadata": {}})
    assert content(one) == content(other)
    other.max_steps += 1
    assert content(one) != content(other)


def test_only_allowed_mechanisms_occur() -> None:
    for index in range(5):
        data = generate(4, 2, index=index, mechanisms={"blocks"}).to_dict()["mechanisms"]
        assert [kind for kind, things in data.items() if things] == ["blocks"]


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((6, 1), {}, "tiers are 1 to 5"),
        ((0, 1), {}, "tiers are 1 to 5"),
        ((True, 1), {}, "tier must be an integer"),
        ((1, "7"), {}, "seed must be an integer"),
        ((1, 2**70), {}, "64 bits"),
        ((1, 1), {"index": -1}, "at least 0"),
        ((1, 1), {"tiling": "triangle"}, "there are square, hex"),
        ((2, 1), {"mechanisms": ["key"]}, "there are keys, doors"),
        ((2, 1), {"mechanisms": ["keys"]}, "allow keys, doors"),
        ((4, 1), {"mechanisms": []}, "allow blocks; or keys, doors"),
        ((3, 1), {"mechanisms": ["keys", "doors"]}, "allow switches, gates"),
    ],
)
def test_arguments_that_make_no_sense(arguments: tuple[int, int], options: dict[str, object], words: str) -> None:
    with pytest.raises(GenerationError, match=words) as caught:
        generate(*arguments, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_files_are_kept_resumed_and_never_lost(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "tasks"
    first = list(write_many(2, 3, 1, folder))
    assert [written.what for written in first] == ["written"] * 3
    assert sorted(path.name for path in folder.iterdir()) == ["t2_1_0000.json", "t2_1_0001.json", "t2_1_0002.json"]
    assert all(TaskSpecification.from_json(written.path) == written.spec for written in first)
    (folder / "t2_1_0001.json").unlink()
    assert [written.what for written in write_many(2, 3, 1, folder)] == ["kept", "written", "kept"]
    changed = folder / "t2_1_0002.json"
    text = changed.read_text().replace('"max_steps": ', '"max_steps": 1')
    changed.write_text(text)
    with pytest.raises(GenerationError, match=r"t2_1_0002\.json.*something else"):
        list(write_many(2, 3, 1, folder))
    assert changed.read_text() == text
    assert [written.what for written in write_many(2, 3, 1, folder, overwrite=True)] == ["kept", "kept", "replaced"]


def test_files_of_another_tiling_have_names_of_their_own(tmp_path: Path) -> None:
    for tiling in TILINGS:
        assert next(write_many(1, 1, 1, tmp_path, tiling=tiling)).what == "written"
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["t1_1_0000", "t1_1_0000_hex"]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(GenerationError, match="cannot be made"):
        next(write_many(1, 1, 1, tmp_path / "file" / "tasks"))
    with pytest.raises(GenerationError, match="cannot be made"):
        next(write_many(1, 1, 1, "a\0b"))
    (tmp_path / "t1_1_0000.json").mkdir()
    with pytest.raises(GenerationError, match="something else"):
        next(write_many(1, 1, 1, tmp_path))
    with pytest.raises(GenerationError, match="cannot be written"):
        next(write_many(1, 1, 1, tmp_path, overwrite=True))
