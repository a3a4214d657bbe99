"""Chains of locks that are necessary by construction.

The chain is laid backwards. What is wanted lies behind a cell that every way from the start to it passes: there goes a
lock, and its opener is put on the start's side; then the opener is what is wanted, and so on. Every step thus depends
on the one before it, and none can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from gridworld.generating.draft import Draft, Link, UnfitError
from gridworld.generating.pushing import push_line
from gridworld.rules.tilings import Cell
from gridworld.task_spec import SwitchType

Lock: TypeAlias = Callable[[Draft, Cell], Cell]
"""Puts a lock on a cell and its opener on the start's side; where the opener is."""


def lay_chain(draft: Draft, kinds: Sequence[str]) -> None:
    """Lock the goal away behind locks of these kinds, the last one first.

    Raises:
        UnfitError: the floor has no room for so many.
    """
    wanted = draft.goal
    for left, kind in reversed(list(enumerate(kinds))):
        wanted = LOCKS[kind](draft, _choose_cut(draft, wanted, 5 + 6 * left))


def _choose_cut(draft: Draft, wanted: Cell, least: int) -> Cell:
    """Return a cell for a lock that leaves at least ``least`` cells before it."""
    cuts = draft.floor.cuts(draft.start, wanted, draft.closed)
    found = [cell for cell in cuts if cell not in draft.taken and len(draft.find_reachable(cell)) >= least]
    if not found:
        raise UnfitError("no cell for a lock")
    return draft.rng.choice(found)


def key_door(draft: Draft, cut: Cell) -> Cell:
    """Add a door and its key."""
    draft.close(cut)
    color = draft.choose_unused_color()
    cell = draft.take(draft.near)
    key = draft.add_key(color, cell)
    door = draft.add_door(color, cut)
    words = f"open the {color} door with the {color} key"
    draft.links.insert(0, Link("key-door", key, door, words))
    return cell


def master_key(draft: Draft, cut: Cell) -> Cell:
    """Add two doors one behind the other for one key that is not used up."""
    draft.close(cut)
    draft.rules.key_consumption = False
    color = draft.choose_unused_color()
    beside = next(cell for cell in draft.floor.neighbours[cut] if cell in draft.near)
    first = _choose_cut(draft, beside, 5)
    draft.close(first)
    cell = draft.take(draft.near)
    key = draft.add_key(color, cell)
    outer = draft.add_door(color, first)
    inner = draft.add_door(color, cut)
    words = f"open both {color} doors with the {color} key"
    draft.links[:0] = [Link("key-door", key, outer, words), Link("key-door", key, inner, "")]
    return cell


def toggle_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate and a switch that flips."""
    return _add_switched_gate(draft, cut, "toggle")


def one_shot_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate and a switch that can be used once."""
    return _add_switched_gate(draft, cut, "one_shot")


def _add_switched_gate(draft: Draft, cut: Cell, kind: SwitchType) -> Cell:
    draft.close(cut)
    cell = draft.take(draft.near)
    gate = draft.add_gate(cut)
    switch = draft.add_switch(cell, [gate], _choose_named_type(draft, kind))
    words = f"use the {_find_color(draft, switch)} switch to open a gate"
    draft.links.insert(0, Link("switch-gate", switch, gate, words))
    return cell


def _find_color(draft: Draft, switch: str) -> str:
    """Return the colour of a switch: a model sees this and never ids."""
    return next(made.color for made in draft.made.switches if made.id == switch)


def _choose_named_type(draft: Draft, kind: SwitchType) -> SwitchType | None:
    """Return the type of a switch, which it may leave to the rules where they say the same."""
    return None if kind == draft.rules.switch_type and draft.rng.random() < 0.5 else kind


def hold_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate that is open while something stands on a switch, and a block to be pushed there."""
    draft.close(cut)
    tiling = draft.floor.tiling
    away = [cell for cell in draft.near - draft.floor.narrow if tiling.distance(cell, cut) > 1]
    line = push_line(draft, away)
    gate = draft.add_gate(cut)
    switch = draft.add_switch(line.target, [gate], _choose_named_type(draft, "hold"))
    block = draft.add_block(line.block)
    words = f"push a block onto the {_find_color(draft, switch)} switch, which holds a gate open"
    draft.links[:0] = [Link("block-switch", block, switch, words), Link("switch-gate", switch, gate, "")]
    return line.agent


def teleport(draft: Draft, cut: Cell) -> Cell:
    """Add a wall, and a teleporter to the other side of it."""
    far = draft.close(cut)
    draft.walled.add(cut)
    bidirectional = draft.rng.random() < 0.5
    landing = draft.take(far - draft.floor.narrow)
    entrance = draft.take(cell for cell in draft.near if cell not in draft.floor.narrow)
    name = draft.add_teleporter(entrance, landing, bidirectional=bidirectional)
    draft.links.insert(0, Link("teleporter", name, name, "take a teleporter"))
    return entrance


LOCKS: Final[Mapping[str, Lock]] = {
    lock.__name__: lock for lock in (key_door, master_key, toggle_gate, one_shot_gate, hold_gate, teleport)
}
"""Locks by name."""
