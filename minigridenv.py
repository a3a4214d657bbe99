"""SENSE and ACT: a MiniGrid or BabyAI environment as a World that is mapped from its 7x7 egocentric view.

The map is built from observations and odometry alone. Odometry is the displacement from the start cell: the views tell
it (:mod:`spca.sense.odometry`), and the simulator is asked where they leave it open. Grid size, absolute position and
unseen cells are not read for the map. The simulator's state is used to step, to reward, to show a level to people
(:meth:`MiniGridEnv.frame`), and to check that a restored checkpoint equals the recorded state.
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
from spca.act.mapped_world import MappedWorld
from spca.act.observing import patch_fast_observation
from spca.act.snapshots import Parts
from spca.act.state_hash import NOT_STATE, hash_state
from spca.bodies.grid.primitives import GridPrimitive
from spca.common.errors import UserError
from spca.contracts import LevelSpec
from spca.errors import WorldError
from spca.llm.feedback import shorten_middle
from spca.plugins.loaded import require_loaded
from spca.protocols import Executor
from spca.sandbox.executor import default_executor
from spca.sense import perception
from spca.sense.grid_tracker import GridTracker
from spca.sense.perception import DIRECTIONS
from spca.sense.renaming import TRUE_WORDS, Renaming

_MAX_ERROR: Final = 300
"""Maximum number of characters of an environment's error in a message."""
_MAX_MISSION: Final = 10_000
"""Maximum number of characters of a mission; an environment with a longer mission is refused."""
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
        "_tracker",
        "_over",
        "_terminated",
        "_reward",
    }
)
"""Attributes of a :class:`MiniGridEnv` that a reset or a step changes; a snapshot saves and restores them."""

_NO_OBJECT: Final = bytes((1, 0, 0))
"""Code of a cell without an object: type "empty", colour 0, state 0 (``minigrid.core.constants``)."""


def list_known_ids() -> tuple[str, ...]:
    """Return every MiniGrid and BabyAI id that the installed minigrid registers, sorted."""
    registry = _gymnasium().registry
    return tuple(sorted(name for name in registry if name.startswith(("MiniGrid-", "BabyAI-"))))


def check_ids(env_ids: Iterable[str]) -> None:
    """Refuse environment ids that Gymnasium does not know; plugins may have registered some.

    Raises:
        UserError: names the first unknown id and the known id with the nearest spelling.
    """
    known = _gymnasium().registry
    for env_id in env_ids:
        name = require_loaded(env_id)
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise UserError(f"unknown environment {env_id!r}: the nearest that is known is {nearest!r}")


def _require_grid_view(env: Any, env_id: str) -> None:
    """Raise WorldError unless an environment is a grid of minigrid whose observations are a view with a direction."""
    from minigrid.minigrid_env import MiniGridEnv as Simulator

    if not isinstance(env.unwrapped, Simulator):
        kind = type(env.unwrapped).__name__
        raise WorldError(f"{env_id}: cannot be played in the minigrid world: {kind} is not derived from MiniGridEnv")
    space = getattr(env.observation_space, "spaces", {})
    missing = [part for part in ("image", "direction", "mission") if part not in space]
    if missing:
        raise WorldError(f"{env_id}: cannot be played in the minigrid world: its observation has no {missing[0]}")


