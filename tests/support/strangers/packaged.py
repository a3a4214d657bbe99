"""The examples as packages of strangers: copied out of the checkout, built, and used beside our wheel."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.commands import only_run, read, timeless
from tests.support.installing import ROOT, Environment, built
from tests.support.report.pages import read_pieces
from tests.support.waiting import becomes

EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "vending": ("--planner-model", "vending-script/a", "--coder-model", "vending-script/a"),
    "two_keys": (),
}
"""Example with a package -> flags of its README."""

SEEDS: Final = {"vending": ("1:5", "1:26"), "two_keys": ("1:3", "1:5")}
"""Seeds in an example's curriculum, and more of them, so that a run lasts until it is killed."""


def copy_example(name: str, folder: Path) -> Path:
    """Copy an example out of the checkout, with a longer curriculum; return the copy."""
    copy = folder / name
    shutil.copytree(ROOT / "examples" / name, copy, ignore=shutil.ignore_patterns("__pycache__"))
    curriculum = copy / "curriculum.json"
    curriculum.write_text(curriculum.read_text("utf-8").replace(*SEEDS[name]), encoding="utf-8")
    return copy


@dataclass(frozen=True, slots=True)
class Trial:
    """An example that is installed beside our wheel.

    Attributes:
        home: folder in which the commands are called.
        example: copy of the example.
    """

    environment: Environment
    home: Path
    example: Path

    @property
    def name(self) -> str:
        return self.example.name

    @property
    def flags(self) -> tuple[str, ...]:
        """How the README calls a run."""
        return ("--curriculum", str(self.example / "curriculum.json"), *EXAMPLES[self.name])

    def install(self, edit: Callable[[Path], None] = lambda _copy: None) -> None:
        """Build the example's package, edited, and install it."""
        edit(self.example)
        shutil.rmtree(self.example / "build", ignore_errors=True)
        wheel = built("wheel", self.example)
        self.environment.pip("install", "--no-index", "--no-deps", "--force-reinstall", str(wheel))

    def call(self, *arguments: object) -> str:
        """Return the output of a command that must succeed without a word of errors."""
        done = self.environment.run(self.home, "spca", *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return done.stdout

    def refuse(self, *arguments: object) -> str:
        """Return the one line with which a command must end, with exit code 2."""
        done = self.environment.run(self.home, "spca", *arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr.strip()

    def learn(self, runs: str = "runs") -> Path:
        """Return a whole run."""
        shown = self.call("run", *self.flags, "--runs", runs, "--workspace", f"{runs}_workspace")
        (solved, levels) = re.findall(r"^(\d+) of (\d+) levels solved$", shown, re.MULTILINE)[0]
        assert solved == levels
        return only_run(self.home / runs)

    def learn_with_a_kill(self, runs: str) -> Path:
        """Return a run that was killed after its first level, and resumed."""
        where = ("--runs", runs)
        program = [str(self.environment.path / "bin" / "spca"), "run", *self.flags, *where, "--workspace", f"{runs}_w"]
        quiet = subprocess.DEVNULL
        variables = self.environment.variables()
        process = subprocess.Popen(program, cwd=self.home, env=variables, stdout=quiet, stderr=quiet)
        journals = self.home / runs
        assert becomes(lambda: [each for each in journals.glob("*/state/finished.jsonl") if each.stat().st_size])
        assert process.poll() is None, "it was over before it was killed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        run = only_run(journals)
        assert not (run / "summary.json").exists()
        self.call("run", "--resume", run.name, *where)
        return run

    def check_run(self, run: Path) -> None:
        """Replay, report and evaluate a run."""
        assert "re-simulation equals the recording" in self.call("replay", run.name, 1)
        self.call("report", run.name)
        page = read_pieces((run / "report.html").read_text(encoding="utf-8"))["report"]
        assert page["comparisons"] == []  # the published run has none of these levels
        assert len(page["runs"][0]["levels"]) == len(read_levels(run))
        shown = self.call("evaluate", "--agent", run.name, "--seeds", "500:502", "--workers", 2)
        levels = len({(each["env_id"], str(each.get("kwargs"))) for each in read_levels(run)})
        assert f"{2 * levels} episodes of seeds 500:502" in shown
        (record,) = (self.home / "runs").glob("*/evaluation.json")
        assert read(record)["plugins"] == read(run / "run.json")["plugins"]
        self.call("report", record.parent.name, "--no-page")

    def check_ray(self, run: Path) -> None:
        """Evaluate a run on Ray; the episodes equal those of processes."""
        seeds = ("--agent", run, "--seeds", "500:502", "--workers", 2)
        self.call("evaluate", *seeds, "--runs", "local")
        on_ray = (*seeds, "--runs", "ray", "--executor", "ray")
        done = self.environment.run(self.home, "spca", "evaluate", *on_ray, is_guarded=False)
        assert done.returncode == 0, done.stdout + done.stderr  # Ray itself writes to the errors
        assert _read_episodes(self.home / "ray") == _read_episodes(self.home / "local")

    def check_kill(self, run: Path) -> None:
        """Kill a second run and compare it with ``run``."""
        killed = self.learn_with_a_kill("killed")
        assert timeless(read(killed / "summary.json")) == timeless(read(run / "summary.json"))
        assert [each["attempts"] for each in read_levels(killed)] == [each["attempts"] for each in read_levels(run)]

    def check_refusals(self, run: Path) -> None:
        """See that a run asks for its plugin: as it was, and installed; then leave the environment without it."""
        commands: dict[str, tuple[object, ...]] = {
            "resume": ("run", "--resume", run.name),
            "replay": ("replay", run.name, 1),
            "report": ("report", run.name),
            "evaluate": ("evaluate", "--agent", run.name, "--seeds", "500:501"),
        }
        self.install(_raise_version)
        for words in commands.values():
            assert f"used the plugin {self.name} 1.0, loaded is 1.1: load the same version" in self.refuse(*words)
        self.install(_break_plugin)
        for words in (("run", *self.flags), *commands.values()):
            assert "it cannot be imported: RuntimeError: out of order" in self.refuse(*words)
        self.environment.pip("uninstall", "--yes", f"spca-{self.name.replace('_', '-')}")
        for words in commands.values():
            line = self.refuse(*words)
            assert f"used the plugin {self.name} 1.0, which is not loaded: give --plugin" in line


def read_levels(run: Path) -> list[Any]:
    """Return the trajectories of a run, by name."""
    return [read(path) for path in sorted(run.glob("trajectories/*.json"))]


def _read_episodes(runs: Path) -> list[Any]:
    """Return the episodes of the evaluation below a folder, without their times."""
    (path,) = runs.glob("*/episodes.jsonl")
    episodes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(({**each, "seconds": 0} for each in episodes), key=str)


def _raise_version(copy: Path) -> None:
    _replace(copy / "pyproject.toml", 'version = "1.0"', 'version = "1.1"')


def _break_plugin(copy: Path) -> None:
    crash = 'raise RuntimeError("out of order")'
    _replace(copy / copy.name / "__init__.py", "import gymnasium\n", f"import gymnasium\n\n{crash}\n")


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
