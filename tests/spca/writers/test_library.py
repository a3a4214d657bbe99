"""Stored problem writers: tried, tallied, accepted, told of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.bodies.grid.body import GRID
from spca.contracts import LevelInfo, Plan, PlannerMode, ProblemWriter, SolveResult
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import SOLVE_SECONDS, WriterLibrary
from spca.writers.running import WriterRunner
from spca.writers.stored import MAX_CASES, Case, Miss, StoredWriter, WriterFailure
from tests.support.bodies.grid import add_case
from tests.support.spca.doubles import AGENT
from tests.support.spca.writing import (
    DOMAIN,
    FETCH,
    LEVEL,
    PlayedWorlds,
    case,
    make_problem,
    problem,
    snapshot,
    solve,
    state,
    writer,
)

ELSEWHERE = LevelInfo("sorting", "Sort things", "Sort")


@pytest.fixture
def library(executor: SandboxExecutor) -> WriterLibrary:
    return WriterLibrary(executor, solve, GRID, PlayedWorlds())


def stored(name: str, level: LevelInfo = LEVEL, source: str = FETCH, version: int = 1) -> StoredWriter:
    known = case()
    words = {"category": level.category, "skill": level.skill, "level": level.level}
    return StoredWriter(writer(source, name), version, "b", (replace(known, state={**known.state, "level": words}),))


def labels(library: WriterLibrary, mission: str = "fetch the green box") -> list[str]:
    made = library.plans(snapshot(mission), LEVEL)
    return [each.writer if isinstance(each, Plan) else each.label for each in made]


def test_a_stored_writer_plans(library: WriterLibrary) -> None:
    library.load([stored("fetch")])
    (plan,) = library.plans(snapshot("fetch the green box"), LEVEL)
    assert isinstance(plan, Plan)
    assert (plan.text, plan.mode, plan.writer) == ("[fetch(a1, box_green)]", PlannerMode.COMPILED, "fetch/v001")
    assert [schema.name for schema in plan.schemas] == ["fetch"]
    assert plan.steps[0].parameters == ("agent", "thing")
    assert (plan.domain, plan.engine) == (DOMAIN, "double")


def test_without_writers_nothing_is_tried(library: WriterLibrary) -> None:
    assert list(library.plans(snapshot(), LEVEL)) == []
    assert library.describe_writers([], LEVEL) is None


def test_writers_of_such_levels_come_first_then_newer_ones(library: WriterLibrary) -> None:
    library.load([stored("a"), stored("b", ELSEWHERE), stored("c"), stored("d", ELSEWHERE)])
    assert labels(library) == ["c/v001", "a/v001", "d/v001", "b/v001"]


def test_only_the_newest_version_is_tried(library: WriterLibrary) -> None:
    library.load([stored("a", version=2), stored("b"), stored("a", version=3), stored("b", version=1)])
    assert [each.label for each in library.stored] == ["a/v003", "b/v001"]


def test_what_becomes_of_each_is_told_in_order(library: WriterLibrary) -> None:
    nowhere = FETCH.replace("(:init (at {thing}))", "(:init)")
    library.load(
        [
            stored("plans"),
            stored("nowhere", source=nowhere),
            stored("crashing", source=make_problem("return snapshot['moves']")),
            stored("importing", source="import os\n" + FETCH),
            stored("shy", source=make_problem("raise ValueError('not\\nmine')")),
            stored("constant", source=make_problem("return 'no PDDL'")),
        ]
    )
    *missed, plan = library.plans(snapshot(), LEVEL)
    assert [each for each in missed if isinstance(each, WriterFailure)][1:] == [
        WriterFailure("shy/v001", Miss.REFUSED, "not mine"),
        WriterFailure(
            "importing/v001", Miss.INVALID, "line 1: module os is not available: a writer may import re alone"
        ),
        WriterFailure("crashing/v001", Miss.INVALID, "KeyError: 'moves' (line 2)"),
        WriterFailure("nowhere/v001", Miss.INVALID, "unsolvable: it is not there"),
    ]
    assert isinstance(missed[0], WriterFailure)
    assert missed[0].reason.startswith("parse_error: ")
    assert isinstance(plan, Plan)


def test_plans_are_made_when_they_are_asked_for(executor: SandboxExecutor) -> None:
    asked = list[float]()

    def solve_and_tell(domain: str, text: str, seconds: float) -> SolveResult:
        asked.append(seconds)
        return solve(domain, text, seconds)

    library = WriterLibrary(executor, solve_and_tell, GRID)
    library.load([stored("a"), stored("b")])
    plans = library.plans(snapshot(), LEVEL)
    assert not asked
    next(plans)
    assert asked == [SOLVE_SECONDS]


def test_the_tally_counts_and_remembers_new_cases(library: WriterLibrary) -> None:
    library.load([stored("fetch"), stored("other")])
    library.tally("fetch/v001", LEVEL.category, solved=None)
    library.tally("fetch/v001", LEVEL.category, solved=case("fetch the blue box", "box_blue"))
    library.tally("fetch/v001", LEVEL.category, solved=case("bring me the blue box", "box_blue"))
    library.tally("fetch/v002", LEVEL.category, solved=None)
    fetch, other = library.stored
    assert (fetch.solved, fetch.failed, len(fetch.cases)) == (2, 1, 2)
    assert other == stored("other")


def test_the_planner_is_told_of_the_writers(library: WriterLibrary) -> None:
    library.load([stored("a"), stored("b")], "c: it is constant")
    missed = [WriterFailure("b/v001", Miss.REFUSED, "no such mission"), WriterFailure("a/v001", Miss.FAILED, "stuck")]
    assert library.describe_writers(missed, LEVEL) == {
        "nearest": {"writer_name": "b", "domain": DOMAIN, "writer": FETCH},
        "others": ["a"],
        "missed": [
            {"writer_name": "b", "how": "refused", "why": "no such mission"},
            {"writer_name": "a", "how": "failed", "why": "stuck"},
        ],
        "rejected": "c: it is constant",
    }


@pytest.mark.long
def test_the_last_rejection_is_told_until_a_draft_is_accepted(library: WriterLibrary) -> None:
    constant = ProblemWriter("fetch", DOMAIN, make_problem(f"return '''{problem()}'''"))
    reason = library.consider(constant, case(), AGENT, "b")
    told = library.describe_writers([], LEVEL)
    assert told == {"nearest": None, "others": [], "missed": [], "rejected": reason}
    assert library.consider(writer(), case(), AGENT, "b") == ""
    told = library.describe_writers([], LEVEL)
    assert told is not None
    assert "rejected" not in told


def test_a_case_that_is_another_renamed_is_not_kept_twice() -> None:
    known = (case(),)
    assert add_case(known, case("fetch the blue box", "box_blue", seed=3)) == known
    assert len(add_case(known, case("fetch the blue key", "key_blue"))) == 2
    assert len(add_case(known, case("fetch the red ball", "ball_any"))) == 2
    sorting = {**known[0].state, "level": {**known[0].state["level"], "skill": "Sort"}}
    elsewhere = Case(sorting, problem(), known[0].solved)
    assert len(add_case(known, elsewhere)) == 2


VERBS = ("fetch", "bring me", "find", "get")


def reading(verbs: set[str], lost: str) -> str:
    """A writer of the family that reads some verbs, and plans for another thing than asked where one is ``lost``."""
    source = FETCH.replace('"fetch the', f'"(?:{"|".join(sorted(verbs))}) the')
    return source.replace("{match[2]}_", "{match[2]}_lost_") if lost in verbs else source


verbs = st.sampled_from(VERBS)
drafts = st.lists(st.tuples(verbs, st.sets(verbs, min_size=1)), min_size=1, max_size=6)


@settings(max_examples=4)  # each call of a writer is a process
@given(drafts, st.just("") | verbs)
def test_no_version_is_replaced_by_one_that_lost_a_level(
    executor: SandboxExecutor, offered: list[tuple[str, set[str]]], lost: str
) -> None:
    library = WriterLibrary(executor, solve, GRID, PlayedWorlds(succeeds=lambda plan: "lost" not in plan.text))
    must: dict[str, Case] = {}
    for verb, verbs in offered:
        before = library.stored
        thing = "ball_lost_red" if lost == verb else "ball_red"
        reason = library.consider(writer(reading(verbs, lost)), case(f"{verb} the red ball", thing), AGENT, "b")
        if reason:
            assert library.stored == before
            continue
        must[verb] = case(f"{verb} the red ball", thing)
        (newest,) = library.stored
        jobs = [(newest.writer.source, known.state) for known in must.values()]
        assert all(written.miss is None for written in WriterRunner(executor).each(jobs))
        assert set(must) <= verbs
        assert newest.version == (before[0].version if before else 0) + 1


def test_the_states_of_the_tests_are_what_a_planner_is_shown() -> None:
    assert state()["level"] == {"category": LEVEL.category, "skill": LEVEL.skill, "level": LEVEL.level}


@pytest.mark.long
def test_a_version_that_is_replaced_keeps_its_last_tally(library: WriterLibrary) -> None:
    assert library.consider(writer(), case(), AGENT, "b") == ""
    library.tally("fetch/v001", LEVEL.category, solved=None)
    assert library.consider(writer(), case(), AGENT, "b") == ""
    assert [(each.label, each.failed) for each in library.versions] == [("fetch/v001", 1), ("fetch/v002", 0)]
    library.load(library.stored)
    assert [each.label for each in library.versions] == ["fetch/v002"]


def test_no_version_has_the_number_of_one_that_was_forgotten(library: WriterLibrary) -> None:
    assert library.consider(writer(), case(), AGENT, "b") == ""
    library.load(())
    assert library.consider(writer(), case(), AGENT, "b") == ""
    assert [each.label for each in library.stored] == ["fetch/v002"]


def test_no_version_has_the_number_of_one_of_the_run_that_goes_on(library: WriterLibrary) -> None:
    library.load((), "", {"", "fetch/v001", "fetch/v002", "other/v003"})
    assert library.consider(writer(), case(), AGENT, "b") == ""
    assert [each.label for each in library.stored] == ["fetch/v003"]


def test_a_writer_keeps_a_bounded_number_of_cases() -> None:
    def made(number: int, category: str = "a") -> Case:
        one = case(seed=number)
        words = one.state["level"] | {"category": category}
        return replace(one, state={**one.state, "mission": f"fetch {'x' * number}", "level": words})

    cases: tuple[Case, ...] = ()
    for number in range(MAX_CASES + 5):
        cases = add_case(cases, made(number))
    assert [each.solved.seed for each in cases] == list(range(MAX_CASES)), "the first ones stay"

    cases = add_case(cases, made(MAX_CASES + 9, "b"))
    assert len(cases) == MAX_CASES
    assert [each.solved.seed for each in cases] == [*range(1, MAX_CASES), MAX_CASES + 9], "a new category has a place"
    assert add_case(cases, made(MAX_CASES + 10, "b")) == cases
