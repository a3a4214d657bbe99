"""What every grid backend keeps: the order of calls, the actions, states that are copies, and views that tell no more.

Derive a test class from :class:`GridBackendSuite`, name its ``tiling``, and give it a ``make`` fixture: a callable that
makes a backend with a ``render_mode``. Everything happens in one row, so the suite is the same on every tiling.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from gridworld.actions import Action
from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.errors import ActionError, BackendError, TaskError
from gridworld.rules.tilings import TILINGS
from tests.support.contracts.grid_corridor import (
    DONE,
    EVERYTHING,
    FORWARD,
    LEFT,
    RIGHT,
    THROUGH,
    Make,
    played,
    started,
    task,
)
from tests.support.contracts.grid_seeing_suite import GridSeeingSuite


class GridBackendSuite(GridSeeingSuite):
    """Inherit, name the tiling and override ``make``."""

    # The order of calls

    def test_nothing_can_be_done_without_a_task(self, backend: AbstractGridBackend) -> None:
        assert not backend.is_configured
        calls: tuple[Callable[[], Any], ...] = (
            backend.reset,
            lambda: backend.step(0),
            backend.render,
            backend.observe,
            backend.get_state,
            backend.get_mission_text,
        )
        for call in calls:
            with pytest.raises(BackendError, match=r"call configure\("):
                call()

    def test_an_episode_must_be_begun(self, backend: AbstractGridBackend) -> None:
        backend.configure(task())
        assert backend.is_configured
        for call in (lambda: backend.step(0), backend.render, backend.observe, backend.get_state):
            with pytest.raises(BackendError, match="reset"):
                call()
        backend.reset()
        backend.configure(task())
        with pytest.raises(BackendError, match="reset"):
            backend.step(0)

    def test_a_seed_is_an_integer(self, backend: AbstractGridBackend) -> None:
        backend.configure(task())
        seeds: tuple[Any, ...] = (0, -5, 2**70, np.int64(3))
        for seed in seeds:
            assert json.dumps(backend.reset(seed=seed)[2]) == f'{{"seed": {seed}}}'
        for wrong in ("7", 1.5):
            with pytest.raises(TypeError):
                backend.reset(seed=wrong)  # type: ignore[arg-type]

    def test_an_ended_episode_cannot_be_stepped(self, backend: AbstractGridBackend) -> None:
        end = played(backend, task(max_steps=2), DONE, DONE)
        assert end.truncated
        with pytest.raises(BackendError, match="reset"):
            backend.step(DONE)
        assert backend.get_state() == end
        backend.reset()
        assert backend.step(DONE)[4].step_count == 1

    def test_a_closed_backend_can_be_used_again(self, backend: AbstractGridBackend) -> None:
        first = played(backend, task(), FORWARD)
        backend.close()
        backend.close()
        for call in (backend.reset, backend.get_state, backend.render):
            with pytest.raises(BackendError):
                call()
        assert played(backend, task(), FORWARD) == first

    def test_an_invalid_task_leaves_the_former_one(self, backend: AbstractGridBackend) -> None:
        before = played(backend, task(), FORWARD)
        wrong = task()
        wrong.max_steps = 0
        with pytest.raises(TaskError, match="max_steps"):
            backend.configure(wrong)
        assert backend.get_state() == before
        assert backend.step(FORWARD)[4].agent_position == (3, 1)
        assert backend.task_spec is not wrong

    def test_backends_do_not_meet(self, make: Make) -> None:
        spec = task(EVERYTHING)
        with closing(make(render_mode=None)) as one, closing(make(render_mode=None)) as other:
            still = started(one, spec)
            played(other, spec, *THROUGH)
            assert one.get_state() == still

    # Actions

    @pytest.mark.parametrize("action", [7, -1, "2", 2.5, None, True, np.float64(2), 10**30, [2]])
    def test_an_unknown_action_is_refused_and_does_nothing(self, backend: AbstractGridBackend, action: Any) -> None:
        before = started(backend, task())
        with pytest.raises(ActionError, match="2 move_forward"):
            backend.step(action)
        assert backend.get_state() == before

    @pytest.mark.parametrize("action", [2, np.int64(2), np.uint8(2), Action.MOVE_FORWARD])
    def test_a_number_of_any_kind_is_an_action(self, backend: AbstractGridBackend, action: Any) -> None:
        assert played(backend, task(), action).agent_position == (2, 1)

    def test_a_turn_is_one_heading(self, backend: AbstractGridBackend) -> None:
        headings = TILINGS[self.tiling].headings
        assert played(backend, task(), LEFT).agent_direction == headings - 1
        assert played(backend, task(), RIGHT).agent_direction == 1
        assert played(backend, task(), *(RIGHT,) * headings).agent_direction == 0

    def test_a_task_is_played_through(self, backend: AbstractGridBackend) -> None:
        state = played(backend, task(EVERYTHING), *THROUGH)
        assert state.collected_keys == {"k"}
        assert (state.open_doors, state.active_switches, state.open_gates) == ({"d"}, {"s"}, {"g"})
        assert (state.agent_position, state.block_positions, state.agent_carrying) == ((6, 1), {"b": (7, 1)}, None)

    # States

    def test_what_a_step_returns(self, backend: AbstractGridBackend) -> None:
        backend.configure(task())
        _, state, info = backend.reset()
        assert isinstance(state, GridState)
        assert isinstance(info, dict)
        assert (state.agent_position, state.agent_direction, state.step_count, state.max_steps) == ((1, 1), 0, 0, 20)
        _, reward, terminated, truncated, after, info = backend.step(FORWARD)
        assert (type(reward), terminated, truncated) == (float, False, False)
        assert after == backend.get_state()
        assert (after.reward, after.terminated, after.truncated, after.step_count) == (0.0, False, False, 1)

    def test_a_state_is_a_copy(self, backend: AbstractGridBackend) -> None:
        played(backend, task(EVERYTHING), *THROUGH)
        plain = backend.get_state().to_dict()
        state = backend.get_state()
        for held in (state.open_doors, state.collected_keys, state.active_switches, state.open_gates):
            held.add("forged")
        for cells in (state.visible_cells, state.explored_cells):
            cells.clear()
        state.block_positions["b"] = (1, 1)
        state.teleporter_cooldowns.clear()
        state.agent_position = (9, 1)
        assert backend.get_state().to_dict() == plain
        assert backend.step(DONE)[4].step_count == len(THROUGH) + 1

    def test_former_states_do_not_change(self, backend: AbstractGridBackend) -> None:
        first = started(backend, task(EVERYTHING, observability="fog_of_war"))
        plain = first.to_dict()
        for action in THROUGH:
            backend.step(action)
        assert first.to_dict() == plain

    def test_a_state_survives_json(self, backend: AbstractGridBackend) -> None:
        for spec in (task(EVERYTHING), task(EVERYTHING, observability="view_cone")):
            state = played(backend, spec, *THROUGH)
            assert GridState.from_dict(json.loads(json.dumps(state.to_dict()))) == state

    def test_reset_restores_everything(self, backend: AbstractGridBackend) -> None:
        spec = task(EVERYTHING, hidden_mechanisms=["b"], observability="fog_of_war")
        first, seen = started(backend, spec), backend.observe().text()
        for _ in range(2):
            played(backend, spec, *THROUGH)
            assert backend.reset()[1] == first
            assert backend.observe().text() == seen

    def test_the_seed_is_that_of_the_task_unless_given(self, backend: AbstractGridBackend) -> None:
        backend.configure(task())
        assert [backend.reset(seed=seed)[2]["seed"] for seed in (None, 0, 3, -1)] == [7, 0, 3, -1]

    def test_the_seed_decides_nothing(self, backend: AbstractGridBackend) -> None:
        backend.configure(task(EVERYTHING))
        first = backend.reset()[1]
        assert all(backend.reset(seed=seed)[1] == first for seed in (0, 7, -5, None, 2**63 - 1))

    def test_the_task_is_not_changed(self, backend: AbstractGridBackend) -> None:
        spec = task(EVERYTHING)
        before = spec.to_dict()
        played(backend, spec, *THROUGH)
        assert spec.to_dict() == before

    # The end

    def test_success_pays_by_the_steps_taken(self, backend: AbstractGridBackend) -> None:
        state = played(backend, task(), DONE, *(FORWARD,) * 8)
        assert (state.terminated, state.truncated, state.goal_reached) == (True, False, True)
        assert state.reward == 1 - 0.9 * 9 / 20

    def test_the_last_step_can_still_succeed(self, backend: AbstractGridBackend) -> None:
        state = played(backend, task(max_steps=8), *(FORWARD,) * 8)
        assert (state.terminated, state.truncated, state.goal_reached) == (True, False, True)

    def test_time_runs_out_without_reward(self, backend: AbstractGridBackend) -> None:
        backend.configure(task(max_steps=2))
        backend.reset()
        assert backend.step(DONE)[1:4] == (0.0, False, False)
        _, reward, terminated, truncated, state, _ = backend.step(DONE)
        assert (reward, terminated, truncated, state.goal_reached) == (0.0, False, True, False)

    @pytest.mark.parametrize("goal", [None, {"type": "survive_steps"}])
    def test_a_hazard_ends_without_reward(self, backend: AbstractGridBackend, goal: dict[str, Any] | None) -> None:
        """At the limit too, where surviving would have been enough."""
        backend.configure(task({"hazards": [{"id": "h", "position": [2, 1]}]}, max_steps=1, goal=goal))
        backend.reset()
        _, reward, terminated, truncated, state, _ = backend.step(FORWARD)
        assert (reward, terminated, truncated, state.goal_reached) == (0.0, True, False, False)
        assert state.agent_position == (2, 1)
