"""Bare prompts: forms and primitives, and nothing of how such worlds work."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from minigridenv import MiniGridEnv
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.contracts import AgentSource, PlanStep
from spca.prompts import USUAL, Wording, render
from spca.runs import curriculum
from spca.sense.perception import COLOURS, VOCABULARY
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT, ROOT, plan_of, shared_solver

BARE = Wording(bare=True)
RESERVED = ", ".join(PRIMITIVE_METHODS)
OF_FORM = {"agent", "unseen", "on", "off", "other"}
"""Words of cells that are part of the form, and those that any text has."""


def planner(*, compiles: bool = True) -> str:
    return BARE.render("planner_system", reserved=RESERVED, compiles=compiles)


def coder() -> str:
    return BARE.render("coder_system")


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


@pytest.mark.parametrize("prompt", [planner(), coder()])
def test_nothing_is_told_of_how_such_worlds_work(prompt: str) -> None:
    things = {word for cell in VOCABULARY for word in cell.split()} - set(COLOURS) - OF_FORM
    lore = {"unlock", "lock", "corridor", "clear", "fetch", "carry", "hand", "explore", "explored", "any", "deadly"}
    assert words_of(prompt.replace("(:goal", "")) & (things | lore) == set()


def test_less_is_told_than_usually() -> None:
    usual = USUAL.render("planner_system", reserved=RESERVED, compiles=True)
    assert len(planner()) < 0.7 * len(usual)
    assert len(coder()) < 0.7 * len(render("coder_system"))


def test_the_example_is_of_another_world() -> None:
    tasks = curriculum.load(ROOT / "merged_curriculum2.json").tasks()
    (mission,) = re.findall(r'^Example, from another world: "(.*?)"', planner(), re.MULTILINE)
    skills = {word for task in tasks for word in words_of(task.skill)}
    assert words_of(mission) & skills <= {"the"}


def test_a_run_lists_the_templates_that_it_uses() -> None:
    usual, bare = USUAL.templates(), BARE.templates()
    assert not any(name.startswith("bare_") for name in usual)
    assert {name.removeprefix("bare_") for name in bare} == set(usual)
    assert {name for name in bare if name.startswith("bare_")} == {"bare_planner_system", "bare_coder_system"}


def test_bare_prompts_speak_of_the_same_blocks() -> None:
    for name, bare in (("planner_system", "bare_planner_system"), ("coder_system", "bare_coder_system")):
        tags = [set(re.findall(r"<\w+>", kind.templates()[which])) for kind, which in ((USUAL, name), (BARE, bare))]
        assert tags[0] == tags[1]


def test_what_the_policy_allows_is_told_alike() -> None:
    usual = render("coder_system")
    for part in (r"Modules: [^.]*\.", r"(?s)Never redefine primitives.*?seeded\.", r"(?s)One second of.*?states\."):
        (wanted,) = re.findall(part, usual)
        assert wanted in coder()


def test_the_form_of_the_answer_has_writers_only_where_they_are_compiled() -> None:
    assert '"writer_name": "...", "writer": "..."}, nothing else' in planner()
    assert "make_problem(snapshot) -> str" in planner()
    assert '"problem": "(define ...)"}, nothing else' in planner(compiles=False)
    assert "writer" not in planner(compiles=False)


def test_the_planners_example_does_what_its_mission_says() -> None:
    found = re.search(r"^(\(define \(domain .*)\n(\(define \(problem .*)", planner(), re.DOTALL | re.MULTILINE)
    assert found
    result = shared_solver().solve(found[1], found[2])
    assert result.solved, result.message
    steps = tuple(map(grid.name_map(found[1], found[2]).step, result.steps))
    assert [str(step) for step in steps] == ["fill_can(a1)", "water_plant(a1, fern_green)"]


@pytest.mark.long
def test_the_coders_example_runs() -> None:
    code = re.search(r"no helper existing:\n\n(.*)", coder(), re.DOTALL)
    assert code
    agent = AgentSource(grid.merge(AGENT.text, code[1], {"look_round": ("agent",)}).text)
    with closing(MiniGridEnv("MiniGrid-Empty-8x8-v0", 1)) as world:
        outcome = world.run_sim(plan_of(PlanStep("look_round", ("a1",))), agent)
    assert [step.code for step in outcome.trace] == [0, 0, 0, 0]
