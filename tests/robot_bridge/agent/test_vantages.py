"""Where to look from, in rooms that are known."""

from __future__ import annotations

from collections.abc import Collection

from robot_bridge.agent.cells import terrain, window
from robot_bridge.agent.vantages import Tried, Vantage, Vantages, visible_words
from robot_bridge.config import Camera
from tests.support.robot_bridge.rooms import LATTICE, seen

ROOM = "#######\n#.....#\n#..S..#\n#.....#\n#######"


def vantages(picture: str, tried: Collection[Tried] = ()) -> Vantages:
    chart = seen(picture, [(0, 0)])
    return Vantages(chart, terrain(chart, LATTICE), LATTICE, Camera(), (), tried)


def test_what_lies_behind_is_looked_at_after_turning_round() -> None:
    room = vantages(ROOM)
    assert room.shows(((0, 0), 0), (0, 2))
    assert not room.shows(((0, 0), 2), (0, 2))
    assert not room.shows(((0, 0), 0), (2, 0)), "beside the robot"
    assert room.best(((0, 0), 2), [(0, 2)]) == Vantage(*LATTICE.middle((0, 0)), 0.0, frozenset({(0, 2)}))


def test_a_pose_from_which_it_was_tried_in_vain_is_not_tried_again() -> None:
    first = vantages(ROOM).best(((0, 0), 0), [(0, 2)])
    assert first is not None
    second = vantages(ROOM, {(first.place, (0, 2))}).best(((0, 0), 0), [(0, 2)])
    assert second is not None
    assert second.place != first.place


def test_what_a_wall_hides_is_looked_at_from_elsewhere() -> None:
    room = vantages("#########\n#...#...#\n#.......#\n#.S.#...#\n#########")
    assert not room.shows(((0, 0), 0), (0, 4))
    found = room.best(((0, 0), 0), [(0, 4)])
    assert found is not None
    assert LATTICE.cell(found.x, found.y) != (0, 0)


def test_a_door_round_the_corner_is_looked_at_from_beside_the_middle_of_a_cell() -> None:
    chart = seen("#####\n#o|.#\n#.#.#\n#.#.#\n#S#.#\n#####", [(0, 0), (-1, 0), (-2, 0)])
    found = Vantages(chart, terrain(chart, LATTICE), LATTICE, Camera()).best(((0, 0), 3), [(-3, 1)])
    assert found is not None
    assert LATTICE.cell(found.x, found.y) == (-2, 0)
    assert (found.x, found.y) != LATTICE.middle((-2, 0))
    assert 0 < found.heading < 1.0


def test_nothing_can_be_looked_at_through_a_shut_door() -> None:
    room = vantages("#########\n#...#...#\n#.S.|...#\n#...#...#\n#########")
    assert room.best(((0, 0), 0), [(0, 4)]) is None


def test_nothing_is_shown_behind_what_is_not_known() -> None:
    words = {cell: "empty" for _, _, cell in window((0, 0), 0)}
    words |= {(row, 2): "unseen" for row in range(-3, 4)}
    assert {cell[1] for cell in visible_words(((0, 0), 0), words)} == {0, 1, 2}
