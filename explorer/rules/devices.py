"""Decide what devices and doors do at the end of a step: plates and doors change, and pressed buttons go off."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.rules.blocks import BLOCKS, State, variant
from explorer.rules.state import Door, RuleState
from explorer.scene import Cell, Change, move_by


def tick(state: RuleState) -> Iterator[Change]:
    """Yield the changes at the end of a step: first those of plates, then those of doors, then those of buttons."""
    # Plates change before doors, so doors read the new codes of plates.
    plates = dict(_move_plates(state))
    yield from (Change("block", cell, code=code) for cell, code in plates.items())

    buttons: dict[Cell, int] = {}
    for door in state.doors:
        devices_on = [cell for cell in door.needs if _is_on(state, plates, cell)]
        handles_on = [cell for cell in door.beside & state.placed if _is_on(state, plates, cell)]
        devices_needed = 1 if door.mode == "any" else max(1, len(door.needs))
        is_triggered = bool(handles_on) or len(devices_on) >= devices_needed
        if is_triggered and door.holds is not None:
            for cell in (*devices_on, *handles_on):
                code = state.block(cell)
                if _is_button(code):
                    buttons[cell] = variant(code, "")
        yield from _update_door(state, door, is_triggered)
    yield from (Change("block", cell, code=buttons[cell]) for cell in sorted(buttons))


def _move_plates(state: RuleState) -> Iterator[tuple[Cell, int]]:
    """Yield the cell and the new code of each plate that changes.

    After the change, only a plate in the cell of the feet is on.
    """
    feet = state.pose.cell
    for cell in sorted(state.pressed - {feet}):
        yield cell, variant(state.block(cell), "")
    block = BLOCKS[state.block(feet)]
    if block.kind == "plate" and block.state != "on":
        yield feet, variant(block.code, "on")


def _is_on(state: RuleState, plates: dict[Cell, int], cell: Cell) -> bool:
    """Return whether the device or plate in a cell is on.

    Args:
        plates: cell -> new code of each plate that changes in this step.
    """
    code = plates.get(cell)
    if code is None:
        code = state.block(cell)
    return BLOCKS[code].state == "on"


def _is_button(code: int) -> bool:
    return BLOCKS[code].name.endswith("_button")


def _update_door(state: RuleState, door: Door, is_triggered: bool) -> Iterator[Change]:
    """Yield the changes of a door and its timer.

    While a body is in the cells of the door, the door does not close.

    Args:
        is_triggered: whether enough devices are on to open the door.
    """
    is_open = BLOCKS[state.block(door.cells[0])].state == "open"
    steps_left = state.timers.get(door.name, 0)
    if is_triggered:
        if not is_open:
            yield from _turn_door(state, door, "open")
        if door.holds and steps_left != door.holds:
            yield Change("timer", name=door.name, count=door.holds)
    elif is_open and door.holds is not None:
        feet = state.pose.cell
        head = move_by(feet, (0, 1, 0))
        if steps_left:
            # A count of -1 removes the timer in its last step.
            count = -1 if steps_left == 1 else steps_left - 1
            yield Change("timer", name=door.name, count=count)
        elif feet not in door.cells and head not in door.cells:
            yield from _turn_door(state, door, "")


def _turn_door(state: RuleState, door: Door, turned: State) -> Iterator[Change]:
    """Yield the changes that put all blocks of a door into the state ``turned``."""
    for cell in door.cells:
        yield Change("block", cell, code=variant(state.block(cell), turned))
