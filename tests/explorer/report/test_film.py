"""A film says at every step what was there and what was known of it, in a few kilobytes."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.errors import EpisodeError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.report.film import describe_code, film, list_changes
from explorer.report.looks import Looks
from explorer.report.loose import is_loose
from explorer.rules.actions import aim, craft, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.worlds.voxel import VoxelWorld
from spca.common.web.packing import pack
from tests.support.explorer.told import EMERALD, told
from tests.support.explorer.world_suite import SCENES, codes
from tests.support.tiers import few

STEPS = 150


def played(loaded: Loaded, chosen: tuple[int, ...]) -> Episode:
    return Episode(loaded.scene.name, 2, "human", codes=chosen, steps=len(chosen))


def blocks_at(made: dict[str, Any], drawn: str, step: int, size: int) -> NDArray[np.int64]:
    """Return the looks of all cells at a step, as the page makes them."""
    blocks = np.zeros(size, np.int64)
    for frame in made["frames"][: step + 1]:
        changes = np.repeat(frame[drawn][::2], frame[drawn][1::2])
        blocks = np.where(changes < 0, blocks, changes) if frame[drawn] else blocks
    return blocks


def state_at(made: dict[str, Any], step: int) -> dict[str, Any]:
    return dict(ChainMap(*reversed(made["frames"][: step + 1])))


@pytest.mark.parametrize("name", few(2, SCENES))
@pytest.mark.parametrize("seed", [1, 2])
def test_it_says_what_was_there_and_what_was_known(name: str, seed: int) -> None:
    check_film(told(SCENES[name]()), codes(STEPS, seed))


def test_a_door_that_opens_out_of_sight_is_known_to_be_closed() -> None:
    check_film(told(), EMERALD)


def check_film(loaded: Loaded, steps: Sequence[int]) -> None:
    looks, world = Looks(), VoxelWorld()
    view = world.reset(loaded.scene)
    chosen: list[int] = []
    truth, views = [loaded.scene.blocks], [view]
    for code in steps:
        if world.state().over:
            break
        world.step(code)
        chosen.append(code)
        truth.append(world.state().blocks.copy())
        views.append(world.view())
    made = film(loaded, played(loaded, tuple(chosen)), looks)
    for step, (blocks, seen) in enumerate(zip(truth, views, strict=True)):
        assert (blocks_at(made, "truth", step, blocks.size) == looks.numbers(blocks).ravel()).all()
        assert (blocks_at(made, "known", step, blocks.size) == looks.numbers(seen.known).ravel()).all()
        state = state_at(made, step)
        assert state["pose"][:5] == [*seen.pose.cell, seen.pose.facing, seen.pose.pitch]
        assert state.get("held") == seen.held
        assert state["items"] == list(seen.inventory.items())
        assert state["known_things"] == [(each.kind, each.cell) for each in seen.things if is_loose(each, seen)]
    assert len(made["frames"]) == len(truth)
    _, deep, wide = looks.numbers(truth[-1]).shape
    assert made["frames"][0]["truth_extent"] == [0, wide - 1, 0, deep - 1]


def test_what_lies_about_is_gone_once_it_is_taken_and_known_once_it_is_seen() -> None:
    loaded = told()
    made = film(loaded, played(loaded, EMERALD), Looks())
    there, taken = [(step, each["truth_things"]) for step, each in enumerate(made["frames"]) if "truth_things" in each]
    unknown, seen, forgotten = [
        (step, each["known_things"]) for step, each in enumerate(made["frames"]) if "known_things" in each
    ]
    assert (there[0], [kind for kind, _ in there[1]]) == (0, ["emerald"])
    assert taken == forgotten == (len(EMERALD), [])
    assert unknown == (0, [])
    assert 0 < seen[0] < len(EMERALD)
    assert seen[1] == there[1]


def test_milestones_say_which_ones_they_need() -> None:
    first, last = film(told(), played(told(), ()), Looks())["milestones"]
    assert first["needs"] == []
    assert last["needs"] == [(0, "the door bars the way until this is done")]


def test_an_episode_takes_a_few_kilobytes() -> None:
    loaded, looks = told(), Looks()
    assert len(pack(film(loaded, played(loaded, EMERALD), looks))) < 3000


def test_codes_of_another_scene_are_refused() -> None:
    with pytest.raises(EpisodeError, match="step 2 of 3 cannot be played"):
        film(told(), played(told(), (17, 1, 1)), Looks())
    with pytest.raises(EpisodeError, match="step 1 of 1 cannot be played: code 60000 is not a primitive"):
        film(told(), played(told(), (60000,)), Looks())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "forward"), (14, "place ahead"), (hold(item("oak_log")), "hold oak log"), (aim(1, 0, -2), "aim 1 0 -2"),
        (craft(recipe("stick")), "craft stick"), (1999, "hold"), (2999, "craft"),
    ],
)  # fmt: skip
def test_codes_in_words(code: int, words: str) -> None:
    assert describe_code(code) == words


def test_changes_are_values_and_how_often() -> None:
    before = np.array([[3, 0], [3, 0], [7, 7]], np.int32)
    assert list_changes(before, np.array([[3, 3], [3, 2], [2, 7]], np.int32)) == [-1, 1, 3, 1, -1, 1, 2, 2, -1, 1]
    assert list_changes(before, before) == []
    assert json.dumps(list_changes(np.zeros(1, np.int32), before)) == "[3, 1, -1, 1, 3, 1, -1, 1, 7, 2]"
