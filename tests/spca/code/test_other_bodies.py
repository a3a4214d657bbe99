"""Code for an agent of another body: its own names are kept safe, and those of the grid are plain names."""

from __future__ import annotations

import pytest

from spca.body import render_agent
from spca.code import library
from spca.code.merge import merge
from spca.code.policy.check import check_patch, violations
from spca.contracts import PlanStep, Status
from spca.errors import PatchError
from spca.llm.feedback import failure_report
from tests.support.bodies.cat import CAT
from tests.support.spca.doubles import AGENT, outcome_of, plan_of

INITIAL = render_agent(CAT)
HUNT = (
    "def hunt(self, agent, prey):\n    while self.hunger:\n        yield self.scratch()\n    yield from self._rest()\n"
)
REST = "def _rest(self):\n    yield self.purr()\n"


def test_methods_are_merged_below_the_primitives() -> None:
    merged = merge(INITIAL, HUNT + REST, CAT.interface, {"hunt": ("agent", "prey")})
    assert merged.text.startswith(INITIAL.rstrip("\n"))
    assert merged.changed == ("hunt", "_rest")
    again = merge(merged.text, HUNT + REST, CAT.interface)
    assert (again.text, again.changed) == (merged.text, ())


@pytest.mark.parametrize(
    ("patch", "refusal"),
    [
        ("def purr(self):\n    return 1\n", "purr is a primitive and must stay as it is"),
        ("def hunger(self):\n    yield 0\n", "would hide the state attribute self.hunger"),
        ("def go(self):\n    self.hunger = 0\n    yield 0\n", "self.hunger is read-only"),
        ("def go(self):\n    self.room[0] = 'mouse'\n    yield 0\n", "self.room is read-only"),
        ("def go(self):\n    self.smells.sort()\n    yield 0\n", "self.smells is read-only"),
        ("def go(self):\n    self.purr = 1\n    yield 0\n", "self.purr is a primitive"),
        ("def go(self):\n    self.purr()\n    yield 0\n", "self.purr() alone does nothing; yield it"),
        ("def go(self):\n    yield from self.purr()\n", "self.purr() is one primitive code"),
    ],
)
def test_its_own_names_are_kept_safe(patch: str, refusal: str) -> None:
    with pytest.raises(PatchError) as refused:
        merge(INITIAL, patch, CAT.interface)
    assert refusal in str(refused.value)


@pytest.mark.parametrize(
    "patch",
    [
        "def turn_left(self):\n    yield 1\n",
        "def inventory(self):\n    return 3\n",
        "def go(self):\n    self.full_grid = []\n    self.full_grid.append(1)\n    self.toggle = 1\n    yield 0\n",
        "def toggle(self):\n    yield 0\n\ndef go(self):\n    yield from self.toggle()\n",
    ],
)
def test_names_of_the_grid_are_plain_names(patch: str) -> None:
    check_patch(patch, INITIAL, CAT.interface)
    assert merge(INITIAL, patch, CAT.interface).changed


def test_an_agent_of_the_grid_has_only_plain_methods_for_another_body() -> None:
    assert violations(AGENT.text, CAT.interface) == ()
    assert violations(AGENT.text + "\n    def purr(self):\n        return 1\n", CAT.interface)


def test_its_primitives_are_not_listed_among_the_methods() -> None:
    merged = merge(INITIAL, HUNT + REST, CAT.interface).text
    primitives = CAT.interface.primitives
    listed = library.listing(merged, primitives, relevant_to=["hunt"])
    assert [line.partition("(")[0] for line in listed.splitlines()] == ["hunt", "_rest"]
    assert library.find_involved(merged, ["hunt"], primitives) == ("hunt", "_rest")
    error = "  agent_tmp.py, line 3, in purr\n  agent_tmp.py, line 4, in _rest"
    assert library.find_cited(merged, error, primitives) == ("_rest",)


def test_a_failure_is_told_in_its_words() -> None:
    plan = plan_of(PlanStep("hunt", ("a1", "mouse")))
    outcome = outcome_of(Status.STUCK, codes=(1, 1, 0), shown={"hunger": 3, "map": [".m"]})
    report = failure_report(plan, outcome, CAT)
    assert "last primitives: scratch (act, line 70); scratch (act, line 71); purr (act, line 72)" in report
    assert report.endswith("shown at the end:\nhunger: 3\n.m")
