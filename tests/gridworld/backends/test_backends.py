"""Both backends keep the contract, the MultiGrid engine on both tilings."""

from __future__ import annotations

import pytest

from gridworld.backends.minigrid_backend import MiniGridBackend
from gridworld.backends.multigrid_backend import MultiGridBackend
from gridworld.task_parser import TaskParser
from gridworld.task_spec import TaskSpecification
from tests.support.contracts.grid_backend_suite import GridBackendSuite
from tests.support.contracts.grid_corridor import FORWARD, TOGGLE, Make, task


class TestMiniGrid(GridBackendSuite):
    @pytest.fixture
    def make(self) -> Make:
        return MiniGridBackend

    @pytest.mark.parametrize("mode", ["view_cone", "fog_of_war"])
    def test_its_own_observation_tells_no_more_either(self, mode: str) -> None:
        """What users of gymnasium get: neither what is out of view nor what is hidden in it."""
        hidden = {"switches": [{"id": "s", "position": [3, 1], "controls": []}]}
        beyond = {"blocks": [{"id": "b", "position": [8, 1]}]}
        plain = self.seen(task(None, observability=mode, view_size=5))
        secret = self.seen(task(hidden | beyond, observability=mode, view_size=5, hidden_mechanisms=["s"]))
        assert plain[:2] == secret[:2]
        assert plain[2] != secret[2]

    @staticmethod
    def seen(spec: TaskSpecification) -> list[tuple[bytes, bytes, bytes]]:
        """Observation, own view and picture at the start, one cell on, and after trying to toggle what is ahead."""
        env = TaskParser(None).parse(spec)
        found = []
        for action in (None, FORWARD, TOGGLE):
            image = (env.gen_obs() if action is None else env.step(action)[0])["image"]
            found.append((image.tobytes(), env.get_pov_render(8).tobytes(), env.get_full_render(False, 8).tobytes()))
        return found


class TestMultiGridSquare(GridBackendSuite):
    @pytest.fixture
    def make(self) -> Make:
        return MultiGridBackend


class TestMultiGridHex(GridBackendSuite):
    tiling = "hex"

    @pytest.fixture
    def make(self) -> Make:
        return lambda **options: MultiGridBackend(tiling="hex", **options)
