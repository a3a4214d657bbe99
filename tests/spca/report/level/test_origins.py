"""Who wrote each method: the call of the coder that brought its text into the agent, in whichever level it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.contracts import AgentSource, Status
from spca.report.level.levels import level
from spca.report.level.origins import Origins, list_methods, read_origins
from spca.report.read import model
from spca.report.read.run_files import open_run
from tests.support.report.making import Writing
from tests.support.spca.doubles import AGENT

Written = tuple[int, str, str]
NOBODY: Written = (0, "", "")


def agent(**bodies: str) -> AgentSource:
    """An agent with these actions; a decorator is part of a method."""
    methods = (f"\n    @traced\n    def {name}(self, a):\n        yield {body}\n" for name, body in bodies.items())
    return AgentSource(AGENT.text + "".join(methods))


def line_of(source: AgentSource, text: str) -> int:
    return source.text.split("\n").index(f"        yield {text}") + 1


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Writing]:
    made = Writing(tmp_path, ids=[f"MiniGrid-Empty-{size}x{size}-v0" for size in (5, 6, 8)])
    yield made
    made.kill()


def origins(run: Writing) -> Origins:
    return read_origins(open_run(run.path))


def written(found: Origins, number: int, name: str) -> list[Written]:
    """Who wrote a method, in each attempt of a level; attempts that lack it are left out."""
    methods = (method for each in found[number].attempts for method in each.methods if method.name == name)
    return [(method.level, method.attempt, method.call) for method in methods]


def calls(run: Writing) -> list[str]:
    """Files of the coder's calls, in order."""
    return [event["transcript"] for event in open_run(run.path).events if event["event"] == "coder_call"]


def play(run: Writing, *sources: AgentSource, status: Status = Status.STUCK, codes: bool = True) -> None:
    """A level of one round with an attempt for each source, of which the last one may succeed."""
    run.begin()
    run.plan()
    for at, source in enumerate(sources, 1):
        if codes:
            run.code()
        run.act(status if at == len(sources) else Status.STUCK, agent=source)
    run.finish()


def test_a_failing_line_may_be_of_an_earlier_level(run: Writing) -> None:
    library = agent(go="1")
    play(run, library, status=Status.SUCCESS)
    run.begin()
    run.plan()
    run.act(Status.STUCK, agent=library, line=line_of(library, "1"))
    run.finish()
    blame = level(open_run(run.path), 2, None).blame
    assert blame is not None
    (call,) = calls(run)
    assert blame.written == model.Method("go", blame.line - 2, blame.line, 1, "1.1", call)
    assert (blame.method, blame.first, blame.last) == ("go", blame.line - 2, blame.line)


def test_each_version_of_a_method_belongs_to_its_call_and_what_stays_as_it_was_to_the_first(run: Writing) -> None:
    play(run, agent(go="1", stop="1"), status=Status.SUCCESS)
    play(run, agent(go="2", stop="1"), agent(go="3", stop="1"), status=Status.SUCCESS)
    play(run, agent(go="3", stop="1"), codes=False)
    first, second, third = calls(run)
    found = origins(run)
    assert written(found, 2, "go") == [(2, "1.1", second), (2, "1.2", third)]
    assert written(found, 2, "stop") == [(1, "1.1", first)] * 2
    assert written(found, 3, "go") == [(2, "1.2", third)]
    shown = level(open_run(run.path), 2, None)
    for turn in shown.rounds[0].tries:
        assert turn.attempt is not None
        assert turn.diff is not None
        assert shown.texts[turn.diff.new] == shown.texts[turn.attempt.agent]
        old = shown.texts[turn.diff.old]
        assert isinstance(old, model.AgentText)
        assert {"go", "stop"} <= {each.name for each in old.methods}


def test_what_the_run_began_with_was_written_by_nobody(run: Writing) -> None:
    play(run, agent(go="1"))
    found = origins(run)
    assert written(found, 1, "move_forward") == [NOBODY]
    assert {method.level for method in found[1].before.methods} == {0}


