"""Draw a scene on a terminal: a map of signs, a picture of half blocks, lists (pure)."""

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
from explorer.scene import Cell, Pose, offset_to
from explorer.view import Offer, View
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
_SIGNS: Final = {
    "water": ("~", "blue"),
    "lava": ("≈", "bold red"),
    "chest": ("C", "bold yellow"),
    "table": ("T", "bold yellow"),
    "device": ("!", "bold cyan"),
    "plate": ("_", "bold cyan"),
}


@dataclass(frozen=True, slots=True)
class Sign:
    """The sign for a column of cells on the map."""

    text: str
    style: str
    means: str


def sign_of(blocks: NDArray[np.uint16], feet: int) -> Sign | None:
    """Return the sign for a column, ``[y]`` from below, or None if it is unknown.

    The map is cut above the head: a block at the level of the body is a wall, one below the feet is floor.
    """
    known = [(y, BLOCKS[int(code)]) for y, code in enumerate(blocks[: feet + 2]) if code != UNSEEN]
    if not known:
        return None
    for y, block in reversed(known):
        if block.kind in _SIGNS:
            sign, style = _SIGNS[block.kind]
            return Sign(sign, f"{style} reverse" if block.state else style, _words(block))
        if block.kind == "door":
            return Sign("'" if block.state else "D", "bold magenta", _words(block))
        if block.solid:
            return _ground(block, y - feet)
        if block.usable and not block.replaceable:
            return Sign("*", "green", _words(block))
    return Sign(_DEEP, "", "deep")


def _ground(block: Block, height: int) -> Sign:
    if height >= 0:
        step_up = height == 0
        style = "green" if block.breakable else "white"
        return Sign(
            "▄" if step_up else "▒" if block.breakable else _WALL,
            style,
            f"{_words(block)}, {'one step up' if step_up else 'a wall'}",
        )
    if height >= -3:
        return Sign((_FLOOR, _LOW, _LOW)[-1 - height], "dim", "floor" if height == -1 else "lower floor")
    return Sign(_DEEP, "", "deep")


def _words(block: Block) -> str:
    return " ".join(filter(None, (block.name.replace("_", " "), block.state)))


