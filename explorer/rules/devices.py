"""The end of a step: plates follow the feet, doors follow their devices, and buttons spring back."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.rules.blocks import BLOCKS, State, variant
from explorer.rules.state import Door, RuleState
from explorer.scene import Cell, Change, move_by


def tick(state: RuleState) -> Iterator[Change]:
    """Yield the changes at the end of a step: first plates, then doors in their order, then buttons."""
    plates = dict(_move_plates(state))
    yield from (Change("block", cell, code=code) for cell, code in plates.items())

    buttons: dict[Cell, int] = {}
    for door in state.doors:
        on = [cell for cell in door.needs if _is_on(state, plates, cell)]
        handles = [cell for cell in door.beside & state.placed if _is_on(state, plates, cell)]
        enough = 1 if door.mode == "any" else max(1, len(door.needs))
        met = bool(handles) or len(on) >= enough
        if met and door.holds is not None:
            for cell in (*on, *handles):
                code = state.block(cell)
                if _is_button(code):
                    buttons[cell] = variant(code, "")
        yield from _swing(state, door, met)
    yield from (Change("block", cell, code=buttons[cell]) for cell in sorted(buttons))


def _move_plates(state: RuleState) -> Iterator[tuple[Cell, int]]:
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
    """Yield the changes of a door and its timer; a body in its cells keeps it open."""
    is_open = BLOCKS[state.block(door.cells[0])].state == "open"
    left = state.timers.get(door.name, 0)
    if met:
        if not is_open:
            yield from _turn_door(state, door, "open")
        if door.holds and left != door.holds:
            yield Change("timer", name=door.name, count=door.holds)
    elif is_open and door.holds is not None:
        feet = state.pose.cell
        head = move_by(feet, (0, 1, 0))
        if left:
            yield Change("timer", name=door.name, count=left - 1 or -1)
        elif feet not in door.cells and head not in door.cells:
            yield from _turn_door(state, door, "")


def _turn_door(state: RuleState, door: Door, turned: State) -> Iterator[Change]:
    """Yield the changes that open or shut a door."""
    for cell in door.cells:
        yield Change("block", cell, code=variant(state.block(cell), turned))
