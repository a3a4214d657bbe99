"""Tasks drawn as text, for tests: one character per cell, origin top-left.

``#`` wall, ``A`` start, ``G`` goal square, lower-case letters ``k`` key, ``d`` door, ``s`` switch, ``g`` gate, ``b``
block, ``h`` hazard, ``t`` and ``u`` the ends of a teleporter, ``x`` a mark. Ids are the letter and the number of the
thing in reading order: k0, k1, ...
"""

from __future__ import annotations

from typing import Any

from gridworld.task_spec import TaskSpecification

_KINDS = {"k": "keys", "d": "doors", "s": "switches", "g": "gates", "b": "blocks", "h": "hazards"}


def drawn(
    rows: str,
    *,
    keys: str = "red",
    doors: str = "red",
    rules: dict[str, Any] | None = None,
    goal: dict[str, Any] | None = None,
    max_steps: int = 50,
    more: dict[str, dict[str, Any]] | None = None,
) -> TaskSpecification:
    """The task of a drawing; ``keys`` and ``doors`` are colours in reading order, ``more`` fields of things by id.

    Every switch controls every gate. Without a ``G`` the ``goal`` has to be given; marks become its target positions.
    """
    lines = [line.strip() for line in rows.strip().splitlines()]
    found = {
        letter: [[x, y] for y, line in enumerate(lines) for x, char in enumerate(line) if char == letter]
        for letter in "#AGkdsgbhtux"
    }
    colours = {"k": keys.split(), "d": doors.split()}
    mechanisms: dict[str, list[dict[str, Any]]] = {}
    for letter, name in _KINDS.items():
        things = mechanisms[name] = [{"id": f"{letter}{n}", "position": at} for n, at in enumerate(found[letter])]
        for number, thing in enumerate(things):
            if letter in colours:
                field = "color" if letter == "k" else "requires_key"
                thing[field] = colours[letter][number % len(colours[letter])]
            if letter == "s":
                thing["controls"] = [f"g{n}" for n in range(len(found["g"]))]
            thing.update((more or {}).get(thing["id"], {}))
    if found["t"]:
        ends = {"id": "t0", "position_a": found["t"][0], "position_b": found["u"][0]}
        mechanisms["teleporters"] = [ends | (more or {}).get("t0", {})]
    target = found["G"][0] if found["G"] else None
    return TaskSpecification.from_dict(
        {
            "task_id": "drawn",
            "seed": 0,
            "difficulty_tier": 1,
            "maze": {
                "dimensions": [len(lines[0]), len(lines)],
                "walls": found["#"],
                "start": found["A"][0],
                "goal": target or found["A"][0],
            },
            "mechanisms": mechanisms,
            "rules": rules or {},
            "goal": {"target_positions": found["x"], **(goal or {"type": "reach_position", "target": target})},
            "max_steps": max_steps,
        }
    )
