"""The state that others read: of one tick, at the time of the tick or of the clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robot_bridge.contracts import Direction, Observation
from robot_bridge.control.state import View
from tests.support.robot_bridge.kinematic import rig
from tests.support.robot_bridge.rays import CONFIG, scan_of


def test_what_a_scan_means_is_worked_out_once_for_all_views_of_it() -> None:
    scan = scan_of([(1.0, 0.0, 0.1)])
    first = View(0.0, CONFIG, Observation(scan))
    second = replace(first, now=1.0)
    assert second.obstacle_distances is first.obstacle_distances
    assert second.detected_gaps is first.detected_gaps
    other = replace(first, observation=Observation(scan_of([(2.0, 0.0, 0.1)])))
    assert other.obstacle_distances[Direction.FORWARD] > first.obstacle_distances[Direction.FORWARD] + 0.9
    with pytest.raises(TypeError):
        first.obstacle_distances["forward"] = 9.0  # type: ignore[index]


def test_before_the_first_scan_nothing_is_known() -> None:
    view = View(0.0, CONFIG)
    assert (view.obstacle_distances, view.detected_gaps, view.latest_image, view.latest_odom) == ({}, (), None, None)


def test_the_state_is_the_newest_view_at_the_time_of_the_clock() -> None:
    controller, _, _ = rig()
    controller.tick()
    assert controller.state.now == controller.clock.now() > controller.view.now
    first = controller.view
    controller.tick()
    assert controller.view is not first
    assert controller.state.observation is controller.view.observation
