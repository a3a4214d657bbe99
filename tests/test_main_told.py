"""What the coder is told between turns: the mission's words, the end of an attempt, what it points into."""

from __future__ import annotations

import json
import re
from typing import Any

from spca.contracts import AgentSource
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT, answer
from tests.support.spca.scenes import EMPTY, TO_GOAL, Scene, method, plan

FILLING = "    # nothing\n" * 600
"""More than the room for sources."""


def block(scene: Scene, request: int, tag: str) -> str:
    """The newest block with that tag in the ``request``-th prompt of the coder."""
    found: list[str] = re.findall(rf"^<{tag}>\n(.*?)\n</{tag}>$", scene.coder.asked(request), re.DOTALL | re.MULTILINE)
    return found[-1] if found else ""


def state(scene: Scene, request: int) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(block(scene, request, "agent_state"))
    return told


def test_the_coder_is_told_the_missions_words_for_the_objects_of_the_plan_and_no_others() -> None:
    domain = (
        "(define (domain d) (:requirements :typing) (:types agent thing) (:predicates (at ?a - agent ?t - thing))"
        " (:action reach :parameters (?a - agent ?t - thing) :precondition () :effect (at ?a ?t)))"
    )
    problem = (
        "(define (problem p) (:domain d) (:objects a1 - agent goal_green key_blue - thing) (:init)"
        " (:goal (at a1 goal_green)))"
    )
    reach = method("reach", *TO_GOAL).replace("(self, a)", "(self, a, t)")
    scene = Scene(EMPTY, [answer(domain, problem)], [reach])
    assert scene.run().solved
    assert state(scene, 0)["mission_words"] == {"goal_green": "the green goal square"}


def test_a_plan_without_such_objects_has_no_words() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")], [method("reach_goal", *TO_GOAL)])
    scene.run()
    assert "mission_words" not in state(scene, 0)


def test_the_end_of_a_failed_attempt_is_told_with_pose_hand_and_what_is_where() -> None:
    scene = Scene(EMPTY, [plan("act")], [method("act", 2, 1), method("act", *TO_GOAL)])
    assert scene.run().solved
    error = block(scene, 1, "error")
    assert "the agent faces South; in its hand: nothing\nknown objects at [row, column]: goal green [" in error
    assert "#.v.#" in error


def test_a_helper_that_crashed_is_shown_though_a_larger_action_leaves_no_room() -> None:
    act = f"def act(self, a):\n{FILLING}    yield from self._walk()\n"
    walk = "def _walk(self):\n    yield 2\n    raise ValueError\n"
    known = AgentSource(grid.merge(AGENT.text, f"{act}\n\n{walk}").text)
    scene = Scene(EMPTY, [plan("act")], ["def _walk(self):\n    for code in (2, 2, 1, 2, 2):\n        yield code\n"])
    assert scene.run(known).solved
    assert "move_forward (act > _walk, line " in block(scene, 0, "error")
    assert re.findall(r"^def (\w+)", block(scene, 0, "agent_source"), re.MULTILINE) == ["_walk"]
    assert "act(self, a) yields" in block(scene, 0, "agent_methods")
