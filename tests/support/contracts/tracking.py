"""A tracker that sees observations alone, held step by step against the simulator's own position."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
from minigrid.wrappers import ViewSizeWrapper

from spca.evaluation.playing import babyai_bot
from spca.sense.grid_tracker import GridTracker
from spca.sense.odometry import AHEAD, cell_kinds

MIX = (0, 1, 2, 2, 2, 2, 3, 4, 5, 6)
CAREFUL_MIX = (0, 1, 2, 2, 2, 2, 2)
RESTLESS = "Dynamic-Obstacles"
"""Part of the ids of the environments in which things move by themselves."""

Choose = Callable[[Any, GridTracker], Iterator[int]]
"""Yields primitives for a simulator, and sees what the tracker knows."""


@dataclass(slots=True)
class Figures:
    """What came of episodes.

    Attributes:
        open: steps forward that the views left open.
        misguessed: those of them that the tracker guessed wrongly.
        wrong: a line for each step in which the tracker was wrong although the views decide, or was turned wrongly.
    """

    steps: int = 0
    forwards: int = 0
    open: int = 0
    misguessed: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        self.steps += other.steps
        self.forwards += other.forwards
        self.open += other.open
        self.misguessed += other.misguessed
        self.wrong += other.wrong


def walk_randomly(seed: int) -> Choose:
    """Any primitives, most of them forward."""

    def choose(_simulator: Any, _tracker: GridTracker) -> Iterator[int]:
        rng = random.Random(seed)
        while True:
            yield rng.choice(MIX)

    return choose


def walk_carefully(seed: int) -> Choose:
    """Steps and turns; no step into what is seen to be in the way, which would end an episode among obstacles."""

    def choose(_simulator: Any, tracker: GridTracker) -> Iterator[int]:
        rng = random.Random(seed)
        while True:
            south, east = AHEAD[tracker.direction]
            row, column = tracker.agent_at
            is_free = int(tracker.view[row + south, column + east]) in cell_kinds().enterable
            yield rng.choice(CAREFUL_MIX if is_free else CAREFUL_MIX[:2])

    return choose


def repeat_recorded(primitives: Sequence[int]) -> Choose:
    """Primitives that were recorded."""
    return lambda _simulator, _tracker: iter(primitives)


def follow_bot(simulator: Any, _tracker: GridTracker) -> Iterator[int]:
    """What minigrid's own bot does in levels of BabyAI, until it is done or at a loss; nothing in other levels."""
    from minigrid.utils import baby_ai_bot

    if not hasattr(simulator, "instrs"):
        return
    library: Any = baby_ai_bot
    action = None
    with contextlib.suppress(Exception):  # the bot's assertions fail in some levels
        bot = library.BabyAIBot(simulator)
        while True:
            bot.stack = babyai_bot._Stack(bot.stack)
            action = bot.replan(action)
            yield int(action)


def track_episode(env_id: str, seed: int, choose: Choose, *, steps: int, view_size: int = 7) -> Figures:
    """Play an episode of at most so many steps; the tracker begins with the observation that reset returns."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env: Any = gymnasium.make(env_id, disable_env_checker=True)
        if view_size != 7:
            env = ViewSizeWrapper(env, view_size)  # type: ignore[no-untyped-call]
        observation, _ = env.reset(seed=seed)
        with contextlib.closing(env):
            return _track_steps(env, observation, choose, steps, f"{env_id}, seed {seed}, view {view_size}")


def _track_steps(env: Any, observation: Any, choose: Choose, steps: int, name: str) -> Figures:
    simulator = env.unwrapped
    tracker = GridTracker()
    tracker.reset(observation)
    found = Figures()
    for primitive in choose(simulator, tracker):
        before = _position(simulator)
        thought_before = tracker.position
        open_before = tracker.doubts
        observation, _, terminated, truncated, _ = env.step(primitive)
        tracker.update(primitive, observation)

        found.steps += 1
        found.forwards += primitive == 2
        is_open = tracker.doubts > open_before
        found.open += is_open
        is_right = _difference(_position(simulator), before) == _difference(tracker.position, thought_before)
        if is_open:
            found.misguessed += not is_right
        elif not is_right:
            found.wrong.append(f"{name}, step {found.steps}: the displacement by {primitive} is wrong")
        if tracker.direction != simulator.agent_dir:
            found.wrong.append(f"{name}, step {found.steps}: the direction is wrong")
        if terminated or truncated or found.steps == steps:
            break
    return found


def _position(simulator: Any) -> tuple[int, int]:
    column, row = simulator.agent_pos
    return int(row), int(column)


def _difference(after: tuple[int, int], before: tuple[int, int]) -> tuple[int, int]:
    return after[0] - before[0], after[1] - before[1]
