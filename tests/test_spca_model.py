"""The SPCA agent as a model of an evaluation: it plays in its own world, another one judges."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import main
import run_eval
from gridworld.backends import get_backend
from gridworld.errors import BudgetSpentError, ModelError, ModelUnavailableError
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.model_interface import ModelInput
from gridworld.library import resolve
from gridworld.rules.layout import Layout
from gridworld.runner.episode_result import EpisodeResult
from gridworld.search.solver import DEFAULT_LIMIT
from gridworld.task_spec import TaskSpecification
from minigridenv import MiniGridEnv
from spca.common.errors import BudgetReached, SPCAError, UnusableModelError
from spca.errors import ProviderConfigError, ProviderDownError, SandboxError, WorldError
from spca.report.replay.resimulation import ELSEWHERE, resimulate
from spca.runs.run import Run
from spca_model import SpcaModel, SpcaOptions
from tests.support.tiers import long
from tests.test_gridworldenv import spec

SHIPPED = {
    "tasks/tier3/gates_switches_002.json": 35,
    "tasks/tier5/hidden_switch_001.json": 75,
    "tasks/tier5/teleporter_004.json": 17,
}
"""Steps at most: the shortest way where all is known, else the limit of the task."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def harness(runs: Path) -> Iterator[EvaluationHarness]:
    judged = EvaluationHarness(
        SpcaModel(SpcaOptions(spca_runs=str(runs)), 1), get_backend("multigrid", render_mode=None)
    )
    judged.set_up()
    yield judged
    judged.close()


def play(harness: EvaluationHarness, task: TaskSpecification) -> EpisodeResult:
    return harness.evaluate_task(task)


@pytest.mark.parametrize("name", [each if "tier5/hidden" in each else long(each) for each in SHIPPED])
def test_shipped_tasks_are_solved(harness: EvaluationHarness, name: str) -> None:
    result = play(harness, TaskSpecification.from_json(resolve(f"gridworld/{name}")))
    assert result.success
    assert result.steps_taken <= SHIPPED[name]
    assert "model_error" not in result.info


def test_what_was_done_is_told_and_kept(harness: EvaluationHarness, runs: Path) -> None:
    result = play(harness, spec())
    details = result.info["details"]
    assert result.success
    assert details["solved_in_own_world"]
    assert (details["rounds"], details["attempts"], details["restores"]) == (1, 1, 0)
    assert details["planner_calls"] == 1
    assert details["usage"]["cost_usd"] == 0
    folder = Path(details["run"])
    assert folder.parent == runs
    trajectory = json.loads(next(folder.glob("trajectories/Gridworld_t.json")).read_text(encoding="utf-8"))
    assert len(trajectory["primitives"]) == result.steps_taken
    levels = json.loads((folder / "state/curriculum.json").read_text(encoding="utf-8"))[0]["levels"]
    assert "t" in [config for level in levels for config in level["configs"]]


def test_a_task_that_is_played_again_has_a_name_of_its_own(harness: EvaluationHarness) -> None:
    numbers = [play(harness, spec(task_id="one more")).info["details"]["level"] for _ in range(2)]
    assert numbers[1] == numbers[0] + 1


@pytest.mark.long
def test_what_cannot_be_solved_is_played_to_its_end_and_waited_out(harness: EvaluationHarness) -> None:
    closed = {"gates": [{"id": "g", "position": [4, 3]}], "switches": []}
    result = play(harness, spec(task_id="shut", mechanisms=closed, max_steps=40))
    assert not result.success
    assert result.truncated
    assert not result.info["details"]["solved_in_own_world"]
    assert result.info["details"]["rounds"] == 5


