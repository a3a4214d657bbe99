"""Observations become words, turned north up."""

from __future__ import annotations

import numpy as np
import pytest
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import WorldObj

from minigridenv import MiniGridEnv
from spca.sense import perception
from spca.sense.perception import VisibleObject
from tests.support.contracts import truth


def made(kind: str, colour: str = "green", state: str = "open") -> WorldObj | None:
    return WorldObj.decode(OBJECT_TO_IDX[kind], COLOR_TO_IDX[colour], STATE_TO_IDX[state])


def test_every_cell_word_is_known_once() -> None:
    colours = ("red", "green", "blue", "purple", "yellow", "grey")
    expected = {"unseen", "empty", "wall", "floor", "lava", "agent"}
    expected |= {f"{kind} {colour}" for kind in ("goal", "key", "ball", "box") for colour in colours}
    expected |= {f"door {colour} {state}" for colour in colours for state in ("open", "closed", "locked")}
    expected |= {f"switch {colour} {state}" for colour in colours for state in ("off", "on")}
    expected |= {f"gate {colour} {state}" for colour in colours for state in ("open", "closed")}
    expected |= {f"block {colour}{fixed}" for colour in colours for fixed in ("", " fixed")}
    expected |= {f"{end} {colour}" for end in ("teleporter", "exit") for colour in colours} | {"pit", "spike", "target"}
    expected |= {f"thing {colour}" for colour in (*colours, "other")} | {
        f"{k} other" for k in ("goal", "key", "ball", "box")
    }
    expected |= {f"door other {state}" for state in ("open", "closed", "locked")}
    assert set(perception.VOCABULARY) == expected
    assert len(perception.VOCABULARY) == len(expected)
    assert perception.VOCABULARY[perception.UNSEEN] == "unseen"


def test_the_codes_are_minigrids_own() -> None:
    colours = {index: name for name, index in COLOR_TO_IDX.items()}
    assert dict(enumerate(perception.COLOURS)) == colours
    assert {name: i for i, name in enumerate(perception.DOOR_STATES)} == STATE_TO_IDX
    for name, index in OBJECT_TO_IDX.items():
        image = np.array([[[index, 0, 0]]], dtype=np.uint8)
        assert perception.word_array()[perception.encode_view(image)][0, 0].split()[0] == name


@pytest.mark.parametrize(
    "thing",
    [
        None,
        *(made(kind) for kind in ("wall", "floor", "lava", "goal")),
        *(made(kind, colour) for kind in ("key", "ball", "box") for colour in COLOR_TO_IDX),
        *(made("door", colour, state) for colour in COLOR_TO_IDX for state in STATE_TO_IDX),
    ],
)
def test_each_thing_reads_as_its_word(thing: WorldObj | None) -> None:
    grid = Grid(3, 3)
    grid.set(2, 0, thing)
    words = perception.word_array()[perception.encode_view(grid.encode())]
    assert words[0, 2] == truth.word(thing)
    assert (words == "empty").sum() == (9 if thing is None else 8)


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ((11, 0, 0), "thing red"),
        ((255, 255, 255), "thing other"),
        ((5, 6, 0), "key other"),
        ((5, 2, 3), "key blue"),
        ((4, 6, 2), "door other locked"),
        ((4, 1, 3), "thing green"),
        ((2, 9, 9), "wall"),
    ],
)
def test_what_minigrid_does_not_define_is_a_word_too(cell: tuple[int, int, int], word: str) -> None:
    image = np.array([[cell]], dtype=np.uint8)
    assert perception.word_array()[perception.encode_view(image)].tolist() == [[word]]


@pytest.mark.parametrize("direction", range(4))
def test_rotation_agrees_with_a_quarter_turn_per_direction(direction: int) -> None:
    view = np.arange(49, dtype=np.uint8).reshape(7, 7)
    turned = perception.rotate_view(view, direction)
    assert np.array_equal(turned, np.rot90(view, k=-((direction + 1) % 4)))
    assert turned[perception.agent_cell(7, direction)] == view[6, 3]


@pytest.mark.parametrize("direction", range(4))
@pytest.mark.parametrize("env_id", ["MiniGrid-FourRooms-v0", "BabyAI-GoToObjMaze-v0", "MiniGrid-LavaCrossingS9N1-v0"])
def test_a_converted_observation_is_the_grid_around_the_agent(env_id: str, direction: int) -> None:
    world = MiniGridEnv(env_id, seed=3)
    sim = truth.simulator(world)
    while sim.agent_dir != direction:
        world.step(1)
    words = world.convert_observation(sim.gen_obs())
    row, column = perception.agent_cell(7, direction)
    seen = set(truth.in_view(sim))
    for r in range(7):
        for c in range(7):
            x, y = sim.agent_pos[0] + c - column, sim.agent_pos[1] + r - row
            if (r, c) != (row, column):
                assert words[r, c] == (truth.cell(sim.grid, x, y) if (x, y) in seen else "unseen")
    assert len(seen) > 6


def test_objects_are_placed_relative_to_the_agent() -> None:
    grid = Grid(7, 7)
    grid.set(3, 5, made("door", "red", "locked"))
    grid.set(0, 6, made("ball", "blue"))
    grid.set(6, 0, made("lava"))
    grid.set(3, 6, made("key", "grey"))  # in hand: the agent's own cell
    grid.set(1, 1, made("wall"))
    view = perception.encode_view(grid.encode())
    assert perception.visible_objects(view) == (
        VisibleObject("ball blue", None, 0, -3),
        VisibleObject("door red", "locked", 1, 0),
        VisibleObject("lava", None, 6, 3),
    )
    assert perception.read_carried(view) == "key grey"


@pytest.mark.parametrize("word", ["empty", "floor", "goal green", "door red open"])
def test_ground_and_doors_are_not_in_hand(word: str) -> None:
    view = np.full((7, 7), perception.VOCABULARY.index(word), dtype=np.uint8)
    assert perception.read_carried(view) is None


def test_words_split_into_name_and_state() -> None:
    assert perception.split_word("door light red closed") == ("door light red", "closed")
    assert perception.split_word("key blue") == ("key blue", None)
    assert perception.split_word("lava") == ("lava", None)


def test_grid_words_keep_rows_and_columns() -> None:
    codes = np.array([[0, 1, 2], [perception.AGENT, 0, 0]], dtype=np.uint8)
    assert perception.grid_words(codes) == (("unseen", "empty", "wall"), ("agent", "unseen", "unseen"))
