"""Actions that get somewhere: half of them head for a thing and use it, the others are drawn at random."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

from tests.support.gridworld.naive import (
    DONE,
    DROP,
    FORWARD,
    PICKUP,
    TOGGLE,
    TURN_LEFT,
    TURN_RIGHT,
    Cell,
    NaiveWorld,
    cell_of,
)

ANY = (TURN_LEFT, TURN_RIGHT, FORWARD, FORWARD, FORWARD, PICKUP, DROP, TOGGLE, TOGGLE, DONE)
Pose = tuple[Cell, int]


def walk(world: NaiveWorld, rng: random.Random, length: int) -> Iterator[int]:
    """At most ``length`` actions, each chosen in the world as it is once those before have been played in it."""
    ahead: list[int] = []
    for _ in range(length):
        if world.terminated or world.truncated:
            return
        if not ahead and rng.random() < 0.8:
            ahead = _errand(world, rng)
        yield ahead.pop(0) if ahead and rng.random() < 0.97 else rng.choice(ANY)


def _errand(world: NaiveWorld, rng: random.Random) -> list[int]:
    """To go to something, face it, and do what one does with it."""
    wanted = [use for use in _uses(world, rng) if use[0] != "hazard" or rng.random() < 0.05]
    if not wanted:
        return [rng.choice(ANY)]
    _, cell, heading, use = rng.choice(wanted)
    return _way(world, cell, heading) + use


def _uses(world: NaiveWorld, rng: random.Random) -> Iterator[tuple[str, Cell, int | None, list[int]]]:
    """Every thing with its cell, the heading in which to face it, if that matters, and the actions that follow."""
    enter = [FORWARD] * rng.choice((1, 1, 2))
    for i, cell in world.key_at.items():
        yield i, cell, None, rng.choice(([PICKUP], [FORWARD, PICKUP]))
    for door in world.doors.values():
        fits = world.hand is not None and world.keys[world.hand]["color"] == door["requires_key"]
        for _ in range(4 if fits else 1):
            yield "door", cell_of(door["position"]), None, [TOGGLE, *enter]
    for gate in world.gates.values():
        yield "gate", cell_of(gate["position"]), None, enter
    for switch in world.switches.values():
        use = rng.choice(([FORWARD, TOGGLE], [FORWARD, TOGGLE, FORWARD], [FORWARD, FORWARD], [TOGGLE]))
        yield "switch", cell_of(switch["position"]), None, use
    for i, cell in world.block_at.items():
        heading = rng.randrange(6 if world.hex else 4)
        yield i, cell, heading, [FORWARD] * rng.choice((1, 2))
        yield from _pushes(world, cell)
    for teleporter in world.teleporters.values():
        yield "teleporter", cell_of(teleporter[rng.choice(("position_a", "position_b"))]), None, enter
    for hazard in world.hazards.values():
        yield "hazard", cell_of(hazard["position"]), None, [FORWARD]
    if world.goal_square is not None:
        yield "goal", world.goal_square, None, enter
    if world.hand is not None:
        taken = {cell for cells in world.fixed.values() for cell in cells} | {*world.block_at.values()}
        yield "drop", rng.choice(sorted(rng.choice((taken, world.cells - world.walls)) or world.cells)), None, [DROP]


def _pushes(world: NaiveWorld, block: Cell) -> Iterator[tuple[str, Cell, int | None, list[int]]]:
    """Straight pushes of a block onto marks and switches, and at whatever else stands there."""
    marks = [cell_of(position) for position in world.goal.get("target_positions") or []]
    marks += [cell for cells in (*world.fixed.values(), world.key_at.values()) for cell in cells]
    for heading in range(6 if world.hex else 4):
        cell = block
        for pushes in range(1, 5):
            cell = world.neighbour(cell, heading)
            if cell in marks:
                yield "push", block, heading, [FORWARD] * pushes


def _way(world: NaiveWorld, goal: Cell, heading: int | None) -> list[int]:
    """Turns and moves after which a cell is ahead, around hazards; none if it cannot be reached."""
    start = world.at, world.heading
    before: dict[Pose, tuple[Pose, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        pose = queue.popleft()
        if world.neighbour(*pose) == goal and heading in (None, pose[1]):
            return _actions(before, pose)
        for action, after in _moves(world, pose):
            if after not in before:
                before[after] = pose, action
                queue.append(after)
    return []


def _actions(before: dict[Pose, tuple[Pose, int] | None], pose: Pose) -> list[int]:
    found: list[int] = []
    while (step := before[pose]) is not None:
        pose, action = step
        found.append(action)
    return found[::-1]


def _moves(world: NaiveWorld, pose: Pose) -> Iterator[tuple[int, Pose]]:
    cell, heading = pose
    headings = 6 if world.hex else 4
    yield TURN_LEFT, (cell, (heading - 1) % headings)
    yield TURN_RIGHT, (cell, (heading + 1) % headings)
    ahead = world.neighbour(cell, heading)
    if world.can_enter(ahead) and world.first(world.hazards, ahead) is None:
        yield FORWARD, (ahead, heading)
