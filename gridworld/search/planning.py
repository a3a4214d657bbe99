"""One greedy step towards the goal, for a model that knows the whole task, including hidden mechanisms."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.transition import transition
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation, goal_pattern

_KEPT: Final = 8
"""Number of layouts whose relaxation is cached: more than are played at the same time."""

_GREEDY: Final = (
    Action.MOVE_FORWARD,
    Action.PICKUP,
    Action.TOGGLE,
    Action.TURN_LEFT,
    Action.TURN_RIGHT,
    Action.DROP,
    Action.DONE,
)
"""Order of preference among actions that come equally close."""


def greedy_action(layout: Layout, state: State) -> Action:
    """Return the action after which the goal is closest, ignoring doors, gates and blocks that the goal does not name.

    It looks one step ahead and fetches no key for a door in its way: it stops there and fails. It never walks into a
    hazard. If all actions are equally close it moves forward; if there is no way it waits.
    """
    relaxation = _ignoring_locks(layout)
    distances = {action: relaxation.distance(transition(layout, state, action)) for action in _GREEDY}
    best = min(_GREEDY, key=distances.__getitem__)
    return best if distances[best] < UNREACHABLE else Action.DONE


@lru_cache(maxsize=_KEPT)
def _ignoring_locks(layout: Layout) -> Relaxation:
    return Relaxation(layout, pattern=goal_pattern(layout))
