"""Judge whether a level is solved, with the MiniGrid environment from which the twin was built.

The environment is the shadow of the twin: it takes the step of a primitive only after the primitive has physically
happened in the twin. The shadow is never rendered and never shown to the agent.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from robot_bridge.errors import SetupError

Cell = tuple[int, int]
"""(column, row), counted from 0 at the north-west corner of the level."""


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the libraries' prints ("Sampling rejected") and warnings ("out of date") in the context."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class ShadowJudge:
    """A MiniGrid or BabyAI level, reset with a seed, that judges what happens in the twin.

    Raises:
        SetupError: the level does not exist, cannot be built, or has things that move by themselves.
    """

    def __init__(self, env_id: str, seed: int) -> None:
        self._env = _build_level(env_id, seed)
        self.simulator: Any = self._env.unwrapped
        if _moves_by_itself(self.simulator):
            raise SetupError(f"{env_id}: things move in it by themselves, no twin is built of it: choose another level")
        self.mission = str(self.simulator.mission)
        self.reward = 0.0
        self._is_terminated = self._is_truncated = False

    @property
    def over(self) -> bool:
        return self._is_terminated or self._is_truncated

    @property
    def solved(self) -> bool:
        return self._is_terminated and self.reward > 0

    @property
    def why_over(self) -> str:
        """Text for users that says why the level is over although it is not solved."""
        if not self._is_terminated:
            return "the step limit was reached"
        return "the last primitive broke a rule of the task or was fatal"

    @property
    def cell(self) -> Cell:
        """The agent's cell."""
        column, row = self.simulator.agent_pos
        return int(column), int(row)

    @property
    def direction(self) -> int:
        """The agent's direction: 0 east, 1 south, 2 west, 3 north."""
        return int(self.simulator.agent_dir)

    def step(self, code: int) -> None:
        """Step the level with a primitive that has physically happened; ``code`` is MiniGrid's number."""
        _, reward, terminated, truncated, _ = self._env.step(code)
        self.reward = float(reward)
        self._is_terminated = bool(terminated)
        self._is_truncated = bool(truncated)

    def count_failed_primitive(self) -> None:
        """Count a primitive that failed: as in MiniGrid, it uses up a step although nothing changed."""
        self.simulator.step_count += 1
        self._is_truncated = self.simulator.step_count >= self.simulator.max_steps


def _build_level(env_id: str, seed: int) -> Any:
    """Return the environment of a level after a reset; raise SetupError if the level cannot be built."""
    with _quiet():
        import gymnasium
        import minigrid  # noqa: F401  # registers its levels
    known = sorted(name for name in gymnasium.registry if name.startswith(("MiniGrid-", "BabyAI-")))
    if env_id not in known:
        (near,) = difflib.get_close_matches(env_id, known, n=1, cutoff=0.0)
        raise SetupError(f"unknown level {env_id!r}: the installed minigrid's nearest is {near!r}")
    try:
        with _quiet():
            env: Any = gymnasium.make(env_id, disable_env_checker=True)
            env.reset(seed=seed)
    except Exception as error:  # boundary: level generators raise errors of many kinds
        reason = f"{type(error).__name__}: {error}"
        raise SetupError(f"{env_id} with seed {seed} cannot be built: {reason}") from error
    return env


def _moves_by_itself(simulator: Any) -> bool:
    """Return whether anything has moved after any of four left turns, in a copy of the simulator."""
    copy = deepcopy(simulator)
    before = simulator.grid.encode()
    for _ in range(4):
        copy.step(copy.actions.left)
        if (copy.grid.encode() != before).any():
            return True
    return False
