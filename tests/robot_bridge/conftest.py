"""A ROS domain of its own for every test process, on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.robot_bridge.wire.loopback import CONFIGURATION, own_domain


@pytest.fixture(scope="session")
def domain() -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch, own_domain() as found:
        patch.setenv("CYCLONEDDS_URI", CONFIGURATION)
        yield found
