"""The robot as a World: the suite that every World passes, checkpoints that are driven again included.

``scripts/soak robot-world [PYTEST ARGUMENT...]``: every restored checkpoint must lead to the very same map and pose.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest

from robot_bridge.agent.rigs import twin_rig
from robot_bridge.agent.world import RobotWorld
from spca.sandbox.executor import default_executor
from tests.support.contracts.grid_world_suite import GridWorldSuite

LEVEL, SEED = "MiniGrid-Empty-5x5-v0", 1


class TestRobotWorld(GridWorldSuite):
    """In the twin of a small level."""

    @pytest.fixture
    def make(self) -> Callable[[], RobotWorld]:
        return lambda: RobotWorld(LEVEL, partial(twin_rig, LEVEL, SEED), default_executor())


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider", "--durations=3", *sys.argv[1:]]))
