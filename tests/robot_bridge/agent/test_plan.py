"""What is refused before anything moves: a plan and an agent that do not fit each other, or the world."""

from __future__ import annotations

import pytest

from robot_bridge.agent.plan import check_plan, read_steps
from robot_bridge.errors import SetupError
from spca.contracts import AgentSource, PlanStep
from tests.support.contracts.executing import methods

AGENT = methods("""
    def turn_left(self):
        return 0

    def reach_goal(self, agent, goal):
        yield 2

    def go_to_object(self, agent, thing, near=1):
        where = "behind"
        yield from self._walk(thing, where)

    def visit(self, agent, *things):
        yield 2

    def _walk(self, thing, where):
        yield 2
""")
SIGNATURES = "it has reach_goal(agent, goal), go_to_object(agent, thing, near=1) and visit(agent, *things)"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("fly(a1)", f"fly(a1): A has no action fly: {SIGNATURES}"),
        (
            "go_to(a1, ball_red)",
            "go_to(a1, ball_red): A has no action go_to: "
            f"did you mean go_to_object(agent, thing, near=1)? {SIGNATURES}",
        ),
        (
            "reach_gaol(a1, goal_green)",
            "reach_gaol(a1, goal_green): A has no action reach_gaol: did you mean reach_goal(agent, goal)? "
            + SIGNATURES,
        ),
        ("turn_left()", f"turn_left(): A has no action turn_left: {SIGNATURES}"),
        ("_walk(a1, ball_red)", f"_walk(a1, ball_red): A has no action _walk: {SIGNATURES}"),
        ("reach_goal(goal_green)", "reach_goal(goal_green): reach_goal(agent, goal) takes 2 arguments, not 1"),
        (
            "reach_goal(a1, goal_green, x)",
            "reach_goal(a1, goal_green, x): reach_goal(agent, goal) takes 2 arguments, not 3",
        ),
        ("go_to_object(a1)", "go_to_object(a1): go_to_object(agent, thing, near=1) takes 2 to 3 arguments, not 1"),
        ("visit()", "visit(): visit(agent, *things) takes 1 argument, not 0"),
        (
            "reach_goal(a1, goal_gren)",
            "reach_goal(a1, goal_gren): there can be no goal_gren: did you mean goal_green? goals are green or any",
        ),
        (
            "reach_goal(a1, gaol_green)",
            "reach_goal(a1, gaol_green): there can be no gaol_green: did you mean goal_green? "
            "kinds are key, ball, box, door, goal, lava and object",
        ),
        (
            "visit(a1, key_red, ball_turquoise)",
            "visit(a1, key_red, ball_turquoise): there can be no ball_turquoise: "
            "balls are red, green, blue, purple, yellow, grey or any",
        ),
    ],
)
def test_what_cannot_be_done_is_told_with_what_can(step: str, told: str) -> None:
    with pytest.raises(SetupError) as refused:
        check_plan(f"[reach_goal(a1, goal_green), {step}]", AGENT, "A")
    assert str(refused.value) == told


@pytest.mark.parametrize(
    "step",
    [
        "reach_goal(a1, goal_green)",
        "go_to_object(a1, ball_red_left)",
        "go_to_object(a1, object_any)",
        "go_to_object(a1, door_any, 2)",
        "go_to_object(a1, key_2)",
        "go_to_object(a1, door_behind)",
        "go_to_object(a1, room_north)",
        "visit(a1, key_grey, box_purple, lava_red)",
        "visit(a1)",
    ],
)
def test_what_may_be_is_let_through(step: str) -> None:
    assert [str(each) for each in check_plan(f"[{step}]", AGENT).steps] == [step]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "# An agent\nlearned by main.py",
            "A cannot be run: syntax error at line 2, column 9: invalid syntax: choose one that ",
        ),
        ("import numpy as np\n", "A cannot be run: line 1: the source has no class Agent: choose one that "),
        (
            methods("def f(self, a):\n    import os\n    yield 1").text,
            "A cannot be run: line 3: module os is not available",
        ),
        (methods("def turn_left(self):\n    return 0").text, "f(a1): A has no action f, nor any other: let it learn"),
    ],
)
def test_an_agent_that_cannot_be_run_is_refused_in_one_line(source: str, told: str) -> None:
    with pytest.raises(SetupError) as refused:
        check_plan("[f(a1)]", AgentSource(source), "A")
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)


def test_a_plan_has_steps() -> None:
    assert read_steps("[f(a1, x), g()]") == (PlanStep("f", ("a1", "x")), PlanStep("g", ()))
    for text in ("f(a1)", "[f(a1]", "[]", ""):
        with pytest.raises(SetupError, match="the plan"):
            read_steps(text)
