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
        wanted = LOCKS[kind](draft, _cut(draft, wanted, 5 + 6 * left))


def _cut(draft: Draft, wanted: Cell, least: int) -> Cell:
    """A cell for a lock that leaves at least so many cells before it."""
    found = [
        cell
        for cell in draft.floor.cuts(draft.start, wanted, draft.closed)
        if cell not in draft.taken and len(draft.reach(cell)) >= least
    ]
    if not found:
        raise UnfitError("no cell for a lock")
    return draft.rng.choice(found)


def key_door(draft: Draft, cut: Cell) -> Cell:
    """A door and its key."""
    draft.close(cut)
    color = draft.unused_color()
    cell = draft.take(draft.near)
    key = draft.key(color, cell)
    door = draft.door(color, cut)
    draft.links.insert(0, Link("key-door", key, door, f"open the {color} door with the {color} key"))
    return cell


def master_key(draft: Draft, cut: Cell) -> Cell:
    """Two doors one behind the other for one key that is not used up."""
    draft.close(cut)
    draft.rules.key_consumption = False
    color = draft.unused_color()
    beside = next(cell for cell in draft.floor.neighbours[cut] if cell in draft.near)
    first = _cut(draft, beside, 5)
    draft.close(first)
    cell = draft.take(draft.near)
    key = draft.key(color, cell)
    outer = draft.door(color, first)
    inner = draft.door(color, cut)
    words = f"open both {color} doors with the {color} key"
    draft.links[:0] = [Link("key-door", key, outer, words), Link("key-door", key, inner, "")]
    return cell


def toggle_gate(draft: Draft, cut: Cell) -> Cell:
    """A gate and a switch that flips."""
    return _switched(draft, cut, "toggle")


def one_shot_gate(draft: Draft, cut: Cell) -> Cell:
    """A gate and a switch that can be used once."""
    return _switched(draft, cut, "one_shot")


def _switched(draft: Draft, cut: Cell, kind: SwitchType) -> Cell:
    draft.close(cut)
    cell = draft.take(draft.near)
    gate = draft.gate(cut)
    switch = draft.switch(cell, [gate], _named(draft, kind))
    draft.links.insert(0, Link("switch-gate", switch, gate, f"use the {_color(draft, switch)} switch to open a gate"))
    return cell


def _color(draft: Draft, switch: str) -> str:
    """What a model can see of a switch; it never sees ids."""
    return next(made.color for made in draft.made.switches if made.id == switch)


def _named(draft: Draft, kind: SwitchType) -> SwitchType | None:
    """The type of a switch, which it may leave to the rules where they say the same."""
    return None if kind == draft.rules.switch_type and draft.rng.random() < 0.5 else kind


def hold_gate(draft: Draft, cut: Cell) -> Cell:
    """A gate that is open while something stands on a switch, and a block to be pushed there."""
    draft.close(cut)
    away = [cell for cell in draft.near - draft.floor.narrow if draft.floor.tiling.distance(cell, cut) > 1]
    line = push_line(draft, away)
    gate = draft.gate(cut)
    switch = draft.switch(line.target, [gate], _named(draft, "hold"))
    block = draft.block(line.block)
    words = f"push a block onto the {_color(draft, switch)} switch, which holds a gate open"
    draft.links[:0] = [Link("block-switch", block, switch, words), Link("switch-gate", switch, gate, "")]
    return line.agent


def teleport(draft: Draft, cut: Cell) -> Cell:
    """A wall, and a teleporter to the other side of it."""
    far = draft.close(cut)
    draft.walled.add(cut)
    bidirectional = draft.rng.random() < 0.5
    landing = draft.take(far - draft.floor.narrow)
    entrance = draft.take(cell for cell in draft.near if cell not in draft.floor.narrow)
    name = draft.teleporter(entrance, landing, bidirectional=bidirectional)
    draft.links.insert(0, Link("teleporter", name, name, "take a teleporter"))
    return entrance


LOCKS: Final[Mapping[str, Lock]] = {
    lock.__name__: lock for lock in (key_door, master_key, toggle_gate, one_shot_gate, hold_gate, teleport)
}
"""Locks by name."""
