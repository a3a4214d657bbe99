"""Frontiers on drawn maps: which are told, in which order and under which id."""

from __future__ import annotations

from math import hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Frontier
from robot_bridge.navigation.frontiers import FrontierFinder
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.planning import CostGrid

SIZE = 0.05
START = (2.0, 2.0)


class Drawn(OccupancyMap):
    """A room of 4 m x 4 m in the middle of what is unknown, with openings in its walls."""

    def __init__(self) -> None:
        super().__init__(SIZE)
        self.kinds = np.full((100, 100), "?")
        self.kinds[10:90, 10:90] = "#"
        self.kinds[12:88, 12:88] = "."
        self.x = self.y = -0.5

    def opened(self, side: str, begin: int, length: int) -> Drawn:
        """With so many cells of a wall open: they are free, and what is behind them is unknown."""
        cells = slice(begin, begin + length)
        window = {"w": (cells, slice(10, 12)), "e": (cells, slice(88, 90)), "s": (slice(10, 12), cells)}
        self.kinds[window[side]] = "."
        return self

    @property
    def unknown(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds == "?")

    @property
    def surfaces(self) -> NDArray[np.bool_]:
        return np.asarray(self.kinds == "#")

    def found(self, finder: FrontierFinder) -> tuple[Frontier, ...]:
        costs = np.where(self.kinds == ".", 1.0, np.inf).astype(np.float32)
        return finder.find(self, CostGrid(costs, SIZE, self.x, self.y), START)


def test_a_closed_room_has_none() -> None:
    assert Drawn().found(FrontierFinder()) == ()


def test_the_widest_comes_first_and_each_is_as_wide_as_its_opening_without_what_touches_the_jambs() -> None:
    found = Drawn().opened("s", 50, 30).opened("e", 20, 40).found(FrontierFinder())

    assert [f.id for f in found] == [1, 2]
    assert [round(f.width_m / SIZE) for f in found] == [36, 26]
    (east, south) = found
    assert hypot(east.x - 3.975, east.y - 1.5) < 0.1
    assert hypot(south.x - 2.75, south.y - 0.025) < 0.1


def test_holes_in_walls_are_none() -> None:
    assert Drawn().opened("w", 40, 9).found(FrontierFinder()) == ()
    assert len(Drawn().opened("w", 40, 11).found(FrontierFinder())) == 1


def test_a_narrow_one_beside_a_wide_one_is_told_when_it_is_found_again() -> None:
    finder = FrontierFinder()
    drawn = Drawn().opened("e", 20, 40).opened("s", 50, 15)

    assert len(drawn.found(finder)) == 1
    assert [f.id for f in drawn.found(finder)] == [1, 2]


def test_narrow_ones_are_told_at_once_where_there_are_no_others() -> None:
    assert len(Drawn().opened("s", 50, 15).opened("e", 20, 12).found(FrontierFinder())) == 2


def test_an_id_lasts_while_its_frontier_does_and_is_not_given_again() -> None:
    finder = FrontierFinder()
    (first,) = Drawn().opened("e", 20, 40).found(finder)
    (moved,) = Drawn().opened("e", 28, 30).found(finder)
    (other,) = Drawn().opened("w", 20, 40).found(finder)
    (again,) = Drawn().opened("e", 20, 40).found(finder)

    assert first.id == moved.id == 1
    assert moved.y > first.y
    assert (other.id, again.id) == (2, 3)


def test_of_two_where_one_was_one_keeps_its_id() -> None:
    finder = FrontierFinder()
    (whole,) = Drawn().opened("e", 30, 34).found(finder)
    both = Drawn().opened("e", 30, 15).opened("e", 49, 15)

    assert whole.id == 1
    assert [f.id for f in both.found(finder)] == [1], "the new one is narrow"
    assert [f.id for f in both.found(finder)] == [1, 2]


def test_what_lies_beyond_the_reach_of_any_free_place_is_left_out() -> None:
    drawn = Drawn().opened("e", 20, 40)
    drawn.kinds[12:88, 60:62] = "#"
    assert drawn.found(FrontierFinder()) == ()

    drawn.kinds[12:88, 60:62] = "."
    drawn.kinds[12:88, 75:77] = "#"
    (seen,) = drawn.found(FrontierFinder())
    assert seen.x < -0.5 + 75 * SIZE, "over a low wall, from 0.7 m away"


def test_one_that_was_told_and_that_no_way_leads_to_any_more_is_cut_off_until_it_is_seen() -> None:
    room, finder = Drawn().opened("e", 20, 40), FrontierFinder()
    room.found(finder)
    room.found(finder)
    assert finder.cut_off == 0
    room.kinds[12:88, 66:68] = "#"
    assert room.found(finder) == ()
    assert finder.cut_off == 1
    room.kinds[10:90, 88:] = "#"
    assert room.found(finder) == ()
    assert finder.cut_off == 0


def test_one_that_never_could_be_reached_is_not_cut_off() -> None:
    room, finder = Drawn().opened("e", 20, 40), FrontierFinder()
    room.kinds[12:88, 66:68] = "#"
    assert room.found(finder) == room.found(finder) == ()
    assert finder.cut_off == 0
