"""Carry out abstract steps in the real world; the result is a witness whose every code has really been played.

A witness is a list of codes of primitives (actions). The order of the abstract steps is given; this module searches
only for routes and for cells to stand in. If a step fails, the result contains the reason; no exception is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import singledispatchmethod
from typing import Final

import numpy as np

from explorer.milestones import box_holds
from explorer.rules import actions
from explorer.rules.actions import MAX_AIM, Primitive
from explorer.rules.blocks import BLOCKS, OPAQUE, REPLACEABLE, has_kind
from explorer.rules.items import digs, item
from explorer.rules.raycast import walk
from explorer.rules.reach import find_touched, mob_cells, mob_hit, table_in_reach
from explorer.rules.recipes import RECIPES, recipe
from explorer.rules.state import SIDES, Still, doors_of
from explorer.scene import Cell, Mob, Pose, Scene, move_by, offset_to
from explorer.solver import steps as kinds
from explorer.solver.routes import Box, Leg, Routes
from explorer.solver.steps import Carried, Step
from explorer.worlds.voxel import VoxelWorld

ATTEMPTS: Final = 3
"""Greatest number of routes that are planned for one walk; a route can fail because a door closes."""
_WALKS: Final = (Primitive.FORWARD, Primitive.RIGHT, Primitive.BACK, Primitive.LEFT)
"""The primitives that walk, by the number of quarter turns to the right from the facing to the direction of the walk.
"""
Vantage = Callable[[Cell], Pose | None]
"""A function of a cell to stand in: it returns a pose in this cell that reaches a target, or None."""


class _Failure(Exception):  # noqa: N818  # the end of a witness is a result, not an error
    """The error that a step cannot be carried out; ``str`` is the reason."""


def carry_out(scene: Scene, steps: Iterable[Step]) -> Carried:
    """Carry out abstract steps in order, from the start of a scene; return the codes, and the failure if a step fails.

    Raises:
        SceneError: the scene cannot be built.
        UnknownNameError: a step names an unknown item or recipe.
    """
    carrier = _Carrier(scene)
    for number, step in enumerate(steps):
        try:
            carrier.do(step)
        except _Failure as failure:
            return Carried(tuple(carrier.codes), number, str(failure))
    return Carried(tuple(carrier.codes))


class _Carrier:
    """A world in which abstract steps are carried out.

    Attributes:
        codes: codes of the primitives that have been carried out so far.
    """

    def __init__(self, scene: Scene) -> None:
        self.codes: list[int] = []
        self._scene = scene
        self._doors = doors_of(scene)
        self._world = VoxelWorld(observe=False)
        self._world.reset(scene)
        # The same state in two forms: as a value, and for the rules.
        self._now = self._world.state()
        self._state = Still(self._now, self._doors)
        self._routes = Routes(self._state)

    @singledispatchmethod
    def do(self, step: Step) -> None:
        """Carry out an abstract step.

        Raises:
            _Failure: the step cannot be carried out.
        """
        raise TypeError(f"{step!r} is not an abstract step")

    @do.register
    def _(self, step: kinds.GoTo) -> None:
        self._go(lambda cell: cell == step.cell, (step.cell, step.cell))

    @do.register
    def _(self, step: kinds.Enter) -> None:
        box = (step.least, step.most)
        self._go(lambda cell: box_holds(cell, *box), box)

    @do.register
    def _(self, step: kinds.BridgeTo) -> None:
        self._hold(step.item)
        self._go(lambda cell: cell == step.cell, (step.cell, step.cell), ahead=True)

    @do.register
    def _(self, step: kinds.PillarTo) -> None:
        self._hold(step.item)
        self._go(lambda cell: cell == step.cell, (step.cell, step.cell), ahead=True, below=True)

    @do.register
    def _(self, step: kinds.PickUp) -> None:
        if step.cell not in self._now.items:
            raise _Failure("nothing lies there")
        self._go(lambda cell: cell == step.cell, (step.cell, step.cell))

    @do.register
    def _(self, step: kinds.Use | kinds.TakeChest) -> None:
        self._reach((step.cell,), lambda cell: self._touch_from(cell, step.cell))
        self._act(Primitive.USE)

    @do.register
    def _(self, step: kinds.Dig) -> None:
        block = BLOCKS[self._state.block(step.cell)]
        names = (self._now.held, None, *self._now.inventory)
        tool = next((name for name in names if digs(name, block)), None)
        if not digs(tool, block):
            raise _Failure(f"nothing at hand digs {block.name}")
        if tool is not None:
            self._hold(tool)
        self._reach((step.cell,), lambda cell: self._touch_from(cell, step.cell))
        self._act(Primitive.DIG)

    @do.register
    def _(self, step: kinds.Hunt) -> None:
        mob = next((mob for mob in self._now.mobs if mob.name == step.mob), None)
        if mob is None:
            raise _Failure(f"there is no {step.mob}")
        cells = mob_cells(mob)
        self._reach(cells, lambda cell: self._hit_from(cell, mob, cells))
        self._act(Primitive.ATTACK)

    @do.register
    def _(self, step: kinds.Craft) -> None:
        number = recipe(step.recipe)
        if RECIPES[number].table:
            tables = self._list_tables()
            if not tables:
                raise _Failure("there is no crafting table")
            self._go(lambda cell: self._reaches_table(cell, tables), _find_standpoints(tables))
        for _ in range(step.times):
            self._act(actions.craft(number))

    @do.register
    def _(self, step: kinds.Place) -> None:
        self._hold(step.item)
        self._place((step.cell,))

    @do.register
    def _(self, step: kinds.PlaceBeside) -> None:
        doors = (door for door in self._doors if step.door == door.name or step.door in door.cells)
        door = next(doors, None)
        if door is None or not door.beside:
            raise _Failure("there is no such iron door")

        self._hold(step.item)
        cell = self._place(tuple(sorted(door.beside)))
        if BLOCKS[self._state.block(door.cells[0])].state == "open":
            return
        is_plate = BLOCKS[self._state.block(cell)].kind == "plate"
        self.do(kinds.GoTo(cell) if is_plate else kinds.Use(cell))

    @do.register
    def _(self, step: kinds.LookAt) -> None:
        self._reach((step.cell,), lambda cell: self._see_from(cell, step))

    # one primitive

    def _act(self, code: int) -> None:
        """Carry out a primitive, and update the copy of the world's state.

        Raises:
            _Failure: the primitive is refused, or the episode is over.
        """
        if self._now.over:
            raise _Failure(f"the episode is over ({self._now.over})")
        result = self._world.step(code)
        self.codes.append(int(code))
        self._now = self._world.state()
        if any(change.kind == "block" for change in result.changes):
            # Routes are cached for a terrain that does not change.
            self._state = Still(self._now, self._doors)
            self._routes = Routes(self._state)
        self._state.pose = self._now.pose
        self._state.mobs = self._now.mobs
        if not result.done:
            raise _Failure(result.reason)

    def _hold(self, name: str) -> None:
        """Take the item called ``name`` from the inventory into the hand, unless it is in hand already.

        Raises:
            _Failure: the inventory does not contain the item.
        """
        if not self._now.inventory.get(name):
            raise _Failure(f"no {name} in the inventory")
        if self._now.held != name:
            self._act(actions.hold(item(name)))

    # ways

    def _go(self, goal: Callable[[Cell], bool], near: Box, *, ahead: bool = False, below: bool = False) -> None:
        """Walk to the nearest goal cell; if the walk does not go as planned, plan a new route.

        Args:
            goal: function that returns whether a cell is a goal cell.
            near: a box that contains all goal cells.
            ahead, below: whether blocks may be placed in front of the body, or below its feet.

        Raises:
            _Failure: no route leads to a goal cell, or :data:`ATTEMPTS` routes fail.
        """
        last_problem = ""
        for _ in range(ATTEMPTS):
            route = self._routes.find(self._now.pose.cell, goal, near, ahead=ahead, below=below)
            if route is None:
                reason = f"no way to {near[0]}"
                raise _Failure(f"{reason} after it was {last_problem}" if last_problem else reason)
            try:
                for leg in route:
                    self._take(leg)
            except _Failure as failure:
                last_problem = str(failure)
                continue
            if goal(self._now.pose.cell):
                return
            last_problem = "missed"
        raise _Failure(last_problem)

    def _take(self, leg: Leg) -> None:
        """Carry out a leg of a route.

        For a walk, and for a block below the feet, the body keeps its facing; for all other legs, it turns first.
        """
        quarter_turns = (leg.facing - self._now.pose.facing) % 4
        if leg.kind == "below":
            self._act(Primitive.PLACE_BELOW)
        elif leg.kind == "walk":
            self._act(_WALKS[quarter_turns])
        else:
            self._turn(quarter_turns)
            if leg.kind == "ahead":
                self._act(Primitive.PLACE_AHEAD)
            self._act(Primitive.JUMP if leg.kind == "jump" else Primitive.FORWARD)
        if self._now.pose.cell != leg.cell:
            raise _Failure("missed")

    def _turn(self, quarter_turns: int) -> None:
        """Turn to the right by a number of quarter turns; if the number is 3, turn left once instead."""
        if quarter_turns == 3:
            self._act(Primitive.TURN_LEFT)
        else:
            for _ in range(quarter_turns):
                self._act(Primitive.TURN_RIGHT)

    # standpoints

    def _reach(self, targets: tuple[Cell, ...], vantage: Vantage) -> None:
        """Go to the nearest cell for which ``vantage`` returns a pose, and aim like this pose.

        Args:
            targets: cells at which the poses may aim.
            vantage: function that returns, for a cell to stand in, a suitable pose or None.
        """
        near = _find_standpoints(targets)
        self._go(lambda cell: box_holds(cell, *near) and vantage(cell) is not None, near)
        pose = vantage(self._now.pose.cell)
        if pose is None or pose.aim is None:
            raise _Failure("out of reach")
        if self._now.pose.aim != pose.aim:
            self._act(actions.aim(*pose.aim))

    def _aim_at(self, cell: Cell, target: Cell) -> Pose | None:
        """Return the pose of a body in ``cell`` that aims at ``target``, or None if the target is too far away."""
        offset = offset_to(cell, target)
        if max(map(abs, offset)) > MAX_AIM:
            return None
        current = self._now.pose
        pose = current if cell == current.cell else Pose(cell)
        return pose.aim_at(offset)

    def _touch_from(self, cell: Cell, target: Cell) -> Pose | None:
        """Return the pose of a body in ``cell`` whose crosshair touches ``target``, or None if the target is not in
        reach.
        """
        pose = self._aim_at(cell, target)
        if pose is None:
            return None
        touched = find_touched(self._state, pose)
        return pose if touched and touched.offset == pose.aim else None

    def _face_from(self, cell: Cell, target: Cell) -> Pose | None:
        """Return a pose of a body in ``cell`` from which a placed block fills ``target``, or None if none exists.

        The crosshair must touch a neighbour of the target through the face between the target and this neighbour.
        """
        body = cell, move_by(cell, (0, 1, 0))
        if target in body:
            return None
        for side in SIDES:
            neighbour = move_by(target, side)
            pose = self._touch_from(cell, neighbour)
            touched = find_touched(self._state, pose) if pose else None
            if touched and move_by(cell, touched.before) == target:
                return pose
        return None

    def _see_from(self, cell: Cell, step: kinds.LookAt) -> Pose | None:
        """Return the pose of a body in ``cell`` that looks at the target of a step along a clear line of sight.

        Return None if the target is too far away or hidden.
        """
        pose = self._aim_at(cell, step.cell)
        if pose is None or np.linalg.norm(np.subtract(cell, step.cell)) > step.within:
            return None
        # The start of the ray is relative to the cell.
        eye = (0.5, pose.eye[1] - cell[1], 0.5)
        for crossing in walk(eye, pose.direction, 2.0 * MAX_AIM)[1:]:
            if crossing.offset == pose.aim:
                return pose
            if OPAQUE[self._state.block(move_by(cell, crossing.offset))]:
                return None
        return None

    def _hit_from(self, cell: Cell, mob: Mob, targets: Iterable[Cell]) -> Pose | None:
        """Return a pose of a body in ``cell`` that aims at one of ``targets`` and hits ``mob``, or None if no pose
        does.
        """
        for target in targets:
            pose = self._aim_at(cell, target)
            if pose and mob_hit(_copy_with_pose(self._state, pose)) == mob:
                return pose
        return None

    def _list_tables(self) -> tuple[Cell, ...]:
        tables = has_kind("table")[self._now.blocks]
        return tuple((x, y, z) for y, z, x in np.argwhere(tables).tolist())

    def _reaches_table(self, cell: Cell, tables: Iterable[Cell]) -> bool:
        """Return whether a body in ``cell`` is near enough to one of the crafting tables to craft."""
        touches_table = any(self._touch_from(cell, table) for table in tables)
        return touches_table and table_in_reach(_copy_with_pose(self._state, Pose(cell)))

    def _place(self, targets: tuple[Cell, ...]) -> Cell:
        """Place the held block into one of ``targets``; return the cell that was filled.

        Raises:
            _Failure: none of the cells is free, or the block cannot be placed.
        """
        free = tuple(cell for cell in targets if REPLACEABLE[self._state.block(cell)])
        if not free:
            raise _Failure("something is in the way")

        def vantage(cell: Cell) -> Pose | None:
            poses = (self._face_from(cell, target) for target in free)
            return next((pose for pose in poses if pose), None)

        self._reach(free, vantage)
        placed_before = self._now.placed
        self._act(Primitive.PLACE)
        return next(iter(self._now.placed - placed_before))


def _copy_with_pose(state: Still, pose: Pose) -> Still:
    """Return a shallow copy of a state with the body in another pose."""
    posed = copy(state)
    posed.pose = pose
    return posed


def _find_standpoints(cells: Iterable[Cell]) -> Box:
    """Return the smallest box around all cells from which a body can aim at one of ``cells``."""
    xs, ys, zs = zip(*cells, strict=True)
    least = (min(xs) - MAX_AIM, min(ys) - MAX_AIM, min(zs) - MAX_AIM)
    greatest = (max(xs) + MAX_AIM, max(ys) + MAX_AIM, max(zs) + MAX_AIM)
    return least, greatest
