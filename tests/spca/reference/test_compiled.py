"""The embedded model's problem writers: they write what its planner writes of the same level, or refuse."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, pairwise, product
from pathlib import Path

import pytest

from minigridenv import MiniGridEnv
from spca.bodies.grid.body import GRID
from spca.code.regression import SolvedLevel
from spca.contracts import Checkpoint, LevelInfo, Plan, PlannerMode, Snapshot
from spca.llm.providers.base import Message
from spca.plan.pddl import extract_actions
from spca.reference import planner
from spca.reference.compiled import ShippedWriter, choose_writer, writers
from spca.reference.locks import Context
from spca.reference.mission import Clause, GoTo, Open, PickUp, PutNear, PutNextTo, parse, stages
from spca.reference.pddl_writer import Domain, Problem
from spca.reference.scene import read_scene
from spca.runs import curriculum
from spca.runs.curriculum import Task
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import WriterLibrary
from spca.writers.problems import ProblemSets
from spca.writers.stored import Case, writer_state
from tests.support.bodies.grid import violations
from tests.support.reference.asking import PARAMETERS, carries_out, name_of, prompt, prompt_for, solved
from tests.support.spca.doubles import AGENT, change_snapshot, shared_solver
from tests.support.tiers import few

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


def difference(writer: ShippedWriter, text: str, snapshot: Snapshot, task: Task) -> object:
    """What a text has otherwise than the planner's problem; facts are compared as far as both domains know them."""
    domain, problem = own(snapshot, task)
    sets = ProblemSets.from_text(text)
    names = {name for name, _ in (*problem.objects, *domain.constants)}
    goal = {(re.sub(r"_\d+$", "", fact), *args) for fact, *args in problem.goal}
    known = domain.predicates.keys() & re.findall(r"\((\w+) \?", writer.text.domain.partition(":predicates")[2])
    init = {fact for fact in problem.init if fact[0] in known}
    order = {fact for fact in sets.init if fact[0].startswith("after_")}
    return (
        ({name for name, _ in sets.objects} ^ names)
        or (sets.goal ^ goal)
        or ({fact for fact in sets.init if fact[0] in known} ^ init)
        or (order ^ set(in_order(snapshot.mission)))
    )


def in_order(mission: str) -> Iterator[tuple[str, str, str]]:
    """What waits for what: each clause for all of the part before it."""
    for earlier, later in pairwise(stages(parse(mission))):
        for (fact, first), (_, then) in product(map(asked, earlier), map(asked, later)):
            if fact:
                yield fact, then, first


def asked(clause: Clause) -> tuple[str, str]:
    """The fact that is waited for once a clause is done, "" if it is never the first of two, and what it acts on."""
    match clause:
        case GoTo(what):
            return "after_visited", name_of(what)
        case PickUp(what):
            return "after_picked", name_of(what)
        case Open(what):
            return "after_opened", name_of(what)
        case PutNextTo(what, _) | PutNear(what, _):
            return "after_placed", name_of(what)
        case _:
            return "", ""


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
            assert not difference(writer, text, snapshot, task), f"{label(writer)}, {snapshot.mission}:\n{text}"
    assert read[False] <= REFUSED.get(category, 0) * read.total(), read


def written(writer: ShippedWriter, state: dict[str, object]) -> str:
    try:
        return writer.make_problem(state)
    except ValueError:
        return ""


@pytest.mark.parametrize("category", few(5, CATEGORIES))
def test_writers_write_what_the_planner_writes(category: str) -> None:
    check(category, range(4, 6))


@pytest.mark.long
@pytest.mark.parametrize("category", CATEGORIES)
def test_writers_write_what_the_planner_writes_for_100_seeds(category: str) -> None:
    check(category, range(1000, 1100))


@pytest.mark.parametrize(
    "mission",
    [
        "open the red door then the blue door",
        "put the red ball next to the key, then put the blue box next to the red ball",
        "pick up the ball and go to the box after you put the key near the door",
        "go to the ball, then pick up the red ball then open the door",
    ],
)
def test_sequences_are_carried_out_in_order(mission: str) -> None:
    state = writer_state(
        change_snapshot(mission=mission, visible_grid=(("agent",),)), LevelInfo("composite_skills", "s", "l")
    )
    found = choose_writer(state)
    assert found is not None
    writer, text = found
    assert writer.name == "sequence"
    assert carries_out(solved(writer.domain, text), stages(parse(mission)))


@pytest.mark.long
def test_writers_are_accepted_with_the_levels_that_they_read() -> None:
    with SandboxExecutor() as executor:
        for writer in writers():
            check_accepted(writer, WriterLibrary(executor, shared_solver().solve, GRID), range(4, 5), at_most=1)


@pytest.mark.long
@pytest.mark.parametrize("first_seed", range(1000, 1010, 2))
@pytest.mark.parametrize("writer", writers(), ids=label)
def test_writers_are_accepted_with_every_level_that_they_read(writer: ShippedWriter, first_seed: int) -> None:
    seeds = range(first_seed, first_seed + 2)
    with SandboxExecutor() as executor:
        check_accepted(writer, WriterLibrary(executor, shared_solver().solve, GRID), seeds, at_most=300)


def check_accepted(writer: ShippedWriter, library: WriterLibrary, seeds: range, at_most: int) -> None:
    read = (
        Case(state, text, SolvedLevel(task.spec, 1, Checkpoint((), ""), plan))
        for category in CATEGORIES
        for task, snapshot in levels(category, seeds)
        if (text := written(writer, state := writer_state(snapshot, task.info())))
        for plan in [Plan((), writer.text.domain, text, (), PlannerMode.FRESH)]
    )
    for case in islice(read, at_most):
        library.load(())
        assert library.consider(writer.text, case, AGENT, "x") == "", case.state["mission"]
        assert library.stored


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


@pytest.mark.parametrize("known", [False, True])
def test_a_writer_that_exists_is_answered_in_its_largest_version(known: bool) -> None:
    missed = [{"writer_name": "instruction", "how": "invalid", "why": "no plan"}] if known else []
    told = {"nearest": None, "others": ["instruction"], "missed": missed}
    snapshot = change_snapshot(mission="go to the ball", visible_grid=(("agent",),))
    answer = json.loads(planner.answer(prompt_for(snapshot, "pickup_only", writers=told)))
    largest = [writer for writer in writers() if writer.text.name == "instruction"][-1]
    assert (answer["writer"] == largest.text.source) == known
    assert answer["writer_name"] == "instruction"


@pytest.mark.parametrize(
    "mission",
    ["", "dance", "go to the red ball and dance", "open the ball", "pick up the door", "go to the red red ball",
     "put the ball next to", "get to the green goal square now", "open the red door then dance"],
)  # fmt: skip
def test_what_cannot_be_read_to_the_last_word_is_refused(mission: str) -> None:
    for category in ("goal_navigation", "unlock_door"):
        state = {"mission": mission, "direction": "East", "inventory": None, "known_objects": {}, "map": [">"],
                 "level": {"category": category, "skill": "s", "level": "l"}}  # fmt: skip
        assert choose_writer(state) is None
