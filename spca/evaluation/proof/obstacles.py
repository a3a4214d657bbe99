"""A way among obstacles that move at random, which a seed decides: searched with the real simulator, set back in place.

``MiniGrid-Dynamic-Obstacles-*`` draws from the environment's random generator how its obstacles move, and a draw that
hits an occupied cell is repeated, so that what the agent does changes all that follows. The generator is therefore a
part of the state.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import Any

from spca.evaluation.proof.dynamics import FORWARD, LEFT, RIGHT
from spca.evaluation.proof.searching import Found

_EAGERNESS = 3


def has_obstacles(simulator: Any) -> bool:
    """Return whether a simulator is one of ``MiniGrid-Dynamic-Obstacles-*``."""
    kind = type(simulator)
    return kind.__name__ == "DynamicObstaclesEnv" and kind.__module__.startswith("minigrid.")


def find_way(simulator: Any, states: int) -> Found:
    """Search best first for primitives that lead a simulator, just reset, to its goal; it is left in any state."""
    order = count()
    objects = enumerate(simulator.grid.grid)
    goal = next(cell for cell, found in objects if found is not None and found.type == "goal")
    start = _read_moment(simulator)
    queue: list[tuple[int, int, _Moment, tuple[int, ...]]] = [(0, next(order), start, ())]
    seen = {repr(start)}
    while queue and len(seen) < states:
        _, _, moment, path = heappop(queue)
        for action in (FORWARD, LEFT, RIGHT):
            _restore_moment(simulator, moment)
            _, reward, terminated, truncated, _ = simulator.step(action)
            if terminated and reward > 0:
                return Found((*path, action), len(seen), False)
            after = _read_moment(simulator)
            if terminated or truncated or repr(after) in seen:
                continue
            seen.add(repr(after))
            ahead = _EAGERNESS * _estimate_steps(simulator, goal)
            heappush(queue, (len(path) + ahead, next(order), after, (*path, action)))
    return Found(None, len(seen), not queue)


_Moment = tuple[int, tuple[int, int], int, tuple[tuple[int, int], ...], dict[str, Any]]
"""Steps, the agent's place and heading, the obstacles' places, the state of the random generator."""


def _read_moment(simulator: Any) -> _Moment:
    column, row = simulator.agent_pos
    agent_place = (int(column), int(row))
    heading = int(simulator.agent_dir)
    positions = [obstacle.cur_pos for obstacle in simulator.obstacles]
    obstacle_places = tuple((int(position[0]), int(position[1])) for position in positions)
    generator = simulator.np_random.bit_generator.state
    return simulator.step_count, agent_place, heading, obstacle_places, generator


def _restore_moment(simulator: Any, moment: _Moment) -> None:
    simulator.step_count, simulator.agent_pos, simulator.agent_dir, places, generator = moment
    for obstacle in simulator.obstacles:
        simulator.grid.set(*obstacle.cur_pos, None)
    for obstacle, place in zip(simulator.obstacles, places, strict=True):
        obstacle.cur_pos = place
        simulator.grid.set(*place, obstacle)
    simulator.np_random.bit_generator.state = generator


def _estimate_steps(simulator: Any, goal: int) -> int:
    """Return the steps to the goal without obstacles, with at most one turn."""
    row, column = divmod(goal, simulator.grid.width)
    columns = column - simulator.agent_pos[0]
    rows = row - simulator.agent_pos[1]
    (east, south) = simulator.dir_vec
    distance = abs(columns) + abs(rows)
    must_turn = columns * east + rows * south <= 0
    return int(distance + must_turn)
