"""SENSE and ACT: a MiniGrid or BabyAI environment as a World that is mapped from its 7x7 egocentric view.

The map comes from observations and odometry (displacement from the start cell) alone. Grid size, absolute position
and cells never seen are not read; the simulator's truth is used only to step, to reward, and to prove that a restored
checkpoint equals the recorded state.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import math
import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spca.act.corrections import apply_corrections, remove_corrections
from spca.act.frame import Frame
from spca.act.observing import patch_fast_observation
from spca.act.snapshots import Parts
from spca.act.state_hash import NOT_STATE, hash_state
from spca.act.world import MappedWorld
from spca.common.errors import UserError
from spca.contracts import DIRECTIONS, Primitive
from spca.errors import WorldError
from spca.llm.feedback import shorten_middle
from spca.protocols import Executor
from spca.sandbox.executor import default_executor
from spca.sense import perception, slam
from spca.sense.renaming import TRUE_WORDS, Renaming

_MAX_ERROR: Final = 300
_MAX_MISSION: Final = 10_000
_EPISODE_ATTRIBUTES: Final = frozenset(
    {
        "mission",
        "inventory",
        "previous_actions",
        "corrections",
        "_map",
        "_view",
        "_position",
        "_direction",
        "_start",
        "_start_direction",
        "_agent_at",
        "_over",
        "_terminated",
        "_reward",
    }
)
"""Attributes of a :class:`MiniGridEnv` that a reset or a step changes."""

_NO_OBJECT: Final = bytes((1, 0, 0))
"""How minigrid encodes a cell without an object (``minigrid.core.constants``)."""


def list_known_ids() -> tuple[str, ...]:
    """Return every MiniGrid and BabyAI id that the installed minigrid registers."""
    registry = _gymnasium().registry
    return tuple(sorted(name for name in registry if name.startswith(("MiniGrid-", "BabyAI-"))))


def check_ids(env_ids: Iterable[str]) -> None:
    """Refuse ids that the installed minigrid does not know.

    Raises:
        UserError: names the first unknown id and the nearest known one.
    """
    known = list_known_ids()
    for env_id in env_ids:
        if env_id not in known:
            near = difflib.get_close_matches(env_id, known, n=1, cutoff=0.0)
            raise UserError(f"unknown environment {env_id!r}: the installed minigrid's nearest is {near[0]!r}")


def _gymnasium() -> Any:
    """Import gymnasium with MiniGrid's ids, which importing minigrid registers, without pygame's banner."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import gymnasium
    import minigrid  # noqa: F401

    return gymnasium


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries' prints ("Sampling rejected") and warnings ("out of date") to themselves."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _translate_errors(what: str) -> Iterator[None]:
    """Turn whatever an environment raises into a :class:`WorldError` of one line."""
    try:
        yield
    except (Exception, SystemExit) as error:  # boundary: environments and level generators raise errors of many kinds
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise WorldError(f"{what}: {shorten_middle(said, _MAX_ERROR)}") from error


def _image(given: Any) -> NDArray[np.uint8]:
    """Return the image of an observation, as :func:`spca.sense.perception.encode_view` wants it.

    Raises:
        ValueError: it is of another shape or type.
    """
    image: NDArray[np.uint8] = np.asarray(given)
    shape = image.shape
    is_image = image.dtype == np.uint8 and len(shape) == 3 and shape[2] == 3
    if not is_image or shape[0] != shape[1] or shape[0] % 2 == 0:
        raise ValueError(f"an image of {image.dtype} with shape {shape}")
    return image


def _finite(reward: Any) -> float:
    value = float(reward)
    if not math.isfinite(value):
        raise ValueError(f"a reward of {value}")
    return value


def _codes_of(grid: Any) -> NDArray[np.uint8]:
    """Return the cell codes of a simulator's grid, rows north to south; ``Grid.encode`` takes four times as long."""
    triples = b"".join(_NO_OBJECT if cell is None else bytes(cell.encode()) for cell in grid.grid)
    image = np.frombuffer(triples, dtype=np.uint8).reshape(grid.height, grid.width, 3)
    return perception.encode_view(image.transpose(1, 0, 2))


