"""Diffs that can be followed line by line, of anything, in little time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.text import visible
from spca.report.level.diffs import diff
from spca.report.level.texts import Shelf
from spca.report.read.model import Diff

AGENT = "class Agent:\n" + "".join(f"    def m{n}(self):\n        yield {n}\n\n" for n in range(40))
LINES = st.lists(st.sampled_from(["a", "b", "c", "", "\u202e", "x\r"]), max_size=12).map("\n".join)


def made(old: str, new: str, language: str = "text", context: int = 3) -> Diff:
    found = diff(Shelf(), old, new, language, context)
    assert found is not None
    return found


def drawn(found: Diff, old: str, new: str) -> list[str]:
    before, after = ["", *visible(old).split("\n")], ["", *visible(new).split("\n")]
    return [
        row.tag + (after[row.new] if row.tag in " +" else before[row.old] if row.tag == "-" else "")
        for row in found.rows
    ]


def test_changes_stand_between_their_neighbours() -> None:
    old, new = "\n".join("abcdefghijklm"), "\n".join("abXdefghijkYZ")
    found = made(old, new, context=1)
    assert drawn(found, old, new) == ["@", " b", "-c", "+X", " d", "@", " k", "-l", "-m", "+Y", "+Z"]
    assert [(row.old, row.new) for row in found.rows if row.tag == "@"] == [(1, 1), (5, 5)]


def test_texts_that_look_the_same_have_no_difference() -> None:
    shelf = Shelf()
    assert diff(shelf, "a\r\nb", "a\nb", "text") is None
    with shelf.collecting() as put:
        assert diff(shelf, "a", "a", "text") is None
    assert not put


def test_both_texts_are_on_the_shelf() -> None:
    shelf = Shelf()
    found = diff(shelf, "a", "b", "pddl")
    assert found is not None
    assert (shelf.raw(found.old), shelf.raw(found.new)) == ("a", "b")


@given(LINES, LINES, st.integers(0, 3))
def test_a_diff_leads_from_one_text_to_the_other(old: str, new: str, context: int) -> None:
    found = diff(Shelf(), old, new, "text", context)
    before, after = visible(old).split("\n"), visible(new).split("\n")
    if found is None:
        assert before == after
        return
    whole = made(old, new, context=100)
    assert [before[row.old - 1] for row in whole.rows if row.old] == before
    assert [after[row.new - 1] for row in whole.rows if row.new] == after
    assert all(before[row.old - 1] == after[row.new - 1] for row in whole.rows if row.tag == " ")
    assert {row for row in found.rows if row.tag in "+-"} == {row for row in whole.rows if row.tag in "+-"}
    assert [row for row in found.rows if row.tag != "@"] == [row for row in whole.rows if row in found.rows]


def test_names_of_methods_that_are_new_or_changed() -> None:
    new = AGENT.replace("yield 7\n", "yield 8\n").replace("def m9(", "def other(")
    assert made(AGENT, new, "python").names == ("m7", "other")
    assert made("no methods", new, "python").names == ()


def test_names_of_actions_that_are_new_or_changed() -> None:
    old = "(define (domain d) (:action a :effect (p)) (:action b-c :effect (q)))"
    new = "(define (domain d)\n (:action a :effect (p))\n (:action b-c :effect (r)) (:action e))"
    assert made(old, new, "pddl").names == ("b_c", "e")
    assert made("(:action", new, "pddl").names == ()


@pytest.mark.parametrize("line", ["same\n", "        yield\n"])
def test_thousands_of_equal_lines_do_not_take_for_ever(line: str) -> None:
    old, new = "first\n" + line * 6000 + "end", "other\n" + line * 5000 + "finish"
    started = time.process_time()
    assert made(old, new).rows
    assert time.process_time() - started < 5
