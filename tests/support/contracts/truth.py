"""What the simulator knows, in cell words: the truth that maps are held against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrid.core.constants import DIR_TO_VEC
from minigrid.core.grid import Grid

from minigridenv import MiniGridEnv, list_known_ids

REPLAYABLE = tuple(name for name in list_known_ids() if "WFC" not in name)
"""Every id that the installed minigrid can build without its wave function collapse extra."""


def simulator(world: MiniGridEnv) -> Any:
    """The simulator inside a world, which only tests look into."""
    return world._env.unwrapped


def word(thing: Any) -> str:
    """The cell word of a MiniGrid object, None being empty ground."""
    if thing is None:
        return "empty"
    if thing.type == "door":
        return f"door {thing.color} {'open' if thing.is_open else 'locked' if thing.is_locked else 'closed'}"
    return thing.type if thing.type in ("wall", "floor", "lava") else f"{thing.type} {thing.color}"


def cell(grid: Grid, x: int, y: int) -> str:
    """The word at absolute (x, y); MiniGrid shows walls beyond its edge."""
    return word(grid.get(x, y)) if 0 <= x < grid.width and 0 <= y < grid.height else "wall"


def in_view(sim: Any) -> Iterator[tuple[int, int]]:
    """Absolute (x, y) of each cell in sight, the agent's own left out."""
    _, visible = sim.gen_obs_grid()
    ahead, right = DIR_TO_VEC[sim.agent_dir], DIR_TO_VEC[(sim.agent_dir + 1) % 4]
    size = sim.agent_view_size
    for column in range(size):
        for row in range(size):
            forward, aside = size - 1 - row, column - size // 2
            if visible[column, row] and (forward, aside) != (0, 0):
                x, y = sim.agent_pos + forward * ahead + aside * right
                yield int(x), int(y)
