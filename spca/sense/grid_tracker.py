"""The agent's pose and map from MiniGrid's observations and the agent's own primitives, without a simulator.

An agent in a loop that never shows the simulator keeps a :class:`GridTracker`, and updates it after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spca.sense import odometry, perception, slam

_FORWARD: Final = 2
_TOUCHING: Final = frozenset({3, 4, 5})
"""Numbers of MiniGrid's step forward, and of what changes the cell in front of the agent: pick up, drop and toggle
(``minigrid.core.actions``).
"""


def check_image(given: Any) -> NDArray[np.uint8]:
    """Return the image of an observation as a uint8 array of shape (n, n, 3), where n is odd and at least 3.

    Raises:
        ValueError: the image has another shape or type.
    """
    image: NDArray[np.uint8] = np.asarray(given)
    shape = image.shape
    has_triples = len(shape) == 3 and shape[2] == 3
    is_odd_square = has_triples and shape[0] == shape[1] and shape[0] % 2 == 1 and shape[0] > 1
    if image.dtype != np.uint8 or not is_odd_square:
        raise ValueError(f"an image of {image.dtype} with shape {shape}")
    return image


class GridTracker:
    """What the agent knows of its place and of the grid; :meth:`reset` begins an episode.

    Args:
        locate: returns the displacement from the start cell, from a source other than the views. It is asked where the
            views leave open whether the agent moved; without it, :class:`GridTracker` guesses.
        obeys_rules: whether a step forward succeeds by MiniGrid's rules. If not, ``locate`` is asked after each step.

    Attributes:
        map: the cells seen so far.
        view: codes of the current view, rows north to south.
        agent_at: the agent's (row, column) in ``view``.
        position: displacement from the start cell: (rows to the south, columns to the east).
        direction: MiniGrid's index of the direction, 0 for East to 3 for North.
        start_direction: the direction after the reset.
        inventory: what the agent carries ("key blue"); None if it carries nothing.
        doubts: number of steps forward since the reset that the views left open.
    """

    map: slam.GridMap
    view: NDArray[np.uint8]
    agent_at: tuple[int, int]
    position: tuple[int, int]
    direction: int
    start_direction: int
    inventory: str | None
    doubts: int

    def __init__(self, locate: Callable[[], tuple[int, int]] | None = None, *, obeys_rules: bool = True) -> None:
        self._locate = locate
        self._obeys_rules = obeys_rules

    def reset(self, observation: Mapping[str, Any]) -> None:
        """Begin an episode with its first observation; the agent's cell becomes the start cell.

        Raises:
            ValueError: image or direction are not MiniGrid's.
            KeyError: the observation has no image or no direction.
        """
        facing = perception.encode_view(check_image(observation["image"]))
        self.map = slam.empty_map()
        self.position = (0, 0)
        self.doubts = 0
        self._has_touched = False
        self._is_restless = False
        self._integrate(facing, _read_direction(observation))
        self.start_direction = self.direction

    def update(self, primitive: int | None, observation: Mapping[str, Any]) -> None:
        """Integrate the observation that followed a primitive, or that was made again without one (None).

        Raises:
            ValueError: image or direction are not MiniGrid's.
            KeyError: the observation has no image or no direction.
        """
        facing = perception.encode_view(check_image(observation["image"]))
        direction = _read_direction(observation)
        if not self._obeys_rules and self._locate is not None:
            self.position = self._locate()
        elif primitive == _FORWARD and direction == self.direction:
            self._step_forward(facing)
        self._has_touched = primitive in _TOUCHING
        self._integrate(facing, direction)

    def _integrate(self, facing: NDArray[np.uint8], direction: int) -> None:
        size = len(facing)
        self._front = facing.item(size - 2, size // 2)
        self.direction = direction
        self.inventory = perception.read_carried(facing)
        self.agent_at = perception.agent_cell(size, direction)
        self.view = perception.rotate_view(facing, direction)
        self._map_before = self.map
        self.map = slam.integrate(self.map, self.view, self.position, self.agent_at)

    def _step_forward(self, facing: NDArray[np.uint8]) -> None:
        """Set the position after a step forward, whose new view is ``facing``."""
        size = len(facing)
        has_moved = odometry.decide_move(self._front, facing.item(size - 2, size // 2))
        if has_moved is None:
            has_moved = self._compare_views(facing)
        if has_moved:
            south, east = odometry.AHEAD[self.direction]
            self.position = (self.position[0] + south, self.position[1] + east)

    def _compare_views(self, facing: NDArray[np.uint8]) -> bool:
        """Return whether a step forward succeeded that the cells in front of the agent leave open."""
        before = perception.facing_view(self.view, self.direction)
        has_moved = odometry.compare_scenery(before, facing)
        if has_moved is not None:
            return has_moved
        self.doubts += 1
        if self._locate is not None:
            return self._locate() != self.position
        self._is_restless = self._is_restless or self._has_motion()
        return odometry.guess_move(before, facing, is_restless=self._is_restless)

    def _has_motion(self) -> bool:
        """Return whether the current view shows that a thing moved by itself since the view before it."""
        known = slam.read_window(self._map_before, len(self.view), self.position, self.agent_at)
        ignored = [self.agent_at]
        if self._has_touched:
            south, east = odometry.AHEAD[self.direction]
            ignored.append((self.agent_at[0] + south, self.agent_at[1] + east))
        return odometry.shows_motion(known, self.view, ignored)


def _read_direction(observation: Mapping[str, Any]) -> int:
    return range(len(odometry.AHEAD)).index(observation["direction"])  # ValueError unless 0 to 3
