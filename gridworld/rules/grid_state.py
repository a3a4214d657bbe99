"""The state of an episode as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from gridworld.rules.tilings import Cell


@dataclass
class GridState:
    """The complete state at one step of an episode, in the same form for every backend.

    Attributes:
        agent_position: (column, row).
        agent_direction: heading: 0 right, 1 down, 2 left, 3 up on the square tiling.
        agent_carrying: id of the carried key; None if the agent carries nothing.
        reward: reward of the last step.
        teleporter_cooldowns: remaining steps of each teleporter end; the ends are "<id>_a" and "<id>_b".
        visible_cells: cells that the agent sees now; all cells under full observability.
        explored_cells: cells that the agent has seen so far; all cells under full observability.
    """

    agent_position: Cell
    agent_direction: int
    agent_carrying: str | None = None
    step_count: int = 0
    max_steps: int = 100
    terminated: bool = False
    truncated: bool = False
    reward: float = 0.0
    open_doors: set[str] = field(default_factory=set)
    collected_keys: set[str] = field(default_factory=set)
    active_switches: set[str] = field(default_factory=set)
    open_gates: set[str] = field(default_factory=set)
    block_positions: dict[str, Cell] = field(default_factory=dict)
    teleporter_cooldowns: dict[str, int] = field(default_factory=dict)
    goal_reached: bool = False
    observability_mode: str = "full"
    visible_cells: set[Cell] = field(default_factory=set)
    explored_cells: set[Cell] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON; sets become sorted lists, cells become lists [column, row]."""
        data: dict[str, Any] = {member.name: getattr(self, member.name) for member in fields(self)}
        data["agent_position"] = list(self.agent_position)
        for name in ("open_doors", "collected_keys", "active_switches", "open_gates"):
            data[name] = sorted(data[name])
        for name in ("visible_cells", "explored_cells"):
            data[name] = [list(cell) for cell in sorted(data[name])]
        data["block_positions"] = {name: list(cell) for name, cell in self.block_positions.items()}
        data["teleporter_cooldowns"] = dict(self.teleporter_cooldowns)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GridState:
        """Return the state from a dict that :meth:`to_dict` made; missing fields have their defaults.

        Raises:
            KeyError: ``agent_position`` or ``agent_direction`` is missing.
            TypeError: the dict has an unknown field.
        """
        for name in ("agent_position", "agent_direction"):
            if name not in data:
                raise KeyError(name)
        values = dict(data)
        values["agent_position"] = _cell(values["agent_position"])
        for name in ("open_doors", "collected_keys", "active_switches", "open_gates"):
            values[name] = set(values.get(name, ()))
        for name in ("visible_cells", "explored_cells"):
            values[name] = {_cell(cell) for cell in values.get(name, ())}
        blocks: Mapping[str, Any] = values.get("block_positions", {})
        values["block_positions"] = {name: _cell(cell) for name, cell in blocks.items()}
        values["teleporter_cooldowns"] = dict(values.get("teleporter_cooldowns", {}))
        return cls(**values)


def _cell(pair: Any) -> Cell:
    column, row = pair
    return int(column), int(row)
