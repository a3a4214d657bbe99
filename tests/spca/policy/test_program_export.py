"""A run as a program of another harness."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import spca
from tests.support.commands import main_py
from tests.support.policy.plain_loop import play_episode
from tests.support.report.making import Writing


@dataclass(frozen=True)
class Context:
    """What the harness tells a program."""

    metadata: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Tensor:
    """An array as the harness hands it over."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@pytest.fixture(scope="module")
def program(learned_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "program"
    done = main_py(folder.parent, "export", learned_run, "--evopolicygym", "program")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"the library and 3 problem writers of run {learned_run.name}: program\n"
    return folder


def import_program(folder: Path) -> Any:
    found = importlib.util.spec_from_file_location("exported_program", folder / "policy.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def encode(observation: Any) -> dict[str, object]:
    image = observation["image"]
    tensor = Tensor(str(image.dtype), image.shape, image.tobytes())
    return {"image": tensor, "direction": int(observation["direction"]), "mission": observation["mission"]}


def test_its_actions_are_those_of_the_policy(program: Path, policy: spca.LearnedPolicy) -> None:
    env_id = "MiniGrid-DoorKey-6x6-v0"
    _reward, expected, _seen = play_episode(policy, env_id, 9, level=env_id)
    exported = import_program(program).make_policy(Context({"environment": env_id}))
    env: Any = gymnasium.make(env_id)
    observation, _info = env.reset(seed=9)
    primitives: list[int] = []
    is_over = False
    while not is_over:
        primitives.append(exported.act(encode(observation)))
        observation, _reward, terminated, truncated, _info = env.step(primitives[-1])
        is_over = terminated or truncated
    assert primitives == expected
    exported._policy.close()


def test_a_program_that_is_told_no_environment_plays(program: Path) -> None:
    exported = import_program(program).make_policy(Context())
    observation = gymnasium.make("MiniGrid-Empty-5x5-v0").reset(seed=1)[0]
    assert exported.act(encode(observation)) == 2
    exported._policy.close()


def test_the_folder_is_what_a_policy_is_loaded_from(program: Path) -> None:
    with spca.load_policy(program / "learned") as loaded:
        assert play_episode(loaded, "MiniGrid-Empty-5x5-v0", 1)[0] > 0


def test_no_path_of_the_machine_is_in_it(program: Path, learned_run: Path) -> None:
    files = [path for path in program.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert {"policy.py", "README.md", "evaluation.json", "agents.json"} <= {path.name for path in files}
    assert [text for text in texts if str(learned_run.parent) in text or str(Path.home()) in text] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing", "--evopolicygym", "new"), "error: no run 'nothing' in"),
        (("RUN", "--evopolicygym", "full"), "is not an empty folder: name a new one"),
        (("RUN",), "--evopolicygym"),
    ],
)
def test_refusals_are_one_line(arguments: tuple[str, ...], said: str, learned_run: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    given = [learned_run if argument == "RUN" else argument for argument in arguments]
    done = main_py(tmp_path, "export", *given, "--runs", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine.txt"]


def test_a_run_with_a_plugin_cannot_be_exported(tmp_path: Path) -> None:
    plugin = {"name": "lab_plugin", "given": "lab_plugin", "version": "", "sha256": "", "words": [], "first_code": 0}
    run = Writing(tmp_path / "runs")
    run.folder.write_json("run.json", {**run.folder.info(), "plugins": [plugin]})
    done = main_py(tmp_path, "export", run.path, "--evopolicygym", "new")
    assert done.returncode == 2
    assert "used the plugin lab_plugin" in done.stderr
    assert done.stderr.count("\n") == 1
