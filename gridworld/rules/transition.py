"""The transition function, the only implementation of the rules of docs/gridworld_rules.md (pure).

Both backends, the exact solver, the bfs and greedy models and the certificates use this function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import Cell
from gridworld.task.conditions import Condition

_Item = TypeVar("_Item")

# Actions that aim at the cell ahead.
_TOUCHING: Final = frozenset({Action.MOVE_FORWARD, Action.PICKUP, Action.DROP, Action.TOGGLE})


def transition(layout: Layout, state: State, action: Action) -> State:
    """Return the state after an action.

    Every action ends the cooldown of a teleporter, even if the action has no other effect.

    Args:
        state: the state before the action; the agent must not be dead.
    """
    before = state._replace(cooling="") if state.cooling else state
    if action is Action.TURN_LEFT:
        return before._replace(heading=(state.heading - 1) % layout.tiling.headings)
    if action is Action.TURN_RIGHT:
        return before._replace(heading=(state.heading + 1) % layout.tiling.headings)
    effect = _EFFECTS.get(action)
    after = effect(layout, before) if effect else before
    if layout.hidden:
        after = _touch_hidden(layout, before, after, action)
    return after


def achieved(layout: Layout, state: State, *, at_limit: bool = False) -> bool:
    """Return whether the goal and its conditions hold in a state.

    Args:
        at_limit: whether the step count has reached ``max_steps``.
    """
    if state.dead or not _goal_holds(layout, state, at_limit):
        return False
    return all(_condition_holds(layout, state, condition) for condition in layout.conditions)


def _forward(layout: Layout, state: State) -> State:
    """Return the state after a step forward, which may push a block; if the step is barred, the state is unchanged."""
    ahead = layout.tiling.ahead(state.position, state.heading)
    if ahead in state.block_cells:
        beyond = layout.tiling.ahead(ahead, state.heading)
        index = state.block_cells.index(ahead)
        can_push = layout.pushable[index] and layout.takes_block(beyond, state)
        if not can_push:
            return state
        blocks = _replace_item(state.block_cells, index, beyond)
    elif layout.can_enter(ahead, state):
        blocks = state.block_cells
    else:
        return state
    return _arrive(layout, state, ahead, blocks)


def _arrive(layout: Layout, state: State, cell: Cell, blocks: tuple[Cell, ...]) -> State:
    """Return the state after the agent enters a cell, with the effects of hazards, teleporters and hold switches."""
    cooling = ""
    dead = cell in layout.hazards
    portal = layout.portals.get(cell)
    if portal is not None:
        cell = portal.exit
        cooling = portal.partner
    return state._replace(
        position=cell,
        block_cells=blocks,
        active_switches=layout.apply_holds(state.active_switches, cell, blocks),
        cooling=cooling,
        dead=dead,
    )


def _pickup(layout: Layout, state: State) -> State:
    """Return the state after the agent picks up the key on its own cell or, if no key lies there, on the cell ahead."""
    if state.carrying is not None:
        return state
    for cell in (state.position, layout.tiling.ahead(state.position, state.heading)):
        if cell in state.key_cells:
            index = state.key_cells.index(cell)
            name = layout.keys[index].id
            key_cells = _replace_item(state.key_cells, index, None)
            return state._replace(carrying=name, key_cells=key_cells, collected=state.collected | {name})
    return state


def _drop(layout: Layout, state: State) -> State:
    """Return the state after the agent drops its key on the cell ahead, if this cell is free."""
    ahead = layout.tiling.ahead(state.position, state.heading)
    if state.carrying is None or not layout.is_free(ahead, state):
        return state
    index = layout.key_index[state.carrying]
    return state._replace(carrying=None, key_cells=_replace_item(state.key_cells, index, ahead))


def _replace_item(items: tuple[_Item, ...], index: int, item: _Item) -> tuple[_Item, ...]:
    """Return a copy of a tuple with another item at an index."""
    return (*items[:index], item, *items[index + 1 :])


def _toggle(layout: Layout, state: State) -> State:
    """Return the state after the agent uses the switch on its own cell or, without a switch, opens the door ahead."""
    if state.position in layout.switches:
        return _toggle_switch(layout, state, state.position)
    door = layout.doors.get(layout.tiling.ahead(state.position, state.heading))
    if door is None or door.id in state.open_doors or state.carrying is None:
        return state
    if layout.colour_of_key[state.carrying] != door.requires_key:
        return state
    carrying = None if layout.spec.rules.key_consumption else state.carrying
    return state._replace(open_doors=state.open_doors | {door.id}, carrying=carrying)


def _toggle_switch(layout: Layout, state: State, cell: Cell) -> State:
    """Return the state after the agent uses a switch: toggle flips, one_shot stays on, hold ignores the action."""
    name = layout.switches[cell].id
    kind = layout.switch_type(name)
    if kind == "hold":
        return state
    active = state.active_switches | {name} if kind == "one_shot" else state.active_switches ^ {name}
    return state._replace(active_switches=active)


_EFFECTS: Final[dict[Action, Callable[[Layout, State], State]]] = {
    Action.MOVE_FORWARD: _forward,
    Action.PICKUP: _pickup,
    Action.DROP: _drop,
    Action.TOGGLE: _toggle,
}


def _touch_hidden(layout: Layout, before: State, after: State, action: Action) -> State:
    """Return the state ``after``, in which newly touched hidden mechanisms are added to ``touched``.

    The agent touches the mechanisms on its own cell, and on the cell ahead if the action aims at that cell.
    """
    touched = after.touched | layout.hidden_at(after, after.position)
    if action in _TOUCHING:
        ahead = layout.tiling.ahead(before.position, before.heading)
        touched |= layout.hidden_at(before, ahead)
    return after if touched == after.touched else after._replace(touched=touched)


def _goal_holds(layout: Layout, state: State, at_limit: bool) -> bool:
    """Return whether the goal holds, without its auxiliary conditions."""
    goal = layout.spec.goal
    if goal.goal_type == "reach_position":
        return state.position == layout.goal_square
    if goal.goal_type == "collect_all":
        open_gates = layout.open_gates(state.active_switches)
        fulfilled = state.collected.union(state.active_switches, state.open_doors, open_gates)
        return fulfilled.issuperset(goal.target_ids)
    if goal.goal_type == "push_block_to":
        for name, target in zip(goal.target_ids, goal.target_positions, strict=True):
            cell = state.block_cells[layout.block_index[name]]
            if cell != target.to_tuple():
                return False
        return True
    return at_limit  # survive_steps


def _condition_holds(layout: Layout, state: State, condition: Condition) -> bool:
    match condition.kind:
        case "collected":
            holds = condition.id in state.collected
        case "carrying":
            holds = condition.id == state.carrying
        case "open":
            holds = condition.id in state.open_doors or condition.id in layout.open_gates(state.active_switches)
        case "active":
            holds = condition.id in state.active_switches
        case _:  # "at"
            holds = state.block_cells[layout.block_index[condition.id]] == condition.position
    return holds != condition.negated
