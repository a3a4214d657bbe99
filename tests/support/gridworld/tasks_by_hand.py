"""One task with a thing of every kind, valid, as JSON data; tests break it in one place at a time."""

from __future__ import annotations

import json
from typing import Any

_TASK = """
{"task_id": "t", "version": "1.0", "seed": 42, "difficulty_tier": 3, "description": "",
 "maze": {"dimensions": [10, 8], "walls": [[3, 1], [3, 3], [0, 0]], "start": [1, 1], "goal": [8, 6]},
 "mechanisms": {
  "keys": [{"id": "k", "position": [1, 5], "color": "blue"}],
  "doors": [{"id": "d", "position": [3, 3], "requires_key": "blue", "initial_state": "locked"}],
  "switches": [{"id": "s", "position": [4, 5], "controls": ["g"], "color": "yellow", "switch_type": "toggle"}],
  "gates": [{"id": "g", "position": [6, 4], "initial_state": "closed"}],
  "blocks": [{"id": "b", "position": [5, 5], "pushable": true, "color": "grey"},
             {"id": "rock", "position": [7, 5], "pushable": false}],
  "teleporters": [{"id": "t1", "position_a": [1, 1], "position_b": [8, 1], "bidirectional": true}],
  "hazards": [{"id": "h", "position": [2, 2], "hazard_type": "lava"}]},
 "rules": {"key_consumption": true, "switch_type": "toggle", "hidden_mechanisms": ["s"], "observability": "full",
           "view_size": 7},
 "goal": {"type": "reach_position", "target": [8, 6], "target_ids": [], "target_positions": [],
          "auxiliary_conditions": ["collected:k", "not at:b:5,5"]},
 "max_steps": 75,
 "dependency_chain": {"depth": 1, "sequence": [{"step": 1, "type": "key_door", "element": "k", "unlocks": "d"}],
                      "notation": "k"},
 "distractors": [{"type": "wrong_color_key", "element_id": "k", "description": ""},
                 {"type": "distractor_chain", "element_id": "branch"}],
 "metadata": {"any": {"thing": [1, 2.5, null]}}}
"""


def task() -> dict[str, Any]:
    """A fresh copy."""
    made: dict[str, Any] = json.loads(_TASK)
    return made


def changed(path: str, value: Any) -> dict[str, Any]:
    """The task with another value at a path such as ``mechanisms.keys.0.color``; None removes it,
    the number after the last appends."""
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    made = task()
    inner: Any = made
    for part in way:
        inner = inner[part]
    if value is None:
        del inner[last]
    elif isinstance(inner, list) and last == len(inner):
        inner.append(value)
    else:
        inner[last] = value
    return made


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything in a JSON value, the value itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, item in inner for found in places(item, (*way, key)))]


def mutated(way: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The task with another value at a place, or (``...``) without one."""
    made = task()
    inner: Any = made
    for key in way[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[way[-1]]
    else:
        inner[way[-1]] = value
    return made
