"""The end of a step: plates follow the feet, doors follow their devices, and buttons spring back."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.rules.blocks import BLOCKS, variant
from explorer.rules.state import Door, RuleState
from explorer.scene import Cell, Change


def tick(state: RuleState) -> Iterator[Change]:
    """Yield the changes at the end of a step: first plates, then doors in their order, then buttons."""
    plates = dict(_plates(state))
    yield from (Change("block", cell, code=code) for cell, code in plates.items())
    buttons: dict[Cell, int] = {}
    for door in state.doors:
        on = [cell for cell in door.needs if _is_on(state, plates, cell)]
        handles = [cell for cell in door.beside & state.placed if _is_on(state, plates, cell)]
        met = bool(handles) or (bool(on) and (door.mode == "any" or len(on) == len(door.needs)))
        if met and door.holds is not None:
            buttons |= {cell: variant(code, "") for cell in (*on, *handles) if _is_button(code := state.block(cell))}
        yield from _swing(state, door, met)
    yield from (Change("block", cell, code=buttons[cell]) for cell in sorted(buttons))


def _plates(state: RuleState) -> Iterator[tuple[Cell, int]]:
    """Yield plates that change, with their new codes."""
    feet = state.pose.cell
    for cell in sorted(state.pressed - {feet}):
        yield cell, variant(state.block(cell), "")
    under = BLOCKS[state.block(feet)]
    if under.kind == "plate" and under.state != "on":
        yield feet, variant(under.code, "on")


def _is_on(state: RuleState, plates: dict[Cell, int], cell: Cell) -> bool:
    code = plates.get(cell)
    return BLOCKS[state.block(cell) if code is None else code].state == "on"


def _is_button(code: int) -> bool:
    return BLOCKS[code].name.endswith("_button")


def _swing(state: RuleState, door: Door, met: bool) -> Iterator[Change]:
    is_open = BLOCKS[state.block(door.cells[0])].state == "open"
    left = state.timers.get(door.name, 0)
    if met:
        if not is_open:
            yield from (Change("block", cell, code=variant(state.block(cell), "open")) for cell in door.cells)
        if door.holds and left != door.holds:
            yield Change("timer", name=door.name, count=door.holds)
    elif is_open and door.holds is not None:
        x, y, z = state.pose.cell
        if left:
            yield Change("timer", name=door.name, count=left - 1 or -1)
        elif not {(x, y, z), (x, y + 1, z)} & set(door.cells):
            yield from (Change("block", cell, code=variant(state.block(cell), "")) for cell in door.cells)