class MiniGridEnv(MappedWorld):
    """A World on one environment id and seed, reset and ready.

    Args:
        render: open a window.
        executor: runs generated code; by default one in a sandbox that all worlds of the process share.
        upstream_rules: judge as minigrid does, without :mod:`spca.act.corrections`.
        renaming: words that are shown in place of colours and kinds.

    Attributes:
        mission: the task in words.
        corrections: names of the corrections that decided something since the reset.
        previous_actions: primitives executed since the reset.

    Raises:
        WorldError: the simulator cannot build or reset this environment.
    """

    def __init__(
        self,
        env_id: str,
        seed: int,
        *,
        render: bool = False,
        executor: Executor | None = None,
        upstream_rules: bool = False,
        renaming: Renaming = TRUE_WORDS,
    ) -> None:
        super().__init__(env_id, executor or default_executor(), renaming)
        self._seed = seed
        self._upstream_rules = upstream_rules
        mode = "human" if render else None
        with _translate_errors(f"{env_id}: cannot be built"), _quiet():
            self._env = _gymnasium().make(env_id, render_mode=mode, disable_env_checker=True)
            patch_fast_observation(self._env.unwrapped)
        self._over: bool
        self._reset()

    @property
    def full_grid(self) -> NDArray[np.str_]:
        """The accumulated map as words, rows north to south; the agent's cell reads "agent"."""
        return perception.WORDS[self._map.mark_agent(self._position)]

    @property
    def current_observation(self) -> NDArray[np.str_]:
        """The current view as words, north up."""
        return perception.WORDS[self._mark_view()]

    @property
    def current_dir(self) -> str:
        return DIRECTIONS[self._direction]

    @property
    def over(self) -> bool:
        """True when the episode has ended; it must be restored before it is stepped again."""
        return self._over

    @property
    def reward(self) -> float:
        """Reward of the last primitive."""
        return self._reward

    def convert_observation(self, obs: dict[str, Any]) -> NDArray[np.str_]:
        """Return a raw observation as words, turned north up; shape (view, view)."""
        view = perception.rotate_view(perception.encode_view(obs["image"]), int(obs["direction"]))
        return perception.WORDS[view]

    def SLAM(self, obs: dict[str, Any]) -> None:  # noqa: N802 - name fixed by the project's users
        """Integrate an observation, taken where the agent now stands, into the accumulated map."""
        facing_view = perception.encode_view(_image(obs["image"]))
        self._direction = range(len(DIRECTIONS)).index(obs["direction"])
        self.inventory = perception.read_carried(facing_view)
        self._agent_at = perception.agent_cell(len(facing_view), self._direction)
        self._view = perception.rotate_view(facing_view, self._direction)
        self._position = self._odometry()
        self._map = slam.integrate(self._map, self._view, self._position, self._agent_at)

    def frame(self) -> Frame:
        """Return the present state as someone who watches sees it, the simulator's truth included."""
        row = self._position[0] + self._start[1]
        column = self._position[1] + self._start[0]
        with _translate_errors(f"{self.name}: grid failed"):
            truth = _codes_of(self._sim.grid)
        return Frame(
            truth=truth,
            known=self._map.codes.copy(),
            known_at=(self._start[1] - self._map.origin[0], self._start[0] - self._map.origin[1]),
            view=self._view.copy(),
            view_at=(row - self._agent_at[0], column - self._agent_at[1]),
            position=(row, column),
            direction=self._direction,
            inventory=self.inventory,
            reward=self._reward,
            over=self._over,
        )

    def step(self, code: int) -> None:
        """Execute one primitive and map what is then seen.

        Raises:
            WorldError: the episode is over, or the environment failed.
            ValueError: ``code`` is not a primitive.
        """
        self._refuse_when_over()
        primitive = Primitive(code)
        with _translate_errors(f"{self.name}: step failed"):
            obs, reward, terminated, truncated, _ = self._env.step(primitive)
            self._reward = _finite(reward)
            self._terminated = bool(terminated)
            self._over = self._terminated or bool(truncated)
            self.SLAM(obs)
        self.previous_actions.append(code)

    def close(self) -> None:
        with contextlib.suppress(Exception):  # boundary: what an environment raises now concerns nobody
            self._env.close()

    def _reset(self) -> None:
        with _translate_errors(f"{self.name}: reset failed"):
            with _quiet():
                self._env.reset(seed=self._seed)
            self._begin()

    def _begin(self) -> None:
        """Take in the state that a reset has led to."""
        self._sim: Any = self._env.unwrapped
        self.corrections: set[str] = set()
        self._apply_corrections()
        self._start = tuple(int(v) for v in self._sim.agent_pos)
        self.previous_actions = []
        self._over = False
        self._terminated = False
        self._reward = 0.0
        self._map = slam.empty_map()
        # The observation that reset returned can be stale: PutNext*Carrying puts the object in hand afterwards.
        obs = self._sim.gen_obs()
        self.mission = str(obs["mission"]).encode(errors="replace").decode()
        if len(self.mission) > _MAX_MISSION:
            raise ValueError(f"a mission of {len(self.mission)} characters")
        self.SLAM(obs)
        self._start_direction = self._direction

    def _odometry(self) -> tuple[int, int]:
        """Return the displacement from the start cell: rows south, columns east."""
        column, row = self._sim.agent_pos
        return int(row) - self._start[1], int(column) - self._start[0]

    def _hash(self) -> str:
        seen = (self._state(), self._view, self._start_direction, self.mission)
        with _translate_errors(f"{self.name}: state failed"):
            return hash_state(seen, tuple(self.previous_actions), self._over, self._reward, self._sim)

    @contextlib.contextmanager
    def _iterate_saved_parts(self) -> Iterator[Parts]:
        """Yield world and simulator, where their attributes are all that further steps depend on."""
        layers = type(self._env).__name__, getattr(self._env, "env", None)
        own = type(self._sim).__module__.startswith("minigrid.") and self._env.render_mode is None
        if not own or layers != ("OrderEnforcing", self._sim):
            yield ()
            return
        remove_corrections(self._sim)
        try:
            yield (self, frozenset(vars(self)) - _EPISODE_ATTRIBUTES), (self._sim, NOT_STATE)
        finally:
            self._apply_corrections()

    def _apply_corrections(self) -> None:
        if not self._upstream_rules:
            apply_corrections(self._sim, self.corrections.add)

    def _is_solved(self) -> bool:
        return self._terminated and self._reward > 0

    def _why_over(self) -> str:
        if not self._terminated:
            return "the step limit was reached"
        return "the last primitive broke a rule of the task or was fatal"

    def _corrections(self) -> tuple[str, ...]:
        return tuple(sorted(self.corrections))
