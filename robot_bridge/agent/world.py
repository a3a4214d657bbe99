"""SENSE and ACT: present a robot as a World, so that an unchanged agent from a grid world can drive the robot.

::

    senses -> window -> full_grid -> agent -> primitive -> decision -> executor -> controller -> chain -> robot

The agent is shown what a MiniGrid agent would be shown: the cells of the window ahead that light reaches. A robot sees
less at a glance. Therefore, after a primitive, the robot looks at the missing cells from near poses and drives back. A
primitive that cannot be done leaves the agent where it was, like bumping into a wall.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from robot_bridge.agent.cells import VIEW, Cell, next_cell
from robot_bridge.agent.pilot import Narrated, Pilot
from robot_bridge.agent.plan import check_plan
from robot_bridge.agent.rigs import OperatorJudge, Rig
from robot_bridge.agent.senses import Senses
from robot_bridge.agent.vantages import Pose4
from robot_bridge.contracts import EffectResult
from robot_bridge.errors import RobotError
from spca.act.mapped_world import MappedWorld
from spca.act.state_hash import hash_state
from spca.bodies.grid.primitives import GridPrimitive
from spca.contracts import AgentSource, Outcome, Status
from spca.errors import RestoreError, WorldError
from spca.protocols import Executor
from spca.sense import perception, slam

_CODES: Final = {word: code for code, word in enumerate(perception.VOCABULARY)}


class RobotWorld(MappedWorld):
    """World in which an agent drives a robot; before every primitive, the robot stands in the middle of a cell.

    Args:
        name: name of the world in error messages.
        make: makes the rig of a robot at its start; called again for every reset.
        executor: runs generated code.
        can_restart: whether ``make`` always leads to the same start; False for a real robot, which cannot be put back.

    Attributes:
        bumps: number of primitives that could not be done.
        senses: what the robot knows of its surroundings.

    Raises:
        WorldError: the robot sends no scan or no picture.
    """

    senses: Senses

    def __init__(self, name: str, make: Callable[[], Rig], executor: Executor, *, can_restart: bool = True) -> None:
        super().__init__(name, Narrated(executor, self._narrate))
        self._make = make
        self._can_restart = can_restart
        self._rig: Rig | None = None
        self._reset()

    @property
    def rig(self) -> Rig:
        """Rig of the present episode: the robot with everything that belongs to it.

        Raises:
            WorldError: the world is closed.
        """
        if self._rig is None:
            raise WorldError(f"{self.name}: the world is closed")
        return self._rig

    @property
    def over(self) -> bool:
        return self.rig.judge.over

    @property
    def reward(self) -> float:
        return self.rig.judge.reward

    def step(self, code: int) -> None:
        """Carry out the primitive ``code``, tell the judge and update the agent's view."""
        self._refuse_when_over()
        primitive = GridPrimitive(code)
        try:
            has_happened = self._do(primitive)
            self.previous_actions.append(code)
            if has_happened:
                self.rig.judge.step(code)
            else:
                self.bumps += 1
                self.rig.judge.count_failed_primitive()
            self._check_against_judge()
            if not self.over:
                self._perceive()
        except RobotError as error:
            raise WorldError(f"{self.name}: {error}") from error

    def close(self) -> None:
        """Stop the robot; idempotent."""
        rig = self._rig
        self._rig = None
        if rig is not None:
            with suppress(RobotError):
                rig.close()

    @property
    def _at(self) -> Pose4:
        return self._position, self._direction

    def _narrate(self, step: str) -> None:
        self.senses.pilot.doing = step

    def _reset(self) -> None:
        """Close the present robot, make a robot at its start, and look around.

        Raises:
            RestoreError: the present robot is a real robot, which cannot be put back to its start.
            WorldError: the new robot failed.
        """
        if self._rig is not None and not self._can_restart:
            raise RestoreError(f"{self.name}: a robot cannot be put back: carry it to where it began and start anew")
        self.close()
        self.previous_actions = []
        self.bumps = 0
        self._map = slam.empty_map()
        try:
            rig = self._make()
            self._rig = rig
            self.inventory = rig.carrying
            self.mission = rig.judge.mission
            make_pilot = partial(Pilot, rig.controller, rig.executor, rig.memory)
            self.senses = Senses(rig.controller, rig.detect, make_pilot)
            self.senses.begin()
            self._perceive()
        except RobotError as error:
            self.close()
            raise WorldError(f"{self.name}: {error}") from error
        except BaseException:  # Ctrl-C: no caller has this world yet, so no caller can close the robot
            self.close()
            raise
        self._start_direction = self._direction

    def _do(self, primitive: GridPrimitive) -> bool:
        """Carry out a primitive; return whether it has physically happened."""
        cell, direction = self._at
        match primitive:
            case GridPrimitive.TURN_LEFT:
                return self._move(cell, (direction - 1) % 4)
            case GridPrimitive.TURN_RIGHT:
                return self._move(cell, (direction + 1) % 4)
            case GridPrimitive.MOVE_FORWARD:
                ahead = next_cell(cell, direction)
                return self.senses.may_enter(ahead) and self._move(ahead, direction)
            case GridPrimitive.DONE:
                self.senses.pilot.report("task complete", self.mission)
                return True
            case _:
                return self._change(primitive)

    def _move(self, cell: Cell, direction: int) -> bool:
        """Drive to the middle of a cell; if the drive fails, drive back. Return whether the robot reached the cell.

        Raises:
            WorldError: the robot can neither reach the cell nor drive back.
        """
        if self.senses.go((cell, direction)):
            self._position = cell
            self._direction = direction
            return True
        if not self.senses.go(self._at):
            raise WorldError(f"{self.name}: the robot is stuck on its way to {self.senses.lattice.middle(cell)}")
        return False

    def _change(self, primitive: GridPrimitive) -> bool:
        """Cause the effect of a primitive on the cell ahead; return whether the effect happened.

        The robot first moves to the middle of its cell and stands still.
        """
        effects = self.rig.effects
        ahead = next_cell(*self._at)
        if not self.senses.go(self._at) or not self.senses.pilot.rest():
            return False

        match primitive:
            case GridPrimitive.PICK_UP:
                result = effects.pick_up()
            case GridPrimitive.DROP:
                result = effects.drop()
            case _:
                result = effects.toggle()
        self._note(primitive, result)
        if not result.success:
            return False

        label = (result.kind, result.color, result.state) if result.kind else None
        if primitive is GridPrimitive.PICK_UP:
            self.inventory = f"{result.kind} {result.color}"
            label = None  # the cell is empty now
        elif primitive is GridPrimitive.DROP:
            self.inventory = None
        self.senses.change(ahead, label)
        return True

    def _check_against_judge(self) -> None:
        """Raise WorldError if the real state differs from the judge's state.

        A difference means that the robot has lost its way.
        """
        difference = self.rig.difference()
        if difference:
            raise WorldError(f"{self.name}: {difference}")

    def _note(self, primitive: GridPrimitive, result: EffectResult) -> None:
        thing = " ".join(filter(None, (result.kind, result.color, result.state)))
        data = {
            "for": self.senses.pilot.doing,
            "what": primitive.name.lower(),
            "thing": thing,
            "reason": result.reason,
            "success": result.success,
        }
        self.rig.controller.note("effect", data)

    def _perceive(self) -> None:
        """Survey the surroundings and bring the agent's position, view and map up to date."""
        cell, direction = self.senses.at
        self._position = cell
        self._direction = direction
        words = self.senses.survey(self._at)

        # The view has the axes of the map, so the agent's place in the view depends on the direction.
        agent_at = perception.agent_cell(VIEW, direction)
        first_row = cell[0] - agent_at[0]
        first_column = cell[1] - agent_at[1]
        view = np.full((VIEW, VIEW), perception.UNSEEN, np.uint8)
        for (row, column), word in words.items():
            # A cell that is still unseen cannot be looked at from anywhere. To the agent, this is a wall.
            code = _CODES["wall" if word == "unseen" else word]
            view[row - first_row, column - first_column] = code

        self._view = view
        self._map = slam.integrate(self._map, view, cell, agent_at)
        self._map.codes[self._map.index(cell)] = _CODES[words[cell]]

    def _hash(self) -> str:
        state = (self._state(), self._view, self._start_direction, self.mission)
        return hash_state(state, tuple(self.previous_actions), self.over, self.reward)

    def _is_solved(self) -> bool:
        return self.rig.judge.solved

    def _why_over(self) -> str:
        return self.rig.judge.why_over


def act(plan: str, agent: str, world: RobotWorld) -> Outcome:
    """Carry out a plan such as ``[go_to_object(a1, ball_red), pick_up_object(a1, ball_red)]`` on a robot.

    Args:
        plan: the actions with their arguments.
        agent: source of the agent that has these actions.
        world: the robot's world, which the caller closes.

    Raises:
        SetupError: the agent cannot carry out the plan, see :func:`robot_bridge.agent.plan.check_plan`.
        WorldError: the robot failed.
        SandboxError: generated code cannot be executed safely.
    """
    source = AgentSource(agent)
    outcome = world.run_sim(check_plan(plan, source), source)
    judge = world.rig.judge
    if outcome.status is Status.GOAL_NOT_REACHED and isinstance(judge, OperatorJudge) and judge.confirm():
        return replace(outcome, status=Status.SUCCESS, message="the operator says that the mission is complete")
    return outcome
