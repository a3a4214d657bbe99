"""Problems as what they say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.errors import PlanTextError
from spca.writers.problems import ProblemSets

TEXT = """
(define (problem P) (:domain house) ; a comment (with parentheses
  (:objects A1 key-red ball_blue - thing door_red - (either door gate) spare)
  (:init (fits key_red door_red) (hand_empty a1) (= (cost) 0))
  (:goal (and (opened door_red) (or (taken key_red) (and (taken ball_blue) (taken spare))))))
"""


def test_a_problem_is_read() -> None:
    problem = ProblemSets.from_text(TEXT)
    assert problem.objects == {
        *((name, "thing") for name in ("a1", "key_red", "ball_blue")),
        ("door_red", ("either", "door", "gate")),
        ("spare", "object"),
    }
    assert problem.init == {("fits", "key_red", "door_red"), ("hand_empty", "a1"), ("=", ("cost",), "0")}
    both = ("and", frozenset({("taken", "ball_blue"), ("taken", "spare")}))
    assert problem.goal == {("opened", "door_red"), ("or", frozenset({("taken", "key_red"), both}))}


@pytest.mark.parametrize(
    ("goal", "same"),
    [
        ("(and (f a) (g b))", "(and (g b) (f a))"),
        ("(f a)", "(and (f a))"),
        ("(and (f a) (and (g b) (h)))", "(and (and (h) (f a)) (g b))"),
        ("(F A)", "(f a)"),
        ("(and)", "(and (and))"),
        ("(forall (?x - t) (and (f ?x) (g ?x)))", "(forall (?x - t) (and (g ?x) (f ?x)))"),
    ],
)
def test_goals_that_say_the_same_are_equal(goal: str, same: str) -> None:
    first, second = (ProblemSets.from_text(f"(define (problem p) (:goal {text}))") for text in (goal, same))
    assert first == second
    assert first.difference(second) == ""


@pytest.mark.parametrize("goal", ["(f a b)", "(not (f a))", "(or (f a) (g b))", "(and (f a) (not (g b)))", "(g a)"])
def test_goals_that_say_something_else_differ(goal: str) -> None:
    assert ProblemSets.from_text(f"(define (problem p) (:goal {goal}))") != ProblemSets.from_text(
        "(define (problem p) (:goal (f a)))"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "define"),
        ("a constant string", "define"),
        ("(define (problem p))", "no goal"),
        ("(define (problem p) (:goal (f a))", "never closed"),
        ("(" * 200 + ")" * 200, "nested deeper"),
        ("(domain)", "define"),
    ],
)
def test_what_is_no_problem_is_told(text: str, words: str) -> None:
    with pytest.raises(PlanTextError, match=words):
        ProblemSets.from_text(text)


@given(st.text(alphabet="() \n;:-abAB?=defineproblemgoal", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        problem = ProblemSets.from_text(text)
    except PlanTextError:
        return
    assert problem == ProblemSets.from_text(text)


_names = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@given(_names, _names, st.randoms(use_true_random=False))
def test_equality_does_not_depend_on_order(objects: list[str], facts: list[str], chance: random.Random) -> None:
    def text() -> str:
        chance.shuffle(objects)
        chance.shuffle(facts)
        init, goal = (" ".join(f"({verb} {name})" for name in facts) for verb in ("at", "done"))
        return f"(define (problem p) (:objects {' '.join(objects)} - t) (:init {init}) (:goal (and {goal})))"

    first = ProblemSets.from_text(text())
    assert first == ProblemSets.from_text(text())
    assert first != ProblemSets.from_text(text().replace("(done ", "(done not_", 1))


def test_a_difference_is_told_in_words() -> None:
    other = ProblemSets.from_text(TEXT.replace("key-red", "key_blue").replace("(hand_empty a1)", ""))
    assert ProblemSets.from_text(TEXT).difference(other) == (
        ":objects has (key_red thing) and lacks (key_blue thing); :init has (hand_empty a1)"
    )
    assert "..." in ProblemSets.from_text("(define (:goal (and (a) (b) (c) (d))))").difference(
        ProblemSets.from_text("(define (:goal (e)))")
    )


def test_what_is_named_and_not_declared() -> None:
    formula = "(and (holds a1 ball-Red) (forall (?x - thing) (or (not (seen ?x key)) (= (cost) 0) (done))))"
    text = f"(define (problem p) (:objects a1 - agent key) (:init (at a1 here) (= (cost) 3)) (:goal {formula}))"
    assert ProblemSets.from_text(text).find_undeclared({"a1", "key"}) == "ball_red here"
    assert ProblemSets.from_text(text).find_undeclared({"a1", "key", "here", "ball_red"}) == ""
