"""24 prompts of the curriculum as a run comes to them, of all categories: 14 of the planner, 10 of the coder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from spca.llm.providers.base import Message
from spca.reference import coder as reference_coder
from spca.reference import planner as reference_planner
from tests.support.prompts.answers import plan, swapped
from tests.support.prompts.stage import REFERENCE, Case, Step, info_of

LEARNED: Final = (
    *("reach_goal", "announce", "go_to_object", "go_to_door", "cross_hazard", "pick_up_alone", "pick_up_object"),
    *(
        "open_door",
        "traverse_rooms",
        "go_to_match",
        "observe_cue",
        "fetch_key",
        "unlock_door",
        "drop_held",
        "clear_blocker",
    ),
    *("put_next_to", "put_near", "cross_moving_obstacles"),
)
"""What a run with the reference model learns, in this order."""


def _swapped(messages: Sequence[Message]) -> str:
    return swapped(reference_planner.answer(messages))


def _undeclared(messages: Sequence[Message]) -> str:
    """The reference answer with a goal of which the domain knows nothing."""
    answer = json.loads(reference_planner.answer(messages))
    return json.dumps(answer | {"problem": answer["problem"].replace("(:goal (and", "(:goal (and (satisfied a1)")})


def _unsolvable(messages: Sequence[Message]) -> str:
    """The reference answer without the facts of the start."""
    answer = json.loads(reference_planner.answer(messages))
    before, _, after = answer["problem"].partition("(:init")
    return json.dumps(answer | {"problem": f"{before}(:init) (:goal{after.partition('(:goal')[2]}"})


def _cut(messages: Sequence[Message]) -> str:
    """The reference answer, whose domain lacks its last brackets."""
    answer = json.loads(reference_planner.answer(messages))
    return json.dumps(answer | {"domain": answer["domain"].rstrip()[:-2]})


def _planned(
    name: str, mode: str, level: tuple[str, int], learned: str, trusted: tuple[str, int] | None = None, *before: Step
) -> Case:
    """A case of the planner; with an executed plan before it the coder insists on its code."""
    actions = LEARNED[: LEARNED.index(learned) + 1]
    coder = (_same,) if mode == "replan" else ()
    bad = before[0] if mode == "replan" else _swapped
    answers = {"good": REFERENCE["planner"], "bad": bad, "planner": before, "coder": coder}
    return Case(name, "planner", mode, level, info_of(level[0]), actions=actions, trusted=trusted, **answers)  # type: ignore[arg-type]


def _coded(name: str, mode: str, level: tuple[str, int], learned: str, bad: str, *before: str) -> Case:
    """A case of the coder, who writes what the reference planner asks for."""
    actions = LEARNED[: LEARNED.index(learned) + 1] if learned else ()
    answers = {"good": REFERENCE["coder"], "bad": bad, "planner": (REFERENCE["planner"],), "coder": before}
    return Case(name, "coder", mode, level, info_of(level[0]), actions=actions, **answers)  # type: ignore[arg-type]


def _same(messages: Sequence[Message]) -> str:
    return reference_coder.answer(messages)


PLANNED: Final = (
    _planned("goal_fresh", "fresh", ("MiniGrid-SimpleCrossingS9N2-v0", 5), "reach_goal"),
    _planned("lava_fresh", "fresh", ("MiniGrid-LavaCrossingS9N1-v0", 12), "cross_hazard"),
    _planned("placement_fresh", "fresh", ("BabyAI-PutNextLocal-v0", 4), "put_near"),
    _planned("blocked_fresh", "fresh", ("MiniGrid-ObstructedMaze-1Dlhb-v0", 3), "put_near"),
    _planned("local_reuse", "reuse", ("BabyAI-GoToLocalS6N3-v0", 9), "go_to_door", ("BabyAI-GoToLocal-v0", 2)),
    _planned("maze_reuse", "reuse", ("BabyAI-GoToObjMazeS5-v0", 6), "traverse_rooms", ("BabyAI-OpenDoorLoc-v0", 2)),
    _planned("unlock_reuse", "reuse", ("MiniGrid-DoorKey-8x8-v0", 11), "unlock_door", ("BabyAI-UnlockLocal-v0", 3)),
    _planned("sequence_reuse", "reuse", ("BabyAI-GoToSeqS5R2-v0", 11), "put_near", ("BabyAI-GoToSeq-v0", 1)),
    _planned(
        "pickup_replan",
        "replan",
        ("MiniGrid-UnlockPickup-v0", 5),
        "drop_held",
        ("BabyAI-UnlockPickup-v0", 2),
        plan("go_to_door(a1, door_any), go_to_object(a1, box_any)"),
    ),
    _planned(
        "order_replan",
        "replan",
        ("MiniGrid-RedBlueDoors-6x6-v0", 3),
        "observe_cue",
        None,
        plan("open_door(a1, door_blue), open_door(a1, door_red)"),
    ),
    _planned(
        "synth_replan",
        "replan",
        ("BabyAI-SynthSeq-v0", 4),
        "put_near",
        None,
        plan("go_to_object(a1, key_any), drop_held(a1, key_any)"),
    ),
    _planned("pickup_repair", "syntax", ("BabyAI-PickupDist-v0", 6), "pick_up_object", None, _undeclared),
    _planned("moving_repair", "syntax", ("MiniGrid-Dynamic-Obstacles-6x6-v0", 2), "cross_moving_obstacles", None, _cut),
    _planned("doors_repair", "syntax", ("BabyAI-UnlockToUnlock-v0", 3), "drop_held", None, _unsolvable),
)

_GIVES_UP = '''\
import numpy as np


def cross_hazard(self, agent, goal):
    """Walk to the goal square round lava."""
    for _ in range(200):
        found = np.argwhere(self.full_grid == goal.replace("_", " "))
        if not len(found):
            return
        row, column = np.argwhere(self.full_grid == "agent")[0]
        ahead = {"East": (0, 1), "South": (1, 0), "West": (0, -1), "North": (-1, 0)}[self.current_dir]
        word = self.full_grid[row + ahead[0], column + ahead[1]]
        if word in ("empty", "goal green"):
            yield self.move_forward()
        else:
            yield self.turn_right()
            return
'''
_RAISES = '''\
import numpy as np


def reach_goal(self, agent, goal):
    """Walk onto the goal square."""
    target = np.argwhere(self.full_grid == goal)[0]
    while True:
        place = np.argwhere(self.full_grid == "agent")[0]
        if place[1] < target[1]:
            yield self.move_forward()
        else:
            yield self.turn_right()
'''
_RAISES_IN_A_HELPER = '''\
def open_door(self, agent, door):
    """Find a door and open it."""
    place = self._nearest_door(door)
    for _ in range(place[0]):
        yield self.move_forward()
    yield self.toggle()


def _nearest_door(self, door):
    """Place of the door that is nearest, None if none is known."""
    kind, colour = door.split("_")[:2]
    for row in range(self.full_grid.shape[0]):
        for column in range(self.full_grid.shape[1]):
            if self.full_grid[row, column] == f"{kind} {colour}":
                return row, column
    return None
'''
_DROPS_AT_ONCE = '''\
def put_near(self, agent, thing, target):
    """Put down what is in hand near a thing."""
    for _ in range(4):
        yield self.turn_right()
    yield self.drop()
'''
_FORBIDDEN = '''\
import os


def cross_moving_obstacles(self, agent, goal):
    """Go to the goal among moving balls."""
    os.environ["SEEN"] = "1"
    yield self.move_forward()
'''
_NO_GENERATOR = '''\
def drop_held(self, agent, thing):
    """Put down what is in hand."""
    self.drop()
'''
_TURNS = "def {}(self, {}):\n    for _ in range(3):\n        yield self.turn_left()\n"


def _idle(**actions: str) -> str:
    return "\n\n".join(_TURNS.format(name, parameters) for name, parameters in actions.items())


CODED: Final = (
    _coded("go_first", "first", ("BabyAI-GoToLocal-v0", 3), "reach_goal", _idle(go_to_object="agent, thing")),
    _coded("take_first", "first", ("BabyAI-OneRoomS12-v0", 2), "cross_hazard", _idle(pick_up_object="agent, thing")),
    _coded(
        "place_first", "first", ("BabyAI-PutNextS5N2-v0", 3), "clear_blocker", _idle(put_next_to="agent, thing, target")
    ),
    _coded(
        "unlock_first",
        "first",
        ("MiniGrid-DoorKey-6x6-v0", 4),
        "observe_cue",
        _idle(fetch_key="agent, key, door", unlock_door="agent, door, key"),
    ),
    _coded(
        "goal_traceback", "semantic", ("MiniGrid-Empty-Random-6x6-v0", 3), "", _idle(reach_goal="agent, goal"), _RAISES
    ),
    _coded(
        "door_traceback",
        "semantic",
        ("BabyAI-OpenDoorColor-v0", 4),
        "pick_up_object",
        _idle(open_door="agent, door"),
        _RAISES_IN_A_HELPER,
    ),
    _coded(
        "lava_in_vain",
        "semantic",
        ("MiniGrid-LavaGapS6-v0", 5),
        "go_to_door",
        _idle(cross_hazard="agent, goal"),
        _GIVES_UP,
    ),
    _coded(
        "near_in_vain",
        "semantic",
        ("MiniGrid-PutNear-8x8-N3-v0", 2),
        "put_next_to",
        _idle(put_near="agent, thing, target"),
        _DROPS_AT_ONCE,
    ),
    _coded(
        "moving_syntax",
        "syntax",
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", 3),
        "put_near",
        _idle(cross_moving_obstacles="agent, goal"),
        _FORBIDDEN,
    ),
    _coded(
        "drop_syntax",
        "syntax",
        ("BabyAI-UnlockPickupDist-v0", 4),
        "unlock_door",
        _idle(drop_held="thing"),
        _NO_GENERATOR,
    ),
)
CASES: Final = (*PLANNED, *CODED)
