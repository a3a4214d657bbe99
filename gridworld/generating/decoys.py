"""Decoys: mechanisms that are not needed, such as keys of wrong colours, doors to dead ends, and hazards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, get_args

from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.pushing import pillar
from gridworld.rules.tilings import Cell
from gridworld.task_spec import HazardType, SwitchType

Decoy: TypeAlias = Callable[[Draft], None]

_MAX_BRANCH: Final = 20


def dead_end(draft: Draft) -> tuple[Cell, list[Cell]]:
    """Choose a random dead end; return (the free narrow cell at its entrance, the free cells behind the entrance).

    Raises:
        UnfitError: the floor has no free dead end.
    """
    floor = draft.floor
    all_cells = set(floor.distances(draft.start, draft.walled))
    dead_ends = []
    for cell in draft.list_free(floor.narrow):
        before = floor.distances(draft.start, {*draft.walled, cell})
        behind = all_cells - before.keys() - {cell}
        if 2 <= len(behind) <= _MAX_BRANCH and not behind & draft.taken:
            dead_ends.append((cell, sorted(behind)))
    if not dead_ends:
        raise UnfitError("no dead end")
    return draft.rng.choice(dead_ends)


def wrong_key(draft: Draft) -> None:
    """Add a key whose colour no door has."""
    color = draft.choose_unused_color()
    key = draft.add_key(color, draft.take(draft.floor.cells))
    draft.distract("wrong_color_key", key, f"The {color} key opens nothing.")


def side_door(draft: Draft) -> None:
    """Add a door at the entrance of a dead end, and the key of the door."""
    cut, behind = dead_end(draft)
    color = draft.choose_unused_color()
    draft.taken.update({cut, *behind})
    draft.add_door(color, cut)
    draft.add_key(color, draft.take(draft.floor.cells))
    words = f"The {color} key and the {color} door lead to a dead end."
    draft.distract("distractor_chain", f"branch_{color}", words)


def trap_door(draft: Draft) -> None:
    """Add a door at the entrance of a dead end; its key is a key that another door needs.

    An agent that opens the new door wastes the key.

    Raises:
        UnfitError: no door needs a key, or doors do not consume keys.
    """
    needed = {door.requires_key for door in draft.mechanisms.doors}
    colors = [key.color for key in draft.mechanisms.keys if key.color in needed]
    if not (colors and draft.rules.key_consumption):
        raise UnfitError("no key to waste")
    cut, behind = dead_end(draft)
    draft.taken.update({cut, *behind})
    color = draft.rng.choice(colors)
    door = draft.add_door(color, cut)
    draft.distract("trap_door", door, f"Whoever opens {door} wastes the only {color} key.")


def side_gate(draft: Draft) -> None:
    """Add a gate at the entrance of a dead end, and the switch of the gate."""
    cut, behind = dead_end(draft)
    draft.taken.update({cut, *behind})
    gate = draft.add_gate(cut)
    switch = draft.add_switch(draft.take(draft.floor.cells), [gate], "toggle")
    draft.distract("decoy_switch", switch, f"Switch {switch} opens gate {gate}, which leads to a dead end.")


def idle_switch(draft: Draft) -> None:
    """Add a switch that controls nothing."""
    cell = draft.take(draft.floor.cells)
    kind: SwitchType = draft.rng.choice(("toggle", "one_shot"))
    switch = draft.add_switch(cell, [], kind)
    draft.distract("decoy_switch", switch, f"Switch {switch} controls nothing.")


def open_passage(draft: Draft) -> None:
    """Add a door or gate that is always open."""
    cells = draft.list_free(draft.floor.narrow)
    if not cells:
        raise UnfitError("no narrow cell is left")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    if draft.mechanisms.doors and draft.rng.random() < 0.5:
        draft.add_door(draft.mechanisms.doors[0].requires_key, cell, is_open=True)
    else:
        draft.add_gate(cell, is_open=True)


def side_teleporter(draft: Draft) -> None:
    """Add a teleporter between two cells that the agent can reach without opening a lock."""
    cells = [cell for cell in draft.find_reachable() if cell not in draft.floor.narrow]
    ends = []
    for _ in range(2):
        end = draft.take(cell for cell in draft.list_free(cells) if draft.stays_connected(cell))
        draft.barred.add(end)
        ends.append(end)
    name = draft.add_teleporter(*ends, bidirectional=draft.rng.random() < 0.5)
    draft.distract("decoy_teleporter", name, f"Teleporter {name} leads nowhere new.")


def loose_block(draft: Draft) -> None:
    """Add a block that can be pushed but need not be pushed."""
    open_cells = [cell for cell in draft.list_free(draft.floor.cells) if cell not in draft.floor.narrow]
    cells = [cell for cell in open_cells if draft.stays_connected(cell)]
    if not cells:
        raise UnfitError("no room for a block")
    cell = draft.rng.choice(cells)
    draft.taken.add(cell)
    block = draft.add_block(cell)
    draft.distract("decoy_block", block, f"Block {block} need not be moved.")


def hazards(draft: Draft) -> None:
    """Add up to 3 hazards in a row, on cells that do not cut off any part of the floor."""
    kind = draft.rng.choice(get_args(HazardType))
    cells = [cell for cell in draft.list_free(draft.floor.cells) if draft.stays_connected(cell)]
    if not cells:
        raise UnfitError("no room for a hazard")
    cell = draft.rng.choice(cells)
    heading = draft.rng.randrange(draft.floor.tiling.headings)
    for _ in range(draft.rng.randint(1, 3)):
        is_free = cell in draft.floor.neighbours and cell not in draft.taken
        if not is_free or not draft.stays_connected(cell):
            break
        draft.taken.add(cell)
        draft.barred.add(cell)
        draft.add_hazard(cell, kind)
        cell = draft.floor.tiling.ahead(cell, heading)


def fixed_block(draft: Draft) -> None:
    """Add a block that never moves."""
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
"""Decoys by name."""
