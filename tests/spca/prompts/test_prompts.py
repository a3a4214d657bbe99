"""Prompt templates: strict, and their data blocks cannot be left."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.code.policy.available import MODULES
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import PromptError
from spca.prompts import USUAL, quote_untrusted, render
from spca.prompts.formatting import format_data
from spca.reference.mission import MissionError, parse
from spca.sense.map_text import symbol
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT, plan_of, shared_solver


def test_every_template_is_listed_with_its_text() -> None:
    assert list(USUAL.templates()) == [
        "coder_repair",
        "coder_system",
        "coder_task",
        "planner_repair",
        "planner_system",
        "planner_task",
        "reask",
    ]
    assert "<task>" in USUAL.templates()["coder_task"]


def test_the_coder_is_told_the_modules_that_the_gate_allows() -> None:
    told = re.search(r"Modules: ([^.]*)\.", USUAL.templates()["coder_system"])
    assert told is not None
    assert re.split(r",\s+", told[1]) == sorted(name for name in MODULES if "." not in name and "_" not in name)


def test_a_missing_variable_is_an_error_that_names_it() -> None:
    with pytest.raises(PromptError, match=r"prompt planner_repair: 'feedback' is undefined"):
        render("planner_repair")


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(PromptError, match="nosuch"):
        render("nosuch")


def test_a_template_is_no_path() -> None:
    with pytest.raises(PromptError):
        render("../../agent")


@pytest.mark.long
@settings(max_examples=50)
@given(st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text())))
def test_data_is_json_without_a_tag(value: object) -> None:
    text = format_data(value)
    assert json.loads(text) == value
    assert not re.search("[<>]", text)


@given(st.text(), st.integers(100, 400))
def test_quoted_text_is_bounded_and_closes_nothing(text: str, limit: int) -> None:
    shown = quote_untrusted(text, limit)
    assert "</" not in shown
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert len(shown.replace("<\\/", "</")) <= limit + 60


def test_quoted_text_keeps_its_beginning_and_its_end() -> None:
    shown = quote_untrusted("first" + "x" * 9000 + "last")
    assert shown.startswith("firstx")
    assert shown.endswith("xlast")
    assert "[... 5009 characters left out ...]" in shown


def test_terminal_escapes_do_not_reach_a_prompt() -> None:
    assert quote_untrusted("a\x1b[31mb\r\n\x00c") == "a[31mb\nc"


def told(name: str, **variables: object) -> str:
    """A rendered template on one line."""
    return " ".join(render(name, **variables).split())


@pytest.mark.parametrize(
    "rule",
    [
        "key_any: a key that fits; the method changes it if it does not",
        "unlock it first, even if the mission does not say so, unless open or unexplored ways remain",
        "it can hide the door behind it",
        '"The box and the box" is one; of two that differ the second is ball_red_2',
        "What has to be fetched, unlocked or cleared first is an action of its own; what cannot be counted yet",
    ],
)
def test_the_planner_is_told(rule: str) -> None:
    assert rule in told("planner_system", reserved="drop", compiles=False)


def test_one_rule_says_what_is_an_action_of_its_own() -> None:
    text = told("planner_system", reserved="drop", compiles=False)
    assert text.count("of its own") == 1
    assert "one action does all" not in text


@pytest.mark.parametrize(
    "rule",
    [
        "`PLAN: reason`",
        '"key_any" (one that fits: if it does not, change it for another)',
        '"ball_red_2" (a second one, not the one that is called "ball_red")',
        "it can hide the door behind it",
    ],
)
def test_the_coder_is_told(rule: str) -> None:
    assert rule in told("coder_system")


def planner_task(**given: object) -> str:
    nothing = dict.fromkeys(("trusted", "feedback", "writers"))
    return told("planner_task", **{"snapshot": {}, "level": {}, "actions": "", "compiles": False, **nothing} | given)


def test_a_trusted_domain_may_be_kept_by_null() -> None:
    pddl = {"domain": "(define (domain d))", "problem": "(define (problem p))"}
    offer = 'If its domain fits the mission, keep it: answer "domain": null.'
    assert offer in planner_task(trusted=pddl)
    assert offer in planner_task(trusted={"domain": pddl["domain"]})
    assert "null" not in planner_task().partition("<actions>")[2]


def test_null_is_not_offered_for_a_domain_that_is_not_shown() -> None:
    assert "trusted" not in planner_task(trusted={})


def coder_task(**given: object) -> str:
    state = {"map": ["@"]}
    return told("coder_task", **{"task": {}, "agent_state": state, "methods": "", "source": "", "error": ""} | given)


def test_no_methods_are_listed_above_the_only_ones_shown() -> None:
    assert "<agent_methods> (none yet) </agent_methods>" in coder_task()
    shown = coder_task(source="def walk(self): ...")
    assert "none yet" not in shown
    assert "agent_methods" not in shown
    assert "<agent_methods> go(self)" in coder_task(source="def walk(self): ...", methods="go(self)")


def test_who_repairs_a_plan_by_code_may_send_it_back() -> None:
    assert "`PLAN: reason`" in coder_task(error="stuck")


def example_pddl() -> tuple[str, str]:
    """Domain and problem of the planner's worked example, as the model is shown them."""
    text = render("planner_system", reserved="drop", compiles=False)
    found = re.search(r"^(\(define \(domain house\).*)\n(\(define \(problem .*)", text, re.DOTALL | re.MULTILINE)
    assert found
    return found[1], found[2]


