"""Rigs: robots with everything that an agent's world needs.

The robot is either the simulated robot in the twin of a MiniGrid level, or a real robot with an operator.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from robot_bridge import tags
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import EffectResult, Frame, Pose, Sighting
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.errors import SetupError
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import Clock, Effects, Robot
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.twin.worlds.judging import ShadowJudge


def _no_difference() -> str:
    return ""


class Rig:
    """Robot at its start, with controller, executor, memory, effects and judge.

    ``carrying`` is the thing in hand at the start ("key blue"), or None. ``difference`` returns how the real state
    differs from the judge's state, or "" if both agree.
    """

    def __init__(
        self,
        robot: Robot,
        clock: Clock,
        effects: Effects,
        judge: Judge,
        *,
        start: Pose | None = None,
        carrying: str | None = None,
        difference: Callable[[], str] = _no_difference,
    ) -> None:
        """Build the parts that drive the robot.

        ``start`` is the robot's pose in the map frame, by default the origin.
        """
        config = robot.config
        navigation = Navigation(config, start or Pose())
        self.controller = Controller(robot, clock, navigation, SafetyChain(config))
        self.executor = SafetyExecutor(clock.now, config, start)
        self.memory = ExplorationMemory()
        self.effects = effects
        self.judge = judge
        self.carrying = carrying
        self.difference = difference
        self._closing = ExitStack()
        self._closing.callback(robot.close)
        self._closing.callback(self.controller.close)

    def detect(self, frame: Frame) -> tuple[Sighting, ...]:
        """Return the things whose signs are in a picture."""
        return tags.detect(frame, self.controller.config.camera)

    def close(self) -> None:
        """Stop and close the robot; idempotent."""
        self._closing.close()


def twin_rig(env_id: str, seed: int, *, config: RobotConfig | None = None) -> Rig:
    """Return a rig with the simulated robot in the twin of a MiniGrid level; the level itself is the judge.

    Args:
        env_id: id of the MiniGrid level.
        seed: seeds the level and the noise.
        config: the robot's configuration; None for the defaults.

    Raises:
        SetupError: the level does not exist, no twin can be built of the level, or this machine cannot draw pictures.
    """
    from robot_bridge.twin.robot import MujocoRobot
    from robot_bridge.twin.worlds.effects import TwinEffects
    from robot_bridge.twin.worlds.levels import level_world

    level = level_world(env_id, seed, config=config)
    robot = MujocoRobot(level.world, config=config, seed=seed)
    if robot.camera_fault:
        robot.close()
        raise SetupError(f"no pictures can be drawn, by which an agent knows things: {robot.camera_fault}")
    effects = TwinEffects(robot, contents=level.contents, carrying=level.carrying)
    hand = effects.carrying
    carrying = f"{hand.kind} {hand.color}" if hand else None
    start = Pose(0.0, 0.0, level.world.start.heading)

    def difference() -> str:
        return level.difference(robot.truth, robot.things)

    return Rig(robot, robot.clock, effects, level.judge, start=start, carrying=carrying, difference=difference)


class OperatorJudge:
    """Judge that asks a person whether the mission is complete, once the agent says that its work is done."""

    def __init__(self, mission: str, ask: Callable[[str], bool]) -> None:
        self.mission = mission
        self._ask = ask
        self.over = self.solved = False
        self.reward = 0.0
        self.why_over = "the operator says that the mission is not complete"

    def step(self, code: int) -> None:
        """If the primitive is "done", ask the operator."""
        if code == _DONE:
            self.confirm()

    def count_failed_primitive(self) -> None:
        """Do nothing, because an operator counts no steps."""

    def confirm(self) -> bool:
        """Ask the operator, end the episode and return whether the mission is complete."""
        self.over = True
        self.solved = self._ask(self.mission)
        self.reward = 1.0 if self.solved else 0.0
        return self.solved


_DONE = 6
"""Code of the primitive "done"."""

Judge = ShadowJudge | OperatorJudge
"""Judge of an episode, who holds the task (``mission``) and knows when it is done; the agent cannot see the judge.

``over`` and ``solved`` are the state of the episode, and ``reward`` is the episode's reward. If the episode is over but
not solved, ``why_over`` says why. ``step`` counts a primitive that has physically happened. ``count_failed_primitive``
counts a primitive that failed, because a failed primitive also takes a step.
"""


class OperatorEffects:
    """Effects that a person causes for a robot without an arm.

    Args:
        ask: puts a question to the operator and returns the answer, a line of text.
    """

    def __init__(self, ask: Callable[[str], str]) -> None:
        self._ask = ask
        self._carrying: tuple[str, str] | None = None

    def pick_up(self) -> EffectResult:
        if self._carrying is not None:
            return EffectResult(False, "the hand is not empty", *self._carrying)
        answer = self._ask_for_thing(
            "Take the key, ball or box before the robot and keep it. What is it (such as: blue key)?"
        )
        if answer.success and answer.kind in ("key", "ball", "box"):
            self._carrying = answer.kind, answer.color
            return answer
        return EffectResult(False, answer.reason or "there is nothing to take")

    def drop(self) -> EffectResult:
        if self._carrying is None:
            return EffectResult(False, "the hand is empty")
        kind, color = self._carrying
        answer = self._ask(f"Put the {color} {kind} 1 m before the robot. Done (yes or no)?")
        if not answer.strip().lower().startswith("y"):
            return EffectResult(False, "the operator could not put it there", kind, color)
        self._carrying = None
        return EffectResult(True, "", kind, color)

    def toggle(self) -> EffectResult:
        request = "Open the door or box before the robot, or close an open door."
        return self._ask_for_thing(f"{request} What is there now (such as: open red door; nothing)?")

    def _ask_for_thing(self, question: str) -> EffectResult:
        """Ask the operator which thing is there, and return the answer as the result of an effect.

        The answer "nothing" means that the effect succeeded and no thing is there. An empty answer, or a thing for
        which there is no sign, means that the effect failed.
        """
        words = self._ask(f"{question} Empty: it cannot be done. ").lower().split()
        if words == ["nothing"]:
            return EffectResult(True)
        if len(words) == 2:
            words = ["", *words]  # only doors have a state

        failure = EffectResult(False, "the operator says that it cannot be done")
        if len(words) != 3:
            return failure
        state, color, kind = words
        if (kind, color, state) not in tags.LABELS:
            return failure
        return EffectResult(True, "", kind, color, state)
