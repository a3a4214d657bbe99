"""A second simulator, written from ``docs/gridworld_rules.md`` alone: slow, obvious, and sharing nothing.

It plays the data of a task (``TaskSpecification.to_dict()``) and tells a state in the form of ``GridState.to_dict()``.
A sentence of the page is a method here, where it can be; comments name the places where the page left a choice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Cell = tuple[int, int]

SQUARE = {0: (1, 0), 1: (0, 1), 2: (-1, 0), 3: (0, -1)}
HEX_AXIAL = {0: (1, 0), 1: (0, 1), 2: (-1, 1), 3: (-1, 0), 4: (0, -1), 5: (1, -1)}
TURN_LEFT, TURN_RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)


def cell_of(position: Any) -> Cell:
    """A position as a tuple, from ``[x, y]`` or ``{"x": x, "y": y}``."""
    if isinstance(position, dict):
        return (position["x"], position["y"])
    return (position[0], position[1])


class NaiveWorld:
    """One task being played. ``happened`` lists the events of the last step, ``touched`` the hidden ids found."""

    def __init__(self, task: dict[str, Any], tiling: str = "square") -> None:
        """Place everything as it stands at the start. ``tiling`` is "square" or "hex"."""
        self.hex = tiling == "hex"
        maze, goal, rules = task["maze"], task["goal"], task.get("rules") or {}
        things = task.get("mechanisms") or {}
        self.width, self.height = maze["dimensions"]
        self.cells = {(x, y) for x in range(self.width) for y in range(self.height)}

        self.keys = {k["id"]: k for k in things.get("keys", [])}
        self.doors = {d["id"]: d for d in things.get("doors", [])}
        self.switches = {s["id"]: s for s in things.get("switches", [])}
        self.gates = {g["id"]: g for g in things.get("gates", [])}
        self.blocks = {b["id"]: b for b in things.get("blocks", [])}
        self.teleporters = {t["id"]: t for t in things.get("teleporters", [])}
        self.hazards = {h["id"]: h for h in things.get("hazards", [])}

        fixed = [self.doors, self.switches, self.gates, self.hazards]
        self.fixed = {i: [cell_of(thing["position"])] for group in fixed for i, thing in group.items()}
        self.fixed |= {i: [cell_of(t["position_a"]), cell_of(t["position_b"])] for i, t in self.teleporters.items()}

        doorways = [cell_of(d["position"]) for d in [*self.doors.values(), *self.gates.values()]]
        border = [(x, y) for x, y in self.cells if x in (0, self.width - 1) or y in (0, self.height - 1)]
        floor = {cell_of(c) for c in maze.get("floor") or self.cells}
        walls = {*border, *map(cell_of, maze.get("walls", [])), *(self.cells - floor)}
        self.walls = {c for c in walls if c not in doorways}

        self.key_at: dict[str, Cell] = {i: cell_of(k["position"]) for i, k in self.keys.items()}
        self.block_at: dict[str, Cell] = {i: cell_of(b["position"]) for i, b in self.blocks.items()}
        self.open_doors = {i for i, d in self.doors.items() if d.get("initial_state", "locked") == "open"}
        self.cooldown = {f"{i}_{end}": 0 for i in self.teleporters for end in "ab"}
        self.collected: set[str] = set()
        self.hand: str | None = None

        self.key_consumption = rules.get("key_consumption", True)
        self.switch_type = rules.get("switch_type", "toggle")
        self.hidden = set(rules.get("hidden_mechanisms", []))
        self.observability = rules.get("observability", "full")
        self.view_size = rules.get("view_size", 7)

        self.goal = goal
        # The page names only the target of the goal; where it has none, the goal of the maze can be the only one meant.
        target = goal.get("target") or maze.get("goal")
        self.goal_square = cell_of(target) if goal["type"] == "reach_position" else None

        self.at = cell_of(maze["start"])
        self.heading = 0
        self.steps = 0
        self.max_steps: int = task["max_steps"]
        self.dead = self.terminated = self.truncated = self.reached = False
        self.reward = 0.0

        self.active = {i for i, s in self.switches.items() if s.get("initial_state", "off") == "on"}
        self.touched: set[str] = set()
        self.happened: list[str] = []
        self.press_hold_switches()
        self.touch(self.at)
        # The page does not say whether the first look counts as explored; the agent "has seen" it.
        self.seen = self.explored = self.visible()

    # What stands where

    def ids_at(self, cell: Cell) -> list[str]:
        """Every mechanism standing on a cell now, a key in hand excepted."""
        moving = [i for i, at in [*self.key_at.items(), *self.block_at.items()] if at == cell]
        return [i for i, cells in self.fixed.items() if cell in cells] + moving

    def is_wall(self, cell: Cell) -> bool:
        """Beyond the grid is wall too: the page names no such cell, for nobody gets past the border."""
        return cell in self.walls or cell not in self.cells

    def free(self, cell: Cell) -> bool:
        return not self.is_wall(cell) and not self.ids_at(cell) and cell != self.goal_square

    def first(self, group: dict[str, Any], cell: Cell) -> str | None:
        """The id of the one thing of a group that stands on a cell."""
        return next((i for i in self.ids_at(cell) if i in group), None)

    def gate_open(self, gate: str) -> bool:
        at_first = self.gates[gate].get("initial_state", "closed") == "open"
        return at_first or any(gate in self.switches[s].get("controls", []) for s in self.active)

    def closed(self, cell: Cell) -> bool:
        """Whether a locked door or closed gate stands there."""
        door, gate = self.first(self.doors, cell), self.first(self.gates, cell)
        return (door is not None and door not in self.open_doors) or (gate is not None and not self.gate_open(gate))

    def can_enter(self, cell: Cell) -> bool:
        return not self.is_wall(cell) and not self.closed(cell) and self.first(self.blocks, cell) is None

    def neighbour(self, cell: Cell, heading: int) -> Cell:
        column, row = cell
        if not self.hex:
            return column + SQUARE[heading][0], row + SQUARE[heading][1]
        q, r = column - (row - row % 2) // 2 + HEX_AXIAL[heading][0], row + HEX_AXIAL[heading][1]
        return q + (r - r % 2) // 2, r

    def ahead(self) -> Cell:
        return self.neighbour(self.at, self.heading)

    # A step

    def step(self, action: int) -> None:
        """Play one action. Raises ValueError for an unknown action or an ended episode."""
        if action not in range(7) or self.terminated or self.truncated:
            raise ValueError(f"no action {action}, or the episode has ended")
        self.happened = []
        self.steps += 1
        for end in self.cooldown:
            self.cooldown[end] = max(0, self.cooldown[end] - 1)
        if action in (FORWARD, PICKUP, DROP, TOGGLE):
            self.touch(self.ahead())
        headings = 6 if self.hex else 4
        if action == TURN_LEFT:
            self.heading = (self.heading - 1) % headings
        if action == TURN_RIGHT:
            self.heading = (self.heading + 1) % headings
        if action == FORWARD:
            self.move_forward()
        if action == PICKUP:
            self.pickup()
        if action == DROP:
            self.drop()
        if action == TOGGLE:
            self.toggle()
        self.press_hold_switches()
        self.touch(self.at)
        self.finish()
        self.seen = self.visible()
        self.explored = self.explored | self.seen

    def move_forward(self) -> None:
        cell = self.ahead()
        block = self.first(self.blocks, cell)
        if block is not None:
            if not self.push(block, self.neighbour(cell, self.heading)):
                return
        elif not self.can_enter(cell):
            self.happened.append("closed_refused" if self.closed(cell) else "wall_refused")
            return
        self.at = cell
        self.arrive()

    def push(self, block: str, beyond: Cell) -> bool:
        others = self.ids_at(beyond)
        only_switch = len(others) == 1 and others[0] in self.switches and beyond != self.goal_square
        if not self.blocks[block].get("pushable", True):
            self.happened.append("unpushable_refused")
            return False
        if not self.free(beyond) and not (only_switch and not self.is_wall(beyond)):
            self.happened.append("push_refused")
            return False
        self.block_at[block] = beyond
        self.happened.append("pushed_on_switch" if only_switch else "pushed")
        return True

    def arrive(self) -> None:
        if self.first(self.hazards, self.at) is not None:
            self.dead = True
            self.happened.append("death")
            return
        for i, teleporter in self.teleporters.items():
            a, b = cell_of(teleporter["position_a"]), cell_of(teleporter["position_b"])
            if self.at == a and self.cooldown[f"{i}_a"] == 0:
                self.at = b
                self.cooldown[f"{i}_b"] = 1
                self.happened.append("teleported")
                return
            if self.at == b and teleporter.get("bidirectional", True) and self.cooldown[f"{i}_b"] == 0:
                self.at = a
                self.cooldown[f"{i}_a"] = 1
                self.happened.append("teleported_back")
                return
            if self.at == b:
                self.happened.append("one_way_end")

    def pickup(self) -> None:
        here, there = self.first(self.keys, self.at), self.first(self.keys, self.ahead())
        key = here or there
        if self.hand is not None or key is None:
            self.happened.append("pickup_refused")
            return
        self.hand = key
        del self.key_at[key]
        again = "picked_again" if key in self.collected else "collected"
        self.happened += ["picked_own_cell" if here else "picked_ahead", again]
        self.collected.add(key)

    def drop(self) -> None:
        if self.hand is None:
            return
        if not self.free(self.ahead()):
            self.happened.append("drop_refused")
            return
        self.key_at[self.hand] = self.ahead()
        self.hand = None
        self.happened.append("dropped")

    def toggle(self) -> None:
        switch, door = self.first(self.switches, self.at), self.first(self.doors, self.ahead())
        if switch is not None:
            self.happened.append("door_out_of_reach" if door else "toggled_underfoot")
            self.toggle_switch(switch)
        elif door is not None and door not in self.open_doors:
            self.unlock(door)
        elif self.first(self.switches, self.ahead()) is not None:
            self.happened.append("switch_ahead_toggled_in_vain")
        elif self.first(self.blocks, self.ahead()) is not None:
            self.happened.append("block_toggled_in_vain")

    def unlock(self, door: str) -> None:
        if self.hand is None or self.keys[self.hand]["color"] != self.doors[door]["requires_key"]:
            self.happened.append("door_refused")
            return
        self.open_doors.add(door)
        self.happened.append("door_opened")
        if self.key_consumption:
            self.hand = None
            self.happened.append("consumed")

    def toggle_switch(self, switch: str) -> None:
        kind = self.type_of(switch)
        if kind == "toggle":
            self.happened.append("switched_off" if switch in self.active else "switched_on")
            self.active ^= {switch}
        elif kind == "one_shot":
            self.happened.append("one_shot_again" if switch in self.active else "one_shot")
            self.active.add(switch)
        else:
            self.happened.append("hold_toggled")

    def type_of(self, switch: str) -> str:
        return str(self.switches[switch].get("switch_type") or self.switch_type)

    def press_hold_switches(self) -> None:
        for i, switch in self.switches.items():
            if self.type_of(i) != "hold":
                continue
            cell = cell_of(switch["position"])
            by_block = cell in self.block_at.values()
            if (self.at == cell or by_block) and i not in self.active:
                self.active.add(i)
                self.happened.append("held_by_block" if by_block else "held_by_agent")
            elif self.at != cell and not by_block and i in self.active:
                self.active.remove(i)
                self.happened.append("released")
        if self.closed(self.at):
            self.happened.append("inside_closed")

    def touch(self, cell: Cell) -> None:
        found = (self.hidden & set(self.ids_at(cell))) - self.touched
        self.touched |= found
        self.happened += ["hidden_touched" for _ in found]

    # The end

    def finish(self) -> None:
        self.terminated = self.dead
        if self.dead:
            return
        goal = self.goal_holds()
        if goal and all(self.condition_holds(text) for text in self.goal.get("auxiliary_conditions") or []):
            self.terminated = self.reached = True
            self.reward = 1 - 0.9 * self.steps / self.max_steps
            self.happened.append("success_" + self.goal["type"])
            return
        if goal:
            self.happened.append("condition_missing")
        if self.steps == self.max_steps:
            self.truncated = True
            self.happened.append("truncated")

    def goal_holds(self) -> bool:
        kind, ids = self.goal["type"], self.goal.get("target_ids") or []
        if kind == "reach_position":
            return self.at == self.goal_square
        if kind == "survive_steps":
            return self.steps == self.max_steps
        if kind == "push_block_to":
            targets = [cell_of(position) for position in self.goal["target_positions"]]
            return [self.block_at[i] for i in ids] == targets
        return all(i in self.collected or i in self.active or self.stands_open(i) for i in ids)

    def stands_open(self, i: str) -> bool:
        """Of a door or a gate."""
        return i in self.open_doors or (i in self.gates and self.gate_open(i))

    def condition_holds(self, text: str) -> bool:
        if text.startswith("not "):
            return not self.condition_holds(text.removeprefix("not "))
        word, _, rest = text.partition(":")
        if word == "at":
            block, _, position = rest.rpartition(":")
            column, row = position.split(",")
            return self.block_at[block] == (int(column), int(row))
        return {
            "collected": rest in self.collected,
            "carrying": rest == self.hand,
            "open": self.stands_open(rest),
            "active": rest in self.active,
        }[word]

    # What is seen

    def blocks_view(self, cell: Cell) -> bool:
        """What is hidden blocks the view all the same; the agent looks out of its own cell, whatever it is."""
        return cell != self.at and (self.is_wall(cell) or self.closed(cell))

    def visible(self) -> set[Cell]:
        if self.observability == "full":
            return set(self.cells)
        return (self.hex_cone() if self.hex else self.square_cone()) & self.cells

    def square_cone(self) -> set[Cell]:
        """As ``Grid.process_vis`` of MiniGrid: rows from near to far, each swept to the right and then to the left."""
        ahead, right = SQUARE[self.heading], SQUARE[(self.heading + 1) % 4]
        middle, last = self.view_size // 2, self.view_size - 1

        def cell(side: int, far: int) -> Cell:
            side -= middle
            return self.at[0] + far * ahead[0] + side * right[0], self.at[1] + far * ahead[1] + side * right[1]

        lit = {(middle, 0)}
        for far in range(self.view_size):
            for sides, onward in ((range(last), 1), (range(last, 0, -1), -1)):
                for side in sides:
                    if (side, far) in lit and not self.blocks_view(cell(side, far)):
                        lit |= {(side + onward, far), (side, far + 1), (side + onward, far + 1)}
        return {cell(side, far) for side, far in lit if far < self.view_size}

    def hex_cone(self) -> set[Cell]:
        """By steps in the heading and the two next to it."""
        three = [(self.heading + turn) % 6 for turn in (-1, 0, 1)]
        seen = edge = {self.at}
        for _ in range(self.view_size - 1):
            clear = [cell for cell in edge if not self.blocks_view(cell)]
            edge = {self.neighbour(cell, heading) for cell in clear for heading in three}
            seen = seen | edge
        return seen

    # The state, told as GridState tells it

    def state(self) -> dict[str, Any]:
        return {
            "agent_position": list(self.at),
            "agent_direction": self.heading,
            "agent_carrying": self.hand,
            "step_count": self.steps,
            "max_steps": self.max_steps,
            "terminated": self.terminated,
            "truncated": self.truncated,
            "reward": self.reward,
            "open_doors": sorted(self.open_doors),
            "collected_keys": sorted(self.collected),
            "active_switches": sorted(self.active),
            "open_gates": sorted(gate for gate in self.gates if self.gate_open(gate)),
            "block_positions": {block: list(at) for block, at in self.block_at.items()},
            "teleporter_cooldowns": dict(self.cooldown),
            "goal_reached": self.reached,
            "observability_mode": self.observability,
            "visible_cells": as_lists(self.seen),
            "explored_cells": as_lists(self.explored),
        }


def as_lists(cells: Iterable[Cell]) -> list[list[int]]:
    """Cells sorted, as JSON has them."""
    return sorted([column, row] for column, row in cells)
