"""What a model is told about its last actions, from what it could see itself (pure).

Observations before and after are compared, never states: nothing that the observability hides gets into the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from gridworld.actions import ACTION_NAMES, Action
from gridworld.rules.observation import CODES, LOOKS, UNSEEN, Look, Observation
from gridworld.rules.tilings import TILINGS

_MOST_CHANGES: Final = 6
_WALL: Final = CODES[Look("wall")]
"""Larger codes are things."""


def line(step: int, action_name: str, before: Observation, after: Observation) -> str:
    """Return one line: the step, the action and what it changed as far as the model could see."""
    changes = list(changes_between(before, after))
    told = changes[:_MOST_CHANGES]
    if len(changes) > len(told):
        told.append(f"{len(changes) - len(told)} more changes")
    summary = "; ".join(told) if told else "nothing changed"
    return f"step {step}: {action_name}: {summary}"


def changes_between(before: Observation, after: Observation) -> Iterator[str]:
    """Yield each visible change: place, heading, hand, and the looks of known cells that are seen now."""
    if after.position != before.position:
        yield f"moved from {_at(before.position)} to {_at(after.position)}"
    if after.heading != before.heading:
        yield f"now facing {TILINGS[after.tiling].heading_names[after.heading]}"
    if after.carrying != before.carrying:
        if after.carrying:
            yield f"the {after.carrying} key is in hand"
        else:
            yield f"the {before.carrying} key left the hand"
    known = (before.codes != UNSEEN) & after.visible & (before.codes != after.codes)
    for row, column in np.argwhere(known).tolist():
        old = LOOKS[before.codes[row, column]]
        new = LOOKS[after.codes[row, column]]
        yield f"{_at((column, row))}: {old} became {new}"


def surprise(action_name: str, before: Observation, after: Observation) -> str:
    """Return what an action did that its plan could not count on, "" if nothing: a reason to think again."""
    changes = changes_between(before, after)
    if action_name != ACTION_NAMES[Action.DONE] and next(changes, None) is None:
        return "it changed nothing"
    tiling = TILINGS[after.tiling]
    if after.position not in (before.position, tiling.ahead(before.position, before.heading)):
        return f"it led to {_at(after.position)}"
    new = (before.codes == UNSEEN) & (after.codes > _WALL)
    for row, column in np.argwhere(new).tolist():
        look = LOOKS[after.codes[row, column]]
        return f"{look} came into view at {_at((column, row))}"
    return ""


def _at(cell: tuple[int, int]) -> str:
    return f"column {cell[0]}, row {cell[1]}"
