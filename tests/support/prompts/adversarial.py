"""24 prompts in which the obvious answer is wrong: 18 of the planner and 6 of the coder, in drawn worlds.

What the mission names is not in sight but its likes are; two things are alike; ways remain open beside a locked door,
whose key there is not or cannot be had; a thing stands before a door, or hides that there is one; keys do not fit. The
agent's actions do what they say and nothing else: no way is cleared and no door unlocked on the side.
"""

from __future__ import annotations

from typing import Final

from tests.support.prompts.barred import BLOCKERS, KEYS, OPEN_WAYS
from tests.support.prompts.unseen import ALIKE, BLUE_BALL, UNSEEN
from tests.support.prompts.wording import BEYOND, BLOCKED, FIND, GOAL, PLACE, UNLOCK, coded

_SPIN: Final = "def {}(self, {}):\n    for _ in range(3):\n        yield self.turn_left()\n"
_ANY_KEY: Final = """\
def unlock_door(self, agent, door, key):
    yield from self._face(door)
    yield self.toggle()
"""
_FIRST_SEEN: Final = '''\
def pick_up_object(self, agent, thing):
    """Pick up what is nearest."""
    yield from self._face(f"{thing.split('_')[0]}_any")
    yield self.pick_up()
'''
_NEXT_TO_ITSELF: Final = '''\
def put_next_to(self, agent, thing, target):
    """Put down what is in hand."""
    yield from self._drop_at(self._spare_places(), thing)
'''

CODED: Final = (
    coded(
        "code_unseen_ball",
        FIND,
        BLUE_BALL,
        "pick_up_object(a1, ball_blue)",
        "pick_up_object",
        _FIRST_SEEN,
    ),
    coded(
        "code_two_balls",
        PLACE,
        ALIKE[2].world,
        "pick_up_object(a1, ball_red), put_next_to(a1, ball_red, ball_red_2)",
        "put_next_to",
        _NEXT_TO_ITSELF,
    ),
    coded(
        "code_open_way",
        GOAL,
        OPEN_WAYS[0].world,
        "reach_goal(a1, goal_green)",
        "reach_goal",
        _SPIN.format("reach_goal", "agent, goal"),
    ),
    coded(
        "code_blocker",
        BLOCKED,
        BLOCKERS[3].world,
        "put_down(a1, key_blue), clear_blocker(a1, door_blue), pick_up_object(a1, key_blue),"
        " unlock_door(a1, door_blue, key_blue), put_down(a1, key_blue), pick_up_object(a1, box_green)",
        "clear_blocker",
        _SPIN.format("clear_blocker", "agent, door"),
    ),
    coded(
        "code_key_any",
        UNLOCK,
        KEYS[1].world,
        "pick_up_object(a1, key_any), unlock_door(a1, door_any, key_any)",
        "unlock_door",
        _ANY_KEY,
    ),
    coded(
        "code_key_among_others",
        BEYOND,
        KEYS[0].world,
        "pick_up_object(a1, key_blue), unlock_door(a1, door_blue, key_blue), put_down(a1, key_blue),"
        " pick_up_object(a1, box_any)",
        "pick_up_object",
        _FIRST_SEEN,
    ),
)
CASES: Final = (*UNSEEN, *ALIKE, *OPEN_WAYS, *BLOCKERS, *KEYS, *CODED)
