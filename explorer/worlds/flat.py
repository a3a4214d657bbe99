"""Gridworld tasks as scenes: a second family for agents, evaluation and reports, stepped by gridworld's rules.

Column and row become x and z, with the floor's surface at y = 1. A key is a dye of its colour; a body with empty hands
takes it by standing in its cell. A door or gate is an iron door, a switch is a lever to stand on, a block is concrete,
and a hazard is lava. Only wait, forward, turns, use, drop and done exist here; all other primitives are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.errors import ActionError, SceneError
from explorer.milestones import AtLeast, InsideBox, InventoryHas, Milestone, Rule, cell_offset
from explorer.rules.actions import Primitive, decode
from explorer.rules.blocks import AIR, code
from explorer.scene import FACINGS, Cell, Change, Happened, Pose, Reason, Scene, Stack, WorldState
from explorer.view import View
from explorer.worlds.observing import Observer
from explorer.worlds.protocol import Checkpoint
from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.transition import transition
from gridworld.search.certificate import certify
from gridworld.task_spec import TaskSpecification

HEIGHT: Final = 3
"""Number of levels: floor, feet and head."""
_ACTIONS: Final = {
    Primitive.WAIT: Action.DONE,
    Primitive.FORWARD: Action.MOVE_FORWARD,
    Primitive.TURN_LEFT: Action.TURN_LEFT,
    Primitive.TURN_RIGHT: Action.TURN_RIGHT,
    Primitive.USE: Action.TOGGLE,
    Primitive.DROP: Action.DROP,
}
_REFUSALS: Final = {
    Action.MOVE_FORWARD: "bumped",
    Action.TOGGLE: "nothing to use",
    Action.DROP: "nothing to drop there",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FlatScene(Scene):
    """A scene made from a gridworld task; it has no wires, because its doors follow gridworld's rules."""

    layout: Layout


def flat_scene(task: TaskSpecification) -> tuple[FlatScene, tuple[Milestone, ...]]:
    """Return a task on a square grid as a scene with its milestones.

    The milestones are the necessary keys and doors of its dependency chain, then its goal.

    Raises:
        TaskError: the task is not valid.
        SceneError: it hides mechanisms, or no milestone can express its goal.
    """
    if task.rules.hidden_mechanisms:
        raise SceneError("hidden mechanisms have no counterpart in a scene", task.task_id, "rules.hidden_mechanisms")
    layout = Layout(task)
    start = layout.start()
    blocks = _drawn(layout, start)
    blocks.flags.writeable = False
    scene = FlatScene(task.task_id, _pose(start), blocks, _items(layout, start), layout=layout)
    links = certify(task).chain if task.dependency_chain else ()
    named = dict.fromkeys(name for link in links if link.necessary for name in (link.element, link.unlocks))
    rules = {name: rule for name in named if (rule := _rule(layout, name, scene.spawn.cell)) is not None}
    rules |= _goal(task, layout, scene.spawn.cell)
    return scene, tuple(Milestone("gridworld", name, name, (rule,)) for name, rule in rules.items())


