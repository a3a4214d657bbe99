"""Chains of locks that are necessary by construction.

The chain is laid backwards from the goal. A lock is put on a cut: a cell that every path from the start to the goal
passes. The opener of the lock (key, switch, block) is put on the start's side of the cut. The cell of the opener is the
goal of the next lock, and so on. Each step therefore depends on the step before, and no step can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from gridworld.generating.draft import Draft, Link, UnfitError
from gridworld.generating.pushing import push_line
from gridworld.rules.tilings import Cell
from gridworld.task_spec import SwitchType

Lock: TypeAlias = Callable[[Draft, Cell], Cell]
"""Function that puts a lock on a cell and the opener on the start's side; returns the cell where the agent starts to
open the lock (the cell of the key, of the switch, of the entrance, or of the first push)."""


def lay_chain(draft: Draft, kinds: Sequence[str]) -> None:
    """Put a lock of each of ``kinds`` between start and goal; the agent opens the locks in the order of ``kinds``.

    Raises:
        UnfitError: the floor has no room for all locks.
    """
    target = draft.goal
    for remaining, kind in reversed(list(enumerate(kinds))):
        # The locks that remain to be laid need room on the start's side: about 6 cells each.
        cut = _choose_cut(draft, target, 5 + 6 * remaining)
        target = LOCKS[kind](draft, cut)


def _choose_cut(draft: Draft, target: Cell, least: int) -> Cell:
    """Return a free cell that separates start and target, with at least ``least`` cells on the start's side."""
    cuts = draft.floor.cuts(draft.start, target, draft.closed)
    fitting = [cell for cell in cuts if cell not in draft.taken and len(draft.find_reachable(cell)) >= least]
    if not fitting:
        raise UnfitError("no cell for a lock")
    return draft.rng.choice(fitting)


def key_door(draft: Draft, cut: Cell) -> Cell:
    """Add a door on the cut, and its key; return the cell of the key."""
    draft.close(cut)
    color = draft.choose_unused_color()
    cell = draft.take(draft.near)
    key = draft.add_key(color, cell)
    door = draft.add_door(color, cut)
    words = f"open the {color} door with the {color} key"
    draft.links.insert(0, Link("key-door", key, door, words))
    return cell


def master_key(draft: Draft, cut: Cell) -> Cell:
    """Add two doors in a row, and one key that opens the two doors; return the cell of the key.

    The rules of the task are changed so that doors do not consume keys.
    """
    draft.close(cut)
    draft.rules.key_consumption = False
    color = draft.choose_unused_color()
    beside = next(cell for cell in draft.floor.neighbours[cut] if cell in draft.near)
    outer_cut = _choose_cut(draft, beside, 5)
    draft.close(outer_cut)
    cell = draft.take(draft.near)
    key = draft.add_key(color, cell)
    outer = draft.add_door(color, outer_cut)
    inner = draft.add_door(color, cut)
    words = f"open both {color} doors with the {color} key"
    draft.links[:0] = [Link("key-door", key, outer, words), Link("key-door", key, inner, "")]
    return cell


def toggle_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate on the cut, and a toggle switch; return the cell of the switch."""
    return _add_switched_gate(draft, cut, "toggle")


def one_shot_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate on the cut, and a switch that works only once; return the cell of the switch."""
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
    """Return the colour of a switch; texts name colours because a model sees no ids."""
    return next(spec.color for spec in draft.mechanisms.switches if spec.id == switch)


def _choose_named_type(draft: Draft, kind: SwitchType) -> SwitchType | None:
    """Return ``kind``, or None, which means the type of the rules.

    If the rules have the type ``kind``, None is returned in half of the cases.
    """
    # The order matters: a random number is drawn only if the types are the same.
    leave_to_rules = kind == draft.rules.switch_type and draft.rng.random() < 0.5
    return None if leave_to_rules else kind


def hold_gate(draft: Draft, cut: Cell) -> Cell:
    """Add a gate, a switch that holds the gate open while a block stands on the switch, and the block.

    Return the cell where the agent starts to push the block.
    """
    draft.close(cut)
    tiling = draft.floor.tiling
    targets = [cell for cell in draft.near - draft.floor.narrow if tiling.distance(cell, cut) > 1]
    line = push_line(draft, targets)
    gate = draft.add_gate(cut)
    switch = draft.add_switch(line.target, [gate], _choose_named_type(draft, "hold"))
    block = draft.add_block(line.block)
    words = f"push a block onto the {_find_color(draft, switch)} switch, which holds a gate open"
    draft.links[:0] = [Link("block-switch", block, switch, words), Link("switch-gate", switch, gate, "")]
    return line.agent


def teleport(draft: Draft, cut: Cell) -> Cell:
    """Add a wall on the cut, and a teleporter from the start's side to the other; return the cell of the entrance."""
    other_side = draft.close(cut)
    draft.walled.add(cut)
    bidirectional = draft.rng.random() < 0.5
    landing = draft.take(other_side - draft.floor.narrow)
    entrance = draft.take(cell for cell in draft.near if cell not in draft.floor.narrow)
    name = draft.add_teleporter(entrance, landing, bidirectional=bidirectional)
    draft.links.insert(0, Link("teleporter", name, name, "take a teleporter"))
    return entrance


LOCKS: Final[Mapping[str, Lock]] = {
    lock.__name__: lock for lock in (key_door, master_key, toggle_gate, one_shot_gate, hold_gate, teleport)
}
"""Locks by name."""
