"""The state that others read: of one moment, or always the newest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robot_bridge.contracts import Direction, Observation
from robot_bridge.control.state import LiveState, View
from robot_bridge.protocols import SensorState
from tests.support.robot_bridge.rays import CONFIG, scan_of

_FIELDS = sorted(name for name in vars(SensorState) if isinstance(vars(SensorState)[name], property))


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


@pytest.mark.parametrize("name", _FIELDS)
def test_the_live_state_has_all_of_the_newest_view_and_the_time_of_the_clock(name: str) -> None:
    views = [View(0.0, CONFIG, Observation(scan_of([])), distance_traveled_m=1.0)]
    live = LiveState(lambda: views[-1], lambda: 7.0)
    views.append(View(5.0, CONFIG, Observation(scan_of([]), battery=11.0), distance_traveled_m=2.0, explore_time_s=3.0))
    assert live.frozen() is views[-1]
    assert getattr(live, name) == (7.0 if name == "now" else getattr(views[-1], name))
