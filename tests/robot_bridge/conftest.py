"""What tests of the robot need: its extra, a way to draw, and a ROS domain of their own for every test process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.robot_bridge.loopback import CONFIGURATION, own_domain

_EXTRA = ("cv2", "cyclonedds", "mcap_ros2", "mujoco", "pyastar2d", "rosbags", "yaml")
_MISSING = [name for name in _EXTRA if find_spec(name) is None]
_IS_CI = os.environ.get("CI") == "true"


class _Unavailable(pytest.Module):
    """A file of tests that is left out as a whole."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        advice = "pip install --require-hashes -r requirements/dev.txt"
        pytest.skip(f"no {', '.join(_MISSING)}: {advice}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Without the extra [robot] its tests are skipped; under CI=true they fail where they import what is missing."""
    if not _MISSING or _IS_CI:
        return None
    return _Unavailable.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def drawing() -> None:
    """For tests that need pictures of the twin: where none can be drawn they are skipped; under CI=true they fail."""
    from robot_bridge.twin.engine import Canvas, NoPictureError, mujoco

    mujoco()
    try:
        Canvas().close()
    except NoPictureError as error:
        if _IS_CI:
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def domain() -> Iterator[int]:
    """A ROS domain that is free."""
    with pytest.MonkeyPatch.context() as patch, own_domain() as found:
        patch.setenv("CYCLONEDDS_URI", CONFIGURATION)
        yield found
