"""The map as a picture: everything known and drawn is in it, and it says what is what."""

from __future__ import annotations

import numpy as np
import pytest

from robot_bridge.cli.map_picture import MapPicture, Picture
from robot_bridge.contracts import Frontier, Pose

WAY, ROBOT, ROOM = (30, 136, 229), (229, 57, 53), (142, 36, 170)
WALL, FREE, UNKNOWN = (38, 50, 56), (255, 255, 255), (206, 210, 214)


def room() -> MapPicture:
    """5 x 5 m, walls all around, known up to the edge of the grid."""
    codes = np.zeros((100, 100), np.int8)
    codes[[0, -1]] = codes[:, [0, -1]] = 100
    return MapPicture(codes, 0.05, 0.0, 0.0)


def count(picture: Picture, colour: tuple[int, int, int]) -> int:
    return int((picture == np.array(colour, np.uint8)).all(axis=2).sum())


def test_walls_never_touch_the_edge() -> None:
    picture = room().picture()
    edges = np.concatenate((picture[0], picture[-1], picture[:, 0], picture[:, -1]))
    assert (edges == UNKNOWN).all()
    assert count(picture, WALL) > 0


def test_an_empty_map_is_a_picture_too() -> None:
    drawn = MapPicture(np.zeros((0, 0), np.int8), 0.05, 0.0, 0.0)
    drawn.way([])
    assert drawn.sheet().size
    assert MapPicture(np.full((9, 9), -1, np.int8), 0.05, 0.0, 0.0).sheet().size


@pytest.mark.parametrize("cells", [10, 100, 1500])
def test_its_size_has_a_bound(cells: int) -> None:
    picture = MapPicture(np.zeros((cells, cells), np.int8), 0.05, 0.0, 0.0, size=800).picture()
    assert max(picture.shape) <= 800
    assert cells < 100 or max(picture.shape) > 400


def test_x_points_right_and_y_up() -> None:
    drawn = room()
    before = drawn.picture().copy()
    drawn.way([Pose(4.5, 4.5)])
    rows, columns = np.nonzero((drawn.picture() != before).any(axis=2))
    height, width = before.shape[:2]
    assert rows.max() < 0.3 * height
    assert columns.min() > 0.7 * width


def test_the_legend_names_what_was_drawn_and_nothing_else() -> None:
    nothing, way, rooms = room(), room(), room()
    way.way([Pose(1, 1), Pose(2, 1)])
    rooms.places([(2.0, 2.0, "kitchen")])

    def legend(drawn: MapPicture) -> Picture:
        return drawn.sheet()[drawn.picture().shape[0] :]

    assert count(legend(nothing), WALL) > 0, "the scale"
    assert [count(legend(each), ROBOT) > 0 for each in (nothing, way, rooms)] == [False, True, False]
    assert [count(legend(each), WAY) > 0 for each in (nothing, way, rooms)] == [False, True, False]
    assert [count(legend(each), ROOM) > 0 for each in (nothing, way, rooms)] == [False, False, True]


def test_labels_keep_off_the_way_and_off_each_other() -> None:
    drawn = room()
    drawn.way([Pose(1.0 + step / 20, 2.5) for step in range(50)])
    before = count(drawn.picture(), WAY)
    drawn.places([(2.0, 2.5, "room 2")])
    hidden_by_dot = before - count(drawn.picture(), WAY)
    assert hidden_by_dot < 0.1 * before
    purple = count(drawn.picture(), ROOM)
    drawn.frontiers([Frontier(7, 2.3, 2.5, 1.0)])
    assert count(drawn.picture(), ROOM) > 0.6 * purple, "its label is where the other is not"


def test_labels_stay_within_the_picture_whatever_they_say() -> None:
    drawn = room()
    shape = drawn.picture().shape
    drawn.places([(0.0, 0.0, "küche \x1b" * 20), (5.0, 5.0, "")])
    assert drawn.picture().shape == shape
