"""Certificates of unsolvability, in words and as a map; a reader can check them against the grid.

The reached cells on the map are a closed set. Every neighbour of a reached cell is one of four things: a reached cell,
a wall, lava, or a door that stays locked. A door stays locked if no key to it is in reach. Items are ignored, because
an agent may carry them away. No sequence of primitives leads out of a closed set. Therefore the agent can never reach a
cell that is neither in the set nor beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from spca.common.text import format_count
from spca.evaluation.proof.dynamics import Door, DoorState, Ground, Maze, MazeState
from spca.evaluation.proof.missions import Mission
from spca.evaluation.proof.relaxation import Relaxed

START, REACHED, WALL, LAVA, LOCKED, APART = "A.#~L?"
LEGEND = f"{START} start, {REACHED} reached, {WALL} wall, {LAVA} lava, {LOCKED} stays locked, {APART} not reached"


def reason(maze: Maze, mission: Mission, start: MazeState, relaxed: Relaxed) -> str:
    """Return one line that explains why a mission with infinite cost cannot be completed."""
    open_goals = mission.find_open_goals(start.progress)
    unreachable = [goal for goal in open_goals if math.isinf(goal.cost(relaxed))]
    unmet = "; ".join(goal.words(maze, start) for goal in unreachable)
    doors = "".join(f"; {words}" for words in _explain_locked_doors(maze, start, relaxed))
    cells = format_count(len(relaxed.at), "cell")
    return f"cannot be met even if all that can be carried were out of the way: {unmet}; {cells} can be reached{doors}"


def _explain_locked_doors(maze: Maze, start: MazeState, relaxed: Relaxed) -> Iterator[str]:
    """Yield, for each door that stays locked, the reason in words."""
    for door in _find_locked_doors(maze, start, relaxed):
        key = f"{door.color} key"
        places = []
        for number, item in enumerate(maze.items):
            if str(item) == key:
                places.append(maze.place_of(number, start))
        cause = f"its keys are out of reach: {', '.join(places)}" if places else "there is no key of its color"
        cell = maze.format_cell(door.cell)
        yield f"the {door.color} door at {cell} stays locked, {cause}"


def _find_locked_doors(maze: Maze, start: MazeState, relaxed: Relaxed) -> Iterator[Door]:
    """Yield the locked doors whose keys cannot be reached."""
    for door, state in zip(maze.doors, start.doors, strict=True):
        if state == DoorState.LOCKED and door.color not in relaxed.colors:
            yield door


def draw_map(maze: Maze, start: MazeState, relaxed: Relaxed) -> tuple[str, ...]:
    """Return the rows of the certificate's map, with one character for each cell; see :data:`LEGEND`."""
    locked = {door.cell for door in _find_locked_doors(maze, start, relaxed)}
    ground_marks = {Ground.WALL: WALL, Ground.LAVA: LAVA}

    def mark(cell: int) -> str:
        if cell == start.cell and cell in relaxed.at:
            return START
        if cell in relaxed.at:
            return REACHED
        if cell in locked:
            return LOCKED
        return ground_marks.get(maze.ground[cell], APART)

    marks = "".join(map(mark, range(len(maze.ground))))
    row_starts = range(0, len(marks), maze.width)
    return tuple(marks[first : first + maze.width] for first in row_starts)
