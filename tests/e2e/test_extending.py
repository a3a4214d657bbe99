"""The world, the policy and the suites of ``docs/extending.md``, used from outside the checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import environment, main_py, only_run, read
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(300)

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w+ (?:plugin|file|test)=(\S+)\n(.*?)```", PAGE, re.DOTALL))
SCRIPT = '''"""A scripted model that crosses the ice."""

import json

import spca

DOMAIN = "(define (domain lake) (:predicates (crossed)) (:action cross_ice :parameters () :effect (crossed)))"
PROBLEM = "(define (problem task) (:domain lake) (:init) (:goal (crossed)))"
PLAN = json.dumps({"domain": DOMAIN, "problem": PROBLEM, "writer_name": "", "writer": ""})
METHOD = """def cross_ice(self):
    \\"\\"\\"Go over frozen ice to the goal, by the shortest way.\\"\\"\\"
    steps = {(0, -1): self.go_left, (1, 0): self.go_down, (0, 1): self.go_right, (-1, 0): self.go_up}
    ways = {self.place: []}
    queue = [self.place]
    for place in queue:
        for step in steps:
            near = (place[0] + step[0], place[1] + step[1])
            is_inside = 0 <= near[0] < len(self.ice) and 0 <= near[1] < len(self.ice[0])
            if is_inside and near not in ways and self.ice[near] != "hole":
                ways[near] = [*ways[place], step]
                queue.append(near)
    for place, way in ways.items():
        if self.ice[place] == "goal":
            for step in way:
                yield steps[step]()
"""


class Script:
    def __init__(self, target): pass

    def complete(self, request):
        return spca.Response(METHOD if request.phase == "coder" else PLAN)


def register(registry):
    registry.provider("lake-script", Script, is_free=True)
'''


POND_ENV = """import gymnasium

LAKE = "gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv"
gymnasium.register("Pond-v0", entry_point=LAKE, kwargs={"is_slippery": False}, max_episode_steps=100)
"""
POND = """import pond_env
from lake import Lake


class Pond(Lake):
    pass


def register(registry):
    registry.world("pond", Pond.body, Pond.make)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stranger")
    for name, text in {**FILES, "lake_script.py": SCRIPT}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_page_has_every_file() -> None:
    assert {"lake.py", "lake.json", "wanderer.py", "parrot.py", "test_lake.py"} <= FILES.keys()


def test_the_world_is_played_with_a_scripted_model(home: Path) -> None:
    plugins = ("--plugin", "lake.py", "--plugin", "lake_script.py")
    models = ("--planner-model", "lake-script/a", "--coder-model", "lake-script/a")
    where = ("--runs", "runs", "--workspace", "workspace")
    done = main_py(home, *plugins, "--curriculum", "lake.json", *models, "--max-calls", 4, *where)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 levels solved" in done.stdout
    run = only_run(home / "runs")
    prompts = [read(path)["messages"] for path in sorted(run.glob("llm/*.json"))]
    words = " ".join(json.dumps(prompts).replace("\\n", " ").split())
    for said in ("Holes end the episode, lost.", "go_left", "(row, column) of the agent", 'hole\\", \\"goal'):
        assert said in words.replace('\\\\\\"', '\\"'), said
    assert read(run / "run.json")["plugins"][0]["name"] == "lake"


def test_the_levels_are_listed_before_any_model_is_chosen(home: Path) -> None:
    done = main_py(home, "list", "--plugin", "lake.py", "--curriculum", "lake.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "FrozenLake-v1" in done.stdout


def test_a_plugin_imports_the_file_beside_it_in_every_process(home: Path) -> None:
    (home / "pond_env.py").write_text(POND_ENV, encoding="utf-8")
    (home / "pond.py").write_text(POND, encoding="utf-8")
    level = {"name": "dry", "configs": [{"id": "Pond-v0", "mission": "get to the goal"}]}
    category = {"category_name": "pond", "skill": "Cross the ice", "levels": [level]}
    (home / "pond.json").write_text(json.dumps([category]), encoding="utf-8")
    plugins = ("--plugin", "pond.py", "--plugin", "lake_script.py", "--world", "pond")
    models = ("--planner-model", "lake-script/a", "--coder-model", "lake-script/a")
    where = ("--runs", "pond_runs", "--workspace", "workspace")
    done = main_py(home, *plugins, "--curriculum", "pond.json", *models, "--max-calls", 4, *where)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 of 1 levels solved" in done.stdout
    assert "one life" not in done.stdout


def test_the_policy_is_listed(home: Path) -> None:
    done = main_py(home, "worlds", "--plugin", "wanderer.py", "--plugin", "lake.py")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split()[:3] for line in done.stdout.splitlines()]
    assert ["policy", "wanderer", "wanderer"] in rows
    assert ["world", "lake", "lake"] in rows


def test_the_suites_pass(home: Path) -> None:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(home))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_lake.py"],
        cwd=home,
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 80
