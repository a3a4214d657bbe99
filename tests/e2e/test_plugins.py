"""Plugins of the documentation, used through the real command from outside the checkout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spca.runs.recording.folder import CURRICULUM
from tests.support.commands import command, environment, main_py, only_run, read
from tests.support.spca.doubles import ROOT
from tests.support.tiers import long

pytestmark = pytest.mark.timeout(300)

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```python plugin=(\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
RELIC_ROOM = "MyLab-RelicRoom-v0"
EMPTY = "MiniGrid-Empty-5x5-v0"
PLANTED = "import pathlib\npathlib.Path({mark!r}).touch()\ndef register(registry): pass\n"

BAD_PARTS = """
import sys
from spca.bodies.grid.body import GRID

class Five:
    models = 5
    def complete(self, request): pass

def raise_error(error): raise error

def register(registry):
    registry.world("raising", GRID, lambda *_: raise_error(KeyError("no room")))
    registry.world("leaving", GRID, lambda *_: sys.exit(0))
    registry.world("none", GRID, lambda *_: None)
    registry.provider("raising", lambda _: raise_error(ValueError("no key")))
    registry.provider("none", lambda _: None)
    registry.provider("five", lambda _: Five())
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A folder outside the checkout with the plugins of the documentation, and a finished run with one of them."""

    home: Path
    run: Path

    def call(self, *arguments: object, **env: str) -> tuple[int, str, str]:
        """Run the command in the folder; return exit code, output and errors."""
        if "PYTHONPATH" in env:  # the server of forked commands has found its modules already
            done = subprocess.run(
                command(*arguments), cwd=self.home, env=environment(**env), capture_output=True, text=True, check=False
            )
        else:
            done = main_py(self.home, *arguments, **env)
        return done.returncode, done.stdout, done.stderr

    def refuse(self, *arguments: object, **env: str) -> str:
        """Run a command that refuses, in one line and with exit code 2; return the line."""
        code, _, errors = self.call(*arguments, **env)
        assert code == 2, errors
        assert errors.count("\n") == 1, errors
        return errors.strip()


def write_curriculum(path: Path, *ids: str) -> Path:
    level = {"name": "rooms", "configs": list(ids)}
    path.write_text(json.dumps([{"category_name": "lab", "skill": "go to the goal", "levels": [level]}]), "utf-8")
    return path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    home = tmp_path_factory.mktemp("lab")
    for name, text in EXAMPLES.items():
        (home / name).write_text(text, encoding="utf-8")
    write_curriculum(home / "rooms.json", EMPTY, RELIC_ROOM)
    where = ("--curriculum", "rooms.json", "--runs", "runs", "--workspace", "workspace", "--quiet")
    done = main_py(home, "--plugin", "relics.py", *where)
    assert (done.returncode, done.stderr) == (0, "")
    return Lab(home, only_run(home / "runs"))


def test_the_page_has_an_example_of_each_kind() -> None:
    assert EXAMPLES.keys() == {"relics.py", "lake.py", "parrot.py", "shortest.py", "wanderer.py"}


def test_a_run_records_its_plugins(lab: Lab) -> None:
    (plugin,) = read(lab.run / "run.json")["plugins"]
    assert (plugin["name"], plugin["given"], plugin["version"]) == ("relics", str(lab.home / "relics.py"), "")
    assert re.fullmatch("[0-9a-f]{64}", plugin["sha256"])
    assert plugin["words"][:2] == ["relic red", "relic green"]
    assert "relic teal" in plugin["words"]
    assert read(lab.run / "summary.json")["solved"] == 2


def test_a_run_with_plugins_is_replayed_reported_and_evaluated(lab: Lab) -> None:
    plugin = ("--plugin", "relics.py", "--runs", "runs")
    code, shown, errors = lab.call("replay", lab.run.name, RELIC_ROOM, *plugin)
    assert (code, errors) == (0, "")
    assert "r relic (can be carried)" in shown
    assert "re-simulation equals the recording" in shown
    code, shown, errors = lab.call("report", lab.run.name, *plugin)
    assert (code, errors) == (0, "")

    seeds = ("--seeds", "500:504", "--workers", 2, "--planner-model", "none")
    code, shown, errors = lab.call("evaluate", "--agent", lab.run.name, *seeds, *plugin)
    assert (code, errors) == (0, "")
    assert "8 episodes of seeds 500:504" in shown
    (record,) = (lab.home / "runs").glob("*/evaluation.json")
    assert read(record)["plugins"] == read(lab.run / "run.json")["plugins"]
    assert "used the plugin relics" in lab.refuse("report", record.parent.name, "--runs", "runs")
    code, _, _ = lab.call("report", record.parent.name, "--no-page", *plugin)
    assert code == 0


def commands_on(run: Path) -> Mapping[str, tuple[object, ...]]:
    """The commands that go on with a run or show it."""
    where = ("--runs", run.parent)
    return {
        "resume": ("--resume", run.name, *where),
        "replay": ("replay", run.name, 1, *where),
        "report": ("report", run.name, *where),
        "watch": ("watch", run.name, *where),
        "evaluate": ("evaluate", "--agent", run.name, "--seeds", "500:501", *where),
    }


@pytest.mark.parametrize("name", ["resume", "replay", "report", "watch", "evaluate"])
def test_without_its_plugin_a_run_is_refused(lab: Lab, name: str) -> None:
    line = lab.refuse(*commands_on(lab.run)[name])
    asked = f"give --plugin {lab.home / 'relics.py'}, or install it"
    assert line == f"error: run {lab.run.name} used the plugin relics, which is not loaded: {asked}"


@pytest.mark.parametrize("name", ["resume", "replay", "report", "evaluate"])
def test_with_another_source_of_its_plugin_a_run_is_refused(lab: Lab, name: str, tmp_path: Path) -> None:
    edited = tmp_path / "relics.py"
    edited.write_text(EXAMPLES["relics.py"] + "# edited\n", encoding="utf-8")
    line = lab.refuse("--plugin", edited, *commands_on(lab.run)[name])
    assert f"run {lab.run.name} used the plugin relics with another source (" in line


@pytest.mark.parametrize("name", ["resume", long("replay"), long("report"), long("watch"), "evaluate"])
def test_what_a_run_folder_names_is_not_imported(lab: Lab, name: str, tmp_path: Path) -> None:
    run = tmp_path / "runs" / lab.run.name
    shutil.copytree(lab.run, run)
    mark = tmp_path / "imported"
    (tmp_path / "planted.py").write_text(PLANTED.format(mark=str(mark)), encoding="utf-8")
    info: dict[str, Any] = read(run / "run.json")
    info["plugins"] = [{"name": "planted", "given": str(tmp_path / "planted.py"), "version": "", "sha256": ""}]
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
    line = lab.refuse(*commands_on(run)[name], PYTHONPATH=str(tmp_path))
    assert f"used the plugin planted, which is not loaded: give --plugin {tmp_path / 'planted.py'}" in line
    assert not mark.exists()


@pytest.mark.parametrize("name", [long("resume"), long("replay"), long("report"), "evaluate"])
def test_the_module_of_an_id_in_a_run_folder_is_not_imported(lab: Lab, name: str, tmp_path: Path) -> None:
    run = tmp_path / "runs" / lab.run.name
    shutil.copytree(lab.run, run)
    mark = tmp_path / "imported"
    (tmp_path / "planted.py").write_text(PLANTED.format(mark=str(mark)), encoding="utf-8")
    files = [run / CURRICULUM, run / "state" / "state.json", *run.glob("trajectories/*.json")]
    for path in files:
        path.write_text(path.read_text("utf-8").replace(f'"{EMPTY}"', f'"planted:{EMPTY}"'), encoding="utf-8")
    assert f"planted:{EMPTY}" in files[0].read_text("utf-8")
    _, shown, errors = lab.call("--plugin", "relics.py", *commands_on(run)[name], PYTHONPATH=str(tmp_path))
    assert not mark.exists()
    if name in ("replay", "evaluate"):
        assert "the module planted is not loaded: give --plugin planted" in shown + errors
    if name == "evaluate":
        chosen = write_curriculum(tmp_path / "rooms.json", f"planted:{EMPTY}")
        lab.call("--curriculum", chosen, "--runs", tmp_path / "more", PYTHONPATH=str(tmp_path))
        assert mark.exists()  # of the user's own file it is


@pytest.mark.long
def test_the_module_of_an_id_in_an_evaluation_folder_is_not_imported(lab: Lab, tmp_path: Path) -> None:
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    assert lab.call("--only", EMPTY, *where)[0] == 0
    run = only_run(tmp_path / "runs")
    seeds = ("--seeds", "500:502", "--planner-model", "none", "--versus", "bot")
    assert lab.call("evaluate", "--agent", run, *seeds, "--runs", tmp_path / "eval")[0] == 0
    evaluation = next((tmp_path / "eval").glob("*/evaluation.json")).parent
    for path in (*evaluation.rglob("*.json"), *evaluation.rglob("*.jsonl")):
        path.write_text(path.read_text("utf-8").replace(f'"{EMPTY}', f'"planted:{EMPTY}'), encoding="utf-8")
    mark = tmp_path / "imported"
    (tmp_path / "planted.py").write_text(PLANTED.format(mark=str(mark)), encoding="utf-8")
    for played in ("bot.jsonl", "proofs.jsonl"):  # all episodes were played, but not these
        (evaluation / played).unlink(missing_ok=True)
    _, shown, errors = lab.call(
        "evaluate", "--resume", evaluation.name, "--runs", tmp_path / "eval", PYTHONPATH=str(tmp_path)
    )
    assert not mark.exists()
    assert "the module planted is not loaded: give --plugin planted" in shown + errors


def test_a_plugin_whose_parts_cannot_be_made_is_one_line(lab: Lab, tmp_path: Path) -> None:
    bad = tmp_path / "bad_parts.py"
    bad.write_text(BAD_PARTS, encoding="utf-8")
    plugin = ("--plugin", bad, "--plugin", "parrot.py", "--runs", tmp_path / "runs", "--max-calls", 4)
    asked = ("--planner-model", "parrot/polly", "--coder-model", "parrot/polly")
    for world, words in (("raising", "KeyError: 'no room'"), ("leaving", "SystemExit: 0"), ("none", "made NoneType")):
        assert words in lab.refuse(*plugin, *asked, "--world", world, "--only", EMPTY)
    for name, words in (("raising", "ValueError: no key"), ("none", "no method complete"), ("five", "are int, not")):
        assert words in lab.refuse(*plugin, "--planner-model", f"{name}/a", "--only", EMPTY)


def test_a_paused_run_goes_on_with_its_plugin_alone(lab: Lab, tmp_path: Path) -> None:
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    code, _, errors = lab.call("--plugin", "relics.py", "--curriculum", "rooms.json", "--max-calls", 1, *where)
    assert code == 3
    run = only_run(tmp_path / "runs")
    assert f"--resume {run.name} --runs {run.parent} --plugin {lab.home / 'relics.py'} --max-calls MORE" in errors
    other = tmp_path / "idols.py"
    other.write_text("def register(registry): registry.object_kind('idol', 'i')\n", encoding="utf-8")
    plugins = ("--plugin", "relics.py", "--plugin", other)
    line = lab.refuse(*plugins, "--resume", run.name, "--runs", run.parent, "--max-calls", 99)
    assert line == f"error: run {run.name} was begun without the plugin idols: leave it out"
    resumed = lab.call(
        "--plugin", "relics.py", "--resume", run.name, "--runs", run.parent, "--max-calls", 99, "--quiet"
    )
    assert resumed[0] == 0, resumed[2]
    assert read(run / "summary.json")["solved"] == 2


def test_an_id_may_name_its_module(lab: Lab, tmp_path: Path) -> None:
    only_environments = EXAMPLES["relics.py"].partition("def register")[0]
    (tmp_path / "rooms.py").write_text(only_environments, encoding="utf-8")
    chosen = write_curriculum(tmp_path / "rooms.json", f"rooms:{RELIC_ROOM}")
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    code, _, errors = lab.call("--curriculum", chosen, *where, PYTHONPATH=str(tmp_path))
    assert (code, errors) == (0, "")
    run = only_run(tmp_path / "runs")
    assert [plugin["name"] for plugin in read(run / "run.json")["plugins"]] == ["rooms"]
    replay = ("replay", run.name, 1, "--runs", run.parent)
    assert "give --plugin rooms, or install it" in lab.refuse(*replay, PYTHONPATH=str(tmp_path))
    code, shown, errors = lab.call("--plugin", "rooms", *replay, PYTHONPATH=str(tmp_path))
    assert (code, errors) == (0, "")
    assert "! thing" in shown  # nobody has said what a relic is
    assert "there is no such module" in lab.refuse("--curriculum", chosen, *where)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise RuntimeError('out of order')", "it cannot be imported: RuntimeError: out of order"),
        ("import planted_missing", "it cannot be imported: ModuleNotFoundError: No module named 'planted_missing'"),
        ("pass", "it has no function register(registry): write one"),
        ("def register(registry): registry.object_kind('key', 'K')", "the word 'key' is taken: choose another"),
        ("def register(registry): registry.object_kind('relic', 'k')", "the symbol k is taken by 'key'"),
        ("def register(registry): registry.provider('openai', print)", "openai/... are models already"),
        ("def register(registry): registry.engine('tamer', 'tamer')", "engine 'tamer' exists already"),
        (
            "class A: name = 'a'\ndef register(registry): registry.world('minigrid', A, print)",
            "world 'minigrid' is built in",
        ),
        ("def register(registry): registry.policy('A b', print)", "policy 'A b': a name has small letters"),
        ("def register(registry): registry.nothing()", "it fails to register: AttributeError: "),
    ],
)
def test_a_bad_plugin_is_one_line(lab: Lab, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "planted_bad.py"
    path.write_text(text, encoding="utf-8")
    line = lab.refuse("worlds", "--plugin", path)
    assert line.startswith(f"error: --plugin {path}: ")
    assert words in line
    code, _, errors = lab.call("worlds", "--plugin", path, "--debug")
    assert code == 2
    assert "Traceback" in errors


def test_worlds_lists_what_is_registered_and_by_which_plugin(lab: Lab) -> None:
    code, shown, errors = lab.call("worlds", "--plugin", "relics.py", SPCA_PLUGINS="parrot.py,shortest.py")
    assert (code, errors) == (0, "")
    rows = [line.split()[:4] for line in shown.splitlines()]
    assert ["world", "minigrid", "built", "in"] in rows
    assert ["object", "kind", "relic", "relics"] in rows
    assert ["provider", "parrot", "parrot"] in rows
    assert ["engine", "shortest", "shortest", "fast-downward-opt"] in rows
    assert "did you mean minigrid?" in lab.refuse("--world", "minigird")


def test_a_model_of_a_plugin_is_asked_through_the_desk(lab: Lab, tmp_path: Path) -> None:
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    models = ("--planner-model", "parrot/polly", "--coder-model", "reference/coder")
    asked = ("--plugin", "parrot.py", *models, "--only", EMPTY, *where)
    assert "the price of parrot/polly is unknown" in lab.refuse(*asked)
    code, _, _ = lab.call(*asked, "--max-calls", 4)
    run = only_run(tmp_path / "runs")
    calls = [json.loads(line) for line in (run / "calls.jsonl").read_text("utf-8").splitlines()]
    assert {call["model"] for call in calls} == {"parrot/polly"}
    assert len(calls) == 4
    assert code in (0, 3)
    transcript = read(run / calls[-1]["transcript"])
    assert "Polly wants a cracker." in json.dumps(transcript)
    wrong = [word.replace("polly", "rio") for word in map(str, asked)]
    assert "there is parrot/polly only" in lab.refuse(*wrong, "--max-calls", 2)
    assert "parrot/..." in lab.refuse(*[word.replace("parrot/", "parot/") for word in map(str, asked)])


def test_an_engine_of_a_plugin_solves(lab: Lab, tmp_path: Path) -> None:
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    chosen = ("--engine", "shortest", "--only", EMPTY, *where)
    code, _, errors = lab.call("--plugin", "shortest.py", *chosen)
    assert (code, errors) == (0, "")
    (trajectory,) = only_run(tmp_path / "runs").glob("trajectories/*.json")
    assert read(trajectory)["attempts"][-1]["engine"] == "shortest"
    assert "planning engine 'shortest' is not installed" in lab.refuse(*chosen)

    bad = tmp_path / "planted_engine.py"
    bad.write_text("def register(registry): registry.engine('shortest', 'nowhere:Planner')\n", encoding="utf-8")
    assert "it registers the engine shortest, which cannot be used" in lab.refuse("--plugin", bad, *chosen)


def test_prompts_of_the_user_reach_the_model_and_its_records(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "planner_repair.jinja").write_text("House rule.\n{{ feedback }}", encoding="utf-8")
    models = ("--planner-model", "parrot/polly", "--coder-model", "reference/coder", "--max-calls", 4)
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace", "--quiet")
    begin = ("--plugin", "parrot.py", *models, "--only", EMPTY, *where)
    lab.call(*begin, "--prompts", folder)
    run = only_run(tmp_path / "runs")
    info = read(run / "run.json")
    assert info["settings"]["prompts"] == str(folder)
    assert info["hashes"]["prompts"] != read(lab.run / "run.json")["hashes"]["prompts"]
    assert "House rule." in (run / "prompt_log.md").read_text("utf-8")
    assert sum("House rule." in path.read_text("utf-8") for path in run.glob("llm/*.json")) == 1

    resume = ("--plugin", "parrot.py", "--resume", run.name, "--runs", run.parent, "--quiet", "--max-calls", 8)
    assert "--prompts prompts contradicts the run" in lab.refuse(*resume, "--prompts", "prompts")
    lab.call(*resume)
    assert sum("House rule." in path.read_text("utf-8") for path in run.glob("llm/*.json")) == 2

    (folder / "planner_repair.jinja").write_text("{{ nothing }}", encoding="utf-8")
    words = "planner_repair.jinja: the variable nothing is unknown; this template has body, compiles, feedback"
    assert words in lab.refuse(*begin, "--prompts", folder)
    assert "does not read prompts" in lab.refuse("--prompts", folder)