class FlatWorld:
    """See :class:`explorer.worlds.protocol.World`; it builds scenes of :func:`flat_scene` only."""

    def reset(self, scene: Scene, max_steps: int | None = None) -> View:
        """Begin an episode.

        Raises:
            SceneError: the scene is not a gridworld task.
        """
        if not isinstance(scene, FlatScene):
            raise SceneError(f"{scene.name} is not a gridworld task, so the flat world cannot build it")
        self._scene, self._max_steps = scene, max_steps
        self._now, self._step = scene.layout.start(), 0
        self._over: Reason = ""
        self._observer, self._last = Observer(scene), Happened(done=True)
        self._look(())
        return self.view()

    def step(self, code: int) -> Happened:
        """Carry out a primitive."""
        if self._over:
            raise ActionError(f"the episode is over ({self._over}): reset the world")
        decoded, before = decode(code), self._now
        primitive = decoded.primitive if decoded.kind == "primitive" else None
        refusal = self._act(primitive) if primitive is not Primitive.DONE else ""
        self._step += 1
        if self._now.dead:
            self._over = "lava"
        elif primitive is Primitive.DONE:
            self._over = "done"
        changes = [*_changes(self._scene.layout, before, self._now)]
        if self._over:
            changes.append(Change("over", name=self._over))
        elif self._max_steps is not None and self._step >= self._max_steps:
            self._over = "max_steps"
            changes.append(Change("over", name=self._over))
        self._look(changes)
        truth = Happened(not refusal, refusal, int(not refusal), tuple(changes))
        self._last = self._observer.limit_to_sight(truth)
        return truth

    def view(self) -> View:
        """Return what the agent knows now."""
        return View(
            known=self._observer.known.copy(),
            origin=self._scene.spawn.cell,
            pose=_pose(self._now),
            inventory=_inventory(self._scene.layout, self._now),
            held=None,
            things=self._observer.things(),
            recipes=(),
            step=self._step,
            max_steps=self._max_steps,
            last=self._last,
        )

    def state(self) -> WorldState:
        """Return the complete present state."""
        layout, now = self._scene.layout, self._now
        return WorldState(
            pose=_pose(now),
            blocks=_drawn(layout, now),
            items=_items(layout, now),
            chests={},
            mobs=(),
            inventory=_inventory(layout, now),
            held=None,
            placed=frozenset(),
            timers={},
            step=self._step,
            over=self._over,
        )

    def checkpoint(self) -> Checkpoint:
        """Return the present state together with what the agent knows."""
        return _Kept(self._scene, self._now, self._step, self._over, self._observer.copy(), self._last, self._max_steps)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint.

        Raises:
            TypeError: another kind of world made it.
        """
        if not isinstance(checkpoint, _Kept):
            raise TypeError("this is not a checkpoint of a flat world")
        kept = checkpoint
        self._scene, self._now, self._step, self._over = kept.scene, kept.state, kept.step, kept.over
        self._observer, self._last, self._max_steps = kept.observer.copy(), kept.last, kept.max_steps

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _act(self, primitive: Primitive | None) -> str:
        """Carry out a primitive; return why it had no effect, or ""."""
        action = _ACTIONS.get(primitive) if primitive is not None else None
        if action is None:
            return "not possible in the flat world"
        layout, before = self._scene.layout, self._now
        after = transition(layout, before, action)
        if after.position in after.key_cells and not after.dead:
            after = transition(layout, after, Action.PICKUP)
        self._now = after
        return _REFUSALS.get(action, "") if after._replace(cooling="") == before._replace(cooling="") else ""

    def _look(self, changes: Iterable[Change]) -> None:
        self._observer.follow(changes)
        self._observer.look(_pose(self._now), self._step, _items(self._scene.layout, self._now), ())


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    scene: FlatScene
    state: State
    step: int
    over: Reason
    observer: Observer
    last: Happened
    max_steps: int | None


def _pose(state: State) -> Pose:
    column, row = state.position
    return Pose((column, 1, row), (state.heading - 1) % len(FACINGS))


def _drawn(layout: Layout, state: State) -> NDArray[np.uint16]:
    """Return the blocks of a state, ``[y, z, x]``."""
    blocks = np.full((HEIGHT, layout.height, layout.width), AIR, np.uint16)
    blocks[0] = code("smooth_stone")
    for column, row in layout.walls:
        blocks[1:, row, column] = code("stone_bricks")
    opened = state.open_doors | layout.open_gates(state.active_switches)
    for (column, row), name in _doors(layout).items():
        blocks[1:, row, column] = code("iron_door", "open" if name in opened else "")
    for (column, row), switch in layout.switches.items():
        blocks[1, row, column] = code("lever", "on" if switch.id in state.active_switches else "")
    for column, row in layout.hazards:
        blocks[1, row, column] = code("lava")
    for column, row in layout.ends.values():
        blocks[0, row, column] = code("purpur_block")
    if layout.goal_square:
        blocks[0, layout.goal_square[1], layout.goal_square[0]] = code("emerald_block")
    for block, (column, row) in zip(layout.blocks, state.block_cells, strict=True):
        blocks[1, row, column] = code(_concrete(block.color))
    return blocks


def _doors(layout: Layout) -> dict[tuple[int, int], str]:
    return {cell: door.id for cell, door in layout.doors.items()} | {
        cell: gate.id for cell, gate in layout.gates.items()
    }


def _items(layout: Layout, state: State) -> dict[Cell, tuple[Stack, ...]]:
    lying = zip(layout.keys, state.key_cells, strict=True)
    return {(cell[0], 1, cell[1]): (Stack(_dye(key.color)),) for key, cell in lying if cell is not None}


def _inventory(layout: Layout, state: State) -> dict[str, int]:
    return {} if state.carrying is None else {_dye(layout.colour_of_key[state.carrying]): 1}


def _dye(colour: str) -> str:
    return f"{colour.replace('grey', 'gray')}_dye"


def _concrete(colour: str) -> str:
    return f"{colour.replace('grey', 'gray')}_concrete"


def _changes(layout: Layout, before: State, after: State) -> Iterator[Change]:
    """Yield the differences between two states, except the pose."""
    old, new = _drawn(layout, before), _drawn(layout, after)
    for y, z, x in np.argwhere(old != new).tolist():
        yield Change("block", (x, y, z), code=int(new[y, z, x]))
    lay, lie = _items(layout, before), _items(layout, after)
    yield from (Change("items", cell) for cell in lay if cell not in lie)
    yield from (Change("items", cell, stacks=lie[cell]) for cell in lie if cell not in lay)
    had, has = _inventory(layout, before), _inventory(layout, after)
    if had != has:
        yield from (Change("inventory", name=name, count=-1) for name in had)
        yield from (Change("inventory", name=name, count=1) for name in has)


def _rule(layout: Layout, name: str, spawn: Cell) -> Rule | None:
    """Return the rule that shows that a mechanism was used, or None if no rule can."""
    if name in layout.colour_of_key:
        return InventoryHas(_dye(layout.colour_of_key[name]))
    return next((_inside(cell, spawn) for cell, door in _doors(layout).items() if door == name), None)


def _goal(task: TaskSpecification, layout: Layout, spawn: Cell) -> dict[str, Rule]:
    """Return the rules of the goal by name, in the goal's own order."""
    goal = task.goal
    if goal.auxiliary_conditions or goal.goal_type == "survive_steps":
        raise SceneError("no milestone can express this goal", task.task_id, "goal")
    if layout.goal_square:
        return {"goal": _inside(layout.goal_square, spawn)}
    if goal.goal_type == "push_block_to":
        rules: dict[str, Rule] = {}
        for name, place in zip(goal.target_ids, goal.target_positions, strict=True):
            at = cell_offset((place.x, 1, place.y), spawn)
            rules[name] = AtLeast("block", _concrete(layout.blocks[layout.block_index[name]].color), at, at)
        return rules
    found = {name: _rule(layout, name, spawn) for name in goal.target_ids}
    said = {name: rule for name, rule in found.items() if rule is not None}
    if len(said) < len(found):
        raise SceneError("no milestone can express that a switch is on", task.task_id, "goal.target_ids")
    return said


def _inside(cell: tuple[int, int], spawn: Cell) -> InsideBox:
    at = cell_offset((cell[0], 1, cell[1]), spawn)
    return InsideBox(at, at)
