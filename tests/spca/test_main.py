"""The command ``spca``: which program it calls, and by which name."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from spca import __main__ as command
from spca.common import installation
from spca.common.command import COMMAND_VARIABLE, PROGRAM_VARIABLE, other_program, program
from tests.support.installing import ROOT


class Called(ModuleType):
    """A program that remembers how it was called."""

    def __init__(self) -> None:
        super().__init__("program")
        self.arguments: list[object] = []
        self.names: tuple[str, ...] = ()

    def main(self, *arguments: object) -> int:
        self.arguments = list(arguments)
        self.names = (program(), other_program("python main.py"), other_program("python run_eval.py"))
        return 7


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """All programs are this one; what the command changes in the process is changed back."""
    it = Called()
    for name in ("main", *(module for module, _ in command.PROGRAMS.values())):
        monkeypatch.setitem(sys.modules, name, it)
    monkeypatch.setattr(sys, "path", ["/elsewhere"])
    monkeypatch.setattr(sys, "argv", ["/usr/bin/spca"])
    for name in (PROGRAM_VARIABLE, COMMAND_VARIABLE):
        monkeypatch.setenv(name, "")
    return it


def test_commands_of_main_go_to_main_with_what_the_others_do(called: Called) -> None:
    assert command.main(["run", "--only", "robot"]) == 7
    texts = {name: text for name, (_, text) in command.PROGRAMS.items()}
    assert called.arguments == [["run", "--only", "robot"], texts]
    assert called.names == ("spca", "spca", "spca gridworld")


@pytest.mark.parametrize("name", command.PROGRAMS)
def test_the_others_get_what_follows_their_name(called: Called, name: str) -> None:
    assert command.main([name, "list", "--x"]) == 7
    assert called.arguments == [["list", "--x"]]
    assert called.names == (f"spca {name}", "spca", "spca gridworld")


def test_nothing_asks_for_help(called: Called) -> None:
    command.main([])
    assert called.arguments[0] == ["--help"]


def test_called_as_a_module_it_says_so(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/lib/spca/__main__.py", "gridworld", "list"])
    command.main()
    assert called.names == ("python -m spca gridworld", "python -m spca", "python -m spca gridworld")


def test_the_name_of_multinet_is_kept(called: Called) -> None:
    assert command.evaluate(["--model", "spca"]) == 7
    assert called.arguments == [["--model", "spca"]]
    assert called.names == ("multinet-run-eval", "spca", "spca gridworld")


def test_the_applications_come_first_on_the_path_and_once(called: Called) -> None:
    command.main(["list"])
    command.main(["gridworld", "list"])
    assert called.arguments == [["list"]]
    assert sys.path == [str(ROOT), "/elsewhere"]


def test_they_come_before_modules_of_the_current_folder(called: Called, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", str(ROOT)])
    command.main(["gridworld", "list"])
    assert called.arguments == [["list"]]
    assert sys.path[0] == str(ROOT)


def test_help_and_complaints_know_all_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["spca"])
    for name in (PROGRAM_VARIABLE, COMMAND_VARIABLE):
        monkeypatch.setenv(name, "")
    assert [command.main(words) for words in ([], ["--quiet", "robot"], ["robbot"])] == [0, 2, 2]
    said = capsys.readouterr()
    assert said.out.startswith("Usage: spca COMMAND")
    shown = " ".join(said.out.split())
    assert all(f"{name} {text}" in shown for name, (_, text) in command.PROGRAMS.items())
    early, unknown = said.err.splitlines()
    assert early == "error: robot comes before its options. --help lists all options"
    assert all(f" {name}" in unknown for name in ("run", *command.PROGRAMS))


def test_a_command_says_where_runs_lie_that_are_not_in_the_default_folder() -> None:
    assert installation.where_runs_lie(ROOT / "runs") == ""
    assert installation.where_runs_lie(Path("/here/my runs")) == " --runs '/here/my runs'"


def test_installed_the_folders_of_a_run_lie_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path("/here")
    assert installation.applications() == ROOT
    assert installation.home(ROOT, here) == ROOT
    assert installation.how_to_get("robot") == f"{sys.executable} -m pip install -r requirements/robot.txt"
    assert installation.how_to_get("ray") == f"{sys.executable} -m pip install ray"
    monkeypatch.setattr(installation, "APPLICATIONS", ROOT / "scripts")
    assert installation.applications() == ROOT / "scripts"
    assert installation.home(ROOT / "scripts", here) == here
    assert installation.how_to_get("robot") == f"{sys.executable} -m pip install 'sense-plan-code-act[robot]'"
