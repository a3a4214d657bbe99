"""The regression check: which levels are run again, and what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.code.regression import MAX_RERUNS, RegressionSuite, SolvedLevel, most_diverse
from spca.contracts import AgentSource, Checkpoint, LevelSpec, PlanStep
from spca.protocols import World
from tests.support.spca.doubles import AGENT, plan_of

LIBRARY = AgentSource(
    AGENT.text
    + """
    def go(self, a):
        yield from self._ahead(2)
        yield self.turn_right()
        yield from self._ahead(2)

    def other(self, a):
        yield self.turn_left()

    def _ahead(self, n):
        for _ in range(n):
            yield self.move_forward()
"""
)
START = "MiniGrid-Empty-5x5-v0"


def solved(env_id: str = START, action: str = "go", seed: int = 1) -> SolvedLevel:
    world = MiniGridEnv(env_id, seed)
    level = SolvedLevel(LevelSpec(env_id), seed, world.checkpoint(), plan_of(PlanStep(action, ("a1",))))
    world.close()
    return level


class Counted:
    """A gate whose re-runs are counted."""

    def __init__(self, *levels: SolvedLevel, limit: int = MAX_RERUNS) -> None:
        self.made: list[str] = []
        self.gate = RegressionSuite(self._make, limit)
        self.gate.extend(levels)

    def check(self, agent: AgentSource) -> str | None:
        return self.gate.against(LIBRARY)(agent)

    def _make(self, level: LevelSpec, seed: int) -> World:
        self.made.append(level.id)
        return MiniGridEnv(level, seed)


def changed(old: str, new: str) -> AgentSource:
    assert old in LIBRARY.text
    return AgentSource(LIBRARY.text.replace(old, new))


def test_what_still_works_passes() -> None:
    gate = Counted(solved())
    assert gate.check(changed("range(n)", "range(0, n)")) is None
    assert gate.made == [START]


def test_a_helper_that_is_changed_re_runs_what_uses_it() -> None:
    gate = Counted(solved())
    refusal = gate.check(changed("range(n)", "range(n - 1)"))
    assert refusal is not None
    assert refusal.startswith("Regression: the rewritten _ahead breaks a level that was solved before")
    assert "status: goal_not_reached" in refusal
    assert "plan: [go(a1)]" in refusal


def test_a_level_that_does_not_use_the_change_is_not_re_run() -> None:
    gate = Counted(solved())
    assert gate.check(changed("yield self.turn_left()", "yield self.turn_right()")) is None
    assert gate.made == []


def test_new_methods_and_comments_need_no_re_run() -> None:
    gate = Counted(solved())
    assert gate.check(AgentSource(LIBRARY.text + "\n    def brand_new(self, a):\n        yield 0\n")) is None
    assert gate.check(changed("yield self.turn_right()", "yield self.turn_right()  # east to south")) is None
    assert gate.made == []


def test_a_crash_is_a_regression() -> None:
    refusal = Counted(solved()).check(changed("yield self.turn_right()", "yield self.turn_right() / 0"))
    assert "ZeroDivisionError" in (refusal or "")


def test_the_first_broken_level_ends_the_check() -> None:
    gate = Counted(solved(), solved("MiniGrid-Empty-Random-5x5-v0", seed=3), solved())
    assert gate.check(changed("range(n)", "range(0)"))
    assert len(gate.made) == 1


@pytest.mark.long
def test_re_runs_are_bounded() -> None:
    gate = Counted(*[solved()] * 50)
    assert gate.check(changed("range(n)", "range(0, n)")) is None
    assert len(gate.made) == MAX_RERUNS == 20


def level(env_id: str, *actions: str) -> SolvedLevel:
    return SolvedLevel(LevelSpec(env_id), 1, Checkpoint((), ""), plan_of(*(PlanStep(action, ()) for action in actions)))


def test_the_most_diverse_come_first() -> None:
    same = [level(f"MiniGrid-Empty-{n}x{n}-v0", "go") for n in (5, 6, 8)]
    family = level("MiniGrid-FourRooms-v0", "go")
    plan = level("MiniGrid-DoorKey-5x5-v0", "fetch", "go")
    assert most_diverse([*same, family, plan], 3) == [same[0], plan, family]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))), st.integers(0, 10))
def test_as_many_kinds_of_plans_as_possible_are_chosen(kinds: list[tuple[str, str]], limit: int) -> None:
    levels = [level(f"{family}-v{n}", action) for n, (family, action) in enumerate(kinds)]
    chosen = most_diverse(levels, limit)
    assert len(chosen) == min(limit, len(levels))
    assert len({id(each) for each in chosen}) == len(chosen)
    actions = Counter(each.plan.actions for each in chosen)
    assert len(actions) == min(limit, len({action for _, action in kinds}))


INIT = "    def __init__(self):\n        self.move_forward = lambda: 6\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def turn_left(", f"{INIT}\n    def turn_left("),
        ("class Agent:", "from math import floor as range\n\n\nclass Agent:"),
        ("class Agent:", "range = 0\n\n\nclass Agent:"),
    ],
)
def test_what_acts_without_rewriting_a_method_is_held_too(old: str, new: str) -> None:
    refusal = Counted(solved()).check(changed(old, new))
    assert refusal is not None
    assert refusal.startswith("Regression: ")


def test_a_level_that_cannot_be_played_again_refuses() -> None:
    lost = replace(solved(), checkpoint=Checkpoint((), "another state"))
    refusal = Counted(lost).check(changed("range(n)", "range(0, n)"))
    assert refusal is not None
    assert "it cannot be played again: MiniGrid-Empty-5x5-v0: replaying" in refusal


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=40), st.integers(1, 4))
def test_levels_that_are_not_remembered_would_not_have_been_chosen(kinds: list[tuple[str, str]], limit: int) -> None:
    levels = [level(f"{family}-v{n}", action) for n, (family, action) in enumerate(kinds)]
    suite = RegressionSuite(MiniGridEnv, limit)
    suite.extend(levels)
    assert len(suite._solved) <= limit * 9
    assert most_diverse(suite._solved, limit) == most_diverse(levels, limit)
    suite.forget()
    assert suite.wants("a-v0", ("x",))
