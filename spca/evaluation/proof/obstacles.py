"""Search for a path among obstacles that move at random; the search resets the real simulator to earlier states.

``MiniGrid-Dynamic-Obstacles-*`` draws the moves of its obstacles from the environment's random generator. A draw that
hits an occupied cell is repeated, so that the agent's position affects all later draws. Therefore the generator's state
is part of a search state.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Any

from spca.evaluation.proof.dynamics import FORWARD, LEFT, RIGHT
from spca.evaluation.proof.searching import Found

_HEURISTIC_WEIGHT = 3
"""Weight of the estimated steps in weighted A*: a larger weight finds longer plans sooner."""


def has_obstacles(simulator: Any) -> bool:
    """Return whether a simulator is an environment of ``MiniGrid-Dynamic-Obstacles-*``."""
    kind = type(simulator)
    return kind.__name__ == "DynamicObstaclesEnv" and kind.__module__.startswith("minigrid.")


def find_way(simulator: Any, states: int) -> Found:
    """Search for primitives that lead a simulator to its goal, by weighted A*, and return the result.

    The search stops when it has seen ``states`` states. The simulator must have been reset; the search leaves it in an
    arbitrary state.
    """
    order = count()  # breaks ties between equal priorities
    goal = _find_goal(simulator)
    start = _read_moment(simulator)
    queue: list[_Entry] = [(0, next(order), start, ())]
    seen = {repr(start)}
    while queue and len(seen) < states:
        _, _, moment, path = heappop(queue)
        for action in (FORWARD, LEFT, RIGHT):
            _restore_moment(simulator, moment)
            _, reward, terminated, truncated, _ = simulator.step(action)
            if terminated and reward > 0:
                return Found((*path, action), len(seen), exhausted=False)
            after = _read_moment(simulator)
            if terminated or truncated or repr(after) in seen:
                continue
            seen.add(repr(after))
            priority = len(path) + _HEURISTIC_WEIGHT * _estimate_steps(simulator, goal)
            heappush(queue, (priority, next(order), after, (*path, action)))
    return Found(None, len(seen), exhausted=not queue)


_Moment = tuple[int, tuple[int, int], int, tuple[tuple[int, int], ...], dict[str, Any]]
"""State of the simulator: step count, agent's (column, row), agent's heading, (column, row) of each obstacle, and state
of the random generator.
"""

_Entry = tuple[int, int, _Moment, tuple[int, ...]]
"""Entry of the search queue: priority, number that breaks ties, state, primitives that lead to the state."""


def _find_goal(simulator: Any) -> int:
    """Return the first cell with a goal square."""
    objects = enumerate(simulator.grid.grid)
    return next(cell for cell, found in objects if found is not None and found.type == "goal")


def _read_moment(simulator: Any) -> _Moment:
    """Return the state of a simulator, without numpy values, so that equal states have equal representations."""
    column, row = simulator.agent_pos
    agent_place = (int(column), int(row))
    heading = int(simulator.agent_dir)
    obstacle_places = []
    for obstacle in simulator.obstacles:
        obstacle_column, obstacle_row = obstacle.cur_pos
        obstacle_places.append((int(obstacle_column), int(obstacle_row)))
    generator = simulator.np_random.bit_generator.state
    return simulator.step_count, agent_place, heading, tuple(obstacle_places), generator


def _restore_moment(simulator: Any, moment: _Moment) -> None:
    """Set a simulator back to an earlier state."""
    simulator.step_count, simulator.agent_pos, simulator.agent_dir, places, generator = moment
    # Clear all old cells first, because an obstacle's new cell may be another obstacle's old cell.
    for obstacle in simulator.obstacles:
        simulator.grid.set(*obstacle.cur_pos, None)
    for obstacle, place in zip(simulator.obstacles, places, strict=True):
        obstacle.cur_pos = place
        simulator.grid.set(*place, obstacle)
    simulator.np_random.bit_generator.state = generator


def _estimate_steps(simulator: Any, goal: int) -> int:
    """Return the Manhattan distance to the goal in cells, plus 1 if the agent does not head towards the goal."""
    row, column = divmod(goal, simulator.grid.width)
    columns = column - simulator.agent_pos[0]
    rows = row - simulator.agent_pos[1]
    east, south = simulator.dir_vec
    distance = abs(columns) + abs(rows)
    must_turn = columns * east + rows * south <= 0
    return int(distance + must_turn)