@pytest.mark.parametrize(
    ("changes", "solved_by"),
    [
        ({"goal": {"type": "survive_steps"}, "max_steps": 70}, 70),
        ({"goal": {"type": "collect_all", "target_ids": ["k", "s"]}}, 9),
        ({"goal": {"type": "reach_position", "target": [5, 1], "auxiliary_conditions": ["carrying:k"]}}, 17),
        (
            {
                "mechanisms": {"blocks": [{"id": "b", "position": [2, 2]}]},
                "goal": {"type": "push_block_to", "target_ids": ["b"], "target_positions": [[3, 2]]},
            },
            5,
        ),
        (
            {
                "mechanisms": {
                    "switches": [{"id": "s", "position": [3, 2], "controls": ["g"], "switch_type": "hold"}],
                    "gates": [{"id": "g", "position": [4, 3]}],
                    "blocks": [{"id": "b", "position": [2, 2]}],
                }
            },
            60,
        ),
        (
            {
                "rules": {"observability": "view_cone", "view_size": 5},
                "mechanisms": {
                    "keys": [{"id": "k", "position": [1, 3], "color": "blue"}],
                    "blocks": [{"id": "b", "position": [2, 3]}],
                },
                "goal": {"type": "collect_all", "target_ids": ["k"], "auxiliary_conditions": ["not at:b:2,3"]},
            },
            20,
        ),
    ],
)
def test_every_kind_of_goal_and_switch(harness: EvaluationHarness, changes: dict[str, Any], solved_by: int) -> None:
    result = play(harness, spec(**changes))
    assert result.success
    assert result.steps_taken <= solved_by


@pytest.mark.parametrize(("keys", "limit"), [(3, 1), (3, DEFAULT_LIMIT), long(5, 1)])
def test_keys_in_one_room_and_doors_in_a_row_are_solved_and_worth_points(
    harness: EvaluationHarness, keys: int, limit: int
) -> None:
    """With and without a proven optimum: where only one state may be expanded, there is none."""
    colours = ("red", "blue", "green", "purple", "yellow")[:keys]
    width, row = 7 + 2 * keys, 3
    task = spec(
        task_id=f"family {keys}",
        maze={
            "dimensions": [width, 7],
            "walls": [[5 + 2 * n, y] for n in range(keys) for y in range(1, 6) if y != row],
            "start": [1, 1],
            "goal": [width - 2, row],
        },
        mechanisms={
            "keys": [{"id": f"k{n}", "position": [2 + n % 2, 1 + n], "color": c} for n, c in enumerate(colours)],
            "doors": [{"id": f"d{n}", "position": [5 + 2 * n, row], "requires_key": c} for n, c in enumerate(colours)],
        },
        goal={"type": "reach_position", "target": [width - 2, row]},
        max_steps=400,
    )
    judged = EvaluationHarness(harness.model, harness.runner.backend, device=None, limit=limit).judge(task)
    assert judged.success
    assert (judged.optimal_steps is None) == judged.against_bound == (limit == 1)
    assert judged.bound is not None
    assert judged.points_earned == judged.bound / judged.steps_taken > 0


def test_the_hexagonal_tiling_is_refused_in_words() -> None:
    with pytest.raises(ModelError, match="spca plays on the square tiling only, not on hex"):
        SpcaModel().begin_episode(spec(), 1, tiling="hex")


def test_a_model_that_does_not_exist_is_named_before_anything_is_played(runs: Path) -> None:
    model = SpcaModel(SpcaOptions(planner_model="nowhere/x", spca_runs=str(runs)))
    assert model.model_name.startswith("spca (nowhere/x")
    with pytest.raises(ModelError, match="nowhere"):
        model.setup()


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (BudgetReached("budget: 3 requests were sent (--max-calls 3)", "--max-calls"), BudgetSpentError),
        (UnusableModelError("x/y has not written usable code", "--coder-model", "coder"), ModelUnavailableError),
        (ProviderDownError("no server at http://there"), ModelUnavailableError),
        (ProviderConfigError("no credit left"), ModelUnavailableError),
        (SandboxError("the wall has failed"), ModelUnavailableError),
        (WorldError("this world cannot be had"), ModelError),
    ],
)
def test_what_would_fail_every_task_to_come_ends_the_evaluation(
    harness: EvaluationHarness, monkeypatch: pytest.MonkeyPatch, error: SPCAError, raised: type[ModelError]
) -> None:
    def fail(*_: object) -> None:
        raise error

    model: Any = harness.model
    monkeypatch.setattr(model._session, "play", fail)
    with pytest.raises(ModelError) as caught:
        model.begin_episode(spec(), 1)
    assert type(caught.value) is raised
    assert str(caught.value) == f"spca: {error}"


