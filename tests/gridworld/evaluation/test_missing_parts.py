"""A package that is not installed is a refused start, never a score."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gridworld.backends import MultiGridBackend
from gridworld.errors import MissingPartError, missing_part
from gridworld.evaluation.harness import EvaluationHarness
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.players import Scripted, corridors, main
from tests.support.tiers import few, long

ROOT = Path(__file__).resolve().parents[3]
HIDING = """
import os, sys

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == os.environ["HIDDEN_PACKAGE"]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hiding())
"""
PIP = f"{sys.executable} -m pip install"
RUN_EVAL = (str(ROOT / "run_eval.py"),)
INSTALLED = ("-m", "gridworld.evaluation.cli")


def without(package: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python process of the tests in which a package cannot be imported, nor in its children."""
    (folder / "sitecustomize.py").write_text(HIDING)
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "HIDDEN_PACKAGE": package},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize(
    ("package", "program", "model"),
    few(
        2,
        [
            ("PIL", INSTALLED, ("file_based", "--work-dir", "w", "--timeout", "1")),
            long("PIL", INSTALLED, ("file_based", "--work-dir", "w", "--timeout", "1", "--workers", "2")),
            long("PIL", RUN_EVAL, ("file_based", "--work-dir", "w", "--timeout", "1", "--backend", "multigrid")),
            ("numpy", INSTALLED, ("random",)),
            long("numpy", RUN_EVAL, ("random",)),
            ("minigrid", INSTALLED, ("random",)),
            long("minigrid", INSTALLED, ("random", "--workers", "2")),
            ("gymnasium", RUN_EVAL, ("random",)),
            ("rich", INSTALLED, ("random",)),
            long("ollama", INSTALLED, ("ollama",)),
            ("openai", INSTALLED, ("lmstudio",)),
        ],
    ),
)
def test_a_missing_package_is_a_refused_start(
    tmp_path: Path, package: str, program: tuple[str, ...], model: tuple[str, ...]
) -> None:
    corridors(tmp_path / "tasks", 4)
    tasks = ("--benchmark", "directory", "--task-dir", "tasks", "--output", "o.json")
    done = without(package, tmp_path, *program, *tasks, "--model", *model)
    name = missing_part(ModuleNotFoundError(name=package)).args[0].rpartition(" ")[2]
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.endswith(f"needs {name}, which is not installed: {PIP} {name}\n")
    assert done.stderr.count("\n") == 1
    assert done.returncode == 2
    assert not (tmp_path / "o.json").exists()
    assert not (tmp_path / "o.json.partial.jsonl").exists()


@pytest.mark.parametrize("answers", [(), (2, 2)])
def test_a_model_that_lacks_a_package_is_not_judged(answers: tuple[int, ...]) -> None:
    model = Scripted(*answers, ModuleNotFoundError("No module named 'cv2'", name="cv2"), uses_images=False)
    harness = EvaluationHarness(model, MultiGridBackend(render_mode=None))
    with pytest.raises(MissingPartError, match=f"^the model needs cv2, which is not installed: {re.escape(PIP)} cv2$"):
        harness.evaluate_task_set([drawn("#####\n#A.G#\n#####"), drawn("######\n#A..G#\n######")])


def test_the_package_and_the_command_are_named() -> None:
    assert str(missing_part(ModuleNotFoundError(name="PIL.Image"), "it")) == (
        f"it needs pillow, which is not installed: {PIP} pillow"
    )
    assert str(missing_part(ImportError("cannot import name 'x' from 'numpy'", name="numpy"), "it")) == (
        f"it needs another numpy (cannot import name 'x' from 'numpy'): {PIP} --upgrade numpy"
    )
    assert str(missing_part(ImportError("libGL.so.1: cannot open"), "it")) == (
        "it needs a package that cannot be imported: libGL.so.1: cannot open"
    )


class Unseeing(MultiGridBackend):
    """Its pictures cannot be drawn, which no model is to blame for."""

    def render(self) -> None:  # type: ignore[override]
        raise RuntimeError("no display")


def test_what_the_model_did_not_do_is_no_failure_of_it() -> None:
    with pytest.raises(RuntimeError, match="no display"):
        EvaluationHarness(Scripted(2), Unseeing(render_mode=None)).evaluate_task_set([drawn("#####\n#A.G#\n#####")])


@pytest.mark.long
def test_that_no_task_could_be_played_is_not_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    corridors(tmp_path / "tasks", 4)
    tasks = ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid", "--output", "o.json")
    assert main([*tasks, "--model", "forward", "--die-at", "1", "--workers", "2", "--quiet"]) == 2
    said = capsys.readouterr()
    why = "its worker process ended with code -9, 2 times"
    assert (said.out, said.err) == ("", f"error: no task was played, so there is no score: {why}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tasks"]
