"""When an agent is stuck, and when it is not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.act.stuck import StuckDetector
from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource, Plan, PlannerMode, PlanStep, Status

BUDGETS = GRID.budgets


def first_stuck(states: Iterable[Hashable], detector: StuckDetector | None = None) -> int | None:
    """Index of the state at which the detector first gives a reason."""
    detector = detector or StuckDetector(BUDGETS.patience, BUDGETS.repeats)
    return next((i for i, state in enumerate(states) if detector.observe(state) is not None), None)


def by_definition(states: list[int], patience: int) -> int | None:
    """The two rules as they are told, without any cleverness."""
    for now in range(len(states)):
        tail = states[max(0, now - patience + 1) : now + 1]
        quiet = now >= patience and all(s in states[: now - len(tail) + 1 + i] for i, s in enumerate(tail))
        if quiet or any(repeats(states[: now + 1], period) for period in range(2, now)):
            return now
    return None


def repeats(states: list[int], period: int) -> bool:
    span = states[-period * BUDGETS.repeats :]
    rounds = [span[i : i + period] for i in range(0, len(span), period)]
    return len(span) == period * BUDGETS.repeats and all(r == rounds[0] for r in rounds) and len(set(span)) > 1


def test_the_limits_are_those_of_the_specification() -> None:
    assert (BUDGETS.patience, BUDGETS.repeats) == (60, 3)


def test_fifty_nine_primitives_without_a_new_state_pass_and_sixty_do_not() -> None:
    assert first_stuck(["here"] * 60) is None
    assert first_stuck(["here"] * 61) == 60


def test_a_new_state_starts_the_count_again() -> None:
    assert first_stuck(["a"] * 60 + ["b"] * 60) is None
    assert first_stuck(["a"] * 60 + ["b"] * 60 + ["a"]) == 120


def test_where_chance_decides_cycles_may_be_allowed() -> None:
    assert first_stuck(["a", "b"] * 20, StuckDetector(60, 0)) is None
    assert first_stuck(["a", "b"] * 40, StuckDetector(60, 0)) == 61


@pytest.mark.parametrize("period", [2, 3, 4, 10, 20])
def test_a_cycle_must_be_gone_through_three_times(period: int) -> None:
    cycle = [f"s{i}" for i in range(period)]
    assert first_stuck(cycle * 3) == 3 * period - 1
    assert first_stuck((cycle * 3)[:-1]) is None
    assert first_stuck(["before", *cycle * 3]) == 3 * period


def test_a_cycle_in_which_the_agent_pauses_is_a_cycle() -> None:
    assert first_stuck(["a", "a", "b", "b"] * 3) == 11


def test_standing_still_is_not_a_cycle() -> None:
    assert first_stuck(["a"] * 30 + ["b"] * 30 + ["c"] * 30) is None


def test_crossing_known_ground_is_not_stuck() -> None:
    corridor = [f"cell {i}, east" for i in range(40)] + [f"cell {i}, west" for i in range(39, -1, -1)]
    again = [f"cell {i}, east" for i in range(40)]
    assert first_stuck(corridor + again) is None


@pytest.mark.parametrize(
    ("progress", "told"),
    [(GRID.progress, "new state (pose, map, inventory)"), ("", "new state"), ("hunger", "new state (hunger)")],
)
def test_the_reason_tells_what_counts_as_new(progress: str, told: str) -> None:
    detector = StuckDetector(3, BUDGETS.repeats, progress)
    assert [detector.observe("here") for _ in range(4)] == [None] * 3 + [f"no {told} for 3 primitives"]


@given(st.lists(st.integers(), unique=True))
def test_new_states_are_never_stuck(states: list[int]) -> None:
    assert first_stuck(states) is None


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(2, 12))
def test_the_detector_is_the_definition(states: list[int], patience: int) -> None:
    assert first_stuck(states, StuckDetector(patience, BUDGETS.repeats)) == by_definition(states, patience)


@given(st.lists(st.integers(0, 5), max_size=20), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_what_repeats_for_ever_is_stuck_in_the_end(prefix: list[int], cycle: list[int]) -> None:
    assert first_stuck(prefix + cycle * 61) is not None


def run(env_id: str, body: str, *, seed: int = 1) -> tuple[Status, int]:
    world = MiniGridEnv(env_id, seed)
    source = AgentSource(f"class Agent:\n    def act(self):\n{body}")
    outcome = world.run_sim(Plan((PlanStep("act", ()),), "", "", (), PlannerMode.FRESH), source)
    world.close()
    return outcome.status, outcome.steps


@pytest.mark.long
def test_waiting_is_stuck_after_sixty_primitives_and_not_before() -> None:
    wait = "        for _ in range({}):\n            yield 6\n"
    assert run("MiniGrid-Empty-5x5-v0", wait.format(59)) == (Status.GOAL_NOT_REACHED, 59)
    assert run("MiniGrid-Empty-5x5-v0", wait.format(600)) == (Status.STUCK, 60)


def test_spinning_is_stuck_after_three_rounds_that_show_nothing_new() -> None:
    """The first three turns still show new ground; from then on 12 states are three rounds."""
    spin = "        while True:\n            yield 0\n"
    assert run("MiniGrid-Empty-5x5-v0", spin) == (Status.STUCK, 14)


def test_walking_back_and_forth_over_a_known_room_is_not_stuck() -> None:
    walk = "        for code in ([2] * 13 + [1, 1]) * 2:\n            yield code\n"
    assert run("MiniGrid-Empty-16x16-v0", walk) == (Status.GOAL_NOT_REACHED, 30)


def test_moving_obstacles_in_view_keep_a_waiting_agent_alive() -> None:
    """MiniGrid takes ``done`` for a left turn here, so that the agent turns on its spot: stuck where nothing moves."""
    wait = "        for _ in range(100):\n            yield 6\n"
    status, steps = run("MiniGrid-Dynamic-Obstacles-8x8-v0", wait)
    assert (status, steps) == (Status.GOAL_NOT_REACHED, 100)
