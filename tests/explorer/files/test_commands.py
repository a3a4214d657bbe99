"""Minecraft's commands as far as they set up a scene, with what is left out said and what is wrong named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import OutsideArenaError, SceneError, UnknownNameError
from explorer.files.building import bounds_of, build_scene
from explorer.files.commands import COMMANDS, Deed, Fill, Give, Lay, Parsed, Stand, Summon, parse_commands
from explorer.files.exporting import boxes_of
from explorer.files.snbt import parse_snbt
from explorer.rules.blocks import AIR, BLOCKS, code
from explorer.scene import Mob, Pose, Scene, Stack

ARENA = ((-4, -1, -4), (4, 4, 4))


def parsed(*commands: str) -> Parsed:
    made = parse_commands(commands)
    assert made.faults == []
    return made


def built(*commands: str) -> Scene:
    return build_scene(parsed(*commands).deeds, ARENA)[0]


def at(made: Scene, x: int, y: int, z: int) -> str:
    (ax, ay, az), _ = ARENA
    block = BLOCKS[made.blocks[y - ay, z - az, x - ax]]
    return f"{block.name} {block.state}".strip()


@pytest.mark.parametrize(
    "text",
    ["/setblock ~1 ~ ~-2 stone", "setblock ~1.0 ~0 ~-2 minecraft:stone", "minecraft:setblock ~1 ~ ~-2 stone destroy"],
)
def test_slash_and_namespace_may_be_left_out(text: str) -> None:
    assert parsed(text).deeds[0] in [
        Fill((1, 0, -2), (1, 0, -2), code("stone"), mode) for mode in ("replace", "destroy")
    ]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("lever[powered=true]", "lever on"),
        ("lever[face=wall,powered=true]", "lever on"),
        ("lever[face=floor,facing=north]", "lever"),
        ("stone_button[powered=true]", "stone_button on"),
        ("oak_pressure_plate[powered=true]", "oak_pressure_plate on"),
        ("iron_door[half=lower,open=true]", "iron_door open"),
        ("oak_door[half=upper, facing=east]", "oak_door"),
        ("oak_log[axis=y]", "oak_log"),
        ("cave_air", "air"),
        ('chest[facing=west]{Items:[{Slot:0b,id:"minecraft:stick",Count:3b}]}', "chest"),
    ],
)
def test_states_map_onto_ours(word: str, state: str) -> None:
    assert at(built(f"/setblock ~1 ~ ~ {word}"), 1, 0, 0) == state


def test_modes_of_fill() -> None:
    made = built("/fill ~-2 ~0 ~-2 ~2 ~3 ~2 stone hollow")
    assert (at(made, -2, 1, 0), at(made, 0, 1, 0), at(made, 0, 3, 0)) == ("stone", "air", "stone")
    made = built("/fill ~-2 ~0 ~-2 ~2 ~3 ~2 dirt", "/fill ~2 ~3 ~2 ~-2 ~0 ~-2 stone outline")
    assert (at(made, -2, 1, 0), at(made, 0, 1, 0)) == ("stone", "dirt")
    made = built("/setblock ~ ~ ~ dirt", "/fill ~ ~ ~ ~1 ~ ~ stone keep")
    assert (at(made, 0, 0, 0), at(made, 1, 0, 0)) == ("dirt", "stone")
    made = built("/setblock ~ ~ ~ lever[powered=true]", "/fill ~ ~ ~ ~1 ~ ~ stone replace lever")
    assert (at(made, 0, 0, 0), at(made, 1, 0, 0)) == ("stone", "air")
    made = built(
        "/setblock ~ ~ ~ lever[powered=true]",
        "/setblock ~1 ~ ~ lever",
        "/fill ~ ~ ~ ~1 ~ ~ stone replace lever[powered=true]",
    )
    assert (at(made, 0, 0, 0), at(made, 1, 0, 0)) == ("stone", "lever")


def test_a_chest_keeps_what_it_was_given_until_it_is_gone() -> None:
    chest = '/setblock ~1 ~ ~ chest{Items:[{Slot:0b,id:"minecraft:stick",Count:3b},{Slot:1b,id:apple}]}'
    assert built(chest).chests == {(5, 1, 4): (Stack("stick", 3), Stack("apple", 1))}
    assert built(chest, "/fill ~ ~ ~ ~2 ~ ~ air").chests == {}
    assert built(chest, "/setblock ~1 ~ ~ chest").chests == {}
    assert built(chest, "/setblock ~1 ~ ~ stone keep").chests != {}


def test_mobs_items_and_the_inventory() -> None:
    made = built(
        "/summon sheep ~1 ~ ~1",
        '/summon minecraft:cow ~-1 ~ ~1 {NoAI:1b,CustomName:\'{"text":"Daisy"}\'}',
        "/summon sheep ~0.3 ~ ~1.2",
        '/summon item ~2 ~ ~ {Item:{id:"minecraft:emerald",Count:2b}}',
        "/give @p stone_pickaxe",
        "/give @s minecraft:stick 5",
        "/give @s stick",
    )
    assert made.mobs == (
        Mob("sheep_1", "sheep", (5, 1, 5)),
        Mob("Daisy", "cow", (3, 1, 5)),
        Mob("sheep_2", "sheep", (4, 1, 5)),
    )
    assert made.items == {(6, 1, 4): (Stack("emerald", 2),)}
    assert made.inventory == {"stone_pickaxe": 1, "stick": 6}


def test_kill_and_clear() -> None:
    before = ["/summon sheep ~ ~ ~", "/summon cow ~ ~ ~", "/summon item ~ ~ ~ {Item:{id:stick}}", "/give @s stick"]
    made = built(*before, "/kill @e[type=minecraft:sheep]", "/clear @s")
    assert ([mob.kind for mob in made.mobs], made.inventory) == (["cow"], {})
    assert built(*before, "/kill @e[type=item]").items == {}
    emptied = built(*before, "/kill @e[type=!player]")
    assert (emptied.mobs, emptied.items) == ((), {})
    assert parsed("/kill @s").notes == ["/kill @s is left out: only @e[type=...] and @e[type=!player] are known"]


def test_where_the_player_is_put_counts_from_then_on() -> None:
    made, moved = build_scene(parsed("/tp @s ~1 ~1 ~ 180 60", "/setblock ~1 ~ ~ stone").deeds, ARENA)
    assert made.spawn == Pose((5, 2, 4), 2, 2)
    assert moved == (1, 1, 0)
    assert at(made, 2, 1, 0) == "stone"
    assert parsed("/teleport ~ ~ ~-2").deeds == [Stand((0, 0, -2), None, None)]
    assert built("/tp ~ ~ ~ -90 0").spawn.facing == 3


def test_what_has_no_meaning_here_does_nothing() -> None:
    quiet = [
        "/gamemode survival @s",
        "/time set day",
        "/weather clear",
        "/effect clear @s",
        "/gamerule doDaylightCycle false",
    ]
    assert parsed(*quiet).deeds == []


@pytest.mark.parametrize(
    ("command", "kind", "words"),
    [
        ("/filll ~ ~ ~ ~ ~ ~ stone", UnknownNameError, "unknown command 'filll'; did you mean fill"),
        ("", UnknownNameError, "unknown command ''"),
        ("/setblock ~ ~ ~ stoone", UnknownNameError, "unknown block 'stoone'; did you mean stone"),
        ("/setblock ~ ~ ~ unseen", UnknownNameError, "unknown block 'unseen'"),
        ("/give @s stikc", UnknownNameError, "unknown item 'stikc'; did you mean stick"),
        ("/summon shep ~ ~ ~", UnknownNameError, "unknown mob 'shep'; did you mean sheep"),
        ("/fill ~ ~ ~ ~ ~ ~ stone holow", UnknownNameError, "did you mean hollow"),
        ("/setblock 1 2 3 stone", SceneError, "write ~ before it"),
        ("/setblock ^1 ^ ^ stone", SceneError, "write ~ before it"),
        ("/setblock ~nan ~ ~ stone", SceneError, "'nan' is not a number"),
        ("/setblock ~1e9 ~ ~ stone", SceneError, "'1e9' is not a number"),
        ("/setblock ~999 ~ ~ stone", OutsideArenaError, "at most 256 blocks"),
        ("/fill ~ ~ ~ ~ ~ stone", SceneError, "write /fill"),
        ("/fill ~ ~ ~ ~ ~ ~ stone hollow air", SceneError, "a filter belongs to replace"),
        ("/give @s stick 0", SceneError, "the count '0'"),
        ("/give @s stick 1000000", SceneError, "the count '1000000'"),
        ("/summon item ~ ~ ~", SceneError, "needs {Item:"),
        ("/setblock ~ ~ ~ chest{Items:3}", SceneError, "fill a chest by"),
        ("/setblock ~ ~ ~ chest{Items:[", SceneError, "cannot read"),
        ("/setblock ~ ~ ~ stone " + "x" * 9000, SceneError, "more than 8,000"),
    ],
)
def test_what_is_wrong_is_named(command: str, kind: type[SceneError], words: str) -> None:
    (number, error), *others = parse_commands(["/time set day", command]).faults
    assert (number, type(error), others) == (1, kind, [])
    assert words in str(error)


def test_what_is_left_out_is_said() -> None:
    made = parsed(
        "/give @s stick{display:{Name:'\"A b\"'}} 2", '/setblock ~ ~ ~ oak_sign{Text1:"hi"}', "/tp @e[type=cow] ~ ~ ~"
    )
    assert made.deeds[0] == Give(Stack("stick", 2))
    assert made.notes == [
        "the data of stick is left out",
        "the data of oak_sign is left out: Text1",
        "/tp @e[type=cow] is left out: mobs stand still",
    ]


def test_sizes_are_refused_before_memory_is_spent() -> None:
    long = parsed("/fill ~-200 ~ ~ ~200 ~ ~ stone").deeds
    with pytest.raises(OutsideArenaError, match="an arena of 401 x 2 x 1 cells: at most 128 x 64 x 128"):
        build_scene(long, ((-200, 0, 0), (200, 1, 0)))
    with pytest.raises(OutsideArenaError, match=r"~9 ~0 ~0 is outside the arena \(~-4 ~-1 ~-4 to"):
        built("/setblock ~9 ~ ~ stone")
    huge = ((-60, -30, -60), (60, 30, 60))
    fills = parsed(*["/fill ~-60 ~-30 ~-60 ~60 ~30 ~60 stone"] * 100).deeds
    with pytest.raises(SceneError, match="the commands set 89,310,100 blocks"):
        build_scene(fills, huge)
    with pytest.raises(SceneError, match="1,001 mobs, items and filled chests: the limit is 1,000"):
        built(*["/summon cow ~ ~ ~"] * 1001)


def test_reading_stops_where_too_much_is_wrong() -> None:
    made = parse_commands(["/setblock ~ ~ ~ stoone"] * 20_000)
    assert len(made.faults) == 100
    assert made.notes == ["commands after commands[99] are not read: too many are faulty"]


def test_many_chests_and_fills_take_no_time() -> None:
    deeds: list[Deed] = [
        Fill((x, y, 0), (x, y, 0), code("chest"), stacks=(Stack("stick"),)) for x in range(50) for y in range(20)
    ]
    deeds += [Fill((0, 30, 0), (9, 30, 9), 1)] * 15_000
    assert len(build_scene(deeds, ((0, 0, 0), (60, 40, 60)))[0].chests) == 1_000


def test_chests_are_filled_one_by_one() -> None:
    with pytest.raises(SceneError, match="one at a time"):
        built("/fill ~ ~ ~ ~1 ~ ~ chest{Items:[]}")


def test_two_mobs_of_one_name_are_refused() -> None:
    with pytest.raises(SceneError, match="two mobs are called 'Ann'"):
        built(*["/summon cow ~ ~ ~ {CustomName:Ann}"] * 2)


def test_the_least_arena_holds_all_and_room_to_stand() -> None:
    assert bounds_of([]) == ((0, -1, 0), (0, 1, 0))
    deeds: list[Deed] = [
        Fill((-3, 0, 2), (4, 5, 2), 1),
        Lay((0, 0, 9), Stack("stick")),
        Summon((0, 9, 0), "cow", ""),
        Stand((0, -3, 0), None, None),
    ]
    assert bounds_of(deeds) == ((-3, -4, 0), (4, 9, 9))


BLOCKS_3D = st.tuples(
    st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1), st.integers(1, 5)
)


@given(BLOCKS_3D)
def test_boxes_painted_in_order_give_the_blocks(drawn: tuple[int, int, int, int, int]) -> None:
    *shape, seed, kinds = drawn
    blocks = np.random.default_rng(seed).integers(1, 1 + kinds, shape).astype(np.uint16)
    painted = np.full_like(blocks, AIR)
    for (x, y, z), (a, b, c), block in boxes_of(blocks):
        painted[y : b + 1, z : c + 1, x : a + 1] = block
    np.testing.assert_array_equal(painted, blocks)


def test_a_room_takes_few_boxes() -> None:
    blocks = np.full((24, 48, 48), code("stone_bricks"), np.uint16)
    blocks[1:-1, 1:-1, 1:-1] = AIR
    blocks[1:9, 20, 1:-1] = code("stone_bricks")
    blocks[1:3, 20, 9] = code("iron_door")
    assert len(list(boxes_of(blocks))) <= 8


def test_data_of_a_block() -> None:
    assert parse_snbt("{a:1b, b:[1,2.5f,'x y'],\"c d\":{e:true},l:[I;1,2],n:-3L,w:minecraft_x}") == {
        "a": 1,
        "b": [1, 2.5, "x y"],
        "c d": {"e": 1},
        "l": [1, 2],
        "n": -3,
        "w": "minecraft_x",
    }


@pytest.mark.parametrize(
    "text", ["", "{", "{a}", "{a:}", "{a:1", "{a:1}}", "[1]", "{a:[1}", "{a:1 b:2}", "{:1}", "{a:(}", "{a:" * 40]
)
def test_data_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SceneError, match="data"):
        parse_snbt(text)


WORDS = st.one_of(
    st.sampled_from(
        [*COMMANDS, "~", "~1", "~-2", "~0.5", "1", "stone", "chest", "@s", "@e[type=item]", "{Items:[]}", "air", "item"]
    ),
    st.text(max_size=6),
)


@given(st.lists(st.lists(WORDS, max_size=10).map(" ".join), max_size=5))
def test_any_text_is_read_or_refused_in_one_line(commands: list[str]) -> None:
    made = parse_commands(commands)
    assert all(str(error).isprintable() for _, error in made.faults)
    assert len(made.deeds) + len(made.faults) <= len(commands)


@given(st.text("{}[]:,;\"'\\ ab1.b", max_size=60))
def test_any_data_is_read_or_refused(text: str) -> None:
    try:
        parse_snbt(text)
    except SceneError as error:
        assert str(error)  # noqa: PT017  # most texts are refused, some are not
