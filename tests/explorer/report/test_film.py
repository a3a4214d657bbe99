"""A film says at every step what was there and what was known of it, in a few kilobytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.errors import EpisodeError
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.report.document import piece
from explorer.report.film import film, in_words, runs, scene_told
from explorer.report.looks import Looks
from explorer.rules.actions import aim, craft, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.told import EMERALD, told
from tests.support.explorer.world_suite import SCENES, codes
from tests.support.tiers import few

STEPS = 150


def played(loaded: Loaded, chosen: tuple[int, ...]) -> Episode:
    return Episode(loaded.scene.name, 2, "human", codes=chosen, steps=len(chosen))


def unrolled(pairs: list[int]) -> NDArray[np.int64]:
    return np.repeat(pairs[::2], pairs[1::2])


def shown(start: list[int], made: dict[str, Any], step: int, *, truth: bool) -> NDArray[np.int64]:
    """Looks of all cells, from what a page is told, as the page makes them."""
    blocks = unrolled(start)
    for when, cell, look in made["truth"]:
        if when <= step:
            blocks[cell] = look
    if truth:
        return blocks
    seen = unrolled(made["seen"])
    blocks[(seen == 0) | (seen > step + 1)] = 0
    for when, cell, look in made["known"]:
        if when <= step:
            blocks[cell] = look
    return blocks


@pytest.mark.parametrize("name", few(2, SCENES))
@pytest.mark.parametrize("seed", [1, 2])
def test_it_says_what_was_there_and_what_was_known(name: str, seed: int) -> None:
    check_film(told(SCENES[name]()), codes(STEPS, seed))


def test_a_door_that_opens_out_of_sight_is_known_to_be_closed() -> None:
    check_film(told(), EMERALD)


def check_film(loaded: Loaded, steps: Sequence[int]) -> None:
    looks, world = Looks(), VoxelWorld()
    view = world.reset(loaded.scene)
    chosen = []
    truth, known, poses, inventories, held = [loaded.scene.blocks], [view.known], [view.pose], [view.inventory], [""]
    for code in steps:
        if world.state().over:
            break
        world.step(code)
        chosen.append(code)
        state, view = world.state(), world.view()
        truth.append(state.blocks.copy())
        known.append(view.known)
        poses.append(view.pose)
        inventories.append(view.inventory)
        held.append(view.held or "")
    made = film(loaded, played(loaded, tuple(chosen)), looks)
    start = scene_told(loaded, looks)["start"]
    carried: dict[str, int] = {}
    for step in range(len(truth)):
        assert (shown(start, made, step, truth=True) == looks.numbers(truth[step]).ravel()).all()
        assert (shown(start, made, step, truth=False) == looks.numbers(known[step]).ravel()).all()
        assert made["poses"][step][:5] == [*poses[step].cell, poses[step].facing, poses[step].pitch]
        carried |= {thing: count for when, thing, count in made["inventory"] if when == step}
        assert {thing: count for thing, count in carried.items() if count} == dict(inventories[step])
        assert ["", *(name for when, name in made["held"] if when <= step)][-1] == held[step]
    assert len(made["deeds"]) == len(chosen)


def test_what_lies_about_is_gone_once_it_is_taken_and_known_once_it_is_seen() -> None:
    loaded = told()
    (emerald,) = film(loaded, played(loaded, EMERALD), Looks())["things"]
    assert emerald["kind"] == "emerald"
    assert emerald["from"] == 0
    assert emerald["to"] == len(EMERALD)
    assert 0 < emerald["seen"] < emerald["to"]


def test_an_episode_takes_a_few_kilobytes() -> None:
    loaded, looks = told(), Looks()
    assert len(piece(film(loaded, played(loaded, EMERALD), looks))) < 3000
    assert len(piece(scene_told(loaded, looks))) < 2000


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
    assert in_words(code) == words


def test_runs_are_values_and_how_often() -> None:
    assert runs(np.array([[3, 3], [3, 0], [0, 7]])) == [3, 3, 0, 2, 7, 1]
    assert json.dumps(runs(np.zeros((2, 2), np.uint16))) == "[0, 4]"
