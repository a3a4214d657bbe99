"""A scene is settled by seed and index, and every one of its proofs can be made again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.errors import GenerationError
from explorer.files import load_scene, save_scene
from explorer.generating import composer
from explorer.generating.composer import Composed, compose
from explorer.generating.knobs import Knobs
from explorer.generating.plans.plan import RejectedDraw
from explorer.generating.production import Figures, Tally
from explorer.milestones import Tracker
from explorer.solver.certificate import check, fingerprint
from explorer.worlds.voxel import VoxelWorld

SEED = 11


@pytest.fixture(scope="module")
def made() -> list[Composed]:
    return [compose(SEED, index, Knobs()) for index in range(12)]


@pytest.mark.long
def test_the_certificate_is_the_same_when_made_again(made: list[Composed]) -> None:
    for each in made[::5]:
        drafted = each.drafted
        assert check(drafted.scene, drafted.milestones, drafted.graph, each.certificate) == ()


def test_the_witness_wins_in_order(made: list[Composed]) -> None:
    for each in made:
        drafted = each.drafted
        world = VoxelWorld()
        view = world.reset(drafted.scene)
        tracker = Tracker(drafted.milestones, drafted.scene.spawn)
        tracker.observe(world.state(), view.known)
        for code in each.codes:
            world.step(code)
            tracker.observe(world.state(), world.view().known)
        steps = [tracker.latched[milestone.milestone_id] for milestone in drafted.milestones]
        assert tracker.complete
        assert steps == sorted(steps)


def test_nothing_of_the_first_hops_is_in_sight_at_the_spawn(made: list[Composed]) -> None:
    for each in made:
        later = {edge.after for edge in each.drafted.graph.edges}
        first = {node.id for node in each.drafted.graph.nodes} - later
        assert not first & set(each.certificate.seen_at_start)


def test_an_index_needs_no_other(made: list[Composed]) -> None:
    alone = compose(SEED, 7, Knobs())
    there = made[7].drafted
    assert fingerprint(alone.drafted.scene, alone.drafted.milestones, alone.drafted.graph) == fingerprint(
        there.scene, there.milestones, there.graph
    )
    assert (alone.codes, alone.certificate, alone.rejected) == (made[7].codes, made[7].certificate, made[7].rejected)


@pytest.mark.long
def test_scenes_survive_their_files(made: list[Composed], tmp_path: Path) -> None:
    for each in made[:3]:
        save_scene(tmp_path / each.drafted.scene.name, each.loaded())
        again = load_scene(tmp_path / each.drafted.scene.name)
        assert again.certificate == each.certificate
        assert check(again.scene, again.milestones, again.graph, each.certificate) == ()


def test_knobs_are_obeyed() -> None:
    knobs = Knobs(hops=3, shape="join", distractors=0, spare=0, distance=0, dark=1)
    drafted = compose(2, 5, knobs).drafted
    assert drafted.knobs == knobs
    assert drafted.scene.dark
    assert len(drafted.graph.edges) == 2
    assert {edge.after for edge in drafted.graph.edges} == {drafted.graph.goal.id}


def test_the_tally_counts_scenes_and_dropped_drafts(made: list[Composed]) -> None:
    tally = Tally()
    for each in made:
        tally.count(Figures.from_composed(each))
    assert tally.scenes == 12
    assert sorted(tally.hops) == [1, 2, 3, 4, 5, 6]
    assert tally.rejected.total() == sum(len(each.rejected) for each in made)
    assert all(tally.drafts[gadget] >= count for gadget, count in tally.gadgets.items())
    lines = list(tally.format_lines())
    assert lines[0].startswith(f"scenes 12, drafts dropped {tally.rejected.total()}, atomic tasks ")


def test_a_stream_without_a_scene_ends_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise RejectedDraw("rooms: no place on the grid")

    monkeypatch.setattr(composer, "draft_scene", never)
    monkeypatch.setattr(composer, "MAX_DRAWS", 2)
    with pytest.raises(GenerationError, match="no scene for seed 1, index 4 in 2 drafts; the last: rooms: no place"):
        compose(1, 4, Knobs())


def test_the_order_of_hashes_decides_nothing(made: list[Composed]) -> None:
    code = (
        "from explorer.generating.composer import compose; from explorer.generating.knobs import Knobs;"
        f"print(*(compose({SEED}, index, Knobs()).certificate.fingerprint for index in (4, 5)))"
    )
    told = subprocess.run(  # our own interpreter
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "99"}, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == [made[index].certificate.fingerprint for index in (4, 5)]
