"""Gymnasium knows the tasks, and its checker has nothing to say about them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import gridworld
from gridworld.custom_env import CustomMiniGridEnv
from gridworld.registration import ANY_TASK, register, shipped_ids
from gridworld.task_spec import TaskSpecification
from tests.support.contracts.grid_corridor import EVERYTHING, FORWARD, task

ROOT = Path(__file__).resolve().parents[2]
OPTIONS: dict[str, Any] = {"render_mode": "rgb_array", "tile_size": 8}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The ids, and the registry as it was afterwards."""
    before = dict(gymnasium.registry)
    register()
    yield
    gymnasium.registry.clear()
    gymnasium.registry.update(before)


def checked(env_id: str, **options: Any) -> CustomMiniGridEnv:
    env = gymnasium.make(env_id, **OPTIONS, **options)
    check_env(env.unwrapped)
    assert isinstance(env.unwrapped, CustomMiniGridEnv)
    return env.unwrapped


@pytest.mark.long
def test_every_shipped_task_passes_the_checker() -> None:
    ids = shipped_ids()
    assert len(ids) == 26
    for env_id, path in ids.items():
        assert checked(env_id).task_spec == TaskSpecification.from_json(path)
        assert env_id.startswith(f"gridworld/{Path(path).stem}-v")


@pytest.mark.parametrize("mode", ["full", "view_cone", "fog_of_war"])
def test_any_task_passes_the_checker(mode: str) -> None:
    spec = task(EVERYTHING, observability=mode, hidden_mechanisms=["s"])
    assert checked(ANY_TASK, task=spec).task_spec == spec
    assert checked(ANY_TASK, task=spec.to_dict()).task_spec == spec


def test_an_episode_through_gymnasium() -> None:
    env = gymnasium.make(ANY_TASK, task=task())
    env.reset(seed=0)
    *_, last = (env.step(FORWARD) for _ in range(8))
    assert last[1:] == (1 - 0.9 * 8 / 20, True, False, {"is_success": True})


def test_environments_can_be_copied_and_their_spaces_sent_to_processes() -> None:
    env = gymnasium.make(ANY_TASK, task=task()).unwrapped
    assert isinstance(env, CustomMiniGridEnv)
    env.reset()
    other = copy.deepcopy(env)
    other.step(FORWARD)
    assert (env.state.step_count, other.state.step_count) == (0, 1)
    space = pickle.loads(pickle.dumps(env.observation_space))  # noqa: S301 - our own
    assert space == env.observation_space
    assert env.gen_obs() in space
    assert env.mission == space["mission"].sample() == "Walk to the end of the corridor."


def test_registering_again_changes_nothing() -> None:
    before = dict(gymnasium.registry)
    register()
    gridworld.register()
    assert gymnasium.registry == before
    assert set(shipped_ids()) | {ANY_TASK} <= before.keys()


def test_the_entry_point_of_the_package_registers() -> None:
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["gymnasium.envs"]
    gymnasium.registry.clear()
    EntryPoint(name="__root__", value=entries["__root__"], group="gymnasium.envs").load()()
    assert ANY_TASK in gymnasium.registry


@pytest.mark.parametrize(
    "program",
    [
        "import gymnasium, gridworld; gridworld.register(); gymnasium.make('gridworld/V04_single_key-v0').reset()",
        "import gymnasium; gymnasium.make('gridworld.envs:gridworld/V04_single_key-v0').reset()",
    ],
)
def test_it_is_quiet_and_works_from_any_directory(program: str, tmp_path: Path) -> None:
    (tmp_path / "tiers").mkdir()
    (tmp_path / "mazes").mkdir()
    assert run(program, tmp_path) == ""


def test_importing_the_package_is_light(tmp_path: Path) -> None:
    program = "import gridworld.registration; print(*{'numpy', 'gymnasium', 'minigrid'} & {*sys.modules})"
    assert run(program, tmp_path) == "\n"


def run(program: str, folder: Path) -> str:
    """What a program prints, warnings being errors."""
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ).stdout


def test_every_name_of_the_package_is_there() -> None:
    found = {name: getattr(gridworld, name) for name in gridworld.__all__}
    assert {name for name, value in found.items() if getattr(value, "__name__", name) != name} == set()
    assert found["CustomMiniGridEnv"] is CustomMiniGridEnv
    assert found["TaskSpecification"] is TaskSpecification
    assert set(gridworld.__all__) <= set(dir(gridworld))
    with pytest.raises(AttributeError, match="Nothing"):
        _ = gridworld.Nothing
