"""Every command after a run, in a plugin's world: with the plugin, and without it where nothing is simulated."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bodies.plugin_world import CURRICULUM
from tests.support.commands import main_py, only_run, read
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(300)

PLUGIN = ("--plugin", ROOT / "tests" / "support" / "bodies" / "plugin_world.py")
FIRST = "Lab/Corridor-v0+551b9b0c"


@dataclass(frozen=True, slots=True)
class Played:
    """A finished run in a plugin's world."""

    home: Path
    run: Path

    def call(self, *arguments: object) -> tuple[int, str, str]:
        done = main_py(self.home, *arguments)
        return done.returncode, done.stdout, done.stderr

    def refuse(self, *arguments: object) -> str:
        """Return the one line of a mistake of the user."""
        code, _, errors = self.call(*arguments)
        assert (code, errors.count("\n")) == (2, 1), errors
        return errors

    def evaluate(self, *arguments: object) -> tuple[str, str, Path]:
        """Evaluate the run; return the output, the warnings and the folder."""
        runs = self.home / f"runs-{len(list(self.home.iterdir()))}"
        seeds = ("--seeds", "1000:1004", "--runs", runs)
        code, shown, errors = self.call("evaluate", "--agent", self.run, *seeds, *PLUGIN, *arguments)
        assert code == 0, errors
        (folder,) = (path.parent for path in runs.glob("*/evaluation.json"))
        return shown, errors, folder


def play(home: Path, world: str) -> Played:
    (home / "levels.json").write_text(json.dumps({**CURRICULUM, "world": world}), encoding="utf-8")
    where = ("--curriculum", "levels.json", "--runs", "runs", "--workspace", "workspace", "--quiet")
    models = ("--planner-model", "walking/a", "--coder-model", "walking/a", "--max-calls", 9)
    done = main_py(home, *PLUGIN, *where, *models)
    assert done.returncode == 0, done.stderr
    return Played(home, only_run(home / "runs"))


@pytest.fixture(scope="module")
def corridor(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("corridor"), "corridor")


def test_a_page_is_made_with_the_plugin_only(corridor: Played) -> None:
    line = corridor.refuse("report", corridor.run)
    assert f"give --plugin {PLUGIN[1]}" in line
    code, shown, errors = corridor.call("report", corridor.run, *PLUGIN)
    assert (code, errors) == (0, "")
    assert "report.html" in shown
    assert "plugin" in corridor.refuse("watch", corridor.run)


def test_what_simulates_nothing_needs_no_plugin(corridor: Played, tmp_path: Path) -> None:
    code, shown, errors = corridor.call("report", corridor.run, "--no-page")
    assert (code, errors) == (0, "")
    assert f"{FIRST}#1" in shown
    code, shown, _ = corridor.call("query", corridor.run, "select distinct primitive from steps", "--format", "csv")
    assert (code, shown.split()) == (0, ["primitive", "stride"])
    code, shown, _ = corridor.call("pack", corridor.run, tmp_path / "packed")
    assert code == 0
    assert read(tmp_path / "packed" / "about.json")["flags"][:4] == [
        "--world",
        "corridor",
        "--plugin",
        "plugin_world.py",
    ]


@pytest.mark.parametrize("level", ["1", f"{FIRST}#1", f"walking/{FIRST}#1"])
def test_levels_are_replayed_by_number_and_by_name(corridor: Played, level: str) -> None:
    assert "give --plugin" in corridor.refuse("replay", corridor.run, level)
    code, shown, errors = corridor.call("replay", corridor.run, level, *PLUGIN)
    assert (code, errors) == (0, "")
    assert "stride x4" in shown
    assert shown.splitlines()[-1].startswith("re-simulation equals the recording")


def test_an_evaluation_has_no_verdict_and_films_of_its_failures(corridor: Played) -> None:
    shown, _, folder = corridor.evaluate("--workers", 2)
    assert "4/8" in shown
    assert "4 undecided" in shown
    (reason,) = {json.loads(line)["reason"] for line in (folder / "proofs.jsonl").read_text("utf-8").splitlines()}
    assert reason.startswith("no verdict in this world")
    code, shown, _ = corridor.call("replay", folder, f"{FIRST}:1001", *PLUGIN)
    assert code == 0
    assert "...@.\n" in shown
    assert "give --plugin" in corridor.refuse("report", folder)
    assert corridor.call("report", folder, "--no-page")[0] == 0


def test_the_bot_plays_no_foreign_world(corridor: Played) -> None:
    line = corridor.refuse("evaluate", "--agent", corridor.run, "--versus", "bot", *PLUGIN)
    assert (
        line
        == "error: --versus bot: it is of the world minigrid, and the agent plays the world corridor: leave it out\n"
    )
    assert "--outside: it is of" in corridor.refuse("evaluate", "--agent", corridor.run, "--outside", *PLUGIN)
    assert "give --plugin" in corridor.refuse("evaluate", "--agent", corridor.run)


@pytest.mark.long
def test_attempts_are_refused_once_in_a_world_with_one_life(tmp_path: Path) -> None:
    life = play(tmp_path, "corridor-life")
    _, warnings, _ = life.evaluate("--workers", 1, "--attempts", 3)
    lines = [line for line in warnings.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith(
        "warning: --attempts 3 has no effect: the world corridor-life cannot go back (it says so)"
    )
