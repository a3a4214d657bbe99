"""Stored problem writers: tried, tallied, accepted, told of."""

from __future__ import annotations

from dataclasses import replace

from spca.code.regression import SolvedLevel
from spca.contracts import Checkpoint, LevelInfo, Plan, PlannerMode, ProblemWriter
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import WriterLibrary
from spca.writers.stored import Case, Miss, Missed, writer_state
from tests.support.spca.doubles import AGENT, LEVEL, SNAPSHOT, pddl, shared_solver

DOMAIN, PROBLEM = pddl("walk")
SOURCE = f'''
def make_problem(snapshot):
    if snapshot["mission"] != "get to the green goal square":
        raise ValueError("cannot read " + snapshot["mission"])
    return """{PROBLEM}"""
'''


def case() -> Case:
    plan = Plan((), DOMAIN, PROBLEM, (), PlannerMode.FRESH)
    return Case(writer_state(SNAPSHOT, LEVEL), PROBLEM, SolvedLevel("x", 1, Checkpoint((), ""), plan))


def test_accepted_writer_plans_for_the_next_level() -> None:
    with SandboxExecutor() as executor:
        library = WriterLibrary(executor, shared_solver().solve)
        assert library.consider(ProblemWriter("walk", DOMAIN, SOURCE), case(), AGENT, "x") == ""
        (plan,) = library.plans(SNAPSHOT, LEVEL)
        assert isinstance(plan, Plan)
        assert plan.text == "[walk(a1)]"
        assert plan.writer == "walk/v001"
        library.tally("walk/v001", solved=None)
        assert library.stored[0].failed == 1
        other = LevelInfo("c", "s", "l")

        (missed,) = library.plans(replace(SNAPSHOT, mission="sing"), other)
        assert missed == Missed("walk/v001", Miss.REFUSED, "cannot read sing")
        told = library.told([missed])
        assert told is not None
        assert told["nearest"]["writer_name"] == "walk"