def test_a_text_that_was_dropped_and_comes_back_belongs_to_the_call_that_brought_it(run: Writing) -> None:
    play(run, agent(go="1"))
    play(run, agent(go="1"), agent(go="2"), agent(go="1"))
    once, again, _, back = calls(run)
    found = origins(run)
    assert written(found, 1, "go") == [(1, "1.1", once)]
    assert written(found, 2, "go")[0] == (2, "1.1", again)
    assert written(found, 2, "go")[2] == (2, "1.3", back)
    files = open_run(run.path)
    first, second = (level(files, number, None, found) for number in (1, 2))
    ids = {turn.attempt.agent for each in (first, second) for turn in each.rounds[0].tries if turn.attempt}
    assert len(ids) == 4, "texts with other origins are others"


def test_answers_that_were_not_taken_wrote_nothing(run: Writing) -> None:
    run.begin()
    run.plan()
    run.code()  # merged, and then refused by the regression check
    run.code(error="syntax error")
    run.code()
    run.code(objection="no")
    run.act(Status.STUCK, agent=agent(go="1"))
    run.finish()
    assert written(origins(run), 1, "go") == [(1, "1.1", calls(run)[2])]


def test_code_of_a_plan_that_was_carried_out_is_kept_for_the_next_round(run: Writing) -> None:
    run.begin()
    for status, source in ((Status.GOAL_NOT_REACHED, agent(go="1")), (Status.STUCK, agent(go="1", stop="1"))):
        run.plan()
        run.code()
        run.act(status, agent=source)
    run.plan()
    run.code()
    run.act(agent=agent(go="1", stop="1"))
    run.finish()
    first, _, third = calls(run)
    found = origins(run)
    assert written(found, 1, "go") == [(1, "1.1", first)] * 3
    assert written(found, 1, "stop")[1] == (1, "3.1", third), "what got stuck was dropped"


def test_a_round_goes_on_with_the_code_of_the_same_plan_of_a_writer(run: Writing) -> None:
    run.begin()
    run.store("go/v001")
    run.code()
    run.carry_out("go/v001", Status.STUCK, agent(go="1", stop="1"))
    run.plan()
    run.code()
    run.act(agent=agent(go="2", stop="1"))
    run.finish()
    writers, planners = calls(run)
    assert written(origins(run), 1, "stop") == [(1, "0.1", writers)] * 2
    assert written(origins(run), 1, "go") == [(1, "0.1", writers), (1, "1.1", planners)]


def test_without_carry_over_each_category_begins_with_the_first_agent(tmp_path: Path) -> None:
    run = Writing(tmp_path, carry_over=False)
    play(run, agent(go="1"), status=Status.SUCCESS)
    run.tasks[1] = replace(run.tasks[1], category="doors")
    play(run, agent(go="1"))
    found = origins(run)
    assert [written(found, number, "go")[0][0] for number in (1, 2)] == [1, 2]
    run.begin()
    assert origins(run)[3].before == found[2].before, "a category may come back"


def test_the_table_of_methods(run: Writing) -> None:
    library, worse = agent(go="1", _see="1"), agent(go="2", _see="1", fly="1")
    play(run, library, status=Status.SUCCESS)
    for _ in range(2):
        run.begin()
        run.plan()
        run.code()
        run.act(Status.STUCK, agent=worse, line=line_of(worse, "2"))
        run.finish()
    first, _, last = calls(run)
    assert list_methods(origins(run), PRIMITIVE_METHODS) == (
        model.LibraryMethod("go", True, True, 1, "1.1", first, 2, 2),
        model.LibraryMethod("_see", True, False, 1, "1.1", first, 1, 0),
        model.LibraryMethod("fly", False, True, 3, "1.1", last, 1, 0),
    )


def test_a_run_whose_agents_are_gone_has_no_origins(run: Writing) -> None:
    play(run, agent(go="1"), status=Status.SUCCESS)
    play(run, agent(go="1"))
    for path in (run.path / "agents").iterdir():
        path.unlink()
    found = origins(run)
    assert [each.methods for each in found[2].attempts] == [()]
    assert list_methods(found, PRIMITIVE_METHODS) == ()
    assert found[2].headline == "attempt 1.1 got stuck"
