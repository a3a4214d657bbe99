"""What stands on a terminal for what is known."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from explorer.play.screen import choice, half_blocks, map_text, recipe_line, screen, sign_of, status
from explorer.rules.actions import Primitive
from explorer.rules.blocks import code
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import hall
from tests.support.explorer.told import told

WALK = ("FORWARD", "FORWARD", "FORWARD", "FORWARD", "TURN_LEFT", "FORWARD")


def column(*names: str) -> np.ndarray:
    """Blocks from below; "?" is unseen, a state stands behind a colon."""
    return np.array([0 if name == "?" else code(*name.split(":")) for name in names], np.uint16)


@pytest.mark.parametrize(
    ("names", "sign"),
    [
        (("?", "?", "?", "?"), None),
        (("stone", "stone", "air", "air"), "·"),
        (("stone", "air", "air", "air"), ":"),
        (("stone_bricks", "stone_bricks", "stone_bricks", "air"), "▄"),
        (("stone_bricks",) * 4, "█"),
        (("stone_bricks", "stone_bricks", "stone_bricks", "stone"), "▒"),
        (("stone", "stone", "lever", "air"), "!"),
        (("stone", "stone", "iron_door", "iron_door"), "D"),
        (("stone", "stone", "iron_door:open", "iron_door:open"), "'"),
        (("stone", "lava", "air", "air"), "≈"),
        (("stone", "stone", "torch", "air"), "*"),
        (("?", "?", "air", "air"), " "),
    ],
)
def test_a_column_is_a_sign(names: tuple[str, ...], sign: str | None) -> None:
    found = sign_of(column(*names), feet=2)
    assert (found and found.text) == sign


def test_the_map_shows_the_way_around_and_the_screen_fits() -> None:
    world, loaded = VoxelWorld(), told()
    world.reset(loaded.scene)
    for name in WALK:
        world.step(Primitive[name])
    view = world.view()
    text, legend = map_text(view, 15, 11)
    rows = text.plain.splitlines()
    assert [len(row) for row in rows] == [30] * 11
    assert rows[5][14:16] == "> "
    assert rows[5][14 + 6 : 14 + 8] == "! "
    assert legend["!"].means == "lever"
    assert "D" in legend
    console = Console(width=100, height=30, record=True, file=io.StringIO())
    picture = np.zeros((38, 45, 3), np.uint8)
    for drawn in (None, picture):
        console.print(screen(view, "Get \x1b[31mit\nnow", (100, 30), drawn, "a note", (9, 1, 6)))
        lines = console.export_text().splitlines()
        assert lines[0].rstrip() == "Task: Get ␛[31mit now"
        assert max(map(len, lines)) <= 100
        assert len(lines) <= 30


def test_items_and_mobs_are_letters() -> None:
    build = hall().mob("sheep", (4, 1, 6)).item((3, 1, 6), "emerald")
    view = VoxelWorld().reset(build.scene("pen"))
    text, legend = map_text(view, 9, 9)
    assert "e S " in text.plain
    assert (legend["S"].means, legend["e"].means) == ("sheep", "emerald")


def test_the_status_says_what_was_refused() -> None:
    world = VoxelWorld()
    world.reset(told().scene, 50)
    assert status(world.view()).plain == "step 0 of 50   at 0, 0, 0   facing south   in hand: nothing"
    world.step(Primitive.LOOK_UP)
    world.step(Primitive.USE)
    assert status(world.view()).plain == (
        "step 2 of 50   at 0, 0, 0   facing south, looking slightly up   in hand: nothing   out of reach"
    )


def test_two_pixels_are_one_character() -> None:
    picture = np.array([[[1, 2, 3]], [[4, 5, 6]]], np.uint8)
    drawn = half_blocks(picture)
    assert drawn.plain == "▀\n"
    assert str(drawn.spans[0].style) == "rgb(1,2,3) on rgb(4,5,6)"


def test_recipes_and_choices_are_lines() -> None:
    view = VoxelWorld().reset(hall().item((4, 1, 6), "oak_log").scene("pen"))
    (planks,) = [offer for offer in view.recipes if offer.recipe == "oak_planks"]
    assert recipe_line(planks) == "4 x oak planks: 1 oak log or the like"
    console = Console(width=60, record=True, file=io.StringIO())
    console.print(choice("Craft", [recipe_line(planks)]))
    assert " a 4 x oak planks" in console.export_text()
