"""Both backends keep the contract, the MultiGrid engine on both tilings."""

from __future__ import annotations

import pytest

from gridworld.backends.minigrid_backend import MiniGridBackend
from gridworld.backends.multigrid_backend import MultiGridBackend
from tests.contracts.grid_backend_suite import GridBackendSuite
from tests.contracts.grid_corridor import Make


class TestMiniGrid(GridBackendSuite):
    @pytest.fixture
    def make(self) -> Make:
        return MiniGridBackend


class TestMultiGridSquare(GridBackendSuite):
    @pytest.fixture
    def make(self) -> Make:
        return MultiGridBackend


class TestMultiGridHex(GridBackendSuite):
    tiling = "hex"

    @pytest.fixture
    def make(self) -> Make:
        return lambda **options: MultiGridBackend(tiling="hex", **options)
