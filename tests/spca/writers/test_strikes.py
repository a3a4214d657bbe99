"""A writer that is wrong, late or invalid is left out before it costs the others more than two attempts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spca.bodies.grid.body import GRID
from spca.contracts import SolveResult, SolveStatus
from spca.sandbox.executor import SandboxExecutor
from spca.writers import merit
from spca.writers.library import MAX_OBJECTS, WriterLibrary
from spca.writers.merit import MAX_STRIKES, reason_left_out, reasons_left_out
from spca.writers.stored import Miss, StoredWriter, Tally, WriterFailure
from tests.redteam.writers import HOSTILE
from tests.support.bodies import grid
from tests.support.spca.writing import LEVEL, case, snapshot, solve, writer
from tests.support.writers.seasons import PLACES, Mission, play_level, writer_for

FOREIGN = "wrapping"
"""A category in which nobody was born, and whose missions a writer of another one reads."""

GOOD = writer_for(FOREIGN)
WRONG = HOSTILE["wrong_everywhere"]


def stored(name: str, source: str) -> StoredWriter:
    return StoredWriter(writer(source, name), 1, "collecting/a", (case(),))


def levels(count: int) -> list[Mission]:
    return [Mission(FOREIGN, *PLACES[n % len(PLACES)]) for n in range(count)]


@pytest.mark.long
def test_wrong_writers_keep_a_good_one_from_two_levels_at_most(executor: SandboxExecutor) -> None:
    library = WriterLibrary(executor, solve, GRID)
    others = [stored("first", WRONG), stored("second", HOSTILE["another_mission"])]
    library.load([stored("good", GOOD), *others])
    planned = [play_level(library, mission) for mission in levels(30)]
    assert [played.solved for played in planned].count(False) <= 2
    good, first, second = library.stored
    assert good.solved >= 27
    assert (reasons_left_out(good), good.failed) == ("", 0)
    assert max(first.failed, second.failed) <= 2


@pytest.mark.parametrize("name", ["many_objects", "unsolvable"])
def test_an_answer_that_is_no_problem_costs_the_solver_nothing_more(executor: SandboxExecutor, name: str) -> None:
    solved = list[int]()

    def solve_and_count(domain: str, text: str, seconds: float) -> SolveResult:
        solved.append(text.count(" o"))
        return solve(domain, text, seconds)

    library = WriterLibrary(executor, solve_and_count, GRID)
    library.load([stored("hostile", HOSTILE[name])])
    for mission in levels(10):
        play_level(library, mission)
    (left_out,) = library.stored
    assert left_out.invalid == MAX_STRIKES[Miss.INVALID]
    assert max(solved, default=0) <= MAX_OBJECTS
    (missed,) = library.plans(snapshot(levels(1)[0].text), levels(1)[0].info)
    assert missed == WriterFailure(
        "hostile/v001",
        Miss.LEFT_OUT,
        f"{MAX_STRIKES[Miss.INVALID]} invalid answers in categories of which it has solved no level",
    )


def test_a_solver_that_runs_out_of_time_is_the_writers_fault(executor: SandboxExecutor) -> None:
    asked = list[str]()

    def give_up(_domain: str, text: str, _seconds: float) -> SolveResult:
        asked.append(text)
        return SolveResult(SolveStatus.TIMEOUT, message="no plan within 10 s")

    library = WriterLibrary(executor, give_up, GRID)
    library.load([stored("hostile", GOOD)])
    misses = [[each.miss for each in play_level(library, mission).missed] for mission in levels(4)]
    assert misses == [[Miss.LATE], [Miss.LATE], [Miss.LEFT_OUT], [Miss.LEFT_OUT]]
    assert len(asked) == 2


def test_processor_time_counts_although_an_answer_comes(executor: SandboxExecutor) -> None:
    library = WriterLibrary(executor, solve, GRID)
    library.load([stored("slow", HOSTILE["slow_refusal"])])
    misses = [play_level(library, mission).missed[0] for mission in levels(3)]
    assert [miss.miss for miss in misses] == [Miss.LATE, Miss.LATE, Miss.LEFT_OUT]


CATEGORY = LEVEL.category


def count(known: StoredWriter, *misses: tuple[str, Miss]) -> StoredWriter:
    for category, miss in misses:
        known = merit.count_miss(known, category, miss)
    return known


def test_one_failure_retires_nobody_and_a_success_forgives() -> None:
    known = count(stored("good", GOOD), (CATEGORY, Miss.FAILED))
    assert reasons_left_out(known) == ""
    known = count(grid.count_solved(known, CATEGORY, case()), (CATEGORY, Miss.FAILED))
    assert (reasons_left_out(known), known.failed, known.solved) == ("", 2, 1)
    known = count(known, (CATEGORY, Miss.FAILED))
    assert reasons_left_out(known) == f"2 wrong plans in {CATEGORY} since it last solved a level there"


def test_strikes_abroad_count_together_and_leave_home_alone() -> None:
    known = count(stored("good", GOOD), ("sorting", Miss.FAILED), ("finding", Miss.FAILED))
    assert reason_left_out(known, CATEGORY) == ""
    assert reason_left_out(known, "anywhere") == "2 wrong plans in categories of which it has solved no level"
    at_home = grid.count_solved(known, "finding", case())
    assert reason_left_out(at_home, "sorting") == reason_left_out(at_home, "finding") == ""


def test_a_refusal_is_no_strike() -> None:
    known = stored("shy", GOOD)
    assert count(known, *[("sorting", Miss.REFUSED)] * 20) == known


def test_who_has_solved_such_a_mission_comes_first_then_who_has_no_strikes() -> None:
    same = stored("same", GOOD)
    near = replace(same, writer=writer(GOOD, "near"), cases=(case("bring me the red key", "key_red"),))
    foreign = replace(same, writer=writer(GOOD, "foreign"), cases=())
    struck = replace(count(foreign, ("sorting", Miss.FAILED)), writer=writer(GOOD, "struck"))
    order = merit.sort_by_merit([same, near, foreign, struck], "fetch the green box", LEVEL, GRID.vocabulary)
    assert [each.writer.name for each in order] == ["same", "near", "foreign", "struck"]


def test_a_new_version_begins_without_strikes(executor: SandboxExecutor) -> None:
    library = WriterLibrary(executor, solve, GRID)
    library.load([replace(stored("fetch", GOOD), failed=3, tallies={CATEGORY: Tally(failed=2)}, cases=())])
    assert library.consider(writer(), case(), None, "b") == ""  # type: ignore[arg-type]
    assert reasons_left_out(library.stored[0]) == ""
