"""Things that are not needed: keys of wrong colours, doors and gates to dead ends, switches for nothing, hazards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, get_args

from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.pushing import pillar
from gridworld.rules.tilings import Cell
from gridworld.task_spec import HazardType

Decoy: TypeAlias = Callable[[Draft], None]

_LARGEST_BRANCH: Final = 20


def dead_end(draft: Draft) -> tuple[Cell, list[Cell]]:
    """A narrow cell, and the cells behind it, on which nothing stands.

    Raises:
        UnfitError: there is none.
    """
    whole = set(draft.floor.distances(draft.start, draft.walled))
    found = []
    for cell in draft.free(draft.floor.narrow):
        behind = whole - draft.floor.distances(draft.start, {*draft.walled, cell}).keys() - {cell}
        if 2 <= len(behind) <= _LARGEST_BRANCH and not behind & draft.taken:
            found.append((cell, sorted(behind)))
    if not found:
        raise UnfitError("no dead end")
    return draft.rng.choice(found)


def wrong_key(draft: Draft) -> None:
    """A key whose colour no door has."""
    color = draft.unused_color()
    key = draft.key(color, draft.take(draft.floor.cells))
    draft.distract("wrong_color_key", key, f"The {color} key opens nothing.")


def side_door(draft: Draft) -> None:
    """A key and a door of its own, which leads to a dead end."""
    cut, behind = dead_end(draft)
    color = draft.unused_color()
    draft.taken.update({cut, *behind})
    draft.door(color, cut)
    draft.key(color, draft.take(draft.floor.cells))
    draft.distract("distractor_chain", f"branch_{color}", f"The {color} key and the {color} door lead to a dead end.")


def trap_door(draft: Draft) -> None:
    """A second door for a key that is used up, which leads to a dead end."""
    needed = {door.requires_key for door in draft.made.doors}
    colors = [key.color for key in draft.made.keys if key.color in needed]
    if not (colors and draft.rules.key_consumption):
        raise UnfitError("no key to waste")
    cut, behind = dead_end(draft)
    draft.taken.update({cut, *behind})
    color = draft.rng.choice(colors)
    door = draft.door(color, cut)
    draft.distract("trap_door", door, f"Whoever opens {door} wastes the only {color} key.")


def side_gate(draft: Draft) -> None:
    """A switch and a gate of its own, which leads to a dead end."""
    cut, behind = dead_end(draft)
    draft.taken.update({cut, *behind})
    gate = draft.gate(cut)
    switch = draft.switch(draft.take(draft.floor.cells), [gate], "toggle")
    draft.distract("decoy_switch", switch, f"Switch {switch} opens gate {gate}, which leads to a dead end.")


def idle_switch(draft: Draft) -> None:
    """A switch that controls nothing."""
    switch = draft.switch(draft.take(draft.floor.cells), [], draft.rng.choice(("toggle", "one_shot")))
    draft.distract("decoy_switch", switch, f"Switch {switch} controls nothing.")


def open_passage(draft: Draft) -> None:
    """A door or gate that is open all the time."""
    cells = draft.free(draft.floor.narrow)
    if not cells:
        raise UnfitError("no narrow cell is left")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    if draft.made.doors and draft.rng.random() < 0.5:
        draft.door(draft.made.doors[0].requires_key, cell, is_open=True)
    else:
        draft.gate(cell, is_open=True)


def side_teleporter(draft: Draft) -> None:
    """A teleporter within a part of the maze that no lock divides."""
    cells = [cell for cell in draft.reach() if cell not in draft.floor.narrow]
    ends = []
    for _ in range(2):
        ends.append(draft.take(cell for cell in draft.free(cells) if draft.stays_connected(cell)))
        draft.barred.add(ends[-1])
    name = draft.teleporter(*ends, bidirectional=draft.rng.random() < 0.5)
    draft.distract("decoy_teleporter", name, f"Teleporter {name} leads nowhere new.")


def loose_block(draft: Draft) -> None:
    """A block that can be pushed but need not be."""
    cells = [
        cell for cell in draft.free(draft.floor.cells) if cell not in draft.floor.narrow and draft.stays_connected(cell)
    ]
    if not cells:
        raise UnfitError("no room for a block")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    block = draft.block(cell)
    draft.distract("decoy_block", block, f"Block {block} need not be moved.")


def hazards(draft: Draft) -> None:
    """A few hazards beside the way, in a row where there is room."""
    kind = draft.rng.choice(get_args(HazardType))
    cells = [cell for cell in draft.free(draft.floor.cells) if draft.stays_connected(cell)]
    if not cells:
        raise UnfitError("no room for a hazard")
    cell = draft.rng.choice(cells)
    heading = draft.rng.randrange(draft.floor.tiling.headings)
    for _ in range(draft.rng.randint(1, 3)):
        if cell not in draft.floor.neighbours or cell in draft.taken or not draft.stays_connected(cell):
            break
        draft.taken.add(cell)
        draft.barred.add(cell)
        draft.hazard(cell, kind)
        cell = draft.floor.tiling.ahead(cell, heading)


def fixed_block(draft: Draft) -> None:
    """A block that never moves."""
    pillar(draft)


DECOYS: Final[Mapping[str, Decoy]] = {
    decoy.__name__: decoy
    for decoy in (
        wrong_key,
        side_door,
        trap_door,
        side_gate,
        idle_switch,
        open_passage,
        side_teleporter,
        loose_block,
        hazards,
        fixed_block,
    )
}
"""Things that are not needed, by name."""
