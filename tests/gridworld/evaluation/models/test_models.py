"""The models without weights, the exchange of files, and the table of models."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from cyclopts import Parameter

from gridworld.actions import ACTION_NAMES
from gridworld.backends import MultiGridBackend
from gridworld.errors import ModelError
from gridworld.evaluation import cli
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.model_interface import ModelInput, ModelInterface
from gridworld.evaluation.models import file_based, registry
from gridworld.evaluation.models.baselines import BFSModelInterface, GreedyModelInterface, RandomModelInterface
from gridworld.evaluation.models.file_based import FileBasedModelInterface
from gridworld.evaluation.models.model_options import FileBasedOptions, ModelRequest
from gridworld.runner.episode_result import EpisodeResult
from gridworld.task_spec import TaskSpecification
from spca.common.files import replace_file
from tests.support.gridworld.drawn import drawn
from tests.support.waiting import PATIENCE

CORRIDOR = drawn("######\n#A..G#\n######", max_steps=6)


def play(
    model: ModelInterface, task: TaskSpecification, tiling: str = "square", seed: int | None = None
) -> EpisodeResult:
    return EvaluationHarness(model, MultiGridBackend(tiling, None)).evaluate_task(task, seed)


def given(step: int = 1) -> ModelInput:
    return ModelInput(np.zeros((4, 4, 3), np.uint8), "go", dict(ACTION_NAMES), step, 9)


def test_bfs_waits_where_there_is_no_way_and_knows_hexagons() -> None:
    walled = play(BFSModelInterface(), drawn("#####\n#A#G#\n#####", max_steps=4))
    assert (walled.success, walled.actions) == (False, [6] * 4)
    hexagons = play(BFSModelInterface(), drawn("#####\n#A..#\n#..G#\n#####"), "hex")
    assert (hexagons.success, hexagons.steps_taken) == (True, 3)


def test_greedy_goes_straight_and_fails_at_locks() -> None:
    assert play(GreedyModelInterface(), CORRIDOR).steps_taken == 3
    locked = drawn("#######\n#A..dG#\n#k.####\n#######", max_steps=9)
    assert not play(GreedyModelInterface(), locked).success


@pytest.mark.parametrize("model", [BFSModelInterface(), GreedyModelInterface()])
def test_foresight_needs_the_task(model: ModelInterface) -> None:
    with pytest.raises(ModelError, match="begin_episode"):
        model.predict(given())


def test_random_depends_on_its_seed_the_episode_and_the_task_only() -> None:
    other = drawn("######\n#A..G#\n######", max_steps=6)
    other.task_id = "other"
    model = RandomModelInterface(seed=0)
    forth = [play(model, task, seed=seed).actions for task in (CORRIDOR, other) for seed in (0, 1)]
    back = [play(model, task, seed=seed).actions for task in (other, CORRIDOR) for seed in (1, 0)]
    assert forth == back[::-1]
    assert len({tuple(actions) for actions in forth}) == 4
    assert play(RandomModelInterface(seed=1), CORRIDOR, seed=0).actions != forth[0]
    assert RandomModelInterface().seed == 42
    assert RandomModelInterface(3).predict(given()).action == RandomModelInterface(3).predict(given()).action


class Answerer(threading.Thread):
    """The other side of an exchange: answers every step, as a program of another language would.

    Args:
        work_dir: of the exchange.
        write: writes the answer to a step, given its path and number.
    """

    def __init__(self, work_dir: Path, write: Callable[[Path, int], None]) -> None:
        super().__init__(daemon=True)
        self.work_dir, self.write = work_dir, write
        self.seen: list[dict[str, Any]] = []
        self.stop = threading.Event()

    def run(self) -> None:
        answered: set[Path] = set()
        while not self.stop.wait(0.002):
            for asked in sorted(self.work_dir.glob("*/input/step_*.json")):
                if asked not in answered:
                    answered.add(asked)
                    told = json.loads(asked.read_text(encoding="utf-8"))
                    assert asked.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
                    self.seen.append(told)
                    self.write(asked.parent.parent / "output" / asked.name, told["step_number"])

    def __enter__(self) -> Answerer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.join()


def exchange(folder: Path, write: Callable[[Path, int], None], timeout: float = PATIENCE, episodes: int = 1) -> Any:
    model = FileBasedModelInterface(folder, timeout=timeout, poll_interval=0.002)
    harness = EvaluationHarness(model, MultiGridBackend(render_mode=None), text_observation=True)
    with Answerer(folder, write) as answerer:
        return [harness.evaluate_task(CORRIDOR) for _ in range(episodes)], answerer.seen


def test_another_process_plays_by_files(tmp_path: Path) -> None:
    def whole(path: Path, step: int) -> None:
        path.write_text(json.dumps({"action": 2, "confidence": 0.5, "reasoning": f"step {step}"}), encoding="utf-8")

    results, seen = exchange(tmp_path / "x", whole, episodes=2)
    assert all(result.success for result in results)
    assert results[0].trajectory[2].info["model_reasoning"] == "step 3"
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == ["drawn-1", "drawn-2"]
    assert [told["step_number"] for told in seen] == [1, 2, 3] * 2
    assert seen[1]["prior_image_paths"] == ["step_1.png"]
    assert "You are at" in seen[0]["additional_context"]
    begun = json.loads((tmp_path / "x" / "drawn-2" / "episode.json").read_text(encoding="utf-8"))
    assert (begun["task_id"], begun["tiling"]) == ("drawn", "square")
    ended = json.loads((tmp_path / "x" / "drawn-2" / "result.json").read_text(encoding="utf-8"))
    assert (ended["success"], ended["steps_taken"]) == (True, 3)


def test_an_answer_may_be_half_written(tmp_path: Path) -> None:
    def slowly(path: Path, step: int) -> None:
        del step
        for part in ('{"act', 'ion": 2', "}"):
            with path.open("a", encoding="utf-8") as file:
                file.write(part)
            time.sleep(0.02)

    [result], _ = exchange(tmp_path, slowly)
    assert result.success


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('{"action": 7}', "2 move_forward"),
        ('{"action": "2"}', "action"),
        ('{"action": true}', "action"),
        ("{}", "None"),
        ("2", "not an object"),
        ("go on", "not JSON"),
        ("[" * 5000, "not JSON"),
        ("mkfifo", "a pipe or a device"),
    ],
)
def test_a_wrong_answer_is_named(tmp_path: Path, answer: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_based, "_GRACE_S", 0.05)

    def first_right(path: Path, step: int) -> None:
        if answer == "mkfifo" and step > 1:
            os.mkfifo(path)
        else:
            sure = f'{{"action": 2, "confidence": 1{"0" * 400}}}'
            replace_file(path, (sure if step == 1 else answer).encode())

    [result], _ = exchange(tmp_path, first_right)
    assert "step_2.json" in result.info["model_error"]
    assert reason in result.info["model_error"]


def test_no_answer_in_time_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"drawn-1.output.step_1\.json: no answer within 0\.03 s"):
        exchange(tmp_path, lambda *_: None, timeout=0.03)
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="cannot be written"):
        exchange(tmp_path / "file" / "x", lambda *_: None)


def test_without_episodes_the_folder_itself_is_used(tmp_path: Path) -> None:
    model = FileBasedModelInterface(str(tmp_path), poll_interval=0.002)
    model.setup()
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "step_4.json").write_text('{"action": 3}', encoding="utf-8")
    assert model.predict(given(step=4)).action == 3
    assert (tmp_path / "input" / "step_4.png").exists()


def test_without_an_image_there_is_no_picture(tmp_path: Path) -> None:
    model = FileBasedModelInterface(str(tmp_path), poll_interval=0.002)
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "step_4.json").write_text('{"action": 3}', encoding="utf-8")
    nothing = np.zeros((0, 0, 3), dtype=np.uint8)
    assert model.predict(replace(given(step=4), image=nothing, prior_images=[])).action == 3
    told = json.loads((tmp_path / "input" / "step_4.json").read_text(encoding="utf-8"))
    assert ("image_path" in told, told["prior_image_paths"]) == (False, [])
    assert [path.name for path in (tmp_path / "input").iterdir()] == ["step_4.json"]


def test_models_are_found_by_name() -> None:
    assert list(registry.MODELS) == ["random", "bfs", "greedy", "file_based", "ollama", "lmstudio", "PREFIX/NAME"]
    with pytest.raises(ModelError, match="there are random, bfs, greedy, file_based, ollama, lmstudio, PREFIX/NAME"):
        registry.find_model("gpt\x1b", registry.MODELS)
    with pytest.raises(ModelError, match=r"python run_eval\.py --model spca"):
        registry.find_model("spca", registry.MODELS)
    with pytest.raises(ModelError, match="--work-dir"):
        registry.MODELS["file_based"].factory(ModelRequest("file_based", FileBasedOptions(), seed=7, limit=1))


@dataclass(frozen=True)
class MyOptions:
    mine_a: int = 5
    other: Annotated[str | None, Parameter(name="--mine-b")] = None
    timeout: float | None = None


def test_a_model_can_be_added() -> None:
    registry.register_model("mine", lambda _: BFSModelInterface(), MyOptions, help="of mine", max_workers=1)
    try:
        entry = registry.find_model("mine", registry.MODELS)
        assert (entry.help, entry.max_workers) == ("of mine", 1)
        _, bound, _ = cli.build_app().parse_args("--model mine --mine-b x --timeout 3 --ollama-url u")
        assert entry.make_options(bound.kwargs) == MyOptions(5, "x", 3.0)
    finally:
        del registry.MODELS["mine"]


def test_every_option_of_a_model_stands_in_help_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    told = capsys.readouterr().out
    for option in registry.list_options(registry.MODELS):
        flag = "--server" if option.name == "servers" else f"--{option.name.replace('_', '-')}"
        assert len(re.findall(rf"^  {flag}\b(?!-)", told, re.MULTILINE)) == 1


@pytest.mark.parametrize("name", ["random", "bfs", "greedy", "ollama", "lmstudio"])
def test_a_model_is_made_from_its_defaults(name: str) -> None:
    entry = registry.MODELS[name]
    model = entry.factory(ModelRequest(name, entry.make_options({}), seed=7, limit=1))
    assert name in model.model_name or "/" in model.model_name or ":" in model.model_name


@pytest.mark.parametrize("name", registry.MODELS)
def test_what_may_change_are_options(name: str) -> None:
    entry = registry.MODELS[name]
    names = {field.name for field in fields(entry.options)} if entry.options else set()
    assert entry.may_change <= names
