"""One greedy step towards the goal, for a model that knows the whole task, including hidden mechanisms."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.transition import transition
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation, goal_pattern

_KEPT: Final = 8
"""Number of layouts whose relaxation is cached; greater than the number of tasks played at the same time."""

_GREEDY: Final = (
    Action.MOVE_FORWARD,
    Action.PICKUP,
    Action.TOGGLE,
    Action.TURN_LEFT,
    Action.TURN_RIGHT,
    Action.DROP,
    Action.DONE,
)
"""All actions; if several actions lead equally close to the goal, the first of them is preferred."""


def greedy_action(layout: Layout, state: State) -> Action:
    """Return the action that leads closest to the goal, ignoring doors, gates and blocks that the goal does not name.

    The function looks only one step ahead. It fetches no key for a door on the path, so the agent stops at the door and
    fails. The agent never walks into a hazard. If all actions are equally good, the agent moves forward. If the goal
    cannot be reached, the agent waits.
    """
    relaxation = _ignoring_locks(layout)
    distances = {action: relaxation.distance(transition(layout, state, action)) for action in _GREEDY}
    best = min(_GREEDY, key=distances.__getitem__)
    return best if distances[best] < UNREACHABLE else Action.DONE


@lru_cache(maxsize=_KEPT)
def _ignoring_locks(layout: Layout) -> Relaxation:
    """Return a relaxation in which only the mechanisms named by the goal matter."""
    return Relaxation(layout, pattern=goal_pattern(layout))