def map_text(
    view: View, columns: int, rows: int, chosen: Cell | None = None, middle: tuple[int, int] | None = None
) -> tuple[Text, Mapping[str, Sign]]:
    """Return the map around the agent, two characters per cell, and the signs that need a legend.

    Args:
        columns, rows: size of the map in cells; north is up.
        chosen: the cell that the crosshair is on.
        middle: x and z of the map's middle; None: the agent's.
    """
    x0, feet, z0 = view.pose.cell
    mid_x, mid_z = middle or (x0, z0)
    _, depth, width = view.known.shape
    loose = {(each.cell[0], each.cell[2]): each for each in view.things if is_loose(each, view)}
    text = Text()
    legend = dict[str, Sign]()
    for z in range(mid_z - rows // 2, mid_z - rows // 2 + rows):
        for x in range(mid_x - columns // 2, mid_x - columns // 2 + columns):
            inside = 0 <= x < width and 0 <= z < depth
            sign = sign_of(view.known[:, z, x], feet) if inside else None
            if (x, z) == (x0, z0):
                sign = Sign(_ARROWS[view.pose.facing], "bold white on red", "you")
            elif sign is not None and (x, z) in loose:
                thing = loose[x, z]
                letter = thing.kind[:1]
                mob = is_mob(thing)
                sign = Sign(letter.upper() if mob else letter, "bold white on blue", thing.kind.replace("_", " "))
            if sign is None:
                text.append(2 * _DARK, "on grey11")
                continue
            marked = chosen is not None and (x, z) == (chosen[0], chosen[2])
            twice = sign.text in (_WALL, _STONE, _STEP)
            text.append(
                2 * sign.text if twice else f"{sign.text} ", f"{sign.style} on yellow" if marked else sign.style
            )
            if sign.text.strip() and sign.text not in (_FLOOR, _WALL):
                legend[sign.text] = sign
        text.append("\n")
    return text, legend


def half_blocks(picture: NDArray[np.uint8]) -> Text:
    """Return a picture, ``[2 * rows, columns, rgb]``, as text with two pixels per character, one above the other."""
    text = Text(no_wrap=True)
    for upper, lower in zip(picture[::2].tolist(), picture[1::2].tolist(), strict=True):
        for top, bottom in zip(upper, lower, strict=True):
            text.append("▀", f"rgb({top[0]},{top[1]},{top[2]}) on rgb({bottom[0]},{bottom[1]},{bottom[2]})")
        text.append("\n")
    return text


def status(view: View) -> Text:
    """Return the status line: step, position, facing, item in hand, and why the last step was refused."""
    x, y, z = offset_to(view.origin, view.pose.cell)
    limit = "" if view.max_steps is None else f" of {view.max_steps}"
    line = Text(f"step {view.step}{limit}   at {x}, {y}, {z}   facing {_facing(view.pose)}   in hand: ")
    line.append(one_line(view.held or "nothing").replace("_", " "), "bold")
    if not view.last.done:
        line.append(f"   {one_line(view.last.reason)}", "bold yellow")
    return line


def _facing(pose: Pose) -> str:
    words = ("straight up", "up", "slightly up", "", "slightly down", "down", "straight down")[pose.pitch + 3]
    return f"{FACING_WORDS[pose.facing]}{', looking ' if words else ''}{words}"


def inventory_lines(view: View) -> list[str]:
    """Return the inventory, one line per item."""
    return [f"{count} x {one_line(name).replace('_', ' ')}" for name, count in view.inventory.items()]


def recipe_line(offer: Offer) -> str:
    """Return a recipe as text, such as ``1 x chest: 8 oak planks or the like (at a table)``."""
    needs = ", ".join(f"{count} {_group(names)}" for names, count in offer.needs)
    return f"{offer.makes.count} x {offer.recipe}: {needs}{' (at a table)' if offer.table else ''}".replace("_", " ")


def _group(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} or the like"


def screen(
    view: View, task: str, size: tuple[int, int], picture: NDArray[np.uint8] | None, note: str, chosen: Cell | None
) -> RenderableType:
    """Return the whole screen.

    Args:
        size: columns and rows of the terminal.
        picture: what the agent sees, None if there is no room for it.
        note: a line of advice.
    """
    columns, rows = size
    side = (columns - 6 if picture is None else columns - picture.shape[1] - 10) // 2
    around, legend = map_text(view, max(8, side), max(5, rows - 11), chosen)
    table = Table.grid(padding=(0, 1))
    panels: list[RenderableType] = [] if picture is None else [Panel(half_blocks(picture), title="you see")]
    table.add_row(*panels, Panel(around, title="map, north is up"))
    signs = Text("  ".join(f"{sign.text} {sign.means}" for sign in list(legend.values())[:8]), "dim", no_wrap=True)
    carried = ", ".join(inventory_lines(view)) or "nothing"
    return Group(
        Text(f"Task: {one_line(task)}", "bold"), table, signs, status(view), Text(f"You carry {carried}."),
        Text(note, "cyan"), Text(KEYS, "dim"),
    )  # fmt: skip


KEYS: Final = (
    "arrows/ws walk and turn  ad sideways  space jump  pgup/pgdn look  tab aim  enter use/dig/attack  "
    "p place  b bridge  v pillar  h hold  c craft  g drop  . wait  q end"
)


def choice(title: str, lines: Iterable[str]) -> RenderableType:
    """Return a list to choose from by letter."""
    body = Text()
    for letter, line in zip("abcdefghijklmnopqrstuvwxyz", lines, strict=False):
        body.append(f" {letter} ", "bold cyan")
        body.append(f"{line}\n")
    body.append("\n any other key: back", "dim")
    return Panel(body, title=title)
