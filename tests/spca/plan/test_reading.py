"""PDDL read without the grammar: the same problem as with it, or left to it."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from unified_planning.io import PDDLReader
from unified_planning.model import Problem

from spca.plan import job
from spca.plan.pddl import words
from spca.plan.reading import UnusualError, parse_plain

DOMAINS = (
    """(define (domain Rooms) ; a comment
      (:requirements :strips :typing :conditional-effects :disjunctive-preconditions :negative-preconditions)
      (:types agent - object item - object key box - item door)
      (:constants a1 - agent key_red key-blue - key)
      (:predicates (holding ?a - agent ?k - item) (opened ?d - door) (free) (fits ?k - key ?d - door))
      (:action take :parameters (?a - agent ?k - item)
        :precondition (and (not (holding ?a ?k)) (imply (free) (or (opened d1) (holding ?a key_red))))
        :effect (and (holding ?a ?k) (not (free)) (when (holding ?a key_red) (free))))
      (:action unlock :parameters (?a - agent ?d - door ?k - key)
        :precondition (and (holding ?a ?k) (fits ?k ?d) (exists (?x - box) (holding ?a ?x)))
        :effect (and (opened ?d) (forall (?x - key) (when (fits ?x ?d) (not (fits ?x ?d))))))
      (:action wait :parameters ()))""".replace("(opened d1)", "(free)"),
    """(define (domain plain) (:predicates (p ?x) (q ?x ?y))
      (:action a :parameters (?x ?y) :precondition (and (p ?x) (not (= ?x ?y))) :effect (q ?x ?y))
      (:action b :parameters (?x) :effect ()))""",
)
PROBLEMS = (
    """(define (problem P) (:domain Rooms) (:requirements :strips)
      (:objects d1 d2 - door b1 - box) (:init (free) (fits key_red d1) (not (opened d2)))
      (:goal (and (opened d1) (forall (?x - key) (not (fits ?x d2))))))""",
    "(define (problem p) (:domain plain) (:objects o1 o2) (:init (p o1)) (:goal (q o1 o2)))",
)
PAIRS = tuple(zip(DOMAINS, PROBLEMS, strict=True))
GRAMMAR = PDDLReader()
pytestmark = pytest.mark.filterwarnings("ignore:'parseString' deprecated")  # by Unified Planning


def by_grammar(domain: str, problem: str) -> Problem | None:
    try:
        return job._reader().parse_problem_string(domain, problem)
    except Exception:  # boundary: the reader raises anything
        return None


def plainly(domain: str, problem: str) -> Problem | None:
    """What the fast way makes of it; a failure that is not an UnusualError is None too."""
    try:
        return parse_plain(GRAMMAR, domain, problem)
    except UnusualError:
        assume(False)
    except Exception:  # boundary: the reader raises anything
        return None


@pytest.mark.parametrize(("domain", "problem"), PAIRS)
def test_the_same_problem_as_the_grammar_makes(domain: str, problem: str) -> None:
    fast, slow = parse_plain(GRAMMAR, domain, problem), by_grammar(domain, problem)
    assert str(fast) == str(slow)  # first: comparing them states what they take for false
    assert fast == slow


@st.composite
def altered(draw: st.DrawFn) -> tuple[str, str]:
    """A pair in which a few words are left out, repeated or exchanged, spaced, commented and cased at will."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    texts = list(rng.choice(PAIRS))
    for _ in range(rng.choice((0, 1, 1, 2))):
        which = rng.randrange(2)
        parts = words(texts[which]) or []
        if not parts:  # its whole form went before
            continue
        at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        match rng.choice(("drop", "repeat", "exchange", "form")):
            case "drop":
                del parts[at]
            case "repeat":
                parts.insert(other, parts[at])
            case "exchange":
                parts[at], parts[other] = parts[other], parts[at]
            case "form":  # a whole form goes: keeps the parentheses balanced
                opened = [i for i, part in enumerate(parts) if part == "("]
                start, depth = rng.choice(opened), 0
                for end in range(start, len(parts)):
                    depth += (parts[end] == "(") - (parts[end] == ")")
                    if not depth:
                        break
                del parts[start : end + 1]
        texts[which] = " ".join(parts)
    spaces = (" ", "\n", "\t", " ; said ( aside\n", "\r\n")
    shown = ["".join(word + rng.choice(spaces) for word in words(text) or []) for text in texts]
    if rng.random() < 0.3:
        shown = [text.upper() for text in shown]
    return shown[0], shown[1]


@settings(max_examples=10, deadline=None)
@given(altered())
def test_altered_texts_mean_what_the_grammar_says(texts: tuple[str, str]) -> None:
    fast, slow = plainly(*texts), by_grammar(*texts)
    assert (fast is None) == (slow is None)
    assert str(fast) == str(slow)
    assert fast == slow


@pytest.mark.parametrize(
    "change",
    [
        ("(:action wait", "(:functions (cost))\n (:action wait"),
        (":parameters ()", ":parameters () :observe (free)"),
        (":typing", ":typing :contingent"),
        ("a1 - agent", "a1 -agent"),
        ("(free) (fits", "(free;aside\n) (fits"),
    ],
)
def test_unusual_texts_are_left_to_the_grammar(change: tuple[str, str]) -> None:
    domain = DOMAINS[0].replace(*change, 1)
    assert domain != DOMAINS[0]
    with pytest.raises(UnusualError):
        parse_plain(GRAMMAR, domain, PROBLEMS[0])


@pytest.mark.long
def test_the_kind_of_a_problem_is_that_of_unified_planning() -> None:
    for domain, problem in PAIRS:
        read, plain = job.read(domain, problem), by_grammar(domain, problem)
        assert plain is not None
        assert read.kind == plain.kind
        assert read.kind is not read.kind  # whoever changes what he was given changes his own


@pytest.mark.parametrize("text", ["(a  B ; c\n\t(d))", "(A b(D))", "( a b ;;\n ( d ) ) ; e"])
def test_words_are_what_spaces_comments_and_case_leave(text: str) -> None:
    assert words(text) == ["(", "a", "b", "(", "d", ")", ")"]


def test_words_that_touch_a_comment_are_not_told() -> None:
    assert words("(a;b\n)") is None
    assert words("(a ;b\n)") == ["(", "a", ")"]
