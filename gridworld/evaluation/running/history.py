"""Descriptions of the effects of a model's last actions, made from the model's observations (pure).

Only the observations before and after an action are compared, never the states. The descriptions therefore keep hidden
what the observability hides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from gridworld.actions import ACTION_NAMES, Action
from gridworld.rules.observation import CODES, LOOKS, UNSEEN, Look, Observation
from gridworld.rules.tilings import TILINGS

_MAX_CHANGES: Final = 6
"""Largest number of changes that one line describes."""
_WALL: Final = CODES[Look("wall")]
"""Code of a wall. All larger codes stand for things: mechanisms, the goal and targets."""


def line(step: int, action_name: str, before: Observation, after: Observation) -> str:
    """Return a line with the step, the action and the changes that the model could see."""
    changes = list(changes_between(before, after))
    described = changes[:_MAX_CHANGES]
    if len(changes) > len(described):
        described.append(f"{len(changes) - len(described)} more changes")
    summary = "; ".join(described) if described else "nothing changed"
    return f"step {step}: {action_name}: {summary}"


def changes_between(before: Observation, after: Observation) -> Iterator[str]:
    """Yield a description of each visible change: of position, heading, carried key, and cells seen before."""
    if after.position != before.position:
        yield f"moved from {_at(before.position)} to {_at(after.position)}"
    if after.heading != before.heading:
        yield f"now facing {TILINGS[after.tiling].heading_names[after.heading]}"
    if after.carrying != before.carrying:
        if after.carrying:
            yield f"the {after.carrying} key is in hand"
        else:
            yield f"the {before.carrying} key left the hand"
    changed = (before.codes != UNSEEN) & after.visible & (before.codes != after.codes)
    for row, column in np.argwhere(changed).tolist():
        old = LOOKS[before.codes[row, column]]
        new = LOOKS[after.codes[row, column]]
        yield f"{_at((column, row))}: {old} became {new}"


def surprise(action_name: str, before: Observation, after: Observation) -> str:
    """Return why the model should plan again after an action, or "" if the plan may go on.

    Reasons are an action without effect, a move by more than one cell, and a thing that came into view.
    """
    may_be_idle = action_name == ACTION_NAMES[Action.DONE]
    if not may_be_idle and next(changes_between(before, after), None) is None:
        return "it changed nothing"
    tiling = TILINGS[after.tiling]
    if after.position not in (before.position, tiling.ahead(before.position, before.heading)):
        return f"it led to {_at(after.position)}"
    came_into_view = (before.codes == UNSEEN) & (after.codes > _WALL)
    cells = np.argwhere(came_into_view).tolist()
    if not cells:
        return ""
    row, column = cells[0]
    look = LOOKS[after.codes[row, column]]
    return f"{look} came into view at {_at((column, row))}"


def _at(cell: tuple[int, int]) -> str:
    column, row = cell
    return f"column {column}, row {row}"
