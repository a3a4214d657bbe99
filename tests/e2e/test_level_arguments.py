"""A run of the curriculum in docs/curriculum.md: levels with arguments and seeds of their own, from start to report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import level_summaries, main_py, only_run, read
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(900)

PAGE = (ROOT / "docs" / "curriculum.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
WHERE = ("--curriculum", "curriculum.json", "--runs", "runs", "--workspace", "workspace")
REFUSED = {"id": "MiniGrid-Empty-6x6-v0", "kwargs": {"sise": 3}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the example, and of a level whose argument does not exist."""
    path = tmp_path_factory.mktemp("arguments")
    data = json.loads(EXAMPLE)
    data[0]["levels"][0]["configs"].insert(2, REFUSED)
    (path / "curriculum.json").write_text(json.dumps(data), encoding="utf-8")
    done = main_py(path, *WHERE, "--seed", "7", "--quiet")
    assert done.returncode == 0, done.stderr
    return path


def test_the_page_tells_the_names_of_the_example(tmp_path: Path) -> None:
    (tmp_path / "curriculum.json").write_text(EXAMPLE, encoding="utf-8")
    listed = main_py(tmp_path, "list", "--curriculum", "curriculum.json").stdout.split()
    names = [word for word in listed if word.startswith("MiniGrid-")]
    assert len(names) == 8
    for name in ("MiniGrid-Empty-5x5-v0", *re.findall(r"`(MiniGrid-[\w-]+[+#]\w+)`", PAGE)):
        assert name in names
    assert len(re.findall(r"`(MiniGrid-[\w-]+[+#]\w+)`", PAGE)) == 2


def test_each_level_is_played_with_its_arguments_and_seed(home: Path) -> None:
    run = only_run(home / "runs")
    levels = {summary["level"]["level_name"]: summary for summary in level_summaries(run)}
    assert len(levels) == 9
    assert sum(summary["outcome"] == "success" for summary in levels.values()) == 8
    seeds = {name: summary["level"]["seed"] for name, summary in levels.items()}
    assert seeds["MiniGrid-Empty-5x5-v0"] == 7
    assert seeds["MiniGrid-Fetch-5x5-N2-v0#8"] == 8

    (refused,) = (summary for summary in levels.values() if summary["outcome"] == "fail")
    assert refused["failed_by"] == "world"
    assert re.match(
        r"MiniGrid-Empty-6x6-v0\+\w{8}: cannot be built: .*unexpected keyword argument 'sise'", refused["reason"]
    )

    (large,) = (name for name in levels if name.startswith("MiniGrid-Empty-5x5-v0+"))
    trajectory = read(run / levels[large]["trajectory"])
    assert (trajectory["env_id"], trajectory["kwargs"], trajectory["seed"]) == ("MiniGrid-Empty-5x5-v0", {"size": 7}, 7)
    plain = read(run / levels["MiniGrid-Empty-5x5-v0"]["trajectory"])
    assert "kwargs" not in plain
    assert len(trajectory["primitives"]) > len(plain["primitives"]), "the room is larger"


def test_replay_and_report_build_the_same_worlds_again(home: Path) -> None:
    run = only_run(home / "runs")
    names = [summary["level"]["level_name"] for summary in level_summaries(run) if summary["outcome"] == "success"]
    (large,) = (name for name in names if "+" in name)
    for name in (large, "MiniGrid-Fetch-5x5-N2-v0#8"):
        done = main_py(home, "replay", run, name, "--runs", "runs")
        assert done.returncode == 0, done.stderr
        assert "re-simulation equals the recording" in done.stdout
    asked = main_py(
        home, "query", run, "SELECT env_id, seed, count(*) FROM levels GROUP BY ALL ORDER BY 1, 2", "--format", "csv"
    )
    assert "MiniGrid-Fetch-5x5-N2-v0#8,8,1" in asked.stdout
    page = main_py(home, "report", run)
    assert page.returncode == 0, page.stderr
    assert "8 of 9 levels solved" in page.stdout


def test_a_resumed_run_goes_on_with_the_same_levels(home: Path) -> None:
    run = only_run(home / "runs")
    done = main_py(home, "--resume", run.name, "--runs", "runs", "--workspace", "workspace")
    assert done.returncode == 0, done.stderr
    assert "resuming: 9 of 9 levels are finished, 8 of them solved" in done.stdout


@pytest.mark.long
def test_an_evaluation_plays_each_id_with_its_arguments_once_a_seed(home: Path) -> None:
    done = main_py(
        home, "evaluate", "--agent", only_run(home / "runs"), "--seeds", "1000:1002", "--runs", "evaluations"
    )
    assert done.returncode == 0, done.stderr
    (episodes,) = (home / "evaluations").glob("*/episodes.jsonl")
    played = [json.loads(line) for line in episodes.read_text(encoding="utf-8").splitlines()]
    keys = [(each["env_id"], json.dumps(each.get("kwargs")), each["seed"]) for each in played]
    assert len(set(keys)) == len(keys) == 2 * 5
    larger = [each for each in played if each.get("kwargs") == {"size": 7}]
    assert [each["pass1"] for each in larger] == [True, True]
