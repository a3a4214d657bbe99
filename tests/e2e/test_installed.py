"""The command ``spca`` of a wheel, in an environment without the checkout, from an empty folder."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import spca
from spca.common.source_state import read_source_state
from spca_model import SpcaOptions
from tests.support.commands import only_run, read
from tests.support.installing import ROOT, Environment, built, copy_tracked, environment

pytestmark = pytest.mark.long

FOREIGN = "raise ImportError('somebody else')\n"
NAMES = ("agent", "adapters", "main", "run_eval", "scripts", "tests")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", copy_tracked(tmp_path_factory.mktemp("source")))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The wheel, beside an ``adapters.py`` of somebody else and a module that the standard library has."""
    made = environment(tmp_path_factory.mktemp("installed") / "venv")
    for name in ("adapters.py", "enum.py"):
        (made.site / name).write_text(FOREIGN, encoding="utf-8")
    made.install(wheel)
    return made


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, installed: Environment) -> Path:
    """A folder in which a category was learned."""
    folder = tmp_path_factory.mktemp("here")
    done = installed.run(folder, "spca", "run", "--only", "goal_navigation")
    assert (done.returncode, done.stderr) == (0, "")
    assert "10 of 10 levels solved" in done.stdout
    assert f"look at it: spca report {folder}/runs/" in done.stdout
    return folder


def test_the_locked_packages_are_what_it_asks_for(installed: Environment) -> None:
    assert installed.pip("check") == "No broken requirements found.\n"


def test_a_run_is_kept_in_the_current_folder(here: Path) -> None:
    assert {path.name for path in here.iterdir()} >= {"runs", "workspace"}
    run = only_run(here / "runs")
    info = read(run / "run.json")
    assert (info["sandbox"], info["git_commit"], info["versions"]["spca"]) == ("strict", None, spca.__version__)
    assert (info["git_dirty"], info["hashes"]["product"]) == (None, read_source_state(ROOT).product)
    assert (run / "agents/agent_v0.py").read_text(encoding="utf-8") == (ROOT / "agent.py").read_text(encoding="utf-8")


def test_report_takes_the_latest_run_of_the_current_folder(installed: Environment, here: Path) -> None:
    done = installed.run(here, "spca", "report")
    assert (done.returncode, done.stderr) == (0, "")
    assert (only_run(here / "runs") / "report.html").stat().st_size > 100_000


def test_what_was_learned_is_evaluated_by_several_workers(installed: Environment, here: Path) -> None:
    done = installed.run(here, "spca", "evaluate", "--seeds", "7,8", "--only", "MiniGrid-Empty-*", "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "12 episodes of seeds 7,8" in done.stdout
    (summary,) = here.glob("runs/*/evaluation.json")
    assert read(summary)["git_commit"] is None


def test_query_needs_no_extra(installed: Environment, here: Path) -> None:
    done = installed.run(here, "spca", "query", "SELECT count(*) AS levels FROM levels", "--format", "json")
    assert (json.loads(done.stdout), done.stderr) == ([{"levels": 10}], "")


def test_gridworld_knows_tasks_and_the_agent_in_every_worker(installed: Environment, tmp_path: Path) -> None:
    listed = installed.run(tmp_path, "spca", "gridworld", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "V01_empty_room" in listed.stdout
    tasks = installed.site / "gridworld" / "tasks" / "tier1"
    judge = ("--model", "spca", "--benchmark", "directory", "--task-dir", tasks, "--workers", "2", "--quiet")
    for program in (("spca", "gridworld"), ("multinet-run-eval", "--overwrite")):
        done = installed.run(tmp_path, *program, *judge)
        assert (done.returncode, done.stderr) == (0, "")
        assert "3 of 3 solved" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"results", "runs"}


def test_a_process_that_does_not_find_the_agent_can_make_it(installed: Environment, tmp_path: Path) -> None:
    sent = pickle.dumps(SpcaOptions(planner_model="reference/planner", coder_model="reference/coder"))
    code = f"""if True:
        import pickle
        from gridworld.evaluation.models.model_options import ModelRequest
        from spca.common.installation import ApplicationFunction
        make = pickle.loads(pickle.dumps(ApplicationFunction("spca_model", "make")))
        options = pickle.loads({sent!r})
        print(make(ModelRequest("spca", options, seed=1, limit=1)).model_name)
    """
    done = installed.run(tmp_path, "python", "-c", code)
    assert done.stdout == "spca\n"


def test_robot_names_the_missing_extra(installed: Environment, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "spca", "robot", "doctor")
    assert done.returncode == 1
    assert "FAILS  mujoco                  not installed\n" in done.stdout
    advice = f"{installed.path}/bin/python -m pip install 'sense-plan-code-act[robot]'"
    assert f"FAILS  packages                install what is missing: {advice}\n" in done.stdout
    assert done.stdout.count("pip install") == 1


def test_explorer_has_its_scenes(installed: Environment, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "spca", "explorer", "show", "test:1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_ours_is_imported_elsewhere(installed: Environment, tmp_path: Path, name: str) -> None:
    done = installed.run(tmp_path, "python", "-c", f"import {name}")
    assert done.returncode == 1
    expected = "somebody else" if name == "adapters" else f"No module named '{name}'"
    assert expected in done.stderr


def test_uninstalled_nothing_is_left(tmp_path: Path, wheel: Path) -> None:
    made = environment(tmp_path / "venv")
    before = {path.name for path in made.site.iterdir()}
    made.install(wheel)
    made.pip("uninstall", "--yes", "sense-plan-code-act")
    assert {path.name for path in made.site.iterdir()} == before


def test_an_editable_install_keeps_to_its_checkout(tmp_path: Path) -> None:
    made = environment(tmp_path / "venv")
    checkout, elsewhere = copy_tracked(tmp_path / "checkout"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    made.install(built("editable", checkout))
    done = made.run(elsewhere, "spca", "--only", "MiniGrid-Empty-5x5-v0", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert only_run(checkout / "runs").is_dir()
    assert not list(elsewhere.iterdir())
    assert "No module named 'agent'" in made.run(elsewhere, "python", "-c", "import agent").stderr