def example_plan(domain: str, problem: str) -> str:
    result = shared_solver().solve(domain, problem)
    assert result.solved, result.message
    names = grid.name_map(domain, problem)
    return "; ".join(str(names.step(planned)) for planned in result.steps)


@pytest.mark.long
def test_the_planners_example_does_what_its_mission_says() -> None:
    assert example_plan(*example_pddl()) == "pick_up_object(a1, key_red); go_to_object(a1, box_any)"


def test_the_planners_example_has_its_order_from_one_predicate() -> None:
    domain, problem = example_pddl()
    turned = problem.replace("(taken_before key_red box_any)", "")
    assert turned != problem
    assert example_plan(domain, turned.replace("(taken key_red) ", "")) == "go_to_object(a1, box_any)"
    assert example_plan(domain, problem.replace("(taken key_red) ", "")).startswith("pick_up_object(a1, key_red)")


def test_the_planners_example_is_no_mission_of_the_curriculum() -> None:
    (mission,) = re.findall(r'^Example: "(.*?)"', USUAL.templates()["planner_system"], re.MULTILINE)
    with pytest.raises(MissionError):
        parse(mission)


@pytest.fixture(scope="module")
def example_agent() -> AgentSource:
    """The initial agent with the coder's worked example, as the model is shown it."""
    text = render("coder_system")
    code = re.search(r"no helper existing:\n\n(.*)", text, re.DOTALL)
    assert code
    return AgentSource(grid.merge(AGENT.text, code[1], {"face_thing": ("agent", "thing")}).text)


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize(
    "env_id",
    ["BabyAI-GoToRedBallGrey-v0", "MiniGrid-GoToDoor-8x8-v0", "BabyAI-GoToObjMazeOpen-v0", "BabyAI-GoToObjMaze-v0"],
)
def test_the_coders_example_explores_and_finds(example_agent: AgentSource, env_id: str, seed: int) -> None:
    with closing(MiniGridEnv(env_id, seed)) as world:
        colour, kind = world.mission.split()[-2:]
        plan = plan_of(PlanStep("face_thing", ("a1", f"{kind}_{colour}")))
        assert world.run_sim(plan, example_agent).status is Status.SUCCESS


def test_the_coders_example_gives_up_when_all_is_explored(example_agent: AgentSource) -> None:
    with closing(MiniGridEnv("BabyAI-GoToObj-v0", 1)) as world:
        outcome = world.run_sim(plan_of(PlanStep("face_thing", ("a1", "goal_green"))), example_agent)
    assert outcome.status is Status.GOAL_NOT_REACHED
    assert len(outcome.shown["map"]) > 3
    assert all(symbol("unseen") not in row[1:-1] for row in outcome.shown["map"][1:-1])


NEAREST = {
    "writer_name": "walk",
    "domain": "(define (domain d) ?a - t)",
    "writer": "def make_problem(s):\n    return 'x'",
}


def shown_writers(trusted: dict[str, str] | None = None) -> str:
    writers = {"nearest": NEAREST, "others": ["fetch"], "missed": []}
    return planner_task(writers=writers, trusted=trusted, compiles=True)


def test_the_nearest_writer_is_shown_as_it_is_written() -> None:
    text = shown_writers()
    assert f"<nearest_writer> {' '.join(NEAREST['writer'].split())} </nearest_writer>" in text
    assert f"<nearest_domain> {NEAREST['domain']} </nearest_domain>" in text
    assert '"nearest": "walk", "others": ["fetch"]' in text


def test_a_domain_is_shown_once() -> None:
    text = shown_writers({"domain": NEAREST["domain"], "problem": "(define (problem p))"})
    assert "Its domain is the one in <trusted_pddl>." in text
    assert "<nearest_domain>" not in text


def test_nothing_is_said_of_writers_where_plans_are_not_compiled() -> None:
    for name in ("planner_system", "planner_repair"):
        assert "writer" not in told(name, reserved="drop", feedback={}, compiles=False)
    assert "writer" not in planner_task()
