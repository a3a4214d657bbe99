"""``run``: agents on scenes in files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from explorer.cli import main
from explorer.evaluation.results import read_episodes
from explorer.files import Loaded, save_scene, scene_line
from explorer.generating.composer import compose
from explorer.generating.knobs import Knobs
from tests.support.explorer.played import GOES_ROUND, walk
from tests.support.processes import Process
from tests.support.spca.doubles import ROOT
from tests.support.tiers import few
from tests.support.waiting import PATIENCE, becomes


@pytest.fixture
def scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder of two scenes."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        save_scene(tmp_path / "scenes" / name, walk(name, certified=False))
    return tmp_path / "scenes"


def test_rates_are_printed_and_results_written(
    scenes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificates of these scenes are false, and one episode finds out: as if ``certify`` had missed it."""
    monkeypatch.setattr("explorer.cli.run.require_certificates", lambda *_, **__: None)
    save_scene(scenes / "one", walk("one"))
    save_scene(scenes / "two", walk("two", codes=GOES_ROUND))
    assert main(["run", "scenes", "--agent", "solver", "--workers", "2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "two: this episode refutes the certificate; please report it with the results",
        "solver, 2 hops: 2 episodes, TSR 50.0% (9.5% to 90.5%), MSR 75.0% (30.1% to 95.4%)",
        "solver, all: 2 episodes, TSR 50.0% (9.5% to 90.5%), MSR 75.0% (30.1% to 95.4%)",
        "results: results/explorer/solver.jsonl",
        "look at it: python -m explorer report results/explorer/solver.jsonl",
    ]
    assert main(["report", "results/explorer/solver.jsonl"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("page: results/explorer/solver.html (")
    assert last.endswith(" MB); open it in a browser")
    output = scenes.parent / "results" / "explorer" / "solver.jsonl"
    assert [episode.source for episode in read_episodes(output)] == ["scenes/one", "scenes/two"]
    assert main(["run", "scenes", "--agent", "solver"]) == 2
    assert "exists; choose another --output, or add --overwrite" in capsys.readouterr().err
    assert main(["run", "scenes", "--agent", "solver", "--resume"]) == 0


def test_a_report_before_anything_was_played_names_the_way_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 2
    assert capsys.readouterr().err == "error: nothing has been played yet: begin with python -m explorer play\n"
    assert main(["report", "gone.jsonl"]) == 2
    assert capsys.readouterr().err == "error: gone.jsonl cannot be read: No such file or directory\n"


def test_seed_and_steps_are_told(scenes: Path) -> None:
    assert main(["run", str(scenes / "one"), "--seed", "4", "--max-steps", "5", "--output", "r.jsonl"]) == 0
    [episode] = read_episodes(Path("r.jsonl"))
    assert (episode.model, episode.seed, episode.steps) == ("random", 4, 5)
    assert json.loads(Path("r.run.json").read_text())["settings"] == {"agent": "random", "seed": 4, "max_steps": 5}


ALTERED: Final[dict[str, Any]] = {
    "rules": "0",
    "fingerprint": "0" * 64,
    "max_steps": -1,
    "lower_bound": 0,
    "states": 1,
    "true_at_start": ["x"],
    "edges": [{"before": "a", "after": "b", "enforced": True}],
    "witness": {"codes": "eJwDAAAAAAE=", "steps": 0, "ticks": 0, "state_hash": ""},
    "milestones": [],
    "seen_at_start": ["x"],
}


@pytest.mark.parametrize("command", ["run scene", "run scene --agent solver --workers 2", "play scene --no-browser"])
@pytest.mark.parametrize("field", ALTERED)
def test_a_certificate_that_certify_refuses_is_refused(
    field: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_scene(Path("scene"), certified())
    path = Path("scene/certificate.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), field: ALTERED[field]}))
    assert main(command.split()) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("error: scene/certificate.json: "), said.err
    assert not Path("results").exists() or not list(Path("results").rglob("*.jsonl"))
    assert main(["certify", "scene"]) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"max_steps": 1e999}', '{"max_steps": "x"}'])
@pytest.mark.parametrize("command", ["run scene", "certify scene", "show scene"])
def test_a_certificate_that_cannot_be_read_is_named(
    text: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_scene(Path("scene"), certified())
    Path("scene/certificate.json").write_text(text)
    assert main(command.split()) == 2
    said = capsys.readouterr()
    assert "scene/certificate.json: " in said.out + said.err


@pytest.mark.long
def test_a_certificate_in_a_line_is_named_by_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = json.loads(scene_line(certified()))
    line["certificate"]["max_steps"] = -1
    Path("set.jsonl").write_text(f"{scene_line(walk(certified=False))}\n{json.dumps(line)}\n")
    assert main(["run", "set.jsonl"]) == 2
    assert capsys.readouterr().err.startswith("error: set.jsonl:2: certificate: certify refuses it: ")
    assert main(["run", "set.jsonl:1", "--max-steps", "3"]) == 0


@cache
def certified() -> Loaded:
    return compose(5, 0, Knobs(hops=1)).loaded()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run scenes --agent solvr", "unknown agent 'solvr'; did you mean solver?"),
        ("run scenes --agent ../x", "unknown agent '../x'; there are random, solver"),
        ("run nowhere", "nowhere: cannot read scenes: No such file"),
        ("run scenes scenes/one", "two scenes are called 'one' (scenes/one and scenes/one): rename one"),
    ],
)
@pytest.mark.usefixtures("scenes")
def test_a_mistake_is_one_line(line: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)


@pytest.mark.long
@pytest.mark.parametrize("number", few(1, [signal.SIGTERM, signal.SIGINT]))
def test_an_interrupted_run_says_how_to_go_on(scenes: Path, number: signal.Signals) -> None:
    for index in range(9):
        save_scene(scenes / f"more {index}", walk(f"more {index}", certified=False))
    line = ["-m", "explorer", "run", "scenes", "--max-steps", "2000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    journal = scenes.parent / "results" / "explorer" / "random.jsonl.partial.jsonl"
    with Process([sys.executable, *line], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert becomes(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 2)
        os.killpg(running.pid, number)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (130, "")
    assert re.fullmatch(r"interrupted; [1-9] episodes? finished: to go on, add --resume to this command\n", err)
    assert journal.exists()
