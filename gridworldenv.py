"""SENSE and ACT: a gridworld task on the square tiling as a World, and the words that tell its agent the task.

The agent knows only what the observability of the task permits. Under full observability its map is the whole grid,
updated after every primitive. Otherwise its map is assembled from its views, as in :mod:`spca.sense.slam`. The agent
then knows neither the size of the grid nor its own position in the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import LOOKS, Look
from gridworld.rules.tilings import SQUARE
from gridworld.task.conditions import Condition
from gridworld.task.mission import looks, ordinal
from gridworld.task_spec import TaskSpecification
from spca.act.mapped_world import MappedWorld
from spca.act.state_hash import hash_state
from spca.bodies.grid.primitives import GridPrimitive
from spca.errors import WorldError
from spca.protocols import Executor
from spca.sense import perception, slam
from spca.sense.perception import VisibleObject

VIEW: Final = 7
"""Width and height, in cells, of the view that the agent's methods get."""

_ORDINARY: Final = {"floor": "empty", "goal": "goal green"}


def _word(look: Look) -> str:
    kind, color, state = look
    if kind == "hazard":
        return state
    if kind == "teleporter":
        return f"{'exit' if state == 'exit' else kind} {color}"
    return _ORDINARY.get(kind) or " ".join(filter(None, (kind, color, state)))


_CODES: Final = np.array([perception.VOCABULARY.index(_word(look)) for look in LOOKS], dtype=np.uint8)
"""By gridworld's code of a cell: the agent's code of the cell."""


class GridTaskWorld(MappedWorld):
    """A World that plays a task; a new world is in the initial state.

    Args:
        layout: the task.
        executor: runs generated code.

    Raises:
        WorldError: the task is not on the square tiling.
    """

    def __init__(self, layout: Layout, executor: Executor) -> None:
        super().__init__(layout.spec.task_id, executor)
        if layout.tiling is not SQUARE:
            raise WorldError(
                f"{self.name}: the spca agent knows four directions: choose the square tiling, not {layout.tiling.name}"
            )
        self.mission = mission(layout.spec)
        if layout.spec.goal.goal_type == "survive_steps":
            self.patience = layout.spec.max_steps + 1  # where time is what is wanted, waiting is progress
        self._full = layout.spec.rules.observability == "full"
        self._size = VIEW if self._full else max(VIEW, layout.spec.rules.view_size)
        self._episode = Episode(layout)
        self._start = layout.spec.maze.start.to_tuple()
        self._reset()

    @property
    def over(self) -> bool:
        return self._episode.over

    @property
    def reward(self) -> float:
        return self._episode.reward

    @property
    def solved(self) -> bool:
        return self._episode.goal_reached

    def step(self, code: int) -> None:
        self._refuse_when_over()
        self._episode.step(GridPrimitive(code))
        self.previous_actions.append(code)
        self._perceive()

    def _visible_objects(self) -> tuple[VisibleObject, ...]:
        name, state = perception.split_word(perception.VOCABULARY[self._underfoot])
        here = (VisibleObject(name, state, 0, 0),) if self._underfoot != perception.EMPTY else ()
        return (*here, *super()._visible_objects())

    def close(self) -> None:
        """Do nothing: no resource is held."""

    def _reset(self) -> None:
        self._episode.reset()
        self.previous_actions = []
        self._map = slam.empty_map()
        self._perceive()

    def _perceive(self) -> None:
        """Update view, map, pose and inventory from the current state of the episode."""
        seen = self._episode.observe()
        column, row = seen.position
        codes = np.where(seen.visible, _CODES[seen.codes], np.uint8(perception.UNSEEN))
        self._codes = codes.astype(np.uint8)
        self._at = row, column
        self._position = row - self._start[1], column - self._start[0]
        self._direction = seen.heading
        self.inventory = f"key {seen.carrying}" if seen.carrying else None
        self._view = self._window(VIEW)
        self._underfoot = int(self._codes[row, column])
        if self._full:
            self._map = slam.GridMap(self._codes, (self._start[1], self._start[0]))
        else:
            agent_at = perception.agent_cell(self._size, self._direction)
            self._map = slam.integrate(self._map, self._window(self._size), self._position, agent_at)
            self._map.codes[self._map.index(self._position)] = self._underfoot

    def _window(self, size: int) -> NDArray[np.uint8]:
        """Return the agent's codes in a square view, rows from north to south; cells beyond the grid are unseen.

        Args:
            size: side of the view in cells.
        """
        row, column = perception.agent_cell(size, self._direction)
        padded = np.pad(self._codes, size, constant_values=perception.UNSEEN)
        top = self._at[0] - row + size
        left = self._at[1] - column + size
        return padded[top : top + size, left : left + size]

    def _hash(self) -> str:
        history = tuple(self.previous_actions)
        return hash_state(self._state(), self._episode.state, history, self.over, self.reward)

    def _is_solved(self) -> bool:
        return self.solved

    def _why_over(self) -> str:
        return "the step limit was reached" if self._episode.truncated else "the agent stepped onto a hazard"


