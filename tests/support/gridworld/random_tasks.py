"""Random tasks for the tests: valid, mostly crowded, often unsolvable, reaching every combination of the rules.

:func:`random_task` draws with a ``random.Random``; hypothesis draws by :data:`tasks`. The shipped generator makes
solvable and certified tasks, which never reach some combinations that are made here.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

Cell = tuple[int, int]
Thing = dict[str, Any]

COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
GOALS = ("reach_position", "collect_all", "push_block_to", "survive_steps")
NEIGHBOURS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class _Board:
    """Cells of a maze to be taken one by one."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.width, self.height = rng.randint(5, 9), rng.randint(5, 8)
        inner = [(x, y) for x in range(1, self.width - 1) for y in range(1, self.height - 1)]
        rng.shuffle(inner)
        walls = int(len(inner) * rng.choice((0, 0, 0.1, 0.2)))
        self.walls, self.left = inner[:walls], inner[walls:]
        self.floor = list(self.left) if walls and rng.random() < 0.2 else None
        self.doorways: list[Cell] = []
        """Walls that a door or gate replaces and that the file names all the same."""

    def take(self) -> Cell | None:
        """A cell on which nothing stands, None when few are left."""
        return self.left.pop() if len(self.left) > 2 else None

    def take_beside(self, cell: Cell) -> Cell | None:
        """One that is next to another, where there is one."""
        near = [(cell[0] + dx, cell[1] + dy) for dx, dy in NEIGHBOURS]
        found = [other for other in near if other in self.left]
        if not found or len(self.left) <= 2:
            return self.take()
        self.left.remove(found[0])
        return found[0]

    def take_doorway(self) -> Cell | None:
        """A cell for a door or gate, which may replace a wall."""
        if self.walls and self.rng.random() < 0.5:
            cell = self.rng.choice(self.walls)
            self.walls.remove(cell)
            if self.rng.random() < 0.5:
                self.doorways.append(cell)
            return cell
        return self.take()


def random_task(rng: random.Random) -> Thing:
    """The data of a valid task (what ``TaskSpecification.from_dict`` reads)."""
    board = _Board(rng)
    start = board.take() or (1, 1)
    mechanisms = _mechanisms(rng, board)
    if rng.random() < 0.15:
        start = _start_on_something(rng, mechanisms) or start
    goal = _goal(rng, board, mechanisms)
    if rng.random() < 0.02 and "target" in goal:
        start = goal["target"]
    goal["auxiliary_conditions"] = _conditions(rng, mechanisms, board)
    ids = [thing["id"] for group in mechanisms.values() for thing in group]
    target = goal.get("target") or list(board.left[0])
    maze = {
        "dimensions": [board.width, board.height],
        "walls": [list(cell) for cell in (*board.walls, *board.doorways)],
        "start": list(start),
        "goal": target,
    }
    if board.floor is not None:
        maze |= {"floor": [list(cell) for cell in board.floor], "walls": []}
    return {
        "task_id": f"random_{rng.randrange(10**6)}",
        "seed": rng.randrange(3),
        "difficulty_tier": 1,
        "maze": maze,
        "mechanisms": mechanisms,
        "rules": {
            "key_consumption": rng.random() < 0.5,
            "switch_type": rng.choice(("toggle", "hold", "one_shot")),
            "hidden_mechanisms": [i for i in ids if rng.random() < 0.4] if rng.random() < 0.4 else [],
            "observability": rng.choice(("full", "view_cone", "view_cone", "fog_of_war", "fog_of_war")),
            "view_size": rng.choice((3, 5, 7)),
        },
        "goal": goal,
        "max_steps": rng.randint(15, 60),
    }


def _mechanisms(rng: random.Random, board: _Board) -> dict[str, list[Thing]]:
    """Zero to two of every kind, three keys."""
    found: dict[str, list[Thing]] = {}
    for kind in ("gates", "keys", "doors", "switches", "blocks", "teleporters", "hazards"):
        found[kind] = []
        for number in range(rng.choice((0, 1, 2, 3 if kind == "keys" else 1))):
            name = f"{kind.removesuffix('s')}_{number}"
            cell = board.take_doorway() if kind in ("doors", "gates") else _place(rng, board, kind, found)
            if cell is not None:
                found[kind] += _thing(rng, board, kind, {"id": name, "position": list(cell)}, found)
    return found


def _place(rng: random.Random, board: _Board, kind: str, found: dict[str, list[Thing]]) -> Cell | None:
    """Anywhere; switches often beside a gate, blocks beside a switch, so that something comes of it."""
    partners = found.get({"switches": "gates", "blocks": "switches"}.get(kind, ""))
    if not partners or rng.random() < 0.4:
        return board.take()
    column, row = rng.choice(partners)["position"]
    return board.take_beside((column, row))


