"""The agent: primitives and state; the actions that a run learns follow below them.

A run copies the initial agent from the checkout to its workspace and grows the copy. High-level actions are generator
methods: they ``yield`` primitive codes, or ``yield from`` other actions, and read the state below, which is fresh after
every yield.
"""

import numpy as np


class Agent:
    """An agent in a grid world that it sees only partly.

    State, kept by the world and read-only here:
        mission: what is to be done, in words.
        current_dir: "East", "South", "West" or "North".
        current_observation: the current 7x7 view as words, north up; the agent's cell reads "agent".
        full_grid: everything seen so far as words, north up: "unseen", "empty", "wall", "floor", "lava",
            "goal green", "door red closed|open|locked", "key blue", "ball green", "box grey", and "agent".
            It grows in any direction: look positions up again after every yield.
        inventory: name of what is carried ("key blue"), or None.
        previous_actions: codes of all primitives executed so far.
        start_position: (row, column) in full_grid of the cell where the level began.
        start_dir: the direction faced there.
    """

    mission: str
    current_dir: str
    current_observation: np.ndarray
    full_grid: np.ndarray
    inventory: str | None
    previous_actions: list[int]
    start_position: tuple[int, int]
    start_dir: str

    def turn_left(self) -> int:
        """Turn 90 degrees to the left."""
        return 0

    def turn_right(self) -> int:
        """Turn 90 degrees to the right."""
        return 1

    def move_forward(self) -> int:
        """Move one cell ahead; without effect when the cell is occupied."""
        return 2

    def pick_up(self) -> int:
        """Pick up the key, ball or box in the cell ahead; needs an empty hand."""
        return 3

    def drop(self) -> int:
        """Put what is carried into the cell ahead, which must be empty."""
        return 4

    def toggle(self) -> int:
        """Open or close the door ahead (a locked one needs its key in hand), or open the box ahead."""
        return 5

    def done(self) -> int:
        """Declare the task complete, or wait one step."""
        return 6
