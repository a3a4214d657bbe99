"""One exploration of the four-room twin, and what it came to: coverage against the truth, collisions, calls, cost."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import ModelReply, Pose
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.navigators.reference_navigator import ReferenceNavigator
from robot_bridge.decisions.tools import TOOL_DEFINITIONS
from robot_bridge.errors import ModelFailure
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.exploration.explorer import Explorer, ExplorerSettings
from robot_bridge.exploration.schedule import AskSettings
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import DecisionModel
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.twin.worlds.world import TwinWorld
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.providers.base import Usage
from tests.soak.journal import Figures
from tests.support.spca.call_requests import ref

WORLD: Final = "MiniGrid-FourRooms-v0"
MINUTES: Final = 40.0
PRICED: Final = "openai/gpt-4o-mini"
LOW_DETAIL_TOKENS: Final = 2833
"""That this model counts for a picture with detail "low"; models of full size count 85. Measured (2,845 with five
words): https://community.openai.com/t/1262691"""
COVERED: Final = 0.5
"""Share of a cell that must be known to the map."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to explore; ``failing`` is the share of calls that fail."""

    has_model: bool = True
    is_adaptive: bool = True
    latency_s: float = 1.5
    failing: float = 0.0
    has_camera: bool = False


MODES: Final[Mapping[str, Mode]] = {
    "reference": Mode(has_camera=True),
    "fixed-timer": Mode(is_adaptive=False, has_camera=True),
    "model-off": Mode(has_model=False),
    "30-percent-fail": Mode(failing=0.3),
    "5-s-latency": Mode(latency_s=5.0),
}


def tokens_of_tools(count: Callable[[str], int]) -> int:
    """What the definitions of the tools take in a request to gpt-4o or gpt-4o-mini, by OpenAI's own formula.

    https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
    """
    total = 12
    for each in TOOL_DEFINITIONS:
        function = each["function"]
        properties = function["parameters"]["properties"]
        total += 7 + count(f"{function['name']}:{function['description'].removesuffix('.')}") + 3 * bool(properties)
        for name, schema in properties.items():
            total += 3 + count(f"{name}:{schema['type']}:{schema.get('description', '').removesuffix('.')}")
            if "enum" in schema:
                total += sum(3 + count(str(value)) for value in schema["enum"]) - 3
    return total


class Metered:
    """A model that counts the tokens of what it is asked and answers, and fails as often as it is told to."""

    def __init__(self, model: DecisionModel, failing: float, seed: int) -> None:
        from rs_bpe import openai

        self._model, self._failing = model, failing
        self._rng = np.random.default_rng(seed)
        self._count = openai.o200k_base().count
        self._tools = tokens_of_tools(self._count)
        self.pictures = self.asked = self.answered = 0

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        if self._rng.random() < self._failing:
            raise ModelFailure("the soak test lets this call fail")
        reply = self._model.ask(system, user, image, tools, timeout_s)
        self.pictures += image is not None
        self.asked += self._count(system) + self._count(user) + self._tools
        self.answered += self._count(reply.text) + self._count(json.dumps(reply.calls))
        return reply

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        self.pictures += 1
        return self._model.describe(prompt, image, timeout_s)

    def cost(self, picture_tokens: int) -> float:
        """USD."""
        price = ModelTable.load().price(ref(PRICED))
        spent = price.cost(Usage(self.asked + self.pictures * picture_tokens, self.answered)) if price else None
        return float(spent or 0)


def explored(name: str, seed: int) -> Figures:
    """Explore once."""
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "osmesa")
    from robot_bridge.twin.robot import MujocoRobot
    from robot_bridge.twin.worlds.levels import level_world
    from tests.support.robot_bridge.collisions import watch_collisions

    mode, began = MODES[name], time.perf_counter()
    world = level_world(WORLD, seed).world
    robot = MujocoRobot(world, seed=seed, with_camera=mode.has_camera)
    log = watch_collisions(robot)
    navigation = Navigation(robot.config, Pose(0.0, 0.0, world.start.heading))
    controller = Controller(robot, robot.clock, navigation, SafetyChain(RobotConfig()))
    model = Metered(ReferenceNavigator(), mode.failing, seed) if mode.has_model else None
    settings = ExplorerSettings(asking=AskSettings(is_adaptive=mode.is_adaptive))
    summary = Explorer(controller, model, LockstepLink(robot.clock, mode.latency_s), settings=settings).run(MINUTES)
    seen = coverage(world, navigation.map)
    drift = navigation.estimate.pose.distance_to(robot.truth.x, robot.truth.y)
    touched = [each for each in log.collisions if each.caused_by_robot]
    robot.close()
    return {
        "coverage": seen,
        "collisions": len(touched),
        "minutes": summary.minutes,
        "distance_m": summary.distance_m,
        "calls": summary.calls,
        "failed": summary.failed_calls,
        "skips": summary.skips,
        "pictures": model.pictures if model else 0,
        "usd": model.cost(LOW_DETAIL_TOKENS) if model else 0.0,
        "usd_at_85": model.cost(85) if model else 0.0,
        "refusals": summary.refusals,
        "asked_for": dict(summary.asked_for),
        "tiers": dict(summary.tiers),
        "ended": summary.ended,
        "drift_m": drift,
        "seconds": time.perf_counter() - began,
    }


def coverage(world: TwinWorld, found: OccupancyMap) -> float:
    """Share of the 1 m cells that can be reached from the start of which the map knows at least half."""
    cells = reachable(world)
    return sum(_known(found, world, cell) >= COVERED for cell in cells) / len(cells)


def reachable(world: TwinWorld) -> set[tuple[int, int]]:
    """Cells, by their middle in world coordinates, without a wall in their middle."""
    begin = round(world.start.ahead(RobotConfig().body.centre)[0]), round(world.start.ahead(0.1)[1])
    found, todo = {begin}, [begin]
    while todo:
        x, y = todo.pop()
        for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if cell not in found and not any(w.x0 < cell[0] < w.x1 and w.y0 < cell[1] < w.y1 for w in world.walls):
                found.add(cell)
                todo.append(cell)
    return found


def _known(found: OccupancyMap, world: TwinWorld, cell: tuple[int, int]) -> float:
    left, low = cell[0] - 0.5 - world.start.x - found.x, cell[1] - 0.5 - world.start.y - found.y
    column, row, count = round(left / found.resolution), round(low / found.resolution), round(1 / found.resolution)
    part = found.codes[max(0, row) : max(0, row + count), max(0, column) : max(0, column + count)]
    return float((part >= 0).sum()) / count**2
