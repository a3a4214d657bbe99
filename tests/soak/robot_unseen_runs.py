"""One run of ``scripts/soak robot-unseen``: a room, something in it that no lidar sees, and a robot that is told on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_bridge.contracts import REST, ActionResult, Direction, NavigationDecision, Pose, Speed, Tool
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor, drive
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.doubt import BLOCKED_UNSEEN
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Obstacle, TwinWorld, Wall
from tests.soak.journal import Figures
from tests.support.robot_bridge.collisions import make_pane, make_step, make_table, touched_now, watch_collisions

KINDS: dict[str, tuple[Callable[..., Obstacle], float]] = {
    "pane": (make_pane, 0.01),
    "table": (make_table, 0.15),
    "step": (make_step, 0.15),
}
"""What makes it, and half its thickness."""
LONGEST_S = 240.0
STRAIGHT_ON = 4
"""Every so many runs the robot drives straight on instead of to a goal."""
_TRIES = 4
_TOUCH_S = 0.15
"""A decision in which the wheels were commanded in contact for so long has run against something."""
_REACHED_M = 0.45


def run(kind: str, seed: int) -> Figures:
    """The robot drives to a goal behind it, or straight on."""
    rng = np.random.default_rng(seed)
    world, goal = room(kind, rng)
    trial = Trial(world, seed)
    is_goal = seed // len(KINDS) % STRAIGHT_ON != 0
    place = goal[0] - world.start.x, goal[1] - world.start.y
    speed = str(rng.choice(list(Speed)))
    reached, results = False, list[tuple[ActionResult, float]]()
    while trial.robot.time < LONGEST_S and not trial.controller.sensor_fault and not reached:
        now = trial.robot.time
        results.append(trial.told(drive(*place, "the goal", now) if is_goal else forward(speed, now)))
        truth = trial.robot.truth
        reached = is_goal and truth.distance_to(*place) - trial.robot.config.body.centre < _REACHED_M
        if not is_goal and len(results) == _TRIES:
            break
    touched = [result for result, pushed in results if pushed >= _TOUCH_S]
    name = f"{kind} {seed}"
    wrong = [
        f"{name}: {result.tool_name} ran against it and is told as a success" for result in touched if result.success
    ]
    if trial.controller.sensor_fault:
        wrong.append(f"{name}: {trial.controller.sensor_fault}")
    elif is_goal and not reached:
        wrong.append(f"{name}: the goal was not reached")
    blocked = sum(result.stopped_reason == BLOCKED_UNSEEN for result, _ in results)
    if touched and not blocked:
        wrong.append(f"{name}: the model never reads {BLOCKED_UNSEEN!r}")
    return {
        "touched": len(touched),
        "longest": trial.longest,
        "blocked": blocked,
        "successes": sum(result.success for result in touched),
        "reached": reached,
        "is_goal": is_goal,
        "seconds": trial.robot.time,
        "wrong": wrong,
    }


def room(kind: str, rng: np.random.Generator) -> tuple[TwinWorld, tuple[float, float]]:
    """A room of 6 to 8 m with boxes in two corners, what no lidar sees across the way, and the goal behind it."""
    width, height = float(rng.uniform(6, 8)), float(rng.uniform(4.5, 6))
    sides = (
        Wall(-0.1, -0.1, width + 0.1, 0),
        Wall(-0.1, height, width + 0.1, height + 0.1),
        Wall(-0.1, 0, 0, height),
        Wall(width, 0, width + 0.1, height),
    )
    x, y = float(rng.uniform(2.4, 3.2)), height / 2 + float(rng.uniform(-0.5, 0.5))
    make, thickness = KINDS[kind]
    hidden = make(x, y, thickness, float(rng.uniform(0.4, 1.0)))
    boxes = Obstacle.box(width - 0.5, 0.5), Obstacle.box(0.5, height - 0.6)
    start = Pose(0.8, y + float(rng.uniform(-0.4, 0.4)), float(rng.uniform(-0.6, 0.6)))
    goal = width - 1.2, y + float(rng.uniform(-0.4, 0.4))
    return TwinWorld(sides, (), (hidden, *boxes), start, f"{kind} in a room"), goal


def forward(speed: str, now: float) -> NavigationDecision:
    """Straight on, for as long as it may be said."""
    parameters = {"direction": Direction.FORWARD.value, "speed": speed, "duration_s": 8.0}
    return NavigationDecision(Tool.MOVE_TOWARD.value, parameters, "on", now)


class Trial:
    """A robot that carries out one decision after the other; ``longest`` is its longest push so far, seconds."""

    def __init__(self, world: TwinWorld, seed: int) -> None:
        self.robot = MujocoRobot(world, seed=seed, with_camera=False)
        self._touched = watch_collisions(self.robot)
        navigation = Navigation(self.robot.config, Pose(heading=world.start.heading))
        self.controller = Controller(self.robot, self.robot.clock, navigation, SafetyChain(self.robot.config))
        self._executor = SafetyExecutor(self.robot.clock.now, self.robot.config, Pose())
        self._memory = ExplorationMemory()
        self._push = self.longest = 0.0
        for _ in range(20):
            self.controller.tick()

    def told(self, decision: NavigationDecision) -> tuple[ActionResult, float]:
        """What a decision comes to, and for how long it pushed."""
        execution = self._executor.execute_decision(decision, self.controller.state, self._memory)
        self.controller.begin(execution)
        period, pushed = 1 / self.robot.config.control_rate, 0.0
        while True:
            while (outcome := self.controller.outcome()) is not None:
                if outcome.execution is execution:
                    return outcome.result, pushed
            if self.robot.time > LONGEST_S + 30:
                self.controller.cancel("the run is over")
                continue
            is_pushing = self.controller.tick().twist != REST and bool(touched_now(self.robot, self._touched))
            self._push = self._push + period if is_pushing else 0.0
            pushed += period * is_pushing
            self.longest = max(self.longest, self._push)