def test_a_model_without_usable_answers_fails_two_tasks_and_ends_the_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2, 3):
        spec(task_id=f"t{number}").to_json(tmp_path / f"t{number}.json")
    command = ["--benchmark", "directory", "--task-dir", str(tmp_path), "--model", "spca", "--quiet"]
    command += ["--spca-runs", str(tmp_path / "runs"), "--output", str(tmp_path / "out.json")]
    command += ["--planner-model", "reference/planner", "--coder-model", "faulty/prose/coder"]
    assert run_eval.main(command) == 2
    said = capsys.readouterr().err
    assert "spca: faulty/prose/coder has not written usable code in 16 calls; its last answer began: " in said
    assert "2 tasks are finished; go on with" in said


@pytest.mark.long
def test_a_budget_that_is_spent_between_tasks_ends_the_evaluation_resumably(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        spec(task_id=f"t{number}").to_json(tmp_path / f"t{number}.json")
    played, output = Run.play_level, tmp_path / "out.json"

    def once(run: Run, number: int, task: Any) -> Any:
        if number > 1:
            raise BudgetReached("budget: 3 requests were sent (--max-calls 3)", "--max-calls")
        return played(run, number, task)

    command = ["--benchmark", "directory", "--task-dir", str(tmp_path), "--model", "spca", "--quiet"]
    command += ["--spca-runs", str(tmp_path / "runs"), "--output", str(output)]
    command += ["--planner-model", "reference/planner", "--coder-model", "reference/coder"]
    monkeypatch.setattr(Run, "play_level", once)
    assert run_eval.main(command) == 3
    said = capsys.readouterr().err
    assert "--max-calls 3" in said
    assert "1 task is finished; go on with" in said
    assert not output.exists()


def test_a_run_folder_of_an_evaluation_is_reported_and_says_who_shows_its_episodes(
    harness: EvaluationHarness, capsys: pytest.CaptureFixture[str]
) -> None:
    details = play(harness, spec(task_id="MiniGrid-Empty-5x5-v0")).info["details"]
    folder = Path(details["run"])
    assert main.main(["report", str(folder)]) == 0
    assert main.main(["replay", str(folder), str(details["level"])]) == 2
    assert "python run_eval.py draw --episode RESULTS" in capsys.readouterr().err
    trajectory = json.loads((folder / "trajectories/Gridworld_MiniGrid-Empty-5x5-v0.json").read_text(encoding="utf-8"))
    check = resimulate(MiniGridEnv, trajectory).attempts[0][1]
    assert (check.result, check.message) == ("", ELSEWHERE)
    assert main.main(["--resume", folder.name, "--runs", str(folder.parent)]) == 2
    assert "go on with the command of the evaluation and --resume" in capsys.readouterr().err


def test_names_of_levels_never_meet_and_nobody_is_told_the_tier(
    harness: EvaluationHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = harness.model
    session, names = model._session, []
    monkeypatch.setattr(session, "_layouts", {})
    for tier, name in enumerate(("meet-2", "meet", "meet"), 1):
        layout = Layout(spec(task_id=name, difficulty_tier=tier))
        task = session._task(layout)
        session._layouts[task.env_id] = layout
        names.append(task.env_id)
        assert task.info().level == "task"
    assert names == ["meet-2", "meet", "meet-3"]


@pytest.mark.parametrize("option", [("--max-cost", "nan"), ("--max-calls", "0"), ("--spca-timeout", "-1")])
def test_amounts_that_are_none_are_refused(option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_eval.main(["--benchmark", "tiers", "--model", "spca", *option]) == 2
    assert option[0] in capsys.readouterr().err


def test_after_the_plan_it_waits() -> None:
    image: Any = None
    answer = SpcaModel().predict(ModelInput(image, "", {}, 1, 9))
    assert answer.action == 6


def test_the_command_knows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_eval.main(["--help"]) == 0
    assert " spca senses, plans, codes and acts" in " ".join(capsys.readouterr().out.split())


def test_options_reach_a_process_that_does_not_find_applications() -> None:
    options = SpcaOptions(planner_model="openai/x", servers=("lab=http://127.0.0.1:9/v1",))
    sent = pickle.dumps(options)
    assert b"ApplicationFunction" in sent
    assert b"SpcaOptions" not in sent
    assert pickle.loads(sent) == options  # noqa: S301 - our own
