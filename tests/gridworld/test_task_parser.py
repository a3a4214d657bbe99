"""Environments come from the parser at their start, from any working directory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gridworld.errors import BackendError, TaskError
from gridworld.task_parser import TaskParser
from tests.support.contracts.grid_corridor import FORWARD, KEY, task

SHIPPED = "gridworld/tasks/tier1/maze_simple_001.json"


def test_a_parsed_environment_is_at_its_start() -> None:
    env = TaskParser(render_mode="rgb_array").parse(task(KEY))
    assert (env.state.agent_position, env.state.step_count) == ((1, 1), 0)
    assert env.grid.get(3, 1) is not None
    image = env.render()
    assert image is not None
    assert image.shape == (3 * 32, 11 * 32, 3)
    assert env.step(FORWARD)[1:4] == (0.0, False, False)


def test_resetting_it_again_loses_nothing() -> None:
    env = TaskParser(None).parse(task(KEY))
    before, start = env.grid.encode(), env.state
    env.step(FORWARD)
    env.reset()
    assert np.array_equal(env.grid.encode(), before)
    assert env.state == start
    assert env.render() is None


def test_the_seed_is_the_tasks_own_unless_one_is_given() -> None:
    spec, parser = task(), TaskParser()

    def drawn(seed: int | None) -> int:
        return int(parser.parse(spec, seed).np_random.integers(2**60))

    assert drawn(None) == drawn(spec.seed) == drawn(7)
    assert drawn(0) != drawn(None)


@pytest.mark.parametrize("path", [SHIPPED, Path(SHIPPED), "mazes/validation_10/V04_single_key.json"])
def test_shipped_files_are_found_from_anywhere(
    path: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert TaskParser().parse_file(path).task_spec.task_id


def test_a_file_and_its_data_are_the_same_task(tmp_path: Path) -> None:
    file, spec = tmp_path / "corridor.json", task(KEY)
    file.write_text(json.dumps(spec.to_dict()), encoding="utf-8")
    parser = TaskParser(tile_size=8)
    envs = parser.parse_file(file), parser.parse_dict(spec.to_dict()), parser.parse(spec)
    assert [env.task_spec for env in envs] == [spec] * 3
    assert len({env.grid.encode().tobytes() for env in envs}) == 1


def test_what_is_wrong_is_named() -> None:
    parser = TaskParser()
    with pytest.raises(TaskError, match="max_steps"):
        parser.parse(task(max_steps=0))
    with pytest.raises(TaskError, match="goal"):
        parser.parse_dict({key: value for key, value in task().to_dict().items() if key != "goal"})
    with pytest.raises(TaskError, match="tier9"):
        parser.parse_file("gridworld/tasks/tier9/none.json")
    with pytest.raises(BackendError, match="ascii"):
        TaskParser(render_mode="ascii")
