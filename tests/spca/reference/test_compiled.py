"""The embedded model's problem writers: they write what its planner writes of the same level, or refuse."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from minigridenv import MiniGridEnv
from spca.code.policy.check import violations
from spca.contracts import Snapshot
from spca.llm.providers.base import Message
from spca.plan.pddl import extract_actions
from spca.reference import planner
from spca.reference.compiled import ShippedWriter, compiled, writers
from spca.reference.locks import Context
from spca.reference.mission import parse, stages
from spca.reference.pddl_writer import Domain, Problem
from spca.reference.scene import read_scene
from spca.runs import curriculum
from spca.runs.curriculum import Task
from spca.writers.stored import writer_state
from tests.support.reference.asking import PARAMETERS, carries_out, prompt, solved

ASKING = Message("system", "answer also with make_problem(snapshot)")
CURRICULUM = curriculum.load(Path(__file__).parents[3] / "merged_curriculum2.json")
CATEGORIES = [category.name for category in CURRICULUM.categories]
REFUSED = {"composite_skills": 0.2}
"""The share of a category's levels that all writers may refuse: there a thing may be acted on in two parts."""


def label(writer: ShippedWriter) -> str:
    return f"{writer.text.name}_{writer.version}"


def levels(category: str, seeds: range) -> Iterator[tuple[Task, Snapshot]]:
    for task in CURRICULUM.tasks():
        for seed in seeds if task.category == category else ():
            with closing(MiniGridEnv(task.env_id, seed=seed)) as world:
                yield task, world.sense()


def own(snapshot: Snapshot, task: Task) -> tuple[Domain, Problem]:
    """What the planner writes for a level without writers."""
    scene = read_scene(writer_state(snapshot, task.info()))
    parts = stages(parse(scene.mission))
    return planner.formulations(parts, Context(scene, task.category))[0]


def facts(text: str) -> set[str]:
    return set(re.findall(r"\([^()]+\)", text))


def same(writer: ShippedWriter, text: str, domain: Domain, problem: Problem) -> bool:
    """Whether a text has the objects and goal of a problem, and its facts as far as its domain knows them."""
    objects, init, goal = re.split(r"\(:init|\(:goal", text.partition("(:objects")[2])
    known = {action.split()[0] for action in facts(writer.text.domain.partition(":predicates")[2])}
    told = {f"({' '.join(fact)})" for fact in problem.init if f"({fact[0]}" in known}
    names = {name for name, _ in (*problem.objects, *domain.constants)}
    wanted = {f"({' '.join(fact)})" for fact in problem.goal}
    return set(re.findall(r"(\w+) - ", objects)) == names and facts(goal) == wanted and told <= facts(init)


def check(category: str, seeds: range) -> None:
    """Each writer that reads a level writes what the planner would, and few levels are read by none."""
    read: Counter[bool] = Counter()
    for task, snapshot in levels(category, seeds):
        state = writer_state(snapshot, task.info())
        found = [(writer, text) for writer in writers() if (text := written(writer, state))]
        read[bool(found)] += 1
        for writer, text in found:
            later = [each for each in writers() if each.text.name == writer.text.name and each.version > writer.version]
            assert all(written(each, state) for each in later), f"{label(writer)} reads more: {snapshot.mission}"
            if writer.text.name == "sequence":
                steps = solved(writer.text.domain, text)
                assert carries_out(steps, stages(parse(snapshot.mission))), f"{snapshot.mission}: {steps}"
            else:
                assert same(writer, text, *own(snapshot, task)), f"{label(writer)}, {snapshot.mission}:\n{text}"
    assert read[False] <= REFUSED.get(category, 0) * read.total(), read


def written(writer: ShippedWriter, state: dict[str, object]) -> str:
    try:
        return writer.make_problem(state)
    except ValueError:
        return ""


@pytest.mark.parametrize("category", CATEGORIES)
def test_writers_write_what_the_planner_writes(category: str) -> None:
    check(category, range(4, 6))


@pytest.mark.long
@pytest.mark.parametrize("category", CATEGORIES)
def test_writers_write_what_the_planner_writes_for_100_seeds(category: str) -> None:
    check(category, range(1000, 1100))


@pytest.mark.parametrize("writer", writers(), ids=label)
def test_writers_keep_to_the_contract(writer: ShippedWriter) -> None:
    source = writer.text.source
    assert violations(f"{source}\n\nclass Agent:\n    pass\n") == ()
    assert len(source.splitlines()) <= 125
    assert set(re.findall(r"^.*\bimport\b.*$", source, re.MULTILINE)) <= {"import re"}
    for schema in extract_actions(writer.text.domain):
        assert len(schema.parameters) == PARAMETERS[schema.name]


def test_writers_are_answered_only_where_the_prompt_asks_for_them() -> None:
    messages = prompt("get to the green goal square", category="goal_navigation")
    assert set(json.loads(planner.answer(messages))) == {"domain", "problem"}
    answer = json.loads(planner.answer([ASKING, *messages]))
    assert answer["writer_name"] == "reach_goal"
    assert "def make_problem(snapshot)" in answer["writer"]
    failed = prompt("get to the green goal square", category="goal_navigation", failed=1)
    assert set(json.loads(planner.answer([ASKING, *failed]))) == {"domain", "problem"}


@pytest.mark.parametrize(
    "mission",
    ["", "dance", "go to the red ball and dance", "open the ball", "pick up the door", "go to the red red ball",
     "put the ball next to", "get to the green goal square now", "open the red door then dance"],
)  # fmt: skip
def test_what_cannot_be_read_to_the_last_word_is_refused(mission: str) -> None:
    for category in ("goal_navigation", "unlock_door"):
        state = {"mission": mission, "direction": "East", "inventory": None, "known_objects": {}, "map": [">"],
                 "level": {"category": category, "skill": "s", "level": "l"}}  # fmt: skip
        assert compiled(state) is None
