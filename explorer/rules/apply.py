"""Decide what an action of the hands changes, and what devices and doors do, in every world.

:func:`apply` reads a state without changing it, and returns the changes or the reason for a refusal.
:mod:`explorer.rules.moves` decides where a body moves. :mod:`explorer.rules.reach` decides on which cell the hands act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from explorer.rules.blocks import AIR, BLOCKS, LAVA, REPLACEABLE, SOLID, Block, variant
from explorer.rules.devices import tick
from explorer.rules.items import block_of, digs, tool_needed
from explorer.rules.mobs import mob_kind
from explorer.rules.moves import stands
from explorer.rules.reach import table_in_reach
from explorer.rules.recipes import RECIPES, recipe, take_ingredients
from explorer.rules.state import RuleState
from explorer.scene import Cell, Change, Event, Stack


@dataclass(frozen=True, slots=True)
class Applied:
    """The effect of an event: either changes or a refusal.

    Attributes:
        changes: the changes in order; empty if the event was refused or changes nothing.
        refusal: why the event was refused, or "".
    """

    changes: tuple[Change, ...] = ()
    refusal: str = ""


def apply(state: RuleState, event: Event) -> Applied:
    """Return the effect of an event on a state, without changing the state.

    For the events ``arrive`` and ``tick``, the state must contain the pose after the step.
    """
    return _EFFECTS[event.kind](state, event)


def _arrive(state: RuleState, _: Event) -> Applied:
    """Return the effect of picking up all stacks that lie in the cell of the feet."""
    cell = state.pose.cell
    stacks = state.items.get(cell, ())
    if not stacks:
        return Applied()
    return Applied((Change("items", cell), *_gain(stacks)))


def _tick(state: RuleState, _: Event) -> Applied:
    return Applied(tuple(tick(state)))


def _use(state: RuleState, event: Event) -> Applied:
    """Return the effect of using a device, chest or door; using any other block is refused."""
    cell = _require_cell(event)
    block = BLOCKS[state.block(cell)]
    match block.kind:
        case "device":
            return _switch(cell, block)
        case "chest":
            return _empty_chest(state, cell)
        case "door":
            return _open_door(state, cell, block)
        case "table":
            return Applied(refusal="craft by name")
        case _:
            return Applied(refusal="nothing to use")


def _switch(cell: Cell, device: Block) -> Applied:
    """Return the effect of switching a lever or pressing a button.

    A button that is on cannot be pressed again until it goes off, which happens at the end of a later step.
    """
    if device.state == "on" and device.name != "lever":
        return Applied(refusal="already pressed")
    switched = variant(device.code, "" if device.state else "on")
    return Applied((Change("block", cell, code=switched),))


def _empty_chest(state: RuleState, cell: Cell) -> Applied:
    """Return the effect of taking everything out of a chest."""
    stacks = state.chests.get(cell, ())
    if not stacks:
        return Applied(refusal="empty")
    return Applied((Change("chest", cell), *_gain(stacks)))


def _open_door(state: RuleState, cell: Cell, block: Block) -> Applied:
    """Return the effect of opening all blocks of a door; if only devices open this door, the event is refused."""
    if any(cell in door.cells for door in state.doors):
        return Applied(refusal="it has no handle")
    opened = variant(block.code, "open")
    cells = _find_door(state, cell, block.code)
    return Applied(tuple(Change("block", each, code=opened) for each in cells))


def _dig(state: RuleState, event: Event) -> Applied:
    """Return the effect of digging a natural block: air replaces the block, and the agent gets its drop."""
    cell = _require_cell(event)
    block = BLOCKS[state.block(cell)]
    if cell in state.placed:
        return Applied(refusal="placed blocks are final")
    if not block.breakable:
        return Applied(refusal="cannot be broken")
    if not digs(state.held, block):
        return Applied(refusal=f"needs {tool_needed(block)}")
    drops = (Stack(block.drop),) if block.drop else ()
    return Applied((Change("block", cell, code=AIR), *_gain(drops)))


def _attack(state: RuleState, event: Event) -> Applied:
    """Return the effect of attacking the mob that the event names: the mob disappears, and the agent gets its drop."""
    mob = next((mob for mob in state.mobs if mob.name == event.name), None)
    if mob is None:
        return Applied(refusal="nothing to attack")
    drop = mob_kind(mob.kind).drop
    return Applied((Change("mob", mob.cell, mob.name), *_gain((drop,))))


def _place(state: RuleState, event: Event) -> Applied:
    """Return the effect of placing the block of the held item, which uses up one item.

    For the primitive ``place_below``, the cell of the event is the cell of the feet. The body jumps before the block is
    placed.
    """
    cell = _require_cell(event)
    placed = block_of(state.held) if state.held else None
    if state.held is None or placed is None:
        return Applied(refusal="nothing to place in hand")
    if cell == state.pose.cell and not SOLID[placed]:
        return Applied(refusal="it is not solid")
    if not REPLACEABLE[state.block(cell)]:
        return Applied(refusal="something is in the way")
    if state.block(cell) == LAVA and not SOLID[placed]:
        return Applied(refusal="lava burns it")
    filled = Change("block", cell, code=placed), Change("placed", cell)
    return Applied((*filled, *_spend(state, {state.held: 1})))


def _hold(state: RuleState, event: Event) -> Applied:
    """Return the effect of taking in hand the item that the event names."""
    if not state.inventory.get(event.name):
        return Applied(refusal=f"no {event.name} in the inventory")
    return Applied((Change("hold", name=event.name),))


def _drop(state: RuleState, event: Event) -> Applied:
    """Return the effect of dropping one held item into the cell of the event, in which a body must be able to stand."""
    cell = _require_cell(event)
    if state.held is None:
        return Applied(refusal="nothing in hand")
    if not stands(state, cell):
        return Applied(refusal="no room for it in front")
    dropped = Change("items", cell, stacks=(Stack(state.held),))
    return Applied((dropped, *_spend(state, {state.held: 1})))


def _craft(state: RuleState, event: Event) -> Applied:
    """Return the effect of crafting: the agent loses the ingredients of the recipe and gets its product."""
    chosen = RECIPES[recipe(event.name)]
    ingredients = take_ingredients(chosen, state.inventory)
    if ingredients is None:
        return Applied(refusal="ingredients are missing")
    if chosen.table and not table_in_reach(state):
        return Applied(refusal="needs a crafting table in reach")
    gained = _gain((Stack(chosen.makes, chosen.count),))
    return Applied((*_spend(state, ingredients), *gained))


def _find_door(state: RuleState, cell: Cell, code: int) -> Iterable[Cell]:
    """Yield the cells of a door from bottom to top.

    These cells form a vertical column without gaps, which includes ``cell``. Each holds a block with the code ``code``.
    """
    x, low, z = cell
    while state.block((x, low - 1, z)) == code:
        low -= 1
    level = low
    while state.block((x, level, z)) == code:
        yield x, level, z
        level += 1


def _gain(stacks: Iterable[Stack]) -> tuple[Change, ...]:
    """Return the changes that add the items of some stacks to the inventory."""
    return tuple(Change("inventory", name=stack.item, count=stack.count) for stack in stacks)


def _spend(state: RuleState, taken: Mapping[str, int]) -> tuple[Change, ...]:
    """Return the changes that remove items from the inventory.

    If no held item is left, a further change empties the hand.

    Args:
        taken: item -> how many to remove.
    """
    changes = [Change("inventory", name=name, count=-count) for name, count in taken.items()]
    held = state.held
    # A change "hold" without a name empties the hand.
    if held and taken.get(held, 0) >= state.inventory.get(held, 0):
        changes.append(Change("hold"))
    return tuple(changes)


def _require_cell(event: Event) -> Cell:
    """Return the cell of an event whose kind always has a cell."""
    if event.cell is None:
        raise ValueError(f"{event.kind} without a cell")
    return event.cell


_EFFECTS: Final[dict[str, Callable[[RuleState, Event], Applied]]] = {
    "arrive": _arrive,
    "tick": _tick,
    "use": _use,
    "dig": _dig,
    "attack": _attack,
    "place": _place,
    "hold": _hold,
    "drop": _drop,
    "craft": _craft,
}
