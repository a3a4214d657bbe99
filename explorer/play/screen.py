"""Draw a scene on a terminal as a map of signs, a picture of half-block characters, and lists; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from explorer.report.loose import is_loose, is_mob
from explorer.rules.blocks import BLOCKS, UNSEEN, Block
from explorer.scene import STEEPEST, Cell, Pose, offset_to
from explorer.view import Offer, Thing, View
from spca.common.text import one_line

FACING_WORDS: Final = ("south", "west", "north", "east")
_ARROWS: Final = "v<^>"
_WALL = "█"
_STONE = "▒"
_STEP = "▄"
_FLOOR = "·"
_LOW = ":"
_DEEP = " "
_DARK = " "
_SELF_EXPLANATORY = (_DEEP, _FLOOR, _WALL)
"""Texts of the signs that need no legend."""
_SIGNS: Final = {
    "water": ("~", "blue"),
    "lava": ("≈", "bold red"),
    "chest": ("C", "bold yellow"),
    "table": ("T", "bold yellow"),
    "device": ("!", "bold cyan"),
    "plate": ("_", "bold cyan"),
}
"""Kind of a block -> (sign, style)."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign of a column of cells on the map.

    Attributes:
        text: one character.
        style: style of :mod:`rich`.
        means: meaning of the sign, for the legend.
    """

    text: str
    style: str
    means: str


def sign_of(blocks: NDArray[np.uint16], feet: int) -> Sign | None:
    """Return the sign of a column of cells, or None if no cell up to the head is known.

    The sign is that of the highest block up to the head, apart from blocks such as air. A block at the level of the
    head is a wall, and a block just below the feet is floor.

    Args:
        blocks: codes of the column, from the lowest cell up.
        feet: y of the feet.
    """
    known = []
    for y, code in enumerate(blocks[: feet + 2]):  # up to the head at feet + 1
        if code != UNSEEN:
            known.append((y, BLOCKS[int(code)]))
    if not known:
        return None

    for y, block in reversed(known):
        sign = _block_sign(block, y - feet)
        if sign is not None:
            return sign
    return Sign(_DEEP, "", "deep")


def _block_sign(block: Block, height: int) -> Sign | None:
    """Return the sign of a block ``height`` cells above the feet, or None for air and other unimportant blocks."""
    if block.kind in _SIGNS:
        sign, style = _SIGNS[block.kind]
        return Sign(sign, f"{style} reverse" if block.state else style, _describe_block(block))
    if block.kind == "door":
        return Sign("'" if block.state else "D", "bold magenta", _describe_block(block))
    if block.solid:
        return _ground_sign(block, height)
    if block.usable and not block.replaceable:
        return Sign("*", "green", _describe_block(block))
    return None


def _ground_sign(block: Block, height: int) -> Sign:
    """Return the sign of a solid block ``height`` cells above the feet."""
    style = "green" if block.breakable else "white"
    if height > 0:
        return Sign(_STONE if block.breakable else _WALL, style, f"{_describe_block(block)}, a wall")
    if height == 0:
        return Sign(_STEP, style, f"{_describe_block(block)}, one step up")
    if height == -1:
        return Sign(_FLOOR, "dim", "floor")
    if height >= -3:
        return Sign(_LOW, "dim", "lower floor")
    return Sign(_DEEP, "", "deep")


def _describe_block(block: Block) -> str:
    return " ".join(filter(None, (block.name.replace("_", " "), block.state)))


def map_text(
    view: View, columns: int, rows: int, chosen: Cell | None = None, middle: tuple[int, int] | None = None
) -> tuple[Text, Mapping[str, Sign]]:
    """Return the map around the agent, and its legend.

    The map has one line per row of cells and two characters per cell. North is up.

    Args:
        columns, rows: size of the map in cells.
        chosen: a cell to mark, such as the cell at which the crosshair aims; None marks no cell.
        middle: x and z of the middle of the map; None for the agent's x and z.

    Returns:
        (map, legend). The legend contains text of a sign -> sign, for each sign that needs an explanation.
    """
    agent_x, _, agent_z = view.pose.cell
    middle_x, middle_z = middle or (agent_x, agent_z)
    loose: dict[tuple[int, int], Thing] = {}
    for each in view.things:
        if is_loose(each, view):
            x, _, z = each.cell
            loose[x, z] = each

    text = Text()
    legend: dict[str, Sign] = {}
    north = middle_z - rows // 2
    west = middle_x - columns // 2
    for z in range(north, north + rows):
        for x in range(west, west + columns):
            sign = _find_sign(view, x, z, loose.get((x, z)))
            if sign is None:
                text.append(2 * _DARK, "on grey11")
                continue

            is_chosen = chosen is not None and (x, z) == (chosen[0], chosen[2])
            fills_cell = sign.text in (_WALL, _STONE, _STEP)
            characters = 2 * sign.text if fills_cell else f"{sign.text} "
            text.append(characters, f"{sign.style} on yellow" if is_chosen else sign.style)
            if sign.text not in _SELF_EXPLANATORY:
                legend[sign.text] = sign
        text.append("\n")
    return text, legend


def _find_sign(view: View, x: int, z: int, thing: Thing | None) -> Sign | None:
    """Return the sign of a column of the world, or None if the column is unknown or outside the world.

    Args:
        thing: an item or mob in the column, or None if the column contains neither.
    """
    agent_x, feet, agent_z = view.pose.cell
    if (x, z) == (agent_x, agent_z):
        return Sign(_ARROWS[view.pose.facing], "bold white on red", "you")
    _, depth, width = view.known.shape
    is_inside = 0 <= x < width and 0 <= z < depth
    sign = sign_of(view.known[:, z, x], feet) if is_inside else None
    if sign is not None and thing is not None:
        return _thing_sign(thing)
    return sign


def _thing_sign(thing: Thing) -> Sign:
    """Return the sign of an item or mob: the first letter of the kind, in upper case for a mob."""
    letter = thing.kind[:1]
    if is_mob(thing):
        letter = letter.upper()
    return Sign(letter, "bold white on blue", thing.kind.replace("_", " "))


def half_blocks(picture: NDArray[np.uint8]) -> Text:
    """Return a picture as text; each character shows two pixels, one above the other.

    Args:
        picture: red, green and blue from 0 to 255, ``[2 * rows, columns, 3]``.
    """
    text = Text(no_wrap=True)
    upper_rows = picture[::2].tolist()
    lower_rows = picture[1::2].tolist()
    for upper, lower in zip(upper_rows, lower_rows, strict=True):
        for top, bottom in zip(upper, lower, strict=True):
            text.append("▀", f"{_rgb(*top)} on {_rgb(*bottom)}")
        text.append("\n")
    return text


def _rgb(red: int, green: int, blue: int) -> str:
    return f"rgb({red},{green},{blue})"


def status(view: View) -> Text:
    """Return the status line: step, position, facing, item in hand, and why the last step was refused."""
    x, y, z = offset_to(view.origin, view.pose.cell)
    limit = "" if view.max_steps is None else f" of {view.max_steps}"
    facing = _describe_facing(view.pose)
    line = Text(f"step {view.step}{limit}   at {x}, {y}, {z}   facing {facing}   in hand: ")
    line.append(one_line(view.held or "nothing").replace("_", " "), "bold")
    if not view.last.done:
        line.append(f"   {one_line(view.last.reason)}", "bold yellow")
    return line


def _describe_facing(pose: Pose) -> str:
    # By pitch, from -3 to 3.
    words = ("straight up", "up", "slightly up", "", "slightly down", "down", "straight down")[pose.pitch + STEEPEST]
    facing = FACING_WORDS[pose.facing]
    return f"{facing}, looking {words}" if words else facing


def inventory_lines(view: View) -> list[str]:
    """Return the inventory, one line per item."""
    lines = []
    for item, count in view.inventory.items():
        name = one_line(item).replace("_", " ")
        lines.append(f"{count} x {name}")
    return lines


def recipe_line(offer: Offer) -> str:
    """Return a recipe as text, such as ``1 x chest: 8 oak planks or the like (at a table)``."""
    needs = []
    for names, count in offer.needs:
        alternatives = "" if len(names) == 1 else " or the like"
        needs.append(f"{count} {names[0]}{alternatives}")
    table = " (at a table)" if offer.table else ""
    line = f"{offer.makes.count} x {offer.recipe}: {', '.join(needs)}{table}"
    return line.replace("_", " ")


def screen(
    view: View, task: str, size: tuple[int, int], picture: NDArray[np.uint8] | None, note: str, chosen: Cell | None
) -> RenderableType:
    """Return the whole screen.

    Args:
        task: the goal text.
        size: columns and rows of the terminal.
        picture: pixels of the agent's first-person view (:func:`half_blocks`), or None if the terminal is too narrow.
        note: a line of advice.
        chosen: a cell to mark on the map, or None for no cell.
    """
    columns, rows = size
    panels: list[RenderableType] = []
    map_width = columns - 6  # in characters, two of which show a cell
    if picture is not None:
        panels.append(Panel(half_blocks(picture), title="you see"))
        map_width = columns - picture.shape[1] - 10
    map_, legend = map_text(view, max(8, map_width // 2), max(5, rows - 11), chosen)
    panels.append(Panel(map_, title="map, north is up"))
    table = Table.grid(padding=(0, 1))
    table.add_row(*panels)

    signs = [f"{sign.text} {sign.means}" for sign in legend.values()]
    carried = ", ".join(inventory_lines(view)) or "nothing"
    return Group(
        Text(f"Task: {one_line(task)}", "bold"),
        table,
        Text("  ".join(signs[:8]), "dim", no_wrap=True),
        status(view),
        Text(f"You carry {carried}."),
        Text(note, "cyan"),
        Text(KEYS, "dim"),
    )


KEYS: Final = (
    "arrows/ws walk and turn  ad sideways  space jump  pgup/pgdn look  tab aim  enter use/dig/attack  "
    "p place  b bridge  v pillar  h hold  c craft  g drop  . wait  q end"
)


def choice(title: str, lines: Iterable[str]) -> RenderableType:
    """Return a list of lines, each with a letter by which a person chooses the line."""
    body = Text()
    for letter, line in zip("abcdefghijklmnopqrstuvwxyz", lines, strict=False):
        body.append(f" {letter} ", "bold cyan")
        body.append(f"{line}\n")
    body.append("\n any other key: back", "dim")
    return Panel(body, title=title)
