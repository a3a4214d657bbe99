"""Where a robot may have touched what its lidar does not see."""

from __future__ import annotations

import numpy as np
import pytest

from robot_bridge.contracts import Pose
from robot_bridge.safety.geometry import along, clearance, transform_to_frame
from robot_bridge.safety.touching import find_touched
from tests.support.robot_bridge.rays import CONFIG

BODY = CONFIG.body
TURNED = Pose(0.7, -0.2, 1.1)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("curvature", [0.0, 2.5])
def test_the_end_with_which_the_robot_drove_was_touched(forward: bool, curvature: float) -> None:
    end = transform_to_frame(find_touched(TURNED, forward, curvature, (), BODY), TURNED)
    assert np.ptp(end[:, 1]) == pytest.approx(2 * BODY.half_width)
    assert clearance(end, BODY) == pytest.approx(0.01)
    assert (end[:, 0] > 0).all() == forward


def test_ground_that_was_driven_over_was_not_touched() -> None:
    beside = TURNED.compose(Pose(0.05, BODY.half_width + 0.02, 0.0))
    left = transform_to_frame(find_touched(TURNED, True, 0.0, (TURNED, beside), BODY), TURNED)
    assert left[:, 1] == pytest.approx([-0.1, -0.05, 0.0])


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("curvature", [-2.5, -0.7, 0.7, 2.5])
def test_where_the_end_has_been_before_the_sides_that_swing_out_were_touched(forward: bool, curvature: float) -> None:
    way = 0.0005
    step = along(curvature, way if forward else -way)
    every = np.array([(x, y) for x in np.linspace(-BODY.rear, BODY.front, 13) for y in (-0.11, 0.11)])
    outward = np.abs(every[:, 1]) - np.abs(transform_to_frame(every, step)[:, 1])
    trail = [TURNED.compose(Pose(0.1 if forward else -0.1, aside)) for aside in (0.015, -0.015)]
    found = transform_to_frame(find_touched(TURNED, forward, curvature, trail, BODY), TURNED)
    expected = every[outward >= 0.1 * way]
    assert len(expected)
    assert sorted(map(tuple, found.round(6).tolist())) == sorted(map(tuple, expected.round(6).tolist()))


def test_what_was_touched_where_the_robot_has_been_all_around_is_its_end() -> None:
    trail = [TURNED.compose(Pose(x, y)) for x in (-0.1, 0.0, 0.1) for y in (-0.05, 0.0, 0.05)]
    assert find_touched(TURNED, True, 1.0, trail, BODY) == pytest.approx(find_touched(TURNED, True, 1.0, (), BODY))
