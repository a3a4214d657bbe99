"""One run of the real command that several tests look at, and the command where it refuses."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from main import main
from spca.plan.solver import Solver
from tests.support.commands import SET_BY_DEVELOPERS, curriculum, fingerprint, main_py, only_run

IDS = tuple(f"MiniGrid-Empty-{size}-v0" for size in ("5x5", "Random-5x5", "6x6", "Random-6x6"))
FURTHER_IDS = ("MiniGrid-DoorKey-5x5-v0", "MiniGrid-DoorKey-6x6-v0")


@dataclass(frozen=True, slots=True)
class Learned:
    """A finished run: its folders, what it printed, and whether it touched the folder that it was called in."""

    run: Path
    workspace: Path
    curriculum: Path
    done: subprocess.CompletedProcess[str]
    called_in: dict[str, str]


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """An unbroken run of two small categories with the embedded model."""
    home = tmp_path_factory.mktemp("learned")
    chosen = curriculum(home / "curriculum.json", navigation=IDS, doors=FURTHER_IDS)
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    where = ("--curriculum", chosen, "--runs", home / "runs", "--workspace", home / "workspace")
    done = main_py(elsewhere, *where)
    assert done.returncode == 0, done.stderr
    return Learned(only_run(home / "runs"), home / "workspace", chosen, done, fingerprint(elsewhere))


class Refused:
    """Runs the command in this process, in a folder in which nothing may change."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *arguments: object) -> str:
        """The one line with which it refuses."""
        before = fingerprint(self.folder)
        code = main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        assert (code, out) == (2, "")
        assert fingerprint(self.folder) == before
        (line,) = err.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Refused:
    monkeypatch.chdir(tmp_path)
    for name in SET_BY_DEVELOPERS:
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(Solver, "warm", lambda _solver: None)  # half a second for nothing: there is nothing to solve
    return Refused(tmp_path, capfd)
