"""Families of tasks with things that can be put down almost anywhere: hard for a search, obvious for people.

Drawn from a seed: places, colours and the order of keys vary.
"""

from __future__ import annotations

import random
from typing import Any

from gridworld.task_spec import TaskSpecification

_COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")


def keys_and_doors(
    seed: int, count: int, width: int, height: int, *, consumption: bool = True, in_row: bool = False
) -> TaskSpecification:
    """All keys in the first room, behind it a wall with a door for each, the goal behind the last.

    Args:
        seed: of the draw.
        count: of keys, and of doors.
        width, height: of the grid, border included.
        consumption: whether a door uses its key up.
        in_row: whether the doors are in one row of the grid; else each is anywhere in its wall.
    """
    rng = random.Random(seed)
    room = max(3, width - 2 - 3 * count if width < 24 else width // 3)
    columns = [room + 1 + number * (width - 2 - room) // count for number in range(count)]
    colours = rng.sample(_COLOURS, count)
    rows = [rng.randint(1, height - 2)] * count if in_row else [rng.randint(1, height - 2) for _ in columns]
    doors = [
        {"id": f"door_{number}", "position": [column, row], "requires_key": colour}
        for number, (column, row, colour) in enumerate(zip(columns, rows, colours, strict=True))
    ]
    cells = rng.sample([(x, y) for x in range(1, room + 1) for y in range(1, height - 1)], count + 1)
    rng.shuffle(colours)
    keys = [
        {"id": f"key_{number}", "position": list(cells[number]), "color": colour}
        for number, colour in enumerate(colours)
    ]
    goal = [rng.randint(columns[-1] + 1, width - 2), rng.randint(1, height - 2)]
    return _task(
        f"keys_{count}_{width}x{height}_{seed}{'_row' * in_row}",
        [width, height],
        {
            "walls": [[x, y] for x in columns for y in range(1, height - 1)],
            "start": list(cells[-1]),
            "goal": goal,
        },
        {"keys": keys, "doors": doors},
        {"type": "reach_position", "target": goal},
        {"key_consumption": consumption},
    )


def blocks_in_the_open(seed: int, count: int, size: int, targets: int = 0) -> TaskSpecification:
    """Pushable blocks in a room without walls: the goal is a corner, or a mark for each of some."""
    rng = random.Random(seed)
    cells = rng.sample([(x, y) for x in range(2, size - 2) for y in range(2, size - 2)], 2 * count)
    blocks = [{"id": f"block_{number}", "position": list(cells[number])} for number in range(count)]
    corner = [size - 2, size - 2]
    goal: dict[str, Any] = {"type": "reach_position", "target": corner}
    if targets:
        marks = [list(cell) for cell in cells[count : count + targets]]
        names = [block["id"] for block in blocks[:targets]]
        goal = {"type": "push_block_to", "target_ids": names, "target_positions": marks}
    maze = {"walls": [], "start": [1, 1], "goal": corner}
    return _task(f"blocks_{count}_{size}x{size}_{targets}_{seed}", [size, size], maze, {"blocks": blocks}, goal, {})


def _task(
    name: str,
    dimensions: list[int],
    maze: dict[str, Any],
    mechanisms: dict[str, Any],
    goal: dict[str, Any],
    rules: dict[str, Any],
) -> TaskSpecification:
    return TaskSpecification.from_dict(
        {
            "task_id": name,
            "seed": 0,
            "difficulty_tier": 2,
            "maze": {"dimensions": dimensions, **maze},
            "mechanisms": mechanisms,
            "rules": rules,
            "goal": goal,
            "max_steps": 1000,
        }
    )
