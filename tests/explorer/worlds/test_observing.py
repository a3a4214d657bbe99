"""What an agent remembers: blocks as last seen, things by name, what it sees in the dark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.rules.blocks import AIR, BLOCKS, code
from explorer.scene import Cell, Change, Mob, Pose, Scene, Stack
from explorer.view import Thing
from explorer.worlds.observing import LIGHTS, Observer

SPAWN = Pose((8, 1, 2))
"""Looks south, along z."""


def scene(blocks: Mapping[Cell, str | int], *, dark: bool = False, size: int = 16) -> Scene:
    """A room of stone bricks, with some blocks in it."""
    cells = np.full((8, size, size), AIR, dtype=np.uint16)
    cells[0] = cells[7] = code("stone_bricks")
    for (x, y, z), block in blocks.items():
        cells[y, z, x] = code(block) if isinstance(block, str) else block
    return Scene("room", SPAWN, cells, dark=dark)


def screen(z: int = 6) -> dict[Cell, str | int]:
    """A wall across the room."""
    return {(x, y, z): "stone_bricks" for x in range(16) for y in range(1, 7)}


def change(cell: Cell, block: str, state: str = "") -> Change:
    return Change("block", cell, code=code(block, state))


def look(observer: Observer, step: int = 0, pose: Pose = SPAWN, **loose: object) -> dict[str, Thing]:
    observer.look(pose, step, loose.get("items", {}), loose.get("mobs", ()))  # type: ignore[arg-type]
    return {thing.name: thing for thing in observer.things()}


def names(blocks: Mapping[Cell, str | int]) -> list[str]:
    return list(look(Observer(scene(blocks))))


def test_knows_what_it_has_seen_and_no_more() -> None:
    built = scene(screen())
    observer = Observer(built)
    assert not observer.known.any()
    look(observer)
    known = observer.known
    assert known[1, 5, 8] == AIR
    assert known[2, 6, 8] == code("stone_bricks")
    assert not known[:, 7:].any()
    assert np.array_equal(known[known > 0], built.blocks[known > 0])
    assert known.flags.writeable is False
    assert observer.seen_at[1, 5, 8] == 0
    assert observer.seen_at[1, 8, 8] == -1


def test_a_change_out_of_sight_is_not_known_until_it_is_seen() -> None:
    observer = Observer(scene({(8, 1, 6): "iron_door", (8, 2, 6): "iron_door"}))
    assert look(observer)["iron_door_1"].state == ""
    observer.follow([change((8, 1, 6), "iron_door", "open"), change((8, 2, 6), "iron_door", "open")])
    away = look(observer, 1, SPAWN.turn(2))["iron_door_1"]
    assert (away.state, away.in_view, away.seen_at) == ("", False, 0)
    back = look(observer, 2)["iron_door_1"]
    assert (back.state, back.in_view, back.seen_at) == ("open", True, 2)


def test_a_door_of_which_one_half_is_in_view_is_as_that_half() -> None:
    is_open = code("iron_door", "open")
    observer = Observer(scene({(8, 1, 6): is_open, (8, 2, 6): is_open}))
    look(observer)
    observer.follow([change((8, y, 6), "iron_door") for y in (1, 2)])
    observer.follow([change((x, 1, 5), "stone_bricks") for x in range(16)])
    door = look(observer, 1)["iron_door_1"]
    assert observer.seen_at[1, 6, 8] == 0
    assert (door.state, door.cell, door.seen_at) == ("", (8, 2, 6), 1)


def test_things_are_numbered_in_order_of_first_sight() -> None:
    levers: dict[Cell, str | int] = {(9, 1, 6): "lever", (8, 1, 5): "lever", (8, 1, 8): "lever"}
    observer = Observer(scene({**levers, (8, 1, 0): "lever"}))
    assert {name: thing.cell for name, thing in look(observer).items()} == {
        "lever_1": (8, 1, 5),
        "lever_2": (9, 1, 6),
        "lever_3": (8, 1, 8),
    }
    assert look(observer, 1, SPAWN.turn(2))["lever_4"].cell == (8, 1, 0)


@pytest.mark.parametrize(
    ("block", "count"),
    [("lever", 3), ("chest", 3), ("stone_pressure_plate", 3), ("dirt", 1), ("oak_log", 1), ("bookshelf", 1)],
)
def test_devices_are_counted_one_by_one_and_blocks_by_cluster(block: str, count: int) -> None:
    assert names({(x, 1, 6): block for x in (7, 8, 9)}) == [f"{block}_{i + 1}" for i in range(count)]


def test_walls_are_no_things() -> None:
    beside: dict[Cell, str | int] = {
        (5 + number, 1, 4): name for number, name in enumerate(("glass", "oak_planks", "red_concrete", "glowstone"))
    }
    assert names({**screen(), **beside}) == []


def test_a_cluster_is_at_its_nearest_block_and_says_how_many_are_known() -> None:
    observer = Observer(scene({(8, 1, z): "dirt" for z in range(6, 12)} | {(3, 1, 9): "dirt"}))
    things = look(observer)
    assert (things["dirt_1"].cell, things["dirt_1"].state) == ((8, 1, 6), "6")
    assert (things["dirt_2"].cell, things["dirt_2"].state) == ((3, 1, 9), "1")
    observer.follow([change((8, 1, 6), "air")])
    assert look(observer, 1)["dirt_1"].state == "5"


def test_clusters_that_prove_to_be_one_keep_the_older_name() -> None:
    blocks: dict[Cell, str | int] = {(x, 1, 8): "dirt" for x in range(4, 13)}
    observer = Observer(scene({**blocks, (8, 1, 6): "stone_bricks", (8, 2, 6): "stone_bricks"}))
    assert set(look(observer)) == {"dirt_1", "dirt_2"}
    observer.follow([change((8, 1, 6), "air"), change((8, 2, 6), "air")])
    assert look(observer, 1)["dirt_1"].state == "9"
    assert set(look(observer, 2)) == {"dirt_1"}


def test_things_seen_to_be_gone_are_forgotten() -> None:
    observer = Observer(scene({(8, 1, 5): "pumpkin"}))
    assert set(look(observer)) == {"pumpkin_1"}
    observer.follow([change((8, 1, 5), "air")])
    assert set(look(observer, 1, SPAWN.turn(2))) == {"pumpkin_1"}
    assert set(look(observer, 2)) == set()
    observer.follow([change((8, 1, 5), "pumpkin")])
    assert set(look(observer, 3)) == {"pumpkin_2"}


def test_what_the_agent_placed_is_no_source_of_blocks() -> None:
    observer = Observer(scene({}))
    observer.follow([change((8, 1, 5), "dirt"), Change("placed", (8, 1, 5))])
    assert look(observer) == {}
    assert observer.known[1, 5, 8] == code("dirt")
    observer.follow([change((8, 1, 6), "lever"), Change("placed", (8, 1, 6))])
    assert set(look(observer, 1, Pose((8, 1, 2), pitch=1))) == {"lever_1"}


def test_what_the_agent_placed_is_known_wherever_it_looks() -> None:
    observer = Observer(scene({}))
    observer.follow([change((8, 1, 2), "lever"), Change("placed", (8, 1, 2))])
    assert set(look(observer, 0, Pose((8, 1, 3), pitch=-3))) == {"lever_1"}
    assert observer.known[1, 2, 8] == code("lever")
    observer.follow([change((8, 1, 2), "lever", "on")])
    look(observer, 1, Pose((8, 1, 3), pitch=-3))
    assert observer.known[1, 2, 8] == code("lever")


def test_a_chest_that_the_agent_emptied_is_said_to_be_empty() -> None:
    observer = Observer(scene({(8, 1, 5): "chest"}))
    assert look(observer)["chest_1"].state == ""
    observer.follow([Change("chest", (8, 1, 5), stacks=(Stack("dirt", 3),))])
    assert look(observer, 1)["chest_1"].state == "empty"


def test_items_and_mobs_are_seen_with_their_cells_and_gone_when_taken() -> None:
    observer = Observer(scene(screen()))
    items = {(8, 1, 4): (Stack("lever", 2), Stack("stick")), (8, 1, 9): (Stack("emerald"),)}
    mobs = (Mob("a", "sheep", (7, 1, 4)), Mob("b", "sheep", (7, 1, 9)))
    things = look(observer, items=items, mobs=mobs)
    assert {name: (thing.kind, thing.state, thing.cell) for name, thing in things.items()} == {
        "lever_1": ("lever", "2", (8, 1, 4)),
        "stick_1": ("stick", "1", (8, 1, 4)),
        "sheep_1": ("sheep", "", (7, 1, 4)),
    }
    assert set(look(observer, 1, SPAWN.turn(2))) == set(things)
    assert set(look(observer, 2)) == set()


def test_a_torch_lights_what_is_around_it_until_it_is_gone() -> None:
    observer = Observer(scene({(8, 1, 12): "wall_torch", (8, 1, 13): "lever"}, dark=True))
    assert set(look(observer)) == {"wall_torch_1", "lever_1"}
    assert observer.known[1, 5, 8] == 0
    observer.follow([change((8, 1, 12), "air"), change((8, 1, 6), "lantern")])
    look(observer, 1)
    assert observer.seen_at[1, 13, 8] == 0
    assert observer.seen_at[1, 11, 8] == 1
    assert {block.name for block in BLOCKS} >= set(LIGHTS.split())


@pytest.mark.long
@given(seed=st.integers(0, 2**32 - 1), dark=st.booleans())
@settings(max_examples=15, deadline=None)
def test_known_is_the_past_and_things_are_known(seed: int, dark: bool) -> None:
    rng = np.random.default_rng(seed)
    kinds = [code(name) for name in ("air", "air", "stone_bricks", "dirt", "lever", "torch", "iron_door", "oak_log")]
    built = scene({}, dark=dark)
    built.blocks[1:7] = rng.choice(kinds, size=(6, 16, 16))
    built.blocks[1:3, 2, 8] = AIR
    observer, truth, past = Observer(built), built.blocks.copy(), {}
    for step in range(8):
        past[step] = truth.copy()
        things = look(observer, step, Pose(SPAWN.cell, int(rng.integers(4)), int(rng.integers(-3, 4))))
        seen_at, known = observer.seen_at, observer.known
        for at in range(step + 1):
            assert np.array_equal(known[seen_at == at], past[at][seen_at == at])
        assert not known[seen_at == -1].any()
        assert [t.name for t in things.values()] == list(dict.fromkeys(things))
        for thing in things.values():
            x, y, z = thing.cell
            assert BLOCKS[known[y, z, x]].name == thing.kind
            assert thing.in_view == (thing.seen_at == step)
            assert thing.seen_at >= seen_at[y, z, x]
        known_logs = int((known == code("oak_log")).sum())
        assert sum(int(thing.state) for thing in things.values() if thing.kind == "oak_log") == known_logs
        z, x, y = map(int, rng.integers((3, 0, 1), (16, 16, 7)))
        truth[y, z, x] = rng.choice(kinds)
        observer.follow([Change("block", (x, y, z), code=int(truth[y, z, x]))])


def test_the_recipe_book_knows_what_was_seen() -> None:
    observer = Observer(scene({(8, 1, 4): "stone", (8, 1, 0): "oak_log"}))
    sheep = (Mob("a", "sheep", (7, 1, 4)),)
    look(observer, mobs=sheep, items={(9, 1, 4): (Stack("stick"),)})
    names = {offer.recipe for offer in observer.offers({})}
    assert {"stone_pickaxe", "painting"} <= names
    assert "crafting_table" not in names
    look(observer, 1, SPAWN.turn(2), mobs=sheep)
    assert "crafting_table" in {offer.recipe for offer in observer.offers({})}