def _thing(rng: random.Random, board: _Board, kind: str, thing: Thing, found: dict[str, list[Thing]]) -> list[Thing]:
    """The thing with what its kind has besides; none if it needs more room than there is."""
    if kind == "teleporters":
        other = board.take()
        ends = {"position_a": thing["position"], "position_b": list(other or ())}
        return [{"id": thing["id"], **ends, "bidirectional": rng.random() < 0.6}] if other else []
    colours = [key["color"] for key in found["keys"]] if kind == "doors" else []
    fields: dict[str, Thing] = {
        "keys": {"color": rng.choice(COLOURS[:2] if rng.random() < 0.8 else COLOURS)},
        "doors": {
            "requires_key": rng.choice(colours or COLOURS),
            "initial_state": "locked" if colours and rng.random() < 0.8 else "open",
        },
        "gates": {"initial_state": rng.choice(("closed", "closed", "open"))},
        "switches": {
            "controls": [gate["id"] for gate in found["gates"] if rng.random() < 0.7],
            "initial_state": rng.choice(("off", "off", "on")),
            **rng.choice(({}, {"switch_type": rng.choice(("toggle", "hold", "one_shot"))})),
        },
        "blocks": {"pushable": rng.random() < 0.8},
        "hazards": {"hazard_type": rng.choice(("lava", "pit", "spike"))},
    }
    return [thing | fields[kind]]


def _start_on_something(rng: random.Random, mechanisms: dict[str, list[Thing]]) -> Cell | None:
    """A cell on which the agent can stand with something else."""
    cells = [thing["position"] for kind in ("keys", "switches") for thing in mechanisms[kind]]
    cells += [thing["position_a"] for thing in mechanisms["teleporters"]]
    cells += [thing["position"] for kind in ("doors", "gates") for thing in mechanisms[kind] if _is_open(thing)]
    column, row = rng.choice(cells) if cells else (0, 0)
    return (column, row) if cells else None


def _is_open(thing: Thing) -> bool:
    return bool(thing["initial_state"] == "open")


def _goal(rng: random.Random, board: _Board, mechanisms: dict[str, list[Thing]]) -> Thing:
    """Of any type for which there are things."""
    kind = rng.choice(GOALS)
    things = [t["id"] for group in ("keys", "switches", "doors", "gates") for t in mechanisms[group]]
    blocks = [block for block in mechanisms["blocks"] if block["pushable"]]
    if kind == "collect_all" and things:
        return {"type": kind, "target_ids": rng.sample(things, min(len(things), rng.choice((1, 1, 2))))}
    if kind == "push_block_to" and blocks:
        chosen = rng.sample(blocks, 1 if rng.random() < 0.8 else len(blocks))
        cells = [_mark(rng, board, block, mechanisms) for block in chosen]
        placed = {tuple(cell): block["id"] for cell, block in zip(cells, chosen, strict=True) if cell}
        if placed:
            return {
                "type": kind,
                "target_ids": list(placed.values()),
                "target_positions": [list(cell) for cell in placed],
            }
    if kind == "survive_steps":
        return {"type": kind}
    return {"type": "reach_position", "target": list(board.take() or board.left[0])}


def _mark(rng: random.Random, board: _Board, block: Thing, mechanisms: dict[str, list[Thing]]) -> Cell | None:
    """A target beside the block, or a switch, or anywhere."""
    switches = [(s["position"][0], s["position"][1]) for s in mechanisms["switches"]]
    if switches and rng.random() < 0.2:
        return rng.choice(switches)
    return board.take_beside((block["position"][0], block["position"][1]))


def _conditions(rng: random.Random, mechanisms: dict[str, list[Thing]], board: _Board) -> list[str]:
    """None most of the time, else one or two on things that exist."""
    if rng.random() < 0.7:
        return []
    some: list[str] = []
    for group, words in (
        ("keys", ("collected", "carrying")),
        ("doors", ("open",)),
        ("gates", ("open",)),
        ("switches", ("active",)),
    ):
        some += [f"{rng.choice(words)}:{thing['id']}" for thing in mechanisms[group]]
    for block in mechanisms["blocks"]:
        x, y = rng.choice((block["position"], board.left[0]))
        some.append(f"at:{block['id']}:{x},{y}")
    chosen = rng.sample(some, min(len(some), rng.choice((1, 1, 2))))
    return [rng.choice(("", "", "not ")) + text for text in chosen]


def task_of(seed: int) -> Thing:
    """The random task of a number."""
    return random_task(random.Random(seed))


seeds = st.integers(min_value=0, max_value=2**32 - 1)
tasks = seeds.map(task_of)
"""Random tasks as a hypothesis strategy; drawing every choice by hypothesis itself would take ten times as long."""
