"""``list``, kept agents, and a run with the faulty model, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Learned
from tests.support.commands import curriculum, events, level_summaries, main_py, only_run, read
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(900)

EMPTY_5X5 = ["goal_navigation", "  Empty", "    MiniGrid-Empty-5x5-v0", "    MiniGrid-Empty-Random-5x5-v0"]


def test_list_shows_every_category_level_and_id(tmp_path: Path) -> None:
    done = main_py(tmp_path, "list")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    whole = json.loads((ROOT / "merged_curriculum2.json").read_text())
    assert [line for line in lines if not line.startswith(" ")] == [c["category_name"] for c in whole]
    ids = [line.strip() for line in lines if line.startswith("    ")]
    assert sorted(ids) == sorted({i for c in whole for level in c["levels"] for i in level["configs"]})
    assert len(ids) == 150
    assert "  Empty" in lines
    assert list(tmp_path.iterdir()) == []


def test_list_can_be_narrowed(tmp_path: Path) -> None:
    done = main_py(tmp_path, "list", "--only", "GOAL_navigation", "--only", "*5x5*")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == EMPTY_5X5


def test_former_names_of_options_are_taken_with_a_note(tmp_path: Path) -> None:
    done = main_py(tmp_path, "list", "--only", "GOAL_navigation", "--levels", "*5x5*")
    assert (done.returncode, done.stderr) == (0, "note: --levels is called --only now\n")
    assert done.stdout.splitlines() == EMPTY_5X5


def test_seeds_and_caps_may_be_great(tmp_path: Path) -> None:
    done = main_py(tmp_path, "list", "--only", "*-5x5-*", "--seed", 2**32 - 1, "--max-tokens", 2 * 10**9)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_kept_agent_and_kept_pddl_are_used_again(learned: Learned, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("agent.py", "domain.pddl", "problem.pddl"):
        (workspace / name).write_text((learned.workspace / name).read_text())
    chosen = curriculum(tmp_path / "c.json", doors=["MiniGrid-DoorKey-8x8-v0"])
    flags = ("--keep-agent", "--keep-pddl", "--curriculum", chosen, "--runs", tmp_path / "runs")
    done = main_py(tmp_path, *flags, "--workspace", workspace)
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path / "runs")
    assert (run / "agents/agent_v0.py").read_text() == (learned.workspace / "agent.py").read_text()
    (level,) = level_summaries(run)
    assert level["outcome"] == "success"
    assert (level["counters"]["planner_reuse"], level["counters"]["coder_calls"]) == (1, 0)


@pytest.mark.long
def test_without_keep_flags_the_workspace_is_reset(learned: Learned, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("agent.py", "domain.pddl", "problem.pddl"):
        (workspace / name).write_text((learned.workspace / name).read_text())
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0"])
    done = main_py(
        tmp_path, "--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", workspace, "--engine", "tamer"
    )
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path / "runs")
    assert (run / "agents/agent_v0.py").read_text() == (ROOT / "agent.py").read_text()
    (level,) = level_summaries(run)
    assert (level["counters"]["planner_fresh"], level["counters"]["coder_first"]) == (1, 1)


FAULTY = (
    *("--planner-model", "faulty/planner"),
    *("--planner-small-model", "faulty/planner"),
    *("--coder-model", "faulty/coder"),
)


@pytest.mark.long
def test_under_the_faulty_model_every_level_is_solved_and_every_repair_path_used(tmp_path: Path) -> None:
    chosen = curriculum(
        tmp_path / "c.json",
        navigation=["MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-6x6-v0"],
        pickup=["BabyAI-PickupDist-v0", "MiniGrid-Fetch-5x5-N2-v0"],
        doors=["BabyAI-OpenRedDoor-v0", "MiniGrid-DoorKey-5x5-v0"],
    )
    done = main_py(
        tmp_path, *FAULTY, "--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace"
    )
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path / "runs")
    summary = read(run / "summary.json")
    assert (summary["solved"], summary["levels"]) == (6, 6)
    of_models = {n: v for n, v in summary["counters"].items() if "compiled" not in n and not n.startswith("writer")}
    assert all(of_models.values()), of_models
    statuses = {a["status"] for path in (run / "trajectories").iterdir() for a in read(path)["attempts"]}
    assert statuses == {"success", "goal_not_reached", "runtime_error", "stuck"}
    calls = [event for event in events(run) if event["event"] in ("planner_call", "coder_call")]
    said = "\n".join(call["error"] for call in calls)
    for fault in ("not valid JSON", "parse_error", "unsolvable", "primitive methods", "must take"):
        assert fault in said
    assert summary["steps_total"] > summary["steps"]
    for level in level_summaries(run):
        recorded = read(run / level["trajectory"])
        assert level["steps"] == len(recorded["primitives"])
        assert level["steps_total"] == sum(len(attempt["steps"]) for attempt in recorded["attempts"])
        assert level["counters"]["simulation_runs"] == len(recorded["attempts"])
        assert level["counters"]["spca_rounds"] == recorded["attempts"][-1]["round"]


@pytest.mark.long  # tests/test_main_loop.py has it in this process
def test_a_level_that_cannot_be_solved_fails_and_the_next_begins(tmp_path: Path) -> None:
    # The embedded model knows no mission of Playground, which has none that can be completed.
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Playground-v0", "MiniGrid-Empty-5x5-v0"])
    done = main_py(
        tmp_path, "--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].strip() == "1 of 2 levels solved"
    run = only_run(tmp_path / "runs")
    failed, solved = level_summaries(run)
    assert (failed["outcome"], solved["outcome"]) == ("fail", "success")
    assert failed["reason"]
    assert (run / "agents/fail_agent_v1.py").is_file()
    assert not (run / "agents/agent_v1.py").exists()
    assert (run / "agents/agent_v2.py").is_file()
    summary = read(run / "summary.json")
    (failure,) = summary["failures"]
    assert failure["level_name"] == "MiniGrid-Playground-v0"
    assert failure["reason"] == failed["reason"]