def _gymnasium() -> Any:
    """Import and return gymnasium with the ids of MiniGrid, without printing the banner of pygame.

    The import of minigrid registers the ids.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import gymnasium
    import minigrid  # noqa: F401

    return gymnasium


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what the libraries print ("Sampling rejected") and their warnings ("out of date") within a block."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _translate_errors(what: str) -> Iterator[None]:
    """Turn any error that an environment raises within a block into a :class:`WorldError` of one line.

    Args:
        what: the operation that failed, for the message.
    """
    try:
        yield
    except (Exception, SystemExit) as error:  # boundary: environments and level generators raise errors of many kinds
        cause = " ".join(f"{type(error).__name__}: {error}".split())
        raise WorldError(f"{what}: {shorten_middle(cause, _MAX_ERROR)}") from error


def _check_reward(reward: Any) -> float:
    """Return a reward as a float; raise ValueError if the reward is infinite or NaN."""
    value = float(reward)
    if not math.isfinite(value):
        raise ValueError(f"a reward of {value}")
    return value


def _codes_of(grid: Any) -> NDArray[np.uint8]:
    """Return the cell codes of a simulator's grid, with shape (rows, columns), rows north to south.

    Minigrid's own ``Grid.encode`` takes four times as long.
    """
    triples = b"".join(_NO_OBJECT if cell is None else bytes(cell.encode()) for cell in grid.grid)
    image = np.frombuffer(triples, dtype=np.uint8).reshape(grid.height, grid.width, 3)
    return perception.encode_view(image.transpose(1, 0, 2))  # minigrid's images have columns first


def _bind_numbers() -> None:
    """Tell perception the numbers of kinds and colours that an environment's module has added to minigrid's tables."""
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX

    perception.bind_numbers(OBJECT_TO_IDX, COLOR_TO_IDX)


class MiniGridEnv(MappedWorld):
    """A World on one level and seed; its constructor resets the environment.

    Args:
        level: environment id and arguments; a text is an id without arguments.
        render: whether to open a window.
        executor: runs generated code; by default a sandbox that all worlds of the process share.
        upstream_rules: whether to judge as minigrid does, without :mod:`spca.act.corrections`.
        renaming: words that replace the names of colours and kinds.

    Attributes:
        mission: the task in words.
        corrections: names of the corrections that had an effect since the reset.
        previous_actions: primitives executed since the reset.

    Raises:
        UserError: the id names a module that is not loaded.
        WorldError: the simulator cannot build or reset this environment, or is not one of minigrid.
    """

    def __init__(
        self,
        level: LevelSpec | str,
        seed: int,
        *,
        render: bool = False,
        executor: Executor | None = None,
        upstream_rules: bool = False,
        renaming: Renaming = TRUE_WORDS,
    ) -> None:
        spec = LevelSpec(level) if isinstance(level, str) else level
        if spec.mission:
            raise WorldError(f'{spec.name}: an environment of minigrid has its own mission: leave out "mission"')
        super().__init__(spec.name, executor or default_executor(), renaming)
        self._seed = seed
        self._upstream_rules = upstream_rules
        mode = "human" if render else None
        name = require_loaded(spec.id)
        with _translate_errors(f"{spec.name}: cannot be built"), _quiet():
            fixed: dict[str, Any] = {"render_mode": mode, "disable_env_checker": True}
            self._env = _gymnasium().make(name, **spec.kwargs, **fixed)
            _bind_numbers()
            patch_fast_observation(self._env.unwrapped)
        _require_grid_view(self._env, spec.name)
        self._over: bool
        self._reset()

    @property
    def full_grid(self) -> NDArray[np.str_]:
        """The accumulated map as words, rows north to south; the word at the agent's cell is "agent"."""
        return perception.word_array()[self._map.mark_agent(self._position)]

    @property
    def current_observation(self) -> NDArray[np.str_]:
        """The current view as words, rows north to south."""
        return perception.word_array()[self._mark_view()]

    @property
    def current_dir(self) -> str:
        return DIRECTIONS[self._direction]

    @property
    def over(self) -> bool:
        """Whether the episode has ended; after its end, a checkpoint must be restored before the next step."""
        return self._over

    @property
    def reward(self) -> float:
        """Reward of the last primitive."""
        return self._reward

    def convert_observation(self, obs: dict[str, Any]) -> NDArray[np.str_]:
        """Return the view in an observation as words, rows north to south; shape (n, n)."""
        view = perception.rotate_view(perception.encode_view(obs["image"]), int(obs["direction"]))
        return perception.word_array()[view]

    def SLAM(self, obs: dict[str, Any], primitive: int | None = None) -> None:  # noqa: N802 - name fixed by users
        """Integrate an observation into the accumulated map; update direction, inventory, view and position.

        Args:
            primitive: the primitive that led to the observation; None if the agent did nothing.
        """
        self._tracker.update(primitive, obs)
        self._read_tracker(self._tracker)

    def frame(self) -> Frame:
        """Return the present state for people who watch, including the simulator's grid.

        Positions in the frame are (row, column) in the simulator's grid.
        """
        start_column, start_row = self._start
        origin_row, origin_column = self._map.origin
        row = start_row + self._position[0]
        column = start_column + self._position[1]
        view_row, view_column = self._tracker.agent_at
        with _translate_errors(f"{self.name}: grid failed"):
            truth = _codes_of(self._sim.grid)
        return Frame(
            truth=truth,
            known=self._map.codes.copy(),
            known_at=(start_row - origin_row, start_column - origin_column),
            view=self._view.copy(),
            view_at=(row - view_row, column - view_column),
            position=(row, column),
            direction=self._direction,
            inventory=self.inventory,
            reward=self._reward,
            over=self._over,
        )

    def step(self, code: int) -> None:
        """Execute one primitive and integrate the new observation into the map.

        Raises:
            WorldError: the episode is over, or the environment failed.
            ValueError: ``code`` is not a primitive.
        """
        self._refuse_when_over()
        primitive = GridPrimitive(code)
        with _translate_errors(f"{self.name}: step failed"):
            obs, reward, terminated, truncated, _ = self._env.step(primitive)
            self._reward = _check_reward(reward)
            self._terminated = bool(terminated)
            self._over = self._terminated or bool(truncated)
            self.SLAM(obs, code)
        self.previous_actions.append(code)

    def close(self) -> None:
        with contextlib.suppress(Exception):  # boundary: an error of the environment no longer matters at its end
            self._env.close()

    def _reset(self) -> None:
        with _translate_errors(f"{self.name}: reset failed"):
            with _quiet():
                first, _ = self._env.reset(seed=self._seed)
            self._begin(first)

    def _begin(self, first: dict[str, Any]) -> None:
        """Set all attributes of the episode from the simulator's state after a reset.

        Args:
            first: the observation that the reset has returned.
        """
        self._sim: Any = self._env.unwrapped
        self.corrections: set[str] = set()
        self._apply_corrections()
        self._start = tuple(int(coordinate) for coordinate in self._sim.agent_pos)  # (column, row)
        self.previous_actions = []
        self._over = False
        self._terminated = False
        self._reward = 0.0
        self._tracker = GridTracker(self._odometry, obeys_rules=self._is_minigrids())
        # The observation that reset returns may be stale, because PutNext*Carrying puts an object in hand afterwards.
        # An environment of others may change what is seen by a wrapper, which the simulator does not know.
        has_wrapper = getattr(self._env, "env", None) is not self._sim
        obs = first if has_wrapper else self._sim.gen_obs()
        self.mission = str(obs["mission"]).encode(errors="replace").decode()
        if len(self.mission) > _MAX_MISSION:
            raise ValueError(f"a mission of {len(self.mission)} characters")
        self._tracker.reset(obs)
        self._read_tracker(self._tracker)

    def _odometry(self) -> tuple[int, int]:
        """Return the displacement from the start cell: (rows to the south, columns to the east).

        The tracker asks for it where the views leave open whether the agent moved, and in environments that are not
        minigrid's own, where a step may lead anywhere.
        """
        column, row = self._sim.agent_pos
        start_column, start_row = self._start
        return int(row) - start_row, int(column) - start_column

    def _hash(self) -> str:
        sensed = (self._state(), self._view, self._start_direction, self.mission)
        with _translate_errors(f"{self.name}: state failed"):
            return hash_state(sensed, tuple(self.previous_actions), self._over, self._reward, self._sim)

    @contextlib.contextmanager
    def _gather_saved_parts(self) -> Iterator[Parts]:
        """Yield the world and the simulator, each with the names of attributes to leave out of a snapshot.

        Yield () if no snapshot is possible. A snapshot is possible if later steps depend only on the attributes of
        these two objects. This holds if the environment is one of minigrid's own and has no window.
        """
        has_window = self._env.render_mode is not None
        if has_window or not self._is_minigrids():
            yield ()
            return
        remove_corrections(self._sim)
        try:
            yield (self, frozenset(vars(self)) - _EPISODE_ATTRIBUTES), (self._sim, NOT_STATE)
        finally:
            self._apply_corrections()

    def _is_minigrids(self) -> bool:
        """Return whether the simulator is one of minigrid's own and has no wrapper but ``OrderEnforcing``."""
        is_minigrids = type(self._sim).__module__.startswith("minigrid.")
        wrapper_and_inner = type(self._env).__name__, getattr(self._env, "env", None)
        return is_minigrids and wrapper_and_inner == ("OrderEnforcing", self._sim)

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
