"""Prompt templates: strict, and their data blocks cannot be left."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.code import merge
from spca.code.policy.available import MODULES
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import PromptError
from spca.plan.pddl import NameMap, parse_plan, plan_steps
from spca.prompts import quoted, render, templates
from spca.reference.mission import MissionError, parse
from spca.sense.map_text import as_data, cropped
from tests.support.spca.doubles import AGENT, plan_of, shared_solver


def test_every_template_is_listed_with_its_text() -> None:
    assert list(templates()) == [
        "coder_repair",
        "coder_system",
        "coder_task",
        "planner_repair",
        "planner_system",
        "planner_task",
        "reask",
    ]
    assert "<task>" in templates()["coder_task"]


def test_the_coder_is_told_the_modules_that_the_gate_allows() -> None:
    told = re.search(r"Modules: ([^.]*)\.", templates()["coder_system"])
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


@settings(max_examples=50)
@given(st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text())))
def test_data_is_json_without_a_tag(value: object) -> None:
    text = as_data(value)
    assert json.loads(text) == value
    assert not re.search("[<>]", text)


@given(st.text(), st.integers(100, 400))
def test_quoted_text_is_bounded_and_closes_nothing(text: str, limit: int) -> None:
    shown = quoted(text, limit)
    assert "</" not in shown
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert len(shown.replace("<\\/", "</")) <= limit + 60


def test_quoted_text_keeps_its_beginning_and_its_end() -> None:
    shown = quoted("first" + "x" * 9000 + "last")
    assert shown.startswith("firstx")
    assert shown.endswith("xlast")
    assert "[... 5009 characters left out ...]" in shown


def test_terminal_escapes_do_not_reach_a_prompt() -> None:
    assert quoted("a\x1b[31mb\r\n\x00c") == "a[31mb\nc"


def example_pddl() -> tuple[str, str]:
    """Domain and problem of the planner's worked example, as the model is shown them."""
    text = render("planner_system", reserved="drop")
    found = re.search(r"^domain:\n(.*?)\nproblem:\n(.*?)\nThe plan found: ", text, re.DOTALL | re.MULTILINE)
    assert found
    return found[1], found[2]


def test_the_planners_example_is_solved_as_it_says() -> None:
    domain, problem = example_pddl()
    result = shared_solver().solve(domain, problem)
    assert result.solved, result.message
    steps = plan_steps(result.steps, NameMap.of(domain, problem))
    told = re.search(r"The plan found: (\[.*?\])\.", render("planner_system", reserved="drop"), re.DOTALL)
    assert told
    assert steps == parse_plan(told[1])


def test_without_its_order_the_planners_example_is_solved_too() -> None:
    domain, problem = example_pddl()
    forced = " (forall (?d - door) (imply (unlocked_before ?d ?thing) (unlocked ?d)))"
    for part in (forced, " (unlocked_before ?door - door ?thing - thing)"):
        assert part in domain
        domain = domain.replace(part, "")
    assert shared_solver().solve(domain, problem.replace(" (unlocked_before door_purple box_any)", "")).solved


def test_the_planners_example_is_no_mission_of_the_curriculum() -> None:
    (mission,) = re.findall(r'Example\. Mission: "(.*?)"', templates()["planner_system"])
    with pytest.raises(MissionError):
        parse(mission)


@pytest.fixture(scope="module")
def example_agent() -> AgentSource:
    """The initial agent with the coder's worked example, as the model is shown it."""
    text = render("coder_system")
    code = re.search(r"no helper existing:\n\n(.*)", text, re.DOTALL)
    assert code
    return AgentSource(merge.merge(AGENT.text, code[1], {"face_thing": ("agent", "thing")}).text)


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
    assert all("unseen" not in row[1:-1] for row in cropped(outcome.last_map)[1:-1])
