"""Every command of every program ends by SIGTERM as it does by Ctrl-C: in one line, with exit code 130."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from types import SimpleNamespace

import pytest

import explorer.cli
import main
import robot_bridge.cli
import run_eval
from gridworld.evaluation.tooling.commands import TOOLS
from spca.commands import program

pytestmark = pytest.mark.usefixtures("termination_fails_the_test")

EXPLORER: dict[str, tuple[str, ...]] = {"run": ("scenes",), "show": ("scene",), "certify": ("scene",)}
"""Command -> the words that it needs."""
ROBOT: dict[str, tuple[str, tuple[str, ...]]] = {
    "explore": ("explore:explore_place", ()),
    "act": ("act:carry_out_plan", ("[]",)),
    "replay": ("replay:replay_log", ("log",)),
    "doctor": ("doctor.command:examine_robot", ()),
    "twin": ("twin:serve_twin", ()),
}
"""Command -> module and function that carry it out, and the words that it needs."""


def terminate(*_arguments: object, **_options: object) -> int:
    signal.raise_signal(signal.SIGTERM)
    return 0


def assert_interrupted(
    program: Callable[[Sequence[str]], int], arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert program(arguments) == 130
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "interrupted\n")
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", program.COMMANDS)
def test_main(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module, _, function = program.COMMANDS[command][0].partition(":")
    monkeypatch.setattr(f"spca.commands.{module}.{function}", terminate)
    assert_interrupted(main.main, [command], capsys)


@pytest.mark.parametrize("command", explorer.cli.COMMANDS)
def test_explorer(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    name, _, function = explorer.cli.COMMANDS[command][0].partition(":")
    module = import_module(f"explorer.cli.{name}")

    @wraps(getattr(module, function))  # whose words are taken
    def interrupt(*_arguments: object, **_options: object) -> int:
        return terminate()

    monkeypatch.setattr(module, function, interrupt)
    assert_interrupted(explorer.cli.main, [command, *EXPLORER.get(command, ())], capsys)


@pytest.mark.parametrize("command", ROBOT)
def test_robot(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    place, words = ROBOT[command]
    module, _, function = place.partition(":")
    monkeypatch.setitem(sys.modules, f"robot_bridge.cli.{module}", SimpleNamespace(**{function: terminate}))
    assert_interrupted(robot_bridge.cli.main, [command, *words], capsys)


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_of_gridworld(tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    module, _, function = TOOLS[tool].function.partition(":")
    monkeypatch.setitem(sys.modules, f"gridworld.evaluation.tooling.{module}", SimpleNamespace(**{function: terminate}))
    assert_interrupted(run_eval.main, [tool], capsys)
