"""Plans are remembered by the words of their PDDL, and nothing else is."""

from __future__ import annotations

import pytest

from spca.contracts import PlannedAction, SolveResult, SolveStatus
from spca.plan.memory import SolvedTexts

SOLVED = SolveResult(SolveStatus.SOLVED, (PlannedAction("take", ("a1",)),), "pyperplan")


@pytest.mark.parametrize(
    "text", ["(Define  (Domain D)) ; aside", "\n(define(domain d));", "( DEFINE\t( domain\r\n;aside\n d ) )"]
)
def test_the_same_words_find_the_same_plan(text: str) -> None:
    memory = SolvedTexts()
    memory.keep("(define (domain d))", "(define (problem p))", SOLVED)
    found = memory.find(text, "(define (problem p))")
    assert found is not None
    assert found == SOLVED


@pytest.mark.parametrize(
    ("domain", "problem"),
    [
        ("(define (domain e))", "(p)"),
        ("(define (domain d))", "(p p)"),
        ("(define (domain d)) (p)", ""),
        ("", "(define (domain d)) (p)"),
        ("(define (domain- d))", "(p)"),
        ("(define (domain d;\n))", "(p)"),
        ("(define (domain d\N{NO-BREAK SPACE}))", "(p)"),
    ],
)
def test_other_words_find_nothing(domain: str, problem: str) -> None:
    memory = SolvedTexts()
    memory.keep("(define (domain d))", "(p)", SOLVED)
    assert memory.find("(define (domain d))", "(p)")
    assert memory.find(domain, problem) is None


@pytest.mark.parametrize("status", [status for status in SolveStatus if status is not SolveStatus.SOLVED])
def test_failures_are_not_kept(status: SolveStatus) -> None:
    memory = SolvedTexts()
    memory.keep("(d)", "(p)", SolveResult(status))
    assert memory.find("(d)", "(p)") is None


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    memory = SolvedTexts(most=2)
    for name in ("a", "b"):
        memory.keep(name, "", SOLVED)
    assert memory.find("a", "")
    memory.keep("c", "", SOLVED)
    assert [memory.find(name, "") is not None for name in "abc"] == [True, False, True]
