"""Where to look from, in rooms that are known."""

from __future__ import annotations

from robot_bridge.bridge_looking import Vantages, shown
from robot_bridge.bridge_map import terrain, window
from robot_bridge.config import Camera
from tests.robot_bridge.rooms import LATTICE, seen


def vantages(picture: str) -> Vantages:
    chart = seen(picture, [(0, 0)])
    return Vantages(chart, terrain(chart, LATTICE), LATTICE, Camera())


def test_what_lies_behind_is_looked_at_after_turning_round() -> None:
    room = vantages("#######\n#.....#\n#..S..#\n#.....#\n#######")
    assert room.shows(((0, 0), 0), (0, 2))
    assert not room.shows(((0, 0), 2), (0, 2))
    assert not room.shows(((0, 0), 0), (2, 0)), "beside the robot"
    assert room.best(((0, 0), 2), [(0, 2)], (), ()) == (((0, 0), 0), frozenset({(0, 2)}))


def test_a_pose_from_which_it_was_tried_in_vain_is_not_tried_again() -> None:
    room = vantages("#######\n#.....#\n#..S..#\n#.....#\n#######")
    first = room.best(((0, 0), 0), [(0, 2)], (), ())
    assert first == (((0, 0), 0), frozenset({(0, 2)}))
    second = room.best(((0, 0), 0), [(0, 2)], (), {(first[0], (0, 2))})
    assert second is not None
    assert second[0] != first[0]


def test_what_a_wall_hides_is_looked_at_from_elsewhere() -> None:
    room = vantages("#########\n#...#...#\n#.......#\n#.S.#...#\n#########")
    assert not room.shows(((0, 0), 0), (0, 4))
    found = room.best(((0, 0), 0), [(0, 4)], (), ())
    assert found is not None
    assert found[0][0] != (0, 0)
    assert room.shows(found[0], (0, 4))


def test_nothing_can_be_looked_at_through_a_shut_door() -> None:
    room = vantages("#########\n#...#...#\n#.S.|...#\n#...#...#\n#########")
    assert room.best(((0, 0), 0), [(0, 4)], (), ()) is None


def test_nothing_is_shown_behind_what_is_not_known() -> None:
    words = {cell: "empty" for _, _, cell in window((0, 0), 0)}
    words |= {(row, 2): "unseen" for row in range(-3, 4)}
    assert {cell[1] for cell in shown(((0, 0), 0), words)} == {0, 1, 2}