_HOW_IT_WORKS: Final = (
    "How things work here: keys can be walked over; with an empty hand, pick_up takes one from the own cell, else from "
    "the cell ahead. A locked door opens by toggle with the key of its colour in hand, which then {key}. A switch "
    "works by toggle while standing on it, and opens gates while it is on; some can be turned on only, and others are "
    "on only while the agent or a block is on them. Moving against a block pushes it if the cell behind is empty, a "
    "target or a switch; fixed blocks stay. Entering a teleporter leads to the other end of its colour; an exit leads "
    "nowhere. Lava, pits and spikes kill. Things may be invisible until touched. A target is the place for a block. Of "
    "things alike, a mission numbers those of the whole grid row by row, as they lie at the start; what it says has to "
    "hold at the end. More cell words: switch yellow off|on, gate grey closed|open, block grey, block grey fixed, "
    "teleporter purple, exit purple, pit, spike, target."
)


def skill(spec: TaskSpecification) -> str:
    """Return the text that planner and coder get besides the mission: the task's description and the rules."""
    key = "is used up" if spec.rules.key_consumption else "stays in hand"
    words = "".join(c if c.isprintable() else " " for c in spec.description)
    said = " ".join(words.split())
    rules = _HOW_IT_WORKS.format(key=key)
    return f"{said} {rules}" if said else rules


def mission(spec: TaskSpecification) -> str:
    """Return the goal and conditions as one phrase: "get to the green goal square and pick up the blue key"."""
    conditions = Layout(spec).conditions
    parts = [*_goal(spec), *(_condition(condition, spec) for condition in conditions)]
    return " and ".join(dict.fromkeys(parts))


def _goal(spec: TaskSpecification) -> Iterator[str]:
    goal = spec.goal
    if goal.goal_type == "reach_position":
        yield "get to the green goal square"
    elif goal.goal_type == "survive_steps":
        yield f"survive {spec.max_steps} steps"
    elif goal.goal_type == "push_block_to":
        order = sorted({(cell.y, cell.x) for cell in goal.target_positions})
        for block, target in zip(goal.target_ids, goal.target_positions, strict=True):
            number = order.index((target.y, target.x)) + 1
            place = "the target" if len(order) == 1 else f"the {ordinal(number)} target"
            yield f"push {_name(block, spec)} onto {place}"
    else:
        yield from (f"{_verb(name, spec)} {_name(name, spec)}" for name in goal.target_ids)


def _condition(condition: Condition, spec: TaskSpecification) -> str:
    name = _name(condition.id, spec)
    if condition.negated and condition.kind in ("open", "active"):
        return f"have {name} {'closed' if condition.kind == 'open' else 'off'}"
    if condition.kind == "at" and condition.position is not None:
        words = f"push {name} to {_place(*condition.position, spec)}"
    elif condition.kind == "carrying":
        words = f"carry {name}"
    else:
        words = f"{_verb(condition.id, spec)} {name}"
    return f"do not {words}" if condition.negated else words


def _place(column: int, row: int, spec: TaskSpecification) -> str:
    """Return words for a cell: row and column under full observability, otherwise the offset from the start."""
    if spec.rules.observability == "full":
        return f"row {row}, column {column}"
    start = spec.maze.start
    down = row - start.y
    right = column - start.x
    vertical = f"{abs(down)} {'south' if down > 0 else 'north'}"
    horizontal = f"{abs(right)} {'east' if right > 0 else 'west'}"
    return f"the cell {vertical}, {horizontal} of the start"


def _verb(name: str, spec: TaskSpecification) -> str:
    made = spec.mechanisms
    if any(key.id == name for key in made.keys):
        return "pick up"
    return "turn on" if any(switch.id == name for switch in made.switches) else "open"


def _name(name: str, spec: TaskSpecification) -> str:
    """Return words for a mechanism: "the blue key" or, if several look alike, "the 2nd blue key", counted row by row.

    Raises:
        WorldError: no mechanism has this id.
    """
    known = looks(spec, fixed="")
    if name not in known:
        raise WorldError(f"{spec.task_id}: the goal speaks of {name!r}, which is nowhere")
    look, number, count = known[name]
    return f"the {ordinal(number)} {look}" if count > 1 else f"the {look}"
