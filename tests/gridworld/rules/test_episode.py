"""Episodes: how they end, what they pay, what has been seen."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any, SupportsIndex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.backends.base import GridState
from gridworld.errors import ActionError, BackendError, TaskError
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import LOOKS, UNSEEN, Look
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn

CORRIDOR = "######\n#A..G#\n######"


def played(spec: TaskSpecification, *actions: SupportsIndex) -> Episode:
    episode = Episode(Layout(spec))
    for action in actions:
        episode.step(action)
    return episode


def test_success_pays_by_the_steps_taken() -> None:
    episode = played(drawn(CORRIDOR, max_steps=9), 2, 2, 2)
    assert (episode.terminated, episode.truncated, episode.goal_reached) == (True, False, True)
    assert episode.reward == 1 - 0.9 * 3 / 9
    with pytest.raises(BackendError, match="reset"):
        episode.step(6)
    episode.reset()
    assert (episode.step_count, episode.over, episode.reward) == (0, False, 0.0)


def test_the_limit_truncates_but_success_at_the_limit_counts() -> None:
    late = played(drawn(CORRIDOR, max_steps=2), 2, 2)
    assert (late.terminated, late.truncated, late.reward) == (False, True, 0.0)
    just = played(drawn(CORRIDOR, max_steps=3), 2, 2, 2)
    assert (just.terminated, just.truncated) == (True, False)
    assert just.reward == pytest.approx(0.1)


def test_survival() -> None:
    spec = drawn("#####\n#A.h#\n#####", goal={"type": "survive_steps"}, max_steps=3)
    assert played(spec, 6, 6, 6).goal_reached
    assert not played(spec, 6, 6).over
    dead = played(spec, 6, 2, 2)
    assert (dead.terminated, dead.goal_reached, dead.truncated, dead.reward) == (True, False, False, 0.0)


@pytest.mark.parametrize("action", [7, -1, "2", 2.0, None, True, np.float64(2)])
def test_an_unknown_action_is_refused_and_nothing_happens(action: Any) -> None:
    episode = played(drawn(CORRIDOR))
    before = episode.grid_state()
    with pytest.raises(ActionError, match="2 move_forward"):
        episode.step(action)
    assert episode.grid_state() == before


def test_numbers_of_other_types_are_actions() -> None:
    class Native(IntEnum):
        AHEAD = 2

    assert played(drawn(CORRIDOR), np.int64(2), Native.AHEAD, np.uint8(2)).goal_reached


def test_an_invalid_task_is_refused() -> None:
    spec = drawn(CORRIDOR)
    spec.max_steps = 0
    with pytest.raises(TaskError, match="max_steps"):
        Layout(spec)


def test_full_observability_sees_everything() -> None:
    episode = played(drawn(CORRIDOR))
    assert len(episode.visible) == len(episode.explored) == 18
    assert not (episode.observe().codes == UNSEEN).any()


ROOMS = "#########\n#...#..k#\n#A..g..G#\n#s..#...#\n#########"


def test_a_view_cone_forgets_and_fog_remembers() -> None:
    cone = played(drawn(ROOMS, rules={"observability": "view_cone"}), 0, 0)
    assert cone.observe().look((3, 1)) == Look("unseen")
    assert (3, 1) in cone.explored - cone.visible
    fog = played(drawn(ROOMS, rules={"observability": "fog_of_war"}), 0, 0)
    assert fog.observe().look((3, 1)) == Look("floor")
    assert not fog.observe().visible[1, 3]
    assert fog.observe().look((7, 1)) == Look("unseen")


def test_fog_keeps_what_was_last_seen_not_what_is() -> None:
    fog = played(drawn(ROOMS, rules={"observability": "fog_of_war"}), 1, 2)
    assert fog.observe().look((4, 2)) == Look("gate", "grey", "closed")
    fog.step(5)
    assert fog.grid_state().open_gates == {"g0"}
    assert fog.observe().look((4, 2)) == Look("gate", "grey", "closed")
    assert "closed grey gate at column 4, row 2 (seen before)" in fog.observe().text()
    fog.step(0)
    assert fog.observe().look((4, 2)) == Look("gate", "grey", "open")


def test_hidden_things_look_like_the_floor_until_touched() -> None:
    spec = drawn("######\n#Ad.G#\n#.k..#\n######", rules={"hidden_mechanisms": ["d0"]})
    episode = played(spec)
    assert episode.observe().look((2, 1)) == Look("floor")
    assert "door" not in episode.observe().text().split("\n", 4)[-1]
    episode.step(2)
    assert episode.observe().look((2, 1)) == Look("door", "red", "locked")


def test_what_is_seen_is_a_copy() -> None:
    episode = played(drawn(ROOMS, rules={"observability": "fog_of_war"}))
    first = episode.observe()
    first.codes[:] = UNSEEN
    first.visible[:] = False
    state = episode.grid_state()
    state.visible_cells.clear()
    state.open_gates.add("g0")
    assert episode.observe().visible.any()
    assert episode.observe().codes.any()
    assert episode.grid_state().visible_cells


def test_looks_are_told_apart() -> None:
    assert len(set(LOOKS)) == len(set(map(str, LOOKS))) == len(LOOKS) < 256
    assert LOOKS[UNSEEN] == Look("unseen")


CELLS = st.tuples(st.integers(0, 9), st.integers(0, 9))
IDS = st.sets(st.text("abc", min_size=1, max_size=2), max_size=3)


@given(
    st.builds(
        GridState,
        agent_position=CELLS,
        agent_direction=st.integers(0, 5),
        agent_carrying=st.none() | st.just("k"),
        step_count=st.integers(0, 99),
        reward=st.floats(0, 1),
        terminated=st.booleans(),
        open_doors=IDS,
        collected_keys=IDS,
        active_switches=IDS,
        open_gates=IDS,
        block_positions=st.dictionaries(st.text("ab", min_size=1), CELLS, max_size=2),
        teleporter_cooldowns=st.dictionaries(st.text("ab", min_size=1), st.integers(0, 1), max_size=2),
        visible_cells=st.sets(CELLS),
        explored_cells=st.sets(CELLS),
    )
)
def test_grid_states_survive_json(state: GridState) -> None:
    data = state.to_dict()
    assert GridState.from_dict(json.loads(json.dumps(data))) == state
    assert GridState.from_dict(data).to_dict() == data


def test_views_take_no_more_memory_than_they_may_and_stay_the_same() -> None:
    class Sparing(Episode):
        most_kept = 40

    layout = Layout(drawn("########\n#A.....#\n#......#\n#.....G#\n########", rules={"observability": "view_cone"}))
    sparing, other = Sparing(layout), Episode(layout)
    for action in (0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 1, 1, 1, 1):
        sparing.step(action)
        other.step(action)
        assert sparing.grid_state() == other.grid_state()
        assert (sparing.observe().visible == other.observe().visible).all()
        assert sum(len(cells) for cells, _ in sparing._views.values()) <= Sparing.most_kept
